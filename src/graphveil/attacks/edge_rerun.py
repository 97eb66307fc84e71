"""How much one edge changes a release: a lower bound on epsilon by runs, the attack `edge-re-run`.

The attacker knows the original except one edge, and the linkage, and runs the method with and
without the edge, as in audits of differential privacy (Jagielski et al., 2020). Steps: (1) run the
method on both graphs, many times; (2) with a quarter of the runs, choose the event that would show
the largest epsilon: the pair is published, both degrees together or the number of edges reach some
value, or not; (3) count that event in the other runs only, and bound both rates by Clopper and
Pearson (1934). If several edges are tested, the doubt is divided among them.

Runs use the operating system's randomness. What so many runs can show at most is reported with the
bound: a small bound may be a lack of runs. The baseline is 0. Cost: two runs per edge and
repetition, 2,000 by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.cell_membership import DOUBT, EPSILON, SAID_OF_EPSILON, least_epsilon
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.core.array_types import Ints
from graphveil.core.errors import GraphveilError
from graphveil.core.parameters import parameter
from graphveil.core.progress import Advance, stage
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, GraphComparison, Int32s
from graphveil.evaluate.metric import NotMeasuredError, Sample, wilson
from graphveil.release import Release

TO_CHOOSE = 4
"""One in this many runs chooses the event by which the others are counted; more choose better and
count less."""


@dataclass(frozen=True, kw_only=True)
class EdgeRerunOptions(attack.AttackOptions, label="edge-re-run"):
    """How often the method is run."""

    edges: int = parameter(default=1, text="number of edges to test, sampled uniformly", minimum=1)
    runs: int = parameter(
        default=1_000,
        text="number of runs of the method with an edge; as many run without it",
        minimum=8,
    )


class RerunGraphs(NamedTuple):
    """What many releases show about a pair of nodes; one row per run.

    `seen`: int64, shape (runs, 3): whether the pair is published, the published degrees of both
    together, and the number of published edges.
    """

    seen: Ints

    def holds(self, event: Event) -> Bools:
        """Return in which runs an event holds."""
        held: Bools = self.seen[:, event.column] >= event.least
        return held if event.above else ~held


class Event(NamedTuple):
    """A column of `RerunGraphs.seen` that is at least so large, or that is not."""

    column: int
    least: int
    above: bool


def edge_re_run(
    situation: attack.AttackInput[GraphComparison], options: EdgeRerunOptions
) -> attack.Outcome:
    """Return the largest epsilon that runs with and without an edge show.

    A person's risk is how often one of their tested edges is published if it is true, and the
    baseline how often if it is not.
    """
    rerun, original = _rerun_of(situation), situation.comparison.original
    edges = original.edges()
    if not len(edges):
        raise NotMeasuredError("the original has no edges")
    rng = situation.rng("edge-re-run")
    # Step 1, edge by edge: runs with it and without it.
    chosen = edges[rng.permutation(len(edges))[: options.edges]]
    pairs: list[tuple[RerunGraphs, RerunGraphs]] = []
    try:
        with stage("running the method again", total=2 * options.runs * len(chosen)) as advance:
            for ends in chosen:
                # Half of the runs see the edge, the other half do not.
                either = (original, without_edge(original, ends))
                one, other = (_runs_on(data, ends, rerun, options.runs, advance) for data in either)
                pairs.append((one, other))
    except GraphveilError as error:
        raise NotMeasuredError(str(error)) from error
    return _outcome(situation, chosen, pairs, options.runs)


def _runs_on(
    data: Graph, ends: Int32s, rerun: attack.Rerun, runs: int, advance: Advance
) -> RerunGraphs:
    """Return what that many runs of the method on this data show about a pair of nodes."""
    seen = []
    for _ in range(runs):
        seen.append(seen_of(rerun(data, None), data, ends))
        advance(1)
    return RerunGraphs(np.array(seen))


def _rerun_of(situation: attack.AttackInput[GraphComparison]) -> attack.Rerun:
    if situation.rerun is None:
        raise NotMeasuredError(situation.not_again)
    return situation.rerun


def without_edge(graph: Graph, ends: Int32s) -> Graph:
    """Return the graph without one edge, under the same ids."""
    edges = graph.edges()
    rest = edges[(edges != ends).any(axis=1)]
    smaller = Graph.from_edges(rest[:, 0], rest[:, 1], n=graph.n_nodes)
    return smaller.permuted(np.arange(graph.n_nodes), ids=graph.labels())


def seen_of(release: Release[Any], data: Graph, ends: Int32s) -> tuple[int, int, int]:
    """Return what a release shows about a pair of nodes: see `RerunGraphs`."""
    linkage = release.private.linkage if release.private else None
    released = release.data
    if linkage is None or not isinstance(released, Graph):
        raise TypeError("a run of a method for graphs must return a graph with its linkage")
    # Positions of both nodes in this release, then what it shows of them.
    one, two = linkage.positions_of(data.labels()[ends], released.labels()).tolist()
    around = released.indices[released.indptr[one] : released.indptr[one + 1]]
    degrees = released.indptr[[one + 1, two + 1]] - released.indptr[[one, two]]
    return int((around == two).any()), int(degrees.sum()), released.n_edges


def strongest_event(with_it: RerunGraphs, without: RerunGraphs) -> Event:
    """Return the event by which these runs would show the largest epsilon.

    Of several, as when there are too few runs to show any, it is the one whose chances are farthest
    apart. Chances alone would choose what happened once and never again.
    """

    def strength(event: Event) -> tuple[float, float]:
        one, other = (_counted(runs, event) for runs in (with_it, without))
        return least_epsilon(one, other, DOUBT), one[0] / one[1] - other[0] / other[1]

    # Every value that occurs is a threshold, in either direction.
    columns = np.concatenate([with_it.seen, without.seen]).T
    events = [
        Event(number, int(least), above)
        for number, column in enumerate(columns)
        for least in np.unique(column)[1:]
        for above in (True, False)
    ]
    return max(events, key=strength, default=Event(0, 1, above=True))


def _counted(runs: RerunGraphs, event: Event) -> tuple[int, int]:
    """Return in how many of how many runs an event holds."""
    return int(runs.holds(event).sum()), len(runs.seen)


def bound_of(with_it: RerunGraphs, without: RerunGraphs, doubt: float) -> float:
    """Return a lower bound on epsilon that is too large in a share of `doubt` at most."""
    # Step 2: the first quarter chooses. Step 3: the rest counts.
    size = len(with_it.seen) // TO_CHOOSE
    first, rest = (
        [RerunGraphs(runs.seen[part]) for runs in (with_it, without)]
        for part in (slice(size), slice(size, None))
    )
    event = strongest_event(*first)
    one, other = (_counted(runs, event) for runs in rest)
    return least_epsilon(one, other, doubt)


def _outcome(
    situation: attack.AttackInput[GraphComparison],
    chosen: Int32s,
    pairs: list[tuple[RerunGraphs, RerunGraphs]],
    runs: int,
) -> attack.Outcome:
    # Several edges share the doubt; the largest bound holds with all of it.
    bound = max(bound_of(one, other, DOUBT / len(pairs)) for one, other in pairs)
    figures = list(_figures(pairs, runs, bound, situation.release))
    n = situation.comparison.original.n_nodes
    risk, baseline = np.full(n, np.nan), np.full(n, np.nan)
    for ends, pair in zip(chosen, pairs, strict=True):
        shares = [runs_of.seen[:, 0].mean() for runs_of in pair]
        for values, share in zip((risk, baseline), shares, strict=True):
            values[ends] = np.fmax(values[ends], share)
    return attack.Outcome(figures, risk, baseline)


def _figures(
    pairs: list[tuple[RerunGraphs, RerunGraphs]], runs: int, bound: float, release: Release[Any]
) -> Iterator[attack.AttackFigure]:
    """Yield how often the edges are published, the bound, and what is claimed."""
    # How often the pair itself is published, with the edge and without it.
    published = [sum(int(pair[side].seen[:, 0].sum()) for pair in pairs) for side in (0, 1)]
    size = runs * len(pairs)
    hits, guess = published[0], published[1] / size
    part, unit, sample = "published, with the edge", "share of runs", wilson(hits, size)
    yield attack.AttackFigure(part, hits / size, unit, guess, sample=sample)
    yield attack.AttackFigure(EPSILON, bound, "epsilon", 0.0, sample=Sample(size))
    # What the bound would be if the event held in all runs with the edge and in none without it.
    counted = runs - runs // TO_CHOOSE
    most = least_epsilon((counted, counted), (0, counted), DOUBT / len(pairs))
    yield attack.AttackFigure("epsilon, largest that so many runs can show", most, "epsilon")
    # What is claimed, to compare with.
    promise = release.guarantee
    if isinstance(promise, EdgeDP | NodeDP):
        yield attack.AttackFigure("epsilon, claimed", float(promise.epsilon), "epsilon")
        return
    asked = release.provenance.parameters.get("epsilon")
    if asked is not None:
        yield attack.AttackFigure("epsilon, asked for and not claimed", float(asked), "epsilon")


def seconds(situation: attack.AttackInput[GraphComparison], options: EdgeRerunOptions) -> float:
    """Return about how long it takes: that of one run, times the runs; 0 where it cannot be run."""
    original, rerun = situation.comparison.original, situation.rerun
    if rerun is None or not original.n_edges:
        return 0.0
    edges = min(options.edges, original.n_edges)
    return 2 * options.runs * edges * attack.seconds_of_one(lambda: rerun(original, None))


def foreseen(situation: attack.AttackInput[GraphComparison], options: EdgeRerunOptions) -> float:
    """Return about how long it takes, by the run that made the release."""
    _rerun_of(situation)
    stated = isinstance(situation.release.guarantee, EdgeDP | NodeDP)
    if not stated and situation.release.provenance.parameters.get("epsilon") is None:
        raise NotMeasuredError("the release claims no epsilon to compare with")
    edges = min(options.edges, situation.comparison.original.n_edges)
    return 2 * options.runs * edges * attack.run_again(situation)


EDGE_RE_RUN = attack.Attack(
    name="edge-re-run",
    kind=Graph,
    knows="the complete original except one edge, the method with its parameters, and the "
    "linkage between released nodes and people",
    definition="the largest epsilon shown with 99.9% confidence by running the method with and "
    "without an edge. A quarter of the runs selects the statistic: whether the pair is published, "
    "the degrees of both, or the number of edges. Only the other runs are counted",
    source="Clopper and Pearson 1934; used to audit differential privacy: Jagielski et al. 2020",
    needs_linkage=False,
    cost="heavy, 2,000 runs of the method per edge; not run by default",
    compute=edge_re_run,
    options=EdgeRerunOptions,
    seconds=seconds,
    foreseen=foreseen,
    by_name=True,
    said=(SAID_OF_EPSILON,),
)

"""Whether one edge is in the original, for an attacker who knows all others: `tie-membership`.

The attacker knows which released node is whose, all edges except those asked about, and the method.
By runs of the method on networks that lack a random half of these edges the attacker learns how a
release looks with and without each edge: `likelihood_ratio.py`, after Carlini et al., 2022. A pair
is scored by whether it is an edge of the release, by the degrees of both ends, and by their common
neighbors; these scores are graphveil's own.

At most one edge in `ONE_IN` is asked about, so that the networks stay like the original. Baseline:
an area of 1/2. A person's risk is the largest one of their edges that were asked about. Cost: one
run of the method per release, 24 by default.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphveil.attacks import likelihood_ratio
from graphveil.attacks.attack import Attack, AttackInput, AttackOptions, Outcome, Rerun, run_again
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats, Ints
from graphveil.core.parameters import parameter
from graphveil.core.text import counted
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison, Int32s, NetworkComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.release import Release

FEWEST_TIES = 20
"""With fewer edges to ask about nothing is measured."""
ONE_IN = 10
"""At most one in this many edges is asked about: the rest of the network stays as it is."""

CHOICES = ([0], [0, 1], [0, 1, 2], [1])
"""Columns of `seen_of` that are used together: the pair alone, with degrees, with common neighbors
too, and the degrees alone."""


@dataclass(frozen=True, kw_only=True)
class TieMembershipOptions(AttackOptions, label="tie-membership"):
    """How many edges are asked about, and by how many releases."""

    shadows: int = parameter(
        default=likelihood_ratio.SHADOWS,
        text="number of releases, each without a random half of these edges",
        minimum=likelihood_ratio.FEWEST_RELEASES,
        maximum=1_000,
    )
    ties: int = parameter(
        default=1_000, text="maximum number of edges to test", minimum=FEWEST_TIES
    )


@dataclass(frozen=True)
class _Attacked(likelihood_ratio.ShadowReleases):
    """Makes releases of the graph without some edges, and scores these pairs."""

    choices = CHOICES
    words = ("one tie", "share of edges")

    again: Rerun
    graph: Graph
    targets: Ints
    """The positions of the edges asked about, among the edges of the graph."""

    @property
    def size(self) -> int:
        """How many edges are asked about."""
        return self.targets.size

    def __call__(self, half: likelihood_ratio.ShadowSplit) -> Floats:
        """Return what a release shows of every pair: see `seen_of`."""
        edges, n = self.graph.edges(), self.graph.n_nodes
        # Drop the half that this release must not hold, keep ids, run the method, and score all
        # pairs.
        kept = np.ones(len(edges), dtype=bool)
        kept[self.targets[~half.inside]] = False
        rest = Graph.from_edges(edges[kept, 0], edges[kept, 1], n=n)
        rest = rest.permuted(np.arange(n), ids=self.graph.labels())
        return seen_of(self.again(rest, half.seed), rest, edges[self.targets])


def seen_of(release: Release[Graph], data: Graph, pairs: Int32s) -> Floats:
    """Return what a release shows of pairs of nodes, float64, shape (pairs, 3).

    Whether they are connected, the sum of the logarithms of one plus their degrees, and the root of
    the number of their common neighbors. The linkage of the run is used: this attacker knows the
    identity of every node.
    """
    # This attacker knows who is which node: positions of both ends in the release.
    linkage = release.private.linkage if release.private else None
    if linkage is None:
        raise TypeError("a run of a method must return its linkage")
    ties = release.data.to_scipy().astype(np.float64)
    position = linkage.positions_of(data.labels(), release.data.labels())
    one, two = (ties[position[side]] for side in pairs.T)
    # Three scores of every pair: connected, degrees, common neighbors.
    common = np.asarray(one.multiply(two).sum(axis=1)).ravel()
    degrees = np.log1p(np.diff(one.indptr)) + np.log1p(np.diff(two.indptr))
    tied = np.asarray(ties[position[pairs[:, 0]], position[pairs[:, 1]]]).ravel()
    return np.column_stack([tied, degrees, np.sqrt(common)])


def tie_membership(
    situation: AttackInput[GraphComparison], options: TieMembershipOptions
) -> Outcome:
    """Return how well edges are distinguished from edges that were taken away."""
    # Sample the edges to ask about, make the releases, and learn from them.
    rng = situation.rng("tie-membership")
    work = _attacked(situation, options, rng)
    figures, risks = work.distinguished(options.shadows, rng)
    return Outcome(figures, *_of_people(work, risks))


def _attacked(
    situation: AttackInput[GraphComparison], options: TieMembershipOptions, rng: np.random.Generator
) -> _Attacked:
    """Return what makes the releases, for edges sampled uniformly."""
    if isinstance(situation.comparison, NetworkComparison):
        raise NotMeasuredError(
            "supports methods run on undirected edges only; this release has attributes, "
            "directions or edge types"
        )
    if situation.rerun is None:
        raise NotMeasuredError(situation.not_again)
    # Few enough edges that the network stays as it is without them.
    graph = situation.comparison.original
    number = min(options.ties, graph.n_edges // ONE_IN)
    if number < FEWEST_TIES:
        raise NotMeasuredError(
            f"{counted(graph.n_edges, 'edge', 'is')} too few; {ONE_IN * FEWEST_TIES} are needed "
            f"(one in {ONE_IN} is tested, at least {FEWEST_TIES})"
        )
    targets = np.sort(rng.choice(graph.n_edges, number, replace=False))
    return _Attacked(situation.rerun, graph, targets)


def _of_people(work: _Attacked, risks: Floats) -> tuple[Floats, Floats]:
    """Return the largest risk of everybody's edges, of those that were asked about."""
    # An edge is the risk of both of its ends.
    risk, ends = np.full(work.graph.n_nodes, np.nan), work.graph.edges()[work.targets]
    for side in ends.T:
        np.fmax.at(risk, side, risks)
    return risk, np.where(np.isnan(risk), np.nan, likelihood_ratio.GUESS)


PER_TIE, PER_END = 2e-5, 1e-7
"""Seconds per release for every edge that is asked about, and for every end of an edge."""


def seconds(situation: AttackInput[GraphComparison], options: TieMembershipOptions) -> float:
    """Return about how long it takes, most of it the runs of the method."""
    counted = _seconds_without_runs(situation, options)
    rng = situation.rng("tie-membership: how long it takes")
    try:
        work = _attacked(situation, options, rng)
    except NotMeasuredError:
        return counted
    return counted + work.seconds(situation, options.shadows, rng)


def _seconds_without_runs(
    situation: AttackInput[GraphComparison], options: TieMembershipOptions
) -> float:
    """Return how long everything takes except the runs of the method."""
    graph = situation.comparison.original
    ties = min(options.ties, graph.n_edges // ONE_IN)
    return options.shadows * (PER_TIE * ties + PER_END * (2 * graph.n_edges + graph.n_nodes))


def foreseen(situation: AttackInput[GraphComparison], options: TieMembershipOptions) -> float:
    """Return about how long it takes, by the run that made the release."""
    _attacked(situation, options, situation.rng("tie-membership: how long it takes"))
    return _seconds_without_runs(situation, options) + options.shadows * run_again(situation)


TIE_MEMBERSHIP = Attack(
    name="tie-membership",
    kind=Graph,
    knows="the identity of every released node, all edges except those tested, and the method "
    "with its parameters",
    definition="how often an edge scores higher than a pair whose edge was removed before the "
    "method was run; equal scores count half (area under the curve). And the share "
    "of edges found at 1% and 0.1% false-positive rates",
    source="likelihood ratio: Carlini et al., Membership inference attacks from first "
    "principles, 2022; the scores of pairs are graphveil's own",
    cost="24 runs of the method, on 1,000 edges, at most one in ten",
    compute=tie_membership,
    seconds=seconds,
    foreseen=foreseen,
    options=TieMembershipOptions,
    by_name=True,
    said=(
        inferred(
            "one tie",
            does="knows all identities, all other edges and the method, and tests for one edge",
            line="presence of one edge, for an attacker who knows all identities",
            label="one connection, all others known",
            says="given one real and one absent connection, the real one is recognized {n} times",
            if_measured=True,
        ),
    ),
)

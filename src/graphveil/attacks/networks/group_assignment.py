"""Which group of a release by super-nodes every person is in, by a copy: `group-assignment`.

A release by `super-nodes` publishes groups of nodes, and how many edges there are inside each and
between any two. The attacker reads these numbers, not the generated edges, and assigns the people
of a copy to groups until the copy has the same numbers (`assignment/group_counts.py`):

- *right group*: the share of people whose group is found;
- *right*: the share whose node is found by one guess among the nodes of that group which are not
  known to be of other people: a group of k leaves one guess in k;
- *misfit*: what the attacker sees of it: the sum of the squared differences between the numbers of
  edges. At 0 the copy has exactly the published numbers;
- *shown edges*, *shown non-edges*: between groups with all possible edges, or none, the release
  states for certain whether two people of them are connected: the share that is true under the
  groups that were found;
- *corrected*: pairs of people about whom the copy is wrong and such groups say the truth.

People whose released node is known are not counted. A person's risk is how probable their own node
is under the groups that were found, the largest of all settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    refuse_more_nodes,
)
from graphveil.attacks.networks.assignment import group_counts
from graphveil.attacks.networks.copies import paired_copy, reidentification
from graphveil.attacks.wording import RIGHT
from graphveil.claims.guarantees import SuperNodeAnonymity
from graphveil.core.array_types import Floats, Ints
from graphveil.core.parameters import parameter
from graphveil.core.progress import stage
from graphveil.core.rows import Setting
from graphveil.data import Graph
from graphveil.evaluate.comparison import GraphComparison
from graphveil.evaluate.metric import NotMeasuredError, Sample
from graphveil.release.generalized_graph import GeneralizedGraph

MOST_NODES = 4_000
"""The assignment problems hold a float32 array of n times n, 64 MB at the limit."""

KNOWN = (0, 20)
"""How many known people are tried by default."""

PER_EXCHANGE, PER_GROUP, PER_PLACE = 1e-7, 1.3e-9, 4e-9
"""Seconds of an exchange, of it for every group, and of a start for every node, node and step."""


@dataclass(frozen=True, kw_only=True)
class GroupAssignmentOptions(AttackOptions, label="group-assignment"):
    """What the copy shares with the original, how many people are known, how long is searched."""

    overlap: float = parameter(default=1.0, text=paired_copy.OVERLAP, minimum=0, maximum=1)
    known: int | None = paired_copy.known_parameter(KNOWN)
    sweeps: int = parameter(
        default=64_000, text="exchanges tried for each person in the longest search", minimum=1
    )

    @property
    def settings(self) -> tuple[int, ...]:
        """Every number of known people that is tried."""
        return KNOWN if self.known is None else (self.known,)


class Found(NamedTuple):
    """What a search found, in the order of the original.

    Parameters
    ----------
    groups, truth : int64, shape (n,)
        The group that the attacker gives everybody, and the group they are in.
    known : bool, shape (n,)
        Whose node was known beforehand.
    misfit : int
        The misfit of the groups.
    copy : Graph
        The copy, with people in the order of the original.
    """

    groups: Ints
    truth: Ints
    known: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    misfit: int
    copy: Graph

    @property
    def chance(self) -> Floats:
        """How probable everybody's own node is: one guess among the free nodes of their group."""
        n_groups = int(self.truth.max()) + 1
        free = np.bincount(self.truth[~self.known], minlength=n_groups)
        right = (self.groups == self.truth) & ~self.known
        return np.where(right, 1 / np.maximum(free[self.truth], 1), 0.0)


def group_assignment(
    situation: AttackInput[GraphComparison], options: GroupAssignmentOptions
) -> Outcome:
    """Return how many people's groups and nodes are found by fitting a copy to the numbers."""
    pair, published = situation.comparison, _published(situation)
    n, rng = pair.original.n_nodes, situation.rng("group-assignment")
    figures: list[AttackFigure] = []
    risk, baseline = np.zeros(n), np.full(n, np.nan)
    missing: dict[str, str] = {}
    for known in options.settings:
        setting = Setting(overlap=options.overlap, known=known)
        if known >= n:
            missing[setting.text] = f"only {n:,} nodes; {known:,} should be known"
            continue
        with stage(f"assigning people to groups, {known or 'nobody'} known"):
            found = _found(pair, published, options, known, rng)
        figures += _figures(pair.original, published, found, setting)
        # A person's risk is the largest of all settings.
        guess = np.where(found.known, np.nan, 1 / (n - known))
        baseline = np.where(np.isnan(baseline) | (found.chance > risk), guess, baseline)
        risk = np.fmax(risk, found.chance)
    if not figures:
        raise NotMeasuredError("; ".join(missing.values()))
    return Outcome(figures, np.where(np.isnan(baseline), np.nan, risk), baseline, missing)


def _published(situation: AttackInput[GraphComparison]) -> GeneralizedGraph:
    """Return the groups that the release publishes; refuse releases without, and large ones."""
    if not isinstance(situation.release.guarantee, SuperNodeAnonymity):
        raise NotMeasuredError("the release has no groups with numbers of edges")
    reidentification.check_people(situation.comparison)
    refuse_more_nodes(
        situation.comparison.original.n_nodes, MOST_NODES, "Use seeded-matching, which takes more"
    )
    return situation.release.generalized_graph()


def _found(
    pair: GraphComparison,
    published: GeneralizedGraph,
    options: GroupAssignmentOptions,
    known: int,
    rng: np.random.Generator,
) -> Found:
    """Return what a search finds by one copy."""
    # Step 1: a copy in a random order, and some people whose node, and so whose group, is known.
    # Only the copy is read of the pairing; node i of the release is in group i % n_groups.
    two = paired_copy.pairing(pair, options.overlap, rng, copy="ties")
    truth = pair.linked[two.person] % published.n_groups
    chosen = rng.choice(truth.size, known, replace=False)
    told = np.full(truth.size, paired_copy.NOBODY, dtype=np.int64)
    told[chosen] = truth[chosen]
    # Step 2: the groups that fit best.
    target = group_counts.Target.of(published, told)
    fit = group_counts.best_groups(two.copy, target, options.sweeps, rng)
    # Step 3: back to the order of the original.
    place = np.argsort(two.person)
    return Found(
        fit.groups[place], truth[place], told[place] >= 0, fit.misfit, two.copy.permuted(place)
    )


def _figures(
    original: Graph, published: GeneralizedGraph, found: Found, setting: Setting
) -> Iterator[AttackFigure]:
    """Yield the figures of one setting, next to guesses without the release."""
    n, asked = original.n_nodes, ~found.known
    people = int(np.count_nonzero(asked))

    def figure(name: str, value: float, unit: str, guess: float | None) -> AttackFigure:
        return AttackFigure(name, value, unit, guess, sample=Sample(1), setting=setting)

    # People: the node, and the group. Without the release a guess of the group is right as often as
    # the largest one is large.
    of_people = "share of people"
    hits = (found.groups == found.truth)[asked]
    largest = float(np.bincount(found.truth[asked]).max()) / people
    yield figure(RIGHT, float(found.chance[asked].sum()) / people, of_people, 1 / people)
    yield figure("right group", float(hits.mean()), of_people, largest)
    yield figure("misfit", float(found.misfit), "squared edges", None)._replace(
        direction="higher is better"
    )
    # Pairs of people in groups with all possible edges, and with none.
    all_pairs = n * (n - 1) // 2
    density = original.n_edges / max(all_pairs, 1)
    shown = Shown.of(published, found.groups)
    true = shown.full_among(original)
    if shown.full:
        yield figure("shown edges", true / shown.full, "share of shown pairs", density)
    if shown.empty:
        there = shown.empty_among(original)
        yield figure(
            "shown non-edges", 1 - there / shown.empty, "share of shown pairs", 1 - density
        )
    # Of the pairs about which the copy is wrong, those about which such groups are right.
    lost, false = _differences(original, found.copy), _differences(found.copy, original)
    wrong = lost.n_edges + false.n_edges
    if wrong:
        corrected = shown.full_among(lost) + shown.empty_among(false)
        yield figure("corrected", corrected / wrong, "share of wrong pairs", 0.0)


def _differences(one: Graph, other: Graph) -> Graph:
    """Return the edges of one graph that another lacks."""
    n = one.n_nodes
    first, second = (graph.edges().astype(np.int64) @ [n, 1] for graph in (one, other))
    rest = np.setdiff1d(first, second)
    return Graph.from_edges(rest // n, rest % n, n=n)


class Shown(NamedTuple):
    """Pairs of people about whom the groups that were found leave no doubt.

    `groups`: int64, shape (n,), those groups; `is_full`, `is_empty`: bool, shape (groups, groups):
    blocks with all possible edges, and with none; `full`, `empty`: how many pairs those have.
    """

    groups: Ints
    is_full: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    is_empty: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    full: int
    empty: int

    @classmethod
    def of(cls, published: GeneralizedGraph, groups: Ints) -> Shown:
        """Return the pairs of the blocks of a release, with people in these groups."""
        target = group_counts.Target.of(published, groups)
        is_full = (target.counts == target.pairs) & (target.pairs > 0)
        is_empty = (target.counts == 0) & (target.pairs > 0)
        pairs = np.triu(target.pairs)
        return cls(groups, is_full, is_empty, int(pairs[is_full].sum()), int(pairs[is_empty].sum()))

    def full_among(self, graph: Graph) -> int:
        """Return how many edges of a graph are in blocks with all possible edges."""
        return self._among(self.is_full, graph)

    def empty_among(self, graph: Graph) -> int:
        """Return how many edges of a graph are in blocks with no edges."""
        return self._among(self.is_empty, graph)

    def _among(self, blocks: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], graph: Graph) -> int:
        ends = self.groups[graph.edges()]
        return int(np.count_nonzero(blocks[ends[:, 0], ends[:, 1]]))


def seconds(situation: AttackInput[GraphComparison], options: GroupAssignmentOptions) -> float:
    """Return about how long it takes at most: all rounds from all starts; a fit of 0 ends it."""
    published = _published(situation)
    n = published.n_nodes
    exchanges = 3 * n * sum(group_counts.rounds(options.sweeps))
    starts = 2 * PER_PLACE * n * n * group_counts.STEPS
    each = exchanges * (PER_EXCHANGE + PER_GROUP * published.n_groups) + starts
    return len(options.settings) * each


GROUP_ASSIGNMENT = Attack(
    name="group-assignment",
    kind=Graph,
    knows="a copy of the network that shares some of its edges and has random pairs in place of "
    "the others; and the released nodes of 20 people, or of no one. Only for releases by "
    "super-nodes",
    definition="share of people whose node is found by one guess in the group they are assigned "
    "to, such that the copy has the published numbers of edges inside and between groups; the "
    "share whose group is right; and the misfit that the attacker sees, the sum of the squared "
    "differences of these numbers. Known people are not counted",
    source="graphveil's own; starts: FAQ, Vogelstein et al., PLOS ONE 2015; exchanges: simulated "
    "annealing",
    cost=f"nodes times groups, times sweeps, up to {MOST_NODES:,} nodes; a figure after about 2 "
    "seconds, which improves until its time is over",
    compute=group_assignment,
    seconds=seconds,
    options=GroupAssignmentOptions,
    said=reidentification.said_of_copies(", by the numbers of connections of groups"),
    claims=(SuperNodeAnonymity,),
    shorter=GroupAssignmentOptions(sweeps=group_counts.FIRST_SWEEPS),
)

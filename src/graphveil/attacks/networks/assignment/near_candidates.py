"""Matching large networks: assignments among the nearest candidates of every node, several starts.

For networks of which not all pairs of nodes can be held, and the first start for smaller ones.
graphveil's own, from parts that are known: candidates are the nearest released nodes by an
embedding of surroundings (`embedding.py`), a soft plan over candidates hardens as in graduated
assignment (Gold and Rangarajan, 1996), and is scaled by Sinkhorn's method. Steps of one start:

1. Embed the nodes of both networks for an assumed share of wrong edges; take each person's nearest
   nodes.
2. Anneal: the plan moves half way, again and again, towards the one given by edges in common, whose
   weight grows, less distances (`_annealed`).
3. Match greedily the likeliest pairs, one-to-one.
4. Choose candidates again: the likeliest ones before, and nodes with most matched neighbors; anneal
   again, until no more edges are kept (`_next_round`).

The starts assume different shares of wrong edges. What a match keeps is the attacker's own measure:
the start that keeps most wins, and none is tried after two that agree. Cost: edges times candidates
per move of the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.assignment.embedding import Nodes, Points, nearest, points
from graphveil.attacks.networks.assignment.expand_when_stuck import candidate_lists
from graphveil.attacks.networks.assignment.frank_wolfe import SURPLUS, Match
from graphveil.attacks.networks.copies.paired_copy import NOBODY, Pairing
from graphveil.core.array_types import Ints
from graphveil.core.lazy import lazy_module
from graphveil.core.progress import in_time

if TYPE_CHECKING:
    from graphveil.attacks.kernels import candidates, percolation
    from graphveil.attacks.kernels.percolation import CandidateLists
else:
    candidates = lazy_module("graphveil.attacks.kernels.candidates")
    percolation = lazy_module("graphveil.attacks.kernels.percolation")

Weights: TypeAlias = "NDArray[np.float32]"
"""A number for every candidate of every node."""


class Start(NamedTuple):
    """How candidates are chosen, and what their distances weigh.

    Parameters
    ----------
    noise : float
        Which share of the edges is taken to be wrong.
    coordinates : int
        How many coordinates every node has.
    fewest, most : int
        How many candidates everybody has at least and at most.
    cells : int
        Between these, so many that candidates times edges (or nodes) are this number.
    weight : float
        What distances weigh, next to edges in common.
    """

    noise: float
    coordinates: int
    fewest: int
    most: int
    cells: int
    weight: float

    def candidates(self, ties: int, nodes: int) -> int:
        """Return how many candidates everybody has in networks with that many edges and nodes.

        >>> [start.candidates(200_000, 20_000) for start in STARTS]
        [40, 50, 75]
        """
        wanted = self.cells // max(ties, nodes, 1)
        return min(max(wanted, self.fewest), self.most, max(nodes, 1))


STARTS = (
    Start(0.15, 10, 40, 40, 0, 1.0),
    Start(0.4, 10, 40, 300, 10_000_000, 0.3),
    Start(0.6, 3, 40, 700, 15_000_000, 0.3),
)
"""From few candidates with precise surroundings, for little noise, to many with coarse ones. Tuned
on five networks of up to 18,771 nodes (`TUNED` in ``benchmarks/attacks/large_alignment.py``)."""


class Steps(NamedTuple):
    """How a plan hardens.

    Parameters
    ----------
    weights : tuple of float
        What an edge in common is worth, step by step.
    repeats : int
        How often the plan moves half way at each weight.
    scalings : int
        How often rows and columns are scaled in each move.
    """

    weights: tuple[float, ...]
    repeats: int
    scalings: int


ALL_STEPS = Steps(tuple(np.linspace(0.3, 4.0, 20, dtype=np.float32).tolist()), 2, 20)
"""How plans harden if this search is the only one."""
FEWER = Steps(tuple(np.linspace(0.3, 4.0, 10, dtype=np.float32).tolist()), 2, 10)
"""With half the weights and half the scalings, for a start that others follow in
`one_to_one.py`."""

LATER, LATER_SHARE, LATER_MOST = (1.0, 2.0, 4.0, 5.0, 5.0, 5.0), 0.15, 8.0
"""Later rounds: the weights of an edge, what distances weigh, and how much a distance says at most:
by then matched neighbors say more than surroundings."""

ROUNDS, LEAST_GAIN = 12, 0.002
"""Rounds of choosing candidates again at most; they end when the gain is a smaller share of the
edges kept."""

KEPT, VOTED, SURE = 8, 20, 0.2
"""Candidates of a later round: `KEPT` of the likeliest ones before, `VOTED` with most matched
neighbors; a match votes for its neighbors if it is at least `SURE` likely."""

AGREEING = 0.5
"""If two starts agree on this share of the ends of edges, no further one is tried."""


class _Networks(NamedTuple):
    """Both networks as kernels read them, who is known, and what surplus edges cost (`SURPLUS`)."""

    one: CandidateLists
    two: CandidateLists
    seeds: Match
    surplus: float

    def kept(self, match: Match) -> float:
        """Return twice the edges in common, less what surplus ones cost.

        The attacker's own measure of success.
        """
        nodes = match.astype(np.int32)[:, None]
        ones = np.ones(nodes.shape, dtype=np.float32)
        kept = float(self.ties(nodes, ones).sum(dtype=np.float64))
        if not self.surplus:
            return kept
        # Surplus: released edges among the nodes that are given to people, counted by prefix sums.
        shown = np.zeros(self.two.degrees.size, dtype=np.int64)
        shown[match[match >= 0]] = 1
        before = np.concatenate([[0], np.cumsum(shown[self.two.indices])])
        around = sum(before[ends[1:]] - before[ends[:-1]] for ends in self.two.indptr)
        return kept - self.surplus * float((around * shown).sum())

    def ties(self, nodes: Nodes, plan: Weights) -> Weights:
        """Return how many edges every candidate keeps, float32, shape (n, candidates)."""
        ties = np.empty_like(plan)
        room = np.zeros(self.two.degrees.size, dtype=np.float32)
        candidates.ties_of_candidates(self.one, self.two, nodes, plan, room, ties)
        return ties


class _Result(NamedTuple):
    """A match, what it keeps, and how likely everybody's candidates are.

    `nodes, plan`: shape (n, candidates), see the kernels' module.
    """

    match: Match
    kept: float
    nodes: Nodes
    plan: Weights


def near_match(
    two: Pairing, seeds: Match, rng: np.random.Generator, steps: Steps = ALL_STEPS
) -> Match:
    """Return the released node of every node of the copy, -1 where none is likely.

    Parameters
    ----------
    two : Pairing
        The copy next to the release.
    seeds : int64, shape (n,)
        The released node of everybody who is known, -1 for the others.
    rng : numpy.random.Generator
        Noise that the attacker adds to the copy to see how features change.
    steps : Steps
        How the plans harden.

    Returns
    -------
    int64, shape (n,)
        A one-to-one match, which contains the seeds.
    """
    n = two.truth.size
    if two.copy.n_edges == 0 or two.released.n_edges == 0:
        return seeds.copy()
    networks = _Networks(
        *candidate_lists(two.side_information), seeds, 0.0 if two.present.all() else SURPLUS
    )
    # People without an edge in the copy have no surroundings, and are not asked about.
    asked = np.flatnonzero(two.present & (two.copy.degrees() > 0) & (seeds < 0))
    weights = np.bincount(asked, minlength=n) * two.copy.degrees()
    tried: list[_Result] = []
    # Step 1: where nodes are, for the noise that this start assumes, and everybody's nearest nodes.
    for start in in_time(STARTS):
        where = points(two, start.noise, start.coordinates, rng)
        most = start.candidates(two.copy.n_edges, n)
        nodes = _with_seeds(nearest(where, asked, two.side_information.rows, most), seeds)
        # Steps 2 to 4; a start that agrees with an earlier one is mostly right, and the last.
        tried.append(_searched(networks, where, nodes, start.weight, steps))
        if any(_agree(tried[-1].match, other.match, weights) for other in tried[:-1]):
            break
    return max(tried, key=lambda reached: reached.kept).match


def _agree(one: Match, other: Match, weights: Ints) -> bool:
    """Whether two matches give most people the same node, each as often as they have edges.

    A person with one edge is often one of many with equal surroundings.
    """
    same = weights[(one == other) & (one >= 0)].sum()
    return bool(same > AGREEING * weights.sum())


def _with_seeds(nodes: Nodes, seeds: Match) -> Nodes:
    """Return candidates of which known people have their node alone, and no other person has it."""
    known = np.flatnonzero(seeds >= 0)
    taken = np.zeros(max(int(nodes.max(initial=0)), int(seeds.max(initial=0))) + 1, dtype=np.bool_)
    taken[seeds[known]] = True
    free = np.where((nodes >= 0) & ~taken[np.maximum(nodes, 0)], nodes, np.int32(NOBODY))
    free[known] = NOBODY
    free[known, 0] = seeds[known]
    return free


def _searched(
    networks: _Networks, where: Points, nodes: Nodes, weight: float, steps: Steps
) -> _Result:
    """Return what a start reaches once candidates are chosen again, round by round."""
    cost = np.float32(weight) * where.far(nodes)
    # Begin with equal shares among the candidates of each person.
    plan = (nodes >= 0).astype(np.float32)
    plan /= np.maximum(plan.sum(axis=1, keepdims=True), 1)
    best = _annealed(networks, nodes, plan, cost, steps)
    for _ in in_time(range(ROUNDS)):
        following = _next_round(networks, where, best, steps._replace(weights=LATER))
        # Keep a round only if it keeps more edges; end when it gains little.
        gain = following.kept - best.kept
        if gain > 0:
            best = following
        if gain <= LEAST_GAIN * best.kept:
            break
    return best


def _next_round(networks: _Networks, where: Points, before: _Result, steps: Steps) -> _Result:
    """Return a match among the likeliest candidates and those with most matched neighbors."""
    # The likeliest candidates so far, then nodes that share most matched neighbors.
    order = np.argsort(-before.plan, axis=1, kind="stable")[:, :KEPT]
    likeliest = np.take_along_axis(before.nodes, order, axis=1)
    nodes = np.concatenate([likeliest, _by_matched_neighbors(networks, before)], axis=1)
    plan = np.zeros(nodes.shape, dtype=np.float32)
    plan[:, : likeliest.shape[1]] = np.take_along_axis(before.plan, order, axis=1)
    nodes = _with_seeds(_first_of_equals(nodes), networks.seeds)
    # Nine tenths of the old plan, and one tenth shared out, so that new candidates have a chance.
    plan = np.where(nodes >= 0, 0.9 * plan + 0.1 / nodes.shape[1], 0).astype(np.float32)
    cost = np.float32(LATER_SHARE) * np.minimum(where.far(nodes), np.float32(LATER_MOST))
    return _annealed(networks, nodes, plan, cost, steps)


def _by_matched_neighbors(networks: _Networks, before: _Result) -> Nodes:
    """Return the nodes that share most surely matched neighbors with everybody."""
    # Only sure matches vote: a wrong one would bring its neighbors along.
    likely = np.where(before.nodes == before.match[:, None], before.plan, 0).max(axis=1)
    match = np.where(likely >= SURE, before.match, NOBODY)
    n = networks.two.degrees.size
    votes = candidates.Votes(np.zeros(n, dtype=np.int64), np.empty(n, dtype=np.int64))
    nodes = np.empty((match.size, VOTED), dtype=np.int32)
    shares = np.empty(nodes.shape, dtype=np.float32)
    candidates.rank_by_matched_neighbors(networks.one, networks.two, match, votes, nodes, shares)
    return nodes


def _first_of_equals(nodes: Nodes) -> Nodes:
    """Return rows in which a node that stands there before is omitted.

    >>> _first_of_equals(np.array([[3, 1, 3, -1]])).tolist()
    [[3, 1, -1, -1]]
    """
    order = np.argsort(nodes, axis=1, kind="stable")
    ranked = np.take_along_axis(nodes, order, axis=1)
    again = np.zeros(nodes.shape, dtype=np.bool_)
    again[:, 1:] = ranked[:, 1:] == ranked[:, :-1]
    repeated = np.empty_like(again)
    np.put_along_axis(repeated, order, again, axis=1)
    return np.where(repeated, NOBODY, nodes).astype(nodes.dtype)


def _annealed(
    networks: _Networks, nodes: Nodes, plan: Weights, cost: Weights, steps: Steps
) -> _Result:
    """Return the match of a plan that hardens while edges weigh ever more.

    Parameters
    ----------
    networks : _Networks
        Both networks.
    nodes : int32, shape (n, candidates)
        The candidates of everybody.
    plan : float32, shape (n, candidates)
        How likely each is at the beginning.
    cost : float32, shape (n, candidates)
        The distance of each, in the unit of an edge's weight.
    steps : Steps
        How the plan hardens.

    Returns
    -------
    _Result
        The match, what it keeps, and the last plan.
    """
    n, n_two = len(nodes), networks.two.degrees.size
    factors = candidates.Factors(*(np.empty(size, dtype=np.float32) for size in (n, n_two, n_two)))
    target = np.empty_like(plan)
    # The weight of an edge in common grows: at first distances decide, in the end edges do.
    for weight in steps.weights:
        for _ in in_time(range(steps.repeats)):
            # One move: what each candidate is worth, scaled to a plan, and half way there.
            worth = networks.ties(nodes, plan)
            worth *= np.float32(weight)
            worth -= cost
            candidates.transported(nodes, worth, factors, steps.scalings, target)
            plan = (plan + target) * np.float32(0.5)
    match = _matched(nodes, plan, networks)
    return _Result(match, networks.kept(match), nodes, plan)


def _matched(nodes: Nodes, plan: Weights, networks: _Networks) -> Match:
    """Return the one-to-one match that takes the likeliest pair of free nodes again and again."""
    n_two = networks.two.degrees.size
    back = np.full(n_two, NOBODY, dtype=np.int64)
    known = np.flatnonzero(networks.seeds >= 0)
    back[networks.seeds[known]] = known
    match = percolation.PercolationMatch(networks.seeds.copy(), back)
    pairs = np.flatnonzero((nodes.ravel() >= 0) & (plan.ravel() > 0))
    order = pairs[np.argsort(-plan.ravel()[pairs], kind="stable")]
    candidates.match_in_order(order, nodes, match)
    return match.one

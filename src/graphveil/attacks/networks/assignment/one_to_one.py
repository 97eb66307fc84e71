"""Assignments of all nodes of one network to those of another, from several starts, and their cost.

Three methods start: a relaxation of the alignment by features of nodes (Bommakanti, Vonteri,
Skitsas, Ranu, Mottin and Karras, *FUGAL: Feature-fortified unrestricted graph alignment*, NeurIPS
2024: the idea, written anew), a soft assignment that hardens step by step, and the nearest
candidates. The best is chosen by what the attacker sees. It costs little where two starts agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import TooLargeError, ends_of, refuse_more_nodes, squares
from graphveil.attacks.networks.assignment.frank_wolfe import (
    Match,
    Plan,
    Ties,
    best_assignment_path,
    faq,
)
from graphveil.attacks.networks.assignment.near_candidates import (
    ALL_STEPS,
    FEWER,
    STARTS,
    Steps,
    near_match,
)
from graphveil.attacks.networks.assignment.surroundings import Distances, distances
from graphveil.attacks.networks.copies import Pairing
from graphveil.attacks.networks.propagation import SMALLER
from graphveil.attacks.networks.signatures import Relations, SideInformation, degrees
from graphveil.core.lazy import lazy_module
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.evaluate.comparison import Floats, GraphComparison, Ints
from graphveil.measures.values import triangles

if TYPE_CHECKING:
    from graphveil.attacks.kernels import candidates as kernels
else:
    kernels = lazy_module("graphveil.attacks.kernels.candidates")

Matrix: TypeAlias = "Floats"
Singles: TypeAlias = "NDArray[np.float32]"

PENALTIES, STEPS = 10, 10
"""Weights 0..9 of the pull towards one-to-one, each for so many steps."""

FAR_OFF = 1e4
"""How far nodes are from people whose attributes are others."""

ROUNDS, TOLERANCE = 200, 1e-3
"""How long rows and columns are scaled in turn: until each sum is that near to 1."""

_LEAST = float(np.finfo(np.float32).tiny)


def features(graph: Graph) -> Matrix:
    """Return what each node's surroundings are like, float64, shape (n, 4).

    >>> features(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))[3].round(3).tolist()
    [1.0, 0.0, 3.0, 0.333]
    """
    ties = graph.degrees().astype(np.float64)
    pairs = ties * (ties - 1) / 2
    clustering = triangles(graph) / np.maximum(pairs, 1)
    own = np.column_stack([ties, clustering])
    around = graph.to_scipy().astype(np.float64) @ own / np.maximum(ties, 1)[:, None]
    return np.hstack([own, around])


def _all_features(graph: Graph, relations: Relations) -> Matrix:
    """Return the features, and degrees of every kind and direction where there are several."""
    own = features(graph)
    return np.column_stack([own, degrees(relations).T]) if len(relations) > 1 else own


def sinkhorn(
    cost: Matrix | Singles,
    *,
    rounds: int = ROUNDS,
    tolerance: float = TOLERANCE,
    columns: Singles | None = None,
) -> Singles:
    """Return the matrix exp(-cost), rows and columns scaled in turn until each sums to about 1.

    `columns` begin the scaling and become what was reached: similar costs take fewer rounds then.
    """
    near = cost.min(axis=1, keepdims=True, initial=np.inf) - cost
    plan: Singles = np.exp(near.astype(np.float32, copy=False))
    if columns is None:
        columns = np.ones(plan.shape[1], dtype=np.float32)
    rows, sums = np.empty(plan.shape[0], dtype=np.float32), np.empty_like(columns)
    turned = np.ascontiguousarray(plan.T)
    kernels.scaled(plan, turned, kernels.Factors(rows, columns, sums), rounds, tolerance, _LEAST)
    return plan


def relaxed_alignment(one: Graph, two: Graph, besides: SideInformation | None = None) -> Matrix:
    """Return how well every node of one graph fits every node of another of the same size.

    Frank-Wolfe steps on -tr(A P B P^T) + tr(D^T P) + lambda tr(P^T (1 - P)) with lambda 0 to 9, A
    and B the adjacency matrices and D the distances between features; the linear step is one of
    optimal transport with entropy. Each step takes time in n times edges and n^2.
    """
    from scipy.spatial import distance  # noqa: PLC0415  heavy: not for help

    besides = SideInformation.of_graphs(one, two) if besides is None else besides
    firsts, seconds, _ = besides.matrices(np.float64)
    n = one.n_nodes
    far = distance.cdist(_all_features(one, besides.copy), _all_features(two, besides.released))
    if besides.rows is not None:
        far[besides.rows.excluded()] = FAR_OFF
    plan = np.full((n, n), 1 / n)
    for penalty in range(PENALTIES):
        for step in in_time(range(STEPS)):
            cost = sum(
                (second @ (first @ plan).T).T for first, second in zip(firsts, seconds, strict=True)
            )
            cost *= -2
            cost += far
            cost += penalty
            cost -= 2 * penalty * plan
            plan += 2 / (2 + step) * (sinkhorn(cost) - plan)
    return plan


def assigned(plan: Matrix) -> Ints:
    """Return the one-to-one assignment of the largest sum: a column for every row.

    >>> assigned(np.array([[0.6, 0.4], [0.9, 0.1]])).tolist()
    [1, 0]
    """
    from scipy import optimize  # noqa: PLC0415  heavy: not for help

    _, columns = optimize.linear_sum_assignment(-plan)
    return np.asarray(columns, dtype=np.int64)


WEIGHTS = np.linspace(0.5, 4.0, 45, dtype=np.float32)
"""What an edge in common is worth, step by step, in the unit of distances."""

ENTROPIC_ROUNDS, ENTROPIC_TOLERANCE = 50, 1e-2
"""How long rows and columns are scaled in turn."""

LAST_WEIGHT, LAST_SHARE, LAST_STEPS = 5.0, 0.3, 10
"""What edges and distances are worth when everybody's likeliest node is asked for, and for how many
steps."""

_IMPOSSIBLE = 1e4
_HALF = np.float32(0.5)


def graduated(ties: Ties, far: Distances) -> Plan:
    """Return how likely every node is every other, by edges in common and by distances.

    After the graduated assignment of Gold and Rangarajan, *A graduated assignment algorithm for
    graph matching*, IEEE TPAMI 1996: the plan moves towards the one that a step of optimal
    transport with entropy gives, while edges weigh ever more. It has a term of distances, as FUGAL.
    """
    cost = _with_seeds(ties, far)
    n = len(far)
    plan = ties.with_seeds(np.full((n, n), 1 / max(n, 1), dtype=np.float32))
    columns = np.ones(n, dtype=np.float32)
    for weight in in_time(WEIGHTS):
        plan = _moved(ties, plan, cost, weight, columns)
    return plan


def likeliest(ties: Ties, match: Match, far: Distances) -> Match:
    """Return the assignment of the likeliest nodes, in place of the one that keeps most edges.

    Where many assignments keep about as many edges, what they have in common is likelier than what
    one of them says.
    """
    cost = _with_seeds(ties, np.float32(LAST_SHARE) * far)
    n = match.size
    plan = np.full((n, n), 0.1 / max(n, 1), dtype=np.float32)
    plan[np.arange(n), match] += np.float32(0.9)
    plan = ties.with_seeds(plan)
    columns = np.ones(n, dtype=np.float32)
    for _ in in_time(range(LAST_STEPS)):
        plan = _moved(ties, plan, cost, np.float32(LAST_WEIGHT), columns)
    return ties.assigned(plan)


def _with_seeds(ties: Ties, far: Distances) -> Distances:
    """Return distances by which known people are assigned to their nodes alone."""
    known = np.flatnonzero(ties.seeds >= 0)
    cost = far.copy()
    cost[known] = _IMPOSSIBLE
    cost[:, ties.seeds[known]] = _IMPOSSIBLE
    cost[known, ties.seeds[known]] = 0
    return cost


def _moved(
    ties: Ties, plan: Plan, cost: Distances, weight: np.float32, columns: NDArray[np.float32]
) -> Plan:
    """Return the plan moved half way to what it says of every pair of nodes.

    The factors of columns go on from step to step: a step changes them little.
    """
    target = ties.gradient(plan)
    target *= -weight
    target += cost
    said = sinkhorn(target, rounds=ENTROPIC_ROUNDS, tolerance=ENTROPIC_TOLERANCE, columns=columns)
    said += plan
    said *= _HALF
    return said


AGREEING = 0.7
"""Where two starts agree on such a share of the ends of the copy's edges, none is tried after."""

POLISHED = 2
"""So many of the starts are searched on from half way: which keeps most before need not after."""


class Start(NamedTuple):
    """An assignment to begin with, and distances to tell apart who keeps as many edges."""

    match: Match
    far: Distances


class _Climbed(NamedTuple):
    """What repeated assignments make of a start, and what that keeps."""

    kept: float
    match: Match
    far: Distances


def best_assignment(ties: Ties, starts: Iterable[Start]) -> Match:
    """Return the likeliest assignment around the one of all starts that keeps most edges.

    What an assignment keeps is the attacker's own measure: it needs no linkage.
    """
    tried: list[_Climbed] = []
    for start in in_time(starts):
        match, kept = best_assignment_path(ties, start.match)
        agreed = any(_agree(ties, match, other.match) for other in tried)
        tried.append(_Climbed(kept, match, start.far))
        if agreed:
            break
    tried.sort(key=lambda some: some.kept, reverse=True)
    polished = [_from_half_way(ties, some) for some in tried[:POLISHED]]
    best = max(polished, key=lambda some: some.kept)
    return likeliest(ties, best.match, best.far)


def _from_half_way(ties: Ties, some: _Climbed) -> _Climbed:
    """Return what FAQ reaches from half way to the middle, where that keeps more."""
    half_way = middle(some.match.size) * np.float32(0.5)
    half_way[np.arange(some.match.size), some.match] += np.float32(0.5)
    match, kept = best_assignment_path(ties, faq(ties, half_way))
    return _Climbed(kept, match, some.far) if kept > some.kept else some


def common_starts(ties: Ties, two: Pairing, rng: np.random.Generator) -> Iterator[Start]:
    """Yield what a graduated assignment makes of each kind of distances, and of near candidates.

    The search among candidates, which large networks get alone, comes first, as it mostly keeps
    most; the comparison by degrees alone, which keeps least, comes last.
    """
    far = list(distances(two))
    near = near_match(two, ties.seeds, rng, steps=FEWER)
    yield Start(completed(ties, near), far[0])
    for one in reversed(far):
        yield Start(ties.assigned(graduated(ties, one)), one)


def completed(ties: Ties, match: Match) -> Match:
    """Return an assignment that gives those a free node, by chance, who have none in a match."""
    given = np.flatnonzero(match >= 0)
    worth = np.zeros(ties.chances.shape, dtype=np.float32)
    worth[given, match[given]] = 1
    return ties.assigned(worth)


def _agree(ties: Ties, one: Match, other: Match) -> bool:
    """Whether two assignments give most people of the copy who are not known the same node.

    Each counts once per edge: a person with one edge is often one of many with equal surroundings.
    """
    ends = sum(np.asarray(lists.sum(axis=1)) for lists in ties.first)
    ends = ends * ((ties.seeds < 0) & (ties.present > 0))
    return bool(ends[one == other].sum() > AGREEING * ends.sum())


def middle(n: int) -> Plan:
    """Return the plan in which everybody is as much every node: the barycenter.

    >>> middle(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return np.full((n, n), 1 / max(n, 1), dtype=np.float32)


MOST_NODES, MOST_TIES, MOST_SQUARES = 100_000, 1_500_000, 500_000_000
"""Up to so many nodes, edges, and so large a sum of squared degrees."""

OF_NEAREST = f"best of {len(STARTS)} starts among the nearest"
"""What the label of a setting says of it."""

COST = (
    f"above that, edges times candidates, up to {MOST_NODES:,} nodes and {MOST_TIES:,} edges: "
    "about half a minute per draw for 100,000 edges"
)
"""What the entries of attacks say of it."""

PER_CELL, PER_CANDIDATE = 8e-9, 3e-8
"""Seconds of a step for every candidate of an edge, and for every candidate of a node."""

NEAR_BY, GROWTH = 12_000, 0.5
"""Up to so many nodes candidates are in the cache; then each costs more, by a power."""

WRONG, ALL_STARTS = 3.2, 0.6
"""How much longer a copy takes of whose edges such a share is wrong, or more, as a multiple of a
whole copy's time: then all starts are tried, and rounds are most."""


def check_size(pair: GraphComparison) -> None:
    """Refuse a network that is too large."""
    refuse_more_nodes(pair.original.n_nodes, MOST_NODES, SMALLER)
    ties = max(pair.original.n_edges, pair.released.n_edges)
    for number, most, words in (
        (ties, MOST_TIES, "edges"),
        (squares(pair), MOST_SQUARES, "pairs of neighbors"),
    ):
        if number > most:
            raise TooLargeError(f"{number:,} {words} exceed the limit of {most:,}. {SMALLER}")


def seconds_of_near_match(pair: GraphComparison, overlap: float, steps: Steps = ALL_STEPS) -> float:
    """Return about how long one copy takes, of which a share of the edges is in the original."""
    n, ties = pair.original.n_nodes, max(pair.original.n_edges, pair.released.n_edges)
    candidates = sum(start.candidates(pair.original.n_edges, n) for start in STARTS[:2])
    farther: float = (max(n, NEAR_BY) / NEAR_BY) ** GROWTH
    wrong = 1 - overlap * pair.edges_kept / max(pair.original.n_edges, 1)
    times = len(steps.weights) * steps.repeats * (1 + WRONG * min(wrong / ALL_STARTS, 1))
    scaled = PER_CANDIDATE * n * steps.scalings / ALL_STEPS.scalings
    return times * candidates * (PER_CELL * ties + scaled) * farther


SOON, LATE = (0.8e-6, 5.5e-10), (0.9e-6, 4.0e-9)
"""Seconds for every pair and every triple of nodes: where the first two starts agree, and where no
two do."""

PER_WALK = 3e-8
"""Seconds for every node and end of an edge."""

NONE_AGREE, SOON_AGREE = 3.0, 4.5
"""Up to so many edges in common a person, discounted by those that are false, no two starts agree
mostly; from so many on the first two do."""


def effort(pair: GraphComparison, shared: float) -> float:
    """Return how far a copy is from one on which the first two starts agree: from 0 to 1.

    Whether they do shows only in the run; edges that the copy, the original and the release share
    foretell it. The owner's linkage counts them.
    """
    true = pair.edges_kept / max(pair.released.n_edges, 1)
    common = 2 * shared * pair.edges_kept / max(pair.original.n_nodes, 1) * math.sqrt(true)
    return min(max((SOON_AGREE - common) / (SOON_AGREE - NONE_AGREE), 0.0), 1.0)


def seconds_of_all_pairs(
    pair: GraphComparison, overlap: float, people: float, last: float = 0.0
) -> float:
    """Return about how long one copy takes, among candidates and among all pairs."""
    n, far = pair.original.n_nodes, effort(pair, overlap * people)
    near = seconds_of_near_match(pair, overlap, FEWER) + PER_WALK * n * ends_of(pair)
    soon, late = (near + (a_pair + triple * n) * n * n for a_pair, triple in (SOON, LATE))
    between: float = soon ** (1 - far) * (late + last) ** far
    return between

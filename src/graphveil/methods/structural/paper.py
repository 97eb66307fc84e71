"""The paper's heuristics, and one of its program's: edits are sampled in batches.

Their weights stay until the classes are recounted, after each batch.

Nodes are numbered by rising degree of the input, so that the edges, stored once as rows of larger
ends, are what the triangle passes need. A class does not depend on the numbers. The paper samples
the edges of a graph. Pairs that could be added are too many to list, so a round samples as many as
there are edges: half at random, half from open triads.

Notes
-----
Algorithm 1 of de Jong, van der Loo and Takes, *The anonymization problem in social networks*.

=========  ==================================================================
B, R       the budget of edits; the recompute gap
U_k        the unprotected nodes: `SamplingState.unprotected`
A_M(e)     the nodes whose class edit e may change
G_best     the best graph of the trajectory, the input included
=========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import new_table
from graphveil.data import Graph
from graphveil.data.measures import MEASURES, class_sizes_of_nodes
from graphveil.data.measures.kernels.neighborhoods import (
    Forward,
    flagged_thirds,
    triangles_of_nodes,
)
from graphveil.data.measures.registry import the_ends, within_of_both
from graphveil.methods.structural.kernels.paper import (
    Flips,
    affected_beside,
    affected_by,
    flagged_near,
    forward_by_rank,
    lists_of,
    missing_from,
    small_classes,
)
from graphveil.methods.structural.task import CODES, Edited, Sampling, Task, Watch, better

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

FEWEST = 64
"""Draws of a round at least, so that small graphs do not stop by chance."""

FLIPS = {
    "delete": (((0, 1),), (False,)),
    "add": (((0, 1),), (True,)),
    "rewire": (((0, 1), (2, 3), (0, 3), (2, 1)), (False, False, True, True)),
}
"""The pairs of an edit's nodes that it flips, in turn, and whether each is joined."""


class SamplingState(NamedTuple):
    """A graph of the trajectory.

    `forward`: its edges; `degrees`: int64, shape (n,); `unprotected`: bool, shape (n,): the paper's
    U_k, the nodes in classes below k.
    """

    forward: Forward
    degrees: Ints
    unprotected: Flags

    @property
    def n_unprotected(self) -> int:
        """The number of unprotected nodes."""
        return int(np.count_nonzero(self.unprotected))


def ranked(graph: Graph) -> tuple[Ints, Forward]:
    """Return the nodes by rising degree, and the edges under their positions in that order.

    Examples
    --------
    >>> order, forward = ranked(Graph.from_edges([0, 0], [1, 2], n=3))
    >>> order.tolist(), sources(forward).tolist(), forward.ends.tolist()
    ([1, 2, 0], [0, 1], [2, 2])
    """
    order = np.argsort(graph.degrees(), kind="stable")
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return order, forward_by_rank(graph.indptr, graph.indices, order, rank)


def state_of(forward: Forward, task: Task) -> SamplingState:
    """Return the state of these edges, classes recounted; colors are those of the ranks.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0], [1, 2], n=3)
    >>> task = Task(star, "count", 1, k=2, edits="delete", budget=2, allowed=0)
    >>> state_of(ranked(star)[1], task).unprotected.tolist()
    [False, False, True]
    """
    n = forward.start.size - 1
    degrees = np.diff(forward.start) + np.bincount(forward.ends, minlength=n)
    return SamplingState(forward, degrees, _unprotected(forward, degrees, task))


def _unprotected(forward: Forward, degrees: Ints, task: Task) -> Flags:
    if task.measure not in CODES or task.distance > 1:
        return class_sizes_of_nodes(task.labels_of(Graph(*lists_of(forward)))) < task.k
    by_degree, by_triangle = CODES[task.measure]
    codes = degrees * by_degree
    if by_triangle:
        codes += triangles_of_nodes(forward) * by_triangle
    codes = task.colored(codes)
    small = np.empty(codes.size, dtype=np.bool_)
    small_classes(codes, task.k, *new_table(2 * codes.size), small)
    return small


def sources(forward: Forward) -> NDArray[np.int32]:
    """Return the smaller end of every edge, int32, shape (m,)."""
    nodes = np.arange(forward.start.size - 1, dtype=np.int32)
    return np.repeat(nodes, np.diff(forward.start))


def keys_of(forward: Forward) -> Ints:
    """Return every edge as one integer, in rising order.

    Examples
    --------
    >>> keys_of(ranked(Graph.from_edges([0, 0], [1, 2], n=3))[1]).tolist()
    [2, 5]
    """
    return packed(sources(forward), forward.ends, forward.start.size - 1)


def packed(one: NDArray[np.integer], other: NDArray[np.integer], n: int) -> Ints:
    """Return pairs of nodes as one integer each, whatever the order of their ends.

    Examples
    --------
    >>> packed(np.array([2, 1]), np.array([0, 3]), 10).tolist()
    [2, 13]
    """
    keys: Ints = np.minimum(one, other).astype(np.int64) * n + np.maximum(one, other)
    return keys


def without(forward: Forward, gone: Ints) -> Forward:
    """Return the edges without those at these positions.

    Examples
    --------
    >>> without(ranked(Graph.from_edges([0, 0], [1, 2], n=3))[1], np.array([0])).ends.tolist()
    [2]
    """
    stays = np.ones(forward.ends.size, dtype=np.bool_)
    stays[gone] = False
    kept = np.zeros(stays.size + 1, dtype=np.int64)
    np.cumsum(stays, out=kept[1:])
    return Forward(kept[forward.start], forward.ends[stays])


def exchanged(forward: Forward, keys: Ints, parted: Ints, joined: Ints) -> Forward:
    """Return the edges, whose keys are given, without some pairs and with others.

    Examples
    --------
    >>> _, forward = ranked(Graph.from_edges([0, 0], [1, 2], n=3))
    >>> after = exchanged(forward, keys_of(forward), np.array([2]), np.array([1]))
    >>> keys_of(after).tolist()
    [1, 5]
    """
    n = forward.start.size - 1
    stays = np.ones(keys.size, dtype=np.bool_)
    stays[np.searchsorted(keys, parted)] = False
    keys, joined = keys[stays], np.sort(joined)
    keys = np.insert(keys, np.searchsorted(keys, joined), joined)
    start = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n)
    return Forward(start.astype(np.int64, copy=False), (keys % n).astype(np.int32))


def difference(state: SamplingState, original: Forward) -> Edited:
    """Return how the state differs from the input, under ranks."""
    return Edited(
        added=missing_from(state.forward, original),
        deleted=missing_from(original, state.forward),
        unprotected=state.n_unprotected,
    )


def named(edited: Edited, order: Ints) -> Edited:
    """Return the same edits under the nodes' positions in the input, sorted."""
    return edited._replace(added=_pairs(edited.added, order), deleted=_pairs(edited.deleted, order))


def _pairs(ranks: NDArray[np.int32], order: Ints) -> NDArray[np.int32]:
    pairs = np.sort(order[ranks].astype(np.int32), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


class EdgeCandidates(NamedTuple):
    """Edits of one kind that a round may choose from.

    `kind`: a key of `FLIPS`; `nodes`: the nodes of every edit, int32: two columns, or four for
    rewirings.
    """

    kind: str
    nodes: tuple[NDArray[np.int32], ...]

    def flips(self) -> Flips:
        """Return the edits as the kernels take them."""
        ends, joins = FLIPS[self.kind]
        return Flips(np.stack(self.nodes, axis=1), np.array(ends), np.array(joins))

    def pairs(self, n: int) -> tuple[Ints, Ints]:
        """Return the keys of the pairs parted and joined, one row an edit."""
        ends, joins = FLIPS[self.kind]
        keys = [packed(self.nodes[a], self.nodes[b], n) for a, b in ends]
        rows = np.stack(keys, axis=1)
        joined = np.array(joins)
        return rows[:, ~joined], rows[:, joined]


def candidates(forward: Forward, edits: str, rng: np.random.Generator) -> list[EdgeCandidates]:
    """Return what a round may choose from: one entry a kind of edit, empty kinds left out."""
    pools = []
    if edits in {"delete", "any"}:
        pools.append(deletions(forward))
    if edits in {"add", "any"}:
        pools.append(additions(forward, rng))
    if edits in {"rewire", "any"}:
        pools.append(rewirings(forward, rng))
    return [pool for pool in pools if pool.nodes[0].size]


def deletions(forward: Forward) -> EdgeCandidates:
    """Return every edge.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> [ends.tolist() for ends in deletions(ranked(Graph.from_edges([0], [1], n=3))[1]).nodes]
    [[1], [2]]
    """
    return EdgeCandidates("delete", (sources(forward), forward.ends))


def additions(forward: Forward, rng: np.random.Generator) -> EdgeCandidates:
    """Return distinct pairs that are no edges: up to one an edge, half of them open triads.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> _, path = ranked(Graph.from_edges([0, 1], [1, 2], n=3))
    >>> [ends.tolist() for ends in additions(path, np.random.default_rng(1)).nodes]
    [[0], [1]]
    """
    n = forward.start.size - 1
    draws = max(forward.ends.size, FEWEST)
    drawn = rng.integers(0, n, size=(2, draws - draws // 2))
    triads = _wedges(forward, draws // 2, rng)
    one, other = np.concatenate((drawn, triads), axis=1) if triads.size else drawn
    keys = np.unique(packed(one, other, n)[one != other])
    keys = keys[~_among(keys_of(forward), keys)]
    return EdgeCandidates("add", ((keys // n).astype(np.int32), (keys % n).astype(np.int32)))


def _wedges(forward: Forward, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the outer ends of random paths of two edges; both may be the same node."""
    m = forward.ends.size
    if m == 0:
        return np.empty((2, 0), dtype=np.int64)
    lists = lists_of(forward)
    arc = rng.integers(0, 2 * m, size=draws)
    end = lists.indices[arc].astype(np.int64)
    center = np.searchsorted(lists.indptr, arc, side="right") - 1
    near = rng.integers(lists.indptr[center], lists.indptr[center + 1])
    return np.stack((end, lists.indices[near].astype(np.int64)))


def rewirings(forward: Forward, rng: np.random.Generator) -> EdgeCandidates:
    """Return edits {v, w}, {x, y} -> {v, y}, {x, w} of random edges: up to one an edge.

    The four nodes are distinct and the new pairs are no edges.
    """
    n, m = forward.start.size - 1, forward.ends.size
    if m == 0:
        return EdgeCandidates("rewire", (np.empty(0, dtype=np.int32),) * 4)
    draws = max(m, FEWEST)
    source, keys = sources(forward), keys_of(forward)
    one, two = rng.integers(0, m, size=(2, draws))
    turned = rng.integers(0, 2, size=draws) == 1
    v, w = source[one], forward.ends[one]
    x = np.where(turned, forward.ends[two], source[two])
    y = np.where(turned, source[two], forward.ends[two])
    fits = (v != x) & (v != y) & (w != x) & (w != y)
    v, w, x, y = v[fits], w[fits], x[fits], y[fits]
    free = ~_among(keys, packed(v, y, n)) & ~_among(keys, packed(x, w, n))
    return EdgeCandidates("rewire", (v[free], w[free], x[free], y[free]))


def _among(keys: Ints, wanted: Ints) -> NDArray[np.bool_]:
    """Return which of the wanted keys are among the sorted ones."""
    if keys.size == 0:
        return np.zeros(wanted.size, dtype=np.bool_)
    position = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    present: NDArray[np.bool_] = keys[position] == wanted
    return present


Floats = NDArray[np.float64]

LAST = 2.0**-200
"""Weight of what `unique` and `ua-only` draw only where nothing else is left.

It is never drawn before, but for 1 in 2**200.
"""


Weigher = Callable[[SamplingState, EdgeCandidates], Floats]
"""A heuristic of somebody else: the weight of every candidate."""


def sample_edits(
    task: Task,
    heuristic: Sampling,
    *,
    gap: int,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best graph on the way while a heuristic of the paper draws edits.

    A run also ends where no edit is left to draw: no edge to delete, or a round that found no
    pair to add or rewire. Deletions at distance 1 take O(m sqrt(m)) a recount and O(n + m) memory.

    Returns sorted pairs. Edits that undo each other are in neither list; a rewiring is one edit of
    the budget and four of `Edited.cost`.

    Parameters
    ----------
    task
        The graph, the measure, the edits allowed, the budget and the goal.
    heuristic
        ``"es"``, ``"degree"``, ``"affected"``, ``"unique"``, ``"ua"`` or ``"ua-only"``: see
        `weights`.
    gap
        Edits between two recounts of the classes, at least 1.
    rng
        Where the draws come from.
    watch
        Called after every recount with the unprotected nodes and the edits done.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> star = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> task = Task(star, "count", 1, k=2, edits="delete", budget=4, allowed=0)
    >>> sample_edits(task, "ua", gap=1, rng=np.random.default_rng(1)).unprotected
    0
    """
    order, original = ranked(task.graph)
    if task.colors is not None:
        task = task._replace(colors=task.colors[order])
    state = state_of(original, task)
    best = difference(state, original)
    edits = 0
    while edits < task.budget and state.n_unprotected > task.allowed:
        forward, done = one_round(state, heuristic, task, min(gap, task.budget - edits), rng)
        if done == 0:
            break
        edits += done
        state = state_of(forward, task)
        now = difference(state, original)
        if better(now, best, task):
            best = now
        if watch is not None and watch(now.unprotected, edits):
            break
    return named(best, order)


def one_round(
    state: SamplingState,
    heuristic: Sampling | Weigher,
    task: Task,
    most: int,
    rng: np.random.Generator,
) -> tuple[Forward, int]:
    """Return the edges after at most this many edits more, and how many were done."""
    forward = state.forward
    if task.edits == "delete" and most >= forward.ends.size:
        return without(forward, np.arange(forward.ends.size)), forward.ends.size
    pools = candidates(forward, task.edits, rng)
    if not pools:
        return forward, 0
    times = arrival_times(
        np.concatenate([weights(heuristic, state, pool, task) for pool in pools]), rng
    )
    if task.edits == "delete":
        return without(forward, np.argpartition(times, most)[:most]), most
    batch = _disjoint(pools, times, most, forward.start.size - 1)
    return exchanged(forward, keys_of(forward), batch.parted, batch.joined), batch.size


class _Batch(NamedTuple):
    """The pairs that a batch parts and joins, and how many edits these are."""

    parted: Ints
    joined: Ints
    size: int


def _disjoint(pools: list[EdgeCandidates], times: Floats, most: int, n: int) -> _Batch:
    """Return the earliest edits of which no two flip the same pair."""
    pairs = [pool.pairs(n) for pool in pools]
    first = np.cumsum([0, *(len(parted) for parted, _ in pairs)])
    flipped: set[int] = set()
    parted: list[int] = []
    joined: list[int] = []
    size = 0
    for position in _earliest(times):
        kind = int(np.searchsorted(first, position, side="right")) - 1
        off, on = (rows[position - first[kind]].tolist() for rows in pairs[kind])
        if flipped.isdisjoint(off) and flipped.isdisjoint(on):
            flipped.update(off, on)
            parted += off
            joined += on
            size += 1
            if size == most:
                break
    return _Batch(np.array(parted, dtype=np.int64), np.array(joined, dtype=np.int64), size)


def _earliest(times: Floats) -> NDArray[np.int64]:
    """Return the candidates that arrive, in turn."""
    order = np.argsort(times, kind="stable")
    return order[: np.count_nonzero(np.isfinite(times))].astype(np.int64, copy=False)


def weights(
    heuristic: Sampling | Weigher, state: SamplingState, pool: EdgeCandidates, task: Task
) -> Floats:
    """Return the weight of every candidate, by which the paper's heuristic draws.

    Parameters
    ----------
    heuristic
        ``"es"``: 1. ``"degree"``: the least degree of its nodes. ``"affected"``: how many nodes
        it affects. ``"unique"``: 1 where one of its nodes is unprotected; others only if those do
        not suffice. ``"ua"``: how many unprotected nodes it affects, plus 1/m. ``"ua-only"``: how
        many it affects where one of its nodes is unprotected; others only if those do not suffice.
        A function: what it returns of the state and the candidates.
    state
        The graph as it stands.
    pool
        The candidates.
    task
        The measure and its distance.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.methods.structural.paper import deletions
    >>> star = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> task = Task(star, "count", 1, k=2, edits="delete", budget=4, allowed=0)
    >>> state = state_of(ranked(star)[1], task)
    >>> weights("affected", state, deletions(state.forward), task).tolist()
    [2.0, 3.0, 3.0, 3.0]
    """
    if callable(heuristic):
        return heuristic(state, pool)
    if heuristic == "degree":
        least = reduce(np.minimum, (state.degrees[nodes] for nodes in pool.nodes))
        return least.astype(np.float64)
    if heuristic == "affected":
        everybody = np.ones(state.degrees.size, dtype=np.bool_)
        return affected(state, pool, task, everybody).astype(np.float64)
    even = np.ones(pool.nodes[0].size)
    if heuristic == "es":
        return even
    score = even
    if heuristic != "unique":
        score = affected(state, pool, task, state.unprotected).astype(np.float64)
    if heuristic == "ua":
        return score + 1.0 / max(state.forward.ends.size, 1)
    touched = reduce(np.logical_or, (state.unprotected[nodes] for nodes in pool.nodes))
    return np.where(touched, score, LAST)


def affected(state: SamplingState, pool: EdgeCandidates, task: Task, flag: Flags) -> Ints:
    """Return how many flagged nodes every candidate affects: ``|A_M ∩ flagged|``.

    Edges to delete are scored together at distance 1, where what they affect are their ends and
    the triangles on them; other candidates one by one.
    """
    reach = MEASURES[task.measure].affected
    if reach is the_ends:
        of_ends: Ints = np.sum([flag[nodes] for nodes in pool.nodes], axis=0, dtype=np.int64)
        return of_ends
    score: Ints
    if pool.kind != "delete" or task.distance > 1:
        needed = 2 if reach is within_of_both else 1
        lists, flips = lists_of(state.forward), pool.flips()
        if task.distance == 1:
            score = affected_beside(lists, flips, needed, flag)
        else:
            score = affected_by(lists, flips, task.distance, needed, flag)
        return score
    ends = pool.nodes
    score = flagged_thirds(state.forward, flag) + flag[ends[0]] + flag[ends[1]]
    if reach is within_of_both:
        return score
    near = flagged_near(state.forward, flag)
    score = near[ends[0]] + near[ends[1]] - score
    return score


def arrival_times(weight: Floats, rng: np.random.Generator) -> Floats:
    """Return a time a candidate: the earliest ones are a roulette's draw without replacement.

    Each draw of a roulette takes a candidate with the share of its weight among those left. So
    does the next arrival of clocks that ring once each, at these rates. Weight 0 never arrives.

    Examples
    --------
    >>> arrival_times(np.array([1.0, 0.0]), np.random.default_rng(1)).round(2).tolist()
    [1.07, inf]
    """
    time = np.full(weight.size, np.inf)
    np.divide(rng.standard_exponential(weight.size), weight, out=time, where=weight > 0)
    return time

"""The paper's heuristics, one of its program's too: edits are drawn in batches.

Their weights stay until the classes are recounted, after each batch.

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

from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.neighborhoods.triangles import Forward, flagged_thirds
from graphveil.kernels.structural.paper import (
    affected_beside,
    affected_by,
    flagged_near,
    lists_of,
)
from graphveil.measures import MEASURES
from graphveil.measures.affected import near_both, the_ends
from graphveil.methods.structural.paper.graph import (
    EdgeCandidates,
    Flags,
    Ints,
    SamplingState,
    candidates,
    difference,
    exchanged,
    keys_of,
    named,
    ranked,
    state_of,
    without,
)
from graphveil.methods.structural.task import Edited, Sampling, Task, Watch, better

Floats = NDArray[np.float64]

LAST = 2.0**-200
"""Weight of what `unique` and `ua-only` draw only where nothing else is left.

It is never drawn before, but for 1 in 2**200.
"""


def sample_edits(
    task: Task,
    heuristic: Sampling,
    *,
    gap: int,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best graph on the way while a heuristic of the paper draws edits.

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

    Returns
    -------
    Edited
        Sorted pairs. Edits that undo each other are in neither list; a rewiring is one edit of
        the budget and four of `Edited.cost`.

    Notes
    -----
    A run also ends where no edit is left to draw: no edge to delete, or a round that found no
    pair to add or rewire. Deletions at distance 1 take O(m sqrt(m)) a recount and O(n + m) memory.

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
        forward, done = _round(state, heuristic, task, min(gap, task.budget - edits), rng)
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


def _round(
    state: SamplingState, heuristic: Sampling, task: Task, most: int, rng: np.random.Generator
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


def weights(heuristic: Sampling, state: SamplingState, pool: EdgeCandidates, task: Task) -> Floats:
    """Return the weight of every candidate, by which the paper's heuristic draws.

    Parameters
    ----------
    heuristic
        ``"es"``: 1. ``"degree"``: the least degree of its nodes. ``"affected"``: how many nodes
        it affects. ``"unique"``: 1 where one of its nodes is unprotected; others only if those do
        not suffice. ``"ua"``: how many unprotected nodes it affects, plus 1/m. ``"ua-only"``: how
        many it affects where one of its nodes is unprotected; others only if those do not suffice.
    state
        The graph as it stands.
    pool
        The candidates.
    task
        The measure and its distance.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.methods.structural.paper.graph import deletions
    >>> star = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> task = Task(star, "count", 1, k=2, edits="delete", budget=4, allowed=0)
    >>> state = state_of(ranked(star)[1], task)
    >>> weights("affected", state, deletions(state.forward), task).tolist()
    [2.0, 3.0, 3.0, 3.0]
    """
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
        needed = 2 if reach is near_both else 1
        lists, flips = lists_of(state.forward), pool.flips()
        if task.distance == 1:
            score = affected_beside(lists, flips, needed, flag)
        else:
            score = affected_by(lists, flips, task.distance, needed, flag)
        return score
    ends = pool.nodes
    score = flagged_thirds(state.forward, flag) + flag[ends[0]] + flag[ends[1]]
    if reach is near_both:
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

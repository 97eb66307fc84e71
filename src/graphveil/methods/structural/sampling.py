"""The paper's five heuristics: edits are drawn in batches, by weights that only recounts renew.

Notes
-----
Algorithm 1 of de Jong, van der Loo and Takes, *The anonymization problem in social networks*.

=========  ==================================================================
B, R       the budget of edits; the recompute gap
U_k        the nodes in classes below k: `State.exposed`
A_M(e)     the nodes whose class edit e may change
G_best     the best graph of the trajectory, the input included
=========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.neighbourhoods.triangles import Forward
from graphveil.methods.structural.sampling_edits import Candidates, candidates
from graphveil.methods.structural.sampling_state import (
    Ints,
    State,
    edited,
    exchanged,
    keys_of,
    named,
    ranked,
    state_of,
    without,
)
from graphveil.methods.structural.sampling_weights import (
    Floats,
    Sampling,
    arrival_times,
    weights,
)
from graphveil.methods.structural.task import Edited, Task, better

Watch = Callable[[int, int], bool]


def sample_edits(
    task: Task,
    heuristic: Sampling,
    *,
    gap: int,
    by_budget: bool,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best graph met while a heuristic of the paper draws edits; never a worse one.

    Parameters
    ----------
    task
        The graph, the measure, the edits allowed, the budget and the goal.
    heuristic
        ``"es"``, ``"degree"``, ``"affected"``, ``"unique"`` or ``"ua"``: see `weights`.
    gap
        Edits between two recounts of the classes, at least 1.
    by_budget
        Whether the fewest nodes left win, or the fewest edits that reach the goal: see `better`.
    rng
        Where the draws come from.
    watch
        Called after every recount with the nodes left and the edits done; True stops the run.

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
    >>> found = sample_edits(task, "ua", gap=1, by_budget=False, rng=np.random.default_rng(1))
    >>> found.left
    0
    """
    order, original = ranked(task.graph)
    state = state_of(original, task)
    best = edited(state, original)
    edits = 0
    while edits < task.budget and state.left > task.allowed:
        forward, done = _round(state, heuristic, task, min(gap, task.budget - edits), rng)
        if done == 0:
            break
        edits += done
        state = state_of(forward, task)
        now = edited(state, original)
        if better(now, best, task, by_budget=by_budget):
            best = now
        if watch is not None and watch(state.left, edits):
            break
    return named(best, order)


def _round(
    state: State, heuristic: Sampling, task: Task, most: int, rng: np.random.Generator
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


def _disjoint(pools: list[Candidates], times: Floats, most: int, n: int) -> _Batch:
    """Return the earliest edits of which no two flip the same pair."""
    pairs = [pool.pairs(n) for pool in pools]
    first = np.cumsum([0, *(len(parted) for parted, _ in pairs)])
    flipped: set[int] = set()
    parted: list[int] = []
    joined: list[int] = []
    size = 0
    for place in _earliest(times):
        kind = int(np.searchsorted(first, place, side="right")) - 1
        off, on = (rows[place - first[kind]].tolist() for rows in pairs[kind])
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

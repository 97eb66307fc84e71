"""The states of any measure: how the kernels are told of it, its costs, and what it came to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.neighbourhoods.refinement import make_room
from graphveil.kernels.structural import counts
from graphveil.kernels.structural import states as kernel
from graphveil.kernels.structural import states_values as values
from graphveil.kernels.structural.search import BEST_LEFT, Best
from graphveil.measures import class_sizes_of_nodes, partition
from graphveil.methods.structural.outcome import applied
from graphveil.methods.structural.state import best_of, cells_of, flipped, laid_out
from graphveil.methods.structural.task import Edited, Task, better

Pairs = NDArray[np.int32]


class Rule(NamedTuple):
    """What the values of a measure are made of.

    Parameters
    ----------
    sums, shapes
        Which sum and which shape, as the kernels number them.
    by_node, by_edge
        What a node and an edge of the neighbourhood add to a sum of sizes.
    """

    sums: int = values.NOTHING
    shapes: int = values.NOTHING
    by_node: int = 0
    by_edge: int = 0


RULES = {
    "degree": Rule(sums=values.SIZES, by_node=1),
    "count": Rule(sums=values.SIZES, by_node=1 << 40, by_edge=1),
    "edge-count": Rule(sums=values.SIZES, by_edge=1),
    "degree-distribution": Rule(shapes=values.INSIDE),
    "dk": Rule(shapes=values.COLOURS),
    "vrq": Rule(sums=values.DEGREES),
    "hybrid": Rule(sums=values.DEGREES, shapes=values.COLOURS),
}
"""Sums of sizes are exact. The others are hashes of 63 bits; those of colours may also be equal
where neighbourhoods are not isomorphic, if no refinement of colours tells them apart."""


class Arena(NamedTuple):
    """The state that kernels change, what they need to follow it, and the best state on the way."""

    state: counts.State
    reach: kernel.Reach
    best: Best


def arena_of(task: Task, rng: np.random.Generator) -> Arena:
    """Return the state without edits, over the pairs that the task's edits allow.

    A flip of a pair without common neighbours moves few nodes, so such pairs are proposed more
    often; of edges to rewire those with many, since else little happens.
    """
    pool, rows = laid_out(task, rng)
    reach = _reach(task, rows.neighbour.size, pool.left.size)
    state = counts.State(cells_of(task, task.graph.n_nodes, (0, 0)), rows, pool)
    codes = np.empty(task.graph.n_nodes, dtype=np.int64)
    kernel.evaluate(state, reach, codes)
    counts.fill(state.cells, codes)
    pool.common[:] = rows.length[pool.left] + rows.length[pool.right]
    if task.distance == 1 and RULES[task.measure].sums != values.DEGREES:
        counts.count_common(state)
        pool.common[:] *= -1 if reach.mates.size else 1
    return Arena(state, reach, best_of(state))


def _reach(task: Task, entries: int, pairs: int) -> kernel.Reach:
    """Return what the kernels need to follow a measure; the values are not found yet."""
    n = task.graph.n_nodes
    rule = RULES[task.measure]
    return kernel.Reach(
        rule=np.array([task.distance, *rule], dtype=np.int64),
        value=np.zeros((n, 2), dtype=np.int64),
        was=np.zeros((n, 2), dtype=np.int64),
        touched=np.zeros(n, dtype=np.int64),
        todo=np.zeros(n, dtype=np.uint8),
        delta=np.zeros(n, dtype=np.int64),
        tally=np.zeros(1, dtype=np.int64),
        mates=np.zeros((2, pairs if task.edits == "rewire" else 0), dtype=np.int64),
        legs=np.zeros((4, 3), dtype=np.int64),
        arcs=np.zeros(n, dtype=np.int64),
        hops=np.full((2, n), kernel.FAR, dtype=np.int64),
        queue=np.zeros((2, n), dtype=np.int64),
        room=make_room(n, entries),
    )


SAMPLE = 200
LEAST_WORK = 1_000


def work_of(arena: Arena) -> int:
    """Return roughly how many steps a proposal takes: a mean over 200 pairs, evenly spaced."""
    state, reach, _ = arena
    size = state.pool.left.size
    if size == 0:
        return LEAST_WORK
    sample = np.unique(np.linspace(0, size - 1, SAMPLE).astype(np.int64))
    steps = [kernel.work_of(state, reach, pair) for pair in sample.tolist()]
    legs = 4 if reach.mates.size else 1
    return legs * round(sum(steps) / len(steps)) + LEAST_WORK


def edits_of(arena: Arena, changed: NDArray[np.bool_], mates: NDArray[np.int64]) -> Edited:
    """Return the edits of these changed pairs, with no node counted as left.

    Parameters
    ----------
    arena
        The pairs, in whatever state.
    changed
        Which of them are changed.
    mates
        With whom they are rewired, where edges are; else empty.
    """
    pool = arena.state.pool
    if mates.size == 0:
        return Edited(*flipped(pool, changed), 0)
    pairs = np.stack((pool.left, pool.right), axis=1)
    one = np.flatnonzero(changed)
    other, turned = np.divmod(mates[one], 2)
    one, other, turned = (part[one < other] for part in (one, other, turned))
    x, y = pairs[other, turned], pairs[other, 1 - turned]
    joined = np.concatenate((np.stack((pairs[one, 0], y), 1), np.stack((x, pairs[one, 1]), 1)))
    joined = np.sort(joined, axis=1)
    return Edited(joined[np.lexsort((joined[:, 1], joined[:, 0]))], pairs[changed], 0)


class Met(NamedTuple):
    """A best state on the way: its changed pairs, and with whom they are rewired."""

    changed: NDArray[np.bool_]
    mates: NDArray[np.int64]


REMEMBERED = 8


def meet(met: list[Met], arena: Arena) -> None:
    """Put the best state on the list unless it is the last there; the list keeps the last eight."""
    now = _best(arena)
    if not met or not all(np.array_equal(a, b) for a, b in zip(met[-1], now, strict=True)):
        met.append(now)
    del met[:-REMEMBERED]


def _best(arena: Arena) -> Met:
    return Met(arena.best.changed.copy(), arena.reach.mates[kernel.BEST].copy())


def best_met(task: Task, arena: Arena, met: list[Met], *, by_budget: bool) -> Edited:
    """Return the best state, its nodes left counted exactly.

    Where that is not what the kernel counted, its hashes have merged unlike nodes. Then all states
    met and the input are counted exactly, and the best of them is returned.
    """
    last = _best(arena)
    found = counted(task, edits_of(arena, *last))
    if found.left == arena.best.tally[BEST_LEFT]:
        return found
    start = Met(np.zeros_like(last.changed), last.mates)
    for other in (start, *met):
        tried = counted(task, edits_of(arena, *other))
        if better(tried, found, task, by_budget=by_budget):
            found = tried
    return found


def counted(task: Task, edited: Edited) -> Edited:
    """Return the same edits with the nodes that they leave, by the exact classes of the measure.

    Examples
    --------
    >>> none = np.empty((0, 2), dtype=np.int32)
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> counted(Task(star, "dk", 1, 2, "delete", 3, 0), Edited(none, none, 0)).left
    1
    """
    after = applied(task.graph, edited)
    labels = partition(after, measure=task.measure, distance=task.distance)
    return edited._replace(left=int(np.count_nonzero(class_sizes_of_nodes(labels) < task.k)))

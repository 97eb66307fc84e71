"""The state of a walk over the edges of a graph: its pairs, and what tells its nodes apart.

Two kinds of walk share the kernels:

- over *codes* (`_by_codes`): count, edge-count and degree at distance 1. The code of a node is
  exact: a weighted sum of its degree and its triangles (`task.CODES`). A flip changes the codes
  of both ends and of their common neighbors, in O(degree).
- over *values* (`_by_values`): any other measure, distance, and rewiring. Affected nodes get their
  value anew, some as a hash. Results are then counted exactly, and best states kept (`Visited`) in
  case hashes merged nodes that differ.

`edits_of` and `edited_of` turn the best state of a walk into edits of the graph.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.data import Graph
from graphveil.measures.kernels.neighborhoods import new_color_buffers, triangles
from graphveil.methods.annealing import task as tasks
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.kernels import pooled, values
from graphveil.methods.annealing.state import Visited, annealing_state_over, best_of, pool_of
from graphveil.methods.annealing.task import Edited, Task
from graphveil.methods.structural.recount import checked, counted


def codes_of(task: Task) -> Ints:
    """Return the codes of degrees and triangles that tell the nodes of the input apart."""
    graph, (by_degree, by_triangle) = task.graph, tasks.CODES[task.measure]
    codes = graph.degrees() * by_degree
    if by_triangle:
        codes = codes + triangles(graph.indptr, graph.indices) * by_triangle
    return task.colored(codes)


class MoveRule(NamedTuple):
    """What a measure's values are made of: which sum and shape, what a node and an edge add."""

    sums: int = values.NOTHING
    shapes: int = values.NOTHING
    by_node: int = 0
    by_edge: int = 0


RULES = {
    "degree": MoveRule(sums=values.SIZES, by_node=1),
    "count": MoveRule(sums=values.SIZES, by_node=1 << 40, by_edge=1),
    "edge-count": MoveRule(sums=values.SIZES, by_edge=1),
    "degree-distribution": MoveRule(shapes=values.INSIDE),
    "dk": MoveRule(shapes=values.COLORS),
    "vrq": MoveRule(sums=values.DEGREES),
    "hybrid": MoveRule(sums=values.DEGREES, shapes=values.COLORS),
}
"""Sums of sizes are exact. The others are hashes of 63 bits; those of colors may also be equal
where neighborhoods are not isomorphic, if no refinement of colors tells them apart."""


def annealing_state_of(task: Task, rng: Generator) -> pooled.AnnealingState:
    """Return the state without edits, over the pairs that the task's edits allow."""
    # Step 1: the pairs that may be flipped. Under additions only candidates, under rewiring only
    # edges.
    pairs = _pairs(task, rng)
    pool = pool_of(pairs, task.n_nodes, 0 if task.edits == "add" else task.graph.n_edges)
    if task.edits == "rewire":
        pool = pool._replace(mates=np.zeros((2, len(pairs)), dtype=np.int64))
    # Step 2: lists of neighbors with room for every pair that may be added.
    absent = np.concatenate((pool.one[~pool.present], pool.other[~pool.present]))
    room = np.bincount(absent, minlength=task.graph.n_nodes)
    rows = node_classes.new_rows(task.graph.indptr, task.graph.indices, room)
    # Step 3: what tells nodes apart.
    state_of = _by_codes if tasks.counted_by_codes(task) else _by_values
    return annealing_state_over(*state_of(task, pool, rows))


def _by_codes(
    task: Task, pool: pooled.Pool, rows: node_classes.NeighborRows
) -> tuple[pooled.PoolState, None]:
    # A flip moves both ends and their common neighbors, out of a class and into another.
    steps = tasks.CODES[task.measure]
    moves = 2 * (rows.common.size + 2)
    codes = codes_of(task)
    cells = _cells(task, codes, rows, task.phi)
    inner = _cells(task, codes, rows, task.phi / 2 if task.nearly[0] else 0)
    classes = node_classes.new_classes(
        codes, task.k, moves=moves, steps=steps, cells=cells, inner=inner
    )
    node_classes.fill(classes)
    state = pooled.PoolState(classes, rows, pool)
    if steps[1]:
        pooled.count_common(state)
    return state, None


def _cells(
    task: Task, codes: Ints, rows: node_classes.NeighborRows, phi: float
) -> node_classes.FuzzyCells | None:
    """Return the cells of (degree, triangles) with the nodes similar to each; None if phi is 0."""
    if not phi:
        return None
    highest = int(np.diff(rows.start).max(initial=0))
    cells = node_classes.new_cells(codes.size, highest, task.k, Fraction(str(phi)))
    node_classes.fill_cells(
        cells, codes >> node_classes.DEGREE_BITS, codes & node_classes.TRIANGLES_OF_CLASSES
    )
    return cells


def _by_values(
    task: Task, pool: pooled.Pool, rows: node_classes.NeighborRows
) -> tuple[pooled.PoolState, values.Values]:
    """Return the state of any measure, and its values.

    A flip of a pair without common neighbors moves few nodes, so such pairs are proposed more
    often; of edges to rewire those with many, since else little happens.
    """
    # The value of every node, hashed to one code, makes the classes; in a flip all may move.
    n = task.graph.n_nodes
    node_values = _values(task, rows.neighbor.size)
    codes = np.empty(n, dtype=np.int64)
    values.evaluate(rows, node_values, codes)
    classes = node_classes.new_classes(codes, task.k, moves=n, steps=(0, 0))
    node_classes.fill(classes)
    state = pooled.PoolState(classes, rows, pool)
    # Pairs with few common neighbors are proposed more often; negated, edges to rewire with many.
    pool.common[:] = rows.length[pool.one] + rows.length[pool.other]
    if task.distance == 1 and RULES[task.measure].sums != values.DEGREES:
        pooled.count_common(state)
        pool.common[:] *= 1 if pool.mates is None else -1
    return state, node_values


def _pairs(task: Task, rng: Generator) -> NDArray[np.int32]:
    """Return the pairs that may be flipped, the edges first."""
    if task.edits == "add":
        return candidates(task.graph, rng)
    edges = task.graph.edges()
    return np.concatenate((edges, candidates(task.graph, rng))) if task.edits == "any" else edges


def _values(task: Task, entries: int) -> values.Values:
    """Return the values of a task's measure, none evaluated yet; what it does not need is None."""
    n, rule = task.graph.n_nodes, RULES[task.measure]
    room = new_color_buffers(n, entries)
    reach = values.Reach(
        hops=np.full((2, n), values.FAR, dtype=np.int64), queue=np.zeros((2, n), dtype=np.int64)
    )
    shapes_of = ((n, 3), (n, 3), (n, 2), (1,), (4, 3))
    value, before, pending, tally, turns = (np.zeros(each, dtype=np.int64) for each in shapes_of)
    return values.Values(
        np.array([task.distance, *rule], dtype=np.int64),
        *(value, before, pending, tally, turns),
        ball=room.ball,
        room=room if rule.shapes == values.COLORS else None,
        reach=reach if task.distance > 1 else None,
    )


def candidates(graph: Graph, rng: Generator) -> NDArray[np.int32]:
    """Return up to m distinct pairs that are not edges, sorted: half random, half open triads."""
    # The ends of a path of two edges make a triangle when joined; random pairs reach everywhere.
    # Draw up to eight times, since repeated pairs and pairs that are edges do not count.
    n, m = graph.n_nodes, graph.n_edges
    edges = graph.edges().astype(np.int64)
    present = edges[:, 0] * n + edges[:, 1]
    sampled = np.empty(0, dtype=np.int64)
    for wanted, draw in ((m // 2, _open_triads), (m, _random_pairs)):
        for _ in range(8):
            if sampled.size >= wanted:
                break
            ends = np.sort(draw(graph, 2 * (wanted - sampled.size) + 8, rng), axis=1)
            keys = (ends[:, 0] * n + ends[:, 1])[ends[:, 0] != ends[:, 1]]
            keys = np.setdiff1d(keys, present)
            keys = np.setdiff1d(keys, sampled)
            sampled = np.concatenate((sampled, rng.permutation(keys)[: wanted - sampled.size]))
    return np.stack(np.divmod(np.sort(sampled), n), axis=1).astype(np.int32)


def _random_pairs(graph: Graph, size: int, rng: Generator) -> Ints:
    return rng.integers(0, graph.n_nodes, size=(size, 2))


def _open_triads(graph: Graph, size: int, rng: Generator) -> Ints:
    """Return the ends of random walks of two steps; the first step starts at a random arc."""
    arc = rng.integers(0, graph.indices.size, size=size)
    source = np.searchsorted(graph.indptr, arc, side="right") - 1
    middle = graph.indices[arc]
    hop = rng.integers(0, graph.degrees()[middle])
    return np.stack((source, graph.indices[graph.indptr[middle] + hop]), axis=1).astype(np.int64)


def edits_of(annealing: pooled.AnnealingState, visited: Visited) -> Edited:
    """Return the edits of a state of the walk, with no node counted as unprotected."""
    # Without rewiring a changed pair was an edge (deleted) or not (added). `present` is of the
    # walk's present state: undo its changes to know what the input had.
    pool, (changed, mates) = annealing.state.pool, visited
    pairs = np.stack((pool.one, pool.other), axis=1)
    if mates.size == 0:
        was_edge = pool.present != (pool.position < pool.tally[pooled.CHANGED])
        return Edited(pairs[changed & ~was_edge], pairs[changed & was_edge], 0)
    # Two edges {v, w} and {x, y} that are rewired are both deleted, and {v, y} and {x, w} added:
    # each names the other as its mate, so take every couple once.
    edge = np.flatnonzero(changed)
    mate, turned = np.divmod(mates[edge], 2)
    edge, mate, turned = (part[edge < mate] for part in (edge, mate, turned))
    x, y = pairs[mate, turned], pairs[mate, 1 - turned]
    joined = np.concatenate((np.stack((pairs[edge, 0], y), 1), np.stack((x, pairs[edge, 1]), 1)))
    joined = np.sort(joined, axis=1)
    return Edited(joined[np.lexsort((joined[:, 1], joined[:, 0]))], pairs[changed], 0)


def edited_of(task: Task, annealing: pooled.AnnealingState, visited: list[Visited]) -> Edited:
    """Return the best state, its unprotected nodes counted exactly.

    Where that is not what the kernels counted, hashes have merged unlike nodes: then the best of
    the input and all states visited is returned, counted exactly.
    """
    # Over codes the count is exact: a recount must agree, or a kernel is wrong.
    last, counted_by_walk = best_of(annealing), int(annealing.best.tally[pooled.BEST_UNPROTECTED])
    nearly = int(annealing.best.tally[pooled.BEST_NEARLY])
    edited = edits_of(annealing, last)._replace(unprotected=counted_by_walk, nearly=nearly)
    if annealing.values is None:
        return checked(task, edited)
    # Over values a recount may find more unprotected nodes: then the best recounted state wins.
    best = counted(task, edited)
    if best.unprotected == counted_by_walk:
        return best
    states = (Visited(np.zeros_like(last.changed), last.mates), *visited)
    for other in [edits_of(annealing, state) for state in states]:
        tried = counted(task, other)
        if tasks.better(tried, best, task):
            best = tried
    return best

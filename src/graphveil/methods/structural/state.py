"""The state of a search: the pairs it may flip, where it starts, what its best state came to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.errors import ParameterError
from graphveil.kernels.structural import counts
from graphveil.kernels.structural import search as kernel
from graphveil.methods.structural.task import Edited, Task

CODES = {"count": (1 << 40, 1), "edge-count": (1, 1), "degree": (1, 0)}
"""What a degree and a triangle add to the code of a node, by measure, at distance 1."""

WEDGES_AT_ONCE = 1 << 20


class Arena(NamedTuple):
    """The state that kernels change, and the best state on the way."""

    state: counts.State
    best: kernel.Best


def supported(measure: str, distance: int) -> bool:
    """Return whether the count kernel knows a measure.

    Examples
    --------
    >>> supported("count", 1), supported("count", 2)
    (True, False)
    """
    return measure in CODES and distance == 1


def check_supported(task: Task, *, name: str, edits: tuple[str, ...]) -> None:
    """Refuse a measure or a kind of edits that the heuristic does not know.

    Raises
    ------
    ParameterError
        With the heuristics that do.
    """
    if not supported(task.measure, task.distance):
        raise ParameterError(
            f"heuristic {name!r} does not know measure={task.measure!r} at "
            f"distance={task.distance}. It knows {', '.join(CODES)} at distance 1; "
            'give one of these, or heuristic="search".'
        )
    if task.edits not in edits:
        raise ParameterError(
            f"heuristic {name!r} does not know edits={task.edits!r}. "
            f"Give one of {', '.join(edits)}, or another heuristic."
        )


def arena_of(task: Task, rng: np.random.Generator) -> Arena:
    """Return the state without edits, over the pairs that the task's edits allow."""
    pool, rows = laid_out(task, rng)
    widest = int(np.diff(rows.start).max(initial=0))
    state = counts.State(cells_of(task, 2 * (widest + 2), CODES[task.measure]), rows, pool)
    codes = np.empty(task.graph.n_nodes, dtype=np.int64)
    counts.count(state, task.graph.edges().astype(np.int64), codes)
    counts.fill(state.cells, codes)
    return Arena(state, best_of(state))


def laid_out(task: Task, rng: np.random.Generator) -> tuple[counts.Pool, counts.Rows]:
    """Return the pairs that the task's edits allow, and the neighbour lists of the input.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> task = Task(path, "count", 1, k=2, edits="any", budget=1, allowed=0)
    >>> laid_out(task, np.random.Generator(np.random.PCG64(1)))[0].present.tolist()
    [True, True, False]
    """
    graph = task.graph
    pairs = graph.edges()
    if task.edits == "add":
        pairs = candidates(graph, rng)
    elif task.edits == "any":
        pairs = np.concatenate((pairs, candidates(graph, rng)))
    pool = _pool(graph, pairs, edges=0 if task.edits == "add" else graph.n_edges)
    return pool, _rows(graph, pool)


def best_of(state: counts.State) -> kernel.Best:
    """Return the best state seen so far: this one."""
    pairs, nodes = state.pool.left.size, state.cells.slot.size
    best = kernel.Best(
        changed=np.zeros(pairs, dtype=np.bool_),
        log=np.empty(max(pairs, 1), dtype=np.int32),
        waiting=np.empty(nodes, dtype=np.int64),
        tally=np.zeros(5, dtype=np.int64),
    )
    kernel.keep(state, best)
    return best


def _pool(graph: Graph, pairs: NDArray[np.int32], edges: int) -> counts.Pool:
    ends = np.concatenate((pairs[:, 0], pairs[:, 1]))
    start = np.zeros(graph.n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=graph.n_nodes), out=start[1:])
    size = max(len(pairs), 1)
    return counts.Pool(
        left=pairs[:, 0].copy(),
        right=pairs[:, 1].copy(),
        start=start,
        around=(np.argsort(ends, kind="stable") % size).astype(np.int32),
        present=np.arange(len(pairs)) < edges,
        order=np.arange(len(pairs), dtype=np.int32),
        place=np.arange(len(pairs), dtype=np.int32),
        tally=np.zeros(1, dtype=np.int64),
        common=np.zeros(len(pairs), dtype=np.int32),
    )


def _rows(graph: Graph, pool: counts.Pool) -> counts.Rows:
    """Return the neighbour lists, with room for every pair of the pool that is no edge."""
    absent = ~pool.present
    ends = np.concatenate((pool.left[absent], pool.right[absent]))
    room = np.bincount(ends, minlength=graph.n_nodes)
    shift = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(room)))
    neighbour = np.full(graph.indices.size + int(shift[-1]), -1, dtype=np.int32)
    at = np.arange(graph.indices.size) + np.repeat(shift[:-1], graph.degrees())
    neighbour[at] = graph.indices
    return counts.Rows(graph.indptr + shift, graph.degrees().copy(), neighbour)


def cells_of(task: Task, room: int, steps: tuple[int, int]) -> counts.Cells:
    """Return an empty table with room for every node and for so many moves of one trial.

    A code grows by these steps with a degree and with a triangle.
    """
    n = task.graph.n_nodes
    bits = (4 * max(n, room, 1)).bit_length()
    by_degree, by_triangle = steps
    return counts.Cells(
        table=np.full((1 << bits, 2), counts.FREE, dtype=np.int64),
        slot=np.zeros(n, dtype=np.int64),
        log=np.empty((max(room, 1), 3), dtype=np.int64),
        tally=np.zeros(5, dtype=np.int64),
        rule=np.array([task.k, by_degree, by_triangle, 64 - bits], dtype=np.int64),
    )


def candidates(graph: Graph, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return up to m distinct pairs that are no edges: half random, half open triads.

    Returns
    -------
    NDArray[np.int32]
        Shape (c, 2), the smaller end first, sorted. Dense graphs may have fewer than m.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> candidates(path, np.random.Generator(np.random.PCG64(1))).tolist()
    [[0, 2]]
    """
    n, m = graph.n_nodes, graph.n_edges
    edges = graph.edges().astype(np.int64)
    taken = edges[:, 0] * n + edges[:, 1]
    found = np.empty(0, dtype=np.int64)
    for goal, draw in ((m // 2, _open_triads), (m, _random_pairs)):
        for _ in range(8):
            if found.size >= goal:
                break
            ends = np.sort(draw(graph, 2 * (goal - found.size) + 8, rng), axis=1)
            keys = (ends[:, 0] * n + ends[:, 1])[ends[:, 0] != ends[:, 1]]
            keys = np.setdiff1d(keys, taken)
            keys = np.setdiff1d(keys, found)
            found = np.concatenate((found, rng.permutation(keys)[: goal - found.size]))
    return np.stack(np.divmod(np.sort(found), n), axis=1).astype(np.int32)


def _random_pairs(graph: Graph, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.integers(0, graph.n_nodes, size=(size, 2))


def _open_triads(graph: Graph, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the ends of random walks of two steps; the first step starts at a random arc."""
    arc = rng.integers(0, graph.indices.size, size=size)
    source = np.searchsorted(graph.indptr, arc, side="right") - 1
    middle = graph.indices[arc]
    hop = rng.integers(0, graph.degrees()[middle])
    return np.stack((source, graph.indices[graph.indptr[middle] + hop]), axis=1).astype(np.int64)


def edited_of(task: Task, arena: Arena) -> Edited:
    """Return the best state's edits, its nodes left counted again without the kernels.

    Raises
    ------
    AssertionError
        Where the count differs from the kernel's: a bug of ours.
    """
    added, deleted = flipped(arena.state.pool, arena.best.changed)
    left = count_left(task, added, deleted)
    if left != arena.best.tally[kernel.BEST_LEFT]:
        raise AssertionError(
            f"the search counted {arena.best.tally[kernel.BEST_LEFT]} nodes left, a recount {left}"
        )
    return Edited(added, deleted, left)


def flipped(
    pool: counts.Pool, changed: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the pairs added and those deleted where these pairs are changed."""
    pairs = np.stack((pool.left, pool.right), axis=1)
    was_edge = pool.present != (pool.place < pool.tally[counts.CHANGED])
    return pairs[changed & ~was_edge], pairs[changed & was_edge]


def count_left(task: Task, added: NDArray[np.int32], deleted: NDArray[np.int32]) -> int:
    """Return the number of nodes in classes below k after these edits, without kernels."""
    n = task.graph.n_nodes
    edges = task.graph.edges().astype(np.int64)
    keys = edges[:, 0] * n + edges[:, 1]
    keys = np.setdiff1d(keys, deleted[:, 0].astype(np.int64) * n + deleted[:, 1])
    keys = np.union1d(keys, added[:, 0].astype(np.int64) * n + added[:, 1])
    degree = np.bincount(np.concatenate(np.divmod(keys, n)), minlength=n)
    by_degree, by_triangle = CODES[task.measure]
    code = degree * by_degree
    if by_triangle:
        code += triangles(keys, degree) * by_triangle
    _, sizes = np.unique(code, return_counts=True)
    return int(sizes[sizes < task.k].sum())


def triangles(keys: NDArray[np.int64], degree: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the triangles at every node, for edges ``u * n + v``, u < v, in NumPy alone.

    Every edge points to its end of higher degree; every pair of arcs from one node is looked up.

    Examples
    --------
    >>> triangles(np.array([1, 2, 6, 11]), np.array([2, 2, 3, 1])).tolist()
    [1, 1, 1, 0]
    """
    n = degree.size
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(n)
    ends = np.sort(rank[np.stack(np.divmod(keys, n))], axis=0)
    arcs = np.sort(ends[0] * n + ends[1])
    source, target = np.divmod(arcs, n)
    last = np.searchsorted(source, source, side="right")
    partners = last - np.arange(arcs.size) - 1
    until = np.cumsum(partners)
    total = np.zeros(n, dtype=np.int64)
    first = 0
    while first < arcs.size:
        done = until[first - 1] if first else 0
        stop = max(int(np.searchsorted(until, done + WEDGES_AT_ONCE, side="right")), first + 1)
        one = np.repeat(np.arange(first, stop), partners[first:stop])
        step = np.arange(one.size) - np.repeat(
            until[first:stop] - partners[first:stop] - done, partners[first:stop]
        )
        other = one + 1 + step
        closing = target[one] * n + target[other]
        at = np.minimum(np.searchsorted(arcs, closing), arcs.size - 1)
        closed = arcs[at] == closing
        for corner in (source[one], target[one], target[other]):
            total += np.bincount(corner[closed], minlength=n)
        first = stop
    return total[rank]

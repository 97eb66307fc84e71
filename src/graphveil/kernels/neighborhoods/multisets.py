"""Multisets of integers, one a node: which nodes have the same.

A hash only tells which multisets may be equal. Whether they are is found by counting: the values of
one are counted up, the values of the other counted down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import ZERO, allocating, leaf
from graphveil.kernels.neighborhoods.balls import (
    Ball,
    clear_ball,
    fill_ball,
    inner_degree,
    make_ball,
)
from graphveil.kernels.neighborhoods.triangles import Indices, Indptr
from graphveil.kernels.sorting import sort
from graphveil.kernels.tiers import for_each_entry, tiered

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


class MultisetRows(NamedTuple):
    """Where the multiset of a node comes from, and the largest value in any.

    At distance 1 it is ``own[v]`` and ``values[indptr[v]:indptr[v + 1]]``. Farther it is made from
    the neighborhood: the degree of each of its nodes, in the graph or, where ``inside``, in the
    neighborhood; ``own`` and ``values`` are then empty.
    """

    indptr: Indptr
    indices: Indices
    own: Indices
    values: Indices
    distance: int
    inside: bool
    largest: int


@leaf
def mixed(value: np.uint64) -> np.uint64:
    """Return the value with its bits stirred (the finalizer of SplitMix64)."""
    x = value + STEP
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@allocating
def _room(rows: MultisetRows) -> tuple[Ball, Indices]:
    """Return room for one neighborhood and for one multiset."""
    n = rows.indptr.size - 1
    if rows.distance > 1:
        return make_ball(n), np.empty(n, dtype=np.int32)
    longest = np.int64(0)
    for v in range(n):
        longest = max(longest, rows.indptr[v + 1] - rows.indptr[v])
    return make_ball(ZERO), np.empty(longest + 1, dtype=np.int32)


@leaf
def _fill(rows: MultisetRows, v: int, ball: Ball, out: Indices) -> int:
    """Write the multiset of node v into out, in any order; return its size."""
    indptr = rows.indptr
    if rows.distance == 1:
        out[0] = rows.own[v]
        size = 1
        for arc in range(indptr[v], indptr[v + 1]):
            out[size] = rows.values[arc]
            size += 1
        return size
    size = fill_ball(indptr, rows.indices, v, rows.distance, ball)
    for i in range(size):
        if rows.inside:
            out[i] = inner_degree(indptr, rows.indices, i, rows.distance, ball)
        else:
            out[i] = indptr[ball.nodes[i] + 1] - indptr[ball.nodes[i]]
    clear_ball(ball, size)
    return size


@tiered(for_each_entry(1.5))
@allocating
def row_hashes(rows: MultisetRows) -> Hashes:
    """Return a hash of the multiset of every node: equal where the multisets are equal."""
    n = rows.indptr.size - 1
    out = np.empty(n, dtype=np.uint64)
    ball, row = _room(rows)
    for v in range(n):
        size = _fill(rows, v, ball, row)
        total = mixed(np.uint64(size))
        for i in range(size):
            total += mixed(np.uint64(row[i]))
        out[v] = total
    return out


@tiered(for_each_entry(0.3))
@allocating
def same_as_first(rows: MultisetRows, order: Ints, first: Ints, equal: NDArray[np.bool_]) -> None:
    """Write into equal[i] whether node order[i] has the multiset of the first node of its bucket.

    Bucket b is ``order[first[b]:first[b + 1]]``.
    """
    ball, row = _room(rows)
    count = np.zeros(rows.largest + 1, dtype=np.int64)
    for b in range(first.size - 1):
        if first[b + 1] == first[b] + 1:
            equal[first[b]] = True
            continue
        size = _fill(rows, order[first[b]], ball, row)
        model = row[:size].copy()
        for i in range(size):
            count[model[i]] += 1
        equal[first[b]] = True
        for at in range(first[b] + 1, first[b + 1]):
            equal[at] = _fill(rows, order[at], ball, row) == size and _takes_all(count, row, size)
        for i in range(size):
            count[model[i]] = 0


@leaf
def _takes_all(count: Ints, row: Indices, size: int) -> bool:
    """Return whether the row takes everything counted, one by one; the counts stay as they are."""
    taken = 0
    while taken < size and count[row[taken]] > 0:
        count[row[taken]] -= 1
        taken += 1
    for i in range(taken):
        count[row[i]] += 1
    return taken == size


@allocating
def rows_of(rows: MultisetRows, nodes: Ints) -> tuple[Ints, Indices]:
    """Return the sorted multisets of these nodes, one after the other, and where each begins."""
    ball, row = _room(rows)
    start = np.zeros(nodes.size + 1, dtype=np.int64)
    for i in range(nodes.size):
        start[i + 1] = start[i] + _fill(rows, nodes[i], ball, row)
    out = np.empty(start[-1], dtype=np.int32)
    for i in range(nodes.size):
        size = _fill(rows, nodes[i], ball, row)
        for j in range(size):
            out[start[i] + j] = row[j]
        sort(out[start[i] : start[i + 1]])
    return start, out

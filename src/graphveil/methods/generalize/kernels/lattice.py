"""Clusters of rows that agree at one level in every column, the least loss first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import ONE, ZERO, leaf
from graphveil.methods.generalize.kernels.state import (
    Clusters,
    Conditions,
    Floats,
    Ints,
    Rows,
    _fits,
)

Words = NDArray[np.uint64]

OPEN, REFUSED = -1, -2
"""A group whose rows were not looked at yet, and one that makes no cluster."""

MIXER = np.uint64(0x9E3779B97F4A7C15)
HIGH, LOW = np.uint64(31), np.uint64(29)


class Agreeing(NamedTuple):
    """Room: the rows left, and the groups of rows that agree.

    ``words[p + l]`` is a random number of the node at ``p + l``. The first ``counters[0]`` of
    ``left`` are the rows in no cluster, ``counters[1]`` is the number of clusters, and
    ``counters[2]`` that of rows that were looked at.
    """

    words: Words
    left: Ints
    counters: Ints
    table: Words
    group: Ints
    slot: Ints
    size: Ints
    cluster: Ints


def agreeing_of(words: Words, n: int) -> Agreeing:
    """Return room for n rows, all of them left."""
    bits = (2 * n - 1).bit_length()
    slot, size, cluster = np.zeros((3, n), dtype=np.int64)
    return Agreeing(
        words=words,
        left=np.arange(n, dtype=np.int64),
        counters=np.array([n, 0, 0], dtype=np.int64),
        table=np.zeros(1 << bits, dtype=np.uint64),
        group=np.zeros(1 << bits, dtype=np.int64),
        slot=slot,
        size=size,
        cluster=cluster,
    )


@leaf
def _key(rows: Rows, words: Words, row: int, vector: NDArray[np.int32]) -> np.uint64:
    """Return a number of what a row shows at these levels."""
    key = np.uint64(0)
    for j in range(vector.size):
        key += words[rows.cells[row, j] + vector[j]]
    key ^= key >> HIGH
    key *= MIXER
    return key ^ (key >> LOW)


@leaf
def _group(rows: Rows, room: Agreeing, vector: NDArray[np.int32]) -> int:
    """Write the group of every row left, and the size of every group; return how many there are."""
    left = room.counters[0]
    places = ONE
    while places < 2 * left:
        places *= 2
    for i in range(places):
        room.group[i] = -1
    mask = np.uint64(places - 1)
    groups = ZERO
    for i in range(left):
        key = _key(rows, room.words, room.left[i], vector)
        place = np.int64(key & mask)
        while room.group[place] >= 0 and room.table[place] != key:
            place = (place + 1) & (places - 1)
        g = room.group[place]
        if g < 0:
            g = groups
            room.group[place], room.table[place] = g, key
            room.size[g], room.cluster[g] = 0, OPEN
            groups += 1
        room.slot[i] = g
        room.size[g] += 1
    return groups


@leaf
def _number(
    rows: Rows, vector: NDArray[np.int32], limit: float, room: Agreeing, groups: int, k: int
) -> int:
    """Give numbers to groups of k or more rows that lose at most a limit; return how many."""
    first = room.counters[1]
    for g in range(groups):
        if room.size[g] < k:
            room.cluster[g] = REFUSED
    large = ZERO
    for i in range(room.counters[0]):
        g = room.slot[i]
        if room.cluster[g] != OPEN:
            continue
        lost = 0.0
        for j in range(vector.size):
            lost += rows.losses[rows.cells[room.left[i], j] + vector[j]]
        room.cluster[g] = REFUSED
        if lost <= limit:
            room.cluster[g] = first + large
            large += 1
    return large


@leaf
def _keep_fitting(
    room: Agreeing, groups: int, large: int, conditions: Conditions, state: Clusters
) -> int:
    """Give new numbers to those groups that meet the conditions; return how many there are."""
    width = conditions.values.shape[1]
    if width == 0 or large == 0:
        return large
    for i in range(room.counters[0]):
        c = room.cluster[room.slot[i]]
        if c >= 0:
            for x in range(width):
                state.counts[c, conditions.values[room.left[i], x]] += 1
    first, fit = room.counters[1], ZERO
    for g in range(groups):
        c = room.cluster[g]
        if c < 0:
            continue
        room.cluster[g] = REFUSED
        if _fits(conditions, state, c):
            room.cluster[g] = first + fit
            fit += 1
    for c in range(first, first + large):
        for v in range(state.counts.shape[1]):
            state.counts[c, v] = 0
    return fit


@leaf
def least_losses(
    rows: Rows, vectors: NDArray[np.int32], k: int, room: Agreeing, best: Floats, lost: Floats
) -> None:
    """Lower for every row the least that it loses at a vector at which k rows agree.

    Parameters
    ----------
    rows
        The table; ``near`` and ``place`` are not read.
    vectors
        Shape (v, d): a level for every column.
    k
        The fewest rows that agree.
    room
        All rows, which are left.
    best
        Shape (n,): written.
    lost
        Shape (n,): room.
    """
    for v in range(len(vectors)):
        lower = False
        for i in range(best.size):
            lost[i] = 0.0
            for j in range(vectors.shape[1]):
                lost[i] += rows.losses[rows.cells[i, j] + vectors[v, j]]
            lower |= lost[i] < best[i]
        if not lower:
            continue
        _group(rows, room, vectors[v])
        for i in range(best.size):
            if lost[i] < best[i] and room.size[room.slot[i]] >= k:
                best[i] = lost[i]


@leaf
def publish(
    rows: Rows,
    vectors: NDArray[np.int32],
    limit: float,
    k: int,
    room: Agreeing,
    conditions: Conditions,
    state: Clusters,
    labels: Ints,
) -> None:
    """Make clusters of rows left that agree at the levels of a vector, one vector after another.

    Parameters
    ----------
    rows
        What is recoded.
    vectors
        Shape (v, d): a level for every column.
    limit
        Rows of a cluster lose at most this.
    k
        The fewest rows of a cluster.
    room
        The rows left, of which those that join a cluster are taken out.
    conditions
        What a cluster must meet.
    state
        Its counts are room, left as 0.
    labels
        The clusters, numbered on from ``room.counters[1]``.
    """
    for v in range(len(vectors)):
        left = room.counters[0]
        if left < k:
            return
        room.counters[2] += left
        groups = _group(rows, room, vectors[v])
        large = _number(rows, vectors[v], limit, room, groups, k)
        fit = _keep_fitting(room, groups, large, conditions, state)
        if fit == 0:
            continue
        room.counters[1] += fit
        kept = ZERO
        for i in range(left):
            row = room.left[i]
            c = room.cluster[room.slot[i]]
            if c >= 0:
                labels[row] = c
            else:
                room.left[kept] = row
                kept += 1
        room.counters[0] = kept

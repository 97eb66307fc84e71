"""The lattice step of local recoding: rows that agree at one vector of levels form clusters.

A vector holds one level per known column. For a vector, the rows without a cluster are grouped by
the nodes that they show at its levels. Each group of k or more rows that meets the conditions, and
loses at most a limit, becomes a cluster and leaves the pool. The caller passes vectors from little
loss to much (`graphveil.methods.generalize.vectors`).

The lattice of full-domain generalization (Samarati, TKDE 2001), used to recode locally: each
cluster takes the first vector that fits it, where Samarati takes one vector for the whole table.

Groups are found by an open-addressing hash table over the 64-bit sum of random words of the nodes.
Two different groups may collide with probability about 2**-64 per pair. A collision can only put
rows with different nodes into one cluster, whose levels `clusters.gather` computes anew from its
members, cell by cell: it costs quality, never the guarantee.

Cost: O(rows left x d) per vector, after which fewer rows are left. Memory: O(n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints, Words
from graphveil.core.kernels.leaf import ONE, ZERO, leaf
from graphveil.methods.generalize.kernels.clusters import Clusters, Conditions, Rows, _fits

OPEN, REFUSED = -1, -2
"""A group whose first row was not seen yet, and one that does not become a cluster."""

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""The odd 64-bit constant of Fibonacci hashing (2**64 divided by the golden ratio)."""

HIGH, LOW = np.uint64(31), np.uint64(29)
"""Shifts before and after the multiplication: high bits reach the low bits, which choose a slot."""


class Agreeing(NamedTuple):
    """The pool of rows without a cluster, and scratch space for the groups of one vector.

    Parameters
    ----------
    words
        uint64, one per position of `Rows.nodes`: a random number per node of a column and level.
    left
        int64, shape (n,): the first ``counters[0]`` are the rows without a cluster. Written by
        `publish`.
    counters
        int64, shape (3,): rows left, clusters so far, rows visited in all vectors so far (what the
        caller's work budget counts). Written by `publish`.
    table, slot_group
        uint64 and int64, shape (power of two of at least 2n,): the hash table, keys and groups; a
        group of -1 is a free slot. Written by `_group`.
    group_of_row
        int64, shape (n,): the group of ``left[i]``. Written by `_group`.
    size
        int64, shape (n,): the number of rows of a group. Written by `_group`.
    cluster
        int64, shape (n,): the cluster that a group becomes, `OPEN` or `REFUSED`. Written by
        `_group`, `_number` and `_keep_fitting`.
    """

    words: Words
    left: Ints
    counters: Ints
    table: Words
    slot_group: Ints
    group_of_row: Ints
    size: Ints
    cluster: Ints


def agreeing_of(words: Words, n: int) -> Agreeing:
    """Return scratch space for n rows, all of them without a cluster."""
    # At most half of the slots are taken, so that probing stays short.
    bits = (2 * n - 1).bit_length()
    group_of_row, size, cluster = np.zeros((3, n), dtype=np.int64)
    return Agreeing(
        words=words,
        left=np.arange(n, dtype=np.int64),
        counters=np.array([n, 0, 0], dtype=np.int64),
        table=np.zeros(1 << bits, dtype=np.uint64),
        slot_group=np.zeros(1 << bits, dtype=np.int64),
        group_of_row=group_of_row,
        size=size,
        cluster=cluster,
    )


@leaf
def _key(rows: Rows, words: Words, row: int, vector: NDArray[np.int32]) -> np.uint64:
    """Return the hash of the nodes that a row shows at these levels."""
    # Equal nodes give equal sums of words; the mixer is one-to-one and spreads them over the slots.
    key = np.uint64(0)
    for j in range(vector.size):
        key += words[rows.cells[row, j] + vector[j]]
    key ^= key >> HIGH
    key *= MIXER
    return key ^ (key >> LOW)


@leaf
def _group(rows: Rows, room: Agreeing, vector: NDArray[np.int32]) -> int:
    """Write the group of every row left, and the size of every group; return how many there are.

    Two rows are in one group if they show the same nodes at the levels of the vector.
    """
    # Use as few slots as the rows left need, since all of them are cleared for every vector.
    left = room.counters[0]
    slots = ONE
    while slots < 2 * left:
        slots *= 2
    for i in range(slots):
        room.slot_group[i] = -1
    mask = np.uint64(slots - 1)
    groups = ZERO
    for i in range(left):
        # Linear probing from the low bits of the key, to the slot of the key or to a free one.
        key = _key(rows, room.words, room.left[i], vector)
        slot = np.int64(key & mask)
        while room.slot_group[slot] >= 0 and room.table[slot] != key:
            slot = (slot + 1) & (slots - 1)
        g = room.slot_group[slot]
        if g < 0:
            g = groups
            room.slot_group[slot], room.table[slot] = g, key
            room.size[g], room.cluster[g] = 0, OPEN
            groups += 1
        room.group_of_row[i] = g
        room.size[g] += 1
    return groups


@leaf
def _number(
    rows: Rows, vector: NDArray[np.int32], limit: float, room: Agreeing, groups: int, k: int
) -> int:
    """Give numbers to groups of k or more rows that lose at most a limit; return how many.

    Numbers go on from the clusters so far, in the order of the first row of each group.
    """
    first = room.counters[1]
    for g in range(groups):
        if room.size[g] < k:
            room.cluster[g] = REFUSED
    large = ZERO
    for i in range(room.counters[0]):
        g = room.group_of_row[i]
        if room.cluster[g] != OPEN:
            continue
        # All rows of a group lose the same, since they show the same nodes: one row decides.
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
    """Renumber the groups that meet the conditions; return how many there are.

    ``state.counts`` is used as scratch space and is 0 again at the end.
    """
    width = conditions.values.shape[1]
    if width == 0 or large == 0:
        return large
    # Count the attached values of every numbered group.
    for i in range(room.counters[0]):
        c = room.cluster[room.group_of_row[i]]
        if c >= 0:
            for x in range(width):
                state.counts[c, conditions.values[room.left[i], x]] += 1
    # Groups that miss a condition go back to the pool; the others close the gaps in the numbers.
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
    """Lower for every row the least loss of a vector at which k rows of the table agree with it.

    Every class of true nodes publishes one vector, at which its k rows agree. So no row of any
    release loses less than this: the bound of `recode.most_granular`.

    Parameters
    ----------
    rows
        The table; ``near`` and ``place`` are not read.
    vectors
        int32, shape (v, d): one level per column.
    k
        The fewest rows that agree.
    room
        The pool, with all rows left, before and after.
    best
        float64, shape (n,): the least loss of every row so far. Written.
    lost
        float64, shape (n,): scratch space, the loss of every row at one vector.
    """
    for v in range(len(vectors)):
        # A vector at which no row would lose less needs no grouping.
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
            if lost[i] < best[i] and room.size[room.group_of_row[i]] >= k:
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
        The table; ``near`` and ``place`` are not read.
    vectors
        int32, shape (v, d): one level per column, in the order in which vectors are tried.
    limit
        Rows of a cluster lose at most this; infinity for no limit.
    k
        The fewest rows of a cluster.
    room
        The pool: rows that join a cluster are removed. Written.
    conditions
        What a cluster must meet.
    state
        Only ``counts`` is used, as scratch space, and is 0 again at the end.
    labels
        int64, shape (n,): the cluster of every row, numbered on from ``room.counters[1]``; rows
        left keep what they had. Written.
    """
    for v in range(len(vectors)):
        left = room.counters[0]
        if left < k:
            return
        # Group the rows left by what they show; groups that qualify become clusters.
        room.counters[2] += left
        groups = _group(rows, room, vectors[v])
        large = _number(rows, vectors[v], limit, room, groups, k)
        fit = _keep_fitting(room, groups, large, conditions, state)
        if fit == 0:
            continue
        # Label the rows of new clusters, and keep the others in the pool, in their order.
        room.counters[1] += fit
        kept = ZERO
        for i in range(left):
            row = room.left[i]
            c = room.cluster[room.group_of_row[i]]
            if c >= 0:
                labels[row] = c
            else:
                room.left[kept] = row
                kept += 1
        room.counters[0] = kept

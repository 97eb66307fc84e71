"""Clusters of rows, and what they lose: the state that the kernels of local recoding share.

A cell is a position p in flat arrays: ``nodes[p + l]`` is the node above the cell's value at level
l, and ``losses[p + l]`` the loss of a cell that is published at level l. All values of a column
agree at its last level. A cluster publishes in every column the lowest level at which its rows
agree. Levels nest: rows that agree at a level agree at all above it. So a row agrees with a whole
cluster as soon as it agrees with one of its rows, and joining costs O(d), whatever the size.

The rows of a cluster are a doubly linked list in flat arrays, so that a row leaves in O(1). The
loss of a cluster without a row needs a pass over its rows, since its levels may fall.

Conditions are tested on counts of the values of attached columns, kept per cluster: O(V) for a
test, with V the number of values of these columns.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf

Cells = NDArray[np.int32]

NOBODY = -1
"""In arrays of rows and of clusters: none."""

SLACK = 1e-12
"""An entropy this much below its bound (in nats) meets it: room for rounding in sums of logarithms.

It is part of what `generalize` states. Larger would accept classes below the bound; 0 would refuse
classes that meet it exactly.
"""


class Rows(NamedTuple):
    """The table as positions in flat arrays, and the orders that say which rows are near.

    No kernel writes any of it.

    Parameters
    ----------
    nodes
        int32: the nodes above every value of every column, one column after the other.
    losses
        float64, as ``nodes``: the loss of a cell, times the share of its column's weight.
    cells
        int32, shape (n, d): the position of every cell in ``nodes`` and ``losses``.
    near
        int32, shape (R, n): in each of R orders, all rows.
    place
        int32, shape (R, n): the index of row i in order r.
    """

    nodes: NDArray[np.int32]
    losses: Floats
    cells: Cells
    near: Cells
    place: Cells


class Conditions(NamedTuple):
    """What every cluster must hold of attached columns; no kernel writes any of it.

    Parameters
    ----------
    values
        int32, shape (n, C): the value of each row for each of C conditions, numbered on from one
        condition to the next: a column of `Clusters.counts`.
    starts
        int64, shape (C + 1,): the values of condition c are ``starts[c]`` to ``starts[c + 1]`` - 1.
    totals
        int64, shape (V,): the number of rows of the table that have a value.
    known
        int64, shape (C,): the first so many values of a condition are known. The others are words
        for missing and missing cells, which diversity does not count.
    distinct
        int64, shape (C,): the fewest different known values of a cluster (distinct l-diversity); 0
        for no bound.
    entropy
        float64, shape (C,): the least entropy of the known values of a cluster, in nats (entropy
        l-diversity); 0 for no bound.
    numerator, denominator
        int64, shape (C,): the most total variation between a cluster and the table, as a fraction
        (t-closeness); 1 for no bound.
    """

    values: Cells
    starts: Ints
    totals: Ints
    known: Ints
    distinct: Ints
    entropy: Floats
    numerator: Ints
    denominator: Ints


class Clusters(NamedTuple):
    """The cluster of every row, and the rows, levels, loss and counts of every cluster.

    All kernels that take it write it. There are at most m = n // k + 1 clusters.

    Parameters
    ----------
    label
        int64, shape (n,): the cluster of every row; -1 for none.
    after, before
        int64, shape (n,): the next and the previous row of the same cluster; -1 for none.
    head
        int64, shape (m,): the first row of every cluster; -1 for none.
    size
        int64, shape (m,): the number of rows.
    level
        int64, shape (m, d): the lowest level of every column at which the rows agree.
    loss
        float64, shape (m,): the loss of each row of the cluster, summed over the columns.
    counts
        int32, shape (m, V): how many rows have each value of an attached column.
    free, used
        int64, shapes (m,) and (1,): ``free[: used[0]]`` are the clusters without rows.
    """

    label: Ints
    after: Ints
    before: Ints
    head: Ints
    size: Ints
    level: Ints
    loss: Floats
    counts: Cells
    free: Ints
    used: Ints


class Room(NamedTuple):
    """Scratch space of the search, and which clusters changed.

    Parameters
    ----------
    active
        bool, shape (n,): which rows `search.improve` tries to move. Read; the caller writes it.
    touched
        bool, shape (m,): which clusters changed in this pass. Written; the caller clears it.
    mark, stamp
        int64, shapes (m,) and (1,): ``mark[c] == stamp[0]`` if cluster c was met in this search.
    clusters, rows
        int64, shape (R (2 reach + 1),): the clusters near a row, and the rows near it.
    picked
        int64, shape (max(2k, 3),): the rows of a new or of a dissolving cluster.
    levels
        int64, shape (5, d): 0 the levels of a cluster without a row; 1 to 3 see
        `search._levels_in`; 4 the levels of a new cluster.
    best, adds
        int64 and float64, shape (3,): the clusters that a row joins at the least loss, and by how
        much the total loss rises then.
    """

    active: NDArray[np.bool_]
    touched: NDArray[np.bool_]
    mark: Ints
    stamp: Ints
    clusters: Ints
    rows: Ints
    picked: Ints
    levels: Ints
    best: Ints
    adds: Floats


def clusters_of(n: int, d: int, n_values: int, k: int) -> Clusters:
    """Return rows without a cluster, and space for as many clusters as there can be.

    That is n // k of at least k rows each, and one to spare.
    """
    room = n // k + 1
    label, after, before = np.full((3, n), NOBODY, dtype=np.int64)
    return Clusters(
        label=label,
        after=after,
        before=before,
        head=np.full(room, NOBODY, dtype=np.int64),
        size=np.zeros(room, dtype=np.int64),
        level=np.zeros((room, d), dtype=np.int64),
        loss=np.zeros(room),
        counts=np.zeros((room, n_values), dtype=np.int32),
        free=np.arange(room, dtype=np.int64)[::-1].copy(),
        used=np.array([room], dtype=np.int64),
    )


def room_for(n: int, d: int, k: int, *, most_near: int) -> Room:
    """Return scratch space for a search that looks at up to `most_near` rows near each row."""
    room = n // k + 1
    return Room(
        active=np.ones(n, dtype=np.bool_),
        touched=np.zeros(room, dtype=np.bool_),
        mark=np.zeros(room, dtype=np.int64),
        stamp=np.zeros(1, dtype=np.int64),
        clusters=np.zeros(most_near, dtype=np.int64),
        rows=np.zeros(most_near, dtype=np.int64),
        picked=np.zeros(max(2 * k, 3), dtype=np.int64),
        levels=np.zeros((5, d), dtype=np.int64),
        best=np.zeros(3, dtype=np.int64),
        adds=np.zeros(3),
    )


@leaf
def _fits(conditions: Conditions, state: Clusters, c: int) -> bool:
    """Return whether the counts of a cluster meet every condition."""
    n = len(conditions.values)
    for i in range(len(conditions.distinct)):
        first, last = conditions.starts[i], conditions.starts[i + 1]
        size = ZERO
        for v in range(first, last):
            size += state.counts[c, v]
        # One pass over the values: how many known ones are present and in how many rows, the sum of
        # count * log(count) over them, and the sum over all values of |count / size - total / n| in
        # whole numbers, times size * n.
        present, shown, apart, ordered = ZERO, ZERO, ZERO, 0.0
        for v in range(first, last):
            count = np.int64(state.counts[c, v])
            if count > 0 and v < first + conditions.known[i]:
                present += 1
                shown += state.counts[c, v]
                if conditions.entropy[i] > 0:
                    ordered += count * math.log(count)
            apart += abs(count * n - size * conditions.totals[v])
        # Distinct l-diversity.
        if present < conditions.distinct[i]:
            return False
        # Closeness: the total variation is half of that sum; compared exactly, as integers.
        if apart * conditions.denominator[i] > 2 * conditions.numerator[i] * size * n:
            return False
        # Entropy l-diversity: the entropy is log(shown) less the mean of log(count). Where no value
        # is known it is 0.
        entropy = conditions.entropy[i]
        if entropy > 0 and (shown == 0 or math.log(shown) - ordered / shown < entropy - SLACK):
            return False
    return True


@leaf
def _count(conditions: Conditions, state: Clusters, c: int, row: int, by: int) -> None:
    """Add a row's attached values to the counts of a cluster (by 1), or subtract them (by -1)."""
    for i in range(conditions.values.shape[1]):
        state.counts[c, conditions.values[row, i]] += by


@leaf
def _fits_with(conditions: Conditions, state: Clusters, c: int, row: int, by: int) -> bool:
    """Return whether a cluster meets the conditions with a row more (by 1), or less (by -1)."""
    if conditions.values.shape[1] == 0:
        return True
    _count(conditions, state, c, row, by)
    fits = _fits(conditions, state, c)
    _count(conditions, state, c, row, -by)
    return fits


@leaf
def _meet(rows: Rows, row: int, other: int, level: Ints) -> None:
    """Raise ``level``, shape (d,), until two rows agree at it in every column."""
    for j in range(rows.cells.shape[1]):
        a, b, at = rows.cells[row, j], rows.cells[other, j], level[j]
        while rows.nodes[a + at] != rows.nodes[b + at]:
            at += 1
        level[j] = at


@leaf
def _loss(rows: Rows, row: int, level: Ints) -> float:
    """Return the loss of a row that is published at these levels, summed over the columns."""
    lost = 0.0
    for j in range(rows.cells.shape[1]):
        lost += rows.losses[rows.cells[row, j] + level[j]]
    return lost


@leaf
def _loss_with(rows: Rows, state: Clusters, c: int, row: int) -> float:
    """Return the loss of each row of a cluster once another row joins it.

    Levels nest and all rows of the cluster agree at its levels, so the first row decides for all.
    """
    member = state.head[c]
    lost = 0.0
    for j in range(rows.cells.shape[1]):
        a, b, at = rows.cells[member, j], rows.cells[row, j], state.level[c, j]
        while rows.nodes[a + at] != rows.nodes[b + at]:
            at += 1
        lost += rows.losses[b + at]
    return lost


@leaf
def _loss_without(rows: Rows, state: Clusters, c: int, row: int, level: Ints) -> float:
    """Write the levels of a cluster without one of its rows; return the loss of each other row.

    The cluster has two or more rows; ``level``, shape (d,), is written.
    """
    # Fold the other rows into one that stays, from the lowest levels on. The levels never exceed
    # those of the cluster: once they have reached them, no other row can raise them further.
    first = state.head[c]
    if first == row:
        first = state.after[first]
    for j in range(level.size):
        level[j] = 0
    at = state.after[first]
    while at >= 0:
        if at != row:
            _meet(rows, first, at, level)
            same = True
            for j in range(level.size):
                same &= level[j] == state.level[c, j]
            if same:
                break
        at = state.after[at]
    return _loss(rows, first, level)


@leaf
def _enter(rows: Rows, conditions: Conditions, state: Clusters, c: int, row: int) -> None:
    """Put a row without a cluster into cluster c, and update its levels, loss and counts."""
    # The levels rise until the new row agrees with the first row, and so with all.
    head = state.head[c]
    if head >= 0:
        for j in range(rows.cells.shape[1]):
            a, b, at = rows.cells[head, j], rows.cells[row, j], state.level[c, j]
            while rows.nodes[a + at] != rows.nodes[b + at]:
                at += 1
            state.level[c, j] = at
        state.before[head] = row
    else:
        for j in range(rows.cells.shape[1]):
            state.level[c, j] = 0
    # The row becomes the first of the list.
    state.after[row], state.before[row] = head, MINUS_ONE
    state.head[c] = row
    state.size[c] += 1
    state.label[row] = c
    lost = 0.0
    for j in range(rows.cells.shape[1]):
        lost += rows.losses[rows.cells[row, j] + state.level[c, j]]
    state.loss[c] = lost
    _count(conditions, state, c, row, ONE)


@leaf
def _leave(conditions: Conditions, state: Clusters, row: int) -> None:
    """Take a row out of its cluster, whose levels and loss are stale until `_relevel`."""
    c = state.label[row]
    before, after = state.before[row], state.after[row]
    if before >= 0:
        state.after[before] = after
    else:
        state.head[c] = after
    if after >= 0:
        state.before[after] = before
    state.size[c] -= 1
    state.label[row] = MINUS_ONE
    _count(conditions, state, c, row, MINUS_ONE)


@leaf
def _relevel(rows: Rows, state: Clusters, c: int, level: Ints) -> None:
    """Compute the levels and the loss of a cluster anew from its rows; ``level`` is scratch."""
    head = state.head[c]
    for j in range(level.size):
        level[j] = 0
    lost = 0.0
    if head >= 0:
        at = state.after[head]
        while at >= 0:
            _meet(rows, head, at, level)
            at = state.after[at]
        lost = _loss(rows, head, level)
    for j in range(level.size):
        state.level[c, j] = level[j]
    state.loss[c] = lost


@leaf
def gather(
    rows: Rows, conditions: Conditions, state: Clusters, labels: Ints, n_clusters: int
) -> None:
    """Fill clusters by labels: every row enters the cluster of its label.

    Parameters
    ----------
    rows, conditions
        What is recoded.
    state
        Clusters without rows, as `clusters_of` returns them. Written.
    labels
        int64, shape (n,): the cluster of every row, from 0 to ``n_clusters`` - 1; -1 for none.
    n_clusters
        How many clusters are used: these are the last of ``state.free``.
    """
    for i in range(labels.size):
        if labels[i] >= 0:
            _enter(rows, conditions, state, labels[i], i)
    state.used[0] -= n_clusters

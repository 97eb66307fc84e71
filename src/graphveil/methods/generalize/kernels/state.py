"""What the kernels of local recoding share: rows as positions in hierarchies, clusters, conditions.

A cell is a position p in flat arrays: ``nodes[p + l]`` is the node above the cell's value at level
l, and ``losses[p + l]`` what is lost where the cell is published so. The values of a column agree
at its last level. A cluster publishes in every column the lowest level at which its rows agree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Cells = NDArray[np.int32]

NOBODY = -1
SLACK = 1e-12
"""Entropies within this count as equal."""


class Rows(NamedTuple):
    """The rows and the orders in which they are near each other.

    ``cells`` has shape (n, d). ``near[r]`` lists all rows in order r, ``place[r, i]`` is where row
    i stands in it.
    """

    nodes: NDArray[np.int32]
    losses: Floats
    cells: Cells
    near: Cells
    place: Cells


class Conditions(NamedTuple):
    """What a cluster must hold of attached columns, one entry for each condition.

    ``values[i, c]`` is the value of row i for condition c, a column of `Clusters.counts`; the
    values of c are ``starts[c]`` to ``starts[c + 1]``, and ``totals`` their rows in the table. A
    cluster has at least ``distinct[c]`` values, an entropy of at least ``entropy[c]`` nats, and is
    at most ``numerator[c] / denominator[c]`` from the table in total variation.
    """

    values: Cells
    starts: Ints
    totals: Ints
    distinct: Ints
    entropy: Floats
    numerator: Ints
    denominator: Ints


class Clusters(NamedTuple):
    """The cluster of every row, and of every cluster its rows, levels, loss of a row, and counts.

    The rows of c are ``head[c]`` and what ``after`` leads to. ``free[: used[0]]`` are clusters
    without rows.
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
    """Room that kernels overwrite, and which clusters changed.

    ``touched[c]`` says that a cluster changed in this pass, ``active[i]`` that row i is looked at.
    ``mark[c]`` is the last search, counted in ``stamp[0]``, that met cluster c.
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
    """Return rows without a cluster, and room for as many clusters as there can be."""
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
    """Return room for a search among so many rows near one."""
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
        present, apart, ordered = ZERO, ZERO, 0.0
        for v in range(first, last):
            count = np.int64(state.counts[c, v])
            if count > 0:
                present += 1
                if conditions.entropy[i] > 0:
                    ordered += count * math.log(count)
            apart += abs(count * n - size * conditions.totals[v])
        if present < conditions.distinct[i]:
            return False
        if apart * conditions.denominator[i] > 2 * conditions.numerator[i] * size * n:
            return False
        entropy = conditions.entropy[i]
        if entropy > 0 and math.log(size) - ordered / size < entropy - SLACK:
            return False
    return True


@leaf
def _count(conditions: Conditions, state: Clusters, c: int, row: int, by: int) -> None:
    """Count the values of a row once more in a cluster, or once less."""
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
def _meet(rows: Rows, one: int, other: int, level: Ints) -> None:
    """Raise levels until two rows agree at them."""
    for j in range(rows.cells.shape[1]):
        a, b, at = rows.cells[one, j], rows.cells[other, j], level[j]
        while rows.nodes[a + at] != rows.nodes[b + at]:
            at += 1
        level[j] = at


@leaf
def _loss(rows: Rows, row: int, level: Ints) -> float:
    """Return what is lost of a row that is published at these levels."""
    lost = 0.0
    for j in range(rows.cells.shape[1]):
        lost += rows.losses[rows.cells[row, j] + level[j]]
    return lost


@leaf
def _loss_with(rows: Rows, state: Clusters, c: int, row: int) -> float:
    """Return what a row of a cluster loses once another row joins it."""
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
    """Write the levels of a cluster of two or more without a row; return the loss of each other."""
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
    """Put a row of no cluster into one."""
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
    """Take a row out of its cluster, whose levels and loss stay as they are."""
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
    """Write the lowest levels of a cluster, and its loss."""
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
    """Put rows without a cluster into those of their labels; those of label -1 stay without.

    Parameters
    ----------
    rows, conditions
        What is recoded.
    state
        Clusters without rows, filled.
    labels
        The cluster of every row, from 0 to ``n_clusters`` - 1.
    n_clusters
        How many of the clusters are taken.
    """
    for i in range(labels.size):
        if labels[i] >= 0:
            _enter(rows, conditions, state, labels[i], i)
    state.used[0] -= n_clusters

"""Clusters of rows that agree at one level in every column, the least loss first.

What the kernels of local recoding share: rows as positions in hierarchies, clusters, conditions.

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

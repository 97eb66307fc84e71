"""Rows that move between clusters where that loses less: into another, in exchange, into a new one.

What a move gains is exact: the losses of all rows of the clusters that it changes, before less
after.
"""

from __future__ import annotations

from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.methods.generalize.kernels.lattice import (
    Clusters,
    Conditions,
    Ints,
    Room,
    Rows,
    _enter,
    _fits,
    _fits_with,
    _leave,
    _loss,
    _loss_with,
    _loss_without,
    _meet,
    _relevel,
)

LEAST = 1e-9
"""A move gains more than this."""

NO_LOSS = 1e300


@leaf
def _look_around(rows: Rows, state: Clusters, row: int, reach: int, room: Room) -> int:
    """List the clusters of rows near one, without its own; return how many there are."""
    room.stamp[0] += 1
    stamp = room.stamp[0]
    room.mark[state.label[row]] = stamp
    n = rows.near.shape[1]
    found = ZERO
    for r in range(len(rows.near)):
        at = rows.place[r, row]
        for t in range(max(0, at - reach), min(n, at + reach + 1)):
            c = state.label[rows.near[r, t]]
            if room.mark[c] != stamp:
                room.mark[c] = stamp
                room.clusters[found] = c
                found += 1
    return found


@leaf
def _three_best(
    rows: Rows, conditions: Conditions, state: Clusters, row: int, found: int, room: Room
) -> None:
    """Write the three listed clusters that a row joins at the least loss, and that loss."""
    best, adds = room.best, room.adds
    for i in range(3):
        best[i], adds[i] = -1, NO_LOSS
    for z in range(found):
        c = room.clusters[z]
        add = (state.size[c] + 1) * _loss_with(rows, state, c, row) - state.size[c] * state.loss[c]
        if add >= adds[2] or not _fits_with(conditions, state, c, row, ONE):
            continue
        i = wide(2)
        while i > 0 and add < adds[i - 1]:
            best[i], adds[i] = best[i - 1], adds[i - 1]
            i -= 1
        best[i], adds[i] = c, add


@leaf
def _levels_in(rows: Rows, state: Clusters, c: int, row: int, room: Room) -> None:
    """Write for every column the two highest levels at which a row meets rows of a cluster.

    ``levels[1]`` is the highest, ``levels[2]`` whose it is, ``levels[3]`` the second.
    """
    highest, whose, second = room.levels[1], room.levels[2], room.levels[3]
    for j in range(highest.size):
        highest[j], whose[j], second[j] = 0, -1, 0
    at = state.head[c]
    while at >= 0:
        for j in range(highest.size):
            a, b, level = rows.cells[at, j], rows.cells[row, j], second[j]
            while rows.nodes[a + level] != rows.nodes[b + level]:
                level += 1
            if level > highest[j]:
                second[j] = highest[j]
                highest[j], whose[j] = level, at
            elif level > second[j]:
                second[j] = level
        at = state.after[at]


@leaf
def _loss_in_place_of(rows: Rows, row: int, other: int, room: Room) -> float:
    """Return the loss of a row in the cluster of `_levels_in`, in place of another."""
    lost = 0.0
    for j in range(rows.cells.shape[1]):
        level = room.levels[3, j] if room.levels[2, j] == other else room.levels[1, j]
        lost += rows.losses[rows.cells[row, j] + level]
    return lost


@leaf
def _loss_joined(rows: Rows, member: int, level: Ints, row: int) -> float:
    """Return the loss of each row where a row joins those that agree with a member at levels."""
    lost = 0.0
    for j in range(level.size):
        a, b, at = rows.cells[member, j], rows.cells[row, j], level[j]
        while rows.nodes[a + at] != rows.nodes[b + at]:
            at += 1
        lost += rows.losses[b + at]
    return lost


@leaf
def _exchange_fits(conditions: Conditions, state: Clusters, one: int, other: int) -> bool:
    """Return whether both clusters meet the conditions once two rows changed places."""
    a, b = state.label[one], state.label[other]
    width = conditions.values.shape[1]
    differ = False
    for x in range(width):
        differ |= conditions.values[one, x] != conditions.values[other, x]
    if not differ:
        return True
    for x in range(width):
        v, w = conditions.values[one, x], conditions.values[other, x]
        state.counts[a, v] -= 1
        state.counts[a, w] += 1
        state.counts[b, w] -= 1
        state.counts[b, v] += 1
    fits = _fits(conditions, state, a) and _fits(conditions, state, b)
    for x in range(width):
        v, w = conditions.values[one, x], conditions.values[other, x]
        state.counts[a, v] += 1
        state.counts[a, w] -= 1
        state.counts[b, w] += 1
        state.counts[b, v] -= 1
    return fits


@leaf
def _exchange(
    rows: Rows, conditions: Conditions, state: Clusters, row: int, lost: float, room: Room
) -> int:
    """Return with which row of the three best clusters it changes places best; -1 for none.

    ``room.levels[0]`` are the levels of its cluster without it, ``lost`` what each row loses then.
    """
    a = state.label[row]
    member = state.head[a]
    if member == row:
        member = state.after[member]
    for i in range(3):
        c = room.best[i]
        if c < 0 or state.size[c] > room.picked.size * 2 + 8:
            continue
        _levels_in(rows, state, c, row, room)
        best, found = LEAST, MINUS_ONE
        other = wide(state.head[c])
        while other >= 0:
            there = _loss_in_place_of(rows, row, other, room)
            gain = state.size[c] * (state.loss[c] - there) + state.size[a] * state.loss[a]
            if gain - state.size[a] * lost > best:
                gain -= state.size[a] * _loss_joined(rows, member, room.levels[0], other)
                if gain > best and _exchange_fits(conditions, state, row, other):
                    best, found = gain, other
            other = wide(state.after[other])
        if found >= 0:
            return found
    return MINUS_ONE


@leaf
def _taken_from(state: Clusters, room: Room, chosen: int, c: int) -> int:
    """Return how many of the rows picked are of a cluster."""
    taken = ZERO
    for i in range(chosen):
        if state.label[room.picked[i]] == c:
            taken += 1
    return taken


@leaf
def _pick(rows: Rows, state: Clusters, row: int, k: int, reach: int, room: Room) -> bool:
    """Pick k - 1 rows near one for a new cluster, each of a cluster that can spare it.

    Return whether there are so many, and the cluster may still lose less than they do.
    """
    n = rows.near.shape[1]
    room.stamp[0] += 1
    near = ZERO
    largest = 0.0
    for r in range(len(rows.near)):
        at = rows.place[r, row]
        for t in range(max(0, at - reach), min(n, at + reach + 1)):
            other = rows.near[r, t]
            if other != row and state.size[state.label[other]] > k:
                room.rows[near] = other
                near += 1
                largest = max(largest, state.loss[state.label[other]])
    saved = state.loss[state.label[row]]
    level = room.levels[4]
    for j in range(level.size):
        level[j] = 0
    room.picked[0] = row
    for chosen in range(1, k):
        best, found = NO_LOSS, MINUS_ONE
        for z in range(near):
            other = room.rows[z]
            if other < 0:
                continue
            c = state.label[other]
            add = _loss_joined(rows, row, level, other) * k - state.loss[c]
            if add < best and state.size[c] - _taken_from(state, room, chosen, c) > k:
                best, found = add, z
        if found < 0:
            return False
        other = wide(room.rows[found])
        room.picked[chosen] = other
        for z in range(near):
            if room.rows[z] == other:
                room.rows[z] = -1
        _meet(rows, row, other, level)
        saved += state.loss[state.label[other]]
        if saved + (k - 1 - chosen) * largest - k * _loss(rows, row, level) <= LEAST:
            return False
    return True


@leaf
def _picked_fit(conditions: Conditions, state: Clusters, k: int, new: int, room: Room) -> bool:
    """Return whether the new cluster and those that it takes rows from meet the conditions."""
    width = conditions.values.shape[1]
    if width == 0:
        return True
    for i in range(k):
        for x in range(width):
            v = conditions.values[room.picked[i], x]
            state.counts[new, v] += 1
            state.counts[state.label[room.picked[i]], v] -= 1
    fits = _fits(conditions, state, new)
    for i in range(k):
        fits = fits and _fits(conditions, state, state.label[room.picked[i]])
    for i in range(k):
        for x in range(width):
            v = conditions.values[room.picked[i], x]
            state.counts[new, v] -= 1
            state.counts[state.label[room.picked[i]], v] += 1
    return fits


@leaf
def _open(
    rows: Rows, conditions: Conditions, state: Clusters, row: int, k: int, reach: int, room: Room
) -> bool:
    """Make a new cluster of a row and k - 1 near ones, if that loses less; return if it does."""
    if state.used[0] == 0 or not _pick(rows, state, row, k, reach, room):
        return False
    gain = -k * _loss(rows, row, room.levels[4])
    for i in range(k):
        gain += state.loss[state.label[room.picked[i]]]
    new = wide(state.free[state.used[0] - 1])
    if gain <= LEAST or not _picked_fit(conditions, state, k, new, room):
        return False
    state.used[0] -= 1
    for i in range(k):
        other = wide(room.picked[i])
        c = wide(state.label[other])
        _leave(conditions, state, other)
        _relevel(rows, state, c, room.levels[0])
        _enter(rows, conditions, state, new, other)
        room.touched[c] = True
    room.touched[new] = True
    return True


@leaf
def improve(
    rows: Rows, conditions: Conditions, state: Clusters, order: Ints, k: int, reach: int, room: Room
) -> int:
    """Move rows where that loses less, each once; return how many moves were made.

    Parameters
    ----------
    rows, conditions
        What is recoded.
    state
        The clusters, each of at least k rows that meet the conditions, before and after.
    order
        The rows, in the order in which they are looked at.
    k
        The fewest rows of a cluster.
    reach
        How far away in an order a row is still near.
    room
        ``active`` says which rows are looked at; clusters that change are ``touched``.
    """
    moves = ZERO
    for row in order:
        a = wide(state.label[row])
        if state.loss[a] == 0.0 or not room.active[row]:
            continue
        found = _look_around(rows, state, row, reach, room)
        _three_best(rows, conditions, state, row, found, room)
        lost = _loss_without(rows, state, a, row, room.levels[0])
        spare = state.size[a] > k and _fits_with(conditions, state, a, row, MINUS_ONE)
        saved = state.size[a] * state.loss[a] - (state.size[a] - 1) * lost
        c = wide(room.best[0])
        if spare and c >= 0 and saved - room.adds[0] > LEAST:
            _leave(conditions, state, row)
            _relevel(rows, state, a, room.levels[0])
            _enter(rows, conditions, state, c, row)
            room.touched[a] = room.touched[c] = True
            moves += 1
            continue
        other = MINUS_ONE
        if state.size[a] <= room.picked.size * 2 + 8:
            other = _exchange(rows, conditions, state, row, lost, room)
        if other >= 0:
            c = wide(state.label[other])
            _leave(conditions, state, row)
            _leave(conditions, state, other)
            _relevel(rows, state, a, room.levels[0])
            _relevel(rows, state, c, room.levels[0])
            _enter(rows, conditions, state, a, other)
            _enter(rows, conditions, state, c, row)
            room.touched[a] = room.touched[c] = True
            moves += 1
        elif spare and _open(rows, conditions, state, row, k, reach, room):
            moves += 1
    return moves


@leaf
def dissolve(
    rows: Rows, conditions: Conditions, state: Clusters, order: Ints, reach: int, room: Room
) -> int:
    """Spread the rows of whole clusters over others, where that loses less; return how many.

    Parameters
    ----------
    rows, conditions, state, reach, room
        As in `improve`.
    order
        The clusters, in the order in which they are tried, each of fewer than 2k rows.
    """
    dissolved = ZERO
    for c in order:
        before = state.size[c] * state.loss[c]
        if state.size[c] == 0 or state.size[c] > room.picked.size or before <= LEAST:
            continue
        n = ZERO
        at = wide(state.head[c])
        while at >= 0:
            room.picked[n] = at
            n += 1
            at = wide(state.after[at])
        spent, moved = 0.0, ZERO
        while moved < n:
            row = wide(room.picked[moved])
            found = _look_around(rows, state, row, reach, room)
            _three_best(rows, conditions, state, row, found, room)
            to = wide(room.best[0])
            if to < 0 or spent + room.adds[0] >= before - LEAST:
                break
            spent += room.adds[0]
            _leave(conditions, state, row)
            _enter(rows, conditions, state, to, row)
            moved += 1
        if moved == n:
            dissolved += 1
            for i in range(n):
                room.touched[state.label[room.picked[i]]] = True
            state.loss[c] = 0.0
            state.free[state.used[0]] = c
            state.used[0] += 1
            continue
        for i in range(moved - 1, -1, -1):
            row = wide(room.picked[i])
            to = wide(state.label[row])
            _leave(conditions, state, row)
            _relevel(rows, state, to, room.levels[0])
            _enter(rows, conditions, state, c, row)
        _relevel(rows, state, c, room.levels[0])
    return dissolved


@leaf
def join(rows: Rows, conditions: Conditions, state: Clusters, left: Ints, n_clusters: int) -> int:
    """Put each row of no cluster into the one where least is lost; return how many are left.

    Parameters
    ----------
    rows, conditions, state
        As in `improve`.
    left
        The rows; those that no cluster may take are put first.
    n_clusters
        The clusters tried, from 0.
    """
    kept = ZERO
    for i in range(left.size):
        row = wide(left[i])
        best, to = NO_LOSS, MINUS_ONE
        for c in range(n_clusters):
            size = state.size[c]
            if size == 0:
                continue
            add = (size + 1) * _loss_with(rows, state, c, row) - size * state.loss[c]
            if add < best and _fits_with(conditions, state, c, row, ONE):
                best, to = add, wide(c)
        if to >= 0:
            _enter(rows, conditions, state, to, row)
        else:
            left[kept] = row
            kept += 1
    return kept

"""The local search of local recoding: moves of rows between clusters that lower the total loss.

The moves are, in the order in which they are tried for a row:

1. relocate: the row joins another cluster, if its own keeps k rows;
2. exchange: it changes places with a row of one of the three best clusters;
3. open: it forms a new cluster with k - 1 near rows, each from a cluster that can spare it.

Between passes, small clusters are dissolved: all of their rows join other clusters. A move is made
only if it gains more than `LEAST`. The gain is exact, with |A| rows of loss C(A) in cluster A: to
move p from A to B gains |A| C(A) - (|A|-1) C(A-p) - (|B|+1) C(B+p) + |B| C(B). Only for opening it
is a lower bound. Every cluster has at least k rows and meets the conditions before and after each
move.

The search is our own, a local search on a clustering objective, and not from a paper. Cost per
pass: O(n R w d) for candidates, with R orders, w rows near in each, and d columns; O(k**2 d) per
row for exchanges.
"""

from __future__ import annotations

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.methods.generalize.kernels.clusters import (
    Clusters,
    Conditions,
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
"""A move gains more than this.

Gains are differences of sums of losses of 0 to 1 per row: less may be rounding, and a row could
move to and fro for ever.
"""

NO_LOSS = 1e300
"""Above every loss: what the best candidate costs while there is none."""


@leaf
def _look_around(rows: Rows, state: Clusters, row: int, reach: int, room: Room) -> int:
    """List the clusters of the rows near a row, without its own; return how many there are.

    Near are the rows at most `reach` away from it in any of the orders.
    """
    # A new stamp marks the clusters met in this search, so that no array needs to be cleared.
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
    """Write the three listed clusters that a row joins at the least loss, and that loss.

    ``room.best`` are the clusters, -1 for none; ``room.adds`` by how much the loss of each rises.
    The first is for a relocation. All three are for exchanges, which visit every row of each: more
    would take more time.
    """
    best, adds = room.best, room.adds
    for i in range(3):
        best[i], adds[i] = -1, NO_LOSS
    for z in range(found):
        c = room.clusters[z]
        add = (state.size[c] + 1) * _loss_with(rows, state, c, row) - state.size[c] * state.loss[c]
        if add >= adds[2] or not _fits_with(conditions, state, c, row, ONE):
            continue
        # Insert it among the three, which are in the order of their losses.
        i = wide(2)
        while i > 0 and add < adds[i - 1]:
            best[i], adds[i] = best[i - 1], adds[i - 1]
            i -= 1
        best[i], adds[i] = c, add


@leaf
def _levels_in(rows: Rows, state: Clusters, c: int, row: int, room: Room) -> None:
    """Write for every column the two highest levels at which a row meets rows of a cluster.

    ``levels[1]`` is the highest, ``levels[2]`` the row of the cluster that needs it, ``levels[3]``
    the second highest. If that row leaves, the level falls to the second; otherwise it stays. So
    the loss of an exchange with any row of the cluster takes O(d) (`_loss_in_place_of`).
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
    """Return the loss of each row in the cluster of `_levels_in` if ``row`` replaces ``other``."""
    lost = 0.0
    for j in range(rows.cells.shape[1]):
        level = room.levels[3, j] if room.levels[2, j] == other else room.levels[1, j]
        lost += rows.losses[rows.cells[row, j] + level]
    return lost


@leaf
def _loss_joined(rows: Rows, member: int, level: Ints, row: int) -> float:
    """Return the loss of each row if one joins rows that agree with a member at these levels."""
    lost = 0.0
    for j in range(level.size):
        a, b, at = rows.cells[member, j], rows.cells[row, j], level[j]
        while rows.nodes[a + at] != rows.nodes[b + at]:
            at += 1
        lost += rows.losses[b + at]
    return lost


@leaf
def _exchange_fits(conditions: Conditions, state: Clusters, row: int, other: int) -> bool:
    """Return whether both clusters meet the conditions once two rows changed places."""
    a, b = state.label[row], state.label[other]
    width = conditions.values.shape[1]
    # Rows with equal attached values change no counts.
    differ = False
    for x in range(width):
        differ |= conditions.values[row, x] != conditions.values[other, x]
    if not differ:
        return True
    # Exchange their values in the counts, test both clusters, and change the counts back.
    for x in range(width):
        v, w = conditions.values[row, x], conditions.values[other, x]
        state.counts[a, v] -= 1
        state.counts[a, w] += 1
        state.counts[b, w] -= 1
        state.counts[b, v] += 1
    fits = _fits(conditions, state, a) and _fits(conditions, state, b)
    for x in range(width):
        v, w = conditions.values[row, x], conditions.values[other, x]
        state.counts[a, v] += 1
        state.counts[a, w] -= 1
        state.counts[b, w] += 1
        state.counts[b, v] -= 1
    return fits


@leaf
def _exchange(
    rows: Rows, conditions: Conditions, state: Clusters, row: int, lost: float, room: Room
) -> int:
    """Return the row of the three best clusters to change places with; -1 for none.

    ``room.levels[0]`` are the levels of the row's cluster without it, ``lost`` what each row of it
    loses then. The first of the three clusters with an exchange that gains is taken.
    """
    # Any other row of the own cluster stands for the rows that stay.
    a = state.label[row]
    member = state.head[a]
    if member == row:
        member = state.after[member]
    for i in range(3):
        c = room.best[i]
        # An exchange visits every row of the cluster: large ones (over 4k + 8 rows) are passed by.
        if c < 0 or state.size[c] > room.picked.size * 2 + 8:
            continue
        _levels_in(rows, state, c, row, room)
        best, found = LEAST, MINUS_ONE
        other = wide(state.head[c])
        while other >= 0:
            there = _loss_in_place_of(rows, row, other, room)
            gain = state.size[c] * (state.loss[c] - there) + state.size[a] * state.loss[a]
            # The own cluster loses at least ``lost`` per row with any row in addition: a bound
            # that spares most of the exact computations below.
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
    """Return how many of the first `chosen` picked rows are from cluster c."""
    taken = ZERO
    for i in range(chosen):
        if state.label[room.picked[i]] == c:
            taken += 1
    return taken


@leaf
def _pick(rows: Rows, state: Clusters, row: int, k: int, reach: int, room: Room) -> bool:
    """Pick k - 1 rows near a row for a new cluster, each from a cluster that can spare it.

    Return whether there are k - 1, and the new cluster may still lose less than they do now. The
    rows are ``room.picked[:k]``, the levels of the new cluster ``room.levels[4]``.
    """
    # List the near rows of clusters with more than k rows, and the largest loss of one of them.
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
    # Greedily add the row that raises the loss of the new cluster least, less its present loss.
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
        # A row can be near in several orders: cross out all of its entries.
        for z in range(near):
            if room.rows[z] == other:
                room.rows[z] = -1
        _meet(rows, row, other, level)
        saved += state.loss[state.label[other]]
        # Stop if even the largest losses of the rows to come cannot pay for the new cluster.
        if saved + (k - 1 - chosen) * largest - k * _loss(rows, row, level) <= LEAST:
            return False
    return True


@leaf
def _picked_fit(conditions: Conditions, state: Clusters, k: int, new: int, room: Room) -> bool:
    """Return whether the new cluster and those that it takes rows from meet the conditions."""
    width = conditions.values.shape[1]
    if width == 0:
        return True
    # Move their values in the counts, test all clusters concerned, and move the values back.
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
    # A lower bound of the gain: the clusters that give rows may fall to lower levels as well.
    gain = -k * _loss(rows, row, room.levels[4])
    for i in range(k):
        gain += state.loss[state.label[room.picked[i]]]
    new = wide(state.free[state.used[0] - 1])
    if gain <= LEAST or not _picked_fit(conditions, state, k, new, room):
        return False
    # Move the rows, and lower the levels of the clusters that gave them.
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
    """Try to move each row once where that loses less; return how many moves were made.

    Parameters
    ----------
    rows, conditions
        The table, and what its clusters must hold.
    state
        The clusters, each of at least k rows that meet the conditions, before and after. Written.
    order
        int64, shape (n,): the rows, in the order in which they are tried.
    k
        The fewest rows of a cluster.
    reach
        How far away in an order a row is still near.
    room
        Only rows with ``active`` are tried; clusters that change become ``touched``. Written.
    """
    moves = ZERO
    for row in order:
        # A cluster without loss cannot gain.
        a = wide(state.label[row])
        if state.loss[a] == 0.0 or not room.active[row]:
            continue
        # Find the three clusters near the row that it joins at the least loss, and what its own
        # cluster saves without it.
        found = _look_around(rows, state, row, reach, room)
        _three_best(rows, conditions, state, row, found, room)
        lost = _loss_without(rows, state, a, row, room.levels[0])
        spare = state.size[a] > k and _fits_with(conditions, state, a, row, MINUS_ONE)
        saved = state.size[a] * state.loss[a] - (state.size[a] - 1) * lost
        c = wide(room.best[0])
        # Move 1: relocate the row to the best cluster.
        if spare and c >= 0 and saved - room.adds[0] > LEAST:
            _leave(conditions, state, row)
            _relevel(rows, state, a, room.levels[0])
            _enter(rows, conditions, state, c, row)
            room.touched[a] = room.touched[c] = True
            moves += 1
            continue
        # Move 2: exchange it with a row of one of the three; the sizes of clusters do not change.
        # A row of a cluster of more than 4k + 8 rows is not exchanged, to bound the time.
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
        # Move 3: open a new cluster.
        elif spare and _open(rows, conditions, state, row, k, reach, room):
            moves += 1
    return moves


@leaf
def dissolve(
    rows: Rows, conditions: Conditions, state: Clusters, order: Ints, reach: int, room: Room
) -> int:
    """Dissolve clusters whose rows lose less in other clusters; return how many were dissolved.

    Parameters
    ----------
    rows, conditions, state, reach, room
        As in `improve`.
    order
        int64: the clusters, in the order in which they are tried, each of fewer than 2k rows.
    """
    dissolved = ZERO
    for c in order:
        # An earlier one may have filled this cluster beyond the rows that can be remembered.
        before = state.size[c] * state.loss[c]
        if state.size[c] == 0 or state.size[c] > room.picked.size or before <= LEAST:
            continue
        # Remember its rows, since their list changes as they leave.
        n = ZERO
        at = wide(state.head[c])
        while at >= 0:
            room.picked[n] = at
            n += 1
            at = wide(state.after[at])
        # Move one row after another to its best cluster, as long as the loss added there stays
        # below the loss of the cluster.
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
        # All rows found a place: the cluster is free.
        if moved == n:
            dissolved += 1
            for i in range(n):
                room.touched[state.label[room.picked[i]]] = True
            state.loss[c] = 0.0
            state.free[state.used[0]] = c
            state.used[0] += 1
            continue
        # Otherwise roll back: the rows return, and the levels of all clusters fall again.
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
    """Put each row without a cluster into the one where least is lost; return how many are left.

    Parameters
    ----------
    rows, conditions, state
        As in `improve`.
    left
        int64: the rows without a cluster. Written: those that no cluster can take without missing
        a condition come first.
    n_clusters
        The clusters 0 to ``n_clusters`` - 1 are tried, all for each row: O(n_clusters x d).
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

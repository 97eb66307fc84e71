"""Loops over masks: rows of a table into classes that publish the same columns.

A mask is a set of columns, bit j for column j. Rows agree under a mask if they have the same values
in its columns, which a hash of 64 bits stands for: rows that it should merge by accident are put
into one class, and the code that publishes the class computes again what its rows have in common. A
class is a mask and the values of its rows there; class 0 publishes nothing and may be of any size.

`masks.py` of the folder above calls them: `coverage` counts how many rows a mask suits, `publish`
makes its classes, and `move_rows` improves the result. The work on one mask is one pass over the
distinct rows: O(rows * columns).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints, Words
from graphveil.core.kernels.arrays import FREE, count_bits, find, new_table
from graphveil.core.kernels.leaf import ONE, ZERO, leaf, wide
from graphveil.core.kernels.tiers import tiered

MASK, SIZE, COLUMNS = range(3)
"""The columns of `Classes.classes`: a class's mask, number of rows and number of columns."""
LOW = np.uint64(0x7FFFFFFFFFFFFFFF)
"""All bits but that of the sign: keys of the hash table are 0 or more."""
MIXER = np.uint64(0xBF58476D1CE4E5B9)
"""An odd multiplier that spreads bits, one of the generator splitmix64."""


class MaskedRows(NamedTuple):
    """The distinct rows: a hash of every cell, the columns that a row has, and its copies.

    ``hashes`` is uint64, shape (rows, columns); ``present`` (int64) is the mask of the columns that
    a row has a value in. Copies of distinct row u are the rows from ``starts[u]`` to ``starts[u +
    1]``. No kernel writes them.
    """

    hashes: Words
    present: Ints
    starts: Ints


class Classes(NamedTuple):
    """Which class every row is in, and the mask, rows and columns of each class.

    ``labels`` (int64) is the class of every row, copies counted each; ``classes`` (int64, shape
    (room, 3)) the mask, the rows and the columns of each class. ``table`` gives the class of a mask
    and values; ``used[0]`` is the number of classes. `publish` and `move_rows` write them.
    """

    labels: Ints
    classes: Ints
    table: Ints
    shift: int
    used: Ints


class Groups(NamedTuple):
    """Room: distinct rows that agree under a mask, as lists, and rows that might join a class.

    Group g has ``sizes[g]`` rows; its distinct rows are ``heads[g]`` and what ``links`` leads to.
    ``rows`` might join and gain ``gains``; those ``picked`` do. ``moved[c]`` is how many rows a
    class would lose, 0 between visits.
    """

    table: Ints
    shift: int
    slots: Ints
    keys: Ints
    heads: Ints
    links: Ints
    sizes: Ints
    rows: Ints
    gains: Ints
    picked: Ints
    moved: Ints


def classes_of(n_rows: int, k: int) -> Classes:
    """Return all rows in class 0, with room for as many classes of k rows as there can be."""
    room = n_rows // k + 2
    table, shift = new_table(room)
    classes = np.zeros((room, 3), dtype=np.int64)
    classes[0, SIZE] = n_rows
    labels = np.zeros(n_rows, dtype=np.int64)
    return Classes(labels, classes, table, shift, np.ones(1, dtype=np.int64))


def groups_of(n_distinct: int, n_rows: int, k: int) -> Groups:
    """Return room for the groups of any mask."""
    table, shift = new_table(n_distinct)
    slots, keys, heads, links, sizes = np.zeros((5, n_distinct), dtype=np.int64)
    rows, gains, picked = np.zeros((3, n_rows), dtype=np.int64)
    moved = np.zeros(n_rows // k + 2, dtype=np.int64)
    return Groups(table, shift, slots, keys, heads, links, sizes, rows, gains, picked, moved)


@leaf
def _key_of(hashes: Words, u: int, mask: int) -> int:
    """Return the hash of a mask and a row's values in it, 0 or more."""
    key = np.uint64(mask) * MIXER
    rest, j = mask, ZERO
    while rest:
        if rest & 1:
            key += hashes[u, j]
        rest >>= 1
        j += 1
    key ^= key >> np.uint64(29)
    key *= MIXER
    key ^= key >> np.uint64(32)
    return int(np.int64(key & LOW))


@leaf
def _group(data: MaskedRows, weights: Ints, mask: int, groups: Groups) -> int:
    """Write the groups of the rows of some weight under a mask; return how many there are."""
    # Rows that lack a value in a column of the mask are in no group.
    table, n_groups = groups.table, ZERO
    for u in range(len(data.present)):
        if weights[u] == 0 or data.present[u] & mask != mask:
            continue
        key = _key_of(data.hashes, u, mask)
        slot = find(table, groups.shift, key)
        if table[slot, 0] == FREE:
            table[slot, 0], table[slot, 1] = key, n_groups
            groups.slots[n_groups], groups.keys[n_groups] = slot, key
            groups.heads[n_groups], groups.sizes[n_groups] = -1, 0
            n_groups += 1
        # Put the row at the head of its group's list.
        g = table[slot, 1]
        groups.links[u] = groups.heads[g]
        groups.heads[g] = u
        groups.sizes[g] += weights[u]
    # Leave the table empty for the next mask.
    for g in range(n_groups):
        table[groups.slots[g], 0] = FREE
        table[groups.slots[g], 1] = 0
    return n_groups


def _steps(data: MaskedRows, weights: Ints, masks: Ints | int, *others: object) -> int:
    """Return about how many steps it takes to look at all rows under these masks."""
    del others
    return int(np.size(masks) * weights.size * data.hashes.shape[1])


@tiered(_steps)
@leaf
def coverage(
    data: MaskedRows, weights: Ints, masks: Ints, k: int, groups: Groups, out: Ints
) -> None:
    """Write for every mask how many rows are in groups of at least k, and how near to k groups are.

    Parameters
    ----------
    data, weights
        The distinct rows, and how many copies of each count.
    masks
        The masks.
    k
        The smallest class.
    groups
        Room, overwritten.
    out
        Shape (masks, 2): the rows in groups of at least k, and the sum over all rows of the other
        rows of their group, k - 1 at most.
    """
    for i in range(masks.size):
        covered, close = ZERO, ZERO
        # Groups of k suit the mask; smaller ones count by how near they are.
        for g in range(_group(data, weights, masks[i], groups)):
            size = groups.sizes[g]
            if size >= k:
                covered += size
            close += size * min(size - 1, k - 1)
        out[i, 0], out[i, 1] = covered, close


@leaf
def _open(state: Classes, mask: int, key: int) -> int:
    """Return a new class without rows."""
    c = wide(state.used[0])
    state.used[0] += 1
    slot = find(state.table, state.shift, key)
    state.table[slot, 0], state.table[slot, 1] = key, c
    state.classes[c, MASK], state.classes[c, SIZE] = mask, 0
    state.classes[c, COLUMNS] = count_bits(np.uint64(mask))
    return c


@tiered(_steps)
@leaf
def publish(
    data: MaskedRows, weights: Ints, mask: int, k: int, groups: Groups, state: Classes
) -> None:
    """Make a class of every group of at least k rows under a mask; their weights become 0.

    Rows of some weight are all in class 0.
    """
    for g in range(_group(data, weights, mask, groups)):
        if groups.sizes[g] < k:
            continue
        c = _open(state, mask, wide(groups.keys[g]))
        u = wide(groups.heads[g])
        while u >= 0:
            for row in range(data.starts[u], data.starts[u + 1]):
                state.labels[row] = c
            weights[u] = 0
            u = wide(groups.links[u])
        state.classes[c, SIZE] = groups.sizes[g]
        state.classes[0, SIZE] -= groups.sizes[g]


@leaf
def _free(state: Classes, k: int, c: int, lost: int) -> bool:
    """Return whether class c may lose one row more than the `lost` ones, so that k stay."""
    return bool(c == 0 or state.classes[c, SIZE] - lost > k)


@leaf
def _candidates(
    data: MaskedRows, state: Classes, k: int, groups: Groups, g: int, columns: int, own: int
) -> int:
    """List the rows of a group that may leave their class, and what each gains; return how many.

    A row gains the columns that the new class publishes more than its own; `own` is the class of
    the group itself, -1 if there is none yet. Writes ``groups.rows`` and ``groups.gains``.
    """
    n = ZERO
    u = wide(groups.heads[g])
    while u >= 0:
        for row in range(data.starts[u], data.starts[u + 1]):
            c = wide(state.labels[row])
            if c != own and _free(state, k, c, 0):
                groups.rows[n] = row
                groups.gains[n] = columns - state.classes[c, COLUMNS]
                n += 1
        u = wide(groups.links[u])
    return n


@leaf
def _choose(state: Classes, k: int, groups: Groups, n: int, width: int, least: int) -> int:
    """Pick the rows that are to move, by gain; return how many, 0 if that does not pay.

    `least` is the smallest gain of a row that may move. Into a class that exists it is 1: all that
    gain move. It is negative if the class is yet to be opened: all that gain move, and then those
    that lose least, up to k rows. `n` candidates are in ``groups.rows``; no gain exceeds `width`,
    the number of columns. Writes ``groups.picked``.
    """
    rows, gains, moved = groups.rows, groups.gains, groups.moved
    chosen, total, gain = ZERO, ZERO, wide(width)
    while gain >= least and (gain > 0 or chosen < k):
        # Filling up at this loss would cost all that was gained.
        if gain <= 0 and total + gain * (k - chosen) <= 0:
            break
        for i in range(n):
            if gains[i] != gain or (gain <= 0 and chosen == k):
                continue
            # The class that it leaves keeps k rows, the other picked ones considered.
            c = state.labels[rows[i]]
            if _free(state, k, c, moved[c]):
                moved[c] += 1
                groups.picked[chosen] = rows[i]
                total += gain
                chosen += 1
        gain -= 1
    # Clear the counts for the next group.
    for i in range(chosen):
        moved[state.labels[groups.picked[i]]] = 0
    return chosen if total > 0 and (least > 0 or chosen >= k) else ZERO


@tiered(_steps)
@leaf
def move_rows(
    data: MaskedRows, weights: Ints, masks: Ints, k: int, groups: Groups, state: Classes
) -> int:
    """Move rows into classes that publish more, opened where that pays; return the cells gained.

    Parameters
    ----------
    data, weights
        The distinct rows and all their copies.
    masks
        The masks in the order in which they are tried.
    k
        The rows that a class keeps at least, class 0 excepted.
    groups
        Room, overwritten.
    state
        The classes, changed.
    """
    gained = ZERO
    width = data.hashes.shape[1]
    for i in range(masks.size):
        mask = wide(masks[i])
        columns = count_bits(np.uint64(mask))
        for g in range(_group(data, weights, mask, groups)):
            if groups.sizes[g] < k:
                continue
            # The class of this mask and these values, if there is one. Otherwise one may open.
            key = wide(groups.keys[g])
            slot = find(state.table, state.shift, key)
            opens = state.table[slot, 0] == FREE
            own = -ONE if opens else wide(state.table[slot, 1])
            n = _candidates(data, state, k, groups, g, columns, own)
            n = _choose(state, k, groups, n, width, -width if opens else ONE)
            if n == 0:
                continue
            # Move the picked rows.
            if opens:
                own = _open(state, mask, key)
            for j in range(n):
                row = groups.picked[j]
                before = state.labels[row]
                state.classes[before, SIZE] -= 1
                state.classes[own, SIZE] += 1
                state.labels[row] = own
                gained += columns - state.classes[before, COLUMNS]
    return gained

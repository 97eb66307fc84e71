"""One hash table for all kernels: open addressing over whole numbers, with one value a key.

A row of a table holds a key, 0 or more, and its value; an empty row holds FREE and 0. A table has
2**b rows, at least one of them empty; ``shift`` is 64 - b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf

Ints = NDArray[np.int64]

FREE = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def new_table(keys: int) -> tuple[Ints, int]:
    """Return an empty table with room for so many keys, at most three quarters full; its shift.

    Examples
    --------
    >>> table, shift = new_table(5)
    >>> table.shape, shift
    ((8, 2), 61)
    """
    bits = max((keys + keys // 3).bit_length(), 1)
    table = np.zeros((1 << bits, 2), dtype=np.int64)
    table[:, 0] = FREE
    return table, 64 - bits


@leaf
def _home(key: int, shift: int) -> int:
    """Return the row where the key stands if no other is in its way."""
    return int(np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(shift)))


@leaf
def find(table: Ints, shift: int, key: int) -> int:
    """Return the row that holds the key, or the empty row where it belongs; write nothing."""
    mask = len(table) - 1
    row = _home(key, shift)
    while table[row, 0] != FREE and table[row, 0] != key:
        row = (row + 1) & mask
    return int(row)


@leaf
def insert(table: Ints, shift: int, key: int, value: int) -> int:
    """Write the key and its value, or the value of a key that is there; return the row."""
    row = find(table, shift, key)
    table[row, 0], table[row, 1] = key, value
    return row


@leaf
def delete(table: Ints, shift: int, key: int) -> None:
    """Empty the row of a key that is there, and close the gap behind it; rows may move."""
    mask = len(table) - 1
    hole = find(table, shift, key)
    at = (hole + 1) & mask
    while table[at, 0] != FREE:
        home = _home(table[at, 0], shift)
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole, 0], table[hole, 1] = table[at, 0], table[at, 1]
            hole = at
        at = (at + 1) & mask
    table[hole, 0], table[hole, 1] = FREE, 0

"""Random numbers inside kernels.

Bits of a word: how many are set, and which is the first; for kernels one instruction each.

Sorting inside kernels: Numba's own takes ten times as long to compile.

One hash table for all kernels: open addressing over whole numbers, with one value a key.

A row of a table holds a key, 0 or more, and its value; an empty row holds FREE and 0. A table has
2**b rows, at least one of them empty; ``shift`` is 64 - b.
"""

from __future__ import annotations

from typing import Any

import numba.extending
import numpy as np
from numba import types
from numba.extending import register_jitable
from numpy.typing import NDArray

from graphveil.core.kernels import seams
from graphveil.core.kernels.leaf import leaf


def count_bits(word: np.uint64) -> int:
    """Return how many bits of a uint64 are set."""
    return int(word).bit_count()


def first_bit(word: np.uint64) -> int:
    """Return the number of the lowest bit that is set in a uint64 which is not 0."""
    return (int(word) & -int(word)).bit_length() - 1


def _of_a_word(_context: Any) -> Any:
    return lambda word: types.int64 if word == types.uint64 else None


def _generate_count(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return builder.ctpop(arguments[0])


def _generate_first(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))


def _teach(function: Any, generate: Any) -> None:
    """Let Numba make instructions of the processor of a function of one word."""
    extending: Any = numba.extending
    extending.type_callable(function)(_of_a_word)
    extending.lower_builtin(function, types.uint64)(generate)


_teach(count_bits, _generate_count)
_teach(first_bit, _generate_first)


@leaf
def sort(values: NDArray[np.integer]) -> None:
    """Put the values into ascending order, in place, by a heap of those not yet in order."""
    end = values.size
    root = end // 2
    while end > 1:
        if root > 0:
            root -= 1
        else:
            end -= 1
            values[0], values[end] = values[end], values[0]
        value, at, child = values[root], root, 2 * root + 1
        while child < end:
            if child + 1 < end and values[child] < values[child + 1]:
                child += 1
            if values[child] <= value:
                break
            values[at] = values[child]
            at, child = child, 2 * child + 1
        values[at] = value


def _drawn_by_numpy(rng: np.random.Generator, bound: int) -> Any:
    return rng.integers(0, bound)


_drawn: Any = register_jitable(seams.drawn_below if seams is not None else _drawn_by_numpy)


@leaf
def below(rng: np.random.Generator, bound: int) -> int:
    """Return a random number from 0 to bound - 1: the one that ``rng.integers(bound)`` gives.

    The bound is from 1 to 2**32 - 1; below 1 nothing is drawn, and 0 returned. The generator's own
    method takes eight times as long to compile.
    """
    return np.int64(_drawn(rng, bound)) if bound > 1 else 0  # type: ignore[return-value]


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

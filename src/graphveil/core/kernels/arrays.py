"""Building blocks for use inside kernels: bits, sorting, bounded random numbers, one hash table.

Each replaces something of Numba or NumPy that is slow to compile: kernels are compiled on the
machine of the user, who waits for the first run.

- `count_bits`, `first_bit`: one instruction of the processor each.
- `first_not_below`: bisection in sorted integers.
- `sort`: heapsort; Numba's own sort takes ten times as long to compile.
- `below`: the same numbers as ``rng.integers``, which takes eight times as long to compile.
- `new_table`, `find`, `insert`, `delete`: one hash table for all kernels, from integer keys to an
  integer value, with open addressing and linear probing.

A row of a table holds a key, 0 or more, and its value; an empty row holds `FREE` and 0. A table has
2**b rows, at least one of them empty; ``shift`` is 64 - b. The table is int64, shape (2**b, 2).
"""

from __future__ import annotations

from typing import Any

import numba.extending
import numpy as np
from numba import types
from numba.extending import register_jitable
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels import seams
from graphveil.core.kernels.leaf import leaf


def count_bits(word: np.uint64) -> int:
    """Return how many bits of a uint64 are set; in kernels one instruction."""
    return int(word).bit_count()


def first_bit(word: np.uint64) -> int:
    """Return the number of the lowest bit that is set in a uint64 other than 0."""
    return (int(word) & -int(word)).bit_length() - 1


def _of_a_word(_context: Any) -> Any:
    """Return the rule of types: a uint64 gives an int64."""
    return lambda word: types.int64 if word == types.uint64 else None


def _generate_count(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return builder.ctpop(arguments[0])


def _generate_first(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))


def _teach(function: Any, generate: Any) -> None:
    """Make Numba compile a function of one word to the instruction that `generate` emits."""
    extending: Any = numba.extending
    extending.type_callable(function)(_of_a_word)
    extending.lower_builtin(function, types.uint64)(generate)


_teach(count_bits, _generate_count)
_teach(first_bit, _generate_first)


@leaf
def first_not_below(values: NDArray[np.integer], low: int, high: int, value: int) -> int:
    """Return the first position in low..high - 1 whose entry is not below the value, or high."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@leaf
def sort(values: NDArray[np.integer]) -> None:
    """Sort the values in ascending order, in place: heapsort, O(n log n), no memory.

    The result does not depend on the order of equal integers.
    """
    end = values.size
    root = end // 2
    while end > 1:
        # First half: build a heap, from the last inner node to the root. Second half: exchange the
        # largest value with the last one of the heap, which shrinks.
        if root > 0:
            root -= 1
        else:
            end -= 1
            values[0], values[end] = values[end], values[0]
        # Let the value at `root` sink to its place.
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
    """Return a number below the bound by the generator's own method."""
    return rng.integers(0, bound)


_drawn: Any = register_jitable(seams.drawn_below if seams is not None else _drawn_by_numpy)


@leaf
def below(rng: np.random.Generator, bound: int) -> int:
    """Return a random number from 0 to bound - 1: the one that ``rng.integers(bound)`` gives.

    The bound is at most 2**32 - 1. If it is 1 or less, nothing is drawn, and 0 is returned.
    """
    return np.int64(_drawn(rng, bound)) if bound > 1 else 0  # type: ignore[return-value]


FREE = -1
"""The key of an empty row; keys are 0 or more."""
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio, made odd (Knuth's multiplicative hashing): consecutive keys
are spread over the table.
"""


def new_table(keys: int) -> tuple[Ints, int]:
    """Return an empty table with room for this many keys, and its shift.

    It is at most three quarters full with them.

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
    """Return the row of a key with no other in its way: the upper bits of its hash."""
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
    """Write the key and its value, or a new value if the key is in the table; return the row."""
    row = find(table, shift, key)
    table[row, 0], table[row, 1] = key, value
    return row


@leaf
def delete(table: Ints, shift: int, key: int) -> None:
    """Remove a key that is in the table, and close the gap.

    Rows of other keys may move: a row number that `find` returned before is no longer valid.
    """
    mask = len(table) - 1
    hole = find(table, shift, key)
    at = (hole + 1) & mask
    while table[at, 0] != FREE:
        # A later row of the run moves into the hole unless its home is behind the hole: then it
        # would not be found any more.
        home = _home(table[at, 0], shift)
        if ((at - home) & mask) >= ((at - hole) & mask):
            table[hole, 0], table[hole, 1] = table[at, 0], table[at, 1]
            hole = at
        at = (at + 1) & mask
    table[hole, 0], table[hole, 1] = FREE, 0

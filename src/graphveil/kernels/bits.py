"""Bits of a word: how many are set, and which is the first; for kernels one instruction each."""

from __future__ import annotations

from typing import Any

import numba.extending
import numpy as np
from numba import types


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

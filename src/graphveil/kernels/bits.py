"""Bits of a word: how many are set, and which is the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic


def _intrinsic(generator: Callable[..., Any]) -> Callable[[np.uint64], int]:
    """Make instructions of the processor callable from kernels."""
    return cast("Callable[[np.uint64], int]", intrinsic(generator))


@_intrinsic
def count_bits(typing: Any, word: Any) -> Any:
    """Return how many bits of a uint64 are set: one instruction."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del context, signature
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate if word == types.uint64 else None


@_intrinsic
def first_bit(typing: Any, word: Any) -> Any:
    """Return the number of the lowest bit that is set in a uint64 which is not 0."""
    del typing

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        del signature
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.int64(types.uint64), generate if word == types.uint64 else None

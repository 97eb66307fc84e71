"""Random numbers inside kernels."""

from __future__ import annotations

import numpy as np
from numba.np.random.random_methods import buffered_bounded_lemire_uint32

from graphveil.kernels.leaf import leaf


@leaf
def below(rng: np.random.Generator, bound: int) -> int:
    """Return a random number from 0 to bound - 1: the one that ``rng.integers(bound)`` gives.

    The bound is from 1 to 2**32 - 1; below 1 nothing is drawn, and 0 returned. The generator's own
    method takes eight times as long to compile.
    """
    if bound <= 1:
        return 0
    number = buffered_bounded_lemire_uint32(rng.bit_generator, np.uint32(bound - 1))  # type: ignore[no-untyped-call]
    return np.int64(number)  # type: ignore[return-value]

"""Random numbers inside kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from graphveil.kernels import seams
from graphveil.kernels.leaf import leaf


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

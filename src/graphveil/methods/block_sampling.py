"""Uniform distinct cells of many blocks at once, for graphs that are drawn from noisy counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def distinct_in(
    rng: np.random.Generator, sizes: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return uniform distinct cells of every block, as many as are asked for: block and cell.

    Where more than half of a block is asked for, what is not drawn is returned.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64DXSM(1))
    >>> [some.tolist() for some in distinct_in(rng, np.array([3, 2]), np.array([3, 0]))]
    [[0, 0, 0], [0, 1, 2]]
    """
    start = np.cumsum(sizes) - sizes
    most = 2 * counts > sizes
    wanted = np.where(most, sizes - counts, counts)
    chosen = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.any():
        block = np.repeat(np.arange(sizes.size), missing)
        chosen = np.union1d(chosen, start[block] + rng.integers(0, sizes[block]))
        missing = wanted - np.bincount(_block(start, chosen), minlength=sizes.size)
    block = _block(start, chosen)
    whole = np.repeat(start[most], sizes[most])
    before = np.repeat(np.cumsum(sizes[most]) - sizes[most], sizes[most])
    every = whole + np.arange(whole.size) - before
    kept = np.concatenate([chosen[~most[block]], np.setdiff1d(every, chosen[most[block]])])
    block = _block(start, kept)
    return block, kept - start[block]


def _block(start: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(start, cells, side="right") - 1

"""Uniform sets of distinct cells in many blocks at once, with the generator of a run.

For post-processing alone: the noise of a method comes from `graphveil.methods.noise`.
"""

from __future__ import annotations

import numpy as np

from graphveil.core.array_types import Ints


def distinct_in(rng: np.random.Generator, sizes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return uniform distinct cells of every block, as many as are asked for.

    Parameters
    ----------
    rng
        The generator.
    sizes, counts
        int64, shape (blocks,): the cells of every block, and how many are wanted.

    Returns
    -------
    tuple of int64 arrays
        The block of every sampled cell, and its number inside the block.
    """
    # In a dense block, of which more than half is wanted, sample the cells that are not.
    start = np.cumsum(sizes) - sizes
    dense = 2 * counts > sizes
    wanted = np.where(dense, sizes - counts, counts)
    # Sample as many as are missing, drop repetitions, and go on until every block has enough.
    chosen = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.any():
        block = np.repeat(np.arange(sizes.size), missing)
        chosen = np.union1d(chosen, start[block] + rng.integers(0, sizes[block]))
        missing = wanted - np.bincount(_block(start, chosen), minlength=sizes.size)
    block = _block(start, chosen)
    # List all cells of the dense blocks, and keep those that were not sampled.
    firsts = np.repeat(start[dense], sizes[dense])
    earlier = np.repeat(np.cumsum(sizes[dense]) - sizes[dense], sizes[dense])
    all_cells = firsts + np.arange(firsts.size) - earlier
    kept = np.concatenate([chosen[~dense[block]], np.setdiff1d(all_cells, chosen[dense[block]])])
    block = _block(start, kept)
    return block, kept - start[block]


def _block(start: Ints, cells: Ints) -> Ints:
    return np.searchsorted(start, cells, side="right") - 1

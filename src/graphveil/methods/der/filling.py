"""Regions filled again: as many cells as the noisy count says, some of them true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.block_sampling import distinct_in
from graphveil.methods.der.regions import Leaf

MOST_CELLS = 40_000
"""The largest region in which true cells are preferred."""


class Filling(NamedTuple):
    """What is published of regions.

    Parameters
    ----------
    sizes, ones
        int64, shape (regions,): cells, and true ones.
    placed, kept
        int64, shape (regions,): cells that are published, and true ones among them.
    cells
        int64, shape (ones of all,): the true cells, region by region and in order, numbered row by
        row over all regions.
    """

    sizes: NDArray[np.int64]
    ones: NDArray[np.int64]
    placed: NDArray[np.int64]
    kept: NDArray[np.int64]
    cells: NDArray[np.int64]


def filled(leaves: Sequence[Leaf], epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return edges, shape (edges, 2): a placed cell becomes one with chance 1/2.

    Parameters
    ----------
    leaves
        Regions that cover the matrix, at least one.
    epsilon
        What the choice of cells spends; an edge is two cells.
    rng
        For all choices.

    Examples
    --------
    >>> from graphveil.methods.der.regions import Region
    >>> whole = Region(0, 0, 3, 3, np.array([0, 1]), np.array([1, 0]))
    >>> rng = np.random.Generator(np.random.PCG64DXSM(1))
    >>> edges = filled([Leaf(whole, 9)], 1.0, rng)
    >>> bool((edges[:, 0] < edges[:, 1]).all())
    True
    """
    region, cell = placed_cells(_filling(leaves, epsilon / 2, rng), rng)
    corners = np.array([(leaf.region.row, leaf.region.column) for leaf in leaves], dtype=np.int64)
    width = np.array([leaf.region.width for leaf in leaves], dtype=np.int64)[region]
    ends = corners[region] + np.column_stack([cell // width, cell % width])
    ends = np.sort(ends[rng.random(len(ends)) < 0.5], axis=1)
    return np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)


def _filling(leaves: Sequence[Leaf], epsilon: float, rng: np.random.Generator) -> Filling:
    sizes = np.array([leaf.region.cells for leaf in leaves], dtype=np.int64)
    start = np.cumsum(sizes) - sizes
    ones, kept, cells = (np.zeros(sizes.size, dtype=np.int64) for _ in range(3))
    placed = np.clip([leaf.noisy_ones for leaf in leaves], 0, sizes)
    listed = [np.empty(0, dtype=np.int64)]
    for place, (region, _) in enumerate(leaves):
        if sizes[place] > MOST_CELLS:
            continue
        ones[place] = region.rows.size
        kept[place] = true_ones(
            int(sizes[place]), int(ones[place]), int(placed[place]), epsilon, rng
        )
        cells = (region.rows - region.row) * region.width + region.columns - region.column
        listed.append(start[place] + np.sort(cells))
    return Filling(sizes, ones, placed, kept, np.concatenate(listed))


def true_ones(cells: int, ones: int, placed: int, epsilon: float, rng: np.random.Generator) -> int:
    """Return how many placed cells are true: k with weight C(c, k) C(a-c, p-k) e^(epsilon k).

    Parameters
    ----------
    cells, ones, placed
        a cells, of which c are true, and p that are placed.
    epsilon
        The weight of a true cell.
    rng
        For the choice.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64DXSM(1))
    >>> true_ones(100, 10, 10, 40.0, rng), true_ones(10, 4, 10, 0.1, rng)
    (10, 4)
    """
    k = np.arange(max(0, placed - cells + ones), min(ones, placed) + 1)
    if k.size == 1:
        return int(k[0])
    others, missing = cells - ones, placed - k
    ways = _log_factorials(k, ones - k, missing, others - missing)
    return int(k[np.argmax(epsilon * k - ways + rng.gumbel(size=k.size))])


def _log_factorials(*numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    from scipy import special  # noqa: PLC0415  heavy: not for help

    total: NDArray[np.float64] = sum(special.gammaln(each + 1.0) for each in numbers)
    return total


def placed_cells(
    filling: Filling, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the region and the cell of everything that is placed, each set equally likely.

    Examples
    --------
    >>> three, ones = np.array([3]), np.array([1])
    >>> both = Filling(three, ones, np.array([2]), ones, np.array([1]))
    >>> _, cells = placed_cells(both, np.random.Generator(np.random.PCG64DXSM(1)))
    >>> sorted(cells.tolist()) in ([0, 1], [1, 2])
    True
    """
    start = np.cumsum(filling.sizes) - filling.sizes
    first = np.cumsum(filling.ones) - filling.ones
    region, rank = distinct_in(rng, filling.ones, filling.kept)
    true = filling.cells[first[region] + rank]
    other, rank = distinct_in(rng, filling.sizes - filling.ones, filling.placed - filling.kept)
    of_region = np.repeat(np.arange(filling.sizes.size), filling.ones)
    others_before = filling.cells - (np.arange(filling.cells.size) - first[of_region])
    passed = np.searchsorted(others_before, start[other] + rank, side="right") - first[other]
    return (
        np.concatenate([region, other]),
        np.concatenate([true - start[region], rank + passed]),
    )

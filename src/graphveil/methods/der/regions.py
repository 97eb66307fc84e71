"""Regions of the adjacency matrix, cut in four where their densities differ most, under noise.

A region holds the ones in it, never its cells: counts and densities come from the numbers of ones
in its rows and columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.noise import Words, discrete_laplace

DENSE = 0.8
"""A region with this share of ones is not cut, nor one with fewer ones than this part of the mean
number of cells of the deepest regions."""

MEAN_NOISE = 5.0
_ROOT = 2 ** (1 / 3)


class Region(NamedTuple):
    """A rectangle of the matrix with the ones in it.

    Parameters
    ----------
    row, column
        Where it begins.
    height, width
        Its rows and columns, at least one each.
    rows, columns
        int64, shape (ones,): where its ones are.
    """

    row: int
    column: int
    height: int
    width: int
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return self.height * self.width


class Leaf(NamedTuple):
    """A region that is not cut, and its noisy number of ones."""

    region: Region
    noisy_ones: int


class EpsilonParts(NamedTuple):
    """The parts of epsilon that exploring spends.

    Parameters
    ----------
    counts, cuts
        Of the numbers of ones, and of the choices where to cut.
    """

    counts: float
    cuts: float


def depth_of(n: int, counts: float) -> int:
    """Return the level at which regions are no more cut, for n nodes.

    Examples
    --------
    >>> depth_of(105, 2 / 3), depth_of(18771, 2 / 3)
    (4, 11)
    """
    most = (_ROOT - 1) * n * n * counts / (2 * math.sqrt(2) * MEAN_NOISE)
    depth = 0
    while _ROOT * 4**depth - 2 ** (5 * depth / 3) <= most:
        depth += 1
    return depth


def part_of_level(level: int, depth: int, counts: float) -> float:
    """Return the part of epsilon for the counts of a level: of all levels it is `counts`.

    Examples
    --------
    >>> round(sum(part_of_level(level, 3, 1.0) for level in range(4)), 12)
    1.0
    """
    return counts * 2 ** (level / 3) * (_ROOT - 1) / (2 ** ((depth + 1) / 3) - 1)


def explored(
    ends: NDArray[np.int64], n: int, budget: EpsilonParts, words: Words, rng: np.random.Generator
) -> Iterator[Leaf]:
    """Yield the regions that are not cut, level by level, with noisy numbers of their ones.

    Parameters
    ----------
    ends
        int64, shape (edges, 2): every edge once; it is two ones.
    n
        The nodes, at least two.
    budget
        What is spent.
    words, rng
        For the noise, and for the cuts.

    Examples
    --------
    >>> from graphveil.noise import words_from
    >>> from graphveil.randomness import Randomness
    >>> words, rng = words_from(Randomness(), "noise"), Randomness().stream("cuts")
    >>> leaves = list(explored(np.array([[0, 1]]), 2, EpsilonParts(30.0, 30.0), words, rng))
    >>> sum(leaf.region.cells for leaf in leaves), sum(leaf.region.rows.size for leaf in leaves)
    (4, 2)
    """
    depth = depth_of(n, budget.counts)
    few = DENSE * n * n / 4**depth
    both = np.concatenate([ends, ends[:, ::-1]])
    regions = [Region(0, 0, n, n, both[:, 0], both[:, 1])]
    for level in range(depth + 1):
        part = Fraction(part_of_level(level, depth, budget.counts)) / 2
        noise = discrete_laplace(words, part, len(regions)).tolist()
        following: list[Region] = []
        for region, shift in zip(regions, noise, strict=True):
            count = region.rows.size + shift
            parts: list[Region] = []
            if level < depth and few <= count < DENSE * region.cells:
                parts = cut(region, n * n / 4 ** (level + 2), budget.cuts / depth, rng)
            if parts:
                following.extend(parts)
            else:
                yield Leaf(region, count)
        regions = following


def cut(region: Region, smallest: float, epsilon: float, rng: np.random.Generator) -> list[Region]:
    """Return the four parts of a region; none where one would have fewer cells than `smallest`.

    The row is chosen first, by how far the densities above and below are apart, then the column, by
    how far the largest and the least of the four are: half of epsilon each.

    Examples
    --------
    >>> ones = np.arange(4)
    >>> whole = Region(0, 0, 8, 8, ones, ones)
    >>> parts = cut(whole, 4, 1000.0, np.random.Generator(np.random.PCG64DXSM(1)))
    >>> [(part.height, part.width, part.rows.size) for part in parts]
    [(4, 4, 4), (4, 4, 0), (4, 4, 0), (4, 4, 0)]
    """
    height, width = region.height, region.width
    above = np.arange(1, height)
    two = np.stack(_densities(region.rows - region.row, height, width))
    sizes = np.minimum(above, height - above)
    row = _chosen(two, sizes * width, sizes * (width // 2) >= smallest, epsilon / 2, rng)
    if row is None:
        return []
    is_above = region.rows - region.row < row
    columns, left = region.columns - region.column, np.arange(1, width)
    upper, lower = columns[is_above], columns[~is_above]
    four = np.stack(_densities(upper, width, row) + _densities(lower, width, height - row))
    cells = np.minimum(left, width - left) * min(row, height - row)
    column = _chosen(four, cells, cells >= smallest, epsilon / 2, rng)
    return [] if column is None else _four(region, row, column)


def _densities(
    places: NDArray[np.int64], length: int, across: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the densities before and after each of the positions 1..length-1."""
    before, ones = np.arange(1, length), _before(places, length)
    return ones / (before * across), (places.size - ones) / ((length - before) * across)


def _before(places: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    """Return how many ones stand before each of the positions 1..length-1."""
    counted: NDArray[np.int64] = np.cumsum(np.bincount(places, minlength=length))[:-1]
    return counted


def _chosen(
    densities: NDArray[np.float64],
    cells: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    epsilon: float,
    rng: np.random.Generator,
) -> int | None:
    """Return a cut from 1 on by the exponential mechanism; None where none is allowed.

    Parameters
    ----------
    densities
        Shape (parts, cuts).
    cells
        Of the smallest part of every cut: an edge changes a density by at most 2 over it.
    allowed
        Which cuts are candidates, whatever the ones are.
    epsilon
        What the choice spends.
    rng
        For the choice.
    """
    candidates = np.flatnonzero(allowed)
    if not candidates.size:
        return None
    apart = np.ptp(densities[:, candidates], axis=0)
    sensitivity = 2 / int(cells[candidates].min())
    scores = epsilon * apart / (2 * sensitivity) + rng.gumbel(size=candidates.size)
    return int(candidates[np.argmax(scores)]) + 1


def _four(region: Region, row: int, column: int) -> list[Region]:
    parts = []
    for top, height in ((0, row), (row, region.height - row)):
        for start, width in ((0, column), (column, region.width - column)):
            down, along = region.rows - region.row - top, region.columns - region.column - start
            inside = (down >= 0) & (down < height) & (along >= 0) & (along < width)
            parts.append(
                Region(
                    region.row + top,
                    region.column + start,
                    height,
                    width,
                    region.rows[inside],
                    region.columns[inside],
                )
            )
    return parts

"""The method `density-explore-reconstruct`: regions of even density, counted and filled again.

It is here for comparison, and carries no guarantee. A region holds the ones in it, never its cells:
counts and densities come from the numbers of ones in its rows and columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.claims.knowledge import Reason
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.noise import Words, discrete_laplace, words_from
from graphveil.methods.noisy_cells.noisy import Share, part_parameter
from graphveil.methods.random_graphs.baselines import BaselineMethod, Floats, Ints, distinct_in
from graphveil.release.draft import Draft

__all__ = ["DensityExploreReconstruct"]

DENSE = 0.8
"""A region with this share of ones is not cut, nor one with fewer ones than this part of the mean
number of cells of the deepest regions."""

MEAN_NOISE = 5.0
_ROOT = 2 ** (1 / 3)


class Region(NamedTuple):
    """A rectangle of the matrix: where it begins, its size, and where the ones in it are."""

    row: int
    column: int
    height: int
    width: int
    rows: Ints
    columns: Ints

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return self.height * self.width


class Leaf(NamedTuple):
    """A region that is not cut, and its noisy number of ones."""

    region: Region
    noisy_ones: int


class EpsilonParts(NamedTuple):
    """The parts of epsilon for the numbers of ones, and for the choices where to cut."""

    counts: float
    cuts: float


def depth_of(n: int, counts: float) -> int:
    """Return the level at which regions are no more cut, for n nodes."""
    most = (_ROOT - 1) * n * n * counts / (2 * math.sqrt(2) * MEAN_NOISE)
    depth = 0
    while _ROOT * 4**depth - 2 ** (5 * depth / 3) <= most:
        depth += 1
    return depth


def part_of_level(level: int, depth: int, counts: float) -> float:
    """Return the part of epsilon for the counts of a level: of all levels it is `counts`."""
    return counts * 2 ** (level / 3) * (_ROOT - 1) / (2 ** ((depth + 1) / 3) - 1)


def explored(
    ends: Ints, n: int, budget: EpsilonParts, words: Words, rng: Generator
) -> Iterator[Leaf]:
    """Yield the regions that are not cut, level by level, with noisy numbers of their ones."""
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


def cut(region: Region, smallest: float, epsilon: float, rng: Generator) -> list[Region]:
    """Return the four parts of a region; none where one would have fewer cells than `smallest`.

    The row is chosen first, by how far the densities above and below are apart, then the column, by
    how far the largest and the least of the four are: half of epsilon each.
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


def _densities(places: Ints, length: int, across: int) -> tuple[Floats, Floats]:
    """Return the densities before and after each of the positions 1..length-1."""
    before, ones = np.arange(1, length), np.cumsum(np.bincount(places, minlength=length))[:-1]
    return ones / (before * across), (places.size - ones) / ((length - before) * across)


def _chosen(
    densities: Floats, cells: Ints, allowed: NDArray[np.bool_], epsilon: float, rng: Generator
) -> int | None:
    """Return a cut from 1 on by the exponential mechanism; None where none is allowed.

    An edge changes a density by at most 2 over `cells`, those of the smallest part of every cut.
    Which cuts are `allowed` does not depend on the ones.
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
            ones = region.rows[inside], region.columns[inside]
            parts.append(Region(region.row + top, region.column + start, height, width, *ones))
    return parts


MOST_CELLS = 40_000
"""The largest region in which true cells are preferred."""


class Filling(NamedTuple):
    """What is published of regions: cells, ones, cells placed and kept; true cells in order."""

    sizes: Ints
    ones: Ints
    placed: Ints
    kept: Ints
    cells: Ints


def filled(leaves: Sequence[Leaf], epsilon: float, rng: Generator) -> Ints:
    """Return edges, shape (edges, 2): a placed cell becomes one with chance 1/2."""
    region, cell = placed_cells(_filling(leaves, epsilon / 2, rng), rng)
    corners = np.array([(leaf.region.row, leaf.region.column) for leaf in leaves], dtype=np.int64)
    width = np.array([leaf.region.width for leaf in leaves], dtype=np.int64)[region]
    ends = corners[region] + np.column_stack([cell // width, cell % width])
    ends = np.sort(ends[rng.random(len(ends)) < 0.5], axis=1)
    return np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)


def _filling(leaves: Sequence[Leaf], epsilon: float, rng: Generator) -> Filling:
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


def true_ones(cells: int, ones: int, placed: int, epsilon: float, rng: Generator) -> int:
    """Return how many placed cells are true: k with weight C(c, k) C(a-c, p-k) e^(epsilon k)."""
    k = np.arange(max(0, placed - cells + ones), min(ones, placed) + 1)
    if k.size == 1:
        return int(k[0])
    others, missing = cells - ones, placed - k
    from scipy.special import gammaln  # noqa: PLC0415  heavy: not for help

    ways = sum(gammaln(each + 1.0) for each in (k, ones - k, missing, others - missing))
    return int(k[np.argmax(epsilon * k - ways + rng.gumbel(size=k.size))])


def placed_cells(filling: Filling, rng: Generator) -> tuple[Ints, Ints]:
    """Return the region and the cell of everything that is placed, each set equally likely."""
    start = np.cumsum(filling.sizes) - filling.sizes
    first = np.cumsum(filling.ones) - filling.ones
    region, rank = distinct_in(rng, filling.ones, filling.kept)
    true = filling.cells[first[region] + rank]
    other, rank = distinct_in(rng, filling.sizes - filling.ones, filling.placed - filling.kept)
    of_region = np.repeat(np.arange(filling.sizes.size), filling.ones)
    others_before = filling.cells - (np.arange(filling.cells.size) - first[of_region])
    passed = np.searchsorted(others_before, start[other] + rank, side="right") - first[other]
    return (np.concatenate([region, other]), np.concatenate([true - start[region], rank + passed]))


_THIRD = Share(of_epsilon=Fraction(1, 3), most=Fraction(40, 3))


@dataclass(frozen=True, kw_only=True)
class DensityExploreReconstruct(BaselineMethod):
    """No guarantee: we know of no proof of a bound for this mechanism as run.

    The adjacency matrix is cut in four where the densities differ most, again and again, under
    noise. Each part is filled with as many cells as its noisy count says, true ones preferred. It
    is there to be compared with.

    Parameters
    ----------
    epsilon
        What counts, cuts and the choice of cells spend; nothing is claimed of it.
    epsilon_counts, epsilon_cuts
        The parts for the counts and for the cuts; None stands for a third each. The choice of cells
        has the rest.
    max_nodes
        More nodes are refused.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or counts and cuts leave nothing for the cells.
    InfeasibleError
        Where the graph has more than `max_nodes`.

    Notes
    -----
    Chen, Fung, Yu & Desai, as the authors of the Top-m Filter ported it, with the errors of that
    port corrected: densities are fractions, the cuts' part of epsilon is divided by the depth once,
    the whole matrix is counted with noise, cells without preference are uniform, and an edge counts
    as the two cells that it is. A cut chooses its row, then its column: both at once would need
    every cell. The matrix is never formed. Nodes stay in the order in which they are given; the
    relabeling of the first publication is omitted.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = DensityExploreReconstruct(epsilon=4.0).anonymize(path)
    >>> release.guarantee.reasons, release.data.n_nodes
    (('unproved',), 4)
    """

    name: ClassVar[str] = "density-explore-reconstruct"
    when: ClassVar[str] = "You compare with the published method; it carries no guarantee."
    promise = "No guarantee: we know of no proof of a bound for this mechanism as run."
    source = "Chen, Fung, Yu & Desai, Correlated Network Data Publication via Differential Privacy"
    limits: ClassVar[str] = (
        "Everything: this baseline claims no protection. Re-identified in our tests by an "
        "attacker with a copy of the network, at epsilon 5.49 (242 nodes, dense): 1.7% of the "
        "nodes; 4.1% of the others when 20 were known. Better attacks may do more."
    )
    cost: ClassVar[str] = "linear in the edges per level of cuts, and in the parts"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 8.0}
    reason: ClassVar[Reason] = "unproved"

    shares: ClassVar[Mapping[str, Share]] = {"epsilon_counts": _THIRD, "epsilon_cuts": _THIRD}

    epsilon_counts: float | None = part_parameter(
        "part of epsilon spent on the counts", "one third of epsilon"
    )
    epsilon_cuts: float | None = part_parameter(
        "part of epsilon spent on the cuts", "one third of epsilon"
    )

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        n = data.n_nodes
        if n < 2:
            return self.unclaimed_draft(data, Graph.from_edges([], [], n=n))
        budget = EpsilonParts(*(float(part) for part in self.parts.values()))
        words, rng = words_from(randomness, "counts"), randomness.stream("cuts and cells")
        leaves = list(explored(data.edges().astype(np.int64), n, budget, words, rng))
        ends = filled(leaves, float(self.epsilon_cells), rng)
        return self.unclaimed_draft(data, Graph.from_edges(ends[:, 0], ends[:, 1], n=n))

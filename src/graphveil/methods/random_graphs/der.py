"""The method `density-explore-reconstruct`: regions of even density, counted and filled again.

Regions of the adjacency matrix are divided into four where their densities differ most, under
noise; then each is filled with as many cells as its noisy count says. A region holds the ones in
it, never its cells: counts and densities come from the numbers of ones in its rows and columns. It
is here for comparison, and carries no guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.knowledge import Reason
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.base import MethodResult
from graphveil.methods.noise import Words, discrete_laplace, words_from
from graphveil.methods.noisy_cells.noisy import SMALLEST_PART, Share
from graphveil.methods.random_graphs.baselines import BaselineMethod, distinct_in

__all__ = ["DensityExploreReconstruct"]

DENSE = 0.8
"""A region with this share of ones is not cut, nor one with fewer ones than this part of the mean
number of cells of the deepest regions."""

MEAN_NOISE = 5.0
_ROOT = 2 ** (1 / 3)


class Region(NamedTuple):
    """A rectangle of the matrix with the ones in it.

    `row, column`: where it begins; `height, width`: its rows and columns, at least one each; `rows,
    columns`: int64, shape (ones,): where its ones are.
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

    `counts, cuts`: of the numbers of ones, and of the choices where to cut.
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
    >>> from graphveil.methods.noise import words_from
    >>> from graphveil.core.randomness import Randomness
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


MOST_CELLS = 40_000
"""The largest region in which true cells are preferred."""


class Filling(NamedTuple):
    """What is published of regions.

    `sizes, ones`: int64, shape (regions,): cells, and true ones; `placed, kept`: int64, shape
    (regions,): cells that are published, and true ones among them; `cells`: int64, shape (ones of
    all,): the true cells, region by region and in order, numbered row by row over all regions.
    """

    sizes: NDArray[np.int64]
    ones: NDArray[np.int64]
    placed: NDArray[np.int64]
    kept: NDArray[np.int64]
    cells: NDArray[np.int64]


def filled(leaves: Sequence[Leaf], epsilon: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return edges, shape (edges, 2): a placed cell becomes one with chance 1/2.

    `leaves`: regions that cover the matrix, at least one; `epsilon`: what the choice of cells
    spends; an edge is two cells; `rng`: for all choices.

    Examples
    --------
    >>> from graphveil.methods.random_graphs.der import Region
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

    `cells, ones, placed`: a cells, of which c are true, and p that are placed; `epsilon`: the
    weight of a true cell; `rng`: for the choice.

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
    relabeling of the first publication is left out.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = DensityExploreReconstruct(epsilon=4.0).anonymize(path)
    >>> release.guarantee.reasons, release.data.n_nodes
    (('unproved',), 4)
    """

    name: ClassVar[str] = "density-explore-reconstruct"
    when: ClassVar[str] = "You compare with the published method; it carries no guarantee."
    promise: ClassVar[str] = (
        "No guarantee: we know of no proof of a bound for this mechanism as run."
    )
    source: ClassVar[str] = (
        "Chen, Fung, Yu & Desai, Correlated Network Data Publication via Differential Privacy"
    )
    limits: ClassVar[str] = (
        "Everything: this baseline claims no protection. Re-identified in our tests by an "
        "attacker with a copy of the network, at epsilon 5.49 (242 nodes, dense): 1.7% of the "
        "nodes; 4.1% of the others when 20 were known. Better attacks may do more."
    )
    cost: ClassVar[str] = "linear in the edges per level of cuts, and in the parts"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 8.0}
    reason: ClassVar[Reason] = "unproved"

    epsilon_counts: float | None = parameter(
        default=None,
        text="part of epsilon spent on the counts",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="one third of epsilon",
    )
    epsilon_cuts: float | None = parameter(
        default=None,
        text="part of epsilon spent on the cuts",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="one third of epsilon",
    )

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon beside that of the cells, by name."""
        return {
            "epsilon_counts": self.part(self.epsilon_counts, _THIRD),
            "epsilon_cuts": self.part(self.epsilon_cuts, _THIRD),
        }

    def _anonymize(self, data: Graph, randomness: Randomness) -> MethodResult:
        n = data.n_nodes
        if n < 2:
            return self.draft(data, Graph.from_edges([], [], n=n))
        budget = EpsilonParts(*(float(part) for part in self.parts.values()))
        words, rng = words_from(randomness, "counts"), randomness.stream("cuts and cells")
        leaves = list(explored(data.edges().astype(np.int64), n, budget, words, rng))
        ends = filled(leaves, float(self.epsilon_cells), rng)
        return self.draft(data, Graph.from_edges(ends[:, 0], ends[:, 1], n=n))

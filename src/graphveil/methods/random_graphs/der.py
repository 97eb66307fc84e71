"""The method `density-explore-reconstruct`: regions of even density, counted and filled again.

The baseline DER of Chen, Fung, Yu & Desai, *Correlated Network Data Publication via Differential
Privacy* (VLDB Journal 2014), with which Nguyen, Imine & Rusinowitch (2015) compare the Top-m
Filter; after the port of the latter, with its errors corrected (see the class). It is for
comparison, and carries no guarantee.

1. Explore (`explored`): the adjacency matrix is cut into four parts where the densities differ
   most, by the exponential mechanism, down to a depth that follows from epsilon. Each region that
   is not cut further has a noisy number of ones.
2. Reconstruct (`filled`): each region gets as many cells as its noisy number says, true ones
   preferred by the exponential mechanism, and a placed cell becomes an edge with probability 1/2.

Epsilon is split in thirds: counts, cuts, and the choice of cells. An edge is two cells of the
matrix, so counts have sensitivity 2.

The matrix is never formed: a region holds the ones in it, and counts and densities come from the
numbers of ones in its rows and columns. Cost: O(m) per level of cuts, and the number of regions.
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
from graphveil.core.array_types import Floats, Ints
from graphveil.core.libraries import special
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.card import MethodCard
from graphveil.methods.noise.laws import Words, discrete_laplace, words_from
from graphveil.methods.noisy_cells.noisy import NOISY_FIELDS, Share, part_parameter
from graphveil.methods.random_graphs.baselines import BaselineMethod
from graphveil.methods.random_graphs.block_sampling import distinct_in
from graphveil.release.draft import Draft

__all__ = ["DensityExploreReconstruct"]

DENSE = 0.8
"""A region with this share of ones is not cut: it is even enough.

Nor is one with fewer ones than this share of n^2 / 4^depth, the mean size of the deepest regions.
"""

MEAN_NOISE = 5.0
"""mu in the rule for the depth (`depth_of`): a larger one stops at larger regions."""

_ROOT = 2 ** (1 / 3)
"""The ratio of the parts of epsilon of one level and the one above it."""


class Region(NamedTuple):
    """A rectangle of the adjacency matrix, and the ones in it.

    `row`, `column`, `height`, `width`: where it begins, and its size; `rows`, `columns`: int64,
    shape (ones,): the row and the column in the matrix of every one.
    """

    row: int
    column: int
    height: int
    width: int
    rows: Ints
    columns: Ints

    @property
    def cells(self) -> int:
        """The number of its cells."""
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
    """Return the level at which regions are no longer cut, for n nodes.

    The least h with 2^(1/3) 4^h - 2^(5h/3) > (2^(1/3) - 1) n^2 eps / (2 sqrt(2) mu), for the part
    eps of epsilon for counts and mu = `MEAN_NOISE`.
    """
    most = (_ROOT - 1) * n * n * counts / (2 * math.sqrt(2) * MEAN_NOISE)
    depth = 0
    while _ROOT * 4**depth - 2 ** (5 * depth / 3) <= most:
        depth += 1
    return depth


def part_of_level(level: int, depth: int, counts: float) -> float:
    """Return the part of epsilon for the counts of a level; over all levels it sums to `counts`.

    It grows by 2^(1/3) from level to level: the counts of smaller regions need less noise.
    """
    return counts * 2 ** (level / 3) * (_ROOT - 1) / (2 ** ((depth + 1) / 3) - 1)


def explored(
    ends: Ints, n: int, budget: EpsilonParts, words: Words, rng: Generator
) -> Iterator[Leaf]:
    """Yield the regions that are not cut, level by level, with noisy numbers of their ones.

    `ends`: int64, shape (edges, 2).
    """
    # The whole symmetric matrix: an edge is two ones.
    depth = depth_of(n, budget.counts)
    few = DENSE * n * n / 4**depth
    both = np.concatenate([ends, ends[:, ::-1]])
    regions = [Region(0, 0, n, n, both[:, 0], both[:, 1])]
    for level in range(depth + 1):
        # The regions of a level are disjoint, and an edge is two of their cells: the L1 sensitivity
        # of the counts is 2, so each has noise of half of the level's part.
        part = Fraction(part_of_level(level, depth, budget.counts)) / 2
        noise = discrete_laplace(words, part, len(regions)).tolist()
        following: list[Region] = []
        for region, shift in zip(regions, noise, strict=True):
            # Whether a region is cut depends on its noisy count alone.
            count = region.rows.size + shift
            parts: list[Region] = []
            if level < depth and few <= count < DENSE * region.cells:
                # No part may have less than a quarter of the mean size of the next level.
                parts = cut(region, n * n / 4 ** (level + 2), budget.cuts / depth, rng)
            if parts:
                following.extend(parts)
            else:
                yield Leaf(region, count)
        regions = following


def cut(region: Region, smallest: float, epsilon: float, rng: Generator) -> list[Region]:
    """Return the four parts of a region; none if no cut leaves every part `smallest` cells.

    The row is chosen first, by the difference of the densities above and below, then the column, by
    that of the largest and the least of the four densities: half of epsilon each. (The paper
    chooses both at once, among all pairs of a row and a column.)
    """
    # The row: densities of the rows above and below each candidate. A row is allowed if a cut of
    # the columns in half would leave parts that are large enough.
    height, width = region.height, region.width
    above = np.arange(1, height)
    two = np.stack(_densities(region.rows - region.row, height, width))
    sizes = np.minimum(above, height - above)
    row = _chosen(two, sizes * width, sizes * (width // 2) >= smallest, epsilon / 2, rng)
    if row is None:
        return []
    # The column: densities of the four parts that each candidate gives.
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
    """Return a cut from 1 on by the exponential mechanism; None if none is allowed.

    `densities`: shape (parts, cuts): of every part of every candidate; `cells`: the number of cells
    of its smallest part; `allowed`: which candidates leave no part too small, which does not depend
    on the ones. `epsilon`: of this choice.
    """
    candidates = np.flatnonzero(allowed)
    if not candidates.size:
        return None
    # An edge is two ones, so it changes a density by at most 2 over the cells of its part, and the
    # score, the difference of two densities, by as much. If its ones are in two regions, each score
    # changes by half of that, so that both cuts together cost no more. Gumbel noise makes the
    # largest score a sample with probability in proportion to e^(epsilon score / (2 sensitivity)).
    differences = np.ptp(densities[:, candidates], axis=0)
    sensitivity = 2 / int(cells[candidates].min())
    scores = epsilon * differences / (2 * sensitivity) + rng.gumbel(size=candidates.size)
    return int(candidates[np.argmax(scores)]) + 1


def _four(region: Region, row: int, column: int) -> list[Region]:
    """Return the parts of a region above and below a row, left and right of a column."""
    parts = []
    for top, height in ((0, row), (row, region.height - row)):
        for first, width in ((0, column), (column, region.width - column)):
            down, along = region.rows - region.row - top, region.columns - region.column - first
            inside = (down >= 0) & (down < height) & (along >= 0) & (along < width)
            ones = region.rows[inside], region.columns[inside]
            parts.append(Region(region.row + top, region.column + first, height, width, *ones))
    return parts


MOST_CELLS = 40_000
"""The largest region in which true cells are preferred; larger ones are filled uniformly.

As in the port: it bounds the time of the choice in one region.
"""


class Filling(NamedTuple):
    """What is placed in each region.

    Parameters
    ----------
    sizes, ones
        int64, shape (regions,): the cells of every region, and its true ones; 0 in large regions,
        where they are not used.
    placed, kept
        int64, shape (regions,): how many cells are placed, and how many of these are true.
    cells
        int64: the true ones of all regions, numbered on from one region to the next.
    """

    sizes: Ints
    ones: Ints
    placed: Ints
    kept: Ints
    cells: Ints


def filled(leaves: Sequence[Leaf], epsilon: float, rng: Generator) -> Ints:
    """Return the edges of the reconstruction, int64, shape (edges, 2).

    A placed cell becomes an edge with probability 1/2, since each pair of nodes is two cells.
    `epsilon`: the part for the choice of cells.
    """
    # An edge is two cells: each has half of the part.
    region, cell = placed_cells(_filling(leaves, epsilon / 2, rng), rng)
    corners = np.array([(leaf.region.row, leaf.region.column) for leaf in leaves], dtype=np.int64)
    width = np.array([leaf.region.width for leaf in leaves], dtype=np.int64)[region]
    ends = corners[region] + np.column_stack([cell // width, cell % width])
    ends = np.sort(ends[rng.random(len(ends)) < 0.5], axis=1)
    return np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)


def _filling(leaves: Sequence[Leaf], epsilon: float, rng: Generator) -> Filling:
    """Return how many cells are placed in each region, and how many of them are true.

    `epsilon`: of the choice of cells, for one of the two cells of an edge.
    """
    sizes = np.array([leaf.region.cells for leaf in leaves], dtype=np.int64)
    start = np.cumsum(sizes) - sizes
    ones, kept = (np.zeros(sizes.size, dtype=np.int64) for _ in range(2))
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
    """Return how many placed cells are true: k with weight C(c, k) C(a-c, p-k) e^(epsilon k).

    For a = `cells`, c = `ones`, p = `placed`: the exponential mechanism over all sets of p cells,
    with the number of true ones as the score, summed by that number.
    """
    # Logarithms of the weights, and Gumbel noise to sample one of them.
    k = np.arange(max(0, placed - cells + ones), min(ones, placed) + 1)
    if k.size == 1:
        return int(k[0])
    others, missing = cells - ones, placed - k
    log_orders = sum(
        special.gammaln(each + 1.0) for each in (k, ones - k, missing, others - missing)
    )
    return int(k[np.argmax(epsilon * k - log_orders + rng.gumbel(size=k.size))])


def placed_cells(filling: Filling, rng: Generator) -> tuple[Ints, Ints]:
    """Return the region and the cell of everything that is placed, each set equally likely.

    Given how many placed cells of each region are true.
    """
    # True cells: uniform ranks among the ones of each region.
    start = np.cumsum(filling.sizes) - filling.sizes
    first = np.cumsum(filling.ones) - filling.ones
    region, rank = distinct_in(rng, filling.ones, filling.kept)
    true = filling.cells[first[region] + rank]
    # Others: uniform ranks among the cells that are 0; a rank becomes a cell by adding the ones
    # before it.
    other, rank = distinct_in(rng, filling.sizes - filling.ones, filling.placed - filling.kept)
    of_region = np.repeat(np.arange(filling.sizes.size), filling.ones)
    others_before = filling.cells - (np.arange(filling.cells.size) - first[of_region])
    passed = np.searchsorted(others_before, start[other] + rank, side="right") - first[other]
    return (np.concatenate([region, other]), np.concatenate([true - start[region], rank + passed]))


_THIRD = Share(of_epsilon=Fraction(1, 3), most=Fraction(40, 3))


CARD = MethodCard(
    when="You compare with the published method; it carries no guarantee.",
    promise="No guarantee: we know of no proof of a bound for this mechanism as run.",
    source="Chen, Fung, Yu & Desai, Correlated Network Data Publication via Differential Privacy",
    limits=(
        "Everything: this baseline claims no protection. Re-identified in our tests by an "
        "attacker with a copy of the network, at epsilon 5.49 (242 nodes, dense): 1.7% of the "
        "nodes; 4.1% of the others when 20 were known. Better attacks may do more."
    ),
    cost="linear in the edges per level of cuts, and in the parts",
    example={"epsilon": 8.0},
    **NOISY_FIELDS,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class DensityExploreReconstruct(BaselineMethod):
    """No guarantee: we know of no proof of a bound for this mechanism as run.

    The adjacency matrix is cut into four parts where the densities differ most, again and again,
    under noise. Each part is filled with as many cells as its noisy count says, true ones
    preferred. It is for comparison.

    Parameters
    ----------
    epsilon
        What counts, cuts and the choice of cells spend; nothing is claimed of it.
    epsilon_counts, epsilon_cuts
        The parts for the counts and for the cuts; the choice of cells has the rest. Default: a
        third of epsilon each.
    max_nodes
        Graphs with more nodes are refused.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or counts and cuts leave nothing for the cells.
    InfeasibleError
        If the graph has more than `max_nodes`.

    Notes
    -----
    Chen, Fung, Yu & Desai, as the authors of the Top-m Filter ported it, with the errors of that
    port corrected: densities are fractions, the cuts' part of epsilon is divided by the depth once,
    the number of ones of the complete matrix has noise, cells without preference are uniform, and
    an edge counts as two cells. A cut chooses its row, then its column: both at once would need
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
    card: ClassVar[MethodCard] = CARD
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
        # Step 1, explore: noisy counts and cuts. Step 2, reconstruct: cells in each region.
        budget = EpsilonParts(*(float(part) for part in self.parts.values()))
        words, rng = words_from(randomness, "counts"), randomness.stream("cuts and cells")
        leaves = list(explored(data.edges().astype(np.int64), n, budget, words, rng))
        ends = filled(leaves, float(self.epsilon_cells), rng)
        return self.unclaimed_draft(data, Graph.from_edges(ends[:, 0], ends[:, 1], n=n))

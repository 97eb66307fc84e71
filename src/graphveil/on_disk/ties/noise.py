"""Noisy cells of a graph whose neighbors the disk holds: drawn block by block of nodes, once.

A cell is a pair of nodes u < v. Cells are independent of each other, so a block of rows can be
drawn for itself: its edges pass, its background is a binomial number of distinct cells of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.methods.asymmetric_response import AsymmetricResponse
from graphveil.methods.randomized_response import RandomizedResponse
from graphveil.noise import Channel, Words, flipped
from graphveil.noise.cells import number_of_cells
from graphveil.noise.uniform import FULL
from graphveil.on_disk.ties.buckets import NODE_BITS
from graphveil.on_disk.ties.lists import NeighborLists
from graphveil.progress import Advance

BLOCK_CELLS = 1 << 22
"""About so many edges of a block are read, and about so many cells of it drawn."""

_FAR = 10
"""Noise on a count is hardly ever so many times its scale, or its deviation, above it."""

_NODE = (1 << NODE_BITS) - 1
_READ = 1 << 21


class Drawn(NamedTuple):
    """How many edges were published, and how many of them are true."""

    published: int
    kept: int


def released_at_most(method: AsymmetricResponse | RandomizedResponse, graph: Graph) -> int:
    """Return a number of edges that noise hardly ever exceeds, before any is drawn.

    It reads how many edges there are: it is for the owner alone.

    Examples
    --------
    >>> graph = Graph.from_edges(range(999), range(1, 1000), n=1000)
    >>> released_at_most(RandomizedResponse(epsilon=3.0), graph)
    26162
    """
    ones, cells = graph.n_edges, number_of_cells(graph)
    if isinstance(method, RandomizedResponse):
        through = method.flips(graph)
    else:
        most = ones + math.ceil(_FAR / method.parts["epsilon_count"])
        stated = method.flips(cells, min(max(most, 1), cells - 1) if cells > 1 else None)
        through = Channel(int(stated.T0), int(stated.T1))
    expected = (ones * through.one + (cells - ones) * through.zero) / FULL
    return min(cells, math.ceil(expected + _FAR * math.sqrt(expected)))


def draw(
    lists: NeighborLists,
    through: Channel,
    words: Words,
    path: Path,
    advance: Advance,
    *,
    block_cells: int = BLOCK_CELLS,
) -> Drawn:
    """Write the edges that are published into a file, as `read` gives them back, in order.

    Parameters
    ----------
    lists
        The graph.
    through
        The chances of either kind of cell.
    words
        Where the randomness comes from: one stream for all blocks.
    path
        The file, which is written anew.
    advance
        Gets the edges of the graph that are done.
    block_cells
        How large a block may be, about.
    """
    published = kept = 0
    with path.open("wb") as file:
        for start, stop in pairwise(_starts(lists, through, block_cells)):
            before = _cells_before(start, stop, lists.indptr.size - 1)
            ones = _ones(lists, start, stop, before)
            cells, true = flipped(words, ones, int(before[-1]), through)
            row = np.searchsorted(before, cells, side="right") - 1
            column = cells - before[row] + row + start + 1
            (((row + start) << NODE_BITS) | column).tofile(file)
            published += cells.size
            kept += true
            advance(ones.size)
    return Drawn(published, kept)


def read(path: Path) -> Iterator[NDArray[np.int64]]:
    """Yield the edges in a file of `draw`, as ``u << 32 | v`` with u below v, some at a time."""
    with path.open("rb") as file:
        while content := file.read(8 * _READ):
            yield np.frombuffer(content, dtype=np.int64)


def degrees_in(path: Path, n: int) -> NDArray[np.int64]:
    """Return how many edges of such a file everyone has."""
    degrees = np.zeros(n, dtype=np.int64)
    for keys in read(path):
        np.add.at(degrees, keys >> NODE_BITS, 1)
        np.add.at(degrees, keys & _NODE, 1)
    return degrees


def _starts(lists: NeighborLists, through: Channel, block_cells: int) -> list[int]:
    """Return the first node of every block, and the number of nodes behind them.

    A block has about so many entries of lists, and expects about so many cells of the background.
    """
    n = lists.indptr.size - 1
    rows = np.arange(n, dtype=np.float64)
    expected = np.cumsum(n - 1 - rows) * (min(through.zero, FULL - through.zero) / FULL)
    work = lists.indptr[1:] / 2 + expected
    inner = np.searchsorted(work, np.arange(block_cells, float(work[-1]) if n else 0, block_cells))
    starts: list[int] = np.unique(np.concatenate([[0], inner + 1, [n]])).tolist()
    return starts


def _cells_before(start: int, stop: int, n: int) -> NDArray[np.int64]:
    """Return how many cells of a block stand before each of its rows, and before its end."""
    sizes = n - 1 - np.arange(start, stop, dtype=np.int64)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ones(
    lists: NeighborLists, start: int, stop: int, before: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the cells of a block that are edges, in order."""
    indptr, indices = lists
    here = indices[indptr[start] : indptr[stop]]
    row = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
    column = here.astype(np.int64) - start - row - 1
    later = column >= 0
    return before[row[later]] + column[later]

"""Noisy cells of a graph whose neighbor lists are on disk: sampled block by block of nodes, once.

A cell is a pair of nodes u < v. Cells are independent of each other, so a block of rows can be
sampled on its own: its edges pass with their probability, and its background is a binomial number
of distinct cells. Time is O(m + published edges); memory holds one block of `BLOCK_CELLS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.progress import Advance
from graphveil.methods.noise.cells import Channel, flipped
from graphveil.methods.noise.laws import FULL, Words, distinct, union
from graphveil.scale.ties.lists import NODE_BITS, NeighborLists

BLOCK_CELLS = 1 << 22
"""About so many edges of a block are read, and about so many cells of it sampled."""

_NODE = (1 << NODE_BITS) - 1
"""The bits of the larger node in an edge ``u << 32 | v``."""

READ = 1 << 21
"""How many edges of a file are read at a time: 16 MB."""


class NoisyEdgeCounts(NamedTuple):
    """How many edges were published, and how many of them are true."""

    published: int
    kept: int


def draw(
    lists: NeighborLists,
    through: Channel,
    words: Words,
    path: Path,
    advance: Advance,
    *,
    block_cells: int = BLOCK_CELLS,
) -> NoisyEdgeCounts:
    """Write the published edges into a file in order, as `read` gives them back.

    `lists`: the neighbor lists on disk; `through`: the probabilities of ones and zeros; `words`:
    the random words; `advance`: called with the number of edges of each block; `block_cells`: about
    the size of a block.
    """
    published = kept = 0
    with path.open("wb") as file:
        for start, stop in pairwise(_starts(lists, through, block_cells)):
            # Cells of the block are numbered row by row; `before` has the number of each row's
            # first cell.
            before = _cells_before(start, stop, lists.indptr.size - 1)
            # The edges of the block as numbers of cells, and the cells that come through the noise.
            ones = _ones(lists, start, stop, before)
            cells, true = flipped(words, ones, int(before[-1]), through)
            # From the number of a cell back to its row and column.
            row = np.searchsorted(before, cells, side="right") - 1
            column = cells - before[row] + row + start + 1
            (((row + start) << NODE_BITS) | column).tofile(file)
            published += cells.size
            kept += true
            advance(ones.size)
    return NoisyEdgeCounts(published, kept)


def resize(
    lists: NeighborLists, source: Path, noisy: NoisyEdgeCounts, size: int, words: Words, path: Path
) -> NoisyEdgeCounts:
    """Write exactly so many edges: a uniform part of those that were drawn, or uniform others too.

    The law is that of `graphveil.methods.noisy_cells.noisy.resized`. Only the positions removed or
    added are in memory, one uniform set: about as many as the deviations of draw and count.
    """
    before = _cells_before(0, lists.indptr.size - 1, lists.indptr.size - 1)
    n_cells = int(before[-1])
    # How many edges to remove from those published, or to add from all other cells.
    removes = size <= noisy.published
    n, among = (
        abs(size - noisy.published),
        noisy.published if removes else n_cells - noisy.published,
    )
    # A uniform set of positions among them, without repeats.
    chosen = distinct(words, among, n)
    # Write the changed edges in order, and count how many of the changed ones are true.
    pieces = _removed(source, chosen) if removes else _added(source, chosen, before)
    true = 0
    with path.open("wb") as file:
        for keys, changed in pieces:
            keys.tofile(file)
            true += _n_edges_among(lists, changed)
    return NoisyEdgeCounts(size, noisy.kept - true if removes else noisy.kept + true)


Piece = tuple[Ints, Ints]
"""Edges in order, and those that were removed from among them, or added."""


def _removed(source: Path, positions: Ints) -> Iterator[Piece]:
    """Yield the edges of a file without those at some positions."""
    start = 0
    for keys in read(source):
        first, end = np.searchsorted(positions, [start, start + keys.size])
        here = positions[first:end] - start
        yield np.delete(keys, here), keys[here]
        start += keys.size


def _added(source: Path, ranks: Ints, before: Ints) -> Iterator[Piece]:
    """Yield the edges of a file and others in order: these by their ranks among all other cells."""
    start = done = 0
    for keys in read(source):
        # How many other cells come before each edge of this piece.
        others_before = _cells_of(keys, before) - np.arange(start, start + keys.size)
        # The chosen ranks below the last of them: as cells, each is shifted by the edges before it.
        end = int(np.searchsorted(ranks, others_before[-1], side="left"))
        here = ranks[done:end]
        earlier = start + np.searchsorted(others_before, here, side="right")
        new = _keys_of(here + earlier, before)
        yield union(keys, new), new
        start, done = start + keys.size, end
    # What is left lies behind the last edge.
    rest = _keys_of(ranks[done:] + start, before)
    yield rest, rest


def _cells_of(keys: Ints, before: Ints) -> Ints:
    """Return the number of every edge among all pairs u < v, row by row."""
    row = keys >> NODE_BITS
    cells: Ints = before[row] + (keys & _NODE) - row - 1
    return cells


def _keys_of(cells: Ints, before: Ints) -> Ints:
    row = np.searchsorted(before, cells, side="right") - 1
    return (row << NODE_BITS) | (cells - before[row] + row + 1)


def _n_edges_among(lists: NeighborLists, keys: Ints) -> int:
    """Return how many of some pairs are edges of the graph; they are few."""
    n = 0
    for key in keys.tolist():
        start, stop = lists.indptr[key >> NODE_BITS : (key >> NODE_BITS) + 2].tolist()
        at = start + int(np.searchsorted(lists.indices[start:stop], key & _NODE))
        n += at < stop and int(lists.indices[at]) == key & _NODE
    return n


def read(path: Path) -> Iterator[Ints]:
    """Yield the edges in a file of `draw`, as ``u << 32 | v`` with u below v, some at a time."""
    with path.open("rb") as file:
        while content := file.read(8 * READ):
            yield np.frombuffer(content, dtype=np.int64)


def degrees_in(path: Path, n: int) -> Ints:
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
    # The work of a node: half its list, since an edge is listed twice, and its expected background.
    rows = np.arange(n, dtype=np.float64)
    expected = np.cumsum(n - 1 - rows) * (min(through.zero, FULL - through.zero) / FULL)
    work = lists.indptr[1:] / 2 + expected
    # Cut where the work passes another multiple of the size of a block.
    inner = np.searchsorted(work, np.arange(block_cells, float(work[-1]) if n else 0, block_cells))
    starts: list[int] = np.unique(np.concatenate([[0], inner + 1, [n]])).tolist()
    return starts


def _cells_before(start: int, stop: int, n: int) -> Ints:
    """Return how many cells of a block stand before each of its rows, and before its end."""
    sizes = n - 1 - np.arange(start, stop, dtype=np.int64)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ones(lists: NeighborLists, start: int, stop: int, before: Ints) -> Ints:
    """Return the cells of a block that are edges, in order."""
    indptr, indices = lists
    here = indices[indptr[start] : indptr[stop]]
    row = np.repeat(np.arange(stop - start), np.diff(indptr[start : stop + 1]))
    column = here.astype(np.int64) - start - row - 1
    later = column >= 0
    return before[row[later]] + column[later]

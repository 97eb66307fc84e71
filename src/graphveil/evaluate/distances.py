"""Distances between the nodes of a graph: exact, or from sampled sources.

Breadth-first searches from 64 sources share their work: a word per node has one bit per source, and
a level is one union of the neighbors' words, O(m) (multi-source BFS, Then et al., VLDB 2015). Deep
graphs, such as long paths, have many levels of few nodes: they are searched from one source at a
time, O(n + m) each.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.libraries import csgraph, sparse
from graphveil.data import Graph

Int32s: TypeAlias = NDArray[np.int32]


EXACT_UP_TO_NODES, SAMPLED_SOURCES = 20_000, 1_024
"""Up to this many nodes, all distances are counted; above, those from this many sampled sources."""

TOGETHER = 64
"""Sources of one search: one bit of a 64-bit word each."""

DEEP = 500
"""Above this many levels a search is given to single searches, since its levels hold few nodes. A
smaller value would leave the shared search too early, a larger one wastes O(m) per further
level."""

FEW = 4
"""If fewer than 1 in this many arcs starts at the last level, only these arcs are followed:
gathering them costs more per arc than passing over all arcs in order."""


class Distances(NamedTuple):
    """How many pairs of a source and another node are how far apart.

    `counts`: int64, shape (groups of sources, largest distance + 1): pairs by distance; none at 0;
    `sources`: how many sources were drawn; None where every node is one.
    """

    counts: Ints
    sources: int | None = None

    @property
    def pairs(self) -> Ints:
        """Pairs by distance, over all sources."""
        return np.asarray(self.counts.sum(axis=0))


def distances(
    graph: Graph,
    rng: np.random.Generator,
    *,
    exact_up_to: int = EXACT_UP_TO_NODES,
    n_sources: int = SAMPLED_SOURCES,
) -> Distances:
    """Return the distances of all connected pairs of nodes, or those from sampled sources.

    `rng`: draws the sources, without replacement; not used up to `exact_up_to` nodes.
    """
    n = graph.n_nodes
    if n <= exact_up_to:
        return Distances(searched(graph, np.arange(n)))
    return Distances(searched(graph, rng.choice(n, n_sources, replace=False)), n_sources)


def searched(graph: Graph, sources: Ints) -> Ints:
    """Return pairs by distance from these distinct sources, one row per group of 64.

    `sources`: int64 positions. Returns int64, shape (groups, largest distance + 1); column 0 is 0.
    """
    groups: list[list[int]] = []
    matrix: sparse.csr_array | None = None
    for start in range(0, sources.size, TOGETHER):
        group = sources[start : start + TOGETHER]
        # Once a group turns out to be deep, all further ones are searched one source at a time.
        at_once = _at_once(graph, group) if matrix is None else None
        if at_once is None:
            matrix = graph.to_scipy().astype(np.float64) if matrix is None else matrix
            at_once = _one_by_one(matrix, group)
        groups.append(at_once)
    # Rows have the largest distance of their own group: pad them to one length.
    counts = np.zeros((len(groups), max(map(len, groups), default=1)), dtype=np.int64)
    for row, found in zip(counts, groups, strict=True):
        row[: len(found)] = found
    return counts


def _at_once(graph: Graph, sources: Ints) -> list[int] | None:
    """Return pairs by distance from at most 64 sources, or None if searches go deep."""
    joined = np.flatnonzero(graph.degrees())
    if joined.size == 0:
        return [0]
    # Bit i of a node's word says that source i has reached it; first, only the sources themselves.
    seen = np.zeros(graph.n_nodes, dtype=np.uint64)
    seen[sources] = np.left_shift(np.uint64(1), np.arange(sources.size, dtype=np.uint64))
    front = seen.copy()
    counts = [0]
    for depth in count(1):
        # Each level: what neighbors of the last level reach, less what was reached before.
        following = _next_to(front, graph, joined) & ~seen
        # Each new bit is a pair of a source and a node at this distance.
        new = int(np.bitwise_count(following).sum())
        if new == 0:
            break
        if depth > DEEP:
            return None
        counts.append(new)
        seen |= following
        front = following
    return counts


def _next_to(front: NDArray[np.uint64], graph: Graph, joined: Ints) -> NDArray[np.uint64]:
    """Return for every node from which sources a neighbor was just reached, one bit each.

    `front`: uint64, shape (n,): the sources that reached each node at the last level; `joined`: the
    nodes that have edges.
    """
    following = np.zeros_like(front)
    active = np.flatnonzero(front)
    sizes = graph.degrees()[active]
    if FEW * int(sizes.sum()) > graph.indices.size:
        # A wide front: the union of the words of all neighbor lists, in one pass over all arcs.
        following[joined] = np.bitwise_or.reduceat(front[graph.indices], graph.indptr[joined])
        return following
    # A narrow front: gather the arcs of its nodes alone, and union into their other ends.
    ends = np.cumsum(sizes)
    arcs = np.arange(sizes.sum()) + np.repeat(graph.indptr[active] - ends + sizes, sizes)
    np.bitwise_or.at(following, graph.indices[arcs], np.repeat(front[active], sizes))
    return following


def _one_by_one(matrix: sparse.csr_array, sources: Ints) -> list[int]:
    counts = np.zeros(1, dtype=np.int64)
    for source in sources.tolist():
        more = np.diff(searched_from(matrix, source).starts)
        more[0] = 0  # the source itself
        shorter, longer = sorted((counts, more), key=len)
        longer[: shorter.size] += shorter
        counts = longer
    return [int(pairs) for pairs in counts]


class Search(NamedTuple):
    """What a breadth-first search reaches.

    `order`: the nodes, nearest first; `starts`: those at distance d are ``order[starts[d]:starts[d
    + 1]]``.
    """

    order: Int32s
    starts: list[int]


def searched_from(matrix: sparse.csr_array, source: int) -> Search:
    """Return the nodes that a path joins to a source, by their distance.

    >>> path = Graph.from_edges([0, 1], [1, 2], n=4).to_scipy().astype(np.float64)
    >>> search = searched_from(path, 1)
    >>> search.order.tolist(), search.starts
    ([1, 0, 2], [0, 1, 3])
    """
    # The node from which each node was found has a place in the order; the order is by distance.
    order, reached_from = csgraph.breadth_first_order(matrix, source)
    place = np.empty(matrix.shape[0], dtype=np.int64)
    place[order] = np.arange(order.size)
    # How many nodes were found from each node, hence where those found from it begin in the order.
    found = np.bincount(place[reached_from[order[1:]]], minlength=order.size)
    behind = (1 + np.cumsum(found) - found).tolist()  # where the nodes found from each one start
    # The level after this one begins behind what was found from the nodes before this level.
    starts = [0, 1]
    while starts[-1] < order.size:
        starts.append(behind[starts[-1]])
    return Search(order, starts)

"""Distances in a graph: breadth-first search from 64 sources at a time, counted by depth."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.evaluate.sizes import EXACT_UP_TO_NODES, SAMPLED_SOURCES
from graphveil.evaluate.toolkit import to_networkit
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import networkit
else:
    networkit = lazy_module("networkit")

TOGETHER = 64
"""Sources of one search: one bit of a word each."""

DEEP = 500
"""Where searches go deeper than this, levels hold few nodes, and single searches are quicker."""

FEW = 4
"""Where fewer than one of so many arcs starts at the last level, these alone are followed."""

SINGLE = 8
"""Sources whose distances are in memory at once in single searches."""


class Distances(NamedTuple):
    """How many pairs of a source and another node are how far apart.

    Parameters
    ----------
    counts
        int64, shape (groups of sources, largest distance + 1): pairs by distance; none at 0.
    sources
        How many sources were drawn; None where every node is one.
    """

    counts: NDArray[np.int64]
    sources: int | None = None

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Pairs by distance, over all sources."""
        total: NDArray[np.int64] = self.counts.sum(axis=0)
        return total


def distances(
    graph: Graph,
    rng: np.random.Generator,
    *,
    exact_up_to: int = EXACT_UP_TO_NODES,
    n_sources: int = SAMPLED_SOURCES,
) -> Distances:
    """Return the distances of all pairs of nodes that a path joins, or those of sampled sources.

    Parameters
    ----------
    graph
        A graph, connected or not.
    rng
        Draws the sources where they are sampled.
    exact_up_to
        The most nodes whose distances are all counted.
    n_sources
        How many sources are drawn above that: more than 64, and no more than there are nodes.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=4)
    >>> distances(path, np.random.Generator(np.random.PCG64DXSM(1))).pairs.tolist()
    [0, 4, 2]
    """
    n = graph.n_nodes
    if n <= exact_up_to:
        return Distances(searched(graph, np.arange(n)))
    return Distances(searched(graph, rng.choice(n, n_sources, replace=False)), n_sources)


def searched(graph: Graph, sources: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return pairs by distance from these distinct sources, a row for each group of 64."""
    groups: list[list[int]] = []
    converted: Any = None
    for start in range(0, sources.size, TOGETHER):
        group = sources[start : start + TOGETHER]
        at_once = _at_once(graph, group) if converted is None else None
        if at_once is None:
            converted = converted or to_networkit(graph)
            at_once = _one_by_one(converted, group)
        groups.append(at_once)
    counts = np.zeros((len(groups), max(map(len, groups), default=1)), dtype=np.int64)
    for row, found in zip(counts, groups, strict=True):
        row[: len(found)] = found
    return counts


def _at_once(graph: Graph, sources: NDArray[np.int64]) -> list[int] | None:
    """Return pairs by distance from at most 64 sources, or None where searches go deep."""
    joined = np.flatnonzero(graph.degrees())
    if joined.size == 0:
        return [0]
    seen = np.zeros(graph.n_nodes, dtype=np.uint64)
    seen[sources] = np.left_shift(np.uint64(1), np.arange(sources.size, dtype=np.uint64))
    front = seen.copy()
    counts = [0]
    for depth in count(1):
        following = _next_to(front, graph, joined) & ~seen
        new = int(np.bitwise_count(following).sum())
        if new == 0:
            break
        if depth > DEEP:
            return None
        counts.append(new)
        seen |= following
        front = following
    return counts


def _next_to(
    front: NDArray[np.uint64], graph: Graph, joined: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return for every node from which sources a neighbor was just reached, a bit each."""
    following = np.zeros_like(front)
    active = np.flatnonzero(front)
    sizes = graph.degrees()[active]
    if FEW * int(sizes.sum()) > graph.indices.size:
        following[joined] = np.bitwise_or.reduceat(front[graph.indices], graph.indptr[joined])
        return following
    ends = np.cumsum(sizes)
    arcs = np.arange(sizes.sum()) + np.repeat(graph.indptr[active] - ends + sizes, sizes)
    np.bitwise_or.at(following, graph.indices[arcs], np.repeat(front[active], sizes))
    return following


def _one_by_one(graph: Any, sources: NDArray[np.int64]) -> list[int]:
    counts = np.zeros(1, dtype=np.int64)
    for start in range(0, sources.size, SINGLE):
        some = sources[start : start + SINGLE].tolist()
        found = np.asarray(networkit.distance.SPSP(graph, some).run().getDistances())
        reached = found[(found < graph.numberOfNodes()) & (found > 0)].astype(np.int64)
        more = np.bincount(reached, minlength=counts.size)
        more[: counts.size] += counts
        counts = more
    return [int(pairs) for pairs in counts]

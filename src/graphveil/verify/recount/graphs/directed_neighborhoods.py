"""What is around a node of a directed graph: out-degree, in-degree, neighbors, edges among these.

The classes of the measure ``directed-count``. Neighbors are the nodes at the other end of an edge
in either direction; edges among them are counted in each direction.

Cost: O(m sqrt(m)) time at worst, since every triangle of neighbors is listed once from its node
of least degree; memory of O(m) and a block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.verify.database import Database
from graphveil.verify.recount.graphs.released_graph import integers, triangles_of


class Surroundings(NamedTuple):
    """Counts around every node, int64, shape (n,), ascending by id.

    `out, into`: edges that lead away from the node, and that lead to it; `neighbors`: nodes at
    their other ends, each once; `ties`: edges among these and the node itself, each direction
    counted.
    """

    out: Ints
    into: Ints
    neighbors: Ints
    ties: Ints

    def words(self, position: int) -> str:
        """Return the numbers of one node."""
        out, into, neighbors, ties = (int(numbers[position]) for numbers in self)
        around = f"{counted(neighbors, 'neighbor')}, {counted(ties, 'edge')} among them"
        return f"out-degree {out}, in-degree {into}, {around}"


def surroundings(db: Database) -> Surroundings | None:
    """Return the counts around every node; None if edges repeat or leave 0..n-1.

    Every triangle of neighbors is listed once: O(m sqrt(m)) time at worst, and memory of O(m) and a
    block.
    """
    # What is not a graph on 0..n-1 without loops and doubles gives None.
    nodes = np.sort(integers(db, "SELECT node FROM nodes"))
    source = integers(db, "SELECT source FROM edges")
    target = integers(db, "SELECT target FROM edges")
    n, both = nodes.size, np.concatenate([source, target])
    if not np.array_equal(nodes, np.arange(n)) or np.any(source == target):
        return None
    if both.min(initial=0) < 0 or both.max(initial=-1) >= n:
        return None
    if np.unique(source * n + target).size < source.size:
        return None
    # Links without direction, each once; the weight says whether one or both directions are there.
    low, high = np.minimum(source, target), np.maximum(source, target)
    links, weight = np.unique(low * n + high, return_counts=True)
    low, high = np.divmod(links, max(n, 1))
    neighbors = np.bincount(low, minlength=n) + np.bincount(high, minlength=n)
    out, into = np.bincount(source, minlength=n), np.bincount(target, minlength=n)
    # Edges among neighbors and the node itself: its own edges, and those that close a triangle.
    among = _among_neighbors(low, high, weight, neighbors)
    return Surroundings(out, into, neighbors, out + into + among)


def _among_neighbors(low: Ints, high: Ints, weight: Ints, neighbors: Ints) -> Ints:
    """Return the number of edges among the neighbors of every node, with weighted links."""
    n = neighbors.size
    # As for triangles: rank nodes by degree and direct each link to the higher rank.
    order = np.lexsort((np.arange(n), neighbors))
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    heads, tails = np.minimum(rank[low], rank[high]), np.maximum(rank[low], rank[high])
    keys = heads * n + tails
    by_key = np.argsort(keys, kind="stable")
    forward, weight = keys[by_key], weight[by_key]
    starts = np.searchsorted(forward, np.arange(n + 1) * n)
    among = np.zeros(n, dtype=np.int64)
    # In a triangle, the link opposite to each corner lies between two neighbors of that corner.
    for one, two, three in triangles_of(forward, starts, n):
        first, second = np.divmod(forward[one], n)
        third = forward[two] % n
        for corner, opposite in ((third, one), (first, two), (second, three)):
            counted = np.bincount(corner, weights=weight[opposite], minlength=n)
            among += counted.astype(np.int64)
    return among[rank]

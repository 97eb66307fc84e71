"""The released graph as arrays, with triangles, balls around nodes and interchangeable nodes.

`ReleasedNetwork` is built from the loaded tables and refuses what is not a simple graph on
0..n-1. Nodes that an automorphism maps onto each other have equal neighborhoods; recognizing the
common cases (leaves of a tree, equal neighbors in the 2-core) saves looking at each of them.

Cost: triangles O(m sqrt(m)) time and O(m) memory; interchangeable nodes O(m log m); a ball the
links of its nodes. `Work` bounds the links that all balls together look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.verify.database import Database

_MOST_NODES = 2**31 - 2
"""Up to so many nodes, the key u * n + v of a pair fits into 64 bits."""

WEDGES_AT_ONCE = 1 << 21
"""Paths of two edges that are looked at in one block: bounds the memory, about 16 MiB for each
array."""


class TooMuchWorkError(Exception):
    """Comparing the neighborhoods of a release exceeds the limit of work."""


class Work:
    """A budget of links that comparisons of neighborhoods may look at.

    Parameters
    ----------
    most
        The links that may be looked at before `TooMuchWorkError` is raised.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._left = most

    def spend(self, links: int) -> None:
        """Spend so many links; raise `TooMuchWorkError` if the budget is exceeded."""
        self._left -= links
        if self._left < 0:
            raise TooMuchWorkError


@dataclass(frozen=True, eq=False)
class ReleasedNetwork:
    """A simple graph on 0..n-1 as rows of ascending neighbors.

    `indptr`: shape (n + 1,): where the row of every node begins; `indices`: shape (2m,): the
    neighbors, row after row; `work`: how much of its neighborhoods may be looked at.
    """

    indptr: Ints
    indices: Ints
    work: Work

    @property
    def n(self) -> int:
        """The number of nodes."""
        return self.indptr.size - 1

    def degrees(self) -> Ints:
        """Return the number of neighbors of every node."""
        return np.diff(self.indptr)

    def owners(self) -> Ints:
        """Return the node whose row each entry of `indices` is in, shape (2m,)."""
        return np.repeat(np.arange(self.n), self.degrees())

    @cached_property
    def common_neighbors(self) -> Ints:
        """How many neighbors both ends of every link share, shape (2m,).

        Each triangle is listed once, from its node of least degree: O(m sqrt(m)) time at worst, and
        memory of O(m) and a block.
        """
        # Step 1: order nodes by degree and direct every edge to the higher rank. Then no node has
        # more than sqrt(2m) edges that lead away, which bounds the wedges.
        n = self.n
        order = np.lexsort((np.arange(n), self.degrees()))
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        heads, tails = rank[self.owners()], rank[self.indices]
        forward = np.sort((heads * n + tails)[heads < tails])
        starts = np.searchsorted(forward, np.arange(n + 1) * n)
        # Step 2: every triangle is found once and counts for its three edges.
        shared = np.zeros(forward.size, dtype=np.int64)
        for triangle in triangles_of(forward, starts, n):
            for edge in triangle:
                shared += np.bincount(edge, minlength=forward.size)
        # Step 3: bring the counts back to both directions of each edge.
        key = np.minimum(heads, tails) * n + np.maximum(heads, tails)
        return shared[np.searchsorted(forward, key)]

    @cached_property
    def interchangeable(self) -> Ints:
        """Labels of nodes, shape (n,): equal only where an automorphism maps one onto the other.

        Two cases are found, in O(m log m) time: nodes of the 2-core with the same neighbors in it,
        themselves aside, that carry the same trees; and nodes at the same place of such trees.
        Nodes of a tree have at most one neighbor that is not below them. So a star has two labels.
        """
        # Step 1: peel off the trees; what remains is the 2-core.
        parent, order = self._trees()
        below: list[list[int]] = [[] for _ in range(self.n)]
        # Step 2: number the shapes of rooted trees from the leaves up: equal numbers, isomorphic
        # trees.
        shapes: dict[tuple[int, ...], int] = {}
        shape = [0] * self.n
        in_core = np.ones(self.n, dtype=np.bool_)
        in_core[order] = False
        for node in [*order, *np.flatnonzero(in_core).tolist()]:
            shape[node] = shapes.setdefault(tuple(sorted(below[node])), len(shapes))
            if parent[node] >= 0:
                below[parent[node]].append(shape[node])
        # Step 3: label nodes of the core by their neighbors and their tree, and nodes of trees by
        # the label above them and their shape.
        labels: dict[tuple[object, ...], int] = {}
        label = self._core_labels(in_core, shape, labels)
        for node in reversed(order):
            above = label[parent[node]] if parent[node] >= 0 else -1
            label[node] = labels.setdefault(("tree", above, shape[node]), len(labels))
        return np.array(label, dtype=np.int64)

    def _trees(self) -> tuple[list[int], list[int]]:
        """Return the node above each node of a tree, else -1, and these nodes, the lowest first.

        A component that is a tree is one as a whole: its last node has none above.
        """
        left = self.degrees().tolist()
        parent = [-1] * self.n
        order = np.flatnonzero(self.degrees() <= 1).tolist()
        removed = np.zeros(self.n, dtype=np.bool_)
        for node in order:  # grows
            removed[node] = True
            for other in self.indices[self.indptr[node] : self.indptr[node + 1]].tolist():
                if not removed[other]:
                    parent[node] = other
                    left[other] -= 1
                    if left[other] == 1:
                        order.append(other)
        return parent, order

    def _core_labels(
        self, in_core: NDArray[np.bool_], shape: list[int], labels: dict[tuple[object, ...], int]
    ) -> list[int]:
        """Return the labels of the nodes of the 2-core, by their neighbors in it; else -1."""
        label = [-1] * self.n
        # Rows of neighbors within the core.
        core = np.flatnonzero(in_core).tolist()
        rows = {}
        for node in core:
            row = self.indices[self.indptr[node] : self.indptr[node + 1]]
            rows[node] = row[in_core[row]]
        key: tuple[object, ...]
        # Closed neighborhoods first: equal ones are of nodes that are neighbors of each other.
        # A node that is the only one with its label may still share an open neighborhood.
        for node in core:
            key = (shape[node], np.sort(np.append(rows[node], node)).tobytes())
            label[node] = labels.setdefault(key, len(labels))
        is_single = np.bincount([label[node] for node in core], minlength=len(labels)) == 1
        for node in core:
            if is_single[label[node]]:
                key = (shape[node], -1, rows[node].tobytes())
                label[node] = labels.setdefault(key, len(labels))
        return label


class ReleasedBall(NamedTuple):
    """The subgraph of the nodes within a distance of its center, which is its node 0.

    `nodes`: shape (s,): who they are in the network, nearest first; `hops`: shape (s,): how far
    each is from the center; `heads, tails`: both ends of every link inside, each way, as positions
    in `nodes`; heads ascend.
    """

    nodes: Ints
    hops: Ints
    heads: Ints
    tails: Ints

    @property
    def edges(self) -> int:
        """The number of edges inside."""
        return self.heads.size // 2

    def degrees(self) -> Ints:
        """Return how many neighbors every node has inside."""
        return np.bincount(self.heads, minlength=self.nodes.size)


def network_of(db: Database) -> ReleasedNetwork | None:
    """Return the released graph, or None where it is not simple on the nodes 0..n-1."""
    # Whatever is not a simple graph on 0..n-1 gives None: then no node counts as indistinguishable.
    nodes = np.sort(integers(db, "SELECT node FROM nodes"))
    source = integers(db, "SELECT source FROM edges")
    target = integers(db, "SELECT target FROM edges")
    n = nodes.size
    low, high = np.minimum(source, target), np.maximum(source, target)
    if n > _MOST_NODES or not np.array_equal(nodes, np.arange(n)):
        return None
    if low.min(initial=0) < 0 or high.max(initial=-1) >= n or np.any(low == high):
        return None
    # Both directions of every edge as one number, sorted: rows in ascending order.
    key = np.sort(np.concatenate([low * n + high, high * n + low]))
    if np.any(key[1:] == key[:-1]):
        return None
    heads, tails = np.divmod(key, max(n, 1))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=n))])
    return ReleasedNetwork(indptr.astype(np.int64), tails, Work(db.limit_bytes))


def integers(db: Database, sql: str) -> Ints:
    """Return a column as int64; a missing value becomes -1, which is not a node."""
    return np.ma.filled(db.column(sql), -1).astype(np.int64)


def triangles_of(forward: Ints, starts: Ints, n: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield the three edges of triangles, as positions in `forward`, a block at a time."""
    # Wedges start with a forward edge u-v and go on with each forward edge v-w.
    middle = forward % max(n, 1)
    wedges = (starts[1:] - starts[:-1])[middle]
    ends = np.cumsum(wedges)
    first = 0
    # A block of edges whose wedges fit into memory.
    while first < forward.size:
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + WEDGES_AT_ONCE)), first + 1)
        block = np.arange(first, min(last, forward.size))
        one = np.repeat(block, wedges[block])
        two = _runs(starts[middle[block]], wedges[block])
        # A wedge is closed where u-w is a forward edge: one binary search for each.
        wanted = forward[one] // n * n + middle[two]
        three = np.minimum(np.searchsorted(forward, wanted), forward.size - 1)
        closed = forward[three] == wanted
        yield one[closed], two[closed], three[closed]
        first = last


def balls(network: ReleasedNetwork, nodes: Ints, distance: int) -> Iterator[ReleasedBall]:
    """Yield the ball around each of these nodes in turn; memory of O(n) and one ball."""
    hop = np.full(network.n, -1, dtype=np.int64)
    for node in nodes.tolist():
        yield _ball(network, hop, node, distance)


def _ball(network: ReleasedNetwork, position: Ints, center: int, distance: int) -> ReleasedBall:
    """Return one ball; `position` is a scratch array of -1, restored before returning."""
    # Breadth first, one ring of nodes per hop.
    rings = [np.array([center])]
    position[center] = 0
    while len(rings) <= distance:
        reached = _neighbors(network, rings[-1])
        ring = np.unique(reached[position[reached] < 0])
        if not ring.size:
            break
        position[ring] = 0
        rings.append(ring)
    # Links among the nodes of the ball: all neighbors, those outside removed.
    nodes = np.concatenate(rings)
    position[nodes] = np.arange(nodes.size)
    sizes = network.indptr[nodes + 1] - network.indptr[nodes]
    network.work.spend(int(sizes.sum()) + nodes.size)
    heads = np.repeat(np.arange(nodes.size), sizes)
    tails = position[_neighbors(network, nodes)]
    position[nodes] = -1
    hops = np.repeat(np.arange(len(rings)), [ring.size for ring in rings])
    return ReleasedBall(nodes, hops, heads[tails >= 0], tails[tails >= 0])


def _neighbors(network: ReleasedNetwork, nodes: Ints) -> Ints:
    """Return the neighbors of these nodes, concatenated."""
    starts = network.indptr[nodes]
    return network.indices[_runs(starts, network.indptr[nodes + 1] - starts)]


def _runs(starts: Ints, sizes: Ints) -> Ints:
    """Return the runs ``start, start + 1, ...`` of given starts and sizes, concatenated."""
    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())

"""The released graph around a node: common neighbors, balls, and which of them are isomorphic.

Color refinement only sorts candidates into buckets and offers VF2 its colors. Two pieces count
as one shape where refinement tells all nodes apart and finds the same links, where both are trees,
which refinement decides (Ramana, Scheinerman and Ullman, 1994), or where VF2 maps one onto the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.lazy import lazy_module
from graphveil.core.text import counted
from graphveil.verify.database import Database

if TYPE_CHECKING:
    import rustworkx as rx
else:
    rx = lazy_module("rustworkx")

Ints = NDArray[np.int64]

_MOST_NODES = 2**31 - 2
_WEDGES_AT_ONCE = 1 << 21


class TooMuchWorkError(Exception):
    """Comparing the neighborhoods of a release takes more than was allowed."""


class Work:
    """How much may still be looked at: links of neighborhoods, one by one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._left = most

    def spend(self, links: int) -> None:
        """Count links that are looked at."""
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
        """Return the node in whose row every neighbor stands, shape (2m,)."""
        return np.repeat(np.arange(self.n), self.degrees())

    @cached_property
    def common_neighbors(self) -> Ints:
        """How many neighbors both ends of every link share, shape (2m,).

        Each triangle is listed once, from its node of least degree: O(m sqrt(m)) time at worst, and
        memory of O(m) and a block.
        """
        n = self.n
        order = np.lexsort((np.arange(n), self.degrees()))
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        heads, tails = rank[self.owners()], rank[self.indices]
        forward = np.sort((heads * n + tails)[heads < tails])
        starts = np.searchsorted(forward, np.arange(n + 1) * n)
        shared = np.zeros(forward.size, dtype=np.int64)
        for triangle in triangles_of(forward, starts, n):
            for edge in triangle:
                shared += np.bincount(edge, minlength=forward.size)
        key = np.minimum(heads, tails) * n + np.maximum(heads, tails)
        return shared[np.searchsorted(forward, key)]

    @cached_property
    def interchangeable(self) -> Ints:
        """Labels of nodes, shape (n,): equal only where an automorphism maps one onto the other.

        Two cases are found, in O(m log m) time: nodes of the 2-core with the same neighbors in it,
        themselves aside, that carry the same trees; and nodes at the same place of such trees.
        Nodes of a tree have at most one neighbor that is not below them. So a star has two labels.
        """
        parent, order = self._trees()
        below: list[list[int]] = [[] for _ in range(self.n)]
        shapes: dict[tuple[int, ...], int] = {}
        shape = [0] * self.n
        in_core = np.ones(self.n, dtype=np.bool_)
        in_core[order] = False
        for node in [*order, *np.flatnonzero(in_core).tolist()]:
            shape[node] = shapes.setdefault(tuple(sorted(below[node])), len(shapes))
            if parent[node] >= 0:
                below[parent[node]].append(shape[node])
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
        core = np.flatnonzero(in_core).tolist()
        rows = {}
        for node in core:
            row = self.indices[self.indptr[node] : self.indptr[node + 1]]
            rows[node] = row[in_core[row]]
        key: tuple[object, ...]
        for node in core:
            key = (shape[node], np.sort(np.append(rows[node], node)).tobytes())
            label[node] = labels.setdefault(key, len(labels))
        apart = np.bincount([label[node] for node in core], minlength=len(labels)) == 1
        for node in core:
            if apart[label[node]]:
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
    nodes = np.sort(integers(db, "SELECT node FROM nodes"))
    source = integers(db, "SELECT source FROM edges")
    target = integers(db, "SELECT target FROM edges")
    n = nodes.size
    low, high = np.minimum(source, target), np.maximum(source, target)
    if n > _MOST_NODES or not np.array_equal(nodes, np.arange(n)):
        return None
    if low.min(initial=0) < 0 or high.max(initial=-1) >= n or np.any(low == high):
        return None
    key = np.sort(np.concatenate([low * n + high, high * n + low]))
    if np.any(key[1:] == key[:-1]):
        return None
    heads, tails = np.divmod(key, max(n, 1))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(heads, minlength=n))])
    return ReleasedNetwork(indptr.astype(np.int64), tails, Work(db.limit_bytes))


def integers(db: Database, sql: str) -> Ints:
    """Return a column; a value that is missing is not a node, so it becomes -1."""
    return np.ma.filled(db.column(sql), -1).astype(np.int64)


def triangles_of(forward: Ints, starts: Ints, n: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield the three edges of triangles, as positions in `forward`, a block at a time."""
    middle = forward % max(n, 1)
    wedges = (starts[1:] - starts[:-1])[middle]
    ends = np.cumsum(wedges)
    first = 0
    while first < forward.size:
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + _WEDGES_AT_ONCE)), first + 1)
        block = np.arange(first, min(last, forward.size))
        one = np.repeat(block, wedges[block])
        two = _runs(starts[middle[block]], wedges[block])
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
    """Return one ball; `position` is -1 everywhere, before and after."""
    rings = [np.array([center])]
    position[center] = 0
    while len(rings) <= distance:
        reached = _neighbors(network, rings[-1])
        ring = np.unique(reached[position[reached] < 0])
        if not ring.size:
            break
        position[ring] = 0
        rings.append(ring)
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
    """Return the rows of these nodes, one after another."""
    starts = network.indptr[nodes]
    return network.indices[_runs(starts, network.indptr[nodes + 1] - starts)]


def _runs(starts: Ints, sizes: Ints) -> Ints:
    """Return ``start, start + 1, ...`` of every start, so many as its size, one after another."""
    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


class Surroundings(NamedTuple):
    """The numbers of everybody, ascending by id 0..n-1.

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
    """Return what is around every node, or None where edges repeat, or are not edges of 0..n-1.

    Every triangle of neighbors is listed once: O(m sqrt(m)) time at worst, and memory of O(m) and a
    block.
    """
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
    low, high = np.minimum(source, target), np.maximum(source, target)
    links, weight = np.unique(low * n + high, return_counts=True)
    low, high = np.divmod(links, max(n, 1))
    neighbors = np.bincount(low, minlength=n) + np.bincount(high, minlength=n)
    out, into = np.bincount(source, minlength=n), np.bincount(target, minlength=n)
    among = _among_neighbors(low, high, weight, neighbors)
    return Surroundings(out, into, neighbors, out + into + among)


def _among_neighbors(low: Ints, high: Ints, weight: Ints, neighbors: Ints) -> Ints:
    """Return how many edges there are between the neighbors of every node: links have weights."""
    n = neighbors.size
    order = np.lexsort((np.arange(n), neighbors))
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    heads, tails = np.minimum(rank[low], rank[high]), np.maximum(rank[low], rank[high])
    keys = heads * n + tails
    by_key = np.argsort(keys, kind="stable")
    forward, weight = keys[by_key], weight[by_key]
    starts = np.searchsorted(forward, np.arange(n + 1) * n)
    among = np.zeros(n, dtype=np.int64)
    for one, two, three in triangles_of(forward, starts, n):
        first, second = np.divmod(forward[one], n)
        third = forward[two] % n
        for corner, opposite in ((third, one), (first, two), (second, three)):
            counted = np.bincount(corner, weights=weight[opposite], minlength=n)
            among += counted.astype(np.int64)
    return among[rank]


Bucket = tuple[tuple[int, int, tuple[int, ...]], ...]


class _Piece(NamedTuple):
    """A connected graph whose nodes have colors that every isomorphism keeps."""

    colors: list[int]
    neighbors: list[list[int]]
    bucket: Bucket


class _UndecidedError(Exception):
    """VF2 has tried enough."""


LINKS_OF_A_STEP = 40
"""How many links are looked at in the time of one step, about."""


class Shapes:
    """The shapes seen so far, numbered; neighborhoods of the same number are isomorphic.

    A center is linked to exactly the nodes at one hop, so it can be omitted once every node knows
    its distance from it. What is left falls into connected pieces, and two neighborhoods are
    isomorphic exactly where their pieces are, one to one.

    `most_steps` bounds the pairs of nodes that VF2 may try in one comparison; beyond it the two
    count as different. `given_up` counts the comparisons without an answer. `work` bounds all of
    them together: a step counts as `LINKS_OF_A_STEP` links.
    """

    def __init__(self, most_steps: int, work: Work) -> None:
        self._most_steps = most_steps
        self._work = work
        self.given_up = 0
        self._known: dict[Bucket, list[tuple[int, _Piece]]] = {}
        self._pieces = 0
        self._numbers: dict[tuple[int, ...], int] = {}

    def number(self, ball: ReleasedBall) -> int:
        """Return the number of this neighborhood's shape."""
        pieces = tuple(sorted(self._piece_number(piece) for piece in _pieces(ball)))
        return self._numbers.setdefault(pieces, len(self._numbers))

    def _piece_number(self, piece: _Piece) -> int:
        alike = self._known.setdefault(piece.bucket, [])
        for number, known in alike:
            if self._isomorphic(known, piece):
                return number
        alike.append((self._pieces, piece))
        self._pieces += 1
        return self._pieces - 1

    def _isomorphic(self, one: _Piece, other: _Piece) -> bool:
        """Whether two pieces of one bucket are isomorphic; not, where VF2 cannot say."""
        size = len(one.colors)
        links = sum(len(row) for row in one.neighbors)
        if len(one.bucket) == size or links in {size * (size - 1), 2 * (size - 1)}:
            return True
        try:
            return bool(
                rx.is_isomorphic(
                    _as_rustworkx(one),
                    _as_rustworkx(other),
                    _matcher(self._most_steps),
                    id_order=False,
                )
            )
        except _UndecidedError:
            self.given_up += 1
            self._work.spend(self._most_steps * LINKS_OF_A_STEP)
            return False


def _matcher(most_steps: int) -> Callable[[int, int], bool]:
    """Return a comparison of colors that can be asked so many times."""
    steps = 0

    def same(one: int, other: int) -> bool:
        nonlocal steps
        steps += 1
        if steps > most_steps:
            raise _UndecidedError
        return one == other

    return same


def _as_rustworkx(piece: _Piece) -> rx.PyGraph[int, None]:
    graph: rx.PyGraph[int, None] = rx.PyGraph(multigraph=False)
    graph.add_nodes_from(piece.colors)
    graph.add_edges_from_no_data(
        [(head, tail) for head, row in enumerate(piece.neighbors) for tail in row if head < tail]
    )
    return graph


def _pieces(ball: ReleasedBall) -> list[_Piece]:
    """Return the connected pieces of a neighborhood without its center, refined."""
    from scipy import sparse  # noqa: PLC0415  heavy, and degrees need none
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415  as above

    size = ball.nodes.size - 1
    kept = (ball.heads > 0) & (ball.tails > 0)
    heads, tails = ball.heads[kept] - 1, ball.tails[kept] - 1
    links = sparse.csr_array((np.ones(heads.size, np.int8), (heads, tails)), shape=(size, size))
    count, owner = connected_components(links, directed=False) if size else (0, np.empty(0))
    order = np.argsort(owner, kind="stable")
    position = np.empty(size, dtype=np.int64)
    sizes = np.bincount(owner.astype(np.int64), minlength=count)
    starts = np.cumsum(sizes) - sizes
    position[order] = np.arange(size) - np.repeat(starts, sizes)
    rows = np.split(position[tails], np.cumsum(np.bincount(heads, minlength=size))[:-1])
    hops = ball.hops[1:]
    return [
        _refined(hops[members].tolist(), [rows[node].tolist() for node in members])
        for members in np.split(order, starts[1:])
        if members.size
    ]


def _refined(hops: list[int], neighbors: list[list[int]]) -> _Piece:
    """Return a piece with its stable colors, which isomorphic pieces have in common.

    Nodes start with their distance. Colors are the ranks of (color, colors of the neighbors),
    until no color splits any more. The bucket tells, of every color, its distance, how many nodes
    have it and the colors of their neighbors.
    """
    colors, count = hops, len(set(hops))
    while True:
        keys = [
            (colors[node], tuple(sorted([colors[other] for other in row])))
            for node, row in enumerate(neighbors)
        ]
        rank = {key: position for position, key in enumerate(sorted(set(keys)))}
        if len(rank) == count:
            return _Piece(colors, neighbors, _bucket(hops, keys))
        colors, count = [rank[key] for key in keys], len(rank)


def _bucket(hops: list[int], keys: list[tuple[int, tuple[int, ...]]]) -> Bucket:
    cells: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}
    for hop, key in zip(hops, keys, strict=True):
        cells[key] = (hop, cells.get(key, (hop, 0))[1] + 1)
    return tuple((*cells[key], key[1]) for key in sorted(cells))

"""Which neighborhoods are isomorphic: color refinement first, VF2 where that does not decide.

Color refinement only sorts candidates into buckets and offers VF2 its colors. Two pieces count as
one shape where refinement distinguishes all nodes and finds the same links, where both are trees,
which refinement decides (Ramana, Scheinerman and Ullman, 1994), or where VF2 maps one onto the
other.

Cost: refinement O(links log links) per round; VF2 at most ``most_steps`` steps per comparison.
Isomorphism has no known polynomial bound, so a comparison may be given up: then the two count as
different, which makes classes smaller and never hides a failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphveil.core.libraries import csgraph, rx, sparse
from graphveil.verify.recount.graphs.released_graph import ReleasedBall, Work

Bucket = tuple[tuple[int, int, tuple[int, ...]], ...]


class _Piece(NamedTuple):
    """A connected graph whose nodes have colors that every isomorphism keeps."""

    colors: list[int]
    neighbors: list[list[int]]
    bucket: Bucket


class _UndecidedError(Exception):
    """A comparison by VF2 exceeded its steps."""


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
        # Two neighborhoods are isomorphic exactly if their pieces are, as multisets.
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
        """Whether two pieces of one bucket are isomorphic; False if VF2 exceeds its steps."""
        # Decided by refinement: all colors differ, a tree, or a clique. (Both are of one bucket, so
        # colors and numbers of links agree.)
        size = len(one.colors)
        links = sum(len(row) for row in one.neighbors)
        if len(one.bucket) == size or links in {size * (size - 1), 2 * (size - 1)}:
            return True
        # VF2 compares the rest; it may give up, and then the two count as different.
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
    """Return a comparison of colors that raises after `most_steps` calls."""
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
    # Drop the center, which is linked to exactly the nodes at one hop.
    size = ball.nodes.size - 1
    kept = (ball.heads > 0) & (ball.tails > 0)
    heads, tails = ball.heads[kept] - 1, ball.tails[kept] - 1
    links = sparse.csr_array((np.ones(heads.size, np.int8), (heads, tails)), shape=(size, size))
    # Connected pieces, with nodes renumbered within each.
    count, owner = csgraph.connected_components(links, directed=False) if size else (0, np.empty(0))
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
        # One round of refinement: a node's color and the sorted colors of its neighbors.
        keys = [
            (colors[node], tuple(sorted([colors[other] for other in row])))
            for node, row in enumerate(neighbors)
        ]
        # Colors are ranks of these keys, so that isomorphic pieces get the same colors.
        rank = {key: position for position, key in enumerate(sorted(set(keys)))}
        if len(rank) == count:
            return _Piece(colors, neighbors, _bucket(hops, keys))
        colors, count = [rank[key] for key in keys], len(rank)


def _bucket(hops: list[int], keys: list[tuple[int, tuple[int, ...]]]) -> Bucket:
    cells: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}
    for hop, key in zip(hops, keys, strict=True):
        cells[key] = (hop, cells.get(key, (hop, 0))[1] + 1)
    return tuple((*cells[key], key[1]) for key in sorted(cells))

"""The integer program that bounds the edits from below: how few edits k-degree anonymity needs.

L1*/2, half of the least change of degrees, is a weak bound: it lets nobody pay for a hub's missing
edges, although every node that gives a hub an edge leaves its own class. This program counts those
nodes. It is not in Liu and Terzi.

Symbols: a *class* a is all c_a nodes of one degree, also written a; m_ab edges and h_ab pairs
without an edge are between the classes a and b (a = b: inside). Only sets of fewer than UB edits
are looked for, UB being the best known: no degree then moves by more than UB - 1, and no target
lies above min(n - 1, the largest degree + 2 UB / k).

    x_at  integer, 0 .. c_a            nodes of class a that get the degree t
    y_t   0 or 1                       whether degree t is used
    A_ab  integer, 0 .. min(h_ab, UB)  edges added between a and b
    D_ab  integer, 0 .. min(m_ab, UB)  edges deleted between a and b  (edits="add": none)

    minimize  sum of A + sum of D  subject to

    (1) sum_t x_at = c_a                       every node gets a target
    (2) sum_a x_at >= k y_t,  x_at <= c_a y_t  a target that is used has at least k nodes
    (3) P_a - Q_a = U_a - L_a,  P_a >= U_a     ends of edges pay for moves, and no raise is paid by
                                               the lowering of another node
    (4) A_ab <= sum_t x_bt min((t - b)+, c_a) + P_b - U_b    a node of b takes at most one edge from
                                               each node of a small class a; D likewise

(z)+ stands for max(z, 0). P_a and Q_a are the ends of added and deleted edges in class a, U_a and
L_a the sums of ``(t - a)+ x_at`` and ``(a - t)+ x_at``. Inside a class, (4) counts both ends and
c_a - 1 for c_a.

Every set of fewer than UB edits after which each degree has k nodes is a point of the program with
its own edits as value, so the least value bounds all of them from below. A program without points
proves that UB is the minimum. The converse does not hold: a point need not be a graph. Costs: as
many x as moves, at most D (2 UB - 1) for D degrees, and D^2 blocks for each of A and D.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.k_degree.integer_programs.solver import Program, Rows

SMALL_CLASS = 4
"""Up to this number of nodes of class a, rows (4) are part of the program.

Without rows (4), plans raise one node of b several times where a hub needs several nodes of b. More
rows tighten the bound and take longer to solve; how 4 was chosen is not recorded.
"""


class Blocks(NamedTuple):
    """A graph as the program sees it: classes of equal degree, edges and non-edges between them.

    `degree` and `count` (int64, shape (D,)) are the degree and the size c of each class, ascending;
    `of_node` (shape (n,)) is the class of every node. `edges` and `pairs` (shape (D, D), the upper
    triangle) are m_ab and h_ab.
    """

    degree: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    of_node: Ints
    edges: Ints
    pairs: Ints


def blocks_of(degrees: Ints, edges: NDArray[np.integer]) -> Blocks:
    """Return the classes of equal degree, and the edges between them."""
    degree, of_node, count = np.unique(degrees, return_inverse=True, return_counts=True)
    ends = np.sort(of_node[edges], axis=1)
    between = np.zeros((degree.size, degree.size), dtype=np.int64)
    np.add.at(between, (ends[:, 0], ends[:, 1]), 1)
    pairs = np.outer(count, count)
    np.fill_diagonal(pairs, count * (count - 1) // 2)
    return Blocks(degree, count, of_node, between, np.triu(pairs) - between)


def moves_of(blocks: Blocks, k: int, most: int, *, additions: bool) -> Ints:
    """Return the class and the target of every x, int64, shape (number of x, 2).

    These are the moves that fewer than `most` edits allow.
    """
    n = int(blocks.count.sum())
    low, sizes = _targets(blocks.degree, n, k, most, additions=additions)
    ends = np.cumsum(sizes)
    of_class = np.repeat(np.arange(sizes.size), sizes)
    target = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + low[of_class]
    return np.column_stack([of_class, target])


def number_of_moves(degrees: Ints, k: int, most: int, *, additions: bool) -> int:
    """Return how many moves `moves_of` gives, from the degrees alone."""
    distinct = np.unique(degrees)
    return int(_targets(distinct, degrees.size, k, most, additions=additions)[1].sum())


def _targets(degree: Ints, n: int, k: int, most: int, *, additions: bool) -> tuple[Ints, Ints]:
    """Return the lowest target of every degree, and how many targets it has."""
    # A target above the largest degree needs k nodes that all rise at least to it, and each edit
    # raises two of them by one. And no node is an end of more than most - 1 edits.
    largest = min(n - 1, int(degree[-1]) + 2 * most // k)
    reach = most - 1
    low = degree if additions else np.maximum(degree - reach, 0)
    return low, np.minimum(degree + reach, largest) - low + 1


def block_program(blocks: Blocks, k: int, most: int, *, additions: bool) -> Program:
    """Return the program whose least value bounds all sets of fewer than `most` edits.

    `most` is UB, the edits of the best solution known; `additions` says that edges are only added.
    """
    # The variables: x by class and target, y by target, A and D by pairs of classes that have pairs
    # without an edge, or edges.
    moves = moves_of(blocks, k, most, additions=additions)
    rise = moves[:, 1] - blocks.degree[moves[:, 0]]
    targets, used = np.unique(moves[:, 1], return_inverse=True)
    first, second = np.triu_indices(blocks.degree.size)
    added = np.column_stack([first, second])[blocks.pairs[first, second] > 0]
    deleted = np.column_stack([first, second])[blocks.edges[first, second] > 0]
    deleted = deleted[:0] if additions else deleted
    sizes = [moves.shape[0], targets.size, added.shape[0], deleted.shape[0]]
    rows = _BlockRows(blocks, k, sizes, rise)
    # (1) all nodes of a class have targets
    count, x = blocks.count, np.arange(moves.shape[0])
    rows.add(rows.matrix(moves[:, 0], x, np.ones(x.size), count.size), count, count)
    rows.used_targets_have_k_nodes(moves, used)
    rows.ends_pay_for_moves(moves, added, deleted)
    rows.stars(moves, added, np.maximum(rise, 0), rows.offsets[2])
    if not additions:
        rows.stars(moves, deleted, np.maximum(-rise, 0), rows.offsets[3])
    upper = np.concatenate(
        [
            blocks.count[moves[:, 0]],
            np.ones(targets.size, dtype=np.int64),
            np.minimum(blocks.pairs[added[:, 0], added[:, 1]], most),
            np.minimum(blocks.edges[deleted[:, 0], deleted[:, 1]], most),
        ]
    )
    cost = np.repeat([0.0, 0.0, 1.0, 1.0], sizes)
    return Program(cost, *rows.stacked(), upper.astype(np.float64), moves, added, deleted)


class _BlockRows(Rows):
    """The rows of the block program.

    `sizes` are the numbers of x, y, A and D, and `offsets` where they begin among the variables;
    `rise` is t - a for every x. `change` keeps P - U of every class, which rows (3) and (4) share.
    """

    def __init__(self, blocks: Blocks, k: int, sizes: list[int], rise: Ints) -> None:
        super().__init__(sum(sizes))
        self.blocks, self.k, self.rise = blocks, k, rise
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.change: Any = None

    def used_targets_have_k_nodes(self, moves: Ints, used: Ints) -> None:
        """(2) A target that is used has at least k nodes."""
        x, start, end = np.arange(moves.shape[0]), self.offsets[1], self.offsets[2]
        y = np.arange(end - start)
        row, column = np.concatenate([used, y]), np.concatenate([x, start + y])
        value = np.concatenate([np.ones(x.size), np.full(y.size, -self.k)])
        self.add(self.matrix(row, column, value, y.size), 0, np.inf)
        row, column = np.concatenate([x, x]), np.concatenate([x, start + used])
        value = np.concatenate([np.ones(x.size), -self.blocks.count[moves[:, 0]]])
        self.add(self.matrix(row, column, value, x.size), -np.inf, 0)

    def ends_pay_for_moves(self, moves: Ints, added: Ints, deleted: Ints) -> None:
        """(3) P - Q = U - L and P >= U: no raise is paid by the lowering of another node."""
        n, x = self.blocks.count.size, np.arange(moves.shape[0])
        gained, lost = (
            self.matrix(
                pairs.T.ravel(), np.tile(start + np.arange(len(pairs)), 2), np.ones(pairs.size), n
            )
            for pairs, start in ((added, self.offsets[2]), (deleted, self.offsets[3]))
        )
        up, down = (
            self.matrix(moves[:, 0], x, np.maximum(sign * self.rise, 0), n) for sign in (1, -1)
        )
        self.change = gained - up
        self.add(self.change - lost + down, 0, 0)
        self.add(self.change, 0, np.inf)

    def stars(self, moves: Ints, pairs: Ints, gain: Ints, start: int) -> None:
        """(4) A node takes at most one edge from each node of a small class.

        Edges between a and b number at most the moves of nodes of b, each counted up to c_a, and
        what nodes of b gain and lose again; inside a class, half of it. `pairs` are the classes of
        the A (or D), which begin at variable `start`; `gain` is how much an x rises (or falls).
        """
        count = self.blocks.count
        begin = np.searchsorted(moves[:, 0], np.arange(count.size + 1))
        for flip in (False, True):
            # Each pair of classes twice, either one as the small class a; inside a class once.
            a, b = (pairs[:, 1], pairs[:, 0]) if flip else (pairs[:, 0], pairs[:, 1])
            inside = a == b
            chosen = np.flatnonzero((count[a] <= SMALL_CLASS) & (count[b] >= 2) & ~(inside & flip))
            if chosen.size == 0:
                continue
            # One entry for every x of class b in every chosen row, and one for the A (or D) itself.
            widths = (begin[1:] - begin[:-1])[b[chosen]]
            row = np.repeat(np.arange(chosen.size), widths)
            within = np.arange(row.size) - np.repeat(np.cumsum(widths) - widths, widths)
            x = begin[b[chosen]][row] + within
            most = (count[a] - inside)[chosen]
            value = -np.minimum(gain[x], most[row])
            own = self.matrix(
                np.concatenate([row, np.arange(chosen.size)]),
                np.concatenate([x, start + chosen]),
                np.concatenate([value, 1 + inside[chosen]]),
                chosen.size,
            )
            self.add(own - self.change[b[chosen]], -np.inf, 0)

"""How few edits k-degree anonymity needs: an integer program over classes of equal degree.

Half of the least change of degrees is a bound, but a weak one: it lets nobody pay for a hub's
missing edges. Whoever gives a hub an edge leaves a class, too. This program counts who does. Every
set of fewer edits than the best that is known, after which each degree has k nodes, is a point of
it with its own edits as value, so that its least value bounds them from below.

============  ==================================================================================
in the model  here
============  ==================================================================================
a, c_a        a class: its degree and how many nodes have it, `Blocks.degree` and `Blocks.count`
m_ab, h_ab    edges, and pairs that are none, between classes a <= b: `Blocks.edges`, `.pairs`
x_at          how many nodes of class a get the degree t
y_t           whether degree t is used
A_ab, D_ab    how many edges are added and deleted between a and b
P, Q, U, L    ends added and deleted in a class, degrees it rises and falls by
============  ==================================================================================
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NODE_LIMIT = 50
"""So many nodes of the tree of cases are searched: what seconds allow hangs on the machine."""

SMALL_CLASS = 4
"""Up to so many nodes, edges from one class to another are counted by the nodes they need."""

TOLERANCE = 1e-6
"""By so much the solver may miss."""


class Blocks(NamedTuple):
    """A graph as far as the program sees it: classes of equal degree, and what is between them.

    Parameters
    ----------
    degree, count
        int64, shape (D,): the distinct degrees, ascending, and how many nodes have each.
    of_node
        int64, shape (n,): the class of every node.
    edges, pairs
        int64, shape (D, D), of a <= b: edges between two classes, and pairs that are no edges.
    """

    degree: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    of_node: Ints
    edges: Ints
    pairs: Ints


class Program(NamedTuple):
    """An integer program: the least sum of edits under rows of bounds.

    Parameters
    ----------
    cost
        float64, shape (variables,).
    rows
        Sparse matrix, shape (rows, variables).
    low, high
        float64, shape (rows,): the bounds of every row.
    upper
        float64, shape (variables,); all begin at 0 and are whole numbers.
    moves
        int64, shape (x, 2): the class and the target of every x.
    added, deleted
        int64, shape (blocks, 2): the two classes of every A and D.
    """

    cost: Floats
    rows: Any
    low: Floats
    high: Floats
    upper: Floats
    moves: Ints
    added: Ints
    deleted: Ints

    @property
    def size(self) -> int:
        """The number of variables."""
        return self.cost.size


class Solution(NamedTuple):
    """What a solver says of a program.

    Parameters
    ----------
    bound
        No point has a smaller value; infinite where there is no point.
    values
        float64, shape (variables,), of the best point; None where none was reached.
    """

    bound: float
    values: Floats | None


def blocks_of(degrees: Ints, edges: NDArray[np.integer]) -> Blocks:
    """Return the classes of equal degree, and the edges between them.

    Parameters
    ----------
    degrees
        int64, shape (n,).
    edges
        Shape (m, 2), each edge once.

    Examples
    --------
    >>> path = blocks_of(np.array([1, 2, 1]), np.array([[0, 1], [1, 2]]))
    >>> path.degree.tolist(), path.edges.tolist(), path.pairs.tolist()
    ([1, 2], [[0, 2], [0, 0]], [[1, 0], [0, 0]])
    """
    degree, of_node, count = np.unique(degrees, return_inverse=True, return_counts=True)
    ends = np.sort(of_node[edges], axis=1)
    between = np.zeros((degree.size, degree.size), dtype=np.int64)
    np.add.at(between, (ends[:, 0], ends[:, 1]), 1)
    pairs = np.outer(count, count)
    np.fill_diagonal(pairs, count * (count - 1) // 2)
    return Blocks(degree, count, of_node, between, np.triu(pairs) - between)


def moves_of(blocks: Blocks, k: int, most: int, *, additions: bool) -> Ints:
    """Return every class and target that fewer edits than `most` allow, shape (x, 2)."""
    n = int(blocks.count.sum())
    low, sizes = _targets(blocks.degree, n, k, most, additions=additions)
    ends = np.cumsum(sizes)
    of_class = np.repeat(np.arange(sizes.size), sizes)
    target = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes) + low[of_class]
    return np.column_stack([of_class, target])


def number_of_moves(degrees: Ints, k: int, most: int, *, additions: bool) -> int:
    """Return how many moves `moves_of` gives, from the degrees alone.

    Examples
    --------
    >>> degrees = np.array([1, 2, 1])
    >>> blocks = blocks_of(degrees, np.array([[0, 1], [1, 2]]))
    >>> moves = moves_of(blocks, 2, 3, additions=False)
    >>> len(moves) == number_of_moves(degrees, 2, 3, additions=False)
    True
    """
    distinct = np.unique(degrees)
    return int(_targets(distinct, degrees.size, k, most, additions=additions)[1].sum())


def _targets(degree: Ints, n: int, k: int, most: int, *, additions: bool) -> tuple[Ints, Ints]:
    """Return the lowest target of every degree, and how many targets it has."""
    largest = min(n - 1, int(degree[-1]) + 2 * most // k)
    reach = most - 1
    low = degree if additions else np.maximum(degree - reach, 0)
    return low, np.minimum(degree + reach, largest) - low + 1


def block_program(blocks: Blocks, k: int, most: int, *, additions: bool) -> Program:
    """Return the program whose least value bounds all sets of fewer than `most` edits.

    Parameters
    ----------
    blocks
        The graph.
    k
        The smallest number of nodes that share a degree.
    most
        The edits of the best solution that is known: only better ones are points.
    additions
        Whether no edge may be deleted.
    """
    moves = moves_of(blocks, k, most, additions=additions)
    rise = moves[:, 1] - blocks.degree[moves[:, 0]]
    targets, used = np.unique(moves[:, 1], return_inverse=True)
    first, second = np.triu_indices(blocks.degree.size)
    added = np.column_stack([first, second])[blocks.pairs[first, second] > 0]
    deleted = np.column_stack([first, second])[blocks.edges[first, second] > 0]
    deleted = deleted[:0] if additions else deleted
    sizes = [moves.shape[0], targets.size, added.shape[0], deleted.shape[0]]
    rows = _Rows(blocks, k, sizes, rise)
    rows.every_node_has_a_target(moves)
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


class _Rows:
    """The rows of a program, one kind after the other."""

    def __init__(self, blocks: Blocks, k: int, sizes: list[int], rise: Ints) -> None:
        from scipy import sparse  # noqa: PLC0415  heavy: only where a bound is asked for

        self._sparse = sparse
        self.blocks, self.k, self.rise = blocks, k, rise
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.parts: list[tuple[Any, Floats, Floats]] = []
        self.change: Any = None

    def matrix(self, row: Ints, column: Ints, value: Any, n: int) -> Any:
        """Return rows of these entries; what stands twice is added up."""
        shape = (n, self.offsets[-1])
        return self._sparse.csr_array((np.asarray(value, dtype=np.float64), (row, column)), shape)

    def add(self, rows: Any, low: Any, high: Any) -> None:
        """Add rows with their bounds."""
        n = rows.shape[0]
        self.parts.append((rows, np.broadcast_to(low, n) * 1.0, np.broadcast_to(high, n) * 1.0))

    def stacked(self) -> tuple[Any, Floats, Floats]:
        """Return all rows, and their bounds."""
        rows = self._sparse.vstack([part[0] for part in self.parts]).tocsr()
        low, high = (np.concatenate([part[which] for part in self.parts]) for which in (1, 2))
        return rows, low, high

    def every_node_has_a_target(self, moves: Ints) -> None:
        """(1) The nodes of a class are shared out among targets."""
        x = np.arange(moves.shape[0])
        count = self.blocks.count
        self.add(self.matrix(moves[:, 0], x, np.ones(x.size), count.size), count, count)

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
        what nodes of b gain beside losing; inside a class, half of it.
        """
        count = self.blocks.count
        begin = np.searchsorted(moves[:, 0], np.arange(count.size + 1))
        for flip in (False, True):
            a, b = (pairs[:, 1], pairs[:, 0]) if flip else (pairs[:, 0], pairs[:, 1])
            inside = a == b
            chosen = np.flatnonzero((count[a] <= SMALL_CLASS) & (count[b] >= 2) & ~(inside & flip))
            if chosen.size == 0:
                continue
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


def solved(program: Program, *, integer: bool) -> Solution:
    """Return the best point of a program and the bound that HiGHS proves, to its tolerance.

    Parameters
    ----------
    program
        The program.
    integer
        Whether values must be whole; else the bound is that of the linear relaxation.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415  heavy, as above

    result = milp(
        program.cost,
        integrality=np.full(program.size, 1 if integer else 0),
        bounds=Bounds(0, program.upper),
        constraints=LinearConstraint(program.rows, program.low, program.high),
        options={"node_limit": NODE_LIMIT},
    )
    infeasible = 2
    if result.status == infeasible:
        return Solution(math.inf, None)
    bound = result.mip_dual_bound if integer else result.fun
    return Solution(-math.inf if bound is None else float(bound), result.x)


def whole_bound(bound: float, most: int) -> int:
    """Return the least number of edits that a bound allows; `most` where it allows no fewer.

    Examples
    --------
    >>> whole_bound(10.2, 12), whole_bound(11.0000001, 12), whole_bound(float("inf"), 12)
    (11, 11, 12)
    """
    if bound >= most:
        return most
    return max(math.ceil(bound - TOLERANCE), 0) if math.isfinite(bound) else 0

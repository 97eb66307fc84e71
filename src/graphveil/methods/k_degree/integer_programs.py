"""How few edits k-degree anonymity needs: an integer program over classes of equal degree.

Half of the least change of degrees is a weak bound: it lets nobody pay for a hub's missing edges.
This program counts who leaves a class for that. Every set of fewer edits than the best known, after
which each degree has k nodes, is a point of it with its own edits as value, so its least value
bounds them from below. x_at nodes of class a get degree t, y_t says whether t is used, A_ab and
D_ab edges are added and deleted between a and b. A second program, over sampled nodes, carries a
point out.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.methods.k_degree.kernels.edits import pairs_in_graph
from graphveil.methods.k_degree.sequence import DegreeTask, KDegreeOutcome

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NODE_LIMIT = 50
"""So many nodes of the tree of cases are searched: what seconds allow depends on the machine."""

SMALL_CLASS = 4
"""Up to so many nodes, edges from one class to another are counted by the nodes they need."""

TOLERANCE = 1e-6
"""By so much the solver may miss."""


class Blocks(NamedTuple):
    """A graph as the program sees it: classes of equal degree, edges and non-edges between them."""

    degree: Ints
    count: Ints  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    of_node: Ints
    edges: Ints
    pairs: Ints


class Program(NamedTuple):
    """An integer program: the least sum of edits under rows of bounds.

    Variables begin at 0; `moves` has the class and the target of every x, `added` and `deleted` the
    two classes of every A and D.
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
    """What a solver says: no point has a value below `bound`, infinite without points; the best."""

    bound: float
    values: Floats | None


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
    """Return every class and target that fewer edits than `most` allow, shape (x, 2)."""
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
    largest = min(n - 1, int(degree[-1]) + 2 * most // k)
    reach = most - 1
    low = degree if additions else np.maximum(degree - reach, 0)
    return low, np.minimum(degree + reach, largest) - low + 1


def block_program(blocks: Blocks, k: int, most: int, *, additions: bool) -> Program:
    """Return the program whose least value bounds all sets of fewer than `most` edits."""
    moves = moves_of(blocks, k, most, additions=additions)
    rise = moves[:, 1] - blocks.degree[moves[:, 0]]
    targets, used = np.unique(moves[:, 1], return_inverse=True)
    first, second = np.triu_indices(blocks.degree.size)
    added = np.column_stack([first, second])[blocks.pairs[first, second] > 0]
    deleted = np.column_stack([first, second])[blocks.edges[first, second] > 0]
    deleted = deleted[:0] if additions else deleted
    sizes = [moves.shape[0], targets.size, added.shape[0], deleted.shape[0]]
    rows = _BlockRows(blocks, k, sizes, rise)
    count, x = blocks.count, np.arange(moves.shape[0])  # (1) all of a class have targets
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


class _Rows:
    """The rows of a program of so many variables, one kind after the other."""

    def __init__(self, variables: int) -> None:
        from scipy import sparse  # noqa: PLC0415  heavy: only where a bound is asked for

        self._sparse, self.variables = sparse, variables
        self.parts: list[tuple[Any, Floats, Floats]] = []

    def matrix(self, row: Ints, column: Ints, value: Any, n: int) -> Any:
        """Return rows of these entries; what stands twice is added up."""
        entries = np.asarray(value, dtype=np.float64), (row, column)
        return self._sparse.csr_array(entries, (n, self.variables))

    def add(self, rows: Any, low: Any, high: Any) -> None:
        """Add rows with their bounds."""
        n = rows.shape[0]
        self.parts.append((rows, np.broadcast_to(low, n) * 1.0, np.broadcast_to(high, n) * 1.0))

    def stacked(self) -> tuple[Any, Floats, Floats]:
        """Return all rows, and their bounds."""
        rows = self._sparse.vstack([part[0] for part in self.parts]).tocsr()
        low, high = (np.concatenate([part[which] for part in self.parts]) for which in (1, 2))
        return rows, low, high


class _BlockRows(_Rows):
    """The rows of the block program."""

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
        what nodes of b gain rather than lose; inside a class, half of it.
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


def _best_point(
    cost: Floats, upper: Any, rows: tuple[Any, Floats, Floats], *, integer: bool, nodes: int
) -> Any:
    """Return what HiGHS says, from so many nodes of the tree of cases."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415  heavy, as above

    whole, within = np.full(cost.size, int(integer)), LinearConstraint(*rows)
    options = {"node_limit": nodes}
    return milp(
        cost, integrality=whole, bounds=Bounds(0, upper), constraints=within, options=options
    )


def solved(program: Program, *, integer: bool) -> Solution:
    """Return the best point of a program and the bound that HiGHS proves, to its tolerance."""
    rows = program.rows, program.low, program.high
    result = _best_point(program.cost, program.upper, rows, integer=integer, nodes=NODE_LIMIT)
    infeasible = 2
    if result.status == infeasible:
        return Solution(math.inf, None)
    bound = result.mip_dual_bound if integer else result.fun
    return Solution(-math.inf if bound is None else float(bound), result.x)


def whole_bound(bound: float, most: int) -> int:
    """Return the least number of edits that a bound allows; `most` where it allows no fewer."""
    if bound >= most:
        return most
    return max(math.ceil(bound - TOLERANCE), 0) if math.isfinite(bound) else 0


WHOLE_CLASS = 12
"""Of a class of so many nodes at most all may move."""

SPARE = 3
"""So many nodes of a class may move in addition to those that the plan needs."""

MOST_PAIRS = 400
"""So many pairs are tried between two classes."""

RANDOM_PAIRS = 1500
EDGES_INSIDE = 600
"""So many more pairs and edges are tried where targets are free."""

NODES_OF_A_TRY = 20
"""So many nodes of the tree of cases are searched for one sample."""

NEAR_TARGETS = 2
"""So far a free target may lie from a node's degree."""


class PlannedMoves(NamedTuple):
    """What the block program plans: nodes of every move, edits of every block, in whole numbers."""

    nodes: Ints
    added: Ints
    deleted: Ints

    @property
    def edits(self) -> int:
        """How many edits are planned."""
        return int(self.added.sum() + self.deleted.sum())


class PlannedProgram(NamedTuple):
    """The classes of a graph, the program over them, and what a point of it plans."""

    blocks: Blocks
    program: Program
    plan: PlannedMoves


class Candidates(NamedTuple):
    """What may change: nodes, and pairs as keys ``u * n + v``, ascending."""

    nodes: Ints
    added: Ints
    deleted: Ints


def planned(program: Program, values: Floats) -> PlannedMoves:
    """Return the numbers of a point of the program."""
    whole = np.round(values).astype(np.int64)
    x, blocks = program.moves.shape[0], program.added.shape[0]
    end = whole.size - program.deleted.shape[0]
    return PlannedMoves(whole[:x], whole[end - blocks : end], whole[end:])


def carried_out(
    task: DegreeTask, planned: PlannedProgram, rng: Generator, *, free: bool
) -> KDegreeOutcome | None:
    """Return the fewest edits among sampled candidates; None where none of them fit.

    If `free`, nodes may get other targets than planned.
    """
    tried = _candidates(task, planned, rng, free=free)
    if tried.nodes.size == 0:
        return None
    chosen = _Model(task, planned, tried, free=free).solution()
    if chosen is None:
        return None
    n_added = tried.added.size
    added = tried.added[chosen[:n_added]]
    deleted = tried.deleted[chosen[n_added : n_added + tried.deleted.size]]
    reached = task.degrees.copy()
    for keys, sign in ((added, 1), (deleted, -1)):
        ends = np.concatenate(np.divmod(keys, reached.size))
        reached += sign * np.bincount(ends, minlength=reached.size)
    classes = np.bincount(reached)
    if classes[classes > 0].min() < task.k:
        return None
    return KDegreeOutcome(added, deleted, reached, rounds=1)


def _candidates(
    task: DegreeTask, planned: PlannedProgram, rng: Generator, *, free: bool
) -> Candidates:
    """Return sampled nodes of the classes that the plan touches, and pairs among them."""
    blocks, program, plan = planned
    n = task.degrees.size
    keys, block = _edges_by_block(task, blocks)
    deletable = [
        rng.choice(there, min(there.size, 30 + 6 * wanted), replace=False)
        for (a, b), wanted in zip(program.deleted.tolist(), plan.deleted.tolist(), strict=True)
        if wanted and (there := np.flatnonzero(block == a * blocks.degree.size + b)).size
    ]
    inside = _nodes(planned, [keys[edges] for edges in deletable], rng)
    deleted = keys[np.concatenate([*deletable, np.empty(0, dtype=np.int64)])]
    nodes = np.flatnonzero(inside)
    added = [
        _some(_absent_pairs(task, nodes[of[nodes] == a], nodes[of[nodes] == b]), MOST_PAIRS, rng)
        for of in (blocks.of_node,)
        for (a, b), wanted in zip(program.added.tolist(), plan.added.tolist(), strict=True)
        if wanted
    ]
    if free and nodes.size:
        ends = rng.choice(nodes, (2, RANDOM_PAIRS))
        added.append(_absent(task, ends[0], ends[1]))
        if program.deleted.size:
            u, v = np.divmod(keys, n)
            deleted = np.append(deleted, _some(keys[inside[u] & inside[v]], EDGES_INSIDE, rng))
    u, v = np.divmod(deleted, n)
    joined = np.concatenate([*added, np.empty(0, dtype=np.int64)])
    return Candidates(nodes, np.unique(joined), np.unique(deleted[inside[u] & inside[v]]))


def _edges_by_block(task: DegreeTask, blocks: Blocks) -> tuple[Ints, Ints]:
    """Return the key of every edge, ascending, and a number for the two classes of its ends."""
    n = task.degrees.size
    source = np.repeat(np.arange(n, dtype=np.int64), task.degrees)
    forward = source < task.indices
    keys = source[forward] * n + task.indices[forward]
    ends = np.sort(blocks.of_node[np.stack(np.divmod(keys, n))], axis=0)
    return keys, ends[0] * blocks.degree.size + ends[1]


def _nodes(planned: PlannedProgram, deletable: list[Ints], rng: Generator) -> NDArray[np.bool_]:
    """Return which nodes may move: enough of every class that the plan touches."""
    blocks, program, plan = planned
    n, d = blocks.of_node.size, blocks.degree.size
    need = np.zeros(d, dtype=np.int64)
    of_class, target = program.moves.T
    moving = target != blocks.degree[of_class]
    np.add.at(need, of_class[moving], plan.nodes[moving])
    for pairs, wanted in ((program.added, plan.added), (program.deleted, plan.deleted)):
        np.add.at(need, pairs.ravel(), np.repeat(wanted, 2))
    inside = np.isin(blocks.of_node, np.flatnonzero((need > 0) & (blocks.count <= WHOLE_CLASS)))
    wanted = plan.deleted[plan.deleted > 0]
    for keys, number in zip(deletable, wanted.tolist(), strict=True):
        inside[np.concatenate(np.divmod(keys[: number + SPARE], n))] = True
    for a in np.flatnonzero(need):
        members = np.flatnonzero(blocks.of_node == a)
        others = members[~inside[members]]
        more = need[a] + SPARE - (members.size - others.size)
        if more > 0:
            inside[rng.choice(others, min(others.size, more), replace=False)] = True
    return inside


def _absent_pairs(task: DegreeTask, one: Ints, other: Ints) -> Ints:
    """Return the keys of all pairs between two lists of nodes that are not edges."""
    return _absent(task, np.repeat(one, other.size), np.tile(other, one.size))


def _absent(task: DegreeTask, one: Ints, other: Ints) -> Ints:
    u, v = np.minimum(one, other), np.maximum(one, other)
    keys: Ints = np.unique((u * task.degrees.size + v)[u < v])
    return keys[~pairs_in_graph(task.indptr, task.indices, keys)] if keys.size else keys


def _some(keys: Ints, most: int, rng: Generator) -> Ints:
    """Return at most so many of these, drawn evenly."""
    return rng.choice(keys, most, replace=False) if keys.size > most else keys


class _Model(_Rows):
    """The program over nodes: a 0 or 1 for each pair, and for each node and target."""

    def __init__(
        self, task: DegreeTask, planned: PlannedProgram, tried: Candidates, *, free: bool
    ) -> None:
        blocks, program, plan = planned
        self.task, self.blocks, self.tried, self.free = task, blocks, tried, free
        self.node, self.target = self._choices(program, plan)
        self.targets, self.used = np.unique(self.target, return_inverse=True)
        self.pairs = tried.added.size + tried.deleted.size
        self.n_used = self.targets.size if free else 0
        super().__init__(self.pairs + self.node.size + self.n_used)
        self.stay = np.bincount(
            np.delete(task.degrees, tried.nodes), minlength=int(self.target.max()) + 1
        )
        one, z = np.ones(tried.nodes.size), self.pairs + np.arange(self.node.size)
        self._add(self.node, z, np.ones(self.node.size), one, one)
        self._degrees_follow()
        if free:
            self._used_targets_have_k_nodes()
        else:
            self._as_many_as_planned(program, plan)

    def _choices(self, program: Program, plan: PlannedMoves) -> tuple[Ints, Ints]:
        """Return every candidate's position and a target that it may get."""
        of_class, target = program.moves.T
        made = plan.nodes > 0
        in_use = np.unique(target[made])
        nodes, targets = [], []
        for position, node in enumerate(self.tried.nodes.tolist()):
            own, degree = self.blocks.of_node[node], self.task.degrees[node]
            possible = target[made & (of_class == own)]
            if self.free:
                near = in_use[np.abs(in_use - degree) <= NEAR_TARGETS]
                possible = np.unique(np.concatenate([possible, near, [degree]]))
            nodes.append(np.full(possible.size, position))
            targets.append(possible)
        return np.concatenate(nodes).astype(np.int64), np.concatenate(targets).astype(np.int64)

    def _add(self, row: Ints, column: Ints, value: Any, low: Any, high: Any) -> None:
        self.add(self.matrix(row, column, value, low.size), low, high)

    def _degrees_follow(self) -> None:
        """Degree plus added minus deleted is the target."""
        n, nodes = self.task.degrees.size, self.tried.nodes
        pairs = np.concatenate([self.tried.added, self.tried.deleted])
        ends = np.searchsorted(nodes, np.concatenate(np.divmod(pairs, n)))
        sign = np.repeat([1.0, -1.0], [self.tried.added.size, self.tried.deleted.size])
        row = np.concatenate([ends, self.node])
        column = np.concatenate(
            [np.tile(np.arange(self.pairs), 2), self.pairs + np.arange(self.node.size)]
        )
        value = np.concatenate([sign, sign, -self.target])
        self._add(row, column, value, -self.task.degrees[nodes], -self.task.degrees[nodes])

    def _used_targets_have_k_nodes(self) -> None:
        """Give every target that is used k nodes, those that stay included."""
        z, y = self.pairs + np.arange(self.node.size), np.arange(self.n_used)
        start, stay = self.pairs + self.node.size, self.stay[self.targets]
        row, column = np.concatenate([self.used, y]), np.concatenate([z, start + y])
        value = np.concatenate([np.ones(z.size), np.full(y.size, -self.task.k)])
        self._add(row, column, value, -stay, np.inf)
        row = np.tile(np.arange(z.size), 2)
        column = np.concatenate([z, start + self.used])
        value = np.repeat([1.0, -1.0], z.size)
        self._add(row, column, value, np.full(z.size, -np.inf), 0)
        self._add(y, start + y, np.ones(y.size), (stay > 0) * 1, 1)

    def _as_many_as_planned(self, program: Program, plan: PlannedMoves) -> None:
        """As many nodes of a class get a target as the plan says, those that stay included."""
        width = int(max(program.moves[:, 1].max(), self.target.max())) + 1
        moves = program.moves[:, 0] * width + program.moves[:, 1]
        of_class = self.blocks.of_node[self.tried.nodes]
        keys, row = np.unique(of_class[self.node] * width + self.target, return_inverse=True)
        number = np.zeros(keys.size, dtype=np.int64)
        known = np.isin(moves, keys)
        np.add.at(number, np.searchsorted(keys, moves[known]), plan.nodes[known])
        classes, target = np.divmod(keys, width)
        staying = self.blocks.count - np.bincount(of_class, minlength=self.blocks.degree.size)
        number -= np.where(target == self.blocks.degree[classes], staying[classes], 0)
        z = self.pairs + np.arange(self.node.size)
        self._add(row, z, np.ones(z.size), number, number)

    def solution(self) -> NDArray[np.bool_] | None:
        """Return which pairs change, of those that are added and then those that are deleted."""
        cost = np.zeros(self.variables)
        cost[: self.pairs] = 1
        result = _best_point(cost, 1, self.stacked(), integer=True, nodes=NODES_OF_A_TRY)
        return None if result.x is None else np.asarray(result.x[: self.pairs] > 0.5)

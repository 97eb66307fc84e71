"""The integer program that carries out a point of the block program: fewer edits, if they exist.

A point of the block program (`block_program.py`) says how many nodes of each class get which target
and how many edges to add and delete between which classes. It does not say which ones, and there
may be none. So nodes of the touched classes and pairs among them are sampled as candidates, and a
second program decides over single pairs and nodes:

    e_p   0 or 1   whether candidate pair p changes: is added or deleted
    z_vt  0 or 1   whether candidate node v gets the degree t
    y_t   0 or 1   whether degree t is used (free targets only)

    minimize  sum of e  subject to

    (1) sum_t z_vt = 1                                 every candidate gets one target
    (2) d_v + added_v - deleted_v = sum_t t z_vt       and its edges lead to it
    (3) sum over v of class a of z_vt = x_at           *tight*: as many as planned, those that stay
                                                       included; or
    (3') sum_v z_vt + stay_t >= k y_t,  z_vt <= y_t,   *free*: every target that is used has k
         y_t = 1 if stay_t > 0                         nodes, those outside the sample included

The degrees are recomputed from the pairs found before these are used. Samples differ from try to
try, so that several tries are worth making; only the release depends on them, never a bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.methods.k_degree.integer_programs.block_program import Blocks
from graphveil.methods.k_degree.integer_programs.solver import Program, Rows, best_point
from graphveil.methods.k_degree.kernels.edits import pairs_in_graph
from graphveil.methods.k_degree.task import DegreeTask, KDegreeOutcome

WHOLE_CLASS = 12
"""Classes of up to this number of nodes are in the sample completely."""

SPARE = 3
"""How many nodes of a class, and ends of how many edges of a block, the sample has to spare."""

MOST_PAIRS = 400
"""The most candidate pairs between two classes."""

RANDOM_PAIRS = 1500
"""If targets are free: how many random pairs of sampled nodes are candidates for addition, too."""

EDGES_INSIDE = 600
"""If targets are free: the most edges between sampled nodes that may be deleted, too."""

NODES_OF_A_TRY = 20
"""How many nodes of its search tree HiGHS may visit for one sample."""

NEAR_TARGETS = 2
"""How far a free target may lie from a node's degree.

These sizes bound the program that one try solves: larger ones find more and take longer. How they
were chosen is not recorded.
"""


class PlannedMoves(NamedTuple):
    """What the block program plans, in whole numbers: its x, A and D, in its order; int64."""

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
    """Return the x, A and D of a point of the block program; `values` has all its variables."""
    whole = np.round(values).astype(np.int64)
    x, blocks = program.moves.shape[0], program.added.shape[0]
    end = whole.size - program.deleted.shape[0]
    return PlannedMoves(whole[:x], whole[end - blocks : end], whole[end:])


def carried_out(
    task: DegreeTask, planned: PlannedProgram, rng: Generator, *, free: bool
) -> KDegreeOutcome | None:
    """Return the fewest edits among sampled candidates; None if none of them fit.

    If `free`, nodes may get other targets than planned.
    """
    # Sample nodes and pairs, solve the program over them, and read off the pairs that change.
    sample = _candidates(task, planned, rng, free=free)
    if sample.nodes.size == 0:
        return None
    chosen = _Model(task, planned, sample, free=free).solution()
    if chosen is None:
        return None
    n_added = sample.added.size
    added = sample.added[chosen[:n_added]]
    deleted = sample.deleted[chosen[n_added : n_added + sample.deleted.size]]
    # Recompute the degrees from the pairs; the solver may be wrong within its tolerance.
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
    # Edges of blocks in which the plan deletes: six times as many as planned, and 30.
    keys, block = _edges_by_block(task, blocks)
    deletable = [
        rng.choice(there, min(there.size, 30 + 6 * wanted), replace=False)
        for (a, b), wanted in zip(program.deleted.tolist(), plan.deleted.tolist(), strict=True)
        if wanted and (there := np.flatnonzero(block == a * blocks.degree.size + b)).size
    ]
    # Nodes: ends of some of these edges, and random members of every class that the plan touches.
    inside = _nodes(planned, [keys[edges] for edges in deletable], rng)
    deleted = keys[np.concatenate([*deletable, np.empty(0, dtype=np.int64)])]
    nodes = np.flatnonzero(inside)
    # Pairs without an edge of blocks in which the plan adds, between sampled nodes.
    of_class = blocks.of_node[nodes]
    added = [
        _some(_absent_pairs(task, nodes[of_class == a], nodes[of_class == b]), MOST_PAIRS, rng)
        for (a, b), wanted in zip(program.added.tolist(), plan.added.tolist(), strict=True)
        if wanted
    ]
    # Free targets: random pairs and edges between any sampled nodes, too.
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
    """Return which nodes are in the sample, bool, shape (n,): enough of every touched class.

    `deletable` are the keys of candidate edges, one array for each block with planned deletions.
    """
    blocks, program, plan = planned
    n, d = blocks.of_node.size, blocks.degree.size
    # A class needs as many nodes as the plan moves, and as its planned edits have ends in it.
    need = np.zeros(d, dtype=np.int64)
    of_class, target = program.moves.T
    moving = target != blocks.degree[of_class]
    np.add.at(need, of_class[moving], plan.nodes[moving])
    for pairs, wanted in ((program.added, plan.added), (program.deleted, plan.deleted)):
        np.add.at(need, pairs.ravel(), np.repeat(wanted, 2))
    # Small classes completely, then ends of edges to delete, then random others up to the need.
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


def _absent_pairs(task: DegreeTask, first: Ints, second: Ints) -> Ints:
    """Return the keys of all pairs between two lists of nodes that are not edges."""
    return _absent(task, np.repeat(first, second.size), np.tile(second, first.size))


def _absent(task: DegreeTask, first: Ints, second: Ints) -> Ints:
    """Return the keys of those of these pairs that are not edges, ascending, each once."""
    u, v = np.minimum(first, second), np.maximum(first, second)
    keys: Ints = np.unique((u * task.degrees.size + v)[u < v])
    return keys[~pairs_in_graph(task.indptr, task.indices, keys)] if keys.size else keys


def _some(keys: Ints, most: int, rng: Generator) -> Ints:
    """Return at most `most` of the keys, chosen uniformly at random."""
    return rng.choice(keys, most, replace=False) if keys.size > most else keys


class _Model(Rows):
    """The program over nodes; its variables are the e, the z and, if targets are free, the y.

    `node` and `target` (int64) are the position among the candidates and the target of every z,
    `targets` the distinct targets and `used` the index of each z's target among them. `stay` is how
    many nodes outside the sample have each degree.
    """

    def __init__(
        self, task: DegreeTask, planned: PlannedProgram, sample: Candidates, *, free: bool
    ) -> None:
        blocks, program, plan = planned
        self.task, self.blocks, self.sample, self.free = task, blocks, sample, free
        self.node, self.target = self._choices(program, plan)
        self.targets, self.used = np.unique(self.target, return_inverse=True)
        self.pairs = sample.added.size + sample.deleted.size
        self.n_used = self.targets.size if free else 0
        super().__init__(self.pairs + self.node.size + self.n_used)
        self.stay = np.bincount(
            np.delete(task.degrees, sample.nodes), minlength=int(self.target.max()) + 1
        )
        # (1) one target for every node
        ones, z = np.ones(sample.nodes.size), self.pairs + np.arange(self.node.size)
        self._add(self.node, z, np.ones(self.node.size), ones, ones)
        self._degrees_follow()
        if free:
            self._used_targets_have_k_nodes()
        else:
            self._as_many_as_planned(program, plan)

    def _choices(self, program: Program, plan: PlannedMoves) -> tuple[Ints, Ints]:
        """Return every candidate's position and a target that it may get."""
        of_class, target = program.moves.T
        in_plan = plan.nodes > 0
        in_use = np.unique(target[in_plan])
        nodes, targets = [], []
        for position, node in enumerate(self.sample.nodes.tolist()):
            own, degree = self.blocks.of_node[node], self.task.degrees[node]
            possible = target[in_plan & (of_class == own)]
            if self.free:
                near = in_use[np.abs(in_use - degree) <= NEAR_TARGETS]
                possible = np.unique(np.concatenate([possible, near, [degree]]))
            nodes.append(np.full(possible.size, position))
            targets.append(possible)
        return np.concatenate(nodes).astype(np.int64), np.concatenate(targets).astype(np.int64)

    def _add(self, row: Ints, column: Ints, value: Any, low: Any, high: Any) -> None:
        self.add(self.matrix(row, column, value, low.size), low, high)

    def _degrees_follow(self) -> None:
        """(2) Degree plus added minus deleted is the target."""
        n, nodes = self.task.degrees.size, self.sample.nodes
        pairs = np.concatenate([self.sample.added, self.sample.deleted])
        ends = np.searchsorted(nodes, np.concatenate(np.divmod(pairs, n)))
        sign = np.repeat([1.0, -1.0], [self.sample.added.size, self.sample.deleted.size])
        row = np.concatenate([ends, self.node])
        column = np.concatenate(
            [np.tile(np.arange(self.pairs), 2), self.pairs + np.arange(self.node.size)]
        )
        value = np.concatenate([sign, sign, -self.target])
        self._add(row, column, value, -self.task.degrees[nodes], -self.task.degrees[nodes])

    def _used_targets_have_k_nodes(self) -> None:
        """(3') Give every target that is used k nodes, those that stay included."""
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
        """(3) As many nodes of a class get a target as the plan says, those that stay included."""
        width = int(max(program.moves[:, 1].max(), self.target.max())) + 1
        moves = program.moves[:, 0] * width + program.moves[:, 1]
        of_class = self.blocks.of_node[self.sample.nodes]
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
        result = best_point(cost, 1, self.stacked(), integer=True, nodes=NODES_OF_A_TRY)
        return None if result.x is None else np.asarray(result.x[: self.pairs] > 0.5)

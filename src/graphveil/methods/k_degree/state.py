"""The state of a realization: where it starts, what it comes to, and whether that is true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.hashing import new_table
from graphveil.kernels.k_degree import edits as kernel
from graphveil.methods.k_degree.cells import CellSpace


class DegreeTask(NamedTuple):
    """What every run of one realization shares; without colors, all nodes have the same."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    degrees: NDArray[np.int64]
    k: int
    near: bool
    colors: NDArray[np.int64] | None = None
    numbering: CellSpace | None = None

    @property
    def space(self) -> CellSpace:
        """How cells are numbered."""
        return self.numbering or CellSpace.plain(self.degrees.size)

    def first_cells(self) -> NDArray[np.int64]:
        """Return the cell of degree 0 of every node's color."""
        if self.colors is None:
            return np.zeros_like(self.degrees)
        return self.colors * self.space.span

    def cells(self) -> NDArray[np.int64]:
        """Return the cell of every node."""
        return self.first_cells() + self.degrees

    def roomy(self, goal: NDArray[np.int64]) -> tuple[DegreeTask, NDArray[np.int64]]:
        """Return the task and the targets with cells above the largest target, where any may be."""
        space = self.space
        if space.is_whole or int(space.degree_of(goal).max()) < space.top:
            return self, goal
        wider = self._replace(numbering=space.wider())
        return wider, goal - self.first_cells() + wider.first_cells()


class KDegreeOutcome(NamedTuple):
    """The edits of one run as sorted keys ``u * n + v``, and the degrees they lead to."""

    added: NDArray[np.int64]
    deleted: NDArray[np.int64]
    targets: NDArray[np.int64]
    rounds: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted."""
        return self.added.size + self.deleted.size


def start(
    task: DegreeTask, goal: NDArray[np.int64], *, additions: bool
) -> tuple[kernel.DegreeEdits, kernel.DegreeClasses]:
    """Return the state without edits, with room for what a unit of need may write."""
    residual = goal - task.cells()
    units = int(np.abs(residual).sum())
    room = units * (1 if additions else 2) + 64
    table, shift = new_table(room)
    edits = kernel.DegreeEdits(
        indptr=task.indptr,
        indices=task.indices,
        table=table,
        added=np.empty(room, dtype=np.int64),
        deleted=np.empty(0 if additions else room, dtype=np.int64),
        final=np.empty(room if additions else 0, dtype=np.int64),
        tally=np.array([0, 0, 0, shift], dtype=np.int64),
        residual=residual,
        touched=np.zeros(goal.size, dtype=np.bool_),
    )
    members = task.space.sizes(goal).astype(np.int64)
    return edits, kernel.DegreeClasses(goal.copy(), members, task.space.span)


def outcome_of(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rounds: int
) -> KDegreeOutcome:
    """Return what the state came to."""
    added, deleted = (_distinct(kernel.changed_pairs(edits, sign)) for sign in (1, -1))
    return KDegreeOutcome(added, deleted, classes.target - task.first_cells(), rounds)


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    ordered = np.sort(keys)
    distinct: NDArray[np.int64] = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct


def pairs_of(keys: NDArray[np.int64], n: int) -> NDArray[np.int32]:
    """Return keys as node pairs u < v."""
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32)


def edges_of(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return every edge of sorted lists once, the smaller end first."""
    source = np.repeat(np.arange(indptr.size - 1, dtype=np.int32), np.diff(indptr))
    forward = source < indices
    return np.column_stack([source[forward], indices[forward]])


def by_need(residual: NDArray[np.int64], sign: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the nodes whose residual has this sign, the largest need first, ties at random."""
    need = residual * sign
    nodes = rng.permutation(np.flatnonzero(need > 0))
    in_order: NDArray[np.int64] = nodes[np.argsort(-need[nodes], kind="stable")]
    return in_order


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def check(task: DegreeTask, outcome: KDegreeOutcome) -> None:
    """Count the promise again from the edits alone.

    Raises
    ------
    AssertionError
        Where the final degrees are not k-anonymous or not the targets: a bug of ours.
    """
    n = task.degrees.size
    reached = task.degrees.copy()
    for keys, sign in ((outcome.added, 1), (outcome.deleted, -1)):
        ends = np.concatenate(np.divmod(keys, n))
        reached += sign * np.bincount(ends, minlength=n)
        present = kernel.pairs_in_graph(task.indptr, task.indices, keys)
        if np.any(np.diff(keys) <= 0) or np.any(present != (sign < 0)):
            raise AssertionError("an edit repeats itself, or changes nothing in the graph")
    cells = reached if task.colors is None else task.colors * (int(reached.max()) + 1) + reached
    classes = np.bincount(cells)
    if np.any(reached != outcome.targets) or classes[classes > 0].min() < task.k:
        raise AssertionError(f"the realized degrees are not {task.k}-anonymous, or not the targets")

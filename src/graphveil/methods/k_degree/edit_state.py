"""The state of a run: edge edits that grow over an unchanged graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import new_table
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.sequence import Ints, Nodes
from graphveil.methods.k_degree.task import DegreeTask, KDegreeOutcome


def start(
    task: DegreeTask, goal: Ints, *, additions: bool
) -> tuple[kernel.DegreeEdits, kernel.DegreeClasses]:
    """Return the state without edits, with room for what a unit of need may write."""
    residual = goal - task.cells()
    units = int(np.abs(residual).sum())
    room = units * (1 if additions else 2) + 64
    edits = edits_over(task.indptr, task.indices, residual, room, additions=additions)
    return edits, kernel.DegreeClasses(goal.copy(), task.members(goal), task.space.span)


def edits_over(
    indptr: Ints, indices: Nodes, residual: Ints, room: int, *, additions: bool
) -> kernel.DegreeEdits:
    """Return no edits of a graph, and room for so many."""
    table, shift = new_table(room)
    added, tally = np.empty(room, dtype=np.int64), np.array([0, 0, 0, shift], dtype=np.int64)
    deleted, final = (
        np.empty(room if some else 0, np.int64) for some in (not additions, additions)
    )
    touched = np.zeros(residual.size, dtype=np.bool_)
    lists = indptr, indices, table
    return kernel.DegreeEdits(*lists, added, deleted, final, tally, residual, touched)


def outcome_of(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rounds: int
) -> KDegreeOutcome:
    """Return what the state came to."""
    added, deleted = (_distinct(kernel.changed_pairs(edits, sign)) for sign in (1, -1))
    return KDegreeOutcome(added, deleted, classes.target - task.first_cells(), rounds)


def _distinct(keys: Ints) -> Ints:
    ordered = np.sort(keys)
    distinct: Ints = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct


def pairs_of(keys: Ints, n: int) -> Nodes:
    """Return keys as node pairs u < v."""
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32)


def edges_of(indptr: Ints, indices: Nodes) -> Nodes:
    """Return every edge of sorted lists once, the smaller end first."""
    source = np.repeat(np.arange(indptr.size - 1, dtype=np.int32), np.diff(indptr))
    forward = source < indices
    return np.column_stack([source[forward], indices[forward]])


def by_need(residual: Ints, sign: int, rng: Generator) -> Ints:
    """Return the nodes whose residual has this sign, largest need first, equal ones at random."""
    need = residual * sign
    nodes = rng.permutation(np.flatnonzero(need > 0))
    return nodes[np.argsort(-need[nodes], kind="stable")]


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view, so that kernels are compiled for one kind of array."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def check(task: DegreeTask, outcome: KDegreeOutcome) -> None:
    """Count the guarantee again from the edits alone; AssertionError is a bug of ours."""
    n = task.degrees.size
    reached = task.degrees.copy()
    for keys, sign in ((outcome.added, 1), (outcome.deleted, -1)):
        ends = np.concatenate(np.divmod(keys, n))
        reached += sign * np.bincount(ends, minlength=n)
        present = kernel.pairs_in_graph(task.indptr, task.indices, keys)
        if np.any(np.diff(keys) <= 0) or np.any(present != (sign < 0)):
            raise AssertionError("an edit is repeated, or changes nothing in the graph")
    cells = reached
    if task.colors is not None and task.protected is None:
        cells = task.colors * (int(reached.max()) + 1) + reached
    classes = np.bincount(cells)
    used = classes > 0 if task.protected is None else cells[task.protected]
    if np.any(reached != outcome.targets) or classes[used].min() < task.k:
        raise AssertionError(
            f"the realized degrees are not {task.k}-anonymous, or differ from the targets"
        )

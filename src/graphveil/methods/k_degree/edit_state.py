"""The state of a run: edge edits that grow over an unchanged graph, and the outcome.

The graph itself is never copied or changed during a run. The kernels keep a hash table of the pairs
that differ from it (`kernels/edits.py`), and the steps read and write edges through that. A run
costs memory in the units that must change, not in the edges. `check` recomputes the guarantee
from the finished edits alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints, Nodes
from graphveil.core.kernels.arrays import new_table
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.task import DegreeTask, KDegreeOutcome


def start(
    task: DegreeTask, goal: Ints, *, additions: bool
) -> tuple[kernel.DegreeEdits, kernel.DegreeClasses]:
    """Return the state without edits and the classes of the targets.

    `goal` is the target cell of every node, int64, shape (n,); `additions` says that the run adds
    edges only.
    """
    # A unit of need may log one key if edges are only added, two if they also are deleted; 64 more
    # keep the tables of tiny runs from filling up.
    residual = goal - task.cells()
    units = int(np.abs(residual).sum())
    room = units * (1 if additions else 2) + 64
    edits = edits_over(task.indptr, task.indices, residual, room, additions=additions)
    return edits, kernel.DegreeClasses(goal.copy(), task.members(goal), task.space.span)


def edits_over(
    indptr: Ints, indices: Nodes, residual: Ints, room: int, *, additions: bool
) -> kernel.DegreeEdits:
    """Return no edits of a graph, with room for `room` of each kind.

    `residual` (int64, shape (n,)) is how many edges each node lacks; the kernels lower it as they
    add edges. A node that has too many has a negative residual.
    """
    table, shift = new_table(room)
    added, tally = np.empty(room, dtype=np.int64), np.array([0, 0, 0, shift], dtype=np.int64)
    deleted, final = (
        np.empty(room if used else 0, np.int64) for used in (not additions, additions)
    )
    touched = np.zeros(residual.size, dtype=np.bool_)
    lists = indptr, indices, table
    return kernel.DegreeEdits(*lists, added, deleted, final, tally, residual, touched)


def outcome_of(
    task: DegreeTask, edits: kernel.DegreeEdits, classes: kernel.DegreeClasses, rounds: int
) -> KDegreeOutcome:
    """Return the edits and the final degrees of a finished run."""
    added, deleted = (_distinct(kernel.changed_pairs(edits, sign)) for sign in (1, -1))
    return KDegreeOutcome(added, deleted, classes.target - task.first_cells(), rounds)


def _distinct(keys: Ints) -> Ints:
    ordered = np.sort(keys)
    distinct: Ints = ordered[np.diff(ordered, prepend=-1) != 0]
    return distinct


def pairs_of(keys: Ints, n: int) -> Nodes:
    """Return keys ``u * n + v`` as node pairs u < v, int32, shape (number of keys, 2)."""
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
    """Return a read-only view, so that kernels are compiled for one kind of array.

    Numba compiles a kernel once for read-only arrays and once more for writable ones.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def check(task: DegreeTask, outcome: KDegreeOutcome) -> None:
    """Raise AssertionError, a bug of ours, unless the edits alone lead to the guarantee.

    Independent of the run: it uses neither its tables nor its residuals.
    """
    n = task.degrees.size
    # Every edit changes the graph, and none is repeated: additions are absent, deletions present.
    reached = task.degrees.copy()
    for keys, sign in ((outcome.added, 1), (outcome.deleted, -1)):
        ends = np.concatenate(np.divmod(keys, n))
        reached += sign * np.bincount(ends, minlength=n)
        present = kernel.pairs_in_graph(task.indptr, task.indices, keys)
        if np.any(np.diff(keys) <= 0) or np.any(present != (sign < 0)):
            raise AssertionError("an edit is repeated, or changes nothing in the graph")
    # Every degree (within every color; with a list, every degree of a protected node) has k nodes.
    cells = reached
    if task.colors is not None and task.protected is None:
        cells = task.colors * (int(reached.max()) + 1) + reached
    classes = np.bincount(cells)
    used = classes > 0 if task.protected is None else cells[task.protected]
    if np.any(reached != outcome.targets) or classes[used].min() < task.k:
        raise AssertionError(
            f"the realized degrees are not {task.k}-anonymous, or differ from the targets"
        )

"""What every run of one realization shares, and what a run returns.

`DegreeTask` holds the graph, k and, if attributes are known or only some people are protected, the
colors of the nodes. `KDegreeOutcome` holds the edits of one run and the degrees they lead to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Flags, Ints, Nodes
from graphveil.methods.k_degree.cells import LOCKED, CellSpace


class DegreeTask(NamedTuple):
    """What every run of one realization shares; without colors, all nodes have the same.

    `indptr` (int64, shape (n + 1,)) and `indices` (int32, shape (2m,), sorted within a node) are
    the neighbor lists of the graph, read-only, perhaps mapped from the disk; `degrees` (int64,
    shape (n,)) are the degrees. `near` says whether single units go to nodes a few steps away.
    `colors` (int64, shape (n,)) is the combination of known attributes of every node and
    `numbering` how cells are numbered.

    If `protected` (bool, shape (n,)) says for whom degrees are shared, these have the first color,
    others the second. Unlike other colors, these two may share a degree: nodes of both count
    towards the k of a protected node.
    """

    indptr: Ints
    indices: Nodes
    degrees: Ints
    k: int
    near: bool
    colors: Ints | None = None
    numbering: CellSpace | None = None
    protected: Flags | None = None

    @property
    def space(self) -> CellSpace:
        """How cells are numbered."""
        return self.numbering or CellSpace.plain(self.degrees.size)

    def first_cells(self) -> Ints:
        """Return the cell of degree 0 of every node's color."""
        if self.colors is None:
            return np.zeros_like(self.degrees)
        return self.colors * self.space.span

    def cells(self) -> Ints:
        """Return the cell of every node."""
        return self.first_cells() + self.degrees

    def members(self, goal: Ints) -> Ints:
        """Return how many nodes have each cell, as far as a node may leave it or join it.

        Protected nodes stay. Another may leave a degree that more than k nodes, or no protected
        one, have. `goal` is the target cell of every node, int64, shape (n,); the result is int64,
        shape (number of cells,). The absorption steps read it as "more than k may leave, at least k
        may join".
        """
        space, protected = self.space, self.protected
        sizes = space.sizes(goal).astype(np.int64)
        if protected is None:
            return sizes
        # Cells of the protected color are locked. The others count nodes of both colors where a
        # protected node needs the degree. Elsewhere the number is so large that more than k remain
        # even after all n nodes have left: all may come and go. Degrees above the top are none.
        of_all = sizes.reshape(2, space.span).sum(axis=0)
        needed = np.bincount(goal[protected], minlength=space.span) > 0
        free = np.where(needed, np.maximum(of_all, self.k), self.k + goal.size + 1)
        free[space.top + 1 :] = 0
        return np.concatenate((np.full(space.span, LOCKED), free)).astype(np.int64)

    def with_room(self, goal: Ints) -> tuple[DegreeTask, Ints]:
        """Return the task and the targets, renumbered if none is free above the largest target.

        A node rises to the next number, so one must be left, unless the degree is n - 1.
        """
        space = self.space
        if space.is_whole or int(space.degree_of(goal).max()) < space.top:
            return self, goal
        wider = self._replace(numbering=space.wider())
        return wider, goal - self.first_cells() + wider.first_cells()


class KDegreeOutcome(NamedTuple):
    """The edits of one run as sorted keys ``u * n + v``, and the degrees they lead to."""

    added: Ints
    deleted: Ints
    targets: Ints
    rounds: int

    @property
    def cost(self) -> int:
        """The number of edges added or deleted."""
        return self.added.size + self.deleted.size

"""Cells: degrees numbered together with a color, so that one program plans all colors at once.

If an attacker also knows attributes, degrees must be shared within each combination of them, a
*color*. A node of color c and degree d is in cell ``c * span + d``. All steps of the realization
work on cells: up by one is one more edge, and no step leads to another color, because the highest
number of each color is never used.

Not part of Liu and Terzi: they anonymize degrees alone, which is the case of one color. Memory is
O(span * colors); the span starts just above the largest degree and grows only if targets need it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.methods.k_degree import sequence

ROOM = 64
"""How many degrees above the largest (and k more) have a number from the start.

Targets that rise past them make `wider` number all cells anew, which costs one pass over the nodes.
Fewer means more such passes, more means longer arrays of cells. How 64 was chosen is not recorded.
"""

LOCKED = -(1 << 40)
"""The number of members of a cell that no step may leave or join.

Steps ask whether a cell has more than k members before a node leaves it, and at least k before one
joins. So far below zero no number of joining nodes (less than 2^32) gets it there.
"""


class CellSpace(NamedTuple):
    """How cells are numbered.

    `n` is the number of nodes, `span` how many numbers a color has, `n_colors` how many colors
    there are. Several colors have an even span: the sum of the cells is then even exactly if the
    sum of the degrees is.
    """

    n: int
    span: int
    n_colors: int = 1

    @classmethod
    def plain(cls, n: int) -> CellSpace:
        """Return the numbering of nodes without attributes: every cell is a degree."""
        return cls(n, n + 1)

    @classmethod
    def of(cls, degrees: NDArray[np.integer], n_colors: int, k: int) -> CellSpace:
        """Return a numbering with room above the largest degree."""
        most = int(degrees.max(initial=0)) + k + ROOM
        return cls(degrees.size, _even(min(degrees.size, most) + 2), n_colors)

    @property
    def size(self) -> int:
        """How many numbers all colors have together."""
        return self.span * self.n_colors

    @property
    def top(self) -> int:
        """The largest degree that a node may have: the last number of a color stays empty."""
        return min(self.n - 1, self.span - 2)

    @property
    def is_whole(self) -> bool:
        """Whether every degree that a node can have has a number."""
        return self.top == self.n - 1

    def wider(self) -> CellSpace:
        """Return a numbering of four times as many degrees."""
        return self._replace(span=_even(min(self.n + 2, 4 * self.span)))

    def degree_of(self, cells: Ints) -> Ints:
        """Return the degree of every cell."""
        return cells % self.span

    def sizes(self, cells: Ints) -> Ints:
        """Return how many of these nodes are in every cell."""
        return np.bincount(cells, minlength=self.size)

    def open_cells(self, sizes: Ints) -> Ints:
        """Return the cells with nodes that may rise, ascending by degree."""
        used = np.flatnonzero(sizes)
        degrees = self.degree_of(used)
        used, degrees = used[degrees < self.top], degrees[degrees < self.top]
        return used if self.n_colors == 1 else used[np.argsort(degrees, kind="stable")]


def _even(number: int) -> int:
    return number + number % 2


def plan_of_cells(
    degrees: NDArray[np.integer],
    colors: Ints | None,
    space: CellSpace,
    k: int,
    *,
    edits: sequence.AllowedEdits,
    greedy: bool = False,
) -> sequence.Plan:
    """Return a plan of cells, color by color: every cell has at least k nodes.

    Its cost is the sum over the colors, and so the least one where it is an optimal plan. `colors`
    has the color of every node, int64, shape (n,), each with at least k nodes; None stands for one
    color.
    """
    if colors is None:
        runs = sequence.runs_of(degrees)
        return (
            sequence.greedy_plan(runs, k) if greedy else sequence.optimal_plan(runs, k, edits=edits)
        )
    # One dynamic program over all cells, in which no group reaches from one color into the next.
    if not greedy:
        runs = sequence.runs_of(colors * space.span + degrees)
        parts = np.flatnonzero(np.diff(runs.degree // space.span, append=-1)) + 1
        return sequence.optimal_plan(runs, k, edits=edits, parts=parts)
    # The greedy runs color by color, the highest first, since pieces are in descending order.
    order = np.argsort(colors, kind="stable")
    ends = np.cumsum(np.bincount(colors, minlength=space.n_colors))
    plans, groups = [], 0
    for color, nodes in reversed([*enumerate(np.split(order, ends[:-1]))]):
        plan, shift = sequence.greedy_plan(sequence.runs_of(degrees[nodes]), k), color * space.span
        # In the order of the fields: degree, target, count, low, high, group.
        shifts = (shift, shift, 0, shift, shift, groups)
        plans.append(sequence.Plan(plan.cost, *map(np.add, plan[1:], shifts)))
        groups += int(plan.group.max()) + 1
    columns = [np.concatenate(column) for column in zip(*(p[1:] for p in plans), strict=True)]
    return sequence.Plan(sum(plan.cost for plan in plans), *columns)

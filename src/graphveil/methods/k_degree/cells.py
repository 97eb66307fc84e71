"""Cells of nodes: people of one color (the published attributes) and one degree.

A cell is numbered ``color * span + degree``, so that a step of one degree is a step of one number,
and no step leads from one color to another: the last number of every color stays empty. A graph
without attributes has one color, and its cells are its degrees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.k_degree.plan import AllowedEdits, Ints, Plan, runs_of
from graphveil.methods.k_degree.sequence import greedy_plan, optimal_plan, targets_per_node

ROOM = 64
"""So many degrees above the largest have a number, and k more, before colors are numbered anew."""


class CellSpace(NamedTuple):
    """How cells are numbered.

    Attributes
    ----------
    n
        The number of nodes: no degree is above n - 1.
    span
        The numbers of one color, an even one where there are several: sums of numbers are then odd
        where those of degrees are.
    n_colors
        The number of colors.
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
        """Return a numbering with room above the largest degree.

        Examples
        --------
        >>> CellSpace.of(np.array([1, 2, 1, 0, 0, 0]), 2, 2)
        CellSpace(n=6, span=8, n_colors=2)
        """
        most = int(degrees.max(initial=0)) + k + ROOM
        return cls(degrees.size, _even(min(degrees.size, most) + 2), n_colors)

    @property
    def size(self) -> int:
        """The numbers there are."""
        return self.span * self.n_colors

    @property
    def top(self) -> int:
        """The largest degree that has a number."""
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
        degrees: Ints = cells % self.span
        return degrees

    def sizes(self, cells: Ints) -> Ints:
        """Return how many of these nodes stand in every cell."""
        return np.bincount(cells, minlength=self.size)

    def open_cells(self, sizes: Ints) -> Ints:
        """Return the cells with nodes that may rise, ascending by degree."""
        used = np.flatnonzero(sizes)
        degrees = self.degree_of(used)
        used, degrees = used[degrees < self.top], degrees[degrees < self.top]
        return used if self.n_colors == 1 else used[np.argsort(degrees, kind="stable")]


def planned_change(
    degrees: NDArray[np.integer], colors: Ints, k: int, *, edits: AllowedEdits
) -> Ints:
    """Return by how much an optimal plan changes the degree of everyone.

    Parameters
    ----------
    degrees, colors, k, edits
        As `plan_of_cells` takes them.

    Examples
    --------
    >>> planned_change(np.array([1, 1, 2, 5]), np.array([0, 0, 0, 0]), 2, edits="any").tolist()
    [0, 0, 0, 3]
    """
    space = CellSpace.of(degrees, int(colors.max()) + 1, k)
    cells = colors * space.span + degrees
    plan = plan_of_cells(degrees, colors, space, k, edits=edits)
    change: Ints = np.abs(targets_per_node(cells, plan, np.arange(cells.size)) - cells)
    return change


def _even(number: int) -> int:
    return number + number % 2


def plan_of_cells(
    degrees: NDArray[np.integer],
    colors: Ints | None,
    space: CellSpace,
    k: int,
    *,
    edits: AllowedEdits,
    greedy: bool = False,
) -> Plan:
    """Return a plan of cells, color by color: every cell has at least k nodes.

    Parameters
    ----------
    degrees
        The degree of every node.
    colors
        The color of every node, 0 to n_colors - 1; None where there is one.
    space
        How cells are numbered.
    k
        The least number of nodes of a cell; every color has at least as many.
    edits, greedy
        Which plan: `optimal_plan` with these edits, or `greedy_plan`.

    Returns
    -------
    Plan
        Of cells in place of degrees. Its cost is the sum over the colors, and so the least one
        for these colors where it is an optimal plan.
    """
    if colors is None:
        runs = runs_of(degrees)
        return greedy_plan(runs, k) if greedy else optimal_plan(runs, k, edits=edits)
    if not greedy:
        runs = runs_of(colors * space.span + degrees)
        parts = np.flatnonzero(np.diff(runs.degree // space.span, append=-1)) + 1
        return optimal_plan(runs, k, edits=edits, parts=parts)
    order = np.argsort(colors, kind="stable")
    ends = np.cumsum(np.bincount(colors, minlength=space.n_colors))
    plans, groups = [], 0
    for color, nodes in reversed([*enumerate(np.split(order, ends[:-1]))]):
        plan, shift = greedy_plan(runs_of(degrees[nodes]), k), color * space.span
        plans.append(
            plan._replace(
                degree=plan.degree + shift,
                target=plan.target + shift,
                low=plan.low + shift,
                high=plan.high + shift,
                group=plan.group + groups,
            )
        )
        groups += int(plan.group.max()) + 1
    columns = [np.concatenate(column) for column in zip(*(p[1:] for p in plans), strict=True)]
    return Plan(sum(plan.cost for plan in plans), *columns)

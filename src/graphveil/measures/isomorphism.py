"""Exact isomorphism of colored neighborhoods, by VF2."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import rustworkx as rx
from numpy.typing import NDArray

MOST_STEPS = 2_000_000
"""How many pairs of nodes VF2 may try on each other before a comparison is given up."""

CENTRE = -1
"""The color of the center, which no other node has."""


class OutOfStepsError(Exception):
    """VF2 has tried as many pairs of nodes as it may."""


class Around:
    """What is around a node, its nodes in the order of their colors.

    Parameters
    ----------
    colors
        uint64, shape (size,), the center's first. Isomorphic neighborhoods have equal colors;
        equal colors prove nothing.
    edges
        int64, shape (e, 2): every edge by the positions of its ends.
    with_center
        Whether the center is kept. If everybody else is its neighbor, nothing is lost without.

    Examples
    --------
    >>> path = np.array([[0, 1], [1, 2]])
    >>> one = Around(np.array([5, 6, 5], dtype=np.uint64), path, with_center=True)
    >>> other = Around(np.array([5, 5, 6], dtype=np.uint64), path[:, ::-1], with_center=True)
    >>> one.colors.tolist(), other.colors.tolist(), one.is_like(other)
    ([5, 5, 6], [5, 5, 6], False)
    """

    def __init__(
        self, colors: NDArray[np.uint64], edges: NDArray[np.int64], *, with_center: bool
    ) -> None:
        skipped = 0 if with_center else 1
        order = np.append(0, 1 + np.argsort(colors[1:], kind="stable"))[skipped:]
        position = np.empty(colors.size, dtype=np.int64)
        position[order] = np.arange(order.size)
        ends = position[edges[edges.min(axis=1) >= skipped]] if len(edges) else edges
        self.colors = colors[order]
        self.keys = np.sort(ends.min(axis=1) * order.size + ends.max(axis=1))
        self.with_center = with_center

    @cached_property
    def _graph(self) -> rx.PyGraph[int, None]:
        payloads = self.colors.tolist()
        if self.with_center:
            payloads[0] = CENTRE
        graph = rx.PyGraph(multigraph=False)
        graph.add_nodes_from(payloads)
        ends = np.divmod(self.keys, self.colors.size)
        graph.add_edges_from_no_data(list(zip(*(end.tolist() for end in ends), strict=True)))
        return graph

    def is_like(self, other: Around) -> bool:
        """Whether there is an isomorphism that keeps colors, and so maps center to center.

        Raises
        ------
        OutOfStepsError
            Where that was not decided within `MOST_STEPS`.
        """
        if not np.array_equal(self.colors, other.colors) or self.keys.size != other.keys.size:
            return False
        if np.array_equal(self.keys, other.keys):
            return True
        steps = 0

        def same_color(one: int, another: int) -> bool:
            nonlocal steps
            steps += 1
            if steps > MOST_STEPS:
                raise OutOfStepsError
            return one == another

        isomorphic: bool = rx.is_isomorphic(
            self._graph, other._graph, node_matcher=same_color, id_order=False
        )
        return isomorphic


def compared(arounds: Iterable[Around]) -> tuple[list[int], int]:
    """Return the class of each, in order of appearance, and how many comparisons were given up.

    Each is compared with one representative of every class until it is isomorphic to one. What is
    given up counts as different.

    Examples
    --------
    >>> nothing = np.empty((0, 2), dtype=np.int64)
    >>> dot = Around(np.zeros(1, dtype=np.uint64), nothing, with_center=True)
    >>> compared([dot, dot])
    ([0, 0], 0)
    """
    models: list[Around] = []
    classes = []
    given_up = 0
    for around in arounds:
        for number, model in enumerate(models):
            try:
                if around.is_like(model):
                    classes.append(number)
                    break
            except OutOfStepsError:
                given_up += 1
        else:
            classes.append(len(models))
            models.append(around)
    return classes, given_up

"""Cells: the pairs of nodes, or of a user and a feature, each of which is 1 or 0.

How many there are, and how they are numbered, depends on public numbers only: how many nodes there
are, or how many users and features.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Data, Graph
from graphveil.data.kinds import kind_of
from graphveil.noise.uniform import Cells


def number_of_cells(data: Graph | Bipartite) -> int:
    """Return how many cells there are: pairs of nodes, or pairs of a user and a feature.

    Examples
    --------
    >>> number_of_cells(Graph.from_edges([0], [1], n=4))
    6
    """
    return kind_of(data).cells(data)


def cells_of_one(data: Data) -> int:
    """Return how many cells belong to one person: of a node, of a user, or of a row of a table.

    Where items are people, a person has a row and a column, which share one cell.

    Examples
    --------
    >>> cells_of_one(Graph.from_edges([0], [1], n=4))
    3
    >>> follows = Bipartite.from_pairs(["ann", "bob"], ["bob", "cyd"])
    >>> cells_of_one(follows.with_items("things")), cells_of_one(follows.with_items("people"))
    (2, 5)
    """
    return kind_of(data).cells_of_one(data)


def cells_of(data: Graph | Bipartite) -> Cells:
    """Return the sorted cells that are 1: the edges, or the entries.

    Examples
    --------
    >>> cells_of(Graph.from_edges([0, 0, 1], [1, 3, 3], n=4)).tolist()
    [0, 3, 5]
    """
    if isinstance(data, Bipartite):
        return data.rows().astype(np.int64) * data.n_features + data.indices
    return np.sort(cells_between(data.edges().astype(np.int64), data.n_nodes))


def with_cells(data: Graph | Bipartite, cells: Cells) -> Graph | Bipartite:
    """Return data of the same size and features in which these cells are 1, without ids.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 0, 1], [1, 3, 3], n=4)
    >>> with_cells(graph, cells_of(graph)) == graph
    True
    """
    if isinstance(data, Graph):
        ends = ends_of(cells, data.n_nodes)
        return Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes)
    n, width = data.n_users, max(data.n_features, 1)
    indptr = np.searchsorted(cells, np.arange(n + 1, dtype=np.int64) * width)
    indices = (cells % width).astype(np.int32)
    return Bipartite(indptr, indices, data.n_features, features=data.features)


def cells_between(pairs: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the cell of every pair (u, v), u < v: on a circle of nodes, ordered by distance.

    The cell of nodes c and c + d around the circle, d at most n/2, is (d - 1) n + c.

    Examples
    --------
    >>> cells_between(np.array([[0, 1], [0, 3]]), 4).tolist()
    [0, 3]
    """
    first, second = pairs[:, 0], pairs[:, 1]
    onward = second - first
    back = 2 * onward > n
    distance = np.where(back, n - onward, onward)
    return (distance - 1) * n + np.where(back, second, first)


def ends_of(cells: Cells, n: int | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the two nodes of every cell, shape (cells, 2); `n` may differ from cell to cell.

    Examples
    --------
    >>> ends_of(np.array([0, 3]), 4).tolist()
    [[0, 1], [3, 0]]
    """
    around = np.maximum(n, 1)
    distance, first = np.divmod(cells, around)
    return np.column_stack([first, (first + distance + 1) % around])

"""What edits came to: the edited graph, and what an owner is shown of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.methods.structural.state import triangles
from graphveil.methods.structural.task import Edited


def applied(graph: Graph, edited: Edited) -> Graph:
    """Return the graph with these edges added and deleted.

    Examples
    --------
    >>> none = np.empty((0, 2), dtype=np.int32)
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> edited = Edited(added=none, deleted=np.array([[1, 2]], dtype=np.int32), left=1)
    >>> applied(path, edited).edges().tolist()
    [[0, 1]]
    """
    if not edited.cost:
        return graph
    keys = _keys_after(graph, edited)
    n = max(graph.n_nodes, 1)
    return Graph.from_edges(*np.divmod(keys, n), n=graph.n_nodes, ids=graph.ids)


def _keys_after(graph: Graph, edited: Edited) -> NDArray[np.int64]:
    n = max(graph.n_nodes, 1)
    edges = _keys(graph.edges(), n)
    kept = edges[~np.isin(edges, _keys(edited.deleted, n))]
    return np.concatenate([kept, _keys(edited.added, n)])


def _keys(edges: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    wide = edges.astype(np.int64)
    return wide[:, 0] * n + wide[:, 1]


def average_clustering(graph: Graph, edited: Edited | None) -> float:
    """Return the mean local clustering after these edits; nodes of degree below 2 count as 0.

    Examples
    --------
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)  # 1, 1, 1/3, 0
    >>> average_clustering(flag, None)
    0.5833333333333334
    """
    n = graph.n_nodes
    if n == 0:
        return 0.0
    keys = _keys(graph.edges(), n) if edited is None else _keys_after(graph, edited)
    degree = np.bincount(np.concatenate(np.divmod(keys, n)), minlength=n)
    pairs = degree * (degree - 1) / 2
    closed = triangles(keys, degree)
    return float(np.divide(closed, pairs, out=np.zeros(n), where=pairs > 0).mean())


def figures(graph: Graph, edited: Edited) -> dict[str, float | int]:
    """Return what is shown of a result beside others: edits, edges kept, nodes left, clustering."""
    kept = graph.n_edges - len(edited.deleted)
    return {
        "edits": edited.cost,
        "edges_kept_share": kept / graph.n_edges if graph.n_edges else 1.0,
        "nodes_left": edited.left,
        "clustering": average_clustering(graph, edited),
    }

"""Exact counts of what edits reach, made anew from the edited graph.

Walks count as they go, over codes or hashes. Every result is counted once more here, with the exact
classes of the room `measures`, before it is compared or released. Cost: that of the measure's
partition of the edited graph, O(m) plus a pass over all triangles for `count`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.data import Graph
from graphveil.measures import class_sizes_of_nodes, partition
from graphveil.measures.kernels.neighborhoods import triangles
from graphveil.measures.matchings import candidate_set_sizes, noisy_share
from graphveil.methods.annealing.task import Edited, Task


def applied(graph: Graph, edited: Edited) -> Graph:
    """Return the graph with these edges added and deleted."""
    if not edited.cost:
        return graph
    # Edges as single integers: drop the deleted ones, append the added ones.
    n = graph.n_nodes
    edges = keys_of(graph.edges(), n)
    kept = edges[~np.isin(edges, keys_of(edited.deleted, n))]
    keys = np.concatenate([kept, keys_of(edited.added, n)])
    return Graph.from_edges(*np.divmod(keys, n), n=n, ids=graph.ids)


def keys_of(pairs: NDArray[np.integer], n: int) -> Ints:
    """Return every pair of nodes as one integer, the end in the first column first."""
    return pairs[:, 0].astype(np.int64) * n + pairs[:, 1]


def unprotected_in(graph: Graph, task: Task) -> Ints:
    """Return the nodes in classes below k or, under `phi`, with fewer than k similar ones."""
    if task.phi:
        return np.flatnonzero(candidate_set_sizes(graph, phi=task.phi) < task.k)
    return np.flatnonzero(class_sizes_of_nodes(task.labels_of(graph)) < task.k)


def nearly_unprotected_in(graph: Graph, task: Task) -> int:
    """Return what nodes count that are protected from inexact knowledge alone: see `Task.nearly`.

    The sum is in tenths of an unprotected node.
    """
    half, exact = task.nearly
    if not (half or exact):
        return 0
    inner = candidate_set_sizes(graph, phi=task.phi / 2) < task.k
    alone = class_sizes_of_nodes(task.labels_of(graph)) < task.k
    return int(half * np.count_nonzero(inner) + exact * np.count_nonzero(alone))


def counted(task: Task, edited: Edited) -> Edited:
    """Return the same edits with the unprotected nodes counted exactly."""
    after = applied(task.graph, edited)
    unprotected = unprotected_in(after, task).size
    return edited._replace(unprotected=unprotected, nearly=nearly_unprotected_in(after, task))


def checked(task: Task, edited: Edited) -> Edited:
    """Return these edits once an exact count of their unprotected nodes agrees."""
    exact = counted(task, edited)
    for was, count in ((edited.unprotected, exact.unprotected), (edited.nearly, exact.nearly)):
        if was != count:
            raise AssertionError(
                f"{was} nodes were counted as unprotected; a recount gives {count}"
            )
    return edited


def average_clustering(graph: Graph) -> float:
    """Return the mean local clustering; nodes of degree below 2 count as 0."""
    if graph.n_nodes == 0:
        return 0.0
    degree = graph.degrees()
    pairs = degree * (degree - 1) / 2
    closed = triangles(graph.indptr, graph.indices)
    return float(np.divide(closed, pairs, out=np.zeros(degree.size), where=pairs > 0).mean())


def figures(graph: Graph, edited: Edited) -> dict[str, float | int]:
    """Return what is shown of a result next to others."""
    kept = graph.n_edges - len(edited.deleted)
    return {
        "edits": edited.cost,
        "edges_kept_share": kept / graph.n_edges if graph.n_edges else 1.0,
        "nodes_unprotected": edited.unprotected,
        "clustering": average_clustering(applied(graph, edited)),
    }


def left_to_others(graph: Graph, *, phi: float, k: int) -> dict[str, float | int]:
    """Return what similar look-alikes leave to exact knowledge, and to numbers that are off."""
    alone = class_sizes_of_nodes(partition(graph, measure="count")) < k
    return {
        "nodes_unprotected_exactly": int(np.count_nonzero(alone)),
        "share_unprotected_from_noisy": noisy_share(graph, phi=phi, k=k),
    }

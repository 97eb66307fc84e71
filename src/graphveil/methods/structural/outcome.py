"""What edits come to, counted exactly, and the least that they can come to."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.data.measures import MEASURES, class_sizes_of_nodes, partition
from graphveil.data.measures.fuzziness import candidate_set_sizes, noisy_share
from graphveil.data.measures.kernels.neighborhoods import triangles
from graphveil.methods.k_degree.sequence import lower_bound_edits, optimal_plan, runs_of
from graphveil.methods.structural.task import CODES, Edited, Task


def applied(graph: Graph, edited: Edited) -> Graph:
    """Return the graph with these edges added and deleted.

    Examples
    --------
    >>> none = np.empty((0, 2), dtype=np.int32)
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> edited = Edited(none, deleted=np.array([[1, 2]], dtype=np.int32), unprotected=1)
    >>> applied(path, edited).edges().tolist()
    [[0, 1]]
    """
    if not edited.cost:
        return graph
    n = graph.n_nodes
    edges = keys_of(graph.edges(), n)
    kept = edges[~np.isin(edges, keys_of(edited.deleted, n))]
    keys = np.concatenate([kept, keys_of(edited.added, n)])
    return Graph.from_edges(*np.divmod(keys, n), n=n, ids=graph.ids)


def keys_of(pairs: NDArray[np.integer], n: int) -> NDArray[np.int64]:
    """Return every pair of nodes as one integer, the end in the first column first."""
    keys: NDArray[np.int64] = pairs[:, 0].astype(np.int64) * n + pairs[:, 1]
    return keys


def codes_of(task: Task) -> NDArray[np.int64]:
    """Return the codes of degrees and triangles that tell the nodes of the input apart."""
    graph, (by_degree, by_triangle) = task.graph, CODES[task.measure]
    codes = graph.degrees() * by_degree
    if by_triangle:
        codes = codes + triangles(graph.indptr, graph.indices) * by_triangle
    return task.colored(codes)


def unprotected_in(graph: Graph, task: Task) -> NDArray[np.int64]:
    """Return the unprotected nodes of a graph.

    They stand in classes below k, by the measure's exact classes. Where what the adversary knows is
    off, they are similar to fewer than k.
    """
    if task.phi:
        return np.flatnonzero(candidate_set_sizes(graph, phi=task.phi) < task.k)
    return np.flatnonzero(class_sizes_of_nodes(task.labels_of(graph)) < task.k)


def nearly_unprotected_in(graph: Graph, task: Task) -> int:
    """Return what nodes count that are protected from inexact knowledge alone: see `Task`."""
    half, exact = task.nearly
    if not (half or exact):
        return 0
    inner = candidate_set_sizes(graph, phi=task.phi / 2) < task.k
    alone = class_sizes_of_nodes(task.labels_of(graph)) < task.k
    return int(half * np.count_nonzero(inner) + exact * np.count_nonzero(alone))


def counted(task: Task, edited: Edited) -> Edited:
    """Return the same edits with the unprotected nodes counted exactly.

    Examples
    --------
    >>> none = np.empty((0, 2), dtype=np.int32)
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> counted(Task(star, "dk", 1, 2, "delete", 3, 0), Edited(none, none, 0)).unprotected
    1
    """
    after = applied(task.graph, edited)
    unprotected = unprotected_in(after, task).size
    return edited._replace(unprotected=unprotected, nearly=nearly_unprotected_in(after, task))


def checked(task: Task, edited: Edited) -> Edited:
    """Return these edits once an exact count of their unprotected nodes agrees.

    Raises
    ------
    AssertionError
        Where it differs from what a heuristic counted: a bug of ours.
    """
    exact = counted(task, edited)
    for was, count in ((edited.unprotected, exact.unprotected), (edited.nearly, exact.nearly)):
        if was != count:
            raise AssertionError(
                f"{was} nodes were counted as unprotected, a recount gives {count}"
            )
    return edited


def average_clustering(graph: Graph) -> float:
    """Return the mean local clustering; nodes of degree below 2 count as 0.

    Examples
    --------
    >>> average_clustering(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))  # 1, 1, 1/3, 0
    0.5833333333333334
    """
    if graph.n_nodes == 0:
        return 0.0
    degree = graph.degrees()
    pairs = degree * (degree - 1) / 2
    closed = triangles(graph.indptr, graph.indices)
    return float(np.divide(closed, pairs, out=np.zeros(degree.size), where=pairs > 0).mean())


def figures(graph: Graph, edited: Edited) -> dict[str, float | int]:
    """Return what is shown of a result beside others."""
    kept = graph.n_edges - len(edited.deleted)
    return {
        "edits": edited.cost,
        "edges_kept_share": kept / graph.n_edges if graph.n_edges else 1.0,
        "nodes_unprotected": edited.unprotected,
        "clustering": average_clustering(applied(graph, edited)),
    }


def left_to_others(graph: Graph, *, phi: float, k: int) -> dict[str, float | int]:
    """Return what similar look-alikes leave to exact knowledge, and to numbers that are off.

    Examples
    --------
    >>> fan = Graph.from_edges([0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 2, 3, 5], n=6)
    >>> left_to_others(fan, phi=50, k=3)
    {'nodes_unprotected_exactly': 6, 'share_unprotected_from_noisy': 0.8866666666666667}
    """
    alone = class_sizes_of_nodes(partition(graph, measure="count")) < k
    return {
        "nodes_unprotected_exactly": int(np.count_nonzero(alone)),
        "share_unprotected_from_noisy": noisy_share(graph, phi=phi, k=k),
    }


def lower_bound(task: Task) -> int | None:
    """No graph in which every node is anonymous is reached with fewer edits.

    Parameters
    ----------
    task
        The graph, the measure, k and the edits allowed.

    Returns
    -------
    int or None
        None where there is no bound: some nodes may stay unprotected, the measure does not fix the
        degree, or there are fewer than k nodes. Rewirings keep every degree, so they alone get 0:
        see `unprotected_by_rewiring`.

    Notes
    -----
    Where a measure fixes the degree, nodes that look alike have one degree, so the degrees of the
    release form groups of at least k. An edit changes two degrees by one: the least total change L
    of the degrees, halved and rounded up, by the dynamic program of k-degree anonymity. Deletions
    only lower degrees: mirrored, the program that only raises them. A rewiring changes no degree,
    so the bound holds whether it counts as one edit or as four.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> lower_bound(Task(star, "count", 1, k=2, edits="delete", budget=3, allowed=0))
    1
    """
    degrees = task.graph.degrees()
    fixed = MEASURES[task.measure].fixes_degree(task.distance)
    if task.allowed or degrees.size < task.k or not fixed or task.phi:
        return None
    if task.edits == "rewire":
        return 0
    if task.edits == "delete":
        degrees = degrees.max() - degrees
    edits: Literal["add", "any"] = "any" if task.edits == "any" else "add"
    groups = [degrees] if task.colors is None else by_color(degrees, task.colors)
    if any(each.size < task.k for each in groups):
        return None
    change = sum(optimal_plan(runs_of(each), task.k, edits=edits).cost for each in groups)
    return lower_bound_edits(change)


def by_color(values: NDArray[np.int64], colors: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the values of the nodes of each color.

    Examples
    --------
    >>> [some.tolist() for some in by_color(np.array([5, 6, 7]), np.array([0, 1, 0]))]
    [[5, 7], [6]]
    """
    return [values[colors == color] for color in np.unique(colors).tolist()]


def unprotected_by_rewiring(task: Task) -> int:
    """No rewiring leaves fewer nodes unprotected, since it keeps every degree.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> unprotected_by_rewiring(Task(star, "count", 1, k=2, edits="rewire", budget=3, allowed=0))
    1
    """
    if not MEASURES[task.measure].fixes_degree(task.distance):
        return 0
    degrees = task.graph.degrees()
    groups = [degrees] if task.colors is None else by_color(degrees, task.colors)
    sizes = np.concatenate([np.bincount(each) for each in groups])
    return int(sizes[sizes < task.k].sum())

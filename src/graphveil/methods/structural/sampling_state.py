"""The graph between two recounts: its edges under ranks, and which nodes are not anonymous yet.

The nodes are numbered by rising degree of the input, so that the edges, kept once as rows of larger
ends, are what the triangle passes take. A look-alike class does not depend on the numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.kernels.neighbourhoods.triangles import Forward
from graphveil.kernels.structural.sampling import lists_of, missing_from, small_classes
from graphveil.kernels.structural.triangles import count_triangles, forward_by_rank
from graphveil.measures import class_sizes_of_nodes, partition
from graphveil.methods.structural.task import Edited, Task

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class State(NamedTuple):
    """A graph of the trajectory.

    Parameters
    ----------
    forward
        Its edges.
    degrees
        int64, shape (n,).
    exposed
        bool, shape (n,): the paper's U_k, the nodes in classes below k.
    left
        How many they are.
    """

    forward: Forward
    degrees: Ints
    exposed: Flags
    left: int


def ranked(graph: Graph) -> tuple[Ints, Forward]:
    """Return the nodes by rising degree, and the edges under their places in that order.

    Examples
    --------
    >>> order, forward = ranked(Graph.from_edges([0, 0], [1, 2], n=3))
    >>> order.tolist(), sources(forward).tolist(), forward.ends.tolist()
    ([1, 2, 0], [0, 1], [2, 2])
    """
    order = np.argsort(graph.degrees(), kind="stable")
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return order, forward_by_rank(graph.indptr, graph.indices, order, rank)


def state_of(forward: Forward, task: Task) -> State:
    """Return the state of these edges, classes recounted.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0], [1, 2], n=3)
    >>> task = Task(star, "count", 1, k=2, edits="delete", budget=2, allowed=0)
    >>> state_of(ranked(star)[1], task).left
    1
    """
    n = forward.start.size - 1
    degrees = np.diff(forward.start) + np.bincount(forward.ends, minlength=n)
    exposed = _exposed(forward, degrees, task)
    return State(forward, degrees, exposed, int(np.count_nonzero(exposed)))


def _exposed(forward: Forward, degrees: Ints, task: Task) -> Flags:
    small: Flags
    if task.measure == "degree":
        small = small_classes(degrees, degrees, task.k)
    elif task.measure == "count" and task.distance == 1:
        small = small_classes(degrees, count_triangles(forward), task.k)
    elif task.measure == "edge-count" and task.distance == 1:
        edges = degrees + count_triangles(forward)
        small = small_classes(edges, edges, task.k)
    else:
        graph = Graph(*lists_of(forward))
        labels = partition(graph, measure=task.measure, distance=task.distance)
        small = class_sizes_of_nodes(labels) < task.k
    return small


def sources(forward: Forward) -> NDArray[np.int32]:
    """Return the smaller end of every edge, int32, shape (m,)."""
    nodes = np.arange(forward.start.size - 1, dtype=np.int32)
    return np.repeat(nodes, np.diff(forward.start))


def keys_of(forward: Forward) -> Ints:
    """Return every edge as one integer, in rising order.

    Examples
    --------
    >>> keys_of(ranked(Graph.from_edges([0, 0], [1, 2], n=3))[1]).tolist()
    [2, 5]
    """
    return packed(sources(forward), forward.ends, forward.start.size - 1)


def packed(one: NDArray[np.integer], other: NDArray[np.integer], n: int) -> Ints:
    """Return pairs of nodes as one integer each, whatever the order of their ends.

    Examples
    --------
    >>> packed(np.array([2, 1]), np.array([0, 3]), 10).tolist()
    [2, 13]
    """
    keys: Ints = np.minimum(one, other).astype(np.int64) * n + np.maximum(one, other)
    return keys


def without(forward: Forward, gone: Ints) -> Forward:
    """Return the edges without those at these positions.

    Examples
    --------
    >>> without(ranked(Graph.from_edges([0, 0], [1, 2], n=3))[1], np.array([0])).ends.tolist()
    [2]
    """
    stays = np.ones(forward.ends.size, dtype=np.bool_)
    stays[gone] = False
    kept = np.zeros(stays.size + 1, dtype=np.int64)
    np.cumsum(stays, out=kept[1:])
    return Forward(kept[forward.start], forward.ends[stays])


def exchanged(forward: Forward, keys: Ints, parted: Ints, joined: Ints) -> Forward:
    """Return the edges, whose keys are given, without some pairs and with others.

    Examples
    --------
    >>> _, forward = ranked(Graph.from_edges([0, 0], [1, 2], n=3))
    >>> after = exchanged(forward, keys_of(forward), np.array([2]), np.array([1]))
    >>> keys_of(after).tolist()
    [1, 5]
    """
    n = forward.start.size - 1
    stays = np.ones(keys.size, dtype=np.bool_)
    stays[np.searchsorted(keys, parted)] = False
    keys, joined = keys[stays], np.sort(joined)
    keys = np.insert(keys, np.searchsorted(keys, joined), joined)
    start = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n)
    return Forward(start.astype(np.int64, copy=False), (keys % n).astype(np.int32))


def edited(state: State, original: Forward) -> Edited:
    """Return how the state differs from the input, under ranks."""
    return Edited(
        added=missing_from(state.forward, original),
        deleted=missing_from(original, state.forward),
        left=state.left,
    )


def named(found: Edited, order: Ints) -> Edited:
    """Return the same edits under the nodes' positions in the input, sorted."""
    return found._replace(added=_pairs(found.added, order), deleted=_pairs(found.deleted, order))


def _pairs(ranks: NDArray[np.int32], order: Ints) -> NDArray[np.int32]:
    pairs = np.sort(order[ranks].astype(np.int32), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

"""What a network loses with an edge: shortest paths, people cut off, clustering, communities.

Graphs come as neighbor lists: the neighbors of v are ``indices[indptr[v] : indptr[v + 1]]``, and
``edge`` holds the number of the edge of every entry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.core.kernels.tiers import tiered

Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]
Reals = NDArray[np.float64]


def _searches(indptr: Ints, indices: Nodes, edge: Ints, sources: Ints, *_others: object) -> int:
    """Return about how many steps it takes to search from all sources."""
    del edge
    return 2 * int(sources.size) * int(indptr.size + indices.size)


@tiered(_searches)
@allocating
def add_paths(
    indptr: Ints, indices: Nodes, edge: Ints, sources: Ints, over: Reals, reached: Ints
) -> None:
    """Add to `over` the share of shortest paths from the sources that run over every edge.

    Brandes 2001. Adds to `reached` how many hops all these paths have, and how many pairs of nodes
    they join.
    """
    n = indptr.size - 1
    hops, queue = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    paths, load = np.empty(n, dtype=np.float64), np.empty(n, dtype=np.float64)
    for source in sources:
        hops[:] = -1
        paths[:] = 0.0
        load[:] = 0.0
        hops[source], paths[source], queue[0] = 0, 1.0, source
        first, last = 0, 1
        while first < last:
            v = queue[first]
            first += 1
            for arc in range(indptr[v], indptr[v + 1]):
                w = indices[arc]
                if hops[w] < 0:
                    hops[w] = hops[v] + 1
                    reached[0] += hops[w]
                    queue[last] = w
                    last += 1
                if hops[w] == hops[v] + 1:
                    paths[w] += paths[v]
        reached[1] += last - 1
        for i in range(last - 1, 0, -1):
            w = queue[i]
            for arc in range(indptr[w], indptr[w + 1]):
                v = np.int64(indices[arc])
                if hops[v] == hops[w] - 1:
                    part = paths[v] / paths[w] * (1.0 + load[w])
                    over[edge[arc]] += part
                    load[v] += part


@tiered()
@allocating
def cut_off(indptr: Ints, indices: Nodes, edge: Ints, smaller: Ints) -> None:
    """Write for every bridge how many nodes are on its smaller side; other edges stay as they are.

    Tarjan 1974: a bridge leads to a node below which nothing leads back above it.
    """
    n = indptr.size - 1
    order, low = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    size, came = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    at, stack = indptr[:-1].copy(), np.empty(n, dtype=np.int64)
    listed = np.empty(n, dtype=np.int64)
    order[:] = -1
    seen = 0
    for root in range(n):
        if order[root] >= 0:
            continue
        begin, top = seen, 1
        order[root] = low[root] = seen
        size[root], came[root], stack[0], listed[seen] = 1, -1, root, root
        seen += 1
        while top > 0:
            v = stack[top - 1]
            if at[v] < indptr[v + 1]:
                arc = at[v]
                at[v] += 1
                w = np.int64(indices[arc])
                if order[w] < 0:
                    order[w] = low[w] = seen
                    size[w], came[w], stack[top], listed[seen] = 1, edge[arc], w, w
                    seen += 1
                    top += 1
                elif edge[arc] != came[v]:
                    low[v] = min(low[v], order[w])
            else:
                top -= 1
                if top > 0:
                    above = stack[top - 1]
                    low[above] = min(low[above], low[v])
                    size[above] += size[v]
        for i in range(begin + 1, seen):
            v = listed[i]
            if low[v] == order[v]:
                smaller[came[v]] = min(size[v], size[root] - size[v])


@leaf
def _local(triangles: int, degree: int) -> float:
    """Return the local clustering of a node; 0 with fewer than two neighbors."""
    return 2.0 * triangles / (degree * (degree - 1.0)) if degree > 1 else 0.0


@tiered()
@allocating
def clustering_lost(indptr: Ints, indices: Nodes, edge: Ints, triangles: Ints, out: Reals) -> None:
    """Write how much the sum of local clustering changes with the loss of every edge alone."""
    n = indptr.size - 1
    mark = np.empty(n, dtype=np.int64)
    mark[:] = -1
    for u in range(n):
        du = indptr[u + 1] - indptr[u]
        for arc in range(indptr[u], indptr[u + 1]):
            mark[indices[arc]] = u
        for arc in range(indptr[u], indptr[u + 1]):
            v = np.int64(indices[arc])
            dv = indptr[v + 1] - indptr[v]
            if dv > du or (dv == du and v > u):
                continue
            common, change = 0, 0.0
            for further in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[further])
                if mark[w] == u:
                    common += 1
                    change -= _local(1, indptr[w + 1] - indptr[w])
            change += _local(triangles[u] - common, du - 1) - _local(triangles[u], du)
            change += _local(triangles[v] - common, dv - 1) - _local(triangles[v], dv)
            out[edge[arc]] = change


def _sweeps(indptr: Ints, indices: Nodes, *_others: object) -> int:
    """Return about how many steps ten sweeps over all nodes take."""
    return 10 * int(indptr.size + indices.size)


@tiered(_sweeps)
@allocating
def join_communities(
    indptr: Ints, indices: Nodes, weight: Ints, strength: Ints, order: Ints, community: Ints
) -> None:
    """Move nodes to neighboring communities while that raises the modularity: writes `community`.

    Blondel et al. 2008, one level. In whole numbers, so that every move is a gain, and it ends.
    """
    n = indptr.size - 1
    inside, near = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    touched, all_ends = np.empty(n, dtype=np.int64), np.int64(0)
    for v in range(n):
        inside[community[v]] += strength[v]
        all_ends += strength[v]
    moved = True
    while moved:
        moved = False
        for v in order:
            found = 0
            for arc in range(indptr[v], indptr[v + 1]):
                w = np.int64(indices[arc])
                if w != v:
                    if near[community[w]] == 0:
                        touched[found] = community[w]
                        found += 1
                    near[community[w]] += weight[arc]
            own = community[v]
            inside[own] -= strength[v]
            best, most = own, near[own] * all_ends - strength[v] * inside[own]
            for i in range(found):
                other = touched[i]
                gain = near[other] * all_ends - strength[v] * inside[other]
                if gain > most:
                    best, most = other, gain
                near[other] = 0
            near[own] = 0
            inside[best] += strength[v]
            community[v] = best
            moved |= best != own

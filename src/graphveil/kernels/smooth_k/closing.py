"""Closing of facilities with too few clients, who go to the nearest one that is still open."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.kernels.leaf import allocating, leaf, wide
from graphveil.kernels.smooth_k.facility import FAR, NONE, RowKinds
from graphveil.kernels.smooth_k.overlaps import (
    FeatureLists,
    Indices,
    Ints,
    count_shared,
    leave,
)


class Facilities(NamedTuple):
    """The open facilities in the order of their opening: their features, and two orders of them.

    ``by_degree`` sorts them by the number of features, then by number; ``visits`` is the order in
    which they are looked at.
    """

    indptr: Ints
    indices: Indices
    by_degree: Ints
    visits: Ints


class Clients(NamedTuple):
    """Equal rows that stay together: their kind, their number, and the facility they are at."""

    kinds: Indices
    weights: Ints
    facility: Indices


@allocating
def close_small(
    kinds: RowKinds, facilities: Facilities, lists: FeatureLists, clients: Clients, k: int
) -> None:
    """Close facilities below k rows, the last one apart; write where the clients end.

    Facilities that close are taken out of their ``lists``.

    The nearest facility is the one of least distance; of several, one that shares a feature before
    one that does not, then the one opened first.
    """
    n = facilities.indptr.size - 1
    degrees, head = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for f in range(n):
        head[f] = NONE
        degrees[f] = facilities.indptr[f + 1] - facilities.indptr[f]
    sizes = np.zeros(n, dtype=np.int64)
    after = np.empty(clients.kinds.size, dtype=np.int64)
    for client in range(clients.kinds.size):
        f = clients.facility[client]
        sizes[f] += clients.weights[client]
        after[client], head[f] = head[f], client
    closed = np.zeros(n, dtype=np.bool_)
    shared = np.zeros(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    n_open, first = n, 0
    for f in facilities.visits:
        if sizes[f] >= k or n_open == 1:
            continue
        leave(lists, facilities.indptr, facilities.indices, f)
        closed[f] = True
        n_open -= 1
        while closed[facilities.by_degree[first]]:
            first += 1
        lowest = facilities.by_degree[first]
        client = head[f]
        while client != NONE:
            u = clients.kinds[client]
            start, stop = kinds.indptr[u], kinds.indptr[u + 1]
            features = kinds.indices[start:stop]
            nearest = _nearest_open(lists, features, degrees, lowest, shared, touched)
            clients.facility[client] = nearest
            sizes[nearest] += clients.weights[client]
            following = after[client]
            after[client], head[nearest] = head[nearest], client
            client = following


@leaf
def _nearest_open(
    lists: FeatureLists,
    features: Indices,
    degrees: Ints,
    lowest: int,
    shared: Indices,
    touched: Indices,
) -> int:
    """Return the facility in the lists that is nearest to a row; `shared` is 0 before and after.

    `lowest` is the one of fewest features: of those that share none with the row it is the nearest.
    """
    nearest, least = lowest, FAR
    for i in range(count_shared(lists, features, shared, touched)):
        facility = touched[i]
        distance = features.size + degrees[facility] - 2 * shared[facility]
        shared[facility] = 0
        if distance < least or (distance == least and facility < nearest):
            nearest, least = wide(facility), distance
    return lowest if features.size + degrees[lowest] < least else nearest

"""Facility location among sparse rows: opening costs, Meyerson's algorithm, closing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.methods.smooth_k.kernels.feature_lists import FeatureLists, count_shared, leave

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
NONE = -1
FAR = 1 << 60


class RowKinds(NamedTuple):
    """The distinct rows, shorter ones first: sorted features, and how many rows equal each."""

    indptr: Ints
    indices: Indices
    weights: Ints


class Nearest(NamedTuple):
    """The nearest open facility of every distinct row that shares a feature, and its distance.

    Facilities are numbered as they open. `FAR` and `NONE` where none shares a feature.
    """

    distance: Ints
    facility: Indices


class RowStream(NamedTuple):
    """The rows as they come: their kinds and coins, uniform on [0, 1), and where each one went."""

    kinds: Indices
    coins: NDArray[np.float64]
    facility: Indices
    distance: Ints


@allocating
def nearest_sums(kinds: RowKinds, lists: FeatureLists, wanted: int, out: Ints) -> None:
    """Write into out[u] the sum of the distances from u to the `wanted` nearest rows, u included.

    There are that many rows. Rows that share a feature are counted into a histogram of distances;
    the others are all rows of a degree less those counted.
    """
    indptr, indices, weights = kinds
    n = weights.size
    widest = indptr[n] - indptr[n - 1]
    having = np.zeros(widest + 1, dtype=np.int64)
    for v in range(n):
        having[indptr[v + 1] - indptr[v]] += weights[v]
    at = np.zeros(2 * widest + 1, dtype=np.int64)
    shared = np.zeros(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    for u in range(n):
        out[u] = 0
        if weights[u] >= wanted:
            continue
        degree = indptr[u + 1] - indptr[u]
        n_touched = count_shared(lists, indices[indptr[u] : indptr[u + 1]], shared, touched)
        for i in range(n_touched):
            v = touched[i]
            other = indptr[v + 1] - indptr[v]
            at[degree + other - 2 * shared[v]] += weights[v]
            at[degree + other] -= weights[v]
        missing = wanted
        for distance in range(degree + widest + 1):
            here = at[distance]
            if distance >= degree:
                here += having[distance - degree]
            counted = min(here, missing)
            out[u] += counted * distance
            missing -= counted
            if missing == 0:
                break
        for i in range(n_touched):
            v = touched[i]
            other = indptr[v + 1] - indptr[v]
            at[degree + other - 2 * shared[v]] = 0
            at[degree + other] = 0
            shared[v] = 0


@allocating
def open_facilities(
    kinds: RowKinds,
    lists: FeatureLists,
    sums: Ints,
    factor: float,
    arrivals: RowStream,
    nearest: Nearest,
    opened: Indices,
) -> int:
    """Let the rows come one by one; return how many open a facility, their kinds in `opened`.

    A row at distance d > 0 from the nearest facility opens one where its coin times the cost, which
    is ``factor * sums[u]``, is below d; the first one opens in any case. `nearest` is
    written for the rows that share a feature with what opens, and is right for all at the end too.
    """
    indptr, indices = kinds.indptr, kinds.indices
    nearest.distance[:] = FAR
    nearest.facility[:] = NONE
    shared = np.zeros(nearest.distance.size, dtype=np.int32)
    touched = np.empty(nearest.distance.size, dtype=np.int32)
    n_open, lowest, least = 0, NONE, FAR
    for i in range(arrivals.kinds.size):
        u = arrivals.kinds[i]
        degree = indptr[u + 1] - indptr[u]
        facility, distance = nearest.facility[u], nearest.distance[u]
        if degree + least < distance:
            facility, distance = lowest, degree + least
        if distance > 0 and arrivals.coins[i] * factor * sums[u] < distance:
            facility, distance = n_open, 0
            opened[n_open] = u
            n_open += 1
            if degree < least:
                lowest, least = facility, degree
            n_touched = count_shared(lists, indices[indptr[u] : indptr[u + 1]], shared, touched)
            for j in range(n_touched):
                v = touched[j]
                apart = degree + indptr[v + 1] - indptr[v] - 2 * shared[v]
                shared[v] = 0
                if apart < nearest.distance[v]:
                    nearest.distance[v] = apart
                    nearest.facility[v] = facility
        arrivals.facility[i] = facility
        arrivals.distance[i] = distance
    return n_open


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

"""Facility location among sparse rows: opening costs, Meyerson's algorithm, closing.

Esfandiari et al., *Smooth Anonymity for Sparse Graphs*: the algorithm of section 5.3 as modified in
appendix D. `nearest_sums` gives the opening costs of step 2, `open_facilities` is one run of
Meyerson's algorithm for step 3, and `close_small` replaces steps 4 and 5. The distance of two rows
is their Hamming distance (section 5.1).

The paper leaves open whether a row belongs to its own nearest rows: here it does. Equal rows are
collapsed into one distinct row with a weight. `nearest_sums`, and one run of `open_facilities`,
take O(sum of squared degrees of the features) among distinct rows, the former also O(rows times
the largest distance looked at).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.methods.smooth_k.kernels.feature_lists import FeatureLists, count_shared, leave

Indices = NDArray[np.int32]

NONE = -1
"""No facility, or the end of a list."""

FAR = 1 << 60
"""More than any distance. The first row of a stream is so far from the nearest facility that it
opens one for certain."""


class RowKinds(NamedTuple):
    """The distinct rows, shorter ones first.

    Parameters
    ----------
    indptr, indices
        int64, shape (distinct + 1,), and int32: row u has the features ``indices[indptr[u]:indptr[u
        + 1]]``, ascending.
    weights
        int64, shape (distinct,): how many rows equal each.
    """

    indptr: Ints
    indices: Indices
    weights: Ints


class Nearest(NamedTuple):
    """The nearest open facility of every distinct row among those that share a feature with it.

    Parameters
    ----------
    distance
        int64, shape (distinct,): its distance; `FAR` if none shares a feature.
    facility
        int32, shape (distinct,): its number, in order of opening; `NONE` if none shares a feature.
    """

    distance: Ints
    facility: Indices


class RowStream(NamedTuple):
    """The rows in the order in which they arrive, and where each one went.

    Parameters
    ----------
    kinds
        int32, shape (n,): the distinct row that arrives.
    coins
        float64, shape (n,): uniform on [0, 1).
    facility
        int32, shape (n,): written by `open_facilities`: the facility of the row on arrival.
    distance
        int64, shape (n,): written by `open_facilities`: its distance.
    """

    kinds: Indices
    coins: NDArray[np.float64]
    facility: Indices
    distance: Ints


@allocating
def nearest_sums(kinds: RowKinds, lists: FeatureLists, wanted: int, out: Ints) -> None:
    """Write into out[u] the sum of the distances from u to the `wanted` nearest rows, u included.

    Step 2 of section 5.3, with ``wanted = beta k`` as in appendix D. Rows that share a feature are
    met through the inverted lists; all others are at distance ``|u| + |v|``, so it is enough to
    know how many rows have each degree.

    Parameters
    ----------
    kinds, lists
        The distinct rows and their feature lists.
    wanted
        How many nearest rows count, copies included; at most the number of rows.
    out
        int64, shape (distinct,), overwritten.
    """
    indptr, indices, weights = kinds
    n = weights.size
    widest = indptr[n] - indptr[n - 1]
    # Step 1: how many rows have each degree.
    having = np.zeros(widest + 1, dtype=np.int64)
    for v in range(n):
        having[indptr[v + 1] - indptr[v]] += weights[v]
    at = np.zeros(2 * widest + 1, dtype=np.int64)
    shared = np.zeros(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    for u in range(n):
        out[u] = 0
        # Enough equal rows: all distances are 0.
        if weights[u] >= wanted:
            continue
        # Step 2: rows that share a feature move from distance ``|u| + |v|`` to their true distance.
        degree = indptr[u + 1] - indptr[u]
        n_touched = count_shared(lists, indices[indptr[u] : indptr[u + 1]], shared, touched)
        for i in range(n_touched):
            v = touched[i]
            other = indptr[v + 1] - indptr[v]
            at[degree + other - 2 * shared[v]] += weights[v]
            at[degree + other] -= weights[v]
        # Step 3: take the nearest rows, distance by distance, until there are enough.
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
        # Step 4: leave the scratch at 0.
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
    """Let the rows arrive one by one; return how many open a facility (Meyerson's algorithm).

    A row at distance d > 0 from the nearest facility opens one with probability ``min(1, d /
    cost)``, where the cost is ``factor * sums[u]``: that is, if its coin times the cost is below d.

    Parameters
    ----------
    kinds, lists
        The distinct rows and their feature lists.
    sums
        int64, shape (distinct,): from `nearest_sums`.
    factor
        What `sums` are multiplied by: ``2 alpha / (1 - alpha)`` in the paper.
    arrivals
        The rows and their coins; where each row went is written.
    nearest
        Overwritten; at the end right for all distinct rows.
    opened
        int32, shape (distinct,): the distinct rows of the facilities, in order of opening, are
        written to its front.
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
        # Step 1: the nearest facility. If none shares a feature, it is the one of lowest degree,
        # since the distance is the sum of both degrees.
        facility, distance = nearest.facility[u], nearest.distance[u]
        if degree + least < distance:
            facility, distance = lowest, degree + least
        # Step 2: open a facility here with probability proportional to the distance.
        if distance > 0 and arrivals.coins[i] * factor * sums[u] < distance:
            facility, distance = n_open, 0
            opened[n_open] = u
            n_open += 1
            if degree < least:
                lowest, least = facility, degree
            # Step 3: it may be the nearest facility of the rows that share a feature with it. Of
            # equally near facilities the first stays.
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
    """The open facilities in the order of their opening.

    Parameters
    ----------
    indptr, indices
        int64 and int32: the features of facility f.
    by_degree
        int64, shape (facilities,): the facilities by number of features, then by number.
    visits
        int64, shape (facilities,): the order in which they are looked at; random.
    """

    indptr: Ints
    indices: Indices
    by_degree: Ints
    visits: Ints


class Clients(NamedTuple):
    """Equal rows that stay together.

    Parameters
    ----------
    kinds
        int32: their distinct row.
    weights
        int64: how many they are.
    facility
        int32: the facility they are at. Overwritten by `close_small`.
    """

    kinds: Indices
    weights: Ints
    facility: Indices


@allocating
def close_small(
    kinds: RowKinds, facilities: Facilities, lists: FeatureLists, clients: Clients, k: int
) -> None:
    """Close facilities below k rows; write into ``clients.facility`` where the clients end.

    Appendix D, in place of steps 4 and 5 of section 5.3: facilities with fewer than k clients are
    closed in arbitrary (here random) order, and their clients go to the nearest open facility. An
    open facility only gains clients, so after one round all have k rows. The last facility stays
    open.

    The nearest facility is the one of least distance; of several, one that shares a feature before
    one that does not, then the one opened first.

    Parameters
    ----------
    kinds
        The distinct rows.
    facilities, lists
        The facilities, and the lists of their features; closed facilities leave the lists.
    clients
        Overwritten.
    k
        The smallest cluster.
    """
    n = facilities.indptr.size - 1
    # Step 1: the clients of each facility as a linked list, and its number of rows.
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
    # Step 2: look at each facility once. One of k rows stays.
    closed = np.zeros(n, dtype=np.bool_)
    shared = np.zeros(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    n_open, first = n, 0
    for f in facilities.visits:
        if sizes[f] >= k or n_open == 1:
            continue
        # Step 3: close it. The open facility of lowest degree is the nearest of those that share no
        # feature with a client.
        leave(lists, facilities.indptr, facilities.indices, f)
        closed[f] = True
        n_open -= 1
        while closed[facilities.by_degree[first]]:
            first += 1
        lowest = facilities.by_degree[first]
        # Step 4: each client goes to the nearest open facility and joins its list.
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

    `lowest` is the open facility of fewest features: the nearest of those that share none.
    """
    nearest, least = lowest, FAR
    for i in range(count_shared(lists, features, shared, touched)):
        facility = touched[i]
        distance = features.size + degrees[facility] - 2 * shared[facility]
        shared[facility] = 0
        if distance < least or (distance == least and facility < nearest):
            nearest, least = wide(facility), distance
    return lowest if features.size + degrees[lowest] < least else nearest

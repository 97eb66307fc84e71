"""Facility location among sparse rows: what opening costs, and who opens in a random order.

The distance of two rows is the number of features that one has and the other lacks. Rows are
compared through the lists of their features: with o features shared it is ``|u| + |v| - 2 o``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.leaf import allocating
from graphveil.kernels.smooth_k.overlaps import FeatureLists, Indices, Ints, count_shared

NONE = -1
FAR = 1 << 60


class RowKinds(NamedTuple):
    """The distinct rows, shorter ones first: sorted features, and how many rows equal each."""

    indptr: Ints
    indices: Indices
    weights: Ints


class Nearest(NamedTuple):
    """Of every distinct row the nearest open facility that shares a feature, and its distance.

    Facilities are numbered as they open. `FAR` and `NONE` where none shares a feature.
    """

    distance: Ints
    facility: Indices


class Arrivals(NamedTuple):
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
    arrivals: Arrivals,
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

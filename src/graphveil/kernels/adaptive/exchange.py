"""Clusters of at least k rows improved: a row moves to another cluster, or two rows change places.

A cluster costs its size times the columns in which its rows differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive.planes import Packed, distance, meet, meets_without, put, starred
from graphveil.kernels.leaf import MINUS_ONE, ZERO, leaf, wide

Ints = NDArray[np.int64]


class ClusterMembers(NamedTuple):
    """Which row is in which cluster, and what is common to the rows of each.

    ``common`` has a row a cluster, ``without`` a row a row: what is common to the others of its
    cluster. ``members`` has room for the rows of one cluster, ``before`` for what some have in
    common.
    """

    labels: Ints
    sizes: Ints
    common: Packed
    without: Packed
    members: Ints
    before: Packed


def clusters_of(rows: Packed, labels: Ints) -> ClusterMembers:
    """Return the clusters, still to be filled by `improve`; labels are 0..c-1, each in use."""
    sizes = np.bincount(labels)
    n, c = labels.size, sizes.size
    return ClusterMembers(
        labels=labels.copy(),
        sizes=sizes,
        common=Packed(rows.planes[:c].copy(), rows.stars[:c].copy(), rows.offsets),
        without=Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
        members=np.empty(n, dtype=np.int64),
        before=Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
    )


@leaf
def _refill(rows: Packed, clusters: ClusterMembers, a: int) -> None:
    """Write what is common to a cluster of two rows or more, and to all of it but each row."""
    members, without = clusters.members, clusters.without
    size = ZERO
    for row in range(clusters.labels.size):
        if clusters.labels[row] == a:
            members[size] = row
            size += 1
    meets_without(rows, members, size, without, clusters.before)
    last = members[size - 1]
    put(clusters.common, a, without, last)
    meet(clusters.common, a, rows, last)


@leaf
def _move(rows: Packed, clusters: ClusterMembers, row: int) -> int:
    """Move a row to where it saves most; return how many stars that saves, 0 where it stays."""
    sizes, common, without = clusters.sizes, clusters.common, clusters.without
    a = clusters.labels[row]
    leaving = sizes[a] * starred(common, a) - (sizes[a] - 1) * starred(without, row)
    best, most = MINUS_ONE, ZERO
    for b in range(sizes.size):
        if b != a:
            after = (sizes[b] + 1) * distance(common, b, rows, row)
            saved = leaving + sizes[b] * starred(common, b) - after
            if saved > most:
                best, most = b, saved
    if best >= 0:
        clusters.labels[row] = best
        sizes[a] -= 1
        sizes[best] += 1
        _refill(rows, clusters, a)
        _refill(rows, clusters, best)
    return most


@leaf
def _change_places(rows: Packed, clusters: ClusterMembers, row: int) -> int:
    """Let a row and the best other change places; return how many stars that saves, 0 where none.

    No row can save more than its own cluster and the other's cost now: what cannot pay is left out.
    """
    sizes, common, without, labels = (
        clusters.sizes,
        clusters.common,
        clusters.without,
        clusters.labels,
    )
    a = labels[row]
    now = sizes[a] * starred(common, a)
    best, most = MINUS_ONE, ZERO
    for other in range(labels.size):
        b = labels[other]
        if b == a:
            continue
        saved = now + sizes[b] * (starred(common, b) - distance(without, other, rows, row))
        if saved > most:
            saved -= sizes[a] * distance(without, row, rows, other)
            if saved > most:
                best, most = other, saved
    if best >= 0:
        labels[row], labels[best] = labels[best], a
        _refill(rows, clusters, a)
        _refill(rows, clusters, labels[row])
    return most


@leaf
def improve(rows: Packed, clusters: ClusterMembers, k: int, orders: NDArray[np.int32]) -> int:
    """Fill clusters and improve them until a pass changes nothing; return the stars saved.

    Parameters
    ----------
    rows
        The rows.
    clusters
        From `clusters_of`, each of at least k rows, k at least 2; overwritten.
    k
        The fewest rows of a cluster.
    orders
        Shape (passes, n): the order of the rows in every pass.
    """
    for a in range(clusters.sizes.size):
        _refill(rows, clusters, a)
    total = 0
    for number in range(orders.shape[0]):
        saved = 0
        for visited in orders[number]:
            row, more = wide(visited), ZERO
            if clusters.sizes[clusters.labels[row]] > k:
                more = _move(rows, clusters, row)
            if more == 0:
                more = _change_places(rows, clusters, row)
            saved += more
        total += saved
        if saved == 0:
            break
    return total

"""Local search on clusters: a row moves to another cluster, or two rows are exchanged.

graphveil's own; Choromanski, Jebara & Tang compare with agglomerative clustering alone. Every row
asks for a cluster of at least its level (k for all with `cluster-k`). A cluster costs its size
times the columns in which its rows differ. A visit makes the best change of a row that saves stars:
a move if its cluster can spare it, and an exchange if no move saves any. For each row, what the
others of its cluster have in common is kept, so a change is judged by one comparison of rows per
cluster or row: O(n) comparisons for a visit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import MINUS_ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.planes import (
    Packed,
    distance,
    meet,
    meets_without,
    put,
    starred,
)


class ClusterMembers(NamedTuple):
    """Which row is in which cluster, and what the rows of each have in common.

    Parameters
    ----------
    labels
        int64, shape (n,): the cluster of every row.
    sizes
        int64, shape (clusters,).
    common
        One row per cluster: what its rows have in common. Written by `improve`.
    without
        One row per row: what the others of its cluster have in common. Written by `improve`.
    members, before
        Scratch: the rows of one cluster, and what some of them have in common.
    """

    labels: Ints
    sizes: Ints
    common: Packed
    without: Packed
    members: Ints
    before: Packed


def clusters_of(rows: Packed, labels: Ints) -> ClusterMembers:
    """Return clusters, still to be filled by `improve`; labels are 0..c-1, each in use."""
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
    """Write what the rows of a cluster have in common, and the same without each of them."""
    members, without = clusters.members, clusters.without
    size = ZERO
    for row in range(clusters.labels.size):
        if clusters.labels[row] == a:
            members[size] = row
            size += 1
    if size == 0:
        return
    last = members[size - 1]
    # A cluster of one row has no others: `without` is not read for it.
    if size == 1:
        put(clusters.common, a, rows, last)
        put(without, last, rows, last)
        return
    # What all others have in common gives, with the last row, what all have in common.
    meets_without(rows, members, size, without, clusters.before)
    put(clusters.common, a, without, last)
    meet(clusters.common, a, rows, last)


@leaf
def _need_of_others(clusters: ClusterMembers, levels: Ints, row: int) -> int:
    """Return the largest level in a row's cluster other than its own; 0 if it is the only row."""
    need = ZERO
    for other in range(clusters.labels.size):
        if other != row and clusters.labels[other] == clusters.labels[row]:
            need = max(need, levels[other])
    return need


@leaf
def _move(rows: Packed, clusters: ClusterMembers, levels: Ints, row: int) -> int:
    """Move a row to where it saves most; return how many stars that saves, 0 if it stays."""
    sizes, common, without = clusters.sizes, clusters.common, clusters.without
    a = clusters.labels[row]
    # What the old cluster saves, and what each other cluster costs more. A row joins only a cluster
    # that then has as many rows as the row asks for. The rows already there have enough, as the
    # cluster only grows; `improve` has made sure that those of the old cluster keep enough.
    leaving = sizes[a] * starred(common, a) - (sizes[a] - 1) * starred(without, row)
    best, most = MINUS_ONE, ZERO
    for b in range(sizes.size):
        if b != a and sizes[b] > 0 and levels[row] <= sizes[b] + 1:
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
def _starred_with(rows: Packed, clusters: ClusterMembers, other: int, row: int) -> int:
    """Return how many columns the cluster of `other` suppresses if `row` takes the place of it."""
    if clusters.sizes[clusters.labels[other]] == 1:
        return starred(rows, row)
    return distance(clusters.without, other, rows, row)


@leaf
def _change_places(rows: Packed, clusters: ClusterMembers, levels: Ints, row: int) -> int:
    """Exchange a row for the best other one; return how many stars that saves, 0 if it stays.

    Both clusters keep their sizes, so each row must ask for no more than the other's cluster has.
    The bound that skips most rows: the row's own cluster can save at most what it costs now.
    """
    sizes, common, labels = clusters.sizes, clusters.common, clusters.labels
    a = labels[row]
    now = sizes[a] * starred(common, a)
    best, most = MINUS_ONE, ZERO
    for other in range(labels.size):
        b = labels[other]
        # Each of the two rows must find as many rows as it asks for.
        if b == a or levels[other] > sizes[a] or levels[row] > sizes[b]:
            continue
        # First the other cluster, with the own one at no cost: an upper bound; then the own cluster
        # exactly.
        saved = now + sizes[b] * (starred(common, b) - _starred_with(rows, clusters, other, row))
        if saved > most:
            saved -= sizes[a] * _starred_with(rows, clusters, row, other)
            if saved > most:
                best, most = other, saved
    if best >= 0:
        labels[row], labels[best] = labels[best], a
        _refill(rows, clusters, a)
        _refill(rows, clusters, labels[row])
    return most


@leaf
def improve(rows: Packed, clusters: ClusterMembers, levels: Ints, orders: NDArray[np.int32]) -> int:
    """Fill clusters and improve them until a pass changes nothing; return the stars saved.

    Parameters
    ----------
    rows
        The rows.
    clusters
        From `clusters_of`, each of at least as many rows as the largest level in it; overwritten.
    levels
        int64, shape (n,): how many rows the cluster of each row must have, at least 1.
    orders
        int32, shape (passes, n): the order of the rows in every pass.
    """
    # Step 1: what the clusters have in common.
    for a in range(clusters.sizes.size):
        _refill(rows, clusters, a)
    total = 0
    for number in range(orders.shape[0]):
        saved = 0
        for visited in orders[number]:
            # Step 2: a row may leave if the others have enough without it; otherwise it may be
            # exchanged.
            row, more = wide(visited), ZERO
            if clusters.sizes[clusters.labels[row]] > _need_of_others(clusters, levels, row):
                more = _move(rows, clusters, levels, row)
            if more == 0:
                more = _change_places(rows, clusters, levels, row)
            saved += more
        total += saved
        if saved == 0:
            break
    return total

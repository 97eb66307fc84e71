"""Agglomerative clustering: merge the two clusters whose union costs least, to at least k rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import MINUS_ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.planes import (
    Packed,
    distance,
    meet,
    meets_without,
    put,
    starred,
)

Ints = NDArray[np.int64]

PLAIN, BY_SIZE, BY_LOGARITHM = 0, 1, 2
"""What the cost of a union is divided by: nothing, its size, or the logarithm of its size."""

SMALL_FIRST = 2.0**-24
"""What a row more counts for: enough to decide between unions of the same cost."""

FINISHED, ABSENT = 1, 2


class Merging(NamedTuple):
    """Clusters by slots, slot i at first with row i alone; `common` is overwritten.

    `near[i]` is the open cluster that is cheapest to merge with cluster i, at `price[i]`. `state`
    is 0 for an open cluster, `FINISHED` or `ABSENT`. The rest is scratch: the rows of a cluster,
    what is common to all of them but one, and to the first of them.
    """

    common: Packed
    sizes: Ints
    labels: Ints
    near: Ints
    price: NDArray[np.float64]
    state: Ints
    members: Ints
    without: Packed
    before: Packed


class MergeRule(NamedTuple):
    """Clusters of k rows; what a cost is divided by; what a row more counts for; what is shrunk."""

    k: int
    divisor: int
    a_row_more: float
    shrink: int


def merging(rows: Packed, labels: Ints) -> Merging:
    """Return clusters to begin with: label i is a row of its cluster."""
    n = labels.size
    sizes = np.bincount(labels, minlength=n)
    state = np.where(sizes == 0, ABSENT, 0)
    return Merging(
        common=Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
        sizes=sizes.astype(np.int64),
        labels=labels.astype(np.int64),
        near=np.full(n, -1, dtype=np.int64),
        price=np.full(n, np.inf),
        state=state.astype(np.int64),
        members=np.empty(n, dtype=np.int64),
        without=Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
        before=Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
    )


@leaf
def _price(common: Packed, sizes: Ints, a: int, b: int, rule: MergeRule) -> float:
    size = sizes[a] + sizes[b]
    more = size * distance(common, a, common, b)
    more -= sizes[a] * starred(common, a) + sizes[b] * starred(common, b)
    price: float = more * 1.0
    if rule.divisor == BY_SIZE:
        price /= size
    elif rule.divisor == BY_LOGARITHM:
        price /= np.log2(size * 1.0)
    price += rule.a_row_more * size
    return price


@leaf
def _find_partner(work: Merging, a: int, rule: MergeRule) -> None:
    """Find the cheapest partner of an open cluster; offer it to those that have looked already."""
    work.near[a], work.price[a] = -1, np.inf
    for b in range(work.state.size):
        if b != a and work.state[b] == 0:
            price = _price(work.common, work.sizes, a, b, rule)
            if price < work.price[a]:
                work.near[a], work.price[a] = b, price
            if work.near[b] >= 0 and price < work.price[b]:
                work.near[b], work.price[b] = a, price


@leaf
def _give_back(rows: Packed, work: Merging, a: int, k: int) -> None:
    """Make rows of a cluster open clusters again, those first without which it costs least.

    Equal rows, one after the other, make one cluster, of k rows at most.
    """
    size, opened = _list_members(work, a), MINUS_ONE
    while size > k:
        meets_without(rows, work.members, size, work.without, work.before)
        number, fewest = ZERO, starred(work.without, work.members[0])
        for other in range(1, size):
            stars = starred(work.without, work.members[other])
            if stars < fewest:
                number, fewest = wide(other), stars
        row = work.members[number]
        if row == a:
            a = _move_slot(work, a)
        put(work.common, a, work.without, row)
        work.sizes[a] -= 1
        work.state[a] = FINISHED
        if opened < 0 or work.sizes[opened] == k or not _equals(work.common, opened, rows, row):
            opened = row
            work.sizes[row], work.state[row], work.near[row] = 0, 0, -1
            put(work.common, row, rows, row)
        work.labels[row] = opened
        work.sizes[opened] += 1
        for other in range(number + 1, size):
            work.members[other - 1] = work.members[other]
        size -= 1


@leaf
def _equals(one: Packed, i: int, other: Packed, j: int) -> bool:
    """Whether two rows show the same: what is suppressed agrees with nothing."""
    apart = distance(one, i, other, j)
    same: bool = apart == starred(one, i) and apart == starred(other, j)
    return same


@leaf
def _list_members(work: Merging, a: int) -> int:
    """Write the rows of a cluster into `members`, in their order; return how many."""
    size = ZERO
    for row in range(work.labels.size):
        if work.labels[row] == a:
            work.members[size] = row
            size += 1
    return size


@leaf
def _move_slot(work: Merging, a: int) -> int:
    """Give a cluster the slot of another of its rows, since row a leaves it; return that."""
    slot = MINUS_ONE
    for row in range(work.labels.size):
        if work.labels[row] == a and row != a:
            if slot < 0:
                slot = row
            work.labels[row] = slot
    work.labels[a] = slot
    work.sizes[slot] = work.sizes[a]
    work.sizes[a], work.state[a] = 0, ABSENT
    return slot


@leaf
def _cheapest(work: Merging) -> int:
    """Return the open cluster with the cheapest partner; -1 where none has any."""
    best, price = MINUS_ONE, np.inf
    for a in range(work.state.size):
        if work.state[a] == 0 and work.price[a] < price:
            best, price = a, work.price[a]
    return best


@leaf
def merge(rows: Packed, work: Merging, rule: MergeRule) -> None:
    """Write into ``work.labels`` the cluster of every row: each of k rows or more.

    Parameters
    ----------
    rows
        At least k rows.
    work
        From `merging`; overwritten.
    rule
        The fewest rows of a cluster; `PLAIN`, `BY_SIZE` or `BY_LOGARITHM`; `SMALL_FIRST` or 0; 1 to
        give back what a cluster has above k rows.
    """
    a = MINUS_ONE
    while True:
        for c in range(work.state.size):
            if work.state[c] == 0 and work.sizes[c] >= rule.k:
                work.state[c] = FINISHED
                if rule.shrink:
                    _give_back(rows, work, c, rule.k)
        _refresh(work, a, rule)
        a = _cheapest(work)
        if a < 0:
            break
        b = work.near[a]
        meet(work.common, a, work.common, b)
        work.sizes[a] += work.sizes[b]
        work.state[b] = ABSENT
        for row in range(work.labels.size):
            if work.labels[row] == b:
                work.labels[row] = a
    _assign_leftovers(rows, work)


@leaf
def _refresh(work: Merging, a: int, rule: MergeRule) -> None:
    """Find partners for those who have none, and for those whose partner is gone, or is a."""
    for c in range(work.state.size):
        if work.state[c] == 0:
            near = work.near[c]
            if c == a or near < 0 or near == a or work.state[near] != 0:
                _find_partner(work, c, rule)


@leaf
def _assign_leftovers(rows: Packed, work: Merging) -> None:
    """Put every row of a cluster that is still open into the finished one that it costs least."""
    for row in range(work.labels.size):
        if work.state[work.labels[row]] != 0:
            continue
        best, price = MINUS_ONE, np.inf
        for a in range(work.state.size):
            if work.state[a] == FINISHED:
                size = work.sizes[a]
                more = (size + 1) * distance(work.common, a, rows, row)
                more -= size * starred(work.common, a)
                if more < price:
                    best, price = a, float(more)
        work.labels[row] = best
        work.sizes[best] += 1
        meet(work.common, best, rows, row)

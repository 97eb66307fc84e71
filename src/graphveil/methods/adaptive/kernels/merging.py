"""Agglomerative clustering: merge the two clusters whose union costs least, to at least k rows.

The baseline of Choromanski, Jebara & Tang (section 5): start with singletons, and keep uniting the
two clusters with the smallest increase in stars until clusters have k rows. A cluster is what its
rows have in common: a column in which they differ is suppressed, so it costs its size times its
suppressed columns.

Beyond the paper's plain form, the increase may be divided by the size of the union or its
logarithm, and a cluster above k rows may give back those without which it costs least. Rows left
over, fewer than k, join the finished clusters that they cost least. Every open cluster remembers
its cheapest partner; time is O(n n) comparisons of rows, and more if partners disappear often.
Memory is O(n) rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import MINUS_ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels import planes

PLAIN, BY_SIZE, BY_LOGARITHM = 0, 1, 2
"""What the increase in stars is divided by: nothing, the size of the union, or the logarithm of it.
"""

SMALL_FIRST = 2.0**-24
"""What each row of a union adds to its price, in stars: a small fraction of one, enough to prefer
the smaller of two unions of the same increase."""

FINISHED, ABSENT = 1, 2
"""States of a cluster; 0 is open. `ABSENT` is a slot without a cluster."""


class Merging(NamedTuple):
    """Clusters by slots. At first slot i has row i and the rows equal to it.

    Parameters
    ----------
    common
        What the rows of each cluster have in common; overwritten.
    sizes
        int64, shape (n,): the rows of each cluster.
    labels
        int64, shape (n,): the slot of every row.
    near, price
        int64 and float64, shape (n,): the open cluster that is cheapest to merge with, -1 if
        unknown; and its price.
    state
        int64, shape (n,): 0 for an open cluster, `FINISHED` or `ABSENT`.
    members
        int64, shape (n,): scratch: the rows of a cluster.
    without, before
        Scratch: what is common to all rows of a cluster but one, and to its first rows.
    """

    common: planes.Packed
    sizes: Ints
    labels: Ints
    near: Ints
    price: NDArray[np.float64]
    state: Ints
    members: Ints
    without: planes.Packed
    before: planes.Packed


class MergeRule(NamedTuple):
    """How clusters are merged.

    Parameters
    ----------
    k
        A cluster of k rows is finished.
    divisor
        `PLAIN`, `BY_SIZE` or `BY_LOGARITHM`.
    price_per_row
        What each row of the union adds to the price: `SMALL_FIRST` or 0.
    shrink
        1 to give back what a cluster has above k rows, else 0.
    """

    k: int
    divisor: int
    price_per_row: float
    shrink: int


def merging(rows: planes.Packed, labels: Ints) -> Merging:
    """Return clusters to start with; label i is one of the rows of the cluster of row i."""
    n = labels.size
    sizes = np.bincount(labels, minlength=n)
    state = np.where(sizes == 0, ABSENT, 0)
    return Merging(
        common=planes.Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
        sizes=sizes.astype(np.int64),
        labels=labels.astype(np.int64),
        near=np.full(n, -1, dtype=np.int64),
        price=np.full(n, np.inf),
        state=state.astype(np.int64),
        members=np.empty(n, dtype=np.int64),
        without=planes.Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
        before=planes.Packed(rows.planes.copy(), rows.stars.copy(), rows.offsets),
    )


@leaf
def _price(common: planes.Packed, sizes: Ints, a: int, b: int, rule: MergeRule) -> float:
    """Return the price of merging a and b: the increase in stars, adjusted by the rule."""
    size = sizes[a] + sizes[b]
    # The union costs its size times the columns in which it differs, less what both cost now.
    more = size * planes.distance(common, a, common, b)
    more -= sizes[a] * planes.starred(common, a) + sizes[b] * planes.starred(common, b)
    price: float = more * 1.0
    if rule.divisor == BY_SIZE:
        price /= size
    elif rule.divisor == BY_LOGARITHM:
        price /= np.log2(size * 1.0)
    price += rule.price_per_row * size
    return price


@leaf
def _find_partner(work: Merging, a: int, rule: MergeRule) -> None:
    """Find the cheapest partner of an open cluster; others take it if it is cheaper than theirs."""
    work.near[a], work.price[a] = -1, np.inf
    for b in range(work.state.size):
        if b != a and work.state[b] == 0:
            price = _price(work.common, work.sizes, a, b, rule)
            if price < work.price[a]:
                work.near[a], work.price[a] = b, price
            if work.near[b] >= 0 and price < work.price[b]:
                work.near[b], work.price[b] = a, price


@leaf
def _give_back(rows: planes.Packed, work: Merging, a: int, k: int) -> None:
    """Make rows of a cluster open clusters again, those first without which it costs least.

    Equal rows that are given back one after the other make one cluster, of k rows at most.
    """
    size, opened = _list_members(work, a), MINUS_ONE
    while size > k:
        # Step 1: what is common to the cluster without each row; the row without which it costs
        # least leaves.
        planes.meets_without(rows, work.members, size, work.without, work.before)
        number, fewest = ZERO, planes.starred(work.without, work.members[0])
        for other in range(1, size):
            stars = planes.starred(work.without, work.members[other])
            if stars < fewest:
                number, fewest = wide(other), stars
        # Step 2: if that row lent the cluster its slot, the cluster moves to the slot of another
        # row.
        row = work.members[number]
        if row == a:
            a = _move_slot(work, a)
        planes.put(work.common, a, work.without, row)
        work.sizes[a] -= 1
        work.state[a] = FINISHED
        # Step 3: the row joins the cluster that was just opened if it equals its rows, else it
        # opens one.
        if opened < 0 or work.sizes[opened] == k or not _equals(work.common, opened, rows, row):
            opened = row
            work.sizes[row], work.state[row], work.near[row] = 0, 0, -1
            planes.put(work.common, row, rows, row)
        work.labels[row] = opened
        work.sizes[opened] += 1
        for other in range(number + 1, size):
            work.members[other - 1] = work.members[other]
        size -= 1


@leaf
def _equals(one: planes.Packed, i: int, other: planes.Packed, j: int) -> bool:
    """Return whether two rows show the same: they differ only where both are suppressed."""
    apart = planes.distance(one, i, other, j)
    same: bool = apart == planes.starred(one, i) and apart == planes.starred(other, j)
    return same


@leaf
def _list_members(work: Merging, a: int) -> int:
    """Write the rows of a cluster into `members`, ascending; return how many there are."""
    size = ZERO
    for row in range(work.labels.size):
        if work.labels[row] == a:
            work.members[size] = row
            size += 1
    return size


@leaf
def _move_slot(work: Merging, a: int) -> int:
    """Move a cluster to the slot of another of its rows, since row a leaves; return it."""
    slot = MINUS_ONE
    # The first other row becomes the slot; all rows of the cluster point to it.
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
    """Return the open cluster with the cheapest partner; -1 if none has a partner."""
    best, price = MINUS_ONE, np.inf
    for a in range(work.state.size):
        if work.state[a] == 0 and work.price[a] < price:
            best, price = a, work.price[a]
    return best


@leaf
def merge(rows: planes.Packed, work: Merging, rule: MergeRule) -> None:
    """Write into ``work.labels`` the cluster of every row, each of k rows or more.

    Parameters
    ----------
    rows
        At least k rows.
    work
        From `merging`; overwritten.
    rule
        The fewest rows of a cluster, and how merging is priced.
    """
    a = MINUS_ONE
    while True:
        # Step 1: clusters of k rows are finished, and may give back rows.
        for c in range(work.state.size):
            if work.state[c] == 0 and work.sizes[c] >= rule.k:
                work.state[c] = FINISHED
                if rule.shrink:
                    _give_back(rows, work, c, rule.k)
        # Step 2: the cheapest union of two open clusters; it stays in slot a.
        _refresh(work, a, rule)
        a = _cheapest(work)
        if a < 0:
            break
        b = work.near[a]
        planes.meet(work.common, a, work.common, b)
        work.sizes[a] += work.sizes[b]
        work.state[b] = ABSENT
        for row in range(work.labels.size):
            if work.labels[row] == b:
                work.labels[row] = a
    # Step 3: one open cluster of fewer than k rows may remain.
    _assign_leftovers(rows, work)


@leaf
def _refresh(work: Merging, a: int, rule: MergeRule) -> None:
    """Find partners for clusters that have none, whose partner is gone, or whose partner is a."""
    for c in range(work.state.size):
        if work.state[c] == 0:
            near = work.near[c]
            if c == a or near < 0 or near == a or work.state[near] != 0:
                _find_partner(work, c, rule)


@leaf
def _assign_leftovers(rows: planes.Packed, work: Merging) -> None:
    """Put every row of a cluster that is still open into the finished one that it costs least."""
    for row in range(work.labels.size):
        if work.state[work.labels[row]] != 0:
            continue
        best, price = MINUS_ONE, np.inf
        for a in range(work.state.size):
            if work.state[a] == FINISHED:
                # What the finished cluster costs more with this row.
                size = work.sizes[a]
                more = (size + 1) * planes.distance(work.common, a, rows, row)
                more -= size * planes.starred(work.common, a)
                if more < price:
                    best, price = a, float(more)
        work.labels[row] = best
        work.sizes[best] += 1
        planes.meet(work.common, best, rows, row)

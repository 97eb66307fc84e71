"""Clusters improved: a row moves to another cluster, or two rows change places.

Every row asks for a cluster of at least its level. A cluster costs its size times the columns in
which its rows differ.

Clusters of at least k rows, by merging the two whose union costs least.

A cluster is what is common to its rows: a column in which they differ is suppressed. It costs its
size times its suppressed columns.

Stars of all rows of a class that nobody needs, taken away at once, so that its rows stay equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import first_bit
from graphveil.core.kernels.leaf import MINUS_ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.network import (
    CHOSEN,
    FREE,
    ONE_BIT,
    WORD,
    Flow,
    Words,
    fits,
    is_set,
    turn_chosen,
    turn_free,
)
from graphveil.methods.adaptive.kernels.planes import (
    Packed,
    differing,
    distance,
    meet,
    meets_without,
    put,
    starred,
)
from graphveil.methods.adaptive.kernels.search import lead, must_stay, undo

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
def _look(work: Merging, a: int, rule: MergeRule) -> None:
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
            a = _renamed(work, a)
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
def _renamed(work: Merging, a: int) -> int:
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
    _share_out(rows, work)


@leaf
def _refresh(work: Merging, a: int, rule: MergeRule) -> None:
    """Find partners for those who have none, and for those whose partner is gone, or is a."""
    for c in range(work.state.size):
        if work.state[c] == 0:
            near = work.near[c]
            if c == a or near < 0 or near == a or work.state[near] != 0:
                _look(work, c, rule)


@leaf
def _share_out(rows: Packed, work: Merging) -> None:
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


class ClusterMembers(NamedTuple):
    """Which row is in which cluster, and what is common to the rows of each.

    ``common`` has one row per cluster, ``without`` one per row: what is common to the others of its
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
    """Write what is common to a cluster, and to all of it but each row; none has no others."""
    members, without = clusters.members, clusters.without
    size = ZERO
    for row in range(clusters.labels.size):
        if clusters.labels[row] == a:
            members[size] = row
            size += 1
    if size == 0:
        return
    last = members[size - 1]
    if size == 1:
        put(clusters.common, a, rows, last)
        put(without, last, rows, last)
        return
    meets_without(rows, members, size, without, clusters.before)
    put(clusters.common, a, without, last)
    meet(clusters.common, a, rows, last)


@leaf
def _need_of_others(clusters: ClusterMembers, levels: Ints, row: int) -> int:
    """Return the largest level in a row's cluster but its own; 0 where it is alone."""
    need = ZERO
    for other in range(clusters.labels.size):
        if other != row and clusters.labels[other] == clusters.labels[row]:
            need = max(need, levels[other])
    return need


@leaf
def _move(rows: Packed, clusters: ClusterMembers, levels: Ints, row: int) -> int:
    """Move a row to where it saves most; return how many stars that saves, 0 where it stays."""
    sizes, common, without = clusters.sizes, clusters.common, clusters.without
    a = clusters.labels[row]
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
def _shown_with(rows: Packed, clusters: ClusterMembers, other: int, row: int) -> int:
    """Return how many columns a cluster suppresses in which one row takes the other's place."""
    if clusters.sizes[clusters.labels[other]] == 1:
        return starred(rows, row)
    return distance(clusters.without, other, rows, row)


@leaf
def _change_places(rows: Packed, clusters: ClusterMembers, levels: Ints, row: int) -> int:
    """Let a row and the best other change places; return how many stars that saves, 0 where none.

    No row can save more than its own cluster and the other's cost now: what cannot pay is skipped.
    """
    sizes, common, labels = clusters.sizes, clusters.common, clusters.labels
    a = labels[row]
    now = sizes[a] * starred(common, a)
    best, most = MINUS_ONE, ZERO
    for other in range(labels.size):
        b = labels[other]
        if b == a or levels[other] > sizes[a] or levels[row] > sizes[b]:
            continue
        saved = now + sizes[b] * (starred(common, b) - _shown_with(rows, clusters, other, row))
        if saved > most:
            saved -= sizes[a] * _shown_with(rows, clusters, row, other)
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
        Shape (n,): how many rows the cluster of each row must have, at least 1.
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
            if clusters.sizes[clusters.labels[row]] > _need_of_others(clusters, levels, row):
                more = _move(rows, clusters, levels, row)
            if more == 0:
                more = _change_places(rows, clusters, levels, row)
            saved += more
        total += saved
        if saved == 0:
            break
    return total


@leaf
def _set_aside(
    rows: Packed, flow: Flow, i: int, k: int, lost: NDArray[np.int32], number: int
) -> int:
    """Give up the pairs of record i that need its star of column k; list those that were chosen."""
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    for word in range(flow.row_before.size):
        bits = flow.words[FREE, i, word] | flow.words[CHOSEN, i, word]
        while bits:
            j = word * WORD + first_bit(bits)
            bits &= bits - ONE_BIT
            if differing(rows, i, rows, j, w) & bit:
                if is_set(flow.words[FREE, i], j):
                    turn_free(flow, i, j)
                else:
                    turn_chosen(flow, i, j)
                    lost[number, 0], lost[number, 1] = i, j
                    number += 1
    return number


@leaf
def _take_back(rows: Packed, stars: Words, flow: Flow, i: int, k: int) -> None:
    """Make the pairs of record i free again that fit by its star of column k and are not chosen."""
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    for j in range(flow.passed.size):
        if (
            j != i
            and differing(rows, i, rows, j, w) & bit
            and not is_set(flow.words[CHOSEN, i], j)
            and fits(rows, stars, i, j)
        ):
            turn_free(flow, i, j)


@leaf
def _without_in_class(
    rows: Packed, stars: Words, flow: Flow, members: Ints, k: int, lost: NDArray[np.int32]
) -> bool:
    """Take the stars of a column away from some rows if all that need them can be led elsewhere."""
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    for i in members:
        if must_stay(rows, flow, i, w, bit):
            return False
    number, steps = ZERO, ZERO
    for i in members:
        number = _set_aside(rows, flow, i, k, lost, number)
    for one in range(number):
        more = lead(flow, wide(lost[one, 0]), wide(lost[one, 1]), steps)
        if more < 0:
            undo(flow, steps)
            for again in range(number):
                turn_chosen(flow, wide(lost[again, 0]), wide(lost[again, 1]))
            for i in members:
                _take_back(rows, stars, flow, i, k)
            return False
        steps = more
    for i in members:
        stars[i, w] &= ~bit
        flow.changed[i] = 1
    return True


@leaf
def prune_classes(
    rows: Packed,
    stars: Words,
    flow: Flow,
    members: Ints,
    starts: Ints,
    cells: Ints,
    lost: NDArray[np.int32],
) -> int:
    """Take stars away from all rows of a class at once where everybody keeps enough pairs.

    Parameters
    ----------
    rows, stars, flow
        As in `prune`; the rows of a class have the same stars.
    members, starts
        The rows of class a are ``members[starts[a] : starts[a + 1]]``.
    cells
        Shape (m, 2): classes, and columns by their place among the bits, in the order in which they
        are tried.
    lost
        Scratch, shape (rows of a class times n, 2).

    Returns
    -------
    int
        From how many classes a column's stars are gone.
    """
    gone = 0
    for number in range(cells.shape[0]):
        a = cells[number, 0]
        some = members[starts[a] : starts[a + 1]]
        if _without_in_class(rows, stars, flow, some, cells[number, 1], lost):
            gone += 1
    return gone

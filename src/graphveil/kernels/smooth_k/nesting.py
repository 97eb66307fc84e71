"""Classes of an earlier release put together to larger ones, none of them parted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Places = NDArray[np.int32]

TRIED = 16
"""How many units are looked at exactly, of those that share features."""


class Units(NamedTuple):
    """What is put together: sizes, and how many of the rows have each feature.

    Parameters
    ----------
    indptr, features, counts
        int64, int32, int64: unit u has ``features[indptr[u]:indptr[u + 1]]``, so many rows each.
    sizes
        int64: the rows of every unit.
    list_indptr, list_units
        The units that publish each feature by themselves, by feature.
    published
        int64: how many features every unit publishes by itself.
    """

    indptr: Ints
    features: Places
    counts: Ints
    sizes: Ints
    list_indptr: Ints
    list_units: Places
    published: Ints


class Threshold(NamedTuple):
    """The keep rule and the price of an entry of either data set, as numbers.

    Parameters
    ----------
    numerator, denominator
        The share theta.
    drop
        Whether exactly half is not enough.
    price
        The objective is ``(1 + price) * count - price * size`` a published feature.
    """

    numerator: int
    denominator: int
    drop: bool
    price: float


class Chains(NamedTuple):
    """Which units a cluster holds, as linked lists, and room to work.

    Parameters
    ----------
    cluster
        int32: the cluster of every unit, -1 where it has none yet.
    after, head
        int32: the next unit of the same cluster, and the first of every cluster; -1 ends.
    total
        int64: the rows of every cluster.
    seen
        int64, zeros, a feature each; and int64, zeros, a unit each: scratch, left as found.
    shared
        As `seen`, a unit each.
    touched
        int32, a feature each: scratch.
    """

    cluster: Places
    after: Places
    head: Places
    total: Ints
    seen: Ints
    shared: Ints
    touched: Places


@njit(cache=True, nogil=True)
def least(rule: Threshold, size: int) -> int:
    """Return how many of so many rows must have a feature that is published."""
    if rule.drop:
        return size // 2 + 1
    return max(1, -((-rule.numerator * size) // rule.denominator))


@njit(cache=True, nogil=True)
def value(units: Units, chains: Chains, rule: Threshold, start: int, out: int, extra: int) -> float:
    """Return the objective of a chain of units without the unit `out`, with the unit `extra`.

    Scratch `seen` and `touched` are written and `seen` is left at zero.
    """
    size, found = 0, 0
    unit = start
    while unit >= 0 or extra >= 0:
        if unit < 0:
            unit, extra = extra, -1
            following = -1
        else:
            following = chains.after[unit]
        if unit != out:
            size += units.sizes[unit]
            for place in range(units.indptr[unit], units.indptr[unit + 1]):
                feature = units.features[place]
                if chains.seen[feature] == 0:
                    chains.touched[found] = feature
                    found += 1
                chains.seen[feature] += units.counts[place]
        unit = following
    needed = least(rule, size)
    total = 0.0
    for place in range(found):
        feature = chains.touched[place]
        count = chains.seen[feature]
        chains.seen[feature] = 0
        if count >= needed:
            total += (1 + rule.price) * count - rule.price * size
    return total


@njit(cache=True, nogil=True)
def likest(units: Units, chains: Chains, source: int, within: int, best: Places) -> int:
    """Write into `best` the units that share most published features with a chain; how many.

    `source` is the first unit of a chain; with ``within >= 0`` it is that unit alone, and units of
    its cluster are passed over; else those with a cluster are. The score is twice the shared
    features less the unit's own.
    """
    found = 0
    unit = source
    while unit >= 0:
        for place in range(units.indptr[unit], units.indptr[unit + 1]):
            feature = units.features[place]
            for spot in range(units.list_indptr[feature], units.list_indptr[feature + 1]):
                other = units.list_units[spot]
                if within < 0 and chains.cluster[other] >= 0:
                    continue
                if within >= 0 and chains.cluster[other] == within:
                    continue
                chains.shared[other] += 1
        unit = chains.after[unit] if within < 0 else -1
    unit = source
    while unit >= 0:
        for place in range(units.indptr[unit], units.indptr[unit + 1]):
            feature = units.features[place]
            for spot in range(units.list_indptr[feature], units.list_indptr[feature + 1]):
                other = units.list_units[spot]
                if chains.shared[other] == 0:
                    continue
                score = 2 * chains.shared[other] - units.published[other]
                chains.shared[other] = 0
                found = _into(best, found, other, score)
        unit = chains.after[unit] if within < 0 else -1
    return found


@njit(cache=True, nogil=True)
def _into(best: Places, found: int, unit: int, score: int) -> int:
    """Insert a unit among the best, whose scores follow them; return how many there are."""
    limit = best.size // 2
    spot = found
    while spot > 0 and best[limit + spot - 1] < score:
        if spot < limit:
            best[spot] = best[spot - 1]
            best[limit + spot] = best[limit + spot - 1]
        spot -= 1
    if spot < limit:
        best[spot] = unit
        best[limit + spot] = score
    return min(found + 1, limit)


@njit(cache=True, nogil=True)
def grow(units: Units, chains: Chains, rule: Threshold, order: Places, k: int) -> int:
    """Put units without a cluster together, in this order, to at least k rows; how many clusters.

    Units of k rows are clusters of their own. What is left at the end, below k rows, joins the
    cluster that it costs least. Clusters are numbered from 0 in `chains`.
    """
    best = np.empty(2 * TRIED, dtype=np.int32)
    clusters = 0
    left = 0
    for unit in order:
        if units.sizes[unit] >= k:
            _open(units, chains, unit, clusters)
            clusters += 1
        else:
            left += units.sizes[unit]
    last = order.size - 1
    for seed in order:
        if chains.cluster[seed] >= 0 or left < k:
            continue
        _open(units, chains, seed, clusters)
        while chains.total[clusters] < k:
            partner = _best_partner(units, chains, rule, clusters, best)
            while partner < 0:
                if chains.cluster[order[last]] < 0:
                    partner = order[last]
                else:
                    last -= 1
            _join(units, chains, partner, clusters)
        left -= chains.total[clusters]
        clusters += 1
    for unit in order:
        if chains.cluster[unit] < 0:
            if clusters == 0:
                _open(units, chains, unit, 0)
                clusters = 1
            else:
                _join(units, chains, unit, _best_home(units, chains, rule, unit, clusters))
    return clusters


@njit(cache=True, nogil=True)
def _best_partner(units: Units, chains: Chains, rule: Threshold, cluster: int, best: Places) -> int:
    """Return the free unit whose joining gains most, or -1 where none shares a feature."""
    found = likest(units, chains, chains.head[cluster], -1, best)
    partner, gain = -1, -np.inf
    for spot in range(found):
        unit = best[spot]
        joined = value(units, chains, rule, chains.head[cluster], -1, unit)
        alone = value(units, chains, rule, -1, -1, unit)
        if joined - alone > gain:
            partner, gain = unit, joined - alone
    return partner


@njit(cache=True, nogil=True)
def _best_home(units: Units, chains: Chains, rule: Threshold, unit: int, clusters: int) -> int:
    """Return the cluster that a unit's joining costs least."""
    home, gain = 0, -np.inf
    for cluster in range(clusters):
        head = chains.head[cluster]
        change = value(units, chains, rule, head, -1, unit) - value(
            units, chains, rule, head, -1, -1
        )
        if change > gain:
            home, gain = cluster, change
    return home


@njit(cache=True, nogil=True)
def _open(units: Units, chains: Chains, unit: int, cluster: int) -> None:
    chains.head[cluster] = -1
    chains.total[cluster] = 0
    _join(units, chains, unit, cluster)


@njit(cache=True, nogil=True)
def _join(units: Units, chains: Chains, unit: int, cluster: int) -> None:
    chains.cluster[unit] = cluster
    chains.after[unit] = chains.head[cluster]
    chains.head[cluster] = unit
    chains.total[cluster] += units.sizes[unit]


@njit(cache=True, nogil=True)
def _leave(units: Units, chains: Chains, unit: int) -> None:
    cluster = chains.cluster[unit]
    if chains.head[cluster] == unit:
        chains.head[cluster] = chains.after[unit]
    else:
        before = chains.head[cluster]
        while chains.after[before] != unit:
            before = chains.after[before]
        chains.after[before] = chains.after[unit]
    chains.cluster[unit] = -1
    chains.total[cluster] -= units.sizes[unit]


@njit(cache=True, nogil=True)
def improve(units: Units, chains: Chains, rule: Threshold, order: Places, k: int) -> int:
    """Move or exchange units where that gains, once over this order; return how many moves."""
    best = np.empty(2 * TRIED, dtype=np.int32)
    moves = 0
    for unit in order:
        home = chains.cluster[unit]
        found = likest(units, chains, unit, home, best)
        gain, chosen, moved = 1e-9, -1, False
        before = value(units, chains, rule, chains.head[home], -1, -1)
        without = value(units, chains, rule, chains.head[home], unit, -1)
        for spot in range(found):
            other = best[spot]
            there = chains.cluster[other]
            head = chains.head[there]
            held = before + value(units, chains, rule, head, -1, -1)
            rest = chains.total[home] - units.sizes[unit]
            if rest >= k:
                after = without + value(units, chains, rule, head, -1, unit)
                if after - held > gain:
                    gain, chosen, moved = after - held, other, True
            exchanged = units.sizes[unit] - units.sizes[other]
            if chains.total[home] - exchanged >= k and chains.total[there] + exchanged >= k:
                after = value(units, chains, rule, chains.head[home], unit, other)
                after += value(units, chains, rule, head, other, unit)
                if after - held > gain:
                    gain, chosen, moved = after - held, other, False
        if chosen >= 0:
            there = chains.cluster[chosen]
            _leave(units, chains, unit)
            if not moved:
                _leave(units, chains, chosen)
                _join(units, chains, chosen, home)
            _join(units, chains, unit, there)
            moves += 1
    return moves

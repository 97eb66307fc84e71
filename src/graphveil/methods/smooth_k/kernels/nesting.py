"""Put the classes of an earlier release together to larger ones; none of them is divided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import ZERO, allocating, leaf, wide
from graphveil.methods.smooth_k.kernels.search_state import NONE

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
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
    features: Indices
    counts: Ints
    sizes: Ints
    list_indptr: Ints
    list_units: Indices
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
    seen, shared
        int64: counts by feature and by unit, 0 between calls.
    touched
        int32, a feature each: scratch.
    """

    cluster: Indices
    after: Indices
    head: Indices
    total: Ints
    seen: Ints
    shared: Ints
    touched: Indices


@leaf
def _least(rule: Threshold, size: int) -> int:
    """Return how many of so many rows must have a feature that is published."""
    if rule.drop:
        return size // 2 + 1
    return max(1, -((-rule.numerator * size) // rule.denominator))


@leaf
def value(units: Units, chains: Chains, rule: Threshold, start: int, out: int, extra: int) -> float:
    """Return the objective of a chain of units without the unit `out`, with the unit `extra`.

    Scratch `seen` and `touched` are written, and `seen` is 0 again at the end.
    """
    size, n_touched = 0, 0
    unit = start
    while unit >= 0 or extra >= 0:
        if unit < 0:
            unit, extra = extra, NONE
            following = NONE
        else:
            following = wide(chains.after[unit])
        if unit != out:
            size += units.sizes[unit]
            for entry in range(units.indptr[unit], units.indptr[unit + 1]):
                feature = units.features[entry]
                if chains.seen[feature] == 0:
                    chains.touched[n_touched] = feature
                    n_touched += 1
                chains.seen[feature] += units.counts[entry]
        unit = following
    least = _least(rule, size)
    total = 0.0
    for i in range(n_touched):
        feature = chains.touched[i]
        count = chains.seen[feature]
        chains.seen[feature] = 0
        if count >= least:
            total += (1 + rule.price) * count - rule.price * size
    return total


@leaf
def _likest(units: Units, chains: Chains, source: int, own: int, best: Indices) -> int:
    """Write into `best` the units that share most published features with a chain; how many.

    `source` is the first unit of a chain; with ``own >= 0`` it is that unit alone, and units of
    that cluster are passed over; else those with a cluster are. The score is twice the shared
    features less the unit's own, and stands behind the units in `best`.
    """
    unit = source
    while unit >= 0:
        for entry in range(units.indptr[unit], units.indptr[unit + 1]):
            feature = units.features[entry]
            for i in range(units.list_indptr[feature], units.list_indptr[feature + 1]):
                other = units.list_units[i]
                if own < 0 and chains.cluster[other] >= 0:
                    continue
                if own >= 0 and chains.cluster[other] == own:
                    continue
                chains.shared[other] += 1
        unit = wide(chains.after[unit]) if own < 0 else NONE
    n_best = ZERO
    unit = source
    while unit >= 0:
        for entry in range(units.indptr[unit], units.indptr[unit + 1]):
            feature = units.features[entry]
            for i in range(units.list_indptr[feature], units.list_indptr[feature + 1]):
                other = wide(units.list_units[i])
                if chains.shared[other] == 0:
                    continue
                score = 2 * chains.shared[other] - units.published[other]
                chains.shared[other] = 0
                n_best = _insert(best, n_best, other, score)
        unit = wide(chains.after[unit]) if own < 0 else NONE
    return n_best


@leaf
def _insert(best: Indices, n_best: int, unit: int, score: int) -> int:
    """Insert a unit among the best, whose scores follow them; return how many there are."""
    limit = best.size // 2
    i = n_best
    while i > 0 and best[limit + i - 1] < score:
        if i < limit:
            best[i] = best[i - 1]
            best[limit + i] = best[limit + i - 1]
        i -= 1
    if i < limit:
        best[i] = unit
        best[limit + i] = score
    return min(n_best + 1, limit)


@allocating
def grow(units: Units, chains: Chains, rule: Threshold, order: Indices, k: int) -> int:
    """Put units without a cluster together, in this order, to at least k rows; how many clusters.

    Units of k rows are clusters of their own. The last units, below k rows, join the clusters that
    they cost least. `chains` is written; its clusters are numbered from 0.
    """
    best = np.empty(2 * TRIED, dtype=np.int32)
    n_clusters = ZERO
    waiting = 0
    for u in order:
        unit = wide(u)
        if units.sizes[unit] >= k:
            open_chain(units, chains, unit, n_clusters)
            n_clusters += 1
        else:
            waiting += units.sizes[unit]
    last = order.size - 1
    for u in order:
        seed = wide(u)
        if chains.cluster[seed] >= 0 or waiting < k:
            continue
        open_chain(units, chains, seed, n_clusters)
        while chains.total[n_clusters] < k:
            partner = _best_partner(units, chains, rule, n_clusters, best)
            while partner < 0:
                if chains.cluster[order[last]] < 0:
                    partner = wide(order[last])
                else:
                    last -= 1
            join(units, chains, partner, n_clusters)
        waiting -= chains.total[n_clusters]
        n_clusters += 1
    for u in order:
        unit = wide(u)
        if chains.cluster[unit] < 0:
            if n_clusters == 0:
                open_chain(units, chains, unit, n_clusters)
                n_clusters += 1
            else:
                join(units, chains, unit, _best_home(units, chains, rule, unit, n_clusters))
    return n_clusters


@leaf
def _best_partner(
    units: Units, chains: Chains, rule: Threshold, cluster: int, best: Indices
) -> int:
    """Return the unit without a cluster whose joining gains most, or -1 if none is similar."""
    head = wide(chains.head[cluster])
    partner, most = NONE, -np.inf
    for i in range(_likest(units, chains, head, NONE, best)):
        unit = wide(best[i])
        joined = value(units, chains, rule, head, NONE, unit)
        alone = value(units, chains, rule, NONE, NONE, unit)
        if joined - alone > most:
            partner, most = unit, joined - alone
    return partner


@leaf
def _best_home(units: Units, chains: Chains, rule: Threshold, unit: int, n_clusters: int) -> int:
    """Return the cluster that a unit's joining costs least."""
    home, most = ZERO, -np.inf
    for cluster in range(n_clusters):
        head = wide(chains.head[cluster])
        change = value(units, chains, rule, head, NONE, unit) - value(
            units, chains, rule, head, NONE, NONE
        )
        if change > most:
            home, most = cluster, change
    return home


@leaf
def open_chain(units: Units, chains: Chains, unit: int, cluster: int) -> None:
    """Begin a cluster with a unit."""
    chains.head[cluster] = NONE
    chains.total[cluster] = 0
    join(units, chains, unit, cluster)


@leaf
def join(units: Units, chains: Chains, unit: int, cluster: int) -> None:
    """Put a unit into a cluster."""
    chains.cluster[unit] = cluster
    chains.after[unit] = chains.head[cluster]
    chains.head[cluster] = unit
    chains.total[cluster] += units.sizes[unit]


@leaf
def _leave(units: Units, chains: Chains, unit: int) -> None:
    cluster = chains.cluster[unit]
    if chains.head[cluster] == unit:
        chains.head[cluster] = chains.after[unit]
    else:
        before = chains.head[cluster]
        while chains.after[before] != unit:
            before = chains.after[before]
        chains.after[before] = chains.after[unit]
    chains.cluster[unit] = NONE
    chains.total[cluster] -= units.sizes[unit]


@allocating
def improve(units: Units, chains: Chains, rule: Threshold, order: Indices, k: int) -> int:
    """Move or exchange units where that gains, once over this order; return how many changes.

    `chains` is written; no cluster falls below k rows.
    """
    best = np.empty(2 * TRIED, dtype=np.int32)
    changes = 0
    for u in order:
        unit = wide(u)
        home = wide(chains.cluster[unit])
        most, partner, moves = 1e-9, NONE, False
        here = wide(chains.head[home])
        n_best = _likest(units, chains, unit, home, best)
        before = value(units, chains, rule, here, NONE, NONE)
        without = value(units, chains, rule, here, unit, NONE)
        for i in range(n_best):
            other = wide(best[i])
            goal = chains.cluster[other]
            there = wide(chains.head[goal])
            both = before + value(units, chains, rule, there, NONE, NONE)
            if chains.total[home] - units.sizes[unit] >= k:
                after = without + value(units, chains, rule, there, NONE, unit)
                if after - both > most:
                    most, partner, moves = after - both, other, True
            surplus = units.sizes[unit] - units.sizes[other]
            if chains.total[home] - surplus >= k and chains.total[goal] + surplus >= k:
                after = value(units, chains, rule, here, unit, other)
                after += value(units, chains, rule, there, other, unit)
                if after - both > most:
                    most, partner, moves = after - both, other, False
        if partner >= 0:
            goal = wide(chains.cluster[partner])
            _leave(units, chains, unit)
            if not moves:
                _leave(units, chains, partner)
                join(units, chains, partner, home)
            join(units, chains, unit, goal)
            changes += 1
    return changes

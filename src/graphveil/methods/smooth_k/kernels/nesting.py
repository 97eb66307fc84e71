"""Put the classes of an earlier release together to larger ones; none of them is divided.

graphveil's own; the paper has one release. The units are the classes of the earlier release. They
are put together by greedy growth and improved by moves and swaps under the same objective as the
local search: ``I - price U``, where the price is the Jaccard index at the beginning of a pass.
There are far fewer units than rows, so clusters are linked lists of units, and the objective of a
cluster is computed anew for every try, in O(features of its units).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import ZERO, allocating, leaf, wide
from graphveil.methods.smooth_k.kernels.search_state import NONE

Indices = NDArray[np.int32]

TRIED = 16
"""How many units are tried exactly, of those that share most published features: a try costs the
features of a cluster. A larger value tries less similar units too."""


class Units(NamedTuple):
    """The classes that are put together, as counts by feature.

    Parameters
    ----------
    indptr, features, counts
        int64, shape (units + 1,), int32 and int64: ``counts`` of the rows of unit u have the
        ``features`` from ``indptr[u]`` to ``indptr[u + 1]``.
    sizes
        int64, shape (units,): the rows of every unit.
    list_indptr, list_units
        int64, shape (n_features + 1,), and int32: the units that publish each feature by
        themselves.
    published
        int64, shape (units,): how many features every unit publishes by itself.
    """

    indptr: Ints
    features: Indices
    counts: Ints
    sizes: Ints
    list_indptr: Ints
    list_units: Indices
    published: Ints


class Threshold(NamedTuple):
    """The keep rule and the price of an entry of the union, as numbers.

    Parameters
    ----------
    numerator, denominator
        The share theta.
    drop
        Whether exactly half is not enough.
    price
        A published feature is worth ``(1 + price) * count - price * size``.
    """

    numerator: int
    denominator: int
    drop: bool
    price: float


class Chains(NamedTuple):
    """Which units a cluster holds, as linked lists, and scratch.

    Parameters
    ----------
    cluster
        int32, shape (units,): the cluster of every unit, -1 if it has none yet.
    after, head
        int32, shape (units,): the next unit of the same cluster, and the first of every cluster; -1
        ends.
    total
        int64, shape (units,): the rows of every cluster.
    seen, shared
        int64, shape (n_features,) and (units,): counts by feature and by unit, 0 between calls.
    touched
        int32, shape (n_features,): scratch.
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
    """Return t(size): how many of so many rows must have a feature that is published."""
    if rule.drop:
        return size // 2 + 1
    return max(1, -((-rule.numerator * size) // rule.denominator))


@leaf
def value(units: Units, chains: Chains, rule: Threshold, start: int, out: int, extra: int) -> float:
    """Return the objective of a chain of units, without the unit `out` and with the unit `extra`.

    -1 for `start`, `out` or `extra` means none. The scratch ``seen`` and ``touched`` is written,
    and ``seen`` is 0 again at the end.
    """
    # Step 1: add up the rows and the counts by feature; `extra` is visited after the end of the
    # chain.
    size, n_touched = 0, 0
    unit = start
    while unit >= 0 or extra >= 0:
        if unit < 0:
            unit, extra = extra, NONE
            following = NONE
        else:
            following = wide(chains.after[unit])
        # The unit that leaves is passed over; all others add their rows and counts.
        if unit != out:
            size += units.sizes[unit]
            for entry in range(units.indptr[unit], units.indptr[unit + 1]):
                feature = units.features[entry]
                if chains.seen[feature] == 0:
                    chains.touched[n_touched] = feature
                    n_touched += 1
                chains.seen[feature] += units.counts[entry]
        unit = following
    # Step 2: the keep rule on the sums.
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
def _most_similar(units: Units, chains: Chains, source: int, own: int, best: Indices) -> int:
    """Write the units that share most published features with a chain into `best`; return how many.

    If ``own < 0``, `source` is the first unit of a chain, and only units without a cluster count.
    Otherwise it is one unit of cluster `own`, and only units of other clusters count. A feature
    that a unit publishes is shared once for each unit of the source that has it in any row. The
    score is twice the shared features less the features that the unit publishes. It only selects
    the units to try: `value` decides. Scores follow the units in `best`.
    """
    # Step 1: count how many of its published features each other unit shares with the source.
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
    # Step 2: meet the same units again, keep the best scores, and leave the counts at 0.
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
    # Move lower scores back by one place; what falls behind the limit is dropped.
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
    """Put units without a cluster together to at least k rows; return how many clusters there are.

    Parameters
    ----------
    units, rule
        The classes, and the keep rule with its price.
    chains
        Without clusters before; overwritten, clusters numbered from 0.
    order
        int32, shape (units,): the order in which units start clusters.
    k
        The smallest cluster.
    """
    # Step 1: units of k rows are clusters of their own.
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
    # Step 2: every other unit that is still without a cluster starts one, as long as enough rows
    # wait to fill it. It takes the unit that gains most until it has k rows; if none shares a
    # feature, the last one in order, which publishes fewest features.
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
    # Step 3: the last units, together fewer than k rows, join the clusters that they cost least.
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
    """Return the unit without a cluster whose joining gains most; -1 if none shares a feature."""
    head = wide(chains.head[cluster])
    partner, most = NONE, -np.inf
    for i in range(_most_similar(units, chains, head, NONE, best)):
        unit = wide(best[i])
        # The gain is that of the union, less what the unit publishes by itself.
        joined = value(units, chains, rule, head, NONE, unit)
        alone = value(units, chains, rule, NONE, NONE, unit)
        if joined - alone > most:
            partner, most = unit, joined - alone
    return partner


@leaf
def _best_home(units: Units, chains: Chains, rule: Threshold, unit: int, n_clusters: int) -> int:
    """Return the cluster whose objective loses least by the unit."""
    home, most = ZERO, -np.inf
    for cluster in range(n_clusters):
        head = wide(chains.head[cluster])
        # Every cluster is tried: only a few units are left for this.
        change = value(units, chains, rule, head, NONE, unit) - value(
            units, chains, rule, head, NONE, NONE
        )
        if change > most:
            home, most = cluster, change
    return home


@leaf
def open_chain(units: Units, chains: Chains, unit: int, cluster: int) -> None:
    """Start a cluster with a unit."""
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
    """Remove a unit from the chain of its cluster."""
    cluster = chains.cluster[unit]
    if chains.head[cluster] == unit:
        chains.head[cluster] = chains.after[unit]
    else:
        # A singly linked list: find the unit before this one.
        before = chains.head[cluster]
        while chains.after[before] != unit:
            before = chains.after[before]
        chains.after[before] = chains.after[unit]
    chains.cluster[unit] = NONE
    chains.total[cluster] -= units.sizes[unit]


@allocating
def improve(units: Units, chains: Chains, rule: Threshold, order: Indices, k: int) -> int:
    """Move or swap units if that gains, once over this order; return how many changes.

    `chains` is overwritten; no cluster falls below k rows. Parameters as in `grow`.
    """
    best = np.empty(2 * TRIED, dtype=np.int32)
    changes = 0
    for u in order:
        unit = wide(u)
        home = wide(chains.cluster[unit])
        # A change must gain more than rounding errors.
        most, partner, moves = 1e-9, NONE, False
        here = wide(chains.head[home])
        n_best = _most_similar(units, chains, unit, home, best)
        before = value(units, chains, rule, here, NONE, NONE)
        without = value(units, chains, rule, here, unit, NONE)
        for i in range(n_best):
            other = wide(best[i])
            goal = chains.cluster[other]
            there = wide(chains.head[goal])
            # The objective of both clusters, before and after.
            both = before + value(units, chains, rule, there, NONE, NONE)
            # A move, if enough rows stay behind.
            if chains.total[home] - units.sizes[unit] >= k:
                after = without + value(units, chains, rule, there, NONE, unit)
                if after - both > most:
                    most, partner, moves = after - both, other, True
            # A swap, if both clusters keep k rows.
            surplus = units.sizes[unit] - units.sizes[other]
            if chains.total[home] - surplus >= k and chains.total[goal] + surplus >= k:
                after = value(units, chains, rule, here, unit, other)
                after += value(units, chains, rule, there, other, unit)
                if after - both > most:
                    most, partner, moves = after - both, other, False
        # Apply the best change.
        if partner >= 0:
            goal = wide(chains.cluster[partner])
            _leave(units, chains, unit)
            if not moves:
                _leave(units, chains, partner)
                join(units, chains, partner, home)
            join(units, chains, unit, goal)
            changes += 1
    return changes

"""Facility location among sparse rows: what opening costs, and who opens in a random order.

The distance of two rows is the number of features that one has and the other lacks. Rows are
compared through the lists of their features: with o features shared it is ``|u| + |v| - 2 o``.

Which rows have a feature: lists that rows can leave, and how many features two rows share.

Closing of facilities with too few clients, who go to the nearest one that is still open.

Classes of an earlier release put together to larger ones, none of them parted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import ZERO, allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.smooth_k.kernels.search import NONE as SEARCH_NONE

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]


class FeatureLists(NamedTuple):
    """Every feature's rows, those that have left put behind the others.

    The rows of feature f are ``members[starts[f] : starts[f] + lengths[f]]``. ``entries[i]`` is the
    entry of ``indices`` by which ``members[i]`` has the feature, and ``positions`` is its inverse:
    where every entry stands in ``members``.
    """

    starts: Ints
    lengths: Ints
    members: Indices
    entries: Ints
    positions: Ints


@tiered()
@allocating
def lists_of(indptr: Ints, indices: Indices, n_features: int) -> FeatureLists:
    """Return the lists of these rows; the rows of a feature ascend."""
    starts = np.zeros(n_features + 1, dtype=np.int64)
    for f in indices:
        starts[f + 1] += 1
    for f in range(n_features):
        starts[f + 1] += starts[f]
    lengths = np.zeros(n_features, dtype=np.int64)
    members = np.empty(indices.size, dtype=np.int32)
    entries = np.empty(indices.size, dtype=np.int64)
    positions = np.empty(indices.size, dtype=np.int64)
    for row in range(indptr.size - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            f = indices[entry]
            position = starts[f] + lengths[f]
            lengths[f] += 1
            members[position] = row
            entries[position] = entry
            positions[entry] = position
    return FeatureLists(starts, lengths, members, entries, positions)


@leaf
def leave(lists: FeatureLists, indptr: Ints, indices: Indices, row: int) -> None:
    """Take a row that is in the lists out of them: O(its features)."""
    starts, lengths, members, entries, positions = lists
    for entry in range(indptr[row], indptr[row + 1]):
        f = indices[entry]
        lengths[f] -= 1
        here, last = positions[entry], starts[f] + lengths[f]
        moved = entries[last]
        members[here], members[last] = members[last], row
        entries[here], entries[last] = moved, entry
        positions[moved], positions[entry] = here, last


@leaf
def count_shared(
    lists: FeatureLists, features: Indices, shared: NDArray[np.int32], touched: Indices
) -> int:
    """Add to shared[v] the features that row v has of these; return how many rows have some.

    ``shared`` must be 0 everywhere; the rows that have some are written to the front of
    ``touched``. The caller sets ``shared`` back to 0 at these.
    """
    n_touched = 0
    for f in features:
        first = lists.starts[f]
        for position in range(first, first + lists.lengths[f]):
            v = lists.members[position]
            if shared[v] == 0:
                touched[n_touched] = v
                n_touched += 1
            shared[v] += 1
    return n_touched


NONE = -1
FAR = 1 << 60


class RowKinds(NamedTuple):
    """The distinct rows, shorter ones first: sorted features, and how many rows equal each."""

    indptr: Ints
    indices: Indices
    weights: Ints


class Nearest(NamedTuple):
    """The nearest open facility of every distinct row that shares a feature, and its distance.

    Facilities are numbered as they open. `FAR` and `NONE` where none shares a feature.
    """

    distance: Ints
    facility: Indices


class RowStream(NamedTuple):
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
    arrivals: RowStream,
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


class Facilities(NamedTuple):
    """The open facilities in the order of their opening: their features, and two orders of them.

    ``by_degree`` sorts them by the number of features, then by number; ``visits`` is the order in
    which they are looked at.
    """

    indptr: Ints
    indices: Indices
    by_degree: Ints
    visits: Ints


class Clients(NamedTuple):
    """Equal rows that stay together: their kind, their number, and the facility they are at."""

    kinds: Indices
    weights: Ints
    facility: Indices


@allocating
def close_small(
    kinds: RowKinds, facilities: Facilities, lists: FeatureLists, clients: Clients, k: int
) -> None:
    """Close facilities below k rows, the last one apart; write where the clients end.

    Facilities that close are taken out of their ``lists``.

    The nearest facility is the one of least distance; of several, one that shares a feature before
    one that does not, then the one opened first.
    """
    n = facilities.indptr.size - 1
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
    closed = np.zeros(n, dtype=np.bool_)
    shared = np.zeros(n, dtype=np.int32)
    touched = np.empty(n, dtype=np.int32)
    n_open, first = n, 0
    for f in facilities.visits:
        if sizes[f] >= k or n_open == 1:
            continue
        leave(lists, facilities.indptr, facilities.indices, f)
        closed[f] = True
        n_open -= 1
        while closed[facilities.by_degree[first]]:
            first += 1
        lowest = facilities.by_degree[first]
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

    `lowest` is the one of fewest features: of those that share none with the row it is the nearest.
    """
    nearest, least = lowest, FAR
    for i in range(count_shared(lists, features, shared, touched)):
        facility = touched[i]
        distance = features.size + degrees[facility] - 2 * shared[facility]
        shared[facility] = 0
        if distance < least or (distance == least and facility < nearest):
            nearest, least = wide(facility), distance
    return lowest if features.size + degrees[lowest] < least else nearest


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
            unit, extra = extra, SEARCH_NONE
            following = SEARCH_NONE
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
        unit = wide(chains.after[unit]) if own < 0 else SEARCH_NONE
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
        unit = wide(chains.after[unit]) if own < 0 else SEARCH_NONE
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
    partner, most = SEARCH_NONE, -np.inf
    for i in range(_likest(units, chains, head, SEARCH_NONE, best)):
        unit = wide(best[i])
        joined = value(units, chains, rule, head, SEARCH_NONE, unit)
        alone = value(units, chains, rule, SEARCH_NONE, SEARCH_NONE, unit)
        if joined - alone > most:
            partner, most = unit, joined - alone
    return partner


@leaf
def _best_home(units: Units, chains: Chains, rule: Threshold, unit: int, n_clusters: int) -> int:
    """Return the cluster that a unit's joining costs least."""
    home, most = ZERO, -np.inf
    for cluster in range(n_clusters):
        head = wide(chains.head[cluster])
        change = value(units, chains, rule, head, SEARCH_NONE, unit) - value(
            units, chains, rule, head, SEARCH_NONE, SEARCH_NONE
        )
        if change > most:
            home, most = cluster, change
    return home


@leaf
def open_chain(units: Units, chains: Chains, unit: int, cluster: int) -> None:
    """Begin a cluster with a unit."""
    chains.head[cluster] = SEARCH_NONE
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
    chains.cluster[unit] = SEARCH_NONE
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
        most, partner, moves = 1e-9, SEARCH_NONE, False
        here = wide(chains.head[home])
        n_best = _likest(units, chains, unit, home, best)
        before = value(units, chains, rule, here, SEARCH_NONE, SEARCH_NONE)
        without = value(units, chains, rule, here, unit, SEARCH_NONE)
        for i in range(n_best):
            other = wide(best[i])
            goal = chains.cluster[other]
            there = wide(chains.head[goal])
            both = before + value(units, chains, rule, there, SEARCH_NONE, SEARCH_NONE)
            if chains.total[home] - units.sizes[unit] >= k:
                after = without + value(units, chains, rule, there, SEARCH_NONE, unit)
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

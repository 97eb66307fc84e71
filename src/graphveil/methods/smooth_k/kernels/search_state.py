"""The state of the local search: clusters, what they hold, and exact changes of the objective."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.core.kernels.tiers import for_each_entry, tiered

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
NONE = OUT = MINUS_ONE
IN = ONE
FREE = -1
FEATURE_BITS = 32
LOW = 0xFFFFFFFF
MULTIPLIER = -7046029254386353131
SIZE, KEPT, ENTRIES = range(3)
SHARED, CELLS = range(2)
NEXT, BEFORE = range(2)


class Data(NamedTuple):
    """What does not change: the distinct rows, which of them every row is, and the keep rule.

    A cluster of s rows keeps a feature that at least ``least[s]`` of them have.
    """

    indptr: Ints
    indices: Indices
    kinds: Indices
    least: Ints
    n_features: int


class SearchState(NamedTuple):
    """The clusters, which may be empty, and what they hold.

    ``table`` is open-addressing: cluster and feature as one number, and the count. ``clusters[c]``
    has the rows of cluster c, its kept features, and the entries that these keep: the sum of their
    counts. The rows of a
    cluster form a list from ``heads[c]`` through ``links``. ``tally`` has the sums over clusters
    of these entries, and of the cells published, ``s`` a feature.
    """

    table: Ints
    clusters: Ints
    heads: Indices
    links: Indices
    labels: Indices
    tally: Ints


@leaf
def key_of(cluster: int, feature: int) -> int:
    """Return a cluster and a feature as one number."""
    return int((np.int64(cluster) << FEATURE_BITS) | np.int64(feature))


@leaf
def _home(key: int, capacity: int) -> int:
    """Return where the search for a key begins."""
    return int(((((key * MULTIPLIER) >> 32) & LOW) * capacity) >> 32)


@leaf
def count_of(table: Ints, key: int) -> int:
    """Return how many rows of the key's cluster have its feature."""
    capacity = len(table)
    slot = _home(key, capacity)
    while table[slot, 0] != FREE:
        if table[slot, 0] == key:
            return int(table[slot, 1])
        slot += 1
        if slot == capacity:
            slot = 0
    return 0


@leaf
def _close(table: Ints, gap: int) -> None:
    """Empty a slot; what was pushed past it moves back, so that no search ends too early."""
    capacity = len(table)
    slot = gap
    while True:
        slot += 1
        if slot == capacity:
            slot = 0
        if table[slot, 0] == FREE:
            break
        way = slot - _home(table[slot, 0], capacity)
        room = slot - gap
        if (way + capacity if way < 0 else way) >= (room + capacity if room < 0 else room):
            table[gap, 0], table[gap, 1] = table[slot, 0], table[slot, 1]
            gap = slot
    table[gap, 0] = FREE


@leaf
def shift(table: Ints, key: int, step: int) -> int:
    """Change a count by `step`, drop it at 0, and return what it was."""
    capacity = len(table)
    slot = _home(key, capacity)
    while table[slot, 0] != FREE and table[slot, 0] != key:
        slot += 1
        if slot == capacity:
            slot = 0
    if table[slot, 0] == FREE:
        table[slot, 0], table[slot, 1] = key, step
        return 0
    before = table[slot, 1]
    if before + step == 0:
        _close(table, slot)
    else:
        table[slot, 1] = before + step
    return int(before)


@leaf
def _count_row(data: Data, table: Ints, row: int, cluster: int, step: int) -> None:
    """Count a row in (step 1) or out (step -1) of the table."""
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        before = shift(table, key_of(cluster, wide(f)), step)
        if before > 0:
            shift(table, key_of(cluster, data.n_features + before), OUT)
        if before + step > 0:
            shift(table, key_of(cluster, data.n_features + before + step), IN)


@leaf
def _kept_by_adding(data: Data, state: SearchState, row: int, cluster: int) -> tuple[int, int]:
    """Return what a row that enters changes: the kept features, and the sum of their counts."""
    table = state.table
    size = state.clusters[cluster, SIZE]
    least, after = data.least[size], data.least[size + 1]
    lost = count_of(table, key_of(cluster, data.n_features + least)) if after > least else 0
    kept, entries = -lost, -lost * least
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        x = count_of(table, key_of(cluster, wide(f)))
        kept += x == after - 1
        entries += 1 if x >= after else after * (x == after - 1)
    return kept, entries


@leaf
def count_in(data: Data, state: SearchState, row: int, cluster: int) -> None:
    """Count a row into a cluster; lists and labels stay as they are."""
    kept, entries = _kept_by_adding(data, state, row, cluster)
    _count_row(data, state.table, row, cluster, IN)
    _write(state, cluster, IN, kept, entries)


@leaf
def count_out(data: Data, state: SearchState, row: int, cluster: int) -> None:
    """Count a row out of a cluster that it is counted in; lists and labels stay as they are."""
    _count_row(data, state.table, row, cluster, OUT)
    own = state.clusters[cluster]
    own[SIZE] -= 1
    kept, entries = _kept_by_adding(data, state, row, cluster)
    own[SIZE] += 1
    _write(state, cluster, OUT, -kept, -entries)


@leaf
def _write(state: SearchState, cluster: int, rows: int, kept: int, entries: int) -> None:
    """Change a cluster's numbers by these, and the sums by what that changes."""
    own, tally = state.clusters[cluster], state.tally
    tally[SHARED] += entries
    tally[CELLS] += (own[SIZE] + rows) * (own[KEPT] + kept) - own[SIZE] * own[KEPT]
    own[SIZE] += rows
    own[KEPT] += kept
    own[ENTRIES] += entries


@leaf
def enlist(state: SearchState, row: int, cluster: int) -> None:
    """Put a row into a cluster's list."""
    heads, links = state.heads, state.links
    first = heads[cluster]
    links[row, NEXT], links[row, BEFORE] = first, NONE
    if first != NONE:
        links[first, BEFORE] = row
    heads[cluster] = row
    state.labels[row] = cluster


@leaf
def delist(state: SearchState, row: int) -> None:
    """Take a row out of its cluster's list."""
    links = state.links
    after, before = links[row, NEXT], links[row, BEFORE]
    if before == NONE:
        state.heads[state.labels[row]] = after
    else:
        links[before, NEXT] = after
    if after != NONE:
        links[after, BEFORE] = before


@leaf
def move(data: Data, state: SearchState, row: int, cluster: int) -> None:
    """Move a row from its cluster into another."""
    count_out(data, state, row, wide(state.labels[row]))
    count_in(data, state, row, cluster)
    delist(state, row)
    enlist(state, row, cluster)


@tiered(for_each_entry(2))
@leaf
def fill(data: Data, state: SearchState) -> None:
    """Write into an empty state what its labels say; rows labeled `NONE` are in no cluster."""
    for row in range(state.labels.size):
        cluster = wide(state.labels[row])
        if cluster != NONE:
            count_in(data, state, row, cluster)
            enlist(state, row, cluster)


@leaf
def worth(lam: float, count: int, size: int) -> float:
    """Return what a kept feature is worth to the objective."""
    return float((1.0 + lam) * count - lam * size)


@leaf
def base_of_adding(data: Data, state: SearchState, lam: float, cluster: int) -> float:
    """Return what the objective gains where a row without features enters the cluster."""
    size, kept = state.clusters[cluster, SIZE], state.clusters[cluster, KEPT]
    least, after = data.least[size], data.least[size + 1]
    if after == least:
        return float(-lam * kept)
    lost = count_of(state.table, key_of(cluster, data.n_features + least))
    return float(-lam * (kept - lost) - lost * worth(lam, least, size))


@leaf
def term_of_adding(lam: float, x: int, after: int, size: int) -> float:
    """Return what a feature of the row adds that x of `size` rows have; `after` is t(size + 1)."""
    if x >= after:
        return 1.0 + lam
    return worth(lam, after, size + 1) if x == after - 1 else 0.0


@leaf
def gain_of_adding(data: Data, state: SearchState, lam: float, row: int, cluster: int) -> float:
    """Return what the objective gains where the row enters the cluster: O(its features)."""
    size = state.clusters[cluster, SIZE]
    after = data.least[size + 1]
    gain = base_of_adding(data, state, lam, cluster)
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        gain += term_of_adding(lam, count_of(state.table, key_of(cluster, wide(f))), after, size)
    return gain


@leaf
def gain_of_removing(data: Data, state: SearchState, lam: float, row: int) -> float:
    """Return what the objective gains where the row leaves its cluster: O(its features)."""
    cluster = wide(state.labels[row])
    size = state.clusters[cluster, SIZE]
    least, after = data.least[size], data.least[size - 1]
    gain = lam * state.clusters[cluster, KEPT]
    if after < least:
        rescued = count_of(state.table, key_of(cluster, data.n_features + after))
        gain += rescued * worth(lam, after, size - 1)
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        x = count_of(state.table, key_of(cluster, wide(f)))
        if x >= least:
            gain -= lam + (1.0 if x > after else worth(lam, x, size))
        elif x == after:
            gain -= worth(lam, after, size - 1)
    return float(gain)


@leaf
def is_its_profile(data: Data, state: SearchState, row: int) -> bool:
    """Return whether a row's features are those that its cluster keeps."""
    cluster = wide(state.labels[row])
    least = data.least[state.clusters[cluster, SIZE]]
    first, last = data.indptr[data.kinds[row]], data.indptr[data.kinds[row] + 1]
    same = last - first == state.clusters[cluster, KEPT]
    while same and first < last:
        same = count_of(state.table, key_of(cluster, wide(data.indices[first]))) >= least
        first += 1
    return bool(same)


@tiered()
@leaf
def insert_unclustered(data: Data, state: SearchState, lam: float, rows: Ints) -> None:
    """Put each of these rows, which are in no cluster, where the objective gains most."""
    for row in rows:
        best, most = ZERO, -np.inf
        for cluster in range(len(state.clusters)):
            gain = gain_of_adding(data, state, lam, row, cluster)
            if gain > most:
                best, most = cluster, gain
        count_in(data, state, row, best)
        enlist(state, row, best)

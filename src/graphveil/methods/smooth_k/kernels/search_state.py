"""The state of the local search: clusters, what they hold, and exact changes of the objective.

The search maximizes the Jaccard index I / U of the original and the released entries (Definition
3.6 of Esfandiari et al., *Smooth Anonymity for Sparse Graphs*) by Dinkelbach's method: for a fixed
``lam`` it raises ``I - lam U``. The paper has no local search; this one is graphveil's own.

A cluster of s rows keeps feature f for all its rows if at least t(s) of them have it (count c).
That adds c to I and s - c to U, so the objective is, up to a constant, the sum over clusters and
kept features of ``g(c, s) = (1 + lam) c - lam s``. Publishing a feature of at least half of the
rows never lowers the index: then c >= s - c, so the fraction added is at least 1, and I / U is at
most 1. A move changes the sizes and counts of two clusters only, so its gain is computed exactly in
time proportional to the number of features of the row.

All counts are in one open-addressing hash table, keyed by cluster and feature. The pseudo-feature
``n_features + x`` of a cluster counts its features that exactly x rows have, m(x): it tells in one
look-up how many features cross the threshold if the size changes. Memory is O(entries + rows).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.core.kernels.tiers import for_each_entry, tiered

Indices = NDArray[np.int32]

NONE = OUT = MINUS_ONE
"""End of a list, or no cluster; and the step of a count if a row leaves."""

IN = ONE
"""The step of a count if a row enters. 64 bits wide, so that kernels compile once."""

FREE = -1
"""Marks a free slot of the table. Keys are at least 0."""

FEATURE_BITS = 32
"""The low bits of a key that hold the feature: features and counts together are fewer than 2^32."""

LOW = 0xFFFFFFFF
"""The mask of the low 32 bits of a word."""

MULTIPLIER = -7046029254386353131
"""2^64 divided by the golden ratio, as a signed number: Fibonacci hashing spreads equal steps."""

SIZE, KEPT, ENTRIES = range(3)
"""Columns of ``SearchState.clusters``: rows, kept features, and the sum of their counts."""

SHARED, CELLS = range(2)
"""Elements of ``SearchState.tally``: I, and the published cells (s for each kept feature)."""

NEXT, BEFORE = range(2)
"""Columns of ``SearchState.links``: the rows after and before a row in the list of its cluster."""


class Data(NamedTuple):
    """What does not change during a search: the rows, and the keep rule.

    Parameters
    ----------
    indptr, indices
        int64, shape (distinct + 1,), and int32: distinct row u has the features
        ``indices[indptr[u]:indptr[u + 1]]``.
    kinds
        int32, shape (n,): the distinct row that every row equals.
    least
        int64, shape (n + 2,): t(s). A cluster of s rows keeps a feature that at least ``least[s]``
        of them have.
    n_features
        The number of features.
    """

    indptr: Ints
    indices: Indices
    kinds: Indices
    least: Ints
    n_features: int


class SearchState(NamedTuple):
    """The clusters, which may be empty, and what they hold. Kernels here write all arrays.

    Parameters
    ----------
    table
        int64, shape (slots, 2): key (see `key_of`) and count of every pair that occurs; `FREE`
        elsewhere. Open addressing with linear probing.
    clusters
        int64, shape (clusters, 3): the rows of a cluster, its kept features, and the sum of their
        counts: the entries of the original that the release keeps.
    heads
        int32, shape (clusters,): the first row of every cluster, or `NONE`.
    links
        int32, shape (n, 2): the next and the previous row of the same cluster, or `NONE`.
    labels
        int32, shape (n,): the cluster of every row, or `NONE`.
    tally
        int64, shape (2,): the sums over all clusters of the entries kept (I) and of the published
        cells. U is the number of original entries, plus the cells, less I.
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
    """Return the slot where the search for a key begins (multiply-shift, for any capacity)."""
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
    """Empty a slot and move back the keys that were pushed past it.

    Deletion by backward shift (Knuth, volume 3, section 6.4, algorithm R): without it, slots would
    fill up with deleted keys, and an unsuccessful search would not end.
    """
    capacity = len(table)
    slot = gap
    while True:
        slot += 1
        if slot == capacity:
            slot = 0
        if table[slot, 0] == FREE:
            break
        # A key may move into the gap unless that would put it before its home slot: compare how far
        # it is from home with how far it is from the gap, both around the end of the table.
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
    # Find the key, or the free slot where it belongs.
    while table[slot, 0] != FREE and table[slot, 0] != key:
        slot += 1
        if slot == capacity:
            slot = 0
    # A new key counts from 0.
    if table[slot, 0] == FREE:
        table[slot, 0], table[slot, 1] = key, step
        return 0
    before = table[slot, 1]
    # A count of 0 is not stored: its slot is given back.
    if before + step == 0:
        _close(table, slot)
    else:
        table[slot, 1] = before + step
    return int(before)


@leaf
def _count_row(data: Data, table: Ints, row: int, cluster: int, step: int) -> None:
    """Count a row into the table (step 1) or out of it (step -1), with the histogram m(x)."""
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        before = shift(table, key_of(cluster, wide(f)), step)
        # The feature leaves m(before) and joins m(before + step); m(0) is not kept.
        if before > 0:
            shift(table, key_of(cluster, data.n_features + before), OUT)
        if before + step > 0:
            shift(table, key_of(cluster, data.n_features + before + step), IN)


@leaf
def _kept_by_adding(data: Data, state: SearchState, row: int, cluster: int) -> tuple[int, int]:
    """Return what an entering row changes: the kept features, and the sum of their counts."""
    table = state.table
    size = state.clusters[cluster, SIZE]
    least, after = data.least[size], data.least[size + 1]
    # If t(s + 1) > t(s), the features of exactly t(s) rows fall below the threshold, unless the row
    # has them: those come back below as features of count t(s + 1) - 1.
    lost = count_of(table, key_of(cluster, data.n_features + least)) if after > least else 0
    kept, entries = -lost, -lost * least
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        # A feature that was just below the new threshold is kept now; one above it gains one entry.
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
    # The reverse of `count_in`: what the row would add to the cluster without it.
    own[SIZE] -= 1
    kept, entries = _kept_by_adding(data, state, row, cluster)
    own[SIZE] += 1
    _write(state, cluster, OUT, -kept, -entries)


@leaf
def _write(state: SearchState, cluster: int, rows: int, kept: int, entries: int) -> None:
    """Change a cluster's size, kept features and entries by these steps, and the tally."""
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
    """Return g(c, s), what a kept feature is worth to the objective."""
    return float((1.0 + lam) * count - lam * size)


@leaf
def base_of_adding(data: Data, state: SearchState, lam: float, cluster: int) -> float:
    """Return what the objective gains if a row without features enters.

    Each kept feature costs lam, since the cluster publishes one false entry more. If the threshold
    rises, features of exactly t(s) rows are lost.
    """
    size, kept = state.clusters[cluster, SIZE], state.clusters[cluster, KEPT]
    least, after = data.least[size], data.least[size + 1]
    if after == least:
        return float(-lam * kept)
    lost = count_of(state.table, key_of(cluster, data.n_features + least))
    return float(-lam * (kept - lost) - lost * worth(lam, least, size))


@leaf
def term_of_adding(lam: float, x: int, after: int, size: int) -> float:
    """Return what one feature of an entering row adds to `base_of_adding`.

    Parameters
    ----------
    x
        How many rows of the cluster have the feature.
    after
        t(size + 1), the threshold once the row is in.
    size
        The rows of the cluster without the row.
    """
    if x >= after:
        return 1.0 + lam
    return worth(lam, after, size + 1) if x == after - 1 else 0.0


@leaf
def gain_of_adding(data: Data, state: SearchState, lam: float, row: int, cluster: int) -> float:
    """Return what the objective gains if the row enters the cluster, in O(features of the row)."""
    size = state.clusters[cluster, SIZE]
    after = data.least[size + 1]
    gain = base_of_adding(data, state, lam, cluster)
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        gain += term_of_adding(lam, count_of(state.table, key_of(cluster, wide(f))), after, size)
    return gain


@leaf
def gain_of_removing(data: Data, state: SearchState, lam: float, row: int) -> float:
    """Return what the objective gains if the row leaves its cluster, in O(features of the row)."""
    cluster = wide(state.labels[row])
    size = state.clusters[cluster, SIZE]
    least, after = data.least[size], data.least[size - 1]
    # Every kept feature has one row less to be false for. If the threshold falls, features of
    # exactly t(s - 1) rows are kept again.
    gain = lam * state.clusters[cluster, KEPT]
    if after < least:
        rescued = count_of(state.table, key_of(cluster, data.n_features + after))
        gain += rescued * worth(lam, after, size - 1)
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        # What the row itself has is corrected: its kept features lose a true entry, or fall below
        # the threshold; those that the fall of the threshold would rescue lose their last row.
        x = count_of(state.table, key_of(cluster, wide(f)))
        if x >= least:
            gain -= lam + (1.0 if x > after else worth(lam, x, size))
        elif x == after:
            gain -= worth(lam, after, size - 1)
    return float(gain)


@leaf
def is_its_profile(data: Data, state: SearchState, row: int) -> bool:
    """Return whether the cluster keeps exactly the row's features, so that it loses none."""
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
    """Put each of these rows, which have no cluster, where the objective gains most."""
    for row in rows:
        best, most = ZERO, -np.inf
        for cluster in range(len(state.clusters)):
            gain = gain_of_adding(data, state, lam, row, cluster)
            if gain > most:
                best, most = cluster, gain
        count_in(data, state, row, best)
        enlist(state, row, best)

"""Which clusters gain most if a row enters them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.smooth_k.kernels.search_state import (
    FEATURE_BITS,
    FREE,
    LOW,
    NONE,
    SIZE,
    Data,
    Indices,
    Ints,
    SearchState,
    base_of_adding,
    count_of,
    key_of,
    shift,
    term_of_adding,
)

Floats = NDArray[np.float64]
STRIDE = 7919


class Index(NamedTuple):
    """Which clusters gain by a feature, and how much, when a row enters them.

    Feature f adds ``terms[i]`` in cluster ``clusters[i]`` for i from ``starts[f]`` to
    ``starts[f + 1]``. A row without features adds ``bases[c]`` in cluster c; it is -inf for empty
    clusters.
    """

    starts: Ints
    clusters: Indices
    terms: Floats
    bases: Floats


class RankPlan(NamedTuple):
    """How clusters are ranked.

    At most `list_cap` entries of every list are read, from a position that differs from row to
    row. A row looks up at most `lookups_for_read` sets for each entry that its lists have.
    """

    list_cap: int
    lookups_for_read: float


class Best(NamedTuple):
    """The clusters that suit one row best, best first: what they gain, and their places in lists.

    ``sets`` is room for the sets that the row has all features of.
    """

    gains: Floats
    places: Indices
    sets: Indices


class Sums(NamedTuple):
    """What clusters gain by one row, 0 between rows; which were seen first where, and in order."""

    totals: Floats
    places: Indices
    touched: Indices


class Gainers(NamedTuple):
    """The sets of features that some cluster gains by, and who gains most by each as a whole.

    Sets are numbered from 1, set 0 is the empty one; ``table`` has the number of a set and one
    more feature, of a higher number than its own. Cluster ``clusters[places[s, i]]`` of an index
    gains ``gains[s, i]`` by set s: the i-th most. `NONE` and -inf stand behind the last.
    """

    table: Ints
    gains: Floats
    places: Indices


@tiered()
@allocating
def index_of(data: Data, state: SearchState, lam: float) -> Index:
    """Return the index of the present clusters."""
    table, clusters, width = state.table, state.clusters, data.n_features
    starts = np.zeros(width + 1, dtype=np.int64)
    for turn in range(2):
        if turn == 1:
            for f in range(width):
                starts[f + 1] += starts[f]
            members = np.empty(starts[width], dtype=np.int32)
            terms = np.empty(starts[width], dtype=np.float64)
            ends = starts.copy()
        for slot in range(len(table)):
            feature = table[slot, 0] & LOW
            if table[slot, 0] == FREE or feature >= width:
                continue
            cluster, x = table[slot, 0] >> FEATURE_BITS, table[slot, 1]
            size = clusters[cluster, SIZE]
            after = data.least[size + 1]
            if x < after - 1:
                continue
            if turn == 0:
                starts[feature + 1] += 1
            else:
                members[ends[feature]] = cluster
                terms[ends[feature]] = term_of_adding(lam, x, after, size)
                ends[feature] += 1
    bases = np.empty(len(clusters), dtype=np.float64)
    for c in range(len(clusters)):
        bases[c] = base_of_adding(data, state, lam, c) if clusters[c, SIZE] > 0 else -np.inf
    return Index(starts, members, terms, bases)


@leaf
def _precedes(gain: float, place: int, other_gain: float, other_place: int) -> bool:
    """Return whether a cluster comes before another: it gains more, or comes first in the lists."""
    return gain > other_gain or (gain == other_gain and place < other_place)


@leaf
def _enter(gains: Floats, places: Indices, at: int, gain: float, place: int) -> None:
    """Put a cluster where it belongs among the best, in the room of the one at position `at`."""
    while at > 0 and _precedes(gain, place, gains[at - 1], wide(places[at - 1])):
        gains[at], places[at] = gains[at - 1], places[at - 1]
        at -= 1
    gains[at], places[at] = gain, place


def _steps_of_gainers(
    _index: Index, by_cluster: Ints, _starts: Ints, _features: Ints, most: int, _width: int
) -> int:
    """Return about how many steps it takes to visit so many sets."""
    return 10 * most + by_cluster.size


@tiered(_steps_of_gainers)
@allocating
def gainers_of(
    index: Index, by_cluster: Ints, starts: Ints, features: Ints, most: int, width: int
) -> Gainers:
    """Return all sets of features of every cluster, and for each the `width` best clusters.

    Cluster c has ``by_cluster[starts[c] : starts[c + 1]]``, positions in the lists of the index in
    ascending order; ``features`` says whose list each position is of. There are at most `most`
    sets and the empty one.
    """
    table = np.full((most + most // 2 + 8, 2), FREE, dtype=np.int64)
    gains = np.full((most + 1, width), -np.inf)
    places = np.full((most + 1, width), NONE, dtype=np.int32)
    longest = 0
    for c in range(index.bases.size):
        longest = max(longest, starts[c + 1] - starts[c])
    sets = np.zeros(1 << longest, dtype=np.int32)
    sums = np.zeros(1 << longest)
    firsts = np.zeros(1 << longest, dtype=np.int64)
    n_sets = 0
    for c in range(index.bases.size):
        n = 1
        for place in by_cluster[starts[c] : starts[c + 1]]:
            for i in range(n):
                key = key_of(sets[i], features[place])
                larger = count_of(table, key)
                if larger == 0:
                    n_sets += 1
                    larger = wide(n_sets)
                    shift(table, key, larger)
                first = place if i == 0 else firsts[i]
                sets[n + i], sums[n + i], firsts[n + i] = (
                    larger,
                    sums[i] + index.terms[place],
                    first,
                )
                gain, at = sums[n + i] + index.bases[c], width - 1
                if _precedes(gain, first, gains[larger, at], places[larger, at]):
                    _enter(gains[larger], places[larger], at, gain, first)
            n *= 2
    return Gainers(table, gains, places)


@leaf
def _take(index: Index, best: Best, gain: float, place: int) -> None:
    """Put a cluster among the best where it belongs; one that is there already may rise."""
    at = best.gains.size - 1
    if not _precedes(gain, place, best.gains[at], wide(best.places[at])):
        return
    for i in range(at):
        if best.places[i] != NONE and index.clusters[best.places[i]] == index.clusters[place]:
            if not _precedes(gain, place, best.gains[i], wide(best.places[i])):
                return
            at = i
            break
    _enter(best.gains, best.places, at, gain, place)


@leaf
def _look_up(data: Data, index: Index, gainers: Gainers, best: Best, row: int, most: int) -> int:
    """List the sets that are all in the row, the empty one first; return how many there are.

    `NONE` where more than `most` have to be looked up.
    """
    sets = best.sets
    n, lookups = 1, 0
    for f in data.indices[data.indptr[row] : data.indptr[row + 1]]:
        if index.starts[f] == index.starts[f + 1]:
            continue
        lookups += n
        if lookups > most:
            return NONE
        n_larger = n
        for i in range(n):
            larger = count_of(gainers.table, key_of(sets[i], f))
            if larger > 0:
                sets[n_larger] = larger
                n_larger += 1
        n = n_larger
    return n


@leaf
def _sum_up(data: Data, index: Index, sums: Sums, row: int, list_cap: int) -> int:
    """Sum what the lists of the row's features say of each cluster; return how many there are."""
    n_touched = 0
    for f in data.indices[data.indptr[row] : data.indptr[row + 1]]:
        first, last = index.starts[f], index.starts[f + 1]
        if last - first > list_cap:
            first += (row * STRIDE) % (last - first - list_cap + 1)
            last = first + list_cap
        for place in range(first, last):
            c = index.clusters[place]
            if sums.places[c] == NONE:
                sums.places[c] = place
                sums.touched[n_touched] = c
                n_touched += 1
            sums.totals[c] += index.terms[place]
    return n_touched


@leaf
def _reads(data: Data, index: Index, row: int) -> int:
    """Return how many entries the lists of the row's features have."""
    reads = 0
    for f in data.indices[data.indptr[row] : data.indptr[row + 1]]:
        reads += index.starts[f + 1] - index.starts[f]
    return reads


def _steps_of_rank(data: Data, index: Index, _gainers: Gainers, plan: RankPlan, near: Ints) -> int:
    """Return about how many steps it takes to read the lists of every row's features."""
    read = np.diff(index.starts).clip(max=plan.list_cap)
    return int(read[data.indices].sum()) + near.size


@tiered(_steps_of_rank)
@allocating
def rank(
    data: Data, index: Index, gainers: Gainers, plan: RankPlan, near: NDArray[np.int32]
) -> None:
    """Write into near[u] the clusters that share a feature with u and gain most by it, best first.

    Among equals the one counts that the lists of the row's features come to first. A row looks up
    the sets of `gainers`, if there are some, and reads the lists if that would take longer.
    """
    n_clusters, width = index.bases.size, near.shape[1]
    sums = Sums(
        np.zeros(n_clusters),
        np.full(n_clusters, NONE, dtype=np.int32),
        np.empty(n_clusters, dtype=np.int32),
    )
    best = Best(
        np.empty(width),
        np.empty(width, dtype=np.int32),
        np.zeros(len(gainers.gains), dtype=np.int32),
    )
    for u in range(len(near)):
        for at in range(width):
            best.gains[at], best.places[at] = -np.inf, NONE
        n_sets = NONE
        if len(gainers.gains) > 1:
            most = int(plan.lookups_for_read * _reads(data, index, u))
            n_sets = _look_up(data, index, gainers, best, u, most)
        for i in range(1, n_sets):
            s = best.sets[i]
            for at in range(width):
                if gainers.places[s, at] != NONE:
                    _take(index, best, gainers.gains[s, at], wide(gainers.places[s, at]))
        if n_sets == NONE:
            for i in range(_sum_up(data, index, sums, u, plan.list_cap)):
                c = sums.touched[i]
                _take(index, best, sums.totals[c] + index.bases[c], wide(sums.places[c]))
                sums.totals[c], sums.places[c] = 0.0, NONE
        for at in range(width):
            place = best.places[at]
            near[u, at] = NONE if place == NONE else index.clusters[place]

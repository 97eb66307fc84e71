"""Which clusters gain most if a row enters them.

The local search (see `search`) tries a row in a few clusters. For a row, the gain of a cluster is
its base plus the terms of the features that both have (`base_of_adding`, `term_of_adding`), so the
clusters can be ranked through an index from features to clusters, in one of two ways with the same
result:

- by lists: sum the terms over the lists of the row's features;
- by sets: every set of features that some cluster gains by has a number, and each set knows the
  clusters that gain most by it. A row looks up the sets that it contains. The time does not grow
  with the number of clusters, but a cluster that gains by m features has 2^m sets.

`graphveil.methods.smooth_k.candidates` decides whether sets are worth their room.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
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
    SearchState,
    base_of_adding,
    count_of,
    key_of,
    shift,
    term_of_adding,
)

STRIDE = 7919
"""If only a part of a list is read, row u starts ``u * STRIDE`` further on, modulo what is left:
different rows see different parts. A prime, so that the starts spread over the list."""


class Index(NamedTuple):
    """Which clusters gain by a feature, and how much, if a row that has it enters them.

    Parameters
    ----------
    starts
        int64, shape (n_features + 1,): the list of feature f is from ``starts[f]`` to ``starts[f +
        1]``.
    clusters, terms
        int32 and float64: at position i of a list, cluster ``clusters[i]`` gains ``terms[i]`` by
        the feature.
    bases
        float64, shape (clusters,): what a row without features adds; -inf for empty clusters.
    """

    starts: Ints
    clusters: Indices
    terms: Floats
    bases: Floats


class RankPlan(NamedTuple):
    """How clusters are ranked.

    Parameters
    ----------
    list_cap
        How many entries of a list are read at most, from a position that differs from row to row.
    lookups_for_read
        How many sets a row looks up at most for each entry that its lists have; beyond that it
        reads the lists.
    """

    list_cap: int
    lookups_for_read: float


class Best(NamedTuple):
    """The clusters that suit one row best, best first. Scratch of `rank`.

    Parameters
    ----------
    gains
        float64, shape (width,): what they gain; -inf behind the last.
    places
        int32, shape (width,): where they occur first in the lists of the row; `NONE` behind the
        last.
    sets
        int32: room for the sets of features that the row contains.
    """

    gains: Floats
    places: Indices
    sets: Indices


class Sums(NamedTuple):
    """What clusters gain by one row, as its lists are read. 0 and `NONE` between rows.

    Parameters
    ----------
    totals
        float64, shape (clusters,): the sum of the terms.
    places
        int32, shape (clusters,): where the cluster occurred first.
    touched
        int32, shape (clusters,): the clusters that occurred, in order.
    """

    totals: Floats
    places: Indices
    touched: Indices


class Gainers(NamedTuple):
    """The sets of features that some cluster gains by, and the clusters that gain most by each.

    Parameters
    ----------
    table
        int64, shape (slots, 2): the number of a set extended by a feature of a higher number than
        its own, by the number of the set and the feature (see `search_state.key_of`). Set 0 is the
        empty one.
    gains
        float64, shape (sets + 1, width): the i-th largest gain by a set as a whole; -inf behind the
        last.
    places
        int32, shape (sets + 1, width): where the cluster with that gain is in the lists of the
        index; `NONE` behind the last.
    """

    table: Ints
    gains: Floats
    places: Indices


@tiered()
@allocating
def index_of(data: Data, state: SearchState, lam: float) -> Index:
    """Return the index of the present clusters.

    A feature is listed for a cluster if the cluster keeps it, or would once one more row has it:
    others add nothing. Time is O(slots of the table).
    """
    table, clusters, width = state.table, state.clusters, data.n_features
    starts = np.zeros(width + 1, dtype=np.int64)
    # Turn 0 counts the entries of each list, turn 1 writes them.
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
            # Entries of the histogram m(x) were skipped above. A feature counts if it is kept, or
            # would be once the row is in.
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
    # What a row costs a cluster by its size alone.
    bases = np.empty(len(clusters), dtype=np.float64)
    for c in range(len(clusters)):
        bases[c] = base_of_adding(data, state, lam, c) if clusters[c, SIZE] > 0 else -np.inf
    return Index(starts, members, terms, bases)


@leaf
def _precedes(gain: float, place: int, other_gain: float, other_place: int) -> bool:
    """Return whether a cluster ranks before another: it gains more, or comes first in the lists."""
    return gain > other_gain or (gain == other_gain and place < other_place)


@leaf
def _enter(gains: Floats, places: Indices, at: int, gain: float, place: int) -> None:
    """Insert a cluster among the best, in the place of the one at position `at`."""
    while at > 0 and _precedes(gain, place, gains[at - 1], wide(places[at - 1])):
        gains[at], places[at] = gains[at - 1], places[at - 1]
        at -= 1
    gains[at], places[at] = gain, place


def _steps_of_gainers(
    _index: Index, by_cluster: Ints, _starts: Ints, _features: Ints, most: int, _width: int
) -> int:
    """Return about how many steps it takes to visit so many sets; decides whether to compile."""
    return 10 * most + by_cluster.size


@tiered(_steps_of_gainers)
@allocating
def gainers_of(
    index: Index, by_cluster: Ints, starts: Ints, features: Ints, most: int, width: int
) -> Gainers:
    """Return all sets of features of every cluster, and for each the `width` best clusters.

    Parameters
    ----------
    index
        From `index_of`.
    by_cluster
        int64: positions in the lists of the index, by cluster, ascending in each.
    starts
        int64, shape (clusters + 1,): cluster c has ``by_cluster[starts[c]:starts[c + 1]]``.
    features
        int64: the feature of each position.
    most
        At least the number of nonempty sets of all clusters together.
    width
        How many clusters each set keeps.
    """
    # Step 1: room for all sets, and for those of one cluster: its sums and first places.
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
        # Step 2: the subsets of the cluster's features: each feature doubles those listed so far.
        n = 1
        for place in by_cluster[starts[c] : starts[c + 1]]:
            for i in range(n):
                key = key_of(sets[i], features[place])
                # The number of the set extended by this feature, a new one if no cluster had it.
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
                # Step 3: the cluster competes for a place among the best of this set.
                gain, at = sums[n + i] + index.bases[c], width - 1
                if _precedes(gain, first, gains[larger, at], places[larger, at]):
                    _enter(gains[larger], places[larger], at, gain, first)
            n *= 2
    return Gainers(table, gains, places)


@leaf
def _take(index: Index, best: Best, gain: float, place: int) -> None:
    """Insert a cluster among the best of a row; if it is there already, its rank may rise.

    By sets a cluster is met once for each subset that it shares with the row; the largest sum, that
    of all shared features, counts.
    """
    # A newcomer takes the place of the worst, unless it does not precede even that one.
    at = best.gains.size - 1
    if not _precedes(gain, place, best.gains[at], wide(best.places[at])):
        return
    # If the cluster is among the best already, it takes its own place, or nothing changes.
    for i in range(at):
        if best.places[i] != NONE and index.clusters[best.places[i]] == index.clusters[place]:
            if not _precedes(gain, place, best.gains[i], wide(best.places[i])):
                return
            at = i
            break
    _enter(best.gains, best.places, at, gain, place)


@leaf
def _look_up(data: Data, index: Index, gainers: Gainers, best: Best, row: int, most: int) -> int:
    """List the sets that the row contains, the empty one first; return how many there are.

    `NONE` if that takes more than `most` look-ups.
    """
    sets = best.sets
    n, lookups = 1, 0
    for f in data.indices[data.indptr[row] : data.indptr[row + 1]]:
        if index.starts[f] == index.starts[f + 1]:
            continue
        # Every set so far is extended by this feature, if some cluster has the larger set.
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
    """Sum the terms of each cluster over the lists of the row's features; return how many occur."""
    n_touched = 0
    for f in data.indices[data.indptr[row] : data.indptr[row + 1]]:
        first, last = index.starts[f], index.starts[f + 1]
        # A capped list is read from a position that depends on the row.
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
    """Return about how many list entries are read for all rows; decides whether to compile."""
    read = np.diff(index.starts).clip(max=plan.list_cap)
    return int(read[data.indices].sum()) + near.size


@tiered(_steps_of_rank)
@allocating
def rank(
    data: Data, index: Index, gainers: Gainers, plan: RankPlan, near: NDArray[np.int32]
) -> None:
    """Write into near[u] the clusters that share a feature with u and gain most by it, best first.

    Parameters
    ----------
    data, index
        The distinct rows, and the index of the present clusters.
    gainers
        All sets, or only the empty one: then lists are read.
    plan
        How much is read or looked up.
    near
        int32, shape (distinct rows, width), overwritten; `NONE` behind the last. Of equal gains the
        cluster comes first that occurs first in the lists of the row.
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
        # Step 1: look up the sets, if there are any, unless that would take longer than to read.
        n_sets = NONE
        if len(gainers.gains) > 1:
            most = int(plan.lookups_for_read * _reads(data, index, u))
            n_sets = _look_up(data, index, gainers, best, u, most)
        # Step 2: by sets, the best clusters of every set that the row contains.
        for i in range(1, n_sets):
            s = best.sets[i]
            for at in range(width):
                if gainers.places[s, at] != NONE:
                    _take(index, best, gainers.gains[s, at], wide(gainers.places[s, at]))
        # Step 3: otherwise by lists; the sums are left at 0 for the next row.
        if n_sets == NONE:
            for i in range(_sum_up(data, index, sums, u, plan.list_cap)):
                c = sums.touched[i]
                _take(index, best, sums.totals[c] + index.bases[c], wide(sums.places[c]))
                sums.totals[c], sums.places[c] = 0.0, NONE
        # Step 4: positions become clusters.
        for at in range(width):
            place = best.places[at]
            near[u, at] = NONE if place == NONE else index.clusters[place]

"""Which clusters suit a row: read from lists of features, or from sets that clusters share.

Loops that put similar rows next to each other: smallest hashes, and labels that spread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import sort
from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.smooth_k.kernels.search import (
    FEATURE_BITS,
    FREE,
    LOW,
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
from graphveil.methods.smooth_k.kernels.search import NONE as SEARCH_NONE

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
    gains ``gains[s, i]`` by set s: the i-th most. `SEARCH_NONE` and -inf stand behind the last.
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
    places = np.full((most + 1, width), SEARCH_NONE, dtype=np.int32)
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
        if (
            best.places[i] != SEARCH_NONE
            and index.clusters[best.places[i]] == index.clusters[place]
        ):
            if not _precedes(gain, place, best.gains[i], wide(best.places[i])):
                return
            at = i
            break
    _enter(best.gains, best.places, at, gain, place)


@leaf
def _look_up(data: Data, index: Index, gainers: Gainers, best: Best, row: int, most: int) -> int:
    """List the sets that are all in the row, the empty one first; return how many there are.

    `SEARCH_NONE` where more than `most` have to be looked up.
    """
    sets = best.sets
    n, lookups = 1, 0
    for f in data.indices[data.indptr[row] : data.indptr[row + 1]]:
        if index.starts[f] == index.starts[f + 1]:
            continue
        lookups += n
        if lookups > most:
            return SEARCH_NONE
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
            if sums.places[c] == SEARCH_NONE:
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
        np.full(n_clusters, SEARCH_NONE, dtype=np.int32),
        np.empty(n_clusters, dtype=np.int32),
    )
    best = Best(
        np.empty(width),
        np.empty(width, dtype=np.int32),
        np.zeros(len(gainers.gains), dtype=np.int32),
    )
    for u in range(len(near)):
        for at in range(width):
            best.gains[at], best.places[at] = -np.inf, SEARCH_NONE
        n_sets = SEARCH_NONE
        if len(gainers.gains) > 1:
            most = int(plan.lookups_for_read * _reads(data, index, u))
            n_sets = _look_up(data, index, gainers, best, u, most)
        for i in range(1, n_sets):
            s = best.sets[i]
            for at in range(width):
                if gainers.places[s, at] != SEARCH_NONE:
                    _take(index, best, gainers.gains[s, at], wide(gainers.places[s, at]))
        if n_sets == SEARCH_NONE:
            for i in range(_sum_up(data, index, sums, u, plan.list_cap)):
                c = sums.touched[i]
                _take(index, best, sums.totals[c] + index.bases[c], wide(sums.places[c]))
                sums.totals[c], sums.places[c] = 0.0, SEARCH_NONE
        for at in range(width):
            place = best.places[at]
            near[u, at] = SEARCH_NONE if place == SEARCH_NONE else index.clusters[place]


NONE = -1
FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)
LEADING_BITS = np.uint64(33)
"""What a hash of 64 bits is moved by, so that its leading 31 stay."""
PRIME = 2**31 - 1


class Incidence(NamedTuple):
    """Rows by features, listed from both sides.

    The features of row u are ``features[row_starts[u]:row_starts[u + 1]]``, the rows of feature f
    are ``rows[feature_starts[f]:feature_starts[f + 1]]``.
    """

    row_starts: NDArray[np.int64]
    features: NDArray[np.int32]
    feature_starts: NDArray[np.int64]
    rows: NDArray[np.int32]


@leaf
def text_hashes(
    starts: NDArray[np.int64], letters: NDArray[np.uint8], out: NDArray[np.uint64]
) -> None:
    """Write into out[i] the FNV-1a hash of the bytes letters[starts[i]:starts[i + 1]]."""
    for i in range(out.size):
        value = FNV_OFFSET
        for at in range(starts[i], starts[i + 1]):
            value = (value ^ np.uint64(letters[at])) * FNV_PRIME
        out[i] = value


@leaf
def row_signatures(
    indptr: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    multipliers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Lower out[u, j] to the least (A[j] x + B[j]) mod 2^31 - 1 over the entries of row u.

    x is 1 more than the leading 31 bits of the hash of an entry.
    """
    for u in range(indptr.size - 1):
        for e in range(indptr[u], indptr[u + 1]):
            x = np.int64(hashes[e] >> LEADING_BITS) + 1
            for j in range(multipliers.size):
                word = multipliers[j] * x + offsets[j]
                word = (word & PRIME) + (word >> 31)
                word = (word & PRIME) + (word >> 31)
                if word == PRIME:
                    word -= PRIME
                out[u, j] = min(out[u, j], word)


@leaf
def pieces_of(words: NDArray[np.uint64], cuts: NDArray[np.uint64], out: NDArray[np.int32]) -> None:
    """Write into out[u] how many of the sorted cuts are at most words[u], word by word."""
    for u in range(out.size):
        low, high = 0, cuts.shape[0]
        while low < high:
            middle = (low + high) // 2
            j = 0
            while j < words.shape[1] and cuts[middle, j] == words[u, j]:
                j += 1
            if j == words.shape[1] or cuts[middle, j] < words[u, j]:
                low = middle + 1
            else:
                high = middle
        out[u] = low


@allocating
def spread_labels(
    incidence: Incidence,
    weights: NDArray[np.float64],
    cap: int,
    sample: int,
    iterations: int,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """Return a label for every row; rows that share features of much weight share labels.

    A row begins as its own label. In every iteration a feature takes the commonest label of at
    most `sample` of its rows, and every row, in random order, the label of largest weight among
    its features that is its own or stands on fewer than `cap` rows.
    """
    n, n_features = incidence.row_starts.size - 1, incidence.feature_starts.size - 1
    labels = np.arange(n, dtype=np.int32)
    sizes = np.ones(n, dtype=np.int64)
    of_feature = np.full(n_features, NONE, dtype=np.int32)
    order = np.arange(n)
    sums = np.zeros(n, dtype=np.float64)
    for _ in range(iterations):
        for f in range(n_features):
            start, end = incidence.feature_starts[f], incidence.feature_starts[f + 1]
            of_feature[f] = _commonest(incidence.rows[start:end], labels, sample, rng)
        _shuffle(order, rng)
        changed = 0
        for u in order:
            mine = incidence.features[incidence.row_starts[u] : incidence.row_starts[u + 1]]
            label = _heaviest(mine, of_feature, weights, sums, sizes, labels[u], cap)
            changed += label != labels[u]
            sizes[labels[u]] -= 1
            sizes[label] += 1
            labels[u] = label
        if not changed:
            break
    return labels


@allocating
def _commonest(
    rows: NDArray[np.int32], labels: NDArray[np.int32], sample: int, rng: np.random.Generator
) -> int:
    """Return the commonest label of at most `sample` of these rows, the least of equals."""
    n = rows.size
    if n == 0:
        return NONE
    if n <= sample:
        seen = np.empty(n, dtype=np.int32)
        for i in range(n):
            seen[i] = labels[rows[i]]
    else:
        seen = np.empty(sample, dtype=np.int32)
        for i in range(sample):
            seen[i] = labels[rows[int(rng.random() * n)]]
    sort(seen)
    at, most, run = 0, 1, 1
    for i in range(1, seen.size):
        run = run + 1 if seen[i] == seen[i - 1] else 1
        if run > most:
            at, most = i, run
    return int(seen[at])


@leaf
def _heaviest(
    mine: NDArray[np.int32],
    of_feature: NDArray[np.int32],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    sizes: NDArray[np.int64],
    own: int,
    cap: int,
) -> int:
    """Return the label of largest sum that is open: the row's own of equals, then the least."""
    for f in mine:
        sums[of_feature[f]] += weights[f]
    best, most = own, sums[own]
    for f in mine:
        label = of_feature[f]
        if label == own or sizes[label] >= cap:
            continue
        if sums[label] > most or (sums[label] == most and best != own and label < best):
            best, most = label, sums[label]
    for f in mine:
        sums[of_feature[f]] = 0.0
    return best


@leaf
def _shuffle(order: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Put the numbers into random order, in place."""
    for i in range(order.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]

"""Passes of the local search: rows move, rows change places, small clusters dissolve.

The state of the local search: who is in which cluster, and exact differences of the objective.

The objective is ``I - lam U``, summed over clusters of s rows and the features that c >= t(s) of
these have: ``g(c, s) = (1 + lam) c - lam s``. What a cluster's rows have stands in one table for
all clusters; feature ``n_features + x`` of a cluster counts its features that x rows have.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, allocating, leaf, wide
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


Floats = NDArray[np.float64]

TINY = 1e-9


class SearchPlan(NamedTuple):
    """What a pass knows: lam, k, the rows of the largest cluster that swaps look at, its number.

    Where `every` is False, a row is visited only if its cluster or its best candidate changed in
    this pass or the last.
    """

    lam: float
    k: int
    limit: int
    number: int
    every: bool


class SearchChoice(NamedTuple):
    """Where rows may go, and when clusters changed.

    ``near[u]`` has the clusters that suit distinct row u best, best first, `NONE` behind them:
    one more than are tried, as a row may be in one. ``roomy`` has the two clusters that lose
    least by a row without features. ``changed[c]`` is the number of the last pass in which cluster
    c changed. ``tried`` is room for the candidates of one row.
    """

    near: NDArray[np.int32]
    roomy: Indices
    changed: Indices
    tried: Indices


class Scratch(NamedTuple):
    """Counts by feature of two clusters, 0 between visits, and what one row more is worth to them.

    ``our_rises[x]`` is what the objective gains where a feature of x rows is had by one row more,
    the size of the cluster staying.
    """

    ours: Indices
    theirs: Indices
    our_rises: Floats
    their_rises: Floats


@leaf
def _list_candidates(state: SearchState, choice: SearchChoice, kind: int, own: int) -> int:
    """Write the candidates of a row of cluster `own` into ``choice.tried``; return how many.

    The roomy cluster follows the ones nearby.
    """
    near, roomy, _, tried = choice
    n_tried = 0
    for c in near[kind]:
        if c == NONE or n_tried == near.shape[1] - 1:
            break
        if c != own and state.clusters[c, SIZE] > 0:
            tried[n_tried] = c
            n_tried += 1
    c = wide(roomy[1] if roomy[0] == own else roomy[0])
    if c != NONE and state.clusters[c, SIZE] > 0:
        tried[n_tried] = c
        n_tried += 1
    return n_tried


@leaf
def _best_cluster(
    data: Data, state: SearchState, lam: float, choice: SearchChoice, row: int, own: int
) -> tuple[int, float]:
    """Return the candidate whose objective gains most where the row enters it, and the gain."""
    best, most = NONE, -np.inf
    for at in range(_list_candidates(state, choice, data.kinds[row], own)):
        c = wide(choice.tried[at])
        gain = gain_of_adding(data, state, lam, row, c)
        if gain > most:
            best, most = c, gain
    return best, most


@leaf
def count_row(data: Data, row: int, counts: Indices, step: int) -> None:
    """Add `step` to counts[f] for every feature f of the row."""
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        counts[f] += step


@leaf
def count_cluster(data: Data, state: SearchState, cluster: int, counts: Indices, step: int) -> None:
    """Add `step` to counts[f] for every row of the cluster that has feature f."""
    row = wide(state.heads[cluster])
    while row != NONE:
        count_row(data, row, counts, step)
        row = wide(state.links[row, NEXT])


@leaf
def price(data: Data, lam: float, size: int, rises: Floats) -> None:
    """Write what one row more with a feature is worth to a cluster of this size, by its count."""
    least = data.least[size]
    rises[: least - 1] = 0.0
    rises[least - 1] = worth(lam, least, size)
    rises[least : size + 1] = 1.0 + lam


@leaf
def best_swap(
    data: Data, state: SearchState, lam: float, row: int, other: int, scratch: Scratch
) -> tuple[int, float]:
    """Return the row of another cluster to change places with, and the exact gain.

    ``scratch.ours`` has the counts of the row's cluster without the row, and its prices stand in
    ``scratch.our_rises``. The row is thought to be in the other cluster already: then a member with
    a feature gains what that feature rises by here, and loses what it rose by there.
    """
    ours, theirs, our_rises, their_rises = scratch
    price(data, lam, state.clusters[other, SIZE], their_rises)
    count_cluster(data, state, other, theirs, IN)
    entry = 0.0
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        entry += their_rises[theirs[f]] - our_rises[ours[f]]
        theirs[f] += 1
    partner, most = NONE, -np.inf
    member = wide(state.heads[other])
    while member != NONE:
        gain = entry
        kind = data.kinds[member]
        for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
            gain += our_rises[ours[f]] - their_rises[theirs[f] - 1]
        if gain > most:
            partner, most = member, gain
        member = wide(state.links[member, NEXT])
    count_row(data, row, theirs, OUT)
    count_cluster(data, state, other, theirs, OUT)
    return partner, most


@leaf
def _try_swaps(
    data: Data,
    state: SearchState,
    plan: SearchPlan,
    choice: SearchChoice,
    scratch: Scratch,
    row: int,
    bar: float,
) -> None:
    """Change places with the row of a candidate that gains most, if the gain exceeds the bar."""
    own = wide(state.labels[row])
    partner, most = NONE, bar
    price(data, plan.lam, state.clusters[own, SIZE], scratch.our_rises)
    count_cluster(data, state, own, scratch.ours, IN)
    count_row(data, row, scratch.ours, OUT)
    for at in range(_list_candidates(state, choice, data.kinds[row], own)):
        c = wide(choice.tried[at])
        if state.clusters[c, SIZE] <= plan.limit:
            member, gain = best_swap(data, state, plan.lam, row, c, scratch)
            if gain > most:
                partner, most = member, gain
    count_row(data, row, scratch.ours, IN)
    count_cluster(data, state, own, scratch.ours, OUT)
    if partner != NONE:
        other = wide(state.labels[partner])
        move(data, state, row, other)
        move(data, state, partner, own)
        choice.changed[own] = choice.changed[other] = plan.number


@leaf
def _try_move(
    data: Data, state: SearchState, plan: SearchPlan, choice: SearchChoice, row: int, bar: float
) -> None:
    """Move the row to the candidate that gains most, if the gain exceeds the bar."""
    own = wide(state.labels[row])
    target, most = _best_cluster(data, state, plan.lam, choice, row, own)
    if target != NONE and most + gain_of_removing(data, state, plan.lam, row) > bar:
        move(data, state, row, target)
        choice.changed[own] = choice.changed[target] = plan.number


@leaf
def _may_gain(plan: SearchPlan, choice: SearchChoice, kind: int, own: int) -> bool:
    """Return whether a row is visited: its cluster or its best candidate changed lately."""
    if plan.every or choice.changed[own] >= plan.number - 1:
        return True
    best = choice.near[kind, 0]
    if best == own:
        best = choice.near[kind, 1]
    return bool(best != NONE and choice.changed[best] >= plan.number - 1)


@tiered(for_each_entry(6))
@leaf
def sweep(
    data: Data,
    state: SearchState,
    plan: SearchPlan,
    choice: SearchChoice,
    scratch: Scratch,
    order: Ints,
    bars: Floats,
) -> None:
    """Visit the rows in order: each moves or changes places if the gain exceeds its bar."""
    for at in range(order.size):
        row = order[at]
        own = wide(state.labels[row])
        if not _may_gain(plan, choice, data.kinds[row], own):
            continue
        if is_its_profile(data, state, row):
            continue
        if state.clusters[own, SIZE] > plan.k:
            _try_move(data, state, plan, choice, row, bars[at])
        else:
            _try_swaps(data, state, plan, choice, scratch, row, bars[at])


def _score(lam: float, size: Any, kept: Any, entries: Any) -> Any:
    """Return what a cluster is worth to the objective, or what each of many is."""
    return (1.0 + lam) * entries - lam * (size * kept)


_score_of = leaf(_score)


@allocating
def try_to_dissolve(
    data: Data, state: SearchState, plan: SearchPlan, choice: SearchChoice, cluster: int
) -> bool:
    """Spread a cluster's rows over others, each to where it gains most, if that gains in all.

    Otherwise everything is as before.
    """
    members = np.empty(state.clusters[cluster, SIZE], dtype=np.int64)
    targets = np.empty(members.size, dtype=np.int64)
    row = wide(state.heads[cluster])
    for i in range(members.size):
        members[i] = row
        row = wide(state.links[row, NEXT])
    own = state.clusters[cluster]
    gain, n_moved = -_score_of(plan.lam, own[SIZE], own[KEPT], own[ENTRIES]), 0
    for row in members:
        target, most = _best_cluster(data, state, plan.lam, choice, row, cluster)
        if target == NONE:
            break
        gain += most
        targets[n_moved] = target
        n_moved += 1
        count_in(data, state, row, target)
    if n_moved < members.size or gain <= TINY:
        for i in range(n_moved):
            count_out(data, state, members[i], targets[i])
        return False
    for i in range(n_moved):
        count_out(data, state, members[i], cluster)
        delist(state, members[i])
        enlist(state, members[i], targets[i])
        choice.changed[targets[i]] = plan.number
    return True


def small_clusters(state: SearchState, plan: SearchPlan) -> Ints:
    """Return the clusters below 2k rows, those first that are worth least a row."""
    sizes = state.clusters[:, SIZE]
    small = np.flatnonzero((sizes > 0) & (sizes < 2 * plan.k))
    scores = _score(plan.lam, *state.clusters[small].T)
    return small[np.argsort(scores / sizes[small], kind="stable")]


@tiered(for_each_entry(7))
@leaf
def dissolve(
    data: Data, state: SearchState, plan: SearchPlan, choice: SearchChoice, order: Ints
) -> int:
    """Dissolve the clusters of this order where that gains; return how many.

    Clusters that have grown to 2k rows by then stay.
    """
    dissolved = 0
    for c in order:
        if state.clusters[c, SIZE] < 2 * plan.k:
            dissolved += try_to_dissolve(data, state, plan, choice, c)
    return dissolved

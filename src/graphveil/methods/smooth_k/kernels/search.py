"""One pass of the local search: rows move, rows are swapped, small clusters are dissolved.

The moves are graphveil's own; Esfandiari et al. have none. Each is judged by the exact change of
``I - lam U`` (see `search_state`) on the current clusters, and applied at once. No cluster falls
below k rows: a row moves away only from a cluster of more than k, otherwise it is swapped for a row
of another cluster, and a dissolved cluster disappears entirely.

Most clusters have exactly k rows, so swaps matter most. One costs the entries of the other cluster;
therefore a row is tried in a few candidate clusters only, of bounded size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.kernels.leaf import allocating, leaf, wide
from graphveil.core.kernels.tiers import for_each_entry, tiered
from graphveil.methods.smooth_k.kernels.search_state import (
    ENTRIES,
    IN,
    KEPT,
    NEXT,
    NONE,
    OUT,
    SIZE,
    Data,
    SearchState,
    count_in,
    count_out,
    delist,
    enlist,
    gain_of_adding,
    gain_of_removing,
    is_its_profile,
    move,
    worth,
)

Indices = NDArray[np.int32]

TINY = 1e-9
"""What a gain must exceed to count: smaller ones are rounding errors of sums of floats."""


class SearchPlan(NamedTuple):
    """What a pass is given.

    Parameters
    ----------
    lam
        The price of an entry of the union: the Jaccard index at the beginning of the pass.
    k
        The smallest cluster.
    limit
        The rows of the largest cluster that swaps look at.
    number
        The number of the pass, from 1.
    every
        Whether all rows are visited. If False, a row is visited only if its cluster or its best
        candidate changed in this pass or the last.
    """

    lam: float
    k: int
    limit: int
    number: int
    every: bool


class SearchChoice(NamedTuple):
    """Where rows may go, and when clusters changed.

    Parameters
    ----------
    near
        int32, shape (distinct rows, candidates + 1): the clusters in which a row gains most, best
        first, then `NONE`. One more than are tried, since the row may be in one of them.
    roomy
        int32, shape (2,): the two clusters that lose least by a row without features.
    changed
        int32, shape (clusters,): the number of the last pass in which a cluster changed. Written by
        the moves.
    tried
        int32, shape (candidates + 1,): scratch for the candidates of one row.
    """

    near: NDArray[np.int32]
    roomy: Indices
    changed: Indices
    tried: Indices


class Scratch(NamedTuple):
    """Working room for swaps between the row's own cluster and another.

    Parameters
    ----------
    ours, theirs
        int32, shape (n_features,): how many rows of either cluster have each feature. 0 between
        visits.
    our_rises, their_rises
        float64, shape (limit + 2,): ``rises[x]`` is what the objective gains if a feature of x rows
        is had by one row more and the size of the cluster stays.
    """

    ours: Indices
    theirs: Indices
    our_rises: Floats
    their_rises: Floats


@leaf
def _list_candidates(state: SearchState, choice: SearchChoice, kind: int, own: int) -> int:
    """Write the candidates of a row of cluster `own` into ``choice.tried``; return how many.

    The clusters that suit the row best, then the roomy one, in which a row with features of its own
    costs least. Clusters that have become empty are skipped.
    """
    near, roomy, _, tried = choice
    n_tried = 0
    # One cluster less than are ranked, since the row's own is not a candidate.
    for c in near[kind]:
        if c == NONE or n_tried == near.shape[1] - 1:
            break
        if c != own and state.clusters[c, SIZE] > 0:
            tried[n_tried] = c
            n_tried += 1
    # The roomiest cluster that is not the row's own.
    c = wide(roomy[1] if roomy[0] == own else roomy[0])
    if c != NONE and state.clusters[c, SIZE] > 0:
        tried[n_tried] = c
        n_tried += 1
    return n_tried


@leaf
def _best_cluster(
    data: Data, state: SearchState, lam: float, choice: SearchChoice, row: int, own: int
) -> tuple[int, float]:
    """Return the candidate in which the row gains most, and the gain on the current state."""
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
    """Write into rises[x] what the objective gains if x + 1 instead of x rows have a feature.

    The cluster keeps its `size` rows, so its threshold stays.
    """
    least = data.least[size]
    # Below the threshold nothing changes; one row short of it, the feature becomes kept; above, one
    # entry more is true.
    rises[: least - 1] = 0.0
    rises[least - 1] = worth(lam, least, size)
    rises[least : size + 1] = 1.0 + lam


@leaf
def best_swap(
    data: Data, state: SearchState, lam: float, row: int, other: int, scratch: Scratch
) -> tuple[int, float]:
    """Return the row of another cluster to swap with, and the exact gain; `NONE` if it has no rows.

    ``scratch.ours`` has the counts of the row's cluster without the row, and ``scratch.our_rises``
    its prices. Both sizes stay, so thresholds stay too, and the gain is a sum over features.
    """
    ours, theirs, our_rises, their_rises = scratch
    # Step 1: count the other cluster.
    price(data, lam, state.clusters[other, SIZE], their_rises)
    count_cluster(data, state, other, theirs, IN)
    # Step 2: the row leaves its cluster and enters the other. This part is the same for all
    # partners.
    entry = 0.0
    kind = data.kinds[row]
    for f in data.indices[data.indptr[kind] : data.indptr[kind + 1]]:
        entry += their_rises[theirs[f]] - our_rises[ours[f]]
        theirs[f] += 1
    # Step 3: each member in turn leaves the other cluster, in which the row already counts, and
    # takes the row's place.
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
    # Step 4: leave the scratch at 0.
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
    """Swap the row with the best row of its candidates if the gain exceeds `bar`."""
    own = wide(state.labels[row])
    # The counts and prices of the own cluster without the row serve all candidates.
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
    # The counts back to 0, then the swap itself: two moves.
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
    """Move the row to the candidate that gains most, if the objective gains more than `bar`."""
    own = wide(state.labels[row])
    target, most = _best_cluster(data, state, plan.lam, choice, row, own)
    if target != NONE and most + gain_of_removing(data, state, plan.lam, row) > bar:
        move(data, state, row, target)
        choice.changed[own] = choice.changed[target] = plan.number


@leaf
def _may_gain(plan: SearchPlan, choice: SearchChoice, kind: int, own: int) -> bool:
    """Return whether a row is to be visited: its cluster or its best candidate changed lately."""
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
    """Visit the rows in order: each moves or is swapped if the gain exceeds its bar.

    Parameters
    ----------
    data, state
        The rows, and the clusters; `state` is overwritten.
    plan, choice, scratch
        See there. ``choice.changed`` is overwritten.
    order
        int64, shape (n,): the rows in the order of visits.
    bars
        float64, shape (n,): what the gain of the visit must exceed. Negative while annealing, and
        just below 0 in later passes, which make changes of equal worth too.
    """
    for at in range(order.size):
        row = order[at]
        own = wide(state.labels[row])
        # Nothing new near this row since it was last tried.
        if not _may_gain(plan, choice, data.kinds[row], own):
            continue
        # The row is published as it is: no other cluster serves it better.
        if is_its_profile(data, state, row):
            continue
        # A cluster of more than k can spare a row; one of k must get another in return.
        if state.clusters[own, SIZE] > plan.k:
            _try_move(data, state, plan, choice, row, bars[at])
        else:
            _try_swaps(data, state, plan, choice, scratch, row, bars[at])


def _score(lam: float, size: Any, kept: Any, entries: Any) -> Any:
    """Return the part of the objective of a cluster, or of each of many."""
    return (1.0 + lam) * entries - lam * (size * kept)


_score_of = leaf(_score)


@allocating
def try_to_dissolve(
    data: Data, state: SearchState, plan: SearchPlan, choice: SearchChoice, cluster: int
) -> bool:
    """Spread the rows of a cluster over others, each where it gains most, if the sum is a gain.

    Return whether that was done; otherwise everything is as before.
    """
    # Step 1: list the members.
    members = np.empty(state.clusters[cluster, SIZE], dtype=np.int64)
    targets = np.empty(members.size, dtype=np.int64)
    row = wide(state.heads[cluster])
    for i in range(members.size):
        members[i] = row
        row = wide(state.links[row, NEXT])
    # Step 2: place them one by one, on the state that contains those placed before. What the
    # cluster was worth is lost.
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
    # Step 3: roll back if a row has no candidate, or if the sum gains nothing.
    if n_moved < members.size or gain <= TINY:
        for i in range(n_moved):
            count_out(data, state, members[i], targets[i])
        return False
    # Step 4: otherwise take the rows out of the old cluster for good.
    for i in range(n_moved):
        count_out(data, state, members[i], cluster)
        delist(state, members[i])
        enlist(state, members[i], targets[i])
        choice.changed[targets[i]] = plan.number
    return True


def small_clusters(state: SearchState, plan: SearchPlan) -> Ints:
    """Return the clusters below 2k rows, those worth least per row first; int64."""
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

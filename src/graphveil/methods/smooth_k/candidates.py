"""The clusters that a row is tried in: ranked by lists of features, or by sets of features.

For every distinct row the local search wants the few clusters that gain most if the row enters
them. Both ways to rank them (see the kernel of the same name) give the same result. Reading lists
takes time that grows with the number of clusters that keep a popular feature. Looking up sets does
not, but a cluster that gains by m features has 2^m - 1 of them, so sets are numbered only if they
are few for what they save, and fit into a room that grows with the data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.smooth_k.kernels import candidates as ranking
from graphveil.methods.smooth_k.kernels.search_state import NONE, Data

UNCAPPED = 1 << 62
"""A cap that no list reaches: all entries are read."""

LOOKUPS_FOR_READ = 0.25
"""How many sets are looked up in about the time in which an entry of a list is read: a row that
would need more look-ups than that reads its lists. It decides about time, never about the
result."""

READS_FOR_SET = 80
"""Sets are numbered if the lists have at least this many entries to read for each set. On app data
with ten columns, 30 took three times as long as reading lists; generated data of popular items
is not sensitive to it."""

MOST_FEATURES = 60
"""The exponent at which the number of sets is capped, so that 2^m stays a finite number: sets of so
many features are far too many, whatever the data is."""

ROOM_FOR_SETS = 1 << 22
"""The number of sets times candidates for which there is always room: 12 bytes each, and 24 per
set."""

ROOM_BY_ENTRY = 4
"""There is also room for this many times the entries of the data. 316,000 users of popular items
need 1.9 sets times candidates per entry. These take 32 bytes per entry, of the 190 bytes per entry
that the run takes at its peak."""


def rank_clusters(
    data: Data, index: ranking.Index, near: NDArray[np.int32], list_cap: int = UNCAPPED
) -> None:
    """Write into near[u] the clusters that share a feature with u and gain most by it, best first.

    Parameters
    ----------
    data, index
        The distinct rows, and the index of the present clusters.
    near
        int32, shape (distinct rows, width), overwritten.
    list_cap
        How many entries of a feature's list are read. If it caps nothing and lists are long, rows
        look up the sets of features that clusters share instead; the result is the same.
    """
    gainers = _none(near.shape[1])
    if list_cap == UNCAPPED:
        gainers = _gainers_where_worth(data, index, near.shape[1])
    ranking.rank(data, index, gainers, ranking.RankPlan(list_cap, LOOKUPS_FOR_READ), near)


def _gainers_where_worth(data: Data, index: ranking.Index, width: int) -> ranking.Gainers:
    """Return all sets if numbering them takes less time and room than reading the lists."""
    # Step 1: how many sets there would be. A cluster that gains by m features has 2^m - 1.
    lengths = np.diff(index.starts)
    sizes = np.bincount(index.clusters, minlength=index.bases.size)
    n_sets = float((np.exp2(sizes.clip(max=MOST_FEATURES)) - 1).sum())
    room = max(ROOM_FOR_SETS, ROOM_BY_ENTRY * data.indices.size)
    # Step 2: compare with what all rows would read, and with the room.
    if READS_FOR_SET * n_sets > lengths[data.indices].sum() or n_sets * width > room:
        return _none(width)
    # Step 3: the index sorted by cluster, positions ascending.
    by_cluster = np.argsort(index.clusters, kind="stable").astype(np.int64, copy=False)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    features = np.repeat(np.arange(lengths.size), lengths)
    return ranking.gainers_of(index, by_cluster, starts, features, int(n_sets), width)


def _none(width: int) -> ranking.Gainers:
    """Return no sets but the empty one."""
    return ranking.Gainers(
        np.full((1, 2), NONE, dtype=np.int64),
        np.full((1, width), -np.inf),
        np.full((1, width), NONE, dtype=np.int32),
    )

"""The clusters that a row is tried in: by lists of features, or by sets of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.smooth_k.kernels import candidates as ranking
from graphveil.methods.smooth_k.kernels.search_state import NONE, Data

UNCAPPED = 1 << 62
LOOKUPS_FOR_READ = 0.25
"""How many sets are looked up in about the time in which an entry of a list is read."""

READS_FOR_SET = 80
"""Sets are numbered where the lists have so many entries for each. On app data with ten columns, 30
took three times as long as the lists; made-up data of popular items does not care."""

MOST_FEATURES = 60
"""Sets of more features are far too many, whatever the data is."""

ROOM_FOR_SETS = 1 << 22
"""The most sets times candidates for which there is always room: 12 bytes each, and 24 a set."""

ROOM_BY_ENTRY = 4
"""There is room for so many times the entries of the data, too. 316,000 users of popular items need
1.9 sets times candidates an entry, 32 bytes of the 190 that the run takes at its peak."""


def rank_clusters(
    data: Data, index: ranking.Index, near: NDArray[np.int32], list_cap: int = UNCAPPED
) -> None:
    """Write into near[u] the clusters that share a feature with u and gain most by it, best first.

    `list_cap`: how many entries are read of a feature's list. Where all may be, and lists are long,
    rows look up the sets of features that clusters share. The result is the same, and the time to
    look them up does not grow with the number of clusters.
    """
    gainers = _none(near.shape[1])
    if list_cap == UNCAPPED:
        gainers = _gainers_where_worth(data, index, near.shape[1])
    ranking.rank(data, index, gainers, ranking.RankPlan(list_cap, LOOKUPS_FOR_READ), near)


def _gainers_where_worth(data: Data, index: ranking.Index, width: int) -> ranking.Gainers:
    """Return all sets, where to number them takes less time and room than to read the lists."""
    lengths = np.diff(index.starts)
    sizes = np.bincount(index.clusters, minlength=index.bases.size)
    n_sets = float((np.exp2(sizes.clip(max=MOST_FEATURES)) - 1).sum())
    room = max(ROOM_FOR_SETS, ROOM_BY_ENTRY * data.indices.size)
    if READS_FOR_SET * n_sets > lengths[data.indices].sum() or n_sets * width > room:
        return _none(width)
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

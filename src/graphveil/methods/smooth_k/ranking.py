"""Which clusters suit every row best: read from lists, or looked up in sets of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.smooth_k.candidates import Gainers, Index, RankPlan, gainers_of, rank
from graphveil.kernels.smooth_k.search_state import NONE, Data

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
    data: Data, index: Index, near: NDArray[np.int32], list_cap: int = UNCAPPED
) -> None:
    """Write into near[u] the clusters that share a feature with u and gain most by it, best first.

    Parameters
    ----------
    data
        The distinct rows.
    index
        What clusters gain by features.
    near
        int32, shape (distinct, candidates), written.
    list_cap
        How many entries are read of a feature's list. Where all may be, popular features make
        lists long; then every set of features that clusters share is numbered, and a row looks up
        those that it has all features of. The result is the same.

    Notes
    -----
    A cluster that gains by m features has 2^m sets, a row of d such features at most as many as
    it could have, 2^d: the time to look them up does not grow with the number of clusters.
    """
    gainers = _none(near.shape[1])
    if list_cap == UNCAPPED:
        gainers = _gainers_where_worth(data, index, near.shape[1])
    rank(data, index, gainers, RankPlan(list_cap, LOOKUPS_FOR_READ), near)


def _gainers_where_worth(data: Data, index: Index, width: int) -> Gainers:
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
    return gainers_of(index, by_cluster, starts, features, int(n_sets), width)


def _none(width: int) -> Gainers:
    """Return no sets but the empty one."""
    return Gainers(
        np.full((1, 2), NONE, dtype=np.int64),
        np.full((1, width), -np.inf),
        np.full((1, width), NONE, dtype=np.int32),
    )

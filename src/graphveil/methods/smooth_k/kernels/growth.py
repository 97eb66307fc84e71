"""Clusters grown greedily around seeds, by counting overlaps."""

from __future__ import annotations

import numpy as np

from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.smooth_k.kernels.feature_lists import FeatureLists, Indices, Ints, leave

KIND, CLUSTER, COPIES = range(3)


@leaf
def _reach(
    lists: FeatureLists, features: Indices, copies: int, overlap: Ints, touched: Indices
) -> None:
    """Add `copies` to overlap[v] for every feature shared with row v; list rows new to it.

    ``touched[0]`` is the number of rows that follow.
    """
    n_touched = touched[0]
    for f in features:
        first = lists.starts[f]
        for i in range(first, first + lists.lengths[f]):
            v = lists.members[i]
            if overlap[v] == 0:
                n_touched += 1
                touched[n_touched] = v
            overlap[v] += copies
    touched[0] = n_touched


@leaf
def _best(
    indptr: Ints, unused: Ints, overlap: Ints, touched: Indices, lowest: int, scale: int
) -> int:
    """Return the row of largest ``4 overlap - scale degree``, the last of equals.

    Only rows with unused copies count: those that have an overlap, and `lowest`, which is of lowest
    degree, whatever its overlap.
    """
    best = lowest
    most = 4 * overlap[lowest] - scale * (indptr[lowest + 1] - indptr[lowest])
    for i in range(1, touched[0] + 1):
        v = touched[i]
        score = 4 * overlap[v] - scale * (indptr[v + 1] - indptr[v])
        if (score > most or (score == most and v > best)) and unused[v] > 0:
            best, most = int(v), score
    return int(best)


def _steps_of_growth(
    _indptr: Ints, _indices: Indices, lists: FeatureLists, *_others: object
) -> int:
    """Return about how many steps it takes to see once the rows that share features with each."""
    return int((lists.lengths * lists.lengths).sum()) + 2 * lists.members.size


@tiered(_steps_of_growth)
@allocating
def grow(
    indptr: Ints,
    indices: Indices,
    lists: FeatureLists,
    unused: Ints,
    seeds: Ints,
    k: int,
    quarters: int,
) -> Ints:
    """Return steps (kind, cluster, copies) that fill clusters of exactly k rows around the seeds.

    ``unused[u]`` copies of distinct row u are to be put into clusters; shorter rows come first. The
    last copies, fewer than k, stay in ``unused``; rows without copies are taken out of ``lists``. A
    cluster takes the copies of the row of largest mean overlap with its rows less ``quarters / 4``
    of the row's degree.
    """
    n = unused.size
    remaining = 0
    for u in range(n):
        remaining += unused[u]
        if unused[u] == 0:
            leave(lists, indptr, indices, u)
    steps = np.empty((n + remaining // k + 1, 3), dtype=np.int64)
    overlap = np.zeros(n, dtype=np.int64)
    touched = np.zeros(n + 1, dtype=np.int32)
    made, cluster, lowest = 0, 0, 0
    for u in seeds:
        while unused[u] > 0 and remaining >= k:
            row, size = int(u), 0
            while size < k:
                if size > 0:
                    while unused[lowest] == 0:
                        lowest += 1
                    row = _best(indptr, unused, overlap, touched, lowest, quarters * size)
                copies = min(unused[row], k - size)
                steps[made, KIND], steps[made, CLUSTER], steps[made, COPIES] = row, cluster, copies
                made += 1
                size += copies
                unused[row] -= copies
                if unused[row] == 0:
                    leave(lists, indptr, indices, row)
                if size < k:
                    _reach(lists, indices[indptr[row] : indptr[row + 1]], copies, overlap, touched)
            for i in range(1, touched[0] + 1):
                overlap[touched[i]] = 0
            touched[0] = 0
            cluster += 1
            remaining -= k
    return steps[:made]

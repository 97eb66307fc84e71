"""Greedy growth of clusters around seeds, by counting overlaps.

Growth is graphveil's own; Esfandiari et al. use facility location (see `facility`). A cluster
starts with the copies of a seed and takes one distinct row after the other, until it has exactly k
rows: the row v with the largest ``(1 / |S|) sum over f in v of c(f) - gamma |v|``, where c(f) is
how many of the |S| rows so far have feature f, and gamma (a number of quarters) is the price of a
feature that may not be shared.

The score is kept in integers: times ``4 |S|`` it is ``4 overlap - quarters |S| |v|``. The overlaps
of all rows with the cluster are kept up to date through inverted lists, from which rows without
unused copies are removed. Time is O(sum of squared degrees of the features) among distinct rows.
`rarest_first` gives the same clusters faster if features are popular.
"""

from __future__ import annotations

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.smooth_k.kernels.feature_lists import FeatureLists, Indices, leave

KIND, CLUSTER, COPIES = range(3)
"""Columns of the steps: the distinct row, the cluster it joins, and how many of its copies do."""


@leaf
def _reach(
    lists: FeatureLists, features: Indices, copies: int, overlap: Ints, touched: Indices
) -> None:
    """Add `copies` to overlap[v] for every feature shared with row v; list rows first met.

    ``touched[0]`` is the number of rows that follow in ``touched``.
    """
    n_touched = touched[0]
    for f in features:
        first = lists.starts[f]
        for i in range(first, first + lists.lengths[f]):
            v = lists.members[i]
            # Rows met for the first time are listed behind those of earlier steps of the same
            # cluster.
            if overlap[v] == 0:
                n_touched += 1
                touched[n_touched] = v
            overlap[v] += copies
    touched[0] = n_touched


@leaf
def _best(
    indptr: Ints, unused: Ints, overlap: Ints, touched: Indices, lowest: int, scale: int
) -> int:
    """Return the row of largest ``4 overlap - scale degree``; of equal ones the last in order.

    Only rows with unused copies count: those that have an overlap, and `lowest`, the row of lowest
    degree, which is the best of those without overlap.
    """
    # Integers: 4 overlap - scale degree, with scale = quarters times the size of the cluster.
    best = lowest
    most = 4 * overlap[lowest] - scale * (indptr[lowest + 1] - indptr[lowest])
    for i in range(1, touched[0] + 1):
        v = touched[i]
        score = 4 * overlap[v] - scale * (indptr[v + 1] - indptr[v])
        # Rows with an overlap may be used up meanwhile; a used-up row cannot join.
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
    """Return steps (row, cluster, copies) that fill clusters of exactly k rows around the seeds.

    Parameters
    ----------
    indptr, indices
        int64 and int32: the distinct rows, shorter ones first.
    lists
        Their feature lists; rows without unused copies leave them.
    unused
        int64, shape (distinct,): how many copies of each row are to be put into clusters. The last
        copies, fewer than k, stay in it.
    seeds
        int64: the distinct rows in the order in which clusters start from them.
    k
        The rows of a cluster.
    quarters
        Four times gamma, the price of a feature of a row that joins.

    Returns
    -------
    ndarray
        int64, shape (steps, 3): `KIND`, `CLUSTER` and `COPIES` of every step, in order.
    """
    # Step 1: rows without copies to place are not in the lists. Each step uses a row up or fills a
    # cluster, which bounds the number of steps.
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
        # Step 2: start clusters at the seed as long as it has copies and k rows remain in all.
        while unused[u] > 0 and remaining >= k:
            row, size = int(u), 0
            while size < k:
                if size > 0:
                    # Step 3: the best next row. `lowest` moves on only, since used-up rows do not
                    # come back.
                    while unused[lowest] == 0:
                        lowest += 1
                    row = _best(indptr, unused, overlap, touched, lowest, quarters * size)
                # Step 4: as many of its copies join as fit.
                copies = min(unused[row], k - size)
                steps[made, KIND], steps[made, CLUSTER], steps[made, COPIES] = row, cluster, copies
                made += 1
                size += copies
                unused[row] -= copies
                if unused[row] == 0:
                    leave(lists, indptr, indices, row)
                if size < k:
                    _reach(lists, indices[indptr[row] : indptr[row + 1]], copies, overlap, touched)
            # Step 5: leave the overlaps at 0 for the next cluster.
            for i in range(1, touched[0] + 1):
                overlap[touched[i]] = 0
            touched[0] = 0
            cluster += 1
            remaining -= k
    return steps[:made]

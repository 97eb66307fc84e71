"""The rows that the lattice step leaves: they form clusters, join some, or are merged with some.

Fewer than k rows can agree at every vector that was tried, and rows can agree without meeting the
conditions. Three steps place them, each what the one before could not:

1. pieces: rows that are next to each other in an order of similarity, cut after k or more rows that
   meet the conditions;
2. join: a row joins the cluster whose loss rises least, if the conditions allow it;
3. merge: the rest becomes one cluster, with as many clusters as it takes to meet the conditions.

Merging ends, since a union of clusters that meet the conditions meets them: more rows can only add
values, entropy is concave, and the total variation from the table is convex. If even all rows as
one cluster miss a condition, the table is refused.

Cost: O(n) for pieces, O(rows x clusters x d) for joining, O(clusters**2 x values) for merging.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats, Ints
from graphveil.core.errors import InfeasibleError
from graphveil.core.text import counted
from graphveil.methods.generalize.kernels import clusters, search
from graphveil.methods.generalize.kernels.clusters import Clusters, Conditions, Rows


def place_rest(
    rows: Rows, conditions: Conditions, labels: Ints, n_clusters: int, k: int
) -> tuple[Ints, int]:
    """Return the cluster of every row, and the number of clusters.

    `labels`: int64, shape (n,): the clusters of the lattice step, -1 for rows left; written.
    """
    # Step 1: cut the rows left, in the first order of similarity, into pieces that are clusters.
    left = rows.near[0][labels[rows.near[0]] < 0].astype(np.int64)
    pieces, tail = _pieces(conditions, left, k)
    for piece in pieces:
        labels[piece] = n_clusters
        n_clusters += 1
    if not tail.size:
        return labels, n_clusters
    # Step 2: each row behind the last piece joins the cluster where least is lost.
    n, d = rows.cells.shape
    trial = clusters.clusters_of(n, d, conditions.totals.size, k)
    clusters.gather(rows, conditions, trial, labels, n_clusters)
    kept = search.join(rows, conditions, trial, tail, n_clusters)
    labels = trial.label.copy()
    # Step 3: rows that no cluster can take are merged with whole clusters.
    if kept:
        return _merged(conditions, trial, labels, tail[:kept], n_clusters, k)
    return labels, n_clusters


def _pieces(conditions: Conditions, left: Ints, k: int) -> tuple[list[Ints], Ints]:
    """Return the rows left, cut in their order into pieces that may be clusters, and the rest."""
    # Without conditions all pieces have k rows, but for the last, which takes the remainder.
    if not len(conditions.distinct):
        count = left.size // k
        if not count:
            return [], left
        return [left[i * k : (i + 1) * k if i + 1 < count else None] for i in range(count)], left[
            :0
        ]
    # With conditions a piece grows until it has k rows and meets all of them.
    pieces, first = [], 0
    counts = np.zeros(conditions.totals.size, dtype=np.int64)
    for i, row in enumerate(left.tolist()):
        counts[conditions.values[row]] += 1
        if i + 1 - first >= k and violation(conditions, counts) == 0:
            pieces.append(left[first : i + 1])
            first = i + 1
            counts[:] = 0
    return pieces, left[first:]


def violation(conditions: Conditions, counts: NDArray[Any]) -> Floats:
    """Return by how much clusters miss the conditions; 0 for one that meets all.

    `counts`: shape (..., V): how many rows of each cluster have each value. The shortfalls of the
    conditions add up: too few known values, excess total variation, missing entropy in nats.
    """
    missed = np.zeros(counts.shape[:-1])
    n = len(conditions.values)
    for i in range(len(conditions.distinct)):
        part = slice(conditions.starts[i], conditions.starts[i + 1])
        mine, totals = counts[..., part].astype(np.int64), conditions.totals[part]
        size = mine.sum(axis=-1)
        known = mine[..., : conditions.known[i]]
        missed += np.maximum(0, conditions.distinct[i] - (known > 0).sum(axis=-1))
        # As in the kernel, the total variation is compared in whole numbers.
        numerator, denominator = int(conditions.numerator[i]), int(conditions.denominator[i])
        apart = np.abs(mine * n - size[..., None] * totals).sum(axis=-1) * denominator
        excess = apart - 2 * numerator * size * n
        missed += np.maximum(0, excess) / (2.0 * size * n * denominator)
        if conditions.entropy[i] > 0:
            shares = known / np.maximum(known.sum(axis=-1), 1)[..., None]
            logs = np.log(np.where(known > 0, shares, 1.0))
            lacking = conditions.entropy[i] + (shares * logs).sum(axis=-1)
            missed += np.where(lacking > clusters.SLACK, lacking, 0.0)
    return missed


def _merged(
    conditions: Conditions, state: Clusters, labels: Ints, tail: Ints, n_clusters: int, k: int
) -> tuple[Ints, int]:
    """Return clusters of which some were merged with the rows that no cluster takes, until all fit.

    `tail`: the rows that no cluster takes. Each time, the cluster is merged after which the merged
    one misses the conditions least; of equal ones the smallest, then the first.
    """
    counts = np.zeros(conditions.totals.size, dtype=np.int64)
    for i in range(conditions.values.shape[1]):
        counts += np.bincount(conditions.values[tail, i], minlength=counts.size)
    taken: list[int] = []
    size = tail.size
    others = np.flatnonzero(state.size[:n_clusters])
    while size < k or violation(conditions, counts) > 0:
        if not others.size:
            raise InfeasibleError(
                f"the {counted(labels.size, 'row')} do not meet the conditions even as one class."
            )
        missed = violation(conditions, counts + state.counts[others])
        at = int(np.lexsort((others, state.size[others], missed))[0])
        best, others = int(others[at]), np.delete(others, at)
        counts = counts + state.counts[best]
        size += int(state.size[best])
        taken.append(best)
    # The merged rows are one new cluster; the numbers of those it took are closed up.
    labels[tail] = n_clusters
    labels[np.isin(labels, taken)] = n_clusters
    _, labels = np.unique(labels, return_inverse=True)
    return labels.astype(np.int64), int(labels.max()) + 1

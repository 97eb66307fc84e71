"""Clusters under way: counts that follow every move, and the Jaccard index by running sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.smooth_k import search_state as kernel
from graphveil.methods.equivalence_classes.rows import CollapsedRows, Labels
from graphveil.methods.equivalence_classes.rule import Rule

ROOM = 1.5
"""Slots of the table for every pair of a cluster and a feature, or a count, that there can be."""


class Clusters(NamedTuple):
    """Clusters that rows are moved between.

    Parameters
    ----------
    data, state
        The arrays that kernels read, and those that they write.
    entries
        The entries of the original, equal rows counted each.
    """

    data: kernel.Data
    state: kernel.SearchState
    entries: int

    @property
    def jaccard(self) -> float:
        """The Jaccard index of original and release; rows without a cluster count as suppressed."""
        shared, cells = self.state.tally.tolist()
        either = self.entries + cells - shared
        return float(shared / either) if either else 1.0

    def labels(self) -> Labels:
        """Return the cluster of every row, numbered anew without gaps."""
        return np.unique(self.state.labels, return_inverse=True)[1].astype(np.int32)

    def insert_unclustered(self) -> None:
        """Put every row without a cluster where the objective gains most, one by one."""
        rows: NDArray[np.int64] = np.nonzero(self.state.labels == kernel.NONE)[0]
        kernel.insert_unclustered(self.data, self.state, self.jaccard, rows)


def clusters_of(rows: CollapsedRows, labels: Labels, rule: Rule) -> Clusters:
    """Return these clusters, ready for moves; label -1 stands for none.

    Memory is O(entries + rows + features), about 24 bytes for each entry and row.

    Parameters
    ----------
    rows
        The data.
    labels
        The cluster of every row.
    rule
        What a cluster keeps.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rows import collapse
    >>> rows = collapse(Bipartite.from_lists([[0, 1], [0], [1]]))
    >>> clusters = clusters_of(rows, np.array([0, 0, -1], dtype=np.int32), Rule())
    >>> clusters.jaccard
    0.6
    >>> clusters.insert_unclustered()
    >>> clusters.labels().tolist()
    [0, 0, 0]
    """
    n, n_clusters = labels.size, int(labels.max(initial=kernel.NONE)) + 1
    entries = int((rows.weights * rows.degrees()).sum())
    table = np.zeros((int(ROOM * (entries + n)) + 8, 2), dtype=np.int64)
    table[:, 0] = kernel.FREE
    least = rule.least(np.arange(n + 2, dtype=np.int64))
    data = kernel.Data(rows.indptr, rows.indices, rows.kinds, least, rows.n_features)
    state = kernel.SearchState(
        table=table,
        clusters=np.zeros((n_clusters, 3), dtype=np.int64),
        heads=np.full(n_clusters, kernel.NONE, dtype=np.int32),
        links=np.full((n, 2), kernel.NONE, dtype=np.int32),
        labels=labels.astype(np.int32),
        tally=np.zeros(2, dtype=np.int64),
    )
    kernel.fill(data, state)
    return Clusters(data, state, entries)


def in_order(rows: CollapsedRows, order: NDArray[np.int64]) -> CollapsedRows:
    """Return the rows in this order, the distinct ones as they come: neighbors lie side by side.

    Distinct rows are no longer sorted by their degree.

    Parameters
    ----------
    rows
        The data.
    order
        A permutation of the rows.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rows import collapse
    >>> rows = in_order(collapse(Bipartite.from_lists([[0], [0, 1], [0]])), np.array([1, 0, 2]))
    >>> rows.indices.tolist(), rows.kinds.tolist()
    ([0, 1, 0], [0, 1, 1])
    """
    kinds = rows.kinds[order]
    present, first = np.unique(kinds, return_index=True)
    by_arrival = present[np.argsort(first)]
    numbers = np.empty(rows.n_distinct, dtype=np.int32)
    numbers[by_arrival] = np.arange(by_arrival.size, dtype=np.int32)
    degrees = rows.degrees()[by_arrival]
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    entries = np.repeat(rows.indptr[by_arrival] - indptr[:-1], degrees) + np.arange(indptr[-1])
    weights = rows.weights[by_arrival]
    return CollapsedRows(indptr, rows.indices[entries], weights, numbers[kinds], rows.n_features)

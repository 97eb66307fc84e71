"""The rows of a table, one-hot, put together by the columns that a class publishes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.progress import stage
from graphveil.methods.equivalence_classes.masks import MOST_COLUMNS, masked_classes
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels


class MaskedClusters(NamedTuple):
    """The cluster of every row, and whether all masks were tried for them."""

    labels: Labels
    all_masks: bool


def masked_clusters(rows: CollapsedRows, *, k: int) -> MaskedClusters | None:
    """Return clusters of at least k rows with many columns in common; None where it is no table.

    See `graphveil.methods.equivalence_classes.masks.masked_classes`. Rows are those of a table
    where their features have columns and no row has two of one. There is None too where a table
    has more columns than a mask can name.

    `rows`: the data, of at least k rows; `k`: the fewest rows of a cluster.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse, columns_of
    >>> data = Bipartite.from_lists([["a=1", "b=1"], ["a=1", "b=2"], ["a=2"], ["a=2"]])
    >>> rows = collapse(data)._replace(columns=columns_of(data.feature_labels().tolist()))
    >>> masked_clusters(rows, k=2).labels.tolist()
    [1, 1, 0, 0]
    """
    if rows.columns is None:
        return None
    used, columns = np.unique(rows.columns[rows.indices], return_inverse=True)
    if not 0 < used.size <= MOST_COLUMNS:
        return None
    cells = np.repeat(np.arange(rows.n_distinct), rows.degrees()) * used.size + columns
    if np.unique(cells).size < cells.size:
        return None
    codes = np.full(rows.n_distinct * used.size, -1, dtype=np.int32)
    codes[cells] = rows.indices
    with stage("masks"):
        masked = masked_classes(codes.reshape(rows.n_distinct, used.size), rows.weights, k=k)
    labels = np.empty(rows.n_rows, dtype=np.int32)
    labels[rows.by_kind()] = masked.labels
    return MaskedClusters(labels, masked.all_masks)

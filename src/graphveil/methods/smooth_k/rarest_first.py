"""Rows in the layout in which clusters are grown where features are popular."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.smooth_k.rarest_first import POPULAR, RareFirst
from graphveil.methods.equivalence_classes.rows import CollapsedRows


def rarest_first(rows: CollapsedRows, unused: NDArray[np.int64]) -> RareFirst:
    """Return the rows with their features numbered from the rarest, and the lists of these.

    Parameters
    ----------
    rows
        The distinct rows.
    unused
        How many copies of each are to be put into clusters; the kernel writes it.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rows import collapse
    >>> rows = collapse(Bipartite.from_lists([["rye"], ["ale", "rye"], ["rye", "tea"]]))
    >>> rarest_first(rows, rows.weights.copy()).indices.tolist()
    [2, 0, 2, 1, 2]
    """
    counts = np.bincount(rows.indices, minlength=rows.n_features).astype(np.int64, copy=False)
    order = np.argsort(counts, kind="stable")
    numbers = np.empty(rows.n_features, dtype=np.int64)
    numbers[order] = np.arange(rows.n_features)
    degrees = rows.degrees()
    owners = np.repeat(np.arange(rows.n_distinct), degrees)
    entries = owners * rows.n_features + numbers[rows.indices]
    entries.sort()
    indices = entries - owners * rows.n_features
    by_feature = np.argsort(indices, kind="stable")
    members = owners[by_feature]
    lengths = counts[order]
    return RareFirst(
        indptr=rows.indptr,
        indices=indices.astype(np.int32),
        unused=unused,
        firsts=np.searchsorted(degrees, np.arange(degrees.max(initial=0) + 2)).astype(np.int64),
        starts=(np.cumsum(lengths) - lengths).astype(np.int64),
        lengths=lengths,
        gone=np.zeros_like(lengths),
        members=members.astype(np.int32),
        words=_words(indices, owners, rows)[members],
    )


def _words(
    indices: NDArray[np.int64], owners: NDArray[np.int64], rows: CollapsedRows
) -> NDArray[np.uint32]:
    """Return which of the most popular features every row has, a bit each."""
    bits = indices - (rows.n_features - POPULAR)
    is_popular = bits >= 0
    values = np.int64(1) << bits[is_popular]
    sums = np.bincount(owners[is_popular], weights=values, minlength=rows.n_distinct)
    return sums.astype(np.uint32)

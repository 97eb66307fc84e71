"""Rows put together: equal ones collapsed, and the classes that a release forms of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite

Labels: TypeAlias = "NDArray[np.int32]"
"""A cluster for every row, shape (n,), numbered from 0 without gaps."""


POPULAR = 100


class CollapsedRows(NamedTuple):
    """The distinct rows of some data, and which of them every row equals.

    Parameters
    ----------
    indptr, indices
        int64 and int32: the sorted features of distinct row u are
        ``indices[indptr[u]:indptr[u + 1]]``. Shorter rows come first.
    weights
        int64, shape (distinct,): how many rows equal it.
    kinds
        int32, shape (n,): the distinct row that every row equals.
    n_features
        The number of features.
    columns
        int32, shape (n_features,): the column whose value a feature is by its name, see
        `columns_of`. None elsewhere, and where nobody asks.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.int64]
    kinds: NDArray[np.int32]
    n_features: int
    columns: NDArray[np.int32] | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows, equal ones counted each."""
        return self.kinds.size

    @property
    def n_distinct(self) -> int:
        """The number of distinct rows."""
        return self.weights.size

    def degrees(self) -> NDArray[np.int64]:
        """Return the number of features of every distinct row, int64."""
        return np.diff(self.indptr)

    @property
    def comparisons(self) -> int:
        """The ordered pairs of distinct rows that share a feature, once a shared feature.

        A row and itself are such a pair. Clusters are grown in time that grows with their number.

        Examples
        --------
        >>> collapse(Bipartite.from_lists([[1, 2], [2], [1, 2]])).comparisons
        5
        """
        having = np.bincount(self.indices)
        return int((having * having).sum())

    @property
    def has_popular_features(self) -> bool:
        """Whether a feature of a row leads to 100 rows or more for each feature that the row has.

        Then it takes less to bound what rows share than to count it.

        Examples
        --------
        >>> collapse(Bipartite.from_lists([[0, i] for i in range(1, 1000)])).has_popular_features
        True
        >>> collapse(Bipartite.from_lists([[i, i + 1] for i in range(999)])).has_popular_features
        False
        """
        return self.comparisons * self.n_distinct >= POPULAR * self.indices.size**2

    def by_kind(self) -> NDArray[np.int64]:
        """Return all rows so that equal ones stand together, in the order of the distinct rows."""
        return np.argsort(self.kinds, kind="stable").astype(np.int64, copy=False)


def collapse(data: Bipartite) -> CollapsedRows:
    """Return the distinct rows with their numbers; rows are compared feature by feature.

    The distinct rows and their order depend on the set of rows alone.

    Examples
    --------
    >>> rows = collapse(Bipartite.from_lists([[1, 2], [0], [1, 2]]))
    >>> rows.weights.tolist(), rows.kinds.tolist()
    ([1, 2], [1, 0, 1])
    """
    sizes = np.diff(data.indptr)
    order = np.argsort(sizes, kind="stable")
    lengths, starts = np.unique(sizes[order], return_index=True)
    kinds = np.empty(sizes.size, dtype=np.int32)
    parts, weights = [], []
    n_distinct = 0
    ends = [*starts[1:].tolist(), order.size]
    for length, start, end in zip(
        lengths.tolist(), starts.tolist(), ends[: lengths.size], strict=True
    ):
        members = order[start:end]
        entries = data.indptr[members][:, None] + np.arange(length)
        distinct, which, counts = _distinct(data.indices[entries])
        kinds[members] = which + n_distinct
        n_distinct += counts.size
        parts.append(distinct)
        weights.append(counts)
    degrees = [np.full(part.shape[0], part.shape[1]) for part in parts]
    return CollapsedRows(
        indptr=np.concatenate([[0], np.cumsum(_joined(degrees))]).astype(np.int64),
        indices=_joined([part.ravel() for part in parts]).astype(np.int32),
        weights=_joined(weights).astype(np.int64),
        kinds=kinds,
        n_features=data.n_features,
    )


def columns_of(names: Sequence[object]) -> NDArray[np.int32] | None:
    """Return the column of every feature where all are named ``column=value``, else None.

    Examples
    --------
    >>> columns_of(["age=3", "age=4", "sex=f"]).tolist()
    [0, 0, 1]
    >>> columns_of(["tea", "sex=f"]) is None
    True
    """
    if not names or not all("=" in str(name) for name in names):
        return None
    columns = [str(name).partition("=")[0] for name in names]
    return np.unique(columns, return_inverse=True)[1].astype(np.int32)


def _distinct(
    table: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct rows of a table in lexicographic order, which each is, and how many."""
    n, width = table.shape
    if not width:
        return table[:1], np.zeros(n, dtype=np.int64), np.array([n])
    keys = np.ascontiguousarray(table, dtype=">i4").view(np.dtype((np.void, 4 * width))).ravel()
    _, firsts, which, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return table[firsts], which, counts


def _joined(parts: list[NDArray[np.int64]] | list[NDArray[np.int32]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])

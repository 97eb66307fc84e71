"""What is read off the columns of user-feature data: popularity of features and of their pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.comparison import BipartiteComparison, column_sizes
from graphveil.evaluate.metric import Figure, Figures, share_of
from graphveil.evaluate.shape import kolmogorov_smirnov
from graphveil.evaluate.sizes import TOP_PAIRS
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = lazy_module("scipy.sparse")

FIRST_BLOCK, BLOCK = 256, 1_024
"""Features whose pairs are counted at once."""


def frequency(pair: BipartiteComparison) -> Figures:
    """Yield how the numbers of users of the features have changed; nothing without features."""
    before, after = pair.popularity
    if not before.size:
        return
    yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of features")
    change, users = np.abs(before - after), pair.original.n_users
    yield from share_of(float(change.mean()), users, "share of users", part="mean change")
    yield from share_of(int(change.max()), users, "share of users", part="largest change")


def pair_frequency(pair: BipartiteComparison) -> Figures:
    """Yield how far the counts of the most frequent pairs are off; nothing where nobody has two."""
    top = top_pairs(pair.before, TOP_PAIRS)
    if not top.users.size:
        return
    columns = sparse.csc_array(pair.after)
    both = columns[:, top.first].multiply(columns[:, top.second])
    released = np.asarray(both.sum(axis=0)).ravel()
    errors = np.abs(released - top.users) / top.users
    unit = "share of the original count"
    yield Figure("mean relative error", float(errors.mean()), unit)
    yield Figure("largest relative error", float(errors.max()), unit)


class FeaturePairs(NamedTuple):
    """Pairs of features, first < second, and how many users have both."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    users: NDArray[np.int64]


def top_pairs(matrix: sparse.csr_array, n_pairs: int) -> FeaturePairs:
    """Return the pairs of features that most users have, most first; ties in order of columns.

    Exact, and never features by features: features are counted by falling frequency, and a pair has
    at most as many users as its rarer feature, so the rest need not be counted once that is below
    the last of the best pairs so far.

    Parameters
    ----------
    matrix
        Integer ones, users by features.
    n_pairs
        How many pairs; fewer where no more have a user.

    Examples
    --------
    >>> matrix = sparse.csr_array(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]]))
    >>> [part.tolist() for part in top_pairs(matrix, 2)]  # columns 0 and 1, 1 and 2
    [[0, 1], [1, 2], [2, 2]]
    """
    users = column_sizes(matrix)
    order = np.argsort(-users, kind="stable")[: np.count_nonzero(users)]
    columns = sparse.csc_array(matrix)[:, order]
    none = np.empty(0, dtype=np.int64)
    best = FeaturePairs(none, none, none)
    start = 0
    while start < order.size and users[order[start]] >= _bar(best, n_pairs):
        end = start + (FIRST_BLOCK if start == 0 else BLOCK)
        counted = sparse.coo_array(columns[:, start:end].T @ columns[:, :end])
        later = counted.row + start > counted.col
        enough = later & (counted.data >= _bar(best, n_pairs))
        ends = order[counted.row[enough] + start], order[counted.col[enough]]
        counted_pairs = FeaturePairs(np.minimum(*ends), np.maximum(*ends), counted.data[enough])
        best = _most_frequent(best, counted_pairs, n_pairs)
        start = end
    return best


def _bar(best: FeaturePairs, n_pairs: int) -> int:
    """Return how many users a pair needs to be among the best."""
    return int(best.users[-1]) if best.users.size == n_pairs else 1


def _most_frequent(best: FeaturePairs, more: FeaturePairs, n_pairs: int) -> FeaturePairs:
    first, second, users = (np.concatenate(parts) for parts in zip(best, more, strict=True))
    order = np.lexsort((second, first, -users))[:n_pairs]
    return FeaturePairs(first[order], second[order], users[order])

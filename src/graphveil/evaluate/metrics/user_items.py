"""Metrics of user-item data: entries kept and false, popularity of items and of pairs of items.

Entries are compared one by one, which needs the linkage; popularity does not. All take O(nnz) time
but the popularity of pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.evaluate.comparison import BipartiteComparison, column_sizes, sparse
from graphveil.evaluate.metric import Figure, Figures, counted, share_of
from graphveil.evaluate.metrics.degrees import kolmogorov_smirnov
from graphveil.evaluate.metrics.feature_entries import TOP_PAIRS

QUANTILES = {"5% quantile": 0.05, "25% quantile": 0.25, "median": 0.5, "75% quantile": 0.75}


def jaccard(pair: BipartiteComparison) -> Figures:
    """Yield the entries in both over those in either: from 0 to 1, and 1 if there are none.

    Esfandiari et al., Smooth Anonymity for Sparse Graphs.
    """
    union = pair.before.nnz + pair.after.nnz - pair.kept.nnz
    yield Figure("all", pair.kept.nnz / union if union else 1.0, "ratio")


def suppressed(pair: BipartiteComparison) -> Figures:
    """Yield how many original entries are not released, and their share: 0 if all are kept."""
    number = pair.before.nnz - pair.kept.nnz
    return counted(number, pair.before.nnz, "entries", "share of original entries")


def created(pair: BipartiteComparison) -> Figures:
    """Yield how many released entries are not original: false statements about people.

    As a share of the original entries: 0 if there are none, and possibly above 1.
    """
    number = pair.after.nnz - pair.kept.nnz
    return counted(number, pair.before.nnz, "entries", "share of original entries")


def user_jaccard(pair: BipartiteComparison) -> Figures:
    """Yield the distribution over users of the Jaccard index of their items before and after.

    From 0 to 1, and 1 if a user's items are the same or both empty. Jaccard 1912.
    """
    before, after, kept = (_row_sizes(m) for m in (pair.before, pair.after, pair.kept))
    # the released rows stand in another order than the original ones
    yield from _distribution(_ratios(kept, before + after[pair.linked] - kept))


def feature_jaccard(pair: BipartiteComparison) -> Figures:
    """Yield the distribution over features of the Jaccard index of their users before and after.

    From 0 to 1; features without users on both sides are omitted. Jaccard 1912.
    """
    (before, after), kept = pair.popularity, pair.popularity_kept
    union = before + after - kept
    used = union > 0
    yield from _distribution(_ratios(kept[used], union[used]))


def empty_rows(pair: BipartiteComparison) -> Figures:
    """Yield how many users have no feature, before and after, and their share in the release."""
    before, after = (int(np.count_nonzero(_row_sizes(m) == 0)) for m in (pair.before, pair.after))
    yield Figure("original", before, "users", judged=False)
    yield Figure("released", after, "users")
    yield from share_of(after, pair.released.n_users, "share of users", part="released share")


def _row_sizes(matrix: sparse.csr_array) -> Ints:
    return np.asarray(np.diff(matrix.indptr).astype(np.int64))


def _ratios(common: Ints, union: Ints) -> Floats:
    """Return the Jaccard index of each; 1 where both sides are empty."""
    return np.where(union > 0, common / np.maximum(union, 1), 1.0)


def _distribution(values: Floats) -> Figures:
    """Yield mean, minimum and quantiles; nothing if there is no value."""
    if not values.size:
        return
    yield Figure("mean", float(values.mean()), "ratio")
    yield Figure("minimum", float(values.min()), "ratio")
    quantiles = np.quantile(values, [*QUANTILES.values()], method="inverted_cdf")
    for part, value in zip(QUANTILES, quantiles.tolist(), strict=True):
        yield Figure(part, value, "ratio")


FIRST_BLOCK, BLOCK = 256, 1_024
"""How many features are paired at once, in the first block and in others: larger blocks take more
memory, smaller ones more products; the first is small since few features often suffice."""


def frequency(pair: BipartiteComparison) -> Figures:
    """Yield how the numbers of users of the features have changed; nothing without features.

    The Kolmogorov-Smirnov distance over features, and the mean and largest change as shares of
    users: all 0 if every feature has as many users as before.
    """
    before, after = pair.popularity
    if not before.size:
        return
    yield Figure("Kolmogorov-Smirnov", kolmogorov_smirnov(before, after), "share of features")
    change, users = np.abs(before - after), pair.original.n_users
    yield from share_of(float(change.mean()), users, "share of users", part="mean change")
    yield from share_of(int(change.max()), users, "share of users", part="largest change")


def pair_frequency(pair: BipartiteComparison) -> Figures:
    """Yield the relative errors of the counts of the most frequent pairs of features.

    At least 0, and 0 if all counts are kept; nothing if no user has two features. Our own metric;
    cost: see `top_pairs`.
    """
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
    """Pairs of features, first < second, and how many users have both.

    Three int64 arrays of one length.
    """

    first: Ints
    second: Ints
    users: Ints


def top_pairs(matrix: sparse.csr_array, n_pairs: int) -> FeaturePairs:
    """Return the pairs of features that most users have, in descending order, then by columns.

    Exact, and never features by features: features are counted by falling frequency, and a pair has
    at most as many users as its rarer feature. So the rest need not be counted once that is below
    the last of the best pairs so far. The worst case is O(sum of squared row sizes).
    """
    # Features by falling number of users; those that no user has are dropped.
    users = column_sizes(matrix)
    order = np.argsort(-users, kind="stable")[: np.count_nonzero(users)]
    columns = sparse.csc_array(matrix)[:, order]
    none = np.empty(0, dtype=np.int64)
    best = FeaturePairs(none, none, none)
    start = 0
    # Go on while a pair with the next feature could still be among the best.
    while start < order.size and users[order[start]] >= _bar(best, n_pairs):
        # Count the pairs of this block with all features up to its end: each pair once, row >
        # column.
        end = start + (FIRST_BLOCK if start == 0 else BLOCK)
        both = sparse.coo_array(columns[:, start:end].T @ columns[:, :end])
        enough = (both.row + start > both.col) & (both.data >= _bar(best, n_pairs))
        ends = order[both.row[enough] + start], order[both.col[enough]]
        # Keep the best of these and of those before; equal counts are ordered by column.
        more = FeaturePairs(np.minimum(*ends), np.maximum(*ends), both.data[enough])
        first, second, shared = (np.concatenate(p) for p in zip(best, more, strict=True))
        most = np.lexsort((second, first, -shared))[:n_pairs]
        best = FeaturePairs(first[most], second[most], shared[most])
        start = end
    return best


def _bar(best: FeaturePairs, n_pairs: int) -> int:
    """Return how many users a pair needs to be among the best; 1 as long as they are too few."""
    return int(best.users[-1]) if best.users.size == n_pairs else 1

"""Metrics of user-item data: entries kept and false, popularity of features and of pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Floats,
    Ints,
    column_sizes,
    sparse,
)
from graphveil.evaluate.metric import Figure, Figures, counted, share_of
from graphveil.evaluate.metrics.degrees import kolmogorov_smirnov
from graphveil.evaluate.metrics.feature_entries import TOP_PAIRS

QUANTILES = {"5% quantile": 0.05, "25% quantile": 0.25, "median": 0.5, "75% quantile": 0.75}


def jaccard(pair: BipartiteComparison) -> Figures:
    """Yield the entries in both over those in either."""
    union = pair.before.nnz + pair.after.nnz - pair.kept.nnz
    yield Figure("all", pair.kept.nnz / union if union else 1.0, "ratio")


def suppressed(pair: BipartiteComparison) -> Figures:
    """Yield how many original entries are not released."""
    number = pair.before.nnz - pair.kept.nnz
    return counted(number, pair.before.nnz, "entries", "share of original entries")


def created(pair: BipartiteComparison) -> Figures:
    """Yield how many released entries are not original: false statements about people."""
    number = pair.after.nnz - pair.kept.nnz
    return counted(number, pair.before.nnz, "entries", "share of original entries")


def user_jaccard(pair: BipartiteComparison) -> Figures:
    """Yield how the Jaccard index of single users is distributed."""
    before, after, kept = (_row_sizes(m) for m in (pair.before, pair.after, pair.kept))
    # the released rows stand in another order than the original ones
    yield from _distribution(_ratios(kept, before + after[pair.linked] - kept))


def feature_jaccard(pair: BipartiteComparison) -> Figures:
    """Yield how the Jaccard index of single features is distributed; unused ones are omitted."""
    (before, after), kept = pair.popularity, pair.popularity_kept
    union = before + after - kept
    used = union > 0
    yield from _distribution(_ratios(kept[used], union[used]))


def empty_rows(pair: BipartiteComparison) -> Figures:
    """Yield how many users have no feature any more."""
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
    """Yield mean, minimum and quantiles; nothing where there is no value."""
    if not values.size:
        return
    yield Figure("mean", float(values.mean()), "ratio")
    yield Figure("minimum", float(values.min()), "ratio")
    quantiles = np.quantile(values, [*QUANTILES.values()], method="inverted_cdf")
    for part, value in zip(QUANTILES, quantiles.tolist(), strict=True):
        yield Figure(part, value, "ratio")


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

    first: Ints
    second: Ints
    users: Ints


def top_pairs(matrix: sparse.csr_array, n_pairs: int) -> FeaturePairs:
    """Return the pairs of features that most users have, in descending order, then by columns.

    Exact, and never features by features: features are counted by falling frequency, and a pair has
    at most as many users as its rarer feature, so the rest need not be counted once that is below
    the last of the best pairs so far.
    """
    users = column_sizes(matrix)
    order = np.argsort(-users, kind="stable")[: np.count_nonzero(users)]
    columns = sparse.csc_array(matrix)[:, order]
    none = np.empty(0, dtype=np.int64)
    best = FeaturePairs(none, none, none)
    start = 0
    while start < order.size and users[order[start]] >= _bar(best, n_pairs):
        end = start + (FIRST_BLOCK if start == 0 else BLOCK)
        both = sparse.coo_array(columns[:, start:end].T @ columns[:, :end])
        enough = (both.row + start > both.col) & (both.data >= _bar(best, n_pairs))
        ends = order[both.row[enough] + start], order[both.col[enough]]
        more = FeaturePairs(np.minimum(*ends), np.maximum(*ends), both.data[enough])
        first, second, shared = (np.concatenate(p) for p in zip(best, more, strict=True))
        most = np.lexsort((second, first, -shared))[:n_pairs]
        best = FeaturePairs(first[most], second[most], shared[most])
        start = end
    return best


def _bar(best: FeaturePairs, n_pairs: int) -> int:
    """Return how many users a pair needs to be among the best."""
    return int(best.users[-1]) if best.users.size == n_pairs else 1

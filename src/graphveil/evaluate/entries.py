"""Entries of user-feature data compared one by one: every metric here but one needs the linkage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import Figure, Figures, share_of

if TYPE_CHECKING:
    from scipy import sparse

QUANTILES = {"5 % quantile": 0.05, "25 % quantile": 0.25, "median": 0.5, "75 % quantile": 0.75}


def jaccard(pair: BipartiteComparison) -> Figures:
    """Yield the entries in both over those in either."""
    union = pair.before.nnz + pair.after.nnz - pair.kept.nnz
    yield Figure("all", pair.kept.nnz / union if union else 1.0, "ratio")


def suppressed(pair: BipartiteComparison) -> Figures:
    """Yield how many original entries are not released."""
    number = pair.before.nnz - pair.kept.nnz
    yield Figure("count", number, "entries")
    yield from share_of(number, pair.before.nnz, "share of original entries")


def created(pair: BipartiteComparison) -> Figures:
    """Yield how many released entries are not original: false statements about people."""
    number = pair.after.nnz - pair.kept.nnz
    yield Figure("count", number, "entries")
    yield from share_of(number, pair.before.nnz, "share of original entries")


def user_jaccard(pair: BipartiteComparison) -> Figures:
    """Yield how the Jaccard index of single users is distributed."""
    before, after, kept = (_row_sizes(m) for m in (pair.before, pair.after, pair.kept))
    # the released rows stand in another order than the original ones
    yield from _distribution(_ratios(kept, before + after[pair.linked] - kept))


def feature_jaccard(pair: BipartiteComparison) -> Figures:
    """Yield how the Jaccard index of single features is distributed; unused ones are left out."""
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


def _row_sizes(matrix: sparse.csr_array) -> NDArray[np.int64]:
    sizes: NDArray[np.int64] = np.diff(matrix.indptr).astype(np.int64)
    return sizes


def _ratios(common: NDArray[np.int64], union: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the Jaccard index of each; 1 where both sides are empty."""
    return np.where(union > 0, common / np.maximum(union, 1), 1.0)


def _distribution(values: NDArray[np.float64]) -> Figures:
    """Yield mean, minimum and quantiles; nothing where there is no value."""
    if not values.size:
        return
    yield Figure("mean", float(values.mean()), "ratio")
    yield Figure("minimum", float(values.min()), "ratio")
    quantiles = np.quantile(values, [*QUANTILES.values()], method="inverted_cdf")
    for part, value in zip(QUANTILES, quantiles.tolist(), strict=True):
        yield Figure(part, value, "ratio")

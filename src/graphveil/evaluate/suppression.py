"""Cells of tables: what is suppressed, how rows group, and how much columns still say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.comparison import TableComparison
from graphveil.evaluate.metric import Figure, Figures, share_of

STAR = -1
QUANTILES = {"median": 0.5, "75 % quantile": 0.75, "95 % quantile": 0.95}


def stars(pair: TableComparison) -> Figures:
    """Yield how many cells are suppressed before and after, and the share that is still shown."""
    before, after = (int(np.count_nonzero(codes == STAR)) for codes in (pair.before, pair.after))
    yield Figure("original", before, "cells", judged=False)
    yield Figure("released", after, "cells")
    yield from share_of(after, pair.after.size, "share of cells", part="released share")


def stars_added(pair: TableComparison) -> Figures:
    """Yield how many known cells of the original are suppressed in the release."""
    known = pair.before != STAR
    added = int(np.count_nonzero(known & (pair.after[pair.linked] == STAR)))
    yield Figure("count", added, "cells")
    yield from share_of(added, int(known.sum()), "share of the original's known cells")


def utility(pair: TableComparison) -> Figures:
    """Yield the share of cells that is not suppressed: 1 - stars / (rows x columns)."""
    shown = np.count_nonzero(pair.after != STAR)
    yield Figure("all", shown / pair.after.size if pair.after.size else 1.0, "share of cells")


def stars_by_column(pair: TableComparison) -> Figures:
    """Yield the share of each column that is suppressed; nothing without rows."""
    for name, codes in zip(pair.released.columns, pair.after.T, strict=True):
        number = int(np.count_nonzero(codes == STAR))
        yield from share_of(number, codes.size, "share of rows", part=name)


def stars_by_row(pair: TableComparison) -> Figures:
    """Yield how suppressed cells are spread over rows; nothing without rows."""
    by_row = np.count_nonzero(pair.after == STAR, axis=1)
    if not by_row.size:
        return
    yield Figure("mean", float(by_row.mean()), "cells")
    for part, share in QUANTILES.items():
        yield Figure(part, float(np.quantile(by_row, share, method="inverted_cdf")), "cells")
    yield Figure("maximum", int(by_row.max()), "cells")
    whole = np.count_nonzero(by_row == pair.after.shape[1])
    yield Figure("nothing shown", float(whole / by_row.size), "share of rows")


def class_sizes(pair: TableComparison) -> Figures:
    """Yield the sizes of the classes of equal rows, `*` equals only `*`; nothing without rows."""
    for part, codes in (("original", pair.before), ("released", pair.after)):
        sizes = _sizes(codes)
        if not sizes.size:
            return
        rows, number = int(sizes.sum()), sizes.size
        judged = part == "released"
        yield Figure(f"{part} classes", number, "classes", judged=False)
        yield Figure(f"{part} smallest", int(sizes.min()), "rows", judged=False)
        yield Figure(f"{part} average", rows / number, "rows", judged=judged)
        yield Figure(f"{part} largest", int(sizes.max()), "rows", judged=False)
        pairs = int((sizes.astype(np.int64) ** 2).sum())
        yield Figure(f"{part} discernibility", pairs, "pairs of rows", judged=judged)


def column_entropy(pair: TableComparison) -> Figures:
    """Yield by how many bits a column says less; nothing without rows or columns."""
    if not pair.after.size:
        return
    losses = []
    for column, name in enumerate(pair.released.columns):
        losses.append(_bits(pair.before[:, column]) - _bits(pair.after[:, column]))
        yield Figure(name, losses[-1], "bits")
    yield Figure("mean of columns", float(np.mean(losses)), "bits")


def _sizes(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many rows equal each distinct row."""
    if codes.size == 0:
        return np.full(min(codes.shape[0], 1), codes.shape[0], dtype=np.int64)
    sizes: NDArray[np.int64] = np.unique(codes, axis=0, return_counts=True)[1].astype(np.int64)
    return sizes


def _bits(codes: NDArray[np.int32]) -> float:
    """Return the share of known cells times the entropy of their values, in bits."""
    counts = np.bincount(codes[codes != STAR])
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    known = counts.sum() / codes.size
    return float(-(shares * np.log2(shares)).sum() * known) + 0.0

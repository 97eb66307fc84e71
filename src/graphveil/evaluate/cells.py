"""Cells of tables: what is suppressed, how rows group, and how much columns still say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.comparison import TableComparison
from graphveil.evaluate.metric import Figure, Figures

STAR = -1
QUANTILES = {"median": 0.5, "75 % quantile": 0.75, "95 % quantile": 0.95}


def stars(pair: TableComparison) -> Figures:
    """Yield how many cells are suppressed before and after, and the share that is still shown."""
    before, after = (int(np.count_nonzero(codes == STAR)) for codes in (pair.before, pair.after))
    yield Figure("original", before, "cells", judged=False)
    yield Figure("released", after, "cells")
    yield Figure("released share", after / max(pair.after.size, 1), "share of cells")


def stars_added(pair: TableComparison) -> Figures:
    """Yield how many known cells of the original are suppressed in the release."""
    known = pair.before != STAR
    added = int(np.count_nonzero(known & (pair.after[pair.linked] == STAR)))
    yield Figure("count", added, "cells")
    yield Figure("share", added / max(int(known.sum()), 1), "share of the original's known cells")


def utility(pair: TableComparison) -> Figures:
    """Yield the share of cells that is not suppressed: 1 - stars / (rows x columns)."""
    shown = np.count_nonzero(pair.after != STAR)
    yield Figure("all", shown / pair.after.size if pair.after.size else 1.0, "share of cells")


def stars_by_column(pair: TableComparison) -> Figures:
    """Yield the share of each column that is suppressed, in the order of the release."""
    rows = max(pair.after.shape[0], 1)
    for name, codes in zip(pair.released.columns, pair.after.T, strict=True):
        yield Figure(name, np.count_nonzero(codes == STAR) / rows, "share of rows")


def stars_by_row(pair: TableComparison) -> Figures:
    """Yield how suppressed cells are spread over rows."""
    by_row = np.count_nonzero(pair.after == STAR, axis=1)
    n = max(by_row.size, 1)
    yield Figure("mean", float(by_row.sum() / n), "cells")
    yield from _quantiles(by_row, "cells")
    yield Figure("maximum", int(by_row.max(initial=0)), "cells")
    whole = int(np.count_nonzero(by_row == pair.after.shape[1])) if by_row.size else 0
    yield Figure("nothing shown", whole / n, "share of rows")


def class_sizes(pair: TableComparison) -> Figures:
    """Yield the sizes of the classes of equal rows; `*` equals only `*`."""
    for part, codes in (("original", pair.before), ("released", pair.after)):
        sizes = _sizes(codes)
        rows, number = int(sizes.sum()), sizes.size
        judged = part == "released"
        yield Figure(f"{part} classes", number, "classes", judged=False)
        yield Figure(f"{part} smallest", int(sizes.min(initial=rows)), "rows", judged=False)
        yield Figure(f"{part} average", rows / max(number, 1), "rows", judged=judged)
        yield Figure(f"{part} largest", int(sizes.max(initial=0)), "rows", judged=False)
        pairs = int((sizes.astype(np.int64) ** 2).sum())
        yield Figure(f"{part} discernibility", pairs, "pairs of rows", judged=judged)


def column_entropy(pair: TableComparison) -> Figures:
    """Yield by how many bits a column says less: entropy of its known cells before and after."""
    losses = []
    for column, name in enumerate(pair.released.columns):
        losses.append(_bits(pair.before[:, column]) - _bits(pair.after[:, column]))
        yield Figure(name, losses[-1], "bits")
    yield Figure("mean of columns", float(np.mean(losses)) if losses else 0.0, "bits")


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
    known = counts.sum() / max(codes.size, 1)
    return float(-(shares * np.log2(shares)).sum() * known) + 0.0


def _quantiles(values: NDArray[np.int64], unit: str) -> Figures:
    shown = values if values.size else np.zeros(1)
    for part, share in QUANTILES.items():
        yield Figure(part, float(np.quantile(shown, share, method="inverted_cdf")), unit)

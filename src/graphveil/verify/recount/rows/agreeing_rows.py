"""Rows that agree: no column has one value in one of them and a different value in the other.

A suppressed cell agrees with every value. Rows of one kind (equal in all columns) are compared
once for all. Only kinds with fewer than ``enough`` rows need a comparison, since equal rows
agree.

Cost: O(r * s * d) comparisons for r rare kinds among s kinds of d columns, at most
`MOST_COMPARISONS` pairs of kinds; memory for `_CELLS` of them at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphveil.verify.database import Database

Codes = NDArray[np.int32]
STAR = -1
"""The code of a suppressed cell, which agrees with every value."""

MOST_COMPARISONS = 500_000_000
"""Of pairs of rows: some seconds. Where more rows differ, they are not compared."""

_CELLS = 1 << 24
"""Pairs of kinds that are compared at once: one mask of 16 MiB."""


def coded_alone(db: Database, columns: Sequence[int]) -> Codes:
    """Return released cells of some columns as codes, int32, shape (n, columns)."""
    # Codes are ranks of the values within each column, so that equal codes mean equal values.
    codes = []
    for number in columns:
        order = f"dense_rank() OVER (ORDER BY c{number} NULLS FIRST)"
        first = f"CASE WHEN c{number} IS NULL THEN {STAR} ELSE {order} END"
        codes.append(db.column(f"SELECT {first} FROM shown ORDER BY row"))
    return np.column_stack(codes).astype(np.int32)


def fewest_agreeing(codes: Codes, *, enough: int) -> tuple[int, int] | None:
    """Return a row that agrees with the fewest rows, itself included, and their number."""
    if not codes.shape[0]:
        return 0, enough
    # Step 1: distinct rows and their sizes. A row agrees with its equals, so a kind of enough rows
    # needs no comparison.
    kinds, first, sizes = np.unique(codes, axis=0, return_index=True, return_counts=True)
    rare = np.flatnonzero(sizes < enough)
    if not rare.size:
        return int(first[np.argmin(sizes)]), int(sizes.min())
    # Step 2: give up where the comparison would take too long; nothing is guessed.
    if int(rare.size) * int(kinds.size) > MOST_COMPARISONS:
        return None
    agreeing = np.empty(rare.size, dtype=np.int64)
    # Step 3: compare the rare kinds with all kinds, block by block: a column agrees where the codes
    # are equal or one of them is a star.
    step = max(1, _CELLS // len(kinds))
    for start in range(0, rare.size, step):
        some = kinds[rare[start : start + step]]
        agree = np.ones((some.shape[0], kinds.shape[0]), dtype=bool)
        for own, all_of in zip(some.T, kinds.T, strict=True):
            agree &= (
                (own[:, None] == all_of[None, :])
                | (own == STAR)[:, None]
                | (all_of == STAR)[None, :]
            )
        agreeing[start : start + step] = agree @ sizes
    # Step 4: the rare kind that agrees with fewest rows.
    least = int(np.argmin(agreeing))
    return int(first[rare[least]]), int(agreeing[least])

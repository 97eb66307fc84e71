"""Which record of a release fits which person of the original: cell by cell, in rows of bits.

A record fits a person if each of its cells is that person's value, or suppressed. Pairs are kept
as masks with one bit per person, so that all n * n pairs of 20,000 rows take 50 MB.

Cost: O(n * n * d / 64) word operations for n records with d columns; memory n * n / 8 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.core.libraries import pa, pc
from graphveil.data import Table
from graphveil.data.ids import as_text, to_arrow

if TYPE_CHECKING:
    from graphveil.verify.database import Database

Codes: TypeAlias = "NDArray[np.signedinteger[Any]]"
Masks: TypeAlias = "NDArray[np.uint64]"
"""One bit a person, 64 in a word, a row of words each."""

STAR, NOBODY = -1, -2
"""Codes of a released cell that fits everybody, and of one whose value nobody has."""

_WORD = 64
"""Bits in a word of a mask."""

_BLOCK_ROWS = 256
"""Rows of masks that are unpacked at once, a multiple of 8: bounds the memory for single bits."""

_BATCH = 1 << 15
"""Rows of cells, or pairs, that are compared at once."""


class CodedCells(NamedTuple):
    """Released and original cells in one numbering, column by column.

    `released`: integers, shape (n, d): codes of values of the original, `STAR` or `NOBODY`;
    `original`: integers, shape (n, d): codes, -1 where a cell is missing: it fits stars alone.
    """

    released: Codes
    original: Codes


def cells_of(db: Database, original: Table, columns: Mapping[str, int]) -> CodedCells:
    """Return the cells of the released columns next to those of the original."""
    # Both sides get the codes of the original's categories, in the narrowest type that holds them.
    places = [original.columns.index(name) for name in columns]
    kind = _narrowest(max((original.categories[place].size for place in places), default=0))
    released = np.empty((original.n_rows, len(columns)), dtype=kind)
    texts = [to_arrow(as_text(original.categories[place])) for place in places]
    listed = ", ".join(f"c{number}" for number in columns.values())
    start = 0
    # Released cells are looked up among these categories; a value that nobody has gets `NOBODY`.
    for batch in db.blocks(f"SELECT {listed} FROM shown", _BATCH):
        for number, known in enumerate(texts):
            released[start : start + len(batch), number] = _codes(batch.column(number), known)
        start += len(batch)
    return CodedCells(released, original.codes[:, places].astype(kind))


def _narrowest(categories: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest type for the codes of so many categories."""
    return next(
        (kind for kind in (np.int8, np.int16) if categories <= np.iinfo(kind).max), np.int32
    )


def _codes(cells: Any, known: Any) -> NDArray[np.int32]:
    """Return the codes of released cells, `NOBODY` for a value that is not a category."""
    cells = cells.cast(pa.string())
    codes = pc.fill_null(pc.index_in(cells, value_set=known.cast(pa.string())), NOBODY)
    shown: NDArray[np.int32] = pc.if_else(cells.is_null(), STAR, codes).to_numpy(
        zero_copy_only=False
    )
    return shown


def fitting_persons(cells: CodedCells) -> Masks:
    """Return for every record the persons that it fits: shape (n, words)."""
    n = cells.released.shape[0]
    # Start with everybody; each column removes the persons whose value is another.
    fits = np.repeat(packed(np.ones((1, n), dtype=bool)), n, axis=0)
    for released, original in zip(cells.released.T, cells.original.T, strict=True):
        # A suppressed cell fits everybody, so only rows with a value are looked at; equal values
        # share one mask.
        rows = np.flatnonzero(released != STAR)
        values, of_row = np.unique(released[rows], return_inverse=True)
        having = _persons_having(values, original)
        for start in range(0, rows.size, _BLOCK_ROWS):
            some = slice(start, start + _BLOCK_ROWS)
            fits[rows[some]] &= having[of_row[some]]
    return fits


def _persons_having(values: Codes, original: Codes) -> Masks:
    """Return the persons with each of some values of a column."""
    having = np.empty((values.size, -(-original.size // _WORD)), dtype=np.uint64)
    for start in range(0, values.size, _BLOCK_ROWS):
        some = values[start : start + _BLOCK_ROWS]
        having[start : start + _BLOCK_ROWS] = packed(some[:, None] == original[None, :])
    return having


def pairs_that_fit(
    cells: CodedCells, records: NDArray[np.int64], persons: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return for each pair of a record and a person whether it fits."""
    fit = np.empty(records.size, dtype=bool)
    for start in range(0, records.size, _BATCH):
        some = slice(start, start + _BATCH)
        # A pair fits if each cell is suppressed or the person's own.
        released = cells.released[records[some]]
        same = released == cells.original[persons[some]]
        fit[some] = ((released == STAR) | same).all(axis=1)
    return fit


def packed(bits: NDArray[np.bool_]) -> Masks:
    """Return rows of bits as rows of words.

    >>> packed(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    words = -(-bits.shape[1] // _WORD)
    padded = np.zeros((bits.shape[0], words * 8), dtype=np.uint8)
    packed_bytes = np.packbits(bits, axis=1, bitorder="little")
    padded[:, : packed_bytes.shape[1]] = packed_bytes
    return padded.view(np.uint64)


def members(mask: Masks) -> NDArray[np.int64]:
    """Return the numbers of the bits of a row of words, ascending."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))


def turned(fits: Masks) -> Masks:
    """Return for every person the records that fit, of as many records as persons.

    >>> turned(np.array([[3], [2]], dtype=np.uint64)).tolist()
    [[1], [3]]
    """
    n = fits.shape[0]
    other = np.empty_like(fits)
    for start in range(0, n, _BLOCK_ROWS):
        # Transpose a block of 256 persons: unpack the bytes that hold them, turn, and pack again.
        columns = fits.view(np.uint8)[:, start // 8 : (start + _BLOCK_ROWS) // 8]
        bits = np.unpackbits(columns, axis=1, bitorder="little").T[: n - start]
        other[start : start + _BLOCK_ROWS] = packed(bits.astype(bool))
    return other

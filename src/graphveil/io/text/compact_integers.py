"""Columns of integers in little memory: appended in chunks, and as positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data.csr import blocks
from graphveil.data.ids import Ids
from graphveil.io.parsed import ParsedColumn

_WIDE = 1 << 23
"""How many values are merged at a time into the distinct ones, if these have a wide range."""


class Growing:
    """Integers that are appended in chunks: int32 as long as they fit, then int64.

    The array grows by a quarter, so that appending takes amortized constant time per value.
    """

    def __init__(self) -> None:
        self._array: NDArray[Any] = np.empty(1 << 16, dtype=np.int32)
        self._size = 0

    def extend(self, values: NDArray[np.int64]) -> None:
        """Append the values."""
        if values.size and values.max() > np.iinfo(np.int32).max:
            self._array = self._array.astype(np.int64, copy=False)
        end = self._size + values.size
        if end > self._array.size:
            self._array.resize(max(end, self._array.size * 5 // 4), refcheck=False)
        self._array[self._size : end] = values
        self._size = end

    def finish(self) -> NDArray[Any]:
        """Return the values; the object is used up."""
        self._array.resize(self._size, refcheck=False)
        return self._array


def compact(values: NDArray[Any], *, labels: Ids | None = None) -> ParsedColumn:
    """Return integers as positions into their distinct values, or into the labels given.

    int32 input is overwritten, so that no second array of its size is needed.
    """
    # Labels without gaps are positions already.
    if labels is None:
        labels = distinct_integers(values)
    if values.size == 0 or labels[-1] == labels.size - 1:
        return ParsedColumn(values.astype(np.int32, copy=False), labels)
    # A small range: a table from label to position; otherwise binary search.
    top = int(labels[-1])
    table = None
    if top < max(values.size // 2, 1 << 24):
        table = np.zeros(top + 1, dtype=np.int32)
        table[labels] = np.arange(labels.size, dtype=np.int32)
    # A block at a time, into the input if its type allows.
    out = values if values.dtype == np.int32 else np.empty(values.size, dtype=np.int32)
    for part in blocks(values.size):
        position = np.searchsorted(labels, values[part]) if table is None else table[values[part]]
        out[part] = position
    return ParsedColumn(out, labels)


def distinct_integers(*columns: NDArray[Any]) -> Ids:
    """Return the distinct values of all columns in order, as int64, a block at a time."""
    # A small range: mark what occurs. Otherwise merge blocks, which bounds memory.
    size = sum(values.size for values in columns)
    top = max((int(values.max()) for values in columns if values.size), default=-1)
    if top < 2 * size + (1 << 20):
        seen = np.zeros(top + 1, dtype=np.bool_)
        for values in columns:
            for part in blocks(values.size):
                seen[values[part]] = True
        return np.flatnonzero(seen)
    distinct = np.empty(0, dtype=np.int64)
    for values in columns:
        for start in range(0, values.size, _WIDE):
            distinct = np.union1d(distinct, values[start : start + _WIDE])
    return distinct

"""What is to be solved: rows, levels, prices of stars; and what a solution is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data.codes import SUPPRESSED
from graphveil.methods.adaptive.kernels.planes import Packed

Codes = NDArray[np.int32]

WORD = 64


def order_of_columns(codes: Codes) -> NDArray[np.int64]:
    """Return the columns in the order in which they stand in words: those with most bits first."""
    bits = np.ceil(np.log2(codes.max(axis=0, initial=0) + 1.0))
    return np.argsort(-bits, kind="stable")


def packed(codes: Codes) -> Packed:
    """Return rows as bits."""
    n, d = codes.shape
    ordered = np.zeros((n, -(-max(d, 1) // WORD) * WORD), dtype=np.int32)
    ordered[:, :d] = codes[:, order_of_columns(codes)]
    hidden = ordered == SUPPRESSED
    ordered[hidden] = 0
    planes, offsets = [], [0]
    for start in range(0, ordered.shape[1], WORD):
        columns = ordered[:, start : start + WORD]
        bits = int(columns.max(initial=0)).bit_length()
        planes += [_words((columns >> bit) & 1) for bit in range(bits)]
        offsets.append(len(planes))
    stacked = np.concatenate(planes, axis=1) if planes else np.zeros((n, 0), dtype=np.uint64)
    return Packed(np.ascontiguousarray(stacked), _words(hidden), np.array(offsets))


def differing_columns(rows: Packed) -> Codes:
    """Return the codes of packed rows in those columns in which rows differ, in any order.

    >>> differing_columns(packed(np.array([[1, 2, 7], [-1, 0, 7]], dtype=np.int32))).tolist()
    [[2, 1], [0, -1]]
    """
    parts = [np.zeros((rows.stars.shape[0], 0), dtype=np.int32)]
    for w in range(rows.stars.shape[1]):
        codes = np.zeros((rows.stars.shape[0], WORD), dtype=np.int32)
        for bit, p in enumerate(range(rows.offsets[w], rows.offsets[w + 1])):
            codes |= _bits(rows.planes[:, p]) << bit
        codes[_bits(rows.stars[:, w]) == 1] = SUPPRESSED
        parts.append(codes)
    codes = np.concatenate(parts, axis=1)
    return np.ascontiguousarray(codes[:, (codes != codes[:1]).any(axis=0)])


def _bits(words: NDArray[np.uint64]) -> Codes:
    """Return the bits of words, the lowest first, as rows of 0 and 1."""
    little = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(little.reshape(words.size, 8), axis=1, bitorder="little").astype(np.int32)


def _words(bits: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return 0/1 columns as words of 64 of them, the first the lowest bit."""
    packed_bytes = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")
    return np.ascontiguousarray(packed_bytes).view("<u8").astype(np.uint64, copy=False)


def mask_of(words: NDArray[np.uint64], codes: Codes) -> NDArray[np.bool_]:
    """Return which cells the bits of words stand for, in the order of the columns of the codes."""
    little = words.astype("<u8", copy=False).view(np.uint8)
    bits = np.unpackbits(little, axis=1, bitorder="little", count=codes.shape[1])
    mask = np.empty(codes.shape, dtype=np.bool_)
    mask[:, order_of_columns(codes)] = bits
    return mask


def words_of(mask: NDArray[np.bool_], codes: Codes) -> NDArray[np.uint64]:
    """Return cells as the bits of words: what `mask_of` reads."""
    n, d = codes.shape
    ordered = np.zeros((n, -(-max(d, 1) // WORD) * WORD), dtype=np.bool_)
    ordered[:, :d] = mask[:, order_of_columns(codes)]
    return _words(ordered)


def position_of_columns(codes: Codes) -> NDArray[np.int64]:
    """Return which bit stands for each column."""
    return np.argsort(order_of_columns(codes))


LevelArray = NDArray[np.int64]
Prices = NDArray[np.float64]

UNIT = 1 << 26
"""The dearest star costs so much: prices are whole numbers, so that a solution is exact."""


class Problem(NamedTuple):
    """Rows that must fit each other.

    Of `codes`, -1 is missing. `levels`: how many persons each record must fit, and each person
    records. `prices` are from 0 to 1. What one row of a class needs suppressed, all do; `classes`
    is None where each row is for itself.
    """

    codes: Codes
    levels: LevelArray
    prices: Prices
    rows: Packed
    classes: LevelArray | None = None

    @property
    def columns(self) -> Codes:
        """The codes by column."""
        return np.ascontiguousarray(self.codes.T)


class Solution(NamedTuple):
    """Which record was chosen to fit which person (not itself: 0), and what that suppresses."""

    pairs: NDArray[np.int8]
    stars: NDArray[np.uint64]


def problem_of(codes: Codes, levels: LevelArray, weights: Prices) -> Problem:
    """Return the problem of these rows."""
    largest = max(float(weights.max(initial=0.0)), np.finfo(np.float64).tiny)
    prices = np.broadcast_to(weights / largest, codes.shape).copy()
    prices[codes < 0] = 0.0
    return Problem(codes, levels, prices, packed(codes))

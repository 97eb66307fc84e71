"""What is to be solved: rows, levels, prices of stars, rows as bits; and what a solution is.

In the terms of Choromanski, Jebara & Tang, *Adaptive Anonymity via b-Matching*: `Problem.codes` is
X, the levels are delta, the prices are the weights W of a star before the first iteration (footnote
4), and a solution is the graph G with the stars that it needs. Rows are packed into bits (see the
kernel `planes`), columns with most bits first, so that words of columns with few values are short.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data.codes import SUPPRESSED
from graphveil.methods.adaptive.kernels.planes import Packed

Codes = NDArray[np.int32]

WORD = 64
"""Columns of a word."""


def order_of_columns(codes: Codes) -> NDArray[np.int64]:
    """Return the columns in the order of their bits in the words: those with most bits first."""
    bits = np.ceil(np.log2(codes.max(axis=0, initial=0) + 1.0))
    return np.argsort(-bits, kind="stable")


def packed(codes: Codes) -> Packed:
    """Return rows as bits.

    `codes`: int32, shape (n, d), -1 for a missing or suppressed cell.
    """
    n, d = codes.shape
    # Step 1: columns in order, filled up to full words; suppressed cells have code 0 and a star.
    ordered = np.zeros((n, -(-max(d, 1) // WORD) * WORD), dtype=np.int32)
    ordered[:, :d] = codes[:, order_of_columns(codes)]
    hidden = ordered == SUPPRESSED
    ordered[hidden] = 0
    # Step 2: a word of columns takes as many bit planes as its largest code has bits.
    planes, offsets = [], [0]
    for start in range(0, ordered.shape[1], WORD):
        columns = ordered[:, start : start + WORD]
        bits = int(columns.max(initial=0)).bit_length()
        planes += [_words((columns >> bit) & 1) for bit in range(bits)]
        offsets.append(len(planes))
    stacked = np.concatenate(planes, axis=1) if planes else np.zeros((n, 0), dtype=np.uint64)
    return Packed(np.ascontiguousarray(stacked), _words(hidden), np.array(offsets))


def differing_columns(rows: Packed) -> Codes:
    """Return the codes of packed rows in those columns in which rows differ, by bit position.

    >>> differing_columns(packed(np.array([[1, 2, 7], [-1, 0, 7]], dtype=np.int32))).tolist()
    [[2, 1], [0, -1]]
    """
    parts = [np.zeros((rows.stars.shape[0], 0), dtype=np.int32)]
    for w in range(rows.stars.shape[1]):
        # The codes of a word of columns, bit plane by bit plane.
        codes = np.zeros((rows.stars.shape[0], WORD), dtype=np.int32)
        for bit, p in enumerate(range(rows.offsets[w], rows.offsets[w + 1])):
            codes |= _bits(rows.planes[:, p]) << bit
        codes[_bits(rows.stars[:, w]) == 1] = SUPPRESSED
        parts.append(codes)
    codes = np.concatenate(parts, axis=1)
    return np.ascontiguousarray(codes[:, (codes != codes[:1]).any(axis=0)])


def _bits(words: NDArray[np.uint64]) -> Codes:
    """Return the bits of words, the lowest first, as rows of 0 and 1: int32, shape (n, 64)."""
    little = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(little.reshape(words.size, 8), axis=1, bitorder="little").astype(np.int32)


def _words(bits: NDArray[np.generic]) -> NDArray[np.uint64]:
    """Return columns of 0 and 1 as words of 64 of them, the first as the lowest bit."""
    packed_bytes = np.packbits(bits.astype(np.uint8), axis=1, bitorder="little")
    return np.ascontiguousarray(packed_bytes).view("<u8").astype(np.uint64, copy=False)


def mask_of(words: NDArray[np.uint64], codes: Codes) -> NDArray[np.bool_]:
    """Return which cells the bits of words stand for: bool, shape (n, d), columns as in `codes`."""
    little = words.astype("<u8", copy=False).view(np.uint8)
    bits = np.unpackbits(little, axis=1, bitorder="little", count=codes.shape[1])
    mask = np.empty(codes.shape, dtype=np.bool_)
    mask[:, order_of_columns(codes)] = bits
    return mask


def words_of(mask: NDArray[np.bool_], codes: Codes) -> NDArray[np.uint64]:
    """Return cells as the bits of words: the inverse of `mask_of`."""
    n, d = codes.shape
    ordered = np.zeros((n, -(-max(d, 1) // WORD) * WORD), dtype=np.bool_)
    ordered[:, :d] = mask[:, order_of_columns(codes)]
    return _words(ordered)


def position_of_columns(codes: Codes) -> NDArray[np.int64]:
    """Return the position of each column among the bits: int64, shape (d,)."""
    return np.argsort(order_of_columns(codes))


LevelArray = NDArray[np.int64]
Prices = NDArray[np.float64]

UNIT = 1 << 26
"""The price of the most expensive star, as a whole number: prices are integers so that a solve is
exact. Rounding moves a price by less than 2^-26 of the largest; a larger unit would risk
overflow in sums over all pairs and columns."""


class Problem(NamedTuple):
    """Rows that must fit each other.

    Parameters
    ----------
    codes
        int32, shape (n, d): -1 is missing.
    levels
        int64, shape (n,): how many persons each record must fit, and each person records.
    prices
        float64, shape (n, d): what a star costs, from 0 to 1; 0 for missing cells.
    rows
        The codes as bits.
    classes
        int64, shape (n,): rows of a class are published as equal, so what one of them needs
        suppressed, all do. None if each row is on its own.
    """

    codes: Codes
    levels: LevelArray
    prices: Prices
    rows: Packed
    classes: LevelArray | None = None

    @property
    def columns(self) -> Codes:
        """The codes by column: int32, shape (d, n), contiguous."""
        return np.ascontiguousarray(self.codes.T)


class Solution(NamedTuple):
    """The chosen graph and its stars.

    Parameters
    ----------
    pairs
        int8, shape (n, n): 1 if record i was chosen to fit person j; 0 on the diagonal.
    stars
        uint64, shape (n, words): what that suppresses, and missing cells.
    """

    pairs: NDArray[np.int8]
    stars: NDArray[np.uint64]


def problem_of(codes: Codes, levels: LevelArray, weights: Prices) -> Problem:
    """Return the problem of these rows.

    `weights`: float64, shape (d,) or (n, d), at least 0. They are scaled to a largest of 1. Missing
    cells are free, as initial stars (footnote 4 of the paper).
    """
    # The most expensive star costs 1; all weights 0 leave all prices 0.
    largest = max(float(weights.max(initial=0.0)), np.finfo(np.float64).tiny)
    prices = np.broadcast_to(weights / largest, codes.shape).copy()
    prices[codes < 0] = 0.0
    return Problem(codes, levels, prices, packed(codes))

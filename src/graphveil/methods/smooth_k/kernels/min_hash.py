"""Hashes of names, min-hash signatures of rows, and the piece of a row among sorted cuts.

Esfandiari et al., appendix D: for each row 8 independent min-hashes over its features; rows are
then sorted by them in lexicographic order. Two rows agree in one min-hash with probability equal to
their Jaccard similarity. Time is O(entries) for each hash.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
"""The start value of FNV-1a with 64 bits."""

FNV_PRIME = np.uint64(0x100000001B3)
"""The multiplier of FNV-1a with 64 bits."""

LEADING_BITS = np.uint64(33)
"""By how many bits a 64-bit hash is shifted so that its leading 31 remain."""

PRIME = 2**31 - 1
"""The Mersenne prime 2^31 - 1, modulus of the hashes ``(A x + B) mod P``: the remainder takes
shifts and additions only, and a product of two smaller numbers fits 64 bits."""


@leaf
def text_hashes(
    starts: NDArray[np.int64], letters: NDArray[np.uint8], out: NDArray[np.uint64]
) -> None:
    """Write into out[i] the FNV-1a hash of the bytes letters[starts[i]:starts[i + 1]].

    Parameters
    ----------
    starts
        int64, shape (n + 1,).
    letters
        uint8: the bytes of all texts.
    out
        uint64, shape (n,), overwritten.
    """
    for i in range(out.size):
        value = FNV_OFFSET
        for at in range(starts[i], starts[i + 1]):
            value = (value ^ np.uint64(letters[at])) * FNV_PRIME
        out[i] = value


@leaf
def row_signatures(
    indptr: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    multipliers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[np.int32],
) -> None:
    """Lower out[u, j] to the least ``(A[j] x + B[j]) mod (2^31 - 1)`` over the entries of row u.

    Parameters
    ----------
    indptr
        int64, shape (n + 1,): row u has the entries from ``indptr[u]`` to ``indptr[u + 1]``.
    hashes
        uint64, shape (entries,): the hash of the feature of each entry. x is 1 more than its
        leading 31 bits.
    multipliers, offsets
        int64, shape (hashes,): A in [1, P), B in [0, P).
    out
        int32, shape (n, hashes): filled with P before; lowered here.
    """
    for u in range(indptr.size - 1):
        for e in range(indptr[u], indptr[u + 1]):
            x = np.int64(hashes[e] >> LEADING_BITS) + 1
            for j in range(multipliers.size):
                word = multipliers[j] * x + offsets[j]
                # The remainder by 2^31 - 1: fold the high bits onto the low ones, twice.
                word = (word & PRIME) + (word >> 31)
                word = (word & PRIME) + (word >> 31)
                if word == PRIME:
                    word -= PRIME
                out[u, j] = min(out[u, j], word)


@leaf
def pieces_of(words: NDArray[np.uint64], cuts: NDArray[np.uint64], out: NDArray[np.int32]) -> None:
    """Write into out[u] how many of the sorted cuts are at most words[u], word by word.

    Parameters
    ----------
    words
        uint64, shape (n, w).
    cuts
        uint64, shape (c, w), in lexicographic order.
    out
        int32, shape (n,), overwritten.
    """
    for u in range(out.size):
        # Binary search; words are compared one after the other.
        low, high = 0, cuts.shape[0]
        while low < high:
            middle = (low + high) // 2
            j = 0
            while j < words.shape[1] and cuts[middle, j] == words[u, j]:
                j += 1
            if j == words.shape[1] or cuts[middle, j] < words[u, j]:
                low = middle + 1
            else:
                high = middle
        out[u] = low

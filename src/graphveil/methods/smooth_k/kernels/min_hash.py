"""Hashes of names, and the min-hash signatures of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)
LEADING_BITS = np.uint64(33)
"""What a hash of 64 bits is moved by, so that its leading 31 stay."""

PRIME = 2**31 - 1


@leaf
def text_hashes(
    starts: NDArray[np.int64], letters: NDArray[np.uint8], out: NDArray[np.uint64]
) -> None:
    """Write into out[i] the FNV-1a hash of the bytes letters[starts[i]:starts[i + 1]]."""
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
    """Lower out[u, j] to the least (A[j] x + B[j]) mod 2^31 - 1 over the entries of row u.

    x is 1 more than the leading 31 bits of the hash of an entry.
    """
    for u in range(indptr.size - 1):
        for e in range(indptr[u], indptr[u + 1]):
            x = np.int64(hashes[e] >> LEADING_BITS) + 1
            for j in range(multipliers.size):
                word = multipliers[j] * x + offsets[j]
                word = (word & PRIME) + (word >> 31)
                word = (word & PRIME) + (word >> 31)
                if word == PRIME:
                    word -= PRIME
                out[u, j] = min(out[u, j], word)


@leaf
def pieces_of(words: NDArray[np.uint64], cuts: NDArray[np.uint64], out: NDArray[np.int32]) -> None:
    """Write into out[u] how many of the sorted cuts are at most words[u], word by word."""
    for u in range(out.size):
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

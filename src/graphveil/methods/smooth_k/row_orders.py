"""Orders of rows in which similar rows are neighbors, so that a chunk holds similar rows.

The published order is by min-hashes (Esfandiari et al., appendix D): 8 hashes per row, sorted in
lexicographic order. The other, by label propagation, is graphveil's own: it puts communities of
rows together, nested three deep.

Hashes are of the names of features and users, not of their numbers: the order depends on what the
data says and not on how it is stored, so that runs in memory, on disk and on Spark form the same
chunks. Time is O(entries) plus sorting.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.data import Bipartite
from graphveil.data.ids import Ids, frozen
from graphveil.methods.smooth_k.kernels import label_propagation, min_hash
from graphveil.methods.smooth_k.options import Order

HASHES = 8
"""Min-hashes per row, as in appendix D."""

ITERATIONS = 6
"""Rounds of label propagation at most. More rounds let labels travel further; sizes are capped
anyway."""

SAMPLE = 200
"""How many of its rows a feature looks at in label propagation: it bounds the time for popular
features."""

COMMUNITIES = 64
"""The most communities that form a larger one, at both upper depths."""

SHARE_OF_CHUNK = 8
"""A community of rows has at most a chunk divided by this: several fit into one chunk, so that the
cuts between chunks divide few of them."""

SPLITMIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))
"""The increment and the two multipliers of splitmix64."""


def hashes_of(ids: Ids) -> NDArray[np.uint64]:
    """Return a 64-bit hash of every id, by its text or number alone, not by its position.

    For an integer splitmix64, for text splitmix64 of the FNV-1a hash of its UTF-8 bytes.
    """
    if ids.dtype.kind == "i":
        return _mixed(np.asarray(ids, dtype=np.int64).view(np.uint64))
    texts = [text.encode("utf-8", "surrogatepass") for text in ids.tolist()]
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return hashes_of_texts(starts, np.frombuffer(b"".join(texts), dtype=np.uint8))


def hashes_of_texts(starts: Ints, letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return what `hashes_of` gives for texts that are stored one after the other.

    Parameters
    ----------
    starts
        int64, shape (n + 1,): text i is ``letters[starts[i]:starts[i + 1]]``.
    letters
        uint8: the UTF-8 bytes of all texts.

    >>> letters = np.frombuffer(b"tearye", dtype=np.uint8)
    >>> texts = np.array(["tea", "rye"], dtype=np.dtypes.StringDType())
    >>> bool((hashes_of_texts(np.array([0, 3, 6]), letters) == hashes_of(texts)).all())
    True
    """
    hashes = np.empty(starts.size - 1, dtype=np.uint64)
    min_hash.text_hashes(frozen(starts), frozen(letters), hashes)
    return _mixed(hashes)


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return splitmix64 of every word."""
    step, first, second = SPLITMIX
    words = words + step
    words = (words ^ (words >> np.uint64(30))) * first
    words = (words ^ (words >> np.uint64(27))) * second
    return words ^ (words >> np.uint64(31))


@dataclass(frozen=True)
class MinHash:
    """Eight random hashes of features; the smallest ones of a row are its signature.

    Two rows agree in a hash with probability equal to their Jaccard similarity, so similar rows
    tend to be neighbors. The hash of a feature is ``(A x + B) mod (2**31 - 1)``, where x is 1 more
    than the leading 31 bits of the hash of its name.

    Parameters
    ----------
    multipliers, offsets
        A and B of each hash.
    """

    multipliers: tuple[int, ...]
    offsets: tuple[int, ...]

    @classmethod
    def sampled(cls, rng: np.random.Generator) -> MinHash:
        """Return hashes with random A and B."""
        multipliers = rng.integers(1, min_hash.PRIME, HASHES)
        return cls(
            tuple(multipliers.tolist()), tuple(rng.integers(0, min_hash.PRIME, HASHES).tolist())
        )

    def signatures(self, indptr: Ints, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return every row's smallest value of each hash: int32, shape (n, 8).

        A row without features has 2**31 - 1 everywhere, which sorts last. `hashes`: uint64, the
        hash of the name of each entry.
        """
        smallest = np.full((indptr.size - 1, HASHES), min_hash.PRIME, dtype=np.int32)
        factors = np.array(self.multipliers, dtype=np.int64), np.array(self.offsets, dtype=np.int64)
        min_hash.row_signatures(frozen(indptr), frozen(hashes), *factors, smallest)
        return smallest

    def words(
        self, indptr: Ints, hashes: NDArray[np.uint64], users: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        """Return five words per row, uint64, shape (n, 5), by which rows are sorted.

        The first four are the signature, two values to a word. The last is the hash of the user, so
        that rows of equal signature have an order that does not depend on the data's.
        """
        smallest = self.signatures(indptr, hashes).astype(np.uint64)
        words = np.empty((users.size, HASHES // 2 + 1), dtype=np.uint64)
        words[:, :-1] = (smallest[:, 0::2] << np.uint64(31)) | smallest[:, 1::2]
        words[:, -1] = users
        return words


def in_order(words: NDArray[np.uint64]) -> Ints:
    """Return the rows in the order of their words, int64, shape (n,); the sort is stable."""
    # Few rows agree in their first word, so sort by it alone, and then only the runs of equal ones
    # by all words.
    order = np.argsort(words[:, 0], kind="stable")
    first = words[order, 0]
    equals_last = np.concatenate([[False], first[1:] == first[:-1]])
    in_run = np.flatnonzero(equals_last | np.concatenate([equals_last[1:], [False]]))
    order[in_run] = order[in_run][np.lexsort(words[order[in_run]].T[::-1])]
    return order.astype(np.int64, copy=False)


def piece_of(words: NDArray[np.uint64], cuts: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return the piece of every row, int32: how many cuts are at most its words.

    Parameters
    ----------
    words
        uint64, shape (n, w).
    cuts
        uint64, shape (c, w), in lexicographic order.
    """
    # Read-only views: one compiled version of a kernel then serves all callers.
    pieces = np.empty(words.shape[0], dtype=np.int32)
    min_hash.pieces_of(frozen(words), frozen(cuts), pieces)
    return pieces


def order_of(data: Bipartite, order: Order, chunk_rows: int, rng: np.random.Generator) -> Ints:
    """Return the rows in the requested order, int64, shape (n,)."""
    if order == "minhash":
        return minhash_order(data, rng)
    if order == "label-propagation":
        return label_propagation_order(data, chunk_rows, rng)
    return np.arange(data.n_users, dtype=np.int64)


def minhash_order(data: Bipartite, rng: np.random.Generator) -> Ints:
    """Return the rows in lexicographic order of their min-hashes, those without features last.

    Appendix D. Hashes are of the names of features, and rows of equal signature are in order of the
    hashes of their users, so the order of the rows in the data does not matter.
    """
    hashes = hashes_of(data.feature_labels())[data.indices]
    return in_order(MinHash.sampled(rng).words(data.indptr, hashes, hashes_of(data.labels())))


def label_propagation_order(data: Bipartite, chunk_rows: int, rng: np.random.Generator) -> Ints:
    """Return the rows so that communities are together, nested three deep; empty rows last."""
    entry_rows, entry_features = data.rows().astype(np.int64), data.indices
    # Rows form communities of at most an eighth of a chunk; these form larger ones of at most 64
    # each, and those once more. Rows are then sorted by the three labels, the coarsest first.
    fine = _communities(entry_rows, entry_features, data, max(chunk_rows // SHARE_OF_CHUNK, 1), rng)
    middle = _communities(fine[entry_rows], entry_features, data, COMMUNITIES, rng)[fine]
    coarse = _communities(middle[entry_rows], entry_features, data, COMMUNITIES, rng)[middle]
    empty = np.diff(data.indptr) == 0
    return np.lexsort((fine, middle, coarse, empty))


def _communities(
    units: Ints, features: NDArray[np.int32], data: Bipartite, cap: int, rng: np.random.Generator
) -> Ints:
    """Return the label of every unit; units are numbered below the number of rows.

    Parameters
    ----------
    units, features
        int64 and int32, shape (entries,): the unit and the feature of each entry; pairs may repeat.
    cap
        The most units of a label.
    """
    n, width = data.n_users, max(data.n_features, 1)
    # Step 1: each pair of a unit and a feature once, listed from both sides.
    keys = np.unique(units * width + features)
    by_unit, by_feature = keys // width, (keys % width).astype(np.int32)
    feature_order = np.argsort(by_feature, kind="stable")
    degrees = np.bincount(by_feature, minlength=data.n_features)
    incidence = label_propagation.Incidence(
        row_starts=np.searchsorted(by_unit, np.arange(n + 1)),
        features=by_feature,
        feature_starts=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
        rows=by_unit[feature_order].astype(np.int32),
    )
    # Step 2: popular features count for less, since sharing one says little about two rows.
    weights = 1 / np.log2(2.0 + degrees)
    return label_propagation.spread_labels(incidence, weights, cap, SAMPLE, ITERATIONS, rng).astype(
        np.int64
    )

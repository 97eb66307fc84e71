"""Orders of rows in which similar rows are neighbors, so that a chunk holds similar rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite
from graphveil.data.ids import Ids
from graphveil.methods.smooth_k.kernels import label_propagation, min_hash
from graphveil.methods.smooth_k.options import Order

Ints = NDArray[np.int64]

HASHES = 8
ITERATIONS = 6
SAMPLE = 200
COMMUNITIES = 64
SHARE_OF_CHUNK = 8
SPLITMIX = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))


def hashes_of(ids: Ids) -> NDArray[np.uint64]:
    """Return a hash of every id, 64 bits: of what it says, wherever it stands.

    Of an integer splitmix64, of text splitmix64 of the FNV-1a hash of its UTF-8.
    """
    if ids.dtype.kind == "i":
        return _mixed(np.asarray(ids, dtype=np.int64).view(np.uint64))
    texts = [text.encode("utf-8", "surrogatepass") for text in ids.tolist()]
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return hashes_of_texts(starts, np.frombuffer(b"".join(texts), dtype=np.uint8))


def hashes_of_texts(starts: Ints, letters: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return what `hashes_of` gives for texts that lie one after the other.

    `starts`: int64, shape (n + 1,): text i is ``letters[starts[i]:starts[i + 1]]``; `letters`:
    uint8: the UTF-8 of all.

    >>> letters = np.frombuffer(b"tearye", dtype=np.uint8)
    >>> texts = np.array(["tea", "rye"], dtype=np.dtypes.StringDType())
    >>> bool((hashes_of_texts(np.array([0, 3, 6]), letters) == hashes_of(texts)).all())
    True
    """
    hashes = np.empty(starts.size - 1, dtype=np.uint64)
    min_hash.text_hashes(_read_only(starts), _read_only(letters), hashes)
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

    Rows agree in a hash with probability equal to their Jaccard similarity, so like rows tend to
    stand together. x of ``(A x + B) mod (2**31 - 1)`` is 1 more than the leading 31 bits of a
    name's hash.
    """

    multipliers: tuple[int, ...]
    offsets: tuple[int, ...]

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> MinHash:
        """Return hashes that are drawn from a stream."""
        multipliers = rng.integers(1, min_hash.PRIME, HASHES)
        return cls(
            tuple(multipliers.tolist()), tuple(rng.integers(0, min_hash.PRIME, HASHES).tolist())
        )

    def signatures(self, indptr: Ints, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return every row's smallest value of each hash; without features 2**31 - 1, above all."""
        smallest = np.full((indptr.size - 1, HASHES), min_hash.PRIME, dtype=np.int32)
        factors = np.array(self.multipliers, dtype=np.int64), np.array(self.offsets, dtype=np.int64)
        min_hash.row_signatures(_read_only(indptr), _read_only(hashes), *factors, smallest)
        return smallest

    def words(
        self, indptr: Ints, hashes: NDArray[np.uint64], users: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        """Return five words a row, uint64, shape (n, 5): by them, in turn, rows are in order.

        The first four are the signature; the last is the hash of the user.
        """
        smallest = self.signatures(indptr, hashes).astype(np.uint64)
        words = np.empty((users.size, HASHES // 2 + 1), dtype=np.uint64)
        words[:, :-1] = (smallest[:, 0::2] << np.uint64(31)) | smallest[:, 1::2]
        words[:, -1] = users
        return words


def in_order(words: NDArray[np.uint64]) -> Ints:
    """Return the rows in the order of their words, int64, shape (n,); of equal ones the first.

    Few rows agree in their first word, so few are compared by the others.
    """
    order = np.argsort(words[:, 0], kind="stable")
    first = words[order, 0]
    like_last = np.concatenate([[False], first[1:] == first[:-1]])
    tied = np.flatnonzero(like_last | np.concatenate([like_last[1:], [False]]))
    order[tied] = order[tied][np.lexsort(words[order[tied]].T[::-1])]
    return order.astype(np.int64, copy=False)


def piece_of(words: NDArray[np.uint64], cuts: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return the piece of every row, int32: how many cuts are at most its words.

    `words`: uint64, shape (n, w); `cuts`: uint64, shape (c, w), in order.
    """
    pieces = np.empty(words.shape[0], dtype=np.int32)
    min_hash.pieces_of(_read_only(words), _read_only(cuts), pieces)
    return pieces


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array as one that cannot be written: one compiled version serves all callers."""
    view = array.view()
    view.flags.writeable = False
    return view


def order_of(data: Bipartite, order: Order, chunk_rows: int, rng: np.random.Generator) -> Ints:
    """Return the rows in the order that was asked for, int64, shape (n,)."""
    if order == "minhash":
        return minhash_order(data, rng)
    if order == "label-propagation":
        return label_propagation_order(data, chunk_rows, rng)
    return np.arange(data.n_users, dtype=np.int64)


def minhash_order(data: Bipartite, rng: np.random.Generator) -> Ints:
    """Return the rows in lexicographic order of their smallest hashes, those without features last.

    Hashes are of the names of features, and rows of equal signature stand in order of the hashes of
    their users: the order depends on what the rows say, not on how they stand in the data.
    """
    hashes = hashes_of(data.feature_labels())[data.indices]
    return in_order(MinHash.drawn(rng).words(data.indptr, hashes, hashes_of(data.labels())))


def label_propagation_order(data: Bipartite, chunk_rows: int, rng: np.random.Generator) -> Ints:
    """Return the rows so that communities stand together, nested three deep; empty ones last.

    Rows form communities of at most an eighth of a chunk by spreading labels over shared features;
    these form larger ones of at most 64 each, and those once more.
    """
    entry_rows, entry_features = data.rows().astype(np.int64), data.indices
    fine = _communities(entry_rows, entry_features, data, max(chunk_rows // SHARE_OF_CHUNK, 1), rng)
    middle = _communities(fine[entry_rows], entry_features, data, COMMUNITIES, rng)[fine]
    coarse = _communities(middle[entry_rows], entry_features, data, COMMUNITIES, rng)[middle]
    empty = np.diff(data.indptr) == 0
    return np.lexsort((fine, middle, coarse, empty))


def _communities(
    units: Ints, features: NDArray[np.int32], data: Bipartite, cap: int, rng: np.random.Generator
) -> Ints:
    """Return the label of every unit; units are numbered below the number of rows."""
    n, width = data.n_users, max(data.n_features, 1)
    keys = np.unique(units * width + features)
    by_unit, by_feature = keys // width, (keys % width).astype(np.int32)
    turned = np.argsort(by_feature, kind="stable")
    degrees = np.bincount(by_feature, minlength=data.n_features)
    incidence = label_propagation.Incidence(
        row_starts=np.searchsorted(by_unit, np.arange(n + 1)),
        features=by_feature,
        feature_starts=np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64),
        rows=by_unit[turned].astype(np.int32),
    )
    weights = 1 / np.log2(2.0 + degrees)
    return label_propagation.spread_labels(incidence, weights, cap, SAMPLE, ITERATIONS, rng).astype(
        np.int64
    )

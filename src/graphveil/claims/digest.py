"""The digest of an input's content, whatever file or format it came in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Data, Graph
from graphveil.data.ids import Ids
from graphveil.data.kinds import kind_of
from graphveil.data.origin import FileOrigin, ObjectOrigin

_BLOCK = 1 << 22
ROWS = "rows:"
"""How the digest of users by features begins: earlier versions had another one, without this."""


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests_of_files(paths: Iterable[Path]) -> tuple[str, tuple[str, ...]]:
    """Return one digest of the parts of a file in order, and that of each; of one file, its own."""
    each = tuple(map(digest_of_file, paths))
    whole = each[0] if len(each) == 1 else hashlib.sha256("".join(each).encode()).hexdigest()
    return whole, each


def digest_of(data: Data) -> str:
    """Return a digest of a container's content: structure, names and ids, in canonical order.

    The digest does not depend on the file or format that the data came in. That of users by
    features is made of a sum over rows, so that it can be computed in parts, in any order: it
    recognizes data, and is no proof against somebody who makes data for a digest.

    >>> from graphveil import Graph
    >>> one, two = Graph.from_edges([0], [1], n=2), Graph.from_edges([1], [0], n=2)
    >>> digest_of(one) == digest_of(two)
    True
    """
    if type(data) is Graph:
        return digest_of_graph(data.indptr, data.indices, data.labels())
    if not isinstance(data, Bipartite):
        return _digest_of_content(data)
    users, features = data.labels(), data.feature_labels()
    numbers = users.dtype.kind == "i"
    part = RowsPart(
        users=np.asarray(users, dtype=np.int64) if numbers else users.tolist(),
        indptr=data.indptr,
        entries=tokens_of(features)[data.indices],
    )
    return digest_of_rows(part).text(
        user_is_integer=numbers, item_is_integer=features.dtype.kind == "i"
    )


def _digest_of_content(data: Data) -> str:
    seen = hashlib.sha256(type(data).__name__.encode())
    structure, names = kind_of(data).content(data)
    for part in structure:
        seen.update(part)
    for ids in names:
        seen.update(_bytes_of(ids))
    return seen.hexdigest()


def digest_of_graph(indptr: NDArray[np.int64], indices: NDArray[np.int32], ids: Ids) -> str:
    """Return what `digest_of` gives for a graph whose neighbors may be mapped from a file."""
    seen = hashlib.sha256(Graph.__name__.encode())
    seen.update(np.int64(indptr.size - 1).tobytes())
    seen.update(np.ascontiguousarray(indptr).data)
    for start in range(0, indices.size, _BLOCK):
        seen.update(np.ascontiguousarray(indices[start : start + _BLOCK]).data)
    seen.update(_bytes_of(ids))
    return seen.hexdigest()


def digests_of_origins(data: Data) -> tuple[str, ...]:
    """Return the digests of what a container was read from, by which the same is recognized.

    >>> from graphveil import Table
    >>> from graphveil.data.kinds import encoded
    >>> people = Table.from_columns({"sex": ["f", "m"]})
    >>> digests_of_origins(encoded(people, Bipartite)) == (digest_of(people),)
    True
    """
    known = (
        one.digest() if isinstance(one, FileOrigin | ObjectOrigin) else digest_of(cast("Data", one))
        for one in data.origins
    )
    return tuple(sorted({digest for digest in known if digest is not None}))


class RowsPart(NamedTuple):
    """Some rows of users by features, in any order.

    `users`: their ids: int64, or a list of text; `indptr`: int64: the features of row u are
    ``entries[indptr[u]:indptr[u + 1]]``, in canonical order; `entries`: uint64, shape (entries,
    words): a token of every feature, see `tokens_of`.
    """

    users: NDArray[np.int64] | list[str]
    indptr: NDArray[np.int64]
    entries: NDArray[np.uint64]


class RowsDigest(NamedTuple):
    """What the digest of users by features is made of; two of them add up.

    `n, entries`: the numbers of rows and of entries; `total`: the sum modulo 2^256 of the hashes of
    all rows.
    """

    n: int = 0
    entries: int = 0
    total: int = 0

    def plus(self, other: RowsDigest) -> RowsDigest:
        """Return the digest of both."""
        total = (self.total + other.total) % (1 << 256)
        return RowsDigest(self.n + other.n, self.entries + other.entries, total)

    def text(self, *, user_is_integer: bool, item_is_integer: bool) -> str:
        """Return the digest as it is written."""
        kinds = "".join("i" if integer else "t" for integer in (user_is_integer, item_is_integer))
        kinds = kinds if self.entries else kinds[:1]
        whole = f"{kinds}/{self.n}/{self.entries}/{self.total:064x}"
        return ROWS + hashlib.sha256(whole.encode()).hexdigest()


def tokens_of(names: Ids | list[str]) -> NDArray[np.uint64]:
    """Return words that tell names of one kind apart, uint64, shape (n, 1) or (n, 2).

    Of an integer itself, of text 128 bits of BLAKE2b.

    >>> tokens_of(np.array([7, 8])).tolist(), tokens_of(["tea", "rye"]).shape
    ([[7], [8]], (2, 2))
    """
    if isinstance(names, np.ndarray) and names.dtype.kind == "i":
        return np.asarray(names, dtype=np.int64).view(np.uint64).reshape(-1, 1)
    texts = names if isinstance(names, list) else names.tolist()
    digests = [hashlib.blake2b(text, digest_size=16).digest() for text in _encoded(texts)]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64).reshape(-1, 2)


def digest_of_rows(part: RowsPart) -> RowsDigest:
    """Return what some rows add to the digest of all: it does not depend on their order.

    >>> tea = tokens_of(["tea"])
    >>> one, other = (RowsPart(np.array([u]), np.array([0, 1]), tea) for u in (3, 8))
    >>> both = RowsPart(np.array([8, 3]), np.array([0, 1, 2]), tea[[0, 0]])
    >>> digest_of_rows(one).plus(digest_of_rows(other)) == digest_of_rows(both)
    True
    """
    n, width = part.indptr.size - 1, part.entries.shape[1]
    sizes = np.diff(part.indptr)
    words = np.empty(n + part.entries.size, dtype="<u8")
    starts = np.arange(n) + width * part.indptr[:-1]
    entries = np.ones(words.size, dtype=np.bool_)
    entries[starts] = False
    words[starts] = sizes
    words[entries] = part.entries.ravel()
    of_rows = words.tobytes()
    ends = [*(8 * starts).tolist(), 8 * words.size]
    users = part.users
    ids = _encoded(users) if isinstance(users, list) else np.asarray(users, "<i8").tobytes()
    each = ids if isinstance(ids, list) else [ids[at : at + 8] for at in range(0, 8 * n, 8)]
    blake2b = hashlib.blake2b
    digests = [
        blake2b(of_rows[start:end] + user, digest_size=32).digest()
        for start, end, user in zip(ends, ends[1:], each, strict=False)
    ]
    sums = np.frombuffer(b"".join(digests), dtype="<u4").reshape(-1, 8).sum(0, dtype=np.uint64)
    total = sum(limb << (32 * number) for number, limb in enumerate(sums.tolist()))
    return RowsDigest(n, part.entries.shape[0], total % (1 << 256))


def is_digest_of(recorded: str, data: Data) -> bool:
    """Return whether a digest in a record is that of the data, also one of an earlier version.

    >>> data = Bipartite.from_pairs([3, 8], ["tea", "rye"])
    >>> is_digest_of(digest_of(data), data), is_digest_of("0" * 64, data)
    (True, False)
    """
    if isinstance(data, Bipartite) and not recorded.startswith(ROWS):
        return recorded == _digest_of_content(data)
    return recorded == digest_of(data)


def _bytes_of(ids: Ids) -> bytes:
    """Return the bytes of some ids: of text the lengths first, so that nothing in them can part."""
    n = np.int64(ids.size).tobytes()
    if ids.dtype.kind == "i":
        return b"i" + n + ids.tobytes()
    texts = _encoded(ids.tolist())
    lengths = np.array([len(one) for one in texts], dtype=np.int64).tobytes()
    return b"t" + n + lengths + b"".join(texts)


def _encoded(texts: list[str]) -> list[bytes]:
    return [one.encode("utf-8", "surrogatepass") for one in texts]

"""What a release changed, and the digest of an input's content, whatever file or format it came in.

The base of every method counts edges, entries or cells from the input and the output; the checker
counts them again from the files (`verify.changes`), and both state them as these values.

The digest says whether two data sets are the same: structure, names and ids in canonical order.
It is stored in the owner's record, and is compared when the original is given again.

Cost: digests O(content); changes O(entries) for two containers in memory.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.manifest import ColumnCells, Generalization
from graphveil.data import SUPPRESSED, Bipartite, Data, Graph, Network, Table
from graphveil.data.csr import in_both
from graphveil.data.ids import Ids, same_ids
from graphveil.data.kinds import Container, kind_of
from graphveil.data.origin import FileOrigin, ObjectOrigin

_BLOCK = 1 << 22
"""Neighbors that are hashed at once: a graph may be mapped from a file larger than memory."""

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
    recognizes data, and is not proof against anyone who makes data for a digest.
    """
    if type(data) is Graph:
        return digest_of_graph(data.indptr, data.indices, data.labels())
    if not isinstance(data, Bipartite):
        return _digest_of_content(data)
    # Users by features: a sum over rows of hashes, so that parts may be digested in any order.
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
    # The kind of data, then structure, then names: each part has a length, so nothing can move.
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
    """Return the digests of what a container was read from, by which the same is recognized."""
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
    """Return what some rows add to the digest of all: it does not depend on their order."""
    # Step 1: the words of every row: its number of entries, and then the tokens of these.
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
    # Step 2: hash each row with the id of its user.
    users = part.users
    ids = _encoded(users) if isinstance(users, list) else np.asarray(users, "<i8").tobytes()
    each = ids if isinstance(ids, list) else [ids[at : at + 8] for at in range(0, 8 * n, 8)]
    blake2b = hashlib.blake2b
    digests = [
        blake2b(of_rows[start:end] + user, digest_size=32).digest()
        for start, end, user in zip(ends, ends[1:], each, strict=False)
    ]
    # Step 3: add the hashes as numbers of 256 bits, in limbs of 32 bits, modulo 2^256.
    sums = np.frombuffer(b"".join(digests), dtype="<u4").reshape(-1, 8).sum(0, dtype=np.uint64)
    total = sum(limb << (32 * number) for number, limb in enumerate(sums.tolist()))
    return RowsDigest(n, part.entries.shape[0], total % (1 << 256))


def is_digest_of(recorded: str, data: Data) -> bool:
    """Return whether a digest in a record is that of the data, also one of an earlier version."""
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


Cost = dict[str, float | int]
"""What a release keeps and changes, by name: counts are integers, shares are floats."""


@dataclass(frozen=True)
class Changes(ABC):
    """How much an original has of what is counted, how much of it a release keeps, what is new."""

    what: ClassVar[str]
    """What is counted."""

    names: ClassVar[tuple[str, str, str]]
    """The figures from which all others follow."""

    needed: ClassVar[frozenset[str]]
    """The figures that no record lacks."""

    before: int
    kept: int
    added: int = 0

    @classmethod
    @abstractmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""

    @property
    @abstractmethod
    def figures(self) -> Cost:
        """All figures by name."""

    @property
    def earlier(self) -> Cost:
        """Figures by name as records of earlier versions state them, where these differ."""
        return {}

    @property
    def deleted(self) -> int:
        """How many of the original the release lacks."""
        return self.before - self.kept

    @property
    def jaccard(self) -> float:
        """Those of both over those of either; 1 if there are none."""
        either = self.before + self.added
        return self.kept / either if either else 1.0

    @property
    def kept_share(self) -> float | None:
        """Those of both over those of the original; None if it has none."""
        return self.kept / self.before if self.before else None

    @property
    def false_share(self) -> float | None:
        """Those that are new over those of the release; None if the original has none."""
        return self.added / max(self.kept + self.added, 1) if self.before else None


@dataclass(frozen=True)
class EdgeChanges(Changes):
    """The edges of a network, whatever their kind and direction.

    >>> EdgeChanges(before=4, kept=3, added=2).figures
    {'edges_before': 4, 'edges_kept': 3, 'edges_deleted': 1, 'edges_added': 2, 'jaccard': 0.5}
    """

    what: ClassVar[str] = "edges"
    names: ClassVar[tuple[str, str, str]] = ("edges_before", "edges_deleted", "edges_added")
    needed: ClassVar[frozenset[str]] = frozenset(names[1:])

    people_suppressed: int | None = None

    @classmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""
        before, deleted, added = (int(figures[name]) for name in cls.names)
        return cls(before, before - deleted, added)

    @property
    def figures(self) -> Cost:
        """All figures by name."""
        people = self.people_suppressed
        suppressed: Cost = {} if people is None else {"people_suppressed": people}
        return {
            "edges_before": self.before,
            "edges_kept": self.kept,
            "edges_deleted": self.deleted,
            "edges_added": self.added,
            "jaccard": self.jaccard,
            **suppressed,
        }


@dataclass(frozen=True)
class EntryChanges(Changes):
    """The entries of users by features."""

    what: ClassVar[str] = "entries"
    names: ClassVar[tuple[str, str, str]] = ("entries_before", "entries_kept", "entries_created")
    needed: ClassVar[frozenset[str]] = frozenset({*names, "entries_suppressed"})

    @classmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""
        return cls(*(int(figures[name]) for name in cls.names))

    @property
    def figures(self) -> Cost:
        """All figures by name."""
        return {
            "entries_before": self.before,
            "entries_kept": self.kept,
            "entries_suppressed": self.deleted,
            "entries_created": self.added,
            "jaccard": self.jaccard,
            "suppressed_share": self.deleted / self.before if self.before else 0.0,
            "created_share": self.added / self.before if self.before else 0.0,
        }


@dataclass(frozen=True)
class CellChanges(Changes):
    """The cells of a table; missing cells are not among those before.

    >>> CellChanges(before=8, kept=6, missing=2).figures
    {'cells': 10, 'stars_before': 2, 'stars_added': 2, 'kept_share': 0.75}
    >>> CellChanges(before=8, kept=5, added=2, missing=2, filled=1).figures["cells_replaced"]
    1
    """

    what: ClassVar[str] = "cells"
    names: ClassVar[tuple[str, str, str]] = ("cells", "stars_before", "stars_added")
    needed: ClassVar[frozenset[str]] = frozenset(names[2:])

    missing: int = 0
    filled: int = 0

    @classmethod
    def stated_in(cls, figures: Mapping[str, float]) -> Self:
        """Return the changes that figures by name state."""
        cells, missing, suppressed = (int(figures[name]) for name in cls.names)
        replaced, filled = (int(figures.get(f"cells_{what}", 0)) for what in ("replaced", "filled"))
        before = cells - missing
        return cls(before, before - suppressed - replaced, replaced + filled, missing, filled)

    @property
    def figures(self) -> Cost:
        """All figures by name. Values added have two of their own.

        These are there only where a cell shows a value that the original does not have there.
        """
        cells, replaced = self.before + self.missing, self.added - self.filled
        share = 1.0 if self.kept_share is None else self.kept_share
        added: Cost = {"cells_replaced": replaced, "cells_filled": self.filled}
        return {
            "cells": cells,
            "stars_before": self.missing,
            "stars_added": self.deleted - replaced,
            "kept_share": share,
            **(added if self.added else {}),
        }

    @property
    def earlier(self) -> Cost:
        """The share of all cells, missing ones among them, that earlier versions recorded."""
        cells = self.before + self.missing
        return {"kept_share": 1.0 - (self.missing + self.deleted) / cells if cells else 1.0}


def changes_stated(figures: Mapping[str, float]) -> Changes | None:
    """Return the changes that a record's figures state; None if it has none of any kind."""
    for kind in (EdgeChanges, EntryChanges, CellChanges):
        if figures.keys() >= set(kind.names):
            return kind.stated_in(figures)
    return None


def cost_of(changes: Changes, facts: Mapping[str, float | int]) -> Cost:
    """Return the figures of a record: what changed, and what the method knows."""
    return {**changes.figures, **facts, **changes.figures}  # which no fact replaces


def changes_between(before: Data, after: Data) -> Changes:
    """Return what changed between two containers; position i is the same person in both."""
    if type(before) is not type(after):
        raise TypeError(f"{type(before).__name__} and {type(after).__name__} cannot be compared")
    return _CHANGED[type(before)](before, after)


def _of_cells(before: Table, after: Table) -> CellChanges:
    # Cell by cell; a value that is not the original's and not a node of levels is new.
    places = [before.columns.index(name) for name in after.columns]  # without one of levels
    codes = before.codes if len(places) == before.n_columns else before.codes[:, places]
    missing = int(np.count_nonzero(codes == SUPPRESSED))
    shown = after.codes != SUPPRESSED
    own = [same_ids(before.categories[p], after.categories[c]) for c, p in enumerate(places)]
    added = shown & (after.codes != codes) & np.array(own, dtype=bool)  # else generalized
    filled = int(np.count_nonzero(added & (codes == SUPPRESSED)))
    new = int(np.count_nonzero(added))
    kept = int(np.count_nonzero(shown)) - new
    return CellChanges(codes.size - missing, kept, new, missing, filled)


def _of_layers(before: Network, after: Network) -> EdgeChanges:
    # Layer by layer; of attributes, the people who lost one.
    kept = sum(
        in_both(one, other, above=not one.directed)
        for one, other in zip(before.layers, after.layers, strict=True)
    )
    people = people_suppressed(before.people, after.people)
    return EdgeChanges(before.n_ties, kept, after.n_ties - kept, people)


def _of_edges(before: Graph, after: Graph) -> EdgeChanges:
    kept = in_both(before, after, above=True)
    return EdgeChanges(before.n_edges, kept, after.n_edges - kept)


def _of_entries(before: Bipartite, after: Bipartite) -> EntryChanges:
    kept = in_both(before, after)
    return EntryChanges(before.n_entries, kept, after.n_entries - kept)


_CHANGED: Mapping[Container, Callable[[Any, Any], Changes]] = {
    Graph: _of_edges,
    Network: _of_layers,
    Bipartite: _of_entries,
    Table: _of_cells,
}
"""What counts the changes of each kind of data."""


def people_suppressed(before: Table | None, after: Table | None) -> int:
    """Return how many people lack a published attribute that they had."""
    if before is None or after is None:
        return 0
    had, has = (
        table.codes[:, [table.columns.index(name) for name in after.columns]] != SUPPRESSED
        for table in (before, after)
    )
    return int(np.count_nonzero((had & ~has).any(axis=1)))


def cells_by_column(released: Table, generalized: Generalization | None) -> list[ColumnCells]:
    """Return what the cells of each column of a released table show.

    >>> [sex] = cells_by_column(Table.from_columns({"sex": ["f", "*"]}), None)
    >>> sex.values, sex.generalized, sex.suppressed
    (1, 0, 1)
    """
    above = frozenset() if generalized is None else generalized.above_values
    stars = dict(released.suppressed())
    found = []
    for name, codes, values in zip(
        released.columns, released.codes.T, released.categories, strict=True
    ):
        # Values above level 0 of the column's hierarchy are generalized ones.
        nodes = [at for at, one in enumerate(values.tolist()) if (name, str(one)) in above]
        more = int(np.isin(codes, nodes).sum()) if nodes else 0
        shown = released.n_rows - more - stars[name]
        found.append(ColumnCells(name=name, values=shown, generalized=more, suppressed=stars[name]))
    return found

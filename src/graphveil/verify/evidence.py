"""What the checker has of a release, and what it knows of each kind of data.

`Evidence` is what a check is given: the manifest, the loaded tables, and the owner's record,
original, linkage, key and files as far as they are there. `CheckedKind` says how one kind of data
is loaded, counted and compared with its original; each has one instance, in `verify.kinds`, listed
in `verify.kinds.registry`. Checks ask the evidence and never look at a kind's name for
what the kind can say itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from graphveil.claims.conditions import ItemsAreUsers, KeyedIds
from graphveil.claims.facts import Changes
from graphveil.claims.manifest import ColumnCells, DataFile, Described, Manifest
from graphveil.claims.record import Record
from graphveil.data import Data
from graphveil.verify.database import Database
from graphveil.verify.verdict import Check

# What knows a kind of data, first its pieces, then the kind.
D = TypeVar("D")
Loader = Callable[[Database, Path, DataFile], None]
PartsLoader = Callable[[Database, list[tuple[Path, DataFile]]], None]


class Cost(NamedTuple):
    """How the owner's record says what a release cost.

    Parameters
    ----------
    name
        The name of the check.
    changes
        From the evidence to what changed, counted.
    in_words
        From figures to words for messages.
    """

    name: str
    changes: Callable[[Evidence], Changes]
    in_words: Callable[[Mapping[str, Any]], str]


class NoiseCells(NamedTuple):
    """The cells of some data that noise is drawn for.

    Parameters
    ----------
    of_person
        From the evidence and the number of all cells to the number of one person's cells.
    check
        Whether the released data can have so many cells.
    """

    of_person: Callable[[Evidence, int], int]
    check: Callable[[Database, int], Check]


class IdsAsNames(NamedTuple):
    """Original ids that are published as names; `strange`: how many name no original feature."""

    ids: set[str]
    published_as: str
    strange: int = 0


@dataclass(frozen=True, kw_only=True)
class CheckedKind:
    """How one kind of data is loaded, counted and compared with its original.

    Parameters
    ----------
    loaders
        What loads the data file, by format; each creates the `tables`.
    tables
        The tables that a loaded release has; the first has one row per node, user or row.
    people
        The table and column of published ids.
    entries
        The table of edges, entries or cells, and what one of them is called.
    shape_names, shape
        The names of the checks of the data's shape, and the function that makes them.
    counts, rows
        The counts that the manifest must state, and which of them counts the rows of a role's file.
    cost
        How the record says what a release cost.
    same
        Whether release and original are the same apart from ids.
    read_again
        Whether the original's file says what the program's reader made of it.
    cells
        Of tables, the shown, generalized and suppressed cells of each column.
    ids_among_names
        Original ids that are published as names.
    shared_names, shared
        Checks of names that release and original share, and why the two cannot be compared.
    link
        Put the original under the published ids, as tables.
    changes, first_changes
        What changed, counted, and the first changes in words.
    added
        SQL for the released edges that the original lacks.
    noise_cells
        The cells that noise is drawn for.
    everyone, parts, unrolled, levels
        Loaders of the list of ids, of parts, and of the file of levels; formats that are read some
        rows at a time.
    """

    loaders: Mapping[str, Loader]
    tables: tuple[str, ...]
    people: tuple[str, str]
    entries: tuple[str, str]
    shape_names: tuple[str, ...]
    shape: Callable[[Database, Described, bool], dict[str, Check]]
    counts: Callable[[Database, Described], dict[str, int]]
    rows: Mapping[str, str]
    cost: Cost
    same: Callable[[Evidence], Check]
    read_again: Callable[[Database, Any, Path, Mapping[str, Any]], Check]
    cells: Callable[[Database, Described], list[ColumnCells]] = lambda *_: []
    ids_among_names: Callable[[Evidence, Any], list[IdsAsNames]] = lambda *_: []
    shared_names: tuple[str, ...] = ()
    shared: Callable[[Evidence], tuple[list[Check], str | None]] = lambda _: ([], None)
    link: Callable[[Database, Any, Any], None] = lambda *_: None
    changes: Callable[[Evidence], Changes] | None = None
    first_changes: Callable[[Evidence], list[str]] = lambda _: []
    added: str = ""
    noise_cells: NoiseCells | None = None
    everyone: Loader | None = None
    parts: PartsLoader | None = None
    unrolled: frozenset[str] = frozenset()
    levels: Loader | None = None

    @property
    def published(self) -> str:
        """SQL that gives the published ids in a column `i`."""
        table, column = self.people
        return f"SELECT {column} AS i FROM {table}"


# What is known of one release.
class Evidence(NamedTuple):
    """All that there is of a release.

    Parameters
    ----------
    manifest
        The decoded manifest.
    kind
        What the checker knows of the kind of data that is described.
    db
        The released data as tables; None if it cannot be read.
    record
        The owner's record; None without it.
    original
        The original in the container of this kind; None without it, or if it is another one.
    linked
        Whether the linkage was loaded, and is one to one.
    why_not
        Why the original cannot be compared, if it was given and cannot.
    key
        The key that ids come from, if it was given.
    levels, witness
        The owner's files of levels and of chosen pairs.
    """

    manifest: Manifest
    kind: CheckedKind
    db: Database | None
    record: Record | None = None
    original: Data | None = None
    linked: bool = False
    why_not: str | None = None
    key: bytes | None = None
    levels: Path | None = None
    witness: Path | None = None

    @property
    def keyed(self) -> bool:
        """Whether the manifest says that ids come from a key."""
        return KeyedIds() in self.manifest.claim.conditions

    def file(self, role: str = "data") -> DataFile:
        """Return the file of a role, as the manifest describes it."""
        return next(file for file in self.manifest.data.files if file.role == role)

    @property
    def tables(self) -> Database:
        """The released data; only a check with the need ``data`` may ask for it."""
        if self.db is None:
            raise TypeError("this check did not declare that it needs the data")
        return self.db

    @property
    def has_people(self) -> bool:
        """Whether the manifest says that items are people."""
        return ItemsAreUsers() in self.manifest.claim.conditions

    def original_as(self, container: type[D]) -> D:
        """Return the original in its container; only a check with the need ``original`` may ask."""
        if not isinstance(self.original, container):
            raise TypeError(f"this check did not ask for an original {container.__name__}")
        return self.original

    def changes(self) -> Changes:
        """Return what changed between original and release; needs the linkage."""
        if self.kind.changes is None:
            raise TypeError(f"a {self.manifest.data.kind} has no pairs")
        return self.kind.changes(self)

    @property
    def columns(self) -> list[str]:
        """The names of the released columns, without that of ids from a key."""
        columns = self.file().columns
        return columns[1:] if self.keyed else columns

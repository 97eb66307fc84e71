"""What the checker has to know of a kind of data, and of a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from graphveil.claims.conditions import KeyedIds, PeopleAsItems
from graphveil.data import Data
from graphveil.data.kinds import KINDS
from graphveil.lazy import resolve
from graphveil.records.manifest import DataFile, Described, Manifest
from graphveil.records.record import Record
from graphveil.verify.database import Database
from graphveil.verify.verdict import Check

D = TypeVar("D")

CELLS, COST, SAME = "cells", "cost", "same data"

Loader = Callable[[Database, Path, DataFile], None]
PartsLoader = Callable[[Database, list[tuple[Path, DataFile]]], None]


class Changes(NamedTuple):
    """How many edges, entries or cells there were, are in both, are gone, and are new."""

    before: int
    kept: int
    deleted: int
    added: int


class Cost(NamedTuple):
    """How the owner's record says what a release cost.

    Parameters
    ----------
    name
        What the check is called.
    figures
        Counts the figures of the record again; the original is linked.
    needed
        Those that no record lacks.
    in_words
        Says the figures.
    """

    name: str
    figures: Callable[[Evidence], dict[str, int]]
    needed: frozenset[str]
    in_words: Callable[[Mapping[str, Any]], str]


class NoiseCells(NamedTuple):
    """The cells of some data that noise is drawn for.

    Parameters
    ----------
    of_person
        How many of so many cells belong to one person of the release.
    check
        Whether the release can have as many cells as are stated.
    """

    of_person: Callable[[Evidence, int], int]
    check: Callable[[Database, int], Check]


class IdsAsNames(NamedTuple):
    """Ids of the original that are published, as what, and how many the original has not so."""

    ids: set[str]
    published_as: str
    strange: int = 0


class ComparedNames(NamedTuple):
    """Checks on names that stand in release and original, and why both cannot be compared."""

    checks: list[Check]
    why_not: str | None = None


@dataclass(frozen=True, kw_only=True)
class CheckedKind:
    """How one kind of data is loaded, counted and compared with its original.

    Parameters
    ----------
    loaders
        What loads the data file, by its format.
    everyone
        What loads the file of everyone; None where that is a list of ids.
    tables
        The tables that a release must have.
    parts
        What loads the parts that the data may come in; None where it never does.
    unrolled
        The formats of which files are read some rows at a time, however large they are.
    people
        The table of the published ids, and its column.
    entries
        The table of what is counted, and one of it in words.
    shape_names, shape
        The checks of the released data alone; whether ids come from a key is their last argument.
    counts
        Counts the data as the manifest does.
    rows
        The count that a file of this role has as rows.
    cost
        How the record says what changed.
    same
        Whether nothing but ids changed.
    read_again
        Reads the file of the original a second time, with the options of the record.
    ids_among_names
        Which ids of the original are published as names of something else.
    shared_names, shared
        The checks on names that stand in release and original, and what gives them.
    link
        Makes the tables of the original under the published ids, which are its last argument.
    changes
        Counts which entries changed; the original is linked. None where cells are compared.
    first_changes
        Says which is the first change of each sort.
    added
        SQL that gives both ends of ties that are new; the original is linked.
    noise_cells
        What noise is drawn for; None where no noise is checked.
    """

    loaders: Mapping[str, Loader]
    tables: tuple[str, ...]
    people: tuple[str, str]
    entries: tuple[str, str]
    shape_names: tuple[str, ...]
    shape: Callable[[Database, Described, bool], list[Check]]
    counts: Callable[[Database, Described], dict[str, int]]
    rows: Mapping[str, str]
    cost: Cost
    same: Callable[[Evidence], Check]
    read_again: Callable[[Database, Any, Path, Mapping[str, Any]], Check]
    ids_among_names: Callable[[Evidence, Any], list[IdsAsNames]] = lambda *_: []
    shared_names: tuple[str, ...] = ()
    shared: Callable[[Evidence], ComparedNames] = lambda _: ComparedNames([])
    link: Callable[[Database, Any, Any], None] = lambda *_: None
    changes: Callable[[Evidence], Changes] | None = None
    first_changes: Callable[[Database], list[str]] = lambda _: []
    added: str = ""
    noise_cells: NoiseCells | None = None
    everyone: Loader | None = None
    parts: PartsLoader | None = None
    unrolled: frozenset[str] = frozenset()

    @property
    def published(self) -> str:
        """SQL that gives the published ids in a column `i`."""
        table, column = self.people
        return f"SELECT {column} AS i FROM {table}"


def checked_kind(name: str) -> CheckedKind:
    """Return what the checker knows of a kind of data."""
    checked: CheckedKind = resolve(KINDS[name].checked)
    return checked


class Evidence(NamedTuple):
    """All that there is of a release.

    Parameters
    ----------
    manifest
        What is claimed.
    db
        The released data as tables; None where it could not be read.
    record
        The owner's record; None where it is not there.
    original
        The original, once it is of the right kind; None where none was given.
    linked
        Whether tables hold the original under the published ids, as its kind makes them. Of a
        table `linkage` says whose row is whose.
    why_not
        Why there is no original to compare with, where one was given.
    key
        The key that ids are said to come from, where it was given.
    levels, witness
        The owner's files of levels and of chosen pairs; None where they are not there.
    """

    manifest: Manifest
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
        """The released data, which a check with the need `data` has."""
        if self.db is None:
            raise TypeError("this check did not say that it needs the data")
        return self.db

    @property
    def kind(self) -> CheckedKind:
        """What the checker knows of the kind of data that is described."""
        return checked_kind(self.manifest.data.kind)

    @property
    def has_people(self) -> bool:
        """Whether the manifest says that items are people."""
        return PeopleAsItems() in self.manifest.claim.conditions

    def original_as(self, container: type[D]) -> D:
        """Return the original of a check with the need `original`, and of data of this kind."""
        if not isinstance(self.original, container):
            raise TypeError(f"no original {container.__name__} was asked for by this check")
        return self.original

    def changes(self) -> Changes:
        """Return what changed in release and original, of a check with the need `linkage`."""
        if self.kind.changes is None:
            raise TypeError(f"a {self.manifest.data.kind} has no pairs")
        return self.kind.changes(self)

    @property
    def columns(self) -> list[str]:
        """The names of the released columns, but for that of ids from a key."""
        columns = self.file().columns
        return columns[1:] if self.keyed else columns

"""What can be chosen for a file and its columns, and the file in which the choices are kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from graphveil.app.folder import HIDDEN, Folder

if TYPE_CHECKING:
    from graphveil.verbs.describe import Description

FORMAT, LONGEST_NAME = 1, 200
"""The format of kept choices; longer names of files are kept by their digest."""

ROLES = ("known", "attach", "label", "want", "drop")
"""What a column can be."""

BY_KIND = {
    "number": ("auto", "5,10,20", "10,50,100", "1000,10000", ""),
    "date": ("month,year,decade", "month,year", "year,decade", "year", ""),
    "id": ("", "auto", "prefix:3,2,1"),
}
LEVELS = {level for offered in BY_KIND.values() for level in offered}
"""How a column can become coarser, by its kind; other kinds have the first and last of ids."""

RowMeaning: TypeAlias = Literal["", "row", "column", "graph", "bipartite"]
Answer: TypeAlias = Literal["yes", "no"]
WordMeaning: TypeAlias = Literal["missing", "value"]

WORDS: Mapping[str, WordMeaning] = {"missing": "missing", "value": "value"}
"""What a word that may stand for a missing value can be."""


class ColumnChoices(msgspec.Struct):
    """What was chosen for a column: its role, its levels, its dates and words that may be missing.

    `levels`: one of `LEVELS`, or the name of a file; `dates`: the form in which dates are written;
    `codes`: codes such as -9, which mean a missing value in this column alone, or a value.
    """

    role: Literal["known", "attach", "label", "want", "drop"]
    levels: str
    dates: str
    words: dict[str, WordMeaning]
    codes: dict[str, WordMeaning] = {}


class FileChoices(msgspec.Struct, kw_only=True):
    """What was chosen for a file.

    `what`: what a row is, empty while nobody has said whether it is a person; `household`: the
    column of households, which classes count; `first`, `second`: the columns of a pair; `nodes`:
    the file about the people; `copy`, `false`: the answers about the recipient; `may_narrow`: the
    share of hidden cells that attached columns may show; `more`: further options of the reader.
    """

    what: RowMeaning
    person: str
    household: str = ""
    first: str
    second: str
    items: Literal["things", "people"] = "things"
    nodes: str = ""
    directed: Literal["symmetrize", "keep"] = "symmetrize"
    header: Answer = "yes"
    copy: Answer = "no"
    false: Answer = "no"
    strength: int | float | None = None
    may_narrow: float | None = None
    more: dict[str, Any]
    columns: dict[str, ColumnChoices]


class RowsRead(msgspec.Struct, frozen=True):
    """How many rows were looked at, whether these are all, and in which state of the file."""

    count: int
    complete: bool
    of: tuple[int, int]


class KeptFile(msgspec.Struct, frozen=True):
    """The content of ``.graphveil/FILE.json``, as far as the app reads it."""

    format: int
    rows: RowsRead
    choices: msgspec.Raw

    @classmethod
    def at(cls, file: Path) -> KeptFile:
        """Return the content of this file; its choices are decoded apart, by their format."""
        return msgspec.json.decode(file.read_bytes(), type=cls)

    def decoded(self) -> FileChoices:
        """Return the choices."""
        return msgspec.json.decode(self.choices, type=FileChoices)


def kept_for(folder: Folder, name: str) -> Path:
    """Return where the choices for a file are kept."""
    name = name.replace("/", "%2F")
    if len(os.fsencode(name)) > LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return folder.inside(HIDDEN) / f"{name}.json"


def state_of(path: Path) -> tuple[int, int]:
    """Return when a file was changed, and its size: another file has another state."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size


def rows_of(what: RowMeaning) -> Literal["table", "graph", "bipartite"]:
    """Return the kind of data whose rows are so: all kinds of rows of people are of tables."""
    return what if what == "graph" or what == "bipartite" else "table"  # noqa: PLR1714  for types


def detected(found: Description) -> FileChoices:
    """Return the choices that follow from what was found."""
    ends = {column.role: column.name for column in found.columns}
    names = [column.name for column in found.columns]
    first = ends.get("source", ends.get("user", names[0] if names else ""))
    second = ends.get("target", ends.get("item", names[1] if len(names) > 1 else ""))
    more = found.options if found.kind != "table" else {}
    own = ("source_column", "target_column", "user_column", "item_column", "items", "directed")
    asked = (*own, "encoding")  # which the owner confirms
    kept = {n: v for n, v in more.items() if n not in asked and isinstance(v, str | bool)}
    what: Any = {"table": "row", "network": "graph"}.get(found.kind, found.kind)
    open_for = [one.column for one in found.problems]
    columns = {
        column.name: ColumnChoices(
            role="drop" if column.role in ("drop", "person", "household") else "known",
            levels=column.levels if column.levels in LEVELS else "auto",
            dates="" if column.name in open_for else column.dates,
            words={word: "missing" for word, _ in column.missing},
        )
        for column in found.columns
    }
    person = names[0] if names else ""
    return FileChoices(
        what=what, person=person, first=first, second=second, more=kept, columns=columns
    )

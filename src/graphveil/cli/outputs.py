"""Files that commands read and write with rows: attached columns in, new private files out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from graphveil import io
from graphveil.claims.neighbors import check_outside
from graphveil.cli.console import say
from graphveil.cli.flags import ALL, JSON, NEW_FILE, OUTPUT_GROUP, Flag, flags
from graphveil.core.atomic import OWNER_ONLY, check_name, is_output, not_replaced, whole_file
from graphveil.core.errors import UsageError
from graphveil.core.libraries import parquet
from graphveil.core.rows import Row, Rows
from graphveil.core.text import printable
from graphveil.data import Data, Table
from graphveil.evaluate import Attached
from graphveil.io.parsed import EVERY_WORD

if TYPE_CHECKING:
    from graphveil.verbs.reproduce import Reproduction


def check_new_file(
    path: Path, inputs: Iterable[Path | None], *, force: bool, is_page: bool = False
) -> None:
    """Refuse a file that must not be written, before any work is done.

    A page or a description replaces nothing but another; rows and data, whatever is forced.
    """
    if any(given is not None and is_same_file(given, path) for given in inputs):
        raise UsageError(f"{path} is the input file and is not overwritten. Choose another name.")
    check_name(path)
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Give a file name.")
    check_outside(path)
    if not os.path.lexists(path):
        return
    written = is_output(path)
    if not force:
        way_out = ", or overwrite it with --force" if written else ""
        raise UsageError(f"{path} already exists. Choose another name{way_out}.")
    if is_page and not written:
        raise not_replaced(path)


@contextmanager
def new_file(path: Path, *, force: bool) -> Iterator[Path]:
    """Give an empty file to write for its owner alone; it gets its name once it is whole."""
    try:
        with whole_file(path, mode=OWNER_ONLY, replace=force) as part:
            yield part
    except FileExistsError as error:
        raise UsageError(f"{path} was created in the meantime. Choose another name.") from error


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two names are those of one file, whether it exists or not."""
    try:
        return one.samefile(other)
    except OSError:
        return one.resolve() == other.resolve()


ROW_FLAGS = [
    *flags(
        None,
        {
            "seed": Flag(
                int | None, "Seed that makes sampled figures repeatable. Default: fresh entropy."
            )
        },
    ),
    *flags(
        OUTPUT_GROUP,
        {
            "out": Flag(
                Path | None,
                "Write the rows to this new file, .parquet or .json. Only its owner can read it.",
            ),
            **NEW_FILE,
            **ALL,
            **JSON,
        },
    ),
]


class RowsFile(NamedTuple):
    """Where the rows go to; None for nowhere, and whether a file of that name is replaced."""

    path: Path | None
    force: bool

    def check(self, original: Path | None, given: Mapping[str, Any]) -> None:
        """Refuse a file that must not be written, before any work is done."""
        if self.path is None:
            return
        if self.path.suffix not in {".parquet", ".json"}:
            raise UsageError(
                f"{self.path.name} does not end in .parquet or .json. Use one of these."
            )
        read = [original, *(value for value in given.values() if isinstance(value, Path))]
        check_new_file(self.path, read, force=self.force)

    def write(self, rows: Rows | Reproduction, *, quiet: bool = False) -> None:
        """Write the rows, and what is missing, as JSON or as Parquet."""
        if self.path is None:
            return
        with new_file(self.path, force=self.force) as part, part.open("wb") as stream:
            if self.path.suffix == ".json":
                stream.write(msgspec.json.encode(rows.summary()))
            else:
                parquet.write_table(rows.to_arrow(), stream)
        if not quiet:
            say(f"written: {self.path}")


def cells_of(rows: Rows) -> Iterator[list[str]]:
    """Yield the cells of every row; a question is named once, above the rest of its parts."""
    last = ""
    for row in rows:
        name = "" if row.question == last else row.question
        guess = "" if row.guess is None else f"{row.guess:,.6g}"
        yield [name, row.part, f"{row.value:,.6g}", guess, row.unit, _how(row)]
        last = row.question


def say_missing(rows: Rows) -> None:
    """Say on stderr what could not be measured, and why."""
    for name, reason in rows.not_measured.items():
        say(f"{name}: not measured: {reason}")


def _how(row: Row) -> str:
    """Return which way is better, and how the number is known."""
    how = row.direction if row.known == "exact" else f"{row.direction}; {row.known}"
    if row.interval is None:
        return how
    return f"{how}, 95%: {row.interval[0]:,.6g} to {row.interval[1]:,.6g}"


COLUMN_FLAGS = flags(
    None,
    {
        "attached": Flag(
            Path | None,
            "A table with a column that is published with the release. Its ids are "
            "those of the original.",
        ),
        "attached_column": Flag(str | None, "Name of that column."),
        "attached_ids": Flag(str | None, "Column of that table with the ids. Default: its first."),
    },
)


class AttachedColumn(NamedTuple):
    """Where the column stands; all None where there is none."""

    attached: Path | None
    # attached_column, attached_ids: its columns of values and of ids; None for the only other one,
    # and the first one
    attached_column: str | None
    attached_ids: str | None

    def check(self) -> None:
        """Refuse the name of a column without a file."""
        if self.attached is None and (self.attached_column or self.attached_ids):
            raise UsageError(
                "--attached-column and --attached-ids name columns of a file. Add --attached FILE."
            )

    def read(self, original: Data) -> Attached | None:
        """Return the value of everybody in the original; None where there is no column."""
        if self.attached is None:
            return None
        table = io.read_table(self.attached, categories=EVERY_WORD)  # whoever published it says so
        ids, column = self._names(table)
        value_of = self._values(table, ids, column)
        people = [str(name) for name in original.labels().tolist()]
        for person in people:
            if person not in value_of:
                raise UsageError(
                    f"{self.attached.name} has no value of {column!r} for {printable(person)}. "
                    "Everyone in the original needs one; an empty cell or * does not count."
                )
        if len(value_of) > len(people):
            more = len(value_of) - len(people)
            say(f"{self.attached.name}: ids that are not in the original: {more}")
        return Attached(column, np.array([value_of[person] for person in people], dtype=np.str_))

    def _names(self, table: Table) -> tuple[str, str]:
        """Return the names of the columns of ids and of values."""
        ids = self.attached_ids or table.columns[0]
        others = [name for name in table.columns if name != ids]
        column = self.attached_column or (others[0] if len(others) == 1 else None)
        if column is None:
            raise UsageError(
                f"which column is attached? Set --attached-column to one of {', '.join(others)}."
            )
        for name in (ids, column):
            if name not in table.columns:
                raise UsageError(
                    f"{self.attached and self.attached.name} has no column {name!r}. Columns: "
                    f"{', '.join(table.columns)}."
                )
        return ids, column

    def _values(self, table: Table, ids: str, column: str) -> dict[str, str]:
        """Return the values by the ids."""
        people, values = (_texts(table, name) for name in (ids, column))
        named = [person for person in people if person is not None]
        person, number = next(iter(Counter(named).most_common(1)), (None, 0))
        if number > 1:
            raise UsageError(
                f"{printable(person)} appears {number} times in the column {ids!r}. Give one "
                "value per person."
            )
        pairs = zip(people, values, strict=True)
        return {p: v for p, v in pairs if p is not None and v is not None}


def _texts(table: Table, name: str) -> list[str | None]:
    """Return the cells of a column; None where they are suppressed."""
    number = table.columns.index(name)
    names = [*(str(value) for value in table.categories[number].tolist()), None]
    return [names[code] for code in table.codes[:, number].tolist()]

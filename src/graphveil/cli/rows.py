"""What `evaluate` and `attack` share: rows for the owner, shown or written to a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from graphveil.cli.answer import ALL_FLAG
from graphveil.cli.console import say
from graphveil.cli.flags import OUTPUT_GROUP, flag
from graphveil.cli.new_file import check_new_file, new_file
from graphveil.errors import UsageError
from graphveil.rows import Row, Rows

ROW_FLAGS = [
    flag(
        "seed",
        int | None,
        "Repeats figures that are sampled; fresh entropy without it.",
        default=None,
    ),
    flag(
        "out",
        Path | None,
        "Write the rows to this new file, .parquet or .json. Its owner alone can read it.",
        default=None,
        group=OUTPUT_GROUP,
    ),
    flag(
        "force",
        bool,
        "Replace a file of this name.",
        default=False,
        group=OUTPUT_GROUP,
        negative="",
    ),
    ALL_FLAG,
    flag("json", bool, "Print JSON.", default=False, group=OUTPUT_GROUP, negative=""),
]


class RowsFile(NamedTuple):
    """Where the rows go to; None for nowhere, and whether a file of that name is replaced."""

    path: Path | None
    force: bool

    def check(self, original: Path, given: Mapping[str, Any]) -> None:
        """Refuse a file that must not be written, before any work is done."""
        if self.path is None:
            return
        if self.path.suffix not in {".parquet", ".json"}:
            raise UsageError(f"{self.path.name} is neither .parquet nor .json. Choose one of them.")
        read = [original, *(value for value in given.values() if isinstance(value, Path))]
        check_new_file(self.path, read, force=self.force)

    def write(self, rows: Rows) -> None:
        """Write the rows, and what is missing, as JSON or as Parquet."""
        if self.path is None:
            return
        with new_file(self.path, force=self.force) as part, part.open("wb") as stream:
            if self.path.suffix == ".json":
                stream.write(msgspec.json.encode(rows.summary()))
            else:
                from pyarrow import parquet  # noqa: PLC0415  loaded when a file is written

                parquet.write_table(rows.to_arrow(), stream)
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
    return f"{how}, 95 %: {row.interval[0]:,.6g} to {row.interval[1]:,.6g}"

"""What `evaluate` and `attack` share: an original beside a release, and rows for the owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from graphveil.cli.console import say
from graphveil.cli.flags import INPUT_FORMAT, OUTPUT_GROUP, flag
from graphveil.cli.new_file import check_new_file, new_file
from graphveil.cli.original import Original, read_original
from graphveil.cli.pipes import a_file
from graphveil.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

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

    def write(self, content: Any, table: Callable[[], pa.Table]) -> None:
        """Write the content as JSON, or the table as Parquet."""
        if self.path is None:
            return
        with new_file(self.path, force=self.force) as part, part.open("wb") as stream:
            if self.path.suffix == ".json":
                stream.write(msgspec.json.encode(content))
            else:
                from pyarrow import parquet  # noqa: PLC0415  loaded when a file is written

                parquet.write_table(table(), stream)
        say(f"written: {self.path}")


def original_of(folder: Path, path: Path, given: dict[str, Any]) -> Any:
    """Return the original of a release, from a file or a pipe."""
    return original_as_read(folder, path, given).original


def original_as_read(folder: Path, path: Path, given: dict[str, Any]) -> Original:
    """Return the original of a release, from a file or a pipe, and how it was read."""
    with a_file(path, given.get(INPUT_FORMAT)) as file:
        return read_original(folder, file, given)

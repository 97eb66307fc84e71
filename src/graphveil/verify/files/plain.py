"""Plain text of the owner's, read a second time: cells by comma or tab, under a line of names."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import NamedTuple

import duckdb

from graphveil.verify.database import Database, literal
from graphveil.verify.verdict import Check, not_checked, one_line

TWICE = "original read twice"
SHARED = "read by the reader that the method used, alone"
NO_CELL = "\x01"
"""What stands for no cell: text that reads so is left to the reader."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LONGEST_HEADER = 1 << 20


def read_once() -> Check:
    """Return what is said of a file that no other code reads in the same way."""
    needs = "comma- or tab-separated text under a header such as source,target"
    return not_checked(TWICE, SHARED, needs=needs)


class PlainFile(NamedTuple):
    """A plain file, and the names of its columns."""

    path: Path
    delimiter: str
    compression: str
    names: list[str]


def plain_file(path: Path) -> PlainFile | None:
    """Return how the file is to be read, or None where it is not plain."""
    *_, extension = [""] + [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    delimiter = _DELIMITERS.get(extension)
    if delimiter is None or path.suffix.lower() not in {extension, ".gz"}:
        return None
    compression = "gzip" if path.suffix.lower() == ".gz" else "none"
    opened = gzip.open if compression == "gzip" else open
    try:
        with opened(path, "rb") as stream:
            first = stream.readline(_LONGEST_HEADER).decode()
        names = next(csv.reader([first], delimiter=delimiter, strict=True))
    except (OSError, EOFError, ValueError, csv.Error, StopIteration):
        return None
    return PlainFile(path, delimiter, compression, names)


def read_again(
    db: Database, file: PlainFile, select: str = "*", *, where: str = "true"
) -> Check | None:
    """Create `again` of what is selected from the cells f0, f1, ..., or say why it cannot be."""
    columns = ", ".join(f"f{number}: 'VARCHAR'" for number in range(len(file.names)))
    try:
        db.run(
            f"CREATE TABLE again AS SELECT {select} FROM read_csv(?, auto_detect = false, "
            f"header = true, delim = {literal(file.delimiter)}, quote = '\"', escape = '\"', "
            f"nullstr = '{NO_CELL}', compression = '{file.compression}', "
            f"hive_partitioning = false, columns = {{{columns}}}) WHERE {where}",
            [db.link(file.path.resolve())],
        )
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        return not_checked(TWICE, f"{SHARED}: a second one says {one_line(error)}")
    return None

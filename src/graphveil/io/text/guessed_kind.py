"""What kind of data a file holds, guessed by its columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from graphveil.core.errors import InputError
from graphveil.core.libraries import pa, parquet
from graphveil.data import Bipartite, Table
from graphveil.data.kinds import Container, kinds_named
from graphveil.io.formats import Header, format_of, parts_of
from graphveil.io.source import Source
from graphveil.io.text.dialect import sniff

TEXT = ("csv", "tsv", "text")
"""Formats of delimited text."""

SHOWN = 5
"""How many names of columns a message lists."""

MANY = 3
"""A file with more columns is probably a table, unless their names say otherwise."""

PAIR = 2
"""Two columns of words are the ends of edges; a third one is not a weight."""

USE_A_TABLE, PAIRS = "a method for tables", "are pairs, not a table"
"""How the refusals of files of a different kind than asked for say which kind it is."""

PROBABLY_A_TABLE = "with so many columns, it is probably a table"


class Guess(NamedTuple):
    """What a file holds by its columns; `kind` is None where it must be asked: `found` says why."""

    kind: Container | None
    found: str
    probably: Container | None = None


class Columns(NamedTuple):
    """What the columns of a file say; `unnamed`: how many, where the first line names none.

    `worded`: whether its cells are words, which may be names above words.
    """

    names: tuple[str, ...]
    kind: Container | None
    unnamed: int = 0
    worded: bool = False

    def guess(self, kinds: Sequence[Container]) -> Guess:
        """Return what the file holds by its columns, the first of these kinds where it has none."""
        if self.kind in kinds:
            return Guess(self.kind, f"its columns ({first(self.names)}) say so")
        if len(self.names) == 1 and Table in kinds:
            return Guess(Table, "it has one column, and edges or entries need two")
        if self.names:
            found = f"its columns ({first(self.names)}) do not show what kind of data it holds"
        else:
            found = f"{self.unnamed} columns without names do not show what kind of data the file "
            found += "holds"
        many = Table in kinds and max(len(self.names), self.unnamed) > MANY
        words = Table in kinds and self.worded and self.unnamed > PAIR
        if words and not many:
            found = f"{self.unnamed} columns of words do not show what kind of data the file holds"
        if self.names or many or words:
            return Guess(None, found, Table if many else None)
        return Guess(kinds[0], "its rows are pairs without column names")


def first(names: Sequence[str]) -> str:
    """Return the first names of columns, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def columns_of(
    path: Path,
    form: str | None,
    *,
    header: Header = "auto",
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Columns:
    """Return what the columns of a file say that it holds.

    Parameters
    ----------
    path
        The file, or a folder of its parts.
    form
        The name of its format; None for that of its extension.
    header
        Whether the first line has names: ``auto``, ``yes`` or ``no``.
    delimiter
        What separates cells; None to detect it.
    encoding
        That of its text; None for UTF-8.

    Returns
    -------
    Columns
        The names and the kind that they indicate; without either if the file cannot be read.

    Examples
    --------
    >>> from graphveil.io import datasets
    >>> columns = columns_of(datasets.path_of("spect-heart"), None)
    >>> columns.names, columns.kind
    (('user', 'item'), <class 'graphveil.data.bipartite.Bipartite'>)
    """
    try:
        names, listed, unnamed, worded = _names(path, form, header, delimiter, encoding)
    except (InputError, OSError, pa.ArrowInvalid):
        return Columns((), None)
    kinds = [Bipartite] if listed else [kind.container for kind in kinds_named(names)]
    return Columns(names, kinds[0] if len(kinds) == 1 else None, unnamed, worded)


def _names(
    path: Path, form: str | None, header: Header, delimiter: str | None, encoding: str | None
) -> tuple[tuple[str, ...], bool, int, bool]:
    """Return the names of the columns, whether one holds lists, how many have no names, or may."""
    path = parts_of(path)[0]
    known = format_of(path, form)
    if known.name in TEXT:
        dialect = sniff(Source(path, known, encoding=encoding), header, delimiter=delimiter)
        names = dialect.header or dialect.marked
        rows = known.name != "text" and len(dialect.widths) == 1 and not names
        return names, False, dialect.n_columns if rows else 0, dialect.undecided
    if known.name not in ("parquet", "arrow"):
        return (), False, 0, False
    with pa.OSFile(os.fsencode(path)) as stream:
        read = parquet.read_schema if known.name == "parquet" else _arrow_schema
        schema = read(stream)
    return tuple(schema.names), any(pa.types.is_nested(field.type) for field in schema), 0, False


def _arrow_schema(stream: pa.NativeFile) -> pa.Schema:
    return pa.ipc.open_file(stream).schema

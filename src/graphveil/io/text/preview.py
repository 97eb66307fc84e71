"""The first rows of a file, as a person looks at it before saying what it holds.

What a file says of itself by the names of its columns: a graph, or users and items.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphveil.core.errors import InputError
from graphveil.core.lazy import lazy_module
from graphveil.core.text import printable
from graphveil.data import Bipartite
from graphveil.data.kinds import Container, kinds_named
from graphveil.io.formats import format_of
from graphveil.io.options import Header
from graphveil.io.source import Source
from graphveil.io.text.dialect import sniff

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet
else:
    pa = lazy_module("pyarrow")
    parquet = lazy_module("pyarrow.parquet")

TEXT = ("csv", "tsv", "text")


class Columns(NamedTuple):
    """What the columns of a file say.

    Parameters
    ----------
    names
        Their names; none where the file has none, or cannot be read.
    kind
        What the file holds by these names; None where they do not say it.
    """

    names: tuple[str, ...]
    kind: Container | None


def columns_of(
    path: Path, form: str | None, *, header: Header = "auto", delimiter: str | None = None
) -> Columns:
    r"""Return what the columns of a file say that it holds.

    Parameters
    ----------
    path
        A file; one that cannot be read says nothing.
    form
        Its format; None for the one that its name says.
    header, delimiter
        As the readers take them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("customer_id,product\n7,tea\n")
    ...     columns_of(path, None).kind.__name__
    'Bipartite'
    """
    try:
        names, listed = _names(path, form, header, delimiter)
    except (InputError, OSError, pa.ArrowInvalid):
        return Columns((), None)
    kinds = [Bipartite] if listed else [kind.container for kind in kinds_named(names)]
    return Columns(names, kinds[0] if len(kinds) == 1 else None)


def _names(
    path: Path, form: str | None, header: Header, delimiter: str | None
) -> tuple[tuple[str, ...], bool]:
    """Return the names of the columns, and whether one holds lists."""
    known = format_of(path, form)
    if known.name in TEXT:
        dialect = sniff(Source(path, known), header, delimiter=delimiter)
        return dialect.header or dialect.marked, False
    if known.name not in ("parquet", "arrow"):
        return (), False
    with pa.OSFile(os.fsencode(path)) as stream:
        read = parquet.read_schema if known.name == "parquet" else _arrow_schema
        schema = read(stream)
    return tuple(schema.names), any(pa.types.is_nested(field.type) for field in schema)


def _arrow_schema(stream: pa.NativeFile) -> pa.Schema:
    return pa.ipc.open_file(stream).schema


_IN_LINES = ("gexf", "gml", "graphml", "metis", "node_link", "pajek")
"""Formats of text that is not rows of cells."""

LONGEST_CELL = 40
"""So many characters of a cell are shown."""


class FirstRows(NamedTuple):
    """The first rows of a file.

    Parameters
    ----------
    names
        The names of the columns; none where the file has none, or holds no columns.
    rows
        The cells as text, cut where they are long; a line that has no columns is one cell.
    """

    names: tuple[str, ...]
    rows: list[list[str]]


def first_rows(path: Path, most: int = 8) -> FirstRows:
    r"""Return the first rows of a file.

    Parameters
    ----------
    path
        A file in any format that is read.
    most
        So many rows.

    Raises
    ------
    InputError
        Where it cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "likes.csv")
    ...     _ = path.write_text("user,item\n7,tea\n8,milk\n")
    ...     first_rows(path, 1)
    FirstRows(names=('user', 'item'), rows=[['7', 'tea']])
    """
    form = format_of(path)
    source = Source(path, form)
    if form.name in ("parquet", "arrow"):
        return _columnar(source, most)
    if form.name not in TEXT:
        lines = _lines(source, most) if form.module in _IN_LINES else []
        return FirstRows((), [[printable(line, 2 * LONGEST_CELL)] for line in lines])
    source.check()
    dialect = sniff(source, "auto")
    lines = [line for line in _lines(source, 100) if line.strip()]
    data = [line for line in lines if not line.lstrip().startswith(("#", "%"))]
    rows = [dialect.cells(line) for line in data[bool(dialect.header) : most + 1]]
    names = dialect.header or dialect.marked
    return FirstRows(tuple(map(_cut, names)), [list(map(_cut, row)) for row in rows[:most]])


def _lines(source: Source, most: int) -> list[str]:
    return [line for _, line in islice(source.lines(), most)]


def _columnar(source: Source, most: int) -> FirstRows:
    """Return the first rows of a Parquet or Arrow file, whose first batch alone is read."""
    try:
        with pa.OSFile(os.fsencode(source.path)) as stream:
            if source.format.name == "parquet":
                file = parquet.ParquetFile(stream)
                batches = file.iter_batches(batch_size=most)
                names, batch = file.schema_arrow.names, next(batches, None)
            else:
                opened = pa.ipc.open_file(stream)
                names = opened.schema.names
                batch = opened.get_batch(0) if opened.num_record_batches else None
            columns = (
                []
                if batch is None
                else [
                    [_cut(str(value)) for value in column.slice(0, most).to_pylist()]
                    for column in batch.columns
                ]
            )
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"{source.name}: the file cannot be read as {source.format.name}. Check that it is "
            "whole."
        ) from error
    return FirstRows(tuple(map(_cut, names)), [list(row) for row in zip(*columns, strict=True)])


def _cut(text: str) -> str:
    return printable(text, LONGEST_CELL)

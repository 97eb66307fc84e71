"""What a file says of itself by the names of its columns: a graph, or users and items."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphveil.core.errors import InputError
from graphveil.core.lazy import lazy_module
from graphveil.data import Bipartite, Table
from graphveil.data.kinds import Container, kinds_named
from graphveil.io.formats import format_of, parts_of
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

SHOWN = 5
"""So many names of columns stand in a message."""

MANY = 3
"""A file of more columns is probably a table, where their names say nothing else."""

PROBABLY_A_TABLE = "with so many columns, it is probably a table"


class Guess(NamedTuple):
    """What a file holds by its columns.

    Parameters
    ----------
    kind
        The kind; None where it must be asked.
    found
        Why it is that, or why it must be asked.
    probably
        What is proposed then; None where nothing is.
    """

    kind: Container | None
    found: str
    probably: Container | None = None


class Columns(NamedTuple):
    """What the columns of a file say.

    Parameters
    ----------
    names
        Their names; none where the file has none, or cannot be read.
    kind
        What the file holds by these names; None where they do not say it.
    unnamed
        How many columns a csv or tsv file has, where the first line does not name them.
    """

    names: tuple[str, ...]
    kind: Container | None
    unnamed: int = 0

    def guess(self, kinds: Sequence[Container]) -> Guess:
        """Return what the file holds by its columns, the first of these kinds where it has none.

        Examples
        --------
        >>> from graphveil.data.kinds import CONTAINERS
        >>> Columns(("age", "sex"), None).guess(CONTAINERS).found
        'its columns (age, sex) do not show what kind of data it holds'
        """
        if self.kind in kinds:
            return Guess(self.kind, f"its columns ({first(self.names)}) say so")
        if self.names:
            found = f"its columns ({first(self.names)}) do not show what kind of data it holds"
        else:
            found = f"{self.unnamed} columns without names do not show what kind of data the file "
            found += "holds"
        many = Table in kinds and max(len(self.names), self.unnamed) > MANY
        if self.names or many:
            return Guess(None, found, Table if many else None)
        return Guess(kinds[0], "its rows are pairs without column names")


def first(names: Sequence[str]) -> str:
    """Return the first names of columns, and how many more there are.

    Examples
    --------
    >>> first(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d, e and 1 more'
    """
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


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
        names, listed, unnamed = _names(path, form, header, delimiter)
    except (InputError, OSError, pa.ArrowInvalid):
        return Columns((), None)
    kinds = [Bipartite] if listed else [kind.container for kind in kinds_named(names)]
    return Columns(names, kinds[0] if len(kinds) == 1 else None, unnamed)


def _names(
    path: Path, form: str | None, header: Header, delimiter: str | None
) -> tuple[tuple[str, ...], bool, int]:
    """Return the names of the columns, whether one holds lists, and how many have no names."""
    path = parts_of(path)[0]
    known = format_of(path, form)
    if known.name in TEXT:
        dialect = sniff(Source(path, known), header, delimiter=delimiter)
        names = dialect.header or dialect.marked
        rows = known.name != "text" and len(dialect.widths) == 1 and not names
        return names, False, dialect.n_columns if rows else 0
    if known.name not in ("parquet", "arrow"):
        return (), False, 0
    with pa.OSFile(os.fsencode(path)) as stream:
        read = parquet.read_schema if known.name == "parquet" else _arrow_schema
        schema = read(stream)
    return tuple(schema.names), any(pa.types.is_nested(field.type) for field in schema), 0


def _arrow_schema(stream: pa.NativeFile) -> pa.Schema:
    return pa.ipc.open_file(stream).schema

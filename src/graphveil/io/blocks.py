"""Pairs of users and items into a file, a block at a time: for data that memory cannot hold."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pyarrow as pa

from graphveil.io.columnar import write_tables
from graphveil.io.formats import Format
from graphveil.io.writing import opened
from graphveil.io.written_rows import block_writer

WRITABLE = ("csv", "tsv", "text", "parquet", "arrow")
"""The formats that can be written a block at a time."""


def write_pairs(
    tables: Iterable[pa.Table], path: Path, *, form: Format, names: pa.Array | None
) -> None:
    r"""Write tables of users and items one below the other, as `write_bipartite` writes one.

    Parameters
    ----------
    tables
        The columns ``user`` and ``item``, or another one or two.
    path
        The file; an extension of a compression is obeyed.
    form
        One of `WRITABLE`.
    names
        Every text that may occur, None where there are integers only: it decides on quotes.

    Raises
    ------
    InputError
        Where a name cannot stand in this format.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from graphveil.io import FORMATS
    >>> with TemporaryDirectory() as folder:
    ...     table = pa.table({"user": [0, 1], "item": ["tea", "rye"]})
    ...     path = Path(folder, "likes.csv")
    ...     write_pairs([table], path, form=FORMATS["csv"], names=pa.array(["tea", "rye"]))
    ...     path.read_text()
    'user,item\n0,tea\n1,rye\n'
    """
    waiting = iter(tables)
    first = next(waiting)
    with opened(path, form) as stream:
        if form.module == "columnar":
            write_tables(chain([first], waiting), stream, form)
            return
        write = block_writer(tuple(first.column_names), names, stream, form)
        for table in chain([first], waiting):
            write(table)

"""A file of users and items as Parquet of integers or text, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from graphveil.data.ids import as_ids, to_arrow, written_out
from graphveil.engines.database import database
from graphveil.errors import DataError, UsageError
from graphveil.io import BipartiteOptions, columnar, delimited, format_of
from graphveil.io.columns import NotIntegersError, labels_of
from graphveil.io.dialect import Dialect, sniff
from graphveil.io.first_row import ENOUGH_ROWS, check_names_again, refuse_undecided
from graphveil.io.raw import Notes
from graphveil.io.source import Source
from graphveil.on_disk.lists import starts_of

TEXT_FORMATS = ("csv", "tsv", "text")
FRAME_FORMATS = ("parquet", "arrow")
SAMPLE = 1000
"""The texts that are looked at to say what is wrong with a column, oddest first."""


class Raw(NamedTuple):
    """The file as Parquet: `user` and `item` or `items`; which columns are integers.

    `nameless` says that users are numbers of rows, `notes` what was read and what was left out.
    """

    path: Path
    lists: bool
    user_is_integer: bool
    item_is_integer: bool
    nameless: bool
    notes: Notes


def check_readable(path: Path, options: BipartiteOptions) -> Source:
    """Return the file, once it is one that can be read a piece at a time.

    Raises
    ------
    InputError
        Where there is no such file, or its format is unknown.
    UsageError
        Where its format or the options need all of it in memory.
    """
    source = Source(path, format_of(path, options.format))
    source.check()
    with source.open():
        pass
    if source.format.name not in (*TEXT_FORMATS, *FRAME_FORMATS):
        raise UsageError(
            f"{source.format.name} cannot be read a piece at a time. Use one of "
            f"{', '.join((*TEXT_FORMATS, *FRAME_FORMATS))}, or leave out --on-disk."
        )
    if options.users is not None:
        raise UsageError(
            "--users needs all ids in memory. Use Parquet with a column of lists, where empty "
            "ones stay, or leave out --on-disk."
        )
    return source


def raw_rows(source: Source, options: BipartiteOptions, folder: Path, memory_mib: int) -> Raw:
    """Write the rows of a file as they stand, with ids of one kind a column."""
    path = folder / "raw.parquet"
    notes = Notes()
    if source.format.name in FRAME_FORMATS:
        batches = columnar.bipartite_batches(source, options, notes)
        write_batches(path, (_clean(source, batch) for batch in batches))
        if not path.exists():
            source.refuse("no user. Give at least one row.")
        schema = parquet.read_schema(path)
        lists = "items" in schema.names
        item = schema.field("items").type.value_type if lists else schema.field("item").type
        user = schema.field("user").type
        integers = pa.types.is_integer(user), pa.types.is_integer(item)
        return Raw(path, lists, *integers, nameless=notes.nameless, notes=notes)
    return _raw_text(source, options, path, memory_mib)


def _raw_text(source: Source, options: BipartiteOptions, path: Path, memory_mib: int) -> Raw:
    """Write the rows of a text file; read it again where its first row turns out to be names."""
    notes = Notes()
    dialect = sniff(source, options.header, delimiter=options.delimiter)
    if delimited.has_lists(dialect, options):
        raise UsageError(
            f"{source.name} has a line a user, which cannot be read a piece at a time. Use two "
            "columns or Parquet, or leave out --on-disk."
        )
    notes.header, notes.inferred = dialect.header, dialect.inferred
    chosen = delimited.chosen_columns(source, dialect, options, notes)
    try:
        write_batches(path, delimited.bipartite_batches(source, dialect, chosen, notes, text=False))
    except NotIntegersError:
        write_batches(path, delimited.bipartite_batches(source, dialect, chosen, notes, text=True))
        judge = _Judge(source, dialect, chosen, memory_mib)
        if judge.first_row_is_names(path, options):
            raw = _raw_text(source, replace(options, header="yes"), path, memory_mib)
            raw.notes.inferred = True
            return raw
        integers = judge.is_integer(path, "user"), judge.is_integer(path, "item")
        return Raw(path, False, *integers, nameless=False, notes=notes)
    return Raw(path, False, True, True, nameless=False, notes=notes)


def _clean(source: Source, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return users and items as int64 or text, lists without nulls."""
    user = _ids(source, batch.column("user"), "user")
    if "items" not in batch.schema.names:
        item = _ids(source, batch.column("item"), "item")
        return pa.RecordBatch.from_arrays([user, item], names=["user", "item"])
    column = batch.column("items")
    values = _ids(source, column.flatten(), "items")
    starts = pa.array(starts_of(column).astype(np.int32))
    lists = pa.ListArray.from_arrays(starts, values)
    return pa.RecordBatch.from_arrays([user, lists], names=["user", "items"])


def _ids(source: Source, column: pa.Array, name: str) -> pa.Array:
    column = written_out(column)
    textual = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    try:
        if not any(check(column.type) for check in textual):
            is_empty = pa.types.is_null(column.type) and not len(column)
            return pa.array([], pa.int64()) if is_empty else to_arrow(as_ids(column, what=name))
    except DataError as error:
        source.refuse(str(error))
    if column.null_count:
        source.refuse(f"column {name}: an id is missing. Remove the row.")
    return column.cast(pa.string())


class _Judge(NamedTuple):
    """Says what the texts of a file are."""

    source: Source
    dialect: Dialect
    chosen: tuple[int, int]
    memory_mib: int

    def first_row_is_names(self, path: Path, options: BipartiteOptions) -> bool:
        """Whether the first row names the columns, as in memory; refuse where nobody can tell."""
        with database(path.parent, memory_mib=self.memory_mib, threads=1) as db:
            rows = db.read_parquet(str(path))
            if self.dialect.header:
                names = [self.dialect.header[column] for column in self.chosen]
                again = [
                    name
                    for name, column in zip(names, ("user", "item"), strict=True)
                    if rows.filter(f"{column} = {_literal(name)}").limit(1).fetchall()
                ]
                check_names_again(self.source, self.dialect, options.header, again)
            if not self.dialect.undecided:
                return False
            first = parquet.ParquetFile(path).iter_batches(1).__next__()
            cells = [str(first.column(number)[0]) for number in (0, 1)]
            once = rows
            for name in ("user", "item"):
                counts = rows.aggregate(f"{name}, count(*) AS n", name).filter("n = 1")
                alone_there = counts.project(name).set_alias(f"once_{name}")
                once = once.join(alone_there, name, how="semi")
            alone = once.order(f"user = {_literal(cells[0])} DESC").limit(2).fetchall()
            n_rows = len(rows.limit(ENOUGH_ROWS + 1).fetchall())
        if n_rows < 2 or not alone or list(alone[0]) != cells:
            return False
        if len(alone) > 1 or n_rows <= ENOUGH_ROWS:
            refuse_undecided(self.source, cells)
        return True

    def is_integer(self, path: Path, name: str) -> bool:
        """Whether all texts of a column are plain integers; texts that are no ids are refused."""
        plain = f"regexp_full_match({name}, '0|[1-9][0-9]*')"
        number = f"regexp_full_match({name}, '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?')"
        oddest = f"{name} = '' DESC, contains({name}, chr(10)) DESC, {number}"
        with database(path.parent, memory_mib=self.memory_mib, threads=1) as db:
            column = db.read_parquet(str(path)).project(name)
            odd = column.filter(f"NOT {plain}").distinct().order(oddest).limit(SAMPLE)
            longest = column.filter(plain).aggregate(f"max_by({name}, length({name}))")
            rows = odd.fetchall() + longest.fetchall()
        texts = pa.array([text for (text,) in rows if text is not None], type=pa.string())
        labels = labels_of(self.source, self.dialect, self.chosen, texts, Notes())
        return labels.dtype.kind == "i"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def write_batches(path: Path, batches: Iterator[pa.RecordBatch | pa.Table]) -> None:
    """Write batches of the same columns into one file."""
    writer = None
    try:
        for batch in batches:
            writer = writer or parquet.ParquetWriter(path, batch.schema)
            writer.write(batch)
    finally:
        if writer is not None:
            writer.close()

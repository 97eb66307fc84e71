"""Users with lists of items, and pairs of both, written block by block.

Data may be larger than memory. Parquet files depend on their rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, parquet

from graphveil.core.errors import InputError, option, warn
from graphveil.core.text import counted
from graphveil.data.ids import Ids
from graphveil.data.ids import to_arrow as ids_to_arrow
from graphveil.io.formats import FORMATS, Format
from graphveil.io.parsed import (
    SpellingProblem,
    alike,
    as_integers,
    in_quotes,
    other_than_integers,
    problem_of,
    problem_of_some,
)
from graphveil.io.readers.columnar import name_no_version, settings_of, write_tables
from graphveil.io.source import shown
from graphveil.io.text.table_cells import fraction_among
from graphveil.io.writing import AWKWARD, formulas, opened, refuse_separators


def check_ids(ids: Ids | None, used: NDArray[np.bool_], form: Format) -> None:
    """Refuse text ids that a reader would take for damaged numbers, or for missing ones."""
    if ids is None or ids.dtype.kind == "i":
        return
    _check_spelling(ids_to_arrow(ids[used]), form)


def _check_spelling(texts: pa.Array, form: Format) -> None:
    _refuse_spelling(problem_of(texts) or _read_as_whole(texts), form)
    _refuse_alike(texts, form)


def _read_as_whole(texts: pa.Array) -> SpellingProblem | None:
    """Return a text that would be read as an integer, such as 1.0; None where there is none."""
    others = other_than_integers(texts)
    if not len(others) or as_integers(texts) is None:
        return None
    return SpellingProblem(others[0].as_py(), "is read as an integer")


def _refuse_alike(texts: pa.Array, form: Format) -> None:
    pair = alike(texts)
    if pair is not None:
        raise InputError(
            f"the ids {in_quotes(*pair)} look the same, which the {form.name} reader refuses. "
            f"Use {option('format', 'parquet')}."
        )


def _refuse_spelling(problem: SpellingProblem | None, form: Format) -> None:
    if problem is not None:
        raise InputError(
            f"the id {shown(problem.value)!r} could not be read back from {form.name}: there it "
            f"{problem.what}. Use {option('format', 'parquet')}."
        )


def check_texts(texts: pa.Array, form: Format) -> None:
    """Refuse texts of which some, whichever, could not be written and read again.

    Raises `InputError` where there is one.
    """
    whole = texts.filter(pc.match_substring_regex(texts, r"^[0-9]+\.0+$"))
    _refuse_spelling(problem_of_some(texts) or _read_as_whole(whole), form)
    _refuse_alike(texts, form)
    for value in _awkward(texts):
        _refuse_awkward(value, form)
    refuse_separators((), [texts.to_pylist()], form.name)


def check_categories(name: str, values: pa.Array, form: Format, *, exact: bool = False) -> None:
    """Refuse categories that a reader would take for suppressed cells, or for numbers to bin."""
    for hidden in ("*", ""):
        if hidden in values.to_pylist():
            raise InputError(
                f"column {name}: the category {hidden!r} cannot be distinguished from a suppressed "
                f"cell in {form.name}. Use {option('format', 'parquet')}."
            )
    number = None if exact else fraction_among(values)
    if number is not None:
        raise InputError(
            f"column {name}: the category {shown(number)!r} could not be read back from "
            f"{form.name}: there it is a number. Use {option('format', 'parquet')}."
        )


WRITTEN_ROWS = 1 << 20


class WrittenCells:
    """A column to be written a block at a time."""

    def __init__(self, codes: Any, values: pa.Array) -> None:
        self.codes = codes
        self.values = values

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.codes)

    def block(self, part: slice) -> pa.Array:
        """Return some of the cells."""
        return self.values.take(pa.array(self.codes[part]))


class WrittenIds(WrittenCells):
    """A column of ids; None stands for 0..n-1."""

    def __init__(self, codes: Any, ids: Ids | None) -> None:
        super().__init__(codes, None if ids is None else ids_to_arrow(ids))

    def block(self, part: slice) -> pa.Array:
        """Return some of the cells."""
        if self.values is None:
            return pa.array(self.codes[part])
        return super().block(part)


def write_rows(
    columns: list[Any],
    names: tuple[str, ...],
    stream: IO[bytes],
    form: Format,
    *,
    quote: bool = False,
) -> None:
    """Write columns of one length below their names, a block at a time."""
    texts = [column.values for column in columns]
    write = _writer(texts, names, stream, form, quote=quote)
    for start in range(0, len(columns[0]), WRITTEN_ROWS):
        blocks = [column.block(slice(start, start + WRITTEN_ROWS)) for column in columns]
        write(pa.table(blocks, names=list(names)))


def block_writer(
    names: tuple[str, ...], texts: pa.Array | None, stream: IO[bytes], form: Format
) -> Callable[[pa.Table], None]:
    """Write the names of columns and return what writes the rows of a table below.

    `names`: the columns; `texts`: every text that may occur, None where there are integers only;
    `stream, form`: where to write, and the format.
    """
    if texts is not None:
        _check_spelling(texts, form)
    return _writer([texts], names, stream, form, quote=False)


def _writer(
    texts: list[pa.Array | None],
    names: tuple[str, ...],
    stream: IO[bytes],
    form: Format,
    *,
    quote: bool,
) -> Callable[[pa.Table], None]:
    delimiter = "," if form.name == "csv" else "\t"
    awkward = [name for values in texts for name in _awkward(values)]
    for value in awkward:
        if not quote or "\0" in value:
            _refuse_awkward(value, form)
    listed = [_texts_in(values) for values in texts]
    refuse_separators(names, listed, form.name)
    for advice in formulas(names, listed):
        warn(advice)
    style = "needed" if awkward else "none"
    first = delimiter.join(map(_quoted, names))
    remark = "# " if form.name == "text" and len(names) == 2 else ""
    stream.write(f"{remark}{first}\n".encode())
    options = csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)

    def write(table: pa.Table) -> None:
        buffer = pa.BufferOutputStream()
        csv.write_csv(table, buffer, options)
        stream.write(buffer.getvalue())

    return write


def _refuse_awkward(value: str, form: Format) -> None:
    if not value or any(character in value for character in "\n\r\0"):
        raise InputError(
            f"{shown(value)!r} is empty or contains a line break or a NUL, which {form.name} "
            f"cannot store. Use {option('format', 'parquet')}."
        )


def _awkward(values: pa.Array | None) -> Iterator[str]:
    yield from filter(AWKWARD.search, _texts_in(values))


def _texts_in(values: pa.Array | None) -> list[str]:
    """Return the texts of a column; none where it holds numbers."""
    if values is None or not pa.types.is_string(values.type):
        return []
    texts: list[str] = values.to_pylist()
    return texts


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if AWKWARD.search(name) else name


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


GROUP_ROWS = 1 << 17
"""So many rows has every row group of a file but the last."""

_LEAVES = "items.list.element"
_ONE_PAGE = {"data_page_size": 1 << 30, "dictionary_pagesize_limit": 1 << 30}
"""A group has one page a column: where versions of the library end a page of lists differs."""


def list_schema(item: pa.DataType) -> pa.Schema:
    """Return the columns of users with lists of items, which may be long.

    Examples
    --------
    >>> list_schema(pa.string()).field("items").type
    LargeListType(large_list<item: large_string>)
    """
    leaf = item if pa.types.is_integer(item) else pa.large_string()
    return pa.schema([("user", pa.int64()), ("items", pa.large_list(leaf))])


def write_lists(groups: Iterable[pa.Table], path: Path) -> None:
    """Write users with their items into a file, a row group a table.

    `groups`: tables of `list_schema`, one at least, a row group each; all but the last have
    `GROUP_ROWS` rows; `path`: the file. Raises `ResourceError` where it cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = pa.table({"user": [0, 1], "items": [[7], []]}, schema=list_schema(pa.int64()))
    >>> with TemporaryDirectory() as folder:
    ...     write_lists([rows], Path(folder, "likes.parquet"))
    ...     parquet.read_table(Path(folder, "likes.parquet")).to_pydict()
    {'user': [0, 1], 'items': [[7], []]}
    """
    waiting = iter(groups)
    first = next(waiting)
    with opened(path, FORMATS["parquet"]) as stream:
        with parquet.ParquetWriter(stream, first.schema, **_settings(first.schema)) as writer:
            for group in chain([first], waiting):
                writer.write_table(group, row_group_size=max(group.num_rows, 1))
        name_no_version(stream)


def _settings(schema: pa.Schema) -> dict[str, Any]:
    if pa.types.is_integer(schema.field("items").type.value_type):
        return settings_of(["user", _LEAVES], []) | _ONE_PAGE
    return settings_of(["user"], [_LEAVES]) | _ONE_PAGE


def in_sizes(tables: Iterable[pa.Table], sizes: Iterable[int]) -> Iterator[pa.Table]:
    """Yield the same rows in tables of these sizes, however they come.

    Raises `ValueError` where there are fewer rows, or, behind the last table, more.

    Examples
    --------
    >>> tables = [pa.table({"x": [0, 1, 2]}), pa.table({"x": [3]})]
    >>> [table["x"].to_pylist() for table in in_sizes(tables, [1, 3])]
    [[0], [1, 2, 3]]
    """
    coming = iter(tables)
    waiting: list[pa.Table] = []
    n = 0
    for size in sizes:
        while n < size or not waiting:
            table = next(coming, None)
            if table is None:
                raise ValueError(f"{counted(n, 'row', 'is')} left, but {size} are needed")
            waiting.append(table)
            n += table.num_rows
        rows = pa.concat_tables(waiting)
        yield rows.slice(0, size).combine_chunks()
        waiting, n = [rows.slice(size)], n - size
    n += sum(table.num_rows for table in coming)
    if n:
        raise ValueError(f"{counted(n, 'row', 'is')} left, but none is needed")

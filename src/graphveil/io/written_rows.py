"""Rows of text as they are written; what would not be read again as it is is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from graphveil.data.ids import Ids
from graphveil.data.ids import to_arrow as ids_to_arrow
from graphveil.errors import InputError, option, warn
from graphveil.io.formats import Format
from graphveil.io.risky_names import AWKWARD, formulas, refuse_separators
from graphveil.io.source import shown
from graphveil.io.spelling import SpellingProblem, alike, in_quotes, problem_of, problem_of_some
from graphveil.io.table_text import fraction_among


def check_ids(ids: Ids | None, used: NDArray[np.bool_], form: Format) -> None:
    """Refuse text ids that a reader would take for damaged numbers, or for missing ones."""
    if ids is None or ids.dtype.kind == "i":
        return
    _check_spelling(ids_to_arrow(ids[used]), form)


def _check_spelling(texts: pa.Array, form: Format) -> None:
    _refuse_spelling(problem_of(texts), form)
    _refuse_alike(texts, form)


def _refuse_alike(texts: pa.Array, form: Format) -> None:
    pair = alike(texts)
    if pair is not None:
        raise InputError(
            f"the ids {in_quotes(*pair)} look the same, which a reader of {form.name} refuses. "
            f"Use {option('format', 'parquet')}."
        )


def _refuse_spelling(problem: SpellingProblem | None, form: Format) -> None:
    if problem is not None:
        raise InputError(
            f"the id {shown(problem.value)!r} could not be read again from {form.name}: there it "
            f"{problem.what}. Use {option('format', 'parquet')}."
        )


def check_texts(texts: pa.Array, form: Format) -> None:
    """Refuse texts of which some, whichever, could not be written and read again.

    Raises
    ------
    InputError
        Where there is one.
    """
    _refuse_spelling(problem_of_some(texts), form)
    _refuse_alike(texts, form)
    for value in _awkward(texts):
        _refuse_awkward(value, form)
    refuse_separators((), [texts.to_pylist()], form.name)


def check_categories(name: str, values: pa.Array, form: Format) -> None:
    """Refuse categories that a reader would take for suppressed cells, or for numbers to bin."""
    for hidden in ("*", ""):
        if hidden in values.to_pylist():
            raise InputError(
                f"column {name}: the category {hidden!r} cannot be distinguished from a suppressed "
                f"cell in {form.name}. Use {option('format', 'parquet')}."
            )
    number = fraction_among(values)
    if number is not None:
        raise InputError(
            f"column {name}: the category {shown(number)!r} could not be read again from "
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

    Parameters
    ----------
    names
        The columns.
    texts
        Every text that may occur, None where there are integers only.
    stream, form
        Where to write, and the format.
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
            f"{shown(value)!r} is empty or holds a line break or a NUL, which {form.name} "
            f"cannot carry. Use {option('format', 'parquet')}."
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

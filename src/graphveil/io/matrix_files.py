"""The entries of a sparse matrix out of a file.

Matrix Market is parsed here: `scipy.io.mmread` may end the process on a damaged file.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from graphveil.io.columns import NotIntegersError, tables
from graphveil.io.dialect import WHITESPACE, Dialect, expect_width
from graphveil.io.integers import Growing
from graphveil.io.parsed import Notes, check_size
from graphveil.io.source import Source, shown

_BANNER = re.compile(
    r"%%matrixmarket\s+matrix\s+(?P<layout>\w+)\s+(?P<values>[\w-]+)\s+(?P<symmetry>[\w-]+)\s*",
    re.IGNORECASE,
)
_VALUES = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric")
_FAILURES = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


class Entries(NamedTuple):
    """The entries of a sparse matrix; `symmetric` says that one triangle is stored."""

    row: NDArray[np.int32]
    column: NDArray[np.int32]
    values: NDArray[Any] | None
    shape: tuple[int, int]
    symmetric: bool


def entries_of_npz(source: Source) -> Entries:
    """Return the entries of a matrix that `scipy.sparse.save_npz` wrote; nothing is unpickled."""
    try:
        with source.open() as stream:
            matrix = _matrix_in(source, stream)
    except _FAILURES as error:
        source.refuse(f"this is no whole npz file ({shown(error)}). Write it again.")
    row, column = matrix.coords
    for axis, indices in enumerate((row, column)):
        if indices.size and (indices.min() < 0 or indices.max() >= matrix.shape[axis]):
            source.refuse(f"an index is outside 0..{matrix.shape[axis] - 1}. Write it again.")
    if matrix.data.dtype.kind not in "biuf":
        source.refuse(f"the values are of type {matrix.data.dtype}. Write numbers or booleans.")
    return Entries(
        row.astype(np.int32), column.astype(np.int32), matrix.data, matrix.shape, symmetric=False
    )


def _matrix_in(source: Source, stream: Any) -> sparse.coo_array:
    with np.load(stream, allow_pickle=False) as archive:
        if "format" not in archive or "shape" not in archive:
            source.refuse("this .npz holds no SciPy matrix. Write it with scipy.sparse.save_npz.")
        shape = tuple(int(size) for size in archive["shape"])
        if len(shape) != 2 or min(shape) < 0:
            source.refuse(f"a matrix of shape {shown(shape)} cannot be read. Give two dimensions.")
        check_size(source, max(shape), max(archive[name].size for name in archive.files))
    stream.seek(0)
    matrix = sparse.load_npz(stream)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return sparse.coo_array(matrix)


def entries_of_mtx(source: Source) -> Entries:
    """Return the entries of a Matrix Market file."""
    head = _head(source)
    columns = [Growing(), Growing()]
    values: list[NDArray[np.float64]] = []
    notes = Notes()
    try:
        for table in tables(source, head.dialect, (0, 1), notes, pa.int64()):
            for axis, grown in enumerate(columns):
                _extend(grown, table.column(axis).to_numpy(), head.shape[axis])
        if head.dialect.n_columns > 2:
            weighted = tables(source, head.dialect, (2,), notes, pa.float64())
            values.extend(table.column(0).to_numpy() for table in weighted)
    except NotIntegersError:
        _refuse_line(source, head)
    if notes.rows != head.entries:
        source.refuse(
            f"{notes.rows} entries where line {head.line} says {head.entries}. "
            "Copy the file again, whole."
        )
    row, column = (grown.finish() - np.int32(1) for grown in columns)
    weights = np.concatenate(values) if values else None
    return Entries(row, column, weights, head.shape, symmetric=head.symmetric)


class _Head(NamedTuple):
    """What stands before the entries."""

    shape: tuple[int, int]
    entries: int
    symmetric: bool
    dialect: Dialect
    line: int


def _extend(column: Growing, values: NDArray[np.int64], size: int) -> None:
    if values.size and (values.min() < 1 or values.max() > size):
        raise NotIntegersError
    column.extend(values)


def _head(source: Source) -> _Head:
    banner = None
    for number, line in source.lines():
        if banner is None:
            banner = _BANNER.fullmatch(line)
            if banner is None:
                source.refuse("this is no Matrix Market banner. Check the format.", line=number)
        elif line.strip() and not line.lstrip().startswith("%"):
            words = {name: word.lower() for name, word in banner.groupdict().items()}
            _check_banner(source, words)
            width = 2 if words["values"] == "pattern" else 3
            dialect = Dialect(
                delimiter=WHITESPACE,
                n_columns=width,
                header=("sizes",),
                spaced=False,
                widths=frozenset({width}),
                plain_only=False,
            )
            rows, columns, entries = _sizes(source, line, number)
            symmetric = words["symmetry"] == "symmetric"
            return _Head((rows, columns), entries, symmetric, dialect, number)
    return source.refuse("there is no line of sizes. Copy the file again, whole.")


def _check_banner(source: Source, words: dict[str, str]) -> None:
    if words["layout"] != "coordinate":
        source.refuse("the matrix is dense. Write it as coordinate.", line=1)
    if words["values"] not in _VALUES or words["symmetry"] not in _SYMMETRIES:
        kind = f"{words['values']} {words['symmetry']}"
        source.refuse(f"a matrix that is {shown(kind)} is no data of people. Check it.", line=1)


def _sizes(source: Source, line: str, number: int) -> tuple[int, int, int]:
    sizes = line.split()
    if len(sizes) != 3 or not all(size.isascii() and size.isdigit() for size in sizes):
        source.refuse(f"no three sizes ({shown(line)}). Give rows, columns, entries.", line=number)
    rows, columns, entries = (int(size[:20]) for size in sizes)
    check_size(source, max(rows, columns), entries)
    return rows, columns, entries


def _refuse_line(source: Source, head: _Head) -> NoReturn:
    """Refuse the first line that is no entry of the matrix."""
    for number, line in source.lines():
        if number <= head.line or not line.strip() or line.lstrip().startswith("%"):
            continue
        cells = expect_width(source, number, line, head.dialect)
        for cell, size in zip(cells, head.shape, strict=False):
            if not (cell.isascii() and cell.isdigit() and 1 <= int(cell[:20]) <= size):
                source.refuse(f"{shown(cell)} is not from 1 to {size}. Correct it.", line=number)
    source.refuse("a value is no number. Correct it, or write the matrix as pattern.")

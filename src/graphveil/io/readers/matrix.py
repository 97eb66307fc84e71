"""Sparse matrices as graphs and as user-item data: Matrix Market text, and SciPy's `.npz`.

Matrix Market is parsed here: `scipy.io.mmread` may end the process on a damaged file. A banner
gives layout, values and symmetry; then come comments, a line of sizes, and one line per entry,
counted from 1. Entries are parsed by Arrow, chunk by chunk. Of `.npz`, nothing is unpickled.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from graphveil.core.hints import leave_out, option
from graphveil.core.text import counted
from graphveil.data import Bipartite, Graph
from graphveil.io.formats import BipartiteOptions, Format, GraphOptions
from graphveil.io.parsed import ParsedArcs, ParsedPairs, ReadCounts, check_size
from graphveil.io.source import Source, shown
from graphveil.io.text.columns import NotIntegersError, tables
from graphveil.io.text.compact_integers import Growing
from graphveil.io.text.dialect import WHITESPACE, Dialect, expect_width

_BANNER = re.compile(
    r"%%matrixmarket\s+matrix\s+(?P<layout>\w+)\s+(?P<values>[\w-]+)\s+(?P<symmetry>[\w-]+)\s*",
    re.IGNORECASE,
)
_VALUES = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric")
_FAILURES = (
    *(ValueError, TypeError, LookupError, OverflowError, MemoryError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What reading a damaged file may raise."""


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
        source.refuse(f"this is not a complete npz file ({shown(error)}). Write it again.")
    row, column = matrix.coords
    for axis, indices in enumerate((row, column)):
        if indices.size and (indices.min() < 0 or indices.max() >= matrix.shape[axis]):
            source.refuse(f"an index is outside 0..{matrix.shape[axis] - 1}. Write the file again.")
    if matrix.data.dtype.kind not in "biuf":
        source.refuse(f"the values are of type {matrix.data.dtype}. Write numbers or booleans.")
    return Entries(
        row.astype(np.int32), column.astype(np.int32), matrix.data, matrix.shape, symmetric=False
    )


def _matrix_in(source: Source, stream: Any) -> sparse.coo_array:
    with np.load(stream, allow_pickle=False) as archive:
        if "format" not in archive or "shape" not in archive:
            source.refuse(
                "this .npz file has no SciPy matrix. Write it with scipy.sparse.save_npz."
            )
        # The size is checked before the matrix is built: a damaged file could ask for any memory.
        shape = tuple(int(size) for size in archive["shape"])
        if len(shape) != 2 or min(shape) < 0:
            source.refuse(
                f"cannot read a matrix of shape {shown(shape)}. Give a matrix with two dimensions."
            )
        check_size(source, max(shape), max(archive[name].size for name in archive.files))
    stream.seek(0)
    matrix = sparse.load_npz(stream)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return sparse.coo_array(matrix)


def entries_of_mtx(source: Source) -> Entries:
    """Return the entries of a Matrix Market file."""
    # Rows and columns as integers, a chunk at a time.
    head = _head(source)
    columns = [Growing(), Growing()]
    values: list[NDArray[np.float64]] = []
    notes = ReadCounts()
    try:
        for table in tables(head.dialect, (0, 1), notes, pa.int64()):
            for axis, grown in enumerate(columns):
                _extend(grown, table.column(axis).to_numpy(), head.shape[axis])
        # Values, if there are any, in a second pass.
        if head.dialect.n_columns > 2:
            weighted = tables(head.dialect, (2,), notes, pa.float64())
            values.extend(table.column(0).to_numpy() for table in weighted)
    except NotIntegersError:
        _refuse_line(source, head)
    # As many entries as the line of sizes declares.
    if notes.rows != head.entries:
        _refuse_number(source, head, notes.rows)
    # Indices count from 1.
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
                source.refuse("this is not a Matrix Market banner. Check the format.", line=number)
        elif line.strip() and not line.lstrip().startswith("%"):
            words = {name: word.lower() for name, word in banner.groupdict().items()}
            _check_banner(source, words)
            width = 2 if words["values"] == "pattern" else 3
            cells = (source, WHITESPACE, width, ("sizes",), False, frozenset({width}))
            dialect = Dialect(*cells, plain_only=False)
            rows, columns, entries = _sizes(source, line, number)
            symmetric = words["symmetry"] == "symmetric"
            return _Head((rows, columns), entries, symmetric, dialect, number)
    return source.refuse("the line of sizes is missing. Copy the complete file again.")


def _check_banner(source: Source, words: dict[str, str]) -> None:
    if words["layout"] != "coordinate":
        source.refuse("the matrix is dense. Write it in coordinate format.", line=1)
    if words["values"] not in _VALUES or words["symmetry"] not in _SYMMETRIES:
        kind = f"{words['values']} {words['symmetry']}"
        source.refuse(
            f"a matrix that is {shown(kind)} is not data about people. Check the file.", line=1
        )


def _sizes(source: Source, line: str, number: int) -> tuple[int, int, int]:
    sizes = line.split()
    if len(sizes) != 3 or not all(size.isascii() and size.isdigit() for size in sizes):
        pair = f", or, if each line is a pair of ids, use {option('input_format', 'text')}"
        source.refuse(
            f"the line of sizes is missing: expected rows, columns and entries, found "
            f"{shown(line)}. Add that line{pair if len(sizes) == 2 else ''}.",
            line=number,
        )
    rows, columns, entries = (int(size[:20]) for size in sizes)
    check_size(source, max(rows, columns), entries)
    return rows, columns, entries


def _refuse_number(source: Source, head: _Head, entries: int) -> NoReturn:
    """Refuse another number of entries than declared; three numbers may be an entry themselves."""
    cure = "Copy the complete file again."
    if head.dialect.n_columns == 3:
        cure += (
            f" If line {head.line} is an entry, the line of sizes is missing: add rows, columns "
            "and entries above it."
        )
    source.refuse(
        f"{counted(entries, 'entry')}, but line {head.line} declares {head.entries}. {cure}"
    )


def _refuse_line(source: Source, head: _Head) -> NoReturn:
    """Refuse the first line that is not an entry of the matrix."""
    entries = [
        (number, line)
        for number, line in source.lines()
        if number > head.line and line.strip() and not line.lstrip().startswith("%")
    ]
    for number, line in entries:
        cells = expect_width(number, line, head.dialect)
        if head.dialect.n_columns == 3 and len(entries) != head.entries:
            _refuse_number(source, head, len(entries))
        for cell, size in zip(cells, head.shape, strict=False):
            if not (cell.isascii() and cell.isdigit() and 1 <= int(cell[:20]) <= size):
                source.refuse(
                    f"{shown(cell)} is not between 1 and {size}. Correct it.", line=number
                )
    source.refuse("a value is not a number. Correct it, or write the matrix as pattern.")


_BLOCK = 1 << 18


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a square matrix; one that stores both triangles may be directed."""
    matrix = _read(source)
    rows, columns = matrix.shape
    if rows != columns:
        source.refuse(
            f"the matrix is {rows} x {columns}; an adjacency matrix must be square. If its rows "
            f"are users and its columns items, use {option('kind', 'bipartite')}."
        )
    # A square matrix may be one of users by items: the report says how it was read.
    row, column, notes = _pattern(source, matrix, ignore_weights=options.ignore_weights)
    notes.square = not matrix.symmetric or bool((row == column).any())
    # One that stores both triangles lists every edge twice, and may have directions.
    labels, both = np.arange(rows, dtype=np.int64), not matrix.symmetric
    arcs = ParsedArcs(source=row, target=column, labels=labels, notes=notes)
    arcs.directed = arcs.twice = both
    return arcs


def read_bipartite(source: Source, options: BipartiteOptions) -> ParsedPairs:
    """Return the pairs of a matrix of users by items; of a symmetric one, both triangles."""
    matrix = _read(source)
    row, column, notes = _pattern(source, matrix, ignore_weights=options.ignore_weights)
    # A symmetric matrix stores one triangle: add the other.
    if matrix.symmetric:
        other = row != column
        row, column = (np.concatenate([row, column[other]]), np.concatenate([column, row[other]]))
    notes.nameless = True
    users, items = (np.arange(size, dtype=np.int64) for size in matrix.shape)
    return ParsedPairs(user=row, item=column, users=users, items=items, notes=notes)


def _read(source: Source) -> Entries:
    read = entries_of_npz if source.format.name == "npz" else entries_of_mtx
    matrix = read(source)
    check_size(source, max(matrix.shape), matrix.row.size)
    return matrix


def _pattern(
    source: Source, matrix: Entries, *, ignore_weights: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], ReadCounts]:
    """Return where the matrix is not zero; refuse values other than 0 and 1 unless ignored."""
    row, column, values = matrix.row, matrix.column, matrix.values
    if values is None:
        return row, column, ReadCounts(rows=row.size)
    weights = values[(values != 0) & (values != 1)]
    if weights.size and not ignore_weights:
        source.refuse(
            f"the entries are weights (such as {shown(weights[0])}), which this "
            f"method does not use. {leave_out()}"
        )
    stored = values != 0
    notes = ReadCounts(
        rows=int(np.count_nonzero(stored)), columns_ignored=("values",) if weights.size else ()
    )
    return row[stored], column[stored], notes


def write_graph(graph: Graph, stream: IO[bytes], form: Format) -> None:
    """Write the symmetric adjacency matrix; Matrix Market gets the lower triangle."""
    if form.name == "npz":
        sparse.save_npz(stream, graph.to_scipy())
        return
    edges = graph.edges()[:, ::-1] + 1
    _write_text(edges, (graph.n_nodes, graph.n_nodes), "symmetric", stream)


def write_bipartite(data: Bipartite, stream: IO[bytes], form: Format) -> None:
    """Write the matrix of users by items."""
    if form.name == "npz":
        sparse.save_npz(stream, data.to_scipy())
        return
    pairs = np.stack([data.rows(), data.indices], axis=1) + 1
    _write_text(pairs, (data.n_users, data.n_features), "general", stream)


def _write_text(
    pairs: NDArray[np.int32], shape: tuple[int, int], symmetry: str, stream: IO[bytes]
) -> None:
    banner = f"%%MatrixMarket matrix coordinate pattern {symmetry}\n"
    stream.write(f"{banner}{shape[0]} {shape[1]} {len(pairs)}\n".encode())
    for start in range(0, len(pairs), _BLOCK):
        lines = [f"{row} {column}\n" for row, column in pairs[start : start + _BLOCK].tolist()]
        stream.write("".join(lines).encode())

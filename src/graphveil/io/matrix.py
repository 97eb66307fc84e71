"""Sparse matrices: Matrix Market text, and the `.npz` files of SciPy."""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
import scipy.io
from numpy.typing import NDArray
from scipy import sparse

from graphveil.data import Bipartite, Graph
from graphveil.io.formats import Format
from graphveil.io.options import BipartiteOptions, GraphOptions
from graphveil.io.raw import Arcs, Notes, Pairs, check_size
from graphveil.io.source import Source, shown

_BANNER = re.compile(
    r"%%matrixmarket\s+matrix\s+(?P<layout>\w+)\s+(?P<values>[\w-]+)\s+(?P<symmetry>[\w-]+)\s*",
    re.IGNORECASE,
)
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
_BLOCK = 1 << 18


class _Matrix(NamedTuple):
    """A sparse matrix; `symmetric` says that the format stores one triangle."""

    entries: sparse.coo_array
    symmetric: bool


def read_graph(source: Source, options: GraphOptions) -> Arcs:
    """Return the arcs of a square matrix; one that stores both triangles may be directed."""
    matrix, symmetric = _read(source)
    rows, columns = matrix.shape
    if rows != columns:
        source.refuse(
            f"the matrix is {rows} x {columns}, but that of a graph is square. Read it as bipartite."
        )
    row, column = _pattern(source, matrix, ignore_weights=options.ignore_weights)
    return Arcs(
        source=row,
        target=column,
        labels=np.arange(rows, dtype=np.int64),
        directed=not symmetric,
        listed=True,
        notes=_notes(matrix, row),
    )


def read_bipartite(source: Source, options: BipartiteOptions) -> Pairs:
    """Return the pairs of a matrix of users by items."""
    matrix, symmetric = _read(source)
    if symmetric:
        source.refuse("the matrix is symmetric, so it is that of a graph. Read it as a graph.")
    row, column = _pattern(source, matrix, ignore_weights=options.ignore_weights)
    return Pairs(
        user=row,
        item=column,
        users=np.arange(matrix.shape[0], dtype=np.int64),
        items=np.arange(matrix.shape[1], dtype=np.int64),
        listed=True,
        notes=_notes(matrix, row),
    )


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
    head = (
        f"%%MatrixMarket matrix coordinate pattern {symmetry}\n{shape[0]} {shape[1]} {len(pairs)}\n"
    )
    stream.write(head.encode())
    for start in range(0, len(pairs), _BLOCK):
        lines = [f"{row} {column}\n" for row, column in pairs[start : start + _BLOCK].tolist()]
        stream.write("".join(lines).encode())


def _read(source: Source) -> _Matrix:
    try:
        matrix = _read_npz(source) if source.format.name == "npz" else _read_text(source)
    except _FAILURES as error:
        _refuse(source, error)
    check_size(source, max(matrix.entries.shape), matrix.entries.nnz)
    return matrix


def _refuse(source: Source, error: BaseException) -> NoReturn:
    message = str(error)
    found = re.match(r"Line (\d+): (.*)", message)
    detail = shown(found[2] if found else message)
    source.refuse(
        f"this is no whole {source.format.name} file ({detail}). Write it again.",
        line=int(found[1]) if found else None,
    )


def _read_npz(source: Source) -> _Matrix:
    with source.open() as stream, np.load(stream, allow_pickle=False) as archive:
        if "format" not in archive or "shape" not in archive:
            source.refuse("this .npz holds no SciPy matrix. Write it with scipy.sparse.save_npz.")
        shape = tuple(int(size) for size in archive["shape"])
        if len(shape) != 2 or min(shape) < 0:
            source.refuse(f"a matrix of shape {shown(shape)} cannot be read. Give two dimensions.")
        largest = max(archive[name].size for name in archive.files)
        check_size(source, max(shape), largest)
        stream.seek(0)
        matrix = sparse.load_npz(stream)
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        return _Matrix(_checked(sparse.coo_array(matrix)), symmetric=False)


def _checked(matrix: sparse.coo_array) -> sparse.coo_array:
    for axis, places in enumerate(matrix.coords):
        if places.size and (places.min() < 0 or places.max() >= matrix.shape[axis]):
            raise ValueError(f"an index is outside 0..{matrix.shape[axis] - 1}")
    return matrix


def _read_text(source: Source) -> _Matrix:
    symmetry = _checked_head(source)
    with source.open() as stream:
        matrix = sparse.coo_array(scipy.io.mmread(stream))
    if symmetry == "general":
        return _Matrix(matrix, symmetric=False)
    row, column = matrix.coords
    lower = row >= column
    half = (matrix.data[lower], (row[lower], column[lower]))
    return _Matrix(sparse.coo_array(half, shape=matrix.shape), symmetric=True)


def _checked_head(source: Source) -> str:
    """Return the symmetry that the banner names; refuse what no file of this size can hold."""
    banner = None
    for number, line in source.lines():
        if banner is None:
            banner = _BANNER.fullmatch(line)
            if banner is None:
                source.refuse("this is no Matrix Market banner. Check the format.", line=number)
            if banner["layout"].lower() != "coordinate":
                source.refuse("the matrix is dense. Write it as coordinate.", line=number)
        elif line.strip() and not line.lstrip().startswith("%"):
            _check_counts(source, line, number)
            return str(banner["symmetry"].lower())
    source.refuse("there is no line of sizes. Copy the file again, whole.")


def _check_counts(source: Source, line: str, number: int) -> None:
    sizes = line.split()
    if len(sizes) != 3 or not all(size.isascii() and size.isdigit() for size in sizes):
        source.refuse(f"no three sizes ({shown(line)}). Give rows, columns, entries.", line=number)
    rows, columns, entries = (int(size[:20]) for size in sizes)
    room = source.path.stat().st_size * (1100 if source.compression else 1)
    if entries > room:
        source.refuse(f"it says {entries:,} entries, more than fit. Check it.", line=number)
    check_size(source, max(rows, columns), entries)


def _pattern(
    source: Source, matrix: sparse.coo_array, *, ignore_weights: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return where the matrix is not zero; refuse values other than 0 and 1 unless ignored."""
    values = matrix.data
    weights = values[(values != 0) & (values != 1)]
    if weights.size and not ignore_weights:
        source.refuse(
            f"the entries are weights (such as {shown(weights[0])}). "
            "Say --ignore-weights to leave them out."
        )
    held = values != 0
    row, column = (places[held].astype(np.int32, copy=False) for places in matrix.coords)
    return row, column


def _notes(matrix: Any, row: NDArray[np.int32]) -> Notes:
    values = matrix.data
    weighted = bool(np.any((values != 0) & (values != 1)))
    return Notes(rows=row.size, columns_ignored=("values",) if weighted else ())

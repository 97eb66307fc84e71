"""Sparse matrices as graphs and as users by items: Matrix Market text, and SciPy's `.npz`."""

from __future__ import annotations

from typing import IO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from graphveil.data import Bipartite, Graph
from graphveil.errors import leave_out
from graphveil.io.formats import Format
from graphveil.io.matrix_files import Entries, entries_of_mtx, entries_of_npz
from graphveil.io.options import BipartiteOptions, GraphOptions
from graphveil.io.parsed import Notes, ParsedArcs, ParsedPairs, check_size
from graphveil.io.source import Source, shown

_BLOCK = 1 << 18


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a square matrix; one that stores both triangles may be directed."""
    matrix = _read(source)
    rows, columns = matrix.shape
    if rows != columns:
        source.refuse(
            f"the matrix is {rows} x {columns}, but that of a graph is square. "
            "Read it as bipartite."
        )
    row, column, notes = _pattern(source, matrix, ignore_weights=options.ignore_weights)
    return ParsedArcs(
        source=row,
        target=column,
        labels=np.arange(rows, dtype=np.int64),
        directed=not matrix.symmetric,
        twice=not matrix.symmetric,
        notes=notes,
    )


def read_bipartite(source: Source, options: BipartiteOptions) -> ParsedPairs:
    """Return the pairs of a matrix of users by items."""
    matrix = _read(source)
    if matrix.symmetric:
        source.refuse("the matrix is symmetric, so it is that of a graph. Read it as a graph.")
    row, column, notes = _pattern(source, matrix, ignore_weights=options.ignore_weights)
    notes.nameless = True
    return ParsedPairs(
        user=row,
        item=column,
        users=np.arange(matrix.shape[0], dtype=np.int64),
        items=np.arange(matrix.shape[1], dtype=np.int64),
        notes=notes,
    )


def _read(source: Source) -> Entries:
    read = entries_of_npz if source.format.name == "npz" else entries_of_mtx
    matrix = read(source)
    check_size(source, max(matrix.shape), matrix.row.size)
    return matrix


def _pattern(
    source: Source, matrix: Entries, *, ignore_weights: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], Notes]:
    """Return where the matrix is not zero; refuse values other than 0 and 1 unless ignored."""
    row, column, values = matrix.row, matrix.column, matrix.values
    if values is None:
        return row, column, Notes(rows=row.size)
    weights = values[(values != 0) & (values != 1)]
    if weights.size and not ignore_weights:
        source.refuse(f"the entries are weights (such as {shown(weights[0])}). {leave_out()}")
    stored = values != 0
    notes = Notes(
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

"""Formats that list both directions of an edge, and matrices: read strictly, each in one pass."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.records.manifest import DataFile
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.delimited import load_body
from graphveil.verify.files.packed import unpacked
from graphveil.verify.verdict import shown

Ints = NDArray[np.int64]

_PLAIN = np.zeros(256, dtype=np.bool_)
_PLAIN[np.frombuffer(b"0123456789 \n", dtype=np.uint8)] = True
_NPZ_MEMBERS = {"data", "indices", "indptr", "shape", "format", "_is_array"}
_LONGEST_HEAD = 200
_MOST_NODES = 2**31 - 2


def load_metis(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `nodes` and `edges` of a METIS graph: a line a node, neighbours counted from 1."""
    (head,), body = _split(path, 1)
    n, m = _numbers(path, head, r"(\d+) (\d+)")
    sizes, values = _rows(path, body)
    _put(db, path, (n, 2 * m), sizes, values - 1)


def load_nauty(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `nodes` and `edges` of adjacency text: ``node: neighbour neighbour;``."""
    head, body = _split(path, 2)
    n, arcs = _numbers(path, "".join(head), r"!n=(\d+)!m=(\d+)")
    text = np.frombuffer(body, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    colons = np.flatnonzero(text == ord(":"))
    stops = np.flatnonzero(text == ord(";"))
    if ends.size != n:
        raise UnreadableError(f"{path.name}: {ends.size} lines for {n} nodes")
    node = np.arange(n)
    if not (np.array_equal(stops, ends - 1) and np.array_equal(colons, starts + _digits(node))):
        raise UnreadableError(f"{path.name}: a line is not written as `node: neighbours;`")
    sizes, values = _rows(path, body.translate(None, b":;"))
    first = np.cumsum(sizes) - sizes
    if sizes.min(initial=1) < 1 or not np.array_equal(values[first], node):
        raise UnreadableError(f"{path.name}: the lines are not those of the nodes 0..{n - 1}")
    _put(db, path, (n, arcs), sizes - 1, np.delete(values, first))


def load_npz(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `nodes` and `edges` of a symmetric matrix of ones."""
    matrix = _npz(path)
    n = int(matrix.shape[0])
    if matrix.shape != (n, n):
        raise UnreadableError(f"{path.name}: a matrix of shape {matrix.shape} is no graph's")
    sizes, values = np.diff(matrix.indptr), matrix.indices
    _put(db, path, (n, values.size), sizes.astype(np.int64), values.astype(np.int64))


def load_npz_entries(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `users` and `entries` of a matrix of ones."""
    matrix = _npz(path)
    _check_last_column(path, int(matrix.shape[1]), int(matrix.indices.max(initial=-1)) + 1)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    db.put("users", {"person": np.arange(matrix.shape[0])})
    db.put("columns", {"person": rows, "item": matrix.indices})
    db.run("CREATE TABLE entries AS SELECT person, CAST(item AS VARCHAR) AS item FROM columns")


def load_mtx(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `nodes` and `edges` of the lower triangle in Matrix Market text."""
    rows, columns = _mtx(db, path, "symmetric")
    if rows != columns:
        raise UnreadableError(f"{path.name}: a {rows} x {columns} matrix is no graph's")
    db.put("nodes", {"node": np.arange(rows)})
    db.run(
        "CREATE TABLE edges AS SELECT column_number - 1 AS source, row_number - 1 AS target "
        "FROM listed"
    )


def load_mtx_entries(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `users` and `entries` of a matrix in Matrix Market text."""
    rows, columns = _mtx(db, path, "general")
    outside = db.first(
        "SELECT rowid + 3 FROM listed WHERE column_number NOT BETWEEN 1 AND ? LIMIT 1", [columns]
    )
    if outside:
        raise UnreadableError(f"{path.name}, line {outside[0]}: no column 1..{columns}")
    _check_last_column(path, columns, db.number("SELECT max(column_number) FROM listed"))
    db.put("users", {"person": np.arange(rows)})
    db.run(
        "CREATE TABLE entries AS SELECT row_number - 1 AS person, "
        "CAST(column_number - 1 AS VARCHAR) AS item FROM listed"
    )


def _check_last_column(path: Path, columns: int, last: int) -> None:
    """Refuse columns behind the last one with an entry: they tell of features that are not there.

    Raises
    ------
    UnreadableError
        Where there is one.
    """
    if columns != last:
        raise UnreadableError(f"{path.name} has {columns} columns, the last entry is in {last}")


def _mtx(db: Database, path: Path, symmetry: str) -> tuple[int, int]:
    """Create `listed(row_number, column_number)` and return the shape."""
    head, _ = _split(path, 2, body=False)
    banner = f"%%MatrixMarket matrix coordinate pattern {symmetry}"
    rows, columns, count = _numbers(path, "\n".join(head), rf"{banner}\n(\d+) (\d+) (\d+)")
    names = ("row_number", "column_number")
    load_body(db, path, "listed", names, before=head)
    n_listed = db.number("SELECT count(*) FROM listed")
    if n_listed != count:
        raise UnreadableError(f"{path.name}: {n_listed} entries where line 2 says {count}")
    return rows, columns


def _npz(path: Path) -> Any:
    """Return the matrix of ones in an archive that holds nothing else."""
    from scipy import sparse  # noqa: PLC0415  heavy, and most formats need none of it

    with np.load(path, allow_pickle=False) as archive:
        members = set(archive.files)
    if members != _NPZ_MEMBERS:
        raise UnreadableError(f"{path.name} holds {sorted(members)}, not one matrix")
    matrix = sparse.load_npz(path)
    if matrix.format != "csr" or not np.all(matrix.data == 1):
        raise UnreadableError(f"{path.name} is no CSR matrix of ones")
    matrix.check_format(full_check=True)
    return matrix


def _split(path: Path, lines: int, *, body: bool = True) -> tuple[list[str], bytes]:
    """Return the first lines, without their ends, and the rest."""
    with unpacked(path) as stream:
        text = stream.read() if body else stream.read(_LONGEST_HEAD)
    *head, rest = text.split(b"\n", lines)
    if len(head) != lines:
        raise UnreadableError(f"{path.name}: the first {lines} lines are not its sizes")
    return [line.decode("ascii", "replace") for line in head], rest


def _numbers(path: Path, head: str, pattern: str) -> list[int]:
    match = re.fullmatch(pattern, head, re.ASCII)
    if not match:
        raise UnreadableError(f"{path.name}: the first lines do not give its sizes")
    if any(len(group) > 15 for group in match.groups()) or int(match[1]) > _MOST_NODES:
        raise UnreadableError(f"{path.name}: its sizes {shown(head)} are more than a release holds")
    return [int(group) for group in match.groups()]


def _rows(path: Path, body: bytes) -> tuple[Ints, Ints]:
    """Return how many integers each line holds, and all of them.

    Only the plain form is accepted: digits without leading zeros, one blank between, a line feed
    after each line.
    """
    text = np.frombuffer(body, dtype=np.uint8)
    if not _PLAIN[text].all():
        position = int(np.argmin(_PLAIN[text]))
        raise UnreadableError(f"{path.name}: byte {text[position]:#04x} is no part of it")
    ends = np.flatnonzero(text == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    blanks = np.cumsum(text == ord(" "))[ends]
    sizes = np.where(lengths > 0, np.diff(blanks, prepend=0) + 1, 0)
    values = np.array([], dtype=np.int64)
    if sizes.sum():
        values = np.fromstring(body, dtype=np.int64, sep=" ")
    expected = int(_digits(values).sum()) + (int(blanks[-1]) if blanks.size else 0) + ends.size
    if values.size != sizes.sum() or expected != len(body):
        raise UnreadableError(f"{path.name}: blanks or zeros stand where none belong")
    return sizes, values


def _digits(values: Ints) -> Ints:
    """Return the number of decimal digits of every integer from 0 on."""
    powers = 10 ** np.arange(1, 19, dtype=np.int64)
    return np.searchsorted(powers, values, side="right") + 1


def _put(db: Database, path: Path, header: tuple[int, int], sizes: Ints, target: Ints) -> None:
    """Create `nodes` and `edges` of rows of neighbours, once they are ascending and symmetric."""
    n, arcs = header
    if sizes.size != n or target.size != arcs:
        raise UnreadableError(
            f"{path.name}: {sizes.size} rows with {target.size} entries, it says {n} with {arcs}"
        )
    source = np.repeat(np.arange(n), sizes)
    outside = np.flatnonzero((target < 0) | (target >= n))
    if outside.size:
        raise UnreadableError(
            f"{path.name}: node {source[outside[0]]} has a neighbour that is none"
        )
    key = source * n + target
    falling = np.flatnonzero(key[1:] <= key[:-1])
    if falling.size:
        raise UnreadableError(f"{path.name}: the row of node {source[falling[0]]} does not ascend")
    turned = np.sort(target * n + source)
    if not np.array_equal(turned, key):
        alone = int(np.setdiff1d(key, turned)[0])
        raise UnreadableError(
            f"{path.name}: node {alone // n} lists {alone % n}, which does not list it"
        )
    once = source <= target
    db.put("nodes", {"node": np.arange(n)})
    db.put("edges", {"source": source[once], "target": target[once]})

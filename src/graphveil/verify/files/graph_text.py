"""Graphs and matrices as text: numbers between fixed words, read loosely and written again.

Whatever stands between the numbers is skipped when they are read. The numbers are then written
again as the format asks for, by SQL, and bytes are compared: words, order and spelling are the
expected ones, or the file is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.records.manifest import DataFile
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.canonical import Part, compare

Ints = NDArray[np.int64]

_BYTES_PER_ID = 8
_SEPARATE = bytes(byte if byte in b"0123456789" else ord(" ") for byte in range(256))
_MTX = "%%MatrixMarket matrix coordinate pattern"
_BOTH_ENDS = (
    "(SELECT source AS node, target AS other FROM edges WHERE source < target "
    "UNION ALL SELECT target, source FROM edges WHERE source < target)"
)


class _Numbers(NamedTuple):
    """Every run of digits in a text, as an integer, and the line that it stands in."""

    text: bytes
    values: Ints
    line: Ints

    def behind(self, count: int) -> _Numbers:
        """Return the numbers without the first ones."""
        return self._replace(values=self.values[count:], line=self.line[count:])

    def pairs(self, first: int) -> Ints:
        """Return the numbers two by two, counted from 0 on where `first` is the first one."""
        return self.values[: self.values.size // 2 * 2].reshape(-1, 2) - first


class _Form:
    """How a format is read, and how it is written.

    Parameters
    ----------
    read
        Gives the number of nodes, and the edges, from the numbers of a file.
    head
        What stands before the nodes and edges: the sizes, in some formats.
    parts
        What stands behind it.
    """

    def __init__(
        self, read: Callable[[_Numbers], tuple[int, Ints]], head: str, *parts: Part
    ) -> None:
        self.read, self._head, self._parts = read, head, parts

    def written(self, n: int, m: int) -> list[Part]:
        """Return the parts of a file of so many nodes and edges."""
        return [self._head.format(n=n, m=m, arcs=2 * m).encode(), *self._parts]


def load_graph(db: Database, path: Path, file: DataFile) -> None:
    """Create `nodes` and `edges` of a graph in one of the formats of `FORMS`.

    Raises
    ------
    UnreadableError
        Where a byte is not the one expected; the message names file and line.
    """
    form = FORMS[file.format]
    n, edges = form.read(_numbers(path))
    _put_ids(db, path, "nodes", "node", n)
    db.put("edges", {"source": edges[:, 0], "target": edges[:, 1]})
    compare(db, path, form.written(n, len(edges)))


def load_matrix(db: Database, path: Path, file: DataFile) -> None:  # noqa: ARG001  one shape
    """Create `users` and `entries` of a matrix in Matrix Market text.

    Raises
    ------
    UnreadableError
        Where a byte is not the one expected; the message names file and line.
    """
    numbers = _numbers(path)
    entries = numbers.behind(3).pairs(1)
    n, columns = _first(numbers), int(entries[:, 1].max(initial=-1)) + 1
    _put_ids(db, path, "users", "person", n)
    db.put("columns", {"person": entries[:, 0], "item": entries[:, 1]})
    head = f"{_MTX} general\n{n} {columns} {len(entries)}\n".encode()
    compare(db, path, [head, "SELECT concat(person + 1, ' ', item + 1, chr(10)) FROM columns"])
    db.run("CREATE TABLE entries AS SELECT person, CAST(item AS VARCHAR) AS item FROM columns")


def _put_ids(db: Database, path: Path, table: str, column: str, n: int) -> None:
    """Create a table of the ids 0..n-1: a file may say that it has more than memory holds."""
    db.refuse_beyond(n * _BYTES_PER_ID, path.name)
    db.run(f"CREATE TABLE {table} AS SELECT range AS {column} FROM range({n})")


def _numbers(path: Path) -> _Numbers:
    text = path.read_bytes()
    letters = np.frombuffer(text, dtype=np.uint8)
    first = (letters >= ord("0")) & (letters <= ord("9"))
    first[1:] &= ~first[:-1]
    starts = np.flatnonzero(first)
    if not starts.size:
        raise UnreadableError(f"{path.name} holds no number")
    values = np.fromstring(text.translate(_SEPARATE), dtype=np.int64, sep=" ")
    line = np.searchsorted(np.flatnonzero(letters == ord("\n")), starts)
    return _Numbers(text, values, line)


def _first(numbers: _Numbers) -> int:
    return int(numbers.values[0])


def _metis(numbers: _Numbers) -> tuple[int, Ints]:
    rows = numbers.behind(2)
    return _first(numbers), _once(rows.line - 1, rows.values - 1)


def _nauty(numbers: _Numbers) -> tuple[int, Ints]:
    rows = numbers.behind(2)
    neighbor = np.diff(rows.line, prepend=-1) == 0
    return _first(numbers), _once(rows.line[neighbor] - 2, rows.values[neighbor])


def _once(node: Ints, other: Ints) -> Ints:
    """Return every edge once, of those that both its ends should list."""
    once = node < other
    return np.column_stack([node[once], other[once]])


def _mtx(numbers: _Numbers) -> tuple[int, Ints]:
    return _first(numbers), numbers.behind(3).pairs(1)[:, ::-1]


def _pajek(numbers: _Numbers) -> tuple[int, Ints]:
    n = _first(numbers)
    return n, numbers.behind(1 + 2 * n).pairs(1)


def _gml(numbers: _Numbers) -> tuple[int, Ints]:
    n = numbers.text.count(b"  node [\n")
    return n, numbers.behind(1 + 2 * n).pairs(0)


def _graphml(numbers: _Numbers) -> tuple[int, Ints]:
    n = numbers.text.count(b"<node ")
    return n, numbers.behind(3 + n).pairs(0)


def _lines(cells: str, table: str) -> str:
    return f"SELECT concat({cells}, chr(10)) FROM {table}"


def _rows(line: str) -> str:
    """Return SQL for a line a node, with its neighbors in order."""
    return (
        f"SELECT concat({line}, chr(10)) FROM nodes LEFT JOIN {_BOTH_ENDS} USING (node) "
        "GROUP BY node ORDER BY node"
    )


FORMS = {
    "graphml": _Form(
        _graphml,
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '  <graph edgedefault="undirected">\n',
        _lines("""'    <node id="', node, '"/>'""", "nodes"),
        _lines("""'    <edge source="', source, '" target="', target, '"/>'""", "edges"),
        b"  </graph>\n</graphml>\n",
    ),
    "gml": _Form(
        _gml,
        "graph [\n  directed 0\n",
        _lines("""'  node [\n    id ', node, '\n    label "', node, '"\n  ]'""", "nodes"),
        _lines("'  edge [\n    source ', source, '\n    target ', target, '\n  ]'", "edges"),
        b"]\n",
    ),
    "pajek": _Form(
        _pajek,
        "*Vertices {n}\n",
        _lines("""node + 1, ' "', node, '"'""", "nodes"),
        b"*Edges\n",
        _lines("source + 1, ' ', target + 1", "edges"),
    ),
    "mtx": _Form(
        _mtx,
        f"{_MTX} symmetric\n{{n}} {{n}} {{m}}\n",
        _lines("target + 1, ' ', source + 1", "edges"),
    ),
    "metis": _Form(_metis, "{n} {m}\n", _rows("string_agg(other + 1, ' ' ORDER BY other)")),
    "nauty": _Form(
        _nauty,
        "!n={n}\n!m={arcs}\n",
        _rows("node, ':', string_agg(' ' || other, '' ORDER BY other), ';'"),
    ),
}
"""The formats of a graph in which every node is listed, or counted."""

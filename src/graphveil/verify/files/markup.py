"""GraphML, GML and Pajek as graphveil writes them: fixed words around numbers, and nothing else.

With every number replaced by ``#`` such a file is a head, a template a node, a template an edge and
a tail. Comparing with that leaves no room for attributes, comments or names.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.records.manifest import DataFile
from graphveil.verify.database import Database, UnreadableError
from graphveil.verify.files.packed import unpacked

Ints = NDArray[np.int64]

_SEPARATE = bytes(byte if byte in b"0123456789" else ord(" ") for byte in range(256))


class _Grammar(NamedTuple):
    """How one format is written; `first` is the number that edges give to node 0."""

    start: bytes
    head: bytes
    node: bytes
    between: bytes
    edge: bytes
    tail: bytes
    first: int
    numbers: Callable[[int], Ints]

    def skeleton(self, n: int, m: int) -> bytes:
        """Return what stands between the numbers of n nodes and m edges."""
        return self.head + n * self.node + self.between + m * self.edge + self.tail


def _each(*offsets: int) -> Callable[[int], Ints]:
    """Return a function that gives, for node i of n, the number i plus each offset."""
    return lambda n: np.add.outer(np.arange(n), np.array(offsets, dtype=np.int64)).ravel()


_GRAMMARS = {
    "graphml": _Grammar(
        start=(
            b'<?xml version="1.0" encoding="UTF-8"?>\n'
            b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
            b'  <graph edgedefault="undirected">\n'
        ),
        head=b"",
        node=b'    <node id="#"/>\n',
        between=b"",
        edge=b'    <edge source="#" target="#"/>\n',
        tail=b"  </graph>\n</graphml>\n",
        first=0,
        numbers=_each(0),
    ),
    "gml": _Grammar(
        start=b"graph [\n  directed 0\n",
        head=b"",
        node=b'  node [\n    id #\n    label "#"\n  ]\n',
        between=b"",
        edge=b"  edge [\n    source #\n    target #\n  ]\n",
        tail=b"]\n",
        first=0,
        numbers=_each(0, 0),
    ),
    "pajek": _Grammar(
        start=b"*Vertices ",
        head=b"#\n",
        node=b'# "#"\n',
        between=b"*Edges\n",
        edge=b"# #\n",
        tail=b"",
        first=1,
        numbers=lambda n: np.concatenate([[n], _each(1, 0)(n)]),
    ),
}


def load_markup(db: Database, path: Path, file: DataFile) -> None:
    """Create `nodes` and `edges` of a file in one of these formats.

    Raises
    ------
    UnreadableError
        Where a word or a number is not the one expected; the message names file and line.
    """
    grammar = _GRAMMARS[file.format]
    with unpacked(path) as stream:
        text = stream.read()
    if not text.startswith(grammar.start) or b"#" in text:
        raise UnreadableError(f"{path.name} does not begin as {file.format} does, or holds a #")
    text = text[len(grammar.start) :]
    n, m = _sizes(grammar, text)
    skeleton = grammar.skeleton(n, m)
    words, numbers = _split(path, text)
    if words != skeleton:
        line = grammar.start.count(b"\n") + _first_other_line(words, skeleton)
        raise UnreadableError(f"{path.name}, line {line}: not as graphveil writes {file.format}")
    expected = grammar.numbers(n)
    other = np.flatnonzero(numbers[: expected.size] != expected)
    if other.size:
        wrong = int(other[0])
        raise UnreadableError(
            f"{path.name}: {numbers[wrong]} where node number {expected[wrong]} is expected"
        )
    edges = numbers[expected.size :].reshape(m, 2) - grammar.first
    db.put("nodes", {"node": np.arange(n)})
    db.put("edges", {"source": edges[:, 0], "target": edges[:, 1]})


def _sizes(grammar: _Grammar, text: bytes) -> tuple[int, int]:
    """Return the numbers of nodes and edges that the lines of the text are enough for."""
    if grammar.between:
        nodes, _, edges = text.partition(grammar.between)
        return max(nodes.count(b"\n") - 1, 0), edges.count(b"\n")
    return text.count(grammar.node.partition(b"#")[0]), text.count(grammar.edge.partition(b"#")[0])


def _first_other_line(words: bytes, expected: bytes) -> int:
    """Return the number of the first line in which both differ, counted from 1."""
    size = min(len(words), len(expected))
    left = np.frombuffer(words, dtype=np.uint8, count=size)
    right = np.frombuffer(expected, dtype=np.uint8, count=size)
    other = np.flatnonzero(left != right)
    position = int(other[0]) if other.size else size
    return words[:position].count(b"\n") + 1


def _split(path: Path, text: bytes) -> tuple[bytes, Ints]:
    """Return the text with ``#`` for every number, and the numbers.

    Leading zeros, and numbers beyond 18 digits, are refused.
    """
    letters = np.frombuffer(text, dtype=np.uint8)
    digit = (letters >= ord("0")) & (letters <= ord("9"))
    first = digit.copy()
    first[1:] &= ~digit[:-1]
    starts = np.flatnonzero(first)
    last = digit
    last[:-1] &= ~digit[1:]
    lengths = np.flatnonzero(last) - starts + 1
    if np.any((lengths > 1) & (letters[starts] == ord("0"))) or lengths.max(initial=0) > 18:
        raise UnreadableError(f"{path.name}: a number has leading zeros, or is too large")
    numbers = np.empty(0, dtype=np.int64)
    if starts.size:
        numbers = np.fromstring(text.translate(_SEPARATE), dtype=np.int64, sep=" ")
    return _with_marks(letters, first), numbers


def _with_marks(letters: NDArray[np.uint8], first: NDArray[np.bool_]) -> bytes:
    """Return the letters with ``#`` for the first digit of a number and without the others."""
    kept = first | (letters < ord("0")) | (letters > ord("9"))
    shown = letters[kept]
    shown[first[kept]] = ord("#")
    return shown.tobytes()

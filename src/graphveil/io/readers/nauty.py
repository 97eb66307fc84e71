"""Adjacency text of nauty, for exchange with ANO-NET.

What is written, and what the data sets of ANO-NET hold: a line ``!n=`` with the number of nodes, a
line ``!m=`` with twice the number of edges, and a line ``v: a b c;`` a node, counted from 0; every
edge stands in both lists. What is also read: the ``n=5 $=1 g`` of dreadnaut before the lists
(``$`` is the first number), where an edge may stand in one list only, lists over several lines, and
a final full stop.
"""

from __future__ import annotations

import re
from typing import IO, NoReturn

import numpy as np

from graphveil.data import Graph
from graphveil.io.formats import Format, GraphOptions
from graphveil.io.parsed import ParsedArcs, ReadCounts, check_size
from graphveil.io.source import Source, shown

_TOKEN = re.compile(
    r"(?P<node>\d+)\s*:|(?P<number>\d+)|(?P<next>;)|(?P<stop>\.)|(?P<gap>[\s,]+)", re.ASCII
)
_COMMAND = re.compile(r"n\s*=\s*(\d+)|\$\s*=\s*(\d+)|\bg\b", re.ASCII)


def read_graph(source: Source, _options: GraphOptions) -> ParsedArcs:
    """Return the arcs of an adjacency text; its nodes are 0..n-1."""
    reader = _Reader(source)
    for reader.line, line in source.lines():
        reader.read_line(line)
        if reader.stopped:
            break
    return reader.arcs()


def write_graph(graph: Graph, stream: IO[bytes], _form: Format) -> None:
    """Write the sizes, and then the neighbors of every node."""
    stream.write(f"!n={graph.n_nodes}\n!m={2 * graph.n_edges}\n".encode())
    for node in range(graph.n_nodes):
        row = "".join(f" {other}" for other in graph.neighbors(node).tolist())
        stream.write(f"{node}:{row};\n".encode())


class _Reader:
    """What was read so far."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.line = 0
        self._n = -1
        self._first = 0
        self._both_lists = False
        self._node = 0
        self._nodes: list[int] = []
        self._neighbors: list[int] = []
        self.stopped = False

    def read_line(self, line: str) -> None:
        """Read one line."""
        if line.startswith("!"):
            self._both_lists = True
            self._header(line[1:])
        elif self._n < 0 or "=" in line:
            rest = self._header(line)
            if rest.strip():
                self._lists(rest)
        else:
            self._lists(line)

    def _header(self, line: str) -> str:
        # n=, the number of nodes, and $=, the first number; both may be before the lists on one
        # line.
        for match in _COMMAND.finditer(line):
            if match[1]:
                self._n = int(match[1][:19])
            elif match[2]:
                if match[2] not in ("0", "1"):
                    self._refuse("node numbers must start at 0 or 1. Correct $=.")
                self._first = self._node = int(match[2])
        rest = _COMMAND.sub("", line)
        if self._n < 0 and rest.strip():
            self._refuse("the lists start before !n=, the number of nodes. Put !n= first.")
        return rest

    def _lists(self, line: str) -> None:
        start = 0
        # `v:` begins the list of a node, numbers are its neighbors, `;` goes on to the next node.
        while start < len(line) and not self.stopped:
            match = _TOKEN.match(line, start)
            if match is None:
                rest = shown(line[start:])
                self._refuse(f"{rest} is not a list of neighbors. Correct it.")
            start = match.end()
            if match["node"]:
                self._node = self._checked(match["node"])
            elif match["number"]:
                self._neighbors.append(self._checked(match["number"]))
                self._nodes.append(self._checked(str(self._node)))
            elif match["next"]:
                self._node += 1
            elif match["stop"]:
                self.stopped = True

    def _checked(self, digits: str) -> int:
        node = int(digits[:20])
        if not self._first <= node < self._first + self._n:
            last = self._first + self._n - 1
            self._refuse(f"{shown(digits)} is not a node from {self._first} to {last}. Correct it.")
        return node

    def _refuse(self, problem: str) -> NoReturn:
        self._source.refuse(problem, line=self.line)

    def arcs(self) -> ParsedArcs:
        """Return what was read."""
        if self._n < 0:
            self._source.refuse(
                "the line !n= with the number of nodes is missing. Check the format."
            )
        check_size(self._source, self._n, len(self._nodes))
        return ParsedArcs(
            source=np.array(self._nodes, dtype=np.int32) - np.int32(self._first),
            target=np.array(self._neighbors, dtype=np.int32) - np.int32(self._first),
            labels=np.arange(self._n, dtype=np.int64),
            directed=self._both_lists,
            twice=self._both_lists,
            notes=ReadCounts(rows=len(self._nodes)),
        )

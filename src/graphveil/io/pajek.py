"""Pajek networks: numbered vertices with labels, then edges and arcs."""

from __future__ import annotations

import re
from typing import IO

from graphveil.data import Graph
from graphveil.errors import InputError, option
from graphveil.io.formats import Format
from graphveil.io.graph_builder import Builder
from graphveil.io.options import GraphOptions
from graphveil.io.parsed import ParsedArcs, check_size
from graphveil.io.source import Source, shown

_CELL = re.compile(r'"([^"]*)"|(\S+)')
_SECTIONS = ("*edges", "*arcs", "*edgeslist", "*arcslist")


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a Pajek network; ids are the labels where all are there and distinct."""
    reader = _Reader(source, options)
    for number, line in source.lines():
        stripped = line.strip()
        if stripped.startswith("*"):
            reader.section(stripped, number)
        elif stripped and not stripped.startswith("%"):
            reader.read_line(_cells(stripped), number)
    return reader.arcs()


def write_graph(graph: Graph, stream: IO[bytes], form: Format) -> None:
    """Write the vertices with their labels, and the edges between their numbers."""
    labels = [str(label) for label in graph.labels().tolist()]
    for label in labels:
        if re.search(r'["\n\r\x00]', label):
            raise InputError(
                f"the id {shown(label)} holds a quote or a line break, which {form.name} cannot "
                f"carry. Use {option('format', 'graphml')}."
            )
    stream.write(f"*Vertices {len(labels)}\n".encode())
    for number, label in enumerate(labels, start=1):
        stream.write(f'{number} "{label}"\n'.encode())
    stream.write(b"*Edges\n")
    for left, right in (graph.edges() + 1).tolist():
        stream.write(f"{left} {right}\n".encode())


def _cells(line: str) -> list[str]:
    return [quoted or plain for quoted, plain in _CELL.findall(line)]


class _Reader:
    """What was read so far."""

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._source = source
        self._builder = Builder(source, options)
        self._n = -1
        self._section = ""
        self._labels: dict[int, str] = {}
        self._edges: list[tuple[int, int, int, bool]] = []

    def section(self, line: str, number: int) -> None:
        """Begin a section."""
        words = line.split()
        self._section = words[0].lower()
        if self._section == "*vertices":
            if len(words) < 2 or not (words[1].isascii() and words[1].isdigit()):
                self._source.refuse("*Vertices has no number. Give it one.", line=number)
            if self._n >= 0:
                self._source.refuse("a second *Vertices. Give one file a network.", line=number)
            self._n = int(words[1][:19])
        elif self._section == "*matrix":
            self._source.refuse("*Matrix is not read. Write edges instead.", line=number)
        elif self._section not in (*_SECTIONS, "*network"):
            self._source.refuse(f"the section {shown(words[0])} is unknown.", line=number)

    def read_line(self, cells: list[str], number: int) -> None:
        """Read one line of the section."""
        if self._section == "*vertices":
            if len(cells) > 1:
                self._labels[self._vertex(cells[0], number)] = cells[1]
            for number_of_cell, _ in enumerate(cells[2:], start=3):
                self._builder.attribute(f"cell {number_of_cell} of a vertex")
        elif self._section in ("*edgeslist", "*arcslist"):
            first, *neighbors = (self._vertex(cell, number) for cell in cells)
            directed = self._section == "*arcslist"
            self._edges.extend((first, second, number, directed) for second in neighbors)
        elif self._section in ("*edges", "*arcs"):
            self._pair(cells, number)
        elif self._section != "*network":
            self._source.refuse("a line before *Vertices. Check the format.", line=number)

    def _pair(self, cells: list[str], number: int) -> None:
        if len(cells) < 2:
            self._source.refuse("an edge needs two vertices. Correct the line.", line=number)
        left, right = (self._vertex(cell, number) for cell in cells[:2])
        self._edges.append((left, right, number, self._section == "*arcs"))
        if len(cells) > 2 and cells[2] not in ("1", "1.0"):
            self._builder.weight("value")
        for number_of_cell, _ in enumerate(cells[3:], start=4):
            self._builder.attribute(f"cell {number_of_cell} of an edge")

    def _vertex(self, cell: str, number: int) -> int:
        if cell.isascii() and cell.isdigit() and 1 <= int(cell[:20]) <= self._n:
            return int(cell)
        return self._source.refuse(
            f"{shown(cell)} is no vertex from 1 to {max(self._n, 0)}. Correct it.", line=number
        )

    def arcs(self) -> ParsedArcs:
        """Return what was read."""
        if self._n < 0:
            self._source.refuse("there is no *Vertices. Check the format.")
        check_size(self._source, self._n, len(self._edges) + len(self._labels))
        for vertex in range(1, self._n + 1):
            self._builder.node(str(vertex), self._labels.get(vertex), line=1)
        for left, right, number, directed in self._edges:
            self._builder.edge(str(left), str(right), line=number, directed=directed)
        return self._builder.arcs(use_labels=True)

"""Edges as NetworkX and LGL list them in text: behind or below each node, or with a dictionary.

Four layouts: an edge list with attributes (``0 1 {'weight': 2}``), an adjacency list (a node and
its neighbors on a line), a multi-line adjacency list (a node and how many lines with a neighbor
follow), and LGL (``# node`` above lines with a neighbor).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any, NoReturn

from graphveil.core.text import counted
from graphveil.io.formats import GraphOptions
from graphveil.io.graph_builder import Builder
from graphveil.io.parsed import ParsedArcs
from graphveil.io.source import Source, shown
from graphveil.io.text.layouts import Line, listed_lines


def read_listed(source: Source, options: GraphOptions, layout: str) -> ParsedArcs:
    """Return the arcs of a file with this layout; its ids are the words of its lines."""
    builder = _Listed(source, options)
    readers: dict[str, Callable[[_Listed], None]] = {
        "edges": _read_edges,
        "adjacency": _read_adjacency,
        "multi-line": _read_multi_line,
        "lgl": _read_lgl,
    }
    readers[layout](builder)
    return builder.arcs()


class _Listed:
    """The nodes and edges so far; a node is known once it is named."""

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self.source = source
        self._builder = Builder(source, options)
        self._known: set[str] = set()

    def refuse(self, problem: str, line: int) -> NoReturn:
        """Refuse a line."""
        self.source.refuse(f"{problem} Correct the line.", line=line)

    def node(self, name: str, line: int) -> str:
        """Add a node unless it is known, and return its name."""
        if name not in self._known:
            self._known.add(name)
            self._builder.node(name, None, line=line)
        return name

    def edge(self, left: str, right: str, line: Line) -> None:
        """Add an edge with what its dictionary says."""
        self._builder.edge(self.node(left, line.number), self.node(right, line.number))
        for name, value in self._attributes(line).items():
            self._builder.edge_attribute(str(name), value)

    def weight(self, value: str) -> None:
        """Note the weight of the last edge."""
        self._builder.edge_attribute("weight", value)

    def arcs(self) -> ParsedArcs:
        """Return what was read, of which no direction is known."""
        arcs = self._builder.arcs(use_labels=False)
        arcs.directed = None
        return arcs

    def _attributes(self, line: Line) -> dict[Any, Any]:
        if line.said is None or line.said == "{}":
            return {}
        try:
            said = ast.literal_eval(line.said)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            said = None
        if not isinstance(said, dict):
            self.refuse(f"{shown(line.said)} is not a dictionary of attributes.", line.number)
        return said


def _read_edges(listed: _Listed) -> None:
    for line in listed_lines(listed.source):
        if len(line.words) != 2:
            ids = f"{counted(len(line.words), 'id')} instead of 2"
            listed.refuse(f"{ids} ({shown(' '.join(line.words))}).", line.number)
        listed.edge(line.words[0], line.words[1], line)


def _read_adjacency(listed: _Listed) -> None:
    # The first word is a node, the others are its neighbors.
    for line in listed_lines(listed.source):
        if line.said is not None:
            listed.refuse(f"{shown(line.said)} is not the id of a neighbor.", line.number)
        first, *neighbors = line.words
        listed.node(first, line.number)
        for neighbor in neighbors:
            listed.edge(first, neighbor, line)


def _read_multi_line(listed: _Listed) -> None:
    node, due, at = "", 0, 1
    # A node and a number; then as many lines with one neighbor each.
    for line in listed_lines(listed.source):
        if line.said is None:
            if due or len(line.words) != 2 or not re.fullmatch(r"[0-9]{1,18}", line.words[1]):
                wanted = "a neighbor of " + shown(node) if due else "a node and a number"
                found = shown(" ".join(line.words))
                listed.refuse(f"expected {wanted}, found {found}.", line.number)
            node, due, at = listed.node(line.words[0], line.number), int(line.words[1]), line.number
        elif not due or len(line.words) != 1:
            more = "is one neighbor more than its node declares."
            listed.refuse(f"{shown(' '.join(line.words))} {more}", line.number)
        else:
            listed.edge(node, line.words[0], line)
            due -= 1
    if due:
        listed.source.refuse(
            f"{counted(due, 'neighbor')} of {shown(node)} {'is' if due == 1 else 'are'} missing. "
            "Copy the complete file again.",
            line=at,
        )


def _read_lgl(listed: _Listed) -> None:
    node = None
    # `# node`, then lines with a neighbor and perhaps a weight.
    for number, line in listed.source.lines():
        words = line.split()
        if words[:1] == ["#"]:
            if len(words) != 2:
                listed.refuse(f"expected one node, found {shown(line)}.", number)
            node = listed.node(words[1], number)
        elif words:
            if node is None or len(words) > 2:
                what = "a line # NODE" if node is None else "a neighbor and its weight"
                listed.source.refuse(
                    f"expected {what}, found {shown(line)}. Correct the line, or, if each line is "
                    f"an edge, rename the file to end in .txt.",
                    line=number,
                )
            listed.edge(node, words[0], Line(number, words, None))
            for weight in words[1:]:
                listed.weight(weight)

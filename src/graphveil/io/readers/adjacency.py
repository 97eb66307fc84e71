"""Edges as NetworkX and LGL list them in text: behind or below each node, or with a dictionary.

Four layouts: an edge list with attributes (``0 1 {'weight': 2}``), an adjacency list (a node and
its neighbors on a line), a multi-line adjacency list (a node and how many lines with a neighbor
follow), and LGL (``# node`` above lines with a neighbor).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from graphveil.core.errors import option
from graphveil.core.text import counted
from graphveil.io.formats import name_without_compression
from graphveil.io.options import GraphOptions
from graphveil.io.parsed import ParsedArcs
from graphveil.io.readers.graph_builder import Builder
from graphveil.io.source import Source, shown

_DICTIONARY = re.compile(r"^(?P<ids>.*?)\s*(?P<said>\{.*\})\s*$")
_BY_NETWORKX = re.compile(r"#\s*GMT\s")
"""A remark that NetworkX writes above adjacency lists, and above nothing else."""

_SAMPLE = 200
_LAYOUTS = {".adjlist": "adjacency", ".lgl": "lgl"}


class _Line(NamedTuple):
    """A line that is no remark: its number, the words before a dictionary, and the dictionary."""

    number: int
    words: list[str]
    said: str | None


def layout_of(source: Source) -> str | None:
    """Return which of these layouts a text file has; None where its lines are plain rows.

    `source`: the file; its extension, or its first lines, give the layout.
    """
    lines = list(islice(_lines(source), _SAMPLE))
    ends_in_braces = [line for line in lines if line.said is not None]
    if ends_in_braces and len(ends_in_braces) == len(lines):
        return "edges" if all(len(line.words) == 2 for line in lines) else None
    if ends_in_braces and _counts_what_follows(lines):
        return "multi-line"
    named = next(
        (
            layout
            for extension, layout in _LAYOUTS.items()
            if name_without_compression(source.path).endswith(extension)
        ),
        None,
    )
    if named is None and not ends_in_braces and len({len(line.words) for line in lines}) > 1:
        remarks = (line for _, line in islice(source.lines(), 10) if line.startswith("#"))
        return "adjacency" if any(map(_BY_NETWORKX.match, remarks)) else None
    return named


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


def _lines(source: Source) -> Iterator[_Line]:
    """Yield the lines of a file that are neither empty nor remarks."""
    split: Callable[[str], list[str]] | None = None
    for number, line in source.lines():
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = _DICTIONARY.match(stripped)
        ids = stripped if match is None else match["ids"]
        if split is None and len(ids.replace(",", " ").split()) > 1:
            split = _between_commas if "," in ids else str.split
        yield _Line(number, (split or str.split)(ids), None if match is None else match["said"])


def _between_commas(ids: str) -> list[str]:
    """Return ids that NetworkX separated by commas, which stand before a dictionary, too."""
    return [word.strip() for word in ids.removesuffix(",").split(",")]


def _counts_what_follows(lines: list[_Line]) -> bool:
    """Whether lines without a dictionary say how many lines with one follow."""
    due = 0
    for line in lines:
        if line.said is None:
            if due or len(line.words) != 2 or not line.words[1].isdigit():
                return False
            due = int(line.words[1])
        elif not due or len(line.words) != 1:
            return False
        else:
            due -= 1
    return True


class _Listed:
    """The nodes and edges so far; a node is known once it is named."""

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self.source = source
        self._builder = Builder(source, options)
        self._known: set[str] = set()

    def node(self, name: str, line: int) -> str:
        """Add a node unless it is known, and return its name."""
        if name not in self._known:
            self._known.add(name)
            self._builder.node(name, None, line=line)
        return name

    def edge(self, left: str, right: str, line: _Line) -> None:
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

    def _attributes(self, line: _Line) -> dict[Any, Any]:
        if line.said is None or line.said == "{}":
            return {}
        try:
            said = ast.literal_eval(line.said)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            said = None
        if not isinstance(said, dict):
            self.source.refuse(
                f"{shown(line.said)} is not a dictionary of attributes. Correct the line.",
                line=line.number,
            )
        return said


def _read_edges(listed: _Listed) -> None:
    for line in _lines(listed.source):
        if len(line.words) != 2:
            listed.source.refuse(
                f"{counted(len(line.words), 'id')} instead of 2 "
                f"({shown(' '.join(line.words))}). Correct the "
                "line.",
                line=line.number,
            )
        listed.edge(line.words[0], line.words[1], line)


def _read_adjacency(listed: _Listed) -> None:
    for line in _lines(listed.source):
        if line.said is not None:
            listed.source.refuse(
                f"{shown(line.said)} is not the id of a neighbor. Correct the line.",
                line=line.number,
            )
        first, *neighbors = line.words
        listed.node(first, line.number)
        for neighbor in neighbors:
            listed.edge(first, neighbor, line)


def _read_multi_line(listed: _Listed) -> None:
    node, due, at = "", 0, 1
    for line in _lines(listed.source):
        if line.said is None:
            if due or len(line.words) != 2 or not re.fullmatch(r"[0-9]{1,18}", line.words[1]):
                listed.source.refuse(
                    f"expected {'a neighbor of ' + shown(node) if due else 'a node and a number'}, "
                    f"found {shown(' '.join(line.words))}. Correct the line.",
                    line=line.number,
                )
            node, due, at = listed.node(line.words[0], line.number), int(line.words[1]), line.number
        elif not due or len(line.words) != 1:
            listed.source.refuse(
                f"{shown(' '.join(line.words))} is one neighbor more than its node declares. "
                "Correct the line.",
                line=line.number,
            )
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
    for number, line in listed.source.lines():
        words = line.split()
        if words[:1] == ["#"]:
            if len(words) != 2:
                listed.source.refuse(
                    f"expected one node, found {shown(line)}. Correct the line.", line=number
                )
            node = listed.node(words[1], number)
        elif words:
            if node is None or len(words) > 2:
                what = "a line # NODE" if node is None else "a neighbor and its weight"
                listed.source.refuse(
                    f"expected {what}, found {shown(line)}. Correct the line, or, if each line is "
                    f"an edge, rename the file to end in .txt.",
                    line=number,
                )
            listed.edge(node, words[0], _Line(number, words, None))
            for weight in words[1:]:
                listed.weight(weight)


def refuse_in_pieces(source: Source) -> None:
    """Refuse a file with one of these layouts where rows are read some at a time."""
    if layout_of(source) is not None:
        source.refuse(
            "this layout (adjacency lists, or attributes in braces) cannot be read in pieces. "
            f"Convert the file to csv with graphveil convert, or remove {option('on_disk')}."
        )

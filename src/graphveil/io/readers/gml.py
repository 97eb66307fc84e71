"""GML: nested lists of keys and values.

The text is split into tokens, tokens into keys with values, and these are followed along the path
of open lists: only ``graph [ node [ ... ] edge [ ... ] ]`` counts. Linear in the size of the file.
Entities are resolved once; labels are ids if all nodes have distinct ones.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import IO, Any, NamedTuple, NoReturn

from graphveil.core.errors import UsageError
from graphveil.data import Network
from graphveil.data.network import LAYER
from graphveil.data.network_conversions import cells_of
from graphveil.io.attribute_values import declared_value
from graphveil.io.formats import Format, GraphOptions
from graphveil.io.graph_builder import Builder
from graphveil.io.parsed import ParsedArcs
from graphveil.io.source import Source, shown

_UNKNOWN = "(?i:nan|inf|infinity)"
"""How NaN is written, which is a missing value."""

_TOKEN = re.compile(
    rf'\s+|#[^\n]*|(?P<text>"[^"]*")|(?P<number>[+-]?[0-9.][0-9.eE+-]*|[+-]{_UNKNOWN}\b)'
    r"|(?P<key>[A-Za-z][A-Za-z0-9_]*)|(?P<bracket>[\[\]])"
)
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#?[A-Za-z0-9]+);")
_WEIGHTS = ("weight", "value")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NODE, _EDGE = ("id", "label"), ("source", "target", "label")
_DEEPEST = 100
"""The most nested lists that are followed: it bounds what a hostile file can take."""

_ELEMENTS = (["graph", "node"], ["graph", "edge"])


class _Token(NamedTuple):
    """A piece of the file: its kind, its text, and the offset where it begins."""

    kind: str
    text: str
    offset: int


class _Item(NamedTuple):
    """A key with its value, or the end of a list; `depth` counts the lists around it."""

    depth: int
    key: str
    value: str
    kind: str
    offset: int


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a GML file; ids are the labels where all nodes have distinct ones."""
    return _Reader(source, options).arcs()


def write_network(network: Network, stream: IO[bytes], _form: Format) -> None:
    """Write nodes with a number, a label and attributes, and edges between the numbers."""
    cells = cells_of(network.people)
    for name in cells:
        if not _KEY.fullmatch(name) or name in _NODE:
            raise UsageError(
                f"in GML, {name!r} cannot be the name of an attribute: names consist of letters "
                "and digits only, and id and label are names of nodes. Rename it, or write "
                "GraphML or GEXF."
            )
    directed, several = network.is_directed, len(network.layers) > 1
    stream.write(f"graph [\n  directed {int(directed)}\n".encode())
    if several:
        stream.write(b"  multigraph 1\n")
    for number, label in enumerate(network.labels().tolist()):
        said = [f'label "{_escaped(str(label))}"']
        said += [_said(name, values[number]) for name, values in cells.items()]
        stream.write(_list("node", [f"id {number}", *filter(None, said)]))
    for layer, source, target in network.listed_ties(both_ways=directed):
        ends = [f"source {source}", f"target {target}"]
        stream.write(_list("edge", [*ends, *([_said(LAYER, layer)] if several else [])]))
    stream.write(b"]\n")


def _list(key: str, lines: list[str]) -> bytes:
    return "".join([f"  {key} [\n", *(f"    {line}\n" for line in lines), "  ]\n"]).encode()


def _said(name: str, value: object) -> str:
    """Return a line that says a value; none where it is suppressed."""
    if value is None:
        return ""
    return f"{name} {value}" if isinstance(value, int) else f'{name} "{_escaped(str(value))}"'


def _value(item: _Item) -> Any:
    """Return quoted text as text, and a number without quotes as the type that it is written in.

    NaN and infinities are not values.
    """
    if item.kind != "number":
        return item.value
    whole = re.fullmatch(r"[+-]?[0-9]+", item.value)
    return declared_value(item.value, "integer" if whole else "real")


def _escaped(label: str) -> str:
    return re.sub(r'[&"\x00-\x1f\x7f-\U0010ffff]', lambda match: f"&#{ord(match[0])};", label)


def _unescaped(value: str) -> str:
    """Return the text of a value; what an entity stands for is not read as another one."""
    return _ENTITY.sub(
        lambda entity: _character(int(entity[1])) if entity[1] else html.unescape(entity[0]), value
    )


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


class _Reader:
    """Walks through the keys of the file."""

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._source = source
        self._text = source.text()
        self._builder = Builder(source, options)
        self._graphs = 0
        self._counted = (0, 1)
        self._default_directed = False

    def arcs(self) -> ParsedArcs:
        """Return what the file holds."""
        # Follow the path of open lists; the fields of a node or an edge are gathered until it
        # closes.
        path: list[str] = []
        fields: dict[str, _Item] = {}
        for item in self._items():
            if item.kind == "open":
                path.append(item.key)
                self._enter(path, item.offset)
                fields = {} if path in _ELEMENTS else fields
            elif item.kind == "close":
                if path in _ELEMENTS:
                    self._element(path[1], fields, item.offset)
                path.pop()
            elif path == ["graph"] and item.key == "directed":
                self._builder.directed = item.value == "1"
            elif path in _ELEMENTS:
                fields[item.key] = item
        if not self._graphs:
            self._source.refuse("no graph [ ... ] found. Check the format.")
        return self._builder.arcs(use_labels=True)

    def _enter(self, path: list[str], offset: int) -> None:
        if path == ["graph"]:
            self._graphs += 1
            if self._graphs > 1:
                self._refuse("there is a second graph. Keep one graph per file", offset)
        elif len(path) > 2:
            self._builder.attribute(path[-1])

    def _element(self, kind: str, fields: dict[str, _Item], offset: int) -> None:
        wanted = _NODE if kind == "node" else _EDGE
        for name in wanted[: 1 if kind == "node" else 2]:
            if name not in fields:
                self._refuse(f"this {kind} has no {name}. Add it", offset)
        line = self._line(offset)
        said = {name: item.value for name, item in fields.items()}
        if kind == "node":
            self._builder.node(said["id"], said.get("label"), line=line)
            for name, item in fields.items():
                if name not in wanted:
                    self._builder.node_attribute(name, _value(item))
            return
        self._builder.edge(said["source"], said["target"], line=line)
        for name, value in said.items():
            if name in _EDGE[:2] or self._builder.kind(name, value) or name in _EDGE:
                continue
            if name in _WEIGHTS:
                self._builder.weight(name)
            elif name == "key":
                self._builder.edge_key(name, value)
                self._builder.attribute(name)
            else:
                self._builder.edge_attribute(name, value)

    def _items(self) -> Iterator[_Item]:
        depth = 0
        key = ""
        for token in self._tokens():
            if not key:
                if token.kind == "key":
                    key = token.text
                elif token.text == "]" and depth:
                    depth -= 1
                    yield _Item(depth, "", "", "close", token.offset)
                else:
                    self._refuse(f"found {shown(token.text)} instead of a key", token.offset)
                continue
            if token.text == "[":
                yield _Item(depth, key, "", "open", token.offset)
                depth += 1
                if depth > _DEEPEST:
                    self._refuse(f"lists are nested more than {_DEEPEST} levels deep", token.offset)
            elif token.kind in ("text", "number") or re.fullmatch(_UNKNOWN, token.text):
                kind = "text" if token.kind == "text" else "number"
                plain = token.text[1:-1] if token.kind == "text" else token.text
                value = _unescaped(plain) if "&" in plain else plain
                yield _Item(depth, key, value, kind, token.offset)
            else:
                self._refuse(
                    f"found {shown(token.text)} instead of the value of {key}", token.offset
                )
            key = ""
        if depth or key:
            self._refuse(
                "the file ends inside a list. Copy the complete file again", len(self._text)
            )

    def _tokens(self) -> Iterator[_Token]:
        offset = 0
        while offset < len(self._text):
            match = _TOKEN.match(self._text, offset)
            if match is None:
                rest = self._text[offset : offset + 50]
                self._refuse(f"{shown(rest)} is not a key, a number or text", offset)
            offset = match.end()
            if match.lastgroup is not None:
                yield _Token(match.lastgroup, match.group(), match.start())

    def _line(self, offset: int) -> int:
        """Return the line of an offset that is not before the one of the last call."""
        counted, line = self._counted
        self._counted = (offset, line + self._text.count("\n", counted, offset))
        return self._counted[1]

    def _refuse(self, problem: str, offset: int) -> NoReturn:
        self._source.refuse(f"{problem}.", line=self._line(offset))

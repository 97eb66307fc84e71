"""GraphML, by the standard library's XML parser; document types and entities are refused."""

from __future__ import annotations

from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from graphveil.data import Network
from graphveil.data.network import LAYER
from graphveil.data.network_conversions import rows_of
from graphveil.io.attribute_values import DeclaredType, declared_value
from graphveil.io.formats import Format, GraphOptions
from graphveil.io.graph_builder import (
    WEIGHTS,
    GraphElements,
    declared_attributes,
    quoted_labels,
)
from graphveil.io.parsed import ParsedArcs
from graphveil.io.source import Source

_DIRECTED = {"directed": True, "undirected": False}
_BOOLEAN = {"true": True, "false": False, "1": True, "0": False}
_TYPES: dict[str, DeclaredType] = {
    **dict.fromkeys(("string",), "text"),
    **dict.fromkeys(("int", "long"), "integer"),
    **dict.fromkeys(("float", "double"), "real"),
    "boolean": "boolean",
}
"""The types of attributes; others declare nothing."""

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
)


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a GraphML file; ids are those of the node elements."""
    return _Elements(source, options).read()


def write_network(network: Network, stream: IO[bytes], form: Format) -> None:
    """Write nodes under their ids with their attributes, and edges between them."""
    quoted = quoted_labels(network, form)
    stream.write(_HEAD.encode())
    # Attributes are declared first, as integers or text, so that no program changes them.
    cells = declared_attributes(network, form)
    for number, (name, attribute) in enumerate(cells.items()):
        key = f'id="d{number}" for="node" attr.name={quoteattr(name)}'
        key += f' attr.type="{attribute.declared}"'
        stream.write(f"  <key {key}/>\n".encode())
    several, directed = len(network.layers) > 1, network.is_directed
    if several:
        key = f'id="layer" for="edge" attr.name="{LAYER}" attr.type="string"'
        stream.write(f"  <key {key}/>\n".encode())
    # Edges without direction in a directed graph are written in both directions.
    kind = "directed" if directed else "undirected"
    stream.write(f'  <graph edgedefault="{kind}">\n'.encode())
    texts = {name: attribute.values for name, attribute in cells.items()}
    for name, said in zip(quoted, rows_of(texts, network.n_nodes), strict=True):
        known = ((n, value) for n, value in enumerate(said) if value is not None)
        data = "".join(f'<data key="d{n}">{escape(value)}</data>' for n, value in known)
        end = f">{data}</node>" if data else "/>"
        stream.write(f"    <node id={name}{end}\n".encode())
    for layer, left, right in network.listed_ties(both_ways=directed):
        end = f'><data key="layer">{escape(layer)}</data></edge>' if several else "/>"
        ends = f"source={quoted[left]} target={quoted[right]}"
        stream.write(f"    <edge {ends}{end}\n".encode())
    stream.write(b"  </graph>\n</graphml>\n")


class _Elements(GraphElements):
    def __init__(self, source: Source, options: GraphOptions) -> None:
        super().__init__(source, options)
        self._names: dict[str, str] = {}
        self._types: dict[str, DeclaredType | None] = {}
        self._described = ("", "")
        self._described_key = ""
        self._key = ""

    def _ended(self, name: str, text: str) -> None:
        if name == "default":
            around, title = self._described
            value = text.strip() if around == "edge" else self._value(self._described_key, text)
            self._default(around, title, value)
        elif name == "data":
            self._data(self._key, text)

    def _element(self, _tag: str, name: str, attributes: dict[str, str]) -> None:
        if name == "graph":
            said = attributes.get("edgedefault", "undirected")
            self._graph(directed=self._whether(said, _DIRECTED, "edge direction"))
            for what in ("nodes", "edges"):
                self._builder.declare(what, attributes.get(f"parse.{what}"))
        elif name == "key":
            key = attributes.get("id", "")
            self._names[key] = attributes.get("attr.name", key)
            self._types[key] = _TYPES.get(attributes.get("attr.type", "").lower())
            self._described_key = key
            self._described = (attributes.get("for", "all"), self._names[key])
        elif name == "node":
            self._builder.node(self._needed(attributes, "id", name), None, line=self._line)
        elif name == "edge":
            self._edge(attributes)
        elif name == "data":
            self._key = attributes.get("key", "")
        elif name == "hyperedge":
            self._refuse("a hyperedge connects more than two nodes. Split it.")

    def _edge(self, attributes: dict[str, str]) -> None:
        ends = [self._needed(attributes, end, "edge") for end in ("source", "target")]
        said = attributes.get("directed")
        own = None if said is None else self._whether(said, _BOOLEAN, "boolean")
        self._builder.edge(*ends, line=self._line, directed=own)
        if "id" in attributes:
            self._builder.edge_id(attributes["id"])

    def _data(self, key: str, text: str) -> None:
        parent = self._open[-2] if len(self._open) > 1 else ""
        name = self._names.get(key, key)
        if parent == "edge" and self._builder.kind(name, text.strip()):
            return
        if parent == "edge" and name.lower() in WEIGHTS:
            self._builder.weight(name)
        elif parent == "node":
            self._builder.node_attribute(name, self._value(key, text))
        elif parent == "edge":
            self._builder.edge_attribute(name, text.strip())

    def _value(self, key: str, text: str) -> Any:
        """Return a value in the type of its key; blanks around it are part of text alone."""
        declared = self._types.get(key)
        return declared_value(text if declared == "text" else text.strip(), declared)

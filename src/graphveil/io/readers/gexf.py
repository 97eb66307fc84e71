"""GEXF, by the standard library's XML parser; document types and entities are refused.

Elements are taken one by one; attributes of nodes and edges are known by the titles that the head
declares for their numbers.
"""

from __future__ import annotations

from typing import IO, Any
from xml.sax.saxutils import quoteattr

from graphveil.data import Network
from graphveil.data.network import LAYER
from graphveil.data.network_conversions import rows_of
from graphveil.io.attribute_values import DeclaredType, declared_value
from graphveil.io.formats import Format, GraphOptions
from graphveil.io.graph_builder import (
    GraphElements,
    declared_attributes,
    is_weight,
    quoted_labels,
)
from graphveil.io.parsed import ParsedArcs
from graphveil.io.source import Source

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n'
_STRUCTURE = {"node": {"id", "label"}, "edge": {"id", "source", "target", "type", "weight"}}
"""What nodes and edges are made of; everything else is an attribute."""

_TYPES: dict[str, DeclaredType] = {
    **dict.fromkeys(("string", "char", "anyURI", "liststring", "date", "dateTime"), "text"),
    **dict.fromkeys(("integer", "long", "short", "byte", "biginteger"), "integer"),
    **dict.fromkeys(("double", "float", "bigdecimal"), "real"),
    "boolean": "boolean",
}
"""The types of attributes; others declare nothing."""

_LISTS = {"nodes", "edges", "attvalues", "spells", "parents"}
"""Elements in nodes and edges that only hold others."""

_DIRECTED = {"directed": True, "undirected": False, "mutual": False}
"""Types of edges, in any case of letters; a mutual one is there in both directions."""


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a GEXF file; ids are those of the node elements, not their labels."""
    return _Elements(source, options).read()


def write_network(network: Network, stream: IO[bytes], form: Format) -> None:
    """Write nodes under their ids with their attributes, and edges between them."""
    quoted = quoted_labels(network, form)
    several, directed = len(network.layers) > 1, network.is_directed
    kind = "directed" if directed else "undirected"
    stream.write(f'{_HEAD}  <graph defaultedgetype="{kind}" mode="static">\n'.encode())
    # The head declares the titles of attributes; values refer to them by number.
    cells = declared_attributes(network, form)
    if cells:
        stream.write(b'    <attributes class="node">\n')
        for number, (name, attribute) in enumerate(cells.items()):
            title = f'title={quoteattr(name)} type="{attribute.declared}"'
            stream.write(f'      <attribute id="{number}" {title}/>\n'.encode())
        stream.write(b"    </attributes>\n")
    # The layer of an edge is an attribute of its own.
    if several:
        stream.write(b'    <attributes class="edge">\n')
        stream.write(f'      <attribute id="0" title="{LAYER}" type="string"/>\n'.encode())
        stream.write(b"    </attributes>\n")
    stream.write(b"    <nodes>\n")
    texts = {name: attribute.values for name, attribute in cells.items()}
    for name, said in zip(quoted, rows_of(texts, network.n_nodes), strict=True):
        known = ((n, value) for n, value in enumerate(said) if value is not None)
        values = "".join(f'<attvalue for="{n}" value={quoteattr(value)}/>' for n, value in known)
        end = f"><attvalues>{values}</attvalues></node>" if values else "/>"
        stream.write(f"      <node id={name} label={name}{end}\n".encode())
    stream.write(b"    </nodes>\n    <edges>\n")
    for number, (layer, left, right) in enumerate(network.listed_ties(both_ways=directed)):
        ends = f"source={quoted[left]} target={quoted[right]}"
        of_kind = f'<attvalues><attvalue for="0" value={quoteattr(layer)}/></attvalues>'
        end = f">{of_kind}</edge>" if several else "/>"
        stream.write(f'      <edge id="{number}" {ends}{end}\n'.encode())
    stream.write(b"    </edges>\n  </graph>\n</gexf>\n")


class _Elements(GraphElements):
    def __init__(self, source: Source, options: GraphOptions) -> None:
        super().__init__(source, options)
        self._titles: dict[tuple[str, str], str] = {}
        self._types: dict[tuple[str, str], DeclaredType | None] = {}
        self._described = ("", "")

    def _ended(self, name: str, text: str) -> None:
        if name == "default":
            title = self._titles.get(self._described, "")
            around = self._described[0]
            value = text.strip() if around == "edge" else self._value(self._described, text)
            self._default(around, title, value)

    def _element(self, _tag: str, name: str, attributes: dict[str, str]) -> None:
        if name == "graph":
            self._graph(directed=self._directed(attributes.get("defaultedgetype", "undirected")))
        elif name == "attributes":
            self._described = (attributes.get("class", ""), "")
        elif name == "attribute":
            self._described = (self._described[0], attributes.get("id", ""))
            self._titles[self._described] = attributes.get("title", self._described[1])
            self._types[self._described] = _TYPES.get(attributes.get("type", ""))
        elif name == "node":
            self._node(attributes)
        elif name == "edge":
            self._edge(attributes)
        elif name in _LISTS:
            if name in ("nodes", "edges") and self._open[-2:-1] == ["graph"]:
                self._builder.declare(name, attributes.get("count"))
        else:
            self._further(name, attributes)

    def _node(self, attributes: dict[str, str]) -> None:
        key = self._needed(attributes, "id", "node")
        self._builder.node(key, None, line=self._line)
        # A label that is not the id is an attribute; ids stay those of the elements.
        if attributes.get("label", key) != key:
            self._builder.node_attribute("label", attributes["label"])
        # Nodes inside nodes: the hierarchy is omitted, and named.
        if "node" in self._open[:-1]:
            self._builder.attribute("parent")
        self._others("node", attributes)

    def _edge(self, attributes: dict[str, str]) -> None:
        ends = [self._needed(attributes, end, "edge") for end in ("source", "target")]
        kind = attributes.get("type")
        self._builder.edge(
            *ends, line=self._line, directed=None if kind is None else self._directed(kind)
        )
        if "id" in attributes:
            self._builder.edge_id(attributes["id"])
        weight = attributes.get("weight", 1)
        if not self._builder.kind("weight", weight) and is_weight(weight):
            self._builder.weight("weight")
        self._others("edge", attributes)

    def _others(self, element: str, attributes: dict[str, str]) -> None:
        for name, value in attributes.items():
            if name not in _STRUCTURE[element]:
                self._other(element, name, value)

    def _other(self, element: str, name: str, value: str) -> None:
        if element == "edge":
            self._builder.edge_attribute(name, value)
        else:
            self._builder.attribute(name)

    def _directed(self, said: str) -> bool:
        return self._whether(said, _DIRECTED, "edge direction")

    def _further(self, name: str, attributes: dict[str, str]) -> None:
        around = next((tag for tag in reversed(self._open) if tag in {"node", "edge"}), None)
        if around is None:
            return
        if name != "attvalue":
            self._builder.attribute(name)
            return
        key = attributes.get("for", attributes.get("id", ""))
        title = self._titles.get((around, key), key)
        if around == "edge" and title == "networkx_key":
            self._builder.edge_key(title, attributes.get("value"))
        elif around == "edge":
            self._builder.edge_attribute(title, attributes.get("value"))
        elif "value" in attributes:
            value = self._value((around, key), attributes["value"])
            self._builder.node_attribute(title, value)

    def _value(self, described: tuple[str, str], text: str) -> Any:
        """Return a value in the type of its attribute."""
        declared = self._types.get(described)
        return declared_value(text if declared == "text" else text.strip(), declared)

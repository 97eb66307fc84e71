"""GEXF, by the standard library's XML parser; document types and entities are refused."""

from __future__ import annotations

from typing import IO, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from graphveil.data import Graph
from graphveil.io.formats import Format
from graphveil.io.graphml import check_labels
from graphveil.io.named import Builder, is_weight
from graphveil.io.options import GraphOptions
from graphveil.io.raw import Arcs
from graphveil.io.source import Source, shown

_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<gexf xmlns="http://gexf.net/1.3" version="1.3">\n'
    '  <graph defaultedgetype="undirected" mode="static">\n'
)
_STRUCTURE = {"id", "source", "target", "type", "label", "weight"}
"""What nodes and edges are made of; everything else is an attribute."""


def read_graph(source: Source, options: GraphOptions) -> Arcs:
    """Return the arcs of a GEXF file; ids are those of the node elements, not their labels."""
    reader = _Reader(source, options)
    try:
        for _, chunk in source.chunks():
            reader.parser.Parse(chunk, False)
        reader.parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        line = getattr(error, "lineno", None)
        source.refuse(f"this is no whole XML ({shown(error)}). Write it again.", line=line)
    return reader.arcs()


def write_graph(graph: Graph, stream: IO[bytes], form: Format) -> None:
    """Write nodes under their ids, and edges between them."""
    labels = [str(label) for label in graph.labels().tolist()]
    check_labels(labels, form)
    quoted = [quoteattr(label) for label in labels]
    stream.write(f"{_HEAD}    <nodes>\n".encode())
    for name in quoted:
        stream.write(f"      <node id={name} label={name}/>\n".encode())
    stream.write(b"    </nodes>\n    <edges>\n")
    for number, (left, right) in enumerate(graph.edges().tolist()):
        ends = f"source={quoted[left]} target={quoted[right]}"
        stream.write(f'      <edge id="{number}" {ends}/>\n'.encode())
    stream.write(b"    </edges>\n  </graph>\n</gexf>\n")


class _Reader:
    """Hears of every element as the parser comes to it."""

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._source = source
        self._builder = Builder(source, ignore_weights=options.ignore_weights)
        self._directed = False
        self._titles: dict[tuple[str, str], str] = {}
        self._described = ""
        self._open: list[str] = []
        self._graphs = 0
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._doctype

    def arcs(self) -> Arcs:
        """Return what was heard."""
        if not self._graphs:
            self._source.refuse("there is no <graph> in it. Check the format.")
        return self._builder.arcs(use_labels=False)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._open.append(name)
        if name == "graph":
            self._graph(attributes)
        elif name == "attributes":
            self._described = attributes.get("class", "")
        elif name == "attribute":
            key = (self._described, attributes.get("id", ""))
            self._titles[key] = attributes.get("title", key[1])
        elif name == "node":
            self._node(attributes)
        elif name == "edge":
            self._edge(attributes)
        elif name in {"attvalue", "spell"} or "viz" in tag:
            self._further(name, attributes)

    def _graph(self, attributes: dict[str, str]) -> None:
        self._graphs += 1
        if self._graphs > 1:
            self._refuse("a second graph. Give one file a graph.")
        self._directed = attributes.get("defaultedgetype") == "directed"
        self._builder.directed = self._directed

    def _node(self, attributes: dict[str, str]) -> None:
        key = self._needed(attributes, "id", "node")
        self._builder.node(key, None, line=self._line)
        if attributes.get("label", key) != key:
            self._builder.attribute("label")
        for name in attributes.keys() - _STRUCTURE:
            self._builder.attribute(name)

    def _edge(self, attributes: dict[str, str]) -> None:
        ends = [self._needed(attributes, end, "edge") for end in ("source", "target")]
        kind = attributes.get("type")
        self._builder.edge(
            *ends, line=self._line, directed=None if kind is None else kind == "directed"
        )
        if is_weight(attributes.get("weight", 1)):
            self._builder.weight("weight")
        for name in attributes.keys() - _STRUCTURE:
            self._builder.attribute(name)

    def _further(self, name: str, attributes: dict[str, str]) -> None:
        around = next((tag for tag in reversed(self._open) if tag in {"node", "edge"}), None)
        if around is None:
            return
        key = attributes.get("for", attributes.get("id", ""))
        title = self._titles.get((around, key), key) if name == "attvalue" else name
        self._builder.attribute(title)

    def _end(self, tag: str) -> None:
        del tag
        self._open.pop()

    def _doctype(self, *declared: object) -> None:
        del declared
        self._refuse("a document type or an entity is declared. Take the declaration out.")

    def _needed(self, attributes: dict[str, str], name: str, element: str) -> str:
        if name not in attributes:
            self._refuse(f"this {element} has no {name}. Give it one.")
        return attributes[name]

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber

    def _refuse(self, problem: str) -> NoReturn:
        self._source.refuse(problem, line=self._line)

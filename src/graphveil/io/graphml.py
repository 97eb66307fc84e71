"""GraphML, by the standard library's XML parser; document types and entities are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import IO, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from graphveil.data import Graph
from graphveil.errors import InputError
from graphveil.io.formats import Format
from graphveil.io.named import Builder
from graphveil.io.options import GraphOptions
from graphveil.io.raw import Arcs
from graphveil.io.source import Source, shown
from graphveil.io.spelling import negative_among
from graphveil.wording import option

_WEIGHTS = ("weight", "value")
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    '  <graph edgedefault="undirected">\n'
)


def read_graph(source: Source, options: GraphOptions) -> Arcs:
    """Return the arcs of a GraphML file; ids are those of the node elements."""
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
    stream.write(_HEAD.encode())
    for name in quoted:
        stream.write(f"    <node id={name}/>\n".encode())
    for left, right in graph.edges().tolist():
        stream.write(f"    <edge source={quoted[left]} target={quoted[right]}/>\n".encode())
    stream.write(b"  </graph>\n</graphml>\n")


def check_labels(labels: Sequence[str], form: Format) -> None:
    """Refuse ids that a format of XML cannot give back.

    Raises
    ------
    InputError
        Where one would be read as a negative number, or holds a control character.
    """
    negative = negative_among(labels)
    if negative is not None:
        raise InputError(
            f"the id {shown(negative)} could not be read again from {form.name}: there it is a "
            f"negative number. Use {option('format', 'parquet')}."
        )
    for label in labels:
        if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", label):
            raise InputError(
                f"the id {shown(label)} holds a control character, which {form.name} cannot "
                f"carry. Use {option('format', 'parquet')}."
            )


class _Reader:
    """Hears of every element as the parser comes to it."""

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._source = source
        self._builder = Builder(source, ignore_weights=options.ignore_weights)
        self._names: dict[str, str] = {}
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
            self._graphs += 1
            if self._graphs > 1:
                self._refuse("a second graph. Give one file a graph.")
            self._builder.directed = attributes.get("edgedefault") == "directed"
        elif name == "key":
            self._names[attributes.get("id", "")] = attributes.get("attr.name", "")
        elif name == "node":
            self._builder.node(self._needed(attributes, "id", name), None, line=self._line)
        elif name == "edge":
            ends = [self._needed(attributes, end, name) for end in ("source", "target")]
            own = {"true": True, "false": False}.get(attributes.get("directed", ""))
            self._builder.edge(*ends, line=self._line, directed=own)
        elif name == "data":
            self._data(attributes.get("key", ""))
        elif name == "hyperedge":
            self._refuse("a hyperedge joins more than two nodes. Split it.")

    def _data(self, key: str) -> None:
        parent = self._open[-2] if len(self._open) > 1 else ""
        name = self._names.get(key, key)
        if parent == "edge" and name.lower() in _WEIGHTS:
            self._builder.weight(name)
        elif parent in ("node", "edge"):
            self._builder.attribute(name)

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

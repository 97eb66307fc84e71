"""What GraphML and GEXF share: elements from the standard library's parser, labels for XML."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from graphveil.data import Network
from graphveil.data.attributes import cells_of
from graphveil.errors import InputError, option
from graphveil.io.formats import Format
from graphveil.io.graph_builder import Builder, check_signs
from graphveil.io.options import GraphOptions
from graphveil.io.parsed import ParsedArcs
from graphveil.io.source import Source, shown


class GraphElements(ABC):
    """Builds the one graph of a file, element by element, as the parser comes to them.

    Document types and entities are refused.
    """

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._source = source
        self._builder = Builder(source, options)
        self._text: list[str] = []
        self._open: list[str] = []
        self._graphs = 0
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append
        self._parser.StartDoctypeDeclHandler = self._declared
        self._parser.EntityDeclHandler = self._declared

    def read(self) -> ParsedArcs:
        """Return the arcs of the whole file; ids are those of the node elements."""
        try:
            for _, chunk in self._source.chunks():
                self._parser.Parse(chunk, False)
            self._parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            line = getattr(error, "lineno", None)
            self._source.refuse(
                f"this is no whole XML ({shown(error)}). Write it again.", line=line
            )
        if not self._graphs:
            self._source.refuse("there is no <graph> in it. Check the format.")
        return self._builder.arcs(use_labels=False)

    @abstractmethod
    def _element(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        """Take in one element that begins; `name` is its tag without the namespace."""

    def _graph(self, *, directed: bool) -> None:
        self._graphs += 1
        if self._graphs > 1:
            self._refuse("a second graph. Give one file a graph.")
        self._builder.directed = directed

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._open.append(name)
        self._text.clear()
        self._element(tag, name, attributes)

    def _end(self, tag: str) -> None:
        self._ended(tag.rpartition("}")[2], "".join(self._text).strip())
        self._text.clear()
        self._open.pop()

    @abstractmethod
    def _ended(self, name: str, text: str) -> None:
        """Take in the text of an element that ends; most have none."""

    def _declared(self, *declared: object) -> None:
        del declared
        self._refuse("a document type or an entity is declared. Take the declaration out.")

    def _needed(self, attributes: dict[str, str], name: str, element: str) -> str:
        if name not in attributes:
            self._refuse(f"this {element} has no {name}. Give it one.")
        return attributes[name]

    def _whether(self, said: str, meanings: Mapping[str, bool], what: str) -> bool:
        """Return what a word means, in any case of letters; refuse other words."""
        if said.lower() not in meanings:
            self._refuse(f"{shown(said)} is no {what}. Use one of {', '.join(meanings)}.")
        return meanings[said.lower()]

    def _default(self, around: str, title: str, value: str) -> None:
        """Note what is said of all nodes or edges that do not say it themselves."""
        if around in {"node", "all"}:
            self._builder.attribute_of_all(title, value)
        elif around == "edge":
            self._builder.edge_attribute_of_all(title, value)

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _refuse(self, problem: str) -> NoReturn:
        self._source.refuse(problem, line=self._line)


def quoted_labels(network: Network, form: Format) -> list[str]:
    """Return the id of every node as XML quotes it."""
    labels = [str(label) for label in network.labels().tolist()]
    check_labels(labels, form)
    return [quoteattr(label) for label in labels]


def attributes_in_text(network: Network, form: Format) -> dict[str, list[str]]:
    """Return the attributes of people as text; a suppressed one is ``*``.

    Raises
    ------
    InputError
        Where a value or a name holds a control character.
    """
    if network.people is None:
        return {}
    cells = {name: [*map(str, values)] for name, values in cells_of(network.people).items()}
    for name, values in cells.items():
        check_characters([name, *sorted(set(values))], form)
    return cells


def check_labels(labels: Sequence[str], form: Format) -> None:
    """Refuse ids that a format of XML cannot give back.

    Raises
    ------
    InputError
        As `check_signs`, and where an id holds a control character.
    """
    check_signs(labels, form)
    check_characters(labels, form)


def check_characters(texts: Sequence[str], form: Format) -> None:
    """Refuse text that a format of XML cannot give back.

    Raises
    ------
    InputError
        Where one holds a control character.
    """
    for text in texts:
        if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text):
            raise InputError(
                f"the text {shown(text)} holds a control character, which {form.name} cannot "
                f"carry. Use {option('format', 'parquet')}."
            )

"""Graphs out of formats that list nodes by name before their edges.

What GraphML and GEXF share: elements from the standard library's parser, labels for XML.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import InputError
from graphveil.core.hints import did_you_mean, leave_out, option, options
from graphveil.core.text import counted
from graphveil.data import Network
from graphveil.data.layers import KINDS_OF_EDGES, MOST_KINDS, may_mark_modes, mode_of, two_modes
from graphveil.data.network_conversions import SUPPRESSED_TEXT, cells_of
from graphveil.io.formats import BipartiteOptions, Format, GraphOptions, NetworkOptions
from graphveil.io.parsed import (
    ParsedArcs,
    ParsedPairs,
    ReadCounts,
    ids_listed,
    listed_arcs,
    negative_among,
)
from graphveil.io.source import Source, shown

WEIGHTS = ("weight", "value")
"""What the weight of an edge is called, in any case of letters."""


def is_weight(value: object) -> bool:
    """Whether a value of an edge says more than that the edge is there."""
    try:
        return float(str(value)) != 1
    except ValueError:
        return True


def check_signs(labels: Sequence[str], form: Format) -> None:
    """Refuse ids that a format that knows names alone could not give back."""
    negative = negative_among(labels)
    if negative is not None:
        raise InputError(
            f"the id {shown(negative)} could not be read back from {form.name}: there it is a "
            f"negative number. Use {option('format', 'parquet')}."
        )


class Builder:
    """Collects nodes and edges of a file; nodes are named by keys, and may have labels.

    Readers of formats with elements (GraphML, GEXF, GML, Pajek, node-link JSON) call it element by
    element; what is asked of the owner, and what was omitted, is decided here once for all of them.
    """

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._people: dict[str, dict[int, Any]] = {}
        self._one_mode = options.one_mode
        self._keeps = isinstance(options, NetworkOptions)
        self._kind_column = options.column_of_kinds
        self._kinds: dict[int, str] = {}
        self._kind_of_others: str | None = None
        self._may_be_kinds: dict[str, set[str]] = {}
        self._source = source
        self._ignore_weights = options.ignore_weights
        self._position: dict[str, int] = {}
        self._labels: list[str | None] = []
        self._lines: list[int | None] = []
        self._edges: list[tuple[str, str, int | None]] = []
        self._undirected: list[bool] = []
        self._notes = ReadCounts()
        self._of_all: dict[str, Any] = {}
        self._ids: list[str] = []
        self.directed = False

    def node(self, key: str, label: str | None, *, line: int | None = None) -> None:
        """Add a node."""
        if key in self._position:
            self._source.refuse(f"two nodes have the id {shown(key)}. Rename one.", line=line)
        self._position[key] = len(self._position)
        self._lines.append(line)
        self._labels.append(label)

    def edge(
        self, left: str, right: str, *, line: int | None = None, directed: bool | None = None
    ) -> None:
        """Add an edge between keys; its own direction overrides that of the graph."""
        self._edges.append((left, right, line))
        self._undirected.append(not (self.directed if directed is None else directed))

    def edge_id(self, text: str) -> None:
        """Note the id of the last edge, but where it counts edges, as e0 and 1 do.

        NetworkX writes the keys of a multigraph as ids, so that they repeat.
        """
        self._ids.append(text)
        counted = re.fullmatch(r"[A-Za-z]?(\d+)", text)
        if self.kind("id", text):
            return
        if counted is None or int(counted[1]) + 1 not in (len(self._edges), len(self._edges) + 1):
            self.attribute("edge id")

    def weight(self, name: str) -> None:
        """Note the weight of an edge, or refuse it."""
        if not self._ignore_weights:
            self._source.refuse(
                f"the edges have weights ({shown(name)}), which this method "
                f"does not use. {leave_out()}"
            )
        if name not in self._notes.columns_ignored:
            self._notes.columns_ignored += (name,)

    def kind(self, name: str, value: object) -> bool:
        """Note of which kind the last edge is where this attribute says so, and whether it does."""
        if name != self._kind_column:
            return False
        self._kinds[len(self._edges) - 1] = str(value)
        return True

    def edge_attribute(self, name: str, value: object) -> None:
        """Note what is said of the last edge; under the name of a weight, a one says nothing."""
        if self.kind(name, value):
            return
        if name.lower() not in WEIGHTS:
            self.attribute(name)
            if KINDS_OF_EDGES.fullmatch(name):
                self._may_be_kinds.setdefault(name, set()).add(str(value))
        elif is_weight(value):
            self.weight(name)

    def edge_key(self, name: str, value: object) -> None:
        """Note the key of the last edge of a multigraph: words are kinds, numbers only count."""
        if not self.kind(name, value) and not re.fullmatch(r"-?[0-9]+", str(value)):
            self._may_be_kinds.setdefault(name, set()).add(str(value))

    def edge_attribute_of_all(self, name: str, value: object) -> None:
        """Note what is said of edges that do not say it themselves."""
        if name == self._kind_column:
            self._kind_of_others = str(value)
        elif name.lower() in WEIGHTS:
            self.weight(name)
        else:
            self.attribute(name)

    def node_attribute(self, name: str, value: Any) -> None:
        """Keep what is said of the last node; a graph notes that it is omitted."""
        if self._keeps or may_mark_modes(name):
            self._people.setdefault(name, {})[len(self._position) - 1] = value
        if not self._keeps:
            self.attribute(name)

    def attribute_of_all(self, name: str, value: Any) -> None:
        """Keep what is said of nodes that do not say it; a graph notes that it is omitted."""
        if self._keeps or may_mark_modes(name):
            self._of_all[name] = value
        if not self._keeps:
            self.attribute(name)

    def declare(self, name: str, number: str | None, *, listed: int | None = None) -> None:
        """Note how many nodes or edges the file says that it holds, if it says so.

        Where nodes exist that it does not list, `listed` is the number of those that it lists.
        """
        if listed is not None:
            self._notes.counted[name] = listed
        if number is not None and number.isascii() and number.strip().isdigit():
            self._notes.declared[name] = int(number[:18])

    def attribute(self, name: str) -> None:
        """Note an attribute that is omitted."""
        if name not in self._notes.attributes_ignored:
            self._notes.attributes_ignored += (name,)

    def arcs(self, *, use_labels: bool) -> ParsedArcs:
        """Return what was collected; ids are the labels, where wanted and all distinct."""
        # Labels are ids if all nodes have distinct ones.
        labels = [label for label in self._labels if label is not None]
        keys: Sequence[str] = list(self._position)
        if use_labels and labels and len(set(labels)) == len(self._position):
            keys = labels
        else:
            self._refuse_negative(keys)
        # Ends as positions; an end that is not a node is refused with its line.
        left = [self._end(edge[0], edge[2]) for edge in self._edges]
        right = [self._end(edge[1], edge[2]) for edge in self._edges]
        # Attributes of nodes; two marked kinds of nodes are asked about.
        people = self._said_of_nodes()
        if not self._one_mode:
            refuse_two_modes(self._source, people, zip(left, right, strict=True))
        self._ask_for_kinds()
        # If some edges are directed, those that are not are listed in both directions.
        directed = not all(self._undirected)
        self._notes.rows = len(self._edges)
        kinds, one_way = self._kinds_of_edges(), None
        if directed:
            both = [number for number, plain in enumerate(self._undirected) if plain]
            left, right = (
                left + [right[number] for number in both],
                right + [left[number] for number in both],
            )
            kinds = None if kinds is None else kinds + [kinds[number] for number in both]
            one_way = [not plain for plain in self._undirected] + [False] * len(both)
        return listed_arcs(
            ids_listed(keys),
            left,
            right,
            directed=directed,
            notes=self._notes,
            people=people if self._keeps else {},
            kinds=kinds,
            one_way=one_way,
        )

    def _said_of_nodes(self) -> dict[str, dict[int, Any]]:
        """Return the value of every attribute for every node, by its position."""
        every = range(len(self._position))
        return {
            name: {**dict.fromkeys(every, self._of_all.get(name)), **self._people.get(name, {})}
            for name in {**self._of_all, **self._people}
        }

    def _ask_for_kinds(self) -> None:
        """Refuse to merge edge types that an attribute names, unless the options say so."""
        if self._kind_column is not None or self._ignore_weights:
            return
        if len(set(self._ids)) < len(self._ids):
            for text in self._ids:
                self.edge_key("id", text)
        for name, values in self._may_be_kinds.items():
            if 2 <= len(values) <= MOST_KINDS:
                refuse_kinds(self._source, sorted(values), name)

    def _kinds_of_edges(self) -> list[str] | None:
        """Return the type of every edge; None if no edge types were asked for."""
        if self._kind_column is None:
            return None
        kinds = [self._kinds.get(at, self._kind_of_others) for at in range(len(self._edges))]
        lacking = [at for at, kind in enumerate(kinds) if not (kind or "").strip()]
        if lacking:
            self._source.refuse(
                f"{len(lacking)} of {counted(len(kinds), 'edge')} have no "
                f"{shown(self._kind_column)}. Add the type of each, or remove these edges.",
                line=self._edges[lacking[0]][2],
            )
        return [str(kind).strip() for kind in kinds]

    def _refuse_negative(self, keys: Sequence[str]) -> None:
        key = negative_among(keys)
        if key is not None:
            line = self._lines[self._position[key]]
            self._source.refuse(f"the id {shown(key)} is negative. Use ids >= 0.", line=line)

    def _end(self, key: str, line: int | None) -> int:
        if key not in self._position:
            self._source.refuse(
                f"{shown(key)} is not in the list of nodes. Add it, or correct it.", line=line
            )
        return self._position[key]


def refuse_kinds(source: Source, kinds: Sequence[str], column: str) -> NoReturn:
    """Refuse edges of several kinds, with the ways to keep them apart and to merge them."""
    named = [shown(kind) for kind in kinds if kind]
    listed = ", ".join(named[:8]) + (f" and {len(named) - 8} more" if len(named) > 8 else "")
    listed += "" if all(kinds) else " and one without a name"
    source.refuse(
        f"the edges have {len(kinds)} types ({listed}). Use {option('kind_column', column)} to "
        f"keep them apart, or {option('ignore_weights', value=True)} to merge them."
    )


def refuse_two_modes(
    source: Source, people: Mapping[str, Mapping[int, Any]], ends: Iterable[tuple[int, int]]
) -> None:
    """Refuse nodes that an attribute marks as of two kinds, since not all may be people."""
    listed = list(ends)
    for name, said in people.items():
        counts = two_modes(name, list(said.values()), listed)
        if counts is None:
            continue
        (first, n), (second, m) = counts.items()
        mark = f"{name}={first}"
        source.refuse(
            f"the attribute {shown(name)} marks two kinds of nodes ({n:,} with {shown(first)}, "
            f"{m:,} with {shown(second)}), as in a two-mode network. If one kind is people, use "
            f"{options(kind='bipartite', user_column=mark)}, or {shown(f'{name}={second}')}. "
            f"If all nodes are people, use {option('one_mode', value=True)}."
        )


def read_bipartite(
    read_network: Callable[[Source, NetworkOptions], ParsedArcs],
    source: Source,
    options: BipartiteOptions,
) -> ParsedPairs:
    """Return the pairs of a two-mode network: nodes with the marked value are users.

    Parameters
    ----------
    read_network
        The reader of the format.
    source, options
        The file, and how it is read; `user_column` gives attribute and value.

    Raises
    ------
    InputError
        Where no value is given that some nodes have, or an edge joins two users or two items.
    """
    # The network of all nodes; which attribute and value mark the users.
    how = NetworkOptions(ignore_weights=options.ignore_weights, one_mode=True)
    arcs = read_network(source, how)
    name, users = _users_of(source, arcs, options.user_column)
    # Every edge must join a user and an item.
    left = users[arcs.source]
    within = left == users[arcs.target]
    if within.any():
        at = int(np.flatnonzero(within)[0])
        both = "users" if left[at] else "items"
        first, second = (str(arcs.labels[end[at]]) for end in (arcs.source, arcs.target))
        source.refuse(
            f"the edge between {shown(first)} and {shown(second)} connects two {both}. Remove it, "
            f"or choose a different {option('user_column')}."
        )
    # Users and items are numbered apart, each in the order of their ids.
    number = np.where(users, np.cumsum(users), np.cumsum(~users)).astype(np.int32) - np.int32(1)
    arcs.notes.attributes_ignored += tuple(other for other in arcs.people if other != name)
    return ParsedPairs(
        user=number[np.where(left, arcs.source, arcs.target)],
        item=number[np.where(left, arcs.target, arcs.source)],
        users=arcs.labels[users],
        items=arcs.labels[~users],
        notes=arcs.notes,
    )


def _users_of(
    source: Source, arcs: ParsedArcs, asked: str | int | None
) -> tuple[str, NDArray[np.bool_]]:
    """Return the attribute that marks users, and which nodes have the value that was asked for."""
    ends = list(zip(arcs.source.tolist(), arcs.target.tolist(), strict=True))
    if asked is None:
        refuse_two_modes(
            source, {name: dict(enumerate(said)) for name, said in arcs.people.items()}, ends
        )
        known = ", ".join(map(shown, arcs.people)) or "none"
        source.refuse(
            "no attribute shows which nodes are users. Use "
            f"{option('user_column', 'ATTRIBUTE=VALUE')} to name it. Attributes: {known}."
        )
    name, _, value = str(asked).rpartition("=")
    if name not in arcs.people:
        source.refuse(
            f"{option('user_column')}: no attribute {shown(name or value)}. "
            f"{did_you_mean(name or value, arcs.people)}Give ATTRIBUTE=VALUE. Attributes: "
            f"{', '.join(map(shown, arcs.people)) or 'none'}."
        )
    said = [mode_of(one) for one in arcs.people[name]]
    users = np.array([one == value for one in said], dtype=np.bool_)
    if not users.any():
        values = sorted({one for one in said if one is not None})
        source.refuse(
            f"no node has {shown(name)}={shown(value)}. {did_you_mean(value, values)}Values: "
            f"{', '.join(map(shown, values[:8]))}."
        )
    return name, users


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
                f"this is not complete XML ({shown(error)}). Write it again.", line=line
            )
        if not self._graphs:
            self._source.refuse("no <graph> found. Check the format.")
        return self._builder.arcs(use_labels=False)

    @abstractmethod
    def _element(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        """Take in one element that begins; `name` is its tag without the namespace."""

    def _graph(self, *, directed: bool) -> None:
        self._graphs += 1
        if self._graphs > 1:
            self._refuse("there is a second graph. Keep one graph per file.")
        self._builder.directed = directed

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._open.append(name)
        self._text.clear()
        self._element(tag, name, attributes)

    def _end(self, tag: str) -> None:
        self._ended(tag.rpartition("}")[2], "".join(self._text))
        self._text.clear()
        self._open.pop()

    @abstractmethod
    def _ended(self, name: str, text: str) -> None:
        """Take in the text of an element that ends; most have none."""

    def _declared(self, *_declared: object) -> None:
        self._refuse("the file declares a document type or an entity. Remove the declaration.")

    def _needed(self, attributes: dict[str, str], name: str, element: str) -> str:
        if name not in attributes:
            self._refuse(f"this {element} has no {name}. Add it.")
        return attributes[name]

    def _whether(self, said: str, meanings: Mapping[str, bool], what: str) -> bool:
        """Return what a word means, in any case of letters; refuse other words."""
        if said.lower() not in meanings:
            self._refuse(f"{shown(said)} is not a valid {what}. Use one of {', '.join(meanings)}.")
        return meanings[said.lower()]

    def _default(self, around: str, title: str, value: Any) -> None:
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


class DeclaredAttribute(NamedTuple):
    """An attribute as a format of XML declares it: its values as text; None is not written."""

    declared: str
    values: list[str | None]


def declared_attributes(network: Network, form: Format) -> dict[str, DeclaredAttribute]:
    """Return the attributes of people: integers as ``long`` without suppressed cells, else text.

    A suppressed cell of text is ``*``.
    """
    people, found = network.people, {}
    for name, values in cells_of(people).items():
        whole = (
            people is not None and people.categories[people.columns.index(name)].dtype.kind == "i"
        )
        texts = [None if whole and value == SUPPRESSED_TEXT else str(value) for value in values]
        check_characters([name, *sorted({text for text in texts if text is not None})], form)
        found[name] = DeclaredAttribute("long" if whole else "string", texts)
    return found


def check_labels(labels: Sequence[str], form: Format) -> None:
    """Refuse ids that a format of XML cannot give back."""
    check_signs(labels, form)
    check_characters(labels, form)


def check_characters(texts: Sequence[str], form: Format) -> None:
    """Refuse text that a format of XML cannot give back."""
    for text in texts:
        if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text):
            raise InputError(
                f"the text {shown(text)} contains a control character, which {form.name} cannot "
                f"store. Use {option('format', 'parquet')}."
            )

"""Pajek networks: numbered vertices with labels, edges and arcs, and partitions of the vertices.

A partition gives every vertex the number of its cluster: an attribute of people, where a network is
read. A relation, the number or name behind ``*Arcs`` and ``*Edges``, says of which kind edges are.
Vectors, permutations and clusters of a project are omitted, and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, NamedTuple, NoReturn

from graphveil.core.errors import InputError
from graphveil.core.hints import option
from graphveil.data import Network
from graphveil.data.network_conversions import cells_of
from graphveil.io.attribute_values import Spelled
from graphveil.io.formats import Format, GraphOptions
from graphveil.io.graph_builder import Builder, is_weight, refuse_kinds
from graphveil.io.parsed import ParsedArcs, check_size
from graphveil.io.source import Source, shown

_CELL = re.compile(r'"([^"]*)"|(\S+)')
_SECTIONS = ("*edges", "*arcs", "*edgeslist", "*arcslist")
"""The sections that list edges or arcs."""

_RELATION = re.compile(r'(?::\s*(?P<number>\d+))?\s*(?:"(?P<name>[^"]*)"\s*|(?P<rest>.*))')
RELATION = "relation"
"""What Pajek calls the kind of an edge, and the column of kinds therefore."""

MODE = "mode"
"""The attribute that says of which of two modes a vertex is: 1 or 2."""

_BESIDE = ("*vector", "*permutation", "*cluster")
"""What a project says of vertices apart from partitions, and no attribute is made of."""


def read_graph(source: Source, options: GraphOptions) -> ParsedArcs:
    """Return the arcs of a Pajek network; ids are the labels where all are there and distinct."""
    reader = _Reader(source, options)
    for reader.line, line in source.lines():
        stripped = line.strip()
        if stripped.startswith("*"):
            reader.section(stripped)
        elif stripped and not stripped.startswith("%"):
            reader.read_line([quoted or plain for quoted, plain in _CELL.findall(stripped)])
    return reader.arcs()


def write_network(network: Network, stream: IO[bytes], form: Format) -> None:
    """Write the vertices with their labels, the edges, and a partition for every attribute.

    Several kinds of edges are as many relations, each of arcs or of edges.
    """
    partitions = _partitions(network, form)
    labels = [str(label) for label in network.labels().tolist()]
    for what, names in (("id", labels), ("edge type", [one.name for one in network.layers])):
        bad = next((name for name in names if re.search(r'["\n\r\x00]', name)), None)
        if bad is not None:
            raise InputError(
                f"the {what} {shown(bad)} contains a quote or a line break, which {form.name} "
                f"cannot store. Use {option('format', 'graphml')}."
            )
    stream.write(f"*Vertices {len(labels)}\n".encode())
    for number, label in enumerate(labels, start=1):
        stream.write(f'{number} "{label}"\n'.encode())
    for line in _lines_of_ties(network):
        stream.write(f"{line}\n".encode())
    for name, clusters in partitions.items():
        stream.write(f"*Partition {name}\n*Vertices {len(clusters)}\n".encode())
        stream.write("".join(f"{cluster}\n" for cluster in clusters).encode())


def _lines_of_ties(network: Network) -> Iterator[str]:
    """Yield the edges of every kind below the line that says what they are."""
    for number, layer in enumerate(network.layers, start=1):
        relation = f' :{number} "{layer.name}"' if len(network.layers) > 1 else ""
        yield f"{'*Arcs' if layer.directed else '*Edges'}{relation}"
        for left, right in zip(*(end.tolist() for end in layer.ties()), strict=True):
            yield f"{left + 1} {right + 1}"


def _partitions(network: Network, form: Format) -> dict[str, list[int]]:
    """Return the clusters of every attribute; what cannot be one is refused."""
    said = cells_of(network.people)
    for name, values in said.items():
        bad = next((value for value in values if not isinstance(value, int)), None)
        if bad is not None:
            raise InputError(
                f"the attribute {shown(name)} has the value {shown(str(bad))}, but a partition "
                f"of {form.name} holds integers >= 0. Use {option('format', 'graphml')}."
            )
        if name != _name_of(f"*Partition {name}") or not name.isprintable():
            raise InputError(
                f"the attribute name {shown(name)} cannot be the name of a partition of "
                f"{form.name}. Rename it, or use {option('format', 'graphml')}."
            )
    return said


def _name_of(line: str) -> str:
    """Return the name of the partition that a line begins, without the extension of its file."""
    name = line[len("*Partition") :].strip().strip('"')
    return re.sub(r"(?i)\.clu$", "", name) or "partition"


class _Partition:
    """The clusters of vertices, in their order; where they begin, and of how many they say."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.n: int | None = None
        self.clusters: list[str] = []


class _Relations:
    """The relations of a file: those with a number are known by it, others by their name."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names: dict[str, str] = {}

    def begun(self, number: str | None, name: str, line: int) -> str:
        """Return by what the relation is known that a line begins; nothing where it has none."""
        if number is None:
            return name
        key = number.lstrip("0") or "0"
        if name and self._names.setdefault(key, name) != name:
            self._source.refuse(
                f"the relation {shown(key)} is named {shown(self._names[key])} earlier and "
                f"{shown(name)} here. Rename one.",
                line=line,
            )
        return key

    def called(self, ties: list[_Tie]) -> dict[str, str]:
        """Return what each relation of some edges is called: by its name, else by its number."""
        called: dict[str, str] = {}
        for tie in ties:
            if tie.relation in called:
                continue
            name = self._names.get(tie.relation, tie.relation)
            if name in called.values():
                self._source.refuse(
                    f"two relations are named {shown(name)}. Rename one.", line=tie.line
                )
            called[tie.relation] = name
        return called


class _Tie(NamedTuple):
    """An edge between vertices: the line where it stands, and what is said of it."""

    left: int
    right: int
    line: int
    directed: bool
    relation: str
    value: str = "1"


class _Reader:
    """What was read so far."""

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._source = source
        self._builder = Builder(source, options)
        self.line = 0
        self._n = -1
        self._first_mode = 0
        self._section = ""
        self._labels: dict[int, str] = {}
        self._ties: list[_Tie] = []
        self._relations = _Relations(source)
        self._relation = ""
        self._column = options.column_of_kinds
        self._merges = options.ignore_weights
        self._partitions: dict[str, _Partition] = {}
        self._partition = _Partition(0)

    def section(self, line: str) -> None:
        """Begin a section."""
        words = line.split()
        section = words[0].lower()
        if section == "*vertices":
            self._vertices(words)
            return
        self._section = section
        if section in _SECTIONS:
            self._relation = self._begin_ties(line[len(section) :].strip())
        elif section == "*partition":
            self._begin_partition(_name_of(line))
        elif section in _BESIDE:
            self._builder.attribute(line[1:])
        elif section == "*matrix":
            self._refuse("*Matrix is not supported. Write edges instead.")
        elif section != "*network":
            self._refuse(f"unknown section {shown(words[0])}.")

    def _vertices(self, words: list[str]) -> None:
        """Note how many vertices there are; a partition says it again."""
        if len(words) < 2 or not (words[1].isascii() and words[1].isdigit()):
            self._refuse("*Vertices has no number. Add the number of vertices.")
        n = int(words[1][:19])
        if self._section == "*partition":
            self._partition.n = n
        elif self._section not in _BESIDE:
            if self._n >= 0:
                self._refuse("there is a second *Vertices. Keep one network per file.")
            self._section, self._n = "*vertices", n
            self._first_mode = self._size_of_first_mode(words)

    def _size_of_first_mode(self, words: list[str]) -> int:
        """Return how many vertices are of the first mode; 0 where the file has one mode."""
        if len(words) < 3:
            return 0
        if not (words[2].isascii() and words[2].isdigit() and int(words[2][:19]) <= self._n):
            self._refuse(
                f"*Vertices has {shown(words[2])} as the size of its first mode. Give a number up "
                f"to {self._n}, or remove it."
            )
        n_first = int(words[2])
        return n_first if n_first < self._n else 0

    def _begin_ties(self, said: str) -> str:
        """Return the relation of the edges that follow; what is not a relation is omitted."""
        match = _RELATION.fullmatch(said)
        if match is None or (match["rest"] and match["number"] is None):
            self._builder.attribute(f"{said} of edges")
            return ""
        name = (match["name"] or match["rest"] or "").strip()
        return self._relations.begun(match["number"], name, self.line)

    def _begin_partition(self, name: str) -> None:
        if name in self._partitions:
            self._refuse(f"a second partition is named {shown(name)}. Rename one.")
        self._partition = self._partitions[name] = _Partition(self.line)

    def read_line(self, cells: list[str]) -> None:
        """Read one line of the section."""
        if self._section == "*partition":
            self._cluster(cells)
        elif self._section == "*vertices":
            if len(cells) > 1:
                self._labels[self._vertex(cells[0])] = cells[1]
            for number_of_cell, _ in enumerate(cells[2:], start=3):
                self._builder.attribute(f"cell {number_of_cell} of a vertex")
        elif self._section in ("*edgeslist", "*arcslist"):
            first, *neighbors = (self._vertex(cell) for cell in cells)
            directed = self._section == "*arcslist"
            self._ties.extend(
                _Tie(first, second, self.line, directed, self._relation) for second in neighbors
            )
        elif self._section in ("*edges", "*arcs"):
            relation, cells = self._relation_before(cells)
            self._pair(cells, relation)
        elif self._section not in ("*network", *_BESIDE):
            self._refuse("there is a line before *Vertices. Check the format.")

    def _cluster(self, cells: list[str]) -> None:
        cluster = cells[0]
        if len(cells) > 1 or not (cluster.isascii() and cluster.isdigit()):
            self._refuse(
                f"{shown(' '.join(cells))} is not a cluster of a partition (an integer >= 0). "
                "Correct it."
            )
        self._partition.clusters.append(cluster)

    def _check_partitions(self) -> None:
        """Refuse partitions of other vertices than those of the network."""
        for name, partition in self._partitions.items():
            there = len(partition.clusters)
            said = there if partition.n is None else partition.n
            if (there, said) != (self._n, self._n):
                self._source.refuse(
                    f"the partition {shown(name)} has {there:,} clusters for {said:,} vertices, "
                    f"but the network has {self._n:,} vertices. Give one cluster per vertex.",
                    line=partition.line,
                )

    def _check_relations(self, kinds: list[str]) -> None:
        """Refuse to merge kinds of edges unless that is asked; name what is omitted."""
        said = [name for name in kinds if name]
        if self._column == RELATION or not said:
            return
        if len(kinds) > 1 and not self._merges:
            refuse_kinds(self._source, kinds, RELATION)
        if len(kinds) > 1 or not said[0].isdigit():
            self._builder.attribute(RELATION)

    def _relation_before(self, cells: list[str]) -> tuple[str, list[str]]:
        """Return the relation that a line names before its edge, as ``2: 1 4`` does."""
        match = re.fullmatch(r"(\d{1,18}):(.*)", cells[0])
        if match is None:
            return self._relation, cells
        rest = [match[2], *cells[1:]] if match[2] else cells[1:]
        return self._relations.begun(match[1], "", self.line), rest

    def _pair(self, cells: list[str], relation: str) -> None:
        if len(cells) < 2:
            self._refuse("an edge needs two vertices. Correct the line.")
        left, right = (self._vertex(cell) for cell in cells[:2])
        directed, value = self._section == "*arcs", cells[2] if len(cells) > 2 else "1"
        self._ties.append(_Tie(left, right, self.line, directed, relation, value))
        for number_of_cell, _ in enumerate(cells[3:], start=4):
            self._builder.attribute(f"cell {number_of_cell} of an edge")

    def _vertex(self, cell: str) -> int:
        if cell.isascii() and cell.isdigit() and 1 <= int(cell[:20]) <= self._n:
            return int(cell)
        return self._refuse(
            f"{shown(cell)} is not a vertex from 1 to {max(self._n, 0)}. Correct it."
        )

    def _refuse(self, problem: str) -> NoReturn:
        self._source.refuse(problem, line=self.line)

    def arcs(self) -> ParsedArcs:
        """Return what was read."""
        if self._n < 0:
            self._source.refuse("*Vertices is missing. Check the format.")
        # Partitions, modes and relations can be checked only now that all sections were read.
        self._check_partitions()
        if self._first_mode and MODE in self._partitions:
            self._source.refuse(f"a partition of a two-mode network is named {MODE}. Rename it.")
        relations = self._relations.called(self._ties)
        self._check_relations(sorted(relations.values()))
        if self._labels and len(self._labels) < self._n:
            self._builder.declare("nodes", str(self._n), listed=len(self._labels))
        check_size(self._source, self._n, len(self._ties) + len(self._labels))
        # Vertices in their order, with their mode and their clusters as attributes.
        for vertex in range(1, self._n + 1):
            self._builder.node(str(vertex), self._labels.get(vertex), line=1)
            if self._first_mode:
                self._builder.node_attribute(MODE, 1 if vertex <= self._first_mode else 2)
            for name, partition in self._partitions.items():
                self._builder.node_attribute(name, Spelled(partition.clusters[vertex - 1]))
        # Edges, each with its relation; in a two-mode network, between the modes only.
        for tie in self._ties:
            if self._first_mode and (
                (tie.left <= self._first_mode) == (tie.right <= self._first_mode)
            ):
                self._source.refuse(
                    f"vertices {tie.left} and {tie.right} are in the same mode, but *Vertices says "
                    "that the network has two modes. Correct either line.",
                    line=tie.line,
                )
            self._builder.edge(str(tie.left), str(tie.right), line=tie.line, directed=tie.directed)
            self._builder.kind(RELATION, relations[tie.relation])
            if not self._builder.kind("value", tie.value) and is_weight(tie.value):
                self._builder.weight("value")
        return self._builder.arcs(use_labels=True)

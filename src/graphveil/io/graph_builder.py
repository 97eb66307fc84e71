"""Graphs out of formats that list nodes by name before their edges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from graphveil.errors import InputError, leave_out, option
from graphveil.io.formats import Format
from graphveil.io.options import GraphOptions, NetworkOptions
from graphveil.io.parsed import Notes, ParsedArcs, listed_arcs
from graphveil.io.source import Source, shown
from graphveil.io.spelling import ids_listed, negative_among

WEIGHTS = ("weight", "value")
"""What the weight of an edge is called, in any case of letters."""


def is_weight(value: object) -> bool:
    """Whether a value of an edge says more than that the edge is there.

    Examples
    --------
    >>> is_weight("1.0"), is_weight(1), is_weight("0.5"), is_weight("strong")
    (False, False, True, True)
    """
    try:
        return float(str(value)) != 1
    except ValueError:
        return True


def check_signs(labels: Sequence[str], form: Format) -> None:
    """Refuse ids that a format that knows names alone could not give back.

    Raises
    ------
    InputError
        Where one would be read as a negative number.
    """
    negative = negative_among(labels)
    if negative is not None:
        raise InputError(
            f"the id {shown(negative)} could not be read again from {form.name}: there it is a "
            f"negative number. Use {option('format', 'parquet')}."
        )


class Builder:
    """Collects nodes and edges; nodes are named by keys, and may have labels.

    Parameters
    ----------
    source
        The file, for messages.
    options
        How the file is read: of a network, attributes of nodes are kept instead of left out, and
        one of edges may say of which kind they are.
    """

    def __init__(self, source: Source, options: GraphOptions) -> None:
        self._people: dict[str, dict[int, Any]] = {}
        self._keeps = isinstance(options, NetworkOptions)
        self._kind_column = options.column_of_kinds
        self._kinds: dict[int, str] = {}
        self._kind_of_others: str | None = None
        self._source = source
        self._ignore_weights = options.ignore_weights
        self._position: dict[str, int] = {}
        self._labels: list[str | None] = []
        self._lines: list[int | None] = []
        self._edges: list[tuple[str, str, int | None]] = []
        self._undirected: list[bool] = []
        self._notes = Notes()
        self._of_all: dict[str, Any] = {}
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
        """Note the id of the last edge, but where it counts edges, as e0 and 1 do."""
        counted = re.fullmatch(r"[A-Za-z]?(\d+)", text)
        if counted is None or int(counted[1]) + 1 not in (len(self._edges), len(self._edges) + 1):
            self.attribute("edge id")

    def weight(self, name: str) -> None:
        """Note the weight of an edge, or refuse it."""
        if not self._ignore_weights:
            self._source.refuse(f"the edges have weights ({shown(name)}). {leave_out()}")
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
        elif is_weight(value):
            self.weight(name)

    def edge_attribute_of_all(self, name: str, value: object) -> None:
        """Note what is said of edges that do not say it themselves."""
        if name == self._kind_column:
            self._kind_of_others = str(value)
        elif name.lower() in WEIGHTS:
            self.weight(name)
        else:
            self.attribute(name)

    def node_attribute(self, name: str, value: Any) -> None:
        """Keep what is said of the last node, or note that it is left out."""
        if self._keeps:
            self._people.setdefault(name, {})[len(self._position) - 1] = value
        else:
            self.attribute(name)

    def attribute_of_all(self, name: str, value: Any) -> None:
        """Keep what is said of nodes that do not say it themselves, or note that it is left out."""
        if self._keeps:
            self._of_all[name] = value
        else:
            self.attribute(name)

    def attribute(self, name: str) -> None:
        """Note an attribute that is left out."""
        if name not in self._notes.attributes_ignored:
            self._notes.attributes_ignored += (name,)

    def arcs(self, *, use_labels: bool) -> ParsedArcs:
        """Return what was collected; ids are the labels, where wanted and all distinct."""
        labels = [label for label in self._labels if label is not None]
        keys: Sequence[str] = list(self._position)
        if use_labels and labels and len(set(labels)) == len(self._position):
            keys = labels
        else:
            self._refuse_negative(keys)
        left = [self._end(edge[0], edge[2]) for edge in self._edges]
        right = [self._end(edge[1], edge[2]) for edge in self._edges]
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
        every = range(len(self._position))
        people = {
            name: {**dict.fromkeys(every, self._of_all.get(name)), **self._people.get(name, {})}
            for name in {**self._of_all, **self._people}
        }
        return listed_arcs(
            ids_listed(keys),
            left,
            right,
            directed=directed,
            notes=self._notes,
            people=people,
            kinds=kinds,
            one_way=one_way,
        )

    def _kinds_of_edges(self) -> list[str] | None:
        """Return of which kind every edge is; None where nobody asked."""
        if self._kind_column is None:
            return None
        kinds = [self._kinds.get(at, self._kind_of_others) for at in range(len(self._edges))]
        lacking = [at for at, kind in enumerate(kinds) if not (kind or "").strip()]
        if lacking:
            self._source.refuse(
                f"{len(lacking)} of {len(kinds)} edges have no {shown(self._kind_column)}. Say of "
                "which kind each is, or remove them.",
                line=self._edges[lacking[0]][2],
            )
        return [str(kind).strip() for kind in kinds]

    def _refuse_negative(self, keys: Sequence[str]) -> None:
        key = negative_among(keys)
        if key is not None:
            line = self._lines[self._position[key]]
            self._source.refuse(f"the id {shown(key)} is negative. Give ids from 0 on.", line=line)

    def _end(self, key: str, line: int | None) -> int:
        if key not in self._position:
            self._source.refuse(
                f"{shown(key)} is no listed node. List it, or correct it.", line=line
            )
        return self._position[key]

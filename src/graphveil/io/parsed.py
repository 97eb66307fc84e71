"""What the reader of a format hands over; `graphveil.io.reading` makes the container of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data.graph import MAX_NODES
from graphveil.data.ids import Ids, as_text, distinct, positions
from graphveil.io.source import Source


@dataclass
class Notes:
    """What a reader counted; the names are those of the reading report.

    `nameless` says besides that users are numbers of rows, and no ids of the file.
    """

    rows: int = 0
    header: tuple[str, ...] = ()
    comment_lines: int = 0
    count_line: str | None = None
    columns_ignored: tuple[str, ...] = ()
    attributes_ignored: tuple[str, ...] = ()
    inferred: bool = False
    nameless: bool = False
    odd_ids: int = 0
    example: str = ""
    suppressed_cells: int = 0
    binned: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    many_numbers: tuple[str, ...] = ()
    odd_cells: tuple[tuple[str, str], ...] = ()
    empty_rows: int = 0
    maybe_missing: str = ""
    look_alike: str = ""

    def reported(self) -> dict[str, Any]:
        """Return what the reading report takes over."""
        return {name: value for name, value in asdict(self).items() if name != "nameless"}


class ParsedKinds(NamedTuple):
    """Of which kind every arc is: a position into the names of kinds, which are in order."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]

    @classmethod
    def of(cls, named: Sequence[str]) -> ParsedKinds:
        """Return the kinds of arcs that have these names.

        Examples
        --------
        >>> ParsedKinds.of(["mail", "call", "mail"])
        ParsedKinds(codes=array([1, 0, 1], dtype=int32), names=('call', 'mail'))
        """
        names = tuple(sorted(set(named)))
        number = {name: at for at, name in enumerate(names)}
        codes = np.fromiter((number[name] for name in named), dtype=np.int32, count=len(named))
        return cls(codes, names)


@dataclass(kw_only=True)
class ParsedArcs:
    """The arcs of a graph file: positions into `labels`, which are distinct and in order.

    `directed` says whether the file calls itself directed, None where it says nothing; `twice`
    that the format lists every edge at both ends; `names` are those of the columns of both ends;
    `kinds` says of which kind every arc is, and `people` has the attributes of nodes, a value a
    label, where they were asked for. `one_way` says of every arc of a directed file whether it is
    one, and not an edge that the file lists as such; None where all are.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    labels: Ids
    directed: bool | None = None
    twice: bool = False
    names: tuple[str, ...] = ()
    kinds: ParsedKinds | None = None
    one_way: NDArray[np.bool_] | None = None
    people: dict[str, list[Any]] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)


@dataclass(kw_only=True)
class ParsedPairs:
    """The pairs of a user-item file: positions into `users` and `items`, distinct and in order."""

    user: NDArray[np.int32]
    item: NDArray[np.int32]
    users: Ids
    items: Ids
    notes: Notes = field(default_factory=Notes)


@dataclass(kw_only=True)
class ParsedCells:
    """The columns of a table file, Arrow columns by name."""

    columns: dict[str, Any]
    notes: Notes = field(default_factory=Notes)


class ParsedColumn(NamedTuple):
    """One column of ids: positions into distinct labels in order."""

    codes: NDArray[np.int32]
    labels: Ids


def joined(left: ParsedColumn, right: ParsedColumn) -> tuple[ParsedColumn, ParsedColumn]:
    """Return both columns over the union of their labels; text where either one is text."""
    labels = (left.labels, right.labels)
    if labels[0].dtype.kind != labels[1].dtype.kind:
        labels = (as_text(labels[0]), as_text(labels[1]))
    union = distinct(np.concatenate(labels))
    return recoded(left.codes, labels[0], union), recoded(right.codes, labels[1], union)


def recoded(codes: NDArray[np.int32], labels: Ids, union: Ids) -> ParsedColumn:
    """Return the codes as positions into a list of labels that holds them all.

    Raises
    ------
    DataError
        Where a label is not in that list.
    """
    if np.array_equal(labels, union):
        return ParsedColumn(codes, union)
    return ParsedColumn(positions(labels, union, what="ids")[codes], union)


def encoded(values: Ids) -> ParsedColumn:
    """Return ids as positions into their distinct values, in order."""
    labels = distinct(values)
    return ParsedColumn(positions(values, labels, what="ids"), labels)


def listed_arcs(
    labels: Ids,
    source: list[int],
    target: list[int],
    *,
    directed: bool,
    notes: Notes,
    people: Mapping[str, Mapping[int, Any]] = MappingProxyType({}),
    kinds: list[str] | None = None,
    one_way: list[bool] | None = None,
) -> ParsedArcs:
    """Return the arcs of a format that lists its nodes; ends are positions in that list.

    The labels are distinct; they are put in order here. Attributes come by their names, and by
    positions in the list; kinds, one an arc.
    """
    order = distinct(labels)
    position = positions(labels, order, what="ids")
    listed = np.argsort(position).tolist()
    return ParsedArcs(
        source=position[np.array(source, dtype=np.int64)],
        target=position[np.array(target, dtype=np.int64)],
        labels=order,
        directed=directed,
        kinds=None if kinds is None else ParsedKinds.of(kinds),
        one_way=None if one_way is None else np.array(one_way, dtype=np.bool_),
        people={name: [said.get(node) for node in listed] for name, said in people.items()},
        notes=notes,
    )


def check_size(source: Source, n: int, entries: int) -> None:
    """Refuse a number of nodes or users that what is listed cannot explain."""
    if n > 10_000_000 + 1000 * entries or n > MAX_NODES:
        source.refuse(
            f"it says {n:,} rows and columns but lists {entries:,} entries. Check the first lines."
        )

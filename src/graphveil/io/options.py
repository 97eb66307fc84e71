"""The options of readers; every field is also a flag of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphveil.core.lazy import resolve
from graphveil.core.parameters import reading_option
from graphveil.data.columns import Directed, Directions
from graphveil.data.kinds import KINDS, Kind
from graphveil.data.origin import Items

Header = Literal["auto", "yes", "no"]
Layout = Literal["auto", "pairs", "lists", "items"]

_FORMAT = "Input format, if the file extension does not show it."
_HEADER = "Whether the first line contains column names; auto decides from its content."
_WEIGHTS = "Ignore weights and extra columns instead of refusing the file."
_DELIMITER = "Cell separator: one character, ::, tab or space. Default: detected."
_SUPPRESSED = "Values that mark a suppressed cell."
_CATEGORIES = (
    "Values to keep as categories although they often mark missing data or totals, such as ?, NA "
    "or Total. A table with such a value is refused unless it is listed here or in --suppressed."
)
_BINS = (
    "How to bin a numeric column: COLUMN=median, COLUMN=quantiles:N or COLUMN=edges:A,B,C. "
    "all=RULE bins every other numeric column."
)


class Ends(NamedTuple):
    """Which two columns are the ends of a row, as far as the options say.

    `names`: the names of the two options; `asked`: their values: the name of a column, or its
    number from 1; `ignore_weights`: whether further columns are left out; `kind_column`: a column
    that says of which kind a tie is, by its name or number: no end, and not left out; `of_ties`:
    whether rows are ties between people, of which a further column may name the kind.
    """

    names: tuple[str, str]
    asked: tuple[str | int | None, str | int | None]
    ignore_weights: bool
    kind_column: str | int | None = None
    of_ties: bool = False


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """How a file is read as a graph."""

    format: str | None = reading_option(default=None, text=_FORMAT)
    directed: Directed = reading_option(
        default="refuse",
        text="How to treat a directed file: symmetrize (drop directions) or refuse.",
    )
    source_column: str | int | None = reading_option(
        default=None, text="Column with the first node of each edge, by name or number (from 1)."
    )
    target_column: str | int | None = reading_option(
        default=None, text="Column with the second node of each edge, by name or number (from 1)."
    )
    ignore_weights: bool = reading_option(default=False, text=_WEIGHTS)
    one_mode: bool = reading_option(
        default=False,
        text="All nodes are people although the file marks two kinds of nodes, as a "
        "two-mode network does. Such a file is refused without this option.",
    )
    header: Header = reading_option(default="auto", text=_HEADER)
    delimiter: str | None = reading_option(default=None, text=_DELIMITER)
    nodes: Path | None = reading_option(
        default=None,
        text="File listing every node id, to keep isolated nodes. Under differential privacy this "
        "list counts as public, so it must not be derived from the edges.",
    )

    @property
    def ends(self) -> Ends:
        """Which two columns are the ends of an edge."""
        asked = (self.source_column, self.target_column)
        names = ("source_column", "target_column")
        return Ends(names, asked, self.ignore_weights, self.column_of_kinds, of_ties=True)

    @property
    def column_of_kinds(self) -> str | None:
        """The column that says of which kind a tie is: in a graph all are of one."""
        return None


@dataclass(frozen=True, kw_only=True)
class BipartiteOptions:
    """How a file is read as users and their items."""

    format: str | None = reading_option(default=None, text=_FORMAT)
    items: Items | None = reading_option(
        default=None,
        text="What items are: people (they get their new ids), things (they keep their "
        "names), or values (named column=value; under differential privacy one "
        "value counts as two entries). Required where it matters.",
    )
    user_column: str | int | None = reading_option(
        default=None,
        text="Column with users, by name or number (from 1). For graph formats: the "
        "attribute value that marks users, such as type=person.",
    )
    item_column: str | int | None = reading_option(
        default=None, text="Column with items, by name or number (from 1)."
    )
    header: Header = reading_option(default="auto", text=_HEADER)
    delimiter: str | None = reading_option(default=None, text=_DELIMITER)
    ignore_weights: bool = reading_option(default=False, text=_WEIGHTS)
    layout: Layout = reading_option(
        default="auto",
        text="Content of a line: one user and one item (pairs), a user followed by items "
        "(lists), or only items (items).",
    )
    users: Path | None = reading_option(
        default=None,
        text="File listing every user id, to keep users without items. Under differential privacy "
        "this list counts as public, so it must not be derived from the entries.",
    )
    item_list: Path | None = reading_option(
        default=None,
        text="File listing every item name, to keep items that nobody has. Under differential "
        "privacy this list counts as public, so it must not be derived from the entries.",
    )

    @property
    def ends(self) -> Ends:
        """Which two columns are the user and the item of a pair."""
        asked = (self.user_column, self.item_column)
        return Ends(("user_column", "item_column"), asked, self.ignore_weights)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a file is read as rows by categorical columns."""

    format: str | None = reading_option(default=None, text=_FORMAT)
    header: Header = reading_option(default="auto", text=_HEADER)
    delimiter: str | None = reading_option(default=None, text=_DELIMITER)
    ids: str | None = reading_option(default=None, text="Column with row ids; it is not published.")
    suppressed: tuple[str, ...] = reading_option(default=("*", ""), text=_SUPPRESSED)
    categories: tuple[str, ...] = reading_option(default=(), text=_CATEGORIES)
    bins: Mapping[str, str] = field(default_factory=dict, metadata={"help": _BINS})
    person: str | None = reading_option(
        default=None,
        text="Column that identifies people; their rows are merged into one. row: every "
        "row is one person.",
    )
    drop: tuple[str, ...] = reading_option(default=(), text="Columns to drop, separated by commas.")
    exact: bool = reading_option(
        default=False,
        text="Read numbers with fractions as they are written, without bins. Generalize "
        "does this by itself.",
    )
    one_hot: tuple[str, ...] = reading_option(
        default=(),
        text="Columns to one-hot encode (one 0/1 column per value). The values are "
        "published as column names.",
    )


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(GraphOptions):
    """How files are read as a network: ties, and what is said of people."""

    directed: Directions = reading_option(  # type: ignore[assignment]  # a network can keep them
        default="refuse",
        text="How to treat a directed file: keep directions, symmetrize (drop them), or refuse.",
    )
    nodes: Path | None = reading_option(
        default=None,
        text="File listing every node id, to keep isolated nodes; further columns are "
        "attributes. Under differential privacy this list counts as public, so it "
        "must not be derived from the edges.",
    )
    node_column: str | None = reading_option(
        default=None, text="Column with ids in the node file. Default: the first."
    )
    kind_column: str | None = reading_option(
        default=None,
        text="Column or attribute with the type of each edge, by name or number (from "
        "1). Group numbers with --bins.",
    )
    kinds: tuple[str, ...] = reading_option(
        default=(), text="Edge types to read, separated by commas. [default: all]"
    )
    undirected: tuple[str, ...] = reading_option(
        default=(), text="Undirected edge types, separated by commas, if the others are directed."
    )
    drop: tuple[str, ...] = reading_option(
        default=(), text="Columns or attributes to drop, separated by commas."
    )
    bins: Mapping[str, str] = field(default_factory=dict, metadata={"help": _BINS})
    suppressed: tuple[str, ...] = reading_option(default=("*", ""), text=_SUPPRESSED)
    categories: tuple[str, ...] = reading_option(default=(), text=_CATEGORIES)

    @property
    def column_of_kinds(self) -> str | None:
        """The column that says of which kind a tie is."""
        return self.kind_column

    @property
    def of_people(self) -> TableOptions:
        """How the file of nodes is read: it is a table whose ids are those of nodes."""
        return TableOptions(
            ids=self.node_column,
            suppressed=self.suppressed,
            categories=self.categories,
            bins={name: rule for name, rule in self.bins.items() if name != self.kind_column},
            drop=self.drop,
        )


AnyOptions = GraphOptions | BipartiteOptions | TableOptions | NetworkOptions


def recorded(options: AnyOptions) -> dict[str, Any]:
    """Return reading options for the private record; the names of files stay out of it."""
    kept = asdict(options)
    return {name: value for name, value in kept.items() if not isinstance(value, Path)}


def from_record(defaults: AnyOptions, kept: Mapping[str, Any]) -> AnyOptions:
    """Return the reading options of a private record; unknown names are left out."""
    names = {item.name for item in fields(defaults)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in kept.items()
        if name in names
    }
    return replace(defaults, **values)


def options_of(kind: Kind) -> type[AnyOptions]:
    """Return the class of the options with which a kind is read."""
    options: type[AnyOptions] = resolve(kind.options)
    return options


def kind_read(options: AnyOptions) -> Kind:
    """Return the kind of data that these options read."""
    return next(kind for kind in KINDS.values() if options_of(kind) is type(options))

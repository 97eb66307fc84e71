"""The options of readers; every field is also a flag of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphveil.core.lazy import resolve
from graphveil.data.columns import Directed, Directions
from graphveil.data.kinds import KINDS, Kind
from graphveil.data.origin import Items

Header = Literal["auto", "yes", "no"]
Layout = Literal["auto", "pairs", "lists", "items"]

_FORMAT = "Read the file as this format instead of going by its extension."
_HEADER = "Whether the first line names the columns; auto looks at it."
_WEIGHTS = "Leave out weights and further columns instead of refusing the file."
_DELIMITER = "What separates cells: one character, ::, tab or space. Without this it is looked for."
_SUPPRESSED = "Texts that stand for a suppressed cell."
_CATEGORIES = (
    "Texts that are values although they often stand for a missing one or a sum, such as ?, NA or "
    "Total; a table with one is refused unless it is named here or is suppressed."
)
_BINS = (
    "How numbers of a column become categories: COLUMN=median, COLUMN=quantiles:N or "
    "COLUMN=edges:A,B,C."
)


class Ends(NamedTuple):
    """Which two columns are the ends of a row, as far as the options say.

    Parameters
    ----------
    names
        The names of the two options.
    asked
        Their values: the name of a column, or its number from 1.
    ignore_weights
        Whether further columns are left out.
    kind_column
        A column that says of which kind a tie is, by its name or number: no end, and not left out.
    of_ties
        Whether rows are ties between people, of which a further column may name the kind.
    """

    names: tuple[str, str]
    asked: tuple[str | int | None, str | int | None]
    ignore_weights: bool
    kind_column: str | int | None = None
    of_ties: bool = False


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """How a file is read as a graph.

    Examples
    --------
    >>> GraphOptions(directed="symmetrize").header
    'auto'
    """

    format: str | None = field(default=None, metadata={"help": _FORMAT})
    directed: Directed = field(
        default="refuse",
        metadata={
            "help": "What to do with a file in which directions matter: forget them, or refuse it."
        },
    )
    source_column: str | int | None = field(
        default=None,
        metadata={"help": "The column of one end of an edge: its name, or its number from 1."},
    )
    target_column: str | int | None = field(
        default=None,
        metadata={"help": "The column of the other end: its name, or its number from 1."},
    )
    ignore_weights: bool = field(default=False, metadata={"help": _WEIGHTS})
    header: Header = field(default="auto", metadata={"help": _HEADER})
    delimiter: str | None = field(default=None, metadata={"help": _DELIMITER})
    nodes: Path | None = field(
        default=None,
        metadata={
            "help": "A file with the id of every node, so that isolated nodes are kept. Under "
            "epsilon this list counts as public, so it must not come from the edges."
        },
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
    """How a file is read as users and their items.

    Examples
    --------
    >>> BipartiteOptions().layout
    'auto'
    """

    format: str | None = field(default=None, metadata={"help": _FORMAT})
    items: Items | None = field(
        default=None,
        metadata={
            "help": "Whether items are people too, who get the new ids that they have as users, "
            "things, which keep their names, or values of columns, named column=value, of which "
            "one is two entries under epsilon. Asked for where it matters."
        },
    )
    user_column: str | int | None = field(
        default=None,
        metadata={"help": "The column of users: its name, or its number from 1."},
    )
    item_column: str | int | None = field(
        default=None,
        metadata={"help": "The column of items: its name, or its number from 1."},
    )
    header: Header = field(default="auto", metadata={"help": _HEADER})
    delimiter: str | None = field(default=None, metadata={"help": _DELIMITER})
    ignore_weights: bool = field(default=False, metadata={"help": _WEIGHTS})
    layout: Layout = field(
        default="auto",
        metadata={
            "help": "What a line of text holds: a user and an item (pairs), a user and then its "
            "items (lists), or the items of a nameless user (items)."
        },
    )
    users: Path | None = field(
        default=None,
        metadata={
            "help": "A file with the id of every user, so that users without items stay. Under "
            "epsilon this list counts as public, so it must not come from the entries."
        },
    )
    item_list: Path | None = field(
        default=None,
        metadata={
            "help": "A file with the name of every item, so that items that nobody has are there "
            "too. Under epsilon this list counts as public, so it must not come from the entries."
        },
    )

    @property
    def ends(self) -> Ends:
        """Which two columns are the user and the item of a pair."""
        asked = (self.user_column, self.item_column)
        return Ends(("user_column", "item_column"), asked, self.ignore_weights)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a file is read as rows by categorical columns.

    Examples
    --------
    >>> TableOptions(bins={"age": "edges:30,50"}).suppressed
    ('*', '')
    """

    format: str | None = field(default=None, metadata={"help": _FORMAT})
    header: Header = field(default="auto", metadata={"help": _HEADER})
    delimiter: str | None = field(default=None, metadata={"help": _DELIMITER})
    ids: str | None = field(
        default=None, metadata={"help": "The column that names the rows; it is not published."}
    )
    suppressed: tuple[str, ...] = field(default=("*", ""), metadata={"help": _SUPPRESSED})
    categories: tuple[str, ...] = field(
        default=(),
        metadata={"help": _CATEGORIES},
    )
    bins: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"help": _BINS},
    )
    person: str | None = field(
        default=None,
        metadata={
            "help": "The column that names people: the rows of one become one row. row: every row "
            "is a person."
        },
    )
    drop: tuple[str, ...] = field(
        default=(), metadata={"help": "Columns that are left out, with commas between."}
    )
    one_hot: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Columns that become a column a value, of 0 and 1. The values are published as "
            "names of columns."
        },
    )


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(GraphOptions):
    """How files are read as a network: ties, and what is said of people.

    Examples
    --------
    >>> NetworkOptions(directed="keep").suppressed
    ('*', '')
    """

    directed: Directions = field(  # type: ignore[assignment]  # a network can keep them, too
        default="refuse",
        metadata={
            "help": "What to do with a file in which directions matter: keep or forget them, or "
            "refuse it."
        },
    )
    nodes: Path | None = field(
        default=None,
        metadata={
            "help": "A file with the id of every node, so that isolated nodes are kept; further "
            "columns are attributes of people. Under epsilon this list counts as public, so it "
            "must not come from the edges."
        },
    )
    node_column: str | None = field(
        default=None,
        metadata={"help": "The column of ids in the file of nodes. Without this: its first."},
    )
    kind_column: str | None = field(
        default=None,
        metadata={
            "help": "The column or attribute of ties that says of which kind each is: by its name, "
            "or its number from 1. Numbers can be grouped by --bins."
        },
    )
    kinds: tuple[str, ...] = field(
        default=(),
        metadata={"help": "The kinds of ties that are read, with commas between. [default: all]"},
    )
    undirected: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Kinds of ties without a direction, with commas between, where those of others "
            "have one that is kept."
        },
    )
    drop: tuple[str, ...] = field(
        default=(),
        metadata={"help": "Columns or attributes that are left out, with commas between."},
    )
    bins: Mapping[str, str] = field(
        default_factory=dict,
        metadata={"help": _BINS},
    )
    suppressed: tuple[str, ...] = field(default=("*", ""), metadata={"help": _SUPPRESSED})
    categories: tuple[str, ...] = field(
        default=(),
        metadata={"help": _CATEGORIES},
    )

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
    """Return reading options for the private record; the names of files stay out of it.

    Examples
    --------
    >>> recorded(TableOptions(header="no"))["header"]
    'no'
    """
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
    """Return the kind of data that these options read.

    Examples
    --------
    >>> kind_read(TableOptions()).name
    'table'
    """
    return next(kind for kind in KINDS.values() if options_of(kind) is type(options))

"""The options of readers; every field is also a flag of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Header = Literal["auto", "yes", "no"]
Directed = Literal["symmetrize", "refuse"]
Layout = Literal["auto", "pairs", "lists", "items"]

_FORMAT = "Read the file as this format instead of going by its extension."
_HEADER = "Whether the first line names the columns; auto looks at it."
_WEIGHTS = "Leave out weights and further columns instead of refusing the file."


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """How a file is read as a graph.

    Examples
    --------
    >>> GraphOptions(directed="symmetrize").header
    'auto'
    """

    format: str | None = field(default=None, metadata={"help": _FORMAT})
    directed: Directed | None = field(
        default=None,
        metadata={
            "help": "What to do with a directed file: forget directions, or refuse it. Without "
            "this it is refused only if no arc has its reverse."
        },
    )
    ignore_weights: bool = field(default=False, metadata={"help": _WEIGHTS})
    header: Header = field(default="auto", metadata={"help": _HEADER})
    nodes: Path | None = field(
        default=None,
        metadata={"help": "A file with the id of every node, so that isolated nodes are kept."},
    )


@dataclass(frozen=True, kw_only=True)
class BipartiteOptions:
    """How a file is read as users and their items.

    Examples
    --------
    >>> BipartiteOptions().layout
    'auto'
    """

    format: str | None = field(default=None, metadata={"help": _FORMAT})
    header: Header = field(default="auto", metadata={"help": _HEADER})
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
        metadata={"help": "A file with the id of every user, so that users without items stay."},
    )


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
    ids: str | None = field(
        default=None, metadata={"help": "The column that names the rows; it is not published."}
    )
    suppressed: tuple[str, ...] = field(
        default=("*", ""), metadata={"help": "Texts that stand for a suppressed cell."}
    )
    bins: Mapping[str, str] = field(
        default_factory=dict,
        metadata={
            "help": "How numbers of a column become categories: COLUMN=median, "
            "COLUMN=quantiles:N or COLUMN=edges:A,B,C."
        },
    )

"""Which two columns of a file are the ends of its rows, and which has the edge type."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from graphveil.core.hints import did_you_mean, leave_out, option, options
from graphveil.core.text import counted
from graphveil.data.columns import NODE_LISTS, TOO_SHORT, known_pairs, plain
from graphveil.data.layers import KINDS_OF_EDGES
from graphveil.io.formats import Ends
from graphveil.io.parsed import ReadCounts
from graphveil.io.source import Source, shown
from graphveil.io.text.guessed_kind import USE_A_TABLE

MOST_COLUMNS_OF_PAIRS = 3
"""A file of more columns is not a list of pairs, unless names of columns or options say so."""

_LABELS = re.compile(r"((edge|tie|link)[ _-]?)?labels?", re.IGNORECASE)
"""Names of columns that may say of which kind an edge is, and may as well name each."""


class Offered(NamedTuple):
    """The columns that a file offers, and what options say of the ends of its rows."""

    source: Source
    header: tuple[str, ...]
    n: int
    ends: Ends


def two_columns(of: Offered, notes: ReadCounts, *, by_position: bool = False) -> tuple[int, int]:
    """Return the columns of the two ends of a row; refuse further ones unless they are ignored."""
    if of.n < 2:
        of.source.refuse(
            "only one column found, but each row needs two ids. Set the separator with "
            f"{option('delimiter')}."
        )
    if of.header and len(of.header) != of.n:
        of.source.refuse(
            f"{len(of.header)} column names ({shown(', '.join(of.header))}) for rows of {of.n} "
            "cells. Give one name per column."
        )
    # The columns that the options name; else, with a column of types, the other two of three.
    beside = kind_column(of)
    chosen = _asked(of)
    named = known_pairs(of.header, graph=True)
    if chosen is None and beside is not None and of.n == 3 and not named:
        first, second = (column for column in range(3) if column != beside)
        chosen = first, second
    # Else the columns of known names, or the only two.
    if chosen is None:
        chosen = _recognized(of, by_position=by_position)
    if beside in chosen:
        of.source.refuse(
            f"{option('kind_column')} names an end of the edges. Choose a different column."
        )
    # Further columns are weights or attributes: they are dropped only if the options say so.
    numbered = [f"column {number}" for number in range(1, of.n + 1)]
    names = [name or number for name, number in zip(of.header or numbered, numbered, strict=True)]
    used = (*chosen, beside)
    further = tuple(name for column, name in enumerate(names) if column not in used)
    if further and not of.ends.ignore_weights:
        needed = "two" if beside is None else "three"
        out = leave_out()
        named_kinds = [
            name
            for name in further
            if any(one.fullmatch(name) for one in (KINDS_OF_EDGES, _LABELS))
        ]
        if of.ends.of_ties and beside is None and named_kinds:
            kind = option("kind_column", named_kinds[0])
            out = f"{out.removesuffix('.')}; or, if it contains the type of each edge, use {kind}."
        of.source.refuse(
            f"{counted(of.n, 'column')} found, {needed} needed. Extra: "
            f"{shown(', '.join(further))}. {out}"
        )
    notes.columns_ignored = further
    return chosen


def kind_column(of: Offered) -> int | None:
    """Return the column that says of which kind an edge is, where there is one."""
    if of.ends.kind_column is None:
        return None
    return _column(of, "kind_column", of.ends.kind_column)


def _asked(of: Offered) -> tuple[int, int] | None:
    """Return the columns that the options name; None where they name none."""
    first, second = (
        None if value is None else _column(of, name, value)
        for name, value in zip(of.ends.names, of.ends.asked, strict=True)
    )
    if first is None and second is None:
        return None
    if first is None or second is None:
        given, lacking = of.ends.names if second is None else of.ends.names[::-1]
        of.source.refuse(f"{option(given)} requires {option(lacking)}. Give both.")
    if first == second:
        of.source.refuse(
            f"{' and '.join(map(option, of.ends.names))} name the same column. Choose "
            "two different columns."
        )
    return first, second


def _column(of: Offered, name: str, value: str | int) -> int:
    """Return the column of this name, or else of this number."""
    if isinstance(value, str) and value in of.header:
        return of.header.index(value)
    text = str(value)
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= of.n:
        return int(text[:9]) - 1
    return of.source.refuse(
        f"{option(name)}: no column {shown(text)}. "
        f"{did_you_mean(text, map(shown, of.header))}Columns: {_listed(of.header, of.n)}."
    )


def _recognized(of: Offered, *, by_position: bool) -> tuple[int, int]:
    """Return the columns of known names, or the only two; refuse what is not clear."""
    graph = of.ends.names[0] == "source_column"
    pairs = known_pairs(of.header, graph=graph)
    if (
        pairs
        and not all(of.header)
        and (plain(of.header[pairs[0][0]]), plain(of.header[pairs[0][1]])) in TOO_SHORT
    ):
        return refuse_columns(of, "like those of a matrix")
    if len(pairs) == 1:
        return pairs[0]
    if graph and tuple(map(plain, of.header)) in NODE_LISTS:
        say = options(**dict(zip(of.ends.names, of.header, strict=True)))
        of.source.refuse(
            f"this looks like a list of nodes (columns: {shown(', '.join(of.header))}). Give the "
            f"file of edges, or, if these are edges, give {say}"
        )
    if of.n == 2 or (by_position and not of.header):
        return 0, 1
    why = "with no known pair of names" if of.header else "without names"
    if pairs:
        why = "with several possible pairs"
    return refuse_columns(of, why)


def refuse_columns(of: Offered, why: str) -> NoReturn:
    """Refuse columns of which nobody said which two count, with what to copy.

    Of many columns none are proposed: they are a table more likely than not.
    """
    if of.n > MOST_COLUMNS_OF_PAIRS:
        first, second = map(option, of.ends.names)
        say = f"{first} and {second} to name them, with {option('ignore_weights', value=True)}"
    else:
        examples: list[str | int] = (
            [of.header[0], of.header[1]] if of.header and all(of.header[:2]) else [1, 2]
        )
        named = dict(zip(of.ends.names, examples, strict=True))
        say = f"options that name the two, such as {options(**named, ignore_weights=True)}"
    pairs = "the ends of edges" if of.ends.names[0] == "source_column" else "users and items"
    table = (
        f" If each row is a person, use {option('kind', 'table')} and {USE_A_TABLE}."
        if "table" in of.source.format.kinds
        else ""
    )
    of.source.refuse(
        f"{counted(of.n, 'column')} {why}: {_listed(of.header, of.n)}.{table} If two "
        f"columns are {pairs}, use {say}"
    )


def _listed(header: tuple[str, ...], n_columns: int) -> str:
    """Return the names of the columns, or their numbers."""
    if not header:
        return f"columns 1 to {n_columns}"
    named = [shown(name) if name else f"(no name, number {i})" for i, name in enumerate(header, 1)]
    return ", ".join(named[:20]) + (f" and {len(named) - 20} more" if len(named) > 20 else "")

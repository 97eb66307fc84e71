"""Names among the ids: whether the first row of text was a header, or a header stands again."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from graphveil.data.ids import Ids, to_arrow
from graphveil.errors import either
from graphveil.io.dialect import Dialect
from graphveil.io.options import Header
from graphveil.io.parsed import ParsedColumn, encoded
from graphveil.io.source import Source, shown
from graphveil.io.spelling import ids_of, other_than_integers

ENOUGH_ROWS = 10
"""So many rows besides the first one show whether it is different from them."""


def first_row_is_names(
    source: Source, left: ParsedColumn, right: ParsedColumn, *, shared: bool
) -> bool:
    """Whether the first row of text names the columns; refused where the rows do not show it.

    Its cells are names if they stand nowhere else while every other row shares an id with some
    row, of `ENOUGH_ROWS` at least. If they stand elsewhere, they are ids. If other rows stand as
    alone, or there are few, nobody can tell.

    Parameters
    ----------
    source
        The file, for messages.
    left, right
        The two columns as read, the first row included.
    shared
        Whether both columns are of one list of labels.

    Raises
    ------
    InputError
        Where it is not clear.
    """
    alone = _alone(left, right, shared=shared)
    if alone.size < 2 or not alone[0]:
        return False
    if np.count_nonzero(alone) == 1 and alone.size > ENOUGH_ROWS:
        return True
    cells = [str(column.labels[column.codes[0]]) for column in (left, right)]
    return refuse_undecided(source, cells)


def refuse_undecided(source: Source, cells: list[str]) -> NoReturn:
    """Refuse a first row that may be names of columns or data."""
    source.refuse(
        f"the first line ({shown(', '.join(cells))}) may be names or data: its ids stand nowhere "
        f"else. {either('header', 'yes', 'no')}"
    )


def _alone(left: ParsedColumn, right: ParsedColumn, *, shared: bool) -> NDArray[np.bool_]:
    """Return which rows hold two ids that stand in no other row."""
    if shared:
        counts = np.bincount(left.codes, minlength=left.labels.size)
        counts += np.bincount(right.codes, minlength=right.labels.size)
        return np.asarray((counts[left.codes] == 1) & (counts[right.codes] == 1))
    here, there = (np.bincount(column.codes) for column in (left, right))
    return np.asarray((here[left.codes] == 1) & (there[right.codes] == 1))


def without_first_row(
    left: ParsedColumn, right: ParsedColumn, *, shared: bool
) -> tuple[ParsedColumn, ParsedColumn]:
    """Return both columns without their first row, and without the labels that stood there alone.

    Examples
    --------
    >>> from graphveil.data.ids import text
    >>> one, two = encoded(text(["ego", "ann"])), encoded(text(["tie", "tea"]))
    >>> [column.labels.tolist() for column in without_first_row(one, two, shared=False)]
    [['ann'], ['tea']]
    """
    if shared:
        both = encoded_again(np.concatenate([left.codes[1:], right.codes[1:]]), left.labels)
        n = left.codes.size - 1
        return ParsedColumn(both.codes[:n], both.labels), ParsedColumn(both.codes[n:], both.labels)
    return encoded_again(left.codes[1:], left.labels), encoded_again(right.codes[1:], right.labels)


def encoded_again(codes: NDArray[np.int32], labels: Ids) -> ParsedColumn:
    """Return a column over those of its labels that it holds; integers where all spell one now."""
    used = np.zeros(labels.size, dtype=np.bool_)
    used[codes] = True
    position = (np.cumsum(used) - 1).astype(np.int32)
    kept = _retyped(labels[used])
    if kept.dtype.kind == labels.dtype.kind:
        return ParsedColumn(position[codes], kept)
    order = encoded(kept)
    return ParsedColumn(order.codes[position[codes]], order.labels)


def _retyped(labels: Ids) -> Ids:
    """Return text labels as integers where all of them spell one."""
    if labels.dtype.kind == "i" or len(other_than_integers(to_arrow(labels))):
        return labels
    return ids_of(to_arrow(labels))


def check_no_second_header(
    source: Source, dialect: Dialect, header: Header, chosen: tuple[int, int], ids: tuple[Ids, Ids]
) -> None:
    """Refuse a file in which the names of its first line stand again, as a line or as ids.

    Parameters
    ----------
    source, dialect
        The file, and how its lines become cells.
    header
        What was asked for. Names that were demanded may also be ids.
    chosen
        The columns of the ends.
    ids
        The ids in each of them.

    Raises
    ------
    InputError
        Where the header stands again, or what was taken for one may be data.
    """
    if not dialect.header or all(labels.dtype.kind == "i" for labels in ids):
        return
    names = [dialect.header[column] for column in chosen]
    again = [name for name, labels in zip(names, ids, strict=True) if _holds(labels, name)]
    check_names_again(source, dialect, header, again)


def _holds(labels: Ids, name: str) -> bool:
    return labels.dtype.kind != "i" and bool(np.any(labels == name))


def check_names_again(source: Source, dialect: Dialect, header: Header, again: list[str]) -> None:
    """Refuse names of columns that are also ids there, as `check_no_second_header` says.

    Parameters
    ----------
    source, dialect, header
        As there.
    again
        The names of the ends' columns that stand as ids below. One of them may be an id by chance,
        unless it is a single letter.
    """
    if not again:
        return
    waiting = True
    for number, line in source.lines():
        if not line.strip() or line.lstrip()[0] in "#%":
            continue
        if not waiting and tuple(dialect.cells(line)) == dialect.header:
            source.refuse(
                "the names of the columns stand here again, so files were put one below the "
                "other. Remove the line.",
                line=number,
            )
        waiting = False
    if header == "auto" and (len(again) == 2 or len(again[0]) == 1):
        source.refuse(
            f"the first line ({shown(', '.join(dialect.header))}) may be names or data: "
            f"{shown(again[0])} is an id below, too. {either('header', 'yes', 'no')}"
        )


def refuse_first_id(source: Source, dialect: Dialect, first: str) -> NoReturn:
    """Refuse the first line of a list of ids, which may be names of columns or an id.

    Raises
    ------
    InputError
        Always; it names further columns, where the file has them.
    """
    if dialect.n_columns == 1:
        source.refuse(
            f"the first line ({shown(first)}) may be a name or an id that the data does not "
            "have. Put a line with id above it, or take it out.",
            line=1,
        )
    _, line = next((n, text) for n, text in source.lines() if text.strip())
    cells = ", ".join(map(shown, dialect.cells(line)))
    source.refuse(
        f"a list of ids has one column, this file {dialect.n_columns}: {cells}. Give the ids "
        "alone, below a line with id.",
        line=1,
    )

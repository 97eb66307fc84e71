"""Whether the first line of a file names its columns, or is data.

Known names and words above numbers are recognized before the rows are read
(`graphveil.io.text.dialect`). If all cells are words, the rows decide: names occur nowhere else. If
they do not decide, the owner is asked, since a person's row may not be lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from graphveil.core.hints import either, option
from graphveil.data.ids import Ids, to_arrow
from graphveil.io.formats import Header
from graphveil.io.parsed import ParsedColumn, encoded, ids_of
from graphveil.io.source import Source, shown
from graphveil.io.text.dialect import Dialect, sniff


def names_again(source: Source, header: Header) -> tuple[int, ...]:
    """Return how many lines of each part are omitted, since they name columns again."""
    tops = [_top(part, comments=header == "auto") for part in source.parts]
    (_, first), *others = tops
    same = all(line == first for _, line in others)
    begins = [sniff(part, "auto") for part in source.parts] if header == "auto" else []
    named = [bool(begin.header) for begin in begins] or [True] * len(tops)
    if same and others and any(begin.undecided for begin in begins):
        source.refuse(
            f"each of the {len(tops)} parts begins with {shown(first)}. Use "
            f"{option('header', 'yes')} if these are names, or {option('header', 'no')} if "
            "they are data."
        )
    if not any(named):
        return ()
    for part, (number, line), names in zip(source.parts, tops, named, strict=True):
        if line != first and names:
            part.refuse(
                f"the first line is {shown(line)}, but {source.parts[0].name} begins with "
                f"{shown(first)}. Give all parts the same columns, or use "
                f"{option('header', 'no')} if they have no names.",
                line=number,
            )
    return (0, *(number if line == first else 0 for number, line in others))


def _top(source: Source, *, comments: bool) -> tuple[int, str]:
    """Return the number and the text of the first line that is neither empty nor a comment."""
    for number, line in source.lines():
        stripped = line.strip()
        if stripped and not (comments and stripped.startswith(("#", "%"))):
            return number, stripped
    return 0, ""


ENOUGH_ROWS = 10
"""How many rows after the first one show whether it is different from them."""


def first_row_is_names(
    source: Source, left: ParsedColumn, right: ParsedColumn, *, shared: bool
) -> bool:
    """Whether the first row of text names the columns; refused where the rows do not show it.

    Its cells are names if they stand nowhere else while every other row shares an id with some
    row, of `ENOUGH_ROWS` at least. If they stand elsewhere, they are ids. If other rows stand as
    alone, or there are few, nobody can tell.
    """
    alone = _alone(left, right, shared=shared)
    if not alone[0]:
        return False
    if np.count_nonzero(alone) == 1 and alone.size > ENOUGH_ROWS:
        return True
    cells = [str(column.labels[column.codes[0]]) for column in (left, right)]
    return refuse_undecided(source, cells)


def refuse_undecided(source: Source, cells: list[str]) -> NoReturn:
    """Refuse a first row that may be names of columns or data."""
    source.refuse(
        f"cannot tell whether the first line ({shown(', '.join(cells))}) holds names or data: "
        f"its ids occur nowhere else. {either('header', 'yes', 'no')}"
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
    return labels if labels.dtype.kind == "i" else ids_of(to_arrow(labels))


def check_no_second_header(
    dialect: Dialect, header: Header, chosen: tuple[int, int], ids: tuple[Ids, Ids]
) -> None:
    """Refuse a file in which the names of its first line stand again, as a line or as ids.

    Names that were demanded may also be ids.
    """
    if not dialect.header or all(labels.dtype.kind == "i" for labels in ids):
        return
    names = [dialect.header[column] for column in chosen]
    again = [name for name, labels in zip(names, ids, strict=True) if _holds(labels, name)]
    check_names_again(dialect, header, again)


def _holds(labels: Ids, name: str) -> bool:
    return labels.dtype.kind != "i" and bool(np.any(labels == name))


def rows_below(dialect: Dialect) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every row below the names of columns."""
    rows = (
        (n, line)
        for n, line in dialect.source.lines()
        if line.strip() and line.lstrip()[0] not in "#%"
    )
    return islice(rows, bool(dialect.header), None)


def check_names_again(dialect: Dialect, header: Header, again: list[str]) -> None:
    """Refuse names of columns that are also ids there, as `check_no_second_header` says."""
    if not again:
        return
    for number, line in rows_below(dialect):
        if tuple(dialect.cells(line)) == dialect.header:
            dialect.source.refuse(
                "the header is repeated here, as if files were concatenated. Remove the line.",
                line=number,
            )
    if header == "auto" and (len(again) == 2 or len(again[0]) == 1):
        dialect.source.refuse(
            f"cannot tell whether the first line ({shown(', '.join(dialect.header))}) holds names "
            f"or data: {shown(again[0])} also occurs as an id. {either('header', 'yes', 'no')}"
        )


def refuse_first_id(dialect: Dialect, first: str) -> NoReturn:
    """Refuse the first line of a list of ids, which may be names of columns or an id."""
    if dialect.n_columns == 1:
        dialect.source.refuse(
            f"the first line ({shown(first)}) could be a column name or an id that is not in "
            "the data. Put a line with id above it, or remove it.",
            line=1,
        )
    _, line = next((n, text) for n, text in dialect.source.lines() if text.strip())
    cells = ", ".join(map(shown, dialect.cells(line)))
    dialect.source.refuse(
        f"a list of ids must have one column, but this file has {dialect.n_columns}: {cells}. "
        "Give only the ids, below a line with id.",
        line=1,
    )

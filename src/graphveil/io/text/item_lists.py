"""Files of one line per user, which lists the user's items."""

from __future__ import annotations

from collections import Counter

import numpy as np

from graphveil.io.parsed import (
    ParsedPairs,
    ReadCounts,
    encoded,
    ids_listed,
)
from graphveil.io.source import Source, shown
from graphveil.io.text.dialect import Dialect
from graphveil.io.text.header import refuse_undecided


def read_lists(dialect: Dialect, *, named: bool) -> ParsedPairs:
    """Return the pairs of a file with one line a user; its first cell names the user if `named`.

    A user without items is kept. Lines without a name are users 0, 1, 2 and so on.
    """
    notes = ReadCounts(header=dialect.header, nameless=not named)
    users: list[str] = []
    items: list[str] = []
    sizes: list[int] = []
    seen: dict[str, int] = {}
    waiting = bool(dialect.header)
    for number, line in dialect.source.lines():
        if not line.strip() or line.lstrip()[0] in "#%":
            notes.comment_lines += bool(line.strip())
            if users:
                _check_comment(dialect, line.strip(), number)
            continue
        if waiting:
            waiting = False
            continue
        cells = [cell for cell in dialect.cells(line) if cell]
        user = cells.pop(0) if named and cells else str(len(users))
        if user in seen:
            dialect.source.refuse(
                f"the user {shown(user)} is already in line {seen[user]}. Merge the lines, or "
                "read them as pairs.",
                line=number,
            )
        _check(dialect.source, [user, *cells], number)
        seen[user] = number
        users.append(user)
        items.extend(cells)
        sizes.append(len(cells))
    if dialect.undecided:
        _check_first_line(dialect.source, items, sizes)
    notes.rows = len(users)
    return ParsedPairs.of(encoded(ids_listed(users)), encoded(ids_listed(items)), notes, sizes)


def _check_comment(dialect: Dialect, text: str, number: int) -> None:
    """Refuse a comment below the first user that may be a user with items."""
    if text[1:2].strip() and len(dialect.cells(text)) > 1:
        dialect.source.refuse(
            f"{shown(text)} could be a comment or a user. For a comment, put a space after "
            f"{text[0]}; for a user, quote the id and separate cells by commas or tabs.",
            line=number,
        )


def _check_first_line(source: Source, items: list[str], sizes: list[int]) -> None:
    """Refuse a first line that may be names: no other line is the only one with all its items."""
    counts = Counter(items)
    ends = np.cumsum(sizes).tolist()
    alone = [
        all(counts[item] == 1 for item in items[end - size : end])
        for end, size in zip(ends, sizes, strict=True)
        if size
    ]
    if len(alone) > 2 and alone[0] and sizes[0] and sum(alone) == 1:
        refuse_undecided(source, items[: sizes[0]])


def _check(source: Source, cells: list[str], number: int) -> None:
    for cell in cells:
        digits = cell.removeprefix("-")
        if digits.isascii() and digits.isdigit() and digits != cell:
            source.refuse(f"{shown(cell)} is not an id. Use integers >= 0, or text.", line=number)
        if cell.lower() == "nan":
            source.refuse("missing id (nan). Remove it.", line=number)

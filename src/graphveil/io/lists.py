"""One line a user: its id and then its items, or its items alone."""

from __future__ import annotations

from collections import Counter

import numpy as np

from graphveil.data.ids import LARGEST
from graphveil.io.dialect import Dialect
from graphveil.io.first_row import refuse_undecided
from graphveil.io.parsed import Notes, ParsedPairs, encoded
from graphveil.io.source import Source, shown
from graphveil.io.spelling import ids_listed


def read_lists(source: Source, dialect: Dialect, *, named: bool) -> ParsedPairs:
    """Return the pairs of a file with one line a user; its first cell names the user if `named`.

    A user without items is kept. Lines without a name are users 0, 1, 2 and so on.
    """
    notes = Notes(header=dialect.header, nameless=not named)
    users: list[str] = []
    items: list[str] = []
    sizes: list[int] = []
    seen: dict[str, int] = {}
    waiting = bool(dialect.header)
    for number, line in source.lines():
        if not line.strip() or line.lstrip()[0] in "#%":
            notes.comment_lines += bool(line.strip())
            if users:
                _check_comment(source, dialect, line.strip(), number)
            continue
        if waiting:
            waiting = False
            continue
        cells = [cell for cell in dialect.cells(line) if cell]
        user = cells.pop(0) if named and cells else str(len(users))
        if user in seen:
            source.refuse(
                f"the user {shown(user)} stands in line {seen[user]} already. Merge the lines, "
                "or read them as pairs.",
                line=number,
            )
        _check(source, [user, *cells], number)
        seen[user] = number
        users.append(user)
        items.extend(cells)
        sizes.append(len(cells))
    if dialect.undecided:
        _check_first_line(source, items, sizes)
    notes.rows = len(users)
    user_column, item_column = encoded(ids_listed(users)), encoded(ids_listed(items))
    return ParsedPairs(
        user=np.repeat(user_column.codes, sizes),
        item=item_column.codes,
        users=user_column.labels,
        items=item_column.labels,
        notes=notes,
    )


def _check_comment(source: Source, dialect: Dialect, text: str, number: int) -> None:
    """Refuse a comment below the first user that may be a user with items."""
    if text[1:2].strip() and len(dialect.cells(text)) > 1:
        source.refuse(
            f"{shown(text)} may be a remark or a user. Put a space after {text[0]} where it is a "
            "remark, quotes around the id, and commas or tabs between cells, where it is a user.",
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
        if digits.isascii() and digits.isdigit() and (digits != cell or int(cell) > LARGEST):
            source.refuse(f"{shown(cell)} is no id. Give integers from 0 on, or text.", line=number)
        if cell.lower() == "nan":
            source.refuse("an id is missing (nan). Remove it.", line=number)

"""User-item data in parts: Parquet files with one row per user and the list of their items.

Claim checked: every part is in the canonical form, byte by byte; its users are those of its place
(part p starts at user p * PART_USERS); items ascend within a row. This is checked while rows pass
by in batches, so that a part never has to fit into memory, and nothing is left to check
afterwards.

Cost: one decoding and one encoding of every part, O(bytes); memory for one row group.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphveil.claims import parts
from graphveil.claims.manifest import MANIFEST, DataFile
from graphveil.claims.parts import COLUMNS, FOLDER
from graphveil.core.libraries import pa, pc
from graphveil.core.text import counted
from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.files.canonical_parquet import (
    compare_groups,
    in_groups,
    opened_columnar,
    refuse_packed,
    settings_of,
)
from graphveil.verify.files.loading import broken
from graphveil.verify.verdict import shown

GROUP_ROWS = 1 << 17
"""Rows of one row group of a part. Part of the format: another number gives other bytes."""

_READ_ROWS = 1 << 14
"""Rows that are decoded at once: bounds the memory; the result does not depend on it."""

_LEAVES = "items.list.element"
"""The path of the items' column in the schema of Parquet."""

_BYTES_PER_CELL = 8
_ONE_PAGE = {"data_page_size": 1 << 30, "dictionary_pagesize_limit": 1 << 30}
"""Each column of a row group is one page with one dictionary: part of the format."""

_LISTS = {"list<element: int64>": "int64", "list<element: string>": "string"}
"""Accepted types of the column of lists, and the type of their items."""


def load_parts(db: Database, files: list[tuple[Path, DataFile]]) -> None:
    """Create the views `lists(person, items)`, `users(person)` and `entries(person, item)`."""
    links, leaf = [], None
    # Step 1: each part by itself: bytes, users, order of items, and the same type of items.
    for number, (path, file) in enumerate(files):
        with broken(file.name):
            part = _Part(path, file, number * parts.PART_USERS)
            held = _compared(db, part)
            if leaf is not None and held != leaf:
                raise UnreadableError(
                    f"{file.name}: items have the type {held}, but those in "
                    f"earlier parts have the type {leaf}"
                )
            leaf = held
            links.append(literal(db.link(path)))
    # Step 2: views over all parts: nothing of the data is copied.
    rows = f"read_parquet([{', '.join(links)}], hive_partitioning = false)"
    db.run(f"CREATE VIEW lists AS SELECT user AS person, items FROM {rows}")
    db.run("CREATE VIEW users AS SELECT person FROM lists")
    db.run(
        "CREATE VIEW entries AS SELECT person, CAST(unnest(items) AS VARCHAR) AS item FROM lists"
    )
    # Step 3: whole numbers have one type in a release, so they may not be text.
    if leaf == "string" and db.only_numbers("entries", "item"):
        raise UnreadableError(
            f"{FOLDER}: items that are whole numbers are stored as string instead of int64"
        )


class _Part(NamedTuple):
    """A part: its path, its description, and the id of its first user."""

    path: Path
    file: DataFile
    first: int


def _compared(db: Database, part: _Part) -> str:
    """Return the type of the items of a part, after its bytes and rows were checked."""
    path, name = part.path, part.file.name
    # Step 1: names, types and size from the footer, before any page is unpacked.
    with opened_columnar(path) as file:
        schema = file.schema_arrow
        if schema.names != COLUMNS:
            raise UnreadableError(
                f"{name} has the columns {shown(schema.names)}, not {shown(COLUMNS)}"
            )
        kinds = [str(field.type) for field in schema]
        if kinds[0] != "int64" or kinds[1] not in _LISTS:
            raise UnreadableError(
                f"{name} has columns of the types {shown(kinds)}, not ids with lists of items"
            )
        refuse_packed(db, path)
        groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
        cells = sum(g.column(n).num_values for g in groups for n in range(g.num_columns))
        db.refuse_unpacked(int(cells) * _BYTES_PER_CELL, path.stat().st_size, name)  # text as codes
    # Step 2: a dictionary of few words could stand for more text than memory holds.
    leaf = _LISTS[kinds[1]]
    if leaf == "string":  # few words of a dictionary could be longer than memory holds
        lists = f"read_parquet({literal(db.link(path))}, hive_partitioning = false)"
        words = f"SELECT unnest(items) AS item FROM {lists}"
        db.refuse_beyond(db.number(f"SELECT sum(strlen(item)) FROM ({words})"), name)
    # Step 3: write the rows again as they pass by, and compare the bytes.
    numbers, texts = (["user", _LEAVES], []) if leaf == "int64" else (["user"], [_LEAVES])
    long = pa.int64() if leaf == "int64" else pa.large_string()
    schema = pa.schema([("user", pa.int64()), ("items", pa.large_list(long))])
    with opened_columnar(path) as file:
        rows = in_groups(_rows(file, part, schema), schema, GROUP_ROWS)
        settings = settings_of(numbers, texts) | _ONE_PAGE
        compare_groups(path, rows, schema, settings, GROUP_ROWS)
    return leaf


def _rows(file: Any, part: _Part, schema: Any) -> Iterator[Any]:
    """Yield the rows of a part in batches, after checking each batch."""
    n = 0
    for batch in file.iter_batches(_READ_ROWS, use_threads=False):
        batch.validate(full=True)
        # Users are those of this place, every user has a list, and items ascend in it.
        user, lists = batch.column(0), batch.column(1)
        _refuse_ids(user, n, part)
        if lists.null_count:
            raise UnreadableError(f"{part.file.name}: a user in {_among(n, user)} has no list")
        leaves = _leaves(lists, part, schema.field("items").type.value_type)
        starts = _numbers(lists.offsets, np.int32).astype(np.int64)
        _refuse_items(leaves, starts - starts[0], part, n)
        items = lists.cast(schema.field("items").type)
        yield pa.RecordBatch.from_arrays([user, items], schema=schema)
        n += batch.num_rows
    if n != part.file.rows:
        stated = f"but {MANIFEST} states {part.file.rows}"
        raise UnreadableError(f"{part.file.name} has {counted(n, 'row')}, {stated}")


def _among(n: int, user: Any) -> str:
    return f"rows {n + 1} to {n + len(user)}"


def _refuse_ids(user: Any, n: int, part: _Part) -> None:
    """Refuse a user who is not at the place of their id; `n` rows came before."""
    if user.null_count:
        raise UnreadableError(f"{part.file.name}: a user in {_among(n, user)} has no id")
    ids, first = _numbers(user, np.int64), part.first + n
    wrong = np.flatnonzero(ids != np.arange(first, first + ids.size))
    if wrong.size:
        row = int(wrong[0])
        raise UnreadableError(
            f"{part.file.name}: row {n + row + 1} is user {ids[row]}, but must be user "
            f"{first + row}"
        )


def _leaves(lists: Any, part: _Part, kind: Any) -> Any:
    """Return the items of some rows, concatenated."""
    leaves = lists.flatten()
    if leaves.null_count:
        raise UnreadableError(f"{part.file.name}: an item has no name")
    if str(leaves.type) != "int64":
        return leaves.cast(kind)
    least = pc.min(leaves).as_py()
    if least is not None and least < 0:
        raise UnreadableError(f"{part.file.name}: the item {least} is below 0")
    return leaves


def _numbers(column: Any, kind: Any) -> Any:
    """Return the numbers of an Arrow column without nulls as a NumPy view.

    Arrow's own way imports pandas where that is installed: 60 MiB.
    """
    content = column.buffers()[1] or b""
    return np.frombuffer(content, dtype=kind)[column.offset : column.offset + len(column)]


def _refuse_items(leaves: Any, starts: Any, part: _Part, n: int) -> None:
    """Refuse items that do not ascend within their row; text ascends by its bytes."""
    if len(leaves) < 2:
        return
    # Compare each item with the one before it, except the first item of each row.
    above = pc.greater(leaves.slice(1), leaves.slice(0, len(leaves) - 1))
    rising = _numbers(above.cast("uint8"), np.uint8).astype(np.bool_)
    inner = starts[(starts > 0) & (starts < len(leaves))]
    rising[inner - 1] = True
    if rising.all():
        return
    at = int(np.flatnonzero(~rising)[0]) + 1
    row = int(np.searchsorted(starts, at, side="right")) - 1
    raise UnreadableError(
        f"{part.file.name}: row {n + row + 1}, user {part.first + n + row}: the item "
        f"{shown(leaves[at].as_py())} is not in ascending order"
    )

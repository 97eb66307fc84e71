"""A file larger than memory into rows: items in order, counted and digested."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphveil.data.people import SharedIds
from graphveil.engines.database import database, identifier, rows_of, stream
from graphveil.engines.engine import Rows, Tables
from graphveil.io import BipartiteOptions, ReadingReport
from graphveil.io.parquet_files import rows_in, write_batches
from graphveil.io.source import Source
from graphveil.on_disk import columns, queries
from graphveil.on_disk.ordered import Bucketed, Listed, Ordered, digest_of_limbs
from graphveil.on_disk.raw_rows import Raw, raw_rows
from graphveil.on_disk.shared_ids import shared_ids
from graphveil.progress import stage

ROWS = "rows"
"""The name that rows are kept under, each with its items in order."""

PAIRS_OF_A_BUCKET = 1 << 21


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the rows.

    Parameters
    ----------
    n_rows, n_entries
        Their numbers.
    duplicates
        Repeated entries that were dropped.
    people
        Whether items are people, the users themselves.
    n_items, ids_as_items
        How many items there are, and how many of them are ids of users, where one is text and
        items are things; else 0.
    values
        Whether all items are named as values of columns, ``column=value``.
    said
        What the owner should know of the reading.
    left_out
        The names of columns that were left out.
    user_is_integer, item_is_integer
        Whether ids are integers; else they are text.
    input_sha256
        What `graphveil.records.digest.digest_of` gives for the data in memory.
    """

    n_rows: int
    n_entries: int
    duplicates: int
    people: bool
    n_items: int
    ids_as_items: int
    values: bool
    user_is_integer: bool
    item_is_integer: bool
    input_sha256: str
    said: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def types(self) -> tuple[pa.DataType, pa.DataType]:
        """The Arrow types of users and items."""
        return _type(integer=self.user_is_integer), _type(integer=self.item_is_integer)


def _type(*, integer: bool) -> pa.DataType:
    return pa.int64() if integer else pa.string()


def intake(
    source: Source, options: BipartiteOptions, folder: Path, tables: Tables, memory_mib: int
) -> Facts:
    """Keep the rows of a file, each with its items in order, and return what is known of them.

    Parameters
    ----------
    source, options
        The file and how it is read.
    folder
        An empty folder.
    tables
        Where rows are kept.
    memory_mib
        The memory that looking at text may take.
    """
    with stage(f"reading {source.name}"):
        raw = raw_rows(source, options, folder, memory_mib)
    if not raw.path.exists():
        source.refuse("no user. Give at least one row.")
    people = options.items == "people"
    if people and raw.user_is_integer != raw.item_is_integer:
        raw = raw._replace(user_is_integer=False, item_is_integer=False)
    paths = [raw.path]
    if people:
        paths.append(folder / "people.parquet")
        write_batches(paths[1], _item_only(raw, folder, memory_mib))
    paths = [path for path in paths if path.exists()]
    given = Given(
        rows=tables.rows(paths),
        n=rows_in(paths),
        lists=raw.lists,
        user_is_integer=raw.user_is_integer,
        item_is_integer=raw.item_is_integer,
        refuse=source.refuse,
    )
    facts = counted_rows(given, options, tables)
    for path in paths:
        path.unlink()
    said = tuple(m.text for m in _report(source, raw, facts.duplicates).dropped())
    left_out = raw.notes.columns_ignored
    return msgspec.structs.replace(facts, said=said, left_out=left_out)


class Given(NamedTuple):
    """Rows as they are given, with ids of one kind a column: `user`, and `item` or `items`.

    Parameters
    ----------
    rows
        The rows, of an engine.
    n
        Their number, where they are pairs.
    lists
        Whether a row has a list of items; else it is a pair.
    user_is_integer, item_is_integer
        Whether ids are integers, or are to become text.
    refuse
        Raises the error of rows that cannot be used.
    """

    rows: Rows
    n: int
    lists: bool
    user_is_integer: bool
    item_is_integer: bool
    refuse: Callable[[str], NoReturn]


def counted_rows(given: Given, options: BipartiteOptions, tables: Tables) -> Facts:
    """Keep rows with their items in order, and return what is known of them."""
    types = _type(integer=given.user_is_integer), _type(integer=given.item_is_integer)
    schema = columns.rows(*types)
    if given.lists:
        rows = tables.map(given.rows, Ordered(*types), schema)
    else:
        n = max(1, round(given.n / PAIRS_OF_A_BUCKET))
        pairs = tables.map(given.rows, Bucketed(*types, n), columns.pairs(*types))
        rows = tables.grouped(pairs, "bucket", n, Listed(), schema)
    rows = tables.kept(rows, ROWS, "putting items in order")
    return _facts(given, options, rows, tables)


def _facts(given: Given, options: BipartiteOptions, rows: Rows, tables: Tables) -> Facts:
    people = options.items == "people"
    shared: SharedIds | None = None
    with stage("counting rows"):
        if given.lists and tables.ask(queries.REPEATED_USERS, rows=rows) != [(0,)]:
            given.refuse("a user stands in two rows. Merge their lists.")
        numbers = given.user_is_integer and given.item_is_integer
        text = not (given.user_is_integer or given.item_is_integer)
        if options.items is None or (text and not people):
            shared = shared_ids(rows, tables, numbers=numbers)
            if options.items is None and shared.refusal:
                given.refuse(shared.refusal)
        [sums] = tables.ask(queries.SUMS, rows=rows)
    n, entries, repeats, no_value, *limbs = map(int, sums)
    digest = digest_of_limbs(n, entries, limbs)
    user, item = given.user_is_integer, given.item_is_integer
    return Facts(
        n_rows=digest.n,
        n_entries=digest.entries,
        duplicates=repeats,
        people=people,
        n_items=0 if shared is None or not text else shared.n_items,
        ids_as_items=0 if shared is None or not text else shared.n,
        values=not given.item_is_integer and digest.entries > 0 and no_value == 0,
        user_is_integer=user,
        item_is_integer=item,
        input_sha256=digest.text(user_is_integer=user, item_is_integer=item),
    )


def items_of(rows: Rows, tables: Tables) -> pa.Array:
    """Return every item of some rows once, in order."""
    batches = list(tables.batches(tables.select(queries.ITEMS, rows=rows), None))
    items = pa.concat_arrays([batch["item"] for batch in batches]) if batches else pa.array([])
    return items.take(pc.sort_indices(items))


def _report(source: Source, raw: Raw, duplicates: int) -> ReadingReport:
    noted = raw.notes.reported() | {"duplicates": duplicates}
    return ReadingReport(format=source.format.name, **noted)


def _users_of(db: duckdb.DuckDBPyConnection, raw: Raw) -> duckdb.DuckDBPyRelation:
    """Return the distinct users as `id`, to be read once."""
    return rows_of(db, [raw.path], ["user"]).project('CAST("user" AS VARCHAR) AS id').distinct()


def _items_of(db: duckdb.DuckDBPyConnection, raw: Raw) -> duckdb.DuckDBPyRelation:
    """Return the distinct items as `id`, to be read once."""
    column = "items" if raw.lists else "item"
    value = f"unnest({identifier(column)})" if raw.lists else identifier(column)
    return rows_of(db, [raw.path], [column]).project(f"CAST({value} AS VARCHAR) AS id").distinct()


def _item_only(raw: Raw, folder: Path, memory_mib: int) -> Iterator[pa.RecordBatch]:
    """Yield the people who are items and no users as rows without items."""
    with database(folder, memory_mib=memory_mib, threads=1) as db:
        for batch in stream(_items_of(db, raw).except_(_users_of(db, raw))):
            users = batch.column(0).cast(pa.string())
            if raw.lists:
                starts = pa.array(np.zeros(len(users) + 1, dtype=np.int32))
                none = pa.ListArray.from_arrays(starts, pa.array([], pa.string()))
            else:
                none = pa.nulls(len(users), pa.string())
            name = "items" if raw.lists else "item"
            yield pa.RecordBatch.from_arrays([users, none], names=["user", name])

"""A file larger than memory into rows: items in order, counted and digested.

The file becomes Parquet of integers or text, one piece at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphveil.core.errors import DataError, UsageError
from graphveil.core.hints import option
from graphveil.core.progress import stage
from graphveil.data.arrow_values import written_out
from graphveil.data.ids import as_ids, to_arrow
from graphveil.data.origin import SharedIds
from graphveil.engines.local import database, identifier, rows_of, stream
from graphveil.engines.processes import Rows, Tables
from graphveil.io import BipartiteOptions, ReadingReport
from graphveil.io.opening import source_of
from graphveil.io.parsed import ReadCounts
from graphveil.io.readers import columnar, delimited
from graphveil.io.readers.columnar import opened_parquet, rows_in, schema_of, write_batches
from graphveil.io.source import Source
from graphveil.io.text.columns import NotIntegersError, labels_of
from graphveil.io.text.dialect import Dialect, sniff
from graphveil.io.text.header import ENOUGH_ROWS, check_names_again, refuse_undecided
from graphveil.scale import columns
from graphveil.scale.columns import digest_of_limbs, listed, ordered, shared_ids, starts_of

TEXT_FORMATS = ("csv", "tsv", "text")
FRAME_FORMATS = ("parquet", "arrow")
SAMPLE = 1000
"""How many texts are looked at to say what is wrong with a column, oddest first."""


class Raw(NamedTuple):
    """The file as Parquet: `user` and `item` or `items`; which columns are integers."""

    path: Path
    lists: bool
    user_is_integer: bool
    item_is_integer: bool
    notes: ReadCounts


def check_readable(path: Path, options: BipartiteOptions) -> Source:
    """Return the file, once it is one that can be read a piece at a time."""
    source = source_of(path, options.format, options.header, options.encoding)
    for part in source.parts:
        with part.open():
            pass
    if source.format.name not in (*TEXT_FORMATS, *FRAME_FORMATS):
        raise UsageError(
            f"{source.format.name} cannot be read in pieces. Use one of "
            f"{', '.join((*TEXT_FORMATS, *FRAME_FORMATS))}, or remove --on-disk."
        )
    if options.users is not None:
        raise UsageError(
            f"{option('users')} needs all ids in memory. Use Parquet with a column of lists, "
            "which keeps empty ones, or remove --on-disk."
        )
    if options.item_list is not None:
        raise UsageError(
            f"{option('item_list')} is for methods with noise, which do not run on disk. Remove it."
        )
    return source


def raw_rows(source: Source, options: BipartiteOptions, folder: Path, memory_mib: int) -> Raw:
    """Write the rows of a file as they stand, with ids of one kind a column."""
    path = folder / "raw.parquet"
    notes = ReadCounts()
    # Frames have types: their batches are written as they are, once ids are int64 or text.
    if source.format.name in FRAME_FORMATS:
        batches = columnar.bipartite_batches(source, options, notes)
        write_batches(path, (_clean(source, batch) for batch in batches))
        if not path.exists():
            source.refuse("no users found. The file needs at least one row.")
        schema = schema_of(path)
        lists = "items" in schema.names
        item = schema.field("items").type.value_type if lists else schema.field("item").type
        user = schema.field("user").type
        integers = pa.types.is_integer(user), pa.types.is_integer(item)
        return Raw(path, lists, *integers, notes=notes)
    return _raw_text(source, options, path, memory_mib)


def _raw_text(source: Source, options: BipartiteOptions, path: Path, memory_mib: int) -> Raw:
    """Write the rows of a text file; read it again where its first row is names after all."""
    notes = ReadCounts()
    dialect = _dialect_of(source, options)
    notes.header, notes.inferred = dialect.header, dialect.inferred
    chosen = delimited.chosen_columns(dialect, options, notes)
    # Integers first; if a cell is not one, the file is read again as text.
    try:
        write_batches(path, delimited.bipartite_batches(dialect, chosen, notes, text=False))
    except NotIntegersError:
        write_batches(path, delimited.bipartite_batches(dialect, chosen, notes, text=True))
        # Only now can it be decided whether the first row has names, as in memory.
        judge = _Judge(dialect, chosen, memory_mib)
        if judge.first_row_is_names(path, options):
            raw = _raw_text(source, replace(options, header="yes"), path, memory_mib)
            raw.notes.inferred = True
            return raw
        # Texts may still be integers that Arrow's parser does not take, such as quoted ones.
        integers = judge.is_integer(path, "user"), judge.is_integer(path, "item")
        return Raw(path, False, *integers, notes=notes)
    return Raw(path, False, True, True, notes=notes)


def _dialect_of(source: Source, options: BipartiteOptions) -> Dialect:
    """Return how a text file is written, once a line of it is a pair."""
    dialect = sniff(source, options.header, delimiter=options.delimiter)
    if delimited.has_lists(dialect, options):
        raise UsageError(
            f"{source.name} has one line per user, which cannot be read in pieces. Use two "
            "columns or Parquet, or remove --on-disk."
        )
    return dialect


def raw_batches(
    source: Source, options: BipartiteOptions, *, text: bool
) -> Iterator[pa.RecordBatch | pa.Table]:
    """Yield the rows of a file as they stand, to be looked at and not kept."""
    notes = ReadCounts()
    if source.format.name in FRAME_FORMATS:
        for batch in columnar.bipartite_batches(source, options, notes):
            yield _clean(source, batch)
        return
    dialect = _dialect_of(source, options)
    chosen = delimited.chosen_columns(dialect, options, notes)
    yield from delimited.bipartite_batches(dialect, chosen, notes, text=text)


def _clean(source: Source, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return users and items as int64 or text, lists without nulls."""
    user = _ids(source, batch.column("user"), "user")
    if "items" not in batch.schema.names:
        item = _ids(source, batch.column("item"), "item")
        return pa.RecordBatch.from_arrays([user, item], names=["user", "item"])
    column = batch.column("items")
    values = _ids(source, column.flatten(), "items")
    starts = pa.array(starts_of(column).astype(np.int32))
    lists = pa.ListArray.from_arrays(starts, values)
    return pa.RecordBatch.from_arrays([user, lists], names=["user", "items"])


def _ids(source: Source, column: pa.Array, name: str) -> pa.Array:
    column = written_out(column)
    textual = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    try:
        if not any(check(column.type) for check in textual):
            is_empty = pa.types.is_null(column.type) and not len(column)
            return pa.array([], pa.int64()) if is_empty else to_arrow(as_ids(column, what=name))
    except DataError as error:
        source.refuse(error.message.text)
    if column.null_count:
        source.refuse(f"column {name}: missing id. Remove the row.")
    return column.cast(pa.string())


class _Judge(NamedTuple):
    """Says what the texts of a file are."""

    dialect: Dialect
    chosen: tuple[int, int]
    memory_mib: int

    def first_row_is_names(self, path: Path, options: BipartiteOptions) -> bool:
        """Whether the first row names the columns, as in memory; refuse where nobody can tell."""
        with database(path.parent, memory_mib=self.memory_mib, threads=1) as db:
            # Names of a known header must not be ids as well.
            if self.dialect.header:
                names = [self.dialect.header[column] for column in self.chosen]
                again = [
                    name
                    for name, column in zip(names, ("user", "item"), strict=True)
                    if _holds(db, path, column, name)
                ]
                check_names_again(self.dialect, options.header, again)
            if not self.dialect.undecided:
                return False
            with opened_parquet(path) as file:
                head = next(file.iter_batches(ENOUGH_ROWS + 1))
            cells = [str(head.column(number)[0]) for number in (0, 1)]
            # The first row is compared with all others: its ids must occur nowhere else.
            counted = rows_of(db, [path], ["user", "item"]).project(
                '"user", item, count(*) OVER (PARTITION BY "user") AS times_user, '
                "count(*) OVER (PARTITION BY item) AS times_item"
            )
            once = counted.filter("times_user = 1 AND times_item = 1").project('"user", item')
            first = duckdb.ColumnExpression("user") == duckdb.ConstantExpression(cells[0])
            alone = once.sort(first.desc()).limit(2).fetchall()
        if not alone or list(alone[0]) != cells:
            return False
        # If other rows have ids of their own, too, or rows are few, nobody can tell.
        if len(alone) > 1 or head.num_rows <= ENOUGH_ROWS:
            refuse_undecided(self.dialect.source, cells)
        return True

    def is_integer(self, path: Path, name: str) -> bool:
        """Whether all texts of a column are plain integers; texts that are not ids are refused."""
        text = identifier(name)
        plain = f"regexp_full_match({text}, '0|[1-9][0-9]*')"
        number = f"regexp_full_match({text}, '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?')"
        whole = f"regexp_full_match({text}, '(0|[1-9][0-9]*)[.]0+')"
        oddest = f"{text} = '' DESC, contains({text}, chr(10)) DESC, {whole}, {number}"
        # Only texts that are not plain integers matter, and of these a sample of the oddest.
        with database(path.parent, memory_mib=self.memory_mib, threads=1) as db:
            odd = rows_of(db, [path], [name]).filter(f"NOT {plain}")
            rows = odd.distinct().order(oddest).limit(SAMPLE).fetchall()
            longest = rows_of(db, [path], [name]).filter(plain)
            rows += longest.aggregate(f"max_by({text}, length({text}))").fetchall()
        texts = pa.array([text for (text,) in rows if text is not None], type=pa.string())
        labels = labels_of(self.dialect, self.chosen, texts, ReadCounts())
        return labels.dtype.kind == "i"


def _holds(db: duckdb.DuckDBPyConnection, path: Path, column: str, value: str) -> bool:
    """Return whether a column of a file of ours holds a value."""
    equal = duckdb.ColumnExpression(column) == duckdb.ConstantExpression(value)
    return bool(rows_of(db, [path], [column]).filter(equal).limit(1).fetchall())


ROWS = "rows"
"""The name that rows are kept under, each with its items in order."""

PAIRS_OF_A_BUCKET = 1 << 21
"""About how many pairs are grouped at a time: a bucket is in the memory of one process."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the rows.

    `people`: items are the users themselves; `n_items, ids_as_items`: where ids are text and items
    are things; else 0; `values`: all items are named ``column=value``; `said`: what the owner
    should know of the reading; `input_sha256`: as `graphveil.claims.facts.digest_of` gives it for
    the data in memory.
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
        return _types(user=self.user_is_integer, item=self.item_is_integer)


def _types(*, user: bool, item: bool) -> tuple[pa.DataType, pa.DataType]:
    """Return the types of users and items that are integers, or else text."""
    kinds = {True: pa.int64(), False: pa.string()}
    return kinds[user], kinds[item]


def intake(
    source: Source, options: BipartiteOptions, folder: Path, tables: Tables, memory_mib: int
) -> Facts:
    """Keep the rows of a file, each with its items in order, and return what is known of them."""
    # Step 1: the file as Parquet, with ids of one type per column.
    with stage(f"reading {source.name}"):
        raw = raw_rows(source, options, folder, memory_mib)
    if not raw.path.exists():
        source.refuse("no users found. The file needs at least one row.")
    # Step 2: if items are people, those who are items alone become users without items.
    people = options.items == "people"
    if people and raw.user_is_integer != raw.item_is_integer:
        raw = raw._replace(user_is_integer=False, item_is_integer=False)
    paths = [raw.path]
    if people:
        paths.append(folder / "people.parquet")
        write_batches(paths[1], _item_only(raw, folder, memory_mib))
    paths = [path for path in paths if path.exists()]
    # Step 3: rows with their items in order are kept by the engine, and counted.
    given = InputRows(
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
    # Step 4: what was dropped on the way, for the owner.
    noted = raw.notes.reported() | {"duplicates": facts.duplicates}
    report = ReadingReport(format=source.format.name, parts=len(source.parts), **noted)
    said = tuple(message.text for message in report.dropped())
    return msgspec.structs.replace(facts, said=said, left_out=raw.notes.columns_ignored)


class InputRows(NamedTuple):
    """Rows as they are given, with ids of one kind a column: `user`, and `item` or `items`.

    An id that is not an integer is to become text. `refuse` raises the error of rows that cannot be
    used.
    """

    rows: Rows
    n: int
    lists: bool
    user_is_integer: bool
    item_is_integer: bool
    refuse: Callable[[str], NoReturn]


def counted_rows(given: InputRows, options: BipartiteOptions, tables: Tables) -> Facts:
    """Keep rows with their items in order, and return what is known of them."""
    types = _types(user=given.user_is_integer, item=given.item_is_integer)
    schema = columns.rows_schema(*types)
    # Lists: put the items of each row in order. Pairs: group them by user first, in hash buckets.
    if given.lists:
        rows = tables.map(given.rows, partial(ordered, *types), schema)
    else:
        n = max(1, round(given.n / PAIRS_OF_A_BUCKET))
        pairs = tables.map(
            given.rows, partial(columns.bucketed, *types, n), columns.pairs_schema(*types)
        )
        rows = tables.grouped(pairs, "bucket", n, listed, schema)
    rows = tables.kept(rows, ROWS, "ordering items")
    return _facts(given, options, rows, tables)


def _facts(given: InputRows, options: BipartiteOptions, rows: Rows, tables: Tables) -> Facts:
    people = options.items == "people"
    shared: SharedIds | None = None
    # A user in two rows would be two people in the release.
    with stage("counting rows"):
        if given.lists and tables.ask(columns.REPEATED_USERS, rows=rows) != [(0,)]:
            given.refuse("a user appears in two rows. Merge their lists.")
        numbers = given.user_is_integer and given.item_is_integer
        text = not (given.user_is_integer or given.item_is_integer)
        # Ids that are both users and items: items may be people, which the owner must say.
        if options.items is None or (text and not people):
            shared = shared_ids(rows, tables, numbers=numbers)
            if options.items is None and shared.refusal:
                given.refuse(shared.refusal)
        # Counts, and the limbs of a digest that does not depend on the order of rows.
        [sums] = tables.ask(columns.SUMS, rows=rows)
    n, entries, repeats, no_value, *limbs = map(int, sums)
    digest = digest_of_limbs(n, entries, limbs)
    user, item = given.user_is_integer, given.item_is_integer
    return Facts(
        n_rows=digest.n,
        n_entries=digest.entries,
        duplicates=repeats,
        people=people,
        n_items=shared.n_items if shared and text else 0,
        ids_as_items=shared.n if shared and text else 0,
        values=not given.item_is_integer and digest.entries > 0 and no_value == 0,
        user_is_integer=user,
        item_is_integer=item,
        input_sha256=digest.text(user_is_integer=user, item_is_integer=item),
    )


def items_of(rows: Rows, tables: Tables) -> pa.Array:
    """Return every item of some rows once, in order."""
    batches = list(tables.batches(tables.select(columns.ITEMS, rows=rows), None))
    items = pa.concat_arrays([batch["item"] for batch in batches]) if batches else pa.array([])
    return items.take(pc.sort_indices(items))


def _ids_in(db: duckdb.DuckDBPyConnection, raw: Raw, name: str) -> duckdb.DuckDBPyRelation:
    """Return the distinct ids of a column as `id`, to be read once."""
    value = f"unnest({identifier(name)})" if name == "items" else identifier(name)
    return rows_of(db, [raw.path], [name]).project(f"CAST({value} AS VARCHAR) AS id").distinct()


def _item_only(raw: Raw, folder: Path, memory_mib: int) -> Iterator[pa.RecordBatch]:
    """Yield the people who are items and no users as rows without items."""
    name = "items" if raw.lists else "item"
    with database(folder, memory_mib=memory_mib, threads=1) as db:
        for batch in stream(_ids_in(db, raw, name).except_(_ids_in(db, raw, "user"))):
            users = batch.column(0).cast(pa.string())
            if raw.lists:
                starts = pa.array(np.zeros(len(users) + 1, dtype=np.int32))
                none = pa.ListArray.from_arrays(starts, pa.array([], pa.string()))
            else:
                none = pa.nulls(len(users), pa.string())
            yield pa.RecordBatch.from_arrays([users, none], names=["user", name])

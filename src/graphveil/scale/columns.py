"""The tables of a run larger than memory: one schema for each, and the statements over them.

Every statement uses words that both SQL dialects have: integers, counts and sums alone. Released
rows are tested for an order of their own before they are published.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.claims.facts import RowsDigest, RowsPart, digest_of_rows, tokens_of
from graphveil.core.array_types import Ints
from graphveil.data.csr import taken
from graphveil.data.origin import SharedIds
from graphveil.data.origin import counted as origin_counted
from graphveil.engines.processes import Query, Rows, Tables, selected
from graphveil.methods.smooth_k.row_orders import hashes_of, hashes_of_texts

LIMBS = tuple(f"limb{number}" for number in range(8))
"""The columns of a sum of hashes, 32 bits each."""

KEY = ("key_high", "key_low")
"""The columns of the random key of a released row."""

FACTS = ("n_rows", "n_entries", "repeats", "no_value", *LIMBS)
"""What the numbers are that are known of some rows, in the column `facts` of one of them."""

WRITTEN = pa.schema(
    [
        *((name, pa.int64()) for name in ("number", "rows", "bytes", "entries", "ascents")),
        *((name, pa.string()) for name in ("sha256", "linked")),
    ]
)
"""What is said of a part that was written; `linked` is the digest of its part of the linkage."""

PACKED = pa.schema([("part", pa.int32()), ("first", pa.int64()), ("rows", pa.binary())])
"""Rows under new ids that are packed, see `graphveil.scale.parts`, and the first of the ids."""


def rows_schema(user: pa.DataType, item: pa.DataType) -> pa.Schema:
    """Return the columns of the rows of the original."""
    lists = pa.list_(item)
    return pa.schema([("user", user), ("items", lists), ("facts", pa.list_(pa.int64()))])


def pairs_schema(user: pa.DataType, item: pa.DataType) -> pa.Schema:
    """Return the columns of pairs in buckets."""
    return pa.schema([("user", user), ("item", item), ("bucket", pa.int32())])


def in_chunks(user: pa.DataType, item: pa.DataType) -> pa.Schema:
    """Return the columns of rows with the numbers of their chunks."""
    return pa.schema([("user", user), ("items", pa.list_(item)), ("chunk", pa.int32())])


def released(user: pa.DataType, item: pa.DataType) -> pa.Schema:
    """Return the columns of released rows.

    `size`, `shared`, `created` and `certain` are those of a cluster, at its first row: how many
    rows it has, how many of their entries are published, how many published ones they lack, and
    which published items all of its rows have. At other rows they are 0 and empty.
    """
    lists = pa.list_(item)
    numbers = [(name, pa.int32()) for name in ("size", "shared", "created")]
    keys = [("bucket", pa.int32()), *((name, pa.int64()) for name in KEY)]
    return pa.schema([*keys, ("user", user), ("items", lists), *numbers, ("certain", lists)])


def numbered(user: pa.DataType, item: pa.DataType) -> pa.Schema:
    """Return the columns of rows under their new ids: `user`, who they were, is private."""
    return pa.schema([("id", pa.int64()), ("user", user), ("items", pa.list_(item))])


class ItemLists(NamedTuple):
    """Rows: the items of row u are ``values[indptr[u]:indptr[u + 1]]``.

    `users`: the ids; `indptr`: int64, shape (rows + 1,); `values`: the items of all rows.
    """

    users: pa.Array
    indptr: Ints
    values: pa.Array

    @classmethod
    def of(cls, rows: pa.RecordBatch | pa.Table) -> ItemLists:
        """Return the rows of the columns ``user`` and ``items``.

        Examples
        --------
        >>> table = pa.table({"user": [5, 6], "items": [[7], [8, 9]]})
        >>> ItemLists.of(table).indptr.tolist()
        [0, 1, 3]
        """
        users, column = (whole(rows[name]) for name in ("user", "items"))
        return cls(users, starts_of(column), column.flatten())

    def column(self) -> pa.Array:
        """Return the lists as an Arrow column."""
        return pa.ListArray.from_arrays(pa.array(self.indptr.astype(np.int32)), self.values)

    def rows(self) -> Ints:
        """Return the row of every value."""
        return np.repeat(np.arange(len(self.users), dtype=np.int64), np.diff(self.indptr))

    def taken(self, order: Ints) -> ItemLists:
        """Return some rows in an order.

        >>> lists = ItemLists(pa.array([5, 6]), np.array([0, 1, 3]), pa.array([7, 8, 9]))
        >>> lists.taken(np.array([1, 0])).values.to_pylist()
        [8, 9, 7]
        """
        indptr, entries = taken(self.indptr, order)
        values = self.values.take(pa.array(entries))
        return ItemLists(self.users.take(pa.array(order)), indptr, values)

    def between(self, start: int, end: int) -> ItemLists:
        """Return the rows from one on, before another."""
        indptr = self.indptr[start : end + 1]
        values = self.values.slice(indptr[0], indptr[-1] - indptr[0])
        return ItemLists(self.users.slice(start, end - start), indptr - indptr[0], values)

    def in_order(self) -> tuple[ItemLists, NDArray[np.int32]]:
        """Return the rows with sorted and distinct items, and how many repeats each lost.

        >>> lists = ItemLists(pa.array([5]), np.array([0, 3]), pa.array([2, 0, 2]))
        >>> rows, dropped = lists.in_order()
        >>> rows.values.to_pylist(), dropped.tolist()
        ([0, 2], [1])
        """
        # Most rows are in order already: every value is above the one before it in its row.
        numbers = numbers_of(self.values)
        sizes = np.diff(self.indptr)
        rising = numbers[1:] > numbers[:-1]
        starts = self.indptr[1:-1]
        rising[starts[(starts > 0) & (starts < numbers.size)] - 1] = True
        if rising.all():
            return self, np.zeros(sizes.size, dtype=np.int32)
        # Otherwise sort by row and value, and keep the first of equal ones.
        rows = self.rows()
        order = np.lexsort((numbers, rows))
        numbers, rows = numbers[order], rows[order]
        kept = np.ones(order.size, dtype=np.bool_)
        kept[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
        # Without repeats, lists are shorter.
        left = np.bincount(rows[kept], minlength=sizes.size)
        indptr = np.concatenate([[0], np.cumsum(left)]).astype(np.int64)
        distinct = ItemLists(self.users, indptr, self.values.take(pa.array(order[kept])))
        return distinct, (sizes - left).astype(np.int32)


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def starts_of(column: pa.Array) -> Ints:
    """Return where every list of a column starts in its flattened values, and where the last ends.

    >>> starts_of(pa.array([[7], None, [8, 9]])).tolist()
    [0, 1, 1, 3]
    """
    if not column.null_count:
        offsets = column.offsets.to_numpy()
        return (offsets - offsets[0] if offsets.size else np.zeros(1)).astype(np.int64)
    sizes = pc.fill_null(column.value_lengths(), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def coded(values: pa.Array) -> tuple[pa.Array, NDArray[np.int32]]:
    """Return the distinct values in order, and which of them each value is."""
    # Integers in their order; texts are numbered as they occur, and renumbered in order.
    if pa.types.is_integer(values.type):
        names, numbers = np.unique(values.to_numpy(), return_inverse=True)
        return pa.array(names), numbers.astype(np.int32)
    seen = values.dictionary_encode()
    order = pc.sort_indices(seen.dictionary)
    places = np.empty(len(order), dtype=np.int32)
    places[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return seen.dictionary.take(order), places[seen.indices.to_numpy()]


def numbers_of(values: pa.Array) -> Ints | NDArray[np.int32]:
    """Return numbers that are in the order of the values, equal ones of equal values."""
    return values.to_numpy() if pa.types.is_integer(values.type) else coded(values)[1]


def name_hashes(names: pa.Array) -> NDArray[np.uint64]:
    """Return a hash of every id in an Arrow array, see `hashes_of`.

    >>> one, two = name_hashes(pa.array(["tea", "rye"]))
    >>> bool(one == name_hashes(pa.array(["rye", "tea"]))[1] != two)
    True
    """
    if pa.types.is_integer(names.type):
        return hashes_of(names.to_numpy())
    texts = names.cast(pa.large_string())
    _, starts, letters = texts.buffers()
    ends = np.frombuffer(starts or bytes(8), dtype=np.int64)
    ends = ends[texts.offset : texts.offset + len(texts) + 1]
    return hashes_of_texts(ends, np.frombuffer(letters or b"", dtype=np.uint8))


def grouped(pairs: Iterable[tuple[pa.Array, pa.Array]]) -> Iterator[ItemLists]:
    """Yield rows out of (users, items) in which every user stands in one run."""
    users: pa.Array | None = None
    items: pa.Array | None = None
    # The last user of a batch may go on in the next one: keep that user's pairs back.
    for more_users, more in pairs:
        if len(more_users) == 0:
            continue
        users = more_users if users is None else pa.concat_arrays([users, more_users])
        items = more if items is None else pa.concat_arrays([items, more])
        starts = _run_starts(users)
        last = int(starts[-1])
        if last:
            yield ItemLists(users.take(pa.array(starts[:-1])), starts, items.slice(0, last))
        users, items = users.slice(last), items.slice(last)
    if users is not None and items is not None:
        yield ItemLists(users.slice(0, 1), np.array([0, len(items)]), items)


def _run_starts(users: pa.Array) -> Ints:
    """Return where a value differs from the one before, that of the first one included."""
    changed = pc.not_equal(users.slice(1), users.slice(0, len(users) - 1))
    return np.concatenate([[0], np.flatnonzero(changed.to_numpy(zero_copy_only=False)) + 1])


DIGESTED_ROWS = 1 << 16
"""How many rows are digested at a time."""


def ordered(user: pa.DataType, item: pa.DataType, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows with sorted and distinct items, and what is known of them at the first one.

    `user, item`: the types that ids get. A work on batches.
    """
    given = ItemLists.of(batch)
    users, values = given.users.cast(user), given.values.cast(item)
    rows, repeats = ItemLists(users, given.indptr, values).in_order()
    arrays = [rows.users, rows.column(), counted(rows, repeats)]
    return pa.RecordBatch.from_arrays(arrays, schema=rows_schema(user, item))


def bucketed(user: pa.DataType, item: pa.DataType, n: int, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return pairs with the bucket, of n, in which their user falls; a work on batches."""
    users = batch["user"].cast(user)
    buckets = (name_hashes(users) % np.uint64(n)).astype(np.int32)
    arrays = [users, batch["item"].cast(item), pa.array(buckets)]
    return pa.RecordBatch.from_arrays(arrays, schema=pairs_schema(user, item))


def listed(_number: int, pairs: pa.Table) -> pa.Table:
    """Return the rows of a bucket of pairs, by user; one without an item is a user without any.

    What is known of the rows stands at the first one. A work on buckets.
    """
    # Pairs in the order of users; a stable sort keeps the order of items.
    users, items = whole(pairs["user"]), whole(pairs["item"])
    ids = numbers_of(users)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    firsts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    items = items.take(pa.array(order))
    # Pairs without an item only say that there is the user.
    given = items.is_valid().to_numpy(zero_copy_only=False)
    ends = np.concatenate([[0], np.cumsum(given)])
    indptr = ends[np.concatenate([firsts, [ids.size]])]
    lists = ItemLists(users.take(pa.array(order[firsts])), indptr, items.drop_null())
    rows, repeats = lists.in_order()
    arrays = [rows.users, rows.column(), counted(rows, repeats)]
    return pa.table(arrays, schema=rows_schema(rows.users.type, rows.values.type))


def counted(rows: ItemLists, repeats: NDArray[np.int32]) -> pa.Array:
    """Return the column `facts` of rows: what is known of them all stands at the first."""
    # A digest of rows that adds up, so that it does not depend on their order or batches.
    digest = RowsDigest()
    for start in range(0, len(rows.users), DIGESTED_ROWS):
        some = rows.between(start, min(start + DIGESTED_ROWS, len(rows.users)))
        digest = digest.plus(digest_of_rows(_part(some)))
    # Items that are not named as values of columns.
    no_value = 0
    if pa.types.is_string(rows.values.type):
        named = pc.match_substring(rows.values, "=")
        no_value = len(rows.values) - pc.sum(named, min_count=0).as_py()
    # The sum of hashes in limbs of 32 bits, which SQL can add; all in the list of the first row.
    limbs = [digest.total >> (32 * number) & 0xFFFFFFFF for number in range(8)]
    numbers = [digest.n, digest.entries, int(repeats.sum()), no_value, *limbs]
    starts = np.full(len(rows.users) + 1, len(FACTS), dtype=np.int32)
    starts[0] = 0
    facts = numbers if len(rows.users) else []
    return pa.ListArray.from_arrays(pa.array(starts), pa.array(facts, pa.int64()))


def digest_of_limbs(n: int, entries: int, limbs: list[int]) -> RowsDigest:
    """Return the digest of all rows out of sums of facts."""
    total = sum(limb << (32 * number) for number, limb in enumerate(limbs)) % (1 << 256)
    return RowsDigest(n, entries, total)


def _part(rows: ItemLists) -> RowsPart:
    users = rows.users
    ids = users.to_numpy() if pa.types.is_integer(users.type) else users.to_pylist()
    if pa.types.is_integer(rows.values.type):
        return RowsPart(ids, rows.indptr, tokens_of(rows.values.to_numpy()))
    names, codes = coded(rows.values)
    return RowsPart(ids, rows.indptr, tokens_of(names.to_pylist())[codes])


REPEATED_USERS = Query("SELECT count(*) - count(DISTINCT {user}) FROM {rows}", ("user",))
"""How many rows have the user of another one."""

_SUMMED = ", ".join(f"coalesce(sum({{at}}(facts, {n + 1})), 0)" for n in range(len(FACTS)))
SUMS = Query(f"SELECT {_SUMMED} FROM {{rows}} WHERE {{size}}(facts) > 0", ("facts",))  # noqa: S608  our own names
"""The sums of what is known of parts of the rows."""

_SIDES = """
    FROM (
        SELECT id, sum(as_user) AS as_user, sum(as_item) AS as_item
        FROM (
            SELECT CAST({user} AS {kind}) AS id, 1 AS as_user, 0 AS as_item FROM {rows}
            UNION ALL
            SELECT CAST(item AS {kind}) AS id, 0 AS as_user, 1 AS as_item
            FROM (SELECT {explode}(items) AS item FROM {again})
        ) AS sides
        GROUP BY id
    ) AS ids
"""
_COUNTS = """
    SELECT count(CASE WHEN as_user > 0 THEN 1 END), count(CASE WHEN as_item > 0 THEN 1 END),
        count(CASE WHEN as_user > 0 AND as_item > 0 THEN 1 END)"""
_LARGEST = """,
        coalesce(max(CASE WHEN as_user > 0 THEN id END), 0),
        coalesce(max(CASE WHEN as_item > 0 THEN id END), 0)"""

SHARED_NUMBERS = Query(_COUNTS + _LARGEST + _SIDES.replace("{kind}", "BIGINT"), ("user", "items"))
"""How many ids stand for users, for items and for both, and the largest of users and of items."""

SHARED_TEXTS = Query(_COUNTS + ", 0, 0" + _SIDES.replace("{kind}", "{text}"), ("user", "items"))
"""The same of text, where no id is the largest."""

ITEMS = Query(
    "SELECT DISTINCT item FROM (SELECT {explode}(items) AS item FROM {rows}) AS entries", ("items",)
)
"""Every item once."""


ENTRIES = Query("SELECT count(*), coalesce(sum({size}(items)), 0) FROM {rows}", ("items",))
"""The rows, and the entries of their lists as they stand."""


def sampled(below: str, items: str = "items") -> Query:
    """Return the query of rows whose user's SHA-256 begins with less than these digits.

    `below`: four hexadecimal digits; `items`: the column of what users have.
    """
    text = "SELECT {user}, ITEMS FROM {rows} WHERE substr({sha256_of_user}, 1, 4) < "
    return Query(f"{text.replace('ITEMS', items)}'{below}'", ("user", items))


TALLY = Query(
    """
    SELECT bucket, count(*), count(CASE WHEN {size}(items) = 0 THEN 1 END), sum(shared),
        sum(created), count(CASE WHEN size > 0 THEN 1 END)
    FROM {released} GROUP BY bucket ORDER BY bucket
    """,
    ("bucket", "items", "size", "shared", "created"),
)
"""Of every bucket, the rows, those that are released without items, what the clusters whose first
row is in it keep, and their number."""

CERTAIN = Query(
    """
    SELECT coalesce(sum(classes.size), 0)
    FROM (
        SELECT items, feature, count(*) AS n
        FROM (SELECT items, {explode}(certain) AS feature FROM {released}) AS entries
        GROUP BY items, feature
    ) AS features
    JOIN (
        SELECT items, sum(size) AS size, count(*) AS n FROM {again} WHERE size > 0 GROUP BY items
    ) AS classes
    ON features.items = classes.items AND features.n = classes.n
    """,
    ("items", "size", "certain"),
)
"""The published entries of items that all of their class have; clusters that publish the same form
one class."""

ORDERED = selected("bucket", *KEY, "user", "items")
"""What is ordered by keys: rows without what their clusters keep."""

TEXT_THAT_IS_NO_NUMBER = Query(
    """
    SELECT count(*)
    FROM (
        SELECT DISTINCT item FROM (SELECT {explode}(items) AS item FROM {released}) AS entries
    ) AS names
    WHERE item = '' OR translate(item, '0123456789', '') <> '' OR length(item) > 19
        OR (substr(item, 1, 1) = '0' AND item <> '0')
        OR (length(item) = 19 AND item > '9223372036854775807')
    """,
    ("items",),
)
"""The published items that are not spelled as whole numbers of 64 bits."""


def shared_ids(rows: Rows, tables: Tables, *, numbers: bool) -> SharedIds:
    """Return which ids stand for users and for items."""
    query = SHARED_NUMBERS if numbers else SHARED_TEXTS
    [answer] = tables.ask(query, rows=rows, again=rows)
    return _shared(answer, numbers=numbers)


class PassingIds:
    """The ids of rows that pass, some at a time, as `shared_ids` counts them.

    `db`: an empty database that they are kept in.

    >>> ids = PassingIds(duckdb.connect())
    >>> ids.add(pa.record_batch({"user": [10, 900], "item": [900, 7000]}))
    >>> ids.add(pa.record_batch({"user": [10], "item": [8000]}))
    >>> ids.shared()
    SharedIds(n=1, n_items=3, counted=False)
    """

    def __init__(self, db: duckdb.DuckDBPyConnection) -> None:
        self._db = db
        self._types: list[pa.DataType] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep the ids of some rows: of a column of users, and one of items or of lists."""
        users, items = batch["user"].unique(), batch.column(1)
        if pa.types.is_list(items.type):
            items = items.flatten()
        items = items.unique().drop_null()
        lists = pa.ListArray.from_arrays(pa.array([0, len(items)], pa.int32()), items)
        for name, table in (
            ("rows", pa.table({"user": users})),
            ("again", pa.table({"items": lists})),
        ):
            relation = self._db.from_arrow(table)
            if self._types:
                relation.insert_into(name)
            else:
                relation.create(name)
        self._types = self._types or [users.type, items.type]

    def shared(self) -> SharedIds:
        """Return which of all ids stand for users and for items."""
        if not self._types:
            return SharedIds(0, 0, counted=False)
        numbers = all(map(pa.types.is_integer, self._types))
        query = SHARED_NUMBERS if numbers else SHARED_TEXTS
        [answer] = self._db.execute(query.spelled("duckdb")).fetchall()
        return _shared(answer, numbers=numbers)


def _shared(answer: tuple[int | str, ...], *, numbers: bool) -> SharedIds:
    n_users, n_items, shared, largest_user, largest_item = map(int, answer)
    both = origin_counted(n_users, largest_user) and origin_counted(n_items, largest_item)
    return SharedIds(shared, n_items, counted=numbers and both)


DEVIATIONS = 7.0
"""How many standard deviations from its mean the count of a random order never is: a random order
is refused with a probability below 1e-11."""


class RowOrder:
    """Counts the released rows that follow the one released before them in the original too.

    Of n rows in random order (n - 1) / 2 do, with a variance of (n + 1) / 12.
    """

    def __init__(self) -> None:
        self.ascents = 0
        self._n = 0
        self._last: pa.Array | None = None

    def add(self, users: pa.Array | Ints) -> None:
        """Note the original ids of the next released rows: the original is in their order."""
        ids = pa.array(users)
        if not len(ids):
            return
        self._n += len(ids)
        known = ids if self._last is None else pa.concat_arrays([self._last, ids])
        rising = pc.greater(known.slice(1), known.slice(0, len(known) - 1))
        self.ascents += pc.sum(rising, min_count=0).as_py()
        self._last = ids.slice(len(ids) - 1)

    def check(self) -> None:
        """Refuse an order that is not random, see `check_order`."""
        check_order(self.ascents, [self._n])


def check_order(ascents: int, sizes: Sequence[int]) -> None:
    """Refuse an order of rows that is the original's, or the reverse of it, or nearly so.

    `ascents`: how many rows follow, inside of runs, the one before them in the original too.

    >>> check_order(ascents=1500, sizes=[1000, 2000])
    """
    n = sum(sizes)
    expected = sum(size - 1 for size in sizes) / 2
    variance = sum(size + 1 for size in sizes) / 12
    if abs(ascents - expected) > DEVIATIONS * math.sqrt(variance):
        raise RuntimeError(
            f"{n} rows were about to be published in an order that {ascents} of them also have "
            "in the original"
        )

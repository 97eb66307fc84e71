"""Chunks of rows: where they are cut, what a worker does with one; and rows of Spark as input.

Cuts are keys of sampled rows, so that nothing is sorted in full. If every row is sampled, the
chunks are those of a run in memory.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias
from urllib.parse import unquote

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.core.errors import InputError, UsageError, option
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted
from graphveil.data import Bipartite
from graphveil.engines.processes import Tables
from graphveil.engines.spark import first_line, is_of_spark, read_at, translated_errors
from graphveil.io import BipartiteOptions
from graphveil.methods.equivalence_classes.rule import (
    Labels,
    Profiles,
    collapse,
    profiles_of,
    released,
)
from graphveil.methods.smooth_k.row_orders import MinHash, in_order, piece_of
from graphveil.methods.smooth_k.smooth_k import Clustered
from graphveil.scale import columns
from graphveil.scale.columns import ItemLists, coded, name_hashes
from graphveil.scale.intake import Facts, InputRows, counted_rows

SAMPLED_OF_A_CHUNK = 64
"""How many rows of a chunk are sampled at least, on average."""

SAMPLED = 10**6
"""How many rows are sampled at least, where there are as many."""

RATES = 1 << 16
"""Rates of sampling are multiples of 1 / RATES."""


@dataclass(frozen=True)
class ByWords:
    """Rows in the order of words of 64 bits: of their smallest hashes, or of integers as users."""

    hashes: MinHash | None

    @property
    def schema(self) -> pa.Schema:
        """The columns of a key."""
        n = 1 if self.hashes is None else len(self.hashes.offsets) // 2 + 1
        return pa.schema([(f"word{number}", pa.int64()) for number in range(n)])

    def words(self, rows: ItemLists) -> NDArray[np.uint64]:
        """Return the key of every row, uint64, shape (n, words)."""
        if self.hashes is None:
            return np.asarray(rows.users.to_numpy(), dtype=np.uint64).reshape(-1, 1)
        return self.hashes.words(rows.indptr, name_hashes(rows.values), name_hashes(rows.users))

    def keys(self, rows: ItemLists) -> pa.RecordBatch:
        """Return the key of every row as columns."""
        words = self.words(rows).view(np.int64)
        return pa.RecordBatch.from_arrays([pa.array(word) for word in words.T], schema=self.schema)

    def in_order(self, rows: ItemLists) -> NDArray[np.int64]:
        """Return the rows in the order of their keys."""
        return in_order(self.words(rows))

    def cuts(self, keys: pa.Table, n_chunks: int) -> NDArray[np.uint64]:
        """Return the keys at which all chunks but the first begin, in order."""
        words = np.stack([key.to_numpy() for key in keys.columns], axis=1).view(np.uint64)
        order = np.argsort(words[:, 0], kind="stable")
        leading = words[order, 0]
        cuts = np.empty((n_chunks - 1, words.shape[1]), dtype=np.uint64)
        for number, at in enumerate(starts(keys.num_rows, n_chunks)):
            first = int(np.searchsorted(leading, leading[at], side="left"))
            end = int(np.searchsorted(leading, leading[at], side="right"))
            alike = words[order[first:end]]
            cuts[number] = alike[in_order(alike)[at - first]]
        return cuts

    def chunk_of(self, rows: ItemLists, cuts: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the chunk of every row."""
        return piece_of(self.words(rows), cuts)


@dataclass(frozen=True)
class ByNames:
    """Rows in the order of their users, which are text."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of a key."""
        return pa.schema([("user", pa.string())])

    def keys(self, rows: ItemLists) -> pa.RecordBatch:
        """Return the key of every row as columns."""
        return pa.RecordBatch.from_arrays([rows.users], schema=self.schema)

    def in_order(self, rows: ItemLists) -> NDArray[np.int64]:
        """Return the rows in the order of their keys."""
        return np.asarray(pc.sort_indices(rows.users).to_numpy(), dtype=np.int64)

    def cuts(self, keys: pa.Table, n_chunks: int) -> list[str]:
        """Return the keys at which all chunks but the first begin, in order."""
        users = keys["user"].combine_chunks()
        ordered = users.take(pc.sort_indices(users))
        return [ordered[at].as_py() for at in starts(len(users), n_chunks)]

    def chunk_of(self, rows: ItemLists, cuts: list[str]) -> NDArray[np.int32]:
        """Return the chunk of every row; text is compared by code points, as by its bytes."""
        chunks = (bisect_right(cuts, user) for user in rows.users.to_pylist())
        return np.fromiter(chunks, dtype=np.int32, count=len(rows.users))


RowKeys: TypeAlias = ByWords | ByNames


def starts(n: int, n_chunks: int) -> list[int]:
    """Return where all chunks of n rows but the first begin: they have nearly equal sizes."""
    least, more = divmod(n, n_chunks)
    return [number * least + min(number, more) for number in range(1, n_chunks)]


class Sampling(NamedTuple):
    """How many chunks there are, and which share of the rows their cuts come from.

    `rate` is in `RATES` parts; `least` rows have to be sampled, so that no chunk is below k.
    """

    n_chunks: int
    rate: int
    least: int

    @classmethod
    def of(cls, n: int, chunk_rows: int, k: int) -> Sampling:
        """Return the sampling of so many rows.

        Examples
        --------
        >>> Sampling.of(10**6, 20_000, 8)
        Sampling(n_chunks=50, rate=65536, least=1600)
        >>> Sampling.of(10**9, 20_000, 8).rate / RATES
        0.0032...
        """
        n_chunks = max(1, round(n / chunk_rows))
        share = max(SAMPLED_OF_A_CHUNK / chunk_rows, 4 * k / chunk_rows, SAMPLED / max(n, 1))
        rate = min(RATES, math.ceil(share * RATES))
        return cls(n_chunks, rate, 4 * k * n_chunks if n_chunks > 1 else 0)

    @property
    def below(self) -> str:
        """Rows are sampled whose user has a SHA-256 that begins with less than these digits."""
        return f"{self.rate:04x}"

    @property
    def is_enough(self) -> bool:
        """Whether every row is sampled."""
        return self.rate >= RATES

    def doubled(self) -> Sampling:
        """Return the sampling of twice as many rows."""
        return self._replace(rate=min(RATES, 2 * self.rate))


def keyed(order: RowKeys, batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the key of every row; a work on batches."""
    return order.keys(ItemLists.of(batch))


@dataclass(frozen=True)
class InChunks:
    """Says in which chunk a row is; a work on batches."""

    order: RowKeys
    cuts: Any

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return users and items with the number of their chunk."""
        rows = ItemLists.of(batch)
        chunk = pa.array(self.order.chunk_of(rows, self.cuts))
        schema = columns.in_chunks(rows.users.type, rows.values.type)
        return pa.RecordBatch.from_arrays([batch["user"], batch["items"], chunk], schema=schema)


@dataclass(frozen=True, kw_only=True)
class Released:
    """Releases the rows of a chunk; a work on chunks."""

    method: Clustered
    order: RowKeys
    n_buckets: int
    by_columns: bool
    randomness: Randomness

    def __call__(self, number: int, table: pa.Table) -> pa.Table:
        """Return the released rows of a chunk with their keys, and what its clusters keep."""
        rows = ItemLists.of(table)
        rows = rows.taken(self.order.in_order(rows))
        names, codes = coded(rows.values)
        data = Bipartite(rows.indptr, codes, len(names))
        distinct = collapse(data)
        if self.by_columns:
            distinct = distinct._replace(columns=self.method.columns_of(names.to_pylist()))
        rng = self.randomness.stream(f"clusters of chunk {number}")
        labels = self.method.clustering()(distinct, rng)
        clusters = profiles_of(distinct, labels)
        rest = self.randomness.stream(f"rest of chunk {number}").bytes(32)
        published = self.method.published(clusters, Randomness(seed=int.from_bytes(rest, "big")))
        out = released(data, clusters, published, labels)
        lists = ItemLists(rows.users, out.indptr, names.take(pa.array(out.indices)))
        keys = keys_of(self.randomness.secret(f"keys of chunk {number}"), data.n_users)
        arrays = [
            pa.array(buckets_of(keys[0], self.n_buckets)),
            *(pa.array(word.view(np.int64)) for word in keys),
            rows.users,
            lists.column(),
            *_of_clusters(names, clusters, published, labels),
        ]
        return pa.table(arrays, schema=columns.released(rows.users.type, names.type))


def keys_of(secret: bytes, n: int) -> NDArray[np.uint64]:
    """Return a key of 128 bits a row, shape (2, n): the order of the release.

    The same secret gives the same keys: a chunk that runs twice, wherever it runs, loses no row and
    repeats none. Without the secret they cannot be distinguished from random bits (SHAKE-256).
    """
    keys = np.frombuffer(hashlib.shake_256(secret).digest(16 * n), dtype="<u8")
    return keys.astype(np.uint64, copy=False).reshape(2, n)


def buckets_of(high: NDArray[np.uint64], n: int) -> NDArray[np.int32]:
    """Return the bucket of every key by its leading 32 bits; buckets are in the order of keys.

    >>> buckets_of(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), 4).tolist()
    [0, 2, 3]
    """
    leading = high >> np.uint64(32)
    return ((leading * np.uint64(n)) >> np.uint64(32)).astype(np.int32)


def _of_clusters(
    names: pa.Array, clusters: Profiles, published: NDArray[np.bool_], labels: Labels
) -> list[pa.Array]:
    """Return, at the first row of every cluster, its size and what it keeps and is certain of."""
    n, n_clusters = labels.size, clusters.sizes.size
    firsts = np.empty(n_clusters, dtype=np.int64)
    firsts[labels[::-1]] = np.arange(n)[::-1]  # the last one stays
    of_pair, counts = clusters.clusters[published], clusters.counts[published]
    shared = np.bincount(of_pair, weights=counts, minlength=n_clusters)
    lacking = clusters.sizes[of_pair] - counts
    created = np.bincount(of_pair, weights=lacking, minlength=n_clusters)
    sums = []
    for numbers in (clusters.sizes, shared, created):
        column = np.zeros(n, dtype=np.int32)
        column[firsts] = numbers
        sums.append(pa.array(column))
    certain = published & (clusters.counts == clusters.sizes[clusters.clusters])
    in_rows = np.argsort(firsts[clusters.clusters[certain]], kind="stable")
    sizes = np.bincount(firsts[clusters.clusters[certain]], minlength=n)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    values = names.take(pa.array(clusters.features[certain][in_rows]))
    return [*sums, pa.ListArray.from_arrays(starts, values)]


TABLE = "table:"
"""How the name of a table of the session's catalog begins."""

WHOLE = {"tinyint", "smallint", "int", "bigint"}

VIEWS = {"VIEW", "TEMPORARY"}
"""What a table of a catalog is called that is a query in truth."""


class FrameSource(NamedTuple):
    """A DataFrame, what it is called in messages, and what tells it from others.

    `digest`: of columns, files and, of a DataFrame or view, its query: the same rows give the same
    digest in this session, and files or a table in any; `origins`: of its files alone.
    """

    frame: Any
    name: str
    digest: str
    origins: tuple[str, ...]

    @classmethod
    def of(cls, source: Any, spark: Any) -> FrameSource:
        """Return what a path, the name of a table, or a DataFrame stands for."""
        name = _name_of(source)
        with _readable(name):
            frame, is_query = _frame_of(source, spark)
            if frame.isStreaming:
                raise UsageError(f"{name} is a stream. Give a complete set of rows.")
            names, shape = frame.columns, frame.schema.json()
            states = "".join(map(_state_of, sorted(frame.inputFiles())))
            query = str(frame.semanticHash()) if is_query else ""
        lower = [column.lower() for column in names]
        repeated = sorted({column for column in lower if lower.count(column) > 1})
        if repeated:
            raise InputError(f"{name}: two columns are named {repeated[0]!r}. Rename one.")
        origins = (_digest_of(states),) if states else ()
        return cls(frame, name, _digest_of(f"{shape}\n{query}\n{states}"), origins)

    def take(self, tables: Tables, options: BipartiteOptions) -> Facts:
        """Keep the rows under the name `ROWS`, and return what is known of them."""
        facts = counted_rows(self.given(tables, options), options, tables)
        chosen = self._columns(options)
        left_out = tuple(name for name in self.frame.columns if name not in chosen)
        return msgspec.structs.replace(facts, left_out=left_out)

    def given(self, tables: Tables, options: BipartiteOptions) -> InputRows:
        """Return the rows as they stand, once their columns and ids are such that they run."""
        types = dict(self.frame.dtypes)
        user, item = self._columns(options)
        lists = types[item].startswith("array<")
        kind = types[item].removeprefix("array<").removesuffix(">") if lists else types[item]
        for name, one in ((user, types[user]), (item, kind)):
            if one not in WHOLE and one != "string":
                self._refuse(
                    f"column {name} has type {one}, but ids are integers or text. Cast it."
                )
        integers = types[user] in WHOLE, kind in WHOLE
        spelled = ["BIGINT" if one else "STRING" for one in integers]
        wanted = f"ARRAY<{spelled[1]}>" if lists else spelled[1]
        rows = self.frame.selectExpr(
            f"CAST({_quoted(user)} AS {spelled[0]}) AS user",
            f"CAST({_quoted(item)} AS {wanted}) AS {'items' if lists else 'item'}",
        )
        return InputRows(
            rows=tables.rows(rows),
            n=self._checked(rows, integers, lists=lists),
            lists=lists,
            user_is_integer=integers[0],
            item_is_integer=integers[1],
            refuse=self._refuse,
        )

    def _columns(self, options: BipartiteOptions) -> tuple[str, str]:
        """Return the columns of users and of items: those asked for, or of known names."""
        names = self.frame.columns
        known = [name for name in ("items", "item") if name in names][:1] or ["items"]
        chosen = []
        for asked, name, flag in (
            (options.user_column, "user", "user_column"),
            (options.item_column, known[0], "item_column"),
        ):
            column = name if asked is None else asked
            if isinstance(column, int) and 1 <= column <= len(names):
                column = names[column - 1]
            if column not in names:
                self._refuse(
                    f"no column {column!r}, but {', '.join(map(repr, names))}. Name the column "
                    f"with {option(flag, 'NAME')}."
                )
            chosen.append(str(column))
        further = [name for name in names if name not in chosen]
        asked_for = None not in (options.user_column, options.item_column)
        if further and not (asked_for or options.ignore_weights):
            self._refuse(
                f"there are columns other than users and items: {', '.join(further)}. Drop them "
                f"with {option('ignore_weights', value=True)}."
            )
        return chosen[0], chosen[1]

    def _checked(self, rows: Any, integers: tuple[bool, bool], *, lists: bool) -> int:
        """Return the number of rows, once no id is missing or below zero."""
        missing = "exists(items, x -> x IS NULL)" if lists else "item IS NULL"
        least = "array_min(items)" if lists else "item"
        counts = (
            "count(*)",
            "count_if(user IS NULL)",
            f"count_if({missing})",
            "min(user)" if integers[0] else "0",
            f"min({least})" if integers[1] else "0",
        )
        with translated_errors("counting rows"):
            [(n, no_user, no_item, least_user, least_item)] = rows.selectExpr(*counts).collect()
        if not n:
            self._refuse("no users found. The file needs at least one row.")
        for name, count in (("user", no_user), ("items", no_item)):
            if count:
                self._refuse(
                    f"column {name}: {counted(count, 'id', 'is')} missing. Remove such rows."
                )
        for name, number in (("user", least_user), ("items", least_item)):
            if number is not None and number < 0:
                self._refuse(f"column {name}: the id {number} is negative. Give ids >= 0, or text.")
        return int(n)

    def _refuse(self, problem: str) -> NoReturn:
        raise InputError(f"{self.name}: {problem}")


def _name_of(source: Any) -> str:
    if not isinstance(source, str | Path):
        return "the DataFrame"
    return str(source) if str(source).startswith(TABLE) else Path(source).name


def _frame_of(source: Any, spark: Any) -> tuple[Any, bool]:
    """Return a DataFrame, and whether a query stands behind it, next to columns and files."""
    if not isinstance(source, str | Path):
        return source, True
    if str(source).startswith(TABLE):
        name = str(source).removeprefix(TABLE)
        return spark.table(name), spark.catalog.getTable(name).tableType in VIEWS
    return _read(source, spark), False


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Say in a line that rows cannot be read."""
    try:
        yield
    except Exception as error:
        if not is_of_spark(error):
            raise
        raise InputError(
            f"cannot read {name}: {first_line(error)}. Give rows that this session can read."
        ) from error


def _read(source: str | Path, spark: Any) -> Any:
    """Return the DataFrame of Parquet files."""
    text = str(source)
    local = "://" not in text
    path = Path(text)
    if local and not path.exists():
        raise InputError(f"{path.name}: file not found. Check the path.")
    if local and path.is_file() and path.suffix != ".parquet":
        raise UsageError(
            f"{path.name} is not Parquet, the only format that Spark reads here. Convert it, or "
            f"use {option('engine', 'local')}."
        )
    return spark.read.parquet(read_at(path) if local else text)


def _state_of(file: str) -> str:
    """Return what tells a file from what stood there before, as far as it is seen from here."""
    path = Path(unquote(file.removeprefix("file://")))
    try:
        status = path.stat()
    except OSError:
        return f"{file}\n"
    return f"{file} {status.st_size} {status.st_mtime_ns}\n"


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"

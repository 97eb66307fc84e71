"""What a run on the disk or on a cluster will cost, from a draw of its rows: nothing is written."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ipc
from scipy.optimize import nnls

from graphveil.claims.parts import PART_USERS
from graphveil.core.errors import UsageError
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.engines.local import PIECE_ROWS, LocalEngine, database, one_batch
from graphveil.engines.processes import Engine, Tables
from graphveil.engines.spark import SparkEngine, SparkTables
from graphveil.io import BipartiteOptions
from graphveil.io.source import Source
from graphveil.io.text.columns import NotIntegersError
from graphveil.methods.base import Anonymizer
from graphveil.methods.smooth_k.smooth_k import Clustered
from graphveil.scale import columns
from graphveil.scale import columns as queries
from graphveil.scale.chunks import RATES, FrameSource, InChunks, Released, RowKeys, Sampling
from graphveil.scale.intake import InputRows, check_readable, raw_batches
from graphveil.scale.parts import n_buckets_of
from graphveil.scale.run import in_chunks, order_of_rows, refused_items, refused_methods

DRAWN_ROWS = 1 << 18
DRAWN_ENTRIES = 1 << 21
"""About how many rows and entries are drawn at most."""


class Drawn(NamedTuple):
    """A fair draw of users with all of their items, as lists in order without repeats.

    `n_rows, n_entries`: the users, and about the entries, of the whole; `pairs`: rows were pairs.
    """

    rows: pa.RecordBatch
    n_rows: int
    n_entries: int
    share: float
    pairs: bool


@dataclass
class _Draw:
    """Keeps users by the hash of their ids, half as many whenever they become too many."""

    kept: list[pa.RecordBatch] = field(default_factory=list)
    halvings: int = 0
    n_seen: int = 0
    n_rows: int = 0
    n_entries: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at further rows."""
        self.n_seen += batch.num_rows
        self._keep(batch)
        while self.n_rows > 2 * DRAWN_ROWS or self.n_entries > 2 * DRAWN_ENTRIES:
            self.halvings += 1
            [rows] = pa.Table.from_batches(self.kept).combine_chunks().to_batches()
            self.kept, self.n_rows, self.n_entries = [], 0, 0
            self._keep(rows)

    def _keep(self, batch: pa.RecordBatch) -> None:
        """Keep the rows of the share of users that is kept now; pairs count as entries alone."""
        if self.halvings:
            hashes = columns.name_hashes(batch["user"]) >> np.uint64(64 - self.halvings)
            batch = batch.filter(pa.array(hashes == 0))
        column = batch.column(1)
        lists = pa.types.is_list(column.type)
        self.kept.append(batch)
        self.n_rows += batch.num_rows if lists else 0
        self.n_entries += len(column.flatten()) if lists else len(column)


def drawn_from_file(source: Source, options: BipartiteOptions, memory_mib: int) -> Drawn:
    """Return a draw of the users in a file, which is read once, some rows at a time."""
    try:
        draw = _draw_of(source, options, memory_mib, text=False)
    except NotIntegersError:
        draw = _draw_of(source, options, memory_mib, text=True)
    if not draw.n_seen:
        source.refuse("no users found. The file needs at least one row.")
    share = 2.0**-draw.halvings
    rows = _in_order(pa.Table.from_batches(draw.kept))
    lists = "items" in draw.kept[0].schema.names
    entries = len(rows["items"].flatten())
    if lists:
        return Drawn(rows, draw.n_seen, round(entries / share), share, pairs=False)
    return Drawn(rows, round(rows.num_rows / share), round(entries / share), share, pairs=True)


def _draw_of(source: Source, options: BipartiteOptions, memory_mib: int, *, text: bool) -> _Draw:
    draw = _Draw()
    if options.items is not None:
        for batch in _batches(source, options, text=text):
            draw.add(batch)
        return draw
    with (
        tempfile.TemporaryDirectory(prefix="graphveil-") as folder,
        database(Path(folder), memory_mib=memory_mib, threads=1) as db,
    ):
        ids = columns.PassingIds(db)
        for batch in _batches(source, options, text=text):
            draw.add(batch)
            ids.add(batch)
        shared = ids.shared()
    if shared.refusal:
        source.refuse(shared.refusal)
    return draw


def _batches(source: Source, options: BipartiteOptions, *, text: bool) -> Iterator[pa.RecordBatch]:
    for some in raw_batches(source, options, text=text):
        yield from some.combine_chunks().to_batches() if isinstance(some, pa.Table) else [some]


def drawn_from_tables(given: InputRows, tables: Tables) -> Drawn:
    """Return a draw of the users of an engine's rows, which are counted and read once."""
    items = "items" if given.lists else "item"
    n_rows, n_given = given.n, given.n
    if given.lists:
        [(n_rows, n_given)] = tables.ask(queries.ENTRIES, rows=given.rows)
    share = min(1.0, DRAWN_ENTRIES / max(n_given, 1))
    if given.lists:
        share = min(share, DRAWN_ROWS / max(n_rows, 1))
    rate = min(RATES, math.ceil(share * RATES))
    rows = given.rows
    if rate < RATES:
        rows = tables.select(queries.sampled(f"{rate:04x}", items), rows=rows)
    batches = list(tables.batches(rows, None))
    share = rate / RATES
    drawn = _in_order(pa.Table.from_batches(batches).select(["user", items]))
    entries = round(len(drawn["items"].flatten()) / share)
    n_users = int(n_rows) if given.lists else round(drawn.num_rows / share)
    return Drawn(drawn, n_users, entries, share, pairs=not given.lists)


def _in_order(given: pa.Table) -> pa.RecordBatch:
    """Return rows with their items in order, out of lists or of pairs."""
    name = given.schema.names[1]
    kind = given.schema.field(name).type
    types = _plain(given.schema.field("user").type), _plain(getattr(kind, "value_type", kind))
    if name == "items":
        schema = pa.schema([("user", types[0]), ("items", pa.list_(types[1]))])
        rows = columns.ordered(*types, one_batch(given.cast(schema)))
    else:
        schema = pa.schema([("user", types[0]), ("item", types[1])])
        rows = one_batch(columns.listed(0, given.cast(schema)))
    return rows.select(["user", "items"])


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_integer(kind) else pa.string()


CLUSTERED_SECONDS = 6.0
LEAST_CHUNKS = 3
"""So long are chunks clustered to learn what one costs, and at least so many."""

HANDLED_ROWS = 1 << 16
"""So many rows are put in order, digested and given keys to learn what a row costs."""


class RowCost(NamedTuple):
    """What a row costs before it is clustered, and its bytes, in memory and packed."""

    seconds: float
    bytes: float
    packed: float


class Priced(NamedTuple):
    """What clustering costs: seconds for a chunk, an entry, and two rows with an item in common.

    `packed`: the bytes of a released row; `in_a_part`: without what its cluster keeps.
    """

    factors: NDArray[np.float64]
    n: int
    packed: float
    in_a_part: float

    @classmethod
    def of(cls, costs: list[float], parts: NDArray[np.float64], tables: list[pa.Table]) -> Priced:
        """Return the factors that explain what chunks did cost, in relative terms."""
        spent = np.array(costs)
        factors, _ = nnls(parts / spent[:, None], np.ones(spent.size))
        explained = (parts @ factors).sum()
        rows = sum(table.num_rows for table in tables)
        return cls(
            factors * (spent.sum() / explained),
            spent.size,
            sum(map(_packed, tables)) / rows,
            sum(_packed(table.select(["user", "items"])) for table in tables) / rows,
        )

    def price(self, entries: NDArray[np.float64], meetings: NDArray[np.float64]) -> Any:
        """Return the seconds of chunks with so many entries and pairs of rows that meet."""
        return _parts_of(entries, meetings) @ self.factors


def _parts_of(entries: NDArray[np.float64], meetings: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([np.ones_like(entries), entries, meetings], axis=1)


@dataclass(frozen=True)
class Trial:
    """The rows of a draw in the order of their keys, and the works of a run.

    Parameters
    ----------
    drawn
        The draw.
    order, cuts
        The order of rows, and where chunks begin.
    work
        What a worker does with a chunk.
    rows
        The rows in order.
    codes
        The number of the item of every entry of `rows`.
    n_chunks, n_chunk_rows
        The chunks of the run, and how many rows one has.
    """

    drawn: Drawn
    order: RowKeys
    cuts: Any
    work: Released
    rows: columns.ItemLists
    codes: NDArray[np.int32]
    n_chunks: int
    n_chunk_rows: int

    @classmethod
    def of(cls, drawn: Drawn, method: Clustered) -> Trial:
        """Return the trial of a method on a draw; its randomness is not a run's."""
        randomness = Randomness(seed=0)
        given = columns.ItemLists.of(drawn.rows)
        chunk_rows = 0 if method.chunks is None else method.chunks.rows
        n_chunks = Sampling.of(drawn.n_rows, chunk_rows, method.k).n_chunks
        order = order_of_rows(method, pa.types.is_integer(given.users.type), randomness)
        keys = pa.Table.from_batches([order.keys(given)])
        rows = given.taken(order.in_order(given))
        work = Released(
            method=method,
            order=order,
            n_buckets=n_buckets_of(drawn.n_rows, drawn.n_entries),
            by_columns=_are_values(rows.values) and method.columns_of(["column=value"]) is not None,
            randomness=randomness,
        )
        cuts = order.cuts(keys, min(n_chunks, keys.num_rows))
        codes = columns.coded(rows.values)[1]
        n_rows = -(-drawn.n_rows // n_chunks)
        return cls(drawn, order, cuts, work, rows, codes, n_chunks, n_rows)

    def handled(self) -> RowCost:
        """Return what a row costs before it is clustered."""
        some = self.drawn.rows.slice(0, HANDLED_ROWS)
        user, item = some["user"].type, some["items"].type.value_type

        def work() -> pa.RecordBatch:
            columns.ordered(user, item, some)
            return InChunks(self.order, self.cuts)(some)

        seconds, batch = _timed(work)
        table = pa.Table.from_batches([batch])
        n = some.num_rows
        return RowCost(seconds / n, table.nbytes / n, _packed(table) / n)

    def cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the entries of every chunk of the run, and its pairs of rows that meet."""
        entries, meetings = self._parts(self._starts(self.n_chunks))
        share = self.drawn.share
        return entries / share, meetings / share**2

    def clustered(self) -> Priced:
        """Return what clustering costs, from some chunks of the draw: the densest, and others."""
        n_chunks = max(1, round(len(self.rows.users) / self.n_chunk_rows))
        starts = self._starts(n_chunks)
        entries, meetings = self._parts(starts)
        costs: list[float] = []
        chosen: list[int] = []
        tables: list[pa.Table] = []
        for number in _spread(np.argsort(meetings, kind="stable")):
            table = self._table(*starts[number : number + 2])
            if not chosen:
                self.work(number, table)  # compiles
            seconds, released = _timed(lambda: self.work(number, table))  # noqa: B023  called here
            costs.append(max(seconds, 1e-6))
            chosen.append(number)
            tables.append(released)
            if len(chosen) >= LEAST_CHUNKS and sum(costs) > CLUSTERED_SECONDS:
                break
        return Priced.of(costs, _parts_of(entries, meetings)[chosen], tables)

    def _starts(self, n: int) -> list[int]:
        bounds = np.linspace(0, len(self.rows.users), n + 1)
        return [int(bound) for bound in np.round(bounds)]

    def _parts(self, starts: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the entries of pieces, and how often two of their rows have an item in common."""
        entries, meetings = [], []
        for start, end in pairwise(self.rows.indptr[starts].tolist()):
            counts = np.unique(self.codes[start:end], return_counts=True)[1].astype(np.float64)
            entries.append(float(end - start))
            meetings.append(float((counts * (counts - 1)).sum()))
        return np.array(entries), np.array(meetings)

    def _table(self, start: int, end: int) -> pa.Table:
        first, last = self.rows.indptr[[start, end]].tolist()
        indptr = self.rows.indptr[start : end + 1] - first
        values = self.rows.values.slice(first, last - first)
        some = columns.ItemLists(self.rows.users.slice(start, end - start), indptr, values)
        return pa.table([some.users, some.column()], names=["user", "items"])


def _are_values(items: pa.Array) -> bool:
    """Whether all items are named as values of columns, ``column=value``."""
    if not pa.types.is_string(items.type) or not len(items):
        return False
    return bool(pc.all(pc.match_substring(items, "=")).as_py())


def _spread(ranked: NDArray[np.int64]) -> Iterator[int]:
    """Yield the last one of those that are ranked, then the others, spread over the ranks."""
    n = ranked.size
    bits = max(n - 1, 0).bit_length()
    turned = (int(f"{i:0{bits}b}"[::-1], 2) for i in range(1 << bits)) if bits else iter([0])
    yield int(ranked[-1])
    yield from (int(ranked[at]) for at in turned if at < n - 1)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of CPU of some work in this process, and what it gives."""
    started = time.process_time()
    given = work()
    return time.process_time() - started, given


def _packed(table: pa.Table) -> int:
    """Return the bytes of rows as a run keeps them."""
    sink = pa.MockOutputStream()
    options = ipc.IpcWriteOptions(compression="lz4")
    with ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return int(sink.size())


Where = Literal["local", "spark"]

WITHIN = 1.5
"""Every figure is a range: from this factor below what is expected to this factor above."""


class Rates(NamedTuple):
    """What an engine adds to what is measured in this process, from runs of the benchmark.

    `started, process`: seconds of CPU; `handled`: all stages but clustering, as a multiple of
    ordering, digesting and keying rows; `clustered`: as a multiple of the cost in this process;
    `kept`: bytes in the folders of a run, as a multiple of its rows and released rows, packed;
    `piece_rows`: how many rows a process holds at most before they are clustered.
    """

    started: float
    process: float
    handled: float
    clustered: float
    kept: float
    piece_rows: int


RATES_OF: dict[Where, Rates] = {
    "local": Rates(0.3, process=1.3, handled=5.0, clustered=1.1, kept=2.0, piece_rows=PIECE_ROWS),
    "spark": Rates(10.0, process=0.0, handled=25.0, clustered=1.3, kept=1.2, piece_rows=10_000),
}

SHUFFLED = 1.2
"""The bytes that executors write for each other, as a multiple of the same."""

PAIRS_KEPT: dict[Where, float] = {"local": 1.4, "spark": 1.0}
PAIRS_SHUFFLED = 1.75
"""How many times that is where rows are given as pairs, which are put together first."""

KEPT_APART = 0.6
"""How many times the bytes in folders are that where works write parts: rows are not kept in order
once more. A linkage in a folder takes some of that back: it is within the range."""

WORKER_MIB, CHUNK_COPIES, PIECE_COPIES = 300, 13, 3
"""The memory of a process that clusters: without rows, and how often it holds those of a chunk and
those of a piece."""

PART_COPIES = 3
"""The same of a process that writes parts at an address: of the rows of one, which are taken to be
as large as those of the original, since a draw publishes fewer items than all rows do."""


class Range(NamedTuple):
    """The ends that a figure is expected between."""

    low: float
    high: float

    @classmethod
    def about(cls, expected: float) -> Range:
        """Return the range about what is expected."""
        return cls(expected / WITHIN, expected * WITHIN)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a run will cost.

    Parameters
    ----------
    engine
        Where it runs: ``local`` or ``spark``.
    rows, entries, chunks
        The users, about the entries, and the chunks of rows.
    cpu_seconds
        Seconds of CPU, of all processes together.
    working_bytes
        What is in the folders of the run before its release stands.
    shuffle_bytes
        What executors write for each other; None on one machine.
    worker_mib
        The memory of a process that clusters or writes parts, in MiB.
    assumed
        What these figures depend on.
    """

    engine: Where
    rows: int
    entries: int
    chunks: int
    cpu_seconds: Range
    working_bytes: Range
    shuffle_bytes: Range | None
    worker_mib: Range
    assumed: tuple[str, ...]

    @property
    def core_hours(self) -> Range:
        """The CPU in hours of one core."""
        return Range(*(seconds / 3600 for seconds in self.cpu_seconds))


def estimate_of_file(
    method: Anonymizer[Any], path: Path, options: BipartiteOptions, engine: Engine | None = None
) -> Estimate:
    """Return what `graphveil.anonymize_rows` of a file will cost."""
    clustered = _in_chunks(method)
    source = check_readable(path, options)
    engine = engine or LocalEngine()
    with stage(f"sampling users of {source.name}"):
        drawn = drawn_from_file(source, options, engine.memory_mib)
    jobs = getattr(engine, "jobs", None) or 1
    return estimated(drawn, clustered, "local", processes=jobs if jobs > 1 else 0)


def estimate_of_frame(
    method: Anonymizer[Any],
    rows: Any,
    options: BipartiteOptions,
    engine: SparkEngine,
    *,
    at_address: bool = False,
) -> Estimate:
    """Return what `graphveil.anonymize_rows` of a DataFrame will cost."""
    clustered = _in_chunks(method, refused_items(options))
    source = FrameSource.of(rows, engine.spark)
    tables = SparkTables(engine.spark, engine.place, "")  # nothing is kept
    with stage(f"sampling users of {source.name}"):
        given = source.given(tables, options)
        if options.items is None:
            _refuse_people(given, tables)
        drawn = drawn_from_tables(given, tables)
    return estimated(drawn, clustered, "spark", parts_apart=at_address)


def _in_chunks(method: Anonymizer[Any], refusals: Iterable[str] = ()) -> Clustered:
    """Return a method with its chunks, once nothing is refused."""
    for text in (*refused_methods(method), *refusals):
        raise UsageError(text)
    return in_chunks(method)


def _refuse_people(given: InputRows, tables: SparkTables) -> None:
    """Refuse items that may be people, as the run does."""
    rows = given.rows if given.lists else given.rows.selectExpr("user", "array(item) AS items")
    numbers = given.user_is_integer and given.item_is_integer
    shared = columns.shared_ids(rows, tables, numbers=numbers)
    if shared.refusal:
        given.refuse(shared.refusal)


def estimated(
    drawn: Drawn, method: Clustered, engine: Where, *, processes: int = 0, parts_apart: bool = False
) -> Estimate:
    """Return what a run of a method on the rows of a draw will cost."""
    method.check_size(drawn.n_rows)
    rates, n = RATES_OF[engine], drawn.n_rows
    trial = Trial.of(drawn, method)
    handled = trial.handled()
    with stage("clustering some chunks"):
        clustered = trial.clustered()
    seconds = (
        rates.started
        + rates.process * processes
        + rates.handled * handled.seconds * n
        + rates.clustered * clustered.price(*trial.cells()).sum()
    )
    moved = n * (handled.packed + clustered.packed)
    chunk = CHUNK_COPIES * trial.n_chunk_rows + PIECE_COPIES * min(rates.piece_rows, n)
    part = PART_COPIES * min(PART_USERS, n)
    held = handled.bytes * (max(chunk, part) if parts_apart else chunk)
    kept = rates.kept * (PAIRS_KEPT[engine] if drawn.pairs else 1.0)
    kept *= KEPT_APART if parts_apart else 1.0
    shuffled = SHUFFLED * (PAIRS_SHUFFLED if drawn.pairs else 1.0) * moved
    shuffled += n * clustered.in_a_part if parts_apart else 0
    return Estimate(
        engine=engine,
        rows=n,
        entries=drawn.n_entries,
        chunks=trial.n_chunks,
        cpu_seconds=Range.about(float(seconds)),
        working_bytes=Range.about(kept * moved),
        shuffle_bytes=None if engine == "local" else Range.about(shuffled),
        worker_mib=Range.about(WORKER_MIB + held / (1 << 20)),
        assumed=_assumed(drawn, clustered.n, engine),
    )


def _assumed(drawn: Drawn, n_clustered: int, engine: Where) -> tuple[str, ...]:
    n_drawn = drawn.rows.num_rows
    texts = [
        f"{n_drawn:,} users were sampled; chunks of them clustered in this process: {n_clustered}",
        "all other costs are as in the benchmark, whose rows have 8 items each",
        "processors are like this one, and are not shared with other work",
        (
            "kernels are already compiled (graphveil warm METHOD); otherwise, each machine adds "
            "some seconds"
        ),
    ]
    if drawn.share < 1:
        texts.append("chunks of all users are denser than those of the sample; this is computed")
    if drawn.pairs and drawn.share < 1:
        texts.append("users are pairs: their number is known from the sample")
    if engine == "spark":
        texts.append("no time is spent waiting for a network or a store, and shuffles do not spill")
    return tuple(texts)

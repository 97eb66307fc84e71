"""What the steps of a run cost, measured on a sample of its users."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import ipc
from scipy.optimize import nnls

from graphveil.core.randomness import Randomness
from graphveil.methods.smooth_k.smooth_k import Clustered
from graphveil.scale import columns
from graphveil.scale.chunks import InChunks, Released, RowKeys, Sampling
from graphveil.scale.parts import n_buckets_of
from graphveil.scale.run import order_of_rows
from graphveil.scale.user_sample import UserSample

CLUSTERED_SECONDS = 6.0
"""How long chunks are clustered to learn what one costs, and how many chunks at least."""

LEAST_CHUNKS = 3
"""So long are chunks clustered to learn what one costs, and at least so many."""

HANDLED_ROWS = 1 << 16
"""How many rows are put in order, digested and given keys to learn what a row costs."""


class RowCost(NamedTuple):
    """What a row costs before it is clustered, and its bytes, in memory and packed."""

    seconds: float
    bytes: float
    packed: float


class Priced(NamedTuple):
    """What clustering costs: seconds per chunk, per entry, and per pair of rows that meet.

    Two rows meet in each item that both have. `packed`: the bytes of a released row; `in_a_part`:
    without what its cluster keeps.
    """

    factors: NDArray[np.float64]
    n: int
    packed: float
    in_a_part: float

    @classmethod
    def of(cls, costs: list[float], parts: NDArray[np.float64], tables: list[pa.Table]) -> Priced:
        """Return the factors that explain the costs of chunks best, in relative terms."""
        # Nonnegative least squares on costs relative to the measured ones.
        spent = np.array(costs)
        factors, _ = nnls(parts / spent[:, None], np.ones(spent.size))
        # Scale so that the factors explain the total exactly.
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
    """The rows of a sample in the order of their keys, and the works of a run.

    Parameters
    ----------
    sample
        The users that were sampled, with their items.
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

    sample: UserSample
    order: RowKeys
    cuts: Any
    work: Released
    rows: columns.ItemLists
    codes: NDArray[np.int32]
    n_chunks: int
    n_chunk_rows: int

    @classmethod
    def of(cls, sample: UserSample, method: Clustered) -> Trial:
        """Return the trial of a method on a sample; its randomness is not a run's."""
        randomness = Randomness(seed=0)
        given = columns.ItemLists.of(sample.rows)
        chunk_rows = 0 if method.chunks is None else method.chunks.rows
        n_chunks = Sampling.of(sample.n_rows, chunk_rows, method.k).n_chunks
        order = order_of_rows(method, pa.types.is_integer(given.users.type), randomness)
        keys = pa.Table.from_batches([order.keys(given)])
        rows = given.taken(order.in_order(given))
        work = Released(
            method=method,
            order=order,
            n_buckets=n_buckets_of(sample.n_rows, sample.n_entries),
            by_columns=_are_values(rows.values) and method.columns_of(["column=value"]) is not None,
            randomness=randomness,
        )
        cuts = order.cuts(keys, min(n_chunks, keys.num_rows))
        codes = columns.coded(rows.values)[1]
        n_rows = -(-sample.n_rows // n_chunks)
        return cls(sample, order, cuts, work, rows, codes, n_chunks, n_rows)

    def handled(self) -> RowCost:
        """Return what a row costs before it is clustered."""
        some = self.sample.rows.slice(0, HANDLED_ROWS)
        user, item = some["user"].type, some["items"].type.value_type

        def work() -> pa.RecordBatch:
            columns.ordered(user, item, some)
            return InChunks(self.order, self.cuts)(some)

        seconds, batch = _timed(work)
        table = pa.Table.from_batches([batch])
        n = some.num_rows
        return RowCost(seconds / n, table.nbytes / n, _packed(table) / n)

    def cells(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the entries of every chunk of the run, and its pairs of rows that meet in an item.

        A chunk of all users is denser than that of a sample: entries grow by 1 / share, pairs by
        its square.
        """
        entries, meetings = self._parts(self._starts(self.n_chunks))
        share = self.sample.share
        return entries / share, meetings / share**2

    def clustered(self) -> Priced:
        """Return what clustering costs, from some chunks of the sample: the densest, and others."""
        # Chunks of the size that the run has, cut from the sample.
        n_chunks = max(1, round(len(self.rows.users) / self.n_chunk_rows))
        starts = self._starts(n_chunks)
        entries, meetings = self._parts(starts)
        costs: list[float] = []
        chosen: list[int] = []
        tables: list[pa.Table] = []
        # The densest chunk first, then others spread over the ranks, until time is up.
        for number in _spread(np.argsort(meetings, kind="stable")):
            table = self._table(*starts[number : number + 2])
            # The first run compiles the kernels, and is not timed.
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
    """Yield the last of the ranked numbers, then the others, spread over the ranks.

    Reversed bits give a sequence whose every beginning is spread (van der Corput).
    """
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

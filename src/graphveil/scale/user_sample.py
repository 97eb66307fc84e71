"""A uniform sample of users with all of their items, from a file or from an engine's rows."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphveil.engines.local import database, one_batch
from graphveil.engines.processes import Tables
from graphveil.io import BipartiteOptions
from graphveil.io.source import Source
from graphveil.io.text.columns import NotIntegersError
from graphveil.scale import columns
from graphveil.scale.chunks import RATES
from graphveil.scale.intake import InputRows, raw_batches

SAMPLE_ROWS = 1 << 18
"""About how many users are sampled at most: more make estimates slower, fewer less certain."""

SAMPLE_ENTRIES = 1 << 21
"""About how many entries are sampled at most: this bounds the memory of an estimate."""


class UserSample(NamedTuple):
    """A uniform sample of users with all of their items, as lists in order without repeats.

    `n_rows, n_entries`: the users, and about the entries, of the whole; `pairs`: rows were pairs.
    """

    rows: pa.RecordBatch
    n_rows: int
    n_entries: int
    share: float
    pairs: bool


@dataclass
class _Sampler:
    """Keeps users by the hash of their ids, half as many whenever they become too many.

    A user is kept with all rows or with none, wherever these are in the file; the share that is
    kept is 2 to the power of minus `halvings`.
    """

    kept: list[pa.RecordBatch] = field(default_factory=list)
    halvings: int = 0
    n_seen: int = 0
    n_rows: int = 0
    n_entries: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at further rows."""
        self.n_seen += batch.num_rows
        self._keep(batch)
        # Too many rows: keep the users whose hash has one more leading zero.
        while self.n_rows > 2 * SAMPLE_ROWS or self.n_entries > 2 * SAMPLE_ENTRIES:
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


def sample_of_file(source: Source, options: BipartiteOptions, memory_mib: int) -> UserSample:
    """Return a sample of the users in a file, which is read once, some rows at a time."""
    # Integers first; if a cell is not one, the file is read again as text.
    try:
        sampler = _filled(source, options, memory_mib, text=False)
    except NotIntegersError:
        sampler = _filled(source, options, memory_mib, text=True)
    if not sampler.n_seen:
        source.refuse("no users found. The file needs at least one row.")
    # The sample stands for the whole: its numbers are divided by the share.
    share = 2.0**-sampler.halvings
    rows = _in_order(pa.Table.from_batches(sampler.kept))
    lists = "items" in sampler.kept[0].schema.names
    entries = len(rows["items"].flatten())
    if lists:
        return UserSample(rows, sampler.n_seen, round(entries / share), share, pairs=False)
    return UserSample(rows, round(rows.num_rows / share), round(entries / share), share, pairs=True)


def _filled(source: Source, options: BipartiteOptions, memory_mib: int, *, text: bool) -> _Sampler:
    sampler = _Sampler()
    if options.items is not None:
        for batch in _batches(source, options, text=text):
            sampler.add(batch)
        return sampler
    # If nobody said what items are, ids that are users and items are looked for, as the run does.
    with (
        tempfile.TemporaryDirectory(prefix="graphveil-") as folder,
        database(Path(folder), memory_mib=memory_mib, threads=1) as db,
    ):
        ids = columns.PassingIds(db)
        for batch in _batches(source, options, text=text):
            sampler.add(batch)
            ids.add(batch)
        shared = ids.shared()
    if shared.refusal:
        source.refuse(shared.refusal)
    return sampler


def _batches(source: Source, options: BipartiteOptions, *, text: bool) -> Iterator[pa.RecordBatch]:
    for some in raw_batches(source, options, text=text):
        yield from some.combine_chunks().to_batches() if isinstance(some, pa.Table) else [some]


def sample_of_tables(given: InputRows, tables: Tables) -> UserSample:
    """Return a sample of the users of an engine's rows, which are counted and read once."""
    items = "items" if given.lists else "item"
    n_rows, n_given = given.n, given.n
    if given.lists:
        [(n_rows, n_given)] = tables.ask(columns.ENTRIES, rows=given.rows)
    # The share that neither exceeds the most rows nor the most entries.
    share = min(1.0, SAMPLE_ENTRIES / max(n_given, 1))
    if given.lists:
        share = min(share, SAMPLE_ROWS / max(n_rows, 1))
    rate = min(RATES, math.ceil(share * RATES))
    # Users whose SHA-256 is below the rate: the same ones on every engine.
    rows = given.rows
    if rate < RATES:
        rows = tables.select(columns.sampled(f"{rate:04x}", items), rows=rows)
    batches = list(tables.batches(rows, None))
    share = rate / RATES
    sample = _in_order(pa.Table.from_batches(batches).select(["user", items]))
    entries = round(len(sample["items"].flatten()) / share)
    n_users = int(n_rows) if given.lists else round(sample.num_rows / share)
    return UserSample(sample, n_users, entries, share, pairs=not given.lists)


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

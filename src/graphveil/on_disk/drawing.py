"""A fair draw of users from rows that may be larger than memory: nothing is written."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from graphveil.engines.database import database
from graphveil.engines.engine import Tables
from graphveil.engines.pieces import one_batch
from graphveil.io import BipartiteOptions
from graphveil.io.columns import NotIntegersError
from graphveil.io.source import Source
from graphveil.on_disk import queries
from graphveil.on_disk.cuts import RATES
from graphveil.on_disk.intake import Given
from graphveil.on_disk.lists import name_hashes
from graphveil.on_disk.ordered import Listed, Ordered
from graphveil.on_disk.raw_rows import raw_batches
from graphveil.on_disk.shared_ids import PassingIds

DRAWN_ROWS = 1 << 18
DRAWN_ENTRIES = 1 << 21
"""About how many rows and entries are drawn at most."""


class Drawn(NamedTuple):
    """A fair draw of users with all of their items.

    Parameters
    ----------
    rows
        The columns `user` and `items`, lists in order without repeats, in one piece.
    n_rows, n_entries
        The users, and about the entries, of the whole that they were drawn from.
    share
        The share of users that was drawn.
    pairs
        Whether the rows were given as pairs.
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
            hashes = name_hashes(batch["user"]) >> np.uint64(64 - self.halvings)
            batch = batch.filter(pa.array(hashes == 0))
        column = batch.column(1)
        lists = pa.types.is_list(column.type)
        self.kept.append(batch)
        self.n_rows += batch.num_rows if lists else 0
        self.n_entries += len(column.flatten()) if lists else len(column)


def drawn_from_file(source: Source, options: BipartiteOptions, memory_mib: int) -> Drawn:
    """Return a draw of the users in a file, which is read once, some rows at a time.

    Parameters
    ----------
    source, options
        The file and how it is read.
    memory_mib
        The memory that comparing ids of users and of items may take, where nobody said what items
        are.

    Raises
    ------
    InputError
        Where it cannot be read, has no user, or items may be people.
    """
    try:
        draw = _draw_of(source, options, memory_mib, text=False)
    except NotIntegersError:
        draw = _draw_of(source, options, memory_mib, text=True)
    if not draw.n_seen:
        source.refuse("no user. Give at least one row.")
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
        ids = PassingIds(db)
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


def drawn_from_tables(given: Given, tables: Tables) -> Drawn:
    """Return a draw of the users of an engine's rows, which are counted and read once.

    Parameters
    ----------
    given
        The rows.
    tables
        Where they are; nothing is kept there.
    """
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
        rows = Ordered(*types)(one_batch(given.cast(schema)))
    else:
        schema = pa.schema([("user", types[0]), ("item", types[1])])
        rows = one_batch(Listed()(0, given.cast(schema)))
    return rows.select(["user", "items"])


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_integer(kind) else pa.string()

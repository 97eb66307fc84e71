"""Rows under new ids on the way to their part: some of them in one value, column by column.

In a shuffle of single rows each carries its id and its part, and every field has eight bytes. In a
packed value the ids follow from the first one, and columns are compressed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from graphveil.on_disk import columns
from graphveil.on_disk.ids import Numbered
from graphveil.on_disk.lists import starts_of
from graphveil.records import parts

MOST_ROWS = 1 << 14
MOST_ENTRIES = 1 << 20
"""About so many rows and entries at most are packed together; a row stays whole."""

_SMALL = ipc.IpcWriteOptions(compression="zstd")


@dataclass(frozen=True)
class Packed:
    """Gives the rows of a bucket their new ids, and packs them; a work on buckets.

    Parameters
    ----------
    numbered
        Gives ids.
    part_users
        So many users has a part of the release: those that are packed together are of one.
    most_rows, most_entries
        About how many rows and entries are packed together at most.
    """

    numbered: Numbered
    part_users: int
    most_rows: int
    most_entries: int

    def __call__(self, number: int, rows: pa.Table) -> pa.Table:
        """Return packed rows, see `graphveil.on_disk.columns.PACKED`.

        Raises
        ------
        RuntimeError
            As of `Numbered`.
        """
        table = self.numbered(number, rows)
        del rows
        ids = table["id"].to_numpy()
        table = table.drop_columns(["id"]).combine_chunks()
        entries = starts_of(table["items"].combine_chunks())[:-1]
        part = ids // self.part_users
        changes = np.zeros(ids.size, dtype=np.bool_)
        for of_row in (part, np.arange(ids.size) // self.most_rows, entries // self.most_entries):
            changes[1:] |= of_row[1:] != of_row[:-1]
        changes[:1] = True
        starts = np.flatnonzero(changes)
        sizes = np.diff(starts, append=ids.size)
        values = [
            _packed(table.slice(start, size))
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        ]
        cells = [part[starts].astype(np.int32), ids[starts], pa.array(values, pa.binary())]
        return pa.table(cells, schema=columns.PACKED)


def packed(numbered: Numbered) -> Packed:
    """Return the work that packs rows, with the sizes that parts and packed values have."""
    return Packed(numbered, parts.PART_USERS, MOST_ROWS, MOST_ENTRIES)


def unpacked(rows: pa.Table) -> tuple[NDArray[np.int64], pa.Table]:
    """Return the ids of packed rows, those of the lowest first ones first, and the rows.

    Parameters
    ----------
    rows
        At least one, in any order.

    Examples
    --------
    >>> rows = pa.table({"user": ["eve", "ann"], "items": [["tea"], []]})
    >>> ids, again = unpacked(pa.table({"first": [7], "rows": [_packed(rows)]}))
    >>> ids.tolist(), again.equals(rows)
    ([7, 8], True)
    """
    rows = rows.sort_by("first")
    tables = [ipc.open_stream(cell.as_buffer()).read_all() for cell in rows["rows"]]
    firsts = rows["first"].to_pylist()
    ids = [np.arange(first, first + t.num_rows) for first, t in zip(firsts, tables, strict=True)]
    return np.concatenate(ids), pa.concat_tables(tables)


def _packed(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, rows.schema, options=_SMALL) as writer:
        writer.write_table(rows)
    value: bytes = sink.getvalue().to_pybytes()
    return value

"""Parts of a release that are written where works run: by executors, at an address.

A work that runs again, after another process died, writes the same bytes under the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphveil.engines.engine import Rows, Tables
from graphveil.io import list_parts
from graphveil.on_disk import columns
from graphveil.on_disk.item_names import PublishedNames
from graphveil.on_disk.lists import ItemLists
from graphveil.on_disk.packed import unpacked
from graphveil.on_disk.parts import (
    WrittenParts,
    as_lists,
    groups_of,
    write_linkage_part,
    write_part,
)
from graphveil.on_disk.row_order import RowOrder, check_order
from graphveil.places.address import Address
from graphveil.progress import stage
from graphveil.records import parts
from graphveil.records.manifest import DataFile
from graphveil.records.record import digest_of_parts
from graphveil.release.linkage import COLUMNS


@dataclass(frozen=True, kw_only=True)
class PartOfUsers:
    """Writes a part of the data, and one of the linkage; a work on parts.

    Parameters
    ----------
    out
        Where the data lies.
    private
        Where the linkage lies; None where none is written.
    names
        The names that items get; None for their own.
    n_users
        All users.
    part_users, group_rows
        The users of a part, and those of a row group in one.
    """

    out: Address
    private: Address | None
    names: PublishedNames | None
    n_users: int
    part_users: int
    group_rows: int

    def __call__(self, number: int, rows: pa.Table) -> pa.Table:
        """Return what was written, as a row of `graphveil.on_disk.columns.WRITTEN`.

        Parameters
        ----------
        number
            That of the part.
        rows
            Its users, packed: `graphveil.on_disk.columns.PACKED`.

        Raises
        ------
        RuntimeError
            Where it is not all of the users that belong here.
        """
        ids, rows = unpacked(rows)
        first = number * self.part_users
        size = min(self.part_users, self.n_users - first)
        if not np.array_equal(ids, np.arange(first, first + size)):
            raise RuntimeError(f"part {number} has {ids.size} rows, not its {size} users")
        lists, new_ids = ItemLists.of(rows), pa.array(ids)
        del rows, ids  # a part is large
        order_of_rows = RowOrder()
        order_of_rows.add(lists.users)
        file = write_part(self._groups(lists, new_ids), number, size, self.out)
        linked = ""
        if self.private is not None:
            linkage = pa.table([lists.users, new_ids], names=COLUMNS)
            linked = write_linkage_part(linkage, number, self.private)
        answer = {
            "number": number,
            "rows": size,
            "bytes": file.bytes,
            "entries": len(lists.values),
            "ascents": order_of_rows.ascents,
            "sha256": file.sha256,
            "linked": linked,
        }
        return pa.Table.from_pylist([answer], columns.WRITTEN)

    def _groups(self, lists: ItemLists, ids: pa.Array) -> Iterator[pa.Table]:
        start = 0
        for n in groups_of(len(ids), self.group_rows):
            some = lists.between(start, start + n)
            items = some.values if self.names is None else pa.array(self.names.of(some))
            yield as_lists(ids.slice(start, n), some.indptr, items)
            start += n


def write_apart(tables: Tables, packed: Rows, work: PartOfUsers) -> WrittenParts:
    """Let works write all parts, and return what they have written.

    Parameters
    ----------
    tables, packed
        Where rows are, and those under new ids, packed.
    work
        What writes a part.

    Raises
    ------
    RuntimeError
        Where a part is missing, or rows stand in the order of the original.
    """
    n = parts.n_parts(work.n_users)
    written = tables.grouped(packed, "part", n, work, columns.WRITTEN)
    with stage("writing parts", total=work.n_users) as advance:
        rows = [row for batch in tables.batches(written, None) for row in batch.to_pylist()]
        advance(work.n_users)
    rows.sort(key=lambda row: row["number"])
    if [row["number"] for row in rows] != list(range(n)):
        raise RuntimeError(f"{len(rows)} parts were written, not {n}")
    check_order(sum(row["ascents"] for row in rows), [row["rows"] for row in rows])
    files = [
        DataFile(
            name=parts.part_name(row["number"]),
            role="data",
            format="parquet",
            columns=parts.COLUMNS,
            rows=row["rows"],
            bytes=row["bytes"],
            sha256=row["sha256"],
        )
        for row in rows
    ]
    linked = [row["linked"] for row in rows]
    digest = None if work.private is None else digest_of_parts(linked)
    return WrittenParts(files, digest, sum(row["entries"] for row in rows))


def part_of_users(
    out: Address, private: Address | None, names: PublishedNames | None, n_users: int
) -> PartOfUsers:
    """Return the work that writes a part, with the sizes that parts have."""
    return PartOfUsers(
        out=out,
        private=private,
        names=names,
        n_users=n_users,
        part_users=parts.PART_USERS,
        group_rows=list_parts.GROUP_ROWS,
    )

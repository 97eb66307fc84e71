"""Rows out of lists or pairs: items in order, and what is known of all rows added up on the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.on_disk import columns
from graphveil.on_disk.lists import ItemLists, coded, name_hashes, numbers_of, whole
from graphveil.records.digest import RowsDigest, RowsPart, digest_of_rows, tokens_of

DIGESTED_ROWS = 1 << 16


@dataclass(frozen=True)
class Ordered:
    """Puts the items of every user in order, without repeats; a work on batches.

    Parameters
    ----------
    user, item
        The types that ids get.
    """

    user: pa.DataType
    item: pa.DataType

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows, with what is known of them at the first one."""
        given = ItemLists.of(batch)
        users, values = given.users.cast(self.user), given.values.cast(self.item)
        rows, repeats = ItemLists(users, given.indptr, values).in_order()
        arrays = [rows.users, rows.column(), counted(rows, repeats)]
        return pa.RecordBatch.from_arrays(arrays, schema=columns.rows(self.user, self.item))


@dataclass(frozen=True)
class Bucketed:
    """Says in which of some buckets the user of a pair falls; a work on batches.

    Parameters
    ----------
    user, item
        The types that ids get.
    n
        The number of buckets.
    """

    user: pa.DataType
    item: pa.DataType
    n: int

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the pairs with their buckets."""
        users = batch["user"].cast(self.user)
        buckets = (name_hashes(users) % np.uint64(self.n)).astype(np.int32)
        arrays = [users, batch["item"].cast(self.item), pa.array(buckets)]
        return pa.RecordBatch.from_arrays(arrays, schema=columns.pairs(self.user, self.item))


@dataclass(frozen=True)
class Listed:
    """Makes rows of pairs: a work on buckets. A pair without an item is a user without any."""

    def __call__(self, number: int, pairs: pa.Table) -> pa.Table:
        """Return the rows, by user, with what is known of them at the first one."""
        del number
        users, items = whole(pairs["user"]), whole(pairs["item"])
        ids = numbers_of(users)
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        firsts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
        items = items.take(pa.array(order))
        given = items.is_valid().to_numpy(zero_copy_only=False)
        ends = np.concatenate([[0], np.cumsum(given)])
        indptr = ends[np.concatenate([firsts, [ids.size]])]
        lists = ItemLists(users.take(pa.array(order[firsts])), indptr, items.drop_null())
        rows, repeats = lists.in_order()
        arrays = [rows.users, rows.column(), counted(rows, repeats)]
        return pa.table(arrays, schema=columns.rows(rows.users.type, rows.values.type))


def counted(rows: ItemLists, repeats: NDArray[np.int32]) -> pa.Array:
    """Return the column `facts` of some rows: what is known of all of them stands at the first one.

    Parameters
    ----------
    rows
        The rows, with their items in order.
    repeats
        How many repeats each lost.

    Examples
    --------
    >>> rows = ItemLists(pa.array([5, 6]), np.array([0, 1, 3]), pa.array([7, 8, 9]))
    >>> first, second = counted(rows, np.array([0, 2], dtype=np.int32)).to_pylist()
    >>> first[:4], second
    ([2, 3, 2, 0], [])
    """
    digest = RowsDigest()
    for start in range(0, len(rows.users), DIGESTED_ROWS):
        some = rows.between(start, min(start + DIGESTED_ROWS, len(rows.users)))
        digest = digest.plus(digest_of_rows(_part(some)))
    no_value = 0
    if pa.types.is_string(rows.values.type):
        named = pc.match_substring(rows.values, "=")
        no_value = len(rows.values) - pc.sum(named, min_count=0).as_py()
    limbs = [digest.total >> (32 * number) & 0xFFFFFFFF for number in range(8)]
    numbers = [digest.n, digest.entries, int(repeats.sum()), no_value, *limbs]
    starts = np.full(len(rows.users) + 1, len(columns.FACTS), dtype=np.int32)
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

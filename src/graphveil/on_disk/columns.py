"""The columns of the tables of a run: one schema for each."""

from __future__ import annotations

import pyarrow as pa

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
"""Rows under new ids that are packed, see `graphveil.on_disk.packed`, and the first of the ids."""


def rows(user: pa.DataType, item: pa.DataType) -> pa.Schema:
    """Return the columns of the rows of the original.

    Examples
    --------
    >>> rows(pa.int64(), pa.string()).names
    ['user', 'items', 'facts']
    """
    lists = pa.list_(item)
    return pa.schema([("user", user), ("items", lists), ("facts", pa.list_(pa.int64()))])


def pairs(user: pa.DataType, item: pa.DataType) -> pa.Schema:
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

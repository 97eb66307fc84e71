"""New ids: released rows in the order of their random keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from graphveil.on_disk import columns
from graphveil.on_disk.lists import whole

BUCKET_ROWS = 250_000
BUCKET_ENTRIES = 1 << 25
"""About how many rows and entries a bucket has; a list of Arrow holds 2^31 entries."""

LISTED_IDS = 1 << 16
"""So many ids are written at once."""


def n_buckets_of(n_rows: int, n_entries: int) -> int:
    """Return how many buckets of keys there are.

    Examples
    --------
    >>> n_buckets_of(10**6, 8 * 10**6), n_buckets_of(3, 0)
    (4, 1)
    """
    return max(1, round(n_rows / BUCKET_ROWS), round(n_entries / BUCKET_ENTRIES))


def all_ids(n: int, name: str) -> Iterator[pa.Table]:
    """Yield the new ids of all in order, as tables of one column.

    Examples
    --------
    >>> [table.to_pydict() for table in all_ids(3, "node")]
    [{'node': [0, 1, 2]}]
    """
    for start in range(0, n, LISTED_IDS):
        ids = np.arange(start, min(start + LISTED_IDS, n))
        yield pa.table([pa.array(ids)], names=[name])


@dataclass(frozen=True)
class Numbered:
    """Gives the rows of a bucket their new ids, in the order of their keys; a work on buckets.

    Parameters
    ----------
    starts
        The id of the first row of every bucket.
    """

    starts: tuple[int, ...]

    def __call__(self, number: int, rows: pa.Table) -> pa.Table:
        """Return the rows of the bucket in the order of their ids.

        Raises
        ------
        RuntimeError
            Where two rows have one key: their order would be that in which they came.
        """
        high, low = (rows[name].to_numpy().view(np.uint64) for name in columns.KEY)
        order = np.lexsort((low, high))
        high, low = high[order], low[order]
        if np.any((high[1:] == high[:-1]) & (low[1:] == low[:-1])):
            raise RuntimeError(f"two rows of bucket {number} have one key of 128 bits")
        ids = np.arange(self.starts[number], self.starts[number] + order.size)
        chosen = pa.array(order)
        user, items = (whole(rows[name]).take(chosen) for name in ("user", "items"))
        schema = columns.numbered(user.type, items.type.value_type)
        return pa.table([pa.array(ids), user, items], schema=schema)

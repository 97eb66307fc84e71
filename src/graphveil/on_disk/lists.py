"""Lists of features in Arrow columns: taken apart, put in order, put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


class ItemLists(NamedTuple):
    """Rows: the features of row u are ``indices[indptr[u]:indptr[u + 1]]``.

    Parameters
    ----------
    users
        An Arrow array, one id a row.
    indptr, indices
        int64 and int32.
    """

    users: pa.Array
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def column(self) -> pa.Array:
        """Return the lists as an Arrow column of ``list<int32>``."""
        return pa.ListArray.from_arrays(pa.array(self.indptr.astype(np.int32)), self.indices)

    def in_order(self) -> tuple[ItemLists, int]:
        """Return the rows with sorted and distinct features, and how many repeats were dropped.

        Examples
        --------
        >>> lists = ItemLists(pa.array([5]), np.array([0, 3]), np.array([2, 0, 2]))
        >>> rows, dropped = lists.in_order()
        >>> rows.indices.tolist(), dropped
        ([0, 2], 1)
        """
        rows = np.repeat(np.arange(len(self.users), dtype=np.int64), np.diff(self.indptr))
        keys = (rows << 32) | self.indices
        if np.all(keys[1:] > keys[:-1]):
            return self, 0
        distinct = np.unique(keys)
        starts = np.searchsorted(distinct, np.arange(len(self.users) + 1, dtype=np.int64) << 32)
        indices = (distinct & 0xFFFFFFFF).astype(np.int32)
        return ItemLists(self.users, starts, indices), keys.size - distinct.size


def starts_of(column: pa.Array) -> NDArray[np.int64]:
    """Return where every list of a column starts in its flattened values, and where the last ends.

    Examples
    --------
    >>> starts_of(pa.array([[7], None, [8, 9]])).tolist()
    [0, 1, 1, 3]
    """
    sizes = pc.fill_null(column.value_lengths(), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def lists_of(users: pa.Array, column: pa.Array) -> ItemLists:
    """Return the rows of a column of ``list<int32>``."""
    indices = column.flatten().to_numpy(zero_copy_only=False)
    return ItemLists(users, starts_of(column), indices.astype(np.int32, copy=False))


def grouped(pairs: Iterable[tuple[pa.Array, NDArray[np.int32]]]) -> Iterator[ItemLists]:
    """Yield rows out of (users, features) in which every user stands in one run.

    Examples
    --------
    >>> parts = [(pa.array([1, 1, 4]), np.array([0, 2, 0])), (pa.array([4]), np.array([3]))]
    >>> [(rows.users.to_pylist(), rows.indptr.tolist()) for rows in grouped(parts)]
    [([1], [0, 2]), ([4], [0, 2])]
    """
    users: pa.Array | None = None
    indices = np.empty(0, dtype=np.int32)
    for more_users, more in pairs:
        if len(more_users) == 0:
            continue
        users = more_users if users is None else pa.concat_arrays([users, more_users])
        indices = np.concatenate([indices, more])
        starts = _run_starts(users)
        last = int(starts[-1])
        if last:
            yield ItemLists(users.take(pa.array(starts[:-1])), starts, indices[:last])
        users, indices = users.slice(last), indices[last:]
    if users is not None:
        yield ItemLists(users.slice(0, 1), np.array([0, indices.size]), indices)


def _run_starts(users: pa.Array) -> NDArray[np.int64]:
    """Return where a value differs from the one before, that of the first one included."""
    changed = pc.not_equal(users.slice(1), users.slice(0, len(users) - 1))
    return np.concatenate([[0], np.flatnonzero(changed.to_numpy(zero_copy_only=False)) + 1])

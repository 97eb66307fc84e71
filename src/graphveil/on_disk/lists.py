"""Lists of names in Arrow columns: taken apart, numbered, put in order, put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.methods.smooth_k.orders import hashes_of, hashes_of_texts


class ItemLists(NamedTuple):
    """Rows: the items of row u are ``values[indptr[u]:indptr[u + 1]]``.

    Parameters
    ----------
    users
        An Arrow array, one id a row.
    indptr
        int64.
    values
        An Arrow array: integers or text.
    """

    users: pa.Array
    indptr: NDArray[np.int64]
    values: pa.Array

    @classmethod
    def of(cls, rows: pa.RecordBatch | pa.Table) -> ItemLists:
        """Return the rows of the columns ``user`` and ``items``.

        Examples
        --------
        >>> table = pa.table({"user": [5, 6], "items": [[7], [8, 9]]})
        >>> ItemLists.of(table).indptr.tolist()
        [0, 1, 3]
        """
        users, column = (whole(rows[name]) for name in ("user", "items"))
        return cls(users, starts_of(column), column.flatten())

    def column(self) -> pa.Array:
        """Return the lists as an Arrow column."""
        return pa.ListArray.from_arrays(pa.array(self.indptr.astype(np.int32)), self.values)

    def rows(self) -> NDArray[np.int64]:
        """Return the row of every value."""
        return np.repeat(np.arange(len(self.users), dtype=np.int64), np.diff(self.indptr))

    def taken(self, order: NDArray[np.int64]) -> ItemLists:
        """Return some rows in an order.

        Examples
        --------
        >>> lists = ItemLists(pa.array([5, 6]), np.array([0, 1, 3]), pa.array([7, 8, 9]))
        >>> lists.taken(np.array([1, 0])).values.to_pylist()
        [8, 9, 7]
        """
        sizes = np.diff(self.indptr)[order]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        entries = np.repeat(self.indptr[order] - indptr[:-1], sizes) + np.arange(indptr[-1])
        values = self.values.take(pa.array(entries))
        return ItemLists(self.users.take(pa.array(order)), indptr, values)

    def between(self, start: int, end: int) -> ItemLists:
        """Return the rows from one on, before another.

        Examples
        --------
        >>> lists = ItemLists(pa.array([5, 6]), np.array([0, 1, 3]), pa.array([7, 8, 9]))
        >>> lists.between(1, 2).values.to_pylist()
        [8, 9]
        """
        indptr = self.indptr[start : end + 1]
        values = self.values.slice(indptr[0], indptr[-1] - indptr[0])
        return ItemLists(self.users.slice(start, end - start), indptr - indptr[0], values)

    def in_order(self) -> tuple[ItemLists, NDArray[np.int32]]:
        """Return the rows with sorted and distinct items, and how many repeats each lost.

        Examples
        --------
        >>> lists = ItemLists(pa.array([5]), np.array([0, 3]), pa.array([2, 0, 2]))
        >>> rows, dropped = lists.in_order()
        >>> rows.values.to_pylist(), dropped.tolist()
        ([0, 2], [1])
        """
        numbers = numbers_of(self.values)
        sizes = np.diff(self.indptr)
        rising = numbers[1:] > numbers[:-1]
        starts = self.indptr[1:-1]
        rising[starts[(starts > 0) & (starts < numbers.size)] - 1] = True
        if rising.all():
            return self, np.zeros(sizes.size, dtype=np.int32)
        rows = self.rows()
        order = np.lexsort((numbers, rows))
        numbers, rows = numbers[order], rows[order]
        kept = np.ones(order.size, dtype=np.bool_)
        kept[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
        left = np.bincount(rows[kept], minlength=sizes.size)
        indptr = np.concatenate([[0], np.cumsum(left)]).astype(np.int64)
        distinct = ItemLists(self.users, indptr, self.values.take(pa.array(order[kept])))
        return distinct, (sizes - left).astype(np.int32)


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def starts_of(column: pa.Array) -> NDArray[np.int64]:
    """Return where every list of a column starts in its flattened values, and where the last ends.

    Examples
    --------
    >>> starts_of(pa.array([[7], None, [8, 9]])).tolist()
    [0, 1, 1, 3]
    """
    if not column.null_count:
        offsets = column.offsets.to_numpy()
        return (offsets - offsets[0] if offsets.size else np.zeros(1)).astype(np.int64)
    sizes = pc.fill_null(column.value_lengths(), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def coded(values: pa.Array) -> tuple[pa.Array, NDArray[np.int32]]:
    """Return the distinct values in order, and which of them each value is.

    Examples
    --------
    >>> names, numbers = coded(pa.array(["tea", "rye", "tea"]))
    >>> names.to_pylist(), numbers.tolist()
    (['rye', 'tea'], [1, 0, 1])
    """
    if pa.types.is_integer(values.type):
        names, numbers = np.unique(values.to_numpy(), return_inverse=True)
        return pa.array(names), numbers.astype(np.int32)
    seen = values.dictionary_encode()
    order = pc.sort_indices(seen.dictionary)
    places = np.empty(len(order), dtype=np.int32)
    places[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return seen.dictionary.take(order), places[seen.indices.to_numpy()]


def numbers_of(values: pa.Array) -> NDArray[np.int64] | NDArray[np.int32]:
    """Return numbers that are in the order of the values, equal ones of equal values."""
    return values.to_numpy() if pa.types.is_integer(values.type) else coded(values)[1]


def name_hashes(names: pa.Array) -> NDArray[np.uint64]:
    """Return a hash of every id in an Arrow array, see `hashes_of`.

    Examples
    --------
    >>> one, two = name_hashes(pa.array(["tea", "rye"]))
    >>> bool(one == name_hashes(pa.array(["rye", "tea"]))[1] != two)
    True
    """
    if pa.types.is_integer(names.type):
        return hashes_of(names.to_numpy())
    texts = names.cast(pa.large_string())
    _, starts, letters = texts.buffers()
    ends = np.frombuffer(starts or bytes(8), dtype=np.int64)
    ends = ends[texts.offset : texts.offset + len(texts) + 1]
    return hashes_of_texts(ends, np.frombuffer(letters or b"", dtype=np.uint8))


def grouped(pairs: Iterable[tuple[pa.Array, pa.Array]]) -> Iterator[ItemLists]:
    """Yield rows out of (users, items) in which every user stands in one run.

    Examples
    --------
    >>> parts = [(pa.array([1, 1, 4]), pa.array([0, 2, 0])), (pa.array([4]), pa.array([3]))]
    >>> [(rows.users.to_pylist(), rows.indptr.tolist()) for rows in grouped(parts)]
    [([1], [0, 2]), ([4], [0, 2])]
    """
    users: pa.Array | None = None
    items: pa.Array | None = None
    for more_users, more in pairs:
        if len(more_users) == 0:
            continue
        users = more_users if users is None else pa.concat_arrays([users, more_users])
        items = more if items is None else pa.concat_arrays([items, more])
        starts = _run_starts(users)
        last = int(starts[-1])
        if last:
            yield ItemLists(users.take(pa.array(starts[:-1])), starts, items.slice(0, last))
        users, items = users.slice(last), items.slice(last)
    if users is not None and items is not None:
        yield ItemLists(users.slice(0, 1), np.array([0, len(items)]), items)


def _run_starts(users: pa.Array) -> NDArray[np.int64]:
    """Return where a value differs from the one before, that of the first one included."""
    changed = pc.not_equal(users.slice(1), users.slice(0, len(users) - 1))
    return np.concatenate([[0], np.flatnonzero(changed.to_numpy(zero_copy_only=False)) + 1])

"""Ids that stand for users and for items: items may be people where nobody said what they are."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from graphveil.data.people import SharedIds, counted
from graphveil.engines.engine import Rows, Tables
from graphveil.on_disk import queries


def shared_ids(rows: Rows, tables: Tables, *, numbers: bool) -> SharedIds:
    """Return which ids stand for users and for items.

    Parameters
    ----------
    rows, tables
        Rows with lists of items, and where they are.
    numbers
        Whether all ids are integers.
    """
    query = queries.SHARED_NUMBERS if numbers else queries.SHARED_TEXTS
    [answer] = tables.ask(query, rows=rows, again=rows)
    return _shared(answer, numbers=numbers)


class PassingIds:
    """The ids of rows that pass, some at a time, as `shared_ids` counts them.

    Parameters
    ----------
    db
        An empty database that they are kept in.

    Examples
    --------
    >>> ids = PassingIds(duckdb.connect())
    >>> ids.add(pa.record_batch({"user": [10, 900], "item": [900, 7000]}))
    >>> ids.add(pa.record_batch({"user": [10], "item": [8000]}))
    >>> ids.shared()
    SharedIds(n=1, n_items=3, counted=False)
    """

    def __init__(self, db: duckdb.DuckDBPyConnection) -> None:
        self._db = db
        self._types: list[pa.DataType] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep the ids of some rows: of a column of users, and one of items or of lists."""
        users, items = batch["user"].unique(), batch.column(1)
        if pa.types.is_list(items.type):
            items = items.flatten()
        items = items.unique().drop_null()
        lists = pa.ListArray.from_arrays(pa.array([0, len(items)], pa.int32()), items)
        for name, table in (
            ("rows", pa.table({"user": users})),
            ("again", pa.table({"items": lists})),
        ):
            relation = self._db.from_arrow(table)
            if self._types:
                relation.insert_into(name)
            else:
                relation.create(name)
        self._types = self._types or [users.type, items.type]

    def shared(self) -> SharedIds:
        """Return which of all ids stand for users and for items."""
        if not self._types:
            return SharedIds(0, 0, counted=False)
        numbers = all(map(pa.types.is_integer, self._types))
        query = queries.SHARED_NUMBERS if numbers else queries.SHARED_TEXTS
        [answer] = self._db.execute(query.spelled("duckdb")).fetchall()
        return _shared(answer, numbers=numbers)


def _shared(answer: tuple[int | str, ...], *, numbers: bool) -> SharedIds:
    n_users, n_items, shared, largest_user, largest_item = map(int, answer)
    both = counted(n_users, largest_user) and counted(n_items, largest_item)
    return SharedIds(shared, n_items, counted=numbers and both)

"""The names of items as they are published: whole numbers, or the new ids of people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphveil.engines.engine import Rows, Tables
from graphveil.on_disk.lists import ItemLists


@dataclass(frozen=True)
class PublishedNames:
    """The names of items as they are published: whole numbers.

    Parameters
    ----------
    people
        The names of all people in order, and their new ids; None where items are no people.
    """

    people: tuple[pa.Array, NDArray[np.int64]] | None

    def of(self, rows: ItemLists) -> NDArray[np.int64]:
        """Return the numbers of all items, in order in every row."""
        if self.people is None:
            numbers = rows.values.cast(pa.int64()).to_numpy()
            if pa.types.is_integer(rows.values.type):
                return np.asarray(numbers)
        else:
            names, new_ids = self.people
            numbers = new_ids[pc.index_in(rows.values, value_set=names).to_numpy()]
        return np.asarray(numbers[np.lexsort((numbers, rows.rows()))])


def new_ids(tables: Tables, numbered: Rows) -> PublishedNames:
    """Return the new id of everyone by name."""
    users = [batch["user"] for batch in tables.batches(numbered, "id")]
    ids = np.arange(sum(map(len, users)), dtype=np.int64)
    return PublishedNames((pa.concat_arrays(users), ids))

"""Equal rows: who shares all their features, or the same cells of some columns, with whom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Table
from graphveil.errors import ParameterError, did_you_mean
from graphveil.measures.scalars import Labels


def equal_rows(data: Bipartite | Table, *, columns: Sequence[str] | None = None) -> Labels:
    """Return the class of every row: equal rows have one class. Exact, in O(entries).

    Parameters
    ----------
    data
        Users by features, or a table; a suppressed cell equals a suppressed cell.
    columns
        Of a table: the columns that are compared, all where not given.

    Returns
    -------
    Labels
        int64, shape (n,), numbered 0..C-1 in the order in which classes first appear.

    Raises
    ------
    ParameterError
        Where a column is unknown, or columns are given for users by features.

    Examples
    --------
    >>> table = Table.from_columns({"sex": ["f", "m", "f"], "town": ["x", "x", "y"]})
    >>> equal_rows(table).tolist(), equal_rows(table, columns=["sex"]).tolist()
    ([0, 1, 2], [0, 1, 0])
    """
    if isinstance(data, Table):
        codes = np.ascontiguousarray(data.codes[:, known_columns(data, columns)])
        ends = np.arange(data.n_rows + 1, dtype=np.int64) * codes.shape[1]
        return _numbered(codes.ravel(), ends)
    if columns is not None:
        raise ParameterError("columns go with a table; users are compared by all their features.")
    return _numbered(data.indices, data.indptr)


def known_columns(table: Table, columns: Sequence[str] | None) -> list[int]:
    """Return the positions of these columns of a table, of all where none are given.

    Raises
    ------
    ParameterError
        Where a column is unknown.

    Examples
    --------
    >>> known_columns(Table.from_columns({"sex": ["f"], "town": ["x"]}), ["town"])
    [1]
    """
    for name in columns or ():
        if name not in table.columns:
            known = ", ".join(table.columns)
            raise ParameterError(
                f"no column {name!r}. {did_you_mean(name, table.columns)}The table has {known}."
            )
    chosen = table.columns if columns is None else tuple(columns)
    return [table.columns.index(name) for name in chosen]


def _numbered(values: NDArray[np.int32], ends: NDArray[np.int64]) -> Labels:
    """Return a number for every run ``values[ends[i]:ends[i + 1]]``; equal runs have one."""
    raw = values.tobytes()
    size = values.dtype.itemsize
    numbers: dict[bytes, int] = {}
    runs = pairwise((ends * size).tolist())
    labels = [numbers.setdefault(raw[start:end], len(numbers)) for start, end in runs]
    return np.array(labels, dtype=np.int64)

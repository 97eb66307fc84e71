"""x."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import TooLargeError
from graphveil.core.text import counted
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.data.ids import as_text, column_and_value
from graphveil.evaluate.comparison import BipartiteComparison, Floats, Int32s, Ints
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

MOST_CELLS = 20_000_000
"""Up to so many people and columns, and classes and columns, cells are looked at."""


class PublishedCells(NamedTuple):
    """The distinct rows of a release as cells: what an attacker reads, and nothing else.

    `value`: int32, shape (classes, columns): the value of a column, `SUPPRESSED` where none is
    shown. Where features have no columns each is one, of the values 0 and 1; `sizes`: int64, shape
    (classes,): how many released rows are so; `values`: int64, shape (columns,): how many values
    there are; `members_differ`: whether a hidden cell says that members differ, as in a table; of
    features without columns it says that not all have it.
    """

    value: Int32s
    sizes: Ints
    values: Ints
    members_differ: bool

    def shares(self, column: int) -> Floats:
        """Return how often every value of a column is shown, each at least half a time."""
        value = self.value[:, column]
        shown = value != SUPPRESSED
        number = int(self.values[column])
        if not self.members_differ:
            having = self.sizes[shown].sum()
            counts = np.array([self.sizes.sum() - having, having])
        else:
            counts = np.bincount(value[shown], self.sizes[shown], minlength=number)
        return np.asarray((counts + 0.5) / (counts.sum() + number / 2))

    def hidden(self, column: int) -> tuple[Floats, NDArray[np.intp]]:
        """Return how likely members have each value where it is hidden, by size; each class's size.

        If members differ in a hidden column, one is less likely to have a frequent value.
        """
        chances = self.shares(column)
        sizes, position = np.unique(self.sizes, return_inverse=True)
        alike = chances[None, :] ** (sizes[:, None] - 1.0)
        if self.members_differ:
            differ = (sizes[:, None] > 1) & (chances.size > 1)
            hidden = np.where(differ, chances * (1 - alike), chances)
        else:
            having = chances[1] * (1 - alike[:, 1]) / (1 - chances[1] * alike[:, 1])
            hidden = np.column_stack([1 - having, having])
        return hidden / hidden.sum(axis=1, keepdims=True), position

    def likely(self, column: int) -> Floats:
        """Return how likely a member of every class has each value of a column, by what is shown.

        It has as many entries as classes times values: loops ask for what they need instead.
        """
        hidden, position = self.hidden(column)
        likely = hidden[position]
        shown = np.nonzero(self.value[:, column] != SUPPRESSED)[0]
        likely[shown] = 0.0
        likely[shown, self.value[shown, column]] = 1.0
        return likely


class TrueCells(NamedTuple):
    """What people truly have, and in which class they are.

    `value`: int32, shape (people, columns): values as in `PublishedCells`; `SUPPRESSED` where there
    is none; `own`: int64, shape (people,): everybody's class.
    """

    value: Int32s
    own: Ints


def cells_of(
    pair: BipartiteComparison, *, all_true: bool = True
) -> tuple[PublishedCells, TrueCells]:
    """Return the cells of a release, and those of the original.

    If not `all_true`, one of several values that a class shows of a column stands for all.
    """
    if not pair.released.n_users:
        raise NotMeasuredError("the data has no rows")
    columns = column_of_features(pair.original)
    table = columns is not None
    if columns is None:
        columns = np.arange(pair.original.n_features)
    refuse_many(pair)
    number = np.zeros(columns.size, dtype=np.int64)
    values = np.bincount(columns)
    for column in range(values.size) if table else ():
        of_it = np.nonzero(columns == column)[0]
        number[of_it] = np.arange(of_it.size)
    if not table:
        number[:], values = 1, np.full(columns.size, 2)
    every = _dense(pair.original, np.arange(columns.size), (columns, number), values.size)
    labels = equal_rows(pair.released)
    first, sizes = np.unique(labels, return_index=True, return_counts=True)[1:]
    positions = _positions(pair, table=table)
    shown = _dense(pair.released, positions, (columns, number), values.size)[first]
    truth = TrueCells(every if table else np.maximum(every, 0), labels[pair.linked])
    own = shown[truth.own]
    if all_true and ((own != SUPPRESSED) & (own != truth.value)).any():
        raise NotMeasuredError("some entries are not true of everyone in their class")
    return PublishedCells(shown, sizes, values, table), truth


def refuse_many(pair: BipartiteComparison) -> int:
    """Return how many classes there are, of which all cells can be looked at."""
    columns = column_of_features(pair.original)
    width = pair.original.n_features if columns is None else int(columns.max(initial=-1)) + 1
    if pair.original.n_users * width > MOST_CELLS:
        raise TooLargeError(
            f"{counted(pair.original.n_users, 'person', spec=',')} with "
            f"{counted(width, 'column', spec=',')} exceed the limit of "
            f"{MOST_CELLS:,} cells. Use a release with fewer rows"
        )
    return int(equal_rows(pair.released).max(initial=-1)) + 1


def _positions(pair: BipartiteComparison, *, table: bool) -> Ints:
    """Return the position of every released feature among those of the original."""
    known = as_text(pair.original.feature_labels()).tolist()
    position = {name: number for number, name in enumerate(known)}
    named = as_text(pair.released.feature_labels()).tolist()
    strange = next((name for name in named if name not in position), None)
    if table and strange is not None:
        raise NotMeasuredError(
            "only values of the original and suppressed cells are read, and the release has "
            f"others, such as {strange}"
        )
    if pair.original.items == "people" or strange is not None:
        raise NotMeasuredError("the release has features that are not in the original")
    return np.array([position[name] for name in named], dtype=np.int64)


def _dense(data: Bipartite, positions: Ints, where: tuple[Ints, Ints], width: int) -> Int32s:
    """Return people by columns: the value of their feature, `SUPPRESSED` where there is none."""
    columns, number = where
    cells = np.full((data.n_users, width), SUPPRESSED, dtype=np.int32)
    features = positions[data.indices]
    cells[data.rows(), columns[features]] = number[features]
    return cells


def column_of_features(data: Bipartite) -> Ints | None:
    """Return the column of every feature, if features are a table's, one per column and value."""
    names = [str(name) for name in data.feature_labels().tolist()]
    heads = [named[0] for name in names if (named := column_and_value(name))]
    if len(heads) < len(names):
        return None
    columns: Ints = np.unique(heads, return_inverse=True)[1]
    keys = data.rows().astype(np.int64) * (max(columns, default=0) + 1) + columns[data.indices]
    return columns if np.unique(keys).size == keys.size else None

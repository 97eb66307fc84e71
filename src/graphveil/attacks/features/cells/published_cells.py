"""A release as cells of classes: which value a column has for all members, and what is suppressed.

Features named ``column=value`` belong to columns if every person has at most one per column; else
every feature is a column of its own with the values 0 and 1. `PublishedCells` is all that an
attacker reads, `TrueCells` is for counting. `PublishedCells.hidden` is the attacker's model of a
suppressed cell: values as they are shown elsewhere, but not all members equal. Cost: people times
columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import TooLargeError
from graphveil.core.array_types import Floats, Ints
from graphveil.core.text import counted
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import BipartiteComparison, Int32s
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

MOST_CELLS = 20_000_000
"""More people times columns, or classes times columns, are refused: 80 MB of int32."""


class PublishedCells(NamedTuple):
    """The distinct rows of a release as cells: what an attacker reads, and nothing else.

    Parameters
    ----------
    value : int32, shape (classes, columns)
        The value of a column, `SUPPRESSED` if none is shown. If features have no columns each is
        one, of the values 0 and 1.
    sizes : int64, shape (classes,)
        How many released rows are so.
    values : int64, shape (columns,)
        How many values there are.
    members_differ : bool
        Whether a suppressed cell says that members differ, as in a table; for features without
        columns it says that not all have it.
    """

    value: Int32s
    sizes: Ints
    values: Ints
    members_differ: bool

    def shares(self, column: int) -> Floats:
        """Return how often every value of a column is shown, each at least half a time.

        float64, shape (values,): half a count more for each, so that no value is impossible.
        """
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
        """Return how likely members have each value where it is suppressed, and each class's size.

        If members differ in a suppressed column, one is less likely to have a frequent value: the
        others must not all have it, too.

        Returns
        -------
        hidden : float64, shape (sizes, values)
            One row per distinct size of a class.
        position : int64, shape (classes,)
            The row of each class.
        """
        chances = self.shares(column)
        sizes, position = np.unique(self.sizes, return_inverse=True)
        # The chance that all other members have the same value.
        alike = chances[None, :] ** (sizes[:, None] - 1.0)
        if self.members_differ:
            differ = (sizes[:, None] > 1) & (chances.size > 1)
            hidden = np.where(differ, chances * (1 - alike), chances)
        else:
            # Without columns: given that not all members have the feature.
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

    Parameters
    ----------
    value : int32, shape (people, columns)
        Values as in `PublishedCells`; `SUPPRESSED` if there is none.
    own : int64, shape (people,)
        Everybody's class.
    """

    value: Int32s
    own: Ints


def cells_of(
    pair: BipartiteComparison, *, all_true: bool = True
) -> tuple[PublishedCells, TrueCells]:
    """Return the cells of a release, and those of the original.

    Parameters
    ----------
    pair : BipartiteComparison
        Original and release.
    all_true : bool
        Whether to refuse a release of which some entries are false; else one of several values that
        a class shows for a column stands for all.

    Returns
    -------
    shown : PublishedCells
        What the release says.
    truth : TrueCells
        What people have.

    Raises
    ------
    NotMeasuredError
        If there are no rows, or the release has values that the original lacks.
    """
    if not pair.released.n_users:
        raise NotMeasuredError("the data has no rows")
    # Columns of features, or every feature as a column of its own.
    columns = column_of_features(pair.original)
    table = columns is not None
    if columns is None:
        columns = np.arange(pair.original.n_features)
    refuse_many(pair)
    # Number the values within each column.
    number = np.zeros(columns.size, dtype=np.int64)
    values = np.bincount(columns)
    for column in range(values.size) if table else ():
        of_it = np.nonzero(columns == column)[0]
        number[of_it] = np.arange(of_it.size)
    if not table:
        number[:], values = 1, np.full(columns.size, 2)
    # Cells of people, and of one row per class.
    every = _dense(pair.original, np.arange(columns.size), (columns, number), values.size)
    labels = equal_rows(pair.released)
    first, sizes = np.unique(labels, return_index=True, return_counts=True)[1:]
    positions = _positions(pair, table=table)
    shown = _dense(pair.released, positions, (columns, number), values.size)[first]
    truth = TrueCells(every if table else np.maximum(every, 0), labels[pair.linked])
    # The attacks on cells take published values for true.
    own = shown[truth.own]
    if all_true and ((own != SUPPRESSED) & (own != truth.value)).any():
        raise NotMeasuredError("some entries are not true of everyone in their class")
    return PublishedCells(shown, sizes, values, table), truth


def refuse_many(pair: BipartiteComparison) -> int:
    """Return how many classes there are; refuse data with too many cells."""
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
    # Features are matched by name. Tables may only publish values of the original; for items,
    # people as items and new items cannot be compared.
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
    """Return the column of every feature, int64; None if features are not a table's.

    They are if every name reads ``column=value`` and no person has two features of one column.
    """
    # Features of a table are named column=value, and no person has two of one column.
    names = [str(name) for name in data.feature_labels().tolist()]
    heads = [named[0] for name in names if (named := column_and_value(name))]
    if len(heads) < len(names):
        return None
    columns: Ints = np.unique(heads, return_inverse=True)[1]
    keys = data.rows().astype(np.int64) * (max(columns, default=0) + 1) + columns[data.indices]
    return columns if np.unique(keys).size == keys.size else None

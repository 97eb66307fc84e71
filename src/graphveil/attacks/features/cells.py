"""A release as cells of classes: which value a column has for all members, and what is hidden.

Which values a hidden cell cannot have, given which classes a method chose and how it chooses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import TooLargeError
from graphveil.attacks.features.rerunning import column_of_features
from graphveil.core.progress import check_time, in_time
from graphveil.core.text import counted
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import as_text
from graphveil.evaluate.comparison import BipartiteComparison, Bools, Floats, Int32s, Ints
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


FIRST, BALANCED = "first", "balanced"
"""How `mondrian` chooses a cut."""

Excluded = Bools


class Refined(NamedTuple):
    """What the method's own choices say of hidden cells.

    `excluded`: bool, shape (classes, features): which features nobody of a class can have that it
    hides; `unlikely`: bool: which ones nearly nobody has.
    """

    excluded: Excluded
    unlikely: Excluded


class Features(NamedTuple):
    """The features of a table: of which column each is, and which of its values."""

    column: Ints
    number: Ints
    names: list[str]


def after_moves(shown: PublishedCells, features: Features, k: int, *, complete: bool) -> Refined:
    """Return what is ruled out where no row could be moved so that fewer cells are hidden.

    A cluster of s rows hides s times the columns in which they differ. Where a row leaves one with
    h hidden columns, at least h hidden cells go with it. A cluster of t rows that hides g columns,
    and shows at most m columns in which the row is another, hides at most g + m (t + 1) cells
    more. A row that would gain has moved, if its cluster had more than k rows. Members of the class
    have what it shows; of hidden columns all but the one that is asked about may be another.

    Classes of equal rows below 2k are one cluster. Of others, of those of k rows, and where a
    search ends before every move that gains is made, the same values are unlikely: most rows are
    where they hide least.
    """
    value, sizes = shown.value, shown.sizes
    hides = value == SUPPRESSED
    hidden = hides.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(shown.values)])
    found = np.zeros((sizes.size, int(starts[-1])), dtype=np.bool_)
    for own in in_time(np.flatnonzero(hidden).tolist()):
        others = ~hides & (value != value[own])
        unlike = others.sum(axis=1) - 1
        better = np.flatnonzero(hidden[own] - hidden - unlike * (sizes + 1) > 0)
        for column in np.flatnonzero(hides[own]).tolist():
            there = value[better, column]
            found[own, starts[column] + there[there != SUPPRESSED]] = True
    found = found[:, starts[features.column] + features.number]
    free = ((sizes > k) & (sizes < 2 * k) & complete)[:, None]
    return Refined(found & free, found & ~free)


def after_cuts(shown: PublishedCells, features: Features, k: int, cut: str = FIRST) -> Refined:
    """Return what is ruled out where rows were cut in two, along a feature that counts choose.

    All who have the feature of a cut publish it: nobody else of the part has it. How many have a
    feature lies between those who publish it and those who could have it. Where that does not
    settle which feature a part was cut along, nothing more is said of it.
    """
    settled = {FIRST: _first_cut, BALANCED: _balanced_cut}[cut]
    sizes = shown.sizes
    published = shown.value[:, features.column] == features.number
    hidden = shown.value[:, features.column] == SUPPRESSED
    excluded = np.zeros_like(published)
    order = sorted(
        range(features.column.size), key=lambda f: column_and_value(features.names[f]) or ()
    )
    parts = [np.arange(sizes.size)]
    while parts:
        check_time()
        part = parts.pop()
        publish = sizes[part] @ published[part]
        could = publish + (sizes[part] - 1) @ (hidden[part] & ~excluded[part])
        number = settled(publish[order], could[order], int(sizes[part].sum()), k)
        if part.size < 2 or number is None:
            continue
        having = published[part, order[number]]
        excluded[part[~having], order[number]] = True
        parts += [part[having], part[~having]]
    return Refined(excluded & hidden, np.zeros_like(published))


def _first_cut(publish: Ints, could: Ints, size: int, k: int) -> int | None:
    """Return the first feature that at least k and at most s - max(k, s // 2) of s rows have."""
    most = size - max(k, size // 2)
    perhaps = np.flatnonzero((publish >= k) & (publish <= most))
    settled = size // 2 >= k and perhaps.size and could[perhaps[0]] <= most
    return int(perhaps[0]) if settled else None


def _balanced_cut(publish: Ints, could: Ints, size: int, k: int) -> int | None:
    """Return the feature whose smaller side is largest, of k rows at least, the first of equals.

    All who have the feature of the cut publish it, so its smaller side is known. It may be any
    whose side all others could stay below, or, of those behind it, reach.
    """
    side = np.minimum(publish, size - publish)
    least = np.minimum(side, np.maximum(size - could, 0))
    before = np.maximum.accumulate(np.concatenate([[-1], least[:-1]]))
    behind = np.maximum.accumulate(np.concatenate([[-1], least[:0:-1]]))[::-1]
    perhaps = np.flatnonzero((side >= k) & (before < side) & (behind <= side))
    return int(perhaps[0]) if perhaps.size == 1 else None

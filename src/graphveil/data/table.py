"""Rows by categorical columns; a cell is a code, or suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from graphveil.data.codes import SUPPRESSED
from graphveil.data.ids import (
    Ids,
    as_ids,
    check_distinct,
    frozen,
    not_unicode,
    numbers_where_all,
    same_ids,
    stored,
    text,
)
from graphveil.data.naming import repeated_id
from graphveil.data.origin import read_from
from graphveil.data.table_objects import TableObjects
from graphveil.errors import DataError, did_you_mean, option
from graphveil.terminal import visible


@dataclass(frozen=True, eq=False)
class Table(TableObjects):
    """Rows by named categorical columns; a cell is the code of a category, or -1, suppressed.

    Parameters
    ----------
    codes
        int32, shape (n, d).
    columns
        d distinct names.
    categories
        Per column the distinct values that the codes stand for, int64 or text.
    ids
        One id a row, or None for 0..n-1. No method reads them.
    rows_are_people
        Whether it was said that every row is a person, as ids say.
    origins
        What it was read from (`graphveil.data.origin`).

    Raises
    ------
    DataError
        Where shapes disagree or a code has no category; the message names column and row.

    Examples
    --------
    >>> table = Table.from_columns({"sex": ["f", "m", "*"], "age": ["30", "30", "40"]})
    >>> table.codes.tolist()
    [[0, 0], [1, 0], [-1, 1]]
    """

    codes: NDArray[np.int32]
    columns: tuple[str, ...]
    categories: tuple[Ids, ...]
    ids: Ids | None = None
    rows_are_people: bool = False
    origins: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        """Validate once; everything after trusts."""
        codes = np.ascontiguousarray(self.codes, dtype=np.int32)
        columns = tuple(self.columns)
        categories = tuple(as_ids(values, what="categories") for values in self.categories)
        if codes.ndim != 2 or codes.shape[1] != len(columns) or len(categories) != len(columns):
            raise DataError(
                f"codes of shape {codes.shape} for {len(columns)} columns and {len(categories)} "
                "lists of categories. Give one of each a column."
            )
        if len(set(columns)) != len(columns):
            raise DataError("two columns have the same name. Rename one.")
        try:
            text(columns)
        except UnicodeEncodeError as error:
            raise not_unicode(error, what="the names of the columns") from error
        for column, name in enumerate(columns):
            _check_codes(codes[:, column], categories[column], name)
        object.__setattr__(self, "codes", frozen(codes))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "categories", tuple(frozen(values) for values in categories))
        object.__setattr__(self, "ids", stored(self.ids, n=self.n_rows, what="row ids"))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of what was left out on reading: nothing, since all columns are cells."""
        return ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.codes.shape[0])

    @property
    def size(self) -> int:
        """The number of rows: of people, in most data."""
        return self.n_rows

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.codes.shape[1])

    @property
    def n_suppressed(self) -> int:
        """The number of suppressed cells."""
        return int(np.count_nonzero(self.codes == SUPPRESSED))

    def labels(self) -> Ids:
        """Return the id of every row; 0..n-1 where none were given."""
        return np.arange(self.n_rows, dtype=np.int64) if self.ids is None else self.ids

    def permuted(self, order: NDArray[np.int64], *, ids: Ids | None = None) -> Table:
        """Return the same cells with row ``order[j]`` at position j, under the ids given."""
        return Table(self.codes[order], self.columns, self.categories, ids)

    def part(self, people: NDArray[np.int64]) -> Table:
        """Return some rows, without their ids; `people` are positions.

        Examples
        --------
        >>> Table.from_columns({"age": [30, 40, 50]}).part(np.array([0, 2])).n_rows
        2
        """
        return Table(self.codes[people], self.columns, self.categories)

    def with_ids_as(self, name: str) -> Table:
        """Return the same rows with their ids in a first column of this name.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}, ids=[8, 5]).with_ids_as("id").columns
        ('id', 'sex')
        """
        own = np.arange(self.n_rows, dtype=np.int32)[:, None]
        codes = np.concatenate([own, self.codes], axis=1)
        return Table(codes, (name, *self.columns), (self.labels(), *self.categories))

    def check_columns(self) -> None:
        """Refuse a table without columns, and one whose rows may not be people.

        Every promise is about rows: where a person has several, it says nothing of the person.

        Raises
        ------
        DataError
            Where there are no columns, or nobody said that a row is a person and a column looks
            like an id that several rows share: see `graphveil.data.naming.repeated_id`.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}, ids=[8, 5]).check_columns()
        """
        if not self.columns:
            raise DataError(
                "the table has no column but those of ids and levels. Give one that can be "
                "published."
            )
        if self.ids is None and not self.rows_are_people:
            repeated = repeated_id(self)
            if repeated is not None:
                raise DataError(repeated.refusal)

    def one_row_a_person(self, person: str) -> Self:
        """Return the table with one row for each value of a column, which becomes its id.

        Parameters
        ----------
        person
            The column that names people.

        Raises
        ------
        DataError
            Where there is no such column, a row has no value of it, or rows of one person differ.

        Examples
        --------
        >>> table = Table.from_columns({"who": ["ann", "bob", "ann"], "sex": ["f", "m", "f"]})
        >>> table.one_row_a_person("who").labels().tolist()
        ['ann', 'bob']
        """
        if person not in self.columns:
            raise DataError(
                f"no column {person!r} for person. {did_you_mean(person, self.columns)}There are "
                f"{list(self.columns)}."
            )
        at = self.columns.index(person)
        people = self.codes[:, at]
        if people.min(initial=0) < 0:
            row = int(np.argmin(people))
            raise DataError(f"row {row} has no {person}. Say whose it is, or leave it out.")
        others = [column for column in range(self.n_columns) if column != at]
        who, first, own = np.unique(people, return_index=True, return_inverse=True)
        codes = self.codes[:, others]
        differ = codes != codes[first][own]
        if differ.any():
            row, column = (int(place[0]) for place in np.nonzero(differ))
            name = self.columns[others[column]]
            users = f"{option('user_column', person)} {option('item_column', name)}"
            raise DataError(
                f"rows of one {person} differ in {name}, the first time in row {row}: they are no "
                f"one row. As users by items read {option('kind', 'bipartite')} {users}, or "
                f"{option('drop', name)}."
            )
        names = tuple(self.columns[column] for column in others)
        values = tuple(self.categories[column] for column in others)
        merged = type(self)(codes[first], names, values, self.categories[at][who])
        return read_from(merged, *self.origins, self)

    def without_unused(self) -> Table:
        """Return the same cells; categories that no cell shows are left out.

        Where each that is kept is a whole number, they become integers: their type follows from
        what is shown.

        Examples
        --------
        >>> table = Table([[0], [-1]], ("sex",), (["f", "m"],))
        >>> table.without_unused().categories[0].tolist()
        ['f']
        """
        codes = np.full_like(self.codes, SUPPRESSED)
        categories = []
        for column, values in enumerate(self.categories):
            used = np.bincount(self.codes[:, column] + 1, minlength=values.size + 1)[1:] > 0
            shown = numbers_where_all(values[used])
            order = np.arange(shown.size) if shown.dtype.kind != "i" else np.argsort(shown)
            place = np.empty_like(order)
            place[order] = np.arange(order.size)
            new = np.full(values.size + 1, SUPPRESSED, dtype=np.int32)
            new[:-1][used] = place
            codes[:, column] = new[self.codes[:, column]]
            categories.append(shown[order])
        return Table(codes, self.columns, tuple(categories), self.ids)

    def one_hot_columns(self, names: Sequence[str]) -> Self:
        """Return the table with a column ``name=value`` of 0 and 1 for each value of some columns.

        A cell that is suppressed is suppressed in all of them. The names of the columns, and so the
        values, are published whatever becomes of the cells.

        Parameters
        ----------
        names
            The columns.

        Raises
        ------
        DataError
            Where there is no such column, or a new one has the name of another.

        Examples
        --------
        >>> table = Table.from_columns({"sex": ["f", "m", "*"], "age": [3, 4, 4]})
        >>> table.one_hot_columns(["sex"]).columns
        ('sex=f', 'sex=m', 'age')
        """
        for name in names:
            if name not in self.columns:
                raise DataError(
                    f"no column {name!r} for one_hot. {did_you_mean(name, self.columns)}There are "
                    f"{list(self.columns)}."
                )
        columns, codes, categories = [], [], []
        for column, name in enumerate(self.columns):
            cells, values = self.codes[:, column], self.categories[column]
            if name in names:
                columns += [f"{name}={value}" for value in values.tolist()]
                codes += [np.where(cells < 0, cells, cells == v) for v in range(values.size)]
                categories += [np.arange(2)] * values.size
            else:
                columns.append(name)
                codes.append(cells)
                categories.append(values)
        stacked = np.column_stack(codes) if codes else self.codes
        new = type(self)(stacked, tuple(columns), tuple(categories), self.ids, self.rows_are_people)
        return read_from(new, *self.origins, self)

    def __eq__(self, other: object) -> bool:
        """Whether both show the same cells in the same order under the same names and ids."""
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.columns == other.columns
            and np.array_equal(self.codes, other.codes)
            and all(map(same_ids, self.categories, other.categories))
            and same_ids(self.ids, other.ids)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays have no cheap hash

    def _sizes(self) -> dict[str, object]:
        return {"rows": self.n_rows, "columns": ", ".join(self.columns)}

    def __repr__(self) -> str:
        """Return the size; never a cell."""
        return visible(f"Table(n_rows={self.n_rows:,}, columns={list(self.columns)})")


def _check_codes(codes: NDArray[np.int32], categories: Ids, name: str) -> None:
    check_distinct(categories, n=categories.size, what=f"column {name}")
    bad = (codes < SUPPRESSED) | (codes >= categories.size)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"column {name}, row {row}: code {codes[row]} has no category. "
            f"Codes run from -1 (suppressed) to {categories.size - 1}."
        )

"""Rows by categorical columns: a cell is a code, or suppressed.

Tables are made from columns, frames and one-hot features, and converted back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import DataError
from graphveil.core.hints import did_you_mean, option, several
from graphveil.core.libraries import pa
from graphveil.core.questions import Problem
from graphveil.core.text import counted
from graphveil.core.visible import visible
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import DroppedWarning
from graphveil.data.bipartite import Bipartite
from graphveil.data.codes import SUPPRESSED, codes_of_column, questions_of_text, rules_of
from graphveil.data.columns import Frames, arrow_table, dropped_columns, named_columns
from graphveil.data.feature_names import column_and_value, feature_named
from graphveil.data.id_columns import naming_columns, naming_question
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
from graphveil.data.ids import to_arrow as ids_to_arrow
from graphveil.data.origin import Person, of_frame, read_from
from graphveil.data.persons import (
    repeated_pairs,
    repeated_people,
    stands_for_several,
    without_rows_of_nobody,
)
from graphveil.data.spellings import (
    alike,
    check_ids,
    in_quotes,
    spelled_twice,
    warn_of_spellings,
)

ROW = "row"
"""The value of `person` that says that every row is a different person."""


@dataclass(frozen=True, eq=False)
class Table(Frames):
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
    person
        What the owner said of rows: ``row``, each is a different person; ``column``, each is the
        one row of a person whom a column named; ``people`` or ``households``, `units` says whose
        each row is; ``assumed``, nothing: guarantees count rows.
    origins
        What it was read from (`graphveil.data.origin`).
    cut_from
        The table with the columns that were dropped of it; None if there were none. What a row is
        is decided by all columns of the input (`questions_of_rows`).
    units
        int32, shape (n,): the person or household of each row, if these have several; guarantees
        count them. No release has it.
    settled
        Whether nobody is asked what a row is, as of a released table.

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
    person: Person = "assumed"
    origins: tuple[object, ...] = ()
    cut_from: Table | None = None
    units: NDArray[np.int32] | None = None
    settled: bool = False

    @property
    def people(self) -> Table:
        """The table itself: its columns are what is said of the people in its rows."""
        return self

    def __post_init__(self) -> None:
        """Validate once; everything after trusts."""
        codes = np.ascontiguousarray(self.codes, dtype=np.int32)
        columns = tuple(self.columns)
        categories = tuple(as_ids(values, what="categories") for values in self.categories)
        if codes.ndim != 2 or codes.shape[1] != len(columns) or len(categories) != len(columns):
            raise DataError(
                f"codes of shape {codes.shape} for {counted(len(columns), 'column')} and "
                f"{len(categories)} lists of categories. Give one of each per column."
            )
        if len(set(columns)) != len(columns):
            raise DataError("two columns have the same name. Rename one.")
        try:
            text(columns)
        except UnicodeEncodeError as error:
            raise not_unicode(error, what="the column names") from error
        for column, name in enumerate(columns):
            _check_codes(codes[:, column], categories[column], name)
        object.__setattr__(self, "codes", frozen(codes))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "categories", tuple(frozen(values) for values in categories))
        if self.units is not None:
            units = np.ascontiguousarray(self.units, dtype=np.int32)
            if units.shape != (len(codes),):
                rows = counted(len(codes), "row")
                raise DataError(f"units of shape {units.shape} for {rows}. Give one per row.")
            object.__setattr__(self, "units", frozen(units))
        object.__setattr__(self, "ids", stored(self.ids, n=self.n_rows, what="row ids"))

    @classmethod
    def from_columns(  # noqa: PLR0913  each is an option of a reader
        cls,
        columns: dict[str, Any],
        *,
        ids: object = None,
        suppressed: Sequence[str] = ("*", ""),
        bins: Mapping[str, str] | None = None,
        one_hot: Sequence[str] = (),
        person: str | None = None,
        household: str | None = None,
        drop: Sequence[str] = (),
        categories: Sequence[str] | None = None,
        exact: bool = False,
    ) -> Self:
        """Return the table of these columns of integers or text.

        Parameters
        ----------
        columns
            Name to values, all of one length; None and NaN are suppressed.
        ids
            One id a row.
        suppressed
            Texts that stand for a suppressed cell.
        bins
            How numbers of a column become categories: ``median``, ``quantiles:N`` or
            ``edges:a,b,c``. The name ``all`` stands for every other column whose cells are all
            numbers, except `person` and `one_hot`; none of them may be a code such as 02139.
        one_hot
            Columns that become a column a value: see `one_hot_columns`.
        person
            The column that names people. If all rows of each person are equal, they are merged
            (`one_row_a_person`); otherwise they stay, and guarantees count people instead of rows
            (`rows_of`). ``row`` if every row is a different person. None claims nothing of people:
            a guarantee then counts rows, and says so.
        household
            The column that names households: guarantees count these instead of rows (`rows_of`).
        drop
            Columns that are omitted.
        categories
            Words such as ``NA`` or ``?`` that are values; others of them are asked about. None
            asks about none.
        exact
            Whether numbers with fractions are read as they are written, without bins.

        Returns
        -------
        Table
            The columns in their order; the categories of a column in the order of their values,
            bins in the order of their names.

        Raises
        ------
        DataError
            If columns cannot be read as they are: with every question about them, and the options
            that answer them all.

        Examples
        --------
        >>> table = Table.from_columns({"age": [31, 47, None, 62]}, bins={"age": "edges:40,60"})
        >>> table.categories[0].tolist(), table.codes[:, 0].tolist()
        (['40<x<=60', '<=40', '>60'], [1, 0, -1, 2])
        """
        # Who a row belongs to is published nowhere, so that the column may be dropped as well.
        every, dropped = columns, dropped_columns(drop, columns)
        drop = [name for name in dropped if name not in (person, household)]
        columns = {name: values for name, values in columns.items() if name not in drop}
        sizes = {name: len(values) for name, values in columns.items()}
        if len(set(sizes.values())) > 1:
            raise DataError(f"the columns have different lengths: {sizes}. Make them equal.")
        names = tuple(columns)
        bins = rules_of(columns, bins or {}, suppressed, apart=(person, household, *one_hot))
        for name in (name for name in bins if name not in columns):
            raise DataError(
                f"no column {name!r} for bins. {did_you_mean(name, names)}Columns: "
                f"{', '.join(names)}."
            )
        coded = _coded(columns, suppressed, bins, categories, exact=exact)
        n = next(iter(sizes.values()), 0)
        codes = np.empty((n, len(names)), dtype=np.int32)
        for number, (column, _) in enumerate(coded):
            codes[:, number] = column
        row_ids = None if ids is None else as_ids(ids, what="row ids")
        by_row = person == ROW and ROW not in names
        said: Person = "row" if by_row else "assumed"
        table = cls(codes, names, tuple(values for _, values in coded), row_ids, said)
        if person is not None and not by_row:
            table = table.rows_of(person)
        if household is not None:
            table = table.rows_of(household, households=True)
        elif person is None and (drop or bins):
            table = table.cut_out_of({name: every[name] for name in (*drop, *bins)})
        return table.one_hot_columns(one_hot) if one_hot else table

    @classmethod
    def from_arrow(  # noqa: PLR0913  as above
        cls,
        frame: Any,
        *,
        ids: str | None = None,
        suppressed: Sequence[str] = ("*", ""),
        bins: Mapping[str, str] | None = None,
        one_hot: Sequence[str] = (),
        person: str | None = None,
        household: str | None = None,
        drop: Sequence[str] = (),
        categories: Sequence[str] = (),
        exact: bool = False,
    ) -> Self:
        """Return the table of a frame (pandas, polars, DuckDB, Arrow); nulls are suppressed.

        Parameters
        ----------
        frame
            Anything that speaks the Arrow C stream.
        ids
            The column that names the rows; it is not published.
        suppressed
            Texts that stand for a suppressed cell.
        bins
            How numbers of a column become categories, as in `from_columns`.
        one_hot
            Columns that become a column a value: see `one_hot_columns`.
        person, household, drop, categories, exact
            As in `from_columns`. A column that is dropped is not looked at.

        Returns
        -------
        Table
            The table, which remembers the frame that it was read from (`origins`).

        Raises
        ------
        DataError
            If columns hold fractions and `bins` does not name them, words that may mark missing
            values, or values that cannot be read: with every question, and the options that answer
            them all.

        Warns
        -----
        GraphveilWarning
            If a column has a different value in nearly every row.

        Examples
        --------
        >>> import pyarrow as pa
        >>> Table.from_arrow(pa.table({"sex": ["f", None], "town": ["Oslo", "Oslo"]})).suppressed()
        (('sex', 1), ('town', 0))
        """
        owners = {person, household}
        if owners & {*named_columns(drop, ())}:
            drop = [name for name in named_columns(drop, ()) if name not in owners]
        table = arrow_table(frame, drop)
        whole = _whole(frame, drop, table)
        if ids is not None and ids not in table.column_names:
            raise DataError(
                f"no column {ids!r}. {did_you_mean(ids, table.column_names)}Columns: "
                f"{table.column_names}."
            )
        columns = {name: table[name] for name in table.column_names if name != ids}
        row_ids = None if ids is None else as_ids(table[ids], what=f"column {ids}")
        data = cls.from_columns(
            columns,
            ids=row_ids,
            suppressed=suppressed,
            bins=bins,
            one_hot=one_hot,
            person=person,
            household=household,
            categories=categories,
            exact=exact,
        )
        if data.person == "assumed" and whole is not table:
            others = [name for name in whole.column_names if name not in table.column_names]
            data = data.cut_out_of({name: whole[name] for name in others})
        check_ids(data.ids)
        questions = [naming_question(name) for name in naming_columns(data)]
        if questions and not exact:
            warn("; ".join(questions), DroppedWarning)
        warn_of_spellings(data.columns, data.categories)
        is_pandas = type(frame).__module__.partition(".")[0] == "pandas"
        dtypes = dict(zip(map(str, frame.columns), frame.dtypes, strict=True)) if is_pandas else {}
        return read_from(data, of_frame(whole, dtypes))

    def to_arrow(self) -> pa.Table:
        """Return the cells as an Arrow table; a suppressed cell is null.

        Returns
        -------
        pyarrow.Table
            One column of int64 or string per column; ids are not part of it.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "*"]}).to_arrow().to_pylist()
        [{'sex': 'f'}, {'sex': None}]
        """
        arrays = []
        for column, values in enumerate(self.categories):
            codes = self.codes[:, column]
            index = pa.array(codes, mask=codes == SUPPRESSED)
            arrays.append(ids_to_arrow(values).take(index))
        return pa.table(arrays, names=list(self.columns))

    def one_hot(self) -> Bipartite:
        r"""Return a feature ``column=value`` per column and value; a suppressed cell has none.

        An equals sign in the name of a column has a backslash before it, ``age>\=18=yes``, so that
        `from_one_hot` returns the same columns.

        Returns
        -------
        Bipartite
            The rows are users; the features are in the order of columns, then of categories.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}).one_hot().feature_labels().tolist()
        ['sex=f', 'sex=m']
        """
        sizes = [values.size for values in self.categories]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shown = self.codes != SUPPRESSED
        indptr = np.concatenate([[0], np.cumsum(shown.sum(axis=1))])
        features = (start[:-1] + self.codes)[shown]
        named = [
            feature_named(name, value)
            for name, values in zip(self.columns, self.categories, strict=True)
            for value in values.tolist()
        ]
        # Features know no people with several rows: a guarantee of theirs counts rows.
        person = self.person if self.units is None else "assumed"
        data = Bipartite(
            indptr, features, len(named), self.ids, text(named), "values", person=person
        )
        return read_from(data, *self.origins, self)

    def column_of_features(self) -> NDArray[np.int32]:
        """Return the number of the column of every feature of `one_hot`.

        Returns
        -------
        NDArray[np.int32]
            Shape (features of `one_hot`,).

        Examples
        --------
        >>> table = Table.from_columns({"sex": ["f", "m"], "town": ["x", "x"]})
        >>> table.column_of_features().tolist()
        [0, 0, 1]
        """
        sizes = [values.size for values in self.categories]
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def showing(self, data: Bipartite) -> Self:
        """Return the table with these columns that rows of the features of `one_hot` show.

        A cell is the one value that a row has of a column. A row that has none of them, or several,
        shows no value: the cell is suppressed. So equal rows stay equal.

        Parameters
        ----------
        data
            Users by the features that `one_hot` makes of this table, by number.

        Returns
        -------
        Table
            One row per user of `data`, without origins.

        Examples
        --------
        >>> table = Table.from_columns({"a=b": ["f", "m"], "town": ["x", "x"]})
        >>> one_hot = table.one_hot()
        >>> table.showing(one_hot) == table
        True
        """
        column_of = self.column_of_features().astype(np.int64)
        code_of = np.concatenate([np.arange(values.size) for values in self.categories])
        codes = _cells_shown(data, column_of, code_of.astype(np.int32), len(self.columns))
        return dataclasses.replace(self, codes=codes, origins=())

    @classmethod
    def from_one_hot(cls, data: Bipartite) -> Self:
        """Return the table that these one-hot rows show, its columns in the order of their names.

        A cell is the one value that a row has of a column. A row that has none of them, or several
        (as anonymized rows may), shows no value: the cell is suppressed. So equal rows stay equal.

        Parameters
        ----------
        data
            Users by features named ``column=value``, as `one_hot` makes them. The column is what
            comes before the first ``=`` that has no backslash in front of it.

        Returns
        -------
        Table
            One row per user, under the ids of the users.

        Raises
        ------
        DataError
            If a feature is not named ``column=value``.

        Examples
        --------
        >>> data = Bipartite.from_lists([["sex=f", "town=x"], ["sex=f", "sex=m"]])
        >>> table = Table.from_one_hot(data)
        >>> table.columns, table.to_arrow().to_pylist()[1]
        (('sex', 'town'), {'sex': None, 'town': None})
        """
        names = data.feature_labels().tolist()
        split = []
        for name in names:
            named = column_and_value(name)
            if named is None:
                raise DataError(f"the feature {name!r} is not named column=value. Use to_arrow.")
            split.append(named)
        columns = tuple(sorted({column for column, _ in split}))
        categories: list[list[str]] = [[] for _ in columns]
        column_of = np.array([columns.index(name) for name, _ in split], dtype=np.int64)
        code_of = np.empty(len(split), dtype=np.int32)
        for feature, (_, value) in enumerate(split):
            listed = categories[column_of[feature]]
            code_of[feature] = len(listed)
            listed.append(value)
        codes = _cells_shown(data, column_of, code_of, len(columns))
        return cls(codes, columns, tuple(text(values) for values in categories), data.users)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of what was omitted on reading: nothing, since all columns are cells."""
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

    def suppressed(self) -> tuple[tuple[str, int], ...]:
        """Return each column with the number of its suppressed cells, in their order.

        Returns
        -------
        tuple[tuple[str, int], ...]
            Pairs of a column and a number of cells.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "*"], "age": [30, 40]}).suppressed()
        (('sex', 1), ('age', 0))
        """
        counts = np.count_nonzero(self.codes == SUPPRESSED, axis=0).tolist()
        return tuple(zip(self.columns, counts, strict=True))

    def labels(self) -> Ids:
        """Return the id of every row; 0..n-1 where none were given.

        Returns
        -------
        NDArray
            int64 or text, shape (n_rows,).

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}, ids=[8, 5]).labels().tolist()
        [8, 5]
        """
        return np.arange(self.n_rows, dtype=np.int64) if self.ids is None else self.ids

    def permuted(self, order: NDArray[np.int64], *, ids: Ids | None = None) -> Table:
        """Return the same cells with row ``order[j]`` at position j, under the ids given.

        Parameters
        ----------
        order
            int64, shape (n_rows,): a permutation of the positions.
        ids
            The new ids, by new position; None for 0..n-1.

        Returns
        -------
        Table
            What a release publishes: without origins, and without what the owner said of rows.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}).permuted(np.array([1, 0])).codes.tolist()
        [[1], [0]]
        """
        return Table(self.codes[order], self.columns, self.categories, ids, settled=True)

    def part(self, people: NDArray[np.int64]) -> Table:
        """Return some rows, without their ids.

        Parameters
        ----------
        people
            int64: the positions of the rows to keep, in the order wanted.

        Returns
        -------
        Table
            The same columns and categories.

        Examples
        --------
        >>> Table.from_columns({"age": [30, 40, 50]}).part(np.array([0, 2])).n_rows
        2
        """
        units = None if self.units is None else self.units[people]
        part = Table(self.codes[people], self.columns, self.categories, person=self.person)
        return dataclasses.replace(part, units=units, settled=self.settled)

    def without(self, names: Collection[str]) -> Table:
        """Return the same rows without some columns.

        Parameters
        ----------
        names
            The columns to drop; other names are ignored.

        Returns
        -------
        Table
            The other columns, with the same ids.

        Examples
        --------
        >>> Table.from_columns({"age": [30], "sex": ["f"]}).without(["age"]).columns
        ('sex',)
        """
        kept = [number for number, name in enumerate(self.columns) if name not in names]
        rest = self._of_columns(kept, self.codes, self.ids, self.person)
        if self.person != "assumed" or len(kept) == self.n_columns:
            return rest
        if self.settled:
            return dataclasses.replace(rest, settled=True)
        return dataclasses.replace(rest, cut_from=self.cut_from or self)

    def cut_out_of(self, dropped: Mapping[str, Any]) -> Self:
        """Return the same table, with what was dropped of it as evidence of what a row is.

        Parameters
        ----------
        dropped
            The columns that were dropped, by name, with a value per row, and those that were binned
            as they were before; columns that cannot be read as categories say nothing.

        Returns
        -------
        Table
            The same cells; `questions_of_rows` looks at the dropped columns, too.

        Examples
        --------
        >>> table = Table.from_columns({"sex": ["f", "m"]}).cut_out_of({"who": ["ann", "ann"]})
        >>> table.columns, table.cut_from.columns
        (('sex',), ('sex', 'who'))
        """
        coded = {}
        for name, values in dropped.items():
            try:
                coded[name] = codes_of_column(values, name, ("*", ""), None, exact=True)
            except DataError:  # what is dropped need not be readable
                continue
        if not coded:
            return self
        rest = (self.cut_from or self).without(coded)
        kept = [rest.codes] if rest.columns else []  # without columns a table has no rows, either
        whole = Table(
            np.column_stack([*kept, *(codes for codes, _ in coded.values())]),
            (*rest.columns, *coded),
            (*rest.categories, *(numbers_where_all(values) for _, values in coded.values())),
        )
        return dataclasses.replace(self, cut_from=whole)

    def _of_columns(
        self, kept: Sequence[int], codes: NDArray[np.int32], ids: Ids | None, person: Person
    ) -> Self:
        """Return some of the columns, with these cells of all of them."""
        names = tuple(self.columns[column] for column in kept)
        values = tuple(self.categories[column] for column in kept)
        own = type(self)(codes[:, kept], names, values, ids, person)
        return own if self.units is None else dataclasses.replace(own, units=self.units)

    def with_ids_as(self, name: str) -> Table:
        """Return the same rows with their ids in a first column of this name.

        Parameters
        ----------
        name
            The name of the new column.

        Returns
        -------
        Table
            The ids as cells, in a first column; the rows are numbered.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}, ids=[8, 5]).with_ids_as("id").columns
        ('id', 'sex')
        """
        own = np.arange(self.n_rows, dtype=np.int32)[:, None]
        codes = np.concatenate([own, self.codes], axis=1)
        return Table(codes, (name, *self.columns), (self.labels(), *self.categories))

    def check_columns(self) -> None:
        """Refuse a table without columns.

        Returns
        -------
        None
            Nothing: the table is accepted, or an error raised.

        Raises
        ------
        DataError
            Where there are none.

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}, ids=[8, 5]).check_columns()
        """
        if not self.columns:
            raise DataError(
                "the table has no columns other than ids and levels. Give one that can be "
                "published."
            )

    def check(self) -> None:
        """Refuse a table without columns, and one that seems to have several rows of a person.

        Guarantees count rows: of a person who has several, they say nothing.

        Returns
        -------
        None
            Nothing: the table is accepted, or an error raised.

        Raises
        ------
        DataError
            Where there are no columns, or nobody said what a row is and it is open
            (`questions_of_rows`).

        Examples
        --------
        >>> Table.from_columns({"sex": ["f", "m"]}).check()
        """
        self.check_columns()
        asked = self.questions_of_rows()
        if asked:
            raise DataError.asking(asked, {})

    def questions_of_rows(self) -> list[Problem]:
        """Return what must be decided before a row counts as a person.

        The one function that decides it, for every method, verb and page. Dropped columns are
        looked at as others are.

        Returns
        -------
        list of Problem
            Empty if the owner said what a row is, or there is no evidence that rows share people.
            See `graphveil.data.persons`.

        Examples
        --------
        >>> table = Table.from_columns({"person_id": [1, 1, 2], "town": ["x", "x", "y"]})
        >>> [(asked.column, asked.option) for asked in table.questions_of_rows()]
        [('person_id', 'person')]
        >>> table.without(["person_id"]).questions_of_rows() == table.questions_of_rows()
        True
        """
        if self.person != "assumed" or self.settled:
            return []
        return [*(self.cut_from or self)._looks_like_several_rows]  # noqa: SLF001  a table

    @cached_property
    def _looks_like_several_rows(self) -> tuple[Problem, ...]:
        """The evidence that rows share people, looked for once: readers, methods, measures ask."""
        found = tuple(column.question for column in repeated_people(self))
        others = (stands_for_several, repeated_pairs)
        return found or tuple(asked for look in others if (asked := look(self)) is not None)[:1]

    def one_row_a_person(self, person: str) -> Self:
        """Return the table with one row for each value of a column, which becomes its id.

        The column is not among those of the result, so that no release has it.

        Parameters
        ----------
        person
            The column that names people.

        Returns
        -------
        Table
            One row per value, in the order of the values, with the values as ids.

        Raises
        ------
        DataError
            Where there is no such column, a row has no value of it, two values look the same, rows
            of one person differ, or rows have ids already.

        Warns
        -----
        GraphveilWarning
            Where two values may be one person in two spellings, such as upper and lower case.

        Examples
        --------
        >>> table = Table.from_columns({"who": ["ann", "bob", "ann"], "sex": ["f", "m", "f"]})
        >>> table.one_row_a_person("who").labels().tolist()
        ['ann', 'bob']
        """
        at, people = self._owners(person, "person")
        _check_spelling(person, self.categories[at])
        if self.ids is not None:
            raise DataError(
                f"{option('person', person)} names the rows, and so do ids. Remove the ids."
            )
        others = [column for column in range(self.n_columns) if column != at]
        who, first, own = np.unique(people, return_index=True, return_inverse=True)
        codes = self.codes[:, others]
        differ = codes != codes[first][own]
        if differ.any():
            row = int(np.argmax(differ.any(axis=1)))
            named = [self.columns[others[column]] for column in np.flatnonzero(differ.any(axis=0))]
            users = f"{option('user_column', person)} {option('item_column', named[0])}"
            raise DataError(
                f"rows of one {person} differ in {', '.join(named)} (first in row {row}), so they "
                f"cannot be merged. Use {several('drop', *named)}, or read one of these "
                f"columns as the items of users ({option('kind', 'bipartite')} {users})."
            )
        merged = self._of_columns(others, self.codes[first], self.categories[at][who], "column")
        return read_from(merged, *self.origins, self)

    def rows_of(self, owner: str, *, households: bool = False) -> Self:
        """Return the table with a column as the people, or households, whose its rows are.

        The column is not among those of the result, so that no release has it. Guarantees then
        count different people or households, not rows. If all rows of each person are equal, there
        is one row per person (`one_row_a_person`).

        Parameters
        ----------
        owner
            The column that names people or households.
        households
            Whether it names households.

        Returns
        -------
        Table
            With `units`, and `person` as ``people`` or ``households``; or one row per person.

        Raises
        ------
        DataError
            If there is no such column, a row has no value of it, two values look the same, or
            people were named before and one of them is in several households.

        Warns
        -----
        GraphveilWarning
            If two values may be one in two spellings, such as upper and lower case.

        Examples
        --------
        >>> table = Table.from_columns({"who": ["ann", "bob", "ann"], "ill": ["flu", "flu", "no"]})
        >>> table.rows_of("who").columns, table.rows_of("who").units.tolist()
        (('ill',), [0, 1, 0])
        """
        at, owners = self._owners(owner, "household" if households else "person")
        others = [column for column in range(self.n_columns) if column != at]
        _, first, own = np.unique(owners, return_index=True, return_inverse=True)
        if not households and self.ids is None:
            codes = self.codes[:, others]
            if np.array_equal(codes, codes[first][own]):
                return self.one_row_a_person(owner)
        _check_spelling(owner, self.categories[at])
        if self.units is not None:
            homes = np.unique(np.column_stack([self.units, own]), axis=0)[:, 0]
            again = np.flatnonzero(homes[1:] == homes[:-1])
            if again.size:
                raise DataError(
                    f"a person is in several values of {owner}, so they cannot be households of "
                    f"people. Correct {owner}, or remove {option('household', owner)}."
                )
        said: Person = "households" if households else "people"
        rest = self._of_columns(others, self.codes, self.ids, said)
        rest = dataclasses.replace(rest, units=own.astype(np.int32))
        return read_from(rest, *self.origins, self)

    def _owners(self, owner: str, role: str) -> tuple[int, NDArray[np.int32]]:
        """Return the position and the codes of a column that says whose each row is."""
        if owner not in self.columns:
            raise DataError(
                f"no column {owner!r} for {role}. {did_you_mean(owner, self.columns)}Columns: "
                f"{list(self.columns)}."
            )
        at = self.columns.index(owner)
        if self.codes[:, at].min(initial=0) < 0:
            row = int(np.argmin(self.codes[:, at]))
            many = counted(int(np.count_nonzero(self.codes[:, at] < 0)), "row", spec=",")
            raise DataError(
                f"{many} without {owner} (first: row {row}). Add the value, or remove such rows, "
                f"for example with pandas: {without_rows_of_nobody(owner)}"
            )
        return at, self.codes[:, at]

    def without_unused(self) -> Table:
        """Return the same cells; categories that no cell shows are omitted.

        If every category that is kept is a whole number, they become integers: their type follows
        from what is shown.

        Returns
        -------
        Table
            The same columns, rows and ids.

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

        Returns
        -------
        Table
            The other columns at their places, the new ones in the place of theirs.

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
                    f"no column {name!r} for one_hot. "
                    f"{did_you_mean(name, self.columns)}Columns: {list(self.columns)}."
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
        new = type(self)(stacked, tuple(columns), tuple(categories), self.ids, self.person)
        new = dataclasses.replace(new, cut_from=self.cut_from or self, units=self.units)
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


def _cells_shown(
    data: Bipartite, column_of: NDArray[np.int64], code_of: NDArray[np.int32], n_columns: int
) -> NDArray[np.int32]:
    """Return the codes of features as cells, suppressed where a row has none or several."""
    cells = data.rows().astype(np.int64) * n_columns + column_of[data.indices]
    times = np.bincount(cells, minlength=data.n_users * n_columns)
    codes = np.full(times.size, SUPPRESSED, dtype=np.int32)
    codes[cells] = code_of[data.indices]
    codes[times != 1] = SUPPRESSED
    return codes.reshape(data.n_users, n_columns)


def _whole(frame: Any, drop: Sequence[str], kept: pa.Table) -> pa.Table:
    """Return a frame with what was dropped, which says that it is the same input; else the rest."""
    try:
        return arrow_table(frame) if drop else kept
    except DataError:  # what is dropped need not be readable
        return kept


def _coded(
    columns: Mapping[str, Any],
    suppressed: Sequence[str],
    bins: Mapping[str, str],
    categories: Sequence[str] | None,
    *,
    exact: bool,
) -> list[tuple[NDArray[np.int32], Ids]]:
    """Return the codes and categories of every column, or raise every question about them."""
    coded, problems = [], []
    for name, values in columns.items():
        try:
            if categories is not None and name not in bins:
                problems += questions_of_text(name, values, suppressed, categories)
            coded.append(codes_of_column(values, name, suppressed, bins.get(name), exact=exact))
        except DataError as error:
            if not error.asked:
                raise
            problems += error.asked
    if problems:
        given = {"suppressed": suppressed, "bins": bins, "categories": categories or ()}
        raise DataError.asking(problems, given)
    return coded


def _check_codes(codes: NDArray[np.int32], categories: Ids, name: str) -> None:
    check_distinct(categories, n=categories.size, what=f"column {name}")
    bad = (codes < SUPPRESSED) | (codes >= categories.size)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"column {name}, row {row}: code {codes[row]} has no category. "
            f"Codes run from -1 (suppressed) to {categories.size - 1}."
        )


def _check_spelling(person: str, people: Ids) -> None:
    """Refuse two values that look the same, and warn of two that may be one in two spellings."""
    if people.dtype.kind == "i":
        return
    pair = alike(ids_to_arrow(people))
    if pair is not None:
        raise DataError(
            f"{in_quotes(*pair)} in {person} look the same, but count as two people. Merge them, "
            "or rename one."
        )
    spelled = spelled_twice(people.tolist())
    if spelled:
        warn(
            f"{spelled} in {person} count as two people, although they may be one: use one "
            "spelling for each person"
        )

"""Tables from columns, frames and one-hot features, and back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphveil.data.bipartite import Bipartite
from graphveil.data.codes import SUPPRESSED, codes_of_column
from graphveil.data.columns import named_columns
from graphveil.data.frames import Frames, arrow_table
from graphveil.data.ids import Ids, as_ids, text
from graphveil.data.ids import to_arrow as ids_to_arrow
from graphveil.data.origin import of_frame, read_from
from graphveil.errors import DataError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

ROW = "row"
"""What is said of `person` where every row is one."""


class TableObjects(Frames):
    """The conversions of `graphveil.data.Table`, which says what the rest means."""

    codes: NDArray[np.int32]
    columns: tuple[str, ...]
    categories: tuple[Ids, ...]
    ids: Ids | None
    origins: tuple[object, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            codes: Any,
            columns: tuple[str, ...],
            categories: tuple[Any, ...],
            ids: Ids | None = None,
            rows_are_people: bool = False,  # noqa: FBT001, FBT002  as the table
        ) -> None: ...

    @abstractmethod
    def one_row_a_person(self, person: str) -> Self:
        """Return the table with one row for each value of a column."""

    @abstractmethod
    def one_hot_columns(self, names: Sequence[str]) -> Self:
        """Return the table with a column for each value of some columns."""

    @classmethod
    def from_columns(
        cls,
        columns: dict[str, Any],
        *,
        ids: object = None,
        suppressed: Sequence[str] = ("*", ""),
        bins: Mapping[str, str] | None = None,
        one_hot: Sequence[str] = (),
        person: str | None = None,
        drop: Sequence[str] = (),
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
            ``edges:a,b,c``.
        one_hot
            Columns that become a column a value: see `one_hot_columns`.
        person
            The column that names people, of whom each gets one row (`one_row_a_person`); ``row``
            where every row is a person.
        drop
            Columns that are left out.
        """
        drop = named_columns(drop, columns)
        for name in drop:
            if name not in columns:
                raise DataError(
                    f"no column {name!r} to drop. {did_you_mean(name, columns)}There are "
                    f"{', '.join(columns)}."
                )
        columns = {name: values for name, values in columns.items() if name not in drop}
        sizes = {name: len(values) for name, values in columns.items()}
        if len(set(sizes.values())) > 1:
            raise DataError(f"the columns have different lengths: {sizes}. Make them equal.")
        names = tuple(columns)
        for name in (name for name in bins or {} if name not in columns):
            raise DataError(
                f"no column {name!r} for bins. {did_you_mean(name, names)}There are "
                f"{', '.join(names)}."
            )
        coded = [
            codes_of_column(columns[name], name, suppressed, (bins or {}).get(name))
            for name in names
        ]
        n = next(iter(sizes.values()), 0)
        codes = np.empty((n, len(names)), dtype=np.int32)
        for number, (column, _) in enumerate(coded):
            codes[:, number] = column
        row_ids = None if ids is None else as_ids(ids, what="row ids")
        said = person == ROW and ROW not in names
        table = cls(codes, names, tuple(values for _, values in coded), row_ids, said)
        if person is not None and not said:
            table = table.one_row_a_person(person)
        return table.one_hot_columns(one_hot) if one_hot else table

    @classmethod
    def from_arrow(
        cls,
        frame: Any,
        *,
        ids: str | None = None,
        suppressed: Sequence[str] = ("*", ""),
        bins: Mapping[str, str] | None = None,
        one_hot: Sequence[str] = (),
        person: str | None = None,
        drop: Sequence[str] = (),
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
            How numbers of a column become categories: ``median``, ``quantiles:N`` or
            ``edges:a,b,c``.
        one_hot
            Columns that become a column a value: see `one_hot_columns`.
        person, drop
            As in `from_columns`.

        Raises
        ------
        DataError
            Where a column holds fractions, and `bins` does not name it.
        """
        table = arrow_table(frame)
        if ids is not None and ids not in table.column_names:
            raise DataError(
                f"no column {ids!r}. {did_you_mean(ids, table.column_names)}The frame has "
                f"{table.column_names}."
            )
        columns = {name: table[name] for name in table.column_names if name != ids}
        row_ids = None if ids is None else table[ids]
        data = cls.from_columns(
            columns,
            ids=row_ids,
            suppressed=suppressed,
            bins=bins,
            one_hot=one_hot,
            person=person,
            drop=drop,
        )
        return read_from(data, of_frame(table))

    def to_arrow(self) -> pa.Table:
        """Return the cells as an Arrow table; a suppressed cell is null."""
        import pyarrow as pa  # noqa: PLC0415  heavy: not for help

        arrays = []
        for column, values in enumerate(self.categories):
            codes = self.codes[:, column]
            index = pa.array(codes, mask=codes == SUPPRESSED)
            arrays.append(ids_to_arrow(values).take(index))
        return pa.table(arrays, names=list(self.columns))

    def one_hot(self) -> Bipartite:
        """Return a feature ``column=value`` per column and value; a suppressed cell has none.

        Examples
        --------
        >>> from graphveil.data import Table
        >>> Table.from_columns({"sex": ["f", "m"]}).one_hot().feature_labels().tolist()
        ['sex=f', 'sex=m']
        """
        sizes = [values.size for values in self.categories]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shown = self.codes != SUPPRESSED
        indptr = np.concatenate([[0], np.cumsum(shown.sum(axis=1))])
        features = (start[:-1] + self.codes)[shown]
        named = [
            f"{name}={value}"
            for name, values in zip(self.columns, self.categories, strict=True)
            for value in values.tolist()
        ]
        data = Bipartite(indptr, features, len(named), self.ids, text(named), "values")
        return read_from(data, *self.origins, self)

    @classmethod
    def from_one_hot(cls, data: Bipartite) -> Self:
        """Return the table that these one-hot rows show, its columns in the order of their names.

        A cell is the one value that a row has of a column. A row that has none of them, or several
        (as anonymized rows may), shows no value: the cell is suppressed. So equal rows stay equal.

        Parameters
        ----------
        data
            Users by features named ``column=value``, as `one_hot` makes them. What stands before
            the first ``=`` is the column, so no column of the table may have one in its name.

        Raises
        ------
        DataError
            Where a feature is not named so.

        Examples
        --------
        >>> from graphveil.data import Table
        >>> data = Bipartite.from_lists([["sex=f", "town=x"], ["sex=f", "sex=m"]])
        >>> table = Table.from_one_hot(data)
        >>> table.columns, table.to_arrow().to_pylist()[1]
        (('sex', 'town'), {'sex': None, 'town': None})
        """
        names = data.feature_labels().tolist()
        for name in names:
            if "=" not in str(name):
                raise DataError(f"the feature {name!r} is not named column=value. Use to_arrow.")
        split = [name.partition("=") for name in names]
        columns = tuple(sorted({column for column, _, _ in split}))
        categories: list[list[str]] = [[] for _ in columns]
        column_of = np.array([columns.index(name) for name, _, _ in split], dtype=np.int64)
        code_of = np.empty(len(split), dtype=np.int32)
        for feature, (_, _, value) in enumerate(split):
            listed = categories[column_of[feature]]
            code_of[feature] = len(listed)
            listed.append(value)
        cells = data.rows().astype(np.int64) * len(columns) + column_of[data.indices]
        times = np.bincount(cells, minlength=data.n_users * len(columns))
        codes = np.full(times.size, SUPPRESSED, dtype=np.int32)
        codes[cells] = code_of[data.indices]
        codes[times != 1] = SUPPRESSED
        listed_texts = tuple(text(values) for values in categories)
        return cls(codes.reshape(data.n_users, len(columns)), columns, listed_texts, data.users)

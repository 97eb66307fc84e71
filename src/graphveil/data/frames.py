"""Frames of other libraries (pandas, polars, DuckDB, Arrow) as Arrow tables, and back."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from graphveil.errors import DataError
from graphveil.html import html_table
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import polars as pl
    import pyarrow as pa
else:
    pa = lazy_module("pyarrow")


class Frames:
    """What hands itself to other libraries as a frame, and shows its size in notebooks."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of nodes, users or rows."""

    @abstractmethod
    def labels(self) -> Any:
        """Return the id of every node, user or row; 0..n-1 where none were given."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""

    @abstractmethod
    def _sizes(self) -> dict[str, object]:
        """Return what a notebook shows of the size, by its name."""

    def to_pandas(self) -> pd.DataFrame:
        """Return what `to_arrow` gives as a pandas frame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return what `to_arrow` gives as a polars frame."""
        import polars as pl  # noqa: PLC0415  an optional library, accepted but never required

        return pl.DataFrame(self.to_arrow())

    def __len__(self) -> int:
        """Return the number of nodes, users or rows."""
        return self.size

    def __iter__(self) -> Iterator[Any]:
        """Yield the id of every node, user or row."""
        return iter(self.labels().tolist())

    def _repr_html_(self) -> str:
        """Return the size as a table for notebooks; never an id."""
        rows = [(what, f"{n:,}" if isinstance(n, int) else n) for what, n in self._sizes().items()]
        return html_table(type(self).__name__, ("what", "count"), rows)


def arrow_table(frame: Any) -> pa.Table:
    """Return a frame as an Arrow table of its columns; the index of pandas is none of them.

    Parameters
    ----------
    frame
        Anything that speaks the Arrow C stream.

    Raises
    ------
    DataError
        Where the index of a pandas frame has a name, so that it may be meant as a column; where it
        is one column and no frame, two columns have one name, or one mixes numbers and text.

    Examples
    --------
    >>> import pandas as pd
    >>> arrow_table(pd.DataFrame({"sex": ["f", "m"]}, index=[17, 3])).column_names
    ['sex']
    """
    library = type(frame).__module__.partition(".")[0]
    if type(frame).__name__ == "Series":
        raise DataError(f"a Series of {library} is one column. Hand over a frame of all columns.")
    if library != "pandas":
        return pa.table(frame).replace_schema_metadata(None)
    named = [name for name in frame.index.names if name is not None]
    if named:
        raise DataError(
            f"the index of the frame is named {named[0]!r}. Make it a column with reset_index(), "
            "or drop it with reset_index(drop=True)."
        )
    names = frame.columns[frame.columns.duplicated()]
    if len(names):
        raise DataError(f"two columns of the frame are called {names[0]!r}. Rename one.")
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"a column of the frame mixes kinds of values: {error.args[-1]}. Make it one kind, "
            "such as text with astype(str)."
        ) from error
    return table.replace_schema_metadata(None)

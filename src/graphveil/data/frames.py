"""Frames of other libraries (pandas, polars, DuckDB, Arrow) as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.errors import DataError
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = lazy_module("pyarrow")


def arrow_table(frame: Any) -> pa.Table:
    """Return a frame as an Arrow table of its columns; the index of pandas is none of them.

    Parameters
    ----------
    frame
        Anything that speaks the Arrow C stream.

    Raises
    ------
    DataError
        Where the index of a pandas frame has a name, so that it may be meant as a column.

    Examples
    --------
    >>> import pandas as pd
    >>> arrow_table(pd.DataFrame({"sex": ["f", "m"]}, index=[17, 3])).column_names
    ['sex']
    """
    if type(frame).__module__.partition(".")[0] != "pandas":
        return pa.table(frame).replace_schema_metadata(None)
    named = [name for name in frame.index.names if name is not None]
    if named:
        raise DataError(
            f"the index of the frame is named {named[0]!r}. Make it a column with reset_index(), "
            "or drop it with reset_index(drop=True)."
        )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return table.replace_schema_metadata(None)

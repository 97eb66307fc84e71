"""Frames of other libraries (pandas, polars, DuckDB, Arrow) as Arrow tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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

    Examples
    --------
    >>> import pandas as pd
    >>> arrow_table(pd.DataFrame({"sex": ["f", "m"]}, index=[17, 3])).column_names
    ['sex']
    """
    table = pa.table(frame)
    stated = (table.schema.metadata or {}).get(b"pandas")
    if stated is None:
        return table
    index = [name for name in json.loads(stated)["index_columns"] if isinstance(name, str)]
    return table.drop_columns(index).replace_schema_metadata(None)

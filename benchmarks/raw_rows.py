"""Raw rows of benchmarks: dictionaries, one a measurement, kept in one Parquet file a part.

A column whose values are all texts, whole numbers, numbers or truths is one of Parquet; any other
(lists, parameters of a method, values of two types) holds JSON. A row has the keys it was given:
an empty cell is a key that the row does not have.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]

PLAIN: dict[type, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
}


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file in their order; none where there is no file."""
    if not path.exists():
        return []
    table = pq.read_table(path)
    encoded = {field.name for field in table.schema if field.metadata == {b"holds": b"JSON"}}
    return [
        {
            name: json.loads(value) if name in encoded else value
            for name, value in row.items()
            if value is not None
        }
        for row in table.to_pylist()
    ]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write rows whole or not at all, in place of what the file held."""
    rows = json.loads(json.dumps(list(rows)))  # numbers of NumPy become plain, tuples lists
    fields, columns = [], []
    for name in dict.fromkeys(name for row in rows for name in row):
        types = {type(row[name]) for row in rows if name in row}
        plain = PLAIN.get(types.pop()) if len(types) == 1 else None
        values = [
            (row[name] if plain else json.dumps(row[name])) if name in row else None for row in rows
        ]
        metadata = None if plain else {"holds": "JSON"}
        fields.append(pa.field(name, plain or pa.string(), metadata=metadata))
        columns.append(pa.array(values, fields[-1].type))
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".writing")
    table = pa.table(columns, schema=pa.schema(fields))
    pq.write_table(table, draft, compression="zstd", compression_level=19)
    draft.replace(path)


def append_rows(path: Path, *rows: Row) -> None:
    """Add rows behind those of a file: what was measured is kept at once."""
    write_rows(path, [*read_rows(path), *rows])

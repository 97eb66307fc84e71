"""The table of a sweep: a row a figure, and one for each point that has none."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.atomic import OWNER_ONLY, whole_file
from graphveil.rows import Row
from graphveil.sweeping.points import Plan, Point, Result

if TYPE_CHECKING:
    import pyarrow as pa

OWN = {
    "point": "int64",
    "method": "string",
    "draw": "int64",
    "status": "string",
    "promise": "string",
}
FIGURES = {
    "release": "string",
    "question": "string",
    "part": "string",
    "value": "float64",
    "unit": "string",
    "direction": "string",
    "known": "string",
    "sample_size": "int64",
    "low": "float64",
    "high": "float64",
    "guess": "float64",
    "reason": "string",
}
"""The fields of a row that the table has, and their types."""

TIMES = {"seconds": "float64", "cpu_seconds": "float64"}
"""What differs from run to run."""


def parameter_column(name: str) -> str:
    """Return the column of a parameter: its own name, unless figures have one of that name.

    Examples
    --------
    >>> parameter_column("k"), parameter_column("unit")
    ('k', 'parameter_unit')
    """
    return f"parameter_{name}" if name in OWN | FIGURES | TIMES else name


def table_of(plan: Plan, results: Mapping[int, Result]) -> pa.Table:
    """Return the table: every figure of every point, in the order of the plan.

    A point without a release is one row without a figure, with its reason.

    Parameters
    ----------
    plan
        The sweep's.
    results
        What became of every point, by its number.
    """
    import pyarrow as pa  # noqa: PLC0415  loaded when a table is made

    parameters = _parameters(plan.points)
    types = {
        **{name: getattr(pa, kind)() for name, kind in OWN.items()},
        **{parameter_column(name): _type(pa, values) for name, values in parameters.items()},
        **{name: getattr(pa, kind)() for name, kind in (FIGURES | TIMES).items()},
    }
    strings = {name for name, kind in types.items() if kind == pa.string()}
    records = [
        {name: _cell(value, text=name in strings) for name, value in record.items()}
        for point in plan.points
        for record in _records(point, results[point.number], list(parameters))
    ]
    schema = pa.schema(list(types.items()))
    columns = {name: [record[name] for record in records] for name in types}
    return pa.table(columns, schema=schema)


def _records(point: Point, result: Result, parameters: Sequence[str]) -> Iterator[dict[str, Any]]:
    own = {
        "point": point.number,
        "method": point.method,
        "draw": point.draw,
        "status": result.status,
        "promise": result.promise or None,
        **{parameter_column(name): point.parameters.get(name) for name in parameters},
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
    }
    without = dataclasses.asdict(
        Row(release=point.name, question="", reason=result.reason or result.status)
    )
    for row in result.rows or [without]:
        yield own | {name: row.get(name) for name in FIGURES}


def _parameters(points: Iterable[Point]) -> dict[str, list[Any]]:
    """Return the values of every parameter that some point has, by its name, sorted."""
    values: dict[str, list[Any]] = {}
    for point in points:
        for name, value in point.parameters.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: values[name] for name in sorted(values)}


def _type(pa: Any, values: Sequence[Any]) -> Any:
    kinds = set(map(type, values))
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    return pa.float64() if kinds <= {int, float} else pa.string()


def _cell(value: Any, *, text: bool) -> Any:
    return str(value) if text and value is not None else value


def write_table(table: pa.Table, path: Path) -> Path:
    """Write a table as Parquet, whole and for its owner alone; return the file.

    Raises
    ------
    OSError
        Where the disk is full.
    """
    from pyarrow import parquet  # noqa: PLC0415  loaded when a file is written

    with whole_file(path, mode=OWNER_ONLY) as part, part.open("wb") as stream:
        parquet.write_table(table, stream)
    return path

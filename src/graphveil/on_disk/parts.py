"""Rows under new ids into the parts of a release, and the classes that these hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from graphveil.errors import UsageError, option
from graphveil.io import Format, list_parts
from graphveil.io.parquet_files import batches_in
from graphveil.records import parts
from graphveil.records.manifest import DataFile
from graphveil.release.files import described_file


def check_parts(wanted: bool | None, form: Format) -> None:  # noqa: FBT001  an option's value
    """Refuse parts of a format that has none.

    Raises
    ------
    UsageError
        Where parts are wanted, and the format is not Parquet.
    """
    if wanted and form.name != "parquet":
        raise UsageError(
            f"{form.name} has no parts: they are files of Parquet. Use "
            f"{option('format', 'parquet')}, or leave them out."
        )


def comes_in_parts(wanted: bool | None, form: Format, n_users: int) -> bool:  # noqa: FBT001  as above
    """Whether a release comes in parts: as asked for, else where it has more than one.

    Examples
    --------
    >>> from graphveil.io import FORMATS
    >>> [comes_in_parts(None, FORMATS["parquet"], n) for n in (2**20, 2**20 + 1)]
    [False, True]
    """
    if wanted is None:
        return form.name == "parquet" and n_users > parts.PART_USERS
    return wanted


def write_parts(rows: Iterable[pa.Table], n_users: int, public: Path) -> list[DataFile]:
    """Write all parts, and return what is said of them.

    Parameters
    ----------
    rows
        Tables of `graphveil.io.list_parts.list_schema`: all users in the order of their ids.
    n_users
        How many there are.
    public
        The folder of the release.
    """
    (public / parts.FOLDER).mkdir()
    sizes = [parts.part_size(number, n_users) for number in range(parts.n_parts(n_users))]
    groups = list_parts.in_sizes(rows, (group for size in sizes for group in _groups_of(size)))
    described = []
    for number, size in enumerate(sizes):
        name = parts.part_name(number)
        path = public / name
        list_parts.write_lists((next(groups) for _ in _groups_of(size)), path)
        file = described_file(path, "data", "parquet", parts.COLUMNS, size)
        described.append(msgspec.structs.replace(file, name=name))
    next(groups, None)  # what comes behind the last row is done, and is no further row
    return described


def _groups_of(size: int) -> list[int]:
    """Return the rows of every row group of a part."""
    starts = range(0, max(size, 1), list_parts.GROUP_ROWS)
    return [min(list_parts.GROUP_ROWS, size - start) for start in starts]


def rows_in_parts(public: Path, files: Iterable[DataFile]) -> Iterator[pa.RecordBatch]:
    """Yield the lists of items in parts, some at a time, as they were written."""
    for file in files:
        for batch in batches_in(public / file.name, ["items"]):
            yield batch.select(["items"])


def as_lists(ids: pa.Array, indptr: Any, items: pa.Array) -> pa.Table:
    """Return users with their items as parts have them.

    Examples
    --------
    >>> as_lists(pa.array([4, 5]), [0, 1, 1], pa.array(["tea"])).to_pydict()
    {'user': [4, 5], 'items': [['tea'], []]}
    """
    schema = list_parts.list_schema(items.type)
    leaves = items.cast(schema.field("items").type.value_type)
    lists = pa.LargeListArray.from_arrays(pa.array(indptr, pa.int64()), leaves)
    return pa.table([ids.cast(pa.int64()), lists], schema=schema)

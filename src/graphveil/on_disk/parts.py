"""Rows under new ids into the parts of a release, and the classes that these hold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from pyarrow import parquet

from graphveil.errors import UsageError, option
from graphveil.io import Format, list_parts
from graphveil.io.parquet_files import BATCH_ROWS, batches_in
from graphveil.places.address import Address, Place
from graphveil.places.trouble import reached
from graphveil.records import parts
from graphveil.records.digest import digest_of_file
from graphveil.records.manifest import DataFile
from graphveil.records.record import digest_of_parts, linkage_part
from graphveil.release.files import described_file
from graphveil.release.linkage import write_owners


class WrittenParts(NamedTuple):
    """Parts that were written, the digest of the linkage if it lies at an address, the entries."""

    files: list[DataFile]
    linkage_sha256: str | None
    n_entries: int


def check_parts(
    wanted: bool | None,  # noqa: FBT001  an option's value
    form: Format,
    target: Place | None = None,
) -> None:
    """Refuse parts of a format that has none, and anything else at an address.

    Raises
    ------
    UsageError
        Where parts are wanted, and the format is not Parquet; or where the release is to lie at an
        address and is not to come in parts.
    """
    if isinstance(target, Address) and (wanted is False or form.name != "parquet"):
        raise UsageError(
            f"{target} is an address, where a release comes in parts of Parquet. Use "
            f"{option('format', 'parquet')}, and let it come in parts; or name a folder."
        )
    if wanted and form.name != "parquet":
        raise UsageError(
            f"{form.name} has no parts: they are files of Parquet. Use "
            f"{option('format', 'parquet')}, or leave them out."
        )


def comes_in_parts(
    wanted: bool | None,  # noqa: FBT001  as above
    form: Format,
    n_users: int,
    target: Place | None = None,
) -> bool:
    """Whether a release comes in parts: as asked for, else where it has more than one.

    At an address it does.

    Examples
    --------
    >>> from graphveil.io import FORMATS
    >>> [comes_in_parts(None, FORMATS["parquet"], n) for n in (2**20, 2**20 + 1)]
    [False, True]
    """
    if isinstance(target, Address):
        return True
    if wanted is None:
        return form.name == "parquet" and n_users > parts.PART_USERS
    return wanted


def write_parts(
    rows: Iterable[pa.Table], n_users: int, public: Place, scratch: Path | None = None
) -> list[DataFile]:
    """Write all parts, and return what is said of them.

    Parameters
    ----------
    rows
        Tables of `graphveil.io.list_parts.list_schema`: all users in the order of their ids.
    n_users
        How many there are.
    public
        The release: a folder, or an address.
    scratch
        A folder for a part before it is written to an address.
    """
    sizes = [parts.part_size(number, n_users) for number in range(parts.n_parts(n_users))]
    each = list_parts.GROUP_ROWS
    groups = list_parts.in_sizes(rows, (g for size in sizes for g in groups_of(size, each)))
    described = []
    for number, size in enumerate(sizes):
        tables = (next(groups) for _ in groups_of(size, each))
        described.append(write_part(tables, number, size, public, scratch))
    next(groups, None)  # what comes behind the last row is done, and is no further row
    return described


def write_part(
    groups: Iterable[pa.Table], number: int, size: int, public: Place, scratch: Path | None = None
) -> DataFile:
    """Write a part of so many rows, a row group a table, and return what is said of it."""
    name = parts.part_name(number)
    with file_at(public, name, scratch) as path:
        list_parts.write_lists(groups, path)
        file = described_file(path, "data", "parquet", parts.COLUMNS, size)
    return msgspec.structs.replace(file, name=name)


@contextmanager
def file_at(place: Place, name: str, scratch: Path | None = None) -> Iterator[Path]:
    """Give the path of a file to be written; at the end it lies in a place, under a name.

    Parameters
    ----------
    place
        A folder, or an address: then it is written here first, for its owner alone.
    name
        Its name there.
    scratch
        A folder for files that are written here first; that for temporary files without it.
    """
    if isinstance(place, Path):
        path = place / name
        path.parent.mkdir(exist_ok=True)
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="graphveil-", dir=scratch) as folder:
        path = Path(folder, name.rpartition("/")[2])
        yield path
        place.put(name, path)


def groups_of(size: int, each: int) -> list[int]:
    """Return the rows of every row group of a part.

    Examples
    --------
    >>> groups_of(10, 4), groups_of(0, 4)
    ([4, 4, 2], [0])
    """
    return [min(each, size - start) for start in range(0, max(size, 1), each)]


def rows_in_parts(public: Place, files: Iterable[DataFile]) -> Iterator[pa.RecordBatch]:
    """Yield the lists of items in parts, some at a time, as they were written."""
    for file in files:
        for batch in _batches(public, file.name):
            yield batch.select(["items"])


def _batches(public: Place, name: str) -> Iterator[pa.RecordBatch]:
    if isinstance(public, Path):
        yield from batches_in(public / name, ["items"])
        return
    with (
        reached(public / name, "counted"),
        public.open(name) as stream,
        parquet.ParquetFile(stream, pre_buffer=False) as file,
    ):
        yield from file.iter_batches(BATCH_ROWS, columns=["items"], use_threads=False)


def write_linkage_parts(
    rows: Iterable[pa.Table], n_users: int, private: Address, scratch: Path
) -> str:
    """Write who became whom in parts of the same users as those of the data, at an address.

    Parameters
    ----------
    rows
        Tables of `graphveil.release.linkage.COLUMNS` in the order of new ids.
    n_users
        How many there are.
    private
        Where.
    scratch
        The run's own folder for a part before it is written: what a killed run leaves goes with it.

    Returns
    -------
    str
        The one digest of the parts.
    """
    numbers = range(parts.n_parts(n_users))
    tables = list_parts.in_sizes(rows, (parts.part_size(number, n_users) for number in numbers))
    each = zip(tables, numbers, strict=False)  # tables first: what is left behind them is refused
    return digest_of_parts([write_linkage_part(table, n, private, scratch) for table, n in each])


def write_linkage_part(
    rows: pa.Table, number: int, private: Address, scratch: Path | None = None
) -> str:
    """Write a part of the linkage, and return its digest."""
    with file_at(private, linkage_part(number), scratch) as path:
        write_owners([rows], path)
        return digest_of_file(path)


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

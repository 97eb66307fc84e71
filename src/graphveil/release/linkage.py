"""Which released id stands for which original one, in memory and in the owner's private folder."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.atomic import OWNER_ONLY
from graphveil.data.ids import Ids, as_ids, positions, to_arrow
from graphveil.errors import ReleaseError, UsageError
from graphveil.lazy import lazy_module
from graphveil.records.record import LINKAGE, linkage_files, private_folder

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = lazy_module("pyarrow")
    pq = lazy_module("pyarrow.parquet")

COLUMNS = ["original", "released"]


class Linkage(NamedTuple):
    """Which released id stands for which original one: private.

    Parameters
    ----------
    original
        The original ids, shape (n,).
    released
        int64, shape (n,): the released id of each.
    """

    original: Ids
    released: NDArray[np.int64]

    def positions_of(self, originals: Ids, released: Ids) -> NDArray[np.int64]:
        """Return the position of each of the original ids among the released ones.

        Raises
        ------
        UsageError
            Where an id is not linked, or a released id stands for two.

        Examples
        --------
        >>> linkage = Linkage(np.array([7, 8]), np.array([1, 0]))
        >>> linkage.positions_of(np.array([8, 7]), np.array([0, 1])).tolist()
        [0, 1]
        """
        rows = positions(originals, self.original, what="linkage")
        new_positions = positions(self.released[rows], released, what="linkage")
        if np.unique(new_positions).size != originals.size:
            raise UsageError("the linkage names a released id twice. Take the file as written.")
        return new_positions.astype(np.int64)

    @property
    def digest(self) -> str:
        """What tells this linkage from any other: it says nothing of the people."""
        return hashlib.sha256(np.ascontiguousarray(self.released).tobytes()).hexdigest()

    def table(self) -> pa.Table:
        """Return the columns `COLUMNS`, a row for every id."""
        return pa.table([to_arrow(self.original), pa.array(self.released)], names=COLUMNS)


def read_linkage(folder: Path) -> Linkage | None:
    """Return the linkage beside a release folder, or None where it was not kept.

    Raises
    ------
    ReleaseError
        Where the file is there but has not the columns `original` and `released`.
    """
    return linkage_in(private_folder(folder))


def linkage_in(private: Path) -> Linkage | None:
    """Return the linkage in a private folder, or None where it was not kept.

    Raises
    ------
    ReleaseError
        As `read_linkage`.
    """
    files = linkage_files(private)
    tables = [read_owners(file, COLUMNS, "a linkage") for file in files]
    if not tables:
        return None
    table = pa.concat_tables(tables)
    if files[0].name != LINKAGE:
        table = table.sort_by("original")
    return Linkage(
        as_ids(table["original"], what="original"), as_ids(table["released"], what="released")
    )


def write_owners(tables: Iterable[pa.Table], path: Path) -> None:
    """Write tables of the same columns, one at least, into a file for its owner alone.

    Parameters
    ----------
    tables
        The rows, in order.
    path
        The file, in the private folder.
    """
    path.touch(mode=OWNER_ONLY)
    waiting = iter(tables)
    first = next(waiting)
    with path.open("wb") as stream, pq.ParquetWriter(stream, first.schema) as writer:
        writer.write_table(first)
        for table in waiting:
            writer.write_table(table)


def read_owners(path: Path, columns: list[str], what: str) -> pa.Table | None:
    """Return these columns of a file of the private folder, or None where there is none.

    Raises
    ------
    ReleaseError
        Where the file is there but cannot be read, or has not these columns.
    """
    if not path.is_file():
        return None
    try:
        from graphveil.io.parquet_files import read_parquet  # noqa: PLC0415  heavy, as pyarrow is

        return read_parquet(path, columns).select(columns)
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise ReleaseError(f"{path}: not {what}. Take the file as written.") from error

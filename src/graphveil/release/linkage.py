"""What accompanies a release: its public provenance, and what only its owner may see.

The owner's part holds which released id is which original one, levels with chosen pairs, cost and
seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.ledger import LedgerReceipt
from graphveil.claims.record import LEVELS, LINKAGE, WITNESS, linkage_files, private_folder
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import ReleaseError, UsageError
from graphveil.core.lazy import lazy_module
from graphveil.core.version import __version__
from graphveil.data.ids import Ids, as_ids, positions, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = lazy_module("pyarrow")
    pq = lazy_module("pyarrow.parquet")

COLUMNS = ["original", "released"]


class Linkage(NamedTuple):
    """Which released id stands for which original one: private."""

    original: Ids
    released: NDArray[np.int64]

    def positions_of(self, originals: Ids, released: Ids) -> NDArray[np.int64]:
        """Return the position of each of the original ids among the released ones.

        >>> linkage = Linkage(np.array([7, 8]), np.array([1, 0]))
        >>> linkage.positions_of(np.array([8, 7]), np.array([0, 1])).tolist()
        [0, 1]
        """
        rows = positions(originals, self.original, what="linkage")
        new_positions = positions(self.released[rows], released, what="linkage")
        if np.unique(new_positions).size != originals.size:
            raise UsageError(
                "the linkage names a published id twice. Restore the file as anonymize wrote it."
            )
        return new_positions.astype(np.int64)

    @property
    def digest(self) -> str:
        """What tells this linkage from any other: it says nothing of the people."""
        return hashlib.sha256(np.ascontiguousarray(self.released).tobytes()).hexdigest()

    def table(self) -> pa.Table:
        """Return the columns `COLUMNS`, a row for every id."""
        return pa.table([to_arrow(self.original), pa.array(self.released)], names=COLUMNS)


def read_linkage(folder: Path) -> Linkage | None:
    """Return the linkage beside a release folder, or None where it was not kept."""
    return linkage_in(private_folder(folder))


def linkage_in(private: Path) -> Linkage | None:
    """Return the linkage in a private folder, or None where it was not kept."""
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
    """Write tables of the same columns, one at least, into a file for its owner alone."""
    path.touch(mode=OWNER_ONLY)
    waiting = iter(tables)
    first = next(waiting)
    with path.open("wb") as stream, pq.ParquetWriter(stream, first.schema) as writer:
        writer.write_table(first)
        for table in waiting:
            writer.write_table(table)


def read_owners(path: Path, columns: list[str], what: str) -> pa.Table | None:
    """Return these columns of a file of the private folder, or None where there is none."""
    if not path.is_file():
        return None
    try:
        from graphveil.io.readers.columnar import read_parquet  # noqa: PLC0415  heavy, as pyarrow is

        return read_parquet(path, columns).select(columns)
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise ReleaseError(
            f"{path} is not {what}. Restore the file as anonymize wrote it."
        ) from error


LEVEL_COLUMNS = ["original", "level"]
WITNESS_COLUMNS = ["record", "person"]
PART = 1 << 20
"""So many pairs are written at a time."""


class OwnersLevels(NamedTuple):
    """The level of every person: private."""

    original: Ids
    level: NDArray[np.int64]

    def table(self) -> pa.Table:
        """Return the columns `LEVEL_COLUMNS`, a row for every person."""
        return pa.table([to_arrow(self.original), pa.array(self.level)], names=LEVEL_COLUMNS)


class Witness(NamedTuple):
    """Which persons a record was chosen to fit, by positions of the input: private."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def tables(self, linkage: Linkage) -> Iterator[pa.Table]:
        """Yield the columns `WITNESS_COLUMNS`: records by released id in order, persons by own id.

        >>> linkage = Linkage(np.array([7, 8]), np.array([1, 0]))
        >>> pairs = Witness(np.array([0, 2, 3]), np.array([0, 1, 1], dtype=np.int32))
        >>> next(pairs.tables(linkage)).to_pydict()
        {'record': [0, 1, 1], 'person': [8, 7, 8]}
        """
        order = np.argsort(linkage.released, kind="stable")
        sizes = np.diff(self.indptr)[order]
        ends = np.cumsum(sizes)
        for low in range(0, int(sizes.sum()) or 1, PART):
            pairs = np.arange(low, min(low + PART, int(sizes.sum())))
            records = np.searchsorted(ends, pairs, side="right")
            rows = order[records]
            within = pairs - (ends - sizes)[records]
            persons = linkage.original[self.indices[self.indptr[rows] + within]]
            columns = [pa.array(linkage.released[rows]), to_arrow(persons)]
            yield pa.table(columns, names=WITNESS_COLUMNS)


def read_levels(folder: Path) -> OwnersLevels | None:
    """Return the levels beside a release folder, or None where there are none."""
    table = read_owners(private_folder(folder) / LEVELS, LEVEL_COLUMNS, "a file of levels")
    if table is None:
        return None
    return OwnersLevels(
        as_ids(table["original"], what="original"), as_ids(table["level"], what="level")
    )


def read_witness(folder: Path, linkage: Linkage | None) -> Witness | None:
    """Return the chosen pairs beside a release folder, or None where they were not kept."""
    if linkage is None:
        return None
    table = read_owners(private_folder(folder) / WITNESS, WITNESS_COLUMNS, "a file of pairs")
    if table is None:
        return None
    released = as_ids(table["record"], what="record")
    records = positions(released, linkage.released, what="linkage")
    persons = positions(as_ids(table["person"], what="person"), linkage.original, what="linkage")
    indptr = np.zeros(linkage.released.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(records, minlength=linkage.released.size), out=indptr[1:])
    return Witness(indptr, persons[np.argsort(records, kind="stable")].astype(np.int32))


TOOL = "graphveil"


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a release comes from, as far as the public may know."""

    method: str
    source: str
    limits: str
    parameters: Mapping[str, Any]
    tool: str = TOOL
    version: str = __version__


@dataclass(frozen=True, kw_only=True)
class Private:
    """What only the owner may see: it goes into the private record.

    Its repr shows figures alone: no seed, no id, no digest.
    """

    input_sha256: str = field(repr=False)
    seed: int | None = field(default=None, repr=False)
    cost: Mapping[str, float | int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    linkage: Linkage | None = field(default=None, repr=False)
    unprotected: tuple[int | str, ...] = field(default=(), repr=False)
    withheld: Mapping[str, Any] = field(default_factory=dict, repr=False)
    unrecorded: tuple[str, ...] = ()
    nested_in: tuple[str, ...] = ()
    spent: LedgerReceipt | None = None
    levels: OwnersLevels | None = field(default=None, repr=False)
    witness: Witness | None = field(default=None, repr=False)
    origins_sha256: tuple[str, ...] = field(default=(), repr=False)
    assignment: str | None = field(default=None, repr=False)
    ancestors: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict, repr=False)

    @property
    def input_digests(self) -> frozenset[str]:
        """The digests by which another release of the input is recognized."""
        return frozenset((self.input_sha256, *self.origins_sha256))

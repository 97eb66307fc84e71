"""What the owner alone keeps of a release with levels: who asked for how much, who fits what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data.ids import Ids, as_ids, positions, to_arrow
from graphveil.lazy import lazy_module
from graphveil.records.record import LEVELS, WITNESS, private_folder
from graphveil.release.linkage import Linkage, read_owners

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = lazy_module("pyarrow")

LEVEL_COLUMNS = ["original", "level"]
WITNESS_COLUMNS = ["record", "person"]
PART = 1 << 20
"""So many pairs are written at a time."""


class OwnersLevels(NamedTuple):
    """The level of every person: private.

    Parameters
    ----------
    original
        The original ids, shape (n,).
    level
        int64, shape (n,): the level of each.
    """

    original: Ids
    level: NDArray[np.int64]

    def table(self) -> pa.Table:
        """Return the columns `LEVEL_COLUMNS`, a row for every person."""
        return pa.table([to_arrow(self.original), pa.array(self.level)], names=LEVEL_COLUMNS)


class Witness(NamedTuple):
    """Which persons a record was chosen to fit, by positions of the input: private.

    Parameters
    ----------
    indptr, indices
        int64 and int32: the record made of position i was chosen to fit the persons at the
        positions ``indices[indptr[i] : indptr[i + 1]]``, its own among them.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def tables(self, linkage: Linkage) -> Iterator[pa.Table]:
        """Yield the columns `WITNESS_COLUMNS`: records by released id in order, persons by own id.

        Examples
        --------
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
    """Return the levels beside a release folder, or None where there are none.

    Raises
    ------
    ReleaseError
        Where the file is there but has not the columns `original` and `level`.
    """
    table = read_owners(private_folder(folder) / LEVELS, LEVEL_COLUMNS, "a file of levels")
    if table is None:
        return None
    return OwnersLevels(
        as_ids(table["original"], what="original"), as_ids(table["level"], what="level")
    )


def read_witness(folder: Path, linkage: Linkage | None) -> Witness | None:
    """Return the chosen pairs beside a release folder, or None where they were not kept.

    Parameters
    ----------
    folder
        The release folder.
    linkage
        Who became whom; without it positions are not known.

    Raises
    ------
    ReleaseError
        Where the file is there but has not the columns `record` and `person`.
    UsageError
        Where it names an id that the linkage does not.
    """
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

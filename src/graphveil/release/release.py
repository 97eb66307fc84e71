"""The release in memory, and the folder it is written to and read from."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil._version import __version__
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.data import Data
from graphveil.data.ids import Ids, as_ids, positions, to_arrow
from graphveil.errors import ReleaseError, UsageError
from graphveil.lazy import lazy_module
from graphveil.limits import LIMITS
from graphveil.records.manifest import (
    MANIFEST,
    SCHEMA,
    Claim,
    Described,
    Manifest,
    Method,
    encode,
    read_manifest,
)
from graphveil.records.record import (
    LINKAGE,
    RECORD,
    Record,
    private_folder,
    read_record,
    refuse_second_release,
)
from graphveil.release.files import read_data, write_data
from graphveil.release.staging import Staged, check_target, staged

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from graphveil.verify import Verdict
else:
    pa = lazy_module("pyarrow")
    pq = lazy_module("pyarrow.parquet")

TOOL = "graphveil"


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

    def places(self, originals: Ids, released: Ids) -> NDArray[np.int64]:
        """Return where each of the original ids stands among the released ones.

        Raises
        ------
        UsageError
            Where an id is not linked, or a released id stands for two.

        Examples
        --------
        >>> linkage = Linkage(np.array([7, 8]), np.array([1, 0]))
        >>> linkage.places(np.array([8, 7]), np.array([0, 1])).tolist()
        [0, 1]
        """
        rows = positions(originals, self.original, what="linkage")
        found = positions(self.released[rows], released, what="linkage")
        if np.unique(found).size != originals.size:
            raise UsageError("the linkage names a released id twice. Take the file as written.")
        return found.astype(np.int64)


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a release comes from, as far as the public may know."""

    method: str
    source: str
    parameters: Mapping[str, Any]
    tool: str = TOOL
    version: str = __version__


@dataclass(frozen=True, kw_only=True)
class Private:
    """What only the owner may see: it goes into the private record."""

    input_sha256: str
    seed: int | None = None
    cost: Mapping[str, float | int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    linkage: Linkage | None = None
    left: tuple[int | str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """Published data under new ids in a new order, its guarantee, and where it comes from.

    Parameters
    ----------
    data
        What is published; ids are 0..n-1.
    guarantee
        What is promised of it.
    provenance
        Tool, method and parameters.
    private
        The owner's part; None where a folder was read without its private sibling.

    Examples
    --------
    >>> import graphveil as gv
    >>> release = gv.KDegree(k=2).anonymize(gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    >>> release.guarantee.sentence
    'Every node of the release has the same degree as at least 1 other.'
    """

    data: Data
    guarantee: AnyGuarantee
    provenance: Provenance
    private: Private | None = None

    def write(
        self,
        folder: str | Path,
        *,
        format: str = "csv",  # noqa: A002  the word users know from the command line
        force: bool = False,
        linkage: bool = True,
        again: bool = False,
        reading: Mapping[str, Any] | None = None,
    ) -> Path:
        """Write the release folder and the owner's private folder beside it, or nothing.

        Parameters
        ----------
        folder
            The release folder; its private sibling is ``folder.private``.
        format
            A format of `graphveil.io.FORMATS` that holds this kind of data.
        force
            Replace a release of that name, once the new one is whole.
        linkage
            Whether the private folder keeps which new id stands for which old one.
        again
            Publish although an earlier record beside the folder is of the same input.
        reading
            The options that the input was read with, kept in the private record.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        ReleaseError
            Where the folder exists and `force` is off, or the input was published before.
        ResourceError
            Where the disk is full or the place cannot be written.
        """
        target = Path(folder)
        check_target(target, force=force)
        if self.private is not None and not again:
            refuse_second_release(target, self.private.input_sha256)
        with staged(target, force=force) as stage:
            self._write_into(stage, format, keep_linkage=linkage, reading=reading)
        return target

    def _write_into(
        self,
        stage: Staged,
        format: str,  # noqa: A002  as above
        *,
        keep_linkage: bool,
        reading: Mapping[str, Any] | None,
    ) -> None:
        described = write_data(self.data, stage.public, format)
        write_manifest(stage, self.guarantee, self.provenance, described)
        if self.private is None:
            return
        if keep_linkage and self.private.linkage is not None:
            _write_private(stage.private / LINKAGE, _linkage_bytes(self.private.linkage))
        write_record(stage, self.private, method=self.provenance.method, reading=reading or {})

    def verify(self, original: Data | None = None) -> Verdict:
        """Return the verdict on this release: written to a temporary folder, checked from there.

        Parameters
        ----------
        original
            The data it was made from; without it, conditions that need it are not checked.
        """
        from graphveil.verify import verify  # noqa: PLC0415  the checker is loaded when asked

        with tempfile.TemporaryDirectory(prefix="graphveil-") as place:
            folder = self.write(Path(place) / "release")
            return verify(folder, original=original)

    def __repr__(self) -> str:
        """Return the method, the promise and the size."""
        return f"Release({self.provenance.method}: {self.guarantee.sentence} {self.data!r})"


def read_release(folder: str | Path) -> Release:
    """Return the release in this folder, with the owner's part where it lies beside it.

    Reading checks no claim: `Release.verify` and ``graphveil verify`` do.

    Raises
    ------
    ReleaseError
        Where the folder is not a release.
    InputError
        Where a data file cannot be read.
    """
    place = Path(folder)
    manifest = read_manifest(place)
    return Release(
        data=read_data(place, manifest.data),
        guarantee=manifest.claim.guarantee,
        provenance=Provenance(
            method=manifest.method.name,
            source=manifest.method.source,
            parameters=manifest.method.parameters,
            tool=manifest.tool,
            version=manifest.version,
        ),
        private=_read_private(place),
    )


def _read_private(folder: Path) -> Private | None:
    record = read_record(folder)
    if record is None:
        return None
    return Private(
        input_sha256=record.input_sha256,
        seed=record.seed,
        cost=record.cost,
        warnings=tuple(record.warnings),
        left=tuple(record.left),
        seconds=record.seconds,
        linkage=read_linkage(folder),
    )


def read_linkage(folder: Path) -> Linkage | None:
    """Return the linkage beside a release folder, or None where it was not kept.

    Raises
    ------
    ReleaseError
        Where the file is there but has not the columns `original` and `released`.
    """
    path = private_folder(folder) / LINKAGE
    if not path.is_file():
        return None
    try:
        table = pq.read_table(path, columns=["original", "released"])
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise ReleaseError(f"{path}: not a linkage. Take the file as written.") from error
    return Linkage(
        as_ids(table["original"], what="original"), as_ids(table["released"], what="released")
    )


def _linkage_bytes(linkage: Linkage) -> bytes:
    columns = [to_arrow(linkage.original), pa.array(linkage.released)]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, names=["original", "released"]), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def write_manifest(
    stage: Staged, guarantee: AnyGuarantee, provenance: Provenance, described: Described
) -> None:
    """Write the public manifest beside the staged data files.

    Parameters
    ----------
    stage
        The folders that will become the release.
    guarantee, provenance
        As in `Release`.
    described
        The data files, as they were written.
    """
    manifest = Manifest(
        schema=SCHEMA,
        tool=provenance.tool,
        version=provenance.version,
        method=Method(
            name=provenance.method,
            source=provenance.source,
            parameters=dict(provenance.parameters),
        ),
        claim=Claim(
            guarantee=guarantee,
            sentence=guarantee.sentence,
            threat_model=guarantee.threat_model,
            does_not_protect_against=LIMITS[provenance.method],
            check=guarantee.check_word,
            why=guarantee.why,
        ),
        data=described,
    ).sealed()
    (stage.public / MANIFEST).write_bytes(encode(manifest))


def write_record(
    stage: Staged, private: Private, *, method: str, reading: Mapping[str, Any]
) -> None:
    """Write the owner's record, once the manifest and perhaps the linkage are staged.

    Parameters
    ----------
    stage
        The folders that will become the release.
    private
        What the owner may see.
    method
        The method's name.
    reading
        The options that the input was read with.
    """
    linkage = stage.private / LINKAGE
    record = Record(
        input_sha256=private.input_sha256,
        manifest_sha256=_sha256(stage.public / MANIFEST),
        linkage_sha256=_sha256(linkage) if linkage.is_file() else None,
        method=method,
        seed=private.seed,
        cost=dict(private.cost),
        warnings=list(private.warnings),
        left=list(private.left),
        reading=dict(reading),
        seconds=dict(private.seconds),
    )
    _write_private(stage.private / RECORD, encode(record))


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that its owner alone may read."""
    path.touch(mode=0o600)
    path.write_bytes(content)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

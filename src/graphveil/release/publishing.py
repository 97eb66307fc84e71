"""The one way into a release folder, for data in memory and for data on the disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.atomic import OWNER_ONLY
from graphveil.claims.conditions import AnyCondition
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.records.manifest import MANIFEST, SCHEMA, Claim, Described, Manifest, Method, encode
from graphveil.records.record import LINKAGE, RECORD, Record, refuse_second_release
from graphveil.release.linkage import write_linkage
from graphveil.release.provenance import Private, Provenance
from graphveil.release.staging import Staged, check_target, staged

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What is said of data files that were written.

    Parameters
    ----------
    described
        The data files.
    guarantee
        What is promised of them.
    conditions
        What is stated beside the guarantee.
    provenance
        Where they come from.
    private
        What their owner may see; None where it is not known.
    linkage
        Who became whom in the order of the original, as tables of the columns ``original`` and
        ``released``; asked for only where the linkage is kept.
    """

    described: Described
    guarantee: AnyGuarantee
    provenance: Provenance
    conditions: tuple[AnyCondition, ...] = ()
    private: Private | None = None
    linkage: Iterable[pa.Table] | None = None


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """How a release is written.

    Parameters
    ----------
    force
        Replace a release of that name, once the new one is whole.
    again
        Publish although an earlier record beside the folder is of the same input.
    linkage
        Keep which new id stands for which old one.
    reading
        The options that the input was read with, for the private record.
    """

    force: bool = False
    again: bool = False
    linkage: bool = True
    reading: Mapping[str, Any] = field(default_factory=dict)


def publish(
    folder: Path,
    write: Callable[[Path], Publication],
    *,
    input_sha256: str | None,
    options: WriteOptions,
) -> Path:
    """Put a release in its place with its manifest and the owner's private folder, or nothing.

    Parameters
    ----------
    folder
        The release folder; its private sibling is ``folder.private``.
    write
        Writes the data files into a folder, and returns what is said of them.
    input_sha256
        The digest of the input; None where it is not known.
    options
        How it is written.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ReleaseError
        Where the folder exists and `force` is off, or the input was published before.
    ResourceError
        Where the disk is full or the folder cannot be written.
    """
    check_publishable(folder, input_sha256, options)
    with staged(folder, force=options.force) as stage:
        publication = write(stage.public)
        write_manifest(stage.public, publication)
        if publication.private is not None:
            _write_private_folder(stage, publication, publication.private, options)
    return folder


def check_publishable(folder: Path, input_sha256: str | None, options: WriteOptions) -> None:
    """Refuse a release that must not be written, before any work is done.

    Parameters
    ----------
    folder, input_sha256, options
        As in `publish`.

    Raises
    ------
    ReleaseError, ResourceError
        As `publish`.
    """
    check_target(folder, force=options.force)
    if input_sha256 is not None and not options.again:
        refuse_second_release(folder, input_sha256)


def write_manifest(public: Path, publication: Publication) -> None:
    """Write the public manifest beside the data files that it describes."""
    guarantee, provenance = publication.guarantee, publication.provenance
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
            conditions=list(publication.conditions),
            sentence=guarantee.sentence,
            threat_model=guarantee.threat_model,
            does_not_protect_against=provenance.limits,
            check=guarantee.check_word,
            why=guarantee.why,
        ),
        data=publication.described,
    ).sealed()
    (public / MANIFEST).write_bytes(encode(manifest))


def _write_private_folder(
    stage: Staged, publication: Publication, private: Private, options: WriteOptions
) -> None:
    """Write the linkage where it is kept, and the record, once the manifest is staged."""
    linkage = stage.private / LINKAGE
    if options.linkage and publication.linkage is not None:
        write_linkage(publication.linkage, stage.private)
    record = Record(
        input_sha256=private.input_sha256,
        manifest_sha256=_sha256(stage.public / MANIFEST),
        linkage_sha256=_sha256(linkage) if linkage.is_file() else None,
        method=publication.provenance.method,
        seed=private.seed,
        cost=dict(private.cost),
        warnings=list(private.warnings),
        unprotected=list(private.unprotected),
        withheld=dict(private.withheld),
        reading=dict(options.reading),
        seconds=dict(private.seconds),
    )
    _write_private(stage.private / RECORD, encode(record))


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that its owner alone may read."""
    path.touch(mode=OWNER_ONLY)
    path.write_bytes(content)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

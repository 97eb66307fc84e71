"""The one way into a release folder, for data in memory and for data on the disk."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from graphveil.claims.conditions import AnyCondition
from graphveil.claims.digest import digest_of_file
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.ledger import Composed, Spent
from graphveil.claims.manifest import MANIFEST, SCHEMA, Claim, Described, Manifest, Method, encode
from graphveil.claims.record import (
    LEVELS,
    LINKAGE,
    PRIVATE,
    RECORD,
    WITNESS,
    Record,
    ledger_entry_in,
    owners_of_others,
)
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import GraphveilError, Message, warn
from graphveil.core.storage import Place
from graphveil.core.warnings import Advice, OtherReleasesWarning
from graphveil.release.linkage import Private, Provenance, linkage_in, write_owners
from graphveil.release.staging import check_target, leftovers_beside, staged

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
    advice
        What the owner was warned of while files were written, for the private record.
    linkage
        Who became whom in the order of the original, as tables of the columns ``original`` and
        ``released``; asked for only where the linkage is kept.
    levels
        The level of everyone, as tables of the columns ``original`` and ``level``.
    witness
        Which persons each record was chosen to fit, as tables of the columns ``record`` and
        ``person``; asked for only where the linkage is kept.
    linkage_sha256
        The digest of the linkage, where it was written with the data.
    """

    described: Described
    guarantee: AnyGuarantee
    provenance: Provenance
    conditions: tuple[AnyCondition, ...] = ()
    private: Private | None = None
    advice: tuple[str, ...] = ()
    linkage: Iterable[pa.Table] | None = None
    levels: Iterable[pa.Table] | None = None
    witness: Iterable[pa.Table] | None = None
    linkage_sha256: str | None = None


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """How a release is written.

    Parameters
    ----------
    force
        Replace a release of that name, once the new one is whole.
    warned
        What `forewarn` has told the owner before the work: it is not said again.
    linkage
        Keep which new id stands for which old one.
    reading
        The options that the input was read with, for the private record.
    private
        The private folder, where it does not lie beside the release.
    trial
        Whether it is one of several trials of one sweep, which lie beside each other: their owner
        knows of them, and none warns of the others.
    """

    force: bool = False
    warned: tuple[str, ...] = ()
    linkage: bool = True
    reading: Mapping[str, Any] = field(default_factory=dict)
    private: Path | None = None
    trial: bool = False


def publish(
    folder: Path,
    write: Callable[[Path], Publication],
    *,
    input_digests: frozenset[str],
    options: WriteOptions,
    nested_in: tuple[str, ...] = (),
    spent: Spent | None = None,
) -> Path:
    """Put a release in its place with its manifest and the owner's private folder, or nothing.

    Parameters
    ----------
    folder
        The release folder; its private sibling is ``folder.private``.
    write
        Writes the data files into a folder, and returns what is said of them.
    input_digests
        Those of the input, and of what it was read from; none where they are not known.
    options
        How it is written.
    nested_in, spent
        As in `Private`.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ReleaseError
        Where the folder exists and `force` is off.
    ResourceError
        Where the disk is full or the folder cannot be written.

    Warns
    -----
    GraphveilWarning
        As `forewarn`.
    """
    check_target(folder, force=options.force, private=options.private)
    forewarn(folder, warned=options.warned, private=options.private)
    known = frozenset[str]() if spent is None else spent.known
    beside: tuple[str, ...] = ()
    if not options.trial:
        beside = forewarn_of_others(
            folder,
            input_digests,
            nested_in=nested_in,
            warned=options.warned,
            known=known,
            private=options.private,
        )
    composed = None if spent is None or beside else spent.composed
    with staged(folder, force=options.force, private=options.private) as stage:
        publication = write(stage.public)
        write_manifest(stage.public, publication, composed)
        if publication.private is not None:
            digest = digest_of_file(stage.public / MANIFEST)
            private = with_warnings(publication.private, publication, beside)
            write_private_folder(stage.private, publication, private, digest, options)
    return folder


def forewarn(
    folder: Place,
    *,
    warned: tuple[str, ...] = (),
    on_disk: bool = False,
    private: Place | None = None,
) -> tuple[str, ...]:
    """Warn of what a killed run left beside a release, before any work; return what was said.

    Parameters
    ----------
    folder
        The release folder.
    warned
        What was said before, and is not said again.
    on_disk, private
        As in `leftovers_beside`.
    """
    return say_once(leftovers_beside(folder, on_disk=on_disk, private=private), warned)


def forewarn_of_others(
    folder: Place,
    input_digests: frozenset[str],
    *,
    nested_in: tuple[str, ...] = (),
    warned: tuple[str, ...] = (),
    known: frozenset[str] = frozenset(),
    private: Place | None = None,
) -> tuple[str, ...]:
    """Warn of other releases of the input beside a release; return it for the private record.

    Parameters
    ----------
    folder, warned
        As in `forewarn`.
    input_digests
        As in `publish`.
    nested_in
        The digests of the linkages of releases that do not count: this one is nested in them.
    known
        The entries of a ledger: releases that it holds do not count, their epsilons are added.
    private
        As in `owners_of_others`.
    """
    try:
        owners_of = owners_of_others(folder, input_digests, private)
    except GraphveilError:
        return say_once((_unlisted(private),), warned)
    others = [
        owners.name.removesuffix(PRIVATE)
        for owners in owners_of
        if (not nested_in or _linkage_digest(owners) not in nested_in)
        and ledger_entry_in(owners) not in known
    ]
    return say_once(several_releases(others), warned)


def _unlisted(private: Place | None) -> Advice:
    return Advice(
        f"what lies beside {private} cannot be listed, so other releases of this input there are "
        "not known: publish one of them only",
        OtherReleasesWarning,
    )


def several_releases(names: Sequence[str]) -> tuple[str, ...]:
    """Return the warning of other releases of one input; none where there are none.

    Examples
    --------
    >>> several_releases(["likes-k8", "likes-k9"])[0].partition(":")[0]
    '2 other releases of this input lie beside it, the first likes-k8'
    """
    if not names:
        return ()
    others = f"1 other release of this input lies beside it, {names[0]}"
    if len(names) > 1:
        others = f"{len(names)} other releases of this input lie beside it, the first {names[0]}"
    return (Advice(f"{others}: publish one of them only, or nest them", OtherReleasesWarning),)


def say_once(texts: tuple[str, ...], warned: tuple[str, ...]) -> tuple[str, ...]:
    """Warn of what was not said before, and return all of it as text."""
    for text in texts:
        if text not in warned:
            warn(text)
    return tuple(map(str, texts))


def _linkage_digest(private: Place) -> str | None:
    """Return what tells the linkage in a private folder from others; None where there is none."""
    if not isinstance(private, Path):
        return None
    try:
        linkage = linkage_in(private)
    except GraphveilError:
        return None
    return None if linkage is None else linkage.digest


def write_manifest(
    public: Path, publication: Publication, composed: Composed | None = None
) -> None:
    """Write the public manifest beside the data files that it describes.

    Parameters
    ----------
    public
        The folder.
    publication, composed
        As of `manifest_of`.
    """
    (public / MANIFEST).write_bytes(encode(manifest_of(publication, composed)))


def manifest_of(publication: Publication, composed: Composed | None = None) -> Manifest:
    """Return the public manifest of data files.

    Parameters
    ----------
    publication
        What is said of the files.
    composed
        What a ledger of epsilons holds; None where there is none, or it lacks a release.
    """
    guarantee, provenance = publication.guarantee, publication.provenance
    return Manifest(
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
        ledger=msgspec.UNSET if composed is None else composed,
    ).sealed()


def with_warnings(private: Private, publication: Publication, beside: tuple[str, ...]) -> Private:
    """Return what the owner may see with all that was said of the release, each once."""
    advice = (str(Message(text)) for text in publication.advice)
    said = tuple(dict.fromkeys((*private.warnings, *advice, *beside)))
    return dataclasses.replace(private, warnings=said)


def write_private_folder(
    folder: Path,
    publication: Publication,
    private: Private,
    manifest_sha256: str,
    options: WriteOptions,
) -> None:
    """Write the linkage where it is kept, and the record.

    Parameters
    ----------
    folder
        The private folder.
    publication, private, options
        As in `publish`.
    manifest_sha256
        The digest of the manifest.
    """
    kept = {LEVELS: publication.levels}
    if options.linkage:
        kept |= {LINKAGE: publication.linkage, WITNESS: publication.witness}
    digests = {
        name: _written(tables, folder / name) for name, tables in kept.items() if tables is not None
    }
    record = record_of(publication, private, manifest_sha256, digests, options)
    _write_private(folder / RECORD, encode(record))


def record_of(
    publication: Publication,
    private: Private,
    manifest_sha256: str,
    digests: Mapping[str, str],
    options: WriteOptions,
) -> Record:
    """Return the private record; the digests are those of the owner's files by their names."""
    return Record(
        input_sha256=private.input_sha256,
        origins_sha256=list(private.origins_sha256),
        manifest_sha256=manifest_sha256,
        linkage_sha256=digests.get(LINKAGE),
        method=publication.provenance.method,
        seed=private.seed,
        cost=dict(private.cost),
        warnings=list(private.warnings),
        unprotected=list(private.unprotected),
        withheld=dict(private.withheld),
        unrecorded=list(private.unrecorded),
        reading=dict(options.reading),
        seconds=dict(private.seconds),
        nested_in=list(private.nested_in),
        ledger=None if private.spent is None else private.spent.note,
        levels_sha256=digests.get(LEVELS),
        witness_sha256=digests.get(WITNESS),
    )


def _written(tables: Iterable[pa.Table], path: Path) -> str:
    """Write tables for the owner alone, and return the file's digest."""
    write_owners(tables, path)
    return digest_of_file(path)


def _write_private(path: Path, content: bytes) -> None:
    """Write a file that its owner alone may read."""
    path.touch(mode=OWNER_ONLY)
    path.write_bytes(content)

"""The one way into a release folder or to its address, for data in memory and on the disk."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from graphveil.claims.conditions import AnyCondition
from graphveil.claims.digest import digest_of_file
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.ledger import Composed, LedgerReceipt
from graphveil.claims.manifest import (
    MANIFEST,
    SCHEMA,
    UNFINISHED,
    Claim,
    Described,
    Manifest,
    Method,
    encode,
)
from graphveil.claims.record import (
    LEVELS,
    LINKAGE,
    PRIVATE,
    RECORD,
    WITNESS,
    Record,
    ledger_entry_in,
    linkage_part,
    owners_of_others,
)
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import GraphveilError, Message, ReleaseError, UsageError, warn
from graphveil.core.storage import PROBE, Address, Place, is_partial
from graphveil.core.warnings import Advice, OtherReleasesWarning
from graphveil.release.linkage import Private, Provenance, linkage_in, write_owners
from graphveil.release.staging import (
    check_place,
    is_written,
    leftovers_beside,
    local_folder,
    names_at,
    staged,
    staged_private,
)

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


class Output(NamedTuple):
    """Where a release is written, and how.

    Parameters
    ----------
    folder
        The release folder; its private sibling is ``folder.private``. Of rows in parts it may be
        an address.
    format
        The format of the released data; None for the one that came in, or the one next to it.
    force
        Replace a release of that name, once the new one is whole.
    linkage
        Keep which new id stands for which old one.
    parts
        Whether Parquet of a run on the disk or on a cluster comes in parts of 1,048,576 users;
        None for parts where there are more.
    private
        The private folder, where it shall not lie beside the release.
    reading
        The options that the input was read with, for the private record.
    trial
        Whether it is one of several trials of one sweep, which lie beside each other: their owner
        knows of them, and none warns of the others.
    """

    folder: Place
    format: str | None = None
    force: bool = False
    linkage: bool = True
    parts: bool | None = None
    private: Place | None = None
    reading: Mapping[str, Any] = MappingProxyType({})
    trial: bool = False


def publish(
    output: Output,
    write: Callable[[Any], Publication],
    *,
    input_digests: frozenset[str],
    nested_in: tuple[str, ...] = (),
    spent: LedgerReceipt | None = None,
) -> None:
    """Put a release in its place with its manifest and the owner's private record, or nothing.

    Raises `UsageError, ReleaseError, ResourceError`: as `check_place`; also where the disk is full,
    or a place begins to refuse what is written. Warns `GraphveilWarning` where a killed run left
    something, or other releases of the input lie beside it.

    Parameters
    ----------
    output
        Where it is written, and how.
    write
        Writes the data files into a folder or at an address, at which it writes the linkage too
        where that is kept at one, and returns what is said of them.
    input_digests
        Those of the input, and of what it was read from; none where they are not known.
    nested_in, spent
        As in `Private`.
    """
    out, private = output.folder, output.private
    check_place(out, force=output.force, private=private)
    if not isinstance(out, Address):
        warn_of_leftovers(out, private=private)
    known = frozenset[str]() if spent is None else spent.known
    beside: tuple[str, ...] = ()
    if not output.trial:
        beside = warn_of_others(
            out, input_digests, nested_in=nested_in, known=known, private=private
        )
    if isinstance(out, Address):
        _publish_at(out, cast("Place", private), write, beside, output)  # checked to have one
        return
    with staged(
        out, force=output.force, private=local_folder(private) if private else None
    ) as stage:
        publication = write(stage.public)
        composed = None if spent is None or beside else spent.composed
        manifest = encode(manifest_of(publication, composed))
        (stage.public / MANIFEST).write_bytes(manifest)
        write_private_folder(stage.private, publication, manifest, beside, output)


def warn_of_leftovers(out: Place, *, on_disk: bool = False, private: Place | None = None) -> None:
    """Warn of what a killed run left in place of a release, or beside it."""
    for text in leftovers_beside(out, on_disk=on_disk, private=private):
        warn(text)


def warn_of_others(
    out: Place,
    input_digests: frozenset[str],
    *,
    nested_in: tuple[str, ...] = (),
    known: frozenset[str] = frozenset(),
    private: Place | None = None,
) -> tuple[str, ...]:
    """Warn of other releases of the input beside a release; return it for the private record.

    Parameters
    ----------
    out
        The release folder, or its address.
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
        owners_of = owners_of_others(out, input_digests, private)
    except GraphveilError:
        unlisted = (
            f"the location of {private} cannot be listed, so other releases of this input in it "
            "are not known: publish only one of them"
        )
        warn(unlisted, OtherReleasesWarning)
        return (unlisted,)
    others = [
        owners.name.removesuffix(PRIVATE)
        for owners in owners_of
        if (not nested_in or _linkage_digest(owners) not in nested_in)
        and ledger_entry_in(owners) not in known
    ]
    texts = several_releases(others)
    for text in texts:
        warn(text)
    return tuple(map(str, texts))


def several_releases(names: Sequence[str]) -> tuple[str, ...]:
    """Return the warning of other releases of one input; none where there are none.

    Examples
    --------
    >>> several_releases(["likes-k8", "likes-k9"])[0].partition(":")[0]
    '2 other releases of this input are next to it, the first is likes-k8'
    """
    if not names:
        return ()
    others = f"1 other release of this input is next to it, {names[0]}"
    if len(names) > 1:
        others = (
            f"{len(names)} other releases of this input are next to it, the first is {names[0]}"
        )
    return (Advice(f"{others}: publish only one of them, or nest them", OtherReleasesWarning),)


def _linkage_digest(private: Place) -> str | None:
    """Return what tells the linkage in a private folder from others; None where there is none."""
    if not isinstance(private, Path):
        return None
    try:
        linkage = linkage_in(private)
    except GraphveilError:
        return None
    return None if linkage is None else linkage.digest


def manifest_of(publication: Publication, composed: Composed | None = None) -> Manifest:
    """Return the public manifest of data files.

    `publication`: what is said of the files; `composed`: what a ledger of epsilons holds; None
    where there is none, or it lacks a release.
    """
    guarantee, provenance = publication.guarantee, publication.provenance
    return Manifest(
        schema=SCHEMA,
        tool=provenance.tool,
        version=provenance.version,
        method=Method(
            name=provenance.method, source=provenance.source, parameters=dict(provenance.parameters)
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


def write_private_folder(
    folder: Path, publication: Publication, manifest: bytes, beside: tuple[str, ...], output: Output
) -> None:
    """Write the linkage where it is kept, and the record, where the owner's part is known.

    `folder`: the private folder; `publication, output`: as in `publish`; `beside`: what the owner
    was told of other releases.
    """
    if publication.private is None:
        return
    kept = {LEVELS: publication.levels}
    if output.linkage:
        kept |= {LINKAGE: publication.linkage, WITNESS: publication.witness}
    digests = {}
    for name, tables in kept.items():
        if tables is not None:
            write_owners(tables, folder / name)
            digests[name] = digest_of_file(folder / name)
    record = folder / RECORD
    record.touch(mode=OWNER_ONLY)
    record.write_bytes(record_of(publication, manifest, digests, beside, output))


def record_of(
    publication: Publication,
    manifest: bytes,
    digests: Mapping[str, str],
    beside: tuple[str, ...],
    output: Output,
) -> bytes:
    """Return the private record; the digests are those of the owner's files by their names."""
    private = cast("Private", publication.private)
    advice = (str(Message(text)) for text in publication.advice)
    record = Record(
        input_sha256=private.input_sha256,
        origins_sha256=list(private.origins_sha256),
        manifest_sha256=hashlib.sha256(manifest).hexdigest(),
        linkage_sha256=digests.get(LINKAGE),
        method=publication.provenance.method,
        seed=private.seed,
        cost=dict(private.cost),
        warnings=list(dict.fromkeys((*private.warnings, *advice, *beside))),
        unprotected=list(private.unprotected),
        withheld=dict(private.withheld),
        unrecorded=list(private.unrecorded),
        assignment=private.assignment,
        ancestors={
            name: {value: list(nodes) for value, nodes in above.items()}
            for name, above in private.ancestors.items()
        },
        reading=dict(output.reading),
        seconds=dict(private.seconds),
        nested_in=list(private.nested_in),
        ledger=None if private.spent is None else private.spent.note,
        levels_sha256=digests.get(LEVELS),
        witness_sha256=digests.get(WITNESS),
    )
    return encode(record)


def _publish_at(
    out: Address,
    private: Place,
    write: Callable[[Any], Publication],
    beside: tuple[str, ...],
    output: Output,
) -> None:
    """Put a release at an address, with its private record in another place, or nothing.

    Stores of objects rename nothing: parts are written first, then what is private, and the
    manifest last, without which nothing is a release. What fails is taken away again; where the
    process is killed, an object says that the run did not end.
    """
    addresses = [place for place in (private, out) if isinstance(place, Address)]
    mark = _Mark()
    try:
        for address in addresses:
            _begin(address, mark, private=address is private)
        publication = write(out)
        manifest = encode(manifest_of(publication))
        _write_private(out, private, publication, manifest, beside, output, mark)
        try:
            _close(out, {file.name for file in publication.described.files}, mark)
            out.put_bytes(MANIFEST, manifest)
        except Exception:
            if isinstance(private, Path) and not output.force:
                shutil.rmtree(private, ignore_errors=True)
            raise
    except Exception as error:
        for address in addresses:
            with suppress(GraphveilError, OSError):
                if mark.is_own(address):
                    _empty(address, is_public=address is out)
        if isinstance(error, UsageError):  # the place refused what it took before the run
            raise ReleaseError(str(error)) from error
        raise


class _Mark:
    """The object that says that this run writes at an address, and no other one since."""

    def __init__(self) -> None:
        self._content = secrets.token_bytes(16)
        self._lifted: set[Address] = set()

    def put(self, address: Address) -> None:
        """Put it there, in place of that of another run."""
        address.put_bytes(UNFINISHED, self._content)

    def lift(self, address: Address) -> None:
        """Take it away: what lies there is whole."""
        self._lifted.add(address)
        address.delete(UNFINISHED)

    def is_own(self, address: Address) -> bool:
        """Whether this run was the last to mark the address."""
        try:
            return (address / UNFINISHED).read_bytes() == self._content
        except FileNotFoundError:
            return address in self._lifted


def _begin(address: Address, mark: _Mark, *, private: bool) -> None:
    """Mark an address as unfinished, and take away what another run left there."""
    if private:
        address.close_to_others()
    mark.put(address)
    own = RECORD if private else MANIFEST
    names = [name for name in names_at(address) if is_written(name, is_public=not private)]
    for name in sorted(names, key=lambda name: name != own):
        address.delete(name)


def _close(address: Address, expected: set[str], mark: _Mark) -> None:
    """Take the mark away, once it is this run's, and nothing but what is expected lies there.

    Raises `ReleaseError` where something else lies there, or another run writes to the same place.
    """
    if not mark.is_own(address):
        raise ReleaseError(
            f"another run wrote to {address} in the meantime, so nothing of this run was "
            "published. Wait until the other run ends, or choose another name."
        )
    for name, size in address.entries():
        if size is not None and (is_partial(name) or name.startswith(PROBE)):
            address.delete(name)
    strange = set(names_at(address)) ^ (expected | {UNFINISHED})
    if strange:
        raise ReleaseError(
            f"{address}: {min(strange)} appeared or disappeared while the release was being "
            "written, so nothing was published. Make sure that no other run writes there, then "
            "run the same command again."
        )
    mark.lift(address)


def _empty(address: Address, *, is_public: bool) -> None:
    """Take away all that a run wrote, the mark last."""
    names = [entry.name for entry in address.entries() if entry.size is not None]
    for name in sorted(names, key=lambda name: name == UNFINISHED):
        if name == UNFINISHED or is_partial(name) or is_written(name, is_public=is_public):
            address.delete(name)
    address.clear()


def _write_private(
    out: Address,
    place: Place,
    publication: Publication,
    manifest: bytes,
    beside: tuple[str, ...],
    output: Output,
    mark: _Mark,
) -> None:
    """Write record and linkage into a folder; at an address the linkage is there before."""
    if isinstance(place, Path):
        with staged_private(place, force=output.force, release=out) as folder:
            write_private_folder(folder, publication, manifest, beside, output)
        return
    linked = publication.linkage_sha256
    n_linked = 0 if linked is None else len(publication.described.files)
    _close(place, {linkage_part(number) for number in range(n_linked)}, mark)
    digests = {} if linked is None else {LINKAGE: linked}
    place.put_bytes(RECORD, record_of(publication, manifest, digests, beside, output))

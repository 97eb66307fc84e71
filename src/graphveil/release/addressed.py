"""A release at an address: parts first, the manifest last, and nothing is one without it.

Stores of objects rename nothing, so what is not finished is marked by an object of its own.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from graphveil.claims import manifest as parts
from graphveil.claims.manifest import MANIFEST, encode
from graphveil.claims.record import LINKAGE, RECORD, linkage_part
from graphveil.core.errors import GraphveilError, ReleaseError, UsageError, option
from graphveil.core.storage import PROBE, Address, Place, is_partial
from graphveil.core.warnings import Advice, LeftoverWarning
from graphveil.release.publishing import (
    Publication,
    WriteOptions,
    forewarn_of_others,
    manifest_of,
    record_of,
    say_once,
    with_warnings,
    write_private_folder,
)
from graphveil.release.staging import (
    check_apart,
    check_free,
    check_target,
    check_writable,
    is_written,
    staged_private,
)


def check_place(out: Place, *, force: bool, private: Place | None = None) -> None:
    """Refuse a folder or an address that must not be written, before any work is done.

    Parameters
    ----------
    out
        Where the release shall lie.
    force
        Whether a release there is replaced.
    private
        Where its private record shall lie; at an address nothing lies beside it.

    Raises
    ------
    UsageError
        Where an address has no private place, is refused by its store, or lies in the other.
    ReleaseError
        Where something lies there and force is off; or where no release wrote it.
    ResourceError
        Where a place cannot be reached.
    """
    if not isinstance(out, Address):
        check_target(out, force=force, private=private)
        return
    if private is None:
        raise UsageError(
            f"{out} is an address, and nothing private lies beside one. Name a place for the "
            f"record and the linkage with {option('private')}."
        )
    check_apart({"out": out, "private": private})
    if isinstance(private, Path):
        check_writable(private)
        check_free((private,), force=force, release=out)
    else:
        _check_free_at(private, RECORD, force=force)
    _check_free_at(out, MANIFEST, force=force)
    for place in (out, private):
        if isinstance(place, Address):
            place.probe()


def _check_free_at(address: Address, own: str, *, force: bool) -> None:
    """Refuse an address beneath which something lies, unless it is to be replaced, or unfinished.

    Parameters
    ----------
    own
        The object that says that it is whole.
    """
    names, links = _names_at(address), address.links()
    if links:
        raise ReleaseError(
            f"{links[0]} is a link, so nothing is written to what it names. Name a folder without "
            "links."
        )
    if address.is_file() or (names and not force and parts.UNFINISHED not in names):
        raise ReleaseError(
            f"{address} exists. Choose another name, or replace it with "
            f"{option('force', value=True)}."
        )
    known = (n == parts.UNFINISHED or is_written(n, is_public=own == MANIFEST) for n in names)
    strange = [name for name, is_known in zip(names, known, strict=True) if not is_known]
    if strange:
        raise ReleaseError(
            f"{address} holds {strange[0]}, which no release wrote, so it is not replaced. Move "
            f"{strange[0]} away, or choose another name."
        )


def _names_at(address: Address) -> list[str]:
    """Return the names of the objects beneath an address, but of those that a probe left."""
    names = (entry.name for entry in address.entries() if entry.size is not None)
    return [name for name in names if not name.startswith(PROBE) and not is_partial(name)]


def forewarn_of_parts(
    out: Place, private: Place | None, warned: tuple[str, ...]
) -> tuple[str, ...]:
    """Warn of what a run that did not end left at addresses; return it for the private record."""
    texts = []
    for place in (out, private):
        names = _names_at(place) if isinstance(place, Address) else []
        if parts.UNFINISHED in names:
            n = len(names) - 1
            texts.append(
                Advice(
                    f"{place} holds {n} files of a run that did not end: they are overwritten",
                    LeftoverWarning,
                )
            )
    return say_once(tuple(texts), warned)


def publish_at(
    out: Address,
    private: Place,
    write: Callable[[Address], Publication],
    *,
    input_digests: frozenset[str],
    options: WriteOptions,
) -> None:
    """Put a release at an address, with its private record in another place, or nothing.

    Parts are written first, then what is private, and the manifest last. What fails is taken away
    again; where the process is killed, an object says that the run did not end.

    Parameters
    ----------
    out, private
        Where the release lies, and what is private.
    write
        Writes the parts, and those of the linkage if it is kept at an address, and returns what is
        said of them.
    input_digests, options
        As in `graphveil.release.publishing.publish`.

    Raises
    ------
    ReleaseError, ResourceError, UsageError
        As `check_place`.
    ReleaseError
        Where a place begins to refuse what is written.
    """
    check_place(out, force=options.force, private=private)
    beside = forewarn_of_others(out, input_digests, warned=options.warned, private=private)
    addresses = [place for place in (private, out) if isinstance(place, Address)]
    mark = _Mark()
    try:
        for address in addresses:
            _begin(address, mark, private=address is private)
        publication = write(out)
        manifest = encode(manifest_of(publication))
        _write_private(out, private, publication, manifest, beside, options, mark)
        try:
            _close(out, {file.name for file in publication.described.files}, mark)
            out.put_bytes(MANIFEST, manifest)
        except Exception:
            if isinstance(private, Path) and not options.force:
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
        address.put_bytes(parts.UNFINISHED, self._content)

    def lift(self, address: Address) -> None:
        """Take it away: what lies there is whole."""
        self._lifted.add(address)
        address.delete(parts.UNFINISHED)

    def is_own(self, address: Address) -> bool:
        """Whether this run was the last to mark the address."""
        try:
            return (address / parts.UNFINISHED).read_bytes() == self._content
        except FileNotFoundError:
            return address in self._lifted


def _begin(address: Address, mark: _Mark, *, private: bool) -> None:
    """Mark an address as unfinished, and take away what another run left there."""
    if private:
        address.close_to_others()
    mark.put(address)
    own = RECORD if private else MANIFEST
    names = [name for name in _names_at(address) if is_written(name, is_public=not private)]
    for name in sorted(names, key=lambda name: name != own):
        address.delete(name)


def _close(address: Address, expected: set[str], mark: _Mark) -> None:
    """Take the mark away, once it is this run's, and nothing but what is expected lies there.

    Raises
    ------
    ReleaseError
        Where something else lies there, or another run writes to the same place.
    """
    if not mark.is_own(address):
        raise ReleaseError(
            f"another run wrote to {address} meanwhile, so nothing of this one is published. Wait "
            "until it ends, or choose another name."
        )
    for name, size in address.entries():
        if size is not None and (is_partial(name) or name.startswith(PROBE)):
            address.delete(name)
    strange = set(_names_at(address)) ^ (expected | {parts.UNFINISHED})
    if strange:
        raise ReleaseError(
            f"{address}: {min(strange)} appeared or is gone while the release was made, so nothing "
            "is published. See that no other run writes there, and run the same command again."
        )
    mark.lift(address)


def _empty(address: Address, *, is_public: bool) -> None:
    """Take away all that a run wrote, the mark last."""
    names = [entry.name for entry in address.entries() if entry.size is not None]
    for name in sorted(names, key=lambda name: name == parts.UNFINISHED):
        if name == parts.UNFINISHED or is_partial(name) or is_written(name, is_public=is_public):
            address.delete(name)
    address.clear()


def _write_private(
    out: Address,
    place: Place,
    publication: Publication,
    manifest: bytes,
    beside: tuple[str, ...],
    options: WriteOptions,
    mark: _Mark,
) -> None:
    """Write record and linkage into a folder; at an address the linkage is there before."""
    if publication.private is None:
        return
    private = with_warnings(publication.private, publication, beside)
    sha256 = hashlib.sha256(manifest).hexdigest()
    if isinstance(place, Path):
        with staged_private(place, force=options.force, release=out) as folder:
            write_private_folder(folder, publication, private, sha256, options)
        return
    linked = publication.linkage_sha256
    digests = {} if linked is None else {LINKAGE: linked}
    record = record_of(publication, private, sha256, digests, options)
    n_linked = 0 if linked is None else len(publication.described.files)
    _close(place, {linkage_part(number) for number in range(n_linked)}, mark)
    place.put_bytes(RECORD, encode(record))

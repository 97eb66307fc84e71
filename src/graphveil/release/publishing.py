"""The one way into a release folder or to its address, for data in memory and on the disk."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from graphveil.claims import parts
from graphveil.claims.conditions import AnyCondition
from graphveil.claims.facts import digest_of_file
from graphveil.claims.guarantees import AnyGuarantee
from graphveil.claims.ledger import Composed, LedgerReceipt
from graphveil.claims.manifest import MANIFEST, SCHEMA, Claim, Described, Manifest, Method, encode
from graphveil.claims.neighbors import check_outside, identity_in, ledger_entry_in, owners_of_others
from graphveil.claims.record import (
    ATTACKED,
    LEVELS,
    LINKAGE,
    LINKED,
    NOTES,
    OWNERS_PAGE,
    PRIVATE,
    RECORD,
    WITNESS,
    Record,
    is_linkage_part,
    linkage_part,
    private_folder,
)
from graphveil.core import atomic
from graphveil.core.atomic import OWNER_ONLY
from graphveil.core.errors import GraphveilError, ReleaseError, ResourceError, UsageError
from graphveil.core.hints import Message, option
from graphveil.core.storage import PROBE, Address, Place, is_partial, located, without_secrets
from graphveil.core.text import counted
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import Advice, OtherReleasesWarning, StaleFilesWarning
from graphveil.release.files import Private, Provenance, is_data_file, write_owners
from graphveil.release.options import RunOptions

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What is said of data files that were written."""

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
    reading: Mapping[str, Any] = field(default_factory=dict)


def publish(
    run: RunOptions,
    write: Callable[[Any], Publication],
    *,
    input_digests: frozenset[str],
    nested_in: tuple[str, ...] = (),
    spent: LedgerReceipt | None = None,
    reading: Mapping[str, Any] = MappingProxyType({}),
    trial: bool = False,
) -> None:
    """Put a release in its place with its manifest and the owner's private record, or nothing."""
    out, private = run.out, run.private
    check_place(out, force=run.force, private=private)
    if not isinstance(out, Address):
        warn_of_leftovers(out, private=private)
    known = frozenset[str]() if spent is None else spent.known
    beside: tuple[str, ...] = ()
    if not trial:
        beside = warn_of_others(
            out, input_digests, nested_in=nested_in, known=known, private=private
        )
    if isinstance(out, Address):
        _publish_at(
            out,
            cast("Place", private),  # checked to be given
            lambda address: replace(write(address), reading=reading),
            beside,
            run,
        )
        return
    with staged(out, force=run.force, private=local_folder(private) if private else None) as stage:
        publication = replace(write(stage.public), reading=reading)
        composed = None if spent is None or beside else spent.composed
        manifest = encode(manifest_of(publication, composed))
        (stage.public / MANIFEST).write_bytes(manifest)
        write_private_folder(stage.private, publication, manifest, beside, run)


def warn_of_leftovers(out: Place, *, on_disk: bool = False, private: Place | None = None) -> None:
    """Warn of what a killed run left in place of a release, or next to it."""
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
    """Warn of other releases of the input next to a release; return it for the private record."""
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
        if (not nested_in or identity_in(owners) not in nested_in)
        and ledger_entry_in(owners) not in known
    ]
    texts = several_releases(others)
    for text in texts:
        warn(text)
    return tuple(map(str, texts))


def several_releases(names: Sequence[str]) -> tuple[str, ...]:
    """Return the warning of other releases of one input; none where there are none."""
    if not names:
        return ()
    others = f"1 other release of this input is next to it, {names[0]}"
    if len(names) > 1:
        others = (
            f"{len(names)} other releases of this input are next to it, the first is {names[0]}"
        )
    return (Advice(f"{others}: publish only one of them, or nest them", OtherReleasesWarning),)


def manifest_of(publication: Publication, composed: Composed | None = None) -> Manifest:
    """Return the public manifest of data files."""
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
    folder: Path,
    publication: Publication,
    manifest: bytes,
    beside: tuple[str, ...],
    run: RunOptions,
) -> None:
    """Write the linkage where it is kept, and the record, where the owner's part is known."""
    if publication.private is None:
        return
    kept = {LEVELS: publication.levels}
    if run.linkage:
        kept |= {LINKAGE: publication.linkage, WITNESS: publication.witness}
    digests = {}
    for name, tables in kept.items():
        if tables is not None:
            write_owners(tables, folder / name)
            digests[name] = digest_of_file(folder / name)
    record = folder / RECORD
    record.touch(mode=OWNER_ONLY)
    record.write_bytes(record_of(publication, manifest, digests, beside))


def record_of(
    publication: Publication,
    manifest: bytes,
    digests: Mapping[str, str],
    beside: tuple[str, ...],
) -> bytes:
    """Return the private record; the digests are those of the owner's files by their names."""
    private = cast("Private", publication.private)
    advice = (str(Message(text)) for text in publication.advice)
    record = Record(
        **{name: getattr(private, name) for name in NOTES}
        | {"warnings": tuple(dict.fromkeys((*private.warnings, *advice, *beside)))},
        manifest_sha256=hashlib.sha256(manifest).hexdigest(),
        linkage_sha256=digests.get(LINKAGE),
        levels_sha256=digests.get(LEVELS),
        witness_sha256=digests.get(WITNESS),
        method=publication.provenance.method,
        reading=dict(publication.reading),
        ledger=None if private.spent is None else private.spent.note,
    )
    return encode(record)


def _publish_at(
    out: Address,
    private: Place,
    write: Callable[[Any], Publication],
    beside: tuple[str, ...],
    run: RunOptions,
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
        _write_private(out, private, publication, manifest, beside, run, mark)
        try:
            _close(out, {file.name for file in publication.described.files}, mark)
            out.put_bytes(MANIFEST, manifest)
        except Exception:
            if isinstance(private, Path) and not run.force:
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
        """Take it away: what is there is whole."""
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
    names = [name for name in names_at(address) if is_written(name, is_public=not private)]
    for name in sorted(names, key=lambda name: name != own):
        address.delete(name)


def _close(address: Address, expected: set[str], mark: _Mark) -> None:
    """Take the mark away, once it is this run's, and nothing but what is expected is there."""
    if not mark.is_own(address):
        raise ReleaseError(
            f"another run wrote to {address} in the meantime, so nothing of this run was "
            "published. Wait until the other run ends, or choose another name."
        )
    for name, size in address.entries():
        if size is not None and (is_partial(name) or name.startswith(PROBE)):
            address.delete(name)
    strange = set(names_at(address)) ^ (expected | {parts.UNFINISHED})
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
    run: RunOptions,
    mark: _Mark,
) -> None:
    """Write record and linkage into a folder; at an address the linkage is there before."""
    if isinstance(place, Path):
        with staged_private(place, force=run.force, release=out) as folder:
            write_private_folder(folder, publication, manifest, beside, run)
        return
    linked = publication.linkage_sha256
    n_linked = 0 if linked is None else len(publication.described.files)
    _close(place, {linkage_part(number) for number in range(n_linked)}, mark)
    digests = {} if linked is None else {LINKAGE: linked}
    place.put_bytes(RECORD, record_of(publication, manifest, digests, beside))


_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")
"""How an address begins, also one that was taken for a path: two slashes are one there."""

_FULL = {errno.ENOSPC, errno.EDQUOT}

_PRIVATE_FILES = {RECORD, LINKAGE, LEVELS, WITNESS, OWNERS_PAGE}


class Staged(NamedTuple):
    """The two folders to write into."""

    public: Path
    private: Path


def check_target(folder: Place, *, force: bool, private: Place | None = None) -> None:
    """Refuse a target that must not be written, before any work is done."""
    folder = local_folder(folder)
    if isinstance(private, Address):
        raise UsageError(
            f"{private} is an address, but {folder} is a folder. Give a folder for both, or an "
            "address for both."
        )
    for path in (folder,) if private is None else (folder, private):
        check_writable(path)
    if private is None:
        private = private_folder(folder)
        atomic.check_name(private)
    else:
        _check_elsewhere(folder, private)
    for path in (folder, private):
        check_outside(path, is_folder=True)
    check_free((folder, private), force=force, release=folder)


def check_place(out: Place, *, force: bool, private: Place | None = None) -> None:
    """Refuse a folder or an address that must not be written, before any work is done."""
    if not isinstance(out, Address):
        check_target(out, force=force, private=private)
        return
    if private is None:
        raise UsageError(
            f"{out} is an address, and private files are never stored next to one. Choose where "
            f"to store the record and the linkage with {option('private')}."
        )
    check_apart({"out": out, "private": private})
    for place in (out, private):
        check_outside(place, is_folder=True)
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
    """Refuse an address with something beneath it, unless it is to be replaced, or unfinished."""
    names, links = names_at(address), address.links()
    if links:
        raise ReleaseError(
            f"{links[0]} is a link, so nothing is written to its target. Give a folder without "
            "links."
        )
    if address.is_file() or (names and not force and parts.UNFINISHED not in names):
        raise ReleaseError(
            f"{address} already exists. Choose another name, or replace it with "
            f"{option('force', value=True)}."
        )
    known = (n == parts.UNFINISHED or is_written(n, is_public=own == MANIFEST) for n in names)
    strange = [name for name, is_known in zip(names, known, strict=True) if not is_known]
    if strange:
        raise ReleaseError(
            f"{address} contains {strange[0]}, which graphveil did not write, so it is not "
            f"replaced. Move {strange[0]} away, or choose another name."
        )


def names_at(address: Address) -> list[str]:
    """Return the names of the objects beneath an address, but of those that a probe left."""
    names = (entry.name for entry in address.entries() if entry.size is not None)
    return [name for name in names if not name.startswith(PROBE) and not is_partial(name)]


def local_folder(place: Place) -> Path:
    """Return a folder of this machine; an address is refused."""
    if isinstance(place, Address):
        raise _no_folder(str(place))
    return place


def check_free(paths: tuple[Path, ...], *, force: bool, release: Place) -> None:
    """Refuse folders that stand there and are not replaced."""
    for path in paths:
        if (path.exists() or path.is_symlink()) and not force:
            replaced = option("force", value=True)
            raise ReleaseError(
                f"{path} already exists. Choose another name, or replace it with {replaced}."
            )
        if path.is_symlink():
            raise ReleaseError(
                f"{path} is a link, so it is not replaced. Give the folder that it points to."
            )
    for path in paths:
        if path.exists():
            check_replaceable(path, path, release=release)


def _no_folder(address: str) -> UsageError:
    return UsageError(
        f"{address} is an address, but this release is written to a local folder. Give a "
        "folder, then copy what is published. Only rows in parts, from smooth-k and suppress-k "
        "on disk or on Spark, can be written to addresses."
    )


def check_writable(path: Path) -> None:
    """Refuse a place where no new folder can be made: a file is made there, and goes at once."""
    if _ADDRESS.match(str(path)) and not path.parent.is_dir():
        raise _no_folder(without_secrets(re.sub(":/+", "://", str(path), count=1)))
    if path.name in {"", ".."}:
        raise ReleaseError(
            f"{path} is not a valid name for a new folder. Choose one such as release."
        )
    atomic.check_name(path)
    parent = path.resolve().parent
    if not parent.is_dir():
        raise ResourceError(f"folder {parent} does not exist. Create it, or choose another.")
    refused = ResourceError(f"folder {parent} is not writable. Choose another.")
    if not os.access(parent, os.W_OK):
        raise refused
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        if error.errno in _FULL:
            return  # said when the run writes: the space may be there by then
        raise refused from error


def _check_elsewhere(folder: Path, private: Path) -> None:
    """Refuse a private folder in another place that would be published, or next to an older one."""
    check_apart({"out": folder, "private": private})
    beside = private_folder(folder)
    if beside.exists() and beside.resolve() != private.resolve():
        raise ReleaseError(
            f"{beside} is next to the release and would be taken for its private folder. Move "
            f"it away, or remove {option('private')}."
        )


def check_apart(places: Mapping[str, Place]) -> None:
    """Refuse places of which one is in another, or is another.

    >>> check_apart({"out": Path("lists-k8"), "private": Path("owner/lists-k8")})
    >>> check_apart({"out": Path("out"), "private": Path("out/owner")})
    Traceback (most recent call last):
    ...
    graphveil.core.errors.UsageError: out/owner (private) is inside out (out). Choose ...
    """
    for inner, outer in permutations(places, 2):
        inside, around = located(places[inner]), located(places[outer])
        if inside[: len(around)] == around:
            lies = "is" if inside == around else "is inside"
            raise UsageError(
                f"{places[inner]} ({inner}) {lies} {places[outer]} ({outer}). Choose two "
                "separate folders, neither inside the other."
            )


def check_replaceable(stands: Path, path: Path, *, release: Place) -> None:
    """Refuse to replace what stands at a path unless it is what a release has there."""
    is_public = path == release
    own = MANIFEST if is_public else RECORD
    if stands.is_symlink() or not (stands / own).is_file():
        what = "release" if is_public else "release's private folder"
        raise ReleaseError(
            f"{path} is not a {what} (it has no {own}), so it is not replaced. Choose another name."
        )
    for entry in sorted(stands.rglob("*")):
        name = entry.relative_to(stands).as_posix()
        if not _is_written(entry, name, is_public=is_public):
            raise ReleaseError(
                f"{path} contains {name}, which graphveil did not write, so it is not replaced. "
                f"Move {name} away, or choose another name."
            )


def _is_written(entry: Path, name: str, *, is_public: bool) -> bool:
    """Whether what has a name in a folder may be what a release, or an attack, wrote there."""
    if entry.is_symlink():
        return False
    if entry.is_dir():
        return name in ((parts.FOLDER,) if is_public else (ATTACKED, LINKED))
    return is_written(name, is_public=is_public)


def is_written(name: str, *, is_public: bool) -> bool:
    """Whether a file of this name may be what a release, or an attack, wrote.

    >>> is_written("release.json", is_public=True), is_written("release.json", is_public=False)
    (True, False)
    """
    if is_public:
        return name == MANIFEST or is_data_file(name) or parts.is_part(name)
    if name in _PRIVATE_FILES or is_linkage_part(name):
        return True
    folder, _, file = name.rpartition("/")
    return folder == ATTACKED and file.endswith(".parquet")


def leftovers_beside(
    folder: Place, *, on_disk: bool = False, private: Place | None = None
) -> tuple[str, ...]:
    """Return what to tell the owner of what a killed run left in place of a release, if anything.

    Nothing of it is deleted: it may be the only copy of the release that was being replaced.
    """
    local = [place for place in (private, folder) if isinstance(place, Path)]
    working = atomic.working_folder(local[0]) if local else None
    if local and private is None:
        local.append(private_folder(local[0]))
    texts = [
        f"{path} was left behind by a run that was killed, {_what_is_in(path, working)}"
        for place in local
        for path in atomic.stale_temporaries(place)
        if not (on_disk and path == working)
    ]
    for place in (folder, private):
        names = names_at(place) if isinstance(place, Address) else []
        if parts.UNFINISHED in names:
            n = len(names) - 1
            texts.append(
                f"{place} contains {counted(n, 'file')} of an unfinished run; they are overwritten"
            )
    return tuple(Advice(text, StaleFilesWarning) for text in texts)


def _what_is_in(path: Path, working: Path | None) -> str:
    """Return what a hidden folder holds, and what to do about it."""
    if path == working:
        elsewhere = atomic.kept_elsewhere(path)
        both = "" if elsewhere is None else f", and so does {elsewhere}"
        return (
            f"and contains people's rows as they were read{both}. No run is using it: to resume "
            "the on-disk run that left it, start that run again; otherwise delete "
            f"{'it' if elsewhere is None else 'both'}"
        )
    content = "may contain personal data"
    if ".replaced-" in path.name:
        content = "contains what the run was about to replace"
    return f"and {content}. No run is using it: inspect it, then move it back or delete it"


@contextmanager
def staged(folder: Path, *, force: bool, private: Path | None = None) -> Iterator[Staged]:
    """Give two folders to write into; put them in place at the end, or leave nothing behind.

    The private folder is put in place first, so that nothing looks finished before it is.
    """
    check_target(folder, force=force, private=private)
    modes = {folder: 0o777, private or private_folder(folder): 0o700}
    with _whole(modes, force=force, release=folder) as folders:
        yield Staged(*folders)


@contextmanager
def staged_private(private: Path, *, force: bool, release: Place) -> Iterator[Path]:
    """Give a private folder to write into, of a release in another place, as `staged` does both."""
    with _whole({private: 0o700}, force=force, release=release) as [folder]:
        yield folder


@contextmanager
def _whole(modes: Mapping[Path, int], *, force: bool, release: Place) -> Iterator[list[Path]]:
    replacing = partial(check_replaceable, release=release) if force else None
    try:
        with atomic.whole_folders(modes, replacing=replacing) as folders:
            yield folders
    except FileExistsError as error:
        raise ReleaseError(
            f"{error.filename} appeared while the release was being written, so nothing was "
            f"written. Choose another name, or replace it with {option('force', value=True)}."
        ) from error
    except OSError as error:
        raise ResourceError(_reason(error, next(iter(modes)))) from error


def _reason(error: OSError, folder: Path) -> str:
    if error.errno in _FULL:
        return f"no space left to write {folder}. Free space, or choose a disk."
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"{folder} is not writable ({error.strerror}). Choose another folder."
    return f"{folder} could not be written: {error.strerror or error}."

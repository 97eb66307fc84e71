"""The two folders of a release: where they may stand, and how they appear whole."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from graphveil.claims import manifest as parts
from graphveil.claims.manifest import MANIFEST
from graphveil.claims.record import (
    ATTACKED,
    LEVELS,
    LINKAGE,
    LINKED,
    OWNERS_PAGE,
    RECORD,
    WITNESS,
    is_linkage_part,
    private_folder,
)
from graphveil.core.atomic import (
    check_name,
    kept_elsewhere,
    stale_temporaries,
    whole_folders,
    working_folder,
)
from graphveil.core.errors import ReleaseError, ResourceError, UsageError, option
from graphveil.core.storage import PROBE, Address, Place, is_partial, located, without_secrets
from graphveil.core.text import counted
from graphveil.core.warnings import Advice, StaleFilesWarning
from graphveil.release.files import is_data_file

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")
"""How an address begins, also one that was taken for a path: two slashes are one there."""

_FULL = {errno.ENOSPC, errno.EDQUOT}

_PRIVATE_FILES = {RECORD, LINKAGE, LEVELS, WITNESS, OWNERS_PAGE}


class Staged(NamedTuple):
    """The two folders to write into."""

    public: Path
    private: Path


def check_target(folder: Place, *, force: bool, private: Place | None = None) -> None:
    """Refuse a target that must not be written, before any work is done.

    `folder`: the release folder; `force`: whether a release of that name is replaced; `private`:
    its private folder; None for the one beside it. Raises `UsageError` where one of the two is an
    address, which `check_place` takes, or lies in the other. `ReleaseError` where the folder exists
    and force is off; or where it is not a release, or holds what no release wrote, and so is never
    replaced. `ResourceError` where its parent is missing or cannot be written.
    """
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
        check_name(private)
    else:
        _check_elsewhere(folder, private)
    check_free((folder, private), force=force, release=folder)


def check_place(out: Place, *, force: bool, private: Place | None = None) -> None:
    """Refuse a folder or an address that must not be written, before any work is done.

    `out`: where the release shall lie; `force`: whether a release there is replaced; `private`:
    where its private record shall lie; at an address nothing lies beside it. Raises `UsageError`
    where an address has no private place, is refused by its store, or lies in the other.
    `ReleaseError` where something lies there and force is off; or where no release wrote it.
    `ResourceError` where a place cannot be reached.
    """
    if not isinstance(out, Address):
        check_target(out, force=force, private=private)
        return
    if private is None:
        raise UsageError(
            f"{out} is an address, and private files are never stored next to one. Choose where "
            f"to store the record and the linkage with {option('private')}."
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

    `own`: the object that says that it is whole.
    """
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
    """Return a folder of this machine; an address is refused.

    Raises `UsageError` where it is one.
    """
    if isinstance(place, Address):
        raise _no_folder(str(place))
    return place


def check_free(paths: tuple[Path, ...], *, force: bool, release: Place) -> None:
    """Refuse folders that stand there and are not replaced.

    `paths`: the folders; `force`: whether they are replaced where a release wrote what they hold;
    `release`: which of them is the release; the others are private. Raises `ReleaseError` where one
    stands there and force is off, or it holds what no release wrote.
    """
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
    """Refuse a place where no new folder can be made: a file is made there, and goes at once.

    Raises `UsageError` where it is an address. `ReleaseError` where it is no name for a folder.
    `ResourceError` where its parent is missing or cannot be written.
    """
    if _ADDRESS.match(str(path)) and not path.parent.is_dir():
        raise _no_folder(without_secrets(re.sub(":/+", "://", str(path), count=1)))
    if path.name in {"", ".."}:
        raise ReleaseError(
            f"{path} is not a valid name for a new folder. Choose one such as release."
        )
    check_name(path)
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
    """Refuse a private folder in another place that would be published, or beside an older one."""
    check_apart({"out": folder, "private": private})
    beside = private_folder(folder)
    if beside.exists() and beside.resolve() != private.resolve():
        raise ReleaseError(
            f"{beside} is next to the release and would be taken for its private folder. Move "
            f"it away, or remove {option('private')}."
        )


def check_apart(places: Mapping[str, Place]) -> None:
    """Refuse places of which one lies in another, or is another.

    `places`: the folders by the options that name them. Raises `UsageError` where one does.

    Examples
    --------
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
    """Refuse to replace what stands at a path unless it is what a release has there.

    `stands`: where it is looked at; `path, release`: what it is called, and the release: the same,
    or `path` is private. Raises `ReleaseError` where it is not.
    """
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

    Examples
    --------
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

    `folder`: the release folder, or its address; `on_disk`: whether it is a run on the disk that
    asks: that one goes on from the working folder of an unfinished run, or refuses it; `private`:
    the private folder or address; None for the folder beside the release.
    """
    local = [place for place in (private, folder) if isinstance(place, Path)]
    working = working_folder(local[0]) if local else None
    if local and private is None:
        local.append(private_folder(local[0]))
    texts = [
        f"{path} was left behind by a run that was killed, {_what_is_in(path, working)}"
        for place in local
        for path in stale_temporaries(place)
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
        elsewhere = kept_elsewhere(path)
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

    `folder, force, private`: as of `check_target`. Raises `ReleaseError, ResourceError`: as
    `check_target`. `ResourceError` where the disk is full or the folder cannot be written; nothing
    is left.
    """
    check_target(folder, force=force, private=private)
    modes = {folder: 0o777, private or private_folder(folder): 0o700}
    with _whole(modes, force=force, release=folder) as folders:
        yield Staged(*folders)


@contextmanager
def staged_private(private: Path, *, force: bool, release: Place) -> Iterator[Path]:
    """Give a private folder to write into, of a release in another place, as `staged` does both.

    `private`: the folder; `force`: whether a private folder of that name is replaced; `release`:
    where its release lies.
    """
    with _whole({private: 0o700}, force=force, release=release) as [folder]:
        yield folder


@contextmanager
def _whole(modes: Mapping[Path, int], *, force: bool, release: Place) -> Iterator[list[Path]]:
    replacing = partial(check_replaceable, release=release) if force else None
    try:
        with whole_folders(modes, replacing=replacing) as folders:
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

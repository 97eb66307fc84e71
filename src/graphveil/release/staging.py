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

from graphveil.atomic import kept_elsewhere, left_behind, whole_folders, working_folder
from graphveil.errors import ReleaseError, ResourceError, UsageError, option
from graphveil.records import parts
from graphveil.records.manifest import MANIFEST
from graphveil.records.record import (
    ATTACKED,
    LEVELS,
    LINKAGE,
    RECORD,
    WITNESS,
    private_folder,
)
from graphveil.release.files import is_data_file
from graphveil.warning_kinds import Advice, LeftoverWarning

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/")
"""How an address begins, also one that was taken for a path: two slashes are one there."""

_FULL = {errno.ENOSPC, errno.EDQUOT}

_PRIVATE_FILES = {RECORD, LINKAGE, LEVELS, WITNESS}


class Staged(NamedTuple):
    """The two folders to write into."""

    public: Path
    private: Path


def check_target(folder: Path, *, force: bool, private: Path | None = None) -> None:
    """Refuse a target that must not be written, before any work is done.

    Parameters
    ----------
    folder
        The release folder.
    force
        Whether a release of that name is replaced.
    private
        Its private folder; None for the one beside it.

    Raises
    ------
    UsageError
        Where one of the two is an address, or lies in the other.
    ReleaseError
        Where the folder exists and force is off; or where it is not a release, or holds what no
        release wrote, and so is never replaced.
    ResourceError
        Where its parent is missing or cannot be written.
    """
    for path in (folder,) if private is None else (folder, private):
        _check_place(path)
    if private is None:
        private = private_folder(folder)
    else:
        _check_elsewhere(folder, private)
    for path in (folder, private):
        if (path.exists() or path.is_symlink()) and not force:
            replaced = option("force", value=True)
            raise ReleaseError(
                f"{path} exists. Choose another name, or replace it with {replaced}."
            )
        if path.is_symlink():
            raise ReleaseError(f"{path} is a link, so it is not replaced. Name what it points to.")
    for path in (folder, private):
        if path.exists():
            _check_replaceable(path, path, release=folder)


def _check_place(path: Path) -> None:
    """Refuse a place where no new folder can be made: a file is made there, and goes at once."""
    if _ADDRESS.match(str(path)) and not path.parent.is_dir():
        address = re.sub(":/+", "://", str(path), count=1)
        raise UsageError(
            f"{address} is an address: releases are written into folders of this machine. Name "
            "one, and copy what is published."
        )
    if path.name in {"", ".."}:
        raise ReleaseError(f"{path} is no name for a new folder. Choose one, such as release.")
    parent = path.resolve().parent
    if not parent.is_dir():
        raise ResourceError(f"the folder {parent} does not exist. Create it, or choose another.")
    refused = ResourceError(f"the folder {parent} cannot be written. Choose another place.")
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
            f"{beside} lies beside the release, and would be taken for its private folder. Move it "
            f"away, or leave out {option('private')}."
        )


def check_apart(places: Mapping[str, Path]) -> None:
    """Refuse places of which one lies in another, or is another.

    Parameters
    ----------
    places
        The folders by the options that name them.

    Raises
    ------
    UsageError
        Where one does.

    Examples
    --------
    >>> check_apart({"out": Path("lists-k8"), "private": Path("owner/lists-k8")})
    >>> check_apart({"out": Path("lists-k8"), "private": Path("lists-k8/owner")})
    Traceback (most recent call last):
    ...
    graphveil.errors.UsageError: lists-k8/owner (private) lies in lists-k8 (out). Name folders ...
    """
    for inner, outer in permutations(places, 2):
        inside, around = places[inner].resolve(), places[outer].resolve()
        if inside == around or around in inside.parents:
            lies = "is" if inside == around else "lies in"
            raise UsageError(
                f"{places[inner]} ({inner}) {lies} {places[outer]} ({outer}). Name folders that do "
                "not lie in one another."
            )


def _check_replaceable(stands: Path, path: Path, *, release: Path) -> None:
    """Refuse to replace what stands at a path unless it is what a release has there."""
    is_public = path == release
    own = MANIFEST if is_public else RECORD
    if stands.is_symlink() or not (stands / own).is_file():
        what = "release" if is_public else "release's private folder"
        raise ReleaseError(
            f"{path} is not a {what} (it holds no {own}), so it is not replaced. "
            "Choose another name."
        )
    for entry in sorted(stands.rglob("*")):
        name = entry.relative_to(stands).as_posix()
        if not _is_written(entry, name, is_public=is_public):
            raise ReleaseError(
                f"{path} holds {name}, which no release wrote, so it is not replaced. Move {name} "
                "away, or choose another name."
            )


def _is_written(entry: Path, name: str, *, is_public: bool) -> bool:
    """Whether what has a name in a folder may be what a release, or an attack, wrote there."""
    if entry.is_symlink():
        return False
    if entry.is_dir():
        return name == (parts.FOLDER if is_public else ATTACKED)
    if is_public:
        return name == MANIFEST or is_data_file(name) or parts.is_part(name)
    folder, _, file = name.rpartition("/")
    return name in _PRIVATE_FILES or (folder == ATTACKED and file.endswith(".parquet"))


def leftovers_beside(
    folder: Path, *, on_disk: bool = False, private: Path | None = None
) -> tuple[str, ...]:
    """Return what to tell the owner of what a killed run left beside a release, if anything.

    Nothing of it is deleted: it may be the only copy of the release that was being replaced.

    Parameters
    ----------
    folder
        The release folder.
    on_disk
        Whether it is a run on the disk that asks: that one goes on from the working folder of an
        unfinished run, or refuses it.
    private
        The private folder; None for the one beside the release.
    """
    working = working_folder(private or folder)
    return tuple(
        Advice(
            f"{path} was left by a run that was killed, {_what_is_in(path, working)}",
            LeftoverWarning,
        )
        for place in (folder, private or private_folder(folder))
        for path in left_behind(place)
        if not (on_disk and path == working)
    )


def _what_is_in(path: Path, working: Path) -> str:
    """Return what a hidden folder holds, and what to do about it."""
    if path == working:
        elsewhere = kept_elsewhere(path)
        both = "" if elsewhere is None else f", and so does {elsewhere}"
        return (
            f"and holds rows of people as they were read{both}. No run uses it now: the run on the "
            "disk that left it goes on from there if it is started again; else delete "
            f"{'it' if elsewhere is None else 'both'}"
        )
    content = "may hold data of people"
    if ".replaced-" in path.name:
        content = "is what the run was about to replace"
    return f"and {content}. No run uses it now: look into it, then move it back or delete it"


@contextmanager
def staged(folder: Path, *, force: bool, private: Path | None = None) -> Iterator[Staged]:
    """Give two folders to write into; put them in place at the end, or leave nothing behind.

    The private folder is put in place first, so that nothing looks finished before it is.

    Parameters
    ----------
    folder, force, private
        As of `check_target`.

    Raises
    ------
    ReleaseError, ResourceError
        As `check_target`.
    ResourceError
        Where the disk is full or the folder cannot be written; nothing is left.
    """
    check_target(folder, force=force, private=private)
    try:
        modes = {folder: 0o777, private or private_folder(folder): 0o700}
        replacing = partial(_check_replaceable, release=folder) if force else None
        with whole_folders(modes, replacing=replacing) as parts:
            yield Staged(*parts)
    except FileExistsError as error:
        raise ReleaseError(
            f"{error.filename} appeared while the release was made, so nothing was written. "
            f"Choose another name, or replace it with {option('force', value=True)}."
        ) from error
    except OSError as error:
        raise ResourceError(_reason(error, folder)) from error


def _reason(error: OSError, folder: Path) -> str:
    if error.errno in _FULL:
        return f"no space left to write {folder}. Nothing was kept; free space, or choose a disk."
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"{folder} cannot be written ({error.strerror}). Choose another place."
    return f"{folder} could not be written: {error.strerror or error}. Nothing was kept."

"""The two folders of a release: where they may stand, and how they appear whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from graphveil.atomic import kept_elsewhere, left_behind, whole_folders, working_folder
from graphveil.errors import ReleaseError, ResourceError, option
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

_PRIVATE_FILES = {RECORD, LINKAGE, LEVELS, WITNESS}


class Staged(NamedTuple):
    """The two folders to write into."""

    public: Path
    private: Path


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a target that must not be written, before any work is done.

    Raises
    ------
    ReleaseError
        Where the folder exists and force is off; or where it is not a release, or holds what no
        release wrote, and so is never replaced.
    ResourceError
        Where its parent is missing or cannot be written.
    """
    if folder.name in {"", ".."}:
        raise ReleaseError(f"{folder} is no name for a new folder. Choose one, such as release.")
    parent = folder.resolve().parent
    if not parent.is_dir():
        raise ResourceError(f"the folder {parent} does not exist. Create it, or choose another.")
    if not os.access(parent, os.W_OK):
        raise ResourceError(f"the folder {parent} cannot be written. Choose another place.")
    private = private_folder(folder)
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


def leftovers_beside(folder: Path, *, on_disk: bool = False) -> tuple[str, ...]:
    """Return what to tell the owner of what a killed run left beside a release, if anything.

    Nothing of it is deleted: it may be the only copy of the release that was being replaced.

    Parameters
    ----------
    folder
        The release folder.
    on_disk
        Whether it is a run on the disk that asks: that one goes on from the working folder of an
        unfinished run, or refuses it.
    """
    working = working_folder(folder)
    return tuple(
        Advice(
            f"{path} was left by a run that was killed, {_what_is_in(path, working)}",
            LeftoverWarning,
        )
        for place in (folder, private_folder(folder))
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
def staged(folder: Path, *, force: bool) -> Iterator[Staged]:
    """Give two folders to write into; put them in place at the end, or leave nothing behind.

    The private folder is put in place first, so that nothing looks finished before it is.

    Raises
    ------
    ReleaseError, ResourceError
        As `check_target`.
    ResourceError
        Where the disk is full or the folder cannot be written; nothing is left.
    """
    check_target(folder, force=force)
    try:
        modes = {folder: 0o777, private_folder(folder): 0o700}
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
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"no space left to write {folder}. Nothing was kept; free space, or choose a disk."
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"{folder} cannot be written ({error.strerror}). Choose another place."
    return f"{folder} could not be written: {error.strerror or error}. Nothing was kept."

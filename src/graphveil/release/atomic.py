"""Folders that appear whole or not at all.

Files are written into hidden siblings of the target and renamed into place: first the private
folder, then the public one, so that nothing looks finished before it is.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from graphveil.errors import ReleaseError, ResourceError
from graphveil.records.manifest import MANIFEST
from graphveil.records.record import RECORD, private_folder


class Staged(NamedTuple):
    """The two folders to write into."""

    public: Path
    private: Path


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a target that must not be written, before any work is done.

    Raises
    ------
    ReleaseError
        Where the folder exists and force is off, or it is not a release and so is never replaced.
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
    for place in (folder, private):
        if (place.exists() or place.is_symlink()) and not force:
            raise ReleaseError(f"{place} exists. Choose another name, or replace it with --force.")
        if place.is_symlink():
            raise ReleaseError(f"{place} is a link, so it is not replaced. Name what it points to.")
    if folder.exists() and not (folder / MANIFEST).is_file():
        raise ReleaseError(
            f"{folder} is not a release (it holds no {MANIFEST}), so it is not replaced. "
            "Choose another name."
        )
    if private.exists() and not (private / RECORD).is_file():
        raise ReleaseError(
            f"{private} is not a release's private folder (it holds no {RECORD}), so it is not "
            "replaced. Choose another name."
        )


@contextmanager
def staged(folder: Path, *, force: bool) -> Iterator[Staged]:
    """Give two folders to write into; put them in place at the end, or leave nothing behind.

    Raises
    ------
    ResourceError
        Where the disk is full or the place cannot be written; nothing is left.
    """
    check_target(folder, force=force)
    mark = secrets.token_hex(6)
    aside = [folder, private_folder(folder)]
    stage = [place.with_name(f".{place.name}.partial-{mark}") for place in aside]
    try:
        stage[0].mkdir()
        stage[1].mkdir(mode=0o700)
        yield Staged(*stage)
        for directory in stage:
            _flush(directory)
        if not any(stage[1].iterdir()):
            stage[1].rmdir()
        _swap_in(stage, aside, mark)
    except OSError as error:
        raise ResourceError(_reason(error, folder)) from error
    finally:
        for directory in stage:
            shutil.rmtree(directory, ignore_errors=True)


def _flush(directory: Path) -> None:
    """Bring the files to the disk, so that a full one is noticed before anything is renamed."""
    for path in directory.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _swap_in(stage: list[Path], target: list[Path], mark: str) -> None:
    """Rename staged folders into place, private first; on failure put the old ones back."""
    old = [place.with_name(f".{place.name}.replaced-{mark}") for place in target]
    moved: list[tuple[Path, Path]] = []
    try:
        for place, away in zip(target, old, strict=True):
            if place.exists():
                place.rename(away)
                moved.append((away, place))
        for new, place in reversed(list(zip(stage, target, strict=True))):
            if new.exists():
                new.rename(place)
                moved.append((place, new))
    except BaseException:
        for source, back in reversed(moved):
            with suppress(OSError):
                source.rename(back)
        raise
    for away in old:
        shutil.rmtree(away, ignore_errors=True)


def _reason(error: OSError, folder: Path) -> str:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"no space left to write {folder}. Nothing was kept; free space, or choose a disk."
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"{folder} cannot be written ({error.strerror}). Choose another place."
    return f"{folder} could not be written: {error.strerror or error}. Nothing was kept."

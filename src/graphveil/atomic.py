"""Files and folders that appear whole or not at all.

What is written gets a hidden name beside its own, and takes its own name once it is whole.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

OWNER_ONLY, EVERYBODY = 0o600, 0o666
"""Permissions of a file, before those that the process withholds."""


@contextmanager
def whole_file(path: Path, *, mode: int = EVERYBODY) -> Iterator[Path]:
    """Give an empty file to write; it takes the place of `path` at the end, or is deleted.

    A reader of `path` sees the old file or the new one, never a part. Nothing is flushed to the
    disk.

    Parameters
    ----------
    path
        The file.
    mode
        The permissions of the new file.

    Raises
    ------
    OSError
        Where the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "likes.csv")) as part:
    ...         _ = part.write_text("ann,tea")
    ...         before = Path(folder, "likes.csv").exists()
    ...     before, Path(folder, "likes.csv").read_text()
    (False, 'ann,tea')
    """
    part = _hidden(path, "partial")
    try:
        part.touch(mode=mode, exist_ok=False)
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_folders(modes: Mapping[Path, int]) -> Iterator[list[Path]]:
    """Give empty folders to write into; at the end all of them take their places, or none does.

    Files are flushed to the disk before anything is renamed, so that a full disk is noticed. A
    folder that stands in a place is replaced, and stays as it was where something fails. A folder
    that was left empty does not appear. The last folder is put in place first.

    Parameters
    ----------
    modes
        The folders with their permissions.

    Raises
    ------
    OSError
        Where a folder cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     with whole_folders({Path(place, "out"): 0o700}) as [part]:
    ...         _ = (part / "likes.csv").write_text("ann,tea")
    ...     [path.name for path in Path(place).rglob("*")]
    ['out', 'likes.csv']
    """
    parts = [_hidden(folder, "partial") for folder in modes]
    try:
        for part, mode in zip(parts, modes.values(), strict=True):
            part.mkdir(mode=mode)
        yield parts
        for part in parts:
            _flush(part)
            if not any(part.iterdir()):
                part.rmdir()
        _put_in_place(parts, list(modes))
    finally:
        for part in parts:
            shutil.rmtree(part, ignore_errors=True)


def _hidden(path: Path, purpose: str) -> Path:
    """Return a name beside a path that nothing else has."""
    return path.with_name(f".{path.name}.{purpose}-{secrets.token_hex(6)}")


def _flush(folder: Path) -> None:
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _put_in_place(parts: Sequence[Path], folders: Sequence[Path]) -> None:
    """Rename folders to their names, the last one first; on failure put the old ones back."""
    replaced = [_hidden(folder, "replaced") for folder in folders]
    renamed: list[tuple[Path, Path]] = []
    try:
        for folder, away in zip(folders, replaced, strict=True):
            if folder.exists():
                folder.rename(away)
                renamed.append((folder, away))
        for part, folder in reversed(list(zip(parts, folders, strict=True))):
            if part.exists():
                part.rename(folder)
                renamed.append((part, folder))
    except BaseException:
        for before, after in reversed(renamed):
            with suppress(OSError):
                after.rename(before)
        raise
    for away in replaced:
        shutil.rmtree(away, ignore_errors=True)

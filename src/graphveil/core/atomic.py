"""Files and folders that appear whole or not at all.

What is written gets a hidden name next to its own, and takes its own name once it is whole.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from graphveil.core.errors import ResourceError, UsageError

if sys.platform != "win32":
    import fcntl

OWNER_ONLY, EVERYBODY = 0o600, 0o666
"""Permissions of a file, before those that the process withholds."""

LOCK = "lock"
"""The file in a working folder that a run holds."""

ELSEWHERE = "elsewhere.json"
"""The file in a working folder that names another one, which the run keeps in another place."""


@contextmanager
def whole_file(path: Path, *, mode: int = EVERYBODY, replace: bool = True) -> Iterator[Path]:
    """Give an empty file to write; it takes the place of `path` at the end, or is deleted.

    A reader of `path` sees the old file or the new one, never a part. Nothing is flushed to the
    disk.
    """
    part = _hidden(path, "partial")
    try:
        part.touch(mode=mode, exist_ok=False)
        yield part
        if replace:
            part.replace(path)
        else:
            _link_to_nothing(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def whole_folders(
    modes: Mapping[Path, int], *, replacing: Callable[[Path, Path], None] | None = None
) -> Iterator[list[Path]]:
    """Give empty folders to write into; at the end all of them take their places, or none does.

    Files are flushed to the disk before anything is renamed, so that a full disk is noticed. A
    folder that was left empty does not appear. The last folder is put in place first.

    `replacing` is called with a folder that stands in a place, under the name that it was moved
    to, and with the place; it raises where that folder is not to be replaced.
    """
    parts = [_hidden(folder, "partial") for folder in modes]
    try:
        with ExitStack() as locks:
            for part, mode in zip(parts, modes.values(), strict=True):
                part.mkdir(mode=mode)
                locks.enter_context(_locked(part))
            yield parts
            for part in parts:
                _flush(part)
                if not any(part.iterdir()):
                    part.rmdir()
            _put_in_place(parts, list(modes), replacing)
    finally:
        for part in parts:
            shutil.rmtree(part, ignore_errors=True)


def flush_names(folder: Path) -> None:
    """Put the names of a folder's files on the disk: a renamed file is there after a power cut."""
    if sys.platform == "win32":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno != errno.EINVAL:  # file systems that cannot
            raise
    finally:
        os.close(number)


def stale_temporaries(path: Path) -> list[Path]:
    """Return what a process that was killed left next to a path under a hidden name, sorted.

    The working folder of a run that did not end is among it, what a process still writes is not.
    """
    named = rf"\.{re.escape(path.name)}\.(partial|replaced)-[0-9a-f]{{12}}"
    working = working_folder(path).name
    hidden = re.compile(f"{named}|{re.escape(working)}")
    try:
        beside = sorted(path.parent.iterdir())
    except OSError:
        return []
    return [
        other
        for other in beside
        if hidden.fullmatch(other.name)
        and not _is_in_use(other / LOCK if other.name == working else other)
    ]


def working_folder(out: Path) -> Path:
    """Return the folder that an unfinished run on the disk keeps next to its release.

    >>> working_folder(Path("lists-k8")).name
    '.lists-k8.working'
    """
    return out.with_name(f".{out.name}.working")


def kept_elsewhere(working: Path) -> str | None:
    """Return the place that a run keeps rows in, apart from its working folder, if it noted one."""
    note = working / ELSEWHERE
    try:
        place = json.loads(note.read_bytes())["folder"] if note.is_file() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return place if isinstance(place, str) else None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder as long as this process lives: `stale_temporaries` then knows it is in use."""
    if sys.platform == "win32":
        yield
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # file systems without locks
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(number)


def _is_in_use(path: Path) -> bool:
    if sys.platform == "win32":
        return False
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(number)
    return False


_PAGES = (
    b"<!doctype html>\n<html",
    b'{\n  "@context"',
    b'{\n  "answer"',
    b'{\n  "$schema": "https:',
)
_ROWS = (b'{"rows":[', b'{"paper":', b"PAR1")


def is_output(path: Path) -> bool:
    """Whether a file begins and ends as pages, descriptions and rows of graphveil do, and no data.

    What `convert` writes is data: it counts as anybody's.
    """
    try:
        with path.open("rb") as file:
            head = file.read(80)
            file.seek(max(0, path.stat().st_size - (1 << 16)))
            tail = file.read()
    except OSError:
        return False
    if head.startswith(_PAGES):
        return b"graphveil" in tail or not head.startswith(_PAGES[0])
    return head.startswith(_ROWS) and (b"sample_size" in tail or b"not_run" in tail)


def not_replaced(path: Path) -> UsageError:
    """Return the error of a file that is not replaced since it may be someone's only copy."""
    return UsageError(
        f"{path} was not written by graphveil, so it is not replaced. Choose another name."
    )


def check_name(path: Path) -> None:
    """Refuse a name that is too long for a file system, with the hidden one that is next to it."""
    try:
        most = os.pathconf(path.resolve().parent, "PC_NAME_MAX")
    except (AttributeError, OSError, ValueError):
        return  # said when it is written
    longest = len(os.fsencode(_hidden(path, "replaced").name))
    if longest > most:
        size = len(os.fsencode(path.name))
        raise ResourceError(
            f"the name {path.name[:20]}...{path.name[-12:]} has {size} bytes, but at most "
            f"{most - longest + size} can be written here. Choose a shorter one."
        )


def _hidden(path: Path, purpose: str) -> Path:
    """Return a name next to a path that nothing else has."""
    return path.with_name(f".{path.name}.{purpose}-{secrets.token_hex(6)}")


def _flush(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())


def _put_in_place(
    parts: Sequence[Path], folders: Sequence[Path], replacing: Callable[[Path, Path], None] | None
) -> None:
    """Rename folders to their names, the last one first; on failure put the old ones back."""
    replaced = [_hidden(folder, "replaced") for folder in folders]
    renamed: list[tuple[Path, Path]] = []
    try:
        for folder, away in zip(folders, replaced, strict=True):
            if replacing is not None and os.path.lexists(folder):
                folder.rename(away)
                renamed.append((folder, away))
                replacing(away, folder)
        for part, folder in reversed(list(zip(parts, folders, strict=True))):
            if part.exists():
                _rename_to_nothing(part, folder)
                renamed.append((part, folder))
    except BaseException:
        for before, after in reversed(renamed):
            with suppress(OSError):
                after.rename(before)
        raise
    for away in replaced:
        shutil.rmtree(away, ignore_errors=True)


def _link_to_nothing(part: Path, path: Path) -> None:
    """Give a whole file a name that nothing has, in one step where the file system has links."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        path.touch(exist_ok=False)
        part.replace(path)


def _rename_to_nothing(part: Path, folder: Path) -> None:
    """Rename a folder to a name that nothing has: `rename` alone would replace an empty folder."""
    if sys.platform != "win32":
        folder.mkdir(mode=0o700)
    try:
        part.rename(folder)
    except BaseException:
        with suppress(OSError):
            folder.rmdir()
        raise

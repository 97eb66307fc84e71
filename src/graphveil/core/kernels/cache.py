"""Where compiled kernels are kept: in a folder named by the digest of all sources of kernels.

Numba looks at the file of a kernel alone. A kernel holds the code of those that it calls, so that
one edited callee makes a new folder; the old one is removed when it was not used for a week. The
first of these is used that this user can write and others cannot: the folder that NUMBA_CACHE_DIR
names, the package's own, the user's by HOME, the user's by the system.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numba

with suppress(ImportError):
    import pwd  # there is none on Windows

ROOM = Path(__file__).resolve().parent
PACKAGE = ROOM.parents[1]
"""Every folder ``kernels`` in here holds sources of kernels."""

UNUSED_SECONDS = 7 * 24 * 3600
"""A folder that no run has used for so long is removed."""

ONCE = "compiling the code that this run needs, once for this machine; the result is kept in {home}"
ALWAYS = (
    "compiling the code that this run needs, again in every run: no cache folder is writable by "
    "you and nobody else. Set NUMBA_CACHE_DIR to such a folder"
)

ANYBODY = -1
"""Stands for all users that may not write what is run."""


def digest_of(*folders: Path) -> str:
    """Return 16 hexadecimal digits of all sources below folders, and of what compiles them."""
    content = hashlib.sha256(_compiler().encode())
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            source = path.read_bytes()
            content.update(f"{path.relative_to(folder)} {len(source)}\n".encode() + source)
    return content.hexdigest()[:16]


def _compiler() -> str:
    return f"{numba.__version__} {sys.version}"


def _homes() -> Iterator[Path]:
    """Yield the folders that may hold compiled kernels, the best first."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        yield Path(named)
    yield ROOM / "__pycache__"
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  "~" where there is no home
    for cache in dict.fromkeys([Path(user), _registered_cache()]):
        if cache.is_absolute():
            yield cache / "graphveil"


def _registered_cache() -> Path:
    """Return the cache in this user's home as the system knows it: sudo may keep another's HOME."""
    try:
        return Path(pwd.getpwuid(_user()).pw_dir, ".cache")
    except (NameError, KeyError):  # no Unix, or a user without an entry
        return Path(".cache")


def folder_for(
    digest: str, homes: Iterator[Path], scratch: Callable[[], Path]
) -> tuple[Path, bool]:
    """Return the folder that compiled kernels of this digest go to, and whether it lasts.

    Numba unpickles what is in there, so that a folder is used where only root or this user can
    have written it. One that cannot be written, as in an image, is copied to one that can.
    Folders of the same installation, Python and Numba that are no longer used are removed.
    """
    owner = hashlib.sha256(f"{ROOM} {_compiler()}".encode()).hexdigest()[:8]
    model = None
    for named in homes:
        home = Path(os.path.realpath(named))
        folder = home / f"kernels-{owner}-{digest}"
        if not _is_guarded(home):
            continue
        with suppress(OSError):
            folder.mkdir(mode=0o755, exist_ok=True)
        writers = writers_of(folder)
        if not writers <= {0, _user()}:
            continue
        if writers == {_user()} and os.access(folder, os.W_OK | os.X_OK):
            _begin_use(folder)
            _remove_unused(folder, owner)
            return _seeded(folder, model), True
        model = model or folder
    return _seeded(scratch(), model), False


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _is_guarded(home: Path) -> bool:
    """Return whether only root and this user can put another folder where one of ours stands.

    Each folder on the way must be theirs, and writable by them alone but where it is sticky or
    stands in one that nobody else enters. Missing ones are made, each once those above are such.
    """
    closed = False
    try:
        for folder in (*reversed(home.parents), home):
            if not folder.exists():
                folder.mkdir(mode=0o755 if folder == home else 0o700, exist_ok=True)
            status = folder.lstat()
            sticky = bool(status.st_mode & stat.S_ISVTX)
            if _writer(status, closed=sticky or (closed and folder != home)) not in {0, _user()}:
                return False
            closed = closed or not status.st_mode & (stat.S_IXGRP | stat.S_IXOTH)
    except OSError:
        return False
    return True


def writers_of(folder: Path) -> set[int]:
    """Return the owners of a folder and of all that it holds, and -1 where others can write."""
    try:
        top = folder.lstat()
        closed = not top.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        return {_writer(top), *(_writer(status, closed=closed) for status in _entries(folder))}
    except OSError:
        return {ANYBODY}


def _writer(status: os.stat_result, *, closed: bool = False) -> int:
    if not hasattr(os, "geteuid"):  # Windows, where owners and modes say nothing
        return 0
    is_open = stat.S_ISLNK(status.st_mode) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return ANYBODY if is_open and not closed else status.st_uid


def _entries(folder: Path | str) -> Iterator[os.stat_result]:
    """Yield what is known of all below a folder but for files that vanish, which are being made."""
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                yield entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)


def _begin_use(folder: Path) -> None:
    """Note the time, and shut others out if they could write what this process adds."""
    umask = os.umask(0o077)
    os.umask(umask)
    with suppress(OSError):
        os.utime(folder)
        if umask & 0o022 != 0o022:
            folder.chmod(0o700)


def _seeded(folder: Path, model: Path | None) -> Path:
    """Fill an empty folder with all that the model has, at once, or leave it empty."""
    if model is None or any(folder.iterdir()):
        return folder
    hidden = partial(tempfile.TemporaryDirectory, prefix=f".{folder.name}-", dir=folder.parent)
    with suppress(OSError), hidden(ignore_cleanup_errors=True) as room:
        copy = Path(room, "copy")
        copy.mkdir()
        for source in model.rglob("*"):
            target = copy / source.relative_to(model)
            if source.is_dir():
                target.mkdir()
            else:
                shutil.copyfile(source, target)
        copy.chmod(stat.S_IMODE(folder.stat().st_mode))
        copy.rename(folder)  # fails where another run has put something there meanwhile
    return folder


def _remove_unused(folder: Path, owner: str) -> None:
    """Remove what was kept for other digests, or left by a copy that was cut off, long ago."""
    for other in folder.parent.glob(f"*kernels-{owner}-*"):
        with suppress(OSError):
            if other != folder and time.time() - other.stat().st_mtime > UNUSED_SECONDS:
                shutil.rmtree(other, ignore_errors=True)


def _scratch() -> Path:
    folder = tempfile.mkdtemp(prefix="graphveil-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def use_own_folder(seams: Any) -> None:
    """Let Numba keep all kernels of the package together, and say when it compiles them."""
    rooms = sorted(path for path in PACKAGE.rglob("kernels") if path.is_dir())
    folder, lasts = folder_for(digest_of(*rooms), _homes(), _scratch)
    text = ONCE.format(home=folder.parent) if lasts else ALWAYS
    seams.keep_kernels(PACKAGE, kept_in=folder, text=text)

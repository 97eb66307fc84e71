"""In which folder compiled kernels are kept: one for the digest of all sources of kernels.

Numba's own cache looks at the file of a kernel alone. But a compiled kernel contains the code of
those that it calls, so that an edited callee would leave stale code. Here any change to any file in
a folder ``kernels`` leads to a new folder, and a folder that no run has used for a week is removed.

Numba unpickles what it finds, so that a folder is only used if nobody but root and this user can
have written it. The first of these that qualifies and is writable is used: the folder that
NUMBA_CACHE_DIR names, the package's own, the user's by HOME, the user's by the system. If none
does, kernels are compiled in every run, into a temporary folder.
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
"""What is said when kernels are compiled, once on a machine or (`ALWAYS`) in every run."""
ALWAYS = (
    "compiling the code that this run needs, again in every run: no cache folder is writable by "
    "you and nobody else. Set NUMBA_CACHE_DIR to such a folder"
)

ANYBODY = -1
"""Stands in a set of user ids for everybody else: a folder that others can write is not used."""


def digest_of(*folders: Path) -> str:
    """Return 16 hexadecimal digits of all sources below these folders and of the compiler."""
    content = hashlib.sha256(_compiler().encode())
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            source = path.read_bytes()
            content.update(f"{path.relative_to(folder)} {len(source)}\n".encode() + source)
    return content.hexdigest()[:16]


def _compiler() -> str:
    """Return the versions of Numba and Python, on which compiled code depends."""
    return f"{numba.__version__} {sys.version}"


def _homes() -> Iterator[Path]:
    """Yield the folders in which compiled kernels may be kept, in order of preference."""
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
    """Return the folder for compiled kernels of this digest, and whether it outlasts the run.

    Parameters
    ----------
    digest
        Of the sources.
    homes
        The folders to try, in order.
    scratch
        Makes a folder for this run alone.

    Notes
    -----
    The name contains the installation and the versions of Python and Numba, and folders of the same
    are removed once unused. A trusted folder that cannot be written, as in a container image, is
    copied to the first one that can.
    """
    owner = hashlib.sha256(f"{ROOM} {_compiler()}".encode()).hexdigest()[:8]
    model = None
    for named in homes:
        home = Path(os.path.realpath(named))
        folder = home / f"kernels-{owner}-{digest}"
        # Step 1: nobody else may be able to put a different folder in its place.
        if not _is_guarded(home):
            continue
        with suppress(OSError):
            folder.mkdir(mode=0o755, exist_ok=True)
        # Step 2: nobody else may have written what is in it.
        writers = writers_of(folder)
        if not writers <= {0, _user()}:
            continue
        # Step 3: a folder of this user that can be written is used; others serve as a model at
        # best.
        if writers == {_user()} and os.access(folder, os.W_OK | os.X_OK):
            _begin_use(folder)
            _remove_unused(folder, owner)
            return _seeded(folder, model), True
        model = model or folder
    return _seeded(scratch(), model), False


def _user() -> int:
    """Return the id of this user; 0 on Windows."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _is_guarded(home: Path) -> bool:
    """Return whether only root and this user can replace a folder inside this one.

    Each folder on the way must be theirs, and writable by them alone, unless it is sticky or inside
    one that nobody else can enter. Missing ones are created, each after those above it qualify.
    """
    closed = False
    try:
        # From the root down. Once a folder lets nobody else in, modes of those below it do not
        # matter, except that of the last one.
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
    """Return the owners of a folder and of all it contains; -1 among them if others can write."""
    try:
        top = folder.lstat()
        closed = not top.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        return {_writer(top), *(_writer(status, closed=closed) for status in _entries(folder))}
    except OSError:
        return {ANYBODY}


def _writer(status: os.stat_result, *, closed: bool = False) -> int:
    """Return the owner, or `ANYBODY` if others can write and can reach it (not `closed`)."""
    if not hasattr(os, "geteuid"):  # Windows, where owners and modes say nothing
        return 0
    is_open = stat.S_ISLNK(status.st_mode) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return ANYBODY if is_open and not closed else status.st_uid


def _entries(folder: Path | str) -> Iterator[os.stat_result]:
    """Yield the status of everything below a folder; files that vanish meanwhile are skipped."""
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                yield entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)


def _begin_use(folder: Path) -> None:
    """Note the time of use; close the folder if the umask lets others write new files."""
    umask = os.umask(0o077)
    os.umask(umask)
    with suppress(OSError):
        os.utime(folder)
        if umask & 0o022 != 0o022:
            folder.chmod(0o700)


def _seeded(folder: Path, model: Path | None) -> Path:
    """Fill an empty folder with everything in the model, atomically, or leave it empty."""
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
    """Remove folders of other digests, and remains of interrupted copies, that were long unused."""
    for other in folder.parent.glob(f"*kernels-{owner}-*"):
        with suppress(OSError):
            if other != folder and time.time() - other.stat().st_mtime > UNUSED_SECONDS:
                shutil.rmtree(other, ignore_errors=True)


def _scratch() -> Path:
    """Return a temporary folder that is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="graphveil-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def use_own_folder(seams: Any) -> None:
    """Make Numba keep all kernels of the package in one folder, and announce compilations."""
    rooms = sorted(path for path in PACKAGE.rglob("kernels") if path.is_dir())
    folder, lasts = folder_for(digest_of(*rooms), _homes(), _scratch)
    text = ONCE.format(home=folder.parent) if lasts else ALWAYS
    seams.keep_kernels(PACKAGE, kept_in=folder, text=text)

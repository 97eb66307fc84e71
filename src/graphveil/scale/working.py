"""The folder of an unfinished run: private, and enough to go on from where it stopped."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from graphveil.core.atomic import LOCK, OWNER_ONLY, kept_elsewhere, whole_file, working_folder
from graphveil.core.errors import GraphveilError, ReleaseError, ResourceError
from graphveil.core.hints import option
from graphveil.core.randomness import Randomness
from graphveil.core.storage import Address, Place, place_of
from graphveil.core.version import __version__
from graphveil.core.warning_channel import warn
from graphveil.core.warnings import StaleFilesWarning
from graphveil.release.claiming import Method
from graphveil.release.options import RunOptions

if TYPE_CHECKING:
    from filelock import FileLock

S = TypeVar("S", bound=msgspec.Struct)

RUN = "run.json"
ADDRESS_DIGITS = 8
"""How many hexadecimal digits of the digest of an address distinguish working folders."""

_PRIVATE, _OTHERS = 0o700, 0o077


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is of, and where its randomness comes from: secret.

    `fingerprint`: the digest of all that decides the result; `root`: entropy in hexadecimal.
    """

    fingerprint: str
    root: str

    @property
    def name(self) -> str:
        """What this run alone has, in hexadecimal digits; it tells nothing of root, seed or data.

        A seed takes no part: anyone who sees the name could try seeds.
        """
        root = Randomness(_root=int(self.root, 16))
        return root.secret(f"name of the run {self.fingerprint}").hex()

    def opened(self, folder: Path, seed: int | None, lock: FileLock) -> WorkingFolder:
        """Return the run in its folder."""
        randomness = Randomness(seed=seed, _root=int(self.root, 16))
        return WorkingFolder(folder, randomness, lock, self.name)


@dataclass(frozen=True)
class WorkingFolder:
    """An open working folder."""

    folder: Path
    randomness: Randomness
    lock: FileLock
    name: str

    @property
    def folders(self) -> tuple[str, str]:
        """Where the run keeps people's rows, in words, and what to call that: it, or both."""
        return _in_words(self.folder)

    def stage(self, name: str) -> Path:
        """Return an empty folder for a stage that begins."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def is_done(self, name: str) -> bool:
        """Whether a stage is done."""
        return (self.folder / f"{name}.json").is_file()

    def finished(self, name: str, kind: type[S]) -> S | None:
        """Return what a stage left when it was done, or None where it was not."""
        path = self.folder / f"{name}.json"
        return msgspec.json.decode(path.read_bytes(), type=kind) if path.is_file() else None

    def finish(self, name: str, result: S) -> S:
        """Note that a stage is done, and return its result."""
        with whole_file(self.folder / f"{name}.json", mode=OWNER_ONLY) as part:
            part.write_bytes(msgspec.json.encode(result))
        return result

    def remove(self) -> None:
        """Delete the folder with everything in it, and what the run keeps elsewhere."""
        self.close()
        _delete(self.folder)

    def close(self) -> None:
        """Let go of the folder, so that another run may go on there."""
        self.lock.release()


def unfinished_beside(place: Place) -> Path:
    """Return what the working folder of an unfinished run stands next to, on this machine.

    That is the release or private folder itself; of an address, a name in the current folder that
    no other address has.

    >>> from graphveil.core.storage import place_of
    >>> unfinished_beside(place_of("s3a://owner/lists-k8")).name
    'lists-k8-3be5d819'
    """
    if isinstance(place, Path):
        return place
    digest = hashlib.sha256("/".join(place.located).encode()).hexdigest()
    return Path.cwd() / f"{place.name}-{digest[:ADDRESS_DIGITS]}"


def opened(out: Path, fingerprint: str, *, seed: int | None, force: bool) -> WorkingFolder:
    """Return the working folder of a run, the one it left when it was interrupted included."""
    folder = working_folder(out)
    # A folder that is there: it must be this owner's, and of no run that is in progress.
    if os.path.lexists(folder):
        _check_own(folder)
        lock = _locked(folder)
        run = msgspec.json.decode((folder / RUN).read_bytes(), type=Unfinished)
        # The same data and options: continue with the same root of randomness.
        if run.fingerprint == fingerprint:
            return run.opened(folder, seed, lock)
        lock.release()
        if not force:
            where, all_of_it = _in_words(folder)
            raise ReleaseError(
                f"{where} holds an unfinished run of different data or options. Delete "
                f"{all_of_it}, or use {option('force', value=True)}."
            )
        _delete(folder)
    # Otherwise the run begins, with a root that is written before anything is sampled.
    try:
        folder.mkdir(mode=_PRIVATE)
        run = Unfinished(fingerprint=fingerprint, root=f"{secrets.randbits(256):x}")
        with whole_file(folder / RUN, mode=OWNER_ONLY) as part:
            part.write_bytes(msgspec.json.encode(run))
        return run.opened(folder, seed, _locked(folder))
    except OSError as error:
        raise ResourceError(f"cannot write {folder} ({error.strerror}).") from error


def _check_own(folder: Path) -> None:
    """Refuse a folder that this owner's unfinished run did not leave as it is.

    Whoever could write into it could put other people's rows, or known randomness, into a release.
    """
    status = folder.lstat()
    if not (stat.S_ISDIR(status.st_mode) and stat.S_ISREG(_mode_of(folder / RUN))):
        raise ReleaseError(f"{folder} is not the folder of an unfinished run. Move it away.")
    if sys.platform != "win32":
        if status.st_uid != os.geteuid():
            raise ReleaseError(
                f"{folder} belongs to another user (number {status.st_uid}), so it is neither "
                "used nor deleted. Choose a different name for the release, or move the folder "
                "away."
            )
        mode = stat.S_IMODE(status.st_mode)
        if mode & _OTHERS:
            raise ReleaseError(
                f"{folder} is accessible to others (mode {mode:o}; a run sets {_PRIVATE:o}), so "
                "its contents are not used. Delete it, or move it away."
            )


def _delete(folder: Path) -> None:
    """Delete a working folder, after what it names elsewhere; tell the owner of what is left."""
    elsewhere = kept_elsewhere(folder)
    for place in (None if elsewhere is None else place_of(elsewhere), folder):
        if place is not None and not _is_gone(place):
            left = f"{place} holds rows of people, and could not be deleted. Delete it"
            warn(left, StaleFilesWarning)


def _is_gone(place: Place) -> bool:
    """Whether everything in a place could be deleted: what is behind a link could not."""
    if isinstance(place, Address):
        folder = place.mounted
        if folder is None:
            return _is_gone_from_store(place)
        place = folder
    shutil.rmtree(place, ignore_errors=True)
    return not os.path.lexists(place)


def _is_gone_from_store(place: Address) -> bool:
    try:
        place.delete_all()
    except GraphveilError:
        return False
    return True


def _in_words(folder: Path) -> tuple[str, str]:
    """Return the words for a working folder with what it names elsewhere, and for all of it."""
    elsewhere = kept_elsewhere(folder)
    return (f"{folder}", "it") if elsewhere is None else (f"{folder} (with {elsewhere})", "both")


def _mode_of(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _locked(folder: Path) -> FileLock:
    """Return a lock that no other run can hold at the same time."""
    from filelock import FileLock, Timeout  # noqa: PLC0415  help needs no lock

    lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise ReleaseError(
            f"{folder} belongs to a run that is still in progress. Wait for it, or stop it."
        ) from error
    return lock


@contextmanager
def going_on(
    method: Method,
    run: RunOptions,
    rows_sha256: str,
    reading: Mapping[str, Any],
    *,
    once: str = "",
    **more: Any,
) -> Iterator[WorkingFolder]:
    """Give the working folder of a run: the one it left when it was interrupted, or a new one."""
    # All that decides the result is in the fingerprint; a different one is a different run.
    decided_by = {
        "version": __version__,
        "method": method.name,
        "parameters": method.parameters(),
        "seed": Randomness(seed=run.seed).seed,
        "reading": reading,
        **more,
    }
    digest = hashlib.sha256(rows_sha256.encode())
    digest.update(msgspec.json.encode(decided_by, order="deterministic"))
    working = opened(
        unfinished_beside(run.private or run.out),
        digest.hexdigest(),
        seed=run.seed,
        force=run.force,
    )
    with kept_where_interrupted(working, once=once):
        yield working


@contextmanager
def kept_where_interrupted(working: WorkingFolder, *, once: str = "") -> Iterator[None]:
    """Delete the working folder where the run ends, or would fail again; else say where it is.

    `working`: the folder; `once`: a stage that is not to be done again: once it is done, nothing is
    deleted. Raises `ResourceError` where the disk fails.
    """
    try:
        yield
    except ReleaseError:  # something stands in the way, and is no fault of the rows
        _say_where(working, once="the obstacle is removed")
        raise
    except OSError as error:
        _say_where(working)
        raise ResourceError(
            f"cannot write {working.folder} ({error.strerror or error}). Free space, and run "
            "the same command again."
        ) from error
    except BaseException as error:
        fails_again = isinstance(error, GraphveilError) and not isinstance(error, ResourceError)
        if fails_again and not (once and working.is_done(once)):
            working.remove()
        else:
            _say_where(working)
        raise
    else:
        working.remove()
    finally:
        working.close()


def _say_where(working: WorkingFolder, *, once: str = "") -> None:
    goes_on = "the same command continues from there" + (f", once {once}" if once else "")
    where, all_of_it = working.folders
    message = (
        f"the unfinished run is kept in {where}, for its owner only: {goes_on}. Delete "
        f"{all_of_it} to give up"
    )
    warn(message, StaleFilesWarning)

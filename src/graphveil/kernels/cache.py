"""Where compiled kernels are kept: in a folder named by the digest of all sources of kernels.

Numba looks at the file of a kernel alone. A kernel holds the code of those that it calls, so that
one edited callee makes a new folder, and the old one is removed. The first of these that can be
written is used: the folder that NUMBA_CACHE_DIR names, the package's own, the user's.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, event

from graphveil.progress import notice

ROOM = Path(__file__).resolve().parent
SECONDS = {"adaptive": 8, "k_degree": 8, "smooth_k": 8, "structural": 20}
"""About how long what a run needs of a room compiles, measured on one core; else it is 3 s."""


PATIENT = 50_000
"""So many new objects come before garbage is looked for, while something compiles."""


def digest_of(folder: Path) -> str:
    """Return 16 hexadecimal digits of all sources below a folder, and of what compiles them."""
    content = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        content.update(f"{path.relative_to(folder)} {len(source)}\n".encode() + source)
    return content.hexdigest()[:16]


def _homes() -> Iterator[Path]:
    """Yield the folders that may hold compiled kernels, the best first."""
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        yield Path(named)
    yield ROOM / "__pycache__"
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  "~" where there is no home
    if Path(user).is_absolute():
        yield Path(user) / "graphveil"


def folder_for(
    digest: str, homes: Iterator[Path], scratch: Callable[[], Path]
) -> tuple[Path, bool]:
    """Return the folder that compiled kernels of this digest go to, and whether it lasts.

    A folder that holds them and cannot be written, as in an image, is copied to one that can.
    Folders of the same installation for other digests are removed.
    """
    owner = hashlib.sha256(str(ROOM).encode()).hexdigest()[:8]
    model = None
    for home in homes:
        folder = home / f"kernels-{owner}-{digest}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            writable = os.access(folder, os.W_OK)
        except OSError:
            writable = False
        if writable:
            _remove_others(folder, owner)
            return _seeded(folder, model), True
        if model is None and folder.is_dir():
            model = folder
    return _seeded(scratch(), model), model is not None


def _seeded(folder: Path, model: Path | None) -> Path:
    if model is not None and not any(folder.iterdir()):
        shutil.copytree(model, folder, dirs_exist_ok=True)
    return folder


def _remove_others(folder: Path, owner: str) -> None:
    for other in folder.parent.glob(f"kernels-{owner}-*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def _scratch() -> Path:
    folder = tempfile.mkdtemp(prefix="graphveil-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


class _Locator(caching._CacheLocator):  # noqa: SLF001  Numba has no public hook
    """Tells Numba where kernels of this folder, and no others, are kept."""

    folder: Path

    def __init__(self, source: Path) -> None:
        self._source = source.relative_to(ROOM)

    def get_cache_path(self) -> str:
        return str(self.folder / self._source.parent)

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return ""

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _Locator | None:
        del py_func
        source = Path(py_file).resolve()
        return cls(source) if source.is_relative_to(ROOM) else None


class _Announcer(event.Listener):
    """Says once that kernels are compiled, when the first one is; lets garbage wait meanwhile.

    Looking for it takes a tenth of the time: Numba makes many objects that live until the end.
    """

    def __init__(self, *, kept: bool) -> None:
        self._kept = kept
        self._said = False
        self._depth = 0
        self._thresholds = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._thresholds = gc.get_threshold()
            first, *later = self._thresholds
            gc.set_threshold(first and PATIENT, *later)
        self._depth += 1
        module = str(event.data["dispatcher"].py_func.__module__)
        if self._said or not module.startswith("graphveil.kernels."):
            return
        self._said = True
        seconds = SECONDS.get(module.split(".")[2], 3)
        if self._kept:
            notice(f"compiling once for this machine, about {seconds} s")
        else:
            notice(
                f"compiling, about {seconds} s in every run: no folder can be written to keep the "
                "result. Name one in NUMBA_CACHE_DIR"
            )

    def on_end(self, event: Any) -> None:
        del event
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._thresholds)


def use_own_folder() -> None:
    """Let Numba keep the kernels of this folder together, and say when it compiles them."""
    _Locator.folder, kept = folder_for(digest_of(ROOM), _homes(), _scratch)
    locators: list[Any] = caching.CacheImpl._locator_classes  # noqa: SLF001  as above
    locators.insert(0, _Locator)
    event.register("numba:compile", _Announcer(kept=kept))  # type: ignore[no-untyped-call]

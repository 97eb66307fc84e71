"""The folder that the page works in: no path leaves it, whatever links stand in it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from msgspec import MsgspecError

from graphveil.core.errors import InputError, UsageError
from graphveil.core.text import printable

HIDDEN = ".graphveil"
"""The folder below the page's folder that holds choices, and what is unpacked."""

UNREADABLE = (OSError, ValueError, MsgspecError, UsageError)
"""What reading a file of the hidden folder raises if it is gone, or if others have changed it."""

MOST_LISTED = 500
"""So many entries of a folder are shown."""


class Entry(NamedTuple):
    """What stands in a folder: its path from the top, its kind, its size in bytes, its day."""

    path: str
    kind: str
    size: int = 0
    day: str = ""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Folder:
    """A folder, whose path has every link resolved, and what is in it."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> Folder:
        """Return the folder of this path."""
        if not path.is_dir():
            raise UsageError(f"{path} is not a folder. Give the folder that contains your files.")
        return cls(path.resolve())

    def inside(self, text: str) -> Path:
        """Return what a text names, from the top of the folder; it need not exist.

        Raises `UsageError` where it lies elsewhere, also by a link.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as name:
        ...     folder = Folder.at(Path(name))
        ...     folder.inside("a/../friends.csv").relative_to(folder.root).as_posix()
        'friends.csv'
        """
        try:
            path = Path(os.path.realpath(self.root / text))
        except (ValueError, OSError) as error:  # a NUL, a name too long, links in a circle
            raise self._outside(text) from error
        if not path.is_relative_to(self.root):
            raise self._outside(text)
        return path

    def hidden(self, name: str = "") -> Path:
        """Return a folder of our own below it, which only its owner can read."""
        path = self.inside(f"{HIDDEN}/{name}".rstrip("/"))
        for folder in (self.inside(HIDDEN), path):
            folder.mkdir(mode=0o700, exist_ok=True)
        return path

    def _outside(self, text: str) -> UsageError:
        return UsageError(
            f"{printable(text)} is outside {printable(self.root.name)}, the only folder this "
            "page can use. Copy the file there, or start the server in its folder."
        )

    def entries(self, path: Path) -> tuple[list[Entry], int]:
        """Return what is in a folder, without hidden and private folders, and how many more."""
        with os.scandir(path) as scanned:
            names = sorted(one.name for one in scanned if not one.name.startswith("."))
        listed = [name for name in names if not name.endswith(".private")]
        shown = [self._entry(path / name) for name in listed[:MOST_LISTED]]
        order = ("folder", "data", "release", "sweep", "page", "other")
        shown.sort(key=lambda one: (order.index(one.kind), one.name))
        return shown, max(0, len(listed) - MOST_LISTED)

    def _entry(self, path: Path) -> Entry:
        text = path.relative_to(self.root).as_posix()
        try:
            inside = self.inside(text)
            found = inside.stat()
            day = time.strftime("%Y-%m-%d", time.localtime(found.st_mtime))
            return Entry(text, self.kind_of(inside), found.st_size, day)
        except (UsageError, OSError):  # a link out of the folder, or to nothing
            return Entry(text, "other")

    def may_delete(self, path: Path) -> bool:
        """Whether a path is data or a release, and in no hidden or private folder."""
        parts = path.relative_to(self.root).parts
        is_kept = any(one.startswith(".") or one.endswith(".private") for one in parts)
        return not is_kept and self.kind_of(path) in ("release", "data")

    def kind_of(self, path: Path) -> str:
        """Return what a path is: a folder, a release, a sweep, data, a page, or something else."""
        from graphveil.io.formats import format_of  # noqa: PLC0415  heavy: the address comes first
        from graphveil.verbs.sweep.folder import is_sweep  # noqa: PLC0415  as above

        if path.is_dir():
            if (path / "release.json").is_file():
                return "release"
            return "sweep" if is_sweep(path) else "folder"
        if path.suffix == ".html":
            return "page"
        try:
            format_of(path)
        except InputError:
            return "other"
        return "data" if path.is_file() else "other"

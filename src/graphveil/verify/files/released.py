"""The files of a release, in a folder or at an address: which there are, and each as a file here.

At an address, an object is read once, into a file of this machine: what was digested is what is
checked, and SQL reads nothing from elsewhere. Nothing is read that is not as long as it should be.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from graphveil.places.address import Address
from graphveil.records import parts
from graphveil.records.manifest import MANIFEST


class Released(Protocol):
    """What is asked of the place of a release."""

    @property
    def name(self) -> str:
        """Its name, for messages."""

    @property
    def folder(self) -> Path | None:
        """The folder, if it is one."""

    @property
    def around(self) -> Path:
        """The folder of this machine that its files are read from."""

    def names(self, *, with_parts: bool) -> list[str]:
        """Return the names of what lies there, parts by their own if some are expected.

        Raises
        ------
        OSError
            Where that cannot be listed.
        """

    def size(self, name: str) -> int | None:
        """Return the bytes of a regular file of this name; None where there is none."""

    def path(self, name: str) -> Path:
        """Return the path of a file that has a size, on this machine.

        Raises
        ------
        OSError
            Where it cannot be read.
        """


class InFolder:
    """The files of a folder.

    Parameters
    ----------
    folder
        The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.around = folder
        self.name = folder.name

    def names(self, *, with_parts: bool) -> list[str]:
        """Return the names of what lies there."""
        return sorted(self._names(with_parts=with_parts))

    def _names(self, *, with_parts: bool) -> Iterator[str]:
        for path in self.folder.iterdir():
            if with_parts and path.name == parts.FOLDER and _has_mode(path, stat.S_ISDIR):
                yield from (f"{parts.FOLDER}/{part.name}" for part in path.iterdir())
            else:
                yield path.name

    def size(self, name: str) -> int | None:
        """Return the bytes of a regular file; links of any sort are none."""
        if not _is_plain(name) or not _has_mode(self.folder / name, stat.S_ISREG):
            return None
        if parts.is_part(name) and not _has_mode(self.folder / parts.FOLDER, stat.S_ISDIR):
            return None
        return self.path(name).stat().st_size

    def path(self, name: str) -> Path:
        """Return the path of a file."""
        return self.folder / name


class AtAddress:
    """The objects beneath an address.

    Parameters
    ----------
    address
        The address.
    around
        An empty folder of this machine, for copies.
    """

    folder = None

    def __init__(self, address: Address, around: Path) -> None:
        self.around = around
        self.name = str(address)
        self._address = address
        self._sizes: dict[str, int] = {}
        self._names: set[str] | None = None

    def _list(self) -> set[str]:
        """Return the names of all objects and folders; it is asked for once."""
        if self._names is None:
            entries = self._address.entries()
            self._sizes = {entry.name: entry.size for entry in entries if entry.size is not None}
            folders = {entry.name for entry in entries if entry.size is None}
            self._names = {*self._sizes, *(folders - {parts.FOLDER})}
        return self._names

    def names(self, *, with_parts: bool) -> list[str]:
        """Return the names of all objects, at any depth, and of all folders but that of parts."""
        del with_parts
        return sorted(self._list())

    def size(self, name: str) -> int | None:
        """Return the bytes of an object."""
        self._list()
        return self._sizes.get(name) if _is_plain(name) else None

    def path(self, name: str) -> Path:
        """Return the path of the copy of an object, which is made once."""
        path = self.around / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._address.fetch(name, path, most=self._sizes[name] + 1)
        return path


def _is_plain(name: str) -> bool:
    """Whether it is the name of a file in the folder itself, or of a part.

    Names with separators, ``..`` and control characters are none.
    """
    if parts.is_part(name):
        return True
    plain = name.isprintable() and Path(name).name == name and "\\" not in name
    return plain and name != MANIFEST


def _has_mode(path: Path, is_such: Callable[[int], bool]) -> bool:
    """Whether something is there, no link to it, and such."""
    try:
        return is_such(path.lstat().st_mode)
    except (OSError, ValueError):
        return False

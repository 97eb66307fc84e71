"""The files of a release, in a folder or beneath an address, by names that cannot lead elsewhere.

A name from a manifest is hostile input: names with separators, ``..`` or control characters are
refused, and links of any sort do not count as files of a release. At an address every object is
copied once into a temporary folder and read from there, so that what was digested is what is
checked.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from graphveil.claims import parts
from graphveil.claims.manifest import MANIFEST
from graphveil.core.storage import Address, Entry


class Released:
    """The files of a release in a folder."""

    def __init__(self, around: Path) -> None:
        self.folder: Path | None = around
        self.around = around
        self.name = around.name

    def names(self, *, with_parts: bool) -> list[str]:
        """Return the names of all entries; with parts, also those in the folder of parts."""
        # The folder's own entries; parts are in a folder of their own, and listed with its name.
        there = {path.name for path in self.around.iterdir()}
        parted = self.around / parts.FOLDER
        if with_parts and has_mode(parted, stat.S_ISDIR):
            inside = {f"{parts.FOLDER}/{part.name}" for part in parted.iterdir()}
            there = (there - {parts.FOLDER}) | inside
        return sorted(there)

    def size(self, name: str) -> int | None:
        """Return the bytes of a regular file of this name; links of any sort are refused."""
        # A link of any sort has no size here, so it counts as missing.
        if not is_plain_name(name) or not has_mode(self.around / name, stat.S_ISREG):
            return None
        if parts.is_part(name) and not has_mode(self.around / parts.FOLDER, stat.S_ISDIR):
            return None
        return self.path(name).stat().st_size

    def path(self, name: str) -> Path:
        """Return the path of a file that has a size, on this machine."""
        return self.around / name


class AtAddress(Released):
    """The objects beneath an address; copies of them go into an empty folder of this machine."""

    def __init__(self, address: Address, around: Path) -> None:
        super().__init__(around)
        self.folder, self.name = None, str(address)
        self._address = address

    @cached_property
    def _entries(self) -> list[Entry]:
        """All objects and folders, listed once."""
        return self._address.entries()

    @cached_property
    def _sizes(self) -> dict[str, int]:
        return {entry.name: entry.size for entry in self._entries if entry.size is not None}

    def names(self, *, with_parts: bool) -> list[str]:  # noqa: ARG002  a listing holds all anyway
        """Return the names of all objects, at any depth, and of all folders but that of parts."""
        folders = {entry.name for entry in self._entries if entry.size is None}
        return sorted({*self._sizes, *(folders - {parts.FOLDER})})

    def size(self, name: str) -> int | None:
        """Return the bytes of an object."""
        return self._sizes.get(name) if is_plain_name(name) else None

    def path(self, name: str) -> Path:
        """Return the path of the local copy of an object, which is fetched on first use."""
        # One copy per object: what is digested is what is loaded.
        path = self.around / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._address.fetch(name, path, most=self._sizes[name] + 1)
        return path


# Names from a manifest, which may be hostile.
def is_plain_name(name: str) -> bool:
    """Whether it names a file in the folder itself, or a part.

    Names with separators, ``..`` and control characters are not names.
    """
    if parts.is_part(name):
        return True
    plain = name.isprintable() and Path(name).name == name and "\\" not in name
    return plain and name != MANIFEST


def has_mode(path: Path, is_such: Callable[[int], bool]) -> bool:
    """Whether a path exists, is not a link, and has a mode that the predicate accepts."""
    try:
        return is_such(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def sha256_of(path: Path) -> str:
    """Return the digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

"""What is around a release: folders that it may not be in, and other releases of the same input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from graphveil.claims.ledger import LedgerReference
from graphveil.claims.manifest import MANIFEST
from graphveil.claims.record import PRIVATE, RECORD, Record, private_folder
from graphveil.core.errors import (
    GraphveilError,
    UsageError,
)
from graphveil.core.storage import Address, Place


class _Digests(msgspec.Struct):
    input_sha256: str
    origins_sha256: list[str] = []


def input_digests_in(private: Place) -> frozenset[str]:
    """Return the digests of the input, and of what it was read from, that a record holds.

    None where there is no record, or it is someone else's and cannot be read.
    """
    try:
        known = msgspec.json.decode((private / RECORD).read_bytes(), type=_Digests)
    except (GraphveilError, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return frozenset()
    return frozenset((known.input_sha256, *known.origins_sha256))


def check_outside(place: Place, *, is_folder: bool = False) -> None:
    """Refuse a place inside a release: who publishes the release would publish it, too.

    A folder that is new is refused inside a private folder as well: one of the two is not kept.
    """
    mounted = place.mounted if isinstance(place, Address) else place
    inner = None if mounted is None else mounted.parent.resolve()
    for around in _above(place) if inner is None else (inner, *inner.parents):
        if _has_manifest(around):
            raise UsageError(
                f"{place} is inside a release, which is public. Choose a place outside it."
            )
        if is_folder and input_digests_in(around):
            raise UsageError(
                f"{place} is inside the private folder of a release. Choose a place outside it."
            )


def _above(place: Place) -> Iterator[Place]:
    """Yield what an address is in, from the inside on; not its whole store."""
    while isinstance(place, Address) and "/" in place.key:
        yield (place := place.parent)


def _has_manifest(folder: Place) -> bool:
    """Whether a folder is a release, as far as can be seen; a file of that name may be another."""
    try:
        return b"graphveil" in (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError, GraphveilError):
        return False
    except OSError:
        return True


class _Entered(msgspec.Struct):
    ledger: LedgerReference | None = None


def ledger_entry_in(private: Place) -> str | None:
    """Return the entry in a ledger that a private folder records; None where there is none."""
    try:
        note = msgspec.json.decode((private / RECORD).read_bytes(), type=_Entered).ledger
    except (GraphveilError, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if note is None else note.entry


def identity_in(private: Place) -> str | None:
    """Return what tells the release of a private folder from others; None where nothing does."""
    try:
        return msgspec.json.decode((private / RECORD).read_bytes(), type=Record).identity
    except (GraphveilError, OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def owners_of_others(
    folder: Place, digests: frozenset[str], private: Place | None = None
) -> list[Place]:
    """Return the private folders of other releases of the same input, oldest first.

    Any of the digests says that it is the same. The release that this one replaces does not
    count. The age is the time of the record's file.
    """
    if isinstance(private, Address):
        own_names = private.located
        placed = [other for other in private.parent.folders() if other.located != own_names]
        return [other for other in placed if input_digests_in(other) & digests]
    beside: list[Path] = []
    own = Path() if private is None else private.resolve()
    if isinstance(folder, Path):
        own = (private or private_folder(folder)).resolve()
        beside += folder.resolve().parent.glob(f"*{PRIVATE}")
    if private is not None:
        beside += [path.parent for path in own.parent.glob(f"*/{RECORD}")]
    folders = {path.resolve(): path for path in reversed(beside)}  # a folder may also be linked
    folders.pop(own, None)
    others = sorted(folders.values(), key=_written)
    return [other for other in others if input_digests_in(other) & digests]


def _written(private: Path) -> tuple[int, str]:
    """Return when the record of a private folder was written; 0 where there is none."""
    try:
        return (private / RECORD).stat().st_mtime_ns, private.name
    except OSError:
        return 0, private.name

"""The owner's private record of a release, and the names of the files next to it.

The record is what only the holder of the original may see: cost, warnings, seed, digests of the
input, and everything else that a run notes for its owner.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from graphveil.claims.ledger import LedgerReference
from graphveil.core.errors import (
    ReleaseError,
)
from graphveil.core.storage import Place

PRIVATE = ".private"
"""What the name of a release's private folder ends with."""
RECORD = "record.json"
LINKAGE = "linkage.parquet"
LINKED = "linkage"
"""The subfolder of the linkage in parts, where the private place is an address."""
LEVELS = "levels.parquet"
WITNESS = "witness.parquet"
OWNERS_PAGE = "report.html"
ATTACKED = "attacks"
"""The subfolder for what attacks say of each person, a Parquet file an attack."""
_PART = re.compile(rf"{LINKED}/part-[0-9]{{5,7}}\.parquet")


class OwnersNotes(msgspec.Struct, frozen=True, kw_only=True):
    """What only the owner may know of a run: each field is one fact, and goes into the record.

    A method fills in what only it knows; `graphveil.release.making.make_release` adds the rest. A
    new fact is one field here and one place that sets it: the record inherits it, and it is read
    back with the release.

    Parameters
    ----------
    input_sha256, origins_sha256
        Digests of the input, and of what it was read from: they recognize its other releases.
    seed
        The seed of the run; None where it drew from entropy.
    cost
        What the release cost against the original, by the name of the figure. A method enters the
        figures that only it knows.
    warnings
        What the owner was warned of.
    unprotected
        Original ids of those for whom a partial guarantee does not hold.
    withheld
        Parameters that no manifest states, by name.
    unrecorded
        Names of arguments that no file keeps, such as functions.
    assignment
        How people were assigned to the records of an adaptive release, if this is stated.
    ancestors
        For each column of a generalized table the nodes above each value, from below.
    seconds
        CPU seconds by stage.
    nested_in
        The identities of releases that this one is nested in.
    release_id
        The identity of the release: random, or derived from the seed.
    """

    input_sha256: str = ""
    origins_sha256: tuple[str, ...] = ()
    seed: int | None = None
    cost: Mapping[str, float | int] = {}
    warnings: tuple[str, ...] = ()
    unprotected: tuple[int | str, ...] = ()
    withheld: Mapping[str, Any] = {}
    unrecorded: tuple[str, ...] = ()
    assignment: str | None = None
    ancestors: Mapping[str, Mapping[str, Sequence[str]]] = {}
    seconds: Mapping[str, float] = {}
    nested_in: tuple[str, ...] = ()
    release_id: str = ""


NOTES = OwnersNotes.__struct_fields__
"""The names of the owner's notes, which a record and a release have among others."""


class Record(OwnersNotes, frozen=True, kw_only=True):
    """The private record as it is written: the owner's notes, and what binds it to the files.

    Parameters
    ----------
    manifest_sha256, linkage_sha256, levels_sha256, witness_sha256
        Digests of the manifest and of the owner's other files; None for files that are not there.
    method
        The name of the method.
    reading
        The options that the input was read with.
    ledger
        The entry in the owner's ledger of epsilons; None where there is none.
    """

    # A file without these facts is not a record.
    input_sha256: str
    seed: int | None
    cost: dict[str, float | int]
    warnings: tuple[str, ...]
    unprotected: tuple[int | str, ...]
    withheld: dict[str, Any]
    seconds: dict[str, float]

    manifest_sha256: str
    linkage_sha256: str | None
    method: str
    reading: dict[str, Any]
    ledger: LedgerReference | None = None
    levels_sha256: str | None = None
    witness_sha256: str | None = None

    @property
    def identity(self) -> str:
        """What tells this release from any other; of a record without an id, its manifest."""
        return self.release_id or self.manifest_sha256


def private_folder(folder: Path) -> Path:
    """Return the private folder next to a release folder."""
    path = folder if folder.name not in {"", ".."} else folder.resolve()
    return path.parent / f"{path.name}{PRIVATE}"


def linkage_part(number: int) -> str:
    """Return the name of a part of the linkage, from 0 on, of the users of that part of data."""
    return f"{LINKED}/part-{number:05d}.parquet"


def is_linkage_part(name: str) -> bool:
    """Whether a file of this name in a private place is a part of the linkage."""
    return _PART.fullmatch(name) is not None


def linkage_files(private: Path) -> list[Path]:
    """Return the file of the linkage in a private folder, or its parts in order, or none."""
    whole = private / LINKAGE
    if whole.is_file():
        return [whole]
    parts = private / LINKED
    if not parts.is_dir():
        return []
    named = {path: f"{LINKED}/{path.name}" for path in parts.iterdir()}
    return sorted(
        (path for path, name in named.items() if is_linkage_part(name)),
        key=lambda path: (len(path.name), path.name),
    )


def digest_of_parts(digests: Iterable[str]) -> str:
    """Return the one digest of parts in order, of which each has one.

    >>> digest_of_parts(["a1", "b2"])[:8]
    'dc670a7a'
    """
    return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()


def read_record(folder: Place, private: Place | None = None) -> Record | None:
    """Return the private record of a release, or None where there is none."""
    if private is None:
        if not isinstance(folder, Path):
            return None
        private = private_folder(folder)
    path = private / RECORD
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReleaseError(
            f"{path} is not a valid record: {error}. Restore the file as anonymize wrote it."
        ) from error

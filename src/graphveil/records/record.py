"""The owner's private record: what only the holder of the original may see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from graphveil.errors import ReleaseError
from graphveil.records.ledger_entries import Note

PRIVATE = ".private"
"""What the name of a release's private folder ends with."""

RECORD = "record.json"
LINKAGE = "linkage.parquet"
LEVELS = "levels.parquet"
WITNESS = "witness.parquet"
ATTACKED = "attacks"
"""The subfolder for what attacks say of each person, a Parquet file an attack."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Private: cost against the original, seed, warnings, and how the input was read.

    Parameters
    ----------
    input_sha256
        The digest of the input's content (`digest_of`), whatever file it came in.
    origins_sha256
        The digests of what the input was read from: the bytes of its file, the content of an
        object. By them another release is recognized where the input was read in another way.
    manifest_sha256
        The digest of the `release.json` that this record belongs to.
    linkage_sha256
        The digest of the linkage's file, where it was kept.
    method
        The method's name.
    seed
        The seed, where one was given.
    cost
        What the release cost against the original: counts, ratios, bounds.
    warnings
        What the owner should know.
    unprotected
        The original ids of those for whom a partial promise does not hold.
    withheld
        The parameters that the public manifest leaves out, by name.
    reading
        The options that the input was read with.
    seconds
        The duration of every step.
    nested_in
        The digests of the linkages of the releases that this one is nested in.
    ledger
        The file of the ledger of epsilons, and the release's entry in it; None without one.
    levels_sha256, witness_sha256
        The digests of the files of levels and of chosen pairs, where they were written.
    unrecorded
        The arguments of the run, by name, that no file keeps: without them the method cannot be run
        again as it was.
    """

    input_sha256: str
    manifest_sha256: str
    linkage_sha256: str | None
    method: str
    seed: int | None
    cost: dict[str, float | int]
    warnings: list[str]
    unprotected: list[int | str]
    withheld: dict[str, Any]
    reading: dict[str, Any]
    seconds: dict[str, float]
    nested_in: list[str] = []
    ledger: Note | None = None
    levels_sha256: str | None = None
    witness_sha256: str | None = None
    unrecorded: list[str] = []
    origins_sha256: list[str] = []


def private_folder(folder: Path) -> Path:
    """Return the private folder beside a release folder.

    Examples
    --------
    >>> private_folder(Path("out/friends-k5")).name
    'friends-k5.private'
    """
    path = folder if folder.name not in {"", ".."} else folder.resolve()
    return path.parent / f"{path.name}{PRIVATE}"


def read_record(folder: Path, private: Path | None = None) -> Record | None:
    """Return the private record of a release, or None where there is none.

    Parameters
    ----------
    folder
        The release folder.
    private
        Its private folder; None for the one beside it.

    Raises
    ------
    ReleaseError
        Where the file is there but is no record.
    """
    path = (private or private_folder(folder)) / RECORD
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReleaseError(f"{path}: not a record: {error}. Take the file as written.") from error


class _Digests(msgspec.Struct):
    input_sha256: str
    origins_sha256: list[str] = []


def input_digests_in(private: Path) -> frozenset[str]:
    """Return the digests of the input, and of what it was read from, that a record holds.

    None where there is no record, or it is somebody else's and cannot be read.
    """
    try:
        known = msgspec.json.decode((private / RECORD).read_bytes(), type=_Digests)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return frozenset()
    return frozenset((known.input_sha256, *known.origins_sha256))


class _Entered(msgspec.Struct):
    ledger: Note | None = None


def ledger_entry_in(private: Path) -> str | None:
    """Return the entry in a ledger that a private folder records; None where there is none."""
    try:
        note = msgspec.json.decode((private / RECORD).read_bytes(), type=_Entered).ledger
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if note is None else note.entry


def owners_of_others(
    folder: Path, digests: frozenset[str], private: Path | None = None
) -> list[Path]:
    """Return the private folders of other releases of the same input, oldest first.

    Any of the digests says that it is the same. The release that this one replaces does not
    count. The age is the time of the record's file.

    Parameters
    ----------
    folder
        The release folder: those beside it are looked at.
    digests
        Those of the input.
    private
        Its private folder, where it lies in another place: what lies beside that is looked at, too.
    """
    own = (private or private_folder(folder)).resolve()
    beside = [*folder.resolve().parent.glob(f"*{PRIVATE}")]
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

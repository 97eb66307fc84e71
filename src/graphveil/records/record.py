"""The owner's private record: what only the holder of the original may see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from graphveil.errors import ReleaseError

RECORD = "record.json"
LINKAGE = "linkage.parquet"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Private: cost against the original, seed, warnings, and how the input was read.

    Parameters
    ----------
    input_sha256
        The digest of the input's content (`digest_of`), whatever file it came in.
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
        What the owner was told.
    unprotected
        The original ids of those for whom a partial promise does not hold.
    withheld
        The parameters that the public manifest leaves out, by name.
    reading
        The options that the input was read with.
    seconds
        The duration of every step.
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


def private_folder(folder: Path) -> Path:
    """Return the private folder beside a release folder.

    Examples
    --------
    >>> private_folder(Path("out/friends-k5")).name
    'friends-k5.private'
    """
    place = folder if folder.name not in {"", ".."} else folder.resolve()
    return place.parent / f"{place.name}.private"


def read_record(folder: Path) -> Record | None:
    """Return the private record beside a release folder, or None where there is none.

    Raises
    ------
    ReleaseError
        Where the file is there but is no record.
    """
    path = private_folder(folder) / RECORD
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReleaseError(f"{path}: not a record: {error}. Take the file as written.") from error


class _Digest(msgspec.Struct):
    input_sha256: str


def input_digest_in(private: Path) -> str | None:
    """Return the input's digest that a private folder records, whatever version wrote it.

    None where there is no record, or it is somebody else's and cannot be read.
    """
    try:
        raw = (private / RECORD).read_bytes()
        return msgspec.json.decode(raw, type=_Digest).input_sha256
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def refuse_second_release(folder: Path, input_sha256: str) -> None:
    """Refuse to publish the same input twice: two releases together protect less than each.

    Raises
    ------
    ReleaseError
        Where another private folder beside this release records the same input.
    """
    for other in sorted(folder.resolve().parent.glob("*.private")):
        if other.name == private_folder(folder).name:
            continue
        if input_digest_in(other) == input_sha256:
            raise ReleaseError(
                f"{other.name} shows that this input was released before. Who holds both releases "
                "learns more than from each. Nest the second in the first where the method can, "
                "delete the first if it was never published, or say --again."
            )

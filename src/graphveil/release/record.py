"""The owner's private record: what only the holder of the original may see."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from graphveil.data import Bipartite, Data, Graph, Table
from graphveil.data.ids import Ids
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
    left
        The original ids of those for whom a partial promise does not hold.
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
    left: list[int | str]
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


def digest_of(data: Data) -> str:
    """Return the SHA-256 of a container's content: structure, names and ids, in canonical order.

    The digest does not depend on the file or format that the data came in.

    Examples
    --------
    >>> one, two = Graph.from_edges([0], [1], n=2), Graph.from_edges([1], [0], n=2)
    >>> digest_of(one) == digest_of(two)
    True
    """
    seen = hashlib.sha256(type(data).__name__.encode())
    if isinstance(data, Table):
        seen.update("\x1f".join(data.columns).encode() + np.int64(data.n_rows).tobytes())
        seen.update(data.codes.tobytes())
        axes = [*data.categories, data.labels()]
    else:
        seen.update(data.indptr.tobytes())
        seen.update(data.indices.tobytes())
        axes = _axes(data)
    for ids in axes:
        seen.update(_bytes_of(ids))
    return seen.hexdigest()


def _axes(data: Graph | Bipartite) -> list[Ids]:
    if isinstance(data, Graph):
        return [data.labels()]
    return [data.labels(), data.feature_labels()]


def _bytes_of(ids: Ids) -> bytes:
    if ids.dtype.kind == "i":
        return b"i" + ids.tobytes()
    return b"t" + "\x1f".join(ids.tolist()).encode("utf-8", "surrogatepass")

"""The owner's private record: what only the holder of the original may see."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

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


class RowsPart(NamedTuple):
    """Some rows of users by features, in canonical order.

    Parameters
    ----------
    users
        Their ids: int64, or a list of text.
    sizes
        int64: how many features every row has.
    indices
        int32: the features, row by row.
    """

    users: NDArray[np.int64] | list[str]
    sizes: NDArray[np.int64]
    indices: NDArray[np.int32]


def digest_of_parts(parts: Callable[[], Iterator[RowsPart]], features: Ids) -> str:
    """Return what `digest_of` gives for users by features that come in parts.

    Parameters
    ----------
    parts
        Gives the rows from the beginning every time it is called.
    features
        The name of every feature.

    Examples
    --------
    >>> data = Bipartite.from_pairs([3, 8], ["tea", "rye"])
    >>> rows = [RowsPart(np.array([3]), np.array([1]), np.array([1], dtype=np.int32)),
    ...         RowsPart(np.array([8]), np.array([1]), np.array([0], dtype=np.int32))]
    >>> digest_of_parts(lambda: iter(rows), data.feature_labels()) == digest_of(data)
    True
    """
    seen = hashlib.sha256(Bipartite.__name__.encode())
    end = np.zeros(1, dtype=np.int64)
    seen.update(end.tobytes())
    for part in parts():
        ends = end[-1] + np.cumsum(part.sizes, dtype=np.int64)
        seen.update(ends.tobytes())
        end = np.concatenate([end, ends])[-1:]
    for part in parts():
        seen.update(part.indices.astype(np.int32, copy=False).tobytes())
    for number, part in enumerate(parts()):
        if isinstance(part.users, list):
            seen.update(b"\x1f" if number else b"t")
            seen.update("\x1f".join(part.users).encode("utf-8", "surrogatepass"))
        else:
            seen.update((b"" if number else b"i") + part.users.tobytes())
    seen.update(_bytes_of(features))
    return seen.hexdigest()


def _axes(data: Graph | Bipartite) -> list[Ids]:
    if isinstance(data, Graph):
        return [data.labels()]
    return [data.labels(), data.feature_labels()]


def _bytes_of(ids: Ids) -> bytes:
    if ids.dtype.kind == "i":
        return b"i" + ids.tobytes()
    return b"t" + "\x1f".join(ids.tolist()).encode("utf-8", "surrogatepass")

"""What a container was read from: a second release of it is recognized, however it is read."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

D = TypeVar("D")


class FileOrigin(NamedTuple):
    """A file as it was when data was read from it.

    Parameters
    ----------
    path
        Its absolute path.
    size, changed_ns
        Its length in bytes, and when it was last written, in nanoseconds.
    """

    path: Path
    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path) -> FileOrigin | None:
        """Return the file as it is now; None where it cannot be asked, as a pipe."""
        try:
            known = path.stat()
            return cls(path.resolve(), known.st_size, known.st_mtime_ns) if path.is_file() else None
        except OSError:
            return None

    def digest(self) -> str | None:
        """Return the SHA-256 of its bytes; None where it was written since, or is gone."""
        return _digest_of_file(self) if FileOrigin.of(self.path) == self else None


class ObjectOrigin(NamedTuple):
    """The content of an object of another library.

    Parameters
    ----------
    sha256
        Of all of its columns or entries, in their own order.
    """

    sha256: str

    def digest(self) -> str:
        """Return the SHA-256 of the content."""
        return self.sha256


def of_frame(frame: pa.Table) -> ObjectOrigin:
    """Return the content of a frame: names, types and values of all columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> one, other = pa.table({"age": [30, 40]}), pa.table({"age": [30, 41]})
    >>> of_frame(one) == of_frame(one.slice(0)), of_frame(one) == of_frame(other)
    (True, False)
    """
    import pyarrow as pa  # noqa: PLC0415  heavy: not for help

    into = _Digest()
    with pa.ipc.new_stream(pa.PythonFile(into, mode="w"), frame.schema) as stream:
        for batch in frame.to_batches():
            stream.write_batch(batch)
    return ObjectOrigin(into.seen.hexdigest())


def of_pattern(matrix: Any) -> ObjectOrigin:
    """Return where a sparse matrix of SciPy has entries; their values do not count.

    Parameters
    ----------
    matrix
        In compressed rows.

    Examples
    --------
    >>> from scipy import sparse
    >>> of_pattern(sparse.eye_array(3).tocsr()) == of_pattern(2 * sparse.eye_array(3).tocsr())
    True
    """
    matrix = matrix.sorted_indices()
    seen = hashlib.sha256(repr(matrix.shape).encode())
    for part in (matrix.indptr, matrix.indices):
        seen.update(part.astype("<i8").tobytes())
    return ObjectOrigin(seen.hexdigest())


def read_from(data: D, *origins: object) -> D:
    """Return a container that was just made, with what it was read from beside what it says.

    Parameters
    ----------
    data
        The container.
    origins
        Files, objects, or the containers that it was made of; None is passed over.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> read_from(SimpleNamespace(), None, ObjectOrigin("b5")).origins[0].digest()
    'b5'
    """
    known = (*getattr(data, "origins", ()), *(one for one in origins if one is not None))
    object.__setattr__(data, "origins", known)
    return data


@lru_cache(maxsize=8)
def _digest_of_file(origin: FileOrigin) -> str | None:
    """Return the SHA-256 of a file's bytes; None where it cannot be read."""
    try:
        with origin.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


class _Digest:
    """A file without content that digests what is written."""

    def __init__(self) -> None:
        self.seen = hashlib.sha256()
        self.closed = False

    def write(self, content: Any) -> int:
        """Digest some bytes."""
        self.seen.update(content)
        return memoryview(content).nbytes

    def flush(self) -> None:
        """Do nothing: nothing is kept."""

    def close(self) -> None:
        """Say that it is closed."""
        self.closed = True

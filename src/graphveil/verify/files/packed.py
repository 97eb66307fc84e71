"""Files unpacked strictly: one member, no name, no time, nothing behind."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, cast

from graphveil.verify.database import UnreadableError

_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
_BLOCK = 1 << 20


class _OneMember(RawIOBase):
    """The content of a gzip file that holds one member and nothing else."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        self._raw, self._name = raw, name
        if raw.read(len(_GZIP_HEADER)) != _GZIP_HEADER:
            raise UnreadableError(f"{name} carries a name, a time or more in its gzip header")
        raw.seek(0)
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._ready = b""

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer with unpacked bytes; 0 at the end."""
        while not self._ready:
            if self._inflate.eof:
                if self._inflate.unused_data or self._raw.read(1):
                    raise UnreadableError(f"{self._name} goes on behind its packed content")
                return 0
            more = self._inflate.unconsumed_tail or self._raw.read(_BLOCK)
            if not more:
                raise UnreadableError(f"{self._name} cannot be unpacked: it ends too early")
            try:
                self._ready = self._inflate.decompress(more, _BLOCK)
            except zlib.error as error:
                raise UnreadableError(f"{self._name} cannot be unpacked: {error}") from error
        size = min(len(self._ready), len(buffer))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file and undo its compression, which its last extension names.

    Raises
    ------
    UnreadableError
        Where a gzip file holds more than one member, or says more than its content.
    """
    if path.suffix == ".gz":
        with path.open("rb") as raw:
            yield cast("IO[bytes]", BufferedReader(_OneMember(raw, path.name), _BLOCK))
    elif path.suffix == ".zst":
        import pyarrow as pa  # noqa: PLC0415  heavy, and only this compression needs it

        with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
            yield stream
    else:
        with path.open("rb") as stream:
            yield stream

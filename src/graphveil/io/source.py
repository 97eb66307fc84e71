"""Open files: compression, chunks of whole lines, and the words for what is wrong with a file."""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from graphveil.core.errors import InputError
from graphveil.core.hints import option
from graphveil.core.libraries import pa
from graphveil.core.questions import Problem
from graphveil.core.text import printable
from graphveil.io.encodings import AsUtf8, checked, question_of, wide_of
from graphveil.io.formats import Format, compression_of

CHUNK = 1 << 22
LONGEST_LINE = 1 << 26
_MAGIC = {
    b"\x1f\x8b": "gzip-compressed. Rename it to end in .gz",
    b"\x28\xb5\x2f\xfd": "Zstandard-compressed. Rename it to end in .zst",
    b"PK\x03\x04": "a zip archive. Unzip it first, and give the file inside",
    b"PAR1": "Parquet. Rename it to end in .parquet",
    b"ARROW1": "an Arrow file. Rename it to end in .arrow",
    b"\xff\xfe": "UTF-16 text. Save it as UTF-8",
    b"\xfe\xff": "UTF-16 text. Save it as UTF-8",
    b"BZh": "bzip2-compressed. Unpack it first",
    b"\xfd7zXZ\0": "xz-compressed. Unpack it first",
    b"\xd0\xcf\x11\xe0": "a spreadsheet workbook. Save the sheet as CSV in UTF-8",
    b"$FL2": "an SPSS file. Export it as CSV in UTF-8",
    b"<stata_dta>": "a Stata file. Export it as CSV in UTF-8",
}
"""What a file is by its first bytes, if it is not text, and what to do with it."""

_NO_DATA = (
    (rb"(?i)\s*<(!doctype\s+html|html\b|head\b|body\b)", "a web page. Download the file itself"),
    (
        rb"version https://git-lfs",
        "a pointer to a large file. Fetch the file itself, as with git lfs pull",
    ),
)
"""What is saved instead of data under its name, by its first bytes."""

_NO_ROWS = (
    (rb"\s*(\{\s*[\"}]|\[\s*[\[{])", "JSON. Save it as CSV"),
    (rb"(?i)\s*<\?xml\b", "XML. Give it the extension of its format, such as .graphml"),
    (rb"(?i)\*vertices\s", "Pajek. Rename it to end in .net"),
)
"""What is saved instead of rows of text, by its first bytes."""


NEVER_ENDS = "this is a device, which may never end. Give a file, or pipe its content in."


def never_ends(path: Path | int) -> bool:
    """Return whether a path, or a descriptor, is a device that is neither a terminal nor empty.

    >>> never_ends(Path("/dev/zero")), never_ends(Path("/dev/null"))
    (True, False)
    """
    try:
        status = os.fstat(path) if isinstance(path, int) else path.stat()
        if not stat.S_ISCHR(status.st_mode) or status.st_rdev == Path(os.devnull).stat().st_rdev:
            return False
        descriptor = path if isinstance(path, int) else os.open(path, os.O_RDONLY | os.O_NOCTTY)
        try:
            return not os.isatty(descriptor)
        finally:
            if descriptor is not path:
                os.close(descriptor)
    except OSError:
        return False


class _Begun(NamedTuple):
    """At which line of all parts one of them begins, by how many its own number is larger."""

    line: int
    more: int
    part: Source


@dataclass(frozen=True)
class Source:
    """A file, or a folder of parts in order; `skipped`: lines above the rows of each part.

    `encoding`: in which its text is, by the options; None is UTF-8.
    """

    path: Path
    format: Format
    files: tuple[Path, ...] = ()
    skipped: tuple[int, ...] = ()
    encoding: str | None = None
    _begun: list[_Begun] = field(default_factory=list, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The name of the file, without its folder, as messages show it."""
        return printable(self.path.name or self.path)

    @property
    def parts(self) -> tuple[Source, ...]:
        """The parts of a folder, each a file of its own; of a file, itself."""
        files = (Source(file, self.format, encoding=self.encoding) for file in self.files)
        return tuple(files) or (self,)

    @property
    def n_bytes(self) -> int:
        """The length of all parts, as they are stored."""
        return sum(part.path.stat().st_size for part in self.parts)

    @property
    def compression(self) -> str | None:
        """gzip, zstd or None."""
        return compression_of(self.parts[0].path) if self.format.compressible else None

    def refuse(self, problem: str, *, line: int | None = None) -> NoReturn:
        """Raise an InputError that names the file, and the line where one is known."""
        begun = [part for part in self._begun if line is not None and part.line <= line]
        if line is not None and begun:
            begun[-1].part.refuse(problem, line=line - begun[-1].line + 1 + begun[-1].more)
        location = self.name if line is None else f"{self.name}, line {line}"
        raise InputError(f"{location}: {problem}")

    def check(self) -> None:
        """Refuse what was saved instead of data: a web page, or a pointer to a large file."""
        if self.files:
            for part in self.parts:
                part.check()
            return
        if never_ends(self.path):
            self.refuse(NEVER_ENDS)
        if self.path.is_fifo():
            self.refuse("this is a pipe, which can be read only once. Copy its content to a file.")
        in_rows = self.format.module == "delimited"
        if self.encoding is not None:
            checked(self.encoding, self.refuse)
            if not in_rows:
                self.refuse(
                    f"{option('encoding')} applies to delimited text only. Remove it, or use "
                    f"{option('input_format', 'csv')} if the file is such text."
                )
        try:
            with self.path.open("rb") as raw:
                start = raw.read(512).removeprefix(b"\xef\xbb\xbf")
        except OSError:
            return
        for pattern, advice in (*_NO_DATA, *(_NO_ROWS if in_rows else ())):
            if re.match(pattern, start):
                self.refuse(f"the content is {advice}.")

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file and undo its compression; whatever goes wrong is an InputError."""
        try:
            with self.path.open("rb") as raw, _unpacked(raw, self.compression) as stream:
                yield stream if self.encoding is None else self._as_utf8(stream)
        except FileNotFoundError:
            self.refuse("file not found. Check the path.")
        except IsADirectoryError:
            self.refuse("this is a folder. Give one file.")
        except PermissionError:
            self.refuse("permission denied. Change the permissions of the file.")
        except EOFError:
            self.refuse("the compressed data is truncated. Copy the file again.")
        except (OSError, zlib.error) as error:
            detail = shown(str(error))
            if self.compression:
                self.refuse(f"invalid {self.compression} data ({detail}). Copy the file again.")
            self.refuse(f"cannot read the file ({detail}). Check the disk.")

    def _as_utf8(self, stream: IO[bytes]) -> IO[bytes]:
        encoding = checked(self.encoding or "utf-8", self.refuse)
        return AsUtf8(stream, encoding, lambda text, line: self.refuse(text, line=line))  # type: ignore[return-value]

    def question_of_encoding(self) -> Problem | None:
        """Return the question in which encoding a text file is; None if it is UTF-8, or said."""
        if self.encoding is not None or self.format.module != "delimited":
            return None
        for part in self.parts:
            with part.open() as stream:
                problem = question_of(stream)
            if problem is not None:
                return problem
        return None

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """Yield (number of the first line, whole lines of text) until the file ends."""
        if self.files:
            yield from self._chunks_of_parts()
            return
        with self.open() as stream:
            yield from self._chunks(stream)

    def _chunks_of_parts(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines of all parts, numbered on, without names that come again."""
        self._begun.clear()
        line = 1
        for number, part in enumerate(self.parts):
            # Skip the header of each further part, which may reach over a chunk.
            skip = self.skipped[number] if self.skipped else 0
            self._begun.append(_Begun(line, skip, part))
            for _, chunk in part.chunks():
                lines = chunk.split(b"\n", skip) if skip else [chunk]
                if len(lines) <= skip:
                    skip -= len(lines) - 1
                    continue
                rest, skip = lines[-1], 0
                # A part may lack its last line break: add it, so that lines do not merge.
                if rest:
                    ended = rest if rest.endswith(b"\n") else rest + b"\n"
                    yield line, ended
                    line += ended.count(b"\n")

    def _chunks(self, stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
        line, rest = 1, b""
        while block := stream.read(CHUNK):
            if line == 1 and not rest:
                block = self._checked_start(block)
            if b"\0" in block:
                at = line + rest.count(b"\n") + block[: block.index(b"\0")].count(b"\n")
                self.refuse(
                    "the file contains a NUL byte, so it is not text. Check the format.", line=at
                )
            # Blocks are cut after the last line break; the rest goes before the next block.
            cut = block.rfind(b"\n") + 1
            # A block without a line break: the line goes on, up to a limit that bounds memory.
            if not cut:
                rest += block
                if len(rest) > LONGEST_LINE:
                    limit = LONGEST_LINE >> 20
                    self.refuse(f"the line is longer than {limit} MiB. Split it.", line=line)
                continue
            chunk = rest + block[:cut]
            rest = block[cut:]
            yield line, chunk
            line += chunk.count(b"\n")
        if rest:
            yield line, rest

    def _checked_start(self, block: bytes) -> bytes:
        if self.encoding is None and wide_of(block):
            self._ask_encoding()
        for magic, advice in _MAGIC.items():
            if block.startswith(magic):
                named = next((n for n in ("parquet", "arrow") if advice.endswith(n)), None)
                say = f", or use {option('input_format', named)}" if named else ""
                self.refuse(f"the content is {advice}{say}.")
        block = block.removeprefix(b"\xef\xbb\xbf")
        if b"\r" in block and b"\n" not in block:
            self.refuse("lines end in a bare carriage return. Convert them to line feeds.")
        return block

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield (line number, line without its end), decoded as UTF-8."""
        for first, chunk in self.chunks():
            for offset, line in enumerate(chunk.removesuffix(b"\n").split(b"\n")):
                yield first + offset, self.decoded(line.removesuffix(b"\r"), first + offset)

    def text(self) -> str:
        """Return the whole file as text."""
        parts = []
        for first, chunk in self.chunks():
            try:
                parts.append(chunk.decode())
            except UnicodeDecodeError as error:
                self.decoded(chunk, first + chunk[: error.start].count(b"\n"))
        return "".join(parts)

    def _ask_encoding(self, line: int = 1) -> None:
        """Refuse text whose encoding the owner can confirm; return if it is of no known one."""
        problem = self.question_of_encoding()
        if problem is not None:
            raise InputError.asking([problem], {}, f"{self.name}, line {line}: ")

    def decoded(self, line: bytes, number: int) -> str:
        """Return the text of a line."""
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            self._ask_encoding(number)
            self.refuse(
                f"byte 0x{byte:02X} is not valid UTF-8. Convert the file to UTF-8.", line=number
            )


def _unpacked(raw: IO[bytes], compression: str | None) -> IO[bytes]:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=raw, mode="rb")  # type: ignore[return-value]
    if compression == "zstd":
        stream: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
        return stream
    return raw


SHOWN = 40
"""So many characters of a value stand in a message."""


def shown(value: object) -> str:
    """Return a value on one line, printable and at most 40 characters long."""
    return printable(value, SHOWN)

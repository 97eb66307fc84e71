"""The canonical form of delimited text: rows are written again by SQL, and bytes are compared.

Claim checked: nothing hides in a file. The same rows can be written as text in many ways (quotes,
blanks, line ends, leading zeros, order of escapes), and a choice among them can carry a message
or be read differently by different programs. So there is one form, and a file of another is
refused.

Means: DuckDB reads the file loosely, the loaded cells are formatted by one SQL expression, and
the resulting bytes are compared with the file's block by block. Neither the writer of a release
nor the readers of `graphveil.io` take part.

Cost: two passes over the file, O(bytes); memory is bounded by a block of `_ROWS` rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from graphveil.verify.database import (
    COLUMNS_AT_ONCE,
    Database,
    UnreadableError,
    identifier,
    literal,
)
from graphveil.verify.verdict import one_line, shown

_ROWS = 1 << 18
"""Rows in one block of lines: bounds the memory for expected bytes."""

SPACES = (
    r"\s\x0b\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)
"""Characters that some program counts as blanks, for a character class of a regular
expression."""

_AWKWARD = rf'["\n\r\t,;#%\x00]|^[{SPACES}]|[{SPACES}]$|^$'
"""Text because of which all text of a file stands in quotes: it would part cells or lines."""

_PLAIN = re.compile(r"\w+", re.ASCII)
"""Column names that need no quotes in any program."""

_BROKEN = r"[\n\r\x00\x0b\x0c\x1c-\x1e\x{85}\x{2028}\x{2029}]"
"""Where programs end a line, or the text: some at one of these, some at another."""

_BACKSLASH = r"\\$"
"""A text that ends like this in quotes: some programs read the closing quote as escaped."""

Columns = Sequence[tuple[str, str]]
"""Columns of a table, each with its SQL type."""

CRLF = (
    "has CR LF line ends, as on Windows, but was written with LF: send the folder as a zip; "
    "in git, set core.autocrlf=false"
)

Part = bytes | str
"""Lines as they are, or SQL that gives each line as a row, in order."""


def compare(db: Database, path: Path, parts: Iterable[Part]) -> None:
    """Refuse a file whose bytes are not exactly these parts in order."""
    line = 1
    with path.open("rb") as stream:
        # The file is read exactly as far as the expected bytes go, so that it is never in memory.
        for expected, lines in _chunks(db, parts):
            content = stream.read(len(expected))
            if content != expected:
                content += stream.read(1)  # CR LF is seen as both
                raise UnreadableError(_difference(path, content, expected, line))
            line += lines
        # Bytes behind the last row are data that nobody counts.
        rest = stream.read(80)
    if rest:
        raise UnreadableError(f"{path.name}, line {line}: {shown(rest)} follows the last row")


def first_difference(content: bytes, expected: bytes) -> int:
    """Return the position of the first byte that differs, or where the shorter one ends.

    >>> first_difference(b"0,1", b"0,2"), first_difference(b"0,1", b"0,12")
    (2, 3)
    """
    size = min(len(content), len(expected))
    return next((i for i in range(size) if content[i] != expected[i]), size)


def compare_cells(
    db: Database,
    path: Path,
    table: str,
    columns: Columns,
    *,
    header: Sequence[str],
    delimiter: str,
    remark: str = "",
) -> None:
    """Refuse a delimited file that differs from its rows, written in the canonical form."""
    # Step 1: does any text need quotes? One awkward text puts all text of the file in quotes, so
    # that there is no choice for a single cell.
    texts = [name for name, kind in columns if kind == "VARCHAR"]
    quoted = False
    if first_text(db, table, texts, f"{_AWKWARD}|{_BROKEN}") is not None:
        quoted = first_text(db, table, texts, _AWKWARD) is not None
        _refuse_broken(db, path, table, texts, quoted=quoted)
    # Step 2: names in the header are quoted one by one, by the same pattern.
    awkward = "SELECT regexp_matches(?, ?)"
    names = [
        name
        if _PLAIN.fullmatch(name) or db.first(awkward, [name, _AWKWARD]) != (True,)
        else identifier(name)
        for name in header
    ]
    # Step 3: SQL that writes each row as its one line.
    cells = [_cell(name, kind, quoted=quoted) for name, kind in columns]
    line = f", {literal(delimiter)}, ".join(cells)
    compare(
        db,
        path,
        [
            f"{remark}{delimiter.join(names)}\n".encode(),
            f"SELECT concat({line}, chr(10)) FROM {table}",
        ],
    )


def _cell(name: str, kind: str, *, quoted: bool) -> str:
    if kind == "VARCHAR" and quoted:
        return f"""'"', replace({name}, '"', '""'), '"'"""
    return name


def _refuse_broken(
    db: Database, path: Path, table: str, texts: Sequence[str], *, quoted: bool
) -> None:
    """Refuse text that programs read in different ways, with or without quotes."""
    broken = first_text(db, table, texts, _BROKEN)
    if broken is not None:
        raise UnreadableError(
            f"{path.name}: the text {shown(broken)} contains a line break or NUL, which "
            "programs read differently"
        )
    escaping = first_text(db, table, texts, _BACKSLASH) if quoted else None
    if escaping is not None:
        raise UnreadableError(
            f"{path.name}: the text {shown(escaping)} ends in a backslash before its quote, "
            "which programs read differently"
        )


def first_text(db: Database, table: str, columns: Sequence[str], pattern: str) -> str | None:
    """Return a text in these columns that matches a pattern; None if none does."""
    # Many columns: find the first with a hit in few queries, then look at that one.
    if len(columns) > COLUMNS_AT_ONCE:
        cell = db.first_cell(table, columns, f"regexp_matches({{}}, {literal(pattern)})")
        columns = [] if cell is None else [cell[0]]
    for name in columns:
        words = f"SELECT DISTINCT {name} AS word FROM {table}"
        like = f"SELECT word FROM ({words}) WHERE regexp_matches(word, ?) LIMIT 1"
        row = db.first(like, [pattern])
        if row is not None:
            return str(row[0])
    return None


def _chunks(db: Database, parts: Iterable[Part]) -> Iterator[tuple[bytes, int]]:
    """Yield the expected bytes and their number of lines, one block at a time."""
    for part in parts:
        if isinstance(part, bytes):
            yield part, part.count(b"\n")
            continue
        for block in db.blocks(part, _ROWS):
            # Arrow holds the text of all lines in one buffer, which is compared without copying
            # each line.
            column = block.column(0)  # its text stands there in one piece already
            offsets = memoryview(column.buffers()[1])
            ends = offsets.cast("i") if str(column.type) == "string" else offsets.cast("q")
            start, end = ends[column.offset], ends[column.offset + len(column)]
            yield bytes(memoryview(column.buffers()[2])[start:end]), len(block)


def _difference(path: Path, content: bytes, expected: bytes, line: int) -> str:
    position = first_difference(content, expected)
    line += expected[:position].count(b"\n")
    start = expected.rfind(b"\n", 0, position) + 1
    found = content[start:].split(b"\n", 1)[0] if position < len(content) else b""
    form = expected[start:].split(b"\n", 1)[0]
    # CR LF is the most common accident: say so instead of showing a line that looks the same.
    if content[start:].startswith(form + b"\r"):
        if content[start + len(form) :].startswith(b"\r\n"):
            return f"{path.name} {CRLF}"
        return f"{path.name}, line {line} ends with CR, but releases are written with LF"
    text, own = (raw.decode("utf-8", "backslashreplace") for raw in (found, form))
    return f"{path.name}, line {line} is {shown(text)}, but its canonical form is {shown(own)}"


DELIMITERS = {"csv": ",", "tsv": "\t", "text": "\t"}
"""What separates cells, by format."""

_REMARKS = {"text": "# "}
"""What stands before the header of a format: programs that read edges take it for a comment."""

_WHERE = re.compile(r"CSV Error on Line: (\d+)\s+Original Line: ?(.*)")
_NO_NULL = "\x01no text\x01"
"""No cell is read as null: a text that no canonical file contains."""


def load_delimited(
    db: Database,
    path: Path,
    table: str,
    columns: Columns,
    *,
    names: Sequence[str],
    form: str = "csv",
) -> None:
    """Create a table of a delimited file."""
    if not columns:
        raise UnreadableError(f"{path.name} has no columns")
    # DuckDB guesses nothing: every setting is given, and a text that stands for null cannot occur.
    delimiter, remark = DELIMITERS[form], _REMARKS.get(form, "")
    quote = literal('"' if any(kind == "VARCHAR" for _, kind in columns) else "")
    first = "header = false, skip = 1" if remark else "header = true"
    struct = ", ".join(f"{name}: {literal(kind)}" for name, kind in columns)
    with _explained(path.name, ",".join(names)):
        db.run(
            f"CREATE TABLE {table} AS SELECT * FROM read_csv(?, auto_detect = false, "
            f"delim = {literal(delimiter)}, quote = {quote}, escape = {quote}, "
            f"nullstr = {literal(_NO_NULL)}, new_line = '\\n', {first}, "
            f"compression = 'none', hive_partitioning = false, columns = {{{struct}}})",
            [db.link(path)],
        )
    compare_cells(db, path, table, columns, header=names, delimiter=delimiter, remark=remark)


@contextmanager
def _explained(name: str, expected: str) -> Iterator[None]:
    """Turn an error of DuckDB into one line that names the file and the line in it."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        match = _WHERE.search(str(error))
        if not match:
            raise UnreadableError(f"{name} cannot be read: {one_line(error)}") from error
        problem = f"{shown(match[2])} is not a row with the columns {expected}"
        raise UnreadableError(f"{name}, line {match[1]}: {problem}") from error

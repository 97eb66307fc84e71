"""The canonical form of a released file: its rows are written again, and bytes are compared.

Every reader reads the same from a file of this form: integers have one spelling, quotes one style,
lines one end, and nothing is before, between or behind the rows. Names of items that readers of
text would confuse with others, or drop, are not valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
SPACES = (
    r"\s\x0b\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)
_AWKWARD = rf'["\n\r\t,;#%\x00]|^[{SPACES}]|[{SPACES}]$|^$'
"""Text because of which all text of a file stands in quotes: it would part cells or lines."""

_PLAIN = re.compile(r"\w+", re.ASCII)
_BROKEN = r"[\n\r\x00\x0b\x0c\x1c-\x1e\x{85}\x{2028}\x{2029}]"
"""Where programs end a line, or the text: some at one of these, some at another."""

_BACKSLASH = r"\\$"

Part = bytes | str
"""Lines as they are, or SQL that gives a line a row, in order."""


def compare(db: Database, path: Path, parts: Iterable[Part]) -> None:
    """Refuse a file whose bytes are not these parts, one behind the other.

    Raises `UnreadableError` where a byte differs; the message names file and line.
    """
    line = 1
    with path.open("rb") as stream:
        for expected, lines in _chunks(db, parts):
            content = stream.read(len(expected))
            if content != expected:
                raise UnreadableError(_difference(path, content, expected, line))
            line += lines
        rest = stream.read(80)
    if rest:
        raise UnreadableError(f"{path.name}, line {line}: {shown(rest)} follows the last row")


def first_difference(content: bytes, expected: bytes) -> int:
    """Return the position of the first byte that is another, or that one of both has not.

    Examples
    --------
    >>> first_difference(b"0,1", b"0,2"), first_difference(b"0,1", b"0,12")
    (2, 3)
    """
    size = min(len(content), len(expected))
    return next((i for i in range(size) if content[i] != expected[i]), size)


def compare_cells(
    db: Database,
    path: Path,
    table: str,
    columns: Sequence[tuple[str, str]],
    *,
    header: Sequence[str],
    delimiter: str,
    remark: str = "",
) -> None:
    """Refuse a delimited file whose bytes are not those of its rows, written in the one form.

    Raises `UnreadableError` where a byte differs; the message names file and line.

    Parameters
    ----------
    table, columns
        The table that was read from the file, and its (column, SQL type).
    header
        The names in the first line.
    delimiter
        The character between cells.
    remark
        What stands before the header.
    """
    texts = [name for name, kind in columns if kind == "VARCHAR"]
    quoted = False
    if first_text(db, table, texts, f"{_AWKWARD}|{_BROKEN}") is not None:
        quoted = first_text(db, table, texts, _AWKWARD) is not None
        _refuse_broken(db, path, table, texts, quoted=quoted)
    names = [identifier(name) if _is_awkward(db, name) else name for name in header]
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
    """Refuse text that programs read in different ways, in quotes or not."""
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
    """Return a text of some columns in which a pattern is, None where there is none."""
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


def _is_awkward(db: Database, text: str) -> bool:
    if _PLAIN.fullmatch(text):
        return False
    row = db.first("SELECT regexp_matches(?, ?)", [text, _AWKWARD])
    return bool(row and row[0])


def _chunks(db: Database, parts: Iterable[Part]) -> Iterator[tuple[bytes, int]]:
    """Yield the expected bytes, and how many lines they are, a block at a time."""
    for part in parts:
        if isinstance(part, bytes):
            yield part, part.count(b"\n")
            continue
        for block in db.blocks(part, _ROWS):
            yield _text_of(block.column(0)), len(block)


def _text_of(column: Any) -> bytes:
    """Return the text of an Arrow column in one piece, as it stands there already."""
    offsets = memoryview(column.buffers()[1]).cast("i" if str(column.type) == "string" else "q")
    start, end = offsets[column.offset], offsets[column.offset + len(column)]
    return bytes(memoryview(column.buffers()[2])[start:end])


def _difference(path: Path, content: bytes, expected: bytes, line: int) -> str:
    position = first_difference(content, expected)
    line += expected[:position].count(b"\n")
    start = expected.rfind(b"\n", 0, position) + 1
    said = content[start:].split(b"\n", 1)[0] if position < len(content) else b""
    form = expected[start:].split(b"\n", 1)[0]
    if said == form + b"\r":
        return (
            f"{path.name}, line {line} ends with CR LF, as files on Windows do, but releases are "
            "written with LF: something changed the line ends"
        )
    text, own = (raw.decode("utf-8", "backslashreplace") for raw in (said, form))
    return f"{path.name}, line {line} is {shown(text)}, but its canonical form is {shown(own)}"


_INTEGER = "0|[1-9][0-9]*"
_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_MISSING = ("nan", "null", "none", "na", "n/a", "#n/a", "<na>", r"\n", ".")
"""What stands for no value, in lower case."""

_ENDS = rf"^[{SPACES}]+|[{SPACES}]+$"
_UNSEEN = (
    r"[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{200b}\x{200e}\x{200f}"
    r"\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{feff}\x{ffa0}]"
)
_SEEN = (
    f"regexp_replace(regexp_replace(item, {literal(_UNSEEN)}, '', 'g'), {literal(_ENDS)}, '', 'g')"
)
"""An item without what no eye sees of it."""

_ITEMS = "(SELECT DISTINCT item FROM entries)"
_ALIKE = (
    f"SELECT min(item), max(item) FROM (SELECT item, {_SEEN} AS seen FROM {_ITEMS}) "
    "GROUP BY seen HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
)
_OTHERS = f"FROM {_ITEMS} WHERE NOT regexp_full_match(item, {literal(_INTEGER)})"


def no_item(db: Database) -> str | None:
    """Return why the items of `entries` are no names that can be read again; None where they are.

    Two names that look the same, numbers that are not whole where all are numbers, and words for no
    value beside whole numbers alone are none.

    `db`: with the table `entries`, in which every item is text.
    """
    others = db.number(f"SELECT count(*) {_OTHERS}")
    if not others:
        return None
    alike = db.first(_ALIKE)
    if alike:
        return f"the items {shown(alike[0])} and {shown(alike[1])} look the same"
    words = ", ".join(map(literal, _MISSING))
    integers = db.number(f"SELECT count(*) FROM {_ITEMS}") - others
    said = db.number(f"SELECT count(*) {_OTHERS} AND lower(item) NOT IN ({words})")
    if integers and not said:
        item = db.first(f"SELECT min(item) {_OTHERS}") or ("",)
        return f"the item {shown(item[0])} would be read as a missing value among whole numbers"
    return _odd_number(db)


def _odd_number(db: Database) -> str | None:
    """Return why items that are numbers, all of them, are no names: some is not a whole one."""
    if db.number(f"SELECT count(*) {_OTHERS} AND NOT regexp_full_match(item, {literal(_NUMBER)})"):
        return None
    odd = db.first(f"SELECT min(item) {_OTHERS} AND NOT regexp_full_match(item, '[0-9]+')")
    return f"the item {shown(odd[0])} is not a whole number" if odd and odd[0] is not None else None


DELIMITERS = {"csv": ",", "tsv": "\t", "text": "\t"}
_REMARKS = {"text": "# "}
"""What stands before the header of a format: programs that read edges take it for a comment."""

_WHERE = re.compile(r"CSV Error on Line: (\d+)\s+Original Line: ?(.*)")
_NO_NULL = "\x01no text\x01"


def load_delimited(
    db: Database,
    path: Path,
    table: str,
    columns: Sequence[tuple[str, str]],
    *,
    names: Sequence[str],
    form: str = "csv",
) -> None:
    """Create a table of a delimited file.

    `table, columns`: the table and its (column, SQL type): names of this program; `names`: what the
    header must say; `form`: a name of `DELIMITERS`. Raises `UnreadableError` where header or a row
    is not as it must be; the message names file and line.
    """
    if not columns:
        raise UnreadableError(f"{path.name} has no columns")
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
    """Turn what DuckDB says of a file into one line with file and line."""
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

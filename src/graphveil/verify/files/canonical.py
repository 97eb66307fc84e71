"""The one form of a released text file: its rows are written again, and bytes are compared.

What every reader reads from a file of this form is the same: integers have one spelling, quotes
one style, lines one end, and nothing stands between rows, before or behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphveil.verify.database import Database, UnreadableError, literal
from graphveil.verify.files.packed import unpacked
from graphveil.verify.verdict import shown

_ROWS = 1 << 18
_SPACES = (
    r"\s\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)
_AWKWARD = rf'["\n\r\t,;#%\x00]|^[{_SPACES}]|[{_SPACES}]$|^$'
"""Text because of which all text of a file stands in quotes: it would part cells or lines."""


def compare_text(
    db: Database,
    path: Path,
    table: str,
    columns: Sequence[tuple[str, str]],
    *,
    header: Sequence[str] = (),
    before: bytes = b"",
    delimiter: str,
) -> None:
    """Refuse a file whose bytes are not those of its rows, written in the one form.

    Parameters
    ----------
    table, columns
        The table that was read from the file, and its (column, SQL type).
    header
        The names in the first line; none where there is no such line.
    before
        The lines before the rows of a file that has other ones.
    delimiter
        The character between cells.

    Raises
    ------
    UnreadableError
        Where a byte differs; the message names file and line.
    """
    texts = [name for name, kind in columns if kind == "VARCHAR"]
    quoted = bool(texts) and _any_awkward(db, table, texts)
    if header:
        names = [_quoted(name) if _is_awkward(db, name) else name for name in header]
        before = delimiter.join(names).encode() + b"\n"
    cells = [_cell(name, kind, quoted=quoted) for name, kind in columns]
    line = f" || {literal(delimiter)} || ".join(cells)
    query = f"SELECT {line} || chr(10) AS line FROM {table}"
    _compare(path, before, db.blocks(query, _ROWS))


def _cell(name: str, kind: str, *, quoted: bool) -> str:
    if kind != "VARCHAR":
        return f"CAST({name} AS VARCHAR)"
    return f"""'"' || replace({name}, '"', '""') || '"'""" if quoted else name


def _any_awkward(db: Database, table: str, texts: Sequence[str]) -> bool:
    any_of = " OR ".join(f"regexp_matches({name}, ?)" for name in texts)
    row = db.first(f"SELECT 1 FROM {table} WHERE {any_of} LIMIT 1", [_AWKWARD] * len(texts))
    return row is not None


def _is_awkward(db: Database, text: str) -> bool:
    row = db.first("SELECT regexp_matches(?, ?)", [text, _AWKWARD])
    return bool(row and row[0])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _compare(path: Path, before: bytes, blocks: Iterator[Any]) -> None:
    line = 1
    with unpacked(path) as stream:
        for expected, lines in _chunks(before, blocks):
            content = stream.read(len(expected))
            if content != expected:
                raise UnreadableError(_difference(path, content, expected, line))
            line += lines
        rest = stream.read(80)
    if rest:
        raise UnreadableError(f"{path.name}, line {line}: {shown(rest)} stands behind the last row")


def _chunks(before: bytes, blocks: Iterator[Any]) -> Iterator[tuple[bytes, int]]:
    """Yield lines as bytes, and how many: the text of a block stands in one piece already."""
    if before:
        yield before, before.count(b"\n")
    for block in blocks:
        column = block.column(0)
        offsets = memoryview(column.buffers()[1]).cast("i" if str(column.type) == "string" else "q")
        start, end = offsets[column.offset], offsets[column.offset + len(column)]
        yield bytes(memoryview(column.buffers()[2])[start:end]), len(column)


def _difference(path: Path, content: bytes, expected: bytes, line: int) -> str:
    size = min(len(content), len(expected))
    position = next((i for i in range(size) if content[i] != expected[i]), size)
    line += expected[:position].count(b"\n")
    start = expected.rfind(b"\n", 0, position) + 1
    said = content[start:].split(b"\n", 1)[0] if position < len(content) else b""
    form = expected[start:].split(b"\n", 1)[0]
    return f"{path.name}, line {line} says {shown(said)}, in the one form it is {shown(form)}"

"""The canonical form of a released file: its rows are written again, and bytes are compared.

Every reader reads the same from a file of this form, and it has no room for more than its cells. Of
Parquet, large files are compared one group of rows at a time, and then become a view.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from io import BytesIO
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

Columns = Sequence[tuple[str, str]]
"""Columns of a table, each with its SQL type."""

CRLF = (
    "has CR LF line ends, as on Windows, but was written with LF: send the folder as a zip; "
    "in git, set core.autocrlf=false"
)

Part = bytes | str
"""Lines as they are, or SQL that gives each line as a row, in order."""


def compare(db: Database, path: Path, parts: Iterable[Part]) -> None:
    """Refuse a file whose bytes are not these parts, one behind the other."""
    line = 1
    with path.open("rb") as stream:
        for expected, lines in _chunks(db, parts):
            content = stream.read(len(expected))
            if content != expected:
                content += stream.read(1)  # CR LF is seen as both
                raise UnreadableError(_difference(path, content, expected, line))
            line += lines
        rest = stream.read(80)
    if rest:
        raise UnreadableError(f"{path.name}, line {line}: {shown(rest)} follows the last row")


def first_difference(content: bytes, expected: bytes) -> int:
    """Return the position of the first byte that is another, or that one of both has not.

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
    """Refuse a delimited file whose bytes are not those of its rows, written in the one form."""
    texts = [name for name, kind in columns if kind == "VARCHAR"]
    quoted = False
    if first_text(db, table, texts, f"{_AWKWARD}|{_BROKEN}") is not None:
        quoted = first_text(db, table, texts, _AWKWARD) is not None
        _refuse_broken(db, path, table, texts, quoted=quoted)
    awkward = "SELECT regexp_matches(?, ?)"
    names = [
        name
        if _PLAIN.fullmatch(name) or db.first(awkward, [name, _AWKWARD]) != (True,)
        else identifier(name)
        for name in header
    ]
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


def _chunks(db: Database, parts: Iterable[Part]) -> Iterator[tuple[bytes, int]]:
    """Yield the expected bytes, and how many lines they are, a block at a time."""
    for part in parts:
        if isinstance(part, bytes):
            yield part, part.count(b"\n")
            continue
        for block in db.blocks(part, _ROWS):
            column = block.column(0)  # its text stands there in one piece already
            offsets = memoryview(column.buffers()[1])
            ends = offsets.cast("i") if str(column.type) == "string" else offsets.cast("q")
            start, end = ends[column.offset], ends[column.offset + len(column)]
            yield bytes(memoryview(column.buffers()[2])[start:end]), len(block)


def _difference(path: Path, content: bytes, expected: bytes, line: int) -> str:
    position = first_difference(content, expected)
    line += expected[:position].count(b"\n")
    start = expected.rfind(b"\n", 0, position) + 1
    said = content[start:].split(b"\n", 1)[0] if position < len(content) else b""
    form = expected[start:].split(b"\n", 1)[0]
    if content[start:].startswith(form + b"\r"):
        if content[start + len(form) :].startswith(b"\r\n"):
            return f"{path.name} {CRLF}"
        return f"{path.name}, line {line} ends with CR, but releases are written with LF"
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
    """Return why the items of `entries` are not names that can be read again; None where they are.

    Two names that look the same, numbers that are not whole where all are numbers, and words for no
    value next to whole numbers alone are not names.
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
    if not db.number(
        f"SELECT count(*) {_OTHERS} AND NOT regexp_full_match(item, {literal(_NUMBER)})"
    ):
        odd = db.first(f"SELECT min(item) {_OTHERS} AND NOT regexp_full_match(item, '[0-9]+')")
        if odd and odd[0] is not None:
            return f"the item {shown(odd[0])} is not a whole number"
    return None


DELIMITERS = {"csv": ",", "tsv": "\t", "text": "\t"}
_REMARKS = {"text": "# "}
"""What stands before the header of a format: programs that read edges take it for a comment."""

_WHERE = re.compile(r"CSV Error on Line: (\d+)\s+Original Line: ?(.*)")
_NO_NULL = "\x01no text\x01"


def load_rows(
    db: Database, path: Path, form: str, table: str, columns: Columns, names: Sequence[str]
) -> None:
    """Create a table of a file, of text or Parquet."""
    if form == "parquet":
        load_columnar(db, path, table, columns, names=names)
    else:
        load_delimited(db, path, table, columns, names=names, form=form)


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


ROWS = 1 << 20
CREATED_BY = b"graphveil version 1.0.0"
_BYTES_PER_CELL = 8
_SETTINGS: dict[str, Any] = {
    "compression": "none",
    "write_statistics": False,
    "store_schema": False,
    "version": "2.6",
    "data_page_version": "1.0",
    "data_page_size": 1 << 20,
    "dictionary_pagesize_limit": 1 << 24,
    "write_batch_size": 1024,
}


def load_columnar(
    db: Database, path: Path, table: str, columns: Columns, *, names: Sequence[str]
) -> None:
    """Create a table of (column, SQL type) of a Parquet file, which calls these by its names."""
    frame = _read(db, path, columns, names)
    texts = _texts(frame.schema)
    numbers = [name for name in names if name not in texts]
    groups = (frame.slice(at, ROWS).combine_chunks() for at in range(0, frame.num_rows or 1, ROWS))
    compare_groups(path, groups, frame.schema, settings_of(numbers, list(texts)), ROWS)
    below = _below_zero(frame, numbers, path.name)
    if below is not None:
        raise below
    listed = ", ".join(name for name, _ in columns)
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in columns)
    db.run(f"CREATE TABLE {table} AS SELECT {casts} FROM {db.named(frame)} AS raw({listed})")
    called = {column: name for (column, _), name in zip(columns, names, strict=True)}
    of_text = [column for column, name in called.items() if name in texts]
    for column in db.columns_of_numbers(table, of_text)[:1]:
        raise UnreadableError(
            f"{path.name}: the column {shown(called[column])} stores whole numbers as string "
            "instead of int64"
        )


def _read(db: Database, path: Path, columns: Columns, names: Sequence[str]) -> Any:
    """Return the cells under their names, once they are known to fit into memory.

    Nothing else that the file says of its columns goes with them.
    """
    import pyarrow as pa  # noqa: PLC0415  heavy, and text needs none of it
    from pyarrow import parquet  # noqa: PLC0415  as above

    plain = os.fsencode(path)
    with pa.OSFile(plain) as stream, parquet.ParquetFile(stream, pre_buffer=False) as file:
        refuse_types(path.name, file.schema_arrow, columns, names)
        content = file.metadata.num_rows * len(names) * _BYTES_PER_CELL
        db.refuse_unpacked(content, path.stat().st_size, path.name)
        refuse_packed(db, path)
        words = _texts(file.schema_arrow)
    with pa.OSFile(plain) as stream:
        file = parquet.ParquetFile(stream, pre_buffer=False, read_dictionary=list(words))
        frame = file.read(use_threads=False)
    frame.validate(full=True)
    for name in words:
        _refuse_long(db, frame[name], path.name)
    cells = [frame[name].cast("string") if name in words else frame[name] for name in names]
    return pa.Table.from_arrays(cells, names=list(names))


def _texts(schema: Any) -> dict[str, None]:
    """Return the names of the columns of text, in order."""
    return dict.fromkeys(field.name for field in schema if str(field.type) == "string")


def refuse_types(name: str, schema: Any, columns: Columns, names: Sequence[str]) -> None:
    """Refuse columns of other names or types than these (column, SQL type)."""
    if schema.names != list(names):
        raise UnreadableError(
            f"{name} has the columns {shown(schema.names)}, not {shown(list(names))}"
        )
    for field, (_, kind) in zip(schema, columns, strict=True):
        allowed = ("int64",) if kind == "BIGINT" else ("int64", "string")
        if str(field.type) not in allowed:
            raise UnreadableError(
                f"{name}: {field.name} has the type {shown(str(field.type))}, not "
                f"{' or '.join(allowed)}"
            )


def refuse_packed(db: Database, path: Path) -> None:
    """Refuse compressed pages before they are unpacked: one content has many packings.

    SQL asks, since pyarrow ends the process on some broken descriptions of a column.
    """
    packed = db.first(
        "SELECT compression FROM parquet_metadata(?) WHERE compression <> 'UNCOMPRESSED' LIMIT 1",
        [db.link(path)],
    )
    if packed:
        raise UnreadableError(f"{path.name} is compressed with {shown(packed[0])}")


def _refuse_long(db: Database, column: Any, name: str) -> None:
    """Refuse text that few words of a dictionary make longer than memory holds."""
    import pyarrow.compute as pc  # noqa: PLC0415  heavy, as above

    size = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary).cast("int64").take(chunk.indices)
        size += pc.sum(lengths).as_py() or 0
    db.refuse_beyond(size, name)


def settings_of(numbers: Sequence[str], texts: Sequence[str] = ()) -> dict[str, Any]:
    """Return what decides on the bytes of a file with these columns, apart from its cells."""
    from pyarrow import parquet  # noqa: PLC0415  heavy, as above

    settings = {
        **_SETTINGS,
        "use_dictionary": list(texts) or False,
        "column_encoding": dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
    }
    if "max_rows_per_page" in signature(parquet.ParquetWriter.__init__).parameters:
        settings["max_rows_per_page"] = ROWS
    return settings


def named_writer(writer: bytes) -> bytes:
    """Return the name of a writer as a footer holds it."""
    return bytes([0x28, len(writer)]) + writer


def refuse_missing(db: Database, table: str, columns: Sequence[str], name: str) -> None:
    """Refuse a table in which one of these columns is null; the message names the row."""
    for column in columns:
        row = db.first(f"SELECT rowid + 1 FROM {table} WHERE {column} IS NULL LIMIT 1")
        if row:
            what = "user" if column == "person" else column
            at = f": row {row[0]}" if name.endswith(".parquet") else f", line {row[0] + 1}"
            raise UnreadableError(f"{name}{at} has no {what}")


def view_columnar(db: Database, path: Path, view: str, names: Sequence[str]) -> None:
    """Create a view of a Parquet file of whole numbers."""
    with opened_columnar(path) as file:
        refuse_types(path.name, file.schema_arrow, [(name, "BIGINT") for name in names], names)
        n_rows = file.metadata.num_rows
        content = n_rows * len(names) * _BYTES_PER_CELL
        db.refuse_unrolled(content, path.stat().st_size, path.name)
        refuse_packed(db, path)
        odd = _compared(file, path, names)
    if odd is not None:
        raise odd
    listed = ", ".join(names)
    link = literal(db.link(path))
    db.run(f"CREATE VIEW {view} AS SELECT {listed} FROM read_parquet({link})")


@contextmanager
def opened_columnar(path: Path) -> Iterator[Any]:
    """Open a Parquet file without reading ahead."""
    import pyarrow as pa  # noqa: PLC0415  heavy, and text needs none of it
    from pyarrow import parquet  # noqa: PLC0415  as above

    with pa.OSFile(os.fsencode(path)) as stream:
        yield parquet.ParquetFile(stream, pre_buffer=False)


def _compared(file: Any, path: Path, names: Sequence[str]) -> UnreadableError | None:
    """Refuse a file of other bytes than its rows have; return what is wrong with one of these."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above

    schema = pa.schema([(name, pa.int64()) for name in names])
    odd: list[UnreadableError] = []

    def whole() -> Iterator[Any]:
        for batch in file.iter_batches(ROWS, columns=list(names), use_threads=False):
            batch.validate(full=True)
            yield batch.select(list(names))

    def looked_at() -> Iterator[Any]:
        first = 0
        for rows in in_groups(whole(), schema, ROWS):
            strange = None if odd else _strange(rows, first, path.name)
            odd.extend([] if strange is None else [strange])
            first += rows.num_rows
            yield rows

    compare_groups(path, looked_at(), schema, settings_of(names), ROWS)
    return odd[0] if odd else None


def compare_groups(
    path: Path, groups: Iterable[Any], schema: Any, settings: dict[str, Any], n_rows: int
) -> None:
    """Refuse a Parquet file whose bytes are not those of these row groups, written one by one."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above
    from pyarrow import parquet  # noqa: PLC0415  as above

    with path.open("rb") as stream:
        sink = _ComparingSink(stream)
        writer = parquet.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, **settings)
        try:
            for rows in groups:
                writer.write_table(rows, row_group_size=n_rows)
        finally:
            sink.hold()  # also what a writer that is given up says
        writer.close()
        sink.end(_renamed(sink.held()))
    if sink.differs_at is not None:
        raise UnreadableError(
            f"{path.name}, byte {sink.differs_at} of {path.stat().st_size}: differs from the "
            f"canonical form of these cells, which has {sink.size} bytes"
        )


def in_groups(batches: Iterable[Any], schema: Any, n_rows: int) -> Iterator[Any]:
    """Yield rows so many at a time as a group of the one form has; once where there are none.

    However the file is divided, no more of it is in memory.
    """
    import pyarrow as pa  # noqa: PLC0415  heavy, as above

    waiting: list[Any] = []
    n, some = 0, False
    for batch in batches:
        waiting.append(batch)
        n += batch.num_rows
        while n >= n_rows:
            table = pa.Table.from_batches(waiting)
            some = True
            yield table.slice(0, n_rows).combine_chunks()
            waiting, n = table.slice(n_rows).to_batches(), n - n_rows
    if n or not some:
        yield pa.Table.from_batches(waiting, schema).combine_chunks()


def _strange(rows: Any, first: int, name: str) -> UnreadableError | None:
    """Return that a number is missing, or below 0; None where none is."""
    import pyarrow.compute as pc  # noqa: PLC0415  heavy, as above

    for column in rows.column_names:
        if rows[column].null_count:
            row = pc.index(pc.is_null(rows[column]), True).as_py()
            return UnreadableError(f"{name}: row {first + row + 1} has no {column}")
    return _below_zero(rows, rows.column_names, name)


def _below_zero(rows: Any, columns: Sequence[str], name: str) -> UnreadableError | None:
    import pyarrow.compute as pc  # noqa: PLC0415  heavy, as above

    for column in columns:
        least = pc.min(rows[column]).as_py()
        if least is not None and least < 0:
            return UnreadableError(f"{name}: {least} in the column {shown(column)} is below 0")
    return None


def _renamed(tail: bytes) -> bytes:
    """Return the end of a file with one name for every version of what wrote it."""
    import pyarrow as pa  # noqa: PLC0415  heavy, as above
    from pyarrow import parquet  # noqa: PLC0415  as above

    sink = BytesIO()
    parquet.ParquetWriter(sink, pa.schema([("one", pa.int64())])).close()
    library = parquet.ParquetFile(BytesIO(sink.getvalue())).metadata.created_by.encode()
    size = int.from_bytes(tail[-8:-4], "little")
    body, footer = tail[: -8 - size], tail[-8 - size : -8]
    before, _, behind = footer.rpartition(named_writer(library))
    footer = before + named_writer(CREATED_BY) + behind
    return body + footer + len(footer).to_bytes(4, "little") + tail[-4:]


class _ComparingSink:
    """A file to be written that keeps nothing but where it first differs from another one."""

    def __init__(self, other: Any) -> None:
        self.differs_at: int | None = None
        self.size = 0
        self.closed = False
        self._other = other
        self._held: bytearray | None = None

    def write(self, content: Any) -> int:
        """Compare some bytes, or hold them."""
        raw = bytes(content)
        if self._held is None:
            self._compare(raw)
        else:
            self._held += raw
        return len(raw)

    def hold(self) -> None:
        """Keep what is written from now on."""
        self._held = bytearray()

    def held(self) -> bytes:
        """Return what was kept."""
        return bytes(self._held or b"")

    def end(self, rest: bytes) -> None:
        """Compare the last bytes; the other file must end with them."""
        self._compare(rest)
        if self.differs_at is None and self._other.read(1):
            self.differs_at = self.size

    def _compare(self, raw: bytes) -> None:
        if self.differs_at is None:
            there = self._other.read(len(raw))
            if there != raw:
                self.differs_at = self.size + first_difference(there, raw)
        self.size += len(raw)

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self.size + len(self._held or b"")

    def flush(self) -> None:
        """Do nothing: nothing waits."""

    def close(self) -> None:
        """Say that it is closed."""
        self.closed = True

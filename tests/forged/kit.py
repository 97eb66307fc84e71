"""The forger's kit: good releases made bad by hand, with sizes, digests and seal computed anew.

`forgeries_of` gives every forgery that fits a release folder. Each of them hides something, or lets
two readers read different things, without touching what the release claims.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa
from pyarrow import parquet

Forgery = Callable[[bytes], bytes]


class Forged(NamedTuple):
    """A forgery of a folder, and the checks of which one must notice it."""

    forge: Callable[[Path], None]
    noticed_by: tuple[str, ...]


def read_manifest(folder: Path) -> dict:
    return json.loads((folder / "release.json").read_bytes())


def data_file(folder: Path) -> Path:
    return next(folder.glob("data.*"))


def reseal(folder: Path, manifest: dict | None = None) -> None:
    """State sizes, digests and seal of the files as they are now: a careful forger's last step."""
    path = folder / "release.json"
    manifest = manifest or read_manifest(folder)
    for file in manifest["data"]["files"]:
        content = (folder / file["name"]).read_bytes()
        file |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest["seal"] = ""
    manifest["seal"] = hashlib.sha256(as_written(manifest)).hexdigest()
    path.write_bytes(as_written(manifest))


def as_written(manifest: dict) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def forge(path: Path, forgery: Forgery) -> None:
    """Change a file of a release, and seal the release anew."""
    path.write_bytes(forgery(path.read_bytes()))
    reseal(path.parent)


def last_row(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return text with its last row changed; of several, the last that holds a number."""
    lines = content.split(b"\n")
    rows = [number for number, line in enumerate(lines) if line]
    last = max((number for number in rows if re.search(rb"[0-9]", lines[number])), default=rows[-1])
    lines[last] = change(lines[last])
    return b"\n".join(lines)


def id_written_as(form: str) -> Forgery:
    """Return the forgery that spells the first id of the last row in another way."""

    def respelled(row: bytes) -> bytes:
        match = re.search(rb"[0-9]+", row)
        value = int(match[0])
        spelled = form.format(value, float(value), -value).encode()
        return row[: match.start()] + spelled + row[match.end() :]

    return lambda content: last_row(content, respelled)


def other_digit(digit: re.Match[bytes]) -> bytes:
    """Return the Arabic digit of the same value."""
    return chr(0x660 + int(digit[0])).encode()


SPELLINGS = {
    "a fraction behind the id": id_written_as("{0}.0600147514"),
    "a leading zero": id_written_as("0{0}"),
    "a sign": id_written_as("+{0}"),
    "a blank before": id_written_as(" {0}"),
    "a blank behind": id_written_as("{0} "),
    "an exponent": id_written_as("{0}e0"),
    "an underscore": id_written_as("0_{0}"),
    "hexadecimal": id_written_as("0x{0:x}"),
    "a float": id_written_as("{1}"),
    "a mantissa": id_written_as("{0:e}"),
    "in quotes": id_written_as('"{0}"'),
    "below nought": id_written_as("-{0}"),
    "digits of another script": lambda content: last_row(
        content,
        lambda row: re.sub(rb"[0-9]", other_digit, row, count=1),
    ),
}
"""Ids that are cast to the same integer."""

LINES: dict[str, Forgery] = {
    "a blank line": lambda content: content.replace(b"\n", b"\n\n", 1),
    "a blank line behind": lambda content: content + b"\n",
    "no last line end": lambda content: content[:-1],
    "another line end": lambda content: content.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda content: b"\xef\xbb\xbf" + content,
    "a comment": lambda content: content + b"# ann is 0\n",
    "a NUL": lambda content: content + b"\0",
    "blanks behind the header": lambda content: content.replace(b"\n", b"  \n", 1),
}
"""What stands between, before or behind the rows."""

ITEMS: dict[str, Forgery] = {
    "an item behind a blank in quotes": lambda content: last_row(
        content, lambda row: row.split(b",")[0] + b', "' + row.split(b",")[1] + b'"'
    ),
    "an item in needless quotes": lambda content: last_row(
        content, lambda row: row.split(b",")[0] + b',"' + row.split(b",")[1] + b'"'
    ),
    "a user that is no number": lambda content: last_row(
        content, lambda row: b"\x01," + row.split(b",")[1]
    ),
    "a third cell": lambda content: last_row(content, lambda row: row + b",ann"),
    "a blank behind an item": lambda content: last_row(content, lambda row: row + b" "),
}
"""Items that readers read in different ways."""


def broken_by(mark: str) -> Forgery:
    """Return the forgery that puts a mark into the last cell and its equals, all in quotes."""

    def broken(content: bytes) -> bytes:
        header, *rows = csv.reader(io.StringIO(content.decode(), newline=""))
        last = next(row[-1] for row in reversed(rows) if row[-1])
        for row in rows:
            row[-1] = f"{last}{mark}ann" if row[-1] == last else row[-1]
        users = header == ["user", "item"]
        lines = [
            ",".join(_quoted(cell) if n or not users else cell for n, cell in enumerate(row))
            for row in rows
        ]
        return "\n".join([content.decode().partition("\n")[0], *lines, ""]).encode()

    return broken


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'


BREAKS = {
    "a line break in quotes": broken_by("\n"),
    "a carriage return in quotes": broken_by("\r"),
    "a NUL in quotes": broken_by("\0"),
    "a vertical tab in quotes": broken_by("\v"),
    "a form feed in quotes": broken_by("\f"),
    "a file separator in quotes": broken_by("\x1c"),
    "a group separator in quotes": broken_by("\x1d"),
    "a record separator in quotes": broken_by("\x1e"),
    "a next line in quotes": broken_by("\x85"),
    "a line separator in quotes": broken_by("\u2028"),
    "a paragraph separator in quotes": broken_by("\u2029"),
    "a vertical tab without quotes": lambda content: last_row(content, lambda row: row + b"\vann"),
    "a backslash before a quote": lambda content: broken_by(",")(content).replace(
        b'ann"', b'ann\\"'
    ),
}
"""Text that the writer refuses: programs read it in different ways, or not at all."""
ITEMS |= BREAKS


def swapped_rows(content: bytes) -> bytes:
    """Return text with its first two rows exchanged: their order may be that of the original."""
    lines = content.split(b"\n")
    lines[1], lines[2] = lines[2], lines[1]
    return b"\n".join(lines)


CELLS: dict[str, Forgery] = {
    "a cell in other quotes": lambda content: last_row(content, requoted),
    "a blank behind a cell": lambda content: last_row(content, lambda row: row + b" "),
    "a cell too many": lambda content: last_row(content, lambda row: row + b",ann"),
    "a NUL in a cell": lambda content: content[:-1] + b"\0\n",
    "an empty cell for a star": lambda content: star_as(b"", content),
    "a star in quotes": lambda content: star_as(b'"*"', content),
}
"""Cells of a table that readers read in different ways."""
CELLS |= BREAKS


def star_as(other: bytes, content: bytes) -> bytes:
    """Return text with its first suppressed cell written in another way."""
    return re.sub(rb"(?<=[,\n])\*(?=[,\n])", other, content, count=1)


def requoted(row: bytes) -> bytes:
    """Return a row whose last cell stands in quotes where it did not, or without its own."""
    before, _, last = row.rpartition(b",")
    other = last[1:-1] if last.startswith(b'"') else b'"' + last + b'"'
    return before + b"," + other


def gzipped(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


PACKED: dict[str, Forgery] = {
    "packed": gzipped,
    "packed in another way": lambda content: gzip.compress(content, 1, mtime=0),
    "a second member": lambda content: gzipped(content) + gzipped(b"ann is 0\n"),
    "bytes behind": lambda content: gzipped(content) + b"ann is 0",
    "a time": lambda content: gzip.compress(content, mtime=7),
    "a name": lambda content: gzipped(content)[:3] + b"\x08" + bytes(6) + b"ann\0",
}
"""A file packed: what is in it can be packed in many ways."""


def parquet_of(table: pa.Table, *, metadata: dict[str, str] | None = None, **settings) -> bytes:
    """Return a table as Parquet, in the one form but for these settings."""
    texts = [field.name for field in table.schema if not pa.types.is_integer(field.type)]
    numbers = {name: "DELTA_BINARY_PACKED" for name in table.column_names if name not in texts}
    form = {
        "compression": "none",
        "write_statistics": False,
        "store_schema": False,
        "use_dictionary": texts or False,
        "column_encoding": numbers,
    }
    rows = settings.pop("rows", 1 << 20)
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, table.schema, **(form | settings)) as writer:
        writer.write_table(table, row_group_size=rows)
        if metadata:
            writer.add_key_value_metadata(metadata)
    written_by = parquet.ParquetFile(sink).metadata.created_by.encode()
    return renamed_writer(sink.getvalue(), written_by, b"graphveil version 1.0.0")


def renamed_writer(content: bytes, old: bytes, new: bytes) -> bytes:
    """Return a Parquet file whose footer names another writer."""
    size = int.from_bytes(content[-8:-4], "little")
    named = [bytes([0x28, len(name)]) + name for name in (old, new)]
    footer = content[-8 - size : -8].replace(*named)
    return content[: -8 - size] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def rewritten(change: Callable[[pa.Table], pa.Table] = lambda table: table, **settings) -> Forgery:
    """Return the forgery that writes the same cells with other settings, or in another type."""
    return lambda content: parquet_of(change(parquet.read_table(io.BytesIO(content))), **settings)


def with_words(words: Callable[[list[str]], list[str]]) -> Callable[[pa.Table], pa.Table]:
    """Return what gives each column of text another dictionary of the same words, or of more."""

    def change(table: pa.Table) -> pa.Table:
        for number, field in enumerate(table.schema):
            if pa.types.is_string(field.type):
                values = table[number].to_pylist()
                listed = words(list(dict.fromkeys(v for v in values if v is not None)))
                numbers = {word: code for code, word in enumerate(listed)}
                codes = [numbers.get(value) for value in values]
                column = pa.DictionaryArray.from_arrays(
                    pa.array(codes, pa.int32()), pa.array(listed)
                )
                table = table.set_column(number, field.name, column)
        return table

    return change


def retyped(old: str, new: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    """Return what gives columns of one type another one, where that holds the same cells."""

    def change(table: pa.Table) -> pa.Table:
        fields = [
            pa.field(field.name, new if str(field.type) == old else field.type)
            for field in table.schema
        ]
        try:
            return table.cast(pa.schema(fields))
        except pa.ArrowInvalid:
            return table

    return change


COLUMNAR: dict[str, Forgery] = {
    "metadata": rewritten(metadata={"who": "ann is 0"}),
    "metadata of a column": rewritten(
        lambda table: table.cast(
            pa.schema(
                [table.schema[0].with_metadata({"PARQUET:field_id": "7"}), *list(table.schema)[1:]]
            )
        )
    ),
    "bytes before the footer": lambda content: (
        content[: -8 - int.from_bytes(content[-8:-4], "little")]
        + b"ann is 0"
        + content[-8 - int.from_bytes(content[-8:-4], "little") :]
    ),
    "bytes behind": lambda content: content + b"ann is 0" + content[-8:],
    "another writer": lambda content: renamed_writer(
        content, b"graphveil version 1.0.0", b"ann is 0 version 1.0.0"
    ),
    "compressed": rewritten(compression="zstd"),
    "packed by gzip": rewritten(compression="gzip"),
    "short parts": rewritten(rows=3),
    "short pages": rewritten(data_page_size=8, write_batch_size=1),
    "statistics": rewritten(write_statistics=True),
    "an index of pages": rewritten(write_statistics=True, write_page_index=True),
    "checksums": rewritten(write_page_checksum=True),
    "pages of version 2": rewritten(data_page_version="2.0"),
    "another version": rewritten(version="1.0"),
    "the schema of Arrow": rewritten(store_schema=True),
    "plain numbers": rewritten(column_encoding={}),
    "narrow numbers": rewritten(retyped("int64", pa.int32())),
    "numbers without a sign": rewritten(retyped("int64", pa.uint64())),
    "a sorted column": rewritten(sorting_columns=[parquet.SortingColumn(0)]),
}
"""What a Parquet file can say beside its cells."""

WORDS: dict[str, Forgery] = {
    "an unused word": rewritten(with_words(lambda words: [*words, "ann is 0"])),
    "a word before the others": rewritten(with_words(lambda words: ["ann is 0", *words])),
    "words in another order": rewritten(with_words(lambda words: words[::-1])),
    "text without a dictionary": rewritten(use_dictionary=False),
    "bytes for text": rewritten(retyped("string", pa.binary())),
}
"""What a Parquet file with text can say beside it."""


STARS: dict[str, Forgery] = {
    "a star as text": rewritten(
        lambda table: pa.table({n: c.fill_null("*") for n, c in named_texts(table).items()})
    ),
    "no text for a star": rewritten(
        lambda table: pa.table({n: c.fill_null("") for n, c in named_texts(table).items()})
    ),
}
"""Suppressed cells of a Parquet table that readers take for text."""


NAMES: dict[str, Callable[[list[str]], list[str]]] = {
    "two columns of one name": lambda names: [*names[:-1], names[0]],
    "two columns of one name but for capitals": lambda names: [*names[:-1], names[0].upper()],
    "a column without a name": lambda names: [*names[:-1], ""],
}
"""Names of columns of which some programs make others."""

NAMES_IN_TEXT: dict[str, Callable[[list[str]], list[str]]] = {
    "a blank before a name": lambda names: [*names[:-1], f" {names[-1]}"],
    "a blank behind a name": lambda names: [*names[:-1], f"{names[-1]} "],
    "a quote in a name": lambda names: [*names[:-1], f'"{names[-1]}"'],
    "a line break in a name": lambda names: [*names[:-1], f"{names[-1]}\n"],
    "a mark before the names": lambda names: [f"\ufeff{names[0]}", *names[1:]],
}
"""Names that are other ones to some programs where they stand in text."""


def _renamed(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    """Return what gives the columns of a table other names, in file and manifest."""

    def forge_names(folder: Path) -> None:
        manifest = read_manifest(folder)
        described, path = manifest["data"]["files"][0], data_file(folder)
        described["columns"] = names = change(described["columns"])
        if path.suffix == ".parquet":
            columns = parquet.read_table(path).columns
            path.write_bytes(parquet_of(pa.Table.from_arrays(columns, names=names)))
        else:
            delimiter = "," if path.suffix == ".csv" else "\t"
            header = delimiter.join(
                _quoted(name) if re.search(r'["\n,\t]|^\s|\s$|^$', name) else name for name in names
            )
            rows = path.read_bytes().partition(b"\n")[2]
            path.write_bytes(header.encode() + b"\n" + rows)
        reseal(folder, manifest)

    return forge_names


def named_texts(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    """Return the columns by name, as text."""
    columns = zip(table.column_names, table.columns, strict=True)
    return {name: column.cast(pa.string()) for name, column in columns}


def _edit(change: Callable[[dict], object]) -> Callable[[Path], None]:
    """Return what changes the manifest, sealed anew."""

    def forge_manifest(folder: Path) -> None:
        manifest = read_manifest(folder)
        change(manifest)
        reseal(folder, manifest)

    return forge_manifest


def _raw(change: Forgery) -> Callable[[Path], None]:
    """Return what changes the bytes of the manifest, but nothing that they say."""

    def forge_bytes(folder: Path) -> None:
        path = folder / "release.json"
        path.write_bytes(change(path.read_bytes()))

    return forge_bytes


def _once(pattern: bytes, by: bytes) -> Callable[[Path], None]:
    return _raw(lambda raw: re.sub(pattern, by, raw, count=1))


MANIFEST = {
    "a key twice": _once(rb'  "tool": ', rb'  "tool": "ann is 0",\n  "tool": '),
    "a blank behind": _raw(lambda raw: raw + b" "),
    "a line behind": _raw(lambda raw: raw + b"\n"),
    "no last line end": _raw(lambda raw: raw[:-1]),
    "tabs": _raw(lambda raw: raw.replace(b"  ", b"\t")),
    "one line": _raw(lambda raw: json.dumps(json.loads(raw)).encode() + b"\n"),
    "keys in another order": _raw(
        lambda raw: json.dumps(json.loads(raw), indent=2, sort_keys=True).encode() + b"\n"
    ),
    "a byte order mark": _raw(lambda raw: b"\xef\xbb\xbf" + raw),
    "a word by its code": _once(rb'"graphveil"', rb'"\\u0067raphveil"'),
    "a count as a float": _once(rb'"rows": ([0-9]+)', rb'"rows": \g<1>.0'),
    "a count with an exponent": _once(rb'"rows": ([0-9]+)', rb'"rows": \g<1>e0'),
    "a count below nought": _once(rb'"rows": ([0-9]+)', rb'"rows": -\g<1>'),
    "a count as text": _once(rb'"rows": ([0-9]+)', rb'"rows": "\g<1>"'),
    "a field too many": _edit(lambda manifest: manifest.update(note="ann is 0")),
    "a field of a file too many": _edit(
        lambda manifest: manifest["data"]["files"][0].update(note="ann is 0")
    ),
    "a field of the claim too many": _edit(lambda manifest: manifest["claim"].update(note="ann")),
    "a field of the promise too many": _edit(
        lambda manifest: manifest["claim"]["guarantee"].update(note="ann is 0")
    ),
    "a long manifest": _raw(lambda raw: raw + b" " * (17 << 20)),
    "deep lists": _once(rb'"parameters": {', b'"parameters": {"x": ' + b"[" * 5000),
}
"""What `release.json` can say beside its fields."""


def _listed_as(name: str) -> Callable[[Path], None]:
    def forge_name(folder: Path) -> None:
        manifest = read_manifest(folder)
        file = manifest["data"]["files"][0]
        (folder / file["name"]).rename(folder / name)
        file["name"] = name
        reseal(folder, manifest)

    return forge_name


def _linked(name: str) -> Callable[[Path], None]:
    """Return what leaves a link where a file was, to the same content elsewhere."""

    def forge_link(folder: Path) -> None:
        path = data_file(folder) if name == "data" else folder / name
        away = folder.with_name(f"{folder.name}-away")
        path.rename(away)
        path.symlink_to(away)

    return forge_link


def _link_beside(folder: Path) -> None:
    (folder / "more").symlink_to("/etc/hostname")


FOLDER = {
    "another file": lambda folder: (folder / "who.txt").write_text("ann is 0"),
    "an empty file": lambda folder: (folder / "ann-is-0").touch(),
    "a hidden file": lambda folder: (folder / ".who").write_text("ann is 0"),
    "a folder": lambda folder: (folder / "who").mkdir(),
    "a link": _link_beside,
    "the data through a link": _linked("data"),
    "the manifest through a link": _linked("release.json"),
    "the data in capitals": lambda folder: (folder / "DATA.CSV").write_text("ann is 0"),
    "the data under another name": _listed_as("ann-is-0.csv"),
    "the data under a name in capitals": _listed_as("DATA.csv"),
    "a blank behind the name": _listed_as("data.csv "),
    "the data listed twice": _edit(
        lambda manifest: manifest["data"]["files"].append(manifest["data"]["files"][0])
    ),
    "no data": _edit(lambda manifest: manifest["data"]["files"].pop(0)),
}
"""What a folder can hold beside its files."""


def _packed(forgery: Forgery) -> Callable[[Path], None]:
    def forge_packed(folder: Path) -> None:
        path = data_file(folder)
        path.write_bytes(forgery(path.read_bytes()))
        _listed_as(f"{path.name}.gz")(folder)

    return forge_packed


def _in_data(forgery: Forgery) -> Callable[[Path], None]:
    return lambda folder: forge(data_file(folder), forgery)


def _in_file(name: str, forgery: Forgery) -> Callable[[Path], None]:
    return lambda folder: forge(folder / name, forgery)


def _has_text(path: Path) -> bool:
    return any(pa.types.is_string(field.type) for field in parquet.read_schema(path))


def forgeries_of(folder: Path) -> dict[str, Forged]:
    """Return every forgery of a release folder that fits its kind and format, but of the folder."""
    described = read_manifest(folder)["data"]
    kind, form = described["kind"], described["files"][0]["format"]
    data: dict[str, Forgery] = {**LINES} if form != "parquet" else {**COLUMNAR}
    if form == "parquet" and _has_text(folder / described["files"][0]["name"]):
        data |= WORDS
    if form != "parquet" and kind != "table":
        data |= SPELLINGS
    if form == "csv" and kind == "bipartite":
        data |= ITEMS
    if form == "csv" and kind == "table":
        data |= CELLS
    if form == "parquet" and kind == "table":
        data |= STARS
    if kind == "table":
        content = data_file(folder).read_bytes()
        data = {name: forgery for name, forgery in data.items() if forgery(content) != content}
    if form in ("csv", "tsv", "text") and kind != "table":
        data["rows in another order"] = swapped_rows
    every = {name: _in_data(forgery) for name, forgery in data.items()}
    every |= {name: _packed(forgery) for name, forgery in PACKED.items()}
    for file in described["files"][1:]:
        beside = {**LINES, **SPELLINGS, "rows in another order": swapped_rows}
        every |= {f"{file['name']}: {n}": _in_file(file["name"], f) for n, f in beside.items()}
    noticed = ("data", "canonical order", "levels")  # in `levels.csv` by the levels themselves
    forged = {name: Forged(f, noticed) for name, f in every.items()}
    names = NAMES if form == "parquet" else {**NAMES, **NAMES_IN_TEXT}
    if kind == "table":
        forged |= {n: Forged(_renamed(change), ("description",)) for n, change in names.items()}
    return forged


OF_ANY_FOLDER = {
    **{name: Forged(forgery, ("manifest", "seal")) for name, forgery in MANIFEST.items()},
    **{
        name: Forged(forgery, ("files", "no other files", "description"))
        for name, forgery in FOLDER.items()
    },
}
"""Forgeries of the manifest and of the folder, which fit every release."""


def _stated_too(**condition: object) -> Callable[[Path], None]:
    return _edit(lambda manifest: manifest["claim"]["conditions"].append(condition))


def _first_stated_twice(manifest: dict) -> None:
    conditions = manifest["claim"]["conditions"]
    conditions.extend(conditions[:1] or [{"type": "people-as-items"}] * 2)


def edited_values(folder: Path) -> dict[str, Forged]:
    """Return a forgery for each value of each stated condition: the least change that is one."""
    return {
        f"{condition['type']}: another {name}": Forged(
            _edit(_with_value(number, name, nudged(value))), OF_VALUES
        )
        for number, condition in enumerate(read_manifest(folder)["claim"]["conditions"])
        for name, value in condition.items()
        if name != "type" and value not in (None, []) and name not in FREE[condition["type"]]
    }


FREE = defaultdict(
    set,
    {
        "block-flips": {"noisy_count", "weights", "groups", "factors"},
        "noisy-degrees": {"noisy_count"},
        "noisy-statistics": {"noisy_count"},
    },
)
"""Values that nobody can compute again: they were drawn, or follow from counts that were."""

OF_VALUES = (
    *("method", "thresholds", "cells", "size", "stars by row", "manifest", "seal"),
    *("noisy statistics", "drawing"),
)


def _with_value(number: int, name: str, value: object) -> Callable[[dict], object]:
    def change(manifest: dict) -> None:
        manifest["claim"]["conditions"][number][name] = value

    return change


def nudged(value: Any) -> Any:
    """Return nearly the same value: chances may be off by one in 2^64, so whole numbers by two."""
    if isinstance(value, list):
        return [nudged(value[0]), *value[1:]]
    if isinstance(value, float):
        return math.nextafter(value, 2)
    if isinstance(value, int):
        return value + 1
    if "/" in value:
        return str(Fraction(value) + Fraction(1, 10**30))
    return str(int(value) + 2) if value.isdecimal() else f"{value}x"


CLAIMS = {
    "a budget with room for a text": Forged(
        _stated_too(
            type="edit-budget",
            edges=int.from_bytes(b"ann is0", "big"),
            share=None,
            edges_per_edit=1,
        ),
        ("method",),
    ),
    "a share with room for a text": Forged(
        _stated_too(type="edit-budget", edges=None, share=0.1234567890123456, edges_per_edit=4),
        ("method",),
    ),
    "degrees that nobody kept": Forged(_stated_too(type="same-degrees"), ("method",)),
    "flips that nobody made": Forged(
        _stated_too(
            type="cell-flips",
            cells="6",
            epsilon_cells="2",
            T0="2198909137867134464",
            T1="16247834935842417152",
            noisy_count=None,
        ),
        ("method",),
    ),
    "a condition stated twice": Forged(_edit(_first_stated_twice), ("method",)),
}
"""What a manifest can state beyond what its method says of itself."""

"""The forger's kit: good releases made bad by hand, with sizes, digests and seal computed anew."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

Forgery = Callable[[bytes], bytes]


def reseal(folder: Path) -> None:
    """State sizes, digests and seal of the files as they are now: a careful forger's last step."""
    path = folder / "release.json"
    manifest = json.loads(path.read_bytes())
    for file in manifest["data"]["files"]:
        content = (folder / file["name"]).read_bytes()
        file |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest["seal"] = ""
    manifest["seal"] = hashlib.sha256(as_written(manifest)).hexdigest()
    path.write_bytes(as_written(manifest))


def as_written(manifest: dict) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def forge(path: Path, forgery: Forgery) -> None:
    """Change a file of a release, under its compression, and seal the release anew."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(forgery(gzip.decompress(content)), 6, mtime=0))
    else:
        path.write_bytes(forgery(content))
    reseal(path.parent)


def last_row(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Return text with its last row that holds a number changed."""
    lines = content.split(b"\n")
    last = max(number for number, line in enumerate(lines) if re.search(rb"[0-9]", line))
    lines[last] = change(lines[last])
    return b"\n".join(lines)


def id_written_as(form: str) -> Forgery:
    """Return the forgery that spells the first id of the last row in another way."""

    def respelled(row: bytes) -> bytes:
        match = re.search(rb"[0-9]+", row)
        value = int(match[0])
        spelled = form.format(value, float(value)).encode()
        return row[: match.start()] + spelled + row[match.end() :]

    return lambda content: last_row(content, respelled)


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
    "in quotes": id_written_as('"{0}"'),
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


def swapped_rows(content: bytes) -> bytes:
    """Return text with its first two rows exchanged: their order may be that of the original."""
    lines = content.split(b"\n")
    lines[1], lines[2] = lines[2], lines[1]
    return b"\n".join(lines)


PACKED: dict[str, Forgery] = {
    "a second member": lambda packed: packed + gzip.compress(b"ann is 0\n", mtime=0),
    "an empty second member": lambda packed: packed + gzip.compress(b"", mtime=0),
    "bytes behind": lambda packed: packed + b"ann is 0",
    "zeros behind": lambda packed: packed + bytes(8),
    "a time": lambda packed: packed[:4] + b"\x01\x02\x03\x04" + packed[8:],
    "a name": lambda packed: packed[:3] + b"\x08" + packed[4:10] + b"ann\0" + packed[10:],
    "a comment": lambda packed: packed[:3] + b"\x10" + packed[4:10] + b"ann\0" + packed[10:],
    "an extra field": lambda packed: packed[:3] + b"\x04" + packed[4:10] + b"\3\0ann" + packed[10:],
    "cut short": lambda packed: packed[:-4],
}
"""What a gzip file can say beside its content."""

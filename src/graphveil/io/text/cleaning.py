"""Bytes of text made ready for Arrow's parser: no comments, no extra space, plain integers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

_COMMENT = re.compile(rb"^[ \t]*[#%][^\n]*", re.MULTILINE)
_ROW = re.compile(rb"^[ \t]*[^#%\s]", re.MULTILINE)
_BLANK_LINE = re.compile(rb"^ +(?=\r?$)", re.MULTILINE)
_QUOTED_BLANK = re.compile(rb'"[ \t]|[ \t]"')

_BLANK, _BREAK = 1, 2
_STEP = 1 << 18
"""How many bytes are looked at a time: it bounds the size of temporary arrays."""

_ZERO, _POINT = ord("0"), ord(".")
_KIND = bytes(
    _BREAK if code == ord("\n") else _BLANK if code in b"\t\v\f\r " else 0 for code in range(256)
)
"""The kind of every byte: a line break, other white space, or 0 for the rest."""


def without_comments(chunk: bytes) -> tuple[bytes, int]:
    """Return the lines with comments emptied, and the number of comments."""
    if b"#" not in chunk and b"%" not in chunk:
        return chunk, 0
    return _COMMENT.subn(b"", chunk)


def comments_below_rows(chunk: bytes, *, begun: bool) -> Iterator[tuple[int, bytes]]:
    """Yield the position among the lines, and the text, of comments below the first row."""
    row = _ROW.search(chunk)
    start = 0 if begun else row.start() if row else len(chunk)
    line, at = 0, 0
    for comment in _COMMENT.finditer(chunk, start):
        line += chunk.count(b"\n", at, comment.start())
        at = comment.start()
        yield line, comment.group()


def without_blank_lines(chunk: bytes) -> bytes:
    """Return the lines with those emptied that hold spaces alone."""
    return _BLANK_LINE.sub(b"", chunk) if b"\n " in chunk or chunk.startswith(b" ") else chunk


def single_spaced(chunk: bytes) -> bytes:
    """Return lines whose cells are separated by one space, whatever white space there was."""
    # Most chunks need no change: look for what would before anything is copied.
    ragged = (b"\t", b"\r", b"  ", b" \n", b"\n ", b"\v", b"\f")
    if not any(mark in chunk for mark in ragged) and not chunk.startswith(b" "):
        return chunk.removesuffix(b" ")
    # Keep one blank of each run, the first one, and none at the beginning of a line.
    text = np.frombuffer(chunk, dtype=np.uint8)
    kind = np.frombuffer(chunk.translate(_KIND), dtype=np.uint8)
    before = np.empty_like(kind)
    before[0] = _BREAK
    before[1:] = kind[:-1]
    keep = (kind != _BLANK) | (before == 0)
    text, kind = text[keep], kind[keep]
    # Drop the blank at the end of each line.
    after = np.full_like(kind, _BREAK)
    after[:-1] = kind[1:]
    keep = (kind != _BLANK) | (after == 0)
    text, kind = text[keep], kind[keep]
    # Tabs and other white space become the one delimiter that the parser knows.
    text[kind == _BLANK] = 32
    spaced: bytes = text.tobytes()
    return spaced


def may_not_be_plain(chunk: bytes) -> bool:
    """Whether a number may be spelled in a way that an integer would not keep.

    Such are 007, 0x1F, -0, and 5 with a space inside its quotes.
    """
    # Quick rejections by marks that plain integers never have.
    if any(mark in chunk for mark in (b"x", b"X")) or (b"-" in chunk and b"-0" in chunk):
        return True
    if b'"' in chunk and _QUOTED_BLANK.search(chunk):
        return True
    # A zero with a digit behind it and no digit or point before it: 007, but not 10.07.
    text = np.frombuffer(b"\n" + chunk + b"\n", dtype=np.uint8)
    for start in range(0, text.size - 2, _STEP):
        before = text[start : start + _STEP][: text.size - 2 - start]
        here = text[start + 1 : start + 1 + before.size]
        after = text[start + 2 : start + 2 + before.size]
        leading = (here == _ZERO) & (after - _ZERO < 10) & (before - _ZERO >= 10)
        if np.any(leading & (before != _POINT)):
            return True
    return False

"""The encoding of a text file: what its bytes may be, and the same text as UTF-8.

A file that is not UTF-8 is never read by a guess. `question_of` names the most likely encoding,
shows a word in it, and the owner of the data confirms it with the option ``encoding``.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from itertools import pairwise
from typing import IO, NoReturn

from graphveil.core.hints import one_of, option
from graphveil.core.questions import Problem
from graphveil.core.text import printable

SINGLE_BYTE: dict[str, str] = {
    "windows-1252": "äöüßÄÖÜéèêëàâçîïôûùœÉÈÀÇñáíóúÁÍÓÚÑ¿¡ãõÃÕâêôæøåÆØÅìò€°ºª",
    "windows-1250": "ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽöőüűÖŐÜŰăîșțşţđ€äß",
    "iso-8859-2": "ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉĚÍŇŘŠŤÚŮÝŽöőüűÖŐÜŰăîşţđäß",
    "windows-1251": "абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЭЮЯёЁіїєІЇЄґ",
    "windows-1253": "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΆΈΉΊΌΎΏ",
    "windows-1254": "çğıöşüÇĞİÖŞÜâîû",
    "cp850": "äöüßÄÖÜéèêëàâçîïôûùÉÇñáíóúÑãõæøåÆØÅ",
    "mac-roman": "äöüßÄÖÜéèêëàâçîïôûùÉÇñáíóúÑãõæøåÆØÅ",
}
"""Encodings of one byte per character that offices use, each with the accented letters that the
languages written in it have often. Of encodings that fit equally the first one is proposed."""

WIDE = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
"""How a file in UTF-16 begins."""

MOST_LINES = 2_000
"""So many lines with bytes outside ASCII are looked at. The choice no longer changes after them."""

_WORD = re.compile(r"\w*[^\W\d_a-zA-Z]\w*")
_BLOCK = 1 << 20
_GREEK = "\u0370"
"""The first letter of Greek; Cyrillic follows, and all Latin letters of the lists come before."""


def checked(name: str, refuse: Callable[[str], NoReturn]) -> str:
    """Return the name of an encoding of text, as Python knows it; refuse others."""
    try:
        known = codecs.lookup(name)
    except (LookupError, ValueError):
        known = None
    if known is None or not getattr(known, "_is_text_encoding", True):
        ways = one_of(name, ["utf-8", "utf-16", *SINGLE_BYTE])
        refuse(f"{printable(name)!r} is not a known {option('encoding')}. {ways}")
    return known.name


def likely(lines: list[bytes]) -> list[tuple[str, str]]:
    """Return the encodings in which lines that are not UTF-8 are text, and a word; likely first.

    >>> likely(["Köln;Höfigallee".encode("windows-1252")])[0]
    ('windows-1252', 'Köln')
    >>> likely(["Wąsowicz;Łódź;żółć".encode("windows-1250")])[0]
    ('windows-1250', 'Wąsowicz')
    """
    text_of: dict[str, str] = {}
    scores: dict[str, float] = {}
    for name, letters in SINGLE_BYTE.items():
        try:
            text = b"\n".join(lines).decode(name)
        except UnicodeDecodeError:
            continue
        others = [sign for sign in text if ord(sign) > 127]
        # Control characters and letters that no language of the encoding has speak against it,
        # as do a capital behind a small letter, and two alphabets in one word.
        common = sum(sign in letters for sign in others)
        pairs = [(a, b) for a, b in pairwise(text) if a.isalpha() and b.isalpha()]
        inside = sum(a.islower() and b.isupper() for a, b in pairs)
        inside += 3 * sum((a >= _GREEK) != (b >= _GREEK) for a, b in pairs)
        if common:
            scores[name], text_of[name] = 3 * common - 2 * len(others) - inside, text
    order = sorted(scores, key=lambda name: -scores[name])
    order = [name for name in order if 2 * scores[name] >= scores[order[0]]]
    words = {name: _WORD.search(text_of[name]) for name in order}
    return [(name, word.group()) for name in order if (word := words[name])]


def wide_of(start: bytes) -> str:
    """Return the encoding of a file of two bytes per character by its first bytes; '' if none.

    >>> wide_of("id,age".encode("utf-16")), wide_of("id,age".encode("utf-16-be")), wide_of(b"id")
    ('utf-16', 'utf-16-be', '')
    """
    if start[:2] in WIDE and start[:4] != b"\xff\xfe\0\0":
        return WIDE[start[:2]]
    sample = start[: len(start) & ~1]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) / 4
    if half and (even > half) != (odd > half):
        return "utf-16-be" if even > odd else "utf-16-le"
    return ""


def question_of(stream: IO[bytes]) -> Problem | None:
    """Return the question in which encoding bytes are read; None if they are UTF-8 or nothing."""
    lines: list[bytes] = []
    begun = wrong = False
    rest = b""
    while block := stream.read(_BLOCK):
        if not begun:
            begun, wide = True, wide_of(block)
            if wide:
                return _about(wide, block[: len(block) & ~1].decode(wide, errors="replace"), [])
        if block.isascii() and not rest:
            continue
        *whole, rest = (rest + block).split(b"\n")
        lines += [line for line in whole if not line.isascii()]
        rest = b"" if rest.isascii() and len(rest) > _BLOCK else rest
        wrong = wrong or not _is_utf8(lines)
        if wrong and len(lines) > MOST_LINES:
            break
        lines = lines if wrong else []
    lines += [rest] if not rest.isascii() else []
    if not (wrong or not _is_utf8(lines)):
        return None
    found = likely(lines[:MOST_LINES])
    return _about(found[0][0], found[0][1], found[1:]) if found else None


def _is_utf8(lines: list[bytes]) -> bool:
    try:
        b"\n".join(lines).decode()
    except UnicodeDecodeError:
        return False
    return True


def _about(name: str, text: str, others: list[tuple[str, str]]) -> Problem:
    """Return the question whether a file is in this encoding, with words that show it."""
    word = _WORD.search(text)
    shown = printable(word.group() if word else text.split("\n", 1)[0].strip("\ufeff\r"), 30)
    found = f"the file is not UTF-8. As {name} it has the text {shown}"
    unlike = [(other, seen) for other, seen in others if seen != shown]
    also = ""
    if unlike:
        also = f", or {option('encoding', unlike[0][0])} for {printable(unlike[0][1], 30)}"
    choices = f"if that is right, use {option('encoding', name)}{also}; else name its encoding"
    return Problem("", "encoding", name, found, choices)


class AsUtf8(io.RawIOBase):
    """The bytes of a stream in some encoding as those of the same text in UTF-8.

    Parameters
    ----------
    stream
        The bytes, whose compression is undone.
    encoding
        Their encoding, as `checked` returns it.
    refuse
        Called with what is wrong, and with the line.
    """

    def __init__(
        self, stream: IO[bytes], encoding: str, refuse: Callable[[str, int], NoReturn]
    ) -> None:
        """Begin with the first byte."""
        self._stream, self._encoding, self._refuse = stream, encoding, refuse
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._waiting, self._line, self._ended = b"", 1, False

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most so many bytes, all that are left without a size."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_BLOCK), b""))
        while len(self._waiting) < size and not self._ended:
            block = self._stream.read(_BLOCK)
            self._ended = not block
            try:
                text = self._decoder.decode(block, final=self._ended)
            except UnicodeError as error:
                line, found = self._line, "the content"
                if isinstance(error, UnicodeDecodeError):
                    line += error.object[: error.start].count(b"\n")
                    found = f"byte 0x{error.object[error.start]:02X}"
                self._refuse(
                    f"{found} is not valid {self._encoding}. Use the right {option('encoding')}, "
                    "or convert the file to UTF-8.",
                    line,
                )
            self._line += text.count("\n")
            self._waiting += text.encode()
        held, self._waiting = self._waiting[:size], self._waiting[size:]
        return held

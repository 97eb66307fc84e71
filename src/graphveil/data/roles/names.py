"""What the name of a column means, by lists of words in eight languages (`words.toml`)."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib import resources
from typing import NamedTuple

_HUMP = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=[a-zß-ÿ])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_LETTERS = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ø": "o", "æ": "ae", "œ": "oe", "đ": "d"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_BARE_VOWELS = str.maketrans("äöüÄÖÜ", "aouAOU")
"""A diaeresis is an umlaut in German and Dutch names, and not in antigüedad."""


class Meaning(NamedTuple):
    """A meaning of columns: the role proposed for it, words for it, and what values it needs."""

    key: str
    role: str
    words: str
    needs: str
    pattern: re.Pattern[str]


def plain_name(name: str) -> str:
    """Return a name in lower case without accents, with one blank between its words.

    >>> plain_name("dateOfBirth"), plain_name("Staatsangehörigkeit"), plain_name("prénom_1")
    ('date of birth', 'staatsangehoerigkeit', 'prenom 1')
    """
    composed = unicodedata.normalize("NFC", name).translate(_UMLAUTS).translate(_LETTERS)
    apart = unicodedata.normalize("NFD", composed)
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return " ".join(filter(None, _HUMP.split(bare))).lower()


def _entry(word: str) -> str:
    """Return an entry of the list as a regular expression over a plain name."""
    whole, word = word.startswith("="), word.removeprefix("=")
    begin, end = word.startswith("*"), word.endswith("*")
    inner = re.escape(plain_name(word.strip("*")))
    inner = ("\\w*" if begin else "") + inner + ("\\w*" if end else "")
    return f"^{inner}$" if whole else f"\\b{inner}\\b"


@cache
def meanings() -> tuple[Meaning, ...]:
    """Return every meaning, in the order in which they are tried."""
    text = resources.files(__package__).joinpath("words.toml").read_text(encoding="utf-8")
    found = []
    for key, entry in tomllib.loads(text).items():
        words = [word for listed in entry.values() if isinstance(listed, list) for word in listed]
        pattern = re.compile("|".join(dict.fromkeys(map(_entry, words))))
        found.append(Meaning(key, entry["role"], entry["is"], entry.get("needs", ""), pattern))
    return tuple(found)


def meanings_of(name: str) -> list[Meaning]:
    """Return the meanings that a name of a column may have, the likeliest first.

    >>> [meaning.key for meaning in meanings_of("Geburtsdatum")]
    ['birth']
    """
    spelled = {plain_name(name), plain_name(name.translate(_BARE_VOWELS))}
    return [m for m in meanings() if any(map(m.pattern.search, spelled))]

"""Codes of one column that stand for a missing value: n.a., NSP, -9.

They mean something else in other columns, so they are asked and kept column by column. Words such
as NA and ?, which hardly anything else uses, are asked when a file is read (`data.codes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from graphveil.core.missing_words import WORDS
from graphveil.core.questions import Problem
from graphveil.core.text import printable

NEGATIVE = frozenset(
    {"-1", "-2", "-3", "-7", "-8", "-9", "-77", "-88", "-97", "-98", "-99", "-999"}
)
"""Codes among numbers of which no other is negative."""

NINES = ("99", "999", "9999", "99999", "999999")
"""Codes among numbers that are all far below."""

FAR, LEAST_ROWS = 3, 2
"""A code of nines is so many times the largest other number at least; codes are in so many rows."""


def codes_among(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the values of a column that seem to stand for a missing one.

    Parameters
    ----------
    counts
        Each value, as text, with the number of its rows.

    Returns
    -------
    tuple[str, ...]
        The codes, in the order of the values.

    Examples
    --------
    >>> codes_among({"1": 5, "2": 7, "-9": 3, "n.a.": 1}), codes_among({"-9": 3, "-8": 1, "-4": 2})
    (('-9', 'n.a.'), ())
    """
    words = [text for text in counts if text.strip().casefold() in WORDS]
    numbers: dict[str, float] = {}
    for value in counts:
        if value in words:
            continue
        try:
            numbers[value] = float(value)
        except ValueError:
            return tuple(words) if len(words) < len(counts) else ()
    found = [code for code in numbers if code in NEGATIVE and counts[code] >= LEAST_ROWS]
    rest = [number for code, number in numbers.items() if code not in found]
    if len(rest) < LEAST_ROWS or min(rest) < 0:
        found = []
    others = sorted(number for code, number in numbers.items() if code not in found)
    for below, largest in pairwise(others[-2:]):
        code = f"{largest:g}" if largest < 1e6 else ""
        if code in NINES and 0 < FAR * below <= largest and counts.get(code, 0) >= LEAST_ROWS:
            found.append(code)
    codes = {*words, *found}
    return tuple(value for value in counts if value in codes) if len(codes) < len(counts) else ()


def question_of_codes(name: str, counts: Mapping[str, int]) -> Problem | None:
    """Return the question about codes in a column that may stand for a missing value; None if none.

    >>> question_of_codes("score", {"1": 5, "2": 7, "-9": 3})[1:4]
    ('missing', '-9', 'column score has -9 (3x)')
    """
    codes = [code for code in codes_among(counts) if "," not in code]
    if not codes:
        return None
    seen = ", ".join(f"{printable(code, 20)} ({counts[code]:,}x)" for code in codes)
    say = 'if it means "missing", it is suppressed in this column; otherwise it is a value'
    return Problem(name, "missing", ",".join(codes), f"column {name} has {seen}", say)

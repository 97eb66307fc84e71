"""How ids are spelled in text: as integers, as text, or in a way that no reader accepts.

An integer has one spelling, digits without a leading zero. Ids that are all spelled so are
integers; any other makes them all text. What looks like damaged numbers is refused, so a writer
asks here, too, whether its ids will be read again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphveil.data.codes import NUMBER
from graphveil.data.ids import LARGEST, Ids, as_ids, text
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa = lazy_module("pyarrow")
    pc = lazy_module("pyarrow.compute")

_INTEGER = r"^(0|[1-9][0-9]*)$"
_MISSING = ("nan", "null", "none", "na", "n/a", "#n/a", "<na>", "\\n", ".", "")
_MAY_BE_MISSING = (
    "nan",
    "NaN",
    "NAN",
    "null",
    "NULL",
    "Null",
    "None",
    "NONE",
    "NA",
    "N/A",
    "#N/A",
    "\\N",
)
_UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0]"
)
"""Characters that no eye sees: of Unicode's default ignorable ones those that change no neighbor's
form. Joiners and selectors of variants do, in emoji and in Persian."""


class SpellingProblem(NamedTuple):
    """An id that cannot be read, and what is wrong with it."""

    value: str
    what: str


def other_than_integers(values: pa.Array) -> pa.Array:
    """Return those of some texts that do not spell an integer in the one way.

    Examples
    --------
    >>> other_than_integers(pa.array(["7", "007", "ann"])).to_pylist()
    ['007', 'ann']
    """
    return values.filter(pc.invert(pc.match_substring_regex(values, _INTEGER)))


def problem_of(values: pa.Array) -> SpellingProblem | None:
    """Return the first of a column's distinct ids that is refused in text, None where all are read.

    Refused are empty ids, missing values beside integers, integers that are too large, and negative
    or fractional numbers where all ids are numbers.

    Examples
    --------
    >>> problem_of(pa.array(["7", "1e5"]))
    SpellingProblem(value='1e5', what='is no whole number')
    >>> problem_of(pa.array(["ann", "1e5"])) is None
    True
    """
    others = other_than_integers(values)
    if len(others) == 0:
        large = [value for value in values.to_pylist() if len(value) > 18 and int(value) > LARGEST]
        return SpellingProblem(max(large, key=len), f"is larger than {LARGEST}") if large else None
    missing = pc.is_in(pc.utf8_lower(others), value_set=pa.array(_MISSING))
    integers = len(others) < len(values)
    if pc.any(pc.equal(others, "")).as_py() or (integers and pc.all(missing).as_py()):
        return SpellingProblem(others.filter(missing)[0].as_py(), "is missing")
    if pc.all(pc.match_substring_regex(others, NUMBER)).as_py():
        for value in others.to_pylist():
            if value.startswith("-"):
                return SpellingProblem(value, "is negative")
            if not re.fullmatch(r"[0-9]+", value):
                return SpellingProblem(value, "is no whole number")
    return None


def alike(values: pa.Array, *, accents: bool = False) -> tuple[str, str] | None:
    """Return two of some texts that no eye can distinguish, None where there are none.

    They differ in spaces at their ends or in characters without width; where asked, also in how an
    accent is written.

    Examples
    --------
    >>> alike(pa.array(["ann", "bob", "ann "])), alike(pa.array(["ann", "Ann"]))
    (('ann', 'ann '), None)
    """
    values = values.unique()
    seen = pc.utf8_trim_whitespace(pc.replace_substring_regex(values, _UNSEEN, ""))
    seen = pc.utf8_normalize(seen, "NFC") if accents else seen
    if seen.equals(values) or pc.count_distinct(seen).as_py() == len(values):
        return None
    counts = seen.value_counts()
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))[0]
    first, second, *_ = sorted(values.filter(pc.equal(seen, repeated)).to_pylist(), key=len)
    return first, second


def in_quotes(*values: str) -> str:
    """Return texts that look the same so that they do not.

    Examples
    --------
    >>> in_quotes("ann", "ann ")
    "'ann' and 'ann '"
    """
    spelled = map(repr if all(value.isascii() for value in values) else ascii, values)
    return " and ".join(spelled)


def may_be_missing(labels: Ids) -> str:
    """Return a text among ids that often stands for a missing one; empty where none does.

    Examples
    --------
    >>> may_be_missing(text(["ann", "NULL"])), may_be_missing(text(["ann", "bob"]))
    ('NULL', '')
    """
    if labels.dtype.kind != "T":
        return ""
    return next((word for word in _MAY_BE_MISSING if np.any(labels == word)), "")


def problem_of_some(values: pa.Array) -> SpellingProblem | None:
    """Return a problem that `problem_of` has with some of a column's ids, None where with none.

    Before a run it is not known which ids will be released together.

    Examples
    --------
    >>> problem_of_some(pa.array(["ann", "1e5"]))
    SpellingProblem(value='1e5', what='is no whole number')
    >>> problem_of_some(pa.array(["ann", "007", "7"])) is None
    True
    """
    others = other_than_integers(values)
    integers = values.filter(pc.match_substring_regex(values, _INTEGER))
    missing = others.filter(pc.is_in(pc.utf8_lower(others), value_set=pa.array(_MISSING)))
    numbers = others.filter(pc.match_substring_regex(others, NUMBER))
    odd = numbers.filter(pc.invert(pc.match_substring_regex(numbers, "^[0-9]+$")))
    suspects = [odd.slice(0, 1), integers, pa.concat_arrays([missing.slice(0, 1), integers])]
    suspects.append(missing.filter(pc.equal(missing, "")))
    return next((problem for ids in suspects if (problem := problem_of(ids))), None)


def ids_of(values: pa.Array) -> Ids:
    """Return texts that `problem_of` accepts as ids: integers where all spell one, else text.

    Examples
    --------
    >>> ids_of(pa.array(["7", "12"])).tolist(), ids_of(pa.array(["7", "007"])).tolist()
    ([7, 12], ['7', '007'])
    """
    is_text = len(other_than_integers(values)) > 0
    return as_ids(values if is_text else values.cast(pa.int64()), what="ids")


def ids_listed(values: Sequence[str]) -> Ids:
    """Return the names of a format that knows names alone as ids: integers where all spell one.

    Examples
    --------
    >>> ids_listed(["7", "12"]).tolist(), ids_listed(["7", "-12"]).tolist()
    ([7, 12], ['7', '-12'])
    """
    if all(re.fullmatch(_INTEGER, value) and len(value) < 20 for value in values):
        numbers = [int(value) for value in values]
        if max(numbers, default=0) <= LARGEST:
            return np.array(numbers, dtype=np.int64)
    return text(values)


def negative_among(values: Sequence[str]) -> str | None:
    """Return a negative integer where all values are integers: such ids are refused.

    Examples
    --------
    >>> negative_among(["7", "-5"]), negative_among(["ann", "-5"])
    ('-5', None)
    """
    if not all(re.fullmatch("-?[0-9]+", value) for value in values):
        return None
    return next((value for value in values if value.startswith("-")), None)

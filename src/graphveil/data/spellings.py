"""Texts that look the same on a page, and ids that may be one id in two spellings.

Such ids would become two nodes or two categories of which a reader sees one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphveil.core.errors import DataError
from graphveil.core.libraries import pa, pc
from graphveil.core.missing_words import UNKNOWN, UNSEEN, plain
from graphveil.core.warning_channel import warn
from graphveil.data.ids import Ids, to_arrow


def alike(values: pa.Array, *, accents: bool = False, case: bool = False) -> tuple[str, str] | None:
    """Return two texts that no eye can distinguish; None if there are none.

    They differ in spaces at their ends or in characters without width; if asked, also in how an
    accent is written, or in case and zeros in front of a number.
    """
    values = values.unique()
    # Reduce each text to what is seen of it.
    seen = pc.utf8_trim_whitespace(pc.replace_substring_regex(values, UNSEEN, ""))
    seen = pc.utf8_normalize(seen, "NFC") if accents else seen
    if case:
        folded = pc.utf8_lower(pc.utf8_upper(seen))
        seen = pc.replace_substring_regex(folded, "^0+([0-9]+)$", r"\1")
    if seen.equals(values) or pc.count_distinct(seen).as_py() == len(values):
        return None
    # Two texts that are reduced to the same one look the same; give the shortest two.
    counts = seen.value_counts()
    repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))[0]
    first, second, *_ = sorted(values.filter(pc.equal(seen, repeated)).to_pylist(), key=len)
    return first, second


def in_quotes(*values: str) -> str:
    """Return texts that look the same so that they do not."""
    spelled = map(repr if all(value.isascii() for value in values) else ascii, values)
    return " and ".join(spelled)


def spelled_twice(texts: Iterable[str]) -> str:
    """Return two of some texts that may be one in two spellings, in quotes; "" if there are none.

    >>> spelled_twice(["Ann", "ann", "bob"]), spelled_twice(["7", "007"]), spelled_twice(["ann"])
    ("'Ann' and 'ann'", "'7' and '007'", '')
    """
    pair = alike(pa.array(texts, type=pa.string()), accents=True, case=True)
    return "" if pair is None else in_quotes(*pair)


def accents_apart(ids: pa.Array) -> str:
    """Return two text ids that only an accent tells apart, in quotes; "" if there are none.

    >>> accents_apart(pa.array(["ann", "bob"]))
    ''

    Raises
    ------
    DataError
        If two ids look the same: they would be two people or items of which a reader sees one.
    """
    pair = alike(ids)
    if pair is not None:
        raise DataError(f"the ids {in_quotes(*pair)} look the same. Merge them, or rename one.")
    pair = alike(ids, accents=True)
    return "" if pair is None else in_quotes(*pair)


def two_ids(pair: str) -> str:
    """Return what is said of two ids that only an accent tells apart."""
    return f"read {pair} as two different ids, although they look the same"


def check_ids(*lists: Ids | None) -> None:
    """Refuse two ids of an object that look the same; warn if only an accent tells them apart.

    Integers, and the ids 0..n-1 of None, never look the same.
    """
    for ids in lists:
        pair = accents_apart(to_arrow(ids)) if ids is not None and ids.dtype.kind != "i" else ""
        if pair:
            warn(two_ids(pair))


def spelled_columns(names: Sequence[str], categories: Sequence[Ids]) -> list[str]:
    """Return a sentence for each column that has a value that may be in two spellings.

    Words for a missing value are not compared.

    >>> from graphveil.data.ids import text
    >>> spelled_columns(["sex", "town"], [text(["Male", "male"]), text(["Oslo", "NA", "na"])])
    ["'Male' and 'male' in sex count as two different values, although they may be one: use one \
spelling for each value"]
    """
    found = []
    for name, values in zip(names, categories, strict=True):
        if values.dtype.kind != "i":
            pair = spelled_twice(one for one in values.tolist() if plain(one) not in UNKNOWN)
            found += [two_values(pair, name)] if pair else []
    return found


def warn_of_spellings(names: Sequence[str], categories: Sequence[Ids]) -> None:
    """Warn of columns of an object that have a value that may be in two spellings."""
    found = spelled_columns(names, categories)
    if found:
        warn("; ".join(found))


def two_values(pair: str, name: str) -> str:
    """Return what is said of two values of a column that may be one in two spellings."""
    return (
        f"{pair} in {name} count as two different values, although they may be one: use one "
        "spelling for each value"
    )

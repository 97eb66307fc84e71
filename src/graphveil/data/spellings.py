"""Texts that look the same on a page, and ids that may be one id in two spellings.

Such ids would become two nodes or two categories of which a reader sees one.
"""

from __future__ import annotations

from collections.abc import Iterable

from graphveil.core.libraries import pa, pc
from graphveil.core.missing_words import UNSEEN


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

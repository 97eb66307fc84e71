"""What was kept, by question: sentences made of the rows of `evaluate`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from graphveil.report.numbers import percent, plain
from graphveil.rows import Rows

QUESTIONS: tuple[tuple[str, str], ...] = (
    ("Ties", "{edges-kept, share} kept; {edges-added, share} of the published ones are false"),
    (
        "How many ties people have",
        (
            "{degree-distribution, half L1} of the people would have to change places; the largest "
            "number goes from {largest-degree, original} to {largest-degree, released}"
        ),
    ),
    ("Closed groups (clustering)", "{clustering, original} becomes {clustering, released}"),
    (
        "Groups (communities)",
        "the groups agree to {communities, released against original}, where 1 is the same groups",
    ),
    (
        "Who is central",
        (
            "the order of importance agrees to {pagerank-correlation, Spearman}, where 1 is the "
            "same order"
        ),
    ),
    (
        "How far people are from each other",
        "{shortest-path, original} steps become {shortest-path, released}",
    ),
    (
        "Who is cut off",
        (
            "{largest-component, original} of the people hang together before, {largest-component, "
            "released} after"
        ),
    ),
    (
        "Entries",
        "{entries-suppressed, share} are left out; {entries-created, share} as many are false",
    ),
    ("Cells", "{cells-suppressed, share} are published as *"),
    (
        "How popular items are",
        "the share of people with an item changes by {feature-frequency, mean change} on average",
    ),
    (
        "Items that go together",
        "the count of a pair is off by {pair-frequency, mean relative error} on average",
    ),
    ("People as they were", "of the items before or after, {user-jaccard, mean} are in both"),
    ("Empty rows", "{empty-rows, released share} of the people have nothing left"),
)
"""What is asked, and the answer: ``{metric, part}`` is a figure, a share in percent."""


class Kept(NamedTuple):
    """One answer; `felt` says how far off it is in a unit that people feel, empty without."""

    question: str
    sentence: str
    felt: str


def kept_of(rows: Rows) -> list[Kept]:
    """Return the answers whose figures are all there.

    Examples
    --------
    >>> from graphveil.rows import Row
    >>> shares = {"edges-kept": 0.995, "edges-added": 0.0}
    >>> kept_of(Rows(Row(release="a", question=q, part="share", value=v, unit="share of edges")
    ...              for q, v in shares.items()))[0].sentence
    '99.5 % kept; 0 % of the published ones are false'
    """
    return list(_answered(rows))


def _answered(rows: Rows) -> Iterator[Kept]:
    values = {f"{row.question}, {row.part}": row for row in rows}
    for question, sentence in QUESTIONS:
        names = re.findall(r"{([^}]+)}", sentence)
        if not all(name in values for name in names):
            continue
        text, felt = sentence, ""
        for name in names:
            row = values[name]
            share = row.unit.startswith("share") or row.question == "user-jaccard"
            number = percent(row.value or 0.0) if share else plain(row.value or 0.0)
            text = text.replace(f"{{{name}}}", number)
        for row in (one for one in rows if one.question == names[0].split(",")[0]):
            kept = getattr(row, "as_sample", None)
            felt = felt or (f"as far off as keeping {percent(kept)} at random" if kept else "")
        yield Kept(question, text, felt)

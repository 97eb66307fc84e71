"""The gallery: a picture of every method, drawn from the rows of a benchmark.

    python docs/gallery.py FOLDER     # writes the pictures as SVG files as well

`docs/conf.py` puts them into the page `docs/gallery.md`; nothing is kept but the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from graphveil.core.text import percent
from graphveil.pages.charts import Mark, dots_alone

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "benchmarks"))
from raw_rows import read_rows  # noqa: E402  a script beside the package

ROWS = ROOT / "benchmarks" / "gallery" / "results" / "rows.parquet"
NETWORK, FEATURES, TABLE = "copenhagen-calls", "adult-sample, one feature a value", "adult-sample"
DIRECTED = "polblogs"
DATA = {
    NETWORK: "A network: who called whom, 536 people (`copenhagen-calls`)",
    FEATURES: "A table, one feature a value: 2,000 people, 93 features (`adult-sample`)",
    TABLE: "A table as it is: 2,000 people, 8 columns (`adult-sample`)",
    DIRECTED: "A network with directions: links between 1,490 blogs (`polblogs`)",
}


class Asked(NamedTuple):
    """A question of the gallery: its words, and the row that answers it."""

    words: str
    question: str
    part: str


KNOWN = [
    Asked(f"by {n} known values", "linkage", f"{n} known, 0 false: own row") for n in (2, 4, 8)
]
COPY, DIRECTED_COPY = (
    Asked(
        "by a copy of the network",
        "seeded-matching",
        f"overlap 1{directions}, nobody known, best of 5 starts: right",
    )
    for directions in ("", " with directions")
)
CERTAIN = Asked("certain entries", "class-truth", "entries that the class makes certain")
QUESTIONS = {
    NETWORK: [
        Asked("edges kept", "edges-kept", "share"),
        Asked("false edges", "edges-added", "share"),
        Asked("by degree", "candidate-set", "degree, right guess"),
        Asked("by degrees of neighbors", "candidate-set", "vrq, right guess"),
        COPY,
    ],
    DIRECTED: [
        Asked("edges kept", "arcs-kept", "share"),
        Asked("by edges out and in", "candidate-set", "ties out and in, right guess"),
        Asked("by degrees of neighbors", "candidate-set", "vrq, right guess"),
        DIRECTED_COPY,
    ],
    FEATURES: [Asked("entries in common", "entry-jaccard", "all"), *KNOWN, CERTAIN],
    TABLE: [Asked("cells shown", "cells-shown", "all"), *KNOWN, CERTAIN],
}


class Bar(NamedTuple):
    """A mark of the gallery with the least and the most of its runs."""

    mark: Mark
    least: float
    most: float


def strength_of(parameters: dict[str, Any]) -> str:
    """Return the strength of a point in words; empty where it has none."""
    return ", ".join(f"{name}={value:g}" for name, value in parameters.items())


def bars(rows: list[dict[str, Any]], data: str, method: str) -> Iterator[Bar]:
    """Yield a bar a question and strength: means over seeds, beside rename and beside a guess."""
    mine = [row for row in rows if row["data"] == data and row["method"] == method]
    strengths = list({str(row["parameters"]): row["parameters"] for row in mine}.values())
    for asked in QUESTIONS[data]:
        before = [row["value"] for row in _answers(rows, data, "rename", asked)]
        for parameters in strengths:
            if asked is CERTAIN and "epsilon" in parameters:
                continue  # of noise nothing is certain: who knows a row does not know its entries
            every = _answers(mine, data, method, asked)
            points = [row for row in every if row["parameters"] == parameters]
            if points:
                values = [row["value"] for row in points]
                compared = points[0]["verb"] == "attack" and method != "rename"
                label = ", ".join(filter(None, (asked.words, strength_of(parameters))))
                guess = points[0]["guess"]
                first = mean(before) if compared and before else None
                mark = Mark(label, mean(values), first, None, None, guess)
                yield Bar(mark, min(values), max(values))


def _answers(
    rows: list[dict[str, Any]], data: str, method: str, asked: Asked
) -> list[dict[str, Any]]:
    named = (data, method, asked.question, asked.part)
    return [
        row
        for row in rows
        if (row["data"], row["method"], row["question"], row["part"]) == named
        and row["value"] is not None
    ]


def pictures() -> Iterator[tuple[str, str, list[Bar]]]:
    """Yield data, method and bars of every picture."""
    rows = read_rows(ROWS)
    for data in DATA:
        for method in dict.fromkeys(row["method"] for row in rows if row["data"] == data):
            yield data, method, list(bars(rows, data, method))


def table(drawn: list[Bar]) -> str:
    """Return the table behind a picture."""
    head = "".join(f"<th>{name}</th>" for name in ("", "release", "runs", "original", "guess"))
    lines = []
    for mark, least, most in drawn:
        shares = ["" if share is None else percent(share) for share in (mark.before, mark.guess)]
        runs = f"{percent(least)} to {percent(most)}"
        cells = [escape(mark.label), percent(mark.after), runs, *shares]
        lines.append("".join(f"<td>{cell}</td>" for cell in cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def picture(data: str, method: str, drawn: list[Bar]) -> str:
    """Return a picture of a method as SVG."""
    title = f"{method}, on {data.partition(',')[0]}"
    return str(dots_alone([bar.mark for bar in drawn], title=title))


def gallery() -> str:
    """Return the gallery as Markdown."""
    parts, last = [], ""
    for data, method, drawn in pictures():
        if data != last:
            parts.append(f"## {DATA[data]}")
            last = data
        parts.append(f"### [{method}](methods/{method}.md)")
        details = f"<details><summary>The figures</summary>{table(drawn)}</details>"
        wide = f'<div style="min-width:34rem">{picture(data, method, drawn)}</div>'
        named = f'role="group" aria-label="{method}" tabindex="0"'
        scrolled = f'<div style="overflow-x:auto" {named}>{wide}</div>'
        parts.append(f"<figure>{scrolled}{details}</figure>")
    return "\n\n".join(parts)


def main() -> None:
    """Write the pictures."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for data, method, drawn in pictures():
        name = f"{method}-{data.partition(',')[0]}{'-features' if data == FEATURES else ''}.svg"
        (folder / name).write_text(picture(data, method, drawn), encoding="utf-8")


if __name__ == "__main__":
    main()

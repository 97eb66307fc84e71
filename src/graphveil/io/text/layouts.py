"""Text files whose lines are not plain rows: adjacency lists and edges with dictionaries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from graphveil.io.formats import name_without_compression
from graphveil.io.source import Source
from graphveil.io.text.dialect import SAMPLE_LINES

_DICTIONARY = re.compile(r"^(?P<ids>.*?)\s*(?P<said>\{.*\})\s*$")
_BY_NETWORKX = re.compile(r"#\s*GMT\s")
"""A remark that NetworkX writes above adjacency lists, and above nothing else."""

_LAYOUTS = {".adjlist": "adjacency", ".lgl": "lgl"}
"""The layouts that file names say."""


class Line(NamedTuple):
    """A line other than a remark: its number, the words before a dictionary, and the dictionary."""

    number: int
    words: list[str]
    said: str | None


def layout_of(source: Source) -> str | None:
    """Return which of these layouts a text file has; None where its lines are plain rows."""
    lines = list(islice(listed_lines(source), SAMPLE_LINES))
    ends_in_braces = [line for line in lines if line.said is not None]
    if ends_in_braces and len(ends_in_braces) == len(lines):
        return "edges" if all(len(line.words) == 2 for line in lines) else None
    if ends_in_braces and _counts_what_follows(lines):
        return "multi-line"
    name = name_without_compression(source.path)
    named = next((layout for ending, layout in _LAYOUTS.items() if name.endswith(ending)), None)
    if named is None and not ends_in_braces and len({len(line.words) for line in lines}) > 1:
        remarks = (line for _, line in islice(source.lines(), 10) if line.startswith("#"))
        return "adjacency" if any(map(_BY_NETWORKX.match, remarks)) else None
    return named


def listed_lines(source: Source) -> Iterator[Line]:
    """Yield the lines of a file that are neither empty nor remarks."""
    commas = None  # NetworkX may write them between ids, and before a dictionary, too
    for number, line in source.lines():
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = _DICTIONARY.match(stripped)
        ids = stripped if match is None else match["ids"]
        if commas is None and len(ids.replace(",", " ").split()) > 1:
            commas = "," in ids
        words = map(str.strip, ids.removesuffix(",").split(",")) if commas else ids.split()
        yield Line(number, list(words), match and match["said"])


def _counts_what_follows(lines: list[Line]) -> bool:
    """Whether lines without a dictionary say how many lines with one follow."""
    due = 0
    for line in lines:
        if line.said is None:
            if due or len(line.words) != 2 or not line.words[1].isdigit():
                return False
            due = int(line.words[1])
        elif not due or len(line.words) != 1:
            return False
        else:
            due -= 1
    return True

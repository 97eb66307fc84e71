"""Names in the papers, and what they are called here."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple


class PaperName(NamedTuple):
    """A name in a paper, and ours: an option, a function or a metric."""

    paper: str
    theirs: str
    ours: str


def marked_names() -> tuple[PaperName, ...]:
    """Return every name, with backticks around code, as the pages of the papers show it."""
    file = Path(__file__).with_name("names.csv")
    with file.open(encoding="utf-8", newline="") as lines:
        return tuple(PaperName(**row) for row in csv.DictReader(lines))


PAPER_NAMES = tuple(PaperName(*(text.replace("`", "") for text in name)) for name in marked_names())
"""Every name, in the order of the pages of the papers."""

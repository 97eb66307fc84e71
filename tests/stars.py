"""How many cells of a table's rows are suppressed, as a release would state it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from graphveil.claims.conditions import SuppressionHistogram


def stars_by_row(stars: Iterable[int]) -> SuppressionHistogram:
    """Return the condition from the number of suppressed cells of every row."""
    return SuppressionHistogram(rows=tuple(sorted(Counter(map(int, stars)).items())))

"""How many rows have how many suppressed cells: the stated histogram, counted from the cells."""

from __future__ import annotations

from graphveil.claims.conditions import SuppressionHistogram
from graphveil.core.text import counted
from graphveil.verify.evidence import Evidence
from graphveil.verify.recount.rows.table_cells import rows_by_stars
from graphveil.verify.verdict import Check, fails, holds

STARS = "stars by row"


def stars_by_row(evidence: Evidence, condition: SuppressionHistogram) -> Check:
    """Whether the histogram of suppressed cells per row is the stated one."""
    # Counted from the cells; the first number of stars with other rows is named.
    counts = rows_by_stars(evidence.tables)
    if counts == condition.rows:
        rows, stars = sum(n for _, n in counts), sum(cells * n for cells, n in counts)
        return holds(f"{counted(stars, 'suppressed cell')} in {counted(rows, 'row')}")
    stated, own = dict(condition.rows), dict(counts)
    cells = min(c for c in {*stated, *own} if stated.get(c, 0) != own.get(c, 0))
    return fails(
        f"{counted(own.get(cells, 0), 'row')} with {counted(cells, 'suppressed cell')}, but the "
        f"claim states {stated.get(cells, 0)}"
    )

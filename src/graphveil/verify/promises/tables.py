"""Guarantees about tables: published cells are the original's, and stars are as many as is said."""

from __future__ import annotations

from graphveil.claims.conditions import SuppressionHistogram
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.verify.evidence import ClaimCheck, Evidence, Part, Rechecks
from graphveil.verify.recount.linked import compare_with_original, rows_by_stars
from graphveil.verify.verdict import Check, fails, holds, row_of, shown

NOTHING_ADDED, STARS = "nothing added", "stars by row"


def cells_are_the_originals(evidence: Evidence) -> Check:
    """Return whether every cell that is not suppressed is that of the same row of the original."""
    compared = compare_with_original(evidence.tables, evidence.original_as(Table), evidence.columns)
    if compared.strange is None:
        number = compared.cells - compared.stars
        return holds(f"every published cell has its original value, {number} in all")
    strange = compared.strange
    row = row_of(evidence.file(), strange.row)
    return fails(
        f"{compared.n_strange} of {compared.cells - compared.stars} published cells differ from "
        f"the original, the first is in {row}, column {shown(strange.column)}: "
        f"{shown(strange.published)}"
    )


def _stars(evidence: Evidence, condition: SuppressionHistogram) -> Check:
    """Whether as many rows have as many suppressed cells as the condition says."""
    counts = rows_by_stars(evidence.tables)
    if counts == condition.rows:
        rows, stars = sum(n for _, n in counts), sum(cells * n for cells, n in counts)
        return holds(f"{counted(stars, 'suppressed cell')} in {counted(rows, 'row')}")
    said, own = dict(condition.rows), dict(counts)
    cells = min(c for c in {*said, *own} if said.get(c, 0) != own.get(c, 0))
    return fails(
        f"{counted(own.get(cells, 0), 'row')} with {counted(cells, 'suppressed cell')}, but the "
        f"claim states {said.get(cells, 0)}"
    )


RECHECKS: Rechecks = {SuppressionHistogram: ClaimCheck(("table",), (Part(STARS, _stars),))}

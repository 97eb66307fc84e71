"""Diversity and closeness: what a class says of an attached column (l-diversity and t-closeness).

Claim checked: each class has at least so many distinct known values of a column, or entropy of at
least that of so many values (Machanavajjhala et al., l-diversity, 2007); or the distribution of its
values is at most so far from that of the complete table, in total variation (Li, Li and
Venkatasubramanian, t-closeness, 2007). Decided by the released data alone. Diversity counts neither
suppressed cells nor the words for missing that the claim lists; for closeness a suppressed value is
one value.

Cost: one grouping by class and value, and one pass over the distinct values.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from graphveil.claims.conditions import Close, Diverse
from graphveil.core.text import counted
from graphveil.verify.database import literal
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises.rows.known_columns import known_names
from graphveil.verify.recount.rows.table_cells import known_cells
from graphveil.verify.verdict import Check, fails, holds, shown

DIVERSE, CLOSE = "diversity", "closeness"
_NO_WIDTH = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufeff\uffa0]"
)
"""Characters that no eye sees: Unicode's default ignorable ones without joiners and selectors."""

_TOLERANCE = 1e-12
"""Entropies are sums of floats: differences below this are rounding."""


def _condition_column(evidence: Evidence, column: str) -> str | None:
    """Return the SQL name of a column that a condition may name; None where it is not attached."""
    if column not in evidence.columns or column in known_names(evidence):
        return None
    return f"c{evidence.columns.index(column)}"


def _classes_by(evidence: Evidence, cell: str) -> str:
    """Return SQL of the rows of each class by the value of a cell: class, value, n, size, total."""
    # A suppressed value counts as one value, the empty text; others get a letter before them.
    known = known_cells(known_names(evidence), evidence.columns)
    return (
        f"SELECT key, value, n, sum(n) OVER (PARTITION BY key) AS size, "
        f"sum(n) OVER (PARTITION BY value) AS total FROM (SELECT {known} AS key, "
        f"coalesce('v' || {cell}, '') AS value, count(*) AS n FROM shown GROUP BY ALL)"
    )


def _missing_texts(evidence: Evidence, cell: str, condition: Diverse) -> list[str]:
    """Return the texts of a column that are words for missing in some spelling."""
    words = frozenset(condition.missing)
    texts = evidence.tables.rows(f"SELECT DISTINCT {cell} FROM shown WHERE {cell} IS NOT NULL")
    return sorted(str(text) for (text,) in texts if _folded(str(text)) in words)


def _folded(text: str) -> str:
    """Return a text without case, blanks at its ends and characters without width, in NFC."""
    seen = (c for c in unicodedata.normalize("NFC", text) if not _NO_WIDTH.match(c))
    return "".join(seen).strip().casefold()


def classes_are_diverse(evidence: Evidence, condition: Diverse) -> Check:
    """Whether each class has values enough of an attached column, or enough entropy."""
    cell = _condition_column(evidence, condition.column)
    if cell is None:
        return fails(f"{shown(condition.column)} is not an attached column")
    # Rows by class and known value; from these, values per class or the entropy of a class. A class
    # without any known value stays, with 0 rows of known ones.
    words = ", ".join(literal(f"v{text}") for text in _missing_texts(evidence, cell, condition))
    is_known = "value <> ''" + (f" AND value NOT IN ({words})" if words else "")
    by_value = (
        f"SELECT key, if({is_known}, n, 0) AS n, sum(if({is_known}, n, 0)) OVER (PARTITION BY key) "
        f"AS size FROM ({_classes_by(evidence, cell)})"
    )
    if condition.measure == "distinct":
        sql = f"SELECT count(*) FILTER (n > 0) AS found FROM ({by_value}) GROUP BY key"
        least = evidence.tables.number(f"SELECT min(found) FROM ({sql})")
        if least >= int(condition.least):
            return holds(f"at least {least} known values of {shown(condition.column)} per class")
        return fails(
            f"a class has {counted(least, 'known value')} of {shown(condition.column)}, fewer than "
            f"{condition.least}"
        )
    # Entropy -sum p ln p per class; the least must be ln(least), up to rounding.
    entropy = (
        f"SELECT coalesce(-sum(n / size * ln(n / size)) FILTER (n > 0), 0) AS found "
        f"FROM ({by_value}) GROUP BY key"
    )
    bound = literal(condition.least)
    row = evidence.tables.first(
        f"SELECT min(found), min(found) >= ln({bound}::DOUBLE) - {_TOLERANCE}, exp(min(found)) "
        f"FROM ({entropy})"
    )
    _, enough, number = row or (0.0, False, 1.0)
    detail = f"the least entropy of {shown(condition.column)} is that of {number or 1.0:.6g} values"
    if enough:
        return holds(detail)
    return fails(f"{detail}, below {condition.least}")


def classes_are_close(evidence: Evidence, condition: Close) -> Check:
    """Whether the values of an attached column are shared out in each class as in the table."""
    cell = _condition_column(evidence, condition.column)
    if cell is None:
        return fails(f"{shown(condition.column)} is not an attached column")
    rows = evidence.tables.number("SELECT count(*) FROM shown")
    by_value = _classes_by(evidence, cell)
    # Total variation per class times 2 * size * rows, in whole numbers: |n / size - total / rows|
    # summed over the values of the class, plus the share of all values that it lacks.
    distances = (
        f"SELECT any_value(size)::HUGEINT AS size, sum(abs(n::HUGEINT * {rows} - size * total)) + "
        f"any_value(size)::HUGEINT * ({rows} - sum(total)) AS apart FROM ({by_value}) GROUP BY key"
    )
    # The bound is an exact fraction, so the comparison is exact as well.
    most = Fraction(condition.most)
    row = evidence.tables.first(
        f"SELECT max(apart / (2.0 * size * {rows})), bool_and(apart * {most.denominator} <= "
        f"2 * {most.numerator} * size * {rows}) FROM ({distances})"
    )
    largest, close = row or (0.0, True)
    detail = f"the largest distance of {shown(condition.column)} is {largest or 0.0:.6g}"
    if close or close is None:
        return holds(detail)
    return fails(f"{detail}, above {condition.most}")

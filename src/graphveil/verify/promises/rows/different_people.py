"""Different people in each class, where a person (or household) may have several rows.

Claim checked: `DifferentPeople`: each class of rows that are equal in the known columns has rows of
at least k different people, or households.

Means: the original says whose each row is, and the linkage which published row it became; people
are counted by one grouping. How the method formed its classes plays no part.

What the files cannot show: whose a row is. Without the original the check is not made.
"""

from __future__ import annotations

from graphveil.claims.conditions import DifferentPeople
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises.rows.known_columns import known_names, known_problem
from graphveil.verify.recount.linkage import released_ids
from graphveil.verify.recount.rows.table_cells import known_cells
from graphveil.verify.verdict import Check, fails, holds, row_of

DIFFERENT = "different people"


def different_people(evidence: Evidence, condition: DifferentPeople) -> Check:
    """Return whether each class has rows of enough different people or households."""
    db, k, of = evidence.tables, condition.k, condition.of
    original = evidence.original_as(Table)
    if original.units is None or original.person != of:
        return fails(f"the original given does not say whose each row is: its rows are not of {of}")
    problem = known_problem(evidence)
    if problem is not None:
        return fails(problem)
    # Whose each published row is: that of the original row that it stands for.
    db.put("owners", {"released": released_ids(db), "owner": original.units})
    known = known_cells(known_names(evidence), evidence.columns)
    sql = (
        f"SELECT min(row) AS first_row, count(DISTINCT owner) AS owners FROM shown "
        f"LEFT JOIN owners ON shown.row = owners.released GROUP BY {known}"
    )
    found = db.first(f"SELECT min(owners), count(*), arg_min(first_row, owners) FROM ({sql})")
    db.run("DROP TABLE owners")
    fewest, classes, row = found or (None, 0, 0)
    if fewest is None:
        return holds(f"the release has no rows, so no class has too few {of}")
    noun = "person" if of == "people" else "household"
    if fewest >= k:
        in_classes = f"{counted(classes, 'class')} of equal rows"
        return holds(f"{in_classes}; the smallest has {counted(fewest, noun)}, k={k}")
    where = f"the class of {row_of(evidence.file(), row)}"
    return fails(f"{where} has rows of {counted(fewest, noun)}, fewer than k={k}")

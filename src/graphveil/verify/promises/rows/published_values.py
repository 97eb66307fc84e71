"""Published values next to the original: nothing added, true of a share, true of more than half.

Claim checked: every published entry or cell is the original's own (`NothingAdded`); each value
that a class publishes is true of at least a share theta of its members (`TrueOfShare`), or of
more than half (`TrueOfMoreThanHalf`).

Means: SQL joins of the released tables with the linked original; shares are compared as whole
numbers, so no rounding decides.

What the files cannot show: anything of this without the original and the linkage.

Cost: O(nnz) or O(cells).
"""

from __future__ import annotations

from typing import Any

from graphveil.claims import conditions
from graphveil.core.parameters import share_in
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises.rows.known_columns import known_names
from graphveil.verify.recount.rows.table_cells import compare_with_original, publish_cells
from graphveil.verify.recount.rows.true_entries import find_kept, publish_pairs
from graphveil.verify.verdict import Check, fails, holds, row_of, shown

TRUE = "entries true of their class"
TIES = "no ties"
# A value that holds for less than theta of its class, as whole numbers: denominator * holders <
# numerator * size.
_UNTRUE = "SELECT * FROM published WHERE ? * holders < ? * size"
# A value that holds for half of its class or less.
_TIED = "SELECT * FROM published WHERE 2 * holders <= size"

# The first released entry that the linked original does not have.
_ADDED = """
    SELECT person, item FROM numbered ANTI JOIN kept USING (person, number)
    JOIN items USING (number) ORDER BY person, item LIMIT 1
"""


def true_of_share(evidence: Evidence, condition: conditions.TrueOfShare) -> Check:
    """Whether each value that a class publishes is true of a share theta of its members."""
    share, theta = share_in(condition.theta), condition.theta
    at_least = _UNTRUE, [share.denominator, share.numerator], f"theta={theta}"
    return _true_of(evidence, condition, *at_least, f"at least {theta} of the class")


def true_of_more_than_half(evidence: Evidence, condition: conditions.TrueOfMoreThanHalf) -> Check:
    """Whether each value that a class publishes is true of more than half of its members.

    Parts that publish equal rows are one class; what is true of more than half of each part is
    true of more than half of them all.
    """
    half = "more than half"
    return _true_of(evidence, condition, _TIED, [], half, f"{half} of the class")


def _true_of(
    evidence: Evidence, condition: Any, untrue: str, values: list[Any], bound: str, share_of: str
) -> Check:
    """Whether a query for values that are true of too few members is empty."""
    # The condition must be about the columns by which the guarantee counts rows.
    known = getattr(evidence.manifest.claim.guarantee, "known", ()) or ()
    same = {*(condition.columns or ())} == {*known}
    if not same:
        return fails("the condition is about other columns than the guarantee")
    # Published values by class, and how many members have each in the original.
    db, of_table = evidence.tables, evidence.manifest.data.kind == "table"
    if of_table:
        at = {name: evidence.columns.index(name) for name in known_names(evidence)}
        publish_cells(db, evidence.original_as(Table), at)
    else:
        publish_pairs(db)
    # The first value that is true of too few; none means that the condition holds.
    row = db.first(f"{untrue} ORDER BY first_user, item LIMIT 1", values)
    if row is None:
        every = counted(db.number("SELECT count(*) FROM published"), "pair")
        return holds(f"each of {every} of a class and a feature is true of {share_of}")
    false = counted(db.number(f"SELECT count(*) FROM ({untrue})", values), "pair")
    noun = "row" if of_table else "user"
    return fails(
        f"{shown(row[3])} is published for {counted(row[1], noun)}, the class of {noun} {row[2]}, "
        f"but is true of only {row[4]} of them ({bound} required); {false} of a class and a "
        "feature in all"
    )


def nothing_added(evidence: Evidence, _condition: conditions.NothingAdded) -> Check:
    """Whether every published entry, or cell that is not suppressed, is the original's own."""
    if evidence.manifest.data.kind == "table":
        return cells_are_the_originals(evidence)
    db = evidence.tables
    n = db.number("SELECT count(*) FROM entries")
    find_kept(db)
    added = db.first(_ADDED)
    if not added:
        return holds(f"every entry of the release is in the original, {n} in all")
    more = n - db.number("SELECT count(*) FROM kept")
    person, item = added
    return fails(
        f"{more} of the release's {counted(n, 'entry')} are not in the original, the first is user "
        f"{person} with {shown(item)}"
    )


NOTHING_ADDED = "nothing added"


def cells_are_the_originals(evidence: Evidence) -> Check:
    """Return whether every published cell is that of the same row in the original."""
    # Suppressed cells say nothing, so only the others are compared.
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

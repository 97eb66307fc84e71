"""k-anonymity of rows: every row's values are those of at least k - 1 others.

Claim checked: `KAnonymity` and `SmoothKAnonymity`, of user-item data and tables. Classes are
counted on the published data, by grouping complete rows; in a table ``*`` equals only ``*``, and
the columns that are counted are those which the guarantee calls known.

What the files cannot show: nothing that this guarantee needs; it is decided by the released data.

Cost: one grouping over all rows (`recount.rows.row_classes`, `recount.rows.table_cells`).
"""

from __future__ import annotations

from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.core.text import counted
from graphveil.verify.evidence import Evidence
from graphveil.verify.promises.rows.known_columns import known_names, known_problem
from graphveil.verify.recount.rows.row_classes import (
    equal_classes,
    sizes_of_classes,
    smallest_class,
)
from graphveil.verify.recount.rows.table_cells import table_classes
from graphveil.verify.verdict import Check, fails, holds, listed, row_of


def equal_rows(evidence: Evidence, promise: KAnonymity | SmoothKAnonymity) -> Check:
    """Return whether every row's features, or cells, are those of at least k-1 others.

    In a table, `*` equals only `*`.
    """
    db, k, of_table = evidence.tables, promise.k, evidence.manifest.data.kind == "table"
    # Of a table, the known columns make a class; of user-item data, all items.
    if of_table:
        problem = known_problem(evidence)
        if problem is not None:
            return fails(problem)
        numbers = [evidence.columns.index(name) for name in known_names(evidence)]
        sizes = table_classes(db, numbers)
    else:
        sizes = sizes_of_classes(db)
    # The smallest class decides; the rest of the counts is for the message.
    noun, classes = "row" if of_table else "user", equal_classes(db, sizes, k)
    if not classes.rows:
        return holds(f"the release has no {noun}s, so no class is too small")
    if classes.smallest >= k:
        return holds(
            f"{counted(classes.rows, noun)} in {counted(classes.number, 'class')} of equal rows; "
            f"the smallest holds {counted(classes.smallest, noun)}, k={k}"
        )
    holds_fewer = f"holds {counted(classes.smallest, noun)}, fewer than k={k}"
    below = f"({counted(classes.rows_below, noun)} in {counted(classes.below, 'class')} below k)"
    # Name the failing class by its first row, or by a few of its members.
    if of_table:
        first = db.number(f"SELECT arg_min(first_row, (size, first_row)) FROM {sizes}")
        return fails(f"the class of {row_of(evidence.file(), first)} {holds_fewer} {below}")
    features, members = smallest_class(db)
    of_features = f"a class of rows with {counted(features, 'feature')}"
    return fails(f"{of_features} {holds_fewer}: {listed(members, classes.smallest)} {below}")

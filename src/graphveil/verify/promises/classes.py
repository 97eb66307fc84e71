"""Guarantees of equal rows: equivalence classes of users by features and of tables."""

from __future__ import annotations

from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.core.text import counted
from graphveil.verify.evidence import CLASSES, ClaimCheck, Evidence, Part, Rechecks, listed
from graphveil.verify.promises.generalized import known_names, known_problem
from graphveil.verify.recount.classes import below, count_classes, smallest_class
from graphveil.verify.recount.linked import small_classes, table_classes
from graphveil.verify.verdict import Check, fails, holds


def equal_rows(evidence: Evidence, promise: KAnonymity | SmoothKAnonymity) -> Check:
    """Return whether every row's features, or cells, are those of at least k-1 others."""
    if evidence.manifest.data.kind == "table":
        return _equal_table_rows(evidence, promise.k)
    classes = count_classes(evidence.tables)
    if not classes.users:
        return holds(CLASSES, "the release has no users, so no class is too small")
    small = smallest_class(evidence.tables)
    if small.size >= promise.k:
        return holds(
            CLASSES,
            f"{counted(classes.users, 'user')} in {counted(classes.number, 'class')} of equal "
            f"rows; the smallest holds {counted(small.size, 'user')}, k={promise.k}",
        )
    unprotected, number = below(evidence.tables, promise.k)
    return fails(
        CLASSES,
        f"a class of rows with {counted(small.features, 'feature')} holds "
        f"{counted(small.size, 'user')}, fewer than k={promise.k}: "
        f"{listed(small.members, small.size)} ({counted(unprotected, 'user')} in "
        f"{counted(number, 'class')} below k)",
    )


def _equal_table_rows(evidence: Evidence, k: int) -> Check:
    """Return whether every row of a table equals at least k-1 others; `*` equals only `*`."""
    problem = known_problem(evidence)
    if problem is not None:
        return fails(CLASSES, problem)
    numbers = [evidence.columns.index(name) for name in known_names(evidence)]
    classes = table_classes(evidence.tables, numbers)
    if not classes.rows:
        return holds(CLASSES, "the release has no rows, so no class is too small")
    small = small_classes(evidence.tables, k)
    if not small.number:
        return holds(
            CLASSES,
            f"{counted(classes.rows, 'row')} in {counted(classes.number, 'class')} of equal rows; "
            f"the smallest holds {counted(classes.smallest, 'row')}, k={k}",
        )
    return fails(
        CLASSES,
        f"the class of row {small.first} holds {counted(classes.smallest, 'row')}, fewer than "
        f"k={k} ({counted(small.rows, 'row')} in {counted(small.number, 'class')} below k)",
    )


_EQUAL = ClaimCheck(("bipartite", "table"), (Part(CLASSES, equal_rows),))
RECHECKS: Rechecks = {KAnonymity: _EQUAL, SmoothKAnonymity: _EQUAL}

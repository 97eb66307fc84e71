"""Which entries stand in original and release, by SQL."""

from __future__ import annotations

from graphveil.verify.database import Database
from graphveil.verify.recount.equivalence_classes import classes_of

_KEPT = """
    CREATE TABLE kept AS SELECT person, number
    FROM had JOIN features USING (feature) JOIN items USING (item)
    SEMI JOIN numbered USING (person, number)
"""


def find_kept(db: Database) -> None:
    """Create `kept(person, number)`, the entries of both, where it is not there yet.

    `had(person, feature)` and `features(feature, item)` must be there: the original, linked.
    """
    classes_of(db)
    if not db.holds("kept"):
        db.run(_KEPT)

"""Published entries next to the original's, by SQL: which are true, and of how many of a class.

Both tables need the linked original: `had(person, feature)` and `features(feature, item)`.

Cost: joins over the entries of both, O(nnz).
"""

from __future__ import annotations

from graphveil.verify.database import Database
from graphveil.verify.recount.rows.row_classes import classes_of

# For each class and each item: how many of its members have that item in the original.
_TRUE_OF_CLASS = """
    CREATE TABLE true_of AS SELECT class, number, count(*) AS holders
    FROM had JOIN features USING (feature) JOIN items USING (item) JOIN members USING (person)
    GROUP BY class, number
"""

# For each class and each item that it publishes: those members, 0 if there are none.
_PUBLISHED = """
    CREATE TABLE published AS
    SELECT class, size, first_user, item, coalesce(holders, 0) AS holders
    FROM (SELECT class, size, first_user, unnest(features) AS number FROM classes)
    JOIN items USING (number) LEFT JOIN true_of USING (class, number)
"""


def publish_pairs(db: Database) -> None:
    """Create `published(class, size, first_user, item, holders)` where it is not there yet.

    A row is a class and one of its features; `holders` of its members have it in the original,
    whose tables must be there.
    """
    classes_of(db)
    if not db.holds("published"):
        db.run(_TRUE_OF_CLASS)
        db.run(_PUBLISHED)


# The released entries that are also entries of the linked original.
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

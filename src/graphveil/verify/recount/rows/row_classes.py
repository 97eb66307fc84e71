"""Equivalence classes of equal rows of user-item data, counted by SQL.

Two users are in one class if they have exactly the same items. Items are numbered, the sorted
list of numbers is the row of a user, and users are grouped by that list: lists are compared in
full, never by a hash. A release in parts stores its rows as sorted lists already, which are
grouped as they are.

Cost: one join, one sort within each row and one grouping, O(nnz log nnz); memory for the distinct
rows, or what DuckDB spills to disk.
"""

from __future__ import annotations

from typing import NamedTuple

from graphveil.verify.database import Database

# Step by step: number the items; list each user's numbers in ascending order; give users without an
# item the empty list; group equal lists; note the class of each user.
_TABLES = """
    CREATE TABLE items AS SELECT item, row_number() OVER (ORDER BY item) AS number
        FROM (SELECT DISTINCT item FROM entries);
    CREATE TABLE numbered AS SELECT person, number FROM entries JOIN items USING (item);
    CREATE TABLE some_rows AS SELECT person, list_sort(list(number)) AS features
        FROM numbered GROUP BY person;
    CREATE TABLE all_rows AS SELECT person, coalesce(features, []) AS features
        FROM users LEFT JOIN some_rows USING (person);
    CREATE TABLE classes AS SELECT row_number() OVER () AS class, features, size, first_user
        FROM (SELECT features, count(*) AS size, min(person) AS first_user
              FROM all_rows GROUP BY features);
    CREATE TABLE members AS SELECT person, class FROM all_rows JOIN classes USING (features);
    DROP TABLE some_rows;
    DROP TABLE all_rows;
"""

# Rows of a release in parts are sorted lists already: group them as they are.
_OF_LISTS = """
    CREATE TABLE list_classes AS SELECT items, count(*) AS size, min(person) AS first_user
    FROM lists GROUP BY items
"""

# Users, entries and distinct items, from the distinct lists alone.
_COUNTS_OF_LISTS = """
    SELECT coalesce(sum(size), 0), coalesce(sum(size * len(items)), 0),
        (SELECT count(DISTINCT item) FROM (SELECT unnest(items) AS item FROM list_classes))
    FROM list_classes
"""

# The smallest class, of equal ones that with the least user id.
_FIRST_OF_LISTS = "FROM list_classes ORDER BY size, first_user LIMIT 1"
_MOST_SHOWN = 5
"""Members of a class that are named in a message."""


class EqualClasses(NamedTuple):
    """Counts of rows and classes of equal rows, in total and below k; all 0 without rows."""

    rows: int
    number: int
    smallest: int
    rows_below: int
    below: int


def equal_classes(db: Database, sizes: str, k: int) -> EqualClasses:
    """Return the counts of the classes whose sizes a table has."""
    # The sum of sizes, the number of classes and the smallest one; rows and classes below k.
    row = db.first(
        "SELECT sum(size), count(*), min(size), sum(CASE WHEN size < $1 THEN size END), "
        f"count(CASE WHEN size < $1 THEN 1 END) FROM {sizes}",
        [k],
    )
    return EqualClasses(*(int(number or 0) for number in row or (0,) * 5))


def classes_of(db: Database) -> None:
    """Create `classes(class, features, size, first_user)` and `members(person, class)` once.

    The features of a class are numbers of `items(item, number)`; those of the entries stand in
    `numbered(person, number)`.
    """
    if not db.holds("members"):
        db.run(_TABLES)


def sizes_of_classes(db: Database) -> str:
    """Return the name of the table of class sizes, which is created on first use.

    Rows that are lists are grouped as they stand: nothing is kept of each.
    """
    # A table of every user and their class is made only where it is needed.
    if not db.holds("lists"):
        classes_of(db)
        return "classes"
    if not db.holds("list_classes"):
        db.run(_OF_LISTS)
    return "list_classes"


def counts_of_lists(db: Database) -> dict[str, int]:
    """Return how many users, items and entries `lists(person, items)` has."""
    sizes_of_classes(db)
    users, entries, items = db.first(_COUNTS_OF_LISTS) or (0, 0, 0)
    return {"users": int(users), "items": int(items), "entries": int(entries)}


def smallest_class(db: Database) -> tuple[int, list[int]]:
    """Return the number of features of the smallest class, and its first members."""
    if sizes_of_classes(db) == "list_classes":
        features = db.number(f"SELECT len(items) {_FIRST_OF_LISTS}")
        its = f"SELECT person FROM lists WHERE items = (SELECT items {_FIRST_OF_LISTS})"
        members = db.rows(f"{its} ORDER BY person LIMIT {_MOST_SHOWN}")
    else:
        number, features = db.first(
            "SELECT class, len(features) FROM classes ORDER BY size, first_user LIMIT 1"
        ) or (0, 0)
        its = "SELECT person FROM members WHERE class = ?"
        members = db.rows(f"{its} ORDER BY person LIMIT {_MOST_SHOWN}", [number])
    return int(features), [int(person) for (person,) in members]

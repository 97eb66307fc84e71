"""Every statement of a run, in words that both dialects have: integers, counts and sums alone."""

from __future__ import annotations

from graphveil.engines.engine import Query, columns
from graphveil.on_disk.columns import FACTS, KEY

REPEATED_USERS = Query("SELECT count(*) - count(DISTINCT {user}) FROM {rows}", ("user",))
"""How many rows have the user of another one."""

_SUMMED = ", ".join(f"coalesce(sum({{at}}(facts, {n + 1})), 0)" for n in range(len(FACTS)))
SUMS = Query(f"SELECT {_SUMMED} FROM {{rows}} WHERE {{size}}(facts) > 0", ("facts",))  # noqa: S608  our own names
"""The sums of what is known of parts of the rows."""

_SIDES = """
    FROM (
        SELECT id, sum(as_user) AS as_user, sum(as_item) AS as_item
        FROM (
            SELECT CAST({user} AS {kind}) AS id, 1 AS as_user, 0 AS as_item FROM {rows}
            UNION ALL
            SELECT CAST(item AS {kind}) AS id, 0 AS as_user, 1 AS as_item
            FROM (SELECT {explode}(items) AS item FROM {again})
        ) AS sides
        GROUP BY id
    ) AS ids
"""
_COUNTS = """
    SELECT count(CASE WHEN as_user > 0 THEN 1 END), count(CASE WHEN as_item > 0 THEN 1 END),
        count(CASE WHEN as_user > 0 AND as_item > 0 THEN 1 END)"""
_LARGEST = """,
        coalesce(max(CASE WHEN as_user > 0 THEN id END), 0),
        coalesce(max(CASE WHEN as_item > 0 THEN id END), 0)"""

SHARED_NUMBERS = Query(_COUNTS + _LARGEST + _SIDES.replace("{kind}", "BIGINT"), ("user", "items"))
"""How many ids stand for users, for items and for both, and the largest of users and of items."""

SHARED_TEXTS = Query(_COUNTS + ", 0, 0" + _SIDES.replace("{kind}", "{text}"), ("user", "items"))
"""The same of text, where no id is the largest."""

ITEMS = Query(
    "SELECT DISTINCT item FROM (SELECT {explode}(items) AS item FROM {rows}) AS entries", ("items",)
)
"""Every item once."""


ENTRIES = Query(
    "SELECT count(*), coalesce(sum({size}(items)), 0) FROM {rows}",
    ("items",),
)
"""The rows, and the entries of their lists as they stand."""


def sampled(below: str, items: str = "items") -> Query:
    """Return the query of rows whose user's SHA-256 begins with less than these digits.

    Parameters
    ----------
    below
        Four hexadecimal digits.
    items
        The column of what users have.
    """
    text = "SELECT {user}, ITEMS FROM {rows} WHERE substr({sha256_of_user}, 1, 4) < "
    return Query(f"{text.replace('ITEMS', items)}'{below}'", ("user", items))


TALLY = Query(
    """
    SELECT bucket, count(*), count(CASE WHEN {size}(items) = 0 THEN 1 END), sum(shared),
        sum(created), count(CASE WHEN size > 0 THEN 1 END)
    FROM {released} GROUP BY bucket ORDER BY bucket
    """,
    ("bucket", "items", "size", "shared", "created"),
)
"""Of every bucket, the rows, those that are released without items, what the clusters whose first
row is in it keep, and their number."""

CERTAIN = Query(
    """
    SELECT coalesce(sum(classes.size), 0)
    FROM (
        SELECT items, feature, count(*) AS n
        FROM (SELECT items, {explode}(certain) AS feature FROM {released}) AS entries
        GROUP BY items, feature
    ) AS features
    JOIN (
        SELECT items, sum(size) AS size, count(*) AS n FROM {again} WHERE size > 0 GROUP BY items
    ) AS classes
    ON features.items = classes.items AND features.n = classes.n
    """,
    ("items", "size", "certain"),
)
"""The published entries of items that all of their class have; clusters that publish the same form
one class."""

ORDERED = columns("bucket", *KEY, "user", "items")
"""What is ordered by keys: rows without what their clusters keep."""

TEXT_THAT_IS_NO_NUMBER = Query(
    """
    SELECT count(*)
    FROM (
        SELECT DISTINCT item FROM (SELECT {explode}(items) AS item FROM {released}) AS entries
    ) AS names
    WHERE item = '' OR translate(item, '0123456789', '') <> '' OR length(item) > 19
        OR (substr(item, 1, 1) = '0' AND item <> '0')
        OR (length(item) = 19 AND item > '9223372036854775807')
    """,
    ("items",),
)
"""The published items that are not spelled as whole numbers of 64 bits."""

"""Degrees of released nodes counted by SQL, and edges per layer and direction.

Cost: one grouping over the 2m ends of edges.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphveil.core.array_types import Ints
from graphveil.verify.database import Database, literal

# For each node, ascending by id: how many ends of edges of one layer it has, 0 if none.
_NUMBERS = """
    SELECT nodes.node AS node, coalesce(ties, 0) AS ties FROM nodes
    LEFT JOIN (
        SELECT node, count(*) AS ties FROM ({ends}) WHERE layer = {layer} GROUP BY node) AS counted
    ON nodes.node = counted.node
    ORDER BY nodes.node, ties
"""

# The ends of edges: sources, targets, or both for an undirected layer.
_SIDES = {
    "out": "SELECT source AS node, layer FROM edges",
    "in": "SELECT target AS node, layer FROM edges",
}

_BOTH = {"": " UNION ALL ".join(_SIDES.values())}
"""The ends of edges that are counted: of a directed layer one side and then the other."""

_DEGREES = (
    """
    CREATE TABLE ends AS
    SELECT node, count(*) AS degree
    FROM (SELECT source AS node FROM edges UNION ALL SELECT target FROM edges)
    GROUP BY node
    """,
    """
    CREATE TABLE degrees AS
    SELECT nodes.node, coalesce(ends.degree, 0) AS degree
    FROM nodes LEFT JOIN ends ON nodes.node = ends.node
    """,
    "DROP TABLE ends",
)
"""In steps, since a count and a join in one keep the tables of both in memory."""


def class_sizes(db: Database) -> dict[int, int]:
    """Return the number of nodes of every degree that occurs; isolated nodes have degree 0."""
    count_degrees(db)
    return dict(db.rows("SELECT degree, count(*) FROM degrees GROUP BY degree ORDER BY degree"))


def count_degrees(db: Database) -> None:
    """Create `degrees(node, degree)` where it is not there yet."""
    if not db.holds("degrees"):
        for step in _DEGREES:
            db.run(step)


def numbers_of_ties(db: Database, layer: str, side: str) -> Ints:
    """Return the number of edges of a layer at every node, int64, ascending by id."""
    ends = (_SIDES if side else _BOTH)[side]
    numbers_of = _NUMBERS.format(ends=ends, layer=literal(layer))
    numbers: Ints = db.column(f"SELECT ties FROM ({numbers_of})")
    return numbers


def sides_of(layers: Mapping[str, bool]) -> list[tuple[str, str]]:
    """Return each layer with the sides that are counted: out and in, or '' for both."""
    sides = [(name, _SIDES if is_directed else _BOTH) for name, is_directed in layers.items()]
    return [(name, side) for name, of_layer in sides for side in of_layer]

"""Claims recomputed from the released data: the table `CHECKS`, one entry a guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from graphveil.guarantees import Guarantee, StructuralKAnonymity
from graphveil.verify.database import Database
from graphveil.verify.verdict import Condition, fails, holds

CLASSES = "classes"

_DEGREES = """
    CREATE TABLE degrees AS
    SELECT nodes.node, coalesce(ends.degree, 0) AS degree
    FROM nodes LEFT JOIN (
        SELECT node, count(*) AS degree
        FROM (SELECT source AS node FROM edges UNION ALL SELECT target FROM edges)
        GROUP BY node) AS ends
    ON nodes.node = ends.node
"""


class Check(NamedTuple):
    """How one kind of promise is recomputed.

    Parameters
    ----------
    kind
        The data that it is made of.
    names
        The conditions that `recompute` returns, in order.
    recompute
        Database and guarantee to conditions.
    """

    kind: str
    names: tuple[str, ...]
    recompute: Callable[[Database, Any], list[Condition]]


def structural_classes(db: Database, promise: StructuralKAnonymity) -> list[Condition]:
    """Return whether all but the share left out stand in classes of at least k nodes."""
    classes = class_sizes(db)
    n = sum(classes.values())
    allowed = math.floor((1 - promise.share) * n + 1e-9)
    small = {degree: size for degree, size in classes.items() if size < promise.k}
    outside = sum(small.values())
    if not classes:
        return [holds(CLASSES, "the release has no nodes, so no class is too small")]
    if outside <= allowed:
        degree = min(classes, key=lambda value: (classes[value], value))
        detail = (
            f"{n} nodes have {len(classes)} distinct degrees; the smallest class "
            f"(degree {degree}) holds {_many(classes[degree])}, k={promise.k}"
        )
        apart = f"; {outside} nodes in smaller classes, {allowed} allowed" if allowed else ""
        return [holds(CLASSES, detail + apart)]
    return [fails(CLASSES, _too_small(db, promise.k, small, allowed))]


def class_sizes(db: Database) -> dict[int, int]:
    """Return the number of nodes of every degree that occurs; isolated nodes have degree 0."""
    if not db.holds("degrees"):
        db.run(_DEGREES)
    return dict(db.rows("SELECT degree, count(*) FROM degrees GROUP BY degree ORDER BY degree"))


def _too_small(db: Database, k: int, small: dict[int, int], allowed: int) -> str:
    degree = min(small, key=lambda value: (small[value], value))
    members = db.rows("SELECT node FROM degrees WHERE degree = ? ORDER BY node LIMIT 5", [degree])
    listed = ", ".join(str(row[0]) for row in members)
    more = ", ..." if small[degree] > len(members) else ""
    outside = sum(small.values())
    return (
        f"the class of degree {degree} holds {_many(small[degree])}, fewer than k={k}: "
        f"{listed}{more} ({_many(outside)} in {len(small)} classes below k, {allowed} allowed)"
    )


def _many(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


CHECKS: dict[type[Guarantee], Check] = {
    StructuralKAnonymity: Check("graph", (CLASSES,), structural_classes),
}
"""Every guarantee that is recomputed, by its type."""

"""Which edges and entries stand in one of original and release only, recounted by SQL."""

from __future__ import annotations

from typing import NamedTuple

from graphveil.data import Bipartite, Graph
from graphveil.verify.database import Database
from graphveil.verify.recount.equivalence_classes import classes_of

MISSING = "SELECT source, target FROM missing ORDER BY source, target"
ADDED = """
    SELECT source, target FROM edges ANTI JOIN (
        SELECT least(u, v) AS source, greatest(u, v) AS target FROM placed)
    USING (source, target) ORDER BY source, target
"""
_KEPT = """
    CREATE TABLE kept AS SELECT person, number
    FROM had JOIN features USING (feature) JOIN items USING (item)
    SEMI JOIN numbered USING (person, number)
"""


class Changes(NamedTuple):
    """How many edges or entries there were, are in both, are gone, and are new."""

    before: int
    kept: int
    deleted: int
    added: int


def changes(db: Database, original: Graph | Bipartite) -> Changes:
    """Return what changed; the original's tables must be there.

    Parameters
    ----------
    db
        The released data, linked with the original: see `graphveil.verify.recount.linked`.
    original
        The original.
    """
    if isinstance(original, Graph):
        before, after = original.n_edges, db.number("SELECT count(*) FROM edges")
        kept = before - db.number("SELECT count(*) FROM missing")
    else:
        find_kept(db)
        before, after = original.n_entries, db.number("SELECT count(*) FROM entries")
        kept = db.number("SELECT count(*) FROM kept")
    return Changes(before, kept, before - kept, after - kept)


def find_kept(db: Database) -> None:
    """Create `kept(person, number)`, the entries of both, where it is not there yet."""
    classes_of(db)
    if not db.holds("kept"):
        db.run(_KEPT)

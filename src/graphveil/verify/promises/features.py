"""Conditions on users by features beside their original: what of a release is true."""

from __future__ import annotations

from typing import Any

from graphveil.claims import conditions
from graphveil.core.parameters import share_in
from graphveil.core.text import counted
from graphveil.data import Table
from graphveil.verify.database import Database
from graphveil.verify.evidence import LINKED, ClaimCheck, Evidence, Part, Rechecks
from graphveil.verify.promises.generalized import known_names
from graphveil.verify.promises.tables import NOTHING_ADDED, cells_are_the_originals
from graphveil.verify.recount.classes import find_kept, publish_pairs
from graphveil.verify.recount.linked import publish_cells
from graphveil.verify.verdict import Check, fails, holds, shown

TRUE = "entries true of their class"
TIES, PEOPLE = "no ties", "people as items"

_UNTRUE = "SELECT * FROM published WHERE ? * holders < ? * size"
_TIED = "SELECT * FROM published WHERE 2 * holders <= size"
_ADDED = """
    SELECT person, item FROM numbered ANTI JOIN kept USING (person, number)
    JOIN items USING (number) ORDER BY person, item LIMIT 1
"""

_NO_USERS = (
    "SELECT DISTINCT item FROM entries "
    "ANTI JOIN (SELECT person::VARCHAR AS item FROM users) USING (item)"
)


def _true(evidence: Evidence, condition: conditions.TrueOfShare) -> Check:
    """Whether each feature of a class is that of a large enough share of it in the original."""
    problem = _other_columns(evidence, condition)
    if problem is not None:
        return fails(TRUE, problem)
    db, share = _published(evidence), share_in(condition.theta)
    bounds = [share.denominator, share.numerator]
    if db.number(f"SELECT count(*) FROM ({_UNTRUE})", bounds):
        return fails(TRUE, _first(evidence, _UNTRUE, bounds, f"theta={condition.theta}"))
    pairs = db.number("SELECT count(*) FROM published")
    share_of = f"at least {condition.theta} of the class"
    return holds(TRUE, f"each of {_pairs(pairs)} is true of {share_of}")


def _ties(evidence: Evidence, condition: conditions.TrueOfMoreThanHalf) -> Check:
    """Whether each feature of a class is that of more than half of it in the original.

    Parts that publish equal rows are one class; what is true of more than half of each part is
    true of more than half of them all.
    """
    problem = _other_columns(evidence, condition)
    if problem is not None:
        return fails(TIES, problem)
    db = _published(evidence)
    if db.first(f"{_TIED} LIMIT 1"):
        return fails(TIES, _first(evidence, _TIED, [], "more than half"))
    pairs = db.number("SELECT count(*) FROM published")
    return holds(TIES, f"each of {_pairs(pairs)} is true of more than half of the class")


def _other_columns(
    evidence: Evidence, condition: conditions.TrueOfShare | conditions.TrueOfMoreThanHalf
) -> str | None:
    """Return that a condition is about other columns than the guarantee; None where it is not."""
    known = getattr(evidence.manifest.claim.guarantee, "known", ()) or ()
    same = {*(condition.columns or ())} == {*known}
    return None if same else "the condition is about other columns than the guarantee"


def _published(evidence: Evidence) -> Database:
    """Return the tables with `published`: what each class shows, and of how many it is true."""
    if evidence.manifest.data.kind == "table":
        at = {name: evidence.columns.index(name) for name in known_names(evidence)}
        publish_cells(evidence.tables, evidence.original_as(Table), at)
    else:
        publish_pairs(evidence.tables)
    return evidence.tables


def _nothing_added(evidence: Evidence, _condition: conditions.NothingAdded) -> Check:
    if evidence.manifest.data.kind == "table":
        return cells_are_the_originals(evidence)
    db = evidence.tables
    n = db.number("SELECT count(*) FROM entries")
    find_kept(db)
    added = db.first(_ADDED)
    if not added:
        return holds(NOTHING_ADDED, f"every entry of the release is in the original, {n} in all")
    more = n - db.number("SELECT count(*) FROM kept")
    person, item = added
    return fails(
        NOTHING_ADDED,
        f"{more} of the release's {counted(n, 'entry')} are not in the original, the first is user "
        f"{person} with {shown(item)}",
    )


def _people(evidence: Evidence, _condition: conditions.ItemsAreUsers) -> Check:
    """Whether every item is the id of a user. Who it is, the linkage says: see `items`."""
    db = evidence.tables
    items = db.number("SELECT count(DISTINCT item) FROM entries")
    strange = db.first(f"SELECT min(item), count(*) FROM ({_NO_USERS})")
    if strange is None or not strange[1]:
        return holds(PEOPLE, f"each of {counted(items, 'item')} is the id of a user")
    n = counted(strange[1], "item")
    return fails(PEOPLE, f"{n} of {items} are not ids of users, the first is {shown(strange[0])}")


def _first(evidence: Evidence, query: str, values: list[Any], bound: str) -> str:
    """Return the first feature of a class that a query gives, and how many it gives."""
    db, one = evidence.tables, "row" if evidence.manifest.data.kind == "table" else "user"
    number = db.number(f"SELECT count(*) FROM ({query})", values)
    row = db.first(f"{query} ORDER BY first_user, item LIMIT 1", values) or (0,) * 5
    return (
        f"{shown(row[3])} is published for {counted(row[1], one)}, the class of {one} {row[2]}, "
        f"but is true of only {row[4]} of them ({bound} required); {_pairs(number)} in all"
    )


def _pairs(count: int) -> str:
    return counted(count, "pair") + " of a class and a feature"


_TRUE_ROWS = "whether each entry is true of enough rows of its class"
_MORE_THAN_HALF = "whether each entry is true of more than half of its class"
_ROWS = ("bipartite", "table")

RECHECKS: Rechecks = {
    conditions.NothingAdded: ClaimCheck(
        _ROWS, (Part(NOTHING_ADDED, _nothing_added, LINKED, "whether nothing was added"),)
    ),
    conditions.TrueOfShare: ClaimCheck(_ROWS, (Part(TRUE, _true, LINKED, _TRUE_ROWS),)),
    conditions.TrueOfMoreThanHalf: ClaimCheck(_ROWS, (Part(TIES, _ties, LINKED, _MORE_THAN_HALF),)),
    conditions.ItemsAreUsers: ClaimCheck(("bipartite",), (Part(PEOPLE, _people, any_ids=True),)),
}

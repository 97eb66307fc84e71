"""Conditions on users by features next to their original: what of a release is true."""

from __future__ import annotations

from typing import Any

from graphveil.claims import conditions
from graphveil.core.parameters import share_in
from graphveil.core.text import counted
from graphveil.data import Table
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
    share, theta = share_in(condition.theta), condition.theta
    at_least = _UNTRUE, [share.denominator, share.numerator], f"theta={theta}"
    return _true_of(evidence, condition, *at_least, f"at least {theta} of the class")


def _ties(evidence: Evidence, condition: conditions.TrueOfMoreThanHalf) -> Check:
    """Whether each feature of a class is that of more than half of it in the original.

    Parts that publish equal rows are one class; what is true of more than half of each part is
    true of more than half of them all.
    """
    half = "more than half"
    return _true_of(evidence, condition, _TIED, [], half, f"{half} of the class")


def _true_of(
    evidence: Evidence, condition: Any, untrue: str, values: list[Any], bound: str, share_of: str
) -> Check:
    """Whether a query finds no feature of a class that is true of too few of it; else the first."""
    known = getattr(evidence.manifest.claim.guarantee, "known", ()) or ()
    same = {*(condition.columns or ())} == {*known}
    if not same:
        return fails("the condition is about other columns than the guarantee")
    db, of_table = evidence.tables, evidence.manifest.data.kind == "table"
    if of_table:
        at = {name: evidence.columns.index(name) for name in known_names(evidence)}
        publish_cells(db, evidence.original_as(Table), at)
    else:
        publish_pairs(db)
    row = db.first(f"{untrue} ORDER BY first_user, item LIMIT 1", values)
    if row is None:
        every = counted(db.number("SELECT count(*) FROM published"), "pair")
        return holds(f"each of {every} of a class and a feature is true of {share_of}")
    false = counted(db.number(f"SELECT count(*) FROM ({untrue})", values), "pair")
    one = "row" if of_table else "user"
    return fails(
        f"{shown(row[3])} is published for {counted(row[1], one)}, the class of {one} {row[2]}, "
        f"but is true of only {row[4]} of them ({bound} required); {false} of a class and a "
        "feature in all"
    )


def _nothing_added(evidence: Evidence, _condition: conditions.NothingAdded) -> Check:
    if evidence.manifest.data.kind == "table":
        return cells_are_the_originals(evidence)
    db = evidence.tables
    n = db.number("SELECT count(*) FROM entries")
    find_kept(db)
    added = db.first(_ADDED)
    if not added:
        return holds(f"every entry of the release is in the original, {n} in all")
    more = n - db.number("SELECT count(*) FROM kept")
    person, item = added
    return fails(
        f"{more} of the release's {counted(n, 'entry')} are not in the original, the first is user "
        f"{person} with {shown(item)}"
    )


def _people(evidence: Evidence, _condition: conditions.ItemsAreUsers) -> Check:
    """Whether every item is the id of a user. Who it is, the linkage says: see `items`."""
    db = evidence.tables
    items = db.number("SELECT count(DISTINCT item) FROM entries")
    strange = db.first(f"SELECT min(item), count(*) FROM ({_NO_USERS})")
    if strange is None or not strange[1]:
        return holds(f"each of {counted(items, 'item')} is the id of a user")
    n = counted(strange[1], "item")
    return fails(f"{n} of {items} are not ids of users, the first is {shown(strange[0])}")


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

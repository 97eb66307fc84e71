"""Items that are users themselves, as in "who follows whom": every item is the id of a user.

Who that is, only the linkage says: see the check ``items`` of user-item data (`kinds.features`).
"""

from __future__ import annotations

from graphveil.claims import conditions
from graphveil.core.text import counted
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import Check, fails, holds, shown

PEOPLE = "people as items"

# Items that are not the id of a listed user.
_NO_USERS = (
    "SELECT DISTINCT item FROM entries "
    "ANTI JOIN (SELECT person::VARCHAR AS item FROM users) USING (item)"
)


def items_are_users(evidence: Evidence, _condition: conditions.ItemsAreUsers) -> Check:
    """Whether every item is the id of a user. Who it is, the linkage says: see `items`."""
    db = evidence.tables
    items = db.number("SELECT count(DISTINCT item) FROM entries")
    strange = db.first(f"SELECT min(item), count(*) FROM ({_NO_USERS})")
    if strange is None or not strange[1]:
        return holds(f"each of {counted(items, 'item')} is the id of a user")
    n = counted(strange[1], "item")
    return fails(f"{n} of {items} are not ids of users, the first is {shown(strange[0])}")

"""Names of items that readers of text take for others, or for none: they are no names there."""

from __future__ import annotations

from graphveil.verify.database import Database, literal
from graphveil.verify.files.canonical import SPACES
from graphveil.verify.verdict import shown

_LARGEST = 2**63 - 1
_INTEGER = "0|[1-9][0-9]*"
_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_MISSING = ("nan", "null", "none", "na", "n/a", "#n/a", "<na>", r"\n", ".")
"""What stands for no value, in lower case."""

_ENDS = rf"^[{SPACES}]+|[{SPACES}]+$"
_UNSEEN = (
    r"[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{200b}\x{200e}\x{200f}"
    r"\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{feff}\x{ffa0}]"
)
_SEEN = (
    f"regexp_replace(regexp_replace(item, {literal(_UNSEEN)}, '', 'g'), {literal(_ENDS)}, '', 'g')"
)
"""An item without what no eye sees of it."""

_ITEMS = "(SELECT DISTINCT item FROM entries)"
_ALIKE = (
    f"SELECT min(item), max(item) FROM (SELECT item, {_SEEN} AS seen FROM {_ITEMS}) "
    "GROUP BY seen HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
)
_OTHERS = f"FROM {_ITEMS} WHERE NOT regexp_full_match(item, {literal(_INTEGER)})"


def no_item(db: Database) -> str | None:
    """Return why the items of `entries` are no names that can be read again; None where they are.

    Numbers of more than 64 bits, two names that look the same, numbers that are not whole where all
    are numbers, and words for no value beside whole numbers alone are none.

    Parameters
    ----------
    db
        With the table `entries`, in which every item is text.
    """
    others = db.number(f"SELECT count(*) {_OTHERS}")
    if not others:
        large = db.first(
            f"SELECT item FROM {_ITEMS} WHERE TRY_CAST(item AS HUGEINT) IS NULL "
            f"OR TRY_CAST(item AS HUGEINT) > {_LARGEST} LIMIT 1"
        )
        return f"the item {shown(large[0])} is larger than {_LARGEST}" if large else None
    alike = db.first(_ALIKE)
    if alike:
        return f"the items {shown(alike[0])} and {shown(alike[1])} look the same"
    words = ", ".join(map(literal, _MISSING))
    integers = db.number(f"SELECT count(*) FROM {_ITEMS}") - others
    said = db.number(f"SELECT count(*) {_OTHERS} AND lower(item) NOT IN ({words})")
    if integers and not said:
        item = db.first(f"SELECT min(item) {_OTHERS}") or ("",)
        return f"the item {shown(item[0])} stands for none beside whole numbers"
    return _odd_number(db)


def _odd_number(db: Database) -> str | None:
    """Return why items that are numbers, all of them, are no names: some is not a whole one."""
    if db.number(f"SELECT count(*) {_OTHERS} AND NOT regexp_full_match(item, {literal(_NUMBER)})"):
        return None
    odd = db.first(f"SELECT min(item) {_OTHERS} AND NOT regexp_full_match(item, '[0-9]+')")
    return f"the item {shown(odd[0])} is no whole number" if odd and odd[0] is not None else None

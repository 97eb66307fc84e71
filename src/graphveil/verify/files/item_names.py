"""Whether the names of items can be read again as the same names.

Claim checked, of user-item data in text: no two names look the same (characters that no eye sees,
blanks at the ends), names that are all numbers are whole numbers, and no name means "no value"
next to whole numbers alone. Every reader would take such names for something else.

Cost: a few scans over the distinct items.
"""

from __future__ import annotations

from graphveil.verify.database import Database, literal
from graphveil.verify.files.canonical_text import SPACES
from graphveil.verify.verdict import shown

_INTEGER = "0|[1-9][0-9]*"
"""A whole number as it is written in one way alone."""

_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_MISSING = ("nan", "null", "none", "na", "n/a", "#n/a", "<na>", r"\n", ".")
"""What stands for no value, in lower case."""

_ENDS = rf"^[{SPACES}]+|[{SPACES}]+$"

_UNSEEN = (
    r"[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{200b}\x{200e}\x{200f}"
    r"\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{feff}\x{ffa0}]"
)
"""Characters that are not displayed: soft hyphens, joiners, marks of direction and the like."""

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
    """Return why the items of `entries` would be read as other names; None if they would not.

    Two names that look the same, numbers that are not whole where all are numbers, and words for no
    value next to whole numbers alone are not names.
    """
    # Items that are all whole numbers are unambiguous.
    others = db.number(f"SELECT count(*) {_OTHERS}")
    if not others:
        return None
    # Two names that differ in characters nobody sees would be taken for one.
    alike = db.first(_ALIKE)
    if alike:
        return f"the items {shown(alike[0])} and {shown(alike[1])} look the same"
    # Among whole numbers alone, `nan`, `null` and the like would be read as a missing value.
    words = ", ".join(map(literal, _MISSING))
    integers = db.number(f"SELECT count(*) FROM {_ITEMS}") - others
    other_words = db.number(f"SELECT count(*) {_OTHERS} AND lower(item) NOT IN ({words})")
    if integers and not other_words:
        item = db.first(f"SELECT min(item) {_OTHERS}") or ("",)
        return f"the item {shown(item[0])} would be read as a missing value among whole numbers"
    # All numbers, some not whole (1.0, 1e3): readers would turn them into floats.
    if not db.number(
        f"SELECT count(*) {_OTHERS} AND NOT regexp_full_match(item, {literal(_NUMBER)})"
    ):
        odd = db.first(f"SELECT min(item) {_OTHERS} AND NOT regexp_full_match(item, '[0-9]+')")
        if odd and odd[0] is not None:
            return f"the item {shown(odd[0])} is not a whole number"
    return None

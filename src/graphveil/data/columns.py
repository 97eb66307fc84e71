"""Names of columns by which the two ends of a row are recognized."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from graphveil.errors import DataError, did_you_mean, options

EDGE_NAMES = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("fromnode", "tonode"),
    ("sourcenode", "targetnode"),
    ("sender", "receiver"),
    ("sender", "recipient"),
    ("caller", "callee"),
    ("follower", "followee"),
    ("tail", "head"),
    ("a", "b"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("person1", "person2"),
    ("user1", "user2"),
    ("usera", "userb"),
)
"""Names of the two ends of an edge."""

PAIR_NAMES = (
    ("user", "item"),
    ("user", "product"),
    ("user", "movie"),
    ("user", "feature"),
    ("customer", "product"),
    ("customer", "item"),
    ("person", "item"),
    ("reader", "book"),
)
"""Names of a user and an item."""


TOO_SHORT = (("a", "b"), ("u", "v"))
"""Names of ends that a table may have for columns as well: they say nothing of the kind of data."""


NODE_LISTS = (("id", "name"), ("id", "label"), ("node", "name"), ("node", "label"))
"""Names of the columns of a file that lists nodes, and no ties."""


def plain(name: str) -> str:
    """Return a column's name as it is compared: in lower case, letters and digits, without id.

    Examples
    --------
    >>> plain("From_Node-ID"), plain("userId"), plain("id1"), plain("ID")
    ('fromnode', 'user', 'id1', 'id')
    """
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    return letters.removesuffix("id") or letters


def known_pairs(names: Sequence[str], *, graph: bool) -> list[tuple[int, int]]:
    """Return every two columns whose names are a known pair; those of the kind asked for first.

    Examples
    --------
    >>> known_pairs(["weight", "to", "from"], graph=True)
    [(2, 1)]
    """
    plains = [plain(name) for name in names]
    for table in (EDGE_NAMES, PAIR_NAMES) if graph else (PAIR_NAMES, EDGE_NAMES):
        pairs = [
            (first, second)
            for left, right in table
            for first, name in enumerate(plains)
            for second, other in enumerate(plains)
            if (name, other) == (left, right)
        ]
        if pairs:
            return pairs
    return []


def chosen_names(
    names: Sequence[str],
    asked: tuple[str | None, str | None],
    arguments: tuple[str, str],
) -> tuple[str, str]:
    """Return the two columns of a frame that are asked for, of known names, or the only two.

    Parameters
    ----------
    names
        The columns of the frame.
    asked
        Those that were asked for, both or none.
    arguments
        What the arguments are called that ask for them.

    Raises
    ------
    DataError
        Where it is not clear which two are meant.

    Examples
    --------
    >>> chosen_names(["when", "to", "from"], (None, None), ("source", "target"))
    ('from', 'to')
    """
    for name in asked:
        if name is not None and name not in names:
            raise DataError(
                f"no column {name!r}. {did_you_mean(name, names)}The frame has {list(names)}."
            )
    first, second = asked
    if first is not None and second is not None and first != second:
        return first, second
    if len(names) == 2 and (first is None) != (second is None):
        other = next(name for name in names if name not in asked)
        return (first or other, second or other)
    if len(names) < 2:
        raise DataError(f"a row needs two columns, the frame has {len(names)}.")
    known = known_pairs(names, graph=arguments[0] == "source")
    if first is None and second is None:
        if len(known) == 1:
            return names[known[0][0]], names[known[0][1]]
        if len(names) == 2:
            return names[0], names[1]
    say = options(**dict(zip(arguments, names, strict=False)))
    raise DataError(
        f"it is not clear which two of the columns {list(names)} count. Say which, such as {say}."
    )


def named_columns(asked: Sequence[str], every: Collection[str]) -> tuple[str, ...]:
    """Return the names that somebody wrote, each alone or with commas between.

    Parameters
    ----------
    asked
        What was written.
    every
        The columns that there are: one of them may have a comma in its name.

    Examples
    --------
    >>> named_columns(["age, sex", "b,c"], ["age", "sex", "b,c"])
    ('age', 'sex', 'b,c')
    """
    return tuple(
        part.strip() for name in asked for part in ([name] if name in every else name.split(","))
    )

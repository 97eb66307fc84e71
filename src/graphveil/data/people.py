"""People among the items: ids that stand for users and for items."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from graphveil.data.ids import Ids, as_text, to_arrow
from graphveil.errors import DataError, option

Items = Literal["people", "things", "values"]
"""What the items of users are; values of columns are named ``column=value``."""


class SharedIds(NamedTuple):
    """Ids that stand for users and for items.

    Parameters
    ----------
    n
        Their number.
    n_items
        The number of items.
    counted
        Whether users and items are both numbered from 0 or 1 on with few gaps, so that they share
        ids whatever they are.

    Examples
    --------
    >>> SharedIds(0, 5, counted=True).refusal
    ''
    >>> from graphveil.errors import Message
    >>> print(Message(SharedIds(3, 5, counted=True).refusal))
    users and items are both numbered from the start, so items may be people. Say items="things", \
or items="people" if they are the same people.
    """

    n: int
    n_items: int
    counted: bool

    @property
    def refusal(self) -> str:
        """What is said where nobody said what items are; empty where no id is shared."""
        if not self.n:
            return ""
        things, people = option("items", "things"), option("items", "people")
        if self.counted:
            return (
                "users and items are both numbered from the start, so items may be people. "
                f"Say {things}, or {people} if they are the same people."
            )
        return (
            f"{self.n:,} of {self.n_items:,} item ids ({100 * self.n / self.n_items:.1f} %) are "
            "ids of users too, as in a network: items are published as they are, so these would "
            f"be people under their ids. Say {people} to give them new ids, or {things} if they "
            "are no people."
        )


def shared_ids(users: Ids, items: Ids) -> SharedIds:
    """Return how many item ids are ids of users, too.

    Parameters
    ----------
    users, items
        Distinct ids, integers or text. An integer is the same id as text that spells it.

    Examples
    --------
    >>> import numpy as np
    >>> shared_ids(np.array([10, 900]), np.array([900, 7000, 8000]))
    SharedIds(n=1, n_items=3, counted=False)
    >>> shared_ids(np.array([1, 2, 3]), np.array([1, 2, 4]))
    SharedIds(n=2, n_items=3, counted=True)
    """
    import pyarrow.compute as pc  # noqa: PLC0415  heavy: not for help

    numbers = users.dtype.kind == "i" and items.dtype.kind == "i"
    both_counted = numbers and _counted(users) and _counted(items)
    if numbers:
        n = np.intersect1d(users, items, assume_unique=True).size
    else:
        one, other = to_arrow(as_text(users)), to_arrow(as_text(items))
        n = int(pc.sum(pc.is_in(other, value_set=one)).as_py() or 0)
    return SharedIds(n, items.size, counted=both_counted)


def _counted(ids: Ids) -> bool:
    """Whether the ids fill at least half of the numbers up to the largest of them."""
    return counted(ids.size, int(ids.max(initial=0)))


def counted(n: int, largest: int) -> bool:
    """Whether so many ids fill at least half of the numbers up to the largest of them.

    Examples
    --------
    >>> counted(100, 120), counted(100, 10_000)
    (True, False)
    """
    return largest <= 2 * n


def check_values(names: Ids) -> None:
    """Refuse items as values of columns where one has no column in its name.

    Raises
    ------
    DataError
        Where a name has no ``=``.
    """
    for name in names.tolist():
        if "=" not in str(name):
            raise DataError(
                f"the item {name!r} is not named column=value, so items are not values of columns. "
                f"Say {option('items', 'things')}."
            )


def may_be_values(names: Ids) -> bool:
    """Whether every item is named as a value of a column, and a column has several.

    It reads names alone: which items there are counts as public, who has them does not.

    Examples
    --------
    >>> may_be_values(np.array(["sex=f", "sex=m"])), may_be_values(np.array(["tea", "sex=m"]))
    (True, False)
    """
    if names.dtype.kind == "i":
        return False
    columns = [str(name).partition("=")[:2] for name in names.tolist()]
    return all(sign for _, sign in columns) and len(set(columns)) < len(columns)

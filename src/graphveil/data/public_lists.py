"""Lists of people and items that their owner says are public, and not collected from the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from graphveil.errors import DataError

List = Literal["people", "items"]
"""A list that counts as public under differential privacy."""

PublicLists = tuple[List, ...]


LISTS: PublicLists = ("people", "items")
"""Every such list, in the order in which claims name them."""


def checked_lists(named: Sequence[List], possible: Sequence[List], words: str) -> PublicLists:
    """Return the lists that are named, each once and in order.

    Raises
    ------
    DataError
        Where there is no such list in data of this kind.

    Examples
    --------
    >>> checked_lists(["items", "people"], ["people", "items"], "users by features")
    ('people', 'items')
    """
    for one in named:
        if one not in possible:
            raise DataError(f"{words} has no list {one!r}. Give {' or '.join(possible)}.")
    return tuple(one for one in possible if one in named)

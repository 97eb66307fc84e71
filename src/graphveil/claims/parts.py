"""The parts of a large release: names, sizes, and the mark of an unfinished one.

Their sizes follow from the number of users alone, so the boundaries reveal neither the order of the
original nor the chunks in which it was anonymized.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

FOLDER = "data"
"""The folder of the parts, in that of the release."""


PART_USERS = 1 << 20
"""So many users has every part but the last: part i holds the ids from i times this on."""


COLUMNS = ["user", "items"]
"""A row is a user with a list of all of its items, an empty one where there are none."""


UNFINISHED = ".graphveil-unfinished"
"""The object at an address that says that a run writes there, or did not end."""


_NAME = re.compile(rf"{FOLDER}/part-[0-9]{{5,7}}\.parquet")


class Named(Protocol):
    """A file with a name."""

    @property
    def name(self) -> str:
        """The name."""


def part_name(number: int) -> str:
    """Return the name of a part, from 0 on."""
    return f"{FOLDER}/part-{number:05d}.parquet"


def is_part(name: str) -> bool:
    """Whether a file of this name is a part.

    >>> is_part("data/part-00012.parquet"), is_part("data/../part-00012.parquet")
    (True, False)
    """
    return _NAME.fullmatch(name) is not None


def n_parts(n_users: int) -> int:
    """Return how many parts so many users have."""
    return max(1, -(-n_users // PART_USERS))


def part_size(number: int, n_users: int) -> int:
    """Return how many of so many users a part has.

    >>> [part_size(number, 2_500_000) for number in range(3)]
    [1048576, 1048576, 402848]
    """
    return min(PART_USERS, n_users - number * PART_USERS)


def in_parts(files: Sequence[Named]) -> bool:
    """Whether these files are said to be the parts of a release: one of them is."""
    return any(is_part(file.name) for file in files)

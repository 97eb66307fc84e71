"""A release in parts: which users a part holds, and how it is called.

The sizes of parts follow from the number of users alone, so that the boundaries say nothing: not of
the order of the original, nor of the chunks that it was anonymized in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphveil.records.manifest import DataFile

FOLDER = "data"
"""The folder of the parts, in that of the release."""

PART_USERS = 1 << 20
"""So many users has every part but the last: part i holds the ids from i times this on."""

COLUMNS = ["user", "items"]
"""A row is a user with a list of all of its items, an empty one where there are none."""

_NAME = re.compile(rf"{FOLDER}/part-[0-9]{{5,7}}\.parquet")


def part_name(number: int) -> str:
    """Return the name of a part, from 0 on.

    Examples
    --------
    >>> part_name(12)
    'data/part-00012.parquet'
    """
    return f"{FOLDER}/part-{number:05d}.parquet"


def is_part(name: str) -> bool:
    """Whether a file of this name is a part.

    Examples
    --------
    >>> is_part("data/part-00012.parquet"), is_part("data/../part-00012.parquet")
    (True, False)
    """
    return _NAME.fullmatch(name) is not None


def part_sizes(n_users: int) -> list[int]:
    """Return how many users every part has.

    Examples
    --------
    >>> part_sizes(2_500_000)
    [1048576, 1048576, 402848]
    """
    starts = range(0, max(n_users, 1), PART_USERS)
    return [min(PART_USERS, n_users - start) for start in starts]


def in_parts(files: Sequence[DataFile]) -> bool:
    """Whether these files are said to be the parts of a release: one of them is."""
    return any(is_part(file.name) for file in files)

"""Distributions of whole numbers, before and after, in few bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_BINS = 60


class Bin(NamedTuple):
    """How many people have a number from `low` to `high`, before and after.

    `before` is None where there is no original.
    """

    low: int
    high: int
    before: int | None
    after: int

    @property
    def name(self) -> str:
        """The numbers of the bin, as a table shows them."""
        return f"{self.low:,}" if self.low == self.high else f"{self.low:,}–{self.high:,}"


def binned(after: NDArray[np.int64], before: NDArray[np.int64] | None = None) -> list[Bin]:
    """Return at most 60 bins that hold every number, narrow where numbers are small.

    Parameters
    ----------
    after, before
        int64, of any shape (n,): numbers of 0 or more, of the release and of the original.

    Examples
    --------
    >>> [(one.name, one.after) for one in binned(np.array([0, 1, 1, 3]))]
    [('0', 1), ('1', 2), ('2', 0), ('3', 1)]
    >>> len(binned(np.arange(100_000)))
    60
    """
    every = after if before is None else np.concatenate([after, before])
    if not every.size:
        return []
    largest = int(every.max())
    starts = _starts(largest)
    edges = np.append(starts, largest + 1)
    counts = np.histogram(after, bins=edges)[0]
    earlier = None if before is None else np.histogram(before, bins=edges)[0]
    return [
        Bin(
            int(edges[number]),
            int(edges[number + 1]) - 1,
            None if earlier is None else int(earlier[number]),
            int(counts[number]),
        )
        for number in range(starts.size)
    ]


def _starts(largest: int) -> NDArray[np.int64]:
    """Return where bins begin: every number while they suffice, then in growing steps."""
    if largest < MOST_BINS:
        return np.arange(largest + 1, dtype=np.int64)
    starts = np.arange(MOST_BINS, dtype=np.int64)
    for number in range(MOST_BINS // 2, 4 * MOST_BINS):
        steps = np.geomspace(1, largest + 1, number).astype(np.int64)
        distinct = np.unique(np.concatenate([[0], steps[:-1]]))
        if distinct.size > MOST_BINS:
            break
        starts = distinct
    return starts

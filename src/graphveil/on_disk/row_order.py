"""Whether released rows stand in an order of their own: a last look before they are published."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

DEVIATIONS = 7.0
"""How many standard deviations from its mean the count of a random order never is: a random order
is refused with a probability below 1e-11."""


class RowOrder:
    """Counts the released rows that follow the one released before them in the original too.

    Of n rows in random order (n - 1) / 2 do, with a variance of (n + 1) / 12.

    Examples
    --------
    >>> order = RowOrder()
    >>> order.add(np.array([2, 0, 3, 1]))
    >>> order.ascents, order.check()
    (1, None)
    """

    def __init__(self) -> None:
        self.ascents = 0
        self._n = 0
        self._last: pa.Array | None = None

    def add(self, users: pa.Array | NDArray[np.int64]) -> None:
        """Note who the next released rows are in the original, whose order is that of its ids."""
        ids = pa.array(users)
        if not len(ids):
            return
        self._n += len(ids)
        known = ids if self._last is None else pa.concat_arrays([self._last, ids])
        rising = pc.greater(known.slice(1), known.slice(0, len(known) - 1))
        self.ascents += pc.sum(rising, min_count=0).as_py()
        self._last = ids.slice(len(ids) - 1)

    def check(self) -> None:
        """Refuse an order that is not random, see `check_order`."""
        check_order(self.ascents, [self._n])


def check_order(ascents: int, sizes: Sequence[int]) -> None:
    """Refuse an order of rows that is not random.

    Parameters
    ----------
    ascents
        How many rows follow the one before them in the original too, inside of runs.
    sizes
        How many rows each run has.

    Raises
    ------
    RuntimeError
        Where the rows stand in the original's order, or in the reverse of it, or nearly so.

    Examples
    --------
    >>> check_order(ascents=1500, sizes=[1000, 2000])
    """
    n = sum(sizes)
    expected = sum(size - 1 for size in sizes) / 2
    variance = sum(size + 1 for size in sizes) / 12
    if abs(ascents - expected) > DEVIATIONS * math.sqrt(variance):
        raise RuntimeError(
            f"{n} rows were about to be published in an order that {ascents} of them have in the "
            "original"
        )

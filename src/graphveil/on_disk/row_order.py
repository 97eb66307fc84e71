"""Whether released rows stand in an order of their own: a last look before they are published."""

from __future__ import annotations

import math

import numpy as np
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
        self._last = -1

    def add(self, positions: NDArray[np.int64]) -> None:
        """Note where the next released rows stand in the original."""
        if not positions.size:
            return
        self.ascents += int(np.count_nonzero(np.diff(positions) > 0))
        self.ascents += int(self._n > 0 and positions[0] > self._last)
        self._n += positions.size
        self._last = int(positions[-1])

    def check(self) -> None:
        """Refuse an order that is not random.

        Raises
        ------
        RuntimeError
            Where the rows stand in the original's order, or in the reverse of it, or nearly so.
        """
        away = abs(self.ascents - (self._n - 1) / 2)
        if away > DEVIATIONS * math.sqrt((self._n + 1) / 12):
            raise RuntimeError(
                f"{self._n} rows were about to be published in an order that {self.ascents} of "
                "them have in the original"
            )

"""Whether new ids say anything of the order of the original: tests of a random permutation.

Three statistics of the permutation from original order to published ids are looked at: ascents
(pairs of neighbors in the original order that keep their order), fixed points, and published ids
that equal the original integer. Each fails only if a uniform permutation practically never gives
it, so a genuine release is refused with a probability of at most 10^-9.

What this cannot show: a permutation that follows a rule which none of the three notices.

Cost: one sort, O(n log n).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.core.text import counted

CHANCE = 3e-10
"""A count that chance gives more rarely speaks: three are looked at, 10^-9 in all."""

_EXACT_UP_TO = 40
"""The people up to whom tails are counted exactly; above, a bound is close to them."""


def order_leaks(released: NDArray[np.int64], labels: NDArray[Any] | None) -> list[str]:
    """Return what the new ids say of the old order, beyond chance."""
    n = released.size
    # The permutation: the place in published order of each person in original order.
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(released, kind="stable")] = np.arange(n)
    problems = []
    # Statistic 1: pairs of neighbors that keep their order; of a random permutation about half.
    ascents = int(np.count_nonzero(np.diff(rank) > 0))
    if n > 1 and tail_of_ascents(ascents, n) < CHANCE:
        same = f"{ascents} of {n - 1} consecutive pairs of the original are in the same order"
        problems.append(f"{same} in the release")
    # Statistic 2: people who keep their place; of a random permutation one, on average.
    fixed = int(np.count_nonzero(rank == np.arange(n)))
    if tail_of_equal(fixed) < CHANCE:
        problems.append(f"{fixed} of {counted(n, 'person')} have the same position in both")
    # Statistic 3: published ids that are the original integers.
    equal = 0 if labels is None else int(np.count_nonzero(labels == released))
    if tail_of_equal(equal) < CHANCE:
        problems.append(f"{equal} of {n} published ids equal the original id")
    return problems


def tail_of_equal(count: int) -> float:
    """Return a bound on the chance of at least so many fixed points of a uniform permutation.

    The expected number of sets of f equal places is 1/f!, whatever the number of people.
    """
    return 1 / math.factorial(min(count, 170))


def tail_of_ascents(ascents: int, n: int) -> float:
    """Return a bound on the chance of ascents at least so far from n/2.

    Ascents are distributed as the whole part of a sum of n uniform numbers (Stanley, Eulerian
    partitions of a unit hypercube, 1977), a sum that is sub-Gaussian with variance n/12.
    """
    low = min(ascents, n - 1 - ascents)
    # Exactly, by Eulerian numbers, where there are few people.
    if n <= _EXACT_UP_TO:
        below = sum(_eulerian(n)[: low + 1])
        return min(1.0, 2 * below / math.factorial(n))
    # The bound of a sub-Gaussian sum with variance n/12, from the middle of the distribution.
    distance = max(n / 2 - (low + 1), 0.0)
    return min(1.0, 2 * math.exp(-6 * distance * distance / n))


@cache
def _eulerian(n: int) -> tuple[int, ...]:
    """Return the Eulerian numbers: permutations of n with 0, 1, ..., n-1 ascents."""
    row = [1]
    for size in range(2, n + 1):
        padded = [0, *row, 0]
        row = [(k + 1) * padded[k + 1] + (size - k) * padded[k] for k in range(size)]
    return tuple(row)

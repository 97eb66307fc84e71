"""How likely noise is that lies so far out, or so near: of counts, of sums, of vectors on a ladder.

Bounds are Chernoff's, or sums of the law itself; where one is below `IMPOSSIBLE`, the noise is not
believed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

IMPOSSIBLE = 1e-9
"""Noise that far out, or that near, has at most this probability."""

_STEPS = 400
_NOTHING = 60
"""e to the minus so much is nothing."""


def is_strange(noise: Sequence[int], epsilon: float) -> bool:
    """Whether independent discrete Laplace numbers cannot be these: too large, small or one-sided.

    Examples
    --------
    >>> is_strange([0] * 99, 0.5), is_strange([3, -2, 0, 1, -1], 0.5), is_strange([99], 0.5)
    (True, False, True)
    """
    q, count = math.exp(-epsilon), len(noise)

    def of_sizes(power: float) -> float:
        decay = q * math.exp(power)
        return count * math.log((1 - q) / (1 + q) * (1 + decay) / (1 - decay))

    def of_numbers(power: float) -> float:
        there, back = 1 - q * math.exp(power), 1 - q * math.exp(-power)
        return count * math.log((1 - q) ** 2 / (there * back))

    sizes, total = sum(map(abs, noise)), abs(sum(noise))
    powers = [epsilon * (step + 0.5) / _STEPS for step in range(_STEPS)]
    negative = [-20 * power for power in powers]
    largest = max(map(abs, noise))
    return (
        count * 2 * q**largest / (1 + q) < IMPOSSIBLE
        or _bound(of_sizes, sizes, powers) < IMPOSSIBLE
        or _bound(of_sizes, sizes, negative) < IMPOSSIBLE
        or _bound(of_numbers, total, powers) < IMPOSSIBLE
    )


def _bound(cumulant: Callable[[float], float], total: int, powers: Sequence[float]) -> float:
    """Return a bound on the chance of a sum so far out."""
    exponent = min(cumulant(power) - power * total for power in powers)
    return math.exp(min(exponent, 0.0))


def reach_of(count: int, epsilon: float) -> int:
    """Return how far out one of so many discrete Laplace numbers may lie, to be believed.

    Examples
    --------
    >>> reach_of(1, 1.0), reach_of(1000, 0.275)
    (22, 103)
    """
    return math.ceil(math.log(2 * count / IMPOSSIBLE) / epsilon)


def is_strange_on_ladder(distance: int, counts: int, first: int, most: int, rate: float) -> bool:
    """Whether a vector of counts with the noise of a ladder cannot lie so far from the true one.

    Parameters
    ----------
    distance
        The sum of all absolute differences.
    counts
        How many counts there are.
    first, most
        Step s of the ladder is ``min(first + s, most)`` wide.
    rate
        A vector at t steps has the chance ``e^(-rate t) / Z``.

    Examples
    --------
    >>> [is_strange_on_ladder(far, 4, 30, 500, 0.25) for far in (0, 900, 60_000)]
    [True, False, True]
    """
    nearer = farther = total = 0.0
    reach, before, step, highest = 0, 0, 0, -math.inf
    while True:
        vectors = _vectors(counts, reach)
        log_chance = math.log(vectors - before) - rate * step
        highest = max(highest, log_chance)
        if log_chance < highest - _NOTHING:
            break
        chance = math.exp(log_chance)
        total += chance
        if reach <= distance:
            nearer += chance
        else:
            within = max(_vectors(counts, distance) - before, 0)
            nearer += math.exp(math.log(within) - rate * step) if within else 0.0
        farther += chance if reach >= distance else 0.0
        before, reach, step = vectors, reach + min(first + step, most), step + 1
    return min(nearer, farther) < IMPOSSIBLE * total


def _vectors(counts: int, reach: int) -> int:
    """Return how many vectors of whole numbers have sizes that sum to at most `reach`."""
    return sum(2**i * math.comb(counts, i) * math.comb(reach, i) for i in range(counts + 1))

"""Whether noise is plausible: tails of discrete Laplace noise, of the ladder, of binomial numbers.

No file shows that noise was drawn as stated. But noise that the stated law practically never
gives is a contradiction: too large, too small (as if none had been added), or on one side. The
bounds are Chernoff's, minimized over a grid of powers, or sums of the distribution itself; they
are upper bounds on the chance, so a genuine release is refused at most that rarely.

The law of the ladder mechanism is that of Zhang et al. (Private release of graph statistics using
ladder functions, 2015) for a vector of counts: the chance falls by e^-rate with each step away
from the true counts.

Cost: O(numbers) for sums, O(`_STEPS`) for a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from graphveil.core.libraries import special

IMPOSSIBLE = 1e-9
"""Noise that far out, or that near, has at most this probability."""

_STEPS = 400
"""Powers that are tried for a Chernoff bound. Any power gives a valid bound; more of them give a
slightly better one."""

_NOTHING = 60
"""e to the minus so much is nothing."""


def is_strange(noise: Sequence[int], epsilon: float) -> bool:
    """Whether discrete Laplace noise is implausible: too large, too small or one-sided."""
    # Noise X has P(X = x) = (1 - q) / (1 + q) q^|x| with q = e^-epsilon.
    q, count = math.exp(-epsilon), len(noise)

    # Cumulant of the sum of absolute values, and of the sum of the numbers themselves.
    def of_sizes(power: float) -> float:
        decay = q * math.exp(power)
        return count * math.log((1 - q) / (1 + q) * (1 + decay) / (1 - decay))

    def of_numbers(power: float) -> float:
        there, back = 1 - q * math.exp(power), 1 - q * math.exp(-power)
        return count * math.log((1 - q) ** 2 / (there * back))

    # Chernoff: P(S >= s) <= exp(cumulant(t) - t s) for every t > 0, least over a grid; negative
    # powers bound the other side, noise that is too small.
    sizes, total = sum(map(abs, noise)), abs(sum(noise))
    powers = [epsilon * (step + 0.5) / _STEPS for step in range(_STEPS)]
    negative = [-20 * power for power in powers]
    # A union bound for the largest number.
    largest = max(map(abs, noise))
    return (
        count * 2 * q**largest / (1 + q) < IMPOSSIBLE
        or _bound(of_sizes, sizes, powers) < IMPOSSIBLE
        or _bound(of_sizes, sizes, negative) < IMPOSSIBLE
        or _bound(of_numbers, total, powers) < IMPOSSIBLE
    )


def _bound(cumulant: Callable[[float], float], total: int, powers: Sequence[float]) -> float:
    """Return the Chernoff bound on the probability of a sum."""
    exponent = min(cumulant(power) - power * total for power in powers)
    return math.exp(min(exponent, 0.0))


def reach_of(count: int, epsilon: float) -> int:
    """Return how large one of so many discrete Laplace numbers may plausibly be.

    >>> reach_of(1, 1.0), reach_of(1000, 0.275)
    (22, 103)
    """
    return math.ceil(math.log(2 * count / IMPOSSIBLE) / epsilon)


def is_strange_on_ladder(distance: int, counts: int, first: int, most: int, rate: float) -> bool:
    """Whether counts with the noise of a ladder are implausibly near or far from the true ones."""
    # Sum over the steps of the ladder: the vectors on each step, times their falling chance.
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
        # Does the step lie within the distance, or does the distance end inside of it?
        if reach <= distance:
            nearer += chance
        else:
            within = max(_vectors(counts, distance) - before, 0)
            nearer += math.exp(math.log(within) - rate * step) if within else 0.0
        farther += chance if reach >= distance else 0.0
        before, reach, step = vectors, reach + min(first + step, most), step + 1
    return min(nearer, farther) < IMPOSSIBLE * total


def _vectors(counts: int, reach: int) -> int:
    """Return the number of integer vectors whose L1 norm is at most `reach`."""
    return sum(2**i * math.comb(counts, i) * math.comb(reach, i) for i in range(counts + 1))


NEVER_BY_CHANCE = 1e-12
"""A number of flips that far out, or farther, has at most this probability."""


def is_unbelievable(count: int, trials: int, chance: float) -> bool:
    """Whether a binomial number is implausibly far from its mean."""
    # Within four standard deviations nothing is unbelievable: spares most incomplete betas.
    mean = trials * chance
    usual = 4 * math.sqrt(mean * max(1 - chance, 0.0)) + 1
    if abs(count - mean) <= max(usual, 1e-12 * trials) and 0 < chance < 1:
        return False
    return 2 * tail(count, trials, chance) < NEVER_BY_CHANCE


def tail(count: int, trials: int, chance: float) -> float:
    """Return the binomial tail probability on the side of the mean where the count is.

    Both tails are incomplete beta functions, which take any number of trials: SciPy's own binomial
    tails take 2^31 at most, and pairs of 65,537 people are more.
    """
    if not 0 <= count <= trials:
        return 0.0
    if count > trials * chance:
        return float(special.betainc(count, trials - count + 1, chance)) if count else 1.0
    return float(special.betainc(trials - count, count + 1, 1 - chance)) if count < trials else 1.0

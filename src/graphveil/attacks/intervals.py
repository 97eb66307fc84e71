"""Intervals of 95 % around what attacks count on some people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.metric import Sample

Z = 1.959963984540054
"""The quantile of the normal distribution that 2.5 % exceed."""

RESAMPLES = 1_000
_TAILS = (0.025, 0.975)


def wilson(hits: int, people: int) -> Sample:
    """Return the interval of Wilson around the share of hits among people drawn one by one.

    Parameters
    ----------
    hits, people
        How many of how many, at least one.

    Notes
    -----
    Wilson, 1927: the shares whose own normal interval holds the observed one.

    Examples
    --------
    >>> sample = wilson(0, 10)
    >>> sample.size, sample.low, round(sample.high, 3)
    (10, 0.0, 0.278)
    """
    share, square = hits / people, Z * Z / people
    middle = share + square / 2
    half = Z * np.sqrt(share * (1 - share) / people + square / (4 * people))
    low, high = (float((middle + side) / (1 + square)) for side in (-half, half))
    return Sample(people, min(low, share), max(high, share))


def median_of_draws(values: NDArray[np.int64]) -> Sample:
    """Return the interval around the median of values, one a person drawn: two of the values.

    Notes
    -----
    The number of values below the true median is binomial; the ends are the values at its mean less
    and plus Z standard deviations, rounded outwards.

    Examples
    --------
    >>> median_of_draws(np.arange(100))
    Sample(size=100, low=39.0, high=60.0)
    """
    ordered = np.sort(values)
    half = Z * np.sqrt(values.size) / 2
    low = max(int(np.floor(values.size / 2 - half)) - 1, 0)
    high = min(int(np.ceil(values.size / 2 + half)), values.size - 1)
    return Sample(values.size, float(ordered[low]), float(ordered[high]))


def bootstrap_mean(values: NDArray[np.float64], rng: np.random.Generator) -> Sample:
    """Return the interval of the bootstrap around the mean of values, one a person.

    Examples
    --------
    >>> bootstrap_mean(np.ones(5), np.random.Generator(np.random.PCG64(1)))
    Sample(size=5, low=1.0, high=1.0)
    """
    return bootstrap_ratio(values, np.ones(values.size), rng)


def bootstrap_ratio(
    numerators: NDArray[np.float64], denominators: NDArray[np.float64], rng: np.random.Generator
) -> Sample:
    """Return the interval of the bootstrap over people around a ratio of two sums.

    Parameters
    ----------
    numerators, denominators
        float64, shape (people,): what every person adds to either sum.
    rng
        Draws the people.

    Notes
    -----
    Percentiles of 1,000 draws of as many people with replacement; draws whose denominator is 0 are
    left out. Efron, 1979.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> bootstrap_ratio(np.array([1.0, 2.0]), np.array([2.0, 4.0]), rng)
    Sample(size=2, low=0.5, high=0.5)
    """
    n = numerators.size
    ratios = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        drawn = rng.integers(0, n, n)
        below = denominators[drawn].sum()
        ratios[number] = numerators[drawn].sum() / below if below else np.nan
    ratios = ratios[~np.isnan(ratios)]
    if not ratios.size:
        return Sample(n)
    low, high = np.quantile(ratios, _TAILS)
    return Sample(n, float(low), float(high))

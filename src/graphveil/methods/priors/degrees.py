"""Degrees from noisy degrees: the posterior mean under the histogram that makes them likeliest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

ROUNDS = 200
"""Rounds of expectation and maximization."""

LEAST = 1e-3
"""No expected degree is less: it would need a prior of 0."""

_NOTHING = 1e-300


def expected_degrees(
    noisy: NDArray[np.int64], epsilon: Fraction, total: int
) -> NDArray[np.float64]:
    """Return the expected degree of every node, given its noisy degree and all others.

    Parameters
    ----------
    noisy
        Degrees with discrete Laplace noise.
    epsilon
        Of the noise.
    total
        The noisy number of edges: the degrees are scaled to twice as much.

    Notes
    -----
    The histogram of true degrees is estimated by expectation maximization, in which a convolution
    with the noise is a sum of two geometric recursions. A noisy degree outside 0..n-1 says as much
    as the end of that range, since the likelihoods of all degrees are in the same proportion.

    Examples
    --------
    >>> expected_degrees(np.array([1, 2, 1, -3]), Fraction(4), 2).round(1).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    n = noisy.size
    values = np.clip(noisy, 0, n - 1)
    decay = float(np.exp(-float(epsilon)))
    histogram = likeliest_histogram(values, decay, ROUNDS)
    likelihood = np.maximum(blurred(histogram, decay), _NOTHING)
    means = blurred(histogram * np.arange(histogram.size), decay) / likelihood
    degrees = np.maximum(means, LEAST)[values]
    scaled = degrees * (2 * total / float(degrees.sum()))
    return np.clip(scaled, LEAST, max(n - 1, LEAST))


def likeliest_histogram(
    values: NDArray[np.int64], decay: float, rounds: int
) -> NDArray[np.float64]:
    """Return the shares of degrees that make the noisy ones likeliest, after so many rounds.

    Parameters
    ----------
    values
        Noisy degrees, at least 0.
    decay
        By how much the chance of noise falls from one whole number to the next.
    rounds
        Of expectation and maximization.

    Examples
    --------
    >>> likeliest_histogram(np.array([0, 1, 1, 3]), 0.01, 200).round(2).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    counts = np.bincount(values).astype(np.float64)
    histogram = np.full(counts.size, 1 / counts.size)
    for _ in range(rounds):
        ratio = counts / np.maximum(blurred(histogram, decay), _NOTHING)
        histogram = histogram * blurred(ratio, decay)
        histogram /= histogram.sum()
    return histogram


def blurred(values: NDArray[np.float64], decay: float) -> NDArray[np.float64]:
    """Return the sum over k of decay^|k| times the values k positions away."""
    return _decayed(values, decay) + _decayed(values[::-1], decay)[::-1] - values


def _decayed(values: NDArray[np.float64], decay: float) -> NDArray[np.float64]:
    """Return the sum over k >= 0 of decay^k times the value k positions before, by doubling."""
    total, step, weight = values.copy(), 1, decay
    while step < values.size and weight > 1e-18:
        total[step:] += weight * total[:-step].copy()
        step, weight = 2 * step, weight * weight
    return total

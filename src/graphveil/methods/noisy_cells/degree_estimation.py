"""True degrees estimated from noisy ones: the posterior mean under the most likely histogram.

A noisy degree alone is a poor estimate, and can be negative. But all of them together show how
common each degree is. The histogram of true degrees is estimated by expectation maximization: the
deconvolution of the noisy histogram by the law of the noise, P[k] ~ e^(-epsilon |k|), which is
public. With it as a prior, the estimate of a degree is its posterior mean given its noisy value.

Everything here reads noisy degrees alone: it is post-processing, and costs no epsilon. That noisy
degrees are first clipped to 0..n-1 is not modeled: the likelihood is that of unclipped noise.

Cost: O(n log n + rounds x D) for D the largest noisy degree, since sums over the noise are taken by
doubling (`blurred`).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints

ROUNDS = 200
"""Rounds of expectation maximization.

Each costs two sums over the noise (`blurred`). More rounds sharpen the histogram towards few
values, as deconvolution does; fewer leave it closer to uniform.
"""

LEAST_DEGREE = 1e-3
"""The smallest expected degree: classes are of its logarithm, and 0 would need a prior of 0."""

_NOTHING = 1e-300
"""Instead of 0 in a denominator: the least likely value still has a posterior."""


def expected_degrees(noisy: Ints, epsilon: Fraction, total: int) -> NDArray[np.float64]:
    """Return the expected degree of every node, given its noisy degree and all others.

    Parameters
    ----------
    noisy
        int64, shape (n,): the noisy degrees.
    epsilon
        That of the noise of one degree.
    total
        The noisy number of edges: degrees are scaled to sum to twice as much.

    Returns
    -------
    float64 array, shape (n,)
        From `LEAST_DEGREE` to n - 1.
    """
    # A noisy degree outside 0..n-1 is replaced by the end of that range: no true degree is beyond.
    n = noisy.size
    values = np.clip(noisy, 0, n - 1)
    decay = float(np.exp(-float(epsilon)))
    # Posterior mean of each noisy value v: sum of h(d) e^(-epsilon |v - d|) d over the sum without
    # the factor d.
    histogram = likeliest_histogram(values, decay, ROUNDS)
    likelihood = np.maximum(blurred(histogram, decay), _NOTHING)
    means = blurred(histogram * np.arange(histogram.size), decay) / likelihood
    degrees = np.maximum(means, LEAST_DEGREE)[values]
    scaled = degrees * (2 * total / float(degrees.sum()))
    return np.clip(scaled, LEAST_DEGREE, max(n - 1, LEAST_DEGREE))


def likeliest_histogram(values: Ints, decay: float, rounds: int) -> NDArray[np.float64]:
    """Return the shares of degrees that make the noisy ones most likely, after some rounds.

    `values`: noisy degrees, at least 0; `decay`: e^-epsilon, the factor by which the probability of
    noise falls from one whole number to the next; `rounds`: of expectation maximization.

    >>> likeliest_histogram(np.array([0, 1, 1, 3]), 0.01, 200).round(2).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    # With h the histogram and c(v) the nodes of noisy degree v, a round is
    # h(d) <- h(d) sum over v of decay^|v - d| c(v) / (sum over e of h(e) decay^|v - e|),
    # scaled to sum 1. The quotient is how much more often v occurs than h expects. The constant of
    # the law of the noise cancels.
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
    """Return the sum over k >= 0 of decay^k times the value k positions before, by doubling.

    The sum over k < 2s is that over k < s, plus decay^s times the same sum s positions before.
    Weights below 1e-18 are dropped: rounding loses them.
    """
    total, step, weight = values.copy(), 1, decay
    while step < values.size and weight > 1e-18:
        total[step:] += weight * total[:-step].copy()
        step, weight = 2 * step, weight * weight
    return total

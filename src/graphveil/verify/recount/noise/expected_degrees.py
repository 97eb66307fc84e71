"""The degrees that noisy ones make expected, and groups of nodes of equal weight, recomputed.

The histogram of degrees that makes the noisy ones likeliest is found by expectation and
maximization; with it, the mean of the true degree given a noisy one is a posterior mean.
Everything follows from published numbers, so a method that did the same must come to the same
groups.

Cost: `ROUNDS` rounds of O(largest degree) each: the kernel q^distance is applied as two recursive
filters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ROUNDS = 200
"""Of expectation and maximization: the parts follow from the histogram after so many."""

LEAST = 1e-3
"""The least degree that is expected of anybody."""

SLACK = 1e-6
"""For a part: so near to its end a noisy degree may be on either side."""

_NO_PARTS = 1e-300
Numbers = NDArray[np.float64]


def degrees_from_noisy(noisy: Sequence[int], epsilon: float, edges: int) -> Numbers:
    """Return the expected degree of every node given all noisy degrees, float64, shape (n,)."""
    n, q = len(noisy), math.exp(-epsilon)
    # Noisy degrees within the possible range, and the likeliest histogram of true ones.
    seen = np.array([min(max(degree, 0), n - 1) for degree in noisy])
    chances = likeliest(seen, q, ROUNDS)
    # Posterior mean of the true degree for each noisy one: Bayes with q^distance as likelihood.
    of_seen = np.maximum(_around(chances, q), _NO_PARTS)
    means = _around(chances * np.arange(chances.size), q) / of_seen
    # Scaled to the noisy number of edges, and clipped to possible degrees.
    degrees: Numbers = np.maximum(means, LEAST)[seen]
    degrees = degrees * (2 * edges / degrees.sum())
    return np.clip(degrees, LEAST, max(n - 1, LEAST))


def likeliest(seen: NDArray[np.int64], q: float, rounds: int) -> Numbers:
    """Return the distribution of degrees from 0 on that maximizes the likelihood.

    >>> likeliest(np.array([0, 1, 1, 3]), 0.01, 200).round(2).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    times = np.bincount(seen).astype(np.float64)
    chances: Numbers = np.full(times.size, 1 / times.size)
    # One round of expectation and maximization: share each noisy degree out among the true ones.
    for _ in range(rounds):
        chances *= _around(times / np.maximum(_around(chances, q), _NO_PARTS), q)
        chances /= chances.sum()
    return chances


def _around(values: Numbers, q: float) -> Numbers:
    """Return for every place the sum of q^distance times the values at all places."""
    from scipy.signal import lfilter  # noqa: PLC0415  heavy, and few releases need it

    # The two-sided geometric kernel is a filter forward plus one backward, less the middle.
    before = lfilter([1.0], [1.0, -q], values)
    behind = lfilter([1.0], [1.0, -q], values[::-1])[::-1]
    both: Numbers = before + behind - values
    return both


def wrong_parts(
    noisy: Sequence[int], weights: Numbers, cuts: Sequence[int], most: int
) -> list[int]:
    """Return the noisy degrees at which a group wrongly begins, or wrongly does not."""
    # Weight of each noisy degree, and where its middle lies on the scale of parts.
    values, starts = sorted(set(noisy)), set(cuts)
    places = {value: place for place, value in enumerate(values)}
    mass = np.bincount([places[degree] for degree in noisy], weights=weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum() * most
    # A part begins where the middle passes a whole number. Near one, floats may differ between
    # machines, so within `SLACK` either is right.
    begins = np.array([value in starts for value in values[1:]], dtype=np.bool_)
    may = _ends_between(middle[:-1] - SLACK, middle[1:] + SLACK, most)
    must = _ends_between(middle[:-1] + SLACK, middle[1:] - SLACK, most)
    return [values[1 + place] for place in np.flatnonzero((begins & ~may) | (must & ~begins))]


def _ends_between(low: Numbers, high: Numbers, most: int) -> NDArray[np.bool_]:
    """Whether one of the numbers 1 to most - 1 is above `low` and at most `high`."""
    last, first = np.minimum(np.floor(high), most - 1), np.maximum(np.floor(low), 0)
    between: NDArray[np.bool_] = last > first
    return between

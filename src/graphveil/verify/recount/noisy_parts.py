"""Nodes in parts of about equal weight by noisy degree: where one may end, and where one must.

Weights are degrees that are expected behind noisy ones, so they have a point, and no two machines
need to round them alike: a part may end a billionth earlier or later.
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
"""Of a part: so near to its end a noisy degree may be on either side."""

_NOTHING = 1e-300

Numbers = NDArray[np.float64]


def expected(noisy: Sequence[int], epsilon: float, edges: int) -> Numbers:
    """Return the degree that is expected of every node, by its noisy one and all others.

    Parameters
    ----------
    noisy
        Degrees with discrete Laplace noise.
    epsilon
        Of the noise.
    edges
        How many there are, with noise.

    Examples
    --------
    >>> expected([1, 2, 1, -3], 4.0, 2).round(1).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    n, q = len(noisy), math.exp(-epsilon)
    seen = np.array([min(max(degree, 0), n - 1) for degree in noisy])
    times = np.bincount(seen).astype(np.float64)
    chances = np.full(times.size, 1 / times.size)
    for _ in range(ROUNDS):
        chances *= _around(times / np.maximum(_around(chances, q), _NOTHING), q)
        chances /= chances.sum()
    of_seen = np.maximum(_around(chances, q), _NOTHING)
    means = _around(chances * np.arange(times.size), q) / of_seen
    degrees: Numbers = np.maximum(means, LEAST)[seen]
    degrees = degrees * (2 * edges / degrees.sum())
    return np.clip(degrees, LEAST, max(n - 1, LEAST))


def _around(values: Numbers, q: float) -> Numbers:
    """Return the sum over all places of q^distance times the value there, for every place."""
    from scipy.signal import lfilter  # noqa: PLC0415  heavy, and few releases need it

    before = lfilter([1.0], [1.0, -q], values)
    behind = lfilter([1.0], [1.0, -q], values[::-1])[::-1]
    both: Numbers = before + behind - values
    return both


def wrong_parts(
    noisy: Sequence[int], weights: Numbers, cuts: Sequence[int], most: int
) -> list[int]:
    """Return the noisy degrees at which a part begins and must not, or must and does not.

    Parameters
    ----------
    noisy
        The noisy degree of every node.
    weights
        Above 0, of every node.
    cuts
        The least noisy degree of each part.
    most
        How many parts there are at most. A noisy degree is in the part in which the middle of its
        weight lies.

    Examples
    --------
    >>> wrong_parts([5, 1, 1, 9], np.array([2.0, 1.0, 1.0, 4.0]), [1, 9], 2)
    []
    >>> wrong_parts([5, 1, 1, 9], np.array([2.0, 1.0, 1.0, 4.0]), [1, 5], 2)
    [5, 9]
    """
    values, starts = sorted(set(noisy)), set(cuts)
    places = {value: place for place, value in enumerate(values)}
    mass = np.bincount([places[degree] for degree in noisy], weights=weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum() * most
    begins = np.array([value in starts for value in values[1:]], dtype=np.bool_)
    may = _ends_between(middle[:-1] - SLACK, middle[1:] + SLACK, most)
    must = _ends_between(middle[:-1] + SLACK, middle[1:] - SLACK, most)
    return [values[1 + place] for place in np.flatnonzero((begins & ~may) | (must & ~begins))]


def _ends_between(low: Numbers, high: Numbers, most: int) -> NDArray[np.bool_]:
    """Whether one of the whole numbers 1 to most - 1 is above low, and high at least it."""
    last, first = np.minimum(np.floor(high), most - 1), np.maximum(np.floor(low), 0)
    between: NDArray[np.bool_] = last > first
    return between

"""The interval of 95 % around a share of people."""

from __future__ import annotations

import numpy as np

from graphveil.evaluate.metric import Sample

Z = 1.959963984540054
"""The quantile of the normal distribution that 2.5 % exceed."""


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
    return Sample(people, *wilson_ends(hits / people, people, Z))


def wilson_ends(share: float, size: float, quantile: float) -> tuple[float, float]:
    """Return the ends of the interval of Wilson around a share of so many, whole or not.

    Parameters
    ----------
    share
        What was observed, from 0 to 1.
    size
        Of how many, above 0.
    quantile
        How many standard deviations the ends are away.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_ends(0.0, 10, Z)]
    [0.0, 0.278]
    """
    square = quantile * quantile / size
    middle = share + square / 2
    half = quantile * np.sqrt(share * (1 - share) / size + square / (4 * size))
    low, high = (float((middle + side) / (1 + square)) for side in (-half, half))
    return max(min(low, share), 0.0), min(max(high, share), 1.0)

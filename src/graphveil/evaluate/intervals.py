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
    share, square = hits / people, Z * Z / people
    middle = share + square / 2
    half = Z * np.sqrt(share * (1 - share) / people + square / (4 * people))
    low, high = (float((middle + side) / (1 + square)) for side in (-half, half))
    return Sample(people, max(min(low, share), 0.0), min(max(high, share), 1.0))

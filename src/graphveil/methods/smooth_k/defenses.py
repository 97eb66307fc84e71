"""A defense beyond the rule: noisy thresholds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.equivalence_classes.rule import Profiles, Rule


def noisy(
    profiles: Profiles, rule: Rule, rate: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which pairs reach their least count plus a random number.

    Parameters
    ----------
    profiles
        The features of every cluster.
    rule
        The least counts.
    rate
        The random number is g >= 0 with probability proportional to ``exp(-rate * g)``.
    rng
        The randomness.

    Examples
    --------
    >>> one = Profiles(*(np.array(x) for x in ([0], [0], [2], [2])))
    >>> noisy(one, Rule(), 50.0, np.random.Generator(np.random.PCG64(1))).tolist()
    [True]
    """
    raised = rng.geometric(-np.expm1(-rate), size=profiles.counts.size) - 1
    return np.asarray(profiles.counts >= rule.least(profiles.sizes)[profiles.clusters] + raised)

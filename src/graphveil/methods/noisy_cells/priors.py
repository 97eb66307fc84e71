"""The prior of every pair of classes of nodes: a soft configuration model, corrected by mixing.

Degrees are estimated from noisy degrees by their posterior mean under the histogram of the largest
likelihood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import BlockFlips

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


CLASSES = 200
"""The most classes of nodes."""

CLASSES_OF_MIXING = 150
"""The most of them where counts between groups are used, too."""

GROUPS = 24
"""The most groups of classes between which edges are counted."""

_STEPS = 100
_SCALINGS = 3
_LARGEST_PRIOR = 0.999
_TINY, _HUGE = 1e-9, 1e9


class PriorClasses(NamedTuple):
    """Nodes of like degree.

    Parameters
    ----------
    of_node
        int64, shape (n,): the class of every node; classes are in the order of their degrees.
    sizes
        int64: how many nodes a class has, at least one.
    degrees
        float64: the mean of the expected degrees in it.
    """

    of_node: NDArray[np.int64]
    sizes: NDArray[np.int64]
    degrees: NDArray[np.float64]


def classes_of(degrees: NDArray[np.float64], most: int) -> PriorClasses:
    """Return classes by equal steps of the logarithm of the degree; empty ones are left out.

    Examples
    --------
    >>> classes_of(np.array([1.0, 8.0, 1.0, 2.0]), 3)[:2]
    (array([0, 2, 0, 1]), array([2, 1, 1]))
    """
    logs = np.log(degrees)
    low, high = float(logs.min()), float(logs.max())
    steps = np.zeros(logs.size) if high == low else (logs - low) / (high - low) * most
    bins = np.minimum(steps.astype(np.int64), most - 1)
    _, of_node, sizes = np.unique(bins, return_inverse=True, return_counts=True)
    sums = np.bincount(of_node, weights=degrees)
    return PriorClasses(of_node.astype(np.int64), sizes.astype(np.int64), sums / sizes)


def configuration(classes: PriorClasses) -> NDArray[np.float64]:
    """Return a weight x a class so that x_a x_b / (1 + x_a x_b) gives each its mean degree.

    Examples
    --------
    >>> weights = configuration(classes_of(np.array([1.0, 1.0, 1.0, 1.0]), 5))
    >>> prior = weights[0] ** 2 / (1 + weights[0] ** 2)
    >>> round(float(3 * prior), 6)
    1.0
    """
    mass = float(classes.sizes @ classes.degrees)
    weights: NDArray[np.float64] = classes.degrees / np.sqrt(mass)
    for _ in range(_STEPS):
        odds = np.outer(weights, weights)
        prior = odds / (1 + odds)
        degrees = np.maximum(prior @ classes.sizes - np.diag(prior), _TINY)
        weights = np.clip(weights * np.sqrt(classes.degrees / degrees), _TINY, _HUGE)
    return weights


def groups_of(classes: PriorClasses) -> NDArray[np.int64]:
    """Return the group of every class: neighboring classes, of about equal degrees in total.

    Examples
    --------
    >>> groups_of(classes_of(np.array([1.0, 8.0, 1.0, 2.0]), 3)).tolist()
    [0, 1, 2]
    """
    mass = classes.sizes * classes.degrees
    middle = np.cumsum(mass) - mass / 2
    bins = np.minimum((middle / mass.sum() * GROUPS).astype(np.int64), GROUPS - 1)
    return np.asarray(np.unique(bins, return_inverse=True)[1], dtype=np.int64)


def sums_between(values: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of the values of all pairs of classes a <= b, for every pair of groups.

    Examples
    --------
    >>> sums_between(np.array([[1.0, 2.0], [2.0, 3.0]]), np.array([0, 1])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    size = int(groups.max()) + 1
    upper = np.zeros((size, size))
    a, b = np.triu_indices(groups.size)
    np.add.at(upper, (groups[a], groups[b]), values[a, b])
    return upper + np.triu(upper, 1).T


def mixing_factors(
    classes: PriorClasses,
    weights: NDArray[np.float64],
    groups: NDArray[np.int64],
    counts: NDArray[np.float64],
    *,
    scale: float,
    total: int,
) -> NDArray[np.float64]:
    """Return by how much the prior of every pair of groups is multiplied.

    Parameters
    ----------
    classes, weights, groups
        The model, and the group of every class.
    counts
        Noisy numbers of edges between groups, at least 0.
    scale
        Twice the scale of their noise: added on both sides, so that small counts say little.
    total
        The noisy number of all edges.
    """
    odds = np.outer(weights, weights)
    prior = odds / (1 + odds)
    cells = np.outer(classes.sizes, classes.sizes) - np.diag(
        classes.sizes * (classes.sizes + 1) // 2
    )
    factors = (counts + scale) / (sums_between(cells * prior, groups) + scale)
    for _ in range(_SCALINGS):
        corrected = np.minimum(prior * factors[np.ix_(groups, groups)], _LARGEST_PRIOR)
        expected = float(np.triu(cells * corrected).sum())
        factors = np.clip(factors * (total / max(expected, _TINY)), 0, _HUGE)
    return factors


def priors_of(flips: BlockFlips) -> list[int]:
    """Return the prior of every pair of classes a <= b, row by row, in units of 2^-64: exactly.

    Examples
    --------
    >>> flips = BlockFlips(cells="6", epsilon_cells="2", noisy_count="3", sizes=(4,),
    ...                    weights=("1000000000000",))
    >>> priors_of(flips) == [1 << 63]
    True
    """
    weights = [int(x) for x in flips.weights]
    return priors_between(weights, flips.groups or (0,) * len(weights), _factors(flips))


def priors_between(
    weights: Sequence[int], groups: Sequence[int], factors: Mapping[tuple[int, int], int]
) -> list[int]:
    """Return the prior of every pair of classes a <= b, row by row, in units of 2^-64: exactly.

    Parameters
    ----------
    weights
        x of every class, times 10^12.
    groups
        The group of every class.
    factors
        By how much the prior of two groups is multiplied, times 10^12.
    """
    full, unit, priors = BlockFlips.FULL, BlockFlips.UNIT, []
    for a, x in enumerate(weights):
        for b in range(a, len(weights)):
            odds = x * weights[b]
            prior = full * odds * factors[groups[a], groups[b]] // (unit * (unit * unit + odds))
            priors.append(min(max(prior, 1), full * 999 // 1000))
    return priors


def _factors(flips: BlockFlips) -> dict[tuple[int, int], int]:
    size = max(flips.groups, default=0) + 1
    pairs = [(g, h) for g in range(size) for h in range(g, size)]
    values = map(int, flips.factors or (flips.UNIT,))
    upper = dict(zip(pairs, values, strict=True))
    return upper | {(h, g): value for (g, h), value in upper.items()}


def rounded(values: NDArray[np.float64]) -> list[int]:
    """Return real numbers in units of 10^-12, to three significant digits.

    Examples
    --------
    >>> rounded(np.array([0.5, 1.23456, 0.0]))
    [500000000000, 1230000000000, 0]
    """
    return [_rounded(value * BlockFlips.UNIT) for value in values.tolist()]


def _rounded(value: float) -> int:
    """Return the whole number of three significant digits that is next to a real one."""
    digits, exponent = f"{value:.2e}".split("e")
    return int(Decimal(digits).scaleb(int(exponent)))


def stated(
    budget: dict[str, Any],
    classes: PriorClasses,
    weights: NDArray[np.float64],
    groups: NDArray[np.int64] | None = None,
    factors: NDArray[np.float64] | None = None,
) -> BlockFlips:
    """Return the prior as whole numbers, from which the chances are computed.

    Parameters
    ----------
    budget
        The number of cells, their part of epsilon and the noisy count.
    classes, weights
        The model.
    groups, factors
        Its correction by mixing.
    """
    more: dict[str, Any] = {}
    if groups is not None and factors is not None:
        upper = factors[np.triu_indices(factors.shape[0])]
        more = {
            "groups": tuple(groups.tolist()),
            "factors": tuple(map(str, rounded(upper))),
        }
    return BlockFlips(
        **budget,
        sizes=tuple(classes.sizes.tolist()),
        weights=tuple(map(str, rounded(weights))),
        **more,
    )

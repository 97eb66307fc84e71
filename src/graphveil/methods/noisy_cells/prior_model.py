"""The prior of every pair of nodes to be an edge, from estimated degrees and noisy counts.

1. Nodes are put in classes of similar estimated degree (`classes_of`).
2. A soft configuration model gives the pair of classes a, b the prior x_a x_b / (1 + x_a x_b),
   with weights x under which every class expects its mean degree (`configuration`).
3. With noisy counts of edges between groups of classes, the priors of each pair of groups are
   multiplied by a factor that moves their expected number of edges to the count (`mixing_factors`).
4. Weights and factors are rounded to three digits and stated; the priors follow from them in whole
   numbers, so that `verify` computes exactly the same (`priors_between`).

All of it reads released numbers alone: post-processing, at no epsilon.

Cost: O(classes**2) per step of the fit, with at most 200 classes; O(n log n) to form the classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import BlockFlips
from graphveil.core.array_types import Ints

CLASSES = 200
"""The most classes of nodes.

The fit and the thresholds are per pair of classes: 20,100 pairs. More classes distinguish degrees
more finely; the manifest states a weight for each.
"""

CLASSES_OF_MIXING = 150
"""The most classes if counts between groups are used as well."""

GROUPS = 24
"""The most groups of classes between which edges are counted.

Each of the 300 pairs of groups has noise of its own. More groups describe the mixing more finely,
by counts that have more noise for their size.
"""

_STEPS = 100
"""Steps of the fixed-point iteration for the weights."""

_SCALINGS = 3
"""How often factors are scaled to the total: the limit on priors makes one scaling inexact."""

_LARGEST_PRIOR = 0.999
"""No prior is above it: a channel needs a prior below 1."""

_TINY, _HUGE = 1e-9, 1e9
"""Bounds on weights and factors, so that no step divides by 0 or overflows."""


class PriorClasses(NamedTuple):
    """Classes of nodes of similar degree, in the order of their mean expected degrees.

    Parameters
    ----------
    of_node
        int64, shape (n,): the class of every node.
    sizes
        int64, shape (classes,): the number of nodes.
    degrees
        float64, shape (classes,): the mean expected degree.
    """

    of_node: Ints
    sizes: Ints
    degrees: NDArray[np.float64]


def classes_of(degrees: NDArray[np.float64], most: int) -> PriorClasses:
    """Return at most `most` classes by equal steps of the logarithm of the degree, none empty."""
    # Equal steps of the logarithm: classes are fine where most nodes are, at low degrees.
    logs = np.log(degrees)
    low, high = float(logs.min()), float(logs.max())
    steps = np.zeros(logs.size) if high == low else (logs - low) / (high - low) * most
    bins = np.minimum(steps.astype(np.int64), most - 1)
    _, of_node, sizes = np.unique(bins, return_inverse=True, return_counts=True)
    sums = np.bincount(of_node, weights=degrees)
    return PriorClasses(of_node.astype(np.int64), sizes.astype(np.int64), sums / sizes)


def configuration(classes: PriorClasses) -> NDArray[np.float64]:
    """Return a weight x per class so that x_a x_b / (1 + x_a x_b) gives each its mean degree.

    A fixed-point iteration: a weight is multiplied by the root of wanted over expected degree. The
    root damps it, since the degree depends on both weights of a pair.
    """
    # Start from the Chung-Lu model, in which the prior is the product of the weights.
    mass = float(classes.sizes @ classes.degrees)
    weights: NDArray[np.float64] = classes.degrees / np.sqrt(mass)
    for _ in range(_STEPS):
        odds = np.outer(weights, weights)
        prior = odds / (1 + odds)
        # The expected degree: a node has no pair with itself.
        degrees = np.maximum(prior @ classes.sizes - np.diag(prior), _TINY)
        weights = np.clip(weights * np.sqrt(classes.degrees / degrees), _TINY, _HUGE)
    return weights


def groups_of(classes: PriorClasses) -> Ints:
    """Return the group of every class: adjacent classes, each group of about equal total degree."""
    # A class is in the group in which the middle of its total degree falls.
    mass = classes.sizes * classes.degrees
    middle = np.cumsum(mass) - mass / 2
    bins = np.minimum((middle / mass.sum() * GROUPS).astype(np.int64), GROUPS - 1)
    return np.asarray(np.unique(bins, return_inverse=True)[1], dtype=np.int64)


def sums_between(values: NDArray[np.float64], groups: Ints) -> NDArray[np.float64]:
    """Return for every pair of groups the sum of the values of its pairs of classes a <= b.

    Symmetric, shape (groups, groups). Groups rise with the classes (`groups_of`), so pairs of
    classes on or above the diagonal are in pairs of groups on or above it.
    """
    size = int(groups.max()) + 1
    upper = np.zeros((size, size))
    a, b = np.triu_indices(groups.size)
    np.add.at(upper, (groups[a], groups[b]), values[a, b])
    return upper + np.triu(upper, 1).T


def mixing_factors(
    classes: PriorClasses,
    weights: NDArray[np.float64],
    groups: Ints,
    counts: NDArray[np.float64],
    *,
    scale: float,
    total: int,
) -> NDArray[np.float64]:
    """Return by how much the prior of every pair of groups is multiplied: (groups, groups).

    Parameters
    ----------
    classes, weights, groups
        The configuration model, and the group of every class.
    counts
        float64, symmetric: the noisy edges between groups, at least 0.
    scale
        Twice the scale of the noise. It is added to the count and to the expected number, so that
        counts of the size of their noise change little. A larger one trusts the configuration model
        more, a smaller one the counts.
    total
        The noisy number of edges, which the corrected priors expect in all.
    """
    odds = np.outer(weights, weights)
    prior = odds / (1 + odds)
    # The pairs of nodes of every pair of classes: s_a s_b, or s_a (s_a - 1) / 2 inside a class.
    cells = np.outer(classes.sizes, classes.sizes) - np.diag(
        classes.sizes * (classes.sizes + 1) // 2
    )
    factors = (counts + scale) / (sums_between(cells * prior, groups) + scale)
    # Scale all factors so that the priors expect the noisy number of edges in total.
    for _ in range(_SCALINGS):
        corrected = np.minimum(prior * factors[np.ix_(groups, groups)], _LARGEST_PRIOR)
        expected = float(np.triu(cells * corrected).sum())
        factors = np.clip(factors * (total / max(expected, _TINY)), 0, _HUGE)
    return factors


def priors_of(flips: BlockFlips) -> list[int]:
    """Return the prior of every pair of classes a <= b, row by row, in units of 2^-64: exactly."""
    weights = [int(x) for x in flips.weights]
    return priors_between(weights, flips.groups or (0,) * len(weights), _factors(flips))


def priors_between(
    weights: Sequence[int], groups: Sequence[int], factors: Mapping[tuple[int, int], int]
) -> list[int]:
    """Return the prior of every pair of classes a <= b, row by row, in units of 2^-64: exactly.

    `weights`, `groups`: of every class; `factors`: by pair of groups. Weights and factors are times
    10^12. The prior x_a x_b f / (1 + x_a x_b) is rounded down, then brought between 2^-64 and
    0.999.
    """
    # In whole numbers alone: floats could differ between machines, and thresholds must not. With
    # X = x UNIT and F = f UNIT, the prior is FULL X_a X_b F / (UNIT (UNIT^2 + X_a X_b)).
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
    """Return real numbers in units of 10^-12 (`BlockFlips.UNIT`), to three significant digits.

    More digits could carry a message into a manifest, and a prior needs no more.

    >>> rounded(np.array([0.5, 1.23456, 0.0]))
    [500000000000, 1230000000000, 0]
    """
    return [_rounded(value * BlockFlips.UNIT) for value in values.tolist()]


def _rounded(value: float) -> int:
    """Return a real number rounded to three significant digits, then down to a whole number."""
    digits, exponent = f"{value:.2e}".split("e")
    return int(Decimal(digits).scaleb(int(exponent)))


def stated_prior(
    budget: dict[str, Any],
    classes: PriorClasses,
    weights: NDArray[np.float64],
    groups: Ints | None = None,
    factors: NDArray[np.float64] | None = None,
) -> BlockFlips:
    """Return the condition that states the prior: whole numbers from which thresholds follow.

    `budget`: the number of cells, the part of epsilon for them and the noisy count; `groups`,
    `factors`: those of the mixing, if it is used.
    """
    more: dict[str, Any] = {}
    if groups is not None and factors is not None:
        upper = factors[np.triu_indices(factors.shape[0])]
        more = {"groups": tuple(groups.tolist()), "factors": tuple(map(str, rounded(upper)))}
    return BlockFlips(
        **budget,
        sizes=tuple(classes.sizes.tolist()),
        weights=tuple(map(str, rounded(weights))),
        **more,
    )

"""Degrees and edges between groups of the graph to be drawn: from noisy numbers alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.methods.degree_triangle.cuts import Cuts
from graphveil.methods.degree_triangle.statistics import Statistics
from graphveil.methods.priors.degrees import likeliest_histogram

ROUNDS = 300
SCALINGS = 200
SPREAD_FROM, LARGEST_KEPT, SPREAD = 6, 5, 0.1
"""Degrees of at least so much, but for so many largest ones, are spread by so much."""

LARGEST_SHARE = 0.9
"""The most of the pairs between two groups that are edges."""

_NOTHING = 1e-300


class Shape(NamedTuple):
    """What the graph is to have.

    Parameters
    ----------
    degrees
        int64, shape (n,), with an even sum.
    between
        int64, shape (groups, groups): the edges between groups g <= h; with them every group has
        as many ends of edges as its degrees say.
    """

    degrees: NDArray[np.int64]
    between: NDArray[np.int64]


def shape_of(noisy: Statistics, decay: float, rng: np.random.Generator) -> Shape:
    """Return degrees and edges between groups that fit the noisy statistics.

    Parameters
    ----------
    noisy
        The statistics.
    decay
        By how much the chance of noise on a degree falls from one whole number to the next.
    rng
        Not the one of the noise.
    """
    degrees = drawn_degrees(noisy, decay, rng)
    return Shape(degrees, edges_between(noisy.mixing, noisy.groups, degrees, rng))


def drawn_degrees(noisy: Statistics, decay: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a degree for every node, drawn from what its noisy degree says of it."""
    n = noisy.degrees.size
    values = np.clip(noisy.degrees, 0, n - 1)
    histogram = likeliest_histogram(values, decay, ROUNDS)
    degrees = np.zeros(n)
    order = rng.permutation(n)
    order = order[np.argsort(values[order], kind="stable")]
    present, firsts, sizes = np.unique(values[order], return_index=True, return_counts=True)
    every = np.arange(histogram.size)
    for value, first, size in zip(present, firsts, sizes, strict=True):
        chances = np.cumsum(histogram * decay ** np.abs(every - value))
        quantiles = (rng.random() + np.arange(size)) / size * chances[-1]
        degrees[order[first : first + size]] = np.searchsorted(chances, quantiles, side="right")
    return _whole(_spread(np.minimum(degrees, n - 1), rng), noisy.edges, rng)


def _spread(degrees: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return degrees with the heaps of the histogram spread out, but for the largest."""
    spread = degrees >= SPREAD_FROM
    spread[np.argsort(degrees, kind="stable")[-LARGEST_KEPT:]] = False
    factors = 1 + rng.uniform(-SPREAD, SPREAD, degrees.size)
    return np.where(spread, degrees * factors, degrees)


def _whole(degrees: NDArray[np.float64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return whole degrees that sum to about twice the number of edges, and to an even number."""
    n = degrees.size
    total = float(degrees.sum())
    scaled = degrees * (2 * count / total) if total else np.full(n, 2 * count / n)
    scaled = np.minimum(scaled, n - 1)
    whole = np.floor(scaled).astype(np.int64)
    whole += rng.random(n) < scaled - whole
    if whole.sum() % 2:
        free = np.flatnonzero(whole < n - 1)
        whole[free[rng.integers(free.size)]] += 1
    return whole


def edges_between(
    mixing: NDArray[np.int64], groups: Cuts, degrees: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return how many edges are to be between groups, as near the noisy counts as degrees let."""
    ends = np.bincount(groups.of_node, weights=degrees, minlength=groups.least.size)
    sizes = np.bincount(groups.of_node, minlength=groups.least.size)
    wanted = np.maximum(mixing, 0) + 0.5
    wanted = np.triu(wanted, 1) + np.triu(wanted, 1).T + 2 * np.diag(np.diag(wanted))
    most = LARGEST_SHARE * (np.outer(sizes, sizes) - np.diag(sizes))
    for _ in range(SCALINGS):
        wanted = np.minimum(wanted, most)
        factors = np.sqrt(ends / np.maximum(wanted.sum(axis=1), _NOTHING))
        wanted = wanted * np.outer(factors, factors)
    return _whole_between(wanted, ends.astype(np.int64), rng)


def _whole_between(
    wanted: NDArray[np.float64], ends: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return whole numbers near these with which every group has exactly so many ends of edges.

    Each pair of groups is rounded at random; what a group then has left is tied inside it, and
    where that is odd or less than nothing, edges to other groups give way.
    """
    size = ends.size
    whole = np.floor(np.triu(wanted, 1) + rng.random((size, size))).astype(np.int64)
    whole = np.triu(whole, 1)
    whole += whole.T
    left = ends - whole.sum(axis=1)
    while left.min() < 0 or (left % 2).any():
        if left.min() < 0:
            g, step = int(np.argmin(left)), -1
            others = np.flatnonzero(whole[g])
        else:
            g, step = int(np.flatnonzero(left % 2)[0]), 1
            others = np.flatnonzero(left % 2)[1:]
        h = int(rng.choice(others))
        whole[g, h] += step
        whole[h, g] += step
        left[[g, h]] -= step
    return np.triu(whole, 1) + np.diag(left // 2)

"""A graph whose edges are sampled with odds x_a x_b by class, generated again from the seed.

Within a block of two classes every pair has the same probability, so the gaps between successive
edges are geometric: they are computed from uniform numbers, as the method states it, and only
edges cost time.

Cost: O(edges + classes^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from graphveil.verify.recount.noise.degrees_and_stubs import numbers_of
from graphveil.verify.recount.noise.expected_degrees import Numbers
from graphveil.verify.recount.noise.triangle_graph import Edge, Words

PRIOR_STEPS, CLASSES = 100, 200
"""Steps of the fixed point, and classes at most: part of how a release is generated, so they must
be the method's."""

_TINY, _HUGE = 1e-9, 1e9


def class_sizes(expected: Numbers) -> list[int]:
    """Return the number of places in each class of similar expected degree.

    >>> class_sizes(np.array([1.0, 8.0, 1.0, 2.0]))
    [2, 1, 1]
    """
    # Classes are equal steps of the logarithm of the expected degree; empty ones are dropped.
    logs = np.log(expected)
    low, high = logs.min(), logs.max()
    steps = (logs - low) / (high - low) * CLASSES if high > low else np.zeros(logs.size)
    counts = np.bincount(np.minimum(steps.astype(np.int64), CLASSES - 1))
    return [int(count) for count in counts if count]


def class_weights(expected: Numbers, sizes: Sequence[int]) -> Numbers:
    """Return the weight x of every class, such that odds x_a x_b give each its mean degree.

    >>> x = class_weights(np.array([1.0, 1.0, 1.0, 1.0]), [4])[0]
    >>> round(float(3 * x * x / (1 + x * x)), 6)
    1.0
    """
    of_class = np.repeat(np.arange(len(sizes)), sizes)
    means = np.bincount(of_class, weights=np.sort(expected)) / sizes
    # Fixed point: multiply each weight by the root of wanted over present mean degree.
    weights: Numbers = means / math.sqrt(float(expected.sum()))
    for _ in range(PRIOR_STEPS):
        odds = weights[:, None] * weights
        chances = odds / (1 + odds)
        degrees = np.maximum(chances @ np.array(sizes) - np.diag(chances), _TINY)
        weights = np.clip(weights * np.sqrt(means / degrees), _TINY, _HUGE)
    return weights


def edges_by_weights(
    sizes: Sequence[int], weights: Sequence[int], words: Callable[[int], Words]
) -> set[Edge]:
    """Return the edges between places, generated from classes, weights and the seed's words.

    >>> ones = lambda count: iter([np.zeros(count, dtype=np.uint64)])
    >>> sorted(edges_by_weights([3], [10**12], ones))
    [(0, 1), (0, 2), (1, 2)]
    """
    # Numbers for all blocks are one stream: so many for each block as it may need at most.
    starts = [sum(sizes[:a]) for a in range(len(sizes))]
    blocks = [(a, b) for a in range(len(sizes)) for b in range(a, len(sizes))]
    plans = [_plan(sizes, weights, a, b) for a, b in blocks]
    dice = numbers_of(next(words(sum(plan.most for plan in plans))))
    edges: set[Edge] = set()
    used = 0
    for (a, b), (pairs, prior, most) in zip(blocks, plans, strict=True):
        # Geometric gaps between the edges of a block, by inversion.
        gaps = np.log1p(-dice[used : used + most]) / math.log1p(-prior / 2**64)
        used += most
        passed = np.minimum(gaps, pairs).astype(np.int64) + 1
        for number in (np.cumsum(passed) - 1).tolist():
            if number >= pairs:
                break
            # The pair with this number: within a class, rows are turned so that each pair has one
            # number.
            u, v = divmod(number, sizes[b])
            if a == b:
                u, v = v, (u + v + 1) % sizes[a]
            edges.add((min(starts[a] + u, starts[b] + v), max(starts[a] + u, starts[b] + v)))
    return edges


class _Plan(NamedTuple):
    """A block: its pairs, their probability times 2^64, and a bound on its edges."""

    pairs: int
    prior: int
    most: int


def _plan(sizes: Sequence[int], weights: Sequence[int], a: int, b: int) -> _Plan:
    odds = weights[a] * weights[b]
    prior = min(max((odds << 64) // (10**24 + odds), 1), (999 << 64) // 1000)
    pairs = sizes[a] * (sizes[a] - 1) // 2 if a == b else sizes[a] * sizes[b]
    mean = (pairs * prior >> 64) + 1
    return _Plan(pairs, prior, min(pairs, mean + 8 * math.isqrt(mean) + 16))

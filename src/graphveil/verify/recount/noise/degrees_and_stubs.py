"""Degrees and edges between groups that follow from noisy ones and a seed, recomputed.

Numbers from 0 to 1 are the first 53 bits of a word of PCG64DXSM.

Cost: O(n log n) for degrees; `SHAPE_ROUNDS` and `SCALINGS` passes over small arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphveil.verify.recount.noise.expected_degrees import Numbers, likeliest

SHAPE_ROUNDS, SCALINGS = 300, 200
"""Rounds of expectation and maximization, and of proportional fitting: part of how a release is
generated, so they must be the method's."""

SPREAD_FROM, NOT_SPREAD, BY = 6, 5, 0.1
"""Degrees from six on, but for the five largest, are spread by a tenth at most."""

FULLEST = 0.9
"""The share of all pairs of two groups that may have an edge."""


def numbers_of(words: NDArray[np.uint64]) -> Numbers:
    """Return a number in [0, 1) for each word, float64."""
    return np.ldexp((words >> np.uint64(11)).astype(np.float64), -53)


def degrees_again(noisy: Sequence[int], decay: float, edges: int, dice: Numbers) -> list[int]:
    """Return the degree of every place, from noisy degrees and uniform numbers.

    >>> degrees_again([0, 1, 1, 2], 0.001, 2, np.full(13, 0.5))
    [0, 1, 1, 2]
    """
    # Step 1: the likeliest histogram of degrees behind the noisy ones.
    n = len(noisy)
    seen = np.array([min(max(degree, 0), n - 1) for degree in noisy])
    chances = likeliest(seen, decay, SHAPE_ROUNDS)
    # Step 2: for each noisy degree, systematic sampling from the posterior of its true degree.
    sampled: list[float] = []
    for number, value in enumerate(sorted(set(seen.tolist()))):
        count = int(np.count_nonzero(seen == value))
        distance = np.abs(np.arange(chances.size) - value)
        below = np.cumsum(chances * decay**distance)
        wanted = [(dice[number] + j) / count * below[-1] for j in range(count)]
        sampled += np.minimum(np.searchsorted(below, wanted, side="right"), n - 1).tolist()
    # Step 3: spread degrees by at most a tenth, except small ones and the largest.
    kept = set(sorted(range(n), key=lambda place: (sampled[place], place))[-NOT_SPREAD:])
    for place, degree in enumerate(sampled):
        if degree >= SPREAD_FROM and place not in kept:
            sampled[place] = degree * (1 + BY * (2 * dice[n + place] - 1))
    # Step 4: scale to the noisy number of edges, and round at random so that sums are unbiased.
    total = math.fsum(sampled)
    scaled = [degree * (2 * edges / total) if total else 2 * edges / n for degree in sampled]
    whole = [
        math.ceil(min(degree, n - 1) - less)
        for degree, less in zip(scaled, dice[2 * n : 3 * n].tolist(), strict=True)
    ]
    # Step 5: an even sum, as every graph has.
    if sum(whole) % 2:
        free = [place for place, degree in enumerate(whole) if degree < n - 1]
        whole[free[int(dice[3 * n] * len(free))]] += 1
    return whole


def stubs_again(
    mixing: Sequence[int], groups: Sequence[int], degrees: Sequence[int], dice: Numbers
) -> list[int]:
    """Return the numbers of edges between groups g <= h, row by row.

    >>> stubs_again([1, 2, 0], [0, 0, 1, 1], [2, 2, 1, 1], np.full(4, 0.5))
    [1, 2, 0]
    """
    # Step 1: noisy counts between groups as a symmetric matrix, at least 1/2 in each cell.
    size = max(groups) + 1
    members = np.bincount(groups, minlength=size)
    ends = np.bincount(groups, weights=degrees, minlength=size)
    between = np.zeros((size, size))
    between[np.triu_indices(size)] = [max(count, 0) + 0.5 for count in mixing]
    between += between.T
    # Step 2: iterative proportional fitting to the ends of each group, never more than 90% full.
    cells = FULLEST * (members[:, None] * members - np.diag(members))
    for _ in range(SCALINGS):
        between = np.minimum(between, cells)
        scale = np.sqrt(ends / np.maximum(between.sum(axis=1), 1e-300))
        between = between * (scale[:, None] * scale)
    # Step 3: round between groups at random; what is left of a group's ends is inside of it.
    edges = [[0] * size for _ in range(size)]
    for g in range(size):
        for h in range(g + 1, size):
            edges[g][h] = edges[h][g] = math.floor(between[g, h] + dice[g * size + h])
    left = [int(ends[g]) - sum(edges[g]) for g in range(size)]
    # Step 4: correct groups with too few ends, or an odd number of them.
    while min(left) < 0 or any(count % 2 for count in left):
        if min(left) < 0:
            g, step = left.index(min(left)), -1
            h = edges[g].index(max(edges[g]))
        else:
            g, h = [one for one, count in enumerate(left) if count % 2][:2]
            step = 1
        for one, other in ((g, h), (h, g)):
            edges[one][other] += step
            left[one] -= step
    return [left[g] // 2 if g == h else edges[g][h] for g in range(size) for h in range(g, size)]

"""Which vectors of levels the lattice step tries, and in which order.

A vector has one level per known column: the nodes of the lattice of full-domain generalization
(Samarati, TKDE 2001). There are as many as the product of the depths of the hierarchies. Up to
`MOST_VECTORS` of them are all listed, by the mean loss of the table at their levels, by best-first
search with a heap. If there are more, a sample is taken along random chains: paths through the
lattice from no generalization to all.

Cost: O(V log V x d) for V vectors.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Floats
from graphveil.methods.generalize.kernels.clusters import Rows

MOST_VECTORS = 20_000
"""The most vectors that are all tried; if there are more, a sample is.

It bounds the first passes over the rows (each vector visits the rows left) and the heap. A larger
number tries more exact vectors for tables of more columns, at more time.
"""

LEAST_PRICE = 1e-9
"""Added to differences of losses and entropies: their ratio and its logarithm are finite."""

FEWEST_SAMPLED, MOST_SAMPLED = 200, 2_000
"""The fewest and the most vectors of a sample; `MOST_VISITS` decides between them."""

SPREAD = 0.35
"""The standard deviation of the random factor, a logarithm, on the price of each step of a chain.

With 0 all chains would be the same greedy one; much more would ignore the prices.
"""

LIMITS = 8
"""How often the vectors are gone through: each time a cluster may lose more.

On adult (k=5 and 10, one seed) 16 times gained .0002 and .0005 of granularity for a fifth more CPU,
32 times .0004 and .001 for half to four fifths more, and 4 times lost .0002 at k=5.
"""

MOST_VISITS = 200_000_000
"""About how many rows a sample of vectors may visit in one pass, at n rows for each vector.

It bounds the time of the lattice step for large tables: from a million rows on, the fewest vectors
are tried.
"""


def level_means(rows: Rows, depths: Sequence[int]) -> list[list[float]]:
    """Return for every column the mean loss of the table at each of its levels."""
    return [
        [float(rows.losses[rows.cells[:, j] + level].mean()) for level in range(depth)]
        for j, depth in enumerate(depths)
    ]


def groups(depths: Sequence[int], most: int) -> list[list[int]]:
    """Return the columns in groups that have at most `most` vectors of levels each.

    Columns are taken in their order: a group ends where the next column does not fit.
    """
    found: list[list[int]] = []
    room = 0
    for j, depth in enumerate(depths):
        if not found or depth > room:
            found.append([])
            room = most
        found[-1].append(j)
        room //= depth
    return found


def sampled(
    rows: Rows, means: Sequence[Sequence[float]], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return a sample of vectors by rising mean loss, for columns with too many to try them all.

    `means`: of `level_means`. Returns int32, shape (v, d).
    """
    n = len(rows.cells)
    entropies = [
        [_entropy(rows.nodes[rows.cells[:, j] + level]) for level in range(len(column))]
        for j, column in enumerate(means)
    ]
    count = min(max(MOST_VISITS // n, FEWEST_SAMPLED), MOST_SAMPLED)
    vectors = np.array(chained(means, entropies, count, rng), dtype=np.int32)
    lost = np.zeros(len(vectors))
    for j, column in enumerate(means):
        lost += np.array(column)[vectors[:, j]]
    return vectors[np.argsort(lost, kind="stable")]


def _entropy(nodes: NDArray[np.int32]) -> float:
    """Return the entropy of a column at a level, in bits."""
    counts = np.bincount(nodes)
    shares = counts[counts > 0] / nodes.size
    return float(-(shares * np.log2(shares)).sum())


def chained(
    means: Sequence[Sequence[float]],
    entropies: Sequence[Sequence[float]],
    count: int,
    rng: np.random.Generator,
) -> list[tuple[int, ...]]:
    """Return distinct vectors of levels in chains, each from the lowest levels to the highest.

    `means`, `entropies`: for every column the mean loss and the entropy of the table at each level.
    At each step of a chain, one column rises by a level: the one with the lowest price. The price
    is the loss that the step adds for each bit of entropy that it removes, since less entropy lets
    more rows agree. A random factor per chain and level makes the chains differ. There are about
    `count` vectors; fewer if all chains have fewer.
    """
    # The logarithm of the price of every step of every column.
    prices = [
        np.log((np.diff(lost) + LEAST_PRICE) / (LEAST_PRICE - np.diff(shown)))
        for lost, shown in zip(means, entropies, strict=True)
    ]
    found: dict[tuple[int, ...], None] = {}
    for _ in range(count):
        if len(found) >= count:
            break
        # One chain: the heap holds the next step of every column that can still rise.
        noisy = [price + SPREAD * rng.standard_normal(price.size) for price in prices]
        vector = [0] * len(means)
        waiting = [(float(column[0]), j) for j, column in enumerate(noisy) if column.size]
        heapq.heapify(waiting)
        found[tuple(vector)] = None
        while waiting:
            _, j = heapq.heappop(waiting)
            vector[j] += 1
            found[tuple(vector)] = None
            if vector[j] < noisy[j].size:
                heapq.heappush(waiting, (float(noisy[j][vector[j]]), j))
    return list(found)


def limits(expected: Floats) -> Floats:
    """Return rising limits of what a cluster may lose, more of them where vectors lose little.

    `expected`: the mean losses of the vectors. The limits are their quantiles at the squares of
    1/`LIMITS`, 2/`LIMITS`, ..., 1: most clusters can form at vectors of little loss.

    >>> limits(np.linspace(0, 1, 101))[[0, 3, -1]].round(3).tolist()
    [0.016, 0.25, 1.0]
    """
    return np.quantile(expected, (np.arange(1, LIMITS + 1) / LIMITS) ** 2)


def cheapest(means: Sequence[Sequence[float]], limit: int) -> list[tuple[int, ...]]:
    """Return up to `limit` vectors of levels with the least sums of means, rising.

    Vectors of equal sums are in lexicographic order among those that wait at the same time.

    >>> cheapest([[0.0, 0.5], [0.0, 0.25]], 3)
    [(0, 0), (0, 1), (1, 0)]
    """
    # Best-first search from the lowest levels: a vector enters the heap once one below it was
    # taken. Means rise with the level, so no vector costs less than those below it.
    start = (0,) * len(means)
    waiting = [(sum(column[0] for column in means), start)]
    seen = {start}
    found: list[tuple[int, ...]] = []
    while waiting and len(found) < limit:
        total, vector = heapq.heappop(waiting)
        found.append(vector)
        for j, level in enumerate(vector):
            if level + 1 == len(means[j]):
                continue
            above = (*vector[:j], level + 1, *vector[j + 1 :])
            if above not in seen:
                seen.add(above)
                more = means[j][level + 1] - means[j][level]
                heapq.heappush(waiting, (total + more, above))
    return found

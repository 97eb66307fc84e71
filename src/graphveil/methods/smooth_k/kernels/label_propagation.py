"""Label propagation: rows that share features of much weight get the same label.

graphveil's own alternative to the min-hash order of the paper (appendix D): rows of one community
are put into the same chunk. Time is O(entries) for each iteration; a feature looks at a sample of
its rows only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import sort
from graphveil.core.kernels.leaf import allocating, leaf

NONE = -1
"""The label of a feature that no row has."""


class Incidence(NamedTuple):
    """Rows by features, listed from both sides.

    Parameters
    ----------
    row_starts, features
        int64, shape (n + 1,), and int32: the features of row u are
        ``features[row_starts[u]:row_starts[u + 1]]``.
    feature_starts, rows
        int64, shape (n_features + 1,), and int32: the rows of feature f are
        ``rows[feature_starts[f]:feature_starts[f + 1]]``.
    """

    row_starts: NDArray[np.int64]
    features: NDArray[np.int32]
    feature_starts: NDArray[np.int64]
    rows: NDArray[np.int32]


@allocating
def spread_labels(
    incidence: Incidence,
    weights: NDArray[np.float64],
    cap: int,
    sample: int,
    iterations: int,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """Return a label for every row; rows that share features of much weight share labels.

    Parameters
    ----------
    incidence
        The rows and their features.
    weights
        float64, shape (n_features,): what a feature counts for.
    cap
        The most rows of a label; a row does not join a label that has so many.
    sample
        How many rows a feature looks at.
    iterations
        Rounds at most; they end early if nothing changes.
    rng
        The random stream: samples, and the order of the rows.

    Returns
    -------
    ndarray
        int32, shape (n,).
    """
    # Every row starts with a label of its own.
    n, n_features = incidence.row_starts.size - 1, incidence.feature_starts.size - 1
    labels = np.arange(n, dtype=np.int32)
    sizes = np.ones(n, dtype=np.int64)
    of_feature = np.full(n_features, NONE, dtype=np.int32)
    order = np.arange(n)
    sums = np.zeros(n, dtype=np.float64)
    for _ in range(iterations):
        # Step 1: each feature takes the most common label of (a sample of) its rows.
        for f in range(n_features):
            start, end = incidence.feature_starts[f], incidence.feature_starts[f + 1]
            of_feature[f] = _commonest(incidence.rows[start:end], labels, sample, rng)
        # Step 2: each row, in random order, takes the heaviest label of its features that has room.
        # Sizes change at once, so that no label exceeds the cap.
        _shuffle(order, rng)
        changed = 0
        for u in order:
            mine = incidence.features[incidence.row_starts[u] : incidence.row_starts[u + 1]]
            label = _heaviest(mine, of_feature, weights, sums, sizes, labels[u], cap)
            changed += label != labels[u]
            sizes[labels[u]] -= 1
            sizes[label] += 1
            labels[u] = label
        if not changed:
            break
    return labels


@allocating
def _commonest(
    rows: NDArray[np.int32], labels: NDArray[np.int32], sample: int, rng: np.random.Generator
) -> int:
    """Return the most common label of at most `sample` of these rows; of equal ones the least."""
    n = rows.size
    if n == 0:
        return NONE
    # A popular feature looks at a random sample of its rows, with replacement.
    if n <= sample:
        seen = np.empty(n, dtype=np.int32)
        for i in range(n):
            seen[i] = labels[rows[i]]
    else:
        seen = np.empty(sample, dtype=np.int32)
        for i in range(sample):
            seen[i] = labels[rows[int(rng.random() * n)]]
    # Equal labels are consecutive after sorting: the longest run wins, the first of equal ones.
    sort(seen)
    at, most, run = 0, 1, 1
    for i in range(1, seen.size):
        run = run + 1 if seen[i] == seen[i - 1] else 1
        if run > most:
            at, most = i, run
    return int(seen[at])


@leaf
def _heaviest(
    mine: NDArray[np.int32],
    of_feature: NDArray[np.int32],
    weights: NDArray[np.float64],
    sums: NDArray[np.float64],
    sizes: NDArray[np.int64],
    own: int,
    cap: int,
) -> int:
    """Return the heaviest label that has room; among equals the row's own, then the least."""
    # Sum the weights of the row's features by label.
    for f in mine:
        sums[of_feature[f]] += weights[f]
    best, most = own, sums[own]
    # A label that is full is not joined; the own label needs no room.
    for f in mine:
        label = of_feature[f]
        if label == own or sizes[label] >= cap:
            continue
        if sums[label] > most or (sums[label] == most and best != own and label < best):
            best, most = label, sums[label]
    # Leave the sums at 0.
    for f in mine:
        sums[of_feature[f]] = 0.0
    return best


@leaf
def _shuffle(order: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Shuffle the numbers in place (Fisher-Yates)."""
    for i in range(order.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]

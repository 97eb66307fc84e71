"""Label propagation: rows that share features of much weight get the same label."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import sort
from graphveil.core.kernels.leaf import allocating, leaf

NONE = -1


class Incidence(NamedTuple):
    """Rows by features, listed from both sides.

    The features of row u are ``features[row_starts[u]:row_starts[u + 1]]``, the rows of feature f
    are ``rows[feature_starts[f]:feature_starts[f + 1]]``.
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

    A row begins as its own label. In every iteration a feature takes the commonest label of at
    most `sample` of its rows, and every row, in random order, the label of largest weight among
    its features that is its own or stands on fewer than `cap` rows.
    """
    n, n_features = incidence.row_starts.size - 1, incidence.feature_starts.size - 1
    labels = np.arange(n, dtype=np.int32)
    sizes = np.ones(n, dtype=np.int64)
    of_feature = np.full(n_features, NONE, dtype=np.int32)
    order = np.arange(n)
    sums = np.zeros(n, dtype=np.float64)
    for _ in range(iterations):
        for f in range(n_features):
            start, end = incidence.feature_starts[f], incidence.feature_starts[f + 1]
            of_feature[f] = _commonest(incidence.rows[start:end], labels, sample, rng)
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
    """Return the commonest label of at most `sample` of these rows, the least of equals."""
    n = rows.size
    if n == 0:
        return NONE
    if n <= sample:
        seen = np.empty(n, dtype=np.int32)
        for i in range(n):
            seen[i] = labels[rows[i]]
    else:
        seen = np.empty(sample, dtype=np.int32)
        for i in range(sample):
            seen[i] = labels[rows[int(rng.random() * n)]]
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
    """Return the label of largest sum that is open: the row's own of equals, then the least."""
    for f in mine:
        sums[of_feature[f]] += weights[f]
    best, most = own, sums[own]
    for f in mine:
        label = of_feature[f]
        if label == own or sizes[label] >= cap:
            continue
        if sums[label] > most or (sums[label] == most and best != own and label < best):
            best, most = label, sums[label]
    for f in mine:
        sums[of_feature[f]] = 0.0
    return best


@leaf
def _shuffle(order: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Put the numbers into random order, in place."""
    for i in range(order.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]

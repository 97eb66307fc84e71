"""How unlike the surroundings of two networks' nodes are, whatever was added, dropped or lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.copies import Pairing
from graphveil.data import Graph
from graphveil.measures.scalars import triangles

Distances: TypeAlias = "NDArray[np.float32]"
"""A number for every pair of nodes, one of each network; 0 for people whom the copy lacks."""

HOPS = 2
_ANSCOMBE, _TO_SD, _FARTHEST = 0.375, 1.4826, 8.0
_LEAST_SIGNAL, _MOST_TIES, _PER_TIES = 0.05, 30.0, 10.0


def distances(two: Pairing) -> Iterator[Distances]:
    """Yield how unlike any two nodes are, by three comparisons.

    Yields
    ------
    By their degrees; by these and the degrees of their neighbors; and by many features at once.

    Notes
    -----
    The first two are minus logarithms of likelihoods, about: twice the root of a count of chance
    ties has variance 1. Degrees of the copy are first mapped onto those of the release, by means
    and variances, so that ties that were added or dropped by chance put nobody off.
    """
    absent = ~two.present
    degrees = _of_degrees(two)
    degrees[absent] = 0
    yield degrees
    around = degrees + _of_neighbors(two)
    around[absent] = 0
    yield around
    yield _of_features(two)


def _of_degrees(two: Pairing) -> Distances:
    """Return half the squared differences of the roots of degrees, once mapped to the release."""
    copy, released = (graph.degrees().astype(np.float64) for graph in (two.copy, two.released))
    roots = [
        2 * np.sqrt(some + _ANSCOMBE) for some in (_as_released(two, copy, released), released)
    ]
    return _halved_square(*roots)


def _as_released(
    two: Pairing, copy: NDArray[np.float64], released: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what degrees of the copy would be in the release, by means and variances of both."""
    if not two.present.all():
        return copy / max(float(two.present.mean()), 1 / copy.size)
    signal = max(released.var() - released.mean(), _LEAST_SIGNAL * released.var())
    slope = np.sqrt(signal / max(copy.var(), np.finfo(float).tiny)) if copy.var() else 1.0
    mapped: NDArray[np.float64] = released.mean() + slope * (copy - copy.mean())
    return np.maximum(mapped, 0)


def _halved_square(one: NDArray[np.float64], two: NDArray[np.float64]) -> Distances:
    apart = one.astype(np.float32)[:, None] - two.astype(np.float32)[None, :]
    apart *= apart
    apart /= 2
    return apart


def _of_neighbors(two: Pairing) -> Distances:
    """Return the same of the neighbors' mean roots; it weighs more where there are many of them."""
    scaled = []
    degrees = [graph.degrees().astype(np.float64) for graph in (two.copy, two.released)]
    for graph, own in zip((two.copy, two.released), degrees, strict=True):
        roots = 2 * np.sqrt(own + _ANSCOMBE)
        means = graph.to_scipy().astype(np.float64) @ roots / np.maximum(own, 1)
        weights = own / max(own.sum(), 1)
        center = weights @ means
        spread = np.sqrt(weights @ np.square(means - center))
        scaled.append(np.where(own > 0, (means - center) / max(spread, 1e-9), 0))
    apart = _halved_square(*scaled)
    roots_of_both = np.outer(*(np.sqrt(own).astype(np.float32) for own in degrees))
    apart *= np.minimum(roots_of_both, np.float32(_MOST_TIES)) / np.float32(_PER_TIES)
    return apart


def _of_features(two: Pairing) -> Distances:
    """Return the Euclidean distances of robustly scaled features."""
    from scipy.spatial import distance  # noqa: PLC0415  heavy: not for help

    copy = features(two.copy)
    copy[two.present] = scaled(copy[two.present])
    far: Distances = distance.cdist(copy, scaled(features(two.released))).astype(np.float32)
    far[~two.present] = 0
    return far


def features(graph: Graph) -> NDArray[np.float64]:
    """Return what each node's surroundings are like, float64, shape (n, 10).

    They are the logarithms of one plus its degree and its triangles, its clustering coefficient,
    the means of the three over its neighbors, the means of these means, and how far the
    logarithms of its neighbors' degrees are spread.

    Examples
    --------
    >>> features(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))[3, :6].round(2).tolist()
    [0.69, 0.0, 0.0, 1.39, 0.33, 0.69]
    """
    degrees = graph.degrees().astype(np.float64)
    near, at_least_1 = graph.to_scipy().astype(np.float64), np.maximum(degrees, 1)[:, None]
    corners = triangles(graph)
    clustering = corners / np.maximum(degrees * (degrees - 1) / 2, 1)
    around = np.column_stack([np.log1p(degrees), clustering, np.log1p(corners)])
    columns = [around]
    for _ in range(HOPS):
        around = near @ around / at_least_1
        columns.append(around)
    logs = np.column_stack([np.log1p(degrees), np.log1p(degrees) ** 2])
    means, squares = (near @ logs / at_least_1).T
    columns.append(np.sqrt(np.maximum(squares - means**2, 0))[:, None])
    return np.hstack(columns)


def scaled(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns less their medians, over their spread, at most 8 from 0.

    The spread is that of a normal distribution of the same median deviation, or the standard
    deviation where half of the values are equal.

    Examples
    --------
    >>> scaled(np.array([[1.0], [2.0], [3.0], [99.0]])).round(2).tolist()
    [[-1.01], [-0.34], [0.34], [8.0]]
    """
    if not columns.size:
        return columns
    from_median = columns - np.median(columns, axis=0)
    spread = _TO_SD * np.median(np.abs(from_median), axis=0)
    spread = np.where(spread > 0, spread, columns.std(axis=0))
    shown: NDArray[np.float64] = np.clip(
        from_median / np.where(spread > 0, spread, 1), -_FARTHEST, _FARTHEST
    )
    return shown

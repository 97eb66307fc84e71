"""How unlike the surroundings of two networks' nodes are, whatever was added, dropped or lacking.

Three comparisons of all pairs of nodes, for the starts of `one_to_one.py`: (1) degrees, per edge
type and direction; (2) degrees, mean roots of the neighbors' degrees, and how many neighbors show
each attribute value; (3) Euclidean distances of ten features. The first two are about minus
logarithms of likelihoods: twice the root of a count of chance edges has variance 1 (Anscombe), so
half a squared difference of roots is one. graphveil's own. Cost: n squared per comparison, and
products of sparse matrices.

A further kind of knowledge about both sides that is a number per node is one more count here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.copies.paired_copy import Pairing
from graphveil.attacks.networks.copies.side_information import (
    SideInformation,
    degrees,
    matrix,
    totals,
)
from graphveil.core.array_types import Floats, Ints
from graphveil.core.libraries import distance
from graphveil.data import Graph
from graphveil.data.csr import SortedLists
from graphveil.measures.values import triangles

Distances: TypeAlias = "NDArray[np.float32]"
"""A number for every pair of nodes, one of each network, float32, shape (n, n); 0 for people whom
the copy lacks."""

Counts: TypeAlias = "Ints"

FAR_OFF = np.float32(1e4)
"""The distance between a node and a person with different attributes: far above all others."""

MOST_VALUES = 60
"""If there are more attribute values, times neighbor lists, none are counted around people: each
costs an n times n array in the comparison."""

HOPS = 2
"""How often means over neighbors are taken: means of means reach two steps."""
_ANSCOMBE, _TO_SD, _FARTHEST = 0.375, 1.4826, 8.0
"""Anscombe's constant 3/8 in the root of counts; the factor from a median absolute deviation to a
standard deviation of a normal distribution; and how far from 0 a scaled feature may be."""
_LEAST_SIGNAL, _MOST_TIES, _PER_TIES = 0.05, 30.0, 10.0
"""The least share of the variance of released degrees that is taken for true differences
(`_LEAST_SIGNAL`); up to how many neighbors a mean counts for more (`_MOST_TIES`), and how many
count as one observation of weight 1 (`_PER_TIES`)."""


def distances(two: Pairing) -> Iterator[Distances]:
    """Yield how unlike any two nodes are, by three comparisons, each float32, shape (n, n).

    Degrees of the copy are first mapped onto those of the release, by means and variances, so that
    edges added or dropped by chance at equal rates do not mislead.
    """
    absent = ~two.present
    apart = None if two.side_information.rows is None else two.side_information.rows.excluded()
    # Comparison 1: degrees. Comparison 2 adds the neighbors' degrees and values. Comparison 3:
    # features.
    own = _summed(
        two,
        zip(
            degrees(two.side_information.copy), degrees(two.side_information.released), strict=True
        ),
    )
    around = (
        own
        + _of_neighbors(two)
        + _summed(two, zip(*values_around(two.side_information), strict=True))
    )
    for far in (own, around, _of_features(two)):
        # People whom the copy lacks may be anybody.
        far[absent] = 0
        if apart is not None:
            far[apart] = FAR_OFF
        yield far


def _summed(two: Pairing, numbers: Iterable[tuple[Counts, Counts]]) -> Distances:
    """Return the sum over some counts of half the squared differences of their roots."""
    n = two.truth.size
    far: Distances = np.zeros((n, n), dtype=np.float32)
    for both in numbers:
        copy, released = (counts.astype(np.float64) for counts in both)
        mapped = _as_released(two, copy, released)
        far += _halved_square(*(2 * np.sqrt(some + _ANSCOMBE) for some in (mapped, released)))
    return far


def _as_released(two: Pairing, copy: Floats, released: Floats) -> Floats:
    """Return what degrees of the copy would be in the release, by means and variances of both."""
    # A copy of a part has about this share of everybody's edges.
    if not two.present.all():
        return copy / max(float(two.present.mean()), 1 / copy.size)
    # The variance of released degrees less that of chance edges (about the mean, as in a Poisson
    # distribution) is what people truly differ by; the copy's degrees are stretched to it.
    signal = max(released.var() - released.mean(), _LEAST_SIGNAL * released.var())
    slope = np.sqrt(signal / max(copy.var(), np.finfo(float).tiny)) if copy.var() else 1.0
    mapped: Floats = released.mean() + slope * (copy - copy.mean())
    return np.maximum(mapped, 0)


def _halved_square(one: Floats, two: Floats) -> Distances:
    apart = one.astype(np.float32)[:, None] - two.astype(np.float32)[None, :]
    apart *= apart
    apart /= 2
    return apart


def _of_neighbors(two: Pairing) -> Distances:
    """Return the same of the neighbors' mean roots; it weighs more where there are many of them."""
    sides = two.side_information.copy, two.side_information.released
    roots = [2 * np.sqrt(totals(side).astype(np.float64) + _ANSCOMBE) for side in sides]
    n = two.truth.size
    far: Distances = np.zeros((n, n), dtype=np.float32)
    for lists in zip(*sides, strict=True):
        far += _of_means(lists, roots)
    return far


def _of_means(lists: tuple[SortedLists, SortedLists], roots: Sequence[Floats]) -> Distances:
    """Return half the squared differences of the mean roots in some lists of neighbors."""
    scaled, many = [], []
    for some, values in zip(lists, roots, strict=True):
        # The mean root of the neighbors' degrees of every node, standardized with weights by
        # degree.
        own = np.diff(some.indptr).astype(np.float64)
        means = matrix(some, np.float64) @ values / np.maximum(own, 1)
        weights = own / max(own.sum(), 1)
        center = weights @ means
        spread = np.sqrt(weights @ np.square(means - center))
        scaled.append(np.where(own > 0, (means - center) / max(spread, 1e-9), 0))
        many.append(np.sqrt(own).astype(np.float32))
    apart = _halved_square(*scaled)
    # A mean of many neighbors is less noisy and weighs more, up to a limit.
    apart *= np.minimum(np.outer(*many), np.float32(_MOST_TIES)) / np.float32(_PER_TIES)
    return apart


def values_around(side_information: SideInformation) -> tuple[list[Counts], list[Counts]]:
    """Return how many neighbors show each value of each attribute, in each of the lists.

    >>> from graphveil.attacks.networks.signatures import KnownRows
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> codes = np.array([[0], [0], [1]], dtype=np.int32)
    >>> both = SideInformation.of_graphs(path, path, KnownRows(codes, codes))
    >>> [counts.tolist() for counts in values_around(both)[0]]
    [[1, 1, 1], [0, 1, 0]]
    """
    rows = side_information.rows
    if rows is None:
        return [], []
    both = np.concatenate([rows.known, rows.shown])
    # One count per attribute value that either side shows.
    values = [(at, code) for at, column in enumerate(both.T) for code in np.unique(column)]
    values = [(at, code) for at, code in values if code >= 0]
    if len(values) * len(side_information.copy) > MOST_VALUES:
        return [], []
    counted = [
        [matrix(lists, np.int64) @ (codes[:, at] == code) for lists in side for at, code in values]
        for side, codes in (
            (side_information.copy, rows.known),
            (side_information.released, rows.shown),
        )
    ]
    return counted[0], counted[1]


def _of_features(two: Pairing) -> Distances:
    """Return the Euclidean distances of robustly scaled features."""
    side_information = two.side_information
    more = (
        [side_information.copy, side_information.released]
        if len(side_information.copy) > 1
        else [(), ()]
    )
    # The ten features, degrees per list if there are several, and counts of attribute values.
    both = [
        np.column_stack(
            [features(graph), *map(np.log1p, [*(np.diff(some.indptr) for some in lists), *around])]
        )
        for graph, lists, around in zip(
            (two.copy, two.released), more, values_around(side_information), strict=True
        )
    ]
    # Each network is scaled by itself: edges added everywhere shift all nodes equally.
    copy, released = both
    copy[two.present] = scaled(copy[two.present])
    far: Distances = distance.cdist(copy, scaled(released)).astype(np.float32)
    return far


def features(graph: Graph) -> Floats:
    """Return what each node's surroundings are like, float64, shape (n, 10).

    They are the logarithms of one plus its degree and its triangles, its clustering coefficient,
    the means of the three over its neighbors, the means of these means, and how far the logarithms
    of its neighbors' degrees are spread.
    """
    # Logarithms: a few edges more or less matter little where there are many.
    numbers = graph.degrees().astype(np.float64)
    near, at_least_1 = graph.to_scipy().astype(np.float64), np.maximum(numbers, 1)[:, None]
    corners = triangles(graph)
    clustering = corners / np.maximum(numbers * (numbers - 1) / 2, 1)
    around = np.column_stack([np.log1p(numbers), clustering, np.log1p(corners)])
    columns = [around]
    # Means over neighbors, then means of these means.
    for _ in range(HOPS):
        around = near @ around / at_least_1
        columns.append(around)
    logs = np.column_stack([np.log1p(numbers), np.log1p(numbers) ** 2])
    means, squares = (near @ logs / at_least_1).T
    columns.append(np.sqrt(np.maximum(squares - means**2, 0))[:, None])
    return np.hstack(columns)


def scaled(columns: Floats) -> Floats:
    """Return columns less their medians, over their spread, at most 8 from 0.

    The spread is that of a normal distribution of the same median deviation, or the standard
    deviation where half of the values are equal.
    """
    if not columns.size:
        return columns
    from_median = columns - np.median(columns, axis=0)
    # Median absolute deviation: a few nodes of huge degree do not set the scale.
    spread = _TO_SD * np.median(np.abs(from_median), axis=0)
    spread = np.where(spread > 0, spread, columns.std(axis=0))
    return np.asarray(np.clip(from_median / np.where(spread > 0, spread, 1), -_FARTHEST, _FARTHEST))

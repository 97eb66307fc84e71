"""What `degree-triangle-model` asks of the original, and the graph that it draws from that alone.

The graph is drawn in whole numbers: the stated numbers and the seed give it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from graphveil.claims.conditions import SHAPE
from graphveil.core.randomness import Randomness, public_stream, public_words
from graphveil.data import Graph
from graphveil.methods.noise import words_from
from graphveil.methods.noise.ladder import Steps, ladder, rate_of
from graphveil.methods.noisy_cells.degree_estimation import expected_degrees, likeliest_histogram
from graphveil.methods.noisy_cells.noisy_statistics import (
    edges_between,
    noisy_degrees,
    noisy_mixing,
)
from graphveil.methods.random_graphs.baselines import GROUPS, Cuts, Floats, Ints, cut, numbers_from
from graphveil.methods.random_graphs.kernels import triangles as kernel

CLASSES = 4
"""The most classes, by which triangles are counted."""


def second_largest(noisy: Ints) -> int:
    """Return the second-largest noisy degree, at least 0."""
    return max(int(np.partition(noisy, -2)[-2]), 0)


def floor_of(noisy: Ints) -> int:
    """Return the ladder's least first step, which no edge changes once noisy degrees are out."""
    return min(max(second_largest(noisy) // 4, 1), noisy.size - 2)


class Statistics(NamedTuple):
    """What was released under epsilon, and what follows from it.

    `mixing` holds edges between groups g <= h, `triangles` are by their lowest class, `floor` is
    the least first step of the ladder.
    """

    edges: int
    degrees: Ints
    groups: Cuts
    classes: Cuts
    mixing: Ints
    floor: int
    rate: Fraction
    triangles: Ints


def noisy_statistics(
    data: Graph, randomness: Randomness, parts: Mapping[str, Fraction]
) -> Statistics:
    """Return the statistics of a graph with at least three nodes."""
    count, degrees = noisy_degrees(data, randomness, parts)
    expected = expected_degrees(degrees, parts["epsilon_degrees"] / 2, count)
    groups, classes = cut(degrees, expected, GROUPS), cut(degrees, np.sqrt(expected), CLASSES)
    mixing = noisy_mixing(data, groups.of_node, parts["epsilon_mixing"], randomness)
    floor = floor_of(degrees)
    rate = rate_of(parts["epsilon_triangles"], classes.least.size, floor)
    counts, steps = triangles_and_steps(data, classes, floor)
    triangles = ladder(words_from(randomness, "noisy triangles"), counts, steps, rate)
    return Statistics(count, degrees, groups, classes, mixing, floor, rate, triangles)


def edges_between_groups(data: Graph, groups: Cuts) -> Ints:
    """Return how many edges there are between groups g <= h: an edge is counted in one place."""
    return edges_between(data, groups.of_node, groups.least.size)


def triangles_and_steps(data: Graph, classes: Cuts, floor: int) -> tuple[Ints, Steps]:
    """Return the triangles by lowest class, and the ladder of this graph.

    An edge changes the sum of the triangles by the neighbors that its ends share, which are at most
    as many as any two nodes share, connected or not; and that number by one at most.
    """
    indptr, indices, most = data.indptr, data.indices, data.n_nodes - 2
    counts = kernel.triangles_by_class(indptr, indices, classes.of_node, classes.least.size)
    shared = int(kernel.most_in_common(indptr, indices))
    return counts, Steps(first=min(max(shared, floor), most), most=most)


ROUNDS = 300
SCALINGS = 200
SPREAD_FROM, LARGEST_KEPT, SPREAD = 6, 5, 0.1
"""Degrees of at least so much, but for so many largest ones, are spread by so much."""

LARGEST_SHARE = 0.9
"""The most of the pairs between two groups that are edges."""

_NOTHING = 1e-300


class Shape(NamedTuple):
    """The degrees that the graph is to have, of even sum, and the edges between groups g <= h."""

    degrees: Ints
    between: Ints


def shape_of(noisy: Statistics, decay: float, seed: int) -> Shape:
    """Return degrees and edges between groups that fit the noisy statistics; the seed is public."""
    n, size = noisy.degrees.size, noisy.groups.least.size
    numbers = numbers_from(next(public_words(seed, 3 * n + 1 + size * size, SHAPE)))
    degrees = drawn_degrees(noisy, decay, numbers[: 3 * n + 1])
    rounding = numbers[3 * n + 1 :].reshape(size, size)
    return Shape(degrees, stubs_between(noisy.mixing, noisy.groups, degrees, rounding))


def drawn_degrees(noisy: Statistics, decay: float, numbers: Floats) -> Ints:
    """Return a degree for every node, drawn from what its noisy degree says of it.

    The `numbers` from 0 to 1, 3 n + 1 of them, are for the degrees, for their spread, for their
    rounding, and for the node that makes an odd sum even.
    """
    n = noisy.degrees.size
    values = np.clip(noisy.degrees, 0, n - 1)
    histogram = likeliest_histogram(values, decay, ROUNDS)
    degrees = np.zeros(n)
    present, firsts, sizes = np.unique(values, return_index=True, return_counts=True)
    every = np.arange(histogram.size)
    offsets = numbers[: present.size]
    for value, first, size, offset in zip(present, firsts, sizes, offsets, strict=True):
        chances = np.cumsum(histogram * decay ** np.abs(every - value))
        quantiles = (offset + np.arange(size)) / size * chances[-1]
        degrees[first : first + size] = np.searchsorted(chances, quantiles, side="right")
    spread = _spread(np.minimum(degrees, n - 1), numbers[n : 2 * n])
    return _whole(spread, noisy.edges, numbers[2 * n :])


def _spread(degrees: Floats, numbers: Floats) -> Floats:
    """Return degrees with the heaps of the histogram spread out, but for the largest."""
    spread = degrees >= SPREAD_FROM
    spread[np.argsort(degrees, kind="stable")[-LARGEST_KEPT:]] = False
    return np.where(spread, degrees * (1 + SPREAD * (2 * numbers - 1)), degrees)


def _whole(degrees: Floats, count: int, numbers: Floats) -> Ints:
    """Return whole degrees that sum to about twice the number of edges, and to an even number."""
    n = degrees.size
    total = float(degrees.sum())
    scaled = degrees * (2 * count / total) if total else np.full(n, 2 * count / n)
    whole = np.ceil(np.minimum(scaled, n - 1) - numbers[:n]).astype(np.int64)
    if whole.sum() % 2:
        free = np.flatnonzero(whole < n - 1)
        whole[free[int(numbers[n] * free.size)]] += 1
    return whole


def stubs_between(mixing: Ints, groups: Cuts, degrees: Ints, rounding: Floats) -> Ints:
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
    return _whole_between(wanted, ends.astype(np.int64), rounding)


def _whole_between(wanted: Floats, ends: Ints, rounding: Floats) -> Ints:
    """Return whole numbers near these with which every group has exactly so many ends of edges.

    Each pair of groups is rounded at random; what a group then has left is connected inside it.
    Where that is odd, two such groups get an edge more, the first ones; where it is less than
    nothing, the pair with most edges gives way.
    """
    whole = np.triu(np.floor(wanted + rounding).astype(np.int64), 1)
    whole += whole.T
    left = ends - whole.sum(axis=1)
    while left.min() < 0 or (left % 2).any():
        if left.min() < 0:
            g, step = int(np.argmin(left)), -1
            h = int(np.argmax(whole[g]))
        else:
            (g, h), step = np.flatnonzero(left % 2)[:2].tolist(), 1
        whole[g, h] += step
        whole[h, g] += step
        left[[g, h]] -= step
    return np.triu(whole, 1) + np.diag(left // 2)


PROPOSALS, MORE_PROPOSALS = 100, 25
"""How many exchanges are proposed, for each edge; and further ones, without groups."""

ODDS = (107374182, 39500754, 14531515, 5345845, 1966626, 723481, 266153)
"""With which chance an exchange is kept that brings triangles no nearer, by how much: 0, 1,
..., in units of 2^-30: a tenth of e^-k."""


class Drawn(NamedTuple):
    """A graph, the triangles by class aimed at, and how many edges no exchange could fix."""

    ends: Ints
    aims: Ints
    unmended: int


def drawn(noisy: Statistics, shape: Shape, seed: int) -> Drawn:
    """Return a graph with these degrees, edges between groups, and about these triangles."""
    rng = public_stream(seed)
    n, classes = noisy.degrees.size, noisy.classes.of_node
    ends, unmended = started(noisy.groups.of_node, shape, rng)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], n=n)
    there = kernel.triangles_by_class(graph.indptr, graph.indices, classes, noisy.triangles.size)
    aims = aimed_at(noisy, there)
    wiring = kernel.wired(n, ends)
    marks = kernel.Marks(
        classes, noisy.groups.of_node, *_members(classes, aims.size, wiring.pointers)
    )
    tally = kernel.Tally(there, aims, np.zeros_like(aims), np.array(ODDS, dtype=np.int64))
    off = kernel.approach(wiring, marks, tally, PROPOSALS * len(ends), 1, rng)
    if 50 * off > aims.sum():
        kernel.approach(wiring, marks, tally, MORE_PROPOSALS * len(ends), 0, rng)
    edges = np.column_stack([wiring.owners, wiring.slots])
    return Drawn(edges[edges[:, 0] < edges[:, 1]], aims, unmended)


def started(groups: Ints, shape: Shape, rng: np.random.Generator) -> tuple[Ints, int]:
    """Return the edges of a graph of this shape with triangles by chance, and how many it lacks."""
    by_group = np.argsort(groups, kind="stable")
    stubs = np.repeat(by_group, shape.degrees[by_group])
    sizes = np.bincount(groups, weights=shape.degrees).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.zeros((stubs.size // 2, 2), dtype=np.int64)
    kernel.deal(stubs, starts, shape.between, ends, rng)
    counts = shape.between[np.triu_indices(sizes.size)]
    behind = np.repeat(np.cumsum(counts), counts)
    blocks = np.column_stack([behind - np.repeat(counts, counts), behind])
    good = np.zeros(len(ends), dtype=np.bool_)
    kernel.repair_edges(ends, blocks, kernel.wired(groups.size, ends, filled=False), good, rng)
    return ends[good], int(np.count_nonzero(~good))


def aimed_at(noisy: Statistics, there: Ints) -> Ints:
    """Return the triangles to aim at: the noisy ones, drawn towards the start as noise is large."""
    scale = max(second_largest(noisy.degrees) * Fraction(3, 5), Fraction(12, 5)) / noisy.rate
    aims = []
    for noisy_one, start in zip(noisy.triangles.tolist(), there.tolist(), strict=True):
        apart = noisy_one - start
        kept = max(apart * apart - scale * scale / 2, Fraction(0)) / (apart or 1)
        aims.append(max(start + round(kept), 0))
    return np.array(aims, dtype=np.int64)


def _members(classes: Ints, number: int, pointers: Ints) -> tuple[Ints, Ints]:
    """Return the nodes by class, each as often as it has edges, and where each class begins."""
    nodes = np.repeat(np.arange(classes.size), np.diff(pointers))
    nodes = nodes[np.argsort(classes[nodes], kind="stable")]
    return nodes, np.searchsorted(classes[nodes], np.arange(number + 1))

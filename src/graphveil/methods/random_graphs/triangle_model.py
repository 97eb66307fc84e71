"""The graph that `degree-triangle-model` generates from its noisy statistics and a public seed.

Post-processing of what `triangle_statistics` releases: no privacy depends on anything here.

1. a degree for every node, sampled from the posterior of its noisy degree (`sampled_degrees`);
2. the number of edges between any two groups, scaled to fit both the degrees and the noisy counts
   (`stubs_between`);
3. a random graph with these (`random_start`), by the configuration model with repairs;
4. exchanges of edges until it has about the noisy triangles (`generated_graph`). The aim is shrunk
   towards the start if the noise is large, so that noise alone moves nothing (`aimed_at`).

Degrees, edges between groups and aims are whole numbers that the release states: from them and the
seed the same graph is generated again, in whole numbers.

Cost: O(n log n + m), and up to 125 proposals of exchanges per edge.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from graphveil.claims.conditions import SHAPE
from graphveil.core.array_types import Floats, Ints
from graphveil.core.randomness import public_stream, public_words
from graphveil.data import Graph
from graphveil.methods.noisy_cells.degree_estimation import likeliest_histogram
from graphveil.methods.random_graphs.kernels import triangle_exchanges as exchanges
from graphveil.methods.random_graphs.kernels import triangles
from graphveil.methods.random_graphs.placement import Cuts, numbers_from
from graphveil.methods.random_graphs.triangle_statistics import Statistics, second_largest

ROUNDS = 300
"""Rounds of expectation maximization for the histogram of degrees.

More rounds sharpen it towards few degrees (see `SPREAD`); fewer leave it closer to uniform.
"""

SCALINGS = 200
"""Rounds of symmetric scaling of the edges between groups to the sums of degrees.

It bounds the run time of `stubs_between`; what the last round misses, `_whole_between` repairs.
"""

SPREAD_FROM, LARGEST_KEPT, SPREAD = 6, 5, 0.1
"""Degrees from 6 on, but for the five largest, are spread by up to 10%.

Expectation maximization concentrates the histogram on few degrees; spreading fills the gaps. Small
degrees would round back, and the largest ones are well known from their noisy degrees.
"""

LARGEST_SHARE = 0.9
"""The most of the pairs between two groups that are edges: denser ones could not be repaired."""

_NOTHING = 1e-300
"""Instead of 0 in a denominator."""


class Shape(NamedTuple):
    """The degrees and the mixing that the graph is to have.

    `degrees`: int64, shape (n,), of even sum; `between`: int64, shape (groups, groups): the edges
    between groups g <= h, which use up all degrees.
    """

    degrees: Ints
    between: Ints


def shape_of(noisy: Statistics, decay: float, seed: int) -> Shape:
    """Return degrees and edges between groups that fit the noisy statistics.

    `decay`: e^-epsilon of the noise of a degree; `seed`: the public seed.
    """
    n, size = noisy.degrees.size, noisy.groups.least.size
    numbers = numbers_from(next(public_words(seed, 3 * n + 1 + size * size, SHAPE)))
    degrees = sampled_degrees(noisy, decay, numbers[: 3 * n + 1])
    rounding = numbers[3 * n + 1 :].reshape(size, size)
    return Shape(degrees, stubs_between(noisy.mixing, noisy.groups, degrees, rounding))


def sampled_degrees(noisy: Statistics, decay: float, numbers: Floats) -> Ints:
    """Return a degree for every node, sampled from its posterior given its noisy degree.

    Sampled rather than ranked or averaged: otherwise all nodes of low noisy degree would get a low
    degree, and could be in no triangle of the lowest class.

    `numbers`: float64, shape (3n + 1,), from 0 to 1: for the degrees, for their spread, for their
    rounding, and for the node that makes an odd sum even. Nodes are in ascending order of noisy
    degree.
    """
    # The histogram h of true degrees, from all noisy ones.
    n = noisy.degrees.size
    values = np.clip(noisy.degrees, 0, n - 1)
    histogram = likeliest_histogram(values, decay, ROUNDS)
    degrees = np.zeros(n)
    present, firsts, sizes = np.unique(values, return_index=True, return_counts=True)
    # For the nodes of each noisy degree: systematic sampling from h(d) decay^|noisy - d|, with one
    # uniform offset, so that they get every degree about as often as it is likely.
    all_degrees = np.arange(histogram.size)
    offsets = numbers[: present.size]
    for value, first, size, offset in zip(present, firsts, sizes, offsets, strict=True):
        cumulated = np.cumsum(histogram * decay ** np.abs(all_degrees - value))
        quantiles = (offset + np.arange(size)) / size * cumulated[-1]
        degrees[first : first + size] = np.searchsorted(cumulated, quantiles, side="right")
    spread = _spread(np.minimum(degrees, n - 1), numbers[n : 2 * n])
    return _whole(spread, noisy.edges, numbers[2 * n :])


def _spread(degrees: Floats, numbers: Floats) -> Floats:
    """Return degrees with the peaks of the histogram spread out, but for the largest ones."""
    spread = degrees >= SPREAD_FROM
    spread[np.argsort(degrees, kind="stable")[-LARGEST_KEPT:]] = False
    return np.where(spread, degrees * (1 + SPREAD * (2 * numbers - 1)), degrees)


def _whole(degrees: Floats, count: int, numbers: Floats) -> Ints:
    """Return whole degrees that sum to about twice the number of edges, and to an even number.

    `count`: the noisy number of edges; `numbers`: from 0 to 1, for random rounding and for the node
    whose degree grows by one if the sum is odd.
    """
    # A number x is rounded at random to ceil(x - U), for U uniform on [0, 1): on average it is x.
    n = degrees.size
    total = float(degrees.sum())
    scaled = degrees * (2 * count / total) if total else np.full(n, 2 * count / n)
    whole = np.ceil(np.minimum(scaled, n - 1) - numbers[:n]).astype(np.int64)
    if whole.sum() % 2:
        free = np.flatnonzero(whole < n - 1)
        whole[free[int(numbers[n] * free.size)]] += 1
    return whole


def stubs_between(mixing: Ints, groups: Cuts, degrees: Ints, rounding: Floats) -> Ints:
    """Return how many edges are to be between groups, as near the noisy counts as degrees allow.

    `mixing`: the noisy counts; `degrees`: those of `sampled_degrees`; `rounding`: numbers from 0 to
    1, shape (groups, groups).
    """
    # A symmetric matrix of stubs from group to group, from the noisy counts. An edge inside a group
    # has both of its ends there. Half an edge is added, so that no pair of groups stays at 0.
    ends = np.bincount(groups.of_node, weights=degrees, minlength=groups.least.size)
    sizes = np.bincount(groups.of_node, minlength=groups.least.size)
    wanted = np.maximum(mixing, 0) + 0.5
    wanted = np.triu(wanted, 1) + np.triu(wanted, 1).T + 2 * np.diag(np.diag(wanted))
    most = LARGEST_SHARE * (np.outer(sizes, sizes) - np.diag(sizes))
    # Symmetric scaling (Sinkhorn) until the rows sum to the degrees of the groups.
    for _ in range(SCALINGS):
        wanted = np.minimum(wanted, most)
        factors = np.sqrt(ends / np.maximum(wanted.sum(axis=1), _NOTHING))
        wanted = wanted * np.outer(factors, factors)
    return _whole_between(wanted, ends.astype(np.int64), rounding)


def _whole_between(wanted: Floats, ends: Ints, rounding: Floats) -> Ints:
    """Return whole numbers of edges near `wanted` that use up exactly the ends of every group.

    Each pair of groups is rounded at random; the ends that a group then has left are connected
    inside it. If their number is odd in some groups, the first two of these get one more edge
    between them. If it is negative, the pair of groups with the most edges loses one.
    """
    edges = np.triu(np.floor(wanted + rounding).astype(np.int64), 1)
    edges += edges.T
    left = ends - edges.sum(axis=1)
    while left.min() < 0 or (left % 2).any():
        if left.min() < 0:
            g, step = int(np.argmin(left)), -1
            h = int(np.argmax(edges[g]))
        else:
            (g, h), step = np.flatnonzero(left % 2)[:2].tolist(), 1
        edges[g, h] += step
        edges[h, g] += step
        left[[g, h]] -= step
    return np.triu(edges, 1) + np.diag(left // 2)


PROPOSALS, MORE_PROPOSALS = 100, 25
"""The most exchanges that are proposed per edge; and further ones that may change the mixing.

They bound the run time: more come nearer to the aims.
"""

ODDS = (107374182, 39500754, 14531515, 5345845, 1966626, 723481, 266153)
"""The probabilities, in units of 2^-30, of keeping an exchange that makes the counts k worse.

For k = 0, 1, ..., 6 it is a tenth of e^-k, as whole numbers, so that `verify` computes the same;
beyond it is 0.
"""


class GeneratedGraph(NamedTuple):
    """A generated graph.

    Parameters
    ----------
    ends
        int64, shape (edges, 2): both places of every edge.
    aims
        int64, shape (classes,): the triangles by class that were aimed at.
    unmended
        How many edges were dropped, since no exchange could repair them.
    """

    ends: Ints
    aims: Ints
    unmended: int


def generated_graph(noisy: Statistics, shape: Shape, seed: int) -> GeneratedGraph:
    """Return a graph with these degrees, edges between groups, and about the noisy triangles.

    `noisy`: the statistics, with nodes in order of their places; `seed`: the public seed.
    """
    # Step 1: a random graph of this shape, and the triangles that it has by chance.
    rng = public_stream(seed)
    n, classes = noisy.degrees.size, noisy.classes.of_node
    ends, unmended = random_start(noisy.groups.of_node, shape, rng)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], n=n)
    initial = triangles.triangles_by_class(
        graph.indptr, graph.indices, classes, noisy.triangles.size
    )
    # Step 2: what to aim at, and the tables of the exchanges.
    aims = aimed_at(noisy, initial)
    wiring = exchanges.wired(n, ends)
    marks = exchanges.Marks(
        classes, noisy.groups.of_node, *_members(classes, aims.size, wiring.pointers)
    )
    tally = exchanges.Tally(initial, aims, np.zeros_like(aims), np.array(ODDS, dtype=np.int64))
    # Step 3: exchanges that keep degrees and mixing. If the triangles are still more than 2% of the
    # sum of all aims away from the aims, some that keep the degrees alone.
    off = exchanges.approach(wiring, marks, tally, PROPOSALS * len(ends), 1, rng)
    if 50 * off > aims.sum():
        exchanges.approach(wiring, marks, tally, MORE_PROPOSALS * len(ends), 0, rng)
    edges = np.column_stack([wiring.owners, wiring.slots])
    return GeneratedGraph(edges[edges[:, 0] < edges[:, 1]], aims, unmended)


def random_start(groups: Ints, shape: Shape, rng: np.random.Generator) -> tuple[Ints, int]:
    """Return the edges of a random graph of this shape, and how many edges it lacks.

    `groups`: int64, shape (n,): the group of every node.
    """
    # Stubs by group, paired at random as `shape.between` says.
    by_group = np.argsort(groups, kind="stable")
    stubs = np.repeat(by_group, shape.degrees[by_group])
    sizes = np.bincount(groups, weights=shape.degrees).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = np.zeros((stubs.size // 2, 2), dtype=np.int64)
    exchanges.deal(stubs, starts, shape.between, ends, rng)
    # Loops and double edges are exchanged with others, first inside their pair of groups.
    counts = shape.between[np.triu_indices(sizes.size)]
    stop = np.repeat(np.cumsum(counts), counts)
    blocks = np.column_stack([stop - np.repeat(counts, counts), stop])
    good = np.zeros(len(ends), dtype=np.bool_)
    exchanges.repair_edges(
        ends, blocks, exchanges.wired(groups.size, ends, filled=False), good, rng
    )
    return ends[good], int(np.count_nonzero(~good))


def aimed_at(noisy: Statistics, initial: Ints) -> Ints:
    """Return the triangles to aim at: the noisy ones, shrunk towards the start by their noise.

    With d the difference of a noisy count from the count of the start, and s the scale of its
    noise, the aim is start + d max(0, 1 - s^2 / (2 d^2)), at least 0. A difference that noise alone
    explains moves nothing. `initial`: int64, shape (classes,): the triangles of the start.
    """
    # The scale: a typical step of the ladder, over the rate. The true first step is never released;
    # 0.6 of the second-largest noisy degree, and at least 2.4, stands for it. How these numbers
    # were chosen is not recorded; larger ones stay nearer to the start. Fractions, so that `verify`
    # computes the same.
    scale = max(second_largest(noisy.degrees) * Fraction(3, 5), Fraction(12, 5)) / noisy.rate
    aims = []
    for count, start in zip(noisy.triangles.tolist(), initial.tolist(), strict=True):
        difference = count - start
        shrunk = max(difference * difference - scale * scale / 2, Fraction(0)) / (difference or 1)
        aims.append(max(start + round(shrunk), 0))
    return np.array(aims, dtype=np.int64)


def _members(classes: Ints, number: int, pointers: Ints) -> tuple[Ints, Ints]:
    """Return the nodes by class, each as often as it has edges, and where each class begins.

    `number`: of classes; `pointers`: those of the wiring.
    """
    nodes = np.repeat(np.arange(classes.size), np.diff(pointers))
    nodes = nodes[np.argsort(classes[nodes], kind="stable")]
    return nodes, np.searchsorted(classes[nodes], np.arange(number + 1))

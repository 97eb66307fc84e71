"""Points for the nodes of two networks: near if surroundings are similar, in spite of noise.

The candidates of `near_candidates.py` are the nearest points. Features of nodes are counted in both
networks; the attacker then adds noise to the copy and sees how the features of the same people
change. Directions in which people differ most in proportion to that change are the coordinates
(Fisher's linear discriminant, each person and the same person under noise being a class), in units
of the noise. The construction is graphveil's own.

No step holds all pairs of nodes. Cost: products of sparse matrices for features, linear in edges,
and a k-d tree for nearest points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.networks.assignment.surroundings import values_around
from graphveil.attacks.networks.copies.paired_copy import NOT_KNOWN, Pairing, random_pairs
from graphveil.attacks.networks.copies.side_information import SideInformation, degrees
from graphveil.attacks.networks.signatures import KnownRows
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.data import Graph
from graphveil.evaluate.comparison import Bools, Int32s
from graphveil.measures.values import triangles

Columns: TypeAlias = "Floats"
Nodes: TypeAlias = "Int32s"
"""Released nodes for every node of the copy, int32, shape (n, candidates); -1 where there are
fewer."""

HOPS, RANKS, STAYING = 3, 20, 0.7
"""How many times means over neighbors are taken (`HOPS`); how often the rank is passed on
(`RANKS`), and which share of it is (`STAYING`): after 20 steps less than a thousandth of the start
is left."""

_ANSCOMBE, _RIDGE, _FEWEST_ALIKE, _LEAST_NOISE = 0.375, 1e-3, 20, 1e-2
"""Anscombe's constant 3/8 in the root of counts; `_RIDGE` keeps the covariance of changes
invertible; groups of degrees with fewer nodes than `_FEWEST_ALIKE` have no noise of their own;
`_LEAST_NOISE` is the least noise of a node, so that no distance is divided by nearly 0."""


class Points(NamedTuple):
    """Where the nodes of both networks are.

    Parameters
    ----------
    copy, released : float64, shape (n, d)
        Coordinates in units of the noise.
    noise : float64, shape (n,)
        The mean square of a coordinate's change by noise, for each node of the copy; nodes with
        many edges change less.
    """

    copy: Columns
    released: Columns
    noise: Columns

    def far(self, nodes: Nodes) -> NDArray[np.float32]:
        """Return how far each node of the copy is from some nodes: minus logarithms of likelihoods.

        >>> points = Points(np.array([[0.0]]), np.array([[2.0], [0.0]]), np.ones(1))
        >>> points.far(np.array([[0, 1]])).tolist()
        [[2.0, 0.0]]
        """
        far = np.zeros(nodes.shape, dtype=np.float32)
        for at, column in enumerate(nodes.T):
            apart = self.copy - self.released[np.maximum(column, 0)]
            far[:, at] = np.einsum("ij,ij->i", apart, apart) / (2 * self.noise)
        return far


def points(two: Pairing, noise: float, most: int, rng: np.random.Generator) -> Points:
    """Return where the nodes of a copy and of a release are.

    Parameters
    ----------
    two : Pairing
        The copy next to the release.
    noise : float
        The share of edges that is taken to be wrong.
    most : int
        How many coordinates there are at most.
    rng : numpy.random.Generator
        The noise that is added.

    Returns
    -------
    Points
        Coordinates of both, and how much noise moves each node.
    """
    from scipy import linalg  # noqa: PLC0415  heavy: not for help

    side_information = two.side_information
    # Step 1: features of the copy, of the release, and of the copy under noise of the assumed size;
    # in each, standardized over the nodes with edges.
    degree = max(int(graph.degrees().max(initial=2)) for graph in (two.copy, two.released))
    bins = int(np.ceil(np.log2(degree))) + 1  # the powers of 2 that degrees reach, and one more
    numbers = [[np.log1p(number) for number in side] for side in _numbers(side_information)]
    tied = two.copy.degrees() > 0
    noisy = _with_noise(two.copy, noise, rng)
    thinned = _thinned(numbers[0], noise, rng)
    own, other, again = (
        _standardized(np.column_stack([features(graph, bins), *more]), those)
        for graph, more, those in (
            (two.copy, numbers[0], tied),
            (two.released, numbers[1], two.released.degrees() > 0),
            (noisy, thinned, tied),
        )
    )
    # Step 2: how features change under noise (within) and how people differ (between).
    changes = (own - again)[tied]
    within = changes.T @ changes / max(len(changes), 1) + _RIDGE * np.eye(own.shape[1])
    between = own[tied].T @ own[tied] / max(len(changes), 1)
    # Step 3: the generalized eigenvectors of the largest ratios are the coordinates; `within` has
    # unit variance along them.
    _, directions = linalg.eigh(between, within)
    leading = directions[:, ::-1][:, :most]
    # Step 4: how far noise moves nodes, by degree.
    moved = np.square(changes @ leading).mean(axis=1)
    return Points(own @ leading, other @ leading, _by_degree(two.copy.degrees(), tied, moved))


def features(graph: Graph, bins: int) -> Columns:
    """Return what each node's surroundings are like, float64, shape (n, 5 + 2 bins + 3 HOPS).

    They are the logarithms of one plus its degree and its triangles, its clustering coefficient,
    and the means of the three over neighbors, of these means, and so on; the numbers of neighbors,
    and of walks of two steps, to nodes of degrees around each power of 2; how far the logarithms of
    its neighbors' degrees are spread; and a rank that neighbors pass on in equal parts.

    >>> features(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4), 3)[3, :3].round(2).tolist()
    [0.69, 0.0, 0.0]
    """
    numbers = graph.degrees().astype(np.float64)
    near = graph.to_scipy().astype(np.float64)
    share = 1 / np.maximum(numbers, 1)
    # Degree, clustering and triangles, and means over neighbors, of these means, and so on.
    corners = triangles(graph).astype(np.float64)
    clustering = corners / np.maximum(numbers * (numbers - 1) / 2, 1)
    around = np.column_stack([np.log1p(numbers), clustering, np.log1p(corners)])
    columns = [around]
    for _ in in_time(range(HOPS)):
        around = (near @ around) * share[:, None]
        columns.append(around)
    # Neighbors by degree, each shared between the two powers of 2 next to it, so that no degree
    # jumps from one bin to the next; then the same for walks of two steps.
    height = np.log2(np.maximum(numbers, 1))[:, None] - np.arange(bins)
    of_power = np.maximum(0, 1 - np.abs(height)) * (numbers > 0)[:, None]
    once = near @ of_power
    columns += [np.sqrt(once + _ANSCOMBE), np.log1p(near @ once)]
    # The spread of the neighbors' degrees.
    logs = np.log1p(numbers)
    mean, square = (near @ np.column_stack([logs, logs**2]) * share[:, None]).T
    columns.append(np.sqrt(np.maximum(square - mean**2, 0))[:, None])
    # A rank that neighbors pass on in equal parts (PageRank).
    rank = np.ones(numbers.size)
    for _ in in_time(range(RANKS)):
        rank = STAYING * (near @ (rank * share)) + 1 - STAYING
    columns.append(np.log(rank)[:, None])
    return np.hstack(columns)


def _numbers(side_information: SideInformation) -> Iterator[list[Ints]]:
    """Yield, for the copy and for the release, degrees of each list, and values of neighbors."""
    around = values_around(side_information)
    for lists, values in zip(
        (side_information.copy, side_information.released), around, strict=True
    ):
        yield [*(degrees(lists) if len(lists) > 1 else ()), *values]


def _thinned(logs: Sequence[Columns], noise: float, rng: np.random.Generator) -> list[Columns]:
    """Return counts of which a share is lost, and as many gained by chance, as logarithms."""
    thinned = []
    for log in logs:
        number = np.rint(np.expm1(log)).astype(np.int64)
        # Each count loses a share, and gains as many by chance on average.
        new = rng.poisson(noise * number.mean(), number.size)
        thinned.append(np.log1p(rng.binomial(number, 1 - noise) + new))
    return thinned


def _standardized(columns: Columns, those: Bools) -> Columns:
    """Return columns less their means, over their deviations, both over some of the rows."""
    if not those.any():
        return np.zeros_like(columns)
    spread = columns[those].std(axis=0)
    scaled: Columns = (columns - columns[those].mean(axis=0)) / np.where(spread > 1e-9, spread, 1)
    return scaled


def _with_noise(graph: Graph, noise: float, rng: np.random.Generator) -> Graph:
    """Return a graph of which a share of the edges is replaced by random pairs of its people."""
    people = np.flatnonzero(graph.degrees() > 0)
    number = np.full(graph.n_nodes, -1, dtype=np.int32)
    number[people] = np.arange(people.size)
    edges = number[graph.edges()]
    kept = edges[rng.random(len(edges)) >= noise]
    new = random_pairs(kept, people.size, len(edges), rng)
    ends = people[np.concatenate([kept, new])]
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=graph.n_nodes)


def _by_degree(numbers: Ints, tied: Bools, moved: Columns) -> Columns:
    """Return the mean change of nodes of about the same degree, float64, shape (n,).

    For degrees that few nodes have it is interpolated between powers of 2.
    """
    # Noise by powers of 2 of the degree, interpolated where a power has few nodes.
    power = np.log2(np.maximum(numbers, 1)).astype(np.int64)
    count = np.bincount(power[tied], minlength=power.max(initial=0) + 1)
    total = np.bincount(power[tied], moved, minlength=count.size)
    often = np.flatnonzero(count >= min(_FEWEST_ALIKE, count.max(initial=0)))
    means = total[often] / np.maximum(count[often], 1)
    smooth = np.interp(np.arange(count.size), often, means)
    return np.maximum(smooth, _LEAST_NOISE)[power]


def nearest(where: Points, people: Ints, rows: KnownRows | None, most: int) -> Nodes:
    """Return the nearest released nodes of some nodes of the copy, int32, shape (n, most).

    If attributes are known, nearest among the nodes that fit: a k-d tree per group of equal known
    values.
    """
    from scipy.spatial import cKDTree  # noqa: PLC0415  heavy: not for help

    n = len(where.copy)
    nodes = np.full((n, most), -1, dtype=np.int32)
    far = np.full((n, most), np.inf, dtype=np.float32)
    for some, fitting in fitting_groups(rows, people, len(where.released)):
        wanted = np.arange(1, min(most, fitting.size) + 1)
        apart, which = cKDTree(where.released[fitting]).query(where.copy[some], k=wanted)
        # A person may be in several groups, if cells are suppressed: keep the nearest of all.
        apart = np.concatenate([far[some], apart.astype(np.float32)], axis=1)
        both = np.concatenate([nodes[some], fitting[which].astype(np.int32)], axis=1)
        order = np.argsort(apart, axis=1, kind="stable")[:, :most]
        far[some] = np.take_along_axis(apart, order, axis=1)
        nodes[some] = np.take_along_axis(both, order, axis=1)
    return nodes


def fitting_groups(rows: KnownRows | None, people: Ints, n: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield groups of people and nodes that fit each other: each such pair is in one group."""
    if rows is None:
        if people.size and n:
            yield people, np.arange(n)
        return
    for some, known in _by_known_columns(rows.known, people):
        for fitting, shown in _by_known_columns(rows.shown, np.arange(n)):
            # People who have the same columns known, and nodes that show the same: equal values in
            # the columns that both have is what fitting means.
            columns = np.flatnonzero(known & shown)
            both = np.concatenate(
                [rows.known[np.ix_(some, columns)], rows.shown[np.ix_(fitting, columns)]]
            )
            keys = np.unique(both, axis=0, return_inverse=True)[1].ravel()
            if not columns.size:
                keys = np.zeros(len(both), dtype=np.int64)
            yield from _of_one_key(some, fitting, keys[: some.size], keys[some.size :])


def _by_known_columns(codes: Int32s, those: Ints) -> Iterator[tuple[Ints, Bools]]:
    """Yield groups of rows in which the same columns are known, and which these are."""
    known = codes[those] > NOT_KNOWN
    patterns, of = np.unique(known, axis=0, return_inverse=True)
    for at, pattern in enumerate(patterns):
        yield those[of.ravel() == at], pattern


def _of_one_key(people: Ints, nodes: Ints, known: Ints, shown: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield the people and the nodes of every key that both have."""
    orders = np.argsort(known, kind="stable"), np.argsort(shown, kind="stable")
    keys = np.intersect1d(known, shown)
    ends = [
        [np.searchsorted(codes[order], keys, side) for side in ("left", "right")]
        for codes, order in zip((known, shown), orders, strict=True)
    ]
    for at in range(keys.size):
        one, two = (
            order[ends[side][0][at] : ends[side][1][at]] for side, order in enumerate(orders)
        )
        yield people[one], nodes[two]

"""Two ways to clusters of at least k rows: facility location as published, and greedy growth.

Facility location is Meyerson's algorithm, then small clusters are closed. Source: Esfandiari,
Epasto, Mirrokni & Munoz Medina, Smooth Anonymity for Sparse Graphs, appendix D.

Growth takes k rows at a time: a seed and the rows that overlap most with it. The objective of
`smooth_k.local_search` decides where the last rows, fewer than k, go. If features are popular, rows
are grown in a layout that lists the rarest features first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import Advance, stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule
from graphveil.methods.smooth_k.kernels import facility as kernel
from graphveil.methods.smooth_k.kernels.facility import (
    Clients,
    Facilities,
    FeatureLists,
    RowKinds,
    close_small,
    lists_of,
)
from graphveil.methods.smooth_k.kernels.growth import (
    CLUSTER,
    COPIES,
    KIND,
    POPULAR,
    RareFirst,
    grow,
    grow_rarest_first,
)
from graphveil.methods.smooth_k.kernels.search import NONE
from graphveil.methods.smooth_k.local_search import clusters_of


class Costs(NamedTuple):
    """What it costs to open a facility at a distinct row: `factor` times its element of `sums`.

    `sums`: int64, shape (distinct,): the distances to the nearest rows; `factor`: at least 0.
    """

    sums: NDArray[np.int64]
    factor: float

    def of(self, opened: NDArray[np.int32]) -> float:
        """Return the cost of all these facilities together."""
        return self.factor * int(self.sums[opened].sum())


class FacilityPlan(NamedTuple):
    """Which rows are facilities, and where all rows go.

    `opened`: int32, shape (facilities,): the distinct row of every facility, in order of opening;
    `facility`: int32, shape (n,): the facility of every row; `total`: what opening costs, and the
    distances of all rows to their facilities.
    """

    opened: NDArray[np.int32]
    facility: NDArray[np.int32]
    total: float


def facility_clusters(
    rows: CollapsedRows,
    *,
    k: int,
    beta: float = 2.0,
    cost_factor: float | None = None,
    runs: int = 10,
    assign: str = "nearest",
    cut: bool = False,
    rng: np.random.Generator,
) -> Labels:
    """Return clusters of at least k rows each, around rows that are nearest to their members.

    Of several facilities at the same distance, one that shares a feature with the row comes before
    one that does not, then the one opened first. The costs take O(sum of squared degrees of the
    features) among distinct rows, a run the same sum over facilities times rows; memory is
    O(entries + rows + features).

    Returns equal rows have the same label, unless ``cut`` or ``assign="arrival"`` parts them.

    Parameters
    ----------
    rows
        The data, of at least k rows.
    k
        The fewest rows of a cluster.
    beta
        Opening a facility at a row costs as much as its ``beta * k`` nearest rows are far from it,
        rounded up to whole rows, times `cost_factor`.
    cost_factor
        Where None, ``2 / (beta - 1)``.
    runs
        How many random orders of the rows are tried; the cheapest is kept.
    assign
        Whether a row goes to the facility that is ``"nearest"`` in the end, or stays at the one
        that was nearest on its ``"arrival"``.
    cut
        Whether clusters of 2k rows or more are cut into pieces of k or more.
    rng
        The randomness.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> rows = collapse(Bipartite.from_lists([["tea"], ["rye"]] * 4 + [["tea", "jam"]]))
    >>> labels = facility_clusters(rows, k=2, rng=np.random.Generator(np.random.PCG64(1)))
    >>> (labels == labels[0]).tolist()
    [True, False, True, False, True, False, True, False, True]
    """
    kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
    lists = lists_of(rows.indptr, rows.indices, rows.n_features)
    factor = 2 / (beta - 1) if cost_factor is None else cost_factor
    wanted = math.ceil(min(beta * k, rows.n_rows))
    costs = Costs(nearest_sums(kinds, lists, wanted), float(factor))
    with stage("opening facilities", total=runs) as advance:
        plans = (
            meyerson(rows, kinds, lists, costs, assign=assign, rng=rng)
            for _ in _counted(runs, advance)
        )
        best = min(plans, key=lambda plan: plan.total)
    labels = close(rows, kinds, best, k=k, rng=rng)
    return cut_up(labels, k=k) if cut else labels


def _counted(runs: int, advance: Advance) -> Iterator[int]:
    for run in range(runs):
        yield run
        advance(1)


def nearest_sums(kinds: kernel.RowKinds, lists: FeatureLists, wanted: int) -> NDArray[np.int64]:
    """Return the sum of the distances from every distinct row to its `wanted` nearest rows.

    `kinds, lists`: the distinct rows, and the lists of their features; `wanted`: at most the number
    of rows. Copies count each, and a row is its own neighbor.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> rows = collapse(Bipartite.from_lists([[0], [0], [0, 1], [2]]))
    >>> kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
    >>> nearest_sums(kinds, lists_of(rows.indptr, rows.indices, 3), wanted=3).tolist()
    [1, 4, 2]
    """
    sums = np.zeros(kinds.weights.size, dtype=np.int64)
    kernel.nearest_sums(kinds, lists, wanted, sums)
    return sums


def meyerson(
    rows: CollapsedRows,
    kinds: kernel.RowKinds,
    lists: FeatureLists,
    costs: Costs,
    *,
    assign: str,
    rng: np.random.Generator,
) -> FacilityPlan:
    """Return the facilities that rows open when they come in a random order, and who goes where.

    A row at distance d > 0 from the nearest facility opens one with probability
    ``min(1, d / cost)``. One permutation of the rows and one coin a row are drawn.
    """
    order = rng.permutation(rows.n_rows)
    arrivals = kernel.RowStream(
        kinds=rows.kinds[order],
        coins=rng.random(order.size),
        facility=np.empty(order.size, dtype=np.int32),
        distance=np.empty(order.size, dtype=np.int64),
    )
    nearest = kernel.Nearest(
        np.empty(rows.n_distinct, np.int64), np.empty(rows.n_distinct, np.int32)
    )
    opened = np.empty(rows.n_distinct, dtype=np.int32)
    opened = opened[
        : kernel.open_facilities(kinds, lists, *costs, arrivals, nearest, opened)
    ].copy()
    if assign == "arrival":
        facility = np.empty(order.size, dtype=np.int32)
        facility[order] = arrivals.facility
        return FacilityPlan(opened, facility, costs.of(opened) + int(arrivals.distance.sum()))
    facility, distance = _nearest(rows, opened, nearest)
    return FacilityPlan(
        opened, facility[rows.kinds], costs.of(opened) + int(rows.weights @ distance)
    )


def _nearest(
    rows: CollapsedRows, opened: NDArray[np.int32], nearest: kernel.Nearest
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the nearest facility of every distinct row, and its distance."""
    degrees = rows.degrees()
    lowest = int(np.argmin(degrees[opened]))
    without = degrees + degrees[opened[lowest]]
    shares_none = without < nearest.distance
    facility = np.where(shares_none, lowest, nearest.facility).astype(np.int32)
    return facility, np.where(shares_none, without, nearest.distance)


def close(
    rows: CollapsedRows,
    kinds: kernel.RowKinds,
    plan: FacilityPlan,
    *,
    k: int,
    rng: np.random.Generator,
) -> Labels:
    """Return the clusters after facilities below k rows were closed, in a random order.

    Every client of a closed facility goes to the nearest one that is open. The last facility stays.
    """
    n_open = plan.opened.size
    keys = rows.kinds.astype(np.int64) * n_open + plan.facility
    pairs, which, weights = np.unique(keys, return_inverse=True, return_counts=True)
    clients = Clients(
        kinds=(pairs // n_open).astype(np.int32),
        weights=weights.astype(np.int64, copy=False),
        facility=(pairs % n_open).astype(np.int32),
    )
    indptr, indices = _gathered(rows, plan.opened)
    by_degree = np.argsort(np.diff(indptr), kind="stable").astype(np.int64, copy=False)
    facilities = Facilities(indptr, indices, by_degree, rng.permutation(n_open))
    close_small(kinds, facilities, lists_of(indptr, indices, rows.n_features), clients, k)
    _, labels = np.unique(clients.facility, return_inverse=True)
    return labels.astype(np.int32)[which]


def _gathered(
    rows: CollapsedRows, chosen: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the features of the chosen distinct rows, in their order."""
    degrees = rows.degrees()[chosen]
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    entries = np.repeat(rows.indptr[chosen] - indptr[:-1], degrees) + np.arange(indptr[-1])
    return indptr, rows.indices[entries]


def cut_up(labels: Labels, *, k: int) -> Labels:
    """Return the clusters cut into as many nearly equal pieces of at least k rows as there can be.

    A piece holds rows that follow each other in the data.

    Examples
    --------
    >>> cut_up(np.array([0, 0, 1, 0, 0, 1, 0], dtype=np.int32), k=2).tolist()
    [0, 0, 2, 0, 1, 2, 1]
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    pieces = sizes // k
    first_row, first_piece = np.cumsum(sizes) - sizes, np.cumsum(pieces) - pieces
    cluster = labels[order]
    position = np.arange(order.size) - first_row[cluster]
    out = np.empty(labels.size, dtype=np.int32)
    out[order] = first_piece[cluster] + position * pieces[cluster] // sizes[cluster]
    return out


def rarest_first(rows: CollapsedRows, unused: NDArray[np.int64]) -> RareFirst:
    """Return the rows with their features numbered from the rarest, and the lists of these.

    `rows`: the distinct rows; `unused`: how many copies of each are to be put into clusters; the
    kernel writes it.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> rows = collapse(Bipartite.from_lists([["rye"], ["ale", "rye"], ["rye", "tea"]]))
    >>> rarest_first(rows, rows.weights.copy()).indices.tolist()
    [2, 0, 2, 1, 2]
    """
    counts = np.bincount(rows.indices, minlength=rows.n_features).astype(np.int64, copy=False)
    order = np.argsort(counts, kind="stable")
    numbers = np.empty(rows.n_features, dtype=np.int64)
    numbers[order] = np.arange(rows.n_features)
    degrees = rows.degrees()
    owners = np.repeat(np.arange(rows.n_distinct), degrees)
    entries = owners * rows.n_features + numbers[rows.indices]
    entries.sort()
    indices = entries - owners * rows.n_features
    by_feature = np.argsort(indices, kind="stable")
    members = owners[by_feature]
    lengths = counts[order]
    return RareFirst(
        indptr=rows.indptr,
        indices=indices.astype(np.int32),
        unused=unused,
        firsts=np.searchsorted(degrees, np.arange(degrees.max(initial=0) + 2)).astype(np.int64),
        starts=(np.cumsum(lengths) - lengths).astype(np.int64),
        lengths=lengths,
        gone=np.zeros_like(lengths),
        members=members.astype(np.int32),
        words=_words(indices, owners, rows)[members],
    )


def _words(
    indices: NDArray[np.int64], owners: NDArray[np.int64], rows: CollapsedRows
) -> NDArray[np.uint32]:
    """Return which of the most popular features every row has, a bit each."""
    bits = indices - (rows.n_features - POPULAR)
    is_popular = bits >= 0
    values = np.int64(1) << bits[is_popular]
    sums = np.bincount(owners[is_popular], weights=values, minlength=rows.n_distinct)
    return sums.astype(np.uint32)


EVEN_DEGREES = 0.2
"""The standard deviation of the rows' degrees over their mean up to which they count as even."""

MOST_TRIED, SAMPLED = 20_000, 10_000
"""The distinct rows up to which both orders of seeds are tried, and those of which a sample has so
many."""

QUARTERS = {"degree": 1, "cost": 2}
"""What a feature of a row that may join costs it, in quarters of an overlap of one."""


def grown_clusters(
    rows: CollapsedRows, *, k: int, rule: Rule, seed_order: str, rng: np.random.Generator
) -> Labels:
    """Return clusters of at least k rows, most of them of exactly k.

    A distinct row of k copies or more is a cluster of its own. Around every other seed a cluster
    takes in, one by one, the row of largest mean overlap with its rows less a share of its degree.
    The last rows, fewer than k, go where most is kept.

    Time is O(sum of squared degrees of the features) among distinct rows, as for ``"cost"``, and
    less as used rows leave the lists. Where features are popular, rows are met through their
    rarest ones and compared only where they can win by bounds; the clusters are the same. Memory
    is O(entries + rows + features).

    Returns copies of a distinct row may part.

    Parameters
    ----------
    rows
        The data, of at least k rows.
    k
        The fewest rows of a cluster.
    rule
        What a cluster keeps.
    seed_order
        ``"degree"``: rows with most features first; ``"cost"``: rows with the nearest k rows
        first. ``"auto"``: the first; where rows have about as many features each, both are tried
        and the clusters that keep more as they are grown win. Of more than 20,000 distinct rows
        both are tried on a sample of 10,000.
    rng
        The randomness: seeds of equal rank come in a random order, and the sample is drawn.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> rows = collapse(Bipartite.from_lists([["tea", "rye"], ["ale"], ["tea"], ["ale", "jam"]]))
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> labels = grown_clusters(rows, k=2, rule=Rule(), seed_order="degree", rng=rng)
    >>> (labels == labels[0]).tolist()
    [True, False, True, False]
    """
    orders = ["degree", "cost"] if seed_order == "auto" else [seed_order]
    if seed_order == "auto" and not has_even_degrees(rows):
        orders = ["degree"]
    if len(orders) > 1 and rows.n_distinct > MOST_TRIED:
        sample = _sample(rows, rng)
        orders = [_first_of_most(sample, orders, k=k, rule=rule, rng=rng)[0]]
    return _first_of_most(rows, orders, k=k, rule=rule, rng=rng)[1]


def _first_of_most(
    rows: CollapsedRows, orders: list[str], *, k: int, rule: Rule, rng: np.random.Generator
) -> tuple[str, Labels]:
    """Return the order of seeds whose clusters keep most, the first of equals, and the clusters."""
    first, best, most = "", np.zeros(rows.n_rows, dtype=np.int32), -1.0
    for order in orders:
        with stage("growing clusters"):
            labels = _around(rows, seeds_by(rows, order, k=k, rng=rng), k, QUARTERS[order])
        clusters = clusters_of(rows, labels, rule)
        clusters.insert_unclustered()
        if clusters.jaccard > most:
            first, best, most = order, clusters.labels(), clusters.jaccard
    return first, best


def _sample(rows: CollapsedRows, rng: np.random.Generator) -> CollapsedRows:
    """Return a uniform sample of the distinct rows, each with its copies."""
    chosen = np.sort(rng.permutation(rows.n_distinct)[:SAMPLED])
    degrees, weights = rows.degrees()[chosen], rows.weights[chosen]
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    entries = np.repeat(rows.indptr[chosen] - indptr[:-1], degrees) + np.arange(indptr[-1])
    kinds = np.repeat(np.arange(chosen.size, dtype=np.int32), weights)
    return CollapsedRows(indptr, rows.indices[entries], weights, kinds, rows.n_features)


def has_even_degrees(rows: CollapsedRows) -> bool:
    """Return whether all rows have about as many features: standard deviation / mean <= 0.2.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> has_even_degrees(collapse(Bipartite.from_lists([[0, 1], [1, 2]])))
    True
    >>> has_even_degrees(collapse(Bipartite.from_lists([[0, 1], [2]])))
    False
    """
    degrees = rows.degrees()[rows.kinds]
    return bool(degrees.std() <= EVEN_DEGREES * degrees.mean())


def seeds_by(
    rows: CollapsedRows, order: str, *, k: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the distinct rows in the order of seeds, those of equal rank in a random order.

    Parameters
    ----------
    rows
        The data.
    order
        ``"degree"`` or ``"cost"``.
    k
        The nearest rows that a cost sums the distances to.
    rng
        The randomness: one permutation is drawn.
    """
    if order == "degree":
        keys = -rows.degrees()
    else:
        lists = lists_of(rows.indptr, rows.indices, rows.n_features)
        kinds = RowKinds(rows.indptr, rows.indices, rows.weights)
        keys = nearest_sums(kinds, lists, min(k, rows.n_rows))
    shuffled = rng.permutation(rows.n_distinct)
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


def _around(rows: CollapsedRows, seeds: NDArray[np.int64], k: int, quarters: int) -> Labels:
    """Return the clusters around these seeds; fewer than k rows are in none and have label -1."""
    is_core = rows.weights >= k
    cores = np.nonzero(is_core)[0]
    unused = np.where(is_core, 0, rows.weights)
    steps = _grown(rows, unused, seeds, k, quarters)
    n_grown = int(steps[:, CLUSTER].max(initial=NONE)) + 1
    last = np.nonzero(unused)[0]
    kinds = np.concatenate([steps[:, KIND], cores, last])
    clusters = np.concatenate(
        [steps[:, CLUSTER], n_grown + np.arange(cores.size), np.full(last.size, NONE)]
    )
    copies = np.concatenate([steps[:, COPIES], rows.weights[cores], unused[last]])
    in_order = np.argsort(kinds, kind="stable")
    labels = np.empty(rows.n_rows, dtype=np.int32)
    labels[rows.by_kind()] = np.repeat(clusters[in_order], copies[in_order])
    return labels


def _grown(
    rows: CollapsedRows, unused: NDArray[np.int64], seeds: NDArray[np.int64], k: int, quarters: int
) -> NDArray[np.int64]:
    """Return the steps of growth, by the kernel that is quicker: they are the same."""
    if rows.has_popular_features:
        return grow_rarest_first(rarest_first(rows, unused), seeds, k, quarters)
    lists = lists_of(rows.indptr, rows.indices, rows.n_features)
    return grow(rows.indptr, rows.indices, lists, unused, seeds, k, quarters)

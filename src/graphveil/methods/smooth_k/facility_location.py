"""Facility location as published: Meyerson's algorithm, then small clusters are closed.

Esfandiari, Epasto, Mirrokni & Munoz Medina, *Smooth Anonymity for Sparse Graphs*: Alg2 of section
5.3 with the changes of appendix D.

- Step 1 embeds rows as points with Hamming distances; here rows stay sparse.
- Step 2: a facility at a row costs ``2 alpha / (1 - alpha)`` times the distances to its beta k
  nearest rows; with ``alpha = 1 / beta`` that is ``2 / (beta - 1)``.
- Step 3: the best of several runs of Meyerson's algorithm, each on a random order of the rows.
- Steps 4 and 5: facilities below k clients are closed, and their clients reassigned.
- Step 6, the keep rule, is in `graphveil.methods.equivalence_classes.rule`.

Departures: equal rows are collapsed, and after the last arrival each row goes to its nearest
facility (unless ``assign="arrival"``), on which the paper is silent. For suppression the clusters
may be cut into pieces of k to 2k-1 rows: in our tests on adult, uncut clusters do not reach the
paper's figure without smoothing. Theorem 5.5 is about Alg2 itself and says nothing about this
algorithm.

Costs take O(sum of squared degrees of the features) among distinct rows, for step 2 and for each
run; memory is O(entries + rows + features).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.progress import Advance, stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels
from graphveil.methods.smooth_k.kernels import facility as kernel
from graphveil.methods.smooth_k.kernels import feature_lists


class Costs(NamedTuple):
    """What it costs to open facilities.

    Parameters
    ----------
    sums
        int64, shape (distinct,): for every distinct row the distances to its nearest rows, summed.
    factor
        What a sum is multiplied by.
    """

    sums: Ints
    factor: float

    def of(self, opened: NDArray[np.int32]) -> float:
        """Return the cost of opening all these facilities together."""
        return self.factor * int(self.sums[opened].sum())


class FacilityPlan(NamedTuple):
    """The end of one run.

    Parameters
    ----------
    opened
        int32: the distinct rows of the facilities, in order of opening.
    facility
        int32, shape (n,): the facility of every row, by number of opening.
    total
        Opening costs plus distances: what competing runs are compared by.
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
    """Return clusters of at least k rows each, around rows that are near to their members.

    At equal distance a facility that shares a feature with the row comes first, then the one opened
    first.

    Parameters
    ----------
    rows
        The distinct rows and their copies; at least k rows in all.
    k
        The smallest cluster.
    beta
        Opening costs depend on the ``beta * k`` nearest rows, rounded up.
    cost_factor
        What their distances are multiplied by; None for ``2 / (beta - 1)``.
    runs
        How many random orders compete; the cheapest counts.
    assign
        ``"nearest"``: rows go to the nearest facility in the end. ``"arrival"``: they stay where
        they went on arrival.
    cut
        Whether clusters of 2k rows or more are cut into pieces of k or more.
    rng
        The random stream.

    Returns
    -------
    ndarray
        int32, shape (n,): the cluster of every row, numbered from 0.
    """
    # Step 2 (section 5.3, appendix D): opening costs.
    kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
    lists = feature_lists.lists_of(rows.indptr, rows.indices, rows.n_features)
    factor = 2 / (beta - 1) if cost_factor is None else cost_factor
    wanted = math.ceil(min(beta * k, rows.n_rows))
    costs = Costs(nearest_sums(kinds, lists, wanted), float(factor))
    # Step 3 (appendix D): the cheapest of several runs of Meyerson's algorithm.
    with stage("opening facilities", total=runs) as advance:
        plans = (
            meyerson(rows, kinds, lists, costs, assign=assign, rng=rng)
            for _ in _counted(runs, advance)
        )
        best = min(plans, key=lambda plan: plan.total)
    # Steps 4 and 5 (appendix D): no cluster below k; for suppression none of 2k or more.
    labels = close(rows, kinds, best, k=k, rng=rng)
    return cut_up(labels, k=k) if cut else labels


def _counted(runs: int, advance: Advance) -> Iterator[int]:
    for run in range(runs):
        yield run
        advance(1)


def nearest_sums(kinds: kernel.RowKinds, lists: feature_lists.FeatureLists, wanted: int) -> Ints:
    """Return the summed distances of every distinct row to its `wanted` nearest rows; int64."""
    sums = np.zeros(kinds.weights.size, dtype=np.int64)
    kernel.nearest_sums(kinds, lists, wanted, sums)
    return sums


def meyerson(
    rows: CollapsedRows,
    kinds: kernel.RowKinds,
    lists: feature_lists.FeatureLists,
    costs: Costs,
    *,
    assign: str,
    rng: np.random.Generator,
) -> FacilityPlan:
    """Return the facilities that rows open when they arrive in a random order, and who goes where.

    A row at distance d > 0 from the nearest facility opens one with probability ``min(1, d /
    cost)``. The stream gives one permutation of the rows and one number per row.
    """
    # The rows in random order, each with its coin.
    order = rng.permutation(rows.n_rows)
    arrivals = kernel.RowStream(
        kinds=rows.kinds[order],
        coins=rng.random(order.size),
        facility=np.empty(order.size, dtype=np.int32),
        distance=np.empty(order.size, dtype=np.int64),
    )
    # The kernel keeps the nearest facility of every distinct row up to date.
    nearest = kernel.Nearest(
        np.empty(rows.n_distinct, np.int64), np.empty(rows.n_distinct, np.int32)
    )
    opened = np.empty(rows.n_distinct, dtype=np.int32)
    opened = opened[
        : kernel.open_facilities(kinds, lists, *costs, arrivals, nearest, opened)
    ].copy()
    # Each row stays where it went on arrival; otherwise it may now go to a facility opened later.
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
) -> tuple[NDArray[np.int32], Ints]:
    """Return the nearest facility of every distinct row, and its distance."""
    # The kernel knows the nearest facility that shares a feature. Of the others the one of lowest
    # degree is the nearest, at the sum of both degrees.
    degrees = rows.degrees()
    lowest = int(np.argmin(degrees[opened]))
    to_lowest = degrees + degrees[opened[lowest]]
    is_nearer = to_lowest < nearest.distance
    facility = np.where(is_nearer, lowest, nearest.facility).astype(np.int32)
    return facility, np.where(is_nearer, to_lowest, nearest.distance)


def close(
    rows: CollapsedRows,
    kinds: kernel.RowKinds,
    plan: FacilityPlan,
    *,
    k: int,
    rng: np.random.Generator,
) -> Labels:
    """Return the clusters after facilities below k rows were closed, in a random order.

    Every client of a closed facility goes to the nearest open one. The last facility stays.
    Parameters as in `facility_clusters`; `kinds` and `plan` are the distinct rows and the run to
    finish.
    """
    # Equal rows at the same facility are one client.
    n_open = plan.opened.size
    keys = rows.kinds.astype(np.int64) * n_open + plan.facility
    pairs, which, weights = np.unique(keys, return_inverse=True, return_counts=True)
    clients = kernel.Clients(
        kinds=(pairs // n_open).astype(np.int32),
        weights=weights.astype(np.int64, copy=False),
        facility=(pairs % n_open).astype(np.int32),
    )
    # The facilities as rows of their own, with the order by degree and a random order of visits.
    indptr, indices = rows.lists_of(plan.opened)
    by_degree = np.argsort(np.diff(indptr), kind="stable").astype(np.int64, copy=False)
    facilities = kernel.Facilities(indptr, indices, by_degree, rng.permutation(n_open))
    kernel.close_small(
        kinds, facilities, feature_lists.lists_of(indptr, indices, rows.n_features), clients, k
    )
    # Clusters are numbered anew without gaps.
    _, labels = np.unique(clients.facility, return_inverse=True)
    return labels.astype(np.int32)[which]


def cut_up(labels: Labels, *, k: int) -> Labels:
    """Return the clusters cut into as many nearly equal pieces of at least k rows as possible.

    A piece holds rows that follow each other in the data: the paper does not say how it cut.
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    # A cluster of s rows gives floor(s / k) pieces. The row at position i of its cluster is in
    # piece floor(i * pieces / s).
    pieces = sizes // k
    first_row, first_piece = np.cumsum(sizes) - sizes, np.cumsum(pieces) - pieces
    cluster = labels[order]
    position = np.arange(order.size) - first_row[cluster]
    out = np.empty(labels.size, dtype=np.int32)
    out[order] = first_piece[cluster] + position * pieces[cluster] // sizes[cluster]
    return out

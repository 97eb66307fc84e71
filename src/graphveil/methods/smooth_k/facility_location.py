"""Facility location as published: Meyerson's algorithm, then small clusters are closed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import Advance, stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels
from graphveil.methods.smooth_k.kernels import facility as kernel
from graphveil.methods.smooth_k.kernels import feature_lists

Ints = NDArray[np.int64]


class Costs(NamedTuple):
    """What it costs to open a facility at a distinct row: `factor` times its element of `sums`."""

    sums: Ints
    factor: float

    def of(self, opened: NDArray[np.int32]) -> float:
        """Return the cost of all these facilities together."""
        return self.factor * int(self.sums[opened].sum())


class FacilityPlan(NamedTuple):
    """Which rows are facilities, in order of opening, where all rows go, and what it costs."""

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

    At equal distance a facility that shares a feature with the row comes first, then the one opened
    first. Costs take O(sum of squared degrees of the features) among distinct rows; memory is
    O(entries + rows + features).

    Opening costs the distances of the ``beta * k`` nearest rows (rounded up to whole rows) times
    `cost_factor` (None: ``2 / (beta - 1)``). The cheapest of `runs` random orders is kept.
    `assign`: the nearest facility in the end, or on ``"arrival"``; `cut`: clusters of 2k rows or
    more are cut into pieces of k or more.
    """
    kinds = kernel.RowKinds(rows.indptr, rows.indices, rows.weights)
    lists = feature_lists.lists_of(rows.indptr, rows.indices, rows.n_features)
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


def nearest_sums(kinds: kernel.RowKinds, lists: feature_lists.FeatureLists, wanted: int) -> Ints:
    """Return the sum of the distances from every distinct row to its `wanted` nearest rows."""
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
) -> tuple[NDArray[np.int32], Ints]:
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
    clients = kernel.Clients(
        kinds=(pairs // n_open).astype(np.int32),
        weights=weights.astype(np.int64, copy=False),
        facility=(pairs % n_open).astype(np.int32),
    )
    indptr, indices = rows.lists_of(plan.opened)
    by_degree = np.argsort(np.diff(indptr), kind="stable").astype(np.int64, copy=False)
    facilities = kernel.Facilities(indptr, indices, by_degree, rng.permutation(n_open))
    kernel.close_small(
        kinds, facilities, feature_lists.lists_of(indptr, indices, rows.n_features), clients, k
    )
    _, labels = np.unique(clients.facility, return_inverse=True)
    return labels.astype(np.int32)[which]


def cut_up(labels: Labels, *, k: int) -> Labels:
    """Return the clusters cut into as many nearly equal pieces of at least k rows as there can be.

    A piece holds rows that follow each other in the data.
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

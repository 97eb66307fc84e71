"""The table of metrics: each with kind of data, unit, direction, definition and source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Graph, Table
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    import networkit
else:
    networkit = lazy_module("networkit")


class Figure(NamedTuple):
    """One number that a metric found.

    Parameters
    ----------
    part
        Which of the metric's numbers it is.
    value, unit
        The number.
    judged
        Whether the metric's direction applies; not to numbers that are given for comparison.
    """

    part: str
    value: float
    unit: str
    judged: bool = True


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """An original and its release, aligned where the owner's linkage allows it.

    Parameters
    ----------
    original, released
        Two graphs.
    place
        int64, shape (n,): the released position of every original node, or None without linkage.
    rng
        Randomness for metrics that sample.
    """

    original: Graph
    released: Graph
    place: NDArray[np.int64] | None
    rng: np.random.Generator

    @cached_property
    def edges_kept(self) -> int:
        """How many original edges stand in the release, too; needs the linkage."""
        if self.place is None:
            raise TypeError("the linkage is needed")
        n = max(self.released.n_nodes, 1)
        moved = np.sort(self.place[self.original.edges()], axis=1)
        before = moved[:, 0] * n + moved[:, 1]
        ends = self.released.edges().astype(np.int64)
        after = ends[:, 0] * n + ends[:, 1]
        if after.size == 0:
            return 0
        spot = np.minimum(np.searchsorted(after, before), after.size - 1)
        return int(np.count_nonzero(after[spot] == before))


Figures = Iterator[Figure]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric.

    Parameters
    ----------
    name
        As on the command line.
    kind
        The container it reads.
    direction
        Which way is better.
    definition
        What the number is, in words.
    source
        Where it is defined.
    needs_linkage
        Whether it compares person by person.
    cost
        How its time grows.
    compute
        Comparison to figures.
    """

    name: str
    kind: type[Graph | Bipartite | Table]
    direction: Literal["higher is better", "lower is better"]
    definition: str
    source: str
    needs_linkage: bool
    cost: Literal["linear", "near-linear", "heavy"]
    compute: Callable[[Comparison], Figures]


def _kept(pair: Comparison) -> Figures:
    before = pair.original.n_edges
    yield Figure("count", pair.edges_kept, "edges")
    yield Figure("share", pair.edges_kept / before if before else 1.0, "share of original edges")


def _added(pair: Comparison) -> Figures:
    added = pair.released.n_edges - pair.edges_kept
    yield Figure("count", added, "edges")
    yield Figure("share", added / max(pair.released.n_edges, 1), "share of released edges")


def _removed(pair: Comparison) -> Figures:
    removed = pair.original.n_edges - pair.edges_kept
    yield Figure("count", removed, "edges")
    yield Figure("share", removed / max(pair.original.n_edges, 1), "share of original edges")


def _jaccard(pair: Comparison) -> Figures:
    union = pair.original.n_edges + pair.released.n_edges - pair.edges_kept
    yield Figure("all", pair.edges_kept / union if union else 1.0, "ratio")


def _degree_distribution(pair: Comparison) -> Figures:
    before, after = _histogram(pair.original), _histogram(pair.released)
    length = max(before.size, after.size)
    before = np.pad(before, (0, length - before.size))
    after = np.pad(after, (0, length - after.size))
    yield Figure("half L1", float(np.abs(before - after).sum() / 2), "share of nodes")
    gap = np.abs(np.cumsum(before) - np.cumsum(after)).max(initial=0.0)
    yield Figure("Kolmogorov-Smirnov", float(gap), "share of nodes")


def _histogram(graph: Graph) -> NDArray[np.float64]:
    """Return the share of nodes of every degree."""
    return np.bincount(graph.degrees()) / max(graph.n_nodes, 1)


def _clustering(pair: Comparison) -> Figures:
    before, after = average_clustering(pair.original), average_clustering(pair.released)
    yield Figure("original", before, "ratio", judged=False)
    yield Figure("released", after, "ratio", judged=False)
    yield Figure("absolute difference", abs(after - before), "ratio")


def average_clustering(graph: Graph) -> float:
    """Return the mean local clustering coefficient; nodes of degree below 2 count as 0.

    Examples
    --------
    >>> average_clustering(Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4))  # 1, 1, 1/3, 0
    0.5833333333333334
    """
    if graph.n_edges == 0:
        return 0.0
    score = networkit.centrality.LocalClusteringCoefficient(_to_networkit(graph), turbo=True)
    scores = np.array(score.run().scores())
    return float(np.where(graph.degrees() >= 2, scores, 0.0).mean())


def _to_networkit(graph: Graph) -> Any:
    # networkit reads the ends as 64-bit numbers, whatever type they have
    source, target = np.ascontiguousarray(graph.edges().T, dtype=np.uint64)
    coordinates = (np.ones(graph.n_edges), (source, target))
    return networkit.graph.GraphFromCoo(coordinates, n=graph.n_nodes, weighted=False)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            name="edges-kept",
            kind=Graph,
            direction="higher is better",
            definition="original edges that stand in the release, too",
            source="de Jong et al., The anonymization problem in social networks",
            needs_linkage=True,
            cost="near-linear",
            compute=_kept,
        ),
        Metric(
            name="edges-added",
            kind=Graph,
            direction="lower is better",
            definition="released edges that are not in the original",
            source="Liu & Terzi, SIGMOD 2008",
            needs_linkage=True,
            cost="near-linear",
            compute=_added,
        ),
        Metric(
            name="edges-removed",
            kind=Graph,
            direction="lower is better",
            definition="original edges that are not in the release",
            source="de Jong et al., The anonymization problem in social networks",
            needs_linkage=True,
            cost="near-linear",
            compute=_removed,
        ),
        Metric(
            name="edge-jaccard",
            kind=Graph,
            direction="higher is better",
            definition="edges in both graphs over edges in either",
            source="Jaccard 1912",
            needs_linkage=True,
            cost="near-linear",
            compute=_jaccard,
        ),
        Metric(
            name="degree-distribution",
            kind=Graph,
            direction="lower is better",
            definition="distance between the degree distributions: half the sum of absolute "
            "differences, and the largest difference of the cumulative ones",
            source="Nguyen, Imine & Rusinowitch (half L1)",
            needs_linkage=False,
            cost="linear",
            compute=_degree_distribution,
        ),
        Metric(
            name="clustering",
            kind=Graph,
            direction="lower is better",
            definition="average local clustering coefficient (degree below 2 counts as 0), before "
            "and after",
            source="Watts & Strogatz 1998",
            needs_linkage=False,
            cost="heavy",
            compute=_clustering,
        ),
    )
}
"""Every metric by its name: an entry here appears in the command line, the report and the docs."""

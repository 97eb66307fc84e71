"""Local search: rows move or swap places and clusters dissolve while the Jaccard index rises.

The Jaccard index I / U is raised by Dinkelbach's method: moves must raise I - lam U, where lam is
the index at the beginning of the pass. That is a sum over clusters and features, so that every move
is judged by its exact difference. Counts and the index follow every move; the clusters that suit a
row best are read from lists, or looked up in sets of features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule
from graphveil.methods.smooth_k.kernels import search as kernel
from graphveil.methods.smooth_k.kernels.candidates import (
    Gainers,
    Index,
    RankPlan,
    gainers_of,
    index_of,
    rank,
)
from graphveil.methods.smooth_k.kernels.search import NONE, Data

UNCAPPED = 1 << 62

LOOKUPS_FOR_READ = 0.25
"""How many sets are looked up in about the time in which an entry of a list is read."""

READS_FOR_SET = 80
"""Sets are numbered where the lists have so many entries for each. On app data with ten columns, 30
took three times as long as the lists; made-up data of popular items does not care."""

MOST_FEATURES = 60
"""Sets of more features are far too many, whatever the data is."""

ROOM_FOR_SETS = 1 << 22
"""The most sets times candidates for which there is always room: 12 bytes each, and 24 a set."""

ROOM_BY_ENTRY = 4
"""There is room for so many times the entries of the data, too. 316,000 users of popular items need
1.9 sets times candidates an entry, 32 bytes of the 190 that the run takes at its peak."""


def rank_clusters(
    data: Data, index: Index, near: NDArray[np.int32], list_cap: int = UNCAPPED
) -> None:
    """Write into near[u] the clusters that share a feature with u and gain most by it, best first.

    A cluster that gains by m features has 2^m sets, a row of d such features at most as many as
    it could have, 2^d: the time to look them up does not grow with the number of clusters.

    Parameters
    ----------
    data
        The distinct rows.
    index
        What clusters gain by features.
    near
        int32, shape (distinct, candidates), written.
    list_cap
        How many entries are read of a feature's list. Where all may be, popular features make
        lists long; then every set of features that clusters share is numbered, and a row looks up
        those that it has all features of. The result is the same.
    """
    gainers = _none(near.shape[1])
    if list_cap == UNCAPPED:
        gainers = _gainers_where_worth(data, index, near.shape[1])
    rank(data, index, gainers, RankPlan(list_cap, LOOKUPS_FOR_READ), near)


def _gainers_where_worth(data: Data, index: Index, width: int) -> Gainers:
    """Return all sets, where to number them takes less time and room than to read the lists."""
    lengths = np.diff(index.starts)
    sizes = np.bincount(index.clusters, minlength=index.bases.size)
    n_sets = float((np.exp2(sizes.clip(max=MOST_FEATURES)) - 1).sum())
    room = max(ROOM_FOR_SETS, ROOM_BY_ENTRY * data.indices.size)
    if READS_FOR_SET * n_sets > lengths[data.indices].sum() or n_sets * width > room:
        return _none(width)
    by_cluster = np.argsort(index.clusters, kind="stable").astype(np.int64, copy=False)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    features = np.repeat(np.arange(lengths.size), lengths)
    return gainers_of(index, by_cluster, starts, features, int(n_sets), width)


def _none(width: int) -> Gainers:
    """Return no sets but the empty one."""
    return Gainers(
        np.full((1, 2), NONE, dtype=np.int64),
        np.full((1, width), -np.inf),
        np.full((1, width), NONE, dtype=np.int32),
    )


ROOM = 1.5
"""Slots of the table for every pair of a cluster and a feature, or a count, that there can be."""


class Clusters(NamedTuple):
    """Clusters that rows are moved between.

    `data, state`: the arrays that kernels read, and those that they write; `entries`: the entries
    of the original, equal rows counted each.
    """

    data: kernel.Data
    state: kernel.SearchState
    entries: int

    @property
    def jaccard(self) -> float:
        """The Jaccard index of original and release; rows without a cluster count as suppressed."""
        shared, cells = self.state.tally.tolist()
        either = self.entries + cells - shared
        return float(shared / either) if either else 1.0

    def labels(self) -> Labels:
        """Return the cluster of every row, numbered anew without gaps."""
        return np.unique(self.state.labels, return_inverse=True)[1].astype(np.int32)

    def insert_unclustered(self) -> None:
        """Put every row without a cluster where the objective gains most, one by one."""
        rows: NDArray[np.int64] = np.nonzero(self.state.labels == kernel.NONE)[0]
        kernel.insert_unclustered(self.data, self.state, self.jaccard, rows)


def clusters_of(rows: CollapsedRows, labels: Labels, rule: Rule) -> Clusters:
    """Return these clusters, ready for moves; label -1 stands for none.

    Memory is O(entries + rows + features), about 24 bytes for each entry and row.

    `rows`: the data; `labels`: the cluster of every row; `rule`: what a cluster keeps.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> rows = collapse(Bipartite.from_lists([[0, 1], [0], [1]]))
    >>> clusters = clusters_of(rows, np.array([0, 0, -1], dtype=np.int32), Rule())
    >>> clusters.jaccard
    0.6
    >>> clusters.insert_unclustered()
    >>> clusters.labels().tolist()
    [0, 0, 0]
    """
    n, n_clusters = labels.size, int(labels.max(initial=kernel.NONE)) + 1
    entries = int((rows.weights * rows.degrees()).sum())
    table = np.zeros((int(ROOM * (entries + n)) + 8, 2), dtype=np.int64)
    table[:, 0] = kernel.FREE
    least = rule.least(np.arange(n + 2, dtype=np.int64))
    data = kernel.Data(rows.indptr, rows.indices, rows.kinds, least, rows.n_features)
    state = kernel.SearchState(
        table=table,
        clusters=np.zeros((n_clusters, 3), dtype=np.int64),
        heads=np.full(n_clusters, kernel.NONE, dtype=np.int32),
        links=np.full((n, 2), kernel.NONE, dtype=np.int32),
        labels=labels.astype(np.int32),
        tally=np.zeros(2, dtype=np.int64),
    )
    kernel.fill(data, state)
    return Clusters(data, state, entries)


def in_order(rows: CollapsedRows, order: NDArray[np.int64]) -> CollapsedRows:
    """Return the rows in this order, the distinct ones as they come: neighbors lie side by side.

    Distinct rows are no longer sorted by their degree.

    `rows`: the data; `order`: a permutation of the rows.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> rows = in_order(collapse(Bipartite.from_lists([[0], [0, 1], [0]])), np.array([1, 0, 2]))
    >>> rows.indices.tolist(), rows.kinds.tolist()
    ([0, 1, 0], [0, 1, 1])
    """
    kinds = rows.kinds[order]
    present, first = np.unique(kinds, return_index=True)
    by_arrival = present[np.argsort(first)]
    numbers = np.empty(rows.n_distinct, dtype=np.int32)
    numbers[by_arrival] = np.arange(by_arrival.size, dtype=np.int32)
    degrees = rows.degrees()[by_arrival]
    indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    entries = np.repeat(rows.indptr[by_arrival] - indptr[:-1], degrees) + np.arange(indptr[-1])
    weights = rows.weights[by_arrival]
    return CollapsedRows(indptr, rows.indices[entries], weights, numbers[kinds], rows.n_features)


LEAST_GAIN = 5e-4
"""A pass from the second on that gains less is the last."""

ANNEALING_PASSES = 20
HOT_SHARE = 0.7
"""The share of the annealing passes in which the temperature falls to 0."""


class LocalSearchRun(NamedTuple):
    """A search under way: its clusters, its smallest cluster, and room for the kernels."""

    clusters: Clusters
    k: int
    list_cap: int
    near: NDArray[np.int32]
    changed: NDArray[np.int32]
    scratch: kernel.Scratch

    def run(self, number: int, heat: float, rng: np.random.Generator) -> None:
        """Do one pass: every row is visited once, then small clusters are.

        `number`: passes are numbered from 1; `heat`: a visit accepts a loss of up to ``heat`` times
        an exponential variate. At 0 it must gain, in the first pass, or not lose, in later ones;
        and rows that nothing changed for are skipped; `rng`: the randomness.
        """
        data, state, _ = self.clusters
        lam, n = self.clusters.jaccard, state.labels.size
        every = number == 1 or heat > 0
        plan = kernel.SearchPlan(lam, self.k, largest_swapped(self.k), number, every)
        choice = self._choice(lam)
        order = rng.permutation(n)
        cold_bar = kernel.TINY if number == 1 else -kernel.TINY
        bars = heat * np.log1p(-rng.random(n)) if heat > 0 else np.full(n, cold_bar)
        kernel.sweep(data, state, plan, choice, self.scratch, order, bars)
        kernel.dissolve(data, state, plan, choice, kernel.small_clusters(state, plan))

    def _choice(self, lam: float) -> kernel.SearchChoice:
        """Return where rows may go, by an index of the present clusters."""
        data, state, _ = self.clusters
        index = index_of(data, state, lam)
        rank_clusters(data, index, self.near, self.list_cap)
        roomy = np.full(2, NONE, dtype=np.int32)
        roomiest = np.argsort(-index.bases, kind="stable")[:2]
        roomy[: roomiest.size] = roomiest
        return kernel.SearchChoice(
            self.near, roomy, self.changed, np.empty(self.near.shape[1] + 1, dtype=np.int32)
        )


def refined_clusters(  # noqa: PLR0913  the parameters of the search, each by its name
    rows: CollapsedRows,
    labels: Labels,
    *,
    k: int,
    rule: Rule,
    passes: int = 6,
    candidates: int = 4,
    list_cap: int | None = None,
    anneal: float | None = None,
    rng: np.random.Generator,
) -> Labels:
    """Return clusters of at least k rows that keep as much as the given ones, or more.

    A row in a cluster of more than k rows may move; one in a cluster of k rows may change places
    with a row of a cluster of at most 4k + 8. A move takes O(features of the row), a swap
    O(features of the rows of both clusters). From the second pass on without heat, rows are visited
    whose cluster or best candidate changed in this pass or the last, and changes of equal worth are
    made too: they open ways, and the best clusters seen count.

    Returns numbered anew.

    Parameters
    ----------
    rows
        The data.
    labels
        The cluster of every row; each has at least k.
    k
        The fewest rows of a cluster.
    rule
        What a cluster keeps.
    passes
        The most passes over all rows. A pass from the second on that raises the Jaccard index by
        less than 0.0005 is the last.
    candidates
        How many clusters are tried for a row, besides one that keeps few features.
    list_cap
        How many clusters that keep a feature are looked at for a row; all where None.
    anneal
        Where not None, the temperature to start from: 20 passes accept losses at random, fewer and
        fewer through the first 14, and the best clusters count.
    rng
        The randomness: for every pass one permutation of the rows, while it is hot one coin a row.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rule import collapse
    >>> rows = collapse(Bipartite.from_lists([["tea", "rye"], ["ale"], ["tea"], ["ale", "jam"]]))
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> poor = np.array([0, 0, 1, 1], dtype=np.int32)
    >>> labels = refined_clusters(rows, poor, k=2, rule=Rule(), rng=rng)
    >>> (labels == labels[0]).tolist()
    [True, False, True, False]
    """
    together = np.argsort(labels, kind="stable")
    side_by_side = in_order(rows, together)
    clusters = clusters_of(side_by_side, labels[together], rule)
    search = _search(side_by_side, clusters, k=k, candidates=candidates, list_cap=list_cap)
    best, most = search.clusters.labels(), search.clusters.jaccard
    heats = temperatures(passes, anneal)
    with stage("local search", total=len(heats)) as advance:
        for number, heat in enumerate(heats, start=1):
            before = search.clusters.jaccard
            search.run(number, heat, rng)
            after = search.clusters.jaccard
            if after > most:
                best, most = search.clusters.labels(), after
            advance(1)
            if number > 1 and heat == 0 and after - before < LEAST_GAIN:
                break
    labels = np.empty_like(best)
    labels[together] = best
    return labels


def temperatures(passes: int, anneal: float | None) -> list[float]:
    """Return the temperature of every pass.

    Examples
    --------
    >>> temperatures(3, None)
    [0.0, 0.0, 0.0]
    >>> [round(heat, 2) for heat in temperatures(3, 0.28)][:15:7]
    [0.28, 0.14, 0.0]
    """
    if not anneal:
        return [0.0] * passes
    hot = HOT_SHARE * ANNEALING_PASSES
    return [max(0.0, anneal * (1 - done / hot)) for done in range(ANNEALING_PASSES)]


def largest_swapped(k: int) -> int:
    """Return how many rows a cluster may have for swaps to look at it: most have k.

    Examples
    --------
    >>> largest_swapped(8)
    40
    """
    return 4 * k + 8


def _search(
    rows: CollapsedRows, clusters: Clusters, *, k: int, candidates: int, list_cap: int | None
) -> LocalSearchRun:
    """Return a search that stands at these clusters."""
    ours, theirs = np.zeros((2, rows.n_features), dtype=np.int32)
    our_rises, their_rises = np.zeros((2, largest_swapped(k) + 2))
    return LocalSearchRun(
        clusters,
        k,
        UNCAPPED if list_cap is None else list_cap,
        np.full((rows.n_distinct, candidates + 1), NONE, dtype=np.int32),
        np.zeros(len(clusters.state.clusters), dtype=np.int32),
        kernel.Scratch(ours, theirs, our_rises, their_rises),
    )

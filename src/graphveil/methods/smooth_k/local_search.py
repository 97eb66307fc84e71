"""Local search: rows move between clusters while that raises the Jaccard index."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.progress import stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule
from graphveil.methods.smooth_k.candidates import UNCAPPED, rank_clusters
from graphveil.methods.smooth_k.kernels import candidates as ranking
from graphveil.methods.smooth_k.kernels import search as moves
from graphveil.methods.smooth_k.kernels import search_state

Ints = NDArray[np.int64]

ROOM = 1.5
"""Slots of the table for every pair of a cluster and a feature, or a count, that there can be."""


class Clusters(NamedTuple):
    """Clusters that rows are moved between."""

    data: search_state.Data
    state: search_state.SearchState
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
        rows: Ints = np.nonzero(self.state.labels == search_state.NONE)[0]
        search_state.insert_unclustered(self.data, self.state, self.jaccard, rows)


def clusters_of(rows: CollapsedRows, labels: Labels, rule: Rule) -> Clusters:
    """Return these clusters, ready for moves; label -1 stands for none.

    Memory is O(entries + rows + features), about 24 bytes for each entry and row.
    """
    n, n_clusters = labels.size, int(labels.max(initial=search_state.NONE)) + 1
    entries = int((rows.weights * rows.degrees()).sum())
    table = np.zeros((int(ROOM * (entries + n)) + 8, 2), dtype=np.int64)
    table[:, 0] = search_state.FREE
    least = rule.least(np.arange(n + 2, dtype=np.int64))
    data = search_state.Data(rows.indptr, rows.indices, rows.kinds, least, rows.n_features)
    state = search_state.SearchState(
        table=table,
        clusters=np.zeros((n_clusters, 3), dtype=np.int64),
        heads=np.full(n_clusters, search_state.NONE, dtype=np.int32),
        links=np.full((n, 2), search_state.NONE, dtype=np.int32),
        labels=labels.astype(np.int32),
        tally=np.zeros(2, dtype=np.int64),
    )
    search_state.fill(data, state)
    return Clusters(data, state, entries)


def in_order(rows: CollapsedRows, order: Ints) -> CollapsedRows:
    """Return the rows in this order, the distinct ones as they come: neighbors lie side by side."""
    kinds = rows.kinds[order]
    present, first = np.unique(kinds, return_index=True)
    by_arrival = present[np.argsort(first)]
    numbers = np.empty(rows.n_distinct, dtype=np.int32)
    numbers[by_arrival] = np.arange(by_arrival.size, dtype=np.int32)
    indptr, indices = rows.lists_of(by_arrival)
    weights = rows.weights[by_arrival]
    return CollapsedRows(indptr, indices, weights, numbers[kinds], rows.n_features)


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
    scratch: moves.Scratch

    def run(self, number: int, heat: float, rng: np.random.Generator) -> None:
        """Do one pass: every row is visited once, then small clusters are.

        Hot visits accept a loss of up to ``heat`` times an exponential variate. At 0 they must gain
        in pass 1, or not lose later; rows that nothing changed for are skipped.
        """
        data, state, _ = self.clusters
        lam, n = self.clusters.jaccard, state.labels.size
        every = number == 1 or heat > 0
        plan = moves.SearchPlan(lam, self.k, largest_swapped(self.k), number, every)
        choice = self._choice(lam)
        order = rng.permutation(n)
        cold_bar = moves.TINY if number == 1 else -moves.TINY
        bars = heat * np.log1p(-rng.random(n)) if heat > 0 else np.full(n, cold_bar)
        moves.sweep(data, state, plan, choice, self.scratch, order, bars)
        moves.dissolve(data, state, plan, choice, moves.small_clusters(state, plan))

    def _choice(self, lam: float) -> moves.SearchChoice:
        """Return where rows may go, by an index of the present clusters."""
        data, state, _ = self.clusters
        index = ranking.index_of(data, state, lam)
        rank_clusters(data, index, self.near, self.list_cap)
        roomy = np.full(2, search_state.NONE, dtype=np.int32)
        roomiest = np.argsort(-index.bases, kind="stable")[:2]
        roomy[: roomiest.size] = roomiest
        return moves.SearchChoice(
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

    A row in a cluster of more than k may move; others may swap with rows of clusters of at most 4k
    + 8. From the second pass on without heat, changes of equal worth are made too: they open ways,
    and the best clusters seen count.

    A pass from the second on that raises the Jaccard index by less than 0.0005 is the last.
    `candidates`: clusters tried for a row, apart from one that keeps few features; `list_cap`:
    clusters looked at for a row; `anneal`: a temperature to start from: 20 passes accept losses at
    random, fewer and fewer through the first 14.
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
    """Return the temperature of every pass."""
    if not anneal:
        return [0.0] * passes
    hot = HOT_SHARE * ANNEALING_PASSES
    return [max(0.0, anneal * (1 - done / hot)) for done in range(ANNEALING_PASSES)]


def largest_swapped(k: int) -> int:
    """Return how many rows a cluster may have for swaps to look at it: most have k."""
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
        np.full((rows.n_distinct, candidates + 1), search_state.NONE, dtype=np.int32),
        np.zeros(len(clusters.state.clusters), dtype=np.int32),
        moves.Scratch(ours, theirs, our_rises, their_rises),
    )

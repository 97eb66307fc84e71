"""Local search: rows move between clusters while that raises the Jaccard index.

graphveil's own; the paper (Esfandiari et al.) ends with the keep rule. A change must raise the
Jaccard index I / U of original and release (Definition 3.6), by Dinkelbach's method: within a pass
it must raise ``I - lam U``, where lam is the index at the beginning of the pass. That is a sum over
clusters and features, so every move is judged by its exact difference (see the kernels
`search_state` and `search`). At the beginning of a pass ``I - lam U`` is 0, since lam = I / U. If
the gains of the pass add up to more than 0, it ends with ``I - lam U > 0``, and so with a larger
I / U.

Each pass ranks the clusters that suit every distinct row, visits the rows in random order (a row of
a cluster of more than k may move, others may be swapped), and dissolves small clusters. A pass
ranks the clusters for each distinct row once (see `candidates`); a move costs the features of the
row, a swap the entries of the other cluster for each candidate. Memory is about 24 bytes for each
entry and row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.progress import stage
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule
from graphveil.methods.smooth_k.candidates import UNCAPPED, rank_clusters
from graphveil.methods.smooth_k.kernels import candidates as ranking
from graphveil.methods.smooth_k.kernels import search as moves
from graphveil.methods.smooth_k.kernels import search_state

ROOM = 1.5
"""Slots of the hash table for every key that there can be: a pair of a cluster and a feature for
each entry, and a count for each row. At most two thirds of the slots are in use, so searches
stay short; a smaller value saves memory and lengthens them."""


class Clusters(NamedTuple):
    """Clusters that rows are moved between.

    Parameters
    ----------
    data
        The rows and the keep rule, as the kernels take them.
    state
        What the clusters hold; overwritten by every move.
    entries
        The entries of the original, copies included.
    """

    data: search_state.Data
    state: search_state.SearchState
    entries: int

    @property
    def jaccard(self) -> float:
        """The Jaccard index I / U; rows without a cluster count as suppressed."""
        shared, cells = self.state.tally.tolist()
        union = self.entries + cells - shared
        return float(shared / union) if union else 1.0

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
    # Step 1: an empty table with room for every pair that can occur.
    entries = int((rows.weights * rows.degrees()).sum())
    table = np.zeros((int(ROOM * (entries + n)) + 8, 2), dtype=np.int64)
    table[:, 0] = search_state.FREE
    # Step 2: the thresholds t(s) for all sizes, and clusters without rows.
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
    # Step 3: count every row into its cluster.
    search_state.fill(data, state)
    return Clusters(data, state, entries)


def in_order(rows: CollapsedRows, order: Ints) -> CollapsedRows:
    """Return the rows in this order, and the distinct rows in the order in which they first occur.

    Rows of a cluster then are neighbors in memory, which makes visits to a cluster faster.
    """
    kinds = rows.kinds[order]
    present, first = np.unique(kinds, return_index=True)
    by_arrival = present[np.argsort(first)]
    numbers = np.empty(rows.n_distinct, dtype=np.int32)
    numbers[by_arrival] = np.arange(by_arrival.size, dtype=np.int32)
    indptr, indices = rows.lists_of(by_arrival)
    weights = rows.weights[by_arrival]
    return CollapsedRows(indptr, indices, weights, numbers[kinds], rows.n_features)


LEAST_GAIN = 5e-4
"""A pass from the second on that raises the Jaccard index by less than this is the last. A smaller
value takes more passes for gains in the fourth decimal."""

ANNEALING_PASSES = 20
"""The passes of an annealing run."""

HOT_SHARE = 0.7
"""The share of the annealing passes in which the temperature falls to 0; the rest are ordinary
passes that repair what heat left behind."""


class LocalSearchRun(NamedTuple):
    """A search under way.

    Parameters
    ----------
    clusters
        The clusters, overwritten pass by pass.
    k
        The smallest cluster.
    list_cap
        How many entries of a list are read when clusters are ranked.
    near
        int32, shape (distinct rows, candidates + 1): scratch for the ranking.
    changed
        int32, shape (clusters,): the last pass in which each cluster changed.
    scratch
        Room for swaps.
    """

    clusters: Clusters
    k: int
    list_cap: int
    near: NDArray[np.int32]
    changed: NDArray[np.int32]
    scratch: moves.Scratch

    def run(self, number: int, heat: float, rng: np.random.Generator) -> None:
        """Do one pass: every row is visited once, then small clusters are.

        Parameters
        ----------
        number
            The number of the pass, from 1.
        heat
            The temperature. If it is positive, a visit may lose up to `heat` times an exponential
            variate. At 0 it must gain in pass 1 and must not lose in later ones, where rows that
            nothing changed for are skipped.
        rng
            The random stream: the order of the rows, and the variates.
        """
        data, state, _ = self.clusters
        # Dinkelbach: the price of this pass is the present index.
        lam, n = self.clusters.jaccard, state.labels.size
        every = number == 1 or heat > 0
        plan = moves.SearchPlan(lam, self.k, largest_swapped(self.k), number, every)
        choice = self._choice(lam)
        # Accepting a change if its gain exceeds T ln(u), u uniform, is the Metropolis rule.
        order = rng.permutation(n)
        cold_bar = moves.TINY if number == 1 else -moves.TINY
        bars = heat * np.log1p(-rng.random(n)) if heat > 0 else np.full(n, cold_bar)
        # Moves and swaps first, then the clusters below 2k rows, the worst first.
        moves.sweep(data, state, plan, choice, self.scratch, order, bars)
        moves.dissolve(data, state, plan, choice, moves.small_clusters(state, plan))

    def _choice(self, lam: float) -> moves.SearchChoice:
        """Return where rows may go, ranked by an index of the present clusters."""
        data, state, _ = self.clusters
        index = ranking.index_of(data, state, lam)
        rank_clusters(data, index, self.near, self.list_cap)
        # The clusters that lose least by a row without features: a way out for rows that fit
        # nowhere. Two, since a row may be in one of them.
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

    Parameters
    ----------
    rows
        The distinct rows and their copies.
    labels
        int32, shape (n,): the clusters to start from, each of at least k rows.
    k
        The smallest cluster.
    rule
        The keep rule.
    passes
        Passes at most, without annealing.
    candidates
        How many clusters are tried for a row, apart from one that keeps few features.
    list_cap
        How many entries of a feature's list of clusters are read; None for all.
    anneal
        A temperature to start from: 20 passes, of which the first 14 accept losses at random, fewer
        and fewer. None for no annealing.
    rng
        The random stream.

    Returns
    -------
    ndarray
        int32, shape (n,): the best clusters seen at the end of a pass, or the given ones.

    Notes
    -----
    From the second pass on without heat, changes of equal worth are made too: they open ways to
    better ones. Swaps look at clusters of at most 4k + 8 rows.
    """
    # Step 1: sort the rows by cluster.
    together = np.argsort(labels, kind="stable")
    side_by_side = in_order(rows, together)
    clusters = clusters_of(side_by_side, labels[together], rule)
    search = _search(side_by_side, clusters, k=k, candidates=candidates, list_cap=list_cap)
    best, most = search.clusters.labels(), search.clusters.jaccard
    # Step 2: pass after pass; the best clusters seen count, since a pass may also lose.
    heats = temperatures(passes, anneal)
    with stage("local search", total=len(heats)) as advance:
        for number, heat in enumerate(heats, start=1):
            before = search.clusters.jaccard
            search.run(number, heat, rng)
            after = search.clusters.jaccard
            if after > most:
                best, most = search.clusters.labels(), after
            advance(1)
            # Changes of equal worth begin with pass 2, so pass 1 never ends the search.
            if number > 1 and heat == 0 and after - before < LEAST_GAIN:
                break
    # Step 3: back to the order of the data.
    labels = np.empty_like(best)
    labels[together] = best
    return labels


def temperatures(passes: int, anneal: float | None) -> list[float]:
    """Return the temperature of every pass: 0 without annealing, else falling linearly to 0."""
    if not anneal:
        return [0.0] * passes
    hot = HOT_SHARE * ANNEALING_PASSES
    return [max(0.0, anneal * (1 - done / hot)) for done in range(ANNEALING_PASSES)]


def largest_swapped(k: int) -> int:
    """Return how many rows a cluster may have for swaps to look at it.

    A swap reads the entries of the entire cluster. Most clusters have k rows; 4k + 8 leaves room
    for larger ones and bounds the time of a visit.
    """
    return 4 * k + 8


def _search(
    rows: CollapsedRows, clusters: Clusters, *, k: int, candidates: int, list_cap: int | None
) -> LocalSearchRun:
    """Return a search that starts from these clusters, with room for the kernels."""
    # Scratch for swaps is as large as the largest cluster that they look at.
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

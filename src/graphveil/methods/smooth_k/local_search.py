"""Local search: rows move or change places and clusters dissolve while the Jaccard index rises.

The Jaccard index I / U is raised by Dinkelbach's method: moves must raise I - lam U, where lam is
the index at the beginning of the pass. That is a sum over clusters and features, so that every move
is judged by its exact difference.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.smooth_k import search as kernel
from graphveil.kernels.smooth_k.candidates import index_of
from graphveil.kernels.smooth_k.search_state import NONE
from graphveil.methods.equivalence_classes.rows import CollapsedRows, Labels
from graphveil.methods.equivalence_classes.rule import Rule
from graphveil.methods.smooth_k.ranking import UNCAPPED, rank_clusters
from graphveil.methods.smooth_k.search_state import Clusters, clusters_of, in_order
from graphveil.progress import stage

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

        Parameters
        ----------
        number
            Passes are numbered from 1.
        heat
            A visit accepts a loss of up to ``heat`` times an exponential variate. At 0 it must
            gain, in the first pass, or not lose, in later ones; and rows that nothing changed for
            are skipped.
        rng
            The randomness.
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

    Returns
    -------
    Labels
        Numbered anew.

    Notes
    -----
    A row in a cluster of more than k rows may move; one in a cluster of k rows may change places
    with a row of a cluster of at most 4k + 8. A move takes O(features of the row), a swap
    O(features of the rows of both clusters). From the second pass on without heat, rows are visited
    whose cluster or best candidate changed in this pass or the last, and changes of equal worth are
    made too: they open ways, and the best clusters seen count.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.methods.equivalence_classes.rows import collapse
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

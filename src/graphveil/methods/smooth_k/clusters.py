"""The clusters of one chunk: starts by the chosen algorithm, local search, and the best wins.

`Clustering` is what `SmoothK` and `SuppressK` hand to every chunk: a value that can be pickled, so
that processes and Spark executors share it. The algorithms are in `facility_location`,
`greedy_growth` and `local_search`; for tables of which nothing may be added,
`graphveil.methods.equivalence_classes.masks` gives one more start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule, kept
from graphveil.methods.smooth_k.facility_location import cut_up, facility_clusters
from graphveil.methods.smooth_k.greedy_growth import grown_clusters
from graphveil.methods.smooth_k.local_search import refined_clusters
from graphveil.methods.smooth_k.options import Facility, Greedy

MOST_COMPARISONS_WITH_MASKS = 100_000_000
"""The comparisons of rows up to which clusters are grown as well if all masks of a table were
tried: about a second of work. Above, masks alone are the start."""


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Put the rows of one chunk into clusters of at least k.

    Parameters
    ----------
    k
        The smallest cluster.
    rule
        The keep rule.
    algorithm
        How clusters start, and the local search, if any.
    """

    k: int
    rule: Rule
    algorithm: Greedy | Facility

    def __call__(self, rows: CollapsedRows, rng: np.random.Generator) -> Labels:
        """Return the cluster of every row: of several starts, those that keep most in the end."""
        # Each start is refined by itself; the first of those that keep most entries wins. Only
        # suppression has two starts (see `starts`). It adds nothing, so the union is the original,
        # and the number of kept entries ranks clusters as the Jaccard index does.
        starts = self.starts(rows, rng)
        best = self.refined(rows, next(starts), rng)
        for start in starts:
            other = self.refined(rows, start, rng)
            best = max(best, other, key=lambda labels: kept(rows, labels, self.rule).kept)
        return best

    def refined(self, rows: CollapsedRows, labels: Labels, rng: np.random.Generator) -> Labels:
        """Return these clusters after the local search, if the algorithm has one."""
        search = self.algorithm.refine
        if search is None:
            return labels
        return refined_clusters(
            rows,
            labels,
            k=self.k,
            rule=self.rule,
            passes=search.passes,
            candidates=search.candidates,
            list_cap=search.list_cap,
            anneal=search.anneal,
            rng=rng,
        )

    def starts(self, rows: CollapsedRows, rng: np.random.Generator) -> Iterator[Labels]:
        """Yield clusters of at least k rows, before they are refined; the best counts in the end.

        Rows of a table of which nothing may be added are put together by masks, the columns that a
        class publishes. If every mask was tried and growing clusters would take long, that is the
        only start.
        """
        if isinstance(self.algorithm, Facility):
            yield self._located(rows, self.algorithm, rng)
            return
        # Only with the automatic order of seeds, suppression alone, and features named by columns:
        # see `Clustered.columns_of`.
        masked = None
        if rows.columns is not None:
            from graphveil.methods.equivalence_classes import masks  # noqa: PLC0415  compiled code

            masked = masks.masked_clusters(rows, k=self.k)
        # Masks that were all tried are a good start by themselves: growth must then be cheap.
        is_cheap = rows.comparisons <= MOST_COMPARISONS_WITH_MASKS
        if masked is None or not masked.all_masks or is_cheap:
            order = self.algorithm.seed_order
            yield grown_clusters(rows, k=self.k, rule=self.rule, seed_order=order, rng=rng)
        if masked is not None:
            yield masked.labels

    def _located(self, rows: CollapsedRows, by: Facility, rng: np.random.Generator) -> Labels:
        """Return clusters around facilities; before local search equal rows stay together."""
        # The published cut is arbitrary. If the search follows, cutting along the distinct rows
        # keeps equal rows in one piece, which is a better start.
        cuts_by_kind = by.cut and by.refine is not None
        labels = facility_clusters(
            rows,
            k=self.k,
            beta=by.beta,
            cost_factor=by.cost_factor,
            runs=by.runs,
            assign=by.assign,
            cut=bool(by.cut) and not cuts_by_kind,
            rng=rng,
        )
        # Rows in the order of the distinct rows: a cut then divides at most one kind at each
        # border.
        if cuts_by_kind:
            order = rows.by_kind()
            labels[order] = cut_up(labels[order], k=self.k)
        return labels

"""How rows are put together: algorithms, local search and chunks, as types with their parameters.

Compiled code is imported when the first rows come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from graphveil.core.errors import ParameterError
from graphveil.core.parameters import Options, parameter
from graphveil.methods.equivalence_classes.rule import CollapsedRows, Labels, Rule, kept

Order = Literal["minhash", "label-propagation", "none"]


@dataclass(frozen=True, kw_only=True)
class LocalSearch(Options):
    """Rows move between clusters while that keeps more of the data.

    Parameters
    ----------
    passes
        Passes over all rows at most.
    candidates
        How many clusters are tried for a row.
    list_cap
        How many entries are read of a feature's list of clusters; all where None. On huge data 200
        saves time and costs little.
    anneal
        The temperature at which annealing starts, none where None: it accepts some losses.

    Examples
    --------
    >>> import graphveil as gv
    >>> slow = gv.SmoothK(k=8, algorithm=gv.Greedy(refine=gv.LocalSearch(anneal=0.3)))
    >>> slow.parameters()["anneal"]
    0.3
    """

    label: ClassVar[str] = "local search"

    passes: int = parameter(
        default=6, text="maximum number of passes over all rows", minimum=1, private=True
    )
    candidates: int = parameter(
        default=4, text="number of clusters tried per row", minimum=1, maximum=1000, private=True
    )
    list_cap: int | None = parameter(
        default=None,
        text="entries read from each feature's list",
        minimum=1,
        unset="all",
        private=True,
    )
    anneal: float | None = parameter(
        default=None,
        text="annealing temperature; 0.3 works well",
        minimum=0,
        unset="no annealing",
        private=True,
    )

    def refined(
        self, rows: CollapsedRows, labels: Labels, *, k: int, rule: Rule, rng: np.random.Generator
    ) -> Labels:
        """Return clusters of at least k rows that keep at least as much as these."""
        from graphveil.methods.smooth_k.local_search import (  # noqa: PLC0415  compiled code
            refined_clusters,
        )

        return refined_clusters(
            rows,
            labels,
            k=k,
            rule=rule,
            passes=self.passes,
            candidates=self.candidates,
            list_cap=self.list_cap,
            anneal=self.anneal,
            rng=rng,
        )


REFINE = "run local search afterwards"

MOST_COMPARISONS = 10_000_000_000
"""The comparisons of rows up to which all are anonymized as one: about half a minute of work."""

COMPARED = 5
"""Where features are popular, rows are met through their rarest ones: one comparison of so many.

That is more than is saved: one chunk may then take up to two minutes, and more is kept."""

FEWEST_ROWS, FEWEST_CLUSTERS, ROUNDED_TO = 10_000, 100, 1_000
"""A chunk that the data demands has so many rows, fits so many clusters, and has a round size."""


COMPARISONS_BESIDE_MASKS = 100_000_000
"""The comparisons up to which clusters are grown too, where all masks of a table were tried: about
a second of work."""


@dataclass(frozen=True, kw_only=True)
class Greedy(Options):
    """Clusters of k rows are grown one after the other, then refined by local search.

    Parameters
    ----------
    seed_order
        Clusters grow from the rows with most features first (``"degree"``), or from those with the
        nearest neighbors (``"cost"``); ``"auto"`` tries both where all rows have about as many
        features. Where nothing may be added, ``"auto"`` also puts rows of a table together by the
        columns that a class publishes, the finest first.
    refine
        The local search, or None for none.

    Examples
    --------
    >>> import graphveil as gv
    >>> quick = gv.SmoothK(k=8, algorithm=gv.Greedy(seed_order="degree", refine=None))
    >>> quick.parameters()["refine"]
    False
    """

    label: ClassVar[str] = "greedy"

    seed_order: Literal["auto", "degree", "cost"] = parameter(
        default="auto", text="rows from which clusters grow first"
    )
    refine: LocalSearch | None = parameter(default=LocalSearch(), text=REFINE)

    def starts(
        self, rows: CollapsedRows, *, k: int, rule: Rule, rng: np.random.Generator
    ) -> Iterator[Labels]:
        """Yield clusters of at least k rows, before they are refined: of all, the best counts.

        Rows of a table of which nothing may be added are put together by masks. Where that tried
        every mask and to grow clusters would take long, there is no other start.
        """
        masked = None
        if rows.columns is not None:
            from graphveil.methods.smooth_k.by_masks import (  # noqa: PLC0415  compiled code
                masked_clusters,
            )

            masked = masked_clusters(rows, k=k)
        few = rows.comparisons <= COMPARISONS_BESIDE_MASKS
        if masked is None or not masked.all_masks or few:
            from graphveil.methods.smooth_k.facility import grown_clusters  # noqa: PLC0415  compiled code

            yield grown_clusters(rows, k=k, rule=rule, seed_order=self.seed_order, rng=rng)
        if masked is not None:
            yield masked.labels


@dataclass(frozen=True, kw_only=True)
class Facility(Options):
    """The published algorithm: facility location, without local search unless it is asked for.

    Parameters
    ----------
    beta, cost_factor
        A facility at a row costs `cost_factor` times the row's distances to the ``beta * k``
        nearest rows; where None, ``2 / (beta - 1)``.
    runs
        How many random runs compete; the cheapest counts.
    assign
        Whether a row goes to its nearest facility in the end, or stays where it went on arrival.
    cut
        Whether clusters are cut to at most 2k-1 rows. Where None, they are if nothing may be added
        (`SuppressK`). Before local search equal rows stay together as far as they can: a better
        start. The published cut is arbitrary.
    refine
        The local search, or None for none.

    Examples
    --------
    >>> import graphveil as gv
    >>> published = gv.SmoothK(k=8, algorithm=gv.Facility(runs=3)).parameters()
    >>> published["algorithm"], published["runs"], published["refine"]
    ('facility', 3, False)
    """

    label: ClassVar[str] = "facility"

    beta: float = parameter(
        default=2.0,
        text="costs depend on the beta*k nearest rows",
        minimum=1,
        maximum=1e6,
        private=True,
    )
    cost_factor: float | None = parameter(
        default=None,
        text="factor of the opening costs",
        minimum=0,
        maximum=1e6,
        unset="2/(beta-1)",
        private=True,
    )
    runs: int = parameter(
        default=10, text="number of random runs; the cheapest one counts", minimum=1, private=True
    )
    assign: Literal["nearest", "arrival"] = parameter(
        default="nearest", text="rows go to the nearest facility, or stay as they arrived"
    )
    cut: bool | None = parameter(
        default=None, text="cut clusters to at most 2k-1 rows", unset="only with suppress-k"
    )
    refine: LocalSearch | None = parameter(default=None, text=REFINE)

    def __post_init__(self) -> None:
        """Check every field, and that costs are defined."""
        super().__post_init__()
        if self.beta <= 1 and self.cost_factor is None:
            raise ParameterError("beta=1 has no default cost_factor. Set cost_factor.")

    def starts(
        self,
        rows: CollapsedRows,
        *,
        k: int,
        rule: Rule,  # noqa: ARG002  other groupings ask for it
        rng: np.random.Generator,
    ) -> Iterator[Labels]:
        """Yield the cluster of every row, each of at least k rows, before they are refined."""
        from graphveil.methods.smooth_k.facility import (  # noqa: PLC0415  compiled code
            cut_up,
            facility_clusters,
        )

        cuts_by_kind = self.cut and self.refine is not None
        labels = facility_clusters(
            rows,
            k=k,
            beta=self.beta,
            cost_factor=self.cost_factor,
            runs=self.runs,
            assign=self.assign,
            cut=bool(self.cut) and not cuts_by_kind,
            rng=rng,
        )
        if cuts_by_kind:
            order = rows.by_kind()
            labels[order] = cut_up(labels[order], k=k)
        yield labels


@dataclass(frozen=True, kw_only=True)
class Chunks(Options):
    """Like rows are brought together in chunks, and every chunk is anonymized by itself.

    Parameters
    ----------
    rows
        About how many rows a chunk has: at least 2k.
    order
        How like rows come together: ``"minhash"`` (published), ``"label-propagation"``, or
        ``"none"``, as they stand.
    rounds
        How often clusters are exchanged between chunks and refined again afterwards.

    Examples
    --------
    >>> import graphveil as gv
    >>> gv.SmoothK(k=8, chunks=gv.Chunks(rows=100_000)).parameters()["chunk_rows"]
    100000
    """

    label: ClassVar[str] = "chunks"

    rows: int = parameter(
        text="rows per chunk; each chunk is anonymized by itself",
        minimum=4,
        unset="all rows, or fewer if all at once would take long",
        flat="chunk_rows",
        private=True,
    )
    order: Order = parameter(
        default="minhash", text="how similar rows are brought together", private=True
    )
    rounds: int = parameter(
        default=0, text="additional rounds of local search", minimum=0, private=True
    )


def chunks_demanded(n_rows: int, comparisons: int, *, k: int) -> Chunks | None:
    """Return the chunks in which the work is bounded; None where all rows as one are little work.

    `comparisons`: the pairs of rows that share a feature, once a shared feature: the work grows
    with them; `k`: the smallest cluster.

    Examples
    --------
    >>> chunks_demanded(30_000, 200_000_000, k=8) is None
    True
    >>> chunks_demanded(400_000, 112_000_000_000, k=8).rows
    35000
    """
    if comparisons <= MOST_COMPARISONS:
        return None
    rows = n_rows * MOST_COMPARISONS // comparisons // ROUNDED_TO * ROUNDED_TO
    rows = max(rows, FEWEST_ROWS, FEWEST_CLUSTERS * k)
    return Chunks(rows=rows) if rows < n_rows else None


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Puts the rows of one chunk into clusters of at least k; processes share it.

    `k, rule`: the smallest cluster, and what a cluster publishes; `algorithm`: how clusters are
    formed and refined.
    """

    k: int
    rule: Rule
    algorithm: Greedy | Facility

    def __call__(self, rows: CollapsedRows, rng: np.random.Generator) -> Labels:
        """Return the cluster of every row: of several starts, those that keep most in the end."""
        starts = self.algorithm.starts(rows, k=self.k, rule=self.rule, rng=rng)
        best = self.refined(rows, next(starts), rng)
        for start in starts:
            other = self.refined(rows, start, rng)
            best = max(best, other, key=lambda one: kept(rows, one, self.rule).kept)
        return best

    def refined(self, rows: CollapsedRows, labels: Labels, rng: np.random.Generator) -> Labels:
        """Return these clusters after the local search, where the algorithm has one."""
        search = self.algorithm.refine
        if search is None:
            return labels
        return search.refined(rows, labels, k=self.k, rule=self.rule, rng=rng)

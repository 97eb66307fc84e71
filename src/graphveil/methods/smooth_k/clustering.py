"""How rows are put together: the algorithm with its parameters, as values that processes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphveil.methods.equal_rows.rows import Labels, Rows
from graphveil.methods.equal_rows.rule import Rule


@dataclass(frozen=True, kw_only=True)
class Greedy:
    """Clusters of k rows, grown one after the other.

    Parameters
    ----------
    seed_order
        Which rows clusters grow from first.
    """

    seed_order: Literal["auto", "degree", "cost"]

    def __call__(self, rows: Rows, k: int, rule: Rule, rng: np.random.Generator) -> Labels:
        """Return the cluster of every row."""
        from graphveil.methods.smooth_k.growth import (  # noqa: PLC0415  compiled code, when needed
            grown_clusters,
        )

        return grown_clusters(rows, k=k, rule=rule, seed_order=self.seed_order, rng=rng)


@dataclass(frozen=True, kw_only=True)
class Facility:
    """Facility location, as published.

    Parameters
    ----------
    beta, cost_factor
        A row costs ``cost_factor`` times its distances to the ``beta * k`` nearest rows.
    runs
        How often facilities are opened anew; the cheapest run counts.
    assign
        Whether a row goes to its nearest facility, or stays where it went first.
    cut
        Whether clusters are cut to between k and 2k-1 rows.
    together
        Whether equal rows stay together when clusters are cut, as far as they can: a better start
        for local search. The published cut is arbitrary.
    """

    beta: float
    cost_factor: float | None
    runs: int
    assign: Literal["nearest", "arrival"]
    cut: bool
    together: bool = False

    def __call__(self, rows: Rows, k: int, rule: Rule, rng: np.random.Generator) -> Labels:
        """Return the cluster of every row."""
        from graphveil.methods.smooth_k.facility import (  # noqa: PLC0415  as above
            cut_up,
            facility_clusters,
        )

        del rule
        by_kind = self.cut and self.together
        labels = facility_clusters(
            rows,
            k=k,
            beta=self.beta,
            cost_factor=self.cost_factor,
            runs=self.runs,
            assign=self.assign,
            cut=self.cut and not by_kind,
            rng=rng,
        )
        if by_kind:
            order = rows.by_kind()
            labels[order] = cut_up(labels[order], k=k)
        return labels


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """Local search that moves rows between clusters while that keeps more of the data.

    Parameters
    ----------
    k, rule
        The smallest cluster, and what a cluster keeps.
    passes, candidates, list_cap, anneal
        As in `SmoothK`.
    """

    k: int
    rule: Rule
    passes: int
    candidates: int
    list_cap: int | None
    anneal: float | None

    def __call__(self, rows: Rows, labels: Labels, rng: np.random.Generator) -> Labels:
        """Return clusters that keep at least as much."""
        from graphveil.methods.smooth_k.local_search import (  # noqa: PLC0415  as above
            refined_clusters,
        )

        return refined_clusters(
            rows,
            labels,
            k=self.k,
            rule=self.rule,
            passes=self.passes,
            candidates=self.candidates,
            list_cap=self.list_cap,
            anneal=self.anneal,
            rng=rng,
        )


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """Rows to clusters of at least k, refined where that was asked for.

    Parameters
    ----------
    k, rule
        The smallest cluster, and what a cluster keeps.
    algorithm
        How clusters are formed.
    refinement
        How they are refined, or None.
    """

    k: int
    rule: Rule
    algorithm: Greedy | Facility
    refinement: Refinement | None

    def __call__(self, rows: Rows, rng: np.random.Generator) -> Labels:
        """Return the cluster of every row."""
        labels = self.algorithm(rows, self.k, self.rule, rng)
        return labels if self.refinement is None else self.refinement(rows, labels, rng)

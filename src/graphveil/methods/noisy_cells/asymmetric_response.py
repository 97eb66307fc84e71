"""The method `asymmetric-response`: edges pass, others appear, each with one of two chances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from graphveil.claims.conditions import AnyCondition, CellFlips, Condition, ExactSize, as_printed
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite, Graph
from graphveil.methods.base import MethodResult, NoisyTies, Reached, SourceName
from graphveil.methods.noise import Channel, channel, flipped, words_from
from graphveil.methods.noise.cells import cells_of, number_of_cells, with_cells
from graphveil.methods.noisy_cells.noisy import (
    COUNT_SHARE,
    SMALLEST_PART,
    NoisyMethod,
    copies_matched,
    count_at_most,
    entries_of_one,
    listed_once,
    noisy_at_most,
    noisy_count,
    resized,
    what_is_public,
)

_EVEN = Fraction(1, 2)


@dataclass(frozen=True, kw_only=True)
class AsymmetricResponse(NoisyMethod):
    """One edge or entry changes any release's probability by at most a factor e^epsilon.

    A cell is a pair of nodes, or a pair of a user and a feature. Every edge is published with one
    probability, every other cell with a smaller one, all independently. Both follow from epsilon
    and from a noisy count of the edges, so that about as many are published as there were: of all
    ways to keep the promise cell by cell, this one keeps most edges for the size of the release.

    Parameters
    ----------
    epsilon
        From 0.0001 to 40: the whole of it.
    epsilon_count
        The part of epsilon that the noisy count has; None stands for a twentieth, at most 0.1.
    exact_size
        Whether edges are then added or removed evenly, until as many are there as the noisy count
        says.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or the count leaves nothing for the cells.

    Notes
    -----
    With the noisy count m~ of N cells, pi = m~/N and e the part of epsilon for the cells, another
    cell is published with p0 = pi/(1 - pi + pi exp(e)), an edge with exp(e) p0 (above pi = 1/2 the
    two swap roles). Time and memory grow with the edges before and after, never with the number of
    cells. All probabilities are fractions with the denominator 2^64, rounded so that the promise
    holds as it stands, and all randomness is the operating system's. With a seed nothing is
    claimed.

    The number of nodes or users and the set of features count as public.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = AsymmetricResponse(epsilon=2.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "asymmetric-response"
    accepts = (Graph, Bipartite)
    when: ClassVar[str] = (
        "Each edge or entry must be deniable, and single edges matter at a large epsilon."
    )
    promise: ClassVar[str] = (
        "One edge or entry changes any release's probability by at most a factor e^epsilon."
    )
    source: ClassVar[str] = (
        "the channel with the most true edges for its size; after Nguyen, Imine & Rusinowitch, "
        "Differentially Private Publication of Social Graphs at Linear Cost (Top-m Filter)"
    )
    limits: ClassVar[str] = (
        "All edges of one person together: epsilon is for a single edge or entry."
    )
    reached: ClassVar[tuple[Reached, ...]] = (
        Reached(
            "Re-identified in our tests: 94% of the nodes by an attacker with a copy of the "
            "network (1,224 nodes, epsilon 7.11).",
            {"epsilon": 7.11},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, epsilon 4).",
            {"epsilon": 4.0},
        ),
        Reached(
            "Re-identified in our tests: 95% of the nodes by an attacker with a copy of the "
            "network who also knew 20 nodes (1,000 nodes, synthetic, epsilon 3).",
            {"epsilon": 3.0},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, epsilon 2).",
            {"epsilon": 2.0},
        ),
    )
    cost: ClassVar[str] = "linear in the number of edges or entries before and after"
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "ties")
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 4.0}

    epsilon_count: float | None = parameter(
        default=None,
        text="share of epsilon spent on the noisy edge count",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="one twentieth of epsilon, at most 0.1",
    )
    exact_size: bool = parameter(
        default=False, text="add or remove edges uniformly until the noisy count is met"
    )

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that counts have, by name."""
        return {"epsilon_count": self.part(self.epsilon_count, COUNT_SHARE)}

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run states."""
        return (CellFlips, ExactSize) if self.exact_size else (CellFlips,)

    def flips(self, n_cells: int, count: int | None, *, entries: int = 1) -> CellFlips:
        """Return the chances of a cell, and what they follow from.

        Parameters
        ----------
        n_cells
            The number of cells.
        count
            The noisy count of edges or entries; None where there are fewer than two cells, which
            leave nothing to be counted.
        entries
            How many cells share in each part of epsilon: two where it is that of a value.
        """
        alone = count is None
        epsilon = (as_printed(self.epsilon) if alone else self.epsilon_cells) / entries
        through = channel(_EVEN if alone else Fraction(count or 0, n_cells), epsilon)
        return CellFlips(
            cells=str(n_cells),
            epsilon_cells=str(epsilon),
            T0=str(through.zero),
            T1=str(through.one),
            noisy_count=None if alone else str(count),
        )

    def _anonymize(self, data: Graph | Bipartite, randomness: Randomness) -> MethodResult:
        ones, n_cells = cells_of(data), number_of_cells(data)
        stated = self.stated_for(data, ones.size, randomness)
        cells, _ = flipped(
            words_from(randomness, "cells"), ones, n_cells, Channel(int(stated.T0), int(stated.T1))
        )
        conditions: tuple[AnyCondition, ...] = (stated,)
        if self.exact_size:
            size = cells.size if stated.noisy_count is None else int(stated.noisy_count)
            cells = resized(words_from(randomness, "size"), cells, n_cells, size)
            conditions = (stated, ExactSize(size=str(size)))
        return MethodResult(
            data=with_cells(data, cells),
            conditions=conditions,
            facts=listed_once(data),
            advice=self.advice_for(data, stated, cells.size),
        )

    def from_ties(self, graph: Graph, randomness: Randomness) -> NoisyTies:
        """Return the chances of every pair of a graph whose ties the disk holds."""
        cells, scale = number_of_cells(graph), 1 / self.parts["epsilon_count"]
        most = count_at_most(graph.n_edges, scale)
        stated = self.flips(cells, min(max(most, 1), cells - 1) if cells > 1 else None)
        through = Channel(int(stated.T0), int(stated.T1))
        return NoisyTies(
            noisy_at_most(graph, through, scale=scale if self.exact_size else None),
            partial(self.stated_for, graph, graph.n_edges, randomness),
            partial(self.advice_for, graph),
            self.exact_size,
        )

    def stated_for(self, data: Graph | Bipartite, ones: int, randomness: Randomness) -> CellFlips:
        """Draw the noisy count of some ones, and return the chances that follow from it."""
        n_cells, entries = number_of_cells(data), entries_of_one(data)
        count = None
        if n_cells > 1:
            words = words_from(randomness, "noisy count")
            count = noisy_count(words, ones, n_cells, self.parts["epsilon_count"] / entries)
        return self.flips(n_cells, count, entries=entries)

    def advice_for(
        self, data: Graph | Bipartite, stated: CellFlips, _published: int
    ) -> tuple[str, ...]:
        """Return what the owner should know of a release under these chances."""
        count = None if stated.noisy_count is None else int(stated.noisy_count)
        chances = Channel(int(stated.T0), int(stated.T1))
        return (*what_is_public(data), *copies_matched(data, chances, count))

"""The methods `randomized-response` and `asymmetric-response`: cells flipped at known chances.

Both publish every cell, a pair of nodes or of a user and an item, independently of all others.

- `randomized-response` flips every cell with probability 1/(1 + e^epsilon): Algorithm 1 of
  Esfandiari et al., *Smooth Anonymity for Sparse Graphs*, section 4. There a share of p =
  2/(1 + e^epsilon) of the cells is sampled again, of which half are flipped.
- `asymmetric-response` publishes edges with probability p1 and other cells with p0, for
  p0 = pi/(1 - pi + pi e^eps) and p1 = e^eps p0. The share pi of edges comes from a noisy count,
  under its own part of epsilon. It is the channel that keeps most edges for the size of the
  release. The Top-m Filter of Nguyen, Imine & Rusinowitch (2015) uses a threshold on Laplace noise
  instead: the same channel up to eps = ln(1/pi - 1), and one that keeps fewer edges above.

Why both are private: two data sets that differ in one cell differ in one factor of the probability
of a release, which is p1/p0 or (1-p0)/(1-p1), each at most e^eps (`noise.cells.channel`).

Cost: O(edges or entries before and after), never O(cells).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal

from graphveil.claims.conditions import (
    LARGEST_EPSILON,
    AnyCondition,
    Condition,
    ExactSize,
    RandomizedCells,
    as_printed,
)
from graphveil.claims.facts import Cost, EdgeChanges, EntryChanges, cost_of
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.record import OwnersNotes
from graphveil.core.errors import InfeasibleError
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.core.warnings import Advice, FalseEntriesWarning
from graphveil.data import Bipartite, Data, Graph
from graphveil.methods.base import Anonymizer, SourceName
from graphveil.methods.card import MethodCard, Reached
from graphveil.methods.noise.cells import (
    Channel,
    cells_of,
    cells_of_one,
    channel,
    flipped,
    number_of_cells,
    with_cells,
)
from graphveil.methods.noise.laws import FULL, words_from
from graphveil.methods.noisy_cells import noisy
from graphveil.release.draft import Draft, NoisyEdges

_EVEN = Fraction(1, 2)
"""The prior of randomized response: nothing is assumed about cells."""


RANDOMIZED_RESPONSE_CARD = MethodCard(
    when="You need the classic baseline, or privacy for all edges or items of one person.",
    promise=(
        "One edge, entry or person changes any release's probability by at most a factor e^epsilon."
    ),
    source="Esfandiari et al., Smooth Anonymity for Sparse Graphs, section 4, Algorithm 1",
    limits=(
        "The numbers of people and items; and the larger epsilon, the more of what is published "
        "is true."
    ),
    reached=(
        noisy.copies_found(95, "1,224 nodes", epsilon=7.11, unit="edge"),
        noisy.copies_found(100, "242 nodes, dense", epsilon=4.0, unit="edge"),
        noisy.copies_found(
            100, "242 nodes, dense", epsilon=2.0, more="; 76% (1,224 nodes, epsilon 2)", unit="edge"
        ),
        noisy.rows_found("60", epsilon=2.0, unit="edge"),
        noisy.rows_found("95", epsilon=4.0, unit="edge"),
        noisy.rows_found("97", epsilon=8.0, unit="edge"),
    ),
    cost="linear in the number of edges or entries before and after",
    example={"epsilon": 4.0},
    spends=True,
)
"""All that is only said of `RandomizedResponse`."""


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(Anonymizer[Any]):
    """One edge, entry or person changes any release's probability by at most a factor e^epsilon.

    A cell is a pair of nodes, or a pair of a user and a feature. Each is flipped independently of
    all others. With ``unit="edge"`` the probability is 1/(1 + e^epsilon), so the guarantee holds
    for each edge or entry. With ``unit="node"`` epsilon is first divided by the number of cells of
    a person, so it holds for all edges or entries of that person.

    Parameters
    ----------
    epsilon
        The total, from 0.0001 to 40.
    unit
        ``"edge"`` protects one edge or entry, ``"node"`` all edges or entries of one person.
    max_edges
        The largest expected number of false edges or entries: a limit on memory. It is compared
        with public numbers only.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Notes
    -----
    Randomized response on all cells: Esfandiari et al., *Smooth Anonymity for Sparse Graphs*,
    section 4, Algorithm 1. There a share of 2/(1 + e^epsilon) of the cells is sampled again, which
    flips half of it. Time and memory grow with the edges before and after, never with the number of
    cells. All probabilities are fractions with the denominator 2^64, rounded so that the guarantee
    holds without slack, and all randomness is the operating system's. A run with a seed carries no
    guarantee.

    The number of nodes or users and the set of features count as public.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = RandomizedResponse(epsilon=2.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "randomized-response"
    accepts = (Graph, Bipartite)
    card: ClassVar[MethodCard] = RANDOMIZED_RESPONSE_CARD
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "ties")

    epsilon: float = parameter(
        text="the largest factor is e^epsilon",
        minimum=noisy.SMALLEST_EPSILON,
        maximum=LARGEST_EPSILON,
    )
    unit: Literal["edge", "node"] = parameter(
        default="edge", text="protect one edge or entry, or all edges or entries of one person"
    )
    max_edges: int = parameter(
        default=50_000_000,
        text="maximum expected number of false edges or entries",
        minimum=1000,
        private=True,
    )

    @property
    def guarantee(self) -> EdgeDP | NodeDP:
        """What a run without a seed guarantees."""
        return (EdgeDP if self.unit == "edge" else NodeDP)(epsilon=self.epsilon)

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run states."""
        return (RandomizedCells,)

    def check(self, data: Data) -> None:
        """Refuse data of a different kind, and sizes that would need too many false edges.

        Parameters
        ----------
        data
            What is to be anonymized. Only the number of nodes, or of users and features, is read,
            and the names of features.

        Raises
        ------
        UsageError
            If the data is of a different kind.
        DataError
            If items may be values of columns, with ``unit="edge"``.
        InfeasibleError
            If more false edges are to be expected than `max_edges`.
        """
        super().check(data)
        if self.unit == "edge":
            noisy.check_values_of_columns(data)
        if isinstance(data, Graph | Bipartite) and self._expected(data) > self.max_edges:
            raise InfeasibleError(self._too_many(data))

    def flips(self, data: Graph | Bipartite) -> Channel:
        """Return the thresholds with which a cell of this data is published as 1.

        Parameters
        ----------
        data
            Only public numbers are read: with ``unit="node"`` how many cells a person has.

        Returns
        -------
        Channel
            The thresholds of a cell that is 0, and of one that is 1, out of 2^64.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> round(RandomizedResponse(epsilon=2.0).flips(path).one / 2**64, 3)
        0.881
        """
        return channel(_EVEN, self._epsilon_of_a_cell(data))

    def expected_cost(self, data: Graph | Bipartite) -> Cost:
        """Return how many edges or entries are kept and added on average.

        Parameters
        ----------
        data
            The original: its true number of edges is read, so the result is for the owner alone.

        Returns
        -------
        Cost
            The expected costs, rounded to whole numbers.

        Examples
        --------
        >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> cost = RandomizedResponse(epsilon=2.0).expected_cost(path)
        """
        through, before = self.flips(data), cells_of(data).size
        kept = round(before * Fraction(through.one, FULL))
        false = round((number_of_cells(data) - before) * Fraction(through.zero, FULL))
        kind = EdgeChanges if isinstance(data, Graph) else EntryChanges
        return cost_of(kind(before, kept, false), noisy.listed_once(data))

    def _epsilon_of_a_cell(self, data: Graph | Bipartite) -> Fraction:
        # A person's cells can all change at once: by composition each has an equal share. A changed
        # value of a column changes two entries, which share in the same way.
        person = max(cells_of_one(data), 1)
        shared_by = person if self.unit == "node" else noisy.entries_of_one(data)
        return as_printed(self.epsilon) / shared_by

    def draft(self, data: Graph | Bipartite, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # All noise is here. One cell of difference changes one factor, by at most e^(epsilon of a
        # cell); no parameter of the draws depends on the edges.
        words = words_from(randomness, "randomized response")
        ones, n_cells = cells_of(data), number_of_cells(data)
        cells, _ = flipped(words, ones, n_cells, self.flips(data))
        return Draft(
            data=with_cells(data, cells),
            conditions=(self._stated(data),),
            notes=OwnersNotes(
                cost=noisy.listed_once(data),
                warnings=self.advice_for(data, self._stated(data), cells.size),
            ),
        )

    def from_edges_on_disk(self, graph: Graph, _randomness: Randomness) -> NoisyEdges:
        """Return the chances of every pair of a graph whose edges are on disk.

        Parameters
        ----------
        graph
            Its arrays are mapped from files.
        _randomness
            Unused: the chances depend on the parameters alone.

        Returns
        -------
        NoisyEdges
            How each pair of nodes is drawn, and how many pairs are expected at most.

        Examples
        --------
        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> path = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> planned = gv.RandomizedResponse(epsilon=2.0).from_edges_on_disk(path, Randomness(1))
        >>> planned.at_most, planned.exact_size
        (6, False)
        """
        return NoisyEdges(
            noisy.noisy_at_most(graph, self.flips(graph)),
            partial(self._stated, graph),
            partial(self.advice_for, graph),
        )

    def advice_for(
        self, data: Graph | Bipartite, _stated: RandomizedCells, published: int
    ) -> tuple[str, ...]:
        """Return warnings for the data owner about a release of `published` edges or entries.

        Parameters
        ----------
        data
            The original.
        published
            How many edges or entries are released.

        Returns
        -------
        tuple of str
            The warnings.

        Examples
        --------
        >>> import graphveil as gv
        >>> path = gv.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> method = gv.RandomizedResponse(epsilon=2.0)
        >>> print(method.advice_for(path, method.flips(path), 3)[1])
        up to 1 of the released edges are expected to be false: each of 6 cells is flipped with ...
        """
        return (
            *noisy.public_inputs(data, of_people=self.unit == "node"),
            self._false(data),
            *noisy.copies_matched(data, self.flips(data), self._estimated(data, published)),
        )

    def _estimated(self, data: Graph | Bipartite, published: int) -> float:
        """Return an estimate of the true number of edges or entries from the published number."""
        # E[published] = N p0 + m (p1 - p0).
        chances, n_cells = self.flips(data), number_of_cells(data)
        false = n_cells * chances.zero / FULL
        return (published - false) * FULL / max(chances.one - chances.zero, 1)

    def _stated(self, data: Graph | Bipartite) -> RandomizedCells:
        """Return the condition with the numbers that recipients need to correct counts for noise.

        All of them follow from public numbers.
        """
        through = self.flips(data)
        return RandomizedCells(
            cells=str(number_of_cells(data)),
            epsilon_cells=str(self._epsilon_of_a_cell(data)),
            T0=str(through.zero),
            T1=str(through.one),
        )

    def _expected(self, data: Graph | Bipartite) -> Fraction:
        """Return how many cells would be published as 1 if all cells were 0."""
        return Fraction(number_of_cells(data) * self.flips(data).zero, FULL)

    def _false(self, data: Graph | Bipartite) -> str:
        """Return the advice on false edges to expect, from public numbers alone."""
        n_cells, what = number_of_cells(data), noisy.entry_noun(data)
        return Advice(
            f"up to {round(self._expected(data)):,} of the released {what} are expected to be "
            f"false: each of {n_cells:,} cells is flipped with probability "
            f"{self.flips(data).zero / FULL:.3g}",
            FalseEntriesWarning,
        )

    def _too_many(self, data: Graph | Bipartite) -> str:
        """Return the refusal of too many false edges, with the smallest epsilon that passes."""
        # N / (1 + e^epsilon) = max_edges gives epsilon = log(N / max_edges - 1), per cell.
        n_cells = number_of_cells(data)
        excess = (
            f"{round(self._expected(data)):,} false {noisy.entry_noun(data)} are expected among "
            f"{n_cells:,} cells, more than max_edges={self.max_edges:,}."
        )
        shared_by = cells_of_one(data) if self.unit == "node" else noisy.entries_of_one(data)
        needed = _rounded_up(math.log(n_cells / self.max_edges - 1) * shared_by)
        if needed > LARGEST_EPSILON:
            return f"{excess} No epsilon up to {LARGEST_EPSILON} is large enough. Raise max_edges."
        return f"{excess} Raise max_edges, or use epsilon={needed} or more."


def _rounded_up(value: float) -> Decimal:
    """Return a number safely above `value`, with at most four decimals and five digits."""
    above = Decimal(value) + Decimal("1e-6")
    places = Decimal(1).scaleb(max(above.adjusted(), 0) - 4)
    return above.quantize(places, rounding=ROUND_CEILING)


ASYMMETRIC_RESPONSE_CARD = MethodCard(
    when="Each edge or entry must be deniable, and single edges matter at a large epsilon.",
    promise="One edge or entry changes any release's probability by at most a factor e^epsilon.",
    source=(
        "the channel with the most true edges for its size; after Nguyen, Imine & Rusinowitch, "
        "Differentially Private Publication of Social Graphs at Linear Cost (Top-m Filter)"
    ),
    limits="All edges of one person together: epsilon is for a single edge or entry.",
    reached=(
        noisy.copies_found(94, "1,224 nodes", epsilon=7.11),
        noisy.copies_found(100, "242 nodes, dense", epsilon=4.0),
        Reached(
            "Re-identified in our tests: 95% of the nodes by an attacker with a copy of the "
            "network who also knew 20 nodes (1,000 nodes, synthetic, epsilon 3).",
            {"epsilon": 3.0},
            ("graph",),
        ),
        noisy.copies_found(100, "242 nodes, dense", epsilon=2.0),
        noisy.rows_found("4.3", epsilon=2.0),
        noisy.rows_found("47", epsilon=4.0),
        noisy.rows_found("96", epsilon=8.0),
    ),
    cost="linear in the number of edges or entries before and after",
    example={"epsilon": 4.0},
    **noisy.NOISY_FIELDS,
)
"""All that is only said of `AsymmetricResponse`."""


@dataclass(frozen=True, kw_only=True)
class AsymmetricResponse(noisy.NoisyMethod):
    """One edge or entry changes any release's probability by at most a factor e^epsilon.

    A cell is a pair of nodes, or a pair of a user and a feature. Every edge is published with one
    probability, every other cell with a smaller one, all independently. Both follow from epsilon
    and from a noisy count of the edges, so about as many edges are published as there were. Of all
    channels that keep the guarantee cell by cell, this one keeps most edges for the size of the
    release.

    Parameters
    ----------
    epsilon
        The total, from 0.0001 to 40.
    epsilon_count
        The part of epsilon for the noisy count. Default: a twentieth of epsilon, at most 0.1.
    exact_size
        Whether edges are then added or removed uniformly until there are as many as the noisy
        count.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the count leaves nothing for the cells.

    Notes
    -----
    With the noisy count m~ of N cells, pi = m~/N and e the part of epsilon for the cells, a cell
    that is 0 is published with p0 = pi/(1 - pi + pi exp(e)), an edge with exp(e) p0 (above pi = 1/2
    the two swap roles). After the Top-m Filter of Nguyen, Imine & Rusinowitch (2015), whose
    threshold on noisy cells it replaces by the best channel. Time and memory grow with the edges
    before and after, never with the number of cells. All probabilities are fractions with the
    denominator 2^64, rounded so that the guarantee holds without slack, and all randomness is the
    operating system's. A run with a seed carries no guarantee.

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
    card: ClassVar[MethodCard] = ASYMMETRIC_RESPONSE_CARD
    sources: ClassVar[tuple[SourceName, ...]] = ("memory", "ties")
    shares: ClassVar[Mapping[str, noisy.Share]] = {"epsilon_count": noisy.COUNT_SHARE}

    epsilon_count: float | None = noisy.part_parameter(
        "share of epsilon spent on the noisy edge count", "one twentieth of epsilon, at most 0.1"
    )
    exact_size: bool = parameter(
        default=False, text="add or remove edges uniformly until the noisy count is met"
    )

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run states."""
        return (RandomizedCells, ExactSize) if self.exact_size else (RandomizedCells,)

    def flips(self, n_cells: int, count: int | None, *, entries: int = 1) -> RandomizedCells:
        """Return the thresholds of a cell, and what they follow from.

        Parameters
        ----------
        n_cells
            The number of cells.
        count
            The noisy count; None if there are fewer than two cells, so that there is nothing to
            count. Then the one cell has all of epsilon, under the prior 1/2.
        entries
            How many cells share each part of epsilon: two if epsilon is that of a value.

        Returns
        -------
        RandomizedCells
            The condition that states them.

        Examples
        --------
        >>> flips = AsymmetricResponse(epsilon=2.0).flips(6, 3)
        >>> flips.epsilon_cells, round(int(flips.T1) / 2**64, 3)
        ('19/10', 0.87)
        """
        uncounted = count is None
        epsilon = (as_printed(self.epsilon) if uncounted else self.epsilon_cells) / entries
        through = channel(_EVEN if uncounted else Fraction(count or 0, n_cells), epsilon)
        return RandomizedCells(
            cells=str(n_cells),
            epsilon_cells=str(epsilon),
            T0=str(through.zero),
            T1=str(through.one),
            noisy_count=None if uncounted else str(count),
        )

    def draft(self, data: Graph | Bipartite, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Step 1: a noisy count, under its part of epsilon, and the thresholds that follow from it.
        ones, n_cells = cells_of(data), number_of_cells(data)
        stated = self.stated_for(data, ones.size, randomness)
        # Step 2: every cell through the channel, under the rest of epsilon. For data that differs
        # in one cell, and the same count, one factor differs, by at most e^rest.
        cells, _ = flipped(
            words_from(randomness, "cells"), ones, n_cells, Channel(int(stated.T0), int(stated.T1))
        )
        # Step 3: the published cells are brought to the noisy count: post-processing.
        conditions: tuple[AnyCondition, ...] = (stated,)
        if self.exact_size:
            size = cells.size if stated.noisy_count is None else int(stated.noisy_count)
            cells = noisy.resized(words_from(randomness, "size"), cells, n_cells, size)
            conditions = (stated, ExactSize(size=str(size)))
        return Draft(
            data=with_cells(data, cells),
            conditions=conditions,
            notes=OwnersNotes(
                cost=noisy.listed_once(data),
                warnings=self.advice_for(data, stated, cells.size),
            ),
        )

    def from_edges_on_disk(self, graph: Graph, randomness: Randomness) -> NoisyEdges:
        """Return the chances of every pair of a graph whose edges are on disk.

        Parameters
        ----------
        graph
            Its arrays are mapped from files.
        randomness
            That of the run: it samples the noisy number of edges.

        Returns
        -------
        NoisyEdges
            How each pair of nodes is drawn, and how many pairs are expected at most.

        Examples
        --------
        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> path = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
        >>> method = gv.AsymmetricResponse(epsilon=2.0, exact_size=True)
        >>> planned = method.from_edges_on_disk(path, Randomness(1))
        >>> planned.at_most, planned.exact_size
        (6, True)
        """
        # Room for the edges is reserved before the noisy count is sampled, for the largest count
        # that is likely: with it most edges are published.
        cells, scale = number_of_cells(graph), 1 / self.parts["epsilon_count"]
        most = noisy.count_at_most(graph.n_edges, scale)
        stated = self.flips(cells, min(max(most, 1), cells - 1) if cells > 1 else None)
        through = Channel(int(stated.T0), int(stated.T1))
        return NoisyEdges(
            noisy.noisy_at_most(graph, through, scale=scale if self.exact_size else None),
            partial(self.stated_for, graph, graph.n_edges, randomness),
            partial(self.advice_for, graph),
            self.exact_size,
        )

    def stated_for(
        self, data: Graph | Bipartite, ones: int, randomness: Randomness
    ) -> RandomizedCells:
        """Return the thresholds that follow from a noisy count, which is sampled here.

        Parameters
        ----------
        data
            The graph or the user-item data; its number of cells is read.
        ones
            The true number of cells that are 1.
        randomness
            That of the run.

        Returns
        -------
        RandomizedCells
            The condition that states them, with the noisy count.

        Examples
        --------
        Of 6 pairs of nodes, 3 have an edge; the noisy count differs from run to run.

        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> path = gv.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> stated = gv.AsymmetricResponse(epsilon=2.0).stated_for(path, 3, Randomness(1))
        >>> stated.cells, stated.epsilon_cells, 1 <= int(stated.noisy_count) <= 5
        ('6', '19/10', True)
        """
        # One cell changes the count by 1. If epsilon is that of a value, two cells change, and the
        # count has half of the part.
        n_cells, entries = number_of_cells(data), noisy.entries_of_one(data)
        count = None
        if n_cells > 1:
            words = words_from(randomness, "noisy count")
            count = noisy.noisy_count(words, ones, n_cells, self.parts["epsilon_count"] / entries)
        return self.flips(n_cells, count, entries=entries)

    def advice_for(
        self, data: Graph | Bipartite, stated: RandomizedCells, _published: int
    ) -> tuple[str, ...]:
        """Return warnings for the data owner about a release under these chances.

        Parameters
        ----------
        data
            The original.
        stated
            The probabilities that the manifest states.

        Returns
        -------
        tuple of str
            The warnings.

        Examples
        --------
        >>> import graphveil as gv
        >>> path = gv.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> method = gv.AsymmetricResponse(epsilon=2.0)
        >>> [line[:36] for line in method.advice_for(path, method.flips(6, 3), 3)]
        ['the list of nodes counts as public. ']
        """
        count = None if stated.noisy_count is None else int(stated.noisy_count)
        chances = Channel(int(stated.T0), int(stated.T1))
        return (*noisy.public_inputs(data), *noisy.copies_matched(data, chances, count))

"""The method `dp-1k`, and the base classes of the methods that generate a graph.

`dp-1k` is the 1K series of Mahadevan, Krioukov, Fall & Vahdat, *Systematic topology analysis and
generation using degree correlations* (SIGCOMM 2006): a random graph with given degrees, and nothing
else of the original. Under differential privacy the degrees are noisy; Nguyen, Imine & Rusinowitch
(2015) name such methods. Departures: the degree of every node is released, not their distribution;
the noise is a whole number; degrees are estimated from the noisy ones; and a soft configuration
model keeps them in expectation only.

All of epsilon buys the noisy number of edges and the noisy degrees (`noisy_statistics`, with their
sensitivities). The graph is sampled from these and a public seed: post-processing, at no epsilon.

Cost: O(n log n) for the degrees, and O(classes**2 + edges) for the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

import numpy as np

from graphveil.claims import conditions
from graphveil.claims.guarantees import NotClaimed
from graphveil.claims.knowledge import Reason
from graphveil.core.array_types import Ints
from graphveil.core.errors import InfeasibleError
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness, public_words
from graphveil.core.warnings import Advice, NoGuaranteeWarning
from graphveil.data import Graph
from graphveil.methods.card import MethodCard
from graphveil.methods.noise.cells import block_sizes
from graphveil.methods.noise.cells import places_of as places_in_blocks
from graphveil.methods.noisy_cells import prior_model
from graphveil.methods.noisy_cells.degree_estimation import expected_degrees
from graphveil.methods.noisy_cells.noisy import NOISY_FIELDS, NoisyMethod, noisy_draft
from graphveil.methods.noisy_cells.noisy_statistics import noisy_degrees
from graphveil.methods.random_graphs import placement
from graphveil.release.draft import Draft, NewIds

MAX_NODES = 20_000
"""The default of `max_nodes`: the run time of these baselines grows faster than the network.

A larger one accepts larger networks, at the cost of time.
"""


@dataclass(frozen=True, kw_only=True)
class BaselineMethod(NoisyMethod):
    """A method for comparison for which no bound on the privacy loss is proved as it runs.

    `reason`: why nothing is claimed, by its name in the manifest.
    """

    accepts = (Graph,)
    reason: ClassVar[Reason]

    max_nodes: int = parameter(
        default=MAX_NODES,
        text="larger networks are refused, because run time grows fast",
        minimum=1000,
        private=True,
    )

    @property
    def guarantee(self) -> NotClaimed:
        """What is guaranteed: nothing."""
        return NotClaimed(reasons=(self.reason,))

    def check_size(self, n: int, *, noun: str = "nodes") -> None:
        """Refuse more nodes than `max_nodes`.

        Raises
        ------
        InfeasibleError
            If there are more.
        """
        super().check_size(n, noun=noun)
        if n > self.max_nodes:
            raise InfeasibleError(
                f"{self.name} takes at most max_nodes={self.max_nodes:,} {noun}; the data has "
                f"{n:,}. Use asymmetric-response or mixing-prior-response, or raise max_nodes."
            )

    def unclaimed_draft(self, data: Graph, released: Graph) -> Draft[Graph]:
        """Return the draft of a run: the graph, with the advice that nothing is claimed."""
        unclaimed = Advice(
            f"a release by {self.name} carries no guarantee: {self.guarantee.why} For a "
            "guaranteed epsilon use asymmetric-response or mixing-prior-response",
            NoGuaranteeWarning,
        )
        return noisy_draft(data, released, unclaimed)


MOST_NODES = 1_000_000
"""The most nodes: the manifest states a noisy degree for each, and would grow too large."""


class GeneratingMethod(NoisyMethod):
    """A method that releases noisy numbers, states them, and generates a graph from them alone."""

    @property
    def rows_needed(self) -> int:
        """The fewest nodes: fewer have no two edges to be distinguished."""
        return 3

    def check_parts(self) -> None:
        """Accept every split: nothing is left for the cells, since none of them is read."""

    def check(self, data: Any) -> None:
        """Refuse more nodes than a manifest can state: their number is public.

        Parameters
        ----------
        data
            What is to be anonymized.

        Raises
        ------
        UsageError
            If it is not a graph.
        InfeasibleError
            If it has more than 1,000,000 nodes.
        """
        super().check(data)
        if data.size > MOST_NODES:
            raise InfeasibleError(
                f"{self.name} states the noisy degrees of all nodes, and {data.size:,} nodes "
                f"exceed the {MOST_NODES:,} that fit. Use degree-prior-response."
            )

    def generated_result(
        self,
        data: Graph,
        ends: Ints,
        stated: conditions.AnyCondition,
        places: placement.Places,
        randomness: Randomness,
    ) -> Draft[Any]:
        """Return the draft of a run; one with a seed claims and states nothing.

        `ends`: int64, shape (edges, 2): the people of every edge; `stated`: the condition with the
        noisy numbers; `places`: who is at which place.
        """
        return noisy_draft(
            data,
            Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes),
            conditions=() if randomness.seeded else (stated,),
            order=NewIds(places.order),
        ).noting(assignment=None if randomness.seeded else places.assignment)


CARD = MethodCard(
    when="You compare with a baseline that keeps noisy degrees alone.",
    promise="One edge changes the probability of any release by at most a factor e^epsilon.",
    source=(
        "the 1K series of Mahadevan, Krioukov, Fall & Vahdat, Systematic topology analysis and "
        "generation using degree correlations, of noisy degrees"
    ),
    limits=(
        "All edges of one person together: epsilon is for a single edge. Re-identified in our "
        "tests by an attacker who knew all degrees: 32% of the 5 nodes with the most edges "
        "(epsilon 7, 6,474 nodes); 3.1% of all nodes (epsilon 4, 242 nodes, dense)."
    ),
    cost="linear in the number of nodes, and of edges before and after",
    example={"epsilon": 2.0},
    **NOISY_FIELDS,
)
"""All that is only said of the method."""


@dataclass(frozen=True, kw_only=True)
class OneKSeries(GeneratingMethod):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    All of epsilon buys noisy degrees. A random graph that expects these degrees is published,
    without reading any edge of the original. It contains as many true edges as noisy degrees make
    likely: few as a rule, most of them if degrees determine who is connected.

    Parameters
    ----------
    epsilon
        The total, from 0.0001 to 40.
    share_count
        The share of epsilon for the noisy number of edges; the degrees have the rest.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Notes
    -----
    For comparison: the 1K series (Mahadevan et al., SIGCOMM 2006) of noisy degrees. Their noise is
    a whole number. Degrees are estimated, and nodes put in at most 200 classes, as in
    `DegreePriorResponse`; every pair of nodes is then published with its prior. The noisy degrees,
    in ascending order, and the seed of the sampling are stated. They show the group of a released
    node's person, one of at most eight. A run with a seed claims and states nothing. The number of
    nodes counts as public.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> OneKSeries(epsilon=2.0).anonymize(path).guarantee.check_word
    'by construction'
    """

    name: ClassVar[str] = "dp-1k"
    accepts = (Graph,)
    card: ClassVar[MethodCard] = CARD

    share_count: float = parameter(
        default=0.05,
        text="share of epsilon spent on the noisy edge count",
        minimum=0.001,
        maximum=0.999,
    )

    @property
    def states(self) -> tuple[type[conditions.Condition], ...]:
        """The types of the conditions that every run without a seed states."""
        return (conditions.NoisyDegrees,)

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that counts have, by name: all of it."""
        whole_epsilon = conditions.as_printed(self.epsilon)
        count = conditions.as_printed(self.share_count) * whole_epsilon
        return {"epsilon_count": count, "epsilon_degrees": whole_epsilon - count}

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Step 1: the noisy number of edges (sensitivity 1) and degrees (L1 sensitivity 2). All of
        # epsilon is spent here; what follows does not read the data.
        count, degrees = noisy_degrees(data, randomness, self.parts)
        # Step 2: estimate the degrees, in ascending order, and fit the configuration model.
        in_order, part = np.sort(degrees), self.parts["epsilon_degrees"] / 2
        expected = np.sort(expected_degrees(in_order, part, count))
        groups = placement.cut(in_order, expected, placement.GROUPS)
        classes = prior_model.classes_of(expected, prior_model.CLASSES)
        weights = prior_model.rounded(prior_model.configuration(classes))
        # Step 3: sample a graph over places, and assign people to places inside groups.
        seed = int.from_bytes(randomness.secret("drawing")[:8])
        places = placement.places_of(degrees, groups.of_node, randomness, seed)
        ends = places.people[sampled_edges(classes, weights, seed)]
        stated = conditions.NoisyDegrees(
            nodes=data.n_nodes,
            **{name: str(part) for name, part in self.parts.items()},
            noisy_count=str(count),
            noisy_degrees=placement.as_text(in_order),
            group_cuts=placement.as_text(groups.least),
            sizes=tuple(classes.sizes.tolist()),
            weights=tuple(map(str, weights)),
            seed_of_drawing=str(seed),
        )
        return self.generated_result(data, ends, stated, places, randomness)


def sampled_edges(classes: prior_model.PriorClasses, weights: Sequence[int], seed: int) -> Ints:
    """Return the places of both ends of every edge: int64, shape (edges, 2).

    Every pair of nodes is an edge independently, with the prior of its classes. The pairs of a
    block of two classes are numbered, and the number of pairs up to the next edge is a geometric
    variable (Batagelj & Brandes, 2005), so the cost grows with the edges. The number of edges of a
    block is limited to its expectation, eight times the root of it, and 16 more: it bounds the
    words that are prepared, and is hardly ever reached.

    `classes`, `weights`: the configuration model, with weights in units of 10^-12; `seed`: the
    public seed, from which anyone can sample the same graph again.
    """
    # The prior of every block, and the most edges that it may have.
    priors = prior_model.priors_between(
        weights, [0] * len(weights), {(0, 0): conditions.BlockFlips.UNIT}
    )
    pairs = block_sizes(classes.sizes)
    expected = [(n * prior >> 64) + 1 for n, prior in zip(pairs.tolist(), priors, strict=True)]
    most = np.minimum(pairs, [each + 8 * isqrt(each) + 16 for each in expected])
    block = np.repeat(np.arange(pairs.size), most)
    numbers = placement.numbers_from(next(public_words(seed, block.size, conditions.SHAPE)))
    # Geometric gaps, the pairs without an edge before the next one: log(1 - U) / log(1 - prior),
    # rounded down, at most all pairs of the block.
    log_misses = np.log1p(-np.array([prior / conditions.BlockFlips.FULL for prior in priors]))
    skipped = np.minimum(np.log1p(-numbers) / log_misses[block], pairs[block]).astype(np.int64)
    # Add the gaps up inside each block; positions beyond its last pair are dropped. `after` counts
    # the pairs up to and with an edge, `before` those of all earlier blocks.
    after = np.cumsum(skipped + 1)
    before = np.concatenate([[0], after])[np.cumsum(most) - most]
    number = after - before[block] - 1
    block, number = block[number < pairs[block]], number[number < pairs[block]]
    return places_in_blocks(block, number, classes.sizes)

"""The methods `degree-prior-response` and `mixing-prior-response`: a prior for each pair of nodes.

As `asymmetric-response`, they publish every pair of nodes independently, with one probability if it
is an edge and a smaller one if not. Both follow from a prior, the assumed probability of an edge.
Here the prior differs from pair to pair, so false edges fall where edges are likely.

The methods are our own, after the Top-m Filter. How epsilon is split, and why it adds up:

- ``epsilon_count`` for the noisy number of edges, ``epsilon_degrees`` for noisy degrees, and for
  mixing ``epsilon_mixing`` for noisy counts between groups (`noisy_statistics`);
- the rest for the cells. The priors follow from the released numbers alone (`degree_estimation`,
  `prior_model`), so for two graphs that differ in one edge, and the same released numbers, only the
  factor of that one cell differs, by at most e^rest (`noise.cells.channel`).

Sequential composition, adaptive: the parts sum to epsilon. Cost: O(n log n + m + edges published),
and a constant for the fit over classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from graphveil.claims.conditions import BlockFlips, Condition, as_printed
from graphveil.core.array_types import Ints
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.card import MethodCard
from graphveil.methods.noise.cells import (
    Channel,
    block_chances,
    channel,
    exp_below,
    flipped_in_blocks,
    number_of_cells,
    thresholds,
    with_cells,
)
from graphveil.methods.noise.laws import words_from
from graphveil.methods.noisy_cells import prior_model
from graphveil.methods.noisy_cells.degree_estimation import expected_degrees
from graphveil.methods.noisy_cells.noisy import (
    NOISY_FIELDS,
    NoisyMethod,
    Share,
    copies_found,
    copies_matched,
    noisy_draft,
    part_parameter,
)
from graphveil.methods.noisy_cells.noisy_statistics import noisy_degrees, noisy_mixing
from graphveil.release.draft import Draft

PRIOR_RESPONSE_FIELDS: Mapping[str, Any] = {
    "promise": "One edge changes the probability of any release by at most a factor e^epsilon.",
    "limits": "All edges of one person together: epsilon is for a single edge.",
    "cost": "linear in the number of nodes, and of edges before and after",
    "example": {"epsilon": 2.0},
    **NOISY_FIELDS,
}
"""Fields of the cards of the methods that derive from `PriorResponse`."""


@dataclass(frozen=True, kw_only=True)
class PriorResponse(NoisyMethod):
    """A response to every pair of nodes whose two probabilities follow from noisy degrees.

    The shares of epsilon were set by hand on three graphs. A larger share gives a statistic less
    noise, and leaves less for the cells.
    """

    accepts = (Graph,)
    most_classes: ClassVar[int] = prior_model.CLASSES
    shares: ClassVar[Mapping[str, Share]] = {
        "epsilon_count": Share(of_epsilon=Fraction(1, 50), most=Fraction(1, 10)),
        "epsilon_degrees": Share(of_epsilon=Fraction(7, 20), most=Fraction(7, 10)),
    }

    epsilon_count: float | None = part_parameter(
        "share of epsilon spent on the noisy edge count", "one fiftieth of epsilon, at most 0.1"
    )
    epsilon_degrees: float | None = part_parameter(
        "part of epsilon spent on the noisy degrees", "a share of epsilon, at most 0.7"
    )

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run states."""
        return (BlockFlips,)

    def channels(self, flips: BlockFlips) -> list[Channel]:
        """Return the thresholds of every pair of classes a <= b, row by row.

        Parameters
        ----------
        flips
            The stated prior, and the part of epsilon for the cells.

        Returns
        -------
        list of Channel
            They follow from `flips` in whole numbers, so that anyone can compute them again.
        """
        largest = exp_below(Fraction(flips.epsilon_cells))
        return [thresholds(prior, flips.FULL, largest) for prior in prior_model.priors_of(flips)]

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        # Step 1: noisy counts, and from them the prior and the thresholds of all pairs of classes.
        flips, classes = self._prior(data, randomness)
        chances = block_chances(self.channels(flips), len(flips.sizes))
        # Step 2: publish every pair of nodes independently. One edge is one cell, whose factor is
        # at most e^epsilon_cells under every prior.
        words = words_from(randomness, "cells")
        cells, _ = flipped_in_blocks(words, data, classes, chances)
        advice = self._copies_matched(data, flips)
        return noisy_draft(data, with_cells(data, cells), *advice, conditions=(flips,))

    def _copies_matched(self, data: Graph, flips: BlockFlips) -> tuple[str, ...]:
        """Return the advice on copies of the network, computed as if all pairs had the mean prior.

        An attacker's chances under the true priors are not less.
        """
        if flips.noisy_count is None:
            return ()
        count = int(flips.noisy_count)
        prior = Fraction(count, int(flips.cells))
        return copies_matched(data, channel(prior, Fraction(flips.epsilon_cells)), count)

    def _prior(self, data: Graph, randomness: Randomness) -> tuple[BlockFlips, Ints]:
        """Return the prior, and the class of every node: functions of noisy counts alone."""
        # The noise of the count and of the degrees is added here; what follows reads neither the
        # edges nor the true degrees.
        n_cells = number_of_cells(data)
        if n_cells < 2:
            return self._even(data.n_nodes, n_cells)
        count, noisy = noisy_degrees(data, randomness, self.parts)
        expected = expected_degrees(noisy, self.parts["epsilon_degrees"] / 2, count)
        classes = prior_model.classes_of(expected, self.most_classes)
        budget = {
            "cells": str(n_cells),
            "epsilon_cells": str(self.epsilon_cells),
            "noisy_count": str(count),
        }
        return self._modeled(data, classes, budget, randomness), classes.of_node

    def _modeled(
        self,
        data: Graph,  # noqa: ARG002  for methods that count more of it
        classes: prior_model.PriorClasses,
        budget: dict[str, Any],
        randomness: Randomness,  # noqa: ARG002  as above
    ) -> BlockFlips:
        """Return the prior that follows from classes and noisy counts."""
        return prior_model.stated_prior(budget, classes, prior_model.configuration(classes))

    def _even(self, n: int, n_cells: int) -> tuple[BlockFlips, Ints]:
        """Return the prior 1/2 if there is nothing to count; the one cell has all of epsilon.

        One class of weight 1 has the prior 1 x 1 / (1 + 1 x 1).
        """
        flips = BlockFlips(
            cells=str(n_cells),
            epsilon_cells=str(as_printed(self.epsilon)),
            noisy_count=None,
            sizes=(n,),
            weights=(str(BlockFlips.UNIT),),
        )
        return flips, np.zeros(n, dtype=np.int64)


DEGREE_PRIOR_RESPONSE_CARD = MethodCard(
    when="Each edge must be deniable, and the degrees of hubs matter most.",
    source=(
        "asymmetric response under a soft configuration model of noisy degrees; after the Top-m "
        "Filter of Nguyen, Imine & Rusinowitch"
    ),
    reached=(
        copies_found(90, "1,224 nodes", epsilon=7.11),
        copies_found(100, "242 nodes, dense", epsilon=4.0),
        copies_found(94, "242 nodes, dense", epsilon=2.0),
    ),
    **PRIOR_RESPONSE_FIELDS,
)
"""All that is only said of `DegreePriorResponse`."""


@dataclass(frozen=True, kw_only=True)
class DegreePriorResponse(PriorResponse):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    A part of epsilon buys a noisy degree of every node. From the noisy degrees alone follows how
    likely each pair of nodes is an edge. From that follow the two probabilities with which the pair
    is published if it is an edge and if it is not. So false edges fall where edges are likely:
    degrees and hubs are kept at epsilons at which hardly any single edge is.

    Parameters
    ----------
    epsilon
        The total, from 0.0001 to 40.
    epsilon_count
        The part for the noisy number of edges. Default: a fiftieth of epsilon, at most 0.1.
    epsilon_degrees
        The part for the noisy degrees. Default: 0.35 of epsilon, at most 0.7.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the counts leave nothing for the cells.

    Notes
    -----
    A method of our own, after the Top-m Filter of Nguyen, Imine & Rusinowitch (2015). One edge
    changes two degrees by one each, so the noise of a degree has half of their part. Degrees are
    estimated from the noisy ones, nodes are put in at most 200 classes of similar degree, and a
    soft configuration model gives the prior of every pair of classes. Each pair of nodes goes
    through the channel of its prior, as in `AsymmetricResponse`. All probabilities are whole
    numbers over 2^64, and all randomness is the operating system's. A run with a seed carries no
    guarantee. The number of nodes counts as public.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = DegreePriorResponse(epsilon=2.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "degree-prior-response"
    card: ClassVar[MethodCard] = DEGREE_PRIOR_RESPONSE_CARD


MIXING_PRIOR_RESPONSE_CARD = MethodCard(
    when="Each edge must be deniable, and edges between hubs matter too.",
    source=(
        "asymmetric response under noisy degrees and noisy counts between groups of similar "
        "degree; after the Top-m Filter of Nguyen, Imine & Rusinowitch"
    ),
    reached=(
        copies_found(88, "1,224 nodes", epsilon=7.11),
        copies_found(100, "242 nodes, dense", epsilon=4.0),
        copies_found(91, "242 nodes, dense", epsilon=2.0),
    ),
    **PRIOR_RESPONSE_FIELDS,
)
"""All that is only said of `MixingPriorResponse`."""


@dataclass(frozen=True, kw_only=True)
class MixingPriorResponse(PriorResponse):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    As `DegreePriorResponse`, with one more noisy statistic: how many edges there are between groups
    of nodes of similar degree. That keeps whether hubs are connected to hubs.

    Parameters
    ----------
    epsilon
        The total, from 0.0001 to 40.
    epsilon_count
        The part for the noisy number of edges. Default: a fiftieth of epsilon, at most 0.1.
    epsilon_degrees
        The part for the noisy degrees. Default: 0.3 of epsilon, at most 0.7.
    epsilon_mixing
        The part for the noisy counts between groups. Default: a tenth of epsilon, at most 0.3.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the counts leave nothing for the cells.

    Notes
    -----
    A method of our own, after the Top-m Filter of Nguyen, Imine & Rusinowitch (2015). Nodes are put
    in at most 150 classes by noisy degree, and these in at most 24 groups. Both follow from noisy
    degrees alone, so one edge changes one count between groups, by one. The priors of the soft
    configuration model are multiplied so that they expect about these counts. A run with a seed
    carries no guarantee. The number of nodes counts as public.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = MixingPriorResponse(epsilon=2.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "mixing-prior-response"
    card: ClassVar[MethodCard] = MIXING_PRIOR_RESPONSE_CARD
    most_classes: ClassVar[int] = prior_model.CLASSES_OF_MIXING
    shares: ClassVar[Mapping[str, Share]] = {
        **PriorResponse.shares,
        "epsilon_degrees": Share(of_epsilon=Fraction(3, 10), most=Fraction(7, 10)),
        "epsilon_mixing": Share(of_epsilon=Fraction(1, 10), most=Fraction(3, 10)),
    }

    epsilon_mixing: float | None = part_parameter(
        "part of epsilon spent on the noisy counts between groups",
        "one tenth of epsilon, at most 0.3",
    )

    def _modeled(
        self,
        data: Graph,
        classes: prior_model.PriorClasses,
        budget: dict[str, Any],
        randomness: Randomness,
    ) -> BlockFlips:
        """Return the prior that follows from classes and noisy counts, corrected between groups."""
        # The noise of the counts between groups is added here, under its part of epsilon; counts
        # are brought to 0 or above after it.
        weights, groups = prior_model.configuration(classes), prior_model.groups_of(classes)
        part = self.parts["epsilon_mixing"]
        upper = np.maximum(noisy_mixing(data, groups[classes.of_node], part, randomness), 0)
        counts = (upper + np.triu(upper, 1).T).astype(np.float64)
        scale, total = 2 / float(part), int(budget["noisy_count"])
        factors = prior_model.mixing_factors(
            classes, weights, groups, counts, scale=scale, total=total
        )
        return prior_model.stated_prior(budget, classes, weights, groups, factors)

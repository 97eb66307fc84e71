"""The method `mixing-prior-response`: chances follow from noisy degrees and who ties to whom.

What methods share that draw cells under a prior made of noisy degrees.

The method `degree-prior-response`: chances of edges follow from noisy degrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import BlockFlips, Condition, as_printed
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.base import MethodResult, Reached
from graphveil.methods.noise import Channel, channel, discrete_laplace, words_from
from graphveil.methods.noise.cells import (
    block_chances,
    exp_below,
    flipped_in_blocks,
    number_of_cells,
    thresholds,
    with_cells,
)
from graphveil.methods.noisy_cells.noisy import (
    SMALLEST_PART,
    NoisyMethod,
    Share,
    copies_matched,
    listed_once,
    noisy_count,
    what_is_public,
)
from graphveil.methods.noisy_cells.priors import (
    CLASSES,
    CLASSES_OF_MIXING,
    PriorClasses,
    classes_of,
    configuration,
    expected_degrees,
    groups_of,
    mixing_factors,
    priors_of,
    stated,
)


def noisy_classes(
    data: Graph, randomness: Randomness, parts: Mapping[str, Fraction], most: int
) -> tuple[int, PriorClasses]:
    """Return a noisy count of edges, and classes of nodes by noisy degree.

    Parameters
    ----------
    data
        With at least two pairs of nodes.
    randomness
        The run's.
    parts
        The parts of epsilon of the count and of the degrees: an edge changes two of these.
    most
        The most classes.
    """
    words, n_cells = words_from(randomness, "noisy count"), number_of_cells(data)
    count = noisy_count(words, data.n_edges, n_cells, parts["epsilon_count"])
    words, part = words_from(randomness, "noisy degrees"), parts["epsilon_degrees"] / 2
    noisy = data.degrees() + discrete_laplace(words, part, data.n_nodes)
    return count, classes_of(expected_degrees(noisy, part, count), most)


@dataclass(frozen=True, kw_only=True)
class PriorResponse(NoisyMethod):
    """A response to every pair of nodes whose two chances follow from noisy degrees."""

    accepts = (Graph,)
    promise: ClassVar[str] = (
        "One edge changes the probability of any release by at most a factor e^epsilon."
    )
    cost: ClassVar[str] = "linear in the number of nodes, and of edges before and after"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 2.0}
    most_classes: ClassVar[int] = CLASSES
    count_share: ClassVar[Share] = Share(of_epsilon=Fraction(1, 50), most=Fraction(1, 10))
    degrees_share: ClassVar[Share] = Share(of_epsilon=Fraction(7, 20), most=Fraction(7, 10))

    epsilon_count: float | None = parameter(
        default=None,
        text="share of epsilon spent on the noisy edge count",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="one fiftieth of epsilon, at most 0.1",
    )
    epsilon_degrees: float | None = parameter(
        default=None,
        text="part of epsilon spent on the noisy degrees",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="a share of epsilon, at most 0.7",
    )

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that counts have, by name."""
        return {
            "epsilon_count": self.part(self.epsilon_count, self.count_share),
            "epsilon_degrees": self.part(self.epsilon_degrees, self.degrees_share),
        }

    @property
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run states."""
        return (BlockFlips,)

    def channels(self, flips: BlockFlips) -> list[Channel]:
        """Return the chances of every pair of classes a <= b, row by row."""
        largest = exp_below(Fraction(flips.epsilon_cells))
        return [thresholds(prior, flips.FULL, largest) for prior in priors_of(flips)]

    def _anonymize(self, data: Graph, randomness: Randomness) -> MethodResult:
        flips, classes = self._prior(data, randomness)
        chances = block_chances(self.channels(flips), len(flips.sizes))
        words = words_from(randomness, "cells")
        cells, _ = flipped_in_blocks(words, data, classes, chances)
        return MethodResult(
            data=with_cells(data, cells),
            conditions=(flips,),
            facts=listed_once(data),
            advice=(
                *what_is_public(data),
                *self._copies_matched(data, flips),
            ),
        )

    def _copies_matched(self, data: Graph, flips: BlockFlips) -> tuple[str, ...]:
        """Return the advice on copies, as if all pairs had the mean prior: chances are not less."""
        if flips.noisy_count is None:
            return ()
        count = int(flips.noisy_count)
        prior = Fraction(count, int(flips.cells))
        return copies_matched(data, channel(prior, Fraction(flips.epsilon_cells)), count)

    def _prior(self, data: Graph, randomness: Randomness) -> tuple[BlockFlips, NDArray[np.int64]]:
        """Return the prior, and the class of every node: functions of noisy counts alone."""
        n_cells = number_of_cells(data)
        if n_cells < 2:
            return self._even(data.n_nodes, n_cells)
        count, classes = noisy_classes(data, randomness, self.parts, self.most_classes)
        budget = {
            "cells": str(n_cells),
            "epsilon_cells": str(self.epsilon_cells),
            "noisy_count": str(count),
        }
        return self._modeled(data, classes, budget, randomness), classes.of_node

    def _modeled(
        self,
        data: Graph,  # noqa: ARG002  for methods that count more of it
        classes: PriorClasses,
        budget: dict[str, Any],
        randomness: Randomness,  # noqa: ARG002  as above
    ) -> BlockFlips:
        """Return the prior that classes and noisy counts make."""
        return stated(budget, classes, configuration(classes))

    def _even(self, n: int, n_cells: int) -> tuple[BlockFlips, NDArray[np.int64]]:
        """Return the prior 1/2 where there is nothing to count; the cell has all of epsilon."""
        flips = BlockFlips(
            cells=str(n_cells),
            epsilon_cells=str(as_printed(self.epsilon)),
            noisy_count=None,
            sizes=(n,),
            weights=(str(BlockFlips.UNIT),),
        )
        return flips, np.zeros(n, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class DegreePriorResponse(PriorResponse):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    A part of epsilon buys a noisy degree of every node. From these, and from nothing else, follows
    how likely each pair of nodes is an edge, and from that, with which of two probabilities the
    pair is published. So what is false falls where edges are: degrees, hubs and what hangs on them
    are kept at epsilons at which hardly any single edge is.

    Parameters
    ----------
    epsilon
        From 0.0001 to 40: the whole of it.
    epsilon_count
        The part for the noisy number of edges; None stands for a fiftieth, at most 0.1.
    epsilon_degrees
        The part for the noisy degrees; None stands for 0.35 of it, at most 0.7.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or counts leave nothing for the cells.

    Notes
    -----
    An edge changes two degrees by one each: the noise of a degree has half of their part. Degrees
    are estimated from the noisy ones, nodes are put in at most 200 classes of like degree, and a
    soft configuration model gives the prior of every pair of classes. Each pair of nodes goes
    through the channel of its prior, as in `AsymmetricResponse`. All probabilities are whole
    numbers over 2^64, and all randomness is the operating system's. With a seed nothing is
    claimed. The number of nodes counts as public.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = DegreePriorResponse(epsilon=2.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "degree-prior-response"
    when: ClassVar[str] = "Each edge must be deniable, and the degrees of hubs matter most."
    source: ClassVar[str] = (
        "asymmetric response under a soft configuration model of noisy degrees; after the Top-m "
        "Filter of Nguyen, Imine & Rusinowitch"
    )
    limits: ClassVar[str] = "All edges of one person together: epsilon is for a single edge."
    reached: ClassVar[tuple[Reached, ...]] = (
        Reached(
            "Re-identified in our tests: 90% of the nodes by an attacker with a copy of the "
            "network (1,224 nodes, epsilon 7.11).",
            {"epsilon": 7.11},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, epsilon 4).",
            {"epsilon": 4.0},
        ),
        Reached(
            "Re-identified in our tests: 94% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, epsilon 2).",
            {"epsilon": 2.0},
        ),
    )


@dataclass(frozen=True, kw_only=True)
class MixingPriorResponse(PriorResponse):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    As `DegreePriorResponse`, with one more noisy statistic: how many edges there are between nodes
    of like degree and of unlike degree. That keeps whether hubs are tied to hubs.

    Parameters
    ----------
    epsilon
        From 0.0001 to 40: the whole of it.
    epsilon_count
        The part for the noisy number of edges; None stands for a fiftieth, at most 0.1.
    epsilon_degrees
        The part for the noisy degrees; None stands for 0.3 of it, at most 0.7.
    epsilon_mixing
        The part for the noisy counts between groups; None stands for a tenth, at most 0.3.

    Raises
    ------
    ParameterError
        Where a parameter is out of range, or counts leave nothing for the cells.

    Notes
    -----
    Nodes are put in at most 150 classes by noisy degree, and these in at most 24 groups: both
    follow from noisy degrees alone, so that an edge changes one count between groups, by one. The
    priors of the soft configuration model are multiplied so that they expect about these counts.
    With a seed nothing is claimed. The number of nodes counts as public.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = MixingPriorResponse(epsilon=2.0).anonymize(path)
    >>> release.guarantee.check_word, release.data.n_nodes
    ('by construction', 4)
    """

    name: ClassVar[str] = "mixing-prior-response"
    when: ClassVar[str] = "Each edge must be deniable, and edges between hubs matter too."
    source: ClassVar[str] = (
        "asymmetric response under noisy degrees and noisy counts between groups of similar "
        "degree; after the Top-m Filter of Nguyen, Imine & Rusinowitch"
    )
    limits: ClassVar[str] = "All edges of one person together: epsilon is for a single edge."
    reached: ClassVar[tuple[Reached, ...]] = (
        Reached(
            "Re-identified in our tests: 88% of the nodes by an attacker with a copy of the "
            "network (1,224 nodes, epsilon 7.11).",
            {"epsilon": 7.11},
        ),
        Reached(
            "Re-identified in our tests: 100% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, epsilon 4).",
            {"epsilon": 4.0},
        ),
        Reached(
            "Re-identified in our tests: 91% of the nodes by an attacker with a copy of the "
            "network (242 nodes, dense, epsilon 2).",
            {"epsilon": 2.0},
        ),
    )
    most_classes: ClassVar[int] = CLASSES_OF_MIXING
    degrees_share: ClassVar[Share] = Share(of_epsilon=Fraction(3, 10), most=Fraction(7, 10))
    mixing_share: ClassVar[Share] = Share(of_epsilon=Fraction(1, 10), most=Fraction(3, 10))

    epsilon_mixing: float | None = parameter(
        default=None,
        text="part of epsilon spent on the noisy counts between groups",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="one tenth of epsilon, at most 0.3",
    )

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that counts have, by name."""
        return super().parts | {"epsilon_mixing": self.part(self.epsilon_mixing, self.mixing_share)}

    def _modeled(
        self, data: Graph, classes: PriorClasses, budget: dict[str, Any], randomness: Randomness
    ) -> BlockFlips:
        """Return the prior that classes and noisy counts make."""
        weights, groups = configuration(classes), groups_of(classes)
        part = self.parts["epsilon_mixing"]
        counts = self._noisy_mixing(data, groups[classes.of_node], part, randomness)
        factors = mixing_factors(
            classes,
            weights,
            groups,
            counts,
            scale=2 / float(part),
            total=int(budget["noisy_count"]),
        )
        return stated(budget, classes, weights, groups, factors)

    def _noisy_mixing(
        self, data: Graph, groups: NDArray[np.int64], part: Fraction, randomness: Randomness
    ) -> NDArray[np.float64]:
        """Return noisy numbers of edges between the groups of nodes, none of them negative."""
        size = int(groups.max()) + 1
        ends = np.sort(groups[data.edges()], axis=1)
        counts = np.bincount(ends[:, 0] * size + ends[:, 1], minlength=size * size)
        upper = np.triu_indices(size)
        words = words_from(randomness, "noisy mixing")
        noise = discrete_laplace(words, part, upper[0].size)
        noisy = np.zeros((size, size))
        noisy[upper] = np.maximum(counts.reshape(size, size)[upper] + noise, 0)
        return noisy + np.triu(noisy, 1).T

"""What methods share that draw cells under a prior made of noisy degrees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.anonymizer import MethodResult
from graphveil.claims.condition import Condition
from graphveil.claims.epsilon import as_printed
from graphveil.claims.flips import BlockFlips
from graphveil.data import Graph
from graphveil.methods.noisy import (
    SMALLEST_PART,
    NoisyMethod,
    Share,
    copies_matched,
    cost_of_flips,
    noisy_count,
    what_is_public,
)
from graphveil.methods.priors.degrees import expected_degrees
from graphveil.methods.priors.model import (
    CLASSES,
    PriorClasses,
    classes_of,
    configuration,
    priors_of,
    stated,
)
from graphveil.noise import Channel, channel, discrete_laplace, words_from
from graphveil.noise.blocks import block_chances, flipped_in_blocks
from graphveil.noise.cells import number_of_cells, with_cells
from graphveil.noise.channels import exp_below, thresholds
from graphveil.parameters import parameter
from graphveil.randomness import Randomness


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

    accepts: ClassVar[Any] = Graph
    cost: ClassVar[str] = "linear in the nodes, and in the edges before and after"
    most_classes: ClassVar[int] = CLASSES
    count_share: ClassVar[Share] = Share(of_epsilon=Fraction(1, 50), most=Fraction(1, 10))
    degrees_share: ClassVar[Share] = Share(of_epsilon=Fraction(7, 20), most=Fraction(7, 10))

    epsilon_count: float | None = parameter(
        default=None,
        text="the part of epsilon for the noisy number of edges",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="a fiftieth, at most 0.1",
    )
    epsilon_degrees: float | None = parameter(
        default=None,
        text="the part of epsilon for the noisy degrees",
        minimum=SMALLEST_PART,
        maximum=39,
        unset="a share, at most 0.7",
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
        cells, kept = flipped_in_blocks(words, data, classes, chances)
        return MethodResult(
            data=with_cells(data, cells),
            conditions=(flips,),
            cost=cost_of_flips(data, before=data.n_edges, kept=kept, after=cells.size),
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

"""The method `dp-1k`: a random graph with noisy degrees, drawn without a look at the edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from graphveil.claims.conditions import AnyCondition, BlockFlips, DegreesAlone, as_printed
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.base import MethodResult
from graphveil.methods.noise import Channel, words_from
from graphveil.methods.noise.cells import (
    background,
    block_chances,
    number_of_cells,
    with_cells,
)
from graphveil.methods.noise.uniform import FULL
from graphveil.methods.noisy_cells.noisy import NoisyMethod, listed_once, what_is_public
from graphveil.methods.noisy_cells.prior_response import noisy_classes
from graphveil.methods.noisy_cells.priors import CLASSES, configuration, priors_between, rounded


@dataclass(frozen=True, kw_only=True)
class OneKSeries(NoisyMethod):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    All of epsilon buys noisy degrees. A random graph that expects them is published; no edge of the
    original is looked at for it. It has as many of them as noisy degrees make likely: few as a
    rule, most where degrees tell who is tied to whom.

    Parameters
    ----------
    epsilon
        From 0.0001 to 40: the whole of it.
    share_count
        The share of epsilon for the noisy number of edges; the degrees have the rest.

    Raises
    ------
    ParameterError
        Where a parameter is out of range.

    Notes
    -----
    For comparison: the 1K series of the paper, with whole-number noise. Degrees are estimated, and
    nodes put in at most 200 classes, as in `DegreePriorResponse`; every pair of nodes is then
    published with its prior. With a seed nothing is claimed. The number of nodes counts as public.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> OneKSeries(epsilon=2.0).anonymize(path).guarantee.check_word
    'by construction'
    """

    name: ClassVar[str] = "dp-1k"
    accepts = (Graph,)
    when: ClassVar[str] = "You compare with a baseline that keeps noisy degrees alone."
    promise: ClassVar[str] = (
        "One edge changes the probability of any release by at most a factor e^epsilon."
    )
    source: ClassVar[str] = (
        "the 1K series compared in Nguyen, Imine & Rusinowitch, Differentially Private Publication "
        "of Social Graphs at Linear Cost"
    )
    limits: ClassVar[str] = (
        "All edges of one person together: epsilon is for a single edge. Re-identified in our "
        "tests: 3.1% of the nodes by an attacker who knew the degrees of a node's neighbors "
        "(epsilon 2, 242 nodes, dense); 0.6% by one with a copy of the network (epsilon 7.11, "
        "1,224 nodes)."
    )
    cost: ClassVar[str] = "linear in the number of nodes, and of edges before and after"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 2.0}

    share_count: float = parameter(
        default=0.05,
        text="share of epsilon spent on the noisy edge count",
        minimum=0.001,
        maximum=0.999,
    )

    @property
    def conditions(self) -> tuple[AnyCondition, ...]:
        """That no edge of the original was looked at."""
        return (DegreesAlone(),)

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that counts have, by name: all of it."""
        whole_epsilon = as_printed(self.epsilon)
        count = as_printed(self.share_count) * whole_epsilon
        return {"epsilon_count": count, "epsilon_degrees": whole_epsilon - count}

    def check_parts(self) -> None:
        """Leave nothing for the cells: none of them is read."""

    def _anonymize(self, data: Graph, randomness: Randomness) -> MethodResult:
        words = words_from(randomness, "cells")
        if number_of_cells(data) < 2:
            of_node, chances = (
                np.zeros(data.n_nodes, dtype=np.int64),
                [Channel(FULL // 2, FULL // 2)],
            )
        else:
            _, classes = noisy_classes(data, randomness, self.parts, CLASSES)
            of_node, weights = classes.of_node, rounded(configuration(classes))
            priors = priors_between(weights, [0] * len(weights), {(0, 0): BlockFlips.UNIT})
            chances = [Channel(prior, prior) for prior in priors]
        zero = block_chances(chances, int(of_node.max(initial=0)) + 1).zero
        cells = background(words, of_node, zero)
        return MethodResult(
            data=with_cells(data, cells),
            facts=listed_once(data),
            advice=what_is_public(data),
        )

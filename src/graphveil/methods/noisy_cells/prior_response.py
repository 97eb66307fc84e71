"""The methods `degree-prior-response` and `mixing-prior-response`, and the priors they draw under.

The prior of a pair of nodes depends on their classes: a soft configuration model of noisy degrees,
for `mixing-prior-response` corrected by noisy counts of edges between groups. Degrees are estimated
by their posterior mean under the histogram of the largest likelihood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import BlockFlips, Condition, as_printed
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.base import Reached
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
    NoisyMethod,
    Share,
    copies_found,
    copies_matched,
    noisy_count,
    noisy_draft,
    part_parameter,
)
from graphveil.release.draft import Draft

Ints = NDArray[np.int64]

ROUNDS = 200
"""Rounds of expectation and maximization."""

LEAST = 1e-3
"""No expected degree is less: it would need a prior of 0."""

_NOTHING = 1e-300


def expected_degrees(noisy: Ints, epsilon: Fraction, total: int) -> NDArray[np.float64]:
    """Return the expected degree of every node, given its noisy degree and all others.

    The histogram of true degrees is estimated by expectation maximization. A noisy degree outside
    0..n-1 says as much as the end of that range. Degrees are scaled to twice `total`.
    """
    n = noisy.size
    values = np.clip(noisy, 0, n - 1)
    decay = float(np.exp(-float(epsilon)))
    histogram = likeliest_histogram(values, decay, ROUNDS)
    likelihood = np.maximum(blurred(histogram, decay), _NOTHING)
    means = blurred(histogram * np.arange(histogram.size), decay) / likelihood
    degrees = np.maximum(means, LEAST)[values]
    scaled = degrees * (2 * total / float(degrees.sum()))
    return np.clip(scaled, LEAST, max(n - 1, LEAST))


def likeliest_histogram(values: Ints, decay: float, rounds: int) -> NDArray[np.float64]:
    """Return the shares of degrees that make the noisy ones likeliest, after so many rounds.

    `values`: noisy degrees, at least 0; `decay`: by how much the chance of noise falls from one
    whole number to the next; `rounds`: of expectation and maximization.

    >>> likeliest_histogram(np.array([0, 1, 1, 3]), 0.01, 200).round(2).tolist()
    [0.25, 0.5, 0.0, 0.25]
    """
    counts = np.bincount(values).astype(np.float64)
    histogram = np.full(counts.size, 1 / counts.size)
    for _ in range(rounds):
        ratio = counts / np.maximum(blurred(histogram, decay), _NOTHING)
        histogram = histogram * blurred(ratio, decay)
        histogram /= histogram.sum()
    return histogram


def blurred(values: NDArray[np.float64], decay: float) -> NDArray[np.float64]:
    """Return the sum over k of decay^|k| times the values k positions away."""
    return _decayed(values, decay) + _decayed(values[::-1], decay)[::-1] - values


def _decayed(values: NDArray[np.float64], decay: float) -> NDArray[np.float64]:
    """Return the sum over k >= 0 of decay^k times the value k positions before, by doubling."""
    total, step, weight = values.copy(), 1, decay
    while step < values.size and weight > 1e-18:
        total[step:] += weight * total[:-step].copy()
        step, weight = 2 * step, weight * weight
    return total


CLASSES = 200
"""The most classes of nodes."""

CLASSES_OF_MIXING = 150
"""The most of them where counts between groups are used, too."""

GROUPS = 24
"""The most groups of classes between which edges are counted."""

_STEPS = 100
_SCALINGS = 3
_LARGEST_PRIOR = 0.999
_TINY, _HUGE = 1e-9, 1e9


class PriorClasses(NamedTuple):
    """Nodes of like degree, classes in the order of their mean expected degrees."""

    of_node: Ints
    sizes: Ints
    degrees: NDArray[np.float64]


def classes_of(degrees: NDArray[np.float64], most: int) -> PriorClasses:
    """Return classes by equal steps of the logarithm of the degree; empty ones are omitted."""
    logs = np.log(degrees)
    low, high = float(logs.min()), float(logs.max())
    steps = np.zeros(logs.size) if high == low else (logs - low) / (high - low) * most
    bins = np.minimum(steps.astype(np.int64), most - 1)
    _, of_node, sizes = np.unique(bins, return_inverse=True, return_counts=True)
    sums = np.bincount(of_node, weights=degrees)
    return PriorClasses(of_node.astype(np.int64), sizes.astype(np.int64), sums / sizes)


def configuration(classes: PriorClasses) -> NDArray[np.float64]:
    """Return a weight x a class so that x_a x_b / (1 + x_a x_b) gives each its mean degree."""
    mass = float(classes.sizes @ classes.degrees)
    weights: NDArray[np.float64] = classes.degrees / np.sqrt(mass)
    for _ in range(_STEPS):
        odds = np.outer(weights, weights)
        prior = odds / (1 + odds)
        degrees = np.maximum(prior @ classes.sizes - np.diag(prior), _TINY)
        weights = np.clip(weights * np.sqrt(classes.degrees / degrees), _TINY, _HUGE)
    return weights


def groups_of(classes: PriorClasses) -> Ints:
    """Return the group of every class: neighboring classes, of about equal degrees in total."""
    mass = classes.sizes * classes.degrees
    middle = np.cumsum(mass) - mass / 2
    bins = np.minimum((middle / mass.sum() * GROUPS).astype(np.int64), GROUPS - 1)
    return np.asarray(np.unique(bins, return_inverse=True)[1], dtype=np.int64)


def sums_between(values: NDArray[np.float64], groups: Ints) -> NDArray[np.float64]:
    """Return the sum of the values of all pairs of classes a <= b, for every pair of groups."""
    size = int(groups.max()) + 1
    upper = np.zeros((size, size))
    a, b = np.triu_indices(groups.size)
    np.add.at(upper, (groups[a], groups[b]), values[a, b])
    return upper + np.triu(upper, 1).T


def mixing_factors(
    classes: PriorClasses,
    weights: NDArray[np.float64],
    groups: Ints,
    counts: NDArray[np.float64],
    *,
    scale: float,
    total: int,
) -> NDArray[np.float64]:
    """Return by how much the prior of every pair of groups is multiplied.

    `scale`, twice that of the noise, is added on both sides, so that small counts say little.
    """
    odds = np.outer(weights, weights)
    prior = odds / (1 + odds)
    cells = np.outer(classes.sizes, classes.sizes) - np.diag(
        classes.sizes * (classes.sizes + 1) // 2
    )
    factors = (counts + scale) / (sums_between(cells * prior, groups) + scale)
    for _ in range(_SCALINGS):
        corrected = np.minimum(prior * factors[np.ix_(groups, groups)], _LARGEST_PRIOR)
        expected = float(np.triu(cells * corrected).sum())
        factors = np.clip(factors * (total / max(expected, _TINY)), 0, _HUGE)
    return factors


def priors_of(flips: BlockFlips) -> list[int]:
    """Return the prior of every pair of classes a <= b, row by row, in units of 2^-64: exactly."""
    weights = [int(x) for x in flips.weights]
    return priors_between(weights, flips.groups or (0,) * len(weights), _factors(flips))


def priors_between(
    weights: Sequence[int], groups: Sequence[int], factors: Mapping[tuple[int, int], int]
) -> list[int]:
    """Return the prior of every pair of classes a <= b, row by row, in units of 2^-64: exactly.

    Weights and factors are times 10^12.
    """
    full, unit, priors = BlockFlips.FULL, BlockFlips.UNIT, []
    for a, x in enumerate(weights):
        for b in range(a, len(weights)):
            odds = x * weights[b]
            prior = full * odds * factors[groups[a], groups[b]] // (unit * (unit * unit + odds))
            priors.append(min(max(prior, 1), full * 999 // 1000))
    return priors


def _factors(flips: BlockFlips) -> dict[tuple[int, int], int]:
    size = max(flips.groups, default=0) + 1
    pairs = [(g, h) for g in range(size) for h in range(g, size)]
    values = map(int, flips.factors or (flips.UNIT,))
    upper = dict(zip(pairs, values, strict=True))
    return upper | {(h, g): value for (g, h), value in upper.items()}


def rounded(values: NDArray[np.float64]) -> list[int]:
    """Return real numbers in units of 10^-12, to three significant digits.

    >>> rounded(np.array([0.5, 1.23456, 0.0]))
    [500000000000, 1230000000000, 0]
    """
    return [_rounded(value * BlockFlips.UNIT) for value in values.tolist()]


def _rounded(value: float) -> int:
    """Return the whole number of three significant digits that is next to a real one."""
    digits, exponent = f"{value:.2e}".split("e")
    return int(Decimal(digits).scaleb(int(exponent)))


def stated(
    budget: dict[str, Any],
    classes: PriorClasses,
    weights: NDArray[np.float64],
    groups: Ints | None = None,
    factors: NDArray[np.float64] | None = None,
) -> BlockFlips:
    """Return the prior as whole numbers, from which the chances are computed."""
    more: dict[str, Any] = {}
    if groups is not None and factors is not None:
        upper = factors[np.triu_indices(factors.shape[0])]
        more = {"groups": tuple(groups.tolist()), "factors": tuple(map(str, rounded(upper)))}
    return BlockFlips(
        **budget,
        sizes=tuple(classes.sizes.tolist()),
        weights=tuple(map(str, rounded(weights))),
        **more,
    )


def noisy_degrees(
    data: Graph, randomness: Randomness, parts: Mapping[str, Fraction]
) -> tuple[int, Ints]:
    """Return a noisy count of edges, and noisy degrees: an edge changes two by one each."""
    words, n_cells = words_from(randomness, "noisy count"), number_of_cells(data)
    count = noisy_count(words, data.n_edges, n_cells, parts["epsilon_count"])
    words, part = words_from(randomness, "noisy degrees"), parts["epsilon_degrees"] / 2
    noisy = data.degrees() + discrete_laplace(words, part, data.n_nodes)
    return count, noisy


def edges_between(data: Graph, groups: Ints, size: int) -> Ints:
    """Return how many edges there are between groups g <= h: an edge is counted in one place."""
    ends = np.sort(groups[data.edges()], axis=1)
    counts = np.bincount(ends[:, 0] * size + ends[:, 1], minlength=size * size)
    return counts.reshape(size, size)


def noisy_mixing(data: Graph, groups: Ints, part: Fraction, randomness: Randomness) -> Ints:
    """Return the edges between the groups of nodes with noise; 0 below the diagonal."""
    counts = edges_between(data, groups, int(groups.max()) + 1)
    upper = np.triu_indices(len(counts))
    words = words_from(randomness, "noisy mixing")
    counts[upper] += discrete_laplace(words, part, upper[0].size)
    return counts


@dataclass(frozen=True, kw_only=True)
class PriorResponse(NoisyMethod):
    """A response to every pair of nodes whose two chances follow from noisy degrees."""

    accepts = (Graph,)
    promise = "One edge changes the probability of any release by at most a factor e^epsilon."
    limits: ClassVar[str] = "All edges of one person together: epsilon is for a single edge."
    cost: ClassVar[str] = "linear in the number of nodes, and of edges before and after"
    example: ClassVar[Mapping[str, Any]] = {"epsilon": 2.0}
    most_classes: ClassVar[int] = CLASSES
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
        """Return the chances of every pair of classes a <= b, row by row."""
        largest = exp_below(Fraction(flips.epsilon_cells))
        return [thresholds(prior, flips.FULL, largest) for prior in priors_of(flips)]

    def draft(self, data: Graph, randomness: Randomness) -> Draft[Any]:
        """Return the draft of a release."""
        flips, classes = self._prior(data, randomness)
        chances = block_chances(self.channels(flips), len(flips.sizes))
        words = words_from(randomness, "cells")
        cells, _ = flipped_in_blocks(words, data, classes, chances)
        advice = self._copies_matched(data, flips)
        return noisy_draft(data, with_cells(data, cells), *advice, conditions=(flips,))

    def _copies_matched(self, data: Graph, flips: BlockFlips) -> tuple[str, ...]:
        """Return the advice on copies, as if all pairs had the mean prior: chances are not less."""
        if flips.noisy_count is None:
            return ()
        count = int(flips.noisy_count)
        prior = Fraction(count, int(flips.cells))
        return copies_matched(data, channel(prior, Fraction(flips.epsilon_cells)), count)

    def _prior(self, data: Graph, randomness: Randomness) -> tuple[BlockFlips, Ints]:
        """Return the prior, and the class of every node: functions of noisy counts alone."""
        n_cells = number_of_cells(data)
        if n_cells < 2:
            return self._even(data.n_nodes, n_cells)
        count, noisy = noisy_degrees(data, randomness, self.parts)
        expected = expected_degrees(noisy, self.parts["epsilon_degrees"] / 2, count)
        classes = classes_of(expected, self.most_classes)
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

    def _even(self, n: int, n_cells: int) -> tuple[BlockFlips, Ints]:
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
    pair is published. So what is false falls where edges are: degrees, hubs and what depends on
    them are kept at epsilons at which hardly any single edge is.

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
    reached: ClassVar[tuple[Reached, ...]] = (
        copies_found(90, "1,224 nodes", epsilon=7.11),
        copies_found(100, "242 nodes, dense", epsilon=4.0),
        copies_found(94, "242 nodes, dense", epsilon=2.0),
    )


@dataclass(frozen=True, kw_only=True)
class MixingPriorResponse(PriorResponse):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    As `DegreePriorResponse`, with one more noisy statistic: how many edges there are between nodes
    of like degree and of unlike degree. That keeps whether hubs are connected to hubs.

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
    reached: ClassVar[tuple[Reached, ...]] = (
        copies_found(88, "1,224 nodes", epsilon=7.11),
        copies_found(100, "242 nodes, dense", epsilon=4.0),
        copies_found(91, "242 nodes, dense", epsilon=2.0),
    )
    most_classes: ClassVar[int] = CLASSES_OF_MIXING
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
        self, data: Graph, classes: PriorClasses, budget: dict[str, Any], randomness: Randomness
    ) -> BlockFlips:
        """Return the prior that classes and noisy counts make."""
        weights, groups = configuration(classes), groups_of(classes)
        part = self.parts["epsilon_mixing"]
        upper = np.maximum(noisy_mixing(data, groups[classes.of_node], part, randomness), 0)
        counts = (upper + np.triu(upper, 1).T).astype(np.float64)
        scale, total = 2 / float(part), int(budget["noisy_count"])
        factors = mixing_factors(classes, weights, groups, counts, scale=scale, total=total)
        return stated(budget, classes, weights, groups, factors)

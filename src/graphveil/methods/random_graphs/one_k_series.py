"""The method `dp-1k`: a random graph with noisy degrees, drawn without a look at the edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import SHAPE, BlockFlips, Condition, NoisyDegrees, as_printed
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness, public_words
from graphveil.data import Graph
from graphveil.methods.base import MethodResult
from graphveil.methods.noise import discrete_laplace, words_from
from graphveil.methods.noise.cells import ends_of, number_of_cells
from graphveil.methods.noisy_cells.noisy import listed_once, noisy_count, what_is_public
from graphveil.methods.noisy_cells.priors import (
    CLASSES,
    PriorClasses,
    classes_of,
    configuration,
    expected_degrees,
    priors_between,
    rounded,
)
from graphveil.methods.random_graphs.baselines import (
    GROUPS,
    DrawnMethod,
    as_text,
    cut,
    numbers_from,
    places_of,
)


@dataclass(frozen=True, kw_only=True)
class OneKSeries(DrawnMethod):
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
    published with its prior. The noisy degrees and the seed of the drawing are stated, in ascending
    order: of a released node they tell the group of its person, one of at most eight. With a seed
    nothing is claimed or stated. The number of nodes counts as public.

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
        "tests by an attacker who knew all degrees: 32% of the 5 nodes with the most edges "
        "(epsilon 7, 6,474 nodes); 3.1% of all nodes (epsilon 4, 242 nodes, dense)."
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
    def states(self) -> tuple[type[Condition], ...]:
        """The types of the conditions that every run without a seed states."""
        return (NoisyDegrees,)

    @property
    def parts(self) -> dict[str, Fraction]:
        """The parts of epsilon that counts have, by name: all of it."""
        whole_epsilon = as_printed(self.epsilon)
        count = as_printed(self.share_count) * whole_epsilon
        return {"epsilon_count": count, "epsilon_degrees": whole_epsilon - count}

    def _anonymize(self, data: Graph, randomness: Randomness) -> MethodResult:
        words = words_from(randomness, "noisy count")
        n_cells, part = number_of_cells(data), self.parts["epsilon_degrees"] / 2
        count = noisy_count(words, data.n_edges, n_cells, self.parts["epsilon_count"])
        words = words_from(randomness, "noisy degrees")
        degrees = data.degrees() + discrete_laplace(words, part, data.n_nodes)
        in_order = np.sort(degrees)
        expected = np.sort(expected_degrees(in_order, part, count))
        groups, classes = cut(in_order, expected, GROUPS), classes_of(expected, CLASSES)
        weights = rounded(configuration(classes))
        seed = int.from_bytes(randomness.secret("drawing")[:8])
        places = places_of(degrees, groups.of_node, randomness, seed)
        ends = places.people[drawn(classes, weights, seed)]
        stated = NoisyDegrees(
            nodes=data.n_nodes,
            **{name: str(part) for name, part in self.parts.items()},
            noisy_count=str(count),
            noisy_degrees=as_text(in_order),
            group_cuts=as_text(groups.least),
            sizes=tuple(classes.sizes.tolist()),
            weights=tuple(map(str, weights)),
            seed_of_drawing=str(seed),
        )
        return MethodResult(
            data=Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes),
            conditions=() if randomness.seeded else (stated,),
            facts=listed_once(data),
            advice=what_is_public(data),
            order=places.order,
            assignment=None if randomness.seeded else places.assignment,
        )


def drawn(classes: PriorClasses, weights: Sequence[int], seed: int) -> NDArray[np.int64]:
    """Return the places of both ends of every edge, int64, shape (edges, 2).

    Parameters
    ----------
    classes
        Of the places, in ascending order.
    weights
        x of every class, times 10^12.
    seed
        The public seed of the drawing.

    Notes
    -----
    Of a block of two classes the pairs of nodes are numbered, and an edge is as many pairs after
    the one before it as a geometric variable says. A block has at most eight deviations more edges
    than are expected of it, and 16.

    Examples
    --------
    >>> classes = classes_of(np.full(40, 3.0), 5)
    >>> drawn(classes, rounded(configuration(classes)), 7).shape[1]
    2
    """
    priors = priors_between(weights, [0] * len(weights), {(0, 0): BlockFlips.UNIT})
    a, b = np.triu_indices(classes.sizes.size)
    sizes = classes.sizes
    pairs = np.where(a == b, sizes[a] * (sizes[a] - 1) // 2, sizes[a] * sizes[b])
    most = [_at_most(*of_block) for of_block in zip(pairs.tolist(), priors, strict=True)]
    block = np.repeat(np.arange(pairs.size), most)
    numbers = numbers_from(next(public_words(seed, block.size, SHAPE)))
    logs = np.log1p(-np.array([prior / BlockFlips.FULL for prior in priors]))
    skipped = np.minimum(np.log1p(-numbers) / logs[block], pairs[block]).astype(np.int64)
    after = np.cumsum(skipped + 1)
    before = np.concatenate([[0], after])[np.cumsum(most) - most]
    number = after - before[block] - 1
    block, number = block[number < pairs[block]], number[number < pairs[block]]
    first, second = a[block], b[block]
    firsts = np.cumsum(sizes) - sizes
    inside = ends_of(number, sizes[first])
    across = np.column_stack(np.divmod(number, sizes[second]))
    ends = np.where((first == second)[:, None], inside, across)
    placed: NDArray[np.int64] = ends + np.column_stack([firsts[first], firsts[second]])
    return placed


def _at_most(pairs: int, prior: int) -> int:
    """Return how many edges of a block are drawn at most."""
    expected = (pairs * prior >> 64) + 1
    return min(pairs, expected + 8 * isqrt(expected) + 16)

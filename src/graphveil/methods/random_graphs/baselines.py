"""The method `dp-1k`, base classes of random graphs, and how nodes and cells are drawn for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims import conditions
from graphveil.claims.guarantees import NotClaimed
from graphveil.claims.knowledge import Reason
from graphveil.core.errors import InfeasibleError
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness, public_words
from graphveil.core.warnings import Advice, NoGuaranteeWarning
from graphveil.data import Graph
from graphveil.methods.noise.cells import block_sizes
from graphveil.methods.noise.cells import places_of as places_in_blocks
from graphveil.methods.noisy_cells import prior_response
from graphveil.methods.noisy_cells.noisy import NoisyMethod, noisy_draft
from graphveil.release.draft import Draft, NewIds

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MAX_NODES = 20_000


@dataclass(frozen=True, kw_only=True)
class BaselineMethod(NoisyMethod):
    """A method under noise for which no bound is proved as it runs."""

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
        """Refuse more nodes than `max_nodes`."""
        super().check_size(n, noun=noun)
        if n > self.max_nodes:
            raise InfeasibleError(
                f"{self.name} takes at most max_nodes={self.max_nodes:,} {noun}; the data has "
                f"{n:,}. Use asymmetric-response or mixing-prior-response, or raise max_nodes."
            )

    def unclaimed_draft(self, data: Graph, released: Graph) -> Draft[Graph]:
        """Return what is handed over: the graph, and that nothing is claimed."""
        unclaimed = Advice(
            f"a release by {self.name} carries no guarantee: {self.guarantee.why} For a "
            "guaranteed epsilon use asymmetric-response or mixing-prior-response",
            NoGuaranteeWarning,
        )
        return noisy_draft(data, released, unclaimed)


MOST_NODES = 1_000_000
"""More would not fit into a manifest, which states as many noisy degrees."""


class DrawnMethod(NoisyMethod):
    """A method that asks for noisy numbers, states them, and draws a graph from them alone."""

    @property
    def rows_needed(self) -> int:
        """The fewest nodes: fewer have no two edges to be distinguished."""
        return 3

    def check_parts(self) -> None:
        """Leave nothing for the cells: none of them is read."""

    def check(self, data: Any) -> None:
        """Refuse more nodes than a manifest can state: their number is public."""
        super().check(data)
        if data.size > MOST_NODES:
            raise InfeasibleError(
                f"{self.name} states the noisy degrees of all nodes, and {data.size:,} nodes "
                f"exceed the {MOST_NODES:,} that fit. Use degree-prior-response."
            )

    def drawn_result(
        self,
        data: Graph,
        ends: Ints,
        stated: conditions.AnyCondition,
        places: Places,
        randomness: Randomness,
    ) -> Draft[Any]:
        """Return what is handed over: a seeded run claims and states nothing."""
        return noisy_draft(
            data,
            Graph.from_edges(ends[:, 0], ends[:, 1], n=data.n_nodes),
            conditions=() if randomness.seeded else (stated,),
            order=None if places.order is None else NewIds(places.order),
        ).noting(assignment=None if randomness.seeded else places.assignment)


def as_text(values: Iterable[int]) -> str:
    """Return numbers as text, with one blank between two."""
    return " ".join(map(str, map(int, values)))


def distinct_in(rng: np.random.Generator, sizes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return uniform distinct cells of every block, as many as are asked for: block and cell."""
    start = np.cumsum(sizes) - sizes
    most = 2 * counts > sizes
    wanted = np.where(most, sizes - counts, counts)
    chosen = np.empty(0, dtype=np.int64)
    missing = wanted
    while missing.any():
        block = np.repeat(np.arange(sizes.size), missing)
        chosen = np.union1d(chosen, start[block] + rng.integers(0, sizes[block]))
        missing = wanted - np.bincount(_block(start, chosen), minlength=sizes.size)
    block = _block(start, chosen)
    whole = np.repeat(start[most], sizes[most])
    before = np.repeat(np.cumsum(sizes[most]) - sizes[most], sizes[most])
    every = whole + np.arange(whole.size) - before
    kept = np.concatenate([chosen[~most[block]], np.setdiff1d(every, chosen[most[block]])])
    block = _block(start, kept)
    return block, kept - start[block]


def _block(start: Ints, cells: Ints) -> Ints:
    return np.searchsorted(start, cells, side="right") - 1


GROUPS = 8
"""The most groups: edges are counted between them, and people are assigned at random in them."""


class Cuts(NamedTuple):
    """Nodes in parts of like noisy degree, and the least noisy degree of each part, rising."""

    least: Ints
    of_node: Ints


def cut(noisy: Ints, weights: NDArray[np.float64], most: int) -> Cuts:
    """Return at most so many parts of about equal weight; equal noisy degrees stay together."""
    values, of_value = np.unique(noisy, return_inverse=True)
    mass = np.bincount(of_value, weights=weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    part = np.minimum((middle * most).astype(np.int64), most - 1)
    _, firsts, dense = np.unique(part, return_index=True, return_inverse=True)
    return Cuts(values[firsts], dense.astype(np.int64)[of_value])


def numbers_from(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return one number from 0 to 1, without 1, for each word: its first 53 bits."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Places(NamedTuple):
    """The person at each place, the released id of each place, and the secret of the assignment."""

    people: Ints
    ids: Ints
    assignment: str

    @property
    def order(self) -> Ints:
        """The position of the input of every released id."""
        order = np.empty_like(self.people)
        order[self.ids] = self.people
        return order


def places_of(noisy: Ints, groups: Ints, randomness: Randomness, seed: int) -> Places:
    """Return places in ascending order of noisy degrees, with people assigned within their groups.

    So a released node says of its person's noisy degree the group alone. Which one it is, follows
    from the secret, by which the owner can check the noise.
    """
    secret = randomness.secret("places within groups")[:16]
    ties = randomness.permutation(noisy.size)
    ranked = ties[np.argsort(noisy[ties], kind="stable")]
    words = next(public_words(int.from_bytes(secret), noisy.size, conditions.WITHIN_GROUPS))
    people = ranked[np.lexsort((words, groups))]
    words = next(public_words(seed, noisy.size, conditions.IDS))
    return Places(people, np.argsort(words, kind="stable"), secret.hex())


@dataclass(frozen=True, kw_only=True)
class OneKSeries(DrawnMethod):
    """One edge changes the probability of any release by at most a factor e^epsilon.

    All of epsilon buys noisy degrees. A random graph that expects them is published; no edge of the
    original is looked at for it. It has as many of them as noisy degrees make likely: few as a
    rule, most where degrees tell who is connected to whom.

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
    promise = "One edge changes the probability of any release by at most a factor e^epsilon."
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
        count, degrees = prior_response.noisy_degrees(data, randomness, self.parts)
        in_order, part = np.sort(degrees), self.parts["epsilon_degrees"] / 2
        expected = np.sort(prior_response.expected_degrees(in_order, part, count))
        groups = cut(in_order, expected, GROUPS)
        classes = prior_response.classes_of(expected, prior_response.CLASSES)
        weights = prior_response.rounded(prior_response.configuration(classes))
        seed = int.from_bytes(randomness.secret("drawing")[:8])
        places = places_of(degrees, groups.of_node, randomness, seed)
        ends = places.people[drawn(classes, weights, seed)]
        stated = conditions.NoisyDegrees(
            nodes=data.n_nodes,
            **{name: str(part) for name, part in self.parts.items()},
            noisy_count=str(count),
            noisy_degrees=as_text(in_order),
            group_cuts=as_text(groups.least),
            sizes=tuple(classes.sizes.tolist()),
            weights=tuple(map(str, weights)),
            seed_of_drawing=str(seed),
        )
        return self.drawn_result(data, ends, stated, places, randomness)


def drawn(classes: prior_response.PriorClasses, weights: Sequence[int], seed: int) -> Ints:
    """Return the places of both ends of every edge, int64, shape (edges, 2).

    Of a block of two classes the pairs of nodes are numbered, and an edge is as many pairs after
    the one before it as a geometric variable says. A block has at most eight deviations more edges
    than are expected of it, and 16.
    """
    priors = prior_response.priors_between(
        weights, [0] * len(weights), {(0, 0): conditions.BlockFlips.UNIT}
    )
    pairs = block_sizes(classes.sizes)
    expected = [(n * prior >> 64) + 1 for n, prior in zip(pairs.tolist(), priors, strict=True)]
    most = np.minimum(pairs, [each + 8 * isqrt(each) + 16 for each in expected])
    block = np.repeat(np.arange(pairs.size), most)
    numbers = numbers_from(next(public_words(seed, block.size, conditions.SHAPE)))
    logs = np.log1p(-np.array([prior / conditions.BlockFlips.FULL for prior in priors]))
    skipped = np.minimum(np.log1p(-numbers) / logs[block], pairs[block]).astype(np.int64)
    after = np.cumsum(skipped + 1)
    before = np.concatenate([[0], after])[np.cumsum(most) - most]
    number = after - before[block] - 1
    block, number = block[number < pairs[block]], number[number < pairs[block]]
    return places_in_blocks(block, number, classes.sizes)

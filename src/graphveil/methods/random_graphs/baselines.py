"""What methods share that are there to be compared with, and claim nothing.

Uniform distinct cells of many blocks at once, for graphs that are drawn from noisy counts.

Groups of nodes by noisy degree, and who is assigned to which released node: what follows from
released numbers and from secret ones that no edge changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import IDS, WITHIN_GROUPS
from graphveil.claims.guarantees import NotClaimed
from graphveil.claims.knowledge import Reason
from graphveil.core.errors import InfeasibleError
from graphveil.core.parameters import parameter
from graphveil.core.randomness import Randomness, public_words
from graphveil.core.warnings import Advice, NoPromiseWarning
from graphveil.data import Graph
from graphveil.methods.base import MethodResult
from graphveil.methods.noisy_cells.noisy import NoisyMethod, listed_once, what_is_public

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
        """What is promised: nothing."""
        return NotClaimed(reasons=(self.reason,))

    def check_size(self, n: int, *, noun: str = "nodes") -> None:
        """Refuse more nodes than `max_nodes`.

        Raises
        ------
        InfeasibleError
            Where there are more.
        """
        super().check_size(n, noun=noun)
        if n > self.max_nodes:
            raise InfeasibleError(
                f"{self.name} takes at most max_nodes={self.max_nodes:,} {noun}; the data has "
                f"{n:,}. Use asymmetric-response or mixing-prior-response, or raise max_nodes."
            )

    def draft(self, data: Graph, released: Graph) -> MethodResult:
        """Return what is handed over: the graph, and that nothing is claimed."""
        unclaimed = Advice(
            f"a release by {self.name} carries no guarantee: {self.guarantee.why} For a "
            "guaranteed epsilon use asymmetric-response or mixing-prior-response",
            NoPromiseWarning,
        )
        return MethodResult(
            data=released,
            facts=listed_once(data),
            advice=(*what_is_public(data), unclaimed),
        )


MOST_NODES = 1_000_000
"""More would not fit into a manifest, which states as many noisy degrees."""


class DrawnMethod(NoisyMethod):
    """A method that asks for noisy numbers, states them, and draws a graph from them alone."""

    @property
    def rows_needed(self) -> int:
        """The fewest nodes: fewer have no two edges to be told apart."""
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


def as_text(values: Iterable[int]) -> str:
    """Return numbers as text, with one blank between two.

    Examples
    --------
    >>> as_text(np.array([1, -2]))
    '1 -2'
    """
    return " ".join(map(str, map(int, values)))


def distinct_in(
    rng: np.random.Generator, sizes: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return uniform distinct cells of every block, as many as are asked for: block and cell.

    Where more than half of a block is asked for, what is not drawn is returned.

    Examples
    --------
    >>> rng = np.random.Generator(np.random.PCG64DXSM(1))
    >>> [some.tolist() for some in distinct_in(rng, np.array([3, 2]), np.array([3, 0]))]
    [[0, 0, 0], [0, 1, 2]]
    """
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


def _block(start: NDArray[np.int64], cells: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(start, cells, side="right") - 1


GROUPS = 8
"""The most groups: edges are counted between them, and people are assigned at random in them."""


class Cuts(NamedTuple):
    """Nodes in parts of like noisy degree.

    Parameters
    ----------
    least
        int64, rising: the least noisy degree of each part.
    of_node
        int64, shape (n,): the part of every node.
    """

    least: NDArray[np.int64]
    of_node: NDArray[np.int64]


def cut(noisy: NDArray[np.int64], weights: NDArray[np.float64], most: int) -> Cuts:
    """Return at most so many parts of about equal weight; nodes of one noisy degree stay together.

    Examples
    --------
    >>> cut(np.array([5, 1, 1, 9]), np.array([2.0, 1.0, 1.0, 4.0]), 2)
    Cuts(least=array([1, 9]), of_node=array([0, 0, 0, 1]))
    """
    values, of_value = np.unique(noisy, return_inverse=True)
    mass = np.bincount(of_value, weights=weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    part = np.minimum((middle * most).astype(np.int64), most - 1)
    _, firsts, dense = np.unique(part, return_index=True, return_inverse=True)
    return Cuts(values[firsts], dense.astype(np.int64)[of_value])


def numbers_from(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return one number from 0 to 1, without 1, for each word: its first 53 bits.

    Examples
    --------
    >>> numbers_from(np.array([1 << 63], dtype=np.uint64)).tolist()
    [0.5]
    """
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Places(NamedTuple):
    """Who has which place, and which released id the places have.

    Parameters
    ----------
    people, ids
        int64, shape (n,): the position of the input, and the released id, of every place.
    assignment
        The secret that says which noisy degree of a group each person has.
    """

    people: NDArray[np.int64]
    ids: NDArray[np.int64]
    assignment: str

    @property
    def order(self) -> NDArray[np.int64]:
        """The position of the input of every released id."""
        order = np.empty_like(self.people)
        order[self.ids] = self.people
        return order


def places_of(
    noisy: NDArray[np.int64], groups: NDArray[np.int64], randomness: Randomness, seed: int
) -> Places:
    """Return places in ascending order of noisy degrees, with people assigned within their groups.

    So a released node says of its person's noisy degree the group alone. Which one it is, follows
    from the secret, by which the owner can check the noise.

    Parameters
    ----------
    noisy
        The noisy degree of every person.
    groups
        int64, shape (n,): the group of every place.
    randomness
        The run's.
    seed
        The public seed of the drawing.
    """
    secret = randomness.secret("places within groups")[:16]
    ties = randomness.permutation(noisy.size)
    ranked = ties[np.argsort(noisy[ties], kind="stable")]
    words = next(public_words(int.from_bytes(secret), noisy.size, WITHIN_GROUPS))
    people = ranked[np.lexsort((words, groups))]
    words = next(public_words(seed, noisy.size, IDS))
    return Places(people, np.argsort(words, kind="stable"), secret.hex())

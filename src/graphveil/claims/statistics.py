"""A condition on noise: the noisy statistics that a graph was drawn from, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.condition import Condition
from graphveil.claims.epsilon import LARGEST_EPSILON
from graphveil.errors import ParameterError
from graphveil.randomness import public_words

_WHOLE = r"(0|-?[1-9][0-9]{0,18})"
_LIST = re.compile(rf"{_WHOLE}( {_WHOLE})*")
_EXACT = re.compile(r"[1-9][0-9]{0,999}(/[1-9][0-9]{0,999})?")

_BLOCK = 1 << 14

LISTS = (
    "noisy_degrees",
    "group_cuts",
    "class_cuts",
    "noisy_mixing",
    "noisy_triangles",
    "degrees",
    "stubs",
    "aims",
)
"""The fields that hold several numbers."""

PARTS = ("epsilon_count", "epsilon_degrees", "epsilon_mixing", "epsilon_triangles")
"""The fields that are parts of epsilon."""


class NoisyStatistics(Condition, frozen=True, kw_only=True, tag="noisy-statistics"):
    """The graph was drawn from noisy statistics and a public seed: no edge was looked at for it.

    It holds what was released under the budget, or follows from it. Numbers are decimal text, lists
    of them with one blank between two; lists by node are in the order of the released nodes.

    Parameters
    ----------
    nodes
        The number of nodes.
    epsilon_count, epsilon_degrees, epsilon_mixing, epsilon_triangles
        The parts of epsilon: whole numbers or fractions in lowest terms.
    noisy_count
        The number of edges with noise, at least 1.
    noisy_degrees
        The degree of every node with noise.
    group_cuts, class_cuts
        The least noisy degree of every group, between which edges are counted, and of every class,
        by which triangles are.
    noisy_mixing
        The edges between groups g <= h with noise, row by row.
    floor, rate
        Of the ladder: the least width of its first step, and how fast chances fall from step to
        step, a fraction.
    noisy_triangles
        With noise, how many triangles have each class as the lowest of their three nodes.
    degrees, stubs, aims
        What was drawn towards: the degree of every node, the edges between groups g <= h, the
        triangles by class.
    unmended
        How many edges were left out, because they would have been loops or doubles.
    seed_of_drawing
        From it and the numbers above the graph was drawn, and follows.

    Examples
    --------
    >>> statistics = NoisyStatistics(
    ...     nodes=3, epsilon_count="1/50", epsilon_degrees="11/20", epsilon_mixing="3/25",
    ...     epsilon_triangles="31/100", noisy_count="1", noisy_degrees="0 1 2", group_cuts="0",
    ...     class_cuts="0", noisy_mixing="-3", floor=1, rate="31/200", noisy_triangles="0",
    ...     degrees="0 1 1", stubs="1", aims="0", unmended=0, seed_of_drawing="7")
    >>> statistics.numbers("degrees")
    [0, 1, 1]
    """

    without_seed: ClassVar[bool] = True

    nodes: int
    epsilon_count: str
    epsilon_degrees: str
    epsilon_mixing: str
    epsilon_triangles: str
    noisy_count: str
    noisy_degrees: str
    group_cuts: str
    class_cuts: str
    noisy_mixing: str
    floor: int
    rate: str
    noisy_triangles: str
    degrees: str
    stubs: str
    aims: str
    unmended: int
    seed_of_drawing: str

    def __post_init__(self) -> None:
        """Check that every number is one, spelled in one way."""
        for name in LISTS:
            if not _LIST.fullmatch(getattr(self, name)):
                raise ParameterError(f"{name} is no list of whole numbers. Give their digits.")
        for name in ("noisy_count", "seed_of_drawing"):
            text = getattr(self, name)
            if not re.fullmatch(r"0|[1-9][0-9]{0,19}", text) or int(text) >= 1 << 64:
                raise ParameterError(f"{name}={text!r} is no whole number. Give its digits.")
        for name in (*PARTS, "rate"):
            text = getattr(self, name)
            if (
                not _EXACT.fullmatch(text)
                or str(Fraction(text)) != text
                or Fraction(text) > LARGEST_EPSILON
            ):
                raise ParameterError(
                    f"{name}={text!r} is no fraction in lowest terms above 0, and at most "
                    f"{LARGEST_EPSILON}."
                )

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of a field that holds several."""
        return list(map(int, getattr(self, name).split(" ")))

    def words(self) -> Iterator[NDArray[np.uint64]]:
        """Return the words of 64 bits that the drawing takes its random numbers from, in blocks."""
        return public_words(int(self.seed_of_drawing), _BLOCK)

    @property
    def sentence(self) -> str:
        """The statement in one sentence."""
        return (
            "The graph was drawn from noisy degrees, noisy counts of edges between groups and of "
            "triangles, and a public seed alone: it has as many edges of the original as these "
            "numbers make likely."
        )

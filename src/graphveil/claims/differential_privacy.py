"""Noise that hides an edge, an entry or a person: the differential-privacy promises."""

from __future__ import annotations

import math
from typing import ClassVar

from graphveil.claims.epsilon import LARGEST_EPSILON
from graphveil.claims.guarantee import CheckWord, Guarantee
from graphveil.errors import ParameterError


class _DifferentialPrivacy(Guarantee, frozen=True, kw_only=True):
    """No change of one kind changes any release's probability by a factor above e^epsilon."""

    check_word: ClassVar[CheckWord] = "by construction"

    epsilon: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        if not 0 < self.epsilon <= LARGEST_EPSILON:
            raise ParameterError(
                f"epsilon={self.epsilon} is outside (0, {LARGEST_EPSILON}]. Give one such as 1."
            )

    @property
    def _at_most_by(self) -> str:
        exact = repr(self.epsilon).removesuffix(".0")
        return (
            "the probability of every possible release by a factor of at most "
            f"e^{exact} (about {math.exp(self.epsilon):.3g})"
        )


class EdgeDP(_DifferentialPrivacy, frozen=True, kw_only=True, tag="edge-differential-privacy"):
    """No single edge or entry changes any release's probability by a factor above e^epsilon.

    Parameters
    ----------
    epsilon
        Above 0, at most 40.

    Examples
    --------
    >>> print(EdgeDP(epsilon=1.0).sentence)
    Whether any one edge or entry is in the data changes the probability of every possible release \
by a factor of at most e^1 (about 2.72).
    """

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what = "Whether any one edge or entry is in the data"
        return f"{what} changes {self._at_most_by}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        return f"Someone who knows every other edge or entry of the data, {_AND_SEES_ONE_RELEASE}"


class NodeDP(_DifferentialPrivacy, frozen=True, kw_only=True, tag="node-differential-privacy"):
    """No person's whole row of edges or entries changes any probability by more than e^epsilon.

    Parameters
    ----------
    epsilon
        Above 0, at most 40.

    Examples
    --------
    >>> print(NodeDP(epsilon=0.5).sentence)
    Replacing all edges or entries of any one person by any others changes the probability of \
every possible release by a factor of at most e^0.5 (about 1.65).
    """

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what = "Replacing all edges or entries of any one person by any others"
        return f"{what} changes {self._at_most_by}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        knows = "Someone who knows all edges or entries in which a person has no part"
        return f"{knows}, {_AND_SEES_ONE_RELEASE}"


_AND_SEES_ONE_RELEASE = (
    "and has of this data only this one release. How many people and items there are, and how the "
    "items are named, counts as public."
)

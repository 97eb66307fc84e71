"""Noise that hides an edge, an entry or a person: the differential-privacy promises."""

from __future__ import annotations

import math
from decimal import Decimal
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
    Given which people and items there are, which counts as public: any one tie, or any one item \
of any one person: whether it is there changes the probability of every possible release by a \
factor of at most e^1 (about 2.72). All of one person together is protected less: ten ties or \
items by a factor of at most e^10, a hundred by e^100.
    """

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what = "any one tie, or any one item of any one person: whether it is there"
        ten, hundred = (_times(number, self.epsilon) for number in (10, 100))
        no_person = (
            "All of one person together is protected less: ten ties or items by a factor of at "
            f"most e^{ten}, a hundred by e^{hundred}."
        )
        return f"{_GIVEN}: {what} changes {self._at_most_by}. {no_person}"

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        return f"Someone who knows every other tie or item, {_AND_SEES_ONE_RELEASE}"


class NodeDP(_DifferentialPrivacy, frozen=True, kw_only=True, tag="node-differential-privacy"):
    """No person's whole row of edges or entries changes any probability by more than e^epsilon.

    Parameters
    ----------
    epsilon
        Above 0, at most 40.

    Examples
    --------
    >>> print(NodeDP(epsilon=0.5).sentence)
    Given which people and items there are, which counts as public: any one person: replacing all \
ties or items of that person by any others changes the probability of every possible release by a \
factor of at most e^0.5 (about 1.65).
    """

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what = "any one person: replacing all ties or items of that person by any others"
        return f"{_GIVEN}: {what} changes {self._at_most_by}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        knows = "Someone who knows all ties or items in which a person has no part"
        return f"{knows}, {_AND_SEES_ONE_RELEASE}"


def _times(number: int, epsilon: float) -> str:
    """Return a multiple of the decimal that is printed, exactly."""
    text = f"{number * Decimal(repr(epsilon)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_GIVEN = "Given which people and items there are, which counts as public"

_AND_SEES_ONE_RELEASE = (
    "and has of this data only this one release. How many people and items there are, and how the "
    "items are named, counts as public."
)

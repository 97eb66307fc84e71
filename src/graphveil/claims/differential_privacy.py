"""Noise that hides an edge, an entry or a person: the differential-privacy promises."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import ClassVar, Literal

from graphveil.claims.epsilon import LARGEST_EPSILON
from graphveil.claims.guarantee import CheckWord, Guarantee, NotClaimed
from graphveil.errors import ParameterError

List = Literal["people", "items"]
"""A list that counts as public."""

LISTS: tuple[List, ...] = ("people", "items")
"""Every such list, in the order in which claims name them."""

ENTRIES_OF_A_VALUE = 2
"""To change one value of a column is to change two entries: one ends, another begins."""


class _DifferentialPrivacy(Guarantee, frozen=True, kw_only=True):
    """No change of one kind changes any release's probability by a factor above e^epsilon."""

    check_word: ClassVar[CheckWord] = "by construction"

    epsilon: float
    collected: tuple[List, ...] = LISTS

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 0 < self.epsilon <= LARGEST_EPSILON:
            raise ParameterError(
                f"epsilon={self.epsilon} is outside (0, {LARGEST_EPSILON}]. Give one such as 1."
            )
        if self.collected != tuple(one for one in LISTS if one in self.collected):
            raise ParameterError(
                f"collected={self.collected} must be of {', '.join(LISTS)}, each once and in this "
                "order."
            )

    def covers(self, claim: Guarantee) -> bool:
        """Whether who promises this may claim that: of any lists, and of entries or of values."""
        if isinstance(claim, NotClaimed):
            return True
        return isinstance(claim, type(self)) and claim.epsilon == self.epsilon

    @property
    def _given(self) -> str:
        """The condition: which lists are public, and which of them no owner gave as such."""
        if not self.collected:
            return "Given the lists of people and items, which the owner says are public"
        if len(self.collected) == 1:
            which = f"the list of {self.collected[0]} is public, which here was"
        else:
            which = "the lists of people and items are public, which here were"
        return f"Given that {which} collected from the data"

    @property
    def _at_most_by(self) -> str:
        exact = repr(self.epsilon).removesuffix(".0")
        return (
            "the probability of every possible release by a factor of at most "
            f"e^{exact} (about {math.exp(self.epsilon):.3g})"
        )


class EdgeDP(_DifferentialPrivacy, frozen=True, kw_only=True, tag="edge-differential-privacy"):
    """No single edge, entry or value changes a release's probability by a factor above e^epsilon.

    Parameters
    ----------
    epsilon
        Above 0, at most 40.
    collected
        Which lists were collected from the data: ``people``, ``items``, both or none. They count
        as public all the same, so that the promise holds under that condition only.
    of
        Whether `epsilon` is that of one tie or item (``entry``), or that of one ``value`` of one
        column of one person, where items are values of columns: two entries.

    Examples
    --------
    >>> print(EdgeDP(epsilon=1.0, collected=("people",)).sentence)
    Given that the list of people is public, which here was collected from the data: any one tie, \
or any one item of any one person: whether it is there changes the probability of every possible \
release by a factor of at most e^1 (about 2.72). All of one person together is protected less: \
ten ties or items by a factor of at most e^10, a hundred by e^100.
    >>> EdgeDP(epsilon=1.0, of="value").entries
    2
    """

    of: Literal["entry", "value"] = "entry"

    @property
    def entries(self) -> int:
        """How many entries `epsilon` is about."""
        return ENTRIES_OF_A_VALUE if self.of == "value" else 1

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what, several = "any one tie, or any one item of any one person", "ties or items"
        change = "whether it is there"
        if self.of == "value":
            what, several = "any one value of any one column of any one person", "values"
            change = "replacing it by any other, or by none,"
        ten, hundred = (_times(number, self.epsilon) for number in (10, 100))
        no_person = (
            f"All of one person together is protected less: ten {several} by a factor of at "
            f"most e^{ten}, a hundred by e^{hundred}."
        )
        return f"{self._given}: {what}: {change} changes {self._at_most_by}. {no_person}"

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        what = "value" if self.of == "value" else "tie or item"
        return f"Someone who knows every other {what}, {_AND_SEES_ONE_RELEASE}"


class NodeDP(_DifferentialPrivacy, frozen=True, kw_only=True, tag="node-differential-privacy"):
    """No person's whole row of edges or entries changes any probability by more than e^epsilon.

    Parameters
    ----------
    epsilon
        Above 0, at most 40.
    collected
        Which lists were collected from the data, as in `EdgeDP`.

    Examples
    --------
    >>> print(NodeDP(epsilon=0.5, collected=()).sentence)
    Given the lists of people and items, which the owner says are public: any one person: \
replacing all ties or items of that person by any others changes the probability of every possible \
release by a factor of at most e^0.5 (about 1.65).
    """

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what = "any one person: replacing all ties or items of that person by any others"
        return f"{self._given}: {what} changes {self._at_most_by}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        knows = "Someone who knows all ties or items in which a person has no part"
        return f"{knows}, {_AND_SEES_ONE_RELEASE}"


def _times(number: int, epsilon: float) -> str:
    """Return a multiple of the decimal that is printed, exactly."""
    text = f"{number * Decimal(repr(epsilon)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_AND_SEES_ONE_RELEASE = (
    "and has of this data only this one release. How many people and items there are, and the "
    "names of the items, count as public."
)

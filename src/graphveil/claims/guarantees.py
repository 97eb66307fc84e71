"""What a release can promise: values that say it in words and can be checked.

A check answers with one of three words: *recomputed* (checked again from the files), *by
construction* (a differential-privacy claim, which no single output can show) or *not claimed*.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, Literal

import msgspec

from graphveil.claims.conditions import AnyCondition, NothingAdded, TrueOfShare, share_in
from graphveil.claims.epsilon import LARGEST_EPSILON
from graphveil.errors import ParameterError

CheckWord = Literal["recomputed", "by construction", "not claimed"]

MeasureName = Literal["degree", "count", "edge-count", "degree-distribution", "dk", "vrq", "hybrid"]

_ALIKE: dict[str, str] = {
    "degree": "the same degree",
    "count": "the same numbers of nodes and of edges within distance {distance}",
    "edge-count": "the same number of edges within distance {distance}",
    "degree-distribution": "the same list of degrees inside the subgraph of distance {distance}",
    "dk": "a subgraph of distance {distance} of the same shape",
    "vrq": "the same list of degrees of the nodes within distance {distance}",
    "hybrid": "a subgraph of distance {distance} of the same shape, and the same list of degrees "
    "of the nodes in it,",
}
"""What look-alikes share, by measure."""

_KNOWLEDGE: dict[str, str] = {
    "degree": "how many neighbours a person has",
    "count": "how many people are within distance {distance} of a person, and how many ties they "
    "have among them,",
    "edge-count": "how many ties there are among the people within distance {distance} of a person",
    "degree-distribution": "the list of how many ties each of the people within distance "
    "{distance} of a person has among them, but not whose is which,",
    "dk": "who is tied to whom within distance {distance} of a person",
    "vrq": "the list of how many neighbours each of the people within distance {distance} of a "
    "person has, but not whose is which,",
    "hybrid": "who is tied to whom within distance {distance} of a person, and the list of how "
    "many neighbours each of them has, but not whose is which,",
}
"""What the adversary knows of a person, by measure."""


class Guarantee(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A promise about published data, stated exactly.

    Subclasses are frozen values with a `sentence` (the promise in plain words) and a
    `threat_model` (the adversary that it answers). They know neither who keeps them nor how.
    """

    check_word: ClassVar[CheckWord] = "recomputed"

    @property
    def implied(self) -> tuple[AnyCondition, ...]:
        """The conditions that the sentence states itself."""
        return ()

    def covers(self, claim: Guarantee) -> bool:
        """Whether who promises this may claim that: the same, or less.

        Examples
        --------
        >>> KAnonymity(k=5).covers(KAnonymity(k=5)), KAnonymity(k=5).covers(KAnonymity(k=6))
        (True, False)
        """
        return claim == self or isinstance(claim, NotClaimed)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        raise TypeError(f"{type(self).__name__} does not say its promise")

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        raise TypeError(f"{type(self).__name__} does not say its adversary")

    @property
    def why(self) -> str | None:
        """Why nothing is claimed; None where something is."""
        return None


class StructuralKAnonymity(Guarantee, frozen=True, kw_only=True, tag="structural-k-anonymity"):
    """Each node of the stated share looks like at least k-1 others under the measure.

    Parameters
    ----------
    k
        The smallest class, at least 1.
    measure
        What an adversary knows of a node.
    distance
        How far around the node that knowledge reaches, in hops; 1 for the degree.
    share
        The share of nodes for which it holds, in (0, 1]: at most
        ``floor((1 - share) * n + 1e-9)`` nodes stand in a class smaller than k.

    Examples
    --------
    >>> StructuralKAnonymity(k=5).sentence
    'Every node of the release has the same degree as at least 4 others.'
    >>> StructuralKAnonymity(k=2, measure="count", share=0.95).sentence
    'At least 95 % of the nodes of the release have the same numbers of nodes and of edges within \
distance 1 as at least 1 other.'
    """

    k: int
    measure: MeasureName = "degree"
    distance: int = 1
    share: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_class_size(self.k)
        if self.distance < 1:
            raise ParameterError(f"distance={self.distance} is below 1. Give a number of hops.")
        if self.measure == "degree" and self.distance != 1:
            raise ParameterError(
                f"distance={self.distance} has no meaning for the degree. Leave it at 1."
            )
        if not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share} is outside (0, 1]. Give a fraction of nodes.")

    def covers(self, claim: Guarantee) -> bool:
        """Whether who promises this may claim that: the same of as many nodes, or of fewer.

        Examples
        --------
        >>> StructuralKAnonymity(k=5).covers(StructuralKAnonymity(k=5, share=0.9))
        True
        """
        if isinstance(claim, StructuralKAnonymity) and claim.share <= self.share:
            return msgspec.structs.replace(claim, share=self.share) == self
        return super().covers(claim)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        percent = math.floor(self.share * 1e6 + 1e-6) / 1e4
        who = "Every node" if self.share == 1 else f"At least {percent:g} % of the nodes"
        verb = "has" if self.share == 1 else "have"
        others = "other" if self.k == 2 else "others"
        alike = _ALIKE[self.measure].format(distance=self.distance)
        return f"{who} of the release {verb} {alike} as at least {self.k - 1} {others}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        whom = "that person" if self.share == 1 else "a person for whom the promise holds"
        knows = _KNOWLEDGE[self.measure].format(distance=self.distance)
        return (
            f"Someone who knows {knows} in the released network, and uses nothing else of it, "
            f"is left with at least {self.k} nodes that may be {whom}."
        )


class KAnonymity(Guarantee, frozen=True, kw_only=True, tag="k-anonymity"):
    """Every row equals at least k-1 others, and nothing stands in it that is not in the original.

    Rows are users by features, or rows of a table. In a table a suppressed cell `*` equals only
    another `*`, and every published cell is the original's.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 1.

    Examples
    --------
    >>> KAnonymity(k=5).sentence
    'Every row of the release equals at least 4 others on every published feature, and nothing was \
added.'
    """

    k: int

    def __post_init__(self) -> None:
        """Check the parameter."""
        _check_class_size(self.k)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        return f"{_equal_rows(self.k)}, and nothing was added."

    @property
    def implied(self) -> tuple[AnyCondition, ...]:
        """That nothing was added."""
        return (NothingAdded(),)

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        return _among_equal_rows(self.k)


class SmoothKAnonymity(Guarantee, frozen=True, kw_only=True, tag="smooth-k-anonymity"):
    """Every row equals at least k-1 others; every entry is true of a share theta of its class.

    Parameters
    ----------
    k
        The smallest class of equal rows, at least 1.
    theta
        The share, a fraction in [1/2, 1] in lowest terms such as ``1/2``, kept exact as text.

    Examples
    --------
    >>> SmoothKAnonymity(k=5).sentence
    'Every row of the release equals at least 4 others on every published feature, and every \
published entry is true of at least half of the rows of its class.'
    """

    k: int
    theta: str = "1/2"

    def __post_init__(self) -> None:
        """Check the parameters."""
        _check_class_size(self.k)
        share_in(self.theta)

    @property
    def share(self) -> Fraction:
        """Theta as a number."""
        return Fraction(self.theta)

    @property
    def implied(self) -> tuple[AnyCondition, ...]:
        """That every entry is true of a large enough share of its class."""
        return (TrueOfShare(theta=self.theta),)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        share = {"1/2": "at least half", "1": "all"}.get(self.theta, f"at least {self.theta}")
        return (
            f"{_equal_rows(self.k)}, and every published entry is true of {share} of the rows of "
            "its class."
        )

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        return _among_equal_rows(self.k)


class AdaptiveAnonymity(Guarantee, frozen=True, kw_only=True, tag="adaptive-anonymity"):
    """Everybody could own as many records as the level they asked for, and records as many people.

    A record fits a person where each of its cells is that person's or `*`. A pair counts only where
    it is part of a full assignment: one that gives every person a record that fits. The level of a
    record is that of its owner.

    Parameters
    ----------
    level
        What all asked for, at least 1; where not all asked for the same, a level that the owner
        set and no data decides, which nobody's lies below.
    common
        Whether all asked for the same. Who asked for how much is published nowhere.

    Examples
    --------
    >>> print(AdaptiveAnonymity(level=5).sentence)
    Each person could own at least as many of these records as the level they asked for (5), and \
each record could belong to as many people; each such pair is part of a full assignment that fits \
the data.
    """

    level: int
    common: bool = True

    def __post_init__(self) -> None:
        """Check the level."""
        if self.level < 1:
            raise ParameterError(f"level={self.level} is below 1. Give a number of records.")

    @property
    def implied(self) -> tuple[AnyCondition, ...]:
        """That nothing was added: the record of a person shows nothing but that person's cells."""
        return (NothingAdded(),)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        least = f" (at least {self.level})" if self.level > 1 else ""
        level = f" ({self.level})" if self.common else least
        return (
            "Each person could own at least as many of these records as the level they asked "
            f"for{level}, and each record could belong to as many people; each such pair is part "
            "of a full assignment that fits the data."
        )

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        levels = "" if self.common else ", but not who asked for how much"
        ruled_out = "" if self.common else "Who knows the levels can rule candidates out. "
        return (
            f"Someone who holds the whole original table and the release{levels}, and uses nothing "
            f"else. {ruled_out}This counts candidates; it does not make them equally likely."
        )


class EdgeDP(Guarantee, frozen=True, kw_only=True, tag="edge-differential-privacy"):
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

    check_word: ClassVar[CheckWord] = "by construction"

    epsilon: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        _check_epsilon(self.epsilon)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what = "Whether any one edge or entry is in the data"
        return f"{what} changes {_at_most_by(self.epsilon)}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        return f"Someone who knows every other edge or entry of the data, {_AND_SEES_ONE_RELEASE}"


class NodeDP(Guarantee, frozen=True, kw_only=True, tag="node-differential-privacy"):
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

    check_word: ClassVar[CheckWord] = "by construction"

    epsilon: float

    def __post_init__(self) -> None:
        """Check the parameter."""
        _check_epsilon(self.epsilon)

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        what = "Replacing all edges or entries of any one person by any others"
        return f"{what} changes {_at_most_by(self.epsilon)}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        knows = "Someone who knows all edges or entries in which a person has no part"
        return f"{knows}, {_AND_SEES_ONE_RELEASE}"


_AND_SEES_ONE_RELEASE = (
    "and has of this data only this one release. How many people and items there are, and how the "
    "items are named, counts as public."
)


Reason = Literal["repeatable", "fixed-size", "finite-chain", "unproved", "trial", "renamed"]
"""Why nothing is claimed."""

_REASONS: dict[Reason, str] = {
    "repeatable": (
        "The run can be repeated: its noise came from a generator that was started on purpose, "
        "not from the operating system's entropy. Who can repeat it can take the noise off."
    ),
    "fixed-size": (
        "The number of published edges is fixed and the noise is not independent of it: no bound "
        "on what one edge changes holds."
    ),
    "finite-chain": (
        "The draw came from a Markov chain that was stopped: it only approaches the distribution "
        "for which a bound holds."
    ),
    "unproved": "No proof of a bound is known to us for the mechanism as it is run.",
    "trial": (
        "It is one of several trials. Choosing among them by the original is covered by no claim."
    ),
    "renamed": "Ids were replaced and nothing else: the data itself shows who is who.",
}


class NotClaimed(Guarantee, frozen=True, kw_only=True, tag="not-claimed"):
    """Nothing is promised of this release.

    Parameters
    ----------
    reasons
        At least one of ``repeatable`` (the noise came from a seeded generator), ``fixed-size``,
        ``finite-chain``, ``unproved`` (the mechanism has no proof), ``trial`` (one of several,
        chosen by looking) and ``renamed`` (new ids alone); each once, in this order.

    Examples
    --------
    >>> NotClaimed(reasons=("repeatable",)).sentence
    'Nothing is promised of this release.'
    """

    check_word: ClassVar[CheckWord] = "not claimed"

    reasons: tuple[Reason, ...]

    def __post_init__(self) -> None:
        """Check that there is a reason, each once and in order."""
        ordered = tuple(reason for reason in _REASONS if reason in self.reasons)
        if not self.reasons or self.reasons != ordered:
            raise ParameterError(
                f"reasons={self.reasons} must be one or more of {', '.join(_REASONS)}, each once "
                "and in this order."
            )

    @property
    def sentence(self) -> str:
        """What is promised: nothing."""
        return "Nothing is promised of this release."

    @property
    def threat_model(self) -> str:
        """The adversary that is answered: none."""
        return "None: no adversary is answered."

    @property
    def why(self) -> str | None:
        """Why nothing is claimed."""
        return " ".join(_REASONS[reason] for reason in self.reasons)

    def covers(self, claim: Guarantee) -> bool:
        """Whether who promises nothing may claim that: nothing, for these reasons or more."""
        return isinstance(claim, NotClaimed) and set(self.reasons) <= set(claim.reasons)


def unclaimed(guarantee: Guarantee, reason: Reason) -> NotClaimed:
    """Return what remains of a guarantee once there is a reason to claim nothing.

    Examples
    --------
    >>> unclaimed(NotClaimed(reasons=("unproved",)), "repeatable").reasons
    ('repeatable', 'unproved')
    """
    before = guarantee.reasons if isinstance(guarantee, NotClaimed) else ()
    return NotClaimed(reasons=tuple(r for r in _REASONS if r == reason or r in before))


def _check_epsilon(epsilon: float) -> None:
    if not 0 < epsilon <= LARGEST_EPSILON:
        raise ParameterError(
            f"epsilon={epsilon} is outside (0, {LARGEST_EPSILON}]. Give one such as 1."
        )


def _at_most_by(epsilon: float) -> str:
    exact = repr(epsilon).removesuffix(".0")
    return (
        "the probability of every possible release by a factor of at most "
        f"e^{exact} (about {math.exp(epsilon):.3g})"
    )


def _check_class_size(k: int) -> None:
    if k < 1:
        raise ParameterError(f"k={k} is below 1. Give the size of the smallest class.")


def _equal_rows(k: int) -> str:
    others = "other" if k == 2 else "others"
    return f"Every row of the release equals at least {k - 1} {others} on every published feature"


def _among_equal_rows(k: int) -> str:
    return (
        "Someone who knows any of a person's features, and uses nothing but the released rows, is "
        f"left with at least {k} equal rows that may be that person's."
    )


AnyGuarantee = (
    StructuralKAnonymity
    | KAnonymity
    | SmoothKAnonymity
    | AdaptiveAnonymity
    | EdgeDP
    | NodeDP
    | NotClaimed
)
"""Every guarantee that a manifest can hold."""

"""What a guarantee is, and the one that promises nothing.

A check answers with one of three words: *recomputed* (checked again from the files), *by
construction* (a differential-privacy claim, which no single output can show) or *not claimed*.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import msgspec

from graphveil.claims.conditions import AnyCondition
from graphveil.errors import ParameterError

CheckWord = Literal["recomputed", "by construction", "not claimed"]


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
        >>> from graphveil import KAnonymity
        >>> KAnonymity(k=5).covers(KAnonymity(k=5)), KAnonymity(k=5).covers(KAnonymity(k=6))
        (True, False)
        """
        return claim == self or isinstance(claim, NotClaimed)

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The promise in one sentence."""

    @property
    @abstractmethod
    def threat_model(self) -> str:
        """The adversary that the promise answers."""

    @property
    def why(self) -> str | None:
        """Why nothing is claimed; None where something is."""
        return None


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


def check_class_size(k: int) -> None:
    """Refuse a smallest class below 1."""
    if k < 1:
        raise ParameterError(f"k={k} is below 1. Give the size of the smallest class.")

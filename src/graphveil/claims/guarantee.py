"""What every guarantee has, and the one that promises nothing.

A check answers with one of three words: *recomputed* (from the files), *by construction* (a claim
of differential privacy, which no single output can show) or *not claimed*.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import msgspec

from graphveil.claims.knowledge import REASONS, Person, Reason
from graphveil.core.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.claims.conditions import AnyCondition

CheckWord = Literal["recomputed", "by construction", "not claimed"]


class Guarantee(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A promise about published data, stated exactly.

    Subclasses are frozen values with a `sentence` (the promise in plain words) and a
    `threat_model` (the adversary that it answers). They know neither who keeps them nor how.
    """

    check_word: ClassVar[CheckWord] = "recomputed"

    def of_rows(self, person: Person | None) -> Self:
        """Return the same guarantee of the rows of a table, of which the owner said `person`.

        None is no table, and changes nothing; nor does it where nothing is claimed, or of nodes.

        Examples
        --------
        >>> from graphveil import KAnonymity
        >>> KAnonymity(k=5).of_rows("row").sentence.partition("; ")[2]
        'nothing was added. Each row is a different person, as the owner states.'
        """
        if person is None or "person" not in self.__struct_fields__:
            return self
        return msgspec.structs.replace(self, person=person)

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
        return isinstance(claim, NotClaimed) or claim == self.of_rows(
            getattr(claim, "person", None) or None
        )

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The promise in one sentence."""

    @property
    def core(self) -> str:
        """The sentence without the implied conditions, which only the original shows."""
        return self.sentence

    @property
    @abstractmethod
    def threat_model(self) -> str:
        """The adversary that the promise answers."""

    @property
    def knowledge(self) -> str:
        """What that adversary knows, in a few words."""
        return ""

    @property
    def adversary(self) -> str:
        """Who that is: what they know, and that they use nothing else."""
        return "nobody"

    @property
    def why(self) -> str | None:
        """Why nothing is claimed; None where something is."""
        return None

    @property
    def empty(self) -> str | None:
        """Why the promise is true of any data and protects nobody; None where it is not."""
        return None


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
    'This release carries no guarantee.'
    """

    check_word: ClassVar[CheckWord] = "not claimed"

    reasons: tuple[Reason, ...]

    def __post_init__(self) -> None:
        """Check that there is a reason, each once and in order."""
        ordered = tuple(reason for reason in REASONS if reason in self.reasons)
        if not self.reasons or self.reasons != ordered:
            raise ParameterError(
                f"reasons={self.reasons} must be one or more of {', '.join(REASONS)}, each once "
                "and in this order."
            )

    @property
    def sentence(self) -> str:
        """What is promised: nothing."""
        return "This release carries no guarantee."

    @property
    def threat_model(self) -> str:
        """The adversary that is answered: none."""
        return "None: this release claims no protection against any attacker."

    @property
    def why(self) -> str | None:
        """Why nothing is claimed."""
        return " ".join(REASONS[reason] for reason in self.reasons)

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
    return NotClaimed(reasons=tuple(r for r in REASONS if r == reason or r in before))

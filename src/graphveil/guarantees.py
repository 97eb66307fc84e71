"""What a release can promise: values that say it in words and can be checked.

A check answers with one of three words: *recomputed* (checked again from the files), *by
construction* (a differential-privacy claim, which no single output can show) or *not claimed*.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.data import Data
    from graphveil.verify import Verdict

CheckWord = Literal["recomputed", "by construction", "not claimed"]

_KNOWLEDGE = {
    "degree": "how many neighbours a person has",
}
"""What the adversary knows of a person, by measure."""


class Guarantee(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A promise about published data, stated exactly.

    Subclasses are frozen values with a `sentence` (the promise in plain words) and a
    `threat_model` (who is held off by it). They know how they are checked, not by whom they
    were reached.
    """

    check_word: ClassVar[CheckWord] = "recomputed"

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        raise TypeError(f"{type(self).__name__} does not say its promise")

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        raise TypeError(f"{type(self).__name__} does not say its adversary")

    def check(self, folder: str | Path, *, original: Data | None = None) -> Verdict:
        """Return the verdict on the release in this folder, recomputed from its files."""
        from graphveil.verify import verify  # noqa: PLC0415  the checker is loaded when asked

        return verify(folder, original=original)


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
    """

    k: int
    measure: Literal["degree"] = "degree"
    distance: Literal[1] = 1
    share: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.k < 1:
            raise ParameterError(f"k={self.k} is below 1. Give the size of the smallest class.")
        if not 0 < self.share <= 1:
            raise ParameterError(f"share={self.share} is outside (0, 1]. Give a fraction of nodes.")

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        who = "Every node" if self.share == 1 else f"At least {100 * self.share:.6g} % of the nodes"
        verb = "has" if self.share == 1 else "have"
        others = "other" if self.k == 2 else "others"
        return f"{who} of the release {verb} the same degree as at least {self.k - 1} {others}."

    @property
    def threat_model(self) -> str:
        """The adversary that the promise answers."""
        whom = "that person" if self.share == 1 else "a person for whom the promise holds"
        return (
            f"Someone who knows {_KNOWLEDGE[self.measure]} in the released network, and uses "
            f"nothing else of it, is left with at least {self.k} nodes that may be {whom}."
        )


AnyGuarantee = StructuralKAnonymity
"""Every guarantee that a manifest can hold; a union as soon as there are two."""

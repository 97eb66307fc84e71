"""What a claim is checked with, and what becomes of a check that lacks some of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.verdict import LINKAGE, ORIGINAL, RECORD, Check, fails, not_checked

CLASSES = "classes"

Need = Literal["data", "record", "original", "linkage"]

BESIDE: tuple[Need, ...] = ("data", "original")
LINKED: tuple[Need, ...] = ("data", "linkage")

UNREADABLE = "the released data cannot be read"


class Part(NamedTuple):
    """One check of a claim.

    Parameters
    ----------
    name
        What is checked.
    needs
        What it cannot do without.
    question
        What stays open where it is not checked.
    recheck
        The check itself, from all that there is and the value of the claim.
    any_ids
        Whether it can be checked where ids come from a key, and not of ids 0, 1, 2 alone.
    """

    name: str
    needs: tuple[Need, ...]
    question: str
    recheck: Callable[[Evidence, Any], Check]
    any_ids: bool = False

    def run(self, evidence: Evidence, claim: object) -> Check:
        """Return the check's outcome; *not checked* where something is missing."""
        lacking = self._lacking(evidence)
        return lacking if lacking is not None else self.recheck(evidence, claim)

    def _lacking(self, evidence: Evidence) -> Check | None:
        if "record" in self.needs and evidence.record is None:
            return not_checked(self.name, self.question, needs=RECORD)
        if evidence.original is None and {"original", "linkage"} & set(self.needs):
            why = evidence.why_not or self.question
            return not_checked(self.name, why, needs=None if evidence.why_not else ORIGINAL)
        if "data" in self.needs and evidence.db is None:
            return not_checked(self.name, UNREADABLE)
        if "data" in self.needs and evidence.keyed and not self.any_ids:
            return not_checked(
                self.name, ("ids come from a key, but this check needs ids 0, 1, 2, ...")
            )
        if "linkage" in self.needs and not evidence.linked:
            return not_checked(self.name, self.question, needs=LINKAGE)
        return None


class Recheck(NamedTuple):
    """How one type of claim is checked again.

    Parameters
    ----------
    kinds
        The kinds of data that it can be claimed of.
    parts
        Its checks.
    """

    kinds: tuple[str, ...]
    parts: tuple[Part, ...] = ()

    def run(self, evidence: Evidence, claim: object, parts: Sequence[Part]) -> list[Check]:
        """Return the outcome of some of the parts; all fail where the data is of another kind."""
        kind = evidence.manifest.data.kind
        if kind in self.kinds:
            return [part.run(evidence, claim) for part in parts]
        kinds = " or a ".join(self.kinds)
        why = f"{type(claim).__name__} can be claimed for a {kinds}, not for a {kind}"
        return [fails(part.name, why) for part in parts]


def listed(members: list[int], size: int) -> str:
    """Return the first of some people, and whether there are more."""
    return ", ".join(map(str, members[:5])) + (", ..." if size > 5 else "")

"""One check of a claim: its name, its function, what it needs, and what stays open without that.

A check is run only if what it needs is there; otherwise it is *not checked*, with the question
that stays open and the option or file that would answer it. A claim about another kind of data
than the released one fails: no method can make it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from graphveil.verify import verdict
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import Check, fails, named, not_checked

CLASSES = "classes"
"""The check on equivalence classes, of rows as of nodes."""

Need = Literal["data", "record", "original", "linkage"]
# What checks need, from least to most: the released data; the original next to it; both, linked.
DATA: tuple[Need, ...] = ("data",)
BESIDE: tuple[Need, ...] = ("data", "original")
LINKED: tuple[Need, ...] = ("data", "linkage")
UNREADABLE = "the released data cannot be read"
"""Why a check of the data was not made."""


class Part(NamedTuple):
    """One check of a claim.

    Parameters
    ----------
    name
        The name of the check in the verdict.
    recheck
        The function that checks: from the evidence and the claim to the outcome.
    needs
        What must be there: ``data``, ``record``, ``original``, or ``linkage``.
    question
        What stays open if something is missing: "whether ...".
    any_ids
        Whether it can be checked where ids come from a key, and not of ids 0, 1, 2 alone.
    """

    name: str
    recheck: Callable[[Evidence, Any], Check]
    needs: tuple[Need, ...] = DATA
    question: str = ""
    any_ids: bool = False

    def run(self, evidence: Evidence, claim: object) -> Check:
        """Return the check's outcome; *not checked* where something is missing."""
        needs, question = self.needs, self.question
        # The first thing that is missing decides what the reader is told to give.
        if "record" in needs and evidence.record is None:
            return not_checked(question, needs=verdict.RECORD)
        if evidence.original is None and {"original", "linkage"} & {*needs}:
            why_not, asked = evidence.why_not, verdict.ORIGINAL
            return not_checked(why_not or question, needs=None if why_not else asked)
        if "data" in needs and evidence.db is None:
            return not_checked(UNREADABLE)
        if "data" in needs and evidence.keyed and not self.any_ids:
            return not_checked("ids come from a key, but this check needs ids 0, 1, 2, ...")
        if "linkage" in needs and not evidence.linked:
            return not_checked(question, needs=verdict.LINKAGE)
        return self.recheck(evidence, claim)


class ClaimCheck(NamedTuple):
    """How one type of claim is checked: for which kinds of data, and by which checks.

    Parameters
    ----------
    kinds
        The kinds of data that the claim can be made of.
    parts
        The checks, in the order in which they are reported.
    """

    kinds: tuple[str, ...]
    parts: tuple[Part, ...] = ()

    def run(self, evidence: Evidence, claim: object, parts: Sequence[Part]) -> list[Check]:
        """Return the outcome of some of the parts; all fail where the data is of another kind."""
        kind = evidence.manifest.data.kind
        if kind in self.kinds:
            return named({part.name: part.run(evidence, claim) for part in parts})
        kinds = " or a ".join(self.kinds)
        why = f"{type(claim).__name__} can be claimed for a {kinds}, not for a {kind}"
        return named({part.name: fails(why) for part in parts})

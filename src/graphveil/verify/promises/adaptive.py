"""Adaptive anonymity, recounted from the original and the release: who could own which record."""

from __future__ import annotations

from graphveil.claims.conditions import Condition
from graphveil.claims.guarantees import AdaptiveAnonymity, Guarantee
from graphveil.verify.promises.evidence import Evidence, Part, Recheck
from graphveil.verify.verdict import Check, not_checked

PAIRS = "allowed pairs"
_OPEN = "whether everybody fits as many records as they asked for, and records as many people"


def allowed_pairs(evidence: Evidence, promise: AdaptiveAnonymity) -> Check:
    """Return whether all have as many allowed records, and records as many people, as is said."""
    del evidence, promise
    return not_checked(PAIRS, _OPEN)


RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    AdaptiveAnonymity: Recheck(
        ("table",), (Part(PAIRS, ("data", "original"), _OPEN, allowed_pairs),)
    ),
}
"""How the guarantee is checked again."""

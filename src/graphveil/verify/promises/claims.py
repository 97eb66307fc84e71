"""The guarantee of a release and its conditions, each checked by its type."""

from __future__ import annotations

from typing import Literal

from graphveil.claims.condition import Condition
from graphveil.claims.guarantees import Guarantee
from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.promises import (
    adaptive,
    cell_flips,
    classes,
    features,
    graphs,
    renaming,
    tables,
)
from graphveil.verify.promises.recheck import Part, Recheck
from graphveil.verify.verdict import Check

RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    **classes.RECHECKS,
    **graphs.RECHECKS,
    **features.RECHECKS,
    **tables.RECHECKS,
    **adaptive.RECHECKS,
    **cell_flips.RECHECKS,
    **renaming.RECHECKS,
}
"""How every type of guarantee and of condition is checked again."""


def claim_checks(evidence: Evidence, *, of: Literal["data", "original"]) -> list[Check]:
    """Return the checks of the guarantee, of what it implies, and of the stated conditions.

    Parameters
    ----------
    evidence
        All that there is of the release.
    of
        ``data``: the checks that the released data decides; ``original``: all others.
    """
    claim = evidence.manifest.claim
    stated = dict.fromkeys([claim.guarantee, *claim.guarantee.implied, *claim.conditions])
    return [
        check
        for value in stated
        for check in RECHECKS[type(value)].run(
            evidence, value, _some(RECHECKS[type(value)].parts, of)
        )
    ]


def _some(parts: tuple[Part, ...], of: str) -> list[Part]:
    return [part for part in parts if (part.needs == ("data",)) == (of == "data")]

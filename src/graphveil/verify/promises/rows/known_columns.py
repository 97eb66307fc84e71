"""Which columns a guarantee counts rows by, and whether the rest of the claim agrees with it.

A column of a table is known (part of the guarantee) or attached (published next to it); one that
is neither would be published without anybody having said what of it is protected.
"""

from __future__ import annotations

from graphveil.claims.conditions import AttachedColumns
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import shown


def _attached(evidence: Evidence) -> set[str]:
    stated = evidence.manifest.claim.conditions
    return {name for one in stated if isinstance(one, AttachedColumns) for name in one.columns}


def known_names(evidence: Evidence) -> list[str]:
    """Return the columns that the guarantee counts rows by, in the order of the release."""
    # Without names in the guarantee, all columns that are not attached are known.
    known = getattr(evidence.manifest.claim.guarantee, "known", ()) or ()
    if known:
        return [name for name in evidence.columns if name in known]
    attached = _attached(evidence)
    return [name for name in evidence.columns if name not in attached]


def known_problem(evidence: Evidence) -> str | None:
    """Return a contradiction between the known columns and the rest of the claim."""
    names, known = evidence.columns, known_names(evidence)
    named = getattr(evidence.manifest.claim.guarantee, "known", ()) or ()
    attached = _attached(evidence)
    # Every named column is published; every published one is known or attached.
    for name in named:
        if name not in names:
            return f"{shown(name)} is known, but is not a column of the data"
    if not known:
        return "no column is known"
    for name in names:
        if name not in known and name not in attached:
            return f"{shown(name)} is published, but is neither known nor attached"
    # The description of a generalized table has the same roles.
    described = evidence.manifest.data.columns or []
    if described and [one.name for one in described if one.role == "known"] != known:
        return "the columns that are described as known are not those of the guarantee"
    return None

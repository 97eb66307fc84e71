"""The privacy budget over several releases: whether the stated total is that of the owner's ledger.

Claim checked: a release may state the total epsilon of all releases of the same data so far. The
total must not be below the release's own epsilon, and must be the exact sum of the entries of the
owner's ledger up to and including this release.

Means: the ledger is read as plain JSON here, with fractions instead of floats; the writer of the
ledger (`graphveil.claims.ledger`) is not used. What the files cannot show: releases that were
never entered in the ledger.

Cost: one pass over the ledger, which is not read above 64 MiB.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.claims.ledger import MOST_BYTES, Composed
from graphveil.core.text import counted
from graphveil.verify import verdict
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import Check, fails, holds, named, not_checked

LEDGER = "ledger"
_TOTAL = re.compile(r"(0|[1-9][0-9]{0,20})(\.[0-9]{0,11}[1-9])?")
_EPSILON = re.compile(r"[0-9]{1,20}(\.[0-9]{1,40})?(e-?[0-9]{1,2})?")
"""Numbers of another form cost much to read, and no ledger holds them."""

_NEEDED = "the owner's ledger"
_MOST = 1_000_000_000
"""A stated number of releases must be below this: nobody makes so many, and larger numbers could
carry a message."""


def ledger_checks(evidence: Evidence) -> list[Check]:
    """Return the check of the stated total; none if no total is stated."""
    stated = evidence.manifest.ledger
    if not isinstance(stated, Composed):
        return []
    return named({LEDGER: _against_claim(evidence, stated) or _against_ledger(evidence, stated)})


def _against_claim(evidence: Evidence, stated: Composed) -> Check | None:
    """Return why a total contradicts its claim; None if it does not."""
    # Only a differentially private release has an epsilon that adds up.
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return fails("a total is stated with a claim that has no epsilon")
    # The unit of the total must be that of the claim: releases are added up per node, edge or
    # value.
    unit = "node"
    if isinstance(promise, EdgeDP):
        unit = "edge" if promise.of == "entry" else "value"
    if (
        not _TOTAL.fullmatch(stated.epsilon)
        or stated.unit != unit
        or not 0 < stated.releases < _MOST
    ):
        return fails(
            f"a total of {counted(stated.releases, 'release')} with epsilon={stated.epsilon!r} is "
            "not valid for this claim"
        )
    # A total below the release's own epsilon is impossible; of a first release it is that epsilon,
    # rounded up to twelve places.
    own, total = Fraction(repr(promise.epsilon)), Fraction(stated.epsilon)
    if total < own or (stated.releases == 1 and total >= own + Fraction(1, 10**12)):
        return fails(f"the total {stated.epsilon} is not consistent with epsilon={promise.epsilon}")
    return None


def _against_ledger(evidence: Evidence, stated: Composed) -> Check:
    if evidence.record is None:
        return not_checked("whether the ledger contains this total", needs=verdict.RECORD)
    note = evidence.record.ledger
    if note is None:
        return fails("a total is stated, but the record names no ledger")
    # The ledger is the owner's file: read as plain JSON, bounded in size, and never trusted.
    path = Path(note.file)
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES or path.stat().st_nlink > 1:
            unread = "the ledger is not a readable file of one name (no hard links)"
            return not_checked(unread, needs=_NEEDED)
        entries = json.loads(path.read_bytes())["entries"]
        names = [entry["id"] for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return not_checked("the ledger cannot be read", needs=_NEEDED)
    if note.entry not in names:
        return fails("the ledger has no entry for this release")
    return _against_entries(evidence, stated, entries[: names.index(note.entry) + 1])


def _against_entries(evidence: Evidence, stated: Composed, before: list[dict[str, Any]]) -> Check:
    """Return whether the entries up to that of this release sum to the stated total."""
    if not _is_of(before[-1], evidence, stated.unit):
        return fails("the ledger's entry for this release has a different method, unit or epsilon")
    # The sum of all entries up to this release must be the stated total, as exact fractions.
    total = _total(before, stated.unit)
    if len(before) == stated.releases and total == Fraction(stated.epsilon):
        return holds(f"{counted(len(before), 'entry')} of the ledger sum to {stated.epsilon}")
    added = "no total" if total is None else f"{float(total):.12g}"
    claimed = f"{counted(stated.releases, 'release')} with the total {stated.epsilon}"
    return fails(
        f"the ledger has {counted(len(before), 'entry')} with {added}, but {claimed} are stated"
    )


def _is_of(entry: dict[str, Any], evidence: Evidence, unit: str) -> bool:
    """Whether an entry has the method, the unit and the epsilon of the manifest."""
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return False
    same = (entry.get("method"), entry.get("unit")) == (evidence.manifest.method.name, unit)
    return same and _epsilon_of(entry) == Fraction(repr(promise.epsilon))


def _total(entries: list[dict[str, Any]], unit: str) -> Fraction | None:
    """Return the sum of epsilons, rounded up to twelve places; None if a release has no epsilon."""
    total = Fraction(0)
    for entry in entries:
        part, cells = _epsilon_of(entry), entry.get("person_cells")
        if part is None or not isinstance(cells, int):
            return None
        # Group privacy: an epsilon per cell counts once per cell of the unit asked for, an epsilon
        # per person of a node once for all.
        sizes = {"edge": 1, "value": 2, "node": max(cells, 1)}  # in cells
        own = str(entry.get("unit"))
        total += part if own == "node" else part * Fraction(sizes.get(unit, 1), sizes.get(own, 1))
    return Fraction(math.ceil(total * 10**12), 10**12)


def _epsilon_of(entry: dict[str, Any]) -> Fraction | None:
    """Return the epsilon of an entry; None where it has none."""
    text = str(entry.get("epsilon"))
    return Fraction(text) if _EPSILON.fullmatch(text) else None

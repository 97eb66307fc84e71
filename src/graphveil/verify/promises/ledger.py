"""The total that a manifest states of the owner's ledger, added up again."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.records.ledger_entries import Composed
from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.verdict import RECORD, Check, fails, holds, not_checked

LEDGER = "ledger"

_TOTAL = re.compile(r"(0|[1-9][0-9]{0,20})(\.[0-9]{0,11}[1-9])?")
_EPSILON = re.compile(r"[0-9]{1,20}(\.[0-9]{1,40})?(e-?[0-9]{1,2})?")
"""Numbers of another form cost much to read, and no ledger holds them."""

_NEEDED = "the owner's ledger"
_MOST_BYTES = 64 << 20
"""The largest ledger that is read: one of 100,000 releases is smaller."""

_MOST = 1_000_000_000
"""So many releases nobody makes."""


def ledger_checks(evidence: Evidence) -> list[Check]:
    """Return whether the stated total fits the claim and the ledger; none where none is stated."""
    stated = evidence.manifest.ledger
    if not isinstance(stated, Composed):
        return []
    return [_against_claim(evidence, stated) or _against_ledger(evidence, stated)]


def _against_claim(evidence: Evidence, stated: Composed) -> Check | None:
    """Return what is wrong with a total beside its claim; None where nothing is."""
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return fails(LEDGER, "a total is stated beside a claim without an epsilon")
    unit = _unit_of(promise)
    if (
        not _TOTAL.fullmatch(stated.epsilon)
        or stated.unit != unit
        or not 0 < stated.releases < _MOST
    ):
        return fails(LEDGER, f"{stated.releases} releases with epsilon={stated.epsilon!r} are none")
    own, total = Fraction(repr(promise.epsilon)), Fraction(stated.epsilon)
    if total < own or (stated.releases == 1 and total >= own + Fraction(1, 10**12)):
        return fails(LEDGER, f"the total {stated.epsilon} does not fit epsilon={promise.epsilon}")
    return None


def _unit_of(promise: EdgeDP | NodeDP) -> str:
    """Return what the ledger calls the unit of a promise."""
    if isinstance(promise, NodeDP):
        return "node"
    return "edge" if promise.of == "entry" else "value"


def _against_ledger(evidence: Evidence, stated: Composed) -> Check:
    if evidence.record is None:
        return not_checked(LEDGER, "whether the ledger holds this total", needs=RECORD)
    note = evidence.record.ledger
    if note is None:
        return fails(LEDGER, "a total is stated, and the record knows of no ledger")
    path = Path(note.file)
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return not_checked(LEDGER, "the ledger is no file that can be read", needs=_NEEDED)
        entries = json.loads(path.read_bytes())["entries"]
        names = [entry["id"] for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return not_checked(LEDGER, "the ledger cannot be read", needs=_NEEDED)
    if note.entry not in names:
        return fails(LEDGER, "the ledger has no entry of this release")
    return _against_entries(evidence, stated, entries[: names.index(note.entry) + 1])


def _against_entries(evidence: Evidence, stated: Composed, before: list[dict[str, Any]]) -> Check:
    """Return whether the entries up to that of the release, the last one, say what is stated."""
    if not _is_of(before[-1], evidence, stated.unit):
        return fails(LEDGER, "the ledger's entry of this release is of another method or epsilon")
    total = _total(before, stated.unit)
    if len(before) == stated.releases and total == Fraction(stated.epsilon):
        return holds(LEDGER, f"{len(before)} entries of the ledger sum to {stated.epsilon}")
    added = "no total" if total is None else f"{float(total):.12g}"
    said = f"{stated.releases} releases and {stated.epsilon}"
    return fails(LEDGER, f"{len(before)} entries with {added}, stated are {said}")


def _is_of(entry: dict[str, Any], evidence: Evidence, unit: str) -> bool:
    """Whether an entry says the method, the unit and the epsilon that the manifest says."""
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return False
    same = (entry.get("method"), entry.get("unit")) == (evidence.manifest.method.name, unit)
    return same and _epsilon_of(entry) == Fraction(repr(promise.epsilon))


def _total(entries: list[dict[str, Any]], unit: str) -> Fraction | None:
    """Return the sum of epsilons, rounded up to twelve places; None where one claims nothing."""
    total = Fraction(0)
    for entry in entries:
        part, cells = _epsilon_of(entry), entry.get("person_cells")
        if part is None or not isinstance(cells, int):
            return None
        total += part * _in_unit(str(entry.get("unit")), unit, cells)
    return Fraction(math.ceil(total * 10**12), 10**12)


def _in_unit(own: str, unit: str, cells: int) -> Fraction:
    """Return by how much an epsilon of one unit counts in another: in cells, a value has two."""
    if own == "node":
        return Fraction(1)
    sizes = {"edge": 1, "value": 2, "node": max(cells, 1)}
    return Fraction(sizes.get(unit, 1), sizes.get(own, 1))


def _epsilon_of(entry: dict[str, Any]) -> Fraction | None:
    """Return the epsilon of an entry; None where it has none."""
    said = str(entry.get("epsilon"))
    return Fraction(said) if _EPSILON.fullmatch(said) else None

"""What a manifest claims, checked again: guarantee, conditions, cost, parameters, ledger.

Each type of claim names its checks, and what becomes of them if something they need is missing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from graphveil.claims import conditions, guarantees
from graphveil.claims.conditions import Condition
from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP
from graphveil.claims.ledger import Composed
from graphveil.claims.manifest import Manifest
from graphveil.core.lazy import resolve
from graphveil.core.text import counted
from graphveil.verify import verdict
from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, shown

CLASSES = "classes"

Need = Literal["data", "record", "original", "linkage"]

DATA: tuple[Need, ...] = ("data",)
BESIDE: tuple[Need, ...] = ("data", "original")
LINKED: tuple[Need, ...] = ("data", "linkage")

UNREADABLE = "the released data cannot be read"


class Part(NamedTuple):
    """One check of a claim: its name, the check itself, what that needs, and what else stays open.

    `any_ids`: whether it can be checked where ids come from a key, and not of ids 0, 1, 2 alone.
    """

    name: str
    recheck: Callable[[Evidence, Any], Check]
    needs: tuple[Need, ...] = DATA
    question: str = ""
    any_ids: bool = False

    def run(self, evidence: Evidence, claim: object) -> Check:
        """Return the check's outcome; *not checked* where something is missing."""
        name, needs, question = self.name, self.needs, self.question
        if "record" in needs and evidence.record is None:
            return not_checked(name, question, needs=verdict.RECORD)
        if evidence.original is None and {"original", "linkage"} & {*needs}:
            why_not, asked = evidence.why_not, verdict.ORIGINAL
            return not_checked(name, why_not or question, needs=None if why_not else asked)
        if "data" in needs and evidence.db is None:
            return not_checked(name, UNREADABLE)
        if "data" in needs and evidence.keyed and not self.any_ids:
            return not_checked(name, "ids come from a key, but this check needs ids 0, 1, 2, ...")
        if "linkage" in needs and not evidence.linked:
            return not_checked(name, question, needs=verdict.LINKAGE)
        return self.recheck(evidence, claim)


class ClaimCheck(NamedTuple):
    """How one type of claim is checked again: of which kinds of data, and by which checks."""

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


Rechecks = dict[type[Guarantee | Condition], ClaimCheck]
"""How types of guarantees and conditions are checked again."""


def listed(members: list[int], size: int) -> str:
    """Return the first of some people, and whether there are more."""
    return ", ".join(map(str, members[:5])) + (", ..." if size > 5 else "")


PARAMETERS = "claim and parameters"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
_METHOD = re.compile(r"[a-z][a-z0-9-]{0,40}")
_DIGITS = 5
"""So many significant digits a real number has at most."""

_LONGEST_TEXT, _LONGEST_SENTENCE, _LARGEST_NUMBER = 200, 1000, 1 << 63


def parameters_check(manifest: Manifest) -> Check:
    """Return whether parameters say what the claim says, and are plain values."""
    method, claim = manifest.method, manifest.claim
    problems = []
    if not _METHOD.fullmatch(method.name):
        problems.append(f"{shown(method.name)} is not a valid method name")
    sentences = {"source": method.source, "limits": claim.does_not_protect_against}
    problems += [
        f"the {name} {shown(text)} is not a plain line of text"
        for name, text in sentences.items()
        if not text.isprintable() or not 0 < len(text) <= _LONGEST_SENTENCE
    ]
    problems += [
        f"{name if _NAME.fullmatch(name) else shown(name)}={shown(value)} is not a plain value"
        for name, value in method.parameters.items()
        if not _is_plain(name, value)
    ]
    problems += _contradictions(manifest)
    said = getattr(claim.guarantee, "person", None)
    if said is msgspec.UNSET and manifest.data.kind == "table":
        problems.append("the guarantee does not say whether the rows of the table are people")
    return judged(PARAMETERS, problems, "every parameter named in the claim has the claimed value")


def _is_plain(name: str, value: object) -> bool:
    if not _NAME.fullmatch(name):
        return False
    if isinstance(value, str):
        return value.isprintable() and len(value) <= _LONGEST_TEXT
    if isinstance(value, int):
        return abs(value) < _LARGEST_NUMBER
    return value is None or (isinstance(value, float) and float(f"{value:.{_DIGITS}g}") == value)


def _contradictions(manifest: Manifest) -> list[str]:
    claim, parameters = manifest.claim, manifest.method.parameters
    problems = []
    for value in (claim.guarantee, *claim.guarantee.implied, *claim.conditions):
        for name in value.__struct_fields__:
            said = getattr(value, name)
            if name in parameters and not _same(parameters[name], said):
                stated = f"the parameter is {name}={shown(parameters[name])}"
                problems.append(f"the claim states {name}={said}, but {stated}")
    return list(dict.fromkeys(problems))


def _same(one: object, other: object) -> bool:
    if isinstance(other, tuple) or other is msgspec.UNSET:
        other = other or ()
        return (one or "") == ",".join(map(str, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


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
        return fails(LEDGER, "a total is stated with a claim that has no epsilon")
    unit = "node"
    if isinstance(promise, EdgeDP):
        unit = "edge" if promise.of == "entry" else "value"
    if (
        not _TOTAL.fullmatch(stated.epsilon)
        or stated.unit != unit
        or not 0 < stated.releases < _MOST
    ):
        return fails(
            LEDGER,
            f"a total of {counted(stated.releases, 'release')} with epsilon={stated.epsilon!r} is "
            "not valid for this claim",
        )
    own, total = Fraction(repr(promise.epsilon)), Fraction(stated.epsilon)
    if total < own or (stated.releases == 1 and total >= own + Fraction(1, 10**12)):
        return fails(
            LEDGER, f"the total {stated.epsilon} is not consistent with epsilon={promise.epsilon}"
        )
    return None


def _against_ledger(evidence: Evidence, stated: Composed) -> Check:
    if evidence.record is None:
        return not_checked(LEDGER, "whether the ledger contains this total", needs=verdict.RECORD)
    note = evidence.record.ledger
    if note is None:
        return fails(LEDGER, "a total is stated, but the record names no ledger")
    path = Path(note.file)
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return not_checked(LEDGER, "the ledger is not a readable file", needs=_NEEDED)
        entries = json.loads(path.read_bytes())["entries"]
        names = [entry["id"] for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return not_checked(LEDGER, "the ledger cannot be read", needs=_NEEDED)
    if note.entry not in names:
        return fails(LEDGER, "the ledger has no entry for this release")
    return _against_entries(evidence, stated, entries[: names.index(note.entry) + 1])


def _against_entries(evidence: Evidence, stated: Composed, before: list[dict[str, Any]]) -> Check:
    """Return whether the entries up to that of the release, the last one, say what is stated."""
    if not _is_of(before[-1], evidence, stated.unit):
        return fails(
            LEDGER, "the ledger's entry for this release has a different method, unit or epsilon"
        )
    total = _total(before, stated.unit)
    if len(before) == stated.releases and total == Fraction(stated.epsilon):
        return holds(
            LEDGER, f"{counted(len(before), 'entry')} of the ledger sum to {stated.epsilon}"
        )
    added = "no total" if total is None else f"{float(total):.12g}"
    said = f"{counted(stated.releases, 'release')} with the total {stated.epsilon}"
    return fails(
        LEDGER,
        f"the ledger has {counted(len(before), 'entry')} with {added}, but {said} are stated",
    )


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
        sizes = {"edge": 1, "value": 2, "node": max(cells, 1)}  # in cells
        own = str(entry.get("unit"))
        total += part if own == "node" else part * Fraction(sizes.get(unit, 1), sizes.get(own, 1))
    return Fraction(math.ceil(total * 10**12), 10**12)


def _epsilon_of(entry: dict[str, Any]) -> Fraction | None:
    """Return the epsilon of an entry; None where it has none."""
    said = str(entry.get("epsilon"))
    return Fraction(said) if _EPSILON.fullmatch(said) else None


_ROOMS: dict[str, tuple[type[Guarantee | Condition], ...]] = {
    "classes": (guarantees.KAnonymity, guarantees.SmoothKAnonymity),
    "graphs": (
        *(guarantees.StructuralKAnonymity, conditions.ProtectedPeople, conditions.OwnAttributes),
        *(conditions.AttachedColumns, conditions.Supergraph, conditions.Subgraph),
        *(conditions.SameDegrees, conditions.EditBudget),
    ),
    "groups": (guarantees.SuperNodeAnonymity, conditions.SameGroupCounts),
    "features": (
        *(conditions.NothingAdded, conditions.TrueOfShare, conditions.TrueOfMoreThanHalf),
        conditions.ItemsAreUsers,
    ),
    "tables": (conditions.SuppressionHistogram,),
    "generalized": (conditions.Generalized, conditions.Diverse, conditions.Close),
    "adaptive": (guarantees.AdaptiveAnonymity,),
    "cell_flips": (
        *(guarantees.EdgeDP, guarantees.NodeDP, guarantees.NotClaimed, conditions.BlockFlips),
        *(conditions.RandomizedCells, conditions.TopMThresholds, conditions.ExactSize),
    ),
    "noisy_statistics": (conditions.NoisyDegrees, conditions.NoisyStatistics),
    "renaming": (conditions.SameData, conditions.KeyedIds),
}
CHECKED_IN = {claim: room for room, claims in _ROOMS.items() for claim in claims}
"""The module of this room in which a type of guarantee or of condition is checked again."""


def recheck_of(claim: type[Guarantee | Condition]) -> ClaimCheck:
    """Return how a type of guarantee or of condition is checked again."""
    rechecks: Rechecks = resolve(f"graphveil.verify.promises.{CHECKED_IN[claim]}:RECHECKS")
    return rechecks[claim]


def claim_checks(evidence: Evidence, *, of: Literal["data", "original"]) -> list[Check]:
    """Return the checks of the guarantee, of what it implies, and of the stated conditions."""
    claim = evidence.manifest.claim
    stated = dict.fromkeys([claim.guarantee, *claim.guarantee.implied, *claim.conditions])
    checks = []
    for value in stated:
        recheck = recheck_of(type(value))
        some = [p for p in recheck.parts if (p.needs == DATA) == (of == "data")]
        checks += recheck.run(evidence, value, some)
    return checks


def decisive(manifest: Manifest) -> tuple[str, ...]:
    """Return the names of the checks without which nothing can be said of the guarantee.

    What it implies of the original, such as that nothing was added, is stated beside it and stays
    open without the original.
    """
    guarantee = manifest.claim.guarantee
    return _names(guarantee) if guarantee.check_word == "recomputed" else ()


def promised(manifest: Manifest) -> tuple[str, ...]:
    """Return the names of all checks of what the guarantee states, with what it implies.

    Noise is what its conditions say it is, so that they are part of such a guarantee.
    """
    claim = manifest.claim
    of_noise = claim.conditions if claim.guarantee.check_word == "by construction" else []
    return _names(claim.guarantee, *claim.guarantee.implied, *of_noise)


def _names(*claims: Guarantee | Condition) -> tuple[str, ...]:
    names = (part.name for value in claims for part in recheck_of(type(value)).parts)
    return tuple(dict.fromkeys(names))


def cost_checks(evidence: Evidence) -> list[Check]:
    """Return whether as much was kept, deleted and added as the owner's record says.

    Of a kind without pairs under ids from a key nothing is counted: each of its cells is compared.
    """
    if evidence.keyed and evidence.kind.changes is None:
        return []
    needs: tuple[Need, ...] = ("record", *LINKED)
    part = Part(evidence.kind.cost.name, _cost, needs, "the changes were not counted", any_ids=True)
    return [part.run(evidence, None)]


def _cost(evidence: Evidence, _claim: None) -> Check:
    cost = evidence.kind.cost
    stated = evidence.record.cost if evidence.record else {}
    changes = cost.changes(evidence)
    counts = changes.figures
    wrong = [
        figure
        for figure, count in counts.items()
        if (figure in stated or figure in changes.needed) and stated.get(figure) != count
    ]
    if not wrong:
        return holds(cost.name, f"{cost.in_words(counts)}, as the record states")
    said = [cost.in_words(stated), *(f"{name}={stated.get(name)}" for name in wrong)]
    first = "".join(f"; {change}" for change in evidence.kind.first_changes(evidence.tables))
    return fails(
        cost.name, f"{cost.in_words(counts)}, but the record states {', '.join(said)}{first}"
    )

"""The guarantee of a release, its conditions and its cost, each checked again by its type."""

from __future__ import annotations

from typing import Literal

from graphveil.claims import conditions, flips, guarantees, statistics
from graphveil.claims.condition import Condition
from graphveil.claims.guarantees import Guarantee
from graphveil.lazy import resolve
from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.promises.recheck import LINKED, Part, Recheck
from graphveil.verify.verdict import Check, fails, holds

CHECKED_IN: dict[type[Guarantee | Condition], str] = {
    guarantees.KAnonymity: "classes",
    guarantees.SmoothKAnonymity: "classes",
    guarantees.StructuralKAnonymity: "graphs",
    conditions.Supergraph: "graphs",
    conditions.Subgraph: "graphs",
    conditions.SameDegrees: "graphs",
    conditions.EditBudget: "graphs",
    conditions.NothingAdded: "features",
    conditions.TrueOfShare: "features",
    conditions.TrueOfMoreThanHalf: "features",
    conditions.PeopleAsItems: "features",
    conditions.OwnAttributes: "graphs",
    conditions.AttachedColumns: "graphs",
    conditions.StarsByRow: "tables",
    guarantees.AdaptiveAnonymity: "adaptive",
    guarantees.EdgeDP: "cell_flips",
    guarantees.NodeDP: "cell_flips",
    guarantees.NotClaimed: "cell_flips",
    flips.CellFlips: "cell_flips",
    flips.TopMFlips: "cell_flips",
    flips.BlockFlips: "cell_flips",
    flips.DegreesAlone: "cell_flips",
    flips.ExactSize: "cell_flips",
    statistics.NoisyStatistics: "noisy_statistics",
    conditions.SameData: "renaming",
    conditions.KeyedIds: "renaming",
}
"""The module of this room in which a type of guarantee or of condition is checked again."""


def recheck_of(claim: type[Guarantee | Condition]) -> Recheck:
    """Return how a type of guarantee or of condition is checked again."""
    rechecks = resolve(f"graphveil.verify.promises.{CHECKED_IN[claim]}:RECHECKS")
    recheck: Recheck = rechecks[claim]
    return recheck


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
    checks = []
    for value in stated:
        recheck = recheck_of(type(value))
        checks += recheck.run(evidence, value, _some(recheck.parts, of))
    return checks


def decisive(evidence: Evidence) -> tuple[str, ...]:
    """Return the names of the checks that the guarantee hangs on, with what it implies."""
    guarantee = evidence.manifest.claim.guarantee
    if guarantee.check_word != "recomputed":
        return ()
    claims = (guarantee, *guarantee.implied)
    return tuple(part.name for value in claims for part in recheck_of(type(value)).parts)


def _some(parts: tuple[Part, ...], of: str) -> list[Part]:
    return [part for part in parts if (part.needs == ("data",)) == (of == "data")]


def cost_checks(evidence: Evidence) -> list[Check]:
    """Return whether as much was kept, deleted and added as the owner's record says.

    Of a kind without pairs under ids from a key nothing is counted: each of its cells is compared.
    """
    if evidence.keyed and evidence.kind.changes is None:
        return []
    question = "whether as much changed as the record says"
    part = Part(evidence.kind.cost.name, ("record", *LINKED), question, _cost, any_ids=True)
    return [part.run(evidence, None)]


def _cost(evidence: Evidence, claim: None) -> Check:
    del claim
    cost = evidence.kind.cost
    stated = evidence.record.cost if evidence.record else {}
    counts = cost.figures(evidence)
    wrong = [
        figure
        for figure, count in counts.items()
        if (figure in stated or figure in cost.needed) and stated.get(figure) != count
    ]
    if not wrong:
        return holds(cost.name, f"{cost.in_words(counts)}, as the record says")
    said = [cost.in_words(stated), *(f"{name}={stated.get(name)}" for name in wrong)]
    first = "".join(f"; {change}" for change in evidence.kind.first_changes(evidence.tables))
    return fails(cost.name, f"{cost.in_words(counts)}, the record says {', '.join(said)}{first}")

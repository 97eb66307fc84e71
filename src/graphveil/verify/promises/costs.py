"""The owner's record of what a release cost, recounted: every figure that can be counted again."""

from __future__ import annotations

from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.promises.recheck import LINKED, Part
from graphveil.verify.verdict import Check, fails, holds


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

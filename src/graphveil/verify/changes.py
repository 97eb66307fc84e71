"""What changed between original and release, counted and compared with the owner's record.

Claim checked: the figures of the record (edges added and deleted, entries or cells suppressed)
are true. The record stays with the owner; readers of a release never see these figures.

Means: each kind of data counts what changed by SQL, from the release and the linked original
(`CheckedKind.changes`, `Cost.changes`), not from what the method reported.
"""

from __future__ import annotations

from graphveil.core.text import counted
from graphveil.verify.claim_check import LINKED, Need, Part
from graphveil.verify.evidence import Evidence
from graphveil.verify.verdict import Check, fails, holds, named

COST = "cost"


def same_pairs(evidence: Evidence) -> Check:
    """Return whether release and original have the same pairs, under other ids."""
    noun = evidence.kind.entries[1]
    edits = evidence.changes()
    if not edits.added and not edits.deleted:
        return holds(f"{counted(edits.before, noun)} in both, under new ids")
    were = f"{counted(edits.added, noun)} added and {edits.deleted} removed"
    first = "".join(f"; {change}" for change in evidence.kind.first_changes(evidence))
    return fails(f"{were}, of {edits.before}{first}")


def cost_checks(evidence: Evidence) -> list[Check]:
    """Return whether as much was kept, deleted and added as the owner's record says.

    Of a kind without pairs under ids from a key nothing is counted: each of its cells is compared.
    """
    # With ids from a key there is no linkage to count with; tables compare each cell instead.
    if evidence.keyed and evidence.kind.changes is None:
        return []
    needs: tuple[Need, ...] = ("record", *LINKED)
    part = Part(evidence.kind.cost.name, _cost, needs, "the changes were not counted", any_ids=True)
    return named({part.name: part.run(evidence, None)})


def _cost(evidence: Evidence, _claim: None) -> Check:
    # Count anew; `earlier` has figures as an earlier version of graphveil wrote them.
    cost = evidence.kind.cost
    stated = evidence.record.cost if evidence.record else {}
    changes = cost.changes(evidence)
    counts, earlier = changes.figures, changes.earlier
    # A figure is wrong if the record states another number, or lacks one that is needed.
    wrong = [
        figure
        for figure, count in counts.items()
        if (figure in stated or figure in changes.needed)
        and stated.get(figure) not in (count, earlier.get(figure, count))
    ]
    if not wrong:
        return holds(f"{cost.in_words(counts)}, as the record states")
    in_record = [cost.in_words(stated), *(f"{name}={stated.get(name)}" for name in wrong)]
    first = "".join(f"; {change}" for change in evidence.kind.first_changes(evidence))
    return fails(f"{cost.in_words(counts)}, but the record states {', '.join(in_record)}{first}")

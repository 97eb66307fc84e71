"""What happened to edges and degrees: none removed, none added, same degrees, within the budget.

Claim checked: `Supergraph`, `Subgraph`, `SameDegrees` and `EditBudget`. With the linkage, edge by
edge: the original's edges under their published ids are compared with the released ones by anti
joins. With the original alone, a necessary condition: sorted degrees grow, or are the same.

What the files cannot show: anything of this without the original.

Cost: O(m) for joins, O(n log n) for sorted degrees.
"""

from __future__ import annotations

import msgspec
import numpy as np

from graphveil.claims import conditions
from graphveil.core.array_types import Ints
from graphveil.core.text import counted
from graphveil.data import Network
from graphveil.verify.evidence import Evidence
from graphveil.verify.kinds.networks import MISSING, described_layers, has_layers, is_directed
from graphveil.verify.recount.graphs.degrees import (
    class_sizes,
    count_degrees,
    numbers_of_ties,
    sides_of,
)
from graphveil.verify.verdict import Check, fails, holds, judged

SUPERGRAPH, DEGREES, SUBGRAPH = "supergraph", "degrees grow", "subgraph"
SEQUENCE, KEPT, BUDGET = "degree sequence", "degrees kept", "budget"

# Nodes whose released degree is not that of the original edges under the published ids.
_OTHER_DEGREE = """
    SELECT node, degree, coalesce(before, 0) FROM degrees LEFT JOIN (
        SELECT node, count(*) AS before
        FROM (SELECT u AS node FROM placed UNION ALL SELECT v FROM placed) GROUP BY node)
    USING (node) WHERE degree <> coalesce(before, 0) ORDER BY node
"""

# The first edge of a query, and how many it gives.
_FIRST = "SELECT first(source), first(target), count(*) FROM ({})"


def supergraph(evidence: Evidence, _condition: conditions.Supergraph) -> Check:
    """Whether every edge of the original is in the release."""
    n = evidence.original_as(Network).n_ties
    return _within(evidence, MISSING, n, ("original", "release"))


def subgraph(evidence: Evidence, _condition: conditions.Subgraph) -> Check:
    """Whether every edge of the release is in the original."""
    n = evidence.tables.number("SELECT count(*) FROM edges")
    return _within(evidence, evidence.kind.added, n, ("release", "original"))


def _within(evidence: Evidence, query: str, n: int, sides: tuple[str, str]) -> Check:
    """Return whether a query for edges that one side has and the other lacks is empty."""
    side, other = sides
    u, v, missing = evidence.tables.first(_FIRST.format(query)) or (None, None, 0)
    whose = "its nodes" if side == "original" else "nodes"
    lost = f"{missing} of the {side}'s {counted(n, 'edge')} are not in the {other}, the first is"
    problems = [f"{lost} between {whose} {u} and {v}"] if missing else []
    return judged(problems, f"every edge of the {side} is in the {other}, {n} in all")


def degrees_grow(evidence: Evidence, _condition: conditions.Supergraph) -> Check:
    """Whether sorted degrees are nowhere below the original's, as of any supergraph.

    Of directed edges it is asked of the numbers of edges out, then of those in; of several kinds,
    of each.
    """
    described = evidence.manifest.data
    if is_directed(described) or has_layers(described):
        return _sides_grow(evidence)
    return _none_smaller(*_sorted_degrees(evidence))


def _sides_grow(evidence: Evidence) -> Check:
    # Each layer and direction by itself: sorted numbers may not fall anywhere.
    before = evidence.original_as(Network).profiles()
    sides = sides_of(described_layers(evidence.manifest.data))
    if before.shape[1] != len(sides):
        return fails("the original has different layers or edge directions")
    checks = []
    for (layer, side), numbers in zip(sides, before.T, strict=True):
        after = np.sort(numbers_of_ties(evidence.tables, layer, side))[::-1]
        check = _none_smaller(np.sort(numbers)[::-1], after)
        what = ", ".join(filter(None, [layer, f"{side}-degree" if side else "degree"]))
        checks.append(msgspec.structs.replace(check, detail=f"{what}: {check.detail}"))
    return max(checks, key=lambda check: check.outcome == "fails")


def _none_smaller(before: Ints, after: Ints) -> Check:
    """Return whether no sorted number is below the number of the same rank before."""
    if before.size != after.size:
        return _other_size(before, after)
    smaller, n = np.flatnonzero(after < before), after.size
    problems = [
        f"{_at_rank(rank, before, after)} (degree class {after[rank]}); {smaller.size} of {n} are "
        "smaller"
        for rank in smaller[:1].tolist()
    ]
    kept = f"none of {n} sorted degrees is below the degree of the same rank in the original"
    return judged(problems, kept)


def degree_sequence(evidence: Evidence, _condition: conditions.SameDegrees) -> Check:
    """Whether the sorted degrees are those of the original: true if every node kept its degree."""
    before, after = _sorted_degrees(evidence)
    if before.size != after.size:
        return _other_size(before, after)
    other = np.flatnonzero(before != after)
    problems = [
        f"{_at_rank(rank, before, after)}; {other.size} of {after.size} differ"
        for rank in other[:1].tolist()
    ]
    return judged(problems, f"the {after.size} sorted degrees are those of the original")


def _sorted_degrees(evidence: Evidence) -> tuple[Ints, Ints]:
    """Return the degrees of original and release, each from the largest to the smallest."""
    # Sorted degrees of the release, from the number of nodes of every degree.
    classes = class_sizes(evidence.tables)
    values = np.fromiter(classes.keys(), dtype=np.int64)
    after = np.repeat(values, np.fromiter(classes.values(), dtype=np.int64))[::-1]
    return np.sort(evidence.original_as(Network).graph().degrees())[::-1], after


def _other_size(before: Ints, after: Ints) -> Check:
    return fails(f"{counted(after.size, 'node')} in the release, but {before.size} in the original")


def _at_rank(rank: int, before: Ints, after: Ints) -> str:
    return (
        f"the degree at rank {rank + 1} (largest first) is {after[rank]} in the release, but "
        f"{before[rank]} in the original"
    )


def degrees_kept(evidence: Evidence, _condition: conditions.SameDegrees) -> Check:
    """Whether every node has the degree that its person has in the original."""
    count_degrees(evidence.tables)
    other = evidence.tables.rows(_OTHER_DEGREE)
    if not other:
        return holds("every node has the same degree as in the original")
    node, after, before = other[0]
    return fails(
        f"node {node} has degree {after}, but {before} in the original; "
        f"{counted(len(other), 'node', 'differs')}"
    )


def within_budget(evidence: Evidence, condition: conditions.EditBudget) -> Check:
    """Whether no more edges were added and deleted than the budget allows."""
    # Both kinds of edits count, against the budget of the original's size.
    limit = condition.most_changes(evidence.original_as(Network).n_ties)
    edits = evidence.changes()
    changed = edits.added + edits.deleted
    were = f"{counted(changed, 'edge')} {'was' if changed == 1 else 'were'}"
    detail = f"{were} added or deleted; the budget allows {limit}"
    return holds(detail) if changed <= limit else fails(detail)

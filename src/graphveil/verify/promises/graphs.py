"""Conditions on graphs beside their original: which edges and degrees may have changed."""

from __future__ import annotations

import numpy as np

from graphveil.claims.conditions import (
    Condition,
    EditBudget,
    SameDegrees,
    Subgraph,
    Supergraph,
)
from graphveil.claims.guarantees import Guarantee
from graphveil.verify.promises.evidence import BESIDE, LINKED, Evidence, Part, Recheck
from graphveil.verify.recount.edits import ADDED, MISSING, changes
from graphveil.verify.recount.look_alikes import class_sizes, count_degrees
from graphveil.verify.recount.neighbourhoods import Ints
from graphveil.verify.verdict import Check, counted, fails, holds

SUPERGRAPH, DEGREES, SUBGRAPH = "supergraph", "degrees grow", "subgraph"
SEQUENCE, KEPT, BUDGET = "degree sequence", "degrees kept", "budget"

_OTHER_DEGREE = """
    SELECT node, degree, coalesce(before, 0) FROM degrees LEFT JOIN (
        SELECT node, count(*) AS before
        FROM (SELECT u AS node FROM placed UNION ALL SELECT v FROM placed) GROUP BY node)
    USING (node) WHERE degree <> coalesce(before, 0) ORDER BY node
"""
_FIRST = "SELECT first(source), first(target), count(*) FROM ({})"


def _supergraph(evidence: Evidence, condition: Supergraph) -> Check:
    del condition
    n = evidence.graph.n_edges
    row = evidence.tables.first(_FIRST.format(MISSING))
    if row is None or row[2] == 0:
        return holds(SUPERGRAPH, f"every edge of the original is in the release, {n} in all")
    return fails(
        SUPERGRAPH,
        f"{row[2]} of the original's {n} edges are not in the release, the first "
        f"between its nodes {row[0]} and {row[1]}",
    )


def _degrees_grow(evidence: Evidence, condition: Supergraph) -> Check:
    """Whether the i-th largest degree is nowhere below the original's: true of any supergraph."""
    del condition
    before, after = _sorted_degrees(evidence)
    if before.size != after.size:
        return fails(DEGREES, f"{after.size} nodes in the release, {before.size} in the original")
    smaller = np.flatnonzero(after < before)
    if smaller.size == 0:
        return holds(DEGREES, f"none of {after.size} sorted degrees is below the original's")
    rank = int(smaller[0])
    return fails(
        DEGREES,
        f"the {rank + 1}. largest degree is {after[rank]} in the release, {before[rank]} in the "
        f"original (degree class {after[rank]}); {smaller.size} of {after.size} are smaller",
    )


def _sorted_degrees(evidence: Evidence) -> tuple[Ints, Ints]:
    """Return the degrees of original and release, each from the largest to the smallest."""
    classes = class_sizes(evidence.tables)
    values = np.fromiter(classes.keys(), dtype=np.int64)
    after = np.repeat(values, np.fromiter(classes.values(), dtype=np.int64))[::-1]
    return np.sort(evidence.graph.degrees())[::-1], after


def _subgraph(evidence: Evidence, condition: Subgraph) -> Check:
    del condition
    n = evidence.tables.number("SELECT count(*) FROM edges")
    row = evidence.tables.first(_FIRST.format(ADDED))
    if row is None or row[2] == 0:
        return holds(SUBGRAPH, f"every edge of the release is in the original, {n} in all")
    return fails(
        SUBGRAPH,
        f"{row[2]} of the release's {n} edges are not in the original, the first "
        f"between nodes {row[0]} and {row[1]}",
    )


def _degree_sequence(evidence: Evidence, condition: SameDegrees) -> Check:
    del condition
    before, after = _sorted_degrees(evidence)
    if before.size != after.size:
        return fails(SEQUENCE, f"{after.size} nodes in the release, {before.size} in the original")
    other = np.flatnonzero(before != after)
    if not other.size:
        return holds(SEQUENCE, f"the {after.size} sorted degrees are the original's")
    rank = int(other[0])
    return fails(
        SEQUENCE,
        f"the {rank + 1}. largest degree is {after[rank]} in the release, {before[rank]} in the "
        f"original; {other.size} of {after.size} differ",
    )


def _degrees_kept(evidence: Evidence, condition: SameDegrees) -> Check:
    del condition
    count_degrees(evidence.tables)
    other = evidence.tables.rows(_OTHER_DEGREE)
    if not other:
        return holds(KEPT, "every node has its degree of the original")
    node, after, before = other[0]
    return fails(
        KEPT,
        f"node {node} has degree {after}, {before} in the original; {len(other)} nodes differ",
    )


def _budget(evidence: Evidence, condition: EditBudget) -> Check:
    limit = condition.most_changes(evidence.graph.n_edges)
    edits = changes(evidence.tables, evidence.graph)
    changed = edits.added + edits.deleted
    were = f"{counted(changed, 'edge')} {'was' if changed == 1 else 'were'}"
    detail = f"{were} added or deleted, the budget allows {limit}"
    return holds(BUDGET, detail) if changed <= limit else fails(BUDGET, detail)


RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    Supergraph: Recheck(
        ("graph",),
        (
            Part(SUPERGRAPH, LINKED, "whether every edge was kept", _supergraph),
            Part(DEGREES, BESIDE, "whether no degree fell", _degrees_grow),
        ),
    ),
    Subgraph: Recheck(
        ("graph",), (Part(SUBGRAPH, LINKED, "whether every edge is the original's", _subgraph),)
    ),
    SameDegrees: Recheck(
        ("graph",),
        (
            Part(SEQUENCE, BESIDE, "whether the sorted degrees are the same", _degree_sequence),
            Part(KEPT, LINKED, "whether every node kept its degree", _degrees_kept),
        ),
    ),
    EditBudget: Recheck(
        ("graph",), (Part(BUDGET, LINKED, "whether the budget was kept", _budget),)
    ),
}
"""How every condition on the edges of a graph is checked again."""

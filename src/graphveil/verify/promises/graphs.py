"""What is claimed of graphs: who looks like whom, and which edges and degrees may have changed."""

from __future__ import annotations

import math

import numpy as np

from graphveil.claims.condition import Condition
from graphveil.claims.conditions import EditBudget, SameDegrees, Subgraph, Supergraph
from graphveil.claims.guarantees import Guarantee, StructuralKAnonymity
from graphveil.data import Graph
from graphveil.verify.kinds.graph import ADDED, MISSING
from graphveil.verify.kinds.kind import Evidence
from graphveil.verify.promises.recheck import BESIDE, CLASSES, LINKED, Part, Recheck, listed
from graphveil.verify.recount.look_alikes import alike, class_sizes, count_degrees
from graphveil.verify.recount.neighborhoods import Ints, TooMuchWorkError
from graphveil.verify.verdict import Check, counted, fails, holds, not_checked

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
    return _within(
        evidence, SUPERGRAPH, MISSING, evidence.original_as(Graph).n_edges, ("original", "release")
    )


def _subgraph(evidence: Evidence, condition: Subgraph) -> Check:
    del condition
    n = evidence.tables.number("SELECT count(*) FROM edges")
    return _within(evidence, SUBGRAPH, ADDED, n, ("release", "original"))


def _within(evidence: Evidence, name: str, query: str, n: int, sides: tuple[str, str]) -> Check:
    """Return whether no edge of one side is missing on the other: the query gives those."""
    one, other = sides
    row = evidence.tables.first(_FIRST.format(query))
    if row is None or row[2] == 0:
        return holds(name, f"every edge of the {one} is in the {other}, {n} in all")
    whose = "its nodes" if one == "original" else "nodes"
    return fails(
        name,
        f"{row[2]} of the {one}'s {n} edges are not in the {other}, the first between {whose} "
        f"{row[0]} and {row[1]}",
    )


def _degrees_grow(evidence: Evidence, condition: Supergraph) -> Check:
    """Whether the i-th largest degree is nowhere below the original's: true of any supergraph."""
    del condition
    before, after = _sorted_degrees(evidence)
    if before.size != after.size:
        return _other_size(DEGREES, before, after)
    smaller = np.flatnonzero(after < before)
    if smaller.size == 0:
        return holds(DEGREES, f"none of {after.size} sorted degrees is below the original's")
    rank = int(smaller[0])
    return fails(
        DEGREES,
        f"{_at_rank(rank, before, after)} (degree class {after[rank]}); {smaller.size} of "
        f"{after.size} are smaller",
    )


def _degree_sequence(evidence: Evidence, condition: SameDegrees) -> Check:
    del condition
    before, after = _sorted_degrees(evidence)
    if before.size != after.size:
        return _other_size(SEQUENCE, before, after)
    other = np.flatnonzero(before != after)
    if not other.size:
        return holds(SEQUENCE, f"the {after.size} sorted degrees are the original's")
    differ = f"{other.size} of {after.size} differ"
    return fails(SEQUENCE, f"{_at_rank(int(other[0]), before, after)}; {differ}")


def _sorted_degrees(evidence: Evidence) -> tuple[Ints, Ints]:
    """Return the degrees of original and release, each from the largest to the smallest."""
    classes = class_sizes(evidence.tables)
    values = np.fromiter(classes.keys(), dtype=np.int64)
    after = np.repeat(values, np.fromiter(classes.values(), dtype=np.int64))[::-1]
    return np.sort(evidence.original_as(Graph).degrees())[::-1], after


def _other_size(name: str, before: Ints, after: Ints) -> Check:
    return fails(name, f"{after.size} nodes in the release, {before.size} in the original")


def _at_rank(rank: int, before: Ints, after: Ints) -> str:
    return (
        f"the {rank + 1}. largest degree is {after[rank]} in the release, {before[rank]} in the "
        "original"
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
    limit = condition.most_changes(evidence.original_as(Graph).n_edges)
    edits = evidence.changes()
    changed = edits.added + edits.deleted
    were = f"{counted(changed, 'edge')} {'was' if changed == 1 else 'were'}"
    detail = f"{were} added or deleted, the budget allows {limit}"
    return holds(BUDGET, detail) if changed <= limit else fails(BUDGET, detail)


def look_alikes(evidence: Evidence, promise: StructuralKAnonymity) -> Check:
    """Return whether all but the share left out stand in classes of at least k nodes."""
    try:
        classes = alike(evidence.tables, promise.measure, promise.distance)
    except TooMuchWorkError:
        most = evidence.tables.limit_bytes
        return not_checked(CLASSES, f"neighborhoods have more than {most} links", needs="--limit")
    if classes is None:
        return fails(CLASSES, "the release is no simple graph, so nobody looks like another")
    n = classes.nodes.size
    if not n:
        return holds(CLASSES, "the release has no nodes, so no class is too small")
    values, firsts, sizes = np.unique(classes.labels, return_index=True, return_counts=True)
    allowed = math.floor((1 - promise.share) * n + 1e-9)
    unprotected = int(sizes[sizes < promise.k].sum())
    smallest = int(np.argmin(sizes))
    value = classes.words(int(firsts[smallest]))
    if unprotected > allowed:
        members = classes.nodes[classes.labels == values[smallest]].tolist()
        small = counted(int(np.count_nonzero(sizes < promise.k)), "class")
        return fails(
            CLASSES,
            f"the class of {value} holds {counted(len(members), 'node')}, fewer than "
            f"k={promise.k}: {listed(members, len(members))} ({counted(unprotected, 'node')} in "
            f"{small} below k, {allowed} allowed){classes.remark}",
        )
    detail = (
        f"{n} nodes have {sizes.size} {classes.kinds}; the smallest class "
        f"({value}) holds {counted(int(sizes[smallest]), 'node')}, k={promise.k}"
    )
    small = f"; {counted(unprotected, 'node')} in smaller classes, {allowed} allowed"
    return holds(CLASSES, detail + (small if allowed else "") + classes.remark)


RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    StructuralKAnonymity: Recheck(("graph",), (Part(CLASSES, ("data",), "", look_alikes),)),
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
"""How every claim of a graph is checked again."""

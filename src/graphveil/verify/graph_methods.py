"""The conditions of methods for graphs: which edges and degrees may have changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphveil.claims.guarantees import Guarantee, StructuralKAnonymity
from graphveil.verify import parameters as known
from graphveil.verify.method_checks import Compared, MethodCheck, Words
from graphveil.verify.parameters import is_goal, words_of
from graphveil.verify.recount.look_alikes import class_sizes, count_degrees
from graphveil.verify.recount.neighbourhoods import Ints
from graphveil.verify.verdict import (
    LINKAGE,
    RECORD,
    Condition,
    counted,
    fails,
    holds,
    not_checked,
    shown,
)

SUPERGRAPH, DEGREES, EDITS = "supergraph", "degrees grow", "edits"
SUBGRAPH, SEQUENCE, KEPT, BUDGET = "subgraph", "degree sequence", "degrees kept", "budget"

_MISSING = "SELECT source, target FROM missing ORDER BY source, target"
_ADDED = """
    SELECT source, target FROM edges ANTI JOIN (
        SELECT least(u, v) AS source, greatest(u, v) AS target FROM placed)
    USING (source, target) ORDER BY source, target
"""
_OTHER_DEGREE = """
    SELECT node, degree, coalesce(before, 0) FROM degrees LEFT JOIN (
        SELECT node, count(*) AS before
        FROM (SELECT u AS node FROM placed UNION ALL SELECT v FROM placed) GROUP BY node)
    USING (node) WHERE degree <> coalesce(before, 0) ORDER BY node
"""


def _k_degree_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    if not isinstance(promise, StructuralKAnonymity):
        return [f"k-degree does not promise {shown(type(promise).__name__)}"]
    problems = []
    k = parameters["k"]
    if k != promise.k:
        problems.append(f"the claim says k={promise.k}, the parameter is k={k}")
    if promise.share != 1:
        problems.append(f"the claim covers a share of {promise.share}, k-degree covers all nodes")
    return problems


def _k_degree_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    return (SUPERGRAPH, DEGREES, EDITS) if parameters.get("edits") == "add" else (EDITS,)


def _k_degree_against(compared: Compared) -> list[Condition]:
    only_added = compared.manifest.method.parameters.get("edits") == "add"
    conditions = [_supergraph(compared), _degrees_grow(compared)] if only_added else []
    return [*conditions, _edits(compared)]


def _supergraph(compared: Compared) -> Condition:
    n = compared.original.n_edges
    if not compared.linked:
        return not_checked(SUPERGRAPH, f"whether every edge was kept, {n} in all", needs=LINKAGE)
    row = compared.db.first(f"SELECT first(source), first(target), count(*) FROM ({_MISSING})")
    if row is None or row[2] == 0:
        return holds(SUPERGRAPH, f"every edge of the original is in the release, {n} in all")
    return fails(
        SUPERGRAPH,
        f"{row[2]} of the original's {n} edges are not in the release, the first "
        f"between its nodes {row[0]} and {row[1]}",
    )


def _degrees_grow(compared: Compared) -> Condition:
    """Whether the i-th largest degree is nowhere below the original's: true of any supergraph."""
    before, after = _sorted_degrees(compared)
    if before.size != after.size:
        return fails(DEGREES, f"{after.size} nodes in the release, {before.size} in the original")
    below = np.flatnonzero(after < before)
    if below.size == 0:
        return holds(DEGREES, f"none of {after.size} sorted degrees is below the original's")
    rank = int(below[0])
    return fails(
        DEGREES,
        f"the {rank + 1}. largest degree is {after[rank]} in the release, {before[rank]} in the "
        f"original (degree class {after[rank]}); {below.size} of {after.size} are smaller",
    )


def _sorted_degrees(compared: Compared) -> tuple[Ints, Ints]:
    """Return the degrees of original and release, each from the largest to the smallest."""
    classes = class_sizes(compared.db)
    values = np.fromiter(classes.keys(), dtype=np.int64)
    after = np.repeat(values, np.fromiter(classes.values(), dtype=np.int64))[::-1]
    return np.sort(compared.original.degrees())[::-1], after


def _edits(compared: Compared) -> Condition:
    """Whether as many edges were added and deleted as the owner's record says."""
    if compared.record is None:
        return not_checked(EDITS, "how many edges were added and deleted", needs=RECORD)
    cost = compared.record.cost
    due = (cost.get("edges_added"), cost.get("edges_deleted"))
    if not compared.linked:
        return not_checked(EDITS, f"the record says {_edited(due)}", needs=LINKAGE)
    found = _changes(compared)
    if found == due:
        return holds(EDITS, f"{_edited(found)}, as the record says")
    return fails(EDITS, f"{_edited(found)}, the record says {_edited(due)}{_first(compared)}")


def _changes(compared: Compared) -> tuple[int, int]:
    """Return how many edges were added and deleted; the release must be linked."""
    deleted = compared.db.number(f"SELECT count(*) FROM ({_MISSING})")
    kept = compared.original.n_edges - deleted
    return compared.db.number("SELECT count(*) FROM edges") - kept, deleted


def _edited(counts: tuple[object, object]) -> str:
    return f"{_edges(counts[0])} added and {counts[1]} deleted"


def _edges(count: object) -> str:
    return counted(count, "edge") if isinstance(count, int) else f"{shown(count)} edges"


def _first(compared: Compared) -> str:
    row = compared.db.first(f"{_MISSING} LIMIT 1")
    return f"; missing is the edge between nodes {row[0]} and {row[1]}" if row else ""


def _structural_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    """Return the problems of a claim; its share is what the run reached, so any will do."""
    if not isinstance(promise, StructuralKAnonymity):
        return [f"structural does not promise {shown(type(promise).__name__)}"]
    problems = []
    for name in ("k", "measure", "distance"):
        said, value = getattr(promise, name), parameters[name]
        if value != said:
            problems.append(f"the claim says {name}={said}, the parameter is {name}={shown(value)}")
    return problems


def _structural_names(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    checks = _STRUCTURAL_AGAINST.get(str(parameters.get("edits")), {})
    budget = () if _most_changes(parameters, 0) is None else (BUDGET,)
    return (*checks, *budget, EDITS)


def _structural_against(compared: Compared) -> list[Condition]:
    parameters = compared.manifest.method.parameters
    checks = _STRUCTURAL_AGAINST.get(str(parameters.get("edits")), {})
    limit = _most_changes(parameters, compared.original.n_edges)
    budget = [] if limit is None else [_budget(compared, limit)]
    return [*(check(compared) for check in checks.values()), *budget, _edits(compared)]


def _subgraph(compared: Compared) -> Condition:
    n = compared.db.number("SELECT count(*) FROM edges")
    if not compared.linked:
        return not_checked(
            SUBGRAPH, f"whether every edge is the original's, {n} in all", needs=LINKAGE
        )
    row = compared.db.first(f"SELECT first(source), first(target), count(*) FROM ({_ADDED})")
    if row is None or row[2] == 0:
        return holds(SUBGRAPH, f"every edge of the release is in the original, {n} in all")
    return fails(
        SUBGRAPH,
        f"{row[2]} of the release's {n} edges are not in the original, the first "
        f"between nodes {row[0]} and {row[1]}",
    )


def _degree_sequence(compared: Compared) -> Condition:
    before, after = _sorted_degrees(compared)
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


def _degrees_kept(compared: Compared) -> Condition:
    if not compared.linked:
        return not_checked(KEPT, "whether every node kept its degree", needs=LINKAGE)
    count_degrees(compared.db)
    other = compared.db.rows(_OTHER_DEGREE)
    if not other:
        return holds(KEPT, "every node has its degree of the original")
    node, after, before = other[0]
    return fails(
        KEPT,
        f"node {node} has degree {after}, {before} in the original; {len(other)} nodes differ",
    )


def _most_changes(parameters: Mapping[str, Any], n_edges: int) -> int | None:
    """Return how many edges may be in one of both graphs only, or None where no budget was set.

    A rewiring is one edit that deletes two edges and adds two.
    """
    goal = parameters.get("goal")
    kind, _, amount = str(goal).partition(":")
    if not is_goal(goal) or kind != "budget":
        return None
    number = amount.removesuffix("edges")
    edits = int(number) if number != amount else math.ceil(float(number) * n_edges)
    return edits * (1 if str(parameters.get("edits")) in {"delete", "add"} else 4)


def _budget(compared: Compared, limit: int) -> Condition:
    if not compared.linked:
        return not_checked(
            BUDGET, f"whether at most {counted(limit, 'edge')} changed", needs=LINKAGE
        )
    changed = sum(_changes(compared))
    were = f"{counted(changed, 'edge')} {'was' if changed == 1 else 'were'}"
    detail = f"{were} added or deleted, the budget allows {limit}"
    return holds(BUDGET, detail) if changed <= limit else fails(BUDGET, detail)


_STRUCTURAL_AGAINST: dict[str, dict[str, Callable[[Compared], Condition]]] = {
    "delete": {SUBGRAPH: _subgraph},
    "add": {SUPERGRAPH: _supergraph, DEGREES: _degrees_grow},
    "rewire": {SEQUENCE: _degree_sequence, KEPT: _degrees_kept},
    "any": {},
}
"""What each choice of edits lets nobody do, by the condition's name."""

K_DEGREE = MethodCheck(
    ("graph",),
    known.K_DEGREE,
    frozenset(words_of("k-degree", known.K_DEGREE)),
    _k_degree_claim,
    _k_degree_names,
    _k_degree_against,
)
STRUCTURAL = MethodCheck(
    ("graph",),
    known.STRUCTURAL,
    Words(is_goal, *words_of("structural", known.STRUCTURAL)),
    _structural_claim,
    _structural_names,
    _structural_against,
)

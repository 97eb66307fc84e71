"""The conditions of methods for graphs: which edges and degrees may have changed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, get_args

import numpy as np

from graphveil.guarantees import Guarantee, MeasureName, StructuralKAnonymity
from graphveil.limits import SOURCES
from graphveil.verify.method_checks import Compared, MethodCheck, Words, is_one_of
from graphveil.verify.neighbourhoods import Ints
from graphveil.verify.structural import class_sizes, count_degrees
from graphveil.verify.verdict import (
    LINKAGE,
    RECORD,
    Condition,
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
_GOAL = re.compile(
    r"full|(?:partial|budget):([0-9]*\.?[0-9]+(?:e-[0-9]+)?)|budget:([0-9]{1,18})edges"
)


def _k_degree_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    if not isinstance(promise, StructuralKAnonymity):
        return [f"k-degree does not promise {shown(type(promise).__name__)}"]
    problems = []
    k = parameters.get("k")
    if type(k) is not int or k != promise.k:
        problems.append(f"the claim says k={promise.k}, the parameter is k={shown(k)}")
    if promise.share != 1:
        problems.append(f"the claim covers a share of {promise.share}, k-degree covers all nodes")
    if not is_one_of(parameters.get("edits"), {"add", "any"}):
        problems.append(f"edits={shown(parameters.get('edits'))} is neither 'add' nor 'any'")
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
        return not_checked(SUPERGRAPH, f"whether all {n} edges were kept", needs=LINKAGE)
    row = compared.db.first(f"SELECT first(source), first(target), count(*) FROM ({_MISSING})")
    if row is None or row[2] == 0:
        return holds(SUPERGRAPH, f"all {n} edges of the original are in the release")
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
    return f"{counts[0]} edges added and {counts[1]} deleted"


def _first(compared: Compared) -> str:
    row = compared.db.first(f"{_MISSING} LIMIT 1")
    return f"; missing is the edge between nodes {row[0]} and {row[1]}" if row else ""


def _structural_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    """Return the problems of a claim; its share is what the run reached, so any will do."""
    if not isinstance(promise, StructuralKAnonymity):
        return [f"structural does not promise {shown(type(promise).__name__)}"]
    problems = []
    for name in ("k", "measure", "distance"):
        said, value = getattr(promise, name), parameters.get(name)
        if type(value) is not type(said) or value != said:
            problems.append(f"the claim says {name}={said}, the parameter is {name}={shown(value)}")
    if not is_one_of(parameters.get("edits"), _STRUCTURAL_AGAINST):
        problems.append(f"edits={shown(parameters.get('edits'))} is unknown")
    if not _is_goal(parameters.get("goal")):
        problems.append(f"goal={shown(parameters.get('goal'))} is none")
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
        return not_checked(SUBGRAPH, f"whether all {n} edges are the original's", needs=LINKAGE)
    row = compared.db.first(f"SELECT first(source), first(target), count(*) FROM ({_ADDED})")
    if row is None or row[2] == 0:
        return holds(SUBGRAPH, f"all {n} edges of the release are in the original")
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
    if not _is_goal(goal) or kind != "budget":
        return None
    number = amount.removesuffix("edges")
    edits = int(number) if number != amount else math.ceil(float(number) * n_edges)
    return edits * (1 if is_one_of(parameters.get("edits"), {"delete", "add"}) else 4)


def _is_goal(text: object) -> bool:
    """Whether a text spells a goal: everybody, a share in (0, 1], or at least one edit."""
    found = _GOAL.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return False
    share, edges = found.groups()
    return (share is None or 0 < float(share) <= 1) and (edges is None or int(edges) > 0)


def _budget(compared: Compared, limit: int) -> Condition:
    if not compared.linked:
        return not_checked(BUDGET, f"whether at most {limit} edges changed", needs=LINKAGE)
    changed = sum(_changes(compared))
    detail = f"{changed} edges were added or deleted, the budget allows {limit}"
    return holds(BUDGET, detail) if changed <= limit else fails(BUDGET, detail)


_STRUCTURAL_AGAINST: dict[str, dict[str, Callable[[Compared], Condition]]] = {
    "delete": {SUBGRAPH: _subgraph},
    "add": {SUPERGRAPH: _supergraph, DEGREES: _degrees_grow},
    "rewire": {SEQUENCE: _degree_sequence, KEPT: _degrees_kept},
    "any": {},
}
"""What each choice of edits lets nobody do, by the condition's name."""


_K_DEGREE_WORDS = frozenset(
    {
        *("name", "source", "parameters", "k-degree", "k", "edits", "target", "near", "restarts"),
        *("add", "any", "exact", "greedy"),
        SOURCES["k-degree"],
    }
)
_STRUCTURAL_WORDS = Words(
    _is_goal,
    *("name", "source", "parameters", "structural", "k", "measure", "distance", "goal", "edits"),
    *("heuristic", "recompute_gap_edges", "iterations", "preserve_triangles"),
    *("time_limit_seconds", *_STRUCTURAL_AGAINST, *get_args(MeasureName)),
    *("auto", "es", "affected", "unique", "ua", "search", "cut", "strip", "target"),
    *("on_interrupt", "stop", "best"),
    *SOURCES.values(),
)

K_DEGREE = MethodCheck(
    ("graph",), _K_DEGREE_WORDS, _k_degree_claim, _k_degree_names, _k_degree_against
)
STRUCTURAL = MethodCheck(
    ("graph",), _STRUCTURAL_WORDS, _structural_claim, _structural_names, _structural_against
)

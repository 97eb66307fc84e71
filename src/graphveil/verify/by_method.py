"""What a method adds to its guarantee: how the claim follows, and what the original shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from graphveil.guarantees import Guarantee, StructuralKAnonymity
from graphveil.limits import SOURCES
from graphveil.release.manifest import Manifest
from graphveil.release.record import Record
from graphveil.verify.claims import class_sizes
from graphveil.verify.database import Database
from graphveil.verify.verdict import (
    LINKAGE,
    RECORD,
    Condition,
    fails,
    holds,
    judged,
    not_checked,
    shown,
)

PARAMETERS = "claim and parameters"
SUPERGRAPH, DEGREES, EDITS = "supergraph", "degrees grow", "edits"

_MISSING = "SELECT source, target FROM missing ORDER BY source, target"


class Compared(NamedTuple):
    """A release beside its original.

    `linked` says that the table `missing(source, target)` holds those edges of the original that
    the release has not, under the published ids, the smaller end first.
    """

    db: Database
    manifest: Manifest
    original: Any
    record: Record | None
    linked: bool


class MethodCheck(NamedTuple):
    """The conditions of one method.

    Parameters
    ----------
    kind
        The data that it makes.
    words
        What stands in the manifest's `method` whatever the data: names, choices, the source.
    claim
        The problems of a guarantee that these parameters do not lead to.
    names
        The conditions of `against` for these parameters, for when they cannot be checked.
    against
        The conditions that need the original.
    """

    kind: str
    words: frozenset[str]
    claim: Callable[[Guarantee, Mapping[str, Any]], list[str]]
    names: Callable[[Mapping[str, Any]], tuple[str, ...]]
    against: Callable[[Compared], list[Condition]]


def parameters_condition(manifest: Manifest) -> Condition:
    """Return whether the claim is the one that the method makes with these parameters."""
    method = manifest.method
    check = METHOD_CHECKS.get(method.name)
    if check is None:
        return fails(PARAMETERS, f"the method {shown(method.name)} is unknown")
    if check.kind != manifest.data.kind:
        return fails(PARAMETERS, f"{method.name} makes a {check.kind}, not a {manifest.data.kind}")
    problems = check.claim(manifest.claim.guarantee, method.parameters)
    return judged(PARAMETERS, problems, f"{method.name} with its parameters makes this claim")


def _k_degree_claim(promise: Guarantee, parameters: Mapping[str, Any]) -> list[str]:
    if not isinstance(promise, StructuralKAnonymity):
        return [f"k-degree does not promise {shown(type(promise).__name__)}"]
    problems = []
    k = parameters.get("k")
    if type(k) is not int or k != promise.k:
        problems.append(f"the claim says k={promise.k}, the parameter is k={shown(k)}")
    if promise.share != 1:
        problems.append(f"the claim covers a share of {promise.share}, k-degree covers all nodes")
    if parameters.get("edits") not in {"add", "any"}:
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
    import numpy as np  # noqa: PLC0415

    before = np.sort(compared.original.degrees())[::-1]
    classes = class_sizes(compared.db)
    after = np.repeat(
        np.fromiter(classes.keys(), dtype=np.int64), np.fromiter(classes.values(), dtype=np.int64)
    )[::-1]
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


def _edits(compared: Compared) -> Condition:
    """Whether as many edges were added and deleted as the owner's record says."""
    if compared.record is None:
        return not_checked(EDITS, "how many edges were added and deleted", needs=RECORD)
    cost = compared.record.cost
    due = (cost.get("edges_added"), cost.get("edges_deleted"))
    if not compared.linked:
        return not_checked(EDITS, f"the record says {_edited(due)}", needs=LINKAGE)
    deleted = compared.db.number(f"SELECT count(*) FROM ({_MISSING})")
    kept = compared.original.n_edges - deleted
    found = (compared.db.number("SELECT count(*) FROM edges") - kept, deleted)
    if found == due:
        return holds(EDITS, f"{_edited(found)}, as the record says")
    return fails(EDITS, f"{_edited(found)}, the record says {_edited(due)}{_first(compared)}")


def _edited(counts: tuple[object, object]) -> str:
    return f"{counts[0]} edges added and {counts[1]} deleted"


def _first(compared: Compared) -> str:
    row = compared.db.first(f"{_MISSING} LIMIT 1")
    return f"; missing is the edge between nodes {row[0]} and {row[1]}" if row else ""


_K_DEGREE_WORDS = frozenset(
    {
        *("name", "source", "parameters", "k-degree", "k", "edits", "target", "near", "restarts"),
        *("add", "any", "exact", "greedy"),
        SOURCES["k-degree"],
    }
)

METHOD_CHECKS: dict[str, MethodCheck] = {
    "k-degree": MethodCheck(
        "graph", _K_DEGREE_WORDS, _k_degree_claim, _k_degree_names, _k_degree_against
    ),
}
"""The conditions that belong to a method, by its name."""

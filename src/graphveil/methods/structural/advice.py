"""What the owner of a release is told: whom it leaves, what it took away, what else was found."""

from __future__ import annotations

from collections.abc import Mapping

from graphveil.errors import option
from graphveil.methods.structural.task import Edited
from graphveil.owner_warnings import MANY_UNPROTECTED, lost_clustering
from graphveil.warning_kinds import Advice, GoalWarning, UnprotectedWarning


def left_by(phi: float, k: int, cost: Mapping[str, float | int]) -> tuple[str, ...]:
    """Return the advice on whom inexact knowledge alone does not find; none without phi."""
    if not phi:
        return ()
    few, noisy = cost["nodes_unprotected_exactly"], 100 * cost["share_unprotected_from_noisy"]
    advice = (
        f"phi={phi:g} is weaker than exact look-alikes: {few:,} people have fewer than "
        f"{k} for exact knowledge, and who hears numbers that are off by up to "
        f"{phi:g} % is left with fewer than {k} candidates for {noisy:.2f} % of all"
    )
    return (Advice(advice, UnprotectedWarning),)


def interruption(interrupted: bool) -> tuple[str, ...]:  # noqa: FBT001  what is told of a run
    """Return the advice on a run that was interrupted; none where it was not."""
    if not interrupted:
        return ()
    return (Advice("the run was interrupted: this is the best so far", UnprotectedWarning),)


def lost(n_nodes: int, cost: Mapping[str, float | int]) -> tuple[str, ...]:
    """Return the advice on people left out, and on what the edits took away."""
    unprotected = MANY_UNPROTECTED.passed_by(int(cost["nodes_unprotected"]), n_nodes)
    return (*unprotected, *lost_clustering(cost["clustering_before"], cost["clustering"]))


def rewiring(unprotected: int, allowed: int) -> list[str]:
    """Return the advice on nodes whose degree is shared by too few; none where so many may be."""
    if unprotected <= allowed:
        return []
    advice = (
        f"no rewiring can make {unprotected} nodes anonymous, {allowed} may stay unprotected: it "
        f"keeps every degree, and theirs are rare. Use {option('edits', 'any')}, or a partial goal"
    )
    return [Advice(advice, GoalWarning)]


def beside(n_nodes: int, best: Edited, other: Edited, allowed: int) -> list[str]:
    """Return the advice on a result that misses the goal with fewer edits; none where none does."""
    reaches = best.unprotected <= allowed < other.unprotected
    if not reaches or other.cost >= best.cost:
        return []
    advice = (
        f"the goal took {best.cost} edits. With {other.cost} edits, which keep triangles, "
        f"{option('heuristic', 'target')} leaves {other.unprotected} of {n_nodes} nodes "
        "unprotected; see the record's cost"
    )
    return [Advice(advice, GoalWarning)]

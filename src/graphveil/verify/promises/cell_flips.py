"""The condition `CellFlips`: chances computed again, and flips that they make believable."""

from __future__ import annotations

from fractions import Fraction

from graphveil.claims.conditions import CellFlips, Condition, ExactSize
from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP
from graphveil.data import Graph
from graphveil.verify.promises.evidence import LINKED, Evidence, Part, Recheck
from graphveil.verify.recount.edits import changes
from graphveil.verify.recount.thresholds import (
    FULL,
    is_unbelievable,
    keeps_its_claim,
    thresholds,
)
from graphveil.verify.verdict import Check, fails, judged, not_checked

THRESHOLDS, CELLS, CHANCES, SIZE = "thresholds", "cells", "chances", "size"


def _thresholds(evidence: Evidence, flips: CellFlips) -> Check:
    """Whether the chances follow from what was released, and keep their part of epsilon."""
    zero, one, epsilon = int(flips.T0), int(flips.T1), Fraction(flips.epsilon_cells)
    if not keeps_its_claim(zero, one, epsilon):
        return fails(
            THRESHOLDS, f"T0={zero} and T1={one} give more than epsilon={_short(epsilon)} a cell"
        )
    prior = _prior(flips)
    if prior is None:
        return fails(THRESHOLDS, f"noisy_count={flips.noisy_count} is none of {flips.cells} cells")
    expected = thresholds(prior, epsilon)
    problems = [
        f"{name}={said}, computed again {value}"
        for name, said, value in zip(("T0", "T1"), (zero, one), expected, strict=True)
        if abs(said - value) > 1
    ]
    problems += _parts_of_epsilon(evidence, flips, epsilon)
    chances = f"{zero / FULL:.6g} and {one / FULL:.6g}"
    return judged(THRESHOLDS, problems, f"the chances {chances} follow from what is stated")


def _prior(flips: CellFlips) -> Fraction | None:
    """Return the share of ones that the chances assume; None where the noisy count is none."""
    if flips.noisy_count is None:
        return Fraction(1, 2)
    count, cells = int(flips.noisy_count), int(flips.cells)
    return Fraction(count, cells) if 0 < count < cells else None


def _parts_of_epsilon(evidence: Evidence, flips: CellFlips, epsilon: Fraction) -> list[str]:
    """Return whether the cells, and the noisy count where there is one, have all of epsilon.

    Without a count the cells of one person, or one cell, have the decimal number that is printed;
    releases of before had the double nearest to it. A count has what the cells leave.
    """
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return []
    times = max(_cells_of_one(evidence, flips), 1) if isinstance(promise, NodeDP) else 1
    whole = Fraction(repr(promise.epsilon))
    cells = f"{times} cells of epsilon={_short(epsilon)} each"
    if flips.noisy_count is not None:
        exceeds = epsilon * times >= whole
        nothing = f"{cells} leave nothing of the claim's epsilon={promise.epsilon} to the count"
        return [nothing] if exceeds else []
    if epsilon * times in {whole, Fraction(promise.epsilon)}:
        return []
    return [f"{cells} are not the claim's epsilon={promise.epsilon}"]


def _cells_of_one(evidence: Evidence, flips: CellFlips) -> int:
    """Return how many cells belong to one person, from the released data and the cells stated."""
    if evidence.manifest.data.kind == "graph":
        return evidence.tables.number("SELECT count(*) FROM nodes") - 1
    return int(flips.cells) // max(evidence.tables.number("SELECT count(*) FROM users"), 1)


def _cells(evidence: Evidence, flips: CellFlips) -> Check:
    """Whether as many cells are stated as the released data can have."""
    cells = int(flips.cells)
    if evidence.manifest.data.kind == "graph":
        n = evidence.tables.number("SELECT count(*) FROM nodes")
        problems = (
            [] if cells == n * (n - 1) // 2 else [f"{cells} cells, {n} nodes have not so many"]
        )
        return judged(CELLS, problems, f"{n} nodes have {cells} pairs")
    users = evidence.tables.number("SELECT count(*) FROM users")
    items = evidence.tables.number("SELECT count(DISTINCT item) FROM entries")
    features = cells // users if users else 0
    fits = features * users == cells and features >= items
    problems = [] if fits else [f"{cells} cells do not fit {users} users and {items} items"]
    return judged(CELLS, problems, f"{users} users and {features} features have {cells} cells")


def _chances(evidence: Evidence, flips: CellFlips) -> Check:
    """Whether the numbers of flips are such as the stated chances make believable."""
    graph = isinstance(evidence.original, Graph)
    original = evidence.graph if graph else evidence.features
    edits = changes(evidence.tables, original)
    cells = int(flips.cells)
    truly = _true_cells(evidence)
    if cells != truly:
        return fails(CHANCES, f"{cells} cells are stated, the original has {truly}")
    if _is_resized(evidence):
        return not_checked(CHANCES, "edges or entries were added or removed after the draw")
    removed, added = 1 - int(flips.T1) / FULL, int(flips.T0) / FULL
    problems = [
        f"{count} {did}, {chance * trials:.6g} were to be expected"
        for count, trials, chance, did in (
            (edits.deleted, edits.before, removed, "were removed"),
            (edits.added, cells - edits.before, added, "were added"),
        )
        if is_unbelievable(count, trials, chance)
    ]
    flipped = f"{edits.deleted} of {edits.before} removed and {edits.added} added"
    return judged(CHANCES, problems, f"{flipped}, with these chances: believable")


def _is_resized(evidence: Evidence) -> bool:
    return any(isinstance(c, ExactSize) for c in evidence.manifest.claim.conditions)


def _size(evidence: Evidence, exact: ExactSize) -> Check:
    """Whether as many edges or entries are there as stated, and as many as the noisy count says."""
    table = "edges" if evidence.manifest.data.kind == "graph" else "entries"
    size = evidence.tables.number(f"SELECT count(*) FROM {table}")
    counts = [
        condition.noisy_count
        for condition in evidence.manifest.claim.conditions
        if isinstance(condition, CellFlips) and condition.noisy_count is not None
    ]
    problems = [
        f"{size} {table} are released, {said} are {where}"
        for said, where in [(exact.size, "stated"), *((c, "the noisy count") for c in counts)]
        if int(said) != size
    ]
    return judged(SIZE, problems, f"{size} {table} are released, as stated")


def _true_cells(evidence: Evidence) -> int:
    if isinstance(evidence.original, Graph):
        n = evidence.graph.n_nodes
        return n * (n - 1) // 2
    return evidence.features.n_users * evidence.features.n_features


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"


RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    CellFlips: Recheck(
        ("graph", "bipartite"),
        (
            Part(THRESHOLDS, ("data",), "", _thresholds),
            Part(CELLS, ("data",), "", _cells),
            Part(CHANCES, LINKED, "whether as much was flipped as stated", _chances),
        ),
    ),
    ExactSize: Recheck(("graph", "bipartite"), (Part(SIZE, ("data",), "", _size),)),
}
"""How the stated chances of cells are checked again."""

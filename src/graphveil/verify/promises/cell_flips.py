"""The condition `CellFlips`: chances computed again, and flips that they make believable."""

from __future__ import annotations

from fractions import Fraction
from operator import itemgetter

from graphveil.claims.conditions import (
    BlockFlips,
    CellFlips,
    Condition,
    ExactSize,
    PeopleAsItems,
    TopMFlips,
)
from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP
from graphveil.data import Graph
from graphveil.verify.promises.evidence import LINKED, Evidence, Part, Recheck
from graphveil.verify.recount.blocks import blocks_of
from graphveil.verify.recount.edits import Changes, changes
from graphveil.verify.recount.thresholds import (
    FULL,
    factor_of,
    filter_thresholds,
    is_unbelievable,
    keeps_its_claim,
    thresholds,
)
from graphveil.verify.verdict import Check, fails, judged

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
    expected = _expected(flips, prior, epsilon)
    problems = [
        f"{name}={said}, computed again {value}"
        for name, said, value in zip(("T0", "T1"), (zero, one), expected, strict=True)
        if abs(said - value) > 1
    ]
    problems += _parts_of_epsilon(evidence, flips, epsilon)
    chances = f"{zero / FULL:.6g} and {one / FULL:.6g}"
    return judged(THRESHOLDS, problems, f"the chances {chances} follow from what is stated")


def _expected(flips: CellFlips, prior: Fraction, epsilon: Fraction) -> tuple[int, int]:
    """Return the chances that the law of this type gives."""
    if not isinstance(flips, TopMFlips):
        return thresholds(prior, epsilon)
    return filter_thresholds(int(flips.cells), int(flips.noisy_count or 1), epsilon)


def _prior(flips: CellFlips | BlockFlips) -> Fraction | None:
    """Return the share of ones that the chances assume; None where the noisy count is none."""
    if flips.noisy_count is None:
        return Fraction(1, 2)
    count, cells = int(flips.noisy_count), int(flips.cells)
    return Fraction(count, cells) if 0 < count < cells else None


def _parts_of_epsilon(
    evidence: Evidence, flips: CellFlips | BlockFlips, epsilon: Fraction
) -> list[str]:
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


def _cells_of_one(evidence: Evidence, flips: CellFlips | BlockFlips) -> int:
    """Return how many cells belong to one person, from the released data and the cells stated.

    Where items are people, a person has a row and a column, which share one cell.
    """
    if evidence.manifest.data.kind == "graph":
        return evidence.tables.number("SELECT count(*) FROM nodes") - 1
    users = evidence.tables.number("SELECT count(*) FROM users")
    if PeopleAsItems() in evidence.manifest.claim.conditions:
        return 2 * users - 1
    return int(flips.cells) // max(users, 1)


def _cells(evidence: Evidence, flips: CellFlips | BlockFlips) -> Check:
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
        return _not_more_than_resized(edits, flips)
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


def _not_more_than_resized(edits: Changes, flips: CellFlips) -> Check:
    """Whether not more was kept than the chances allow, once cells were added or removed evenly.

    A cell that was not drawn is added with at most the share of cells that are published.
    """
    size, cells, chance = edits.kept + edits.added, int(flips.cells), int(flips.T1) / FULL
    most = chance + (1 - chance) * size / max(cells, 1)
    unbelievable = edits.kept > edits.before * most and is_unbelievable(
        edits.kept, edits.before, most
    )
    kept = f"{edits.kept} of {edits.before} kept"
    problems = [f"{kept}, at most {edits.before * most:.6g} were to be expected"]
    allowed = f"{kept}, no more than these chances allow; the size was fixed afterwards"
    return judged(CHANCES, problems if unbelievable else [], allowed)


def _blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the chances of every block keep their part of epsilon, and the parts its whole."""
    epsilon = Fraction(flips.epsilon_cells)
    largest = factor_of(epsilon).low
    excessive = sum(
        block.one > largest * block.zero or FULL - block.zero > largest * (FULL - block.one)
        for block in blocks_of(flips)
    )
    problems = [f"{excessive} blocks have more than epsilon={_short(epsilon)}"] if excessive else []
    if flips.noisy_count is not None and _prior(flips) is None:
        problems.append(f"noisy_count={flips.noisy_count} is none of {flips.cells} cells")
    problems += _parts_of_epsilon(evidence, flips, epsilon)
    classes = len(flips.sizes)
    return judged(THRESHOLDS, problems, f"the chances of {classes} classes keep their epsilon")


def _cells_of_blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the classes have as many nodes as the release, and as many pairs as stated."""
    n = evidence.tables.number("SELECT count(*) FROM nodes")
    if n != sum(flips.sizes):
        return fails(CELLS, f"{sum(flips.sizes)} nodes stand in classes, {n} are released")
    return _cells(evidence, flips)


def _chances_of_blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the numbers of flips are such as the chances of the blocks make believable.

    Which node stands in which class is not published: the edges are thought to be where as few as
    possible, and as many as possible, would be kept.
    """
    edits = changes(evidence.tables, evidence.graph)
    blocks = list(blocks_of(flips))
    kept = [(block.cells, block.one / FULL) for block in blocks]
    tried = [(block.cells, block.zero / FULL) for block in blocks]
    false = sum(cells * chance for cells, chance in tried)
    hits = _fewest_and_most(tried, edits.before)
    problems = [
        f"{count} {did}, {low:.6g} to {high:.6g} were to be expected"
        for count, (low, high), did in (
            (edits.kept, _fewest_and_most(kept, edits.before), "were kept"),
            (edits.added, (false - hits[1], false - hits[0]), "were added"),
        )
        if _is_outside(count, low, high)
    ]
    flipped = f"{edits.kept} of {edits.before} kept and {edits.added} added"
    return judged(CHANCES, problems, f"{flipped}, with these chances: believable")


def _fewest_and_most(blocks: list[tuple[int, float]], edges: int) -> tuple[float, float]:
    """Return bounds on the expected number of edges that succeed, wherever they are.

    Parameters
    ----------
    blocks
        The cells of every block, and the chance of each.
    edges
        How many different cells are tried.
    """
    bounds = []
    for order in (sorted(blocks, key=itemgetter(1)), sorted(blocks, key=itemgetter(1))[::-1]):
        missing, expected = edges, 0.0
        for cells, chance in order:
            expected += min(cells, missing) * chance
            missing -= min(cells, missing)
        bounds.append(expected)
    return bounds[0], bounds[1]


def _is_outside(count: int, low: float, high: float) -> bool:
    """Whether a sum of independent events lies too far from where its mean can be.

    Bernstein's bound of a binomial number with the same mean holds for unequal chances, too.
    """
    nearest = min(max(float(count), low), high)
    trials = 1 << 62
    return is_unbelievable(count, trials, nearest / trials)


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


_CELLS_ALIKE = Recheck(
    ("graph", "bipartite"),
    (
        Part(THRESHOLDS, ("data",), "", _thresholds),
        Part(CELLS, ("data",), "", _cells),
        Part(CHANCES, LINKED, "whether as much was flipped as stated", _chances),
    ),
)

RECHECKS: dict[type[Guarantee | Condition], Recheck] = {
    BlockFlips: Recheck(
        ("graph",),
        (
            Part(THRESHOLDS, ("data",), "", _blocks),
            Part(CELLS, ("data",), "", _cells_of_blocks),
            Part(CHANCES, LINKED, "whether as much was flipped as stated", _chances_of_blocks),
        ),
    ),
    CellFlips: _CELLS_ALIKE,
    TopMFlips: _CELLS_ALIKE,
    ExactSize: Recheck(("graph", "bipartite"), (Part(SIZE, ("data",), "", _size),)),
}
"""How the stated chances of cells are checked again."""

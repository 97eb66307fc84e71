"""Claims of noise: where it came from, its chances, and flips that they make believable."""

from __future__ import annotations

import math
from fractions import Fraction
from operator import itemgetter

from graphveil.claims.conditions import BlockFlips, ExactSize, RandomizedCells, TopMThresholds
from graphveil.claims.facts import Changes
from graphveil.claims.guarantees import EdgeDP, Guarantee, NodeDP, NotClaimed
from graphveil.core.text import counted
from graphveil.data.kinds import KINDS
from graphveil.verify.evidence import (
    CELLS,
    LINKED,
    ClaimCheck,
    Evidence,
    NoiseCells,
    Part,
    Rechecks,
)
from graphveil.verify.recount import noise as laws
from graphveil.verify.verdict import Check, fails, holds, judged, not_checked, shown

THRESHOLDS, CHANCES, SIZE = "thresholds", "chances", "size"
NOISE = "source of the noise"
PARTS, WEIGHTS = "parts of epsilon", "classes and weights"
UNIT = "unit of epsilon"


def _thresholds(evidence: Evidence, flips: RandomizedCells) -> Check:
    """Whether the chances follow from what was released, and keep their part of epsilon."""
    zero, one, epsilon = int(flips.T0), int(flips.T1), Fraction(flips.epsilon_cells)
    if not laws.keeps_its_claim(zero, one, epsilon):
        return fails(f"T0={zero} and T1={one} give more than epsilon={_short(epsilon)} per cell")
    prior = _prior(flips)
    if prior is None:
        return fails(
            f"noisy_count={flips.noisy_count} is not a possible count for {flips.cells} cells"
        )
    expected = _expected(flips, prior, epsilon)
    problems = [
        f"{name}={said}, but recomputed as {value}"
        for name, said, value in zip(("T0", "T1"), (zero, one), expected, strict=True)
        if abs(said - value) > 1
    ]
    problems += _parts_of_epsilon(evidence, flips, epsilon)
    chances = f"{zero / laws.FULL:.6g} and {one / laws.FULL:.6g}"
    return judged(problems, f"the probabilities {chances} follow from the stated values")


def _expected(flips: RandomizedCells, prior: Fraction, epsilon: Fraction) -> tuple[int, int]:
    """Return the chances that the law of this type gives."""
    if not isinstance(flips, TopMThresholds):
        return laws.thresholds(prior, epsilon)
    return laws.filter_thresholds(int(flips.cells), int(flips.noisy_count or 1), epsilon)


def _prior(flips: RandomizedCells) -> Fraction | None:
    """Return the share of ones that the chances assume; None if the noisy count is missing."""
    if flips.noisy_count is None:
        return Fraction(1, 2)
    return Fraction(int(flips.noisy_count), int(flips.cells)) if _is_counted(flips) else None


def _is_counted(flips: RandomizedCells | BlockFlips) -> bool:
    """Whether the noisy count, where there is one, can be that of so many cells."""
    return flips.noisy_count is None or 0 < int(flips.noisy_count) < int(flips.cells)


def _parts_of_epsilon(
    evidence: Evidence, flips: RandomizedCells | BlockFlips, epsilon: Fraction
) -> list[str]:
    """Return whether the cells, and the noisy counts where there are any, have all of epsilon.

    Without counts the cells of one person, or one cell, have the decimal number that is printed;
    releases of before had the double nearest to it.
    """
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return []
    if isinstance(promise, NodeDP):
        times = max(_noise_cells(evidence).of_person(evidence, int(flips.cells)), 1)
    else:
        times = promise.entries
    whole = Fraction(repr(promise.epsilon))
    cells = f"{counted(times, 'cell')} with epsilon={_short(epsilon)} each"
    if flips.noisy_count is not None:
        return _parts_of_counts(evidence, whole, whole - epsilon * times, cells)
    if epsilon * times in {whole, Fraction(promise.epsilon)}:
        return []
    return [f"{cells} do not give the claimed epsilon={promise.epsilon}"]


def _parts_of_counts(
    evidence: Evidence, whole: Fraction, remaining: Fraction, cells: str
) -> list[str]:
    """Return whether noisy counts have what the cells leave of epsilon, as parameters state it.

    Of a part that is not stated it is known only that something must be left for it.
    """
    stated = _stated_parts(evidence)
    said = ", ".join([cells, *(f"{name}={shown(value)}" for name, value in stated.items())])
    parts = [_part(value) for value in stated.values() if value is not None]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return [f"{said}: not every part is a number above 0"]
    remaining -= sum(known)
    if stated and len(known) == len(stated):
        fits = remaining == 0
        return [] if fits else [f"{said} do not sum to the claimed epsilon={_short(whole)}"]
    nothing = f"{said} leave nothing of the claimed epsilon={_short(whole)} for a count"
    return [] if remaining > 0 else [nothing]


def _stated_parts(evidence: Evidence) -> dict[str, object]:
    """Return the parameters that are parts of epsilon for counts; None where one is the default."""
    parameters = evidence.manifest.method.parameters
    cells = "epsilon_cells"
    return {n: part for n, part in parameters.items() if n.startswith("epsilon_") and n != cells}


def _part(value: object) -> Fraction | None:
    """Return a part of epsilon as the number that is printed; None if it is not a number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return Fraction(repr(value)) if 0 < value < math.inf else None


def _noise_cells(evidence: Evidence) -> NoiseCells:
    noise = evidence.kind.noise_cells
    if noise is None:
        raise TypeError(f"noise cannot be checked for data of kind {evidence.manifest.data.kind}")
    return noise


def _cells(evidence: Evidence, flips: RandomizedCells | BlockFlips) -> Check:
    """Whether as many cells are stated as the released data can have."""
    return _noise_cells(evidence).check(evidence.tables, int(flips.cells))


def _chances(evidence: Evidence, flips: RandomizedCells) -> Check:
    """Whether the numbers of flips are such as the stated chances make believable."""
    edits, cells = evidence.changes(), int(flips.cells)
    truly = KINDS[evidence.manifest.data.kind].cells(evidence.original)
    if cells != truly:
        return fails(f"{cells} cells are stated, but the original has {truly}")
    if any(isinstance(c, ExactSize) for c in evidence.manifest.claim.conditions):
        return _not_more_than_resized(edits, flips)
    removed, added = 1 - int(flips.T1) / laws.FULL, int(flips.T0) / laws.FULL
    problems = [
        f"{count} {did}, but {chance * trials:.6g} were expected"
        for count, trials, chance, did in (
            (edits.deleted, edits.before, removed, "were removed"),
            (edits.added, cells - edits.before, added, "were added"),
        )
        if laws.is_unbelievable(count, trials, chance)
    ]
    flipped = f"{edits.deleted} of {edits.before} removed and {edits.added} added"
    return judged(problems, f"{flipped}, consistent with these probabilities")


def _not_more_than_resized(edits: Changes, flips: RandomizedCells) -> Check:
    """Whether not more was kept than the chances allow, once cells were added or removed evenly.

    A cell that was not drawn is added with at most the share of cells that are published.
    """
    size, cells, chance = edits.kept + edits.added, int(flips.cells), int(flips.T1) / laws.FULL
    most = chance + (1 - chance) * size / max(cells, 1)
    unbelievable = edits.kept > edits.before * most and laws.is_unbelievable(
        edits.kept, edits.before, most
    )
    kept = f"{edits.kept} of {edits.before} kept"
    problems = [f"{kept}, but at most {edits.before * most:.6g} were expected"]
    allowed = f"{kept}, no more than these probabilities allow; the size was fixed afterwards"
    return judged(problems if unbelievable else [], allowed)


def _parts_of_blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the noisy count can be one, and cells and counts have all of epsilon.

    Chances that follow from weights keep the part of a cell whatever the weights are.
    """
    epsilon = Fraction(flips.epsilon_cells)
    no_count = f"noisy_count={flips.noisy_count} is not a possible count for {flips.cells} cells"
    problems = [] if _is_counted(flips) else [no_count]
    problems += _parts_of_epsilon(evidence, flips, epsilon)
    return judged(problems, f"epsilon={_short(epsilon)} per cell matches the claim")


def _weights(_evidence: Evidence, flips: BlockFlips) -> Check:
    """Say that nobody can check whether classes and weights follow from noisy counts."""
    classes = counted(len(flips.sizes), "class")
    why = f"the weights of {classes} are stated, but not the noisy counts that they follow from"
    return not_checked(why)


def _cells_of_blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the classes have as many nodes as the release, and as many pairs as stated."""
    n = evidence.tables.number("SELECT count(*) FROM nodes")
    if n != sum(flips.sizes):
        return fails(f"{counted(sum(flips.sizes), 'node', 'is')} in classes, but {n} are released")
    return _cells(evidence, flips)


def _chances_of_blocks(evidence: Evidence, flips: BlockFlips) -> Check:
    """Whether the numbers of flips are such as the chances of the blocks make believable.

    Which node stands in which class is not published: the edges are thought to be where as few as
    possible, and as many as possible, would be kept.
    """
    edits = evidence.changes()
    blocks = list(laws.blocks_of(flips))
    kept = [(block.cells, block.one / laws.FULL) for block in blocks]
    tried = [(block.cells, block.zero / laws.FULL) for block in blocks]
    false = sum(cells * chance for cells, chance in tried)
    hits = _fewest_and_most(tried, edits.before)
    zeros = int(flips.cells) - edits.before
    problems = [
        f"{count} {did}, but {low:.6g} to {high:.6g} were expected"
        for count, trials, (low, high), did in (
            (edits.kept, edits.before, _fewest_and_most(kept, edits.before), "were kept"),
            (edits.added, zeros, (false - hits[1], false - hits[0]), "were added"),
        )
        if _is_outside(count, trials, low, high)
    ]
    noticed = _is_outside(edits.before, edits.before, *_fewest_and_most(kept, edits.before))
    noticed |= _is_outside(0, zeros, false - hits[1], false - hits[0])
    if not flips.groups:
        epsilon = Fraction(flips.epsilon_cells)
        problems += _not_by_weights(_exchanges(evidence), epsilon)
        noticed |= bool(_not_by_weights(_exchanges(evidence, of_itself=True), epsilon))
    flipped = f"{edits.kept} of {edits.before} kept and {edits.added} added"
    if not problems and not noticed:
        return not_checked(f"{flipped}, but the original itself would pass this test")
    return judged(problems, f"{flipped}, consistent with these probabilities")


def _not_by_weights(found: laws.Exchanges, epsilon: Fraction) -> list[str]:
    """Return whether exchanges of two edges show more of the original than any weights explain.

    With a prior of odds x_u x_v a pair is published with these odds, or others by a factor of at
    most e^epsilon. An exchange is about four pairs, so that its odds are at most e^(4 epsilon).
    """
    odds = math.exp(min(4 * float(epsilon), 60))
    most = odds / (1 + odds)
    unbelievable = found.more > found.telling * most and laws.is_unbelievable(
        found.more, found.telling, most
    )
    if not unbelievable:
        return []
    return [f"{found.more} of {found.telling} exchanges of two edges would leave fewer in both"]


def _fewest_and_most(blocks: list[tuple[int, float]], edges: int) -> tuple[float, float]:
    """Return bounds on the expected number of edges that succeed, wherever they are."""
    bounds = []
    for order in (sorted(blocks, key=itemgetter(1)), sorted(blocks, key=itemgetter(1))[::-1]):
        missing, expected = edges, 0.0
        for cells, chance in order:
            expected += min(cells, missing) * chance
            missing -= min(cells, missing)
        bounds.append(expected)
    return bounds[0], bounds[1]


def _is_outside(count: int, trials: int, low: float, high: float) -> bool:
    """Whether the number of independent events lies too far from where its mean can be."""
    nearest = min(max(float(count), low), high)
    return laws.is_unbelievable(count, trials, min(nearest / max(trials, 1), 1.0))


def _exchanges(evidence: Evidence, *, of_itself: bool = False) -> laws.Exchanges:
    """Return what exchanges of two released edges would change, or of two of the original's."""
    db = evidence.tables
    n = db.number("SELECT count(*) FROM nodes")
    both = db.pairs("edges", "source", "target"), db.pairs("placed", "u", "v")
    # an edge of a node that is not listed fails the check of endpoints, or that of the size
    released, original = (each[((each >= 0) & (each < n)).all(axis=1)] for each in both)
    return laws.exchanges(original if of_itself else released, original, n)


def _size(evidence: Evidence, exact: ExactSize) -> Check:
    """Whether as many edges or entries are there as stated, and as many as the noisy count says."""
    table = evidence.kind.entries[0]
    size = evidence.tables.number(f"SELECT count(*) FROM {table}")
    counts = [
        condition.noisy_count
        for condition in evidence.manifest.claim.conditions
        if isinstance(condition, RandomizedCells) and condition.noisy_count is not None
    ]
    problems = [
        f"{size} {table} are released, but {where} is {said}"
        for said, where in [
            (exact.size, "the stated size"),
            *((c, "the noisy count") for c in counts),
        ]
        if int(said) != size
    ]
    return judged(problems, f"{size} {table} are released, as stated")


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"


def source_of_noise(evidence: Evidence, promise: Guarantee) -> Check:
    """Return whether something is claimed only where the owner's record knows of no seed."""
    seed = None if evidence.record is None else evidence.record.seed
    if isinstance(promise, NotClaimed):
        which = "no" if seed is None else "a"
        return holds(f"the record contains {which} seed, and no guarantee is claimed")
    if seed is None:
        return holds(
            "the record contains no seed: the noise came from the operating system's entropy"
        )
    return fails("the record contains a seed, so no guarantee may be claimed")


def _unit(evidence: Evidence, promise: EdgeDP | NodeDP) -> Check:
    """Whether the data has the lists that the condition names, and values where one is the unit."""
    kind = KINDS[evidence.manifest.data.kind]
    problems = [
        f"the list of {one} is named as collected, but {kind.words} has no such list"
        for one in promise.collected
        if one not in kind.lists
    ]
    if isinstance(promise, EdgeDP) and promise.of == "value":
        problems += _not_values(evidence)
    if isinstance(promise, EdgeDP) and evidence.has_people != (promise.of == "listing"):
        are = "people" if evidence.has_people else "not people"
        problems.append(f"epsilon is for one {promise.of}, but items are {are}")
    what = promise.of if isinstance(promise, EdgeDP) else "person"
    return judged(
        problems, f"epsilon is for one {what}, given the lists of {' and '.join(kind.lists)}"
    )


def _not_values(evidence: Evidence) -> list[str]:
    """Return why items are not values of columns; nothing where they may be."""
    if evidence.manifest.data.kind != "bipartite":
        return [f"data of kind {evidence.manifest.data.kind} has no column values"]
    other = evidence.tables.number(
        "SELECT count(*) FROM (SELECT DISTINCT item FROM entries) "
        "WHERE position('=' IN item::VARCHAR) = 0"
    )
    return [f"{counted(other, 'item', 'is')} not named column=value"] if other else []


_ENTROPY = "whether the noise came from the operating system's entropy"
_FLIPS = "whether the number of flips matches the stated probabilities"
_SOURCE = Part(NOISE, source_of_noise, ("record",), _ENTROPY)
_CLAIMED = ClaimCheck(tuple(KINDS), (Part(UNIT, _unit), _SOURCE))
_CELLS_ALIKE = ClaimCheck(
    ("graph", "bipartite"),
    (Part(THRESHOLDS, _thresholds), Part(CELLS, _cells), Part(CHANCES, _chances, LINKED, _FLIPS)),
)

RECHECKS: Rechecks = {
    EdgeDP: _CLAIMED,
    NodeDP: _CLAIMED,
    NotClaimed: ClaimCheck(tuple(KINDS), (_SOURCE,)),
    BlockFlips: ClaimCheck(
        ("graph",),
        (
            *(Part(PARTS, _parts_of_blocks), Part(WEIGHTS, _weights)),
            *(Part(CELLS, _cells_of_blocks), Part(CHANCES, _chances_of_blocks, LINKED, _FLIPS)),
        ),
    ),
    RandomizedCells: _CELLS_ALIKE,
    TopMThresholds: _CELLS_ALIKE,
    ExactSize: ClaimCheck(("graph", "bipartite"), (Part(SIZE, _size),)),
}

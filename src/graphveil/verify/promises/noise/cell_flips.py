"""Randomized response with equal probabilities for all cells: thresholds, cells, and flips.

Claim checked: the stated probabilities keep epsilon exactly, follow from the stated values, and
cells and noisy counts share all of epsilon; and, with the original, as many edges or entries were
removed and added as these probabilities make plausible.

Means: `recount.noise.flip_probabilities` in exact fractions, and binomial tails
(`recount.noise.noise_tails`).

What the files cannot show: that flips were random. A count that practically never occurs fails.

Cost: O(1) after the counts of edges or entries.
"""

from __future__ import annotations

import math
from fractions import Fraction

from graphveil.claims.conditions import BlockFlips, ExactSize, RandomizedCells, TopMThresholds
from graphveil.claims.facts import Changes
from graphveil.claims.guarantees import EdgeDP, NodeDP
from graphveil.core.text import counted
from graphveil.data.kinds import KINDS
from graphveil.verify.evidence import Evidence, NoiseCells
from graphveil.verify.recount.noise.flip_probabilities import (
    FULL,
    filter_thresholds,
    keeps_its_claim,
    response_thresholds,
)
from graphveil.verify.recount.noise.noise_tails import is_unbelievable
from graphveil.verify.verdict import Check, fails, judged, shown

CELLS = "cells"
THRESHOLDS, CHANCES, SIZE = "thresholds", "chances", "size"


def thresholds_follow(evidence: Evidence, flips: RandomizedCells) -> Check:
    """Whether the probabilities follow from the stated values and keep their part of epsilon."""
    # Step 1: the guarantee of one cell, decided exactly.
    zero, one, epsilon = int(flips.T0), int(flips.T1), Fraction(flips.epsilon_cells)
    if not keeps_its_claim(zero, one, epsilon):
        return fails(
            f"T0={zero} and T1={one} give more than epsilon={six_digits(epsilon)} per cell"
        )
    # Step 2: the probabilities that follow from the stated noisy count; rounding may differ by one.
    prior = _prior(flips)
    if prior is None:
        return fails(
            f"noisy_count={flips.noisy_count} is not a possible count for {flips.cells} cells"
        )
    expected = _expected(flips, prior, epsilon)
    problems = [
        f"{name}={stated}, but recomputed as {value}"
        for name, stated, value in zip(("T0", "T1"), (zero, one), expected, strict=True)
        if abs(stated - value) > 1
    ]
    # Step 3: cells and counts together use the claimed epsilon.
    problems += epsilon_problems(evidence, flips, epsilon)
    chances = f"{zero / FULL:.6g} and {one / FULL:.6g}"
    return judged(problems, f"the probabilities {chances} follow from the stated values")


def _expected(flips: RandomizedCells, prior: Fraction, epsilon: Fraction) -> tuple[int, int]:
    """Return the two probabilities, times 2^64, that follow from the prior and epsilon."""
    if not isinstance(flips, TopMThresholds):
        return response_thresholds(prior, epsilon)
    return filter_thresholds(int(flips.cells), int(flips.noisy_count or 1), epsilon)


def _prior(flips: RandomizedCells) -> Fraction | None:
    """Return the share of ones that the probabilities assume; None if the count is impossible."""
    if flips.noisy_count is None:
        return Fraction(1, 2)
    return Fraction(int(flips.noisy_count), int(flips.cells)) if is_possible_count(flips) else None


def is_possible_count(flips: RandomizedCells | BlockFlips) -> bool:
    """Whether the noisy count, if there is one, is possible for so many cells."""
    return flips.noisy_count is None or 0 < int(flips.noisy_count) < int(flips.cells)


def epsilon_problems(
    evidence: Evidence, flips: RandomizedCells | BlockFlips, epsilon: Fraction
) -> list[str]:
    """Return a problem if cells and noisy counts do not share exactly all of epsilon.

    Without counts the cells of one person, or one cell, have the decimal number that is printed;
    releases of before had the double nearest to it.
    """
    promise = evidence.manifest.claim.guarantee
    if not isinstance(promise, EdgeDP | NodeDP):
        return []
    # A person has many cells, each of which uses a part; an edge or entry has one, a value two.
    if isinstance(promise, NodeDP):
        times = max(_noise_cells(evidence).of_person(evidence, int(flips.cells)), 1)
    else:
        times = promise.entries
    whole = Fraction(repr(promise.epsilon))
    cells = f"{counted(times, 'cell')} with epsilon={six_digits(epsilon)} each"
    # With noisy counts, the rest is theirs.
    if flips.noisy_count is not None:
        return _parts_of_counts(evidence, whole, whole - epsilon * times, cells)
    if epsilon * times in {whole, Fraction(promise.epsilon)}:
        return []
    return [f"{cells} do not give the claimed epsilon={promise.epsilon}"]


def _parts_of_counts(
    evidence: Evidence, whole: Fraction, remaining: Fraction, cells: str
) -> list[str]:
    """Return a problem if the noisy counts do not have what the cells leave of epsilon.

    Of a part that is not stated it is known only that something must be left for it.
    """
    stated = _stated_parts(evidence)
    parts_stated = ", ".join([cells, *(f"{name}={shown(value)}" for name, value in stated.items())])
    parts = [_part(value) for value in stated.values() if value is not None]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return [f"{parts_stated}: not every part is a number above 0"]
    remaining -= sum(known)
    if stated and len(known) == len(stated):
        fits = remaining == 0
        return (
            []
            if fits
            else [f"{parts_stated} do not sum to the claimed epsilon={six_digits(whole)}"]
        )
    nothing = f"{parts_stated} leave nothing of the claimed epsilon={six_digits(whole)} for a count"
    return [] if remaining > 0 else [nothing]


def _stated_parts(evidence: Evidence) -> dict[str, object]:
    """Return the parameters that are parts of epsilon; None for a default."""
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


def cells_match(evidence: Evidence, flips: RandomizedCells | BlockFlips) -> Check:
    """Whether as many cells are stated as the released data can have."""
    return _noise_cells(evidence).check(evidence.tables, int(flips.cells))


def flips_are_plausible(evidence: Evidence, flips: RandomizedCells) -> Check:
    """Whether removed and added cells are as many as the stated probabilities allow."""
    # Step 1: as many cells as the original has.
    edits, cells = evidence.changes(), int(flips.cells)
    truly = KINDS[evidence.manifest.data.kind].cells(evidence.original)
    if cells != truly:
        return fails(f"{cells} cells are stated, but the original has {truly}")
    # Step 2: where the size was fixed afterwards, only too many true cells contradict.
    if any(isinstance(c, ExactSize) for c in evidence.manifest.claim.conditions):
        return _not_more_than_resized(edits, flips)
    # Step 3: otherwise removed and added cells are two binomial numbers.
    removed, added = 1 - int(flips.T1) / FULL, int(flips.T0) / FULL
    problems = [
        f"{count} {did}, but {chance * trials:.6g} were expected"
        for count, trials, chance, did in (
            (edits.deleted, edits.before, removed, "were removed"),
            (edits.added, cells - edits.before, added, "were added"),
        )
        if is_unbelievable(count, trials, chance)
    ]
    flipped = f"{edits.deleted} of {edits.before} removed and {edits.added} added"
    return judged(problems, f"{flipped}, consistent with these probabilities")


def _not_more_than_resized(edits: Changes, flips: RandomizedCells) -> Check:
    """Whether no more was kept than the probabilities allow, after the size was fixed.

    A cell that was not drawn is added with at most the share of cells that are published.
    """
    size, cells, chance = edits.kept + edits.added, int(flips.cells), int(flips.T1) / FULL
    most = chance + (1 - chance) * size / max(cells, 1)
    unbelievable = edits.kept > edits.before * most and is_unbelievable(
        edits.kept, edits.before, most
    )
    kept = f"{edits.kept} of {edits.before} kept"
    problems = [f"{kept}, but at most {edits.before * most:.6g} were expected"]
    allowed = f"{kept}, no more than these probabilities allow; the size was fixed afterwards"
    return judged(problems if unbelievable else [], allowed)


def exact_size(evidence: Evidence, exact: ExactSize) -> Check:
    """Whether as many edges or entries are there as stated, and as many as the noisy count says."""
    table = evidence.kind.entries[0]
    size = evidence.tables.number(f"SELECT count(*) FROM {table}")
    # A noisy count that sets the size must be the size.
    counts = [
        condition.noisy_count
        for condition in evidence.manifest.claim.conditions
        if isinstance(condition, RandomizedCells) and condition.noisy_count is not None
    ]
    problems = [
        f"{size} {table} are released, but {where} is {number}"
        for number, where in [
            (exact.size, "the stated size"),
            *((c, "the noisy count") for c in counts),
        ]
        if int(number) != size
    ]
    return judged(problems, f"{size} {table} are released, as stated")


def six_digits(value: Fraction) -> str:
    """Return a fraction as it is shown in messages."""
    return f"{float(value):.6g}"

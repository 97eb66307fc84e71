"""Is an edge or an entry in the original: the guess "it is published", on noise of one chance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks.attack import (
    Attack,
    AttackFigure,
    AttackInput,
    AttackOptions,
    Outcome,
    seconds_of_passes,
)
from graphveil.attacks.wording import inferred
from graphveil.claims.conditions import ExactSize, RandomizedCells
from graphveil.core.text import counted
from graphveil.data import Bipartite, Graph
from graphveil.evaluate.comparison import BipartiteComparison, GraphComparison, sparse, special
from graphveil.evaluate.metric import NotMeasuredError, wilson
from graphveil.release import Release

DOUBT = 0.001
"""How often the lower bound may exceed the truth."""

EPSILON = f"epsilon, lower bound at {1 - DOUBT:.1%}"
SAID_OF_EPSILON = inferred(EPSILON, line="presence of single edges or items: epsilon is at least")

NO_CHANCE = (
    "the attack needs a release that publishes all cells independently, each with one of two "
    "probabilities, and states these"
)


class AttackedCells(NamedTuple):
    """How many cells there are, and what became of them.

    `cells`: pairs of nodes, or of a user and a feature; `true, published`: how many are edges or
    entries of the original, and of the release; `kept`: how many are of both.
    """

    cells: int
    true: int
    published: int
    kept: int


def cell_membership(situation: AttackInput[Any], _options: AttackOptions) -> Outcome:
    """Return how often what is published is true, and what epsilon that shows at least."""
    flips = _one_chance(situation.release)
    pair, twice = situation.comparison, 1
    if isinstance(pair, GraphComparison):
        twice, before, after = 2, pair.original.to_scipy(), pair.aligned.to_scipy()
    else:
        before, after = pair.before, pair.after[pair.linked]
    shared = sparse.csr_array(before.multiply(after))
    numbers = (int(matrix.nnz) // twice for matrix in (before, after, shared))
    counts = AttackedCells(int(flips.cells), *numbers)
    if not 0 < counts.true < counts.cells:
        raise NotMeasuredError(
            f"{counts.true:,} of {counted(counts.cells, 'cell', spec=',')} are true"
        )
    figures = list(_figures(counts, Fraction(flips.epsilon_cells)))
    own = np.diff(before.indptr)
    risk = np.diff(shared.indptr) / np.where(own, own, np.nan)
    baseline = np.where(own, counts.published / counts.cells, np.nan)
    return Outcome(figures, risk, baseline)


def _one_chance(release: Release[Any]) -> RandomizedCells:
    """Return the chances of all cells, as the release states them."""
    conditions = release.conditions
    stated = next((c for c in conditions if isinstance(c, RandomizedCells)), None)
    if stated is None or any(isinstance(c, ExactSize) for c in conditions):
        raise NotMeasuredError(NO_CHANCE)
    return stated


def _figures(counts: AttackedCells, stated: Fraction) -> Iterator[AttackFigure]:
    """Yield hits, false alarms and the lower bound, next to the epsilon that is stated."""
    chance, rest = counts.published / counts.cells, counts.cells - counts.true
    for part, unit, number, size in (
        ("hits", "share of true cells", counts.kept, counts.true),
        ("false alarms", "share of false cells", counts.published - counts.kept, rest),
    ):
        sample = wilson(number, size)
        better = "lower is better" if part == "hits" else "higher is better"
        yield AttackFigure(part, number / size, unit, chance, better, sample=sample)  # type: ignore[arg-type]  # one of two
    yield AttackFigure(EPSILON, epsilon_bound(counts), "epsilon", 0.0, estimated=True)
    yield AttackFigure("epsilon of a cell, stated", float(stated), "epsilon")


def epsilon_bound(counts: AttackedCells) -> float:
    """Return the epsilon that one release shows at least, of cells that are independent.

    Both chances are in their intervals of Clopper and Pearson but for one case in a thousand; the
    bound is the larger logarithm of the ratio of chances, of being published and of not being.
    """
    rest = counts.cells - counts.true
    return least_epsilon((counts.kept, counts.true), (counts.published - counts.kept, rest), DOUBT)


def least_epsilon(with_it: tuple[int, int], without: tuple[int, int], doubt: float) -> float:
    """Return the epsilon that the frequencies of one event in two worlds show at least.

    The event was chosen before; `doubt` is how often the bound may exceed the truth.

    >>> round(least_epsilon((750, 750), (0, 750), 0.001), 2)
    4.59
    """
    hit, alarm = clopper_pearson(*with_it, doubt)[0], clopper_pearson(*without, doubt)[1]
    if hit <= alarm:
        return 0.0
    return max(math.log(hit / alarm), math.log((1 - alarm) / (1 - hit)))


def clopper_pearson(number: int, size: int, doubt: float = DOUBT) -> tuple[float, float]:
    """Return the interval around a share, by default off on either side in one of 2,000 cases."""
    tail = doubt / 2
    low = special.betaincinv(number, size - number + 1, tail) if number else 0.0
    high = special.betaincinv(number + 1, size - number, 1 - tail) if number < size else 1.0
    return float(low), float(high)


def _foreseen(situation: AttackInput[Any], options: AttackOptions) -> float:
    _one_chance(situation.release)
    return seconds_of_passes(situation, options)


def _entry(name: str, kind: type[Graph | Bipartite], cell: str) -> Attack[Any, AttackOptions]:
    """Return the entry of this attack on one kind of data."""
    asked, what = "two given people are connected", "edge"
    if kind is Bipartite:
        asked, what = "a person has a given item", "item"
    return Attack(
        name=name,
        kind=kind,
        knows=f"the complete original except one {cell}, and the release",
        definition="true-positive and false-positive rates of guessing, for all cells, that a "
        "published cell is true; and the largest epsilon that the two rates show, "
        "with 99.9% confidence. Measured only if cells are published independently, "
        "with one of two probabilities",
        source="Clopper and Pearson 1934; used to audit differential privacy: Jagielski et al. "
        "2020",
        compute=cell_membership,
        foreseen=_foreseen,
        by_name=True,
        said=(
            SAID_OF_EPSILON,
            inferred(
                "hits",
                does=f"asks whether {asked}",
                line=None,
                label=f"one given {what}",
                says=f"{{n}} true {what}s are published",
            ),
        ),
    )


EDGE_MEMBERSHIP: Attack[GraphComparison, AttackOptions] = _entry("edge-membership", Graph, "edge")

ENTRY_MEMBERSHIP: Attack[BipartiteComparison, AttackOptions] = _entry(
    "entry-membership", Bipartite, "entry"
)

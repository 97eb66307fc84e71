"""Whether a given edge or entry is in the original: `edge-membership` and `entry-membership`.

For releases that publish every cell (pair of nodes, or person and item) independently, with one of
two stated probabilities, as randomized response does. The attacker knows everything except one cell
and guesses that it is true if it is published. Steps: (1) count true-positive and false-positive
rates over all cells; (2) bound both by intervals of Clopper and Pearson (1934); (3) the largest
logarithm of their ratios is an epsilon that the release shows at least, as in the audits of
Jagielski et al., 2020. As cells are independent and equally likely, one release is as good as one
run per cell.

The baseline of both rates is the share of published cells: a guess that does not look. Intervals of
rates are Wilson's; the bound fails in at most one case in a thousand (`DOUBT`). Cost: entries of
original and release.
"""

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
"""How often the lower bound may exceed the epsilon of the method."""

EPSILON = f"epsilon, lower bound at {1 - DOUBT:.1%}"
"""The name of the figure of the bound, here and in `edge_rerun.py`."""
SAID_OF_EPSILON = inferred(EPSILON, line="presence of single edges or items: epsilon is at least")

NO_CHANCE = (
    "the attack needs a release that publishes all cells independently, each with one of two "
    "probabilities, and states these"
)
"""Why the attack does not apply to other releases."""


class AttackedCells(NamedTuple):
    """How many cells there are, and what became of them.

    Parameters
    ----------
    cells : int
        Pairs of nodes, or of a person and a feature.
    true, published : int
        How many are edges or entries of the original, and of the release.
    kept : int
        How many are of both.
    """

    cells: int
    true: int
    published: int
    kept: int


def cell_membership(situation: AttackInput[Any], _options: AttackOptions) -> Outcome:
    """Return how often what is published is true, and what epsilon that shows at least.

    A person's risk is the share of their true cells that are published.
    """
    # The attack applies only to cells that are published independently with one chance.
    flips = _one_chance(situation.release)
    # Step 1: cells that are true, published, and both; edges are stored in both directions.
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
    # Everybody's risk: the share of their true cells that are published.
    own = np.diff(before.indptr)
    risk = np.diff(shared.indptr) / np.where(own, own, np.nan)
    baseline = np.where(own, counts.published / counts.cells, np.nan)
    return Outcome(figures, risk, baseline)


def _one_chance(release: Release[Any]) -> RandomizedCells:
    """Return the chances of all cells, as the release states them.

    An exact size makes cells dependent: not measured then.
    """
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
    """Return the epsilon that one release shows at least, if its cells are independent.

    Both chances are in their intervals of Clopper and Pearson except in one case in a thousand; the
    bound is the larger logarithm of the ratio of chances, of being published and of not being.
    """
    rest = counts.cells - counts.true
    return least_epsilon((counts.kept, counts.true), (counts.published - counts.kept, rest), DOUBT)


def least_epsilon(with_it: tuple[int, int], without: tuple[int, int], doubt: float) -> float:
    """Return the epsilon that the frequencies of one event in two worlds show at least.

    Parameters
    ----------
    with_it, without : tuple of int
        In how many of how many runs, or cells, the event holds: with the edge or entry, and
        without.
    doubt : float
        How often the bound may exceed the epsilon.

    Returns
    -------
    float
        The bound, 0 if nothing is shown.

    Notes
    -----
    The event has to be chosen before the runs that are counted here.

    Examples
    --------
    >>> round(least_epsilon((750, 750), (0, 750), 0.001), 2)
    4.59
    """
    # The least rate with and the largest without: each is exceeded in half of `doubt`.
    hit, alarm = clopper_pearson(*with_it, doubt)[0], clopper_pearson(*without, doubt)[1]
    if hit <= alarm:
        return 0.0
    # Differential privacy bounds both ratios, of the event and of its opposite.
    return max(math.log(hit / alarm), math.log((1 - alarm) / (1 - hit)))


def clopper_pearson(number: int, size: int, doubt: float = DOUBT) -> tuple[float, float]:
    """Return the exact interval around a share, each side exceeded in half of `doubt` at most.

    By default in one of 2,000 cases.
    """
    # Quantiles of beta distributions: the exact limits of a binomial chance.
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
    # One entry for pairs of nodes, one for people and items: the same attack in other words.
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

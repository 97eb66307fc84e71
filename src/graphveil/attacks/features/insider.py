"""What who is in the data, and knows the own row, reads of the others of the class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.costs import seconds_of_passes
from graphveil.attacks.features.cells import (
    HIDDEN,
    MOST_CELLS,
    HeldCells,
    ShownCells,
    cells_of,
    refuse_many,
)
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError

PAIR = 2


class _Guessed(NamedTuple):
    """Guesses of hidden cells, by class: how many, how many right by an insider and by others."""

    cells: NDArray[np.int64]
    inside: NDArray[np.int64]
    outside: NDArray[np.int64]


def insider(situation: AttackInput[BipartiteComparison], options: AttackOptions) -> Outcome:
    """Return whose whole row another member of the class reads, and how many hidden cells.

    Raises
    ------
    NotMeasuredError
        Where nobody shares a class, or what is shown is not true of all of a class.
    """
    del options
    shown, held = cells_of(situation.comparison)
    if (shown.sizes < PAIR).all():
        raise NotMeasuredError("nobody shares a class with another")
    certain, everything = (some[held.own] for some in _read_whole(shown))
    guessed = _guessed(shown, held)
    whole = "share of people"
    figures = [
        AttackFigure(
            "whole row read by another of the class", certain.mean(), whole, everything.mean()
        )
    ]
    if guessed.cells.any():
        right, without = (some.sum() / guessed.cells.sum() for some in guessed[1:])
        part, unit = "hidden cells of others, right guess", "share of hidden cells"
        figures.append(AttackFigure(part, float(right), unit, float(without)))
    risk, baseline = (
        np.where(whole_, 1.0, some[held.own] / np.maximum(guessed.cells[held.own], 1))
        for whole_, some in ((certain, guessed.inside), (everything, guessed.outside))
    )
    alone = shown.sizes[held.own] < PAIR
    risk[alone] = baseline[alone] = np.nan
    return Outcome(figures, risk, baseline)


def _read_whole(shown: ShownCells) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return of which classes a member reads a whole other row for certain, and of which anybody.

    Of two members who differ in a column of two values, each has the value that the other lacks.
    """
    hidden = shown.value == HIDDEN
    everything = ~hidden.any(axis=1) & (shown.sizes >= PAIR)
    if not shown.told_apart:
        return everything, everything
    turned = (~hidden | (shown.values == PAIR)).all(axis=1) & (shown.sizes == PAIR)
    return everything | turned, everything


def _guessed(shown: ShownCells, held: HeldCells) -> _Guessed:
    """Return how many hidden cells of others every class has, and how many are guessed right.

    Every member guesses the cells of every other one: the value that is likeliest where not all
    members have that of the one who guesses.
    """
    made = _Guessed(*np.zeros((3, shown.sizes.size), dtype=np.int64))
    for column in range(shown.values.size):
        number = int(shown.values[column])
        hidden = (shown.value[:, column] == HIDDEN) & (shown.sizes >= PAIR)
        value, own = held.value[:, column], held.own
        some = hidden[own] & (value != HIDDEN)
        counts = np.bincount(own[some] * number + value[some], minlength=hidden.size * number)
        counts = counts.reshape(hidden.size, number)
        chances = shown.shares(column)
        pairs = counts.sum(axis=1) * (counts.sum(axis=1) - 1)
        made.cells[:] += pairs
        made.outside[:] += counts[:, chances.argmax()] * (counts.sum(axis=1) - 1)
        for size in np.unique(shown.sizes[hidden]).tolist():
            of_size = np.nonzero(hidden & (shown.sizes == size))[0]
            for mine in range(number):
                guess = likeliest_of_others(chances, size, mine, told_apart=shown.told_apart)
                there = counts[of_size, guess] - (guess == mine)
                made.inside[of_size] += counts[of_size, mine] * np.maximum(there, 0)
    return made


def likeliest_of_others(
    chances: NDArray[np.float64], size: int, mine: int, *, told_apart: bool
) -> int:
    """Return the likeliest value of another member, of a column that the class hides.

    Parameters
    ----------
    chances
        float64: how likely people have the values.
    size
        How many members there are, two at least.
    mine
        The value of the member who guesses.
    told_apart
        Whether members are known to differ; else not all have the last value.

    Examples
    --------
    >>> likeliest_of_others(np.array([0.9, 0.1]), 2, 0, told_apart=True)
    1
    """
    if not told_apart and mine != chances.size - 1:
        left = np.ones_like(chances)
    else:
        left = np.ones_like(chances)
        left[mine] = 1 - chances[mine] ** (size - 2)
    return int((chances * left).argmax())


def seconds(situation: AttackInput[BipartiteComparison], options: AttackOptions) -> float:
    """Return about how long it takes.

    Raises
    ------
    TooLargeError
        Where cells are too many.
    """
    refuse_many(situation.comparison)
    return 6 * seconds_of_passes(situation, options)


INSIDER = Attack(
    name="insider",
    kind=Bipartite,
    knows="the own row, and which class of equal rows is the own one",
    definition="the share of people whose whole row another member of their class reads for "
    "certain; how often the likeliest value of a hidden cell of another member is right, beside "
    "that of somebody without a row",
    source="graphveil's own",
    needs_linkage=True,
    cost=f"linear, up to {MOST_CELLS:,} cells",
    compute=insider,
    seconds=seconds,
    options=AttackOptions,
)
"""The entry of this attack."""

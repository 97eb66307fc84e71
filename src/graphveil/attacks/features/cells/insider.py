"""What a member of the data, who knows their own row, reads about others: the attack `insider`.

The attacker is in the data and knows their own row and class. Two things are counted: people whose
complete row another member of the class can read with certainty, and how often a guess of a
suppressed cell of another member is right. In a class of two that differs in a column of two
values, each member has the value that the other lacks. In larger classes the own value is less
likely for others, as not all members are equal in a suppressed column.

The baseline is an attacker without a row. All members are counted, so figures have no interval.
graphveil's own. Cost: cells of people and classes, sorted per column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks import attack
from graphveil.attacks.features.cells import published_cells
from graphveil.attacks.wording import inferred
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import BipartiteComparison, Bools, Int32s
from graphveil.evaluate.metric import NotMeasuredError

PAIR = 2
"""The size of a class in which a suppressed cell says the most."""

_BITS = 32
"""A class and a value are one number: of the value as many bits."""

WHOLE_ROW = "whole row read by another of the class"
"""The name of the figure."""


class _Guessed(NamedTuple):
    """Guesses of suppressed cells, by class, int64, shape (classes,).

    `cells`: how many; `inside, outside`: how many are right by an insider, and by others.
    """

    cells: Ints
    inside: Ints
    outside: Ints


def insider(
    situation: attack.AttackInput[BipartiteComparison], _options: attack.AttackOptions
) -> attack.Outcome:
    """Return whose complete row another member reads, and how many suppressed cells are guessed.

    A person's risk is 1 if their row is read; else how often their class's cells are guessed right.
    """
    shown, truth = published_cells.cells_of(situation.comparison)
    if (shown.sizes < PAIR).all():
        raise NotMeasuredError("every class has one member")
    # Certainty: what every member reads, next to what anybody reads.
    certain, everything = (some[truth.own] for some in _read_whole(shown))
    # Guesses of the cells of all other members.
    guessed = _guessed(shown, truth)
    whole = "share of people"
    figures = [attack.AttackFigure(WHOLE_ROW, certain.mean(), whole, everything.mean())]
    if guessed.cells.any():
        right, without = (some.sum() / guessed.cells.sum() for some in guessed[1:])
        part, unit = "hidden cells of others, right guess", "share of suppressed cells"
        figures.append(attack.AttackFigure(part, float(right), unit, float(without)))
    risk, baseline = (
        np.where(whole_, 1.0, some[truth.own] / np.maximum(guessed.cells[truth.own], 1))
        for whole_, some in ((certain, guessed.inside), (everything, guessed.outside))
    )
    alone = shown.sizes[truth.own] < PAIR
    risk[alone] = baseline[alone] = np.nan
    return attack.Outcome(figures, risk, baseline)


def _read_whole(shown: published_cells.PublishedCells) -> tuple[Bools, Bools]:
    """Return in which classes a member reads another complete row for certain, and anybody does.

    Two bool arrays, shape (classes,). If two members differ in a column of two values, each has the
    value that the other lacks.
    """
    # Everybody reads a class that suppresses nothing; a member of two reads the other if all
    # suppressed columns have two values.
    hidden = shown.value == SUPPRESSED
    everything = ~hidden.any(axis=1) & (shown.sizes >= PAIR)
    if not shown.members_differ:
        return everything, everything
    turned = (~hidden | (shown.values == PAIR)).all(axis=1) & (shown.sizes == PAIR)
    return everything | turned, everything


def _guessed(shown: published_cells.PublishedCells, truth: published_cells.TrueCells) -> _Guessed:
    """Return how many suppressed cells of others every class has, and how many are guessed right.

    An attacker without a row guesses the value that is likeliest in a suppressed cell. A member
    guesses the cells of every other one: in columns in which members differ the value that is
    likeliest next to the own one; else as an attacker without a row does.
    """
    guessed = _Guessed(*np.zeros((3, shown.sizes.size), dtype=np.int64))
    for column in in_time(range(shown.values.size)):
        hidden = (shown.value[:, column] == SUPPRESSED) & (shown.sizes >= PAIR)
        asked = hidden[truth.own] & (truth.value[:, column] != SUPPRESSED)
        # Members by class and value, of people whose cell is suppressed: every member guesses all
        # others.
        counts = _Counts.of(truth.own[asked], truth.value[asked, column], hidden.size)
        guessed.cells[:] += counts.all * (counts.all - 1)
        # Without a row: one guess per class; each is asked about by all other members.
        of_sizes, position = shown.hidden(column)
        likely = of_sizes.argmax(axis=1)[position]
        guessed.outside[:] += counts.having(np.arange(hidden.size), likely) * (counts.all - 1)
        # With a row: a guess per class and own value, right for all others who have the guessed
        # value.
        guess = likely[counts.class_]
        if shown.members_differ:
            guess = _guess_by_own_value(shown, column, counts)
        there = counts.having(counts.class_, guess) - (guess == counts.value)
        np.add.at(guessed.inside, counts.class_, counts.number * np.maximum(there, 0))
    return guessed


class _Counts(NamedTuple):
    """How many members of classes have each value of a column: the pairs that occur, in order.

    Parameters
    ----------
    class_, value, number : int64, shape (pairs,)
        Class, value and how many members have it.
    all : int64, shape (classes,)
        Members with a value.
    """

    class_: Ints
    value: Ints
    number: Ints
    all: Ints

    @classmethod
    def of(cls, own: Ints, value: Int32s, classes: int) -> _Counts:
        # Class and value as one number, sorted, so that counts are found by bisection.
        keys, number = np.unique(own << _BITS | value, return_counts=True)
        return cls(
            keys >> _BITS, keys & ((1 << _BITS) - 1), number, np.bincount(own, minlength=classes)
        )

    def having(self, class_: Ints, value: Ints) -> Ints:
        """Return how many members of classes have a value, one after another."""
        keys, asked = self.class_ << _BITS | self.value, class_ << _BITS | value
        at = np.searchsorted(keys, asked)
        found: Ints = np.append(self.number, 0)[at]
        return np.where(np.append(keys, -1)[at] == asked, found, 0)


def _guess_by_own_value(
    shown: published_cells.PublishedCells, column: int, counts: _Counts
) -> Ints:
    """Return what members guess of another one, by their class and own value.

    The own value is less likely: only members who have the likeliest one guess a different one.
    """
    chances = shown.shares(column)
    top = int(chances.argmax())
    sizes, position = np.unique(shown.sizes, return_inverse=True)
    others = np.array([likeliest_of_others(chances, int(size), top) for size in sizes])
    return np.where(counts.value == top, others[position[counts.class_]], top)


def likeliest_of_others(chances: Floats, size: int, mine: int) -> int:
    """Return the likeliest value of another member, in a column in which members differ.

    For the own value to be that of another member, not all of the other s - 2 may have it, too.
    """
    left = np.ones_like(chances)
    left[mine] = 1 - chances[mine] ** (size - 2)
    return int((chances * left).argmax())


def seconds(
    situation: attack.AttackInput[BipartiteComparison], options: attack.AttackOptions
) -> float:
    """Return about how long it takes."""
    published_cells.refuse_many(situation.comparison)
    return 6 * attack.seconds_of_passes(situation, options)


INSIDER = attack.Attack(
    name="insider",
    kind=Bipartite,
    knows="the attacker's own row and equivalence class, and the possible values of the columns",
    definition="the share of people whose complete row another member of their class can read "
    "with certainty; how often the most likely value of a suppressed cell of another "
    "member is correct, compared with an attacker who has no row",
    source="graphveil's own",
    cost=f"linear, up to {published_cells.MOST_CELLS:,} cells",
    compute=insider,
    seconds=seconds,
    said=(
        inferred(
            WHOLE_ROW,
            does="is in the data and knows their own row",
            line="complete rows that another member of the same class can read",
            label="their own row",
            says="{n} complete rows can be read",
            if_measured=True,
        ),
    ),
)

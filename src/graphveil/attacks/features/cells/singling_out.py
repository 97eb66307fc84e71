"""Statements from a release that are true of exactly one person: the attack `singling-out`.

Predicate singling out: Cohen and Nissim, *Towards formalizing the GDPR's notion of singling out*,
PNAS 2020. The attacker has the release and knows the possible values of its columns, and makes one
statement per class: "has the cells that the class publishes, and this value in a column that it
suppresses". Steps: (1) for each class choose the column and value that are likeliest true of
exactly one person, in and outside the class; (2) count for how many classes the statement is true
of exactly one person of the original.

The baseline is the best statement made without the release, (1 - 1/n)^(n - 1), about 37% for n
people; if people have several rows, they are counted, not their rows. Interval: Wilson's if classes
are sampled. The statements are graphveil's own; they name no hash of a row, which would be true of
one person by chance. Cost: classes times people times columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.features.cells.published_cells import (
    MOST_CELLS,
    PublishedCells,
    TrueCells,
    cells_of,
    refuse_many,
)
from graphveil.attacks.wording import singled_out
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.data import Bipartite
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import BipartiteComparison, Int32s
from graphveil.evaluate.metric import wilson

MOST_CLASSES = 1_000
"""If there are more classes, this many are sampled."""

TRUE_OF_ONE = "true of one person"
"""The name of the figure."""

ALONE = -1
"""In place of a further column: the published cells are the complete statement."""


class Statement(NamedTuple):
    """What is stated about one person: a class's published cells, and a value of one more column.

    `column, value`: the suppressed column and its value; `ALONE` if nothing is added; `chance`: how
    likely the attacker takes it to be true of exactly one person.
    """

    class_: int
    column: int
    value: int
    chance: float


def singling_out(situation: AttackInput[BipartiteComparison], _options: AttackOptions) -> Outcome:
    """Return for how many classes a statement is true of exactly one person of the original."""
    shown, truth = cells_of(situation.comparison)
    rng = situation.rng("singling-out: classes")
    classes = rng.permutation(shown.sizes.size)[:MOST_CLASSES]
    # Step 1: statements, from the release alone.
    columns = columns_of(shown)
    statements = [
        statement(shown, number, columns) for number in in_time(np.sort(classes).tolist())
    ]
    # Step 2: of whom they are true. Every row of people who are singled out has risk 1; a person
    # may have several rows, all of which can fit.
    owners = _owners(situation, len(truth.own))
    fitting = [true_of(one, shown, truth) for one in in_time(statements)]
    alone = [rows for rows in fitting if np.unique(owners[rows]).size == 1]
    people = int(np.unique(owners).size)
    blind = best_blind(people)
    sample = wilson(len(alone), len(statements)) if classes.size < shown.sizes.size else None
    figures = [
        AttackFigure(
            TRUE_OF_ONE, len(alone) / len(statements), "share of classes", blind, sample=sample
        )
    ]
    risk = np.where(np.isin(truth.own, classes), 0.0, np.nan)
    for rows in alone:
        risk[np.isin(owners, owners[rows])] = 1.0
    baseline = np.where(np.isnan(risk), np.nan, blind * len(statements) / people)
    return Outcome(figures, risk, np.minimum(baseline, 1.0))


def _owners(situation: AttackInput[BipartiteComparison], rows: int) -> Ints:
    """Return the person of each row, by number, int64, shape (rows,)."""
    units = None if situation.tables is None else situation.tables.original.units
    return np.arange(rows) if units is None else units.astype(np.int64)


def best_blind(people: int) -> float:
    """Return how often the best statement made without the release is true of exactly one person.

    A statement that is true of a person with a chance of w is true of exactly one of n people with
    n w (1 - w)^(n - 1), most at w = 1/n: Cohen and Nissim, 2020.
    """
    return float((1 - 1 / people) ** (people - 1))


class _Column(NamedTuple):
    """What every statement asks about a column, computed once: time in classes and in values."""

    value: Int32s
    shares: Floats
    hidden: Floats
    size: NDArray[np.intp]

    @classmethod
    def of(cls, shown: PublishedCells, column: int) -> _Column:
        return cls(shown.value[:, column], shown.shares(column), *shown.hidden(column))

    def having(self, value: int) -> Floats:
        """Return how likely a member of every class has a value."""
        is_hidden = self.value == SUPPRESSED
        return np.asarray(np.where(is_hidden, self.hidden[self.size, value], self.value == value))

    def expected(self, weights: Floats) -> Floats:
        """Return the sum over classes of their weight times how likely each value is there."""
        # Classes that suppress the column count by their size, the others by their value.
        is_hidden = self.value == SUPPRESSED
        of_sizes = np.bincount(self.size[is_hidden], weights[is_hidden], len(self.hidden))
        of_shown = np.bincount(self.value[~is_hidden], weights[~is_hidden], self.shares.size)
        return np.asarray(of_sizes @ self.hidden + of_shown)


def columns_of(shown: PublishedCells) -> list[_Column]:
    """Return the columns of what an attacker reads, for `statement`."""
    return [_Column.of(shown, column) for column in range(shown.values.size)]


def statement(shown: PublishedCells, class_: int, columns: Sequence[_Column]) -> Statement:
    """Return the statement about a class that is likeliest true of exactly one person.

    Members have what their class suppresses as often as it is shown elsewhere, except that not all
    of a class have one value of a column that it suppresses.
    """
    size = int(shown.sizes[class_])
    # How many people of other classes are expected to fit the published cells.
    likely = np.ones(shown.sizes.size)
    for number in np.nonzero(shown.value[class_] != SUPPRESSED)[0].tolist():
        likely *= columns[number].having(int(shown.value[class_, number]))
    others = shown.sizes * likely
    others[class_] = 0.0
    # Without a further column: true of one person in a class of one, if nobody else fits (Poisson).
    best = Statement(class_, ALONE, ALONE, float(size == 1) * float(np.exp(-others.sum())))
    # With one more value: exactly one member has it, and nobody of the other classes.
    for number in np.nonzero(shown.value[class_] == SUPPRESSED)[0].tolist():
        column = columns[number]
        single = one_of(column.shares, size, members_differ=shown.members_differ)
        single *= np.exp(-column.expected(others))
        value = int(single.argmax())
        if single[value] > best.chance:
            best = Statement(class_, number, value, float(single[value]))
    return best


def one_of(chances: Floats, size: int, *, members_differ: bool) -> Floats:
    """Return how likely exactly one member of a class has each value of a suppressed column.

    Given that members differ: the chance is divided by that of not all being equal.
    """
    left_out = chances**size
    exactly: Floats = size * chances * (1 - chances) ** (size - 1)
    if members_differ:
        ruled_out = left_out.sum()
        exactly = exactly if size > 1 else np.zeros_like(exactly)
    else:
        ruled_out = left_out[-1]
        exactly[-1] = exactly[-1] if size > 1 else 0.0
    return exactly / max(1 - float(ruled_out), np.finfo(float).tiny)


def true_of(one: Statement, shown: PublishedCells, truth: TrueCells) -> Ints:
    """Return the rows for which a statement is true, int64: positions in the original."""
    row = shown.value[one.class_]
    # The published cells, and the value of the further column.
    fits = ((row == SUPPRESSED) | (truth.value == row)).all(axis=1)
    if one.column != ALONE:
        fits &= truth.value[:, one.column] == one.value
    return np.nonzero(fits)[0]


PER_CELL, PER_COLUMN = 6e-9, 4e-5
"""Seconds for every class, person or other class, and column; for every class and column."""


def seconds(situation: AttackInput[BipartiteComparison], _options: AttackOptions) -> float:
    """Return about how long it takes."""
    pair = situation.comparison
    classes = refuse_many(pair)
    columns = pair.original.n_entries / max(pair.original.n_users, 1)
    tried = min(classes, MOST_CLASSES)
    return tried * columns * (PER_CELL * (pair.original.n_users + classes) + PER_COLUMN)


SINGLING_OUT = Attack(
    name="singling-out",
    kind=Bipartite,
    knows="the release, and the possible values of its columns",
    definition="for each class, the statement 'has the cells that the class publishes, and this "
    "value in a column that it suppresses': the share of classes for which it is true of exactly "
    "one person in the original, compared with the best statement made without the release",
    source="predicate singling out: Cohen and Nissim, 2020; the statements are graphveil's own",
    cost=f"{MOST_CLASSES:,} classes times people times columns, up to {MOST_CELLS:,} cells",
    compute=singling_out,
    seconds=seconds,
    said=(
        singled_out(
            TRUE_OF_ONE,
            does="has the release and knows the possible values of its columns",
            line="classes with a statement that is true of exactly one person",
            label="the release",
            says="for {n} classes there is a statement that is true of exactly one person",
            if_measured=True,
        ),
    ),
)

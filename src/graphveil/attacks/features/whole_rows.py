"""Whose class is whose, for an attacker who knows whole rows: a part of the attack `linkage`.

The attacker knows the known columns of a released table for everybody. Steps: (1) score all classes
for every distinct row (`cells/admitted_values.py`); (2) one by one: the class with the best score;
(3) all people at once: every person is in one class, and a class has as many people as published
rows. Of all distributions with these two sums the one is taken that is nearest to the likelihoods:
rows and columns are scaled in turn (iterative proportional fitting: Deming and Stephan, 1940;
Sinkhorn, 1964). It estimates how likely each person is in each class if assignments one to one are
as likely as their scores. The guess is each person's likeliest class; (4) what follows of attached
columns, whose values the class publishes: the likeliest value, and values that a whole class has.

Baselines: the largest class, one row of all, the most common value. All people are counted, so
figures have no interval. Cost: distinct rows times classes times columns, then rounds times the
pairs that fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from graphveil.attacks.attack import AttackFigure, AttackInput, TooLargeError
from graphveil.attacks.features.cells.admitted_values import CellsOfClasses
from graphveil.attacks.features.released_classes import People, batches
from graphveil.attacks.features.scoring import TIE
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import OutOfTimeError, in_time
from graphveil.core.rows import Setting
from graphveil.core.text import printable
from graphveil.evaluate.comparison import Attached, Bools, Int32s, TableComparison, sparse

ONE_BY_ONE, AT_ONCE = "each person alone", "all people at once"
"""How the attacker searches: the values of `Setting.search`."""

CLASS, ROW = "own class", "own row"
"""Names of figures, as in `linkage`."""

ATTACHED, CERTAIN, RIGHTLY = (
    "attached value, right guess",
    "attached value, one in the likeliest class",
    "attached value, one in the likeliest class, rightly",
)
"""Names of figures about attached columns."""

FURTHEST = 20.0
"""Classes that are less likely than the best one of a person by more than e to this are dropped."""

MOST_SCORES, MOST_PAIRS = 20_000_000_000, 30_000_000
"""More rows times classes times columns are refused, about two minutes; and more pairs of a row and
a class that fit, which have 16 bytes each."""

SHARP = 2
"""The power of the likelihoods that are scaled: methods put rows into classes that fit closely,
more so than chance. Of 1, 2 and 4, tried on adult-sample and adult with four methods, 2 and 4 found
three to ten more classes of a thousand."""

ROUNDS, SETTLED = 200, 1e-3
"""Scaling ends after this many rounds, or if no factor of a class changes by more than this share.
Of 50 to 400 rounds, tried on the same, all from 100 on found as much."""


class WholeRows(NamedTuple):
    """The distinct rows of the original, and the classes that fit each.

    Parameters
    ----------
    row : int64, shape (people,)
        Everybody's distinct row.
    counts : int64, shape (rows,)
        How many people have each.
    likelihood : sparse float64, shape (rows, classes)
        How likely the row is for a member of the class, relative to the best class; none for
        classes that do not fit.
    """

    row: Ints
    counts: Ints
    likelihood: sparse.csr_array

    def sharper(self) -> WholeRows:
        """Return the same with likelihoods to the power of `SHARP`."""
        return self._replace(likelihood=self.likelihood.power(SHARP))


class ClassGuesses(NamedTuple):
    """What is guessed of everybody.

    Parameters
    ----------
    own_class, own_row : float64, shape (people,)
        The chance to name their class and their row, equal ones sharing it.
    likeliest : int64, shape (people,)
        The class that is guessed, the first of equal ones.
    chances : sparse float64, shape (rows, classes)
        How likely every distinct row is in each class.
    """

    own_class: Floats
    own_row: Floats
    likeliest: Ints
    chances: sparse.csr_array


def whole_rows(people: People, tables: TableComparison, cells: CellsOfClasses) -> WholeRows:
    """Return the distinct rows, and how likely each is for the members of every class.

    Raises
    ------
    TooLargeError
        If there are too many rows, classes and columns, or pairs that fit.
    """
    refuse_many(tables.before.shape[0], people.classes.sizes.size, tables.before.shape[1])
    rows, row, counts = np.unique(tables.before, axis=0, return_inverse=True, return_counts=True)
    known = rows.astype(np.int32)
    blocks, pairs = [], 0
    for batch in in_time(batches(len(known), people.classes)):
        score = cells.evidence(known[batch], 0.0)
        score -= score.max(axis=1, keepdims=True)
        fits = score > -FURTHEST
        pairs += int(np.count_nonzero(fits))
        if pairs > MOST_PAIRS:
            raise TooLargeError(
                f"more than {MOST_PAIRS:,} pairs of a row and a class fit. Use a release with "
                "fewer rows"
            )
        of_row, of_class = np.nonzero(fits)
        indptr = np.concatenate([[0], np.cumsum(fits.sum(axis=1))])
        entries = (np.exp(score[of_row, of_class]), of_class, indptr)
        blocks.append(sparse.csr_array(entries, shape=score.shape))
    return WholeRows(row.ravel(), counts, sparse.csr_array(sparse.vstack(blocks)))


def refuse_many(rows: int, classes: int, columns: int) -> None:
    """Refuse more rows times classes times columns than are compared."""
    if rows * classes * columns > MOST_SCORES:
        raise TooLargeError(
            f"{rows:,} rows, {classes:,} classes and {columns:,} columns exceed the limit of "
            f"{MOST_SCORES:,} together. Use a release with fewer rows"
        )


def scaled(rows: WholeRows, sizes: Ints) -> Floats:
    """Return the factor of every class by which all people at once fill the classes.

    If time runs out, the factors of the last round are returned; each round improves them.

    Parameters
    ----------
    rows : WholeRows
        Rows, and the classes that fit.
    sizes : int64, shape (classes,)
        How many people are in each class.

    Returns
    -------
    float64, shape (classes,)
        Likelihoods times these factors, scaled by row, sum to the sizes of the classes.

    Examples
    --------
    Ann fits both classes of one and Bob only the first, so Ann is in the second.

    >>> fits = sparse.csr_array(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> rows = WholeRows(np.array([0, 1]), np.array([1, 1]), fits)
    >>> factor = scaled(rows, np.array([1, 1]))
    >>> bool(factor[1] > 20 * factor[0])
    True
    """
    likelihood, tiny = rows.likelihood, np.finfo(float).tiny
    transposed = sparse.csr_array(likelihood.T)
    factor = np.ones(sizes.size)
    rounds = iter(in_time(range(ROUNDS)))
    next(rounds)  # without time for one round there is no figure
    try:
        for _ in itertools.chain((0,), rounds):
            # Rows: everybody is in one class. Columns: every class is filled.
            of_row = rows.counts / np.maximum(likelihood @ factor, tiny)
            filled = transposed @ of_row
            updated = np.where(filled > 0, sizes / np.maximum(filled, tiny), factor)
            change = float(np.abs(updated / factor - 1).max(initial=0.0))
            factor = updated
            if change < SETTLED:
                break
    except OutOfTimeError:
        pass
    return factor


def class_guesses(rows: WholeRows, people: People, factor: Floats) -> ClassGuesses:
    """Return the likeliest class of everybody, by likelihoods times a factor of each class."""
    chances, sizes = rows.likelihood.copy(), people.classes.sizes
    chances.data = chances.data * factor[chances.indices]
    start = chances.indptr[:-1]
    of_entry = np.repeat(np.arange(start.size), np.diff(chances.indptr))
    chances.data /= np.add.reduceat(chances.data, start)[of_entry]
    # The best classes of every row; equal ones share the guess.
    best = np.maximum.reduceat(chances.data, start)
    ties = chances.data >= best[of_entry] * (1 - TIE)
    number = np.add.reduceat(ties.astype(np.int64), start)
    members = np.add.reduceat(np.where(ties, sizes[chances.indices], 0), start)
    entries = np.nonzero(ties)[0]
    first = chances.indices[entries[np.searchsorted(entries, start)]].astype(np.int64)
    # Whether somebody's own class is among them.
    keys = of_entry[ties] * sizes.size + chances.indices[ties]
    hits = np.isin(rows.row * sizes.size + people.own, keys)
    return ClassGuesses(
        own_class=hits / number[rows.row],
        own_row=hits / members[rows.row],
        likeliest=first[rows.row],
        chances=chances,
    )


def figures_of(
    search: str,
    guesses: ClassGuesses,
    rows: WholeRows,
    people: People,
    situation: AttackInput[Any],
) -> Iterator[AttackFigure]:
    """Yield how often class and row are found, and what follows of attached columns."""
    known = 0 if situation.tables is None else situation.tables.before.shape[1]
    setting, n = Setting(known=known, search=search), people.own.size
    largest = float(people.classes.sizes.max()) / n
    for name, hits, guess in (
        (CLASS, guesses.own_class, largest),
        (ROW, guesses.own_row, 1 / n),
    ):
        yield AttackFigure(name, float(hits.mean()), "share of people", guess, setting=setting)
    attached = () if situation.attached is None else (situation.attached, *situation.further)
    for column in attached:
        named = setting._replace(column=printable(column.name))
        yield from _attached(column, guesses, rows, people, named)


def _attached(
    column: Attached, guesses: ClassGuesses, rows: WholeRows, people: People, setting: Setting
) -> Iterator[AttackFigure]:
    """Yield how often the value of an attached column is guessed, and how often it is certain."""
    names, value = np.unique(column.value, return_inverse=True)
    n, classes = people.own.size, people.classes.sizes.size
    shape = (classes, names.size)
    counts = sparse.csr_array((np.ones(n), (people.own, value)), shape=shape)
    shares = sparse.csr_array(counts / people.classes.sizes[:, None])
    # The likeliest value over all classes that a person may be in.
    guessed = np.asarray((guesses.chances @ shares).argmax(axis=1)).ravel()[rows.row]
    right = guessed == value
    most = float(np.bincount(value).max() / n)
    unit, alone = "share of people", float(names.size == 1)
    yield AttackFigure(ATTACHED, float(right.mean()), unit, most, setting=setting)
    # All members of the likeliest class have one value: how often, and how often it is theirs.
    certain: Bools = (np.diff(counts.indptr) == 1)[guesses.likeliest]
    yield AttackFigure(CERTAIN, float(certain.mean()), unit, alone, setting=setting)
    if certain.any():
        first: Int32s = counts.indices[counts.indptr[guesses.likeliest[certain]]]
        rightly = float((first == value[certain]).mean())
        yield AttackFigure(RIGHTLY, rightly, "share of these people", most, setting=setting)

"""A release as its distinct rows, scored by what an attacker knows of a person."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks.features.released_classes import (
    People,
    ReleasedClasses,
    batches,
    scores,
)
from graphveil.core.progress import in_time
from graphveil.evaluate.comparison import Bools, Floats, Ints, sparse

TIE = 1e-9

SURE = 0.9
"""A class with a larger chance is named."""

ECCENTRICITY = 1.5

LIKELIEST = 60

RARE = 0.05
"""Features of at most this share of the released rows are rare."""


class Known(NamedTuple):
    """What the attacker knows of some people.

    `people`: int64, shape (targets,): who they are; `items`: float64 ones, targets by features:
    what is known of them, right or wrong; `false_share`: the share of it that is false.
    """

    people: Ints
    items: sparse.csr_array
    false_share: float


class ScoreCounts(NamedTuple):
    """Features guessed of every target, beyond the known ones.

    `guessed, right, true`: float64, shape (targets,): how many were guessed, how many of them
    truly, out of how many.
    """

    guessed: Floats
    right: Floats
    true: Floats


class Guesses(NamedTuple):
    """What the attacker concludes of every target.

    `own_row, own_class`: float64, shape (targets,): the chance to name their row and their class,
    equal ones sharing it; `chance`: float64: what the attacker takes the chance of the likeliest
    class for; `likeliest_is_own`: bool: whether that class is theirs; `eccentric,
    eccentric_is_own`: bool: whether the score of Narayanan and Shmatikov is eccentric, and whether
    it is theirs; `others, rare`: the other features, all and the rare ones.
    """

    own_row: Floats
    own_class: Floats
    chance: Floats
    likeliest_is_own: Bools
    eccentric: Bools
    eccentric_is_own: Bools
    others: ScoreCounts
    rare: ScoreCounts


def guesses(known: Known, people: People) -> Guesses:
    """Return what the attacker concludes of every target.

    A class scores the logarithm of its size and, for every known feature that it shows, that of how
    much likelier the feature is known of its members than of others; chances are the softmax.
    """
    parts = [
        _guesses(known._replace(people=known.people[some], items=known.items[some]), people)
        for some in in_time(batches(known.people.size, people.classes))
    ]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in Guesses._fields
        if name not in {"others", "rare"}
    }
    every, rare = (joined([getattr(p, name) for p in parts]) for name in ("others", "rare"))
    return Guesses(**arrays, others=every, rare=rare)


def joined(parts: list[ScoreCounts]) -> ScoreCounts:
    """Return counts of several groups of targets as one.

    >>> one = ScoreCounts(*np.ones((3, 1)))
    >>> joined([one, one]).true.tolist()
    [1.0, 1.0]
    """
    guessed, right, true = (np.concatenate(column) for column in zip(*parts, strict=True))
    return ScoreCounts(guessed, right, true)


def _guesses(known: Known, people: People) -> Guesses:
    classes, own = people.classes, people.own[known.people]
    score = scores(known.items, classes, classes.weights(known.false_share))
    score += np.log(classes.sizes)
    best = score.max(axis=1, keepdims=True)
    ties = score >= best - TIE
    inside, targets = own >= 0, np.arange(own.size)
    is_best = ties[targets, own] & inside
    chance = np.exp(score - best)
    chance /= chance.sum(axis=1, keepdims=True)
    eccentric, named = _eccentric(known.items, classes)
    all_others, rare = _other_features(chance, known, people)
    return Guesses(
        own_row=is_best / (ties @ classes.sizes),
        own_class=is_best / ties.sum(axis=1),
        chance=chance.max(axis=1),
        likeliest_is_own=chance.argmax(axis=1) == own,
        eccentric=eccentric,
        eccentric_is_own=named == own,
        others=all_others,
        rare=rare,
    )


def _eccentric(items: sparse.csr_array, classes: ReleasedClasses) -> tuple[Bools, Ints]:
    """Return whether the score of Narayanan and Shmatikov is eccentric, and the class it names.

    The second best is that of another class: among rows the best has equals by design.
    """
    support = np.maximum(np.rint(classes.frequency * classes.n), 2)
    score = scores(items, classes, 1 / np.log(support))
    named = score.argmax(axis=1)
    if score.shape[1] < 2:
        return np.zeros(named.size, dtype=bool), named
    second, best = np.partition(score, -2, axis=1)[:, -2:].T
    share = classes.sizes / classes.n
    mean = score @ share
    deviation = np.sqrt(np.maximum((score * score) @ share - mean * mean, 0.0))
    return (best > second) & (best - second >= ECCENTRICITY * deviation), named


def _other_features(
    chance: Floats, known: Known, people: People
) -> tuple[ScoreCounts, ScoreCounts]:
    """Return the other features that are likelier than not, by the 60 likeliest classes."""
    classes = people.classes
    likely = _likeliest(chance)
    shown = sparse.csr_array(likely @ classes.rows)
    every = np.asarray(likely.sum(axis=1)).ravel()
    frequent = np.nonzero(classes.hidden > 0.5)[0]
    lacking = shown[:, frequent].toarray() == 0
    rows = np.repeat(np.arange(every.size), np.diff(shown.indptr))
    rest = every[rows] - shown.data
    chances = classes.truth * shown.data + classes.hidden[shown.indices] * rest
    shown.data = (chances > 0.5).astype(np.float64)
    if frequent.size:
        cells = lacking & (classes.hidden[frequent] * every[:, None] > 0.5)
        shown = shown + everywhere(frequent, cells, shown.shape[1])
    shown.eliminate_zeros()
    return other_features(shown, known, people)


def everywhere(features: Ints, cells: Bools, width: int) -> sparse.csr_array:
    """Return some columns of cells as a matrix of all features.

    >>> everywhere(np.array([2]), np.array([[True], [False]]), 3).toarray().tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    rows, columns = np.nonzero(cells)
    ones = np.ones(rows.size)
    return sparse.csr_array((ones, (rows, features[columns])), shape=(cells.shape[0], width))


def other_features(
    guessed: sparse.csr_array, known: Known, people: People
) -> tuple[ScoreCounts, ScoreCounts]:
    """Return how many features that are not known were guessed, and rightly: all, and rare."""
    rare = (people.classes.frequency <= RARE).astype(np.float64)
    further = guessed - guessed.multiply(known.items)
    true = people.before[known.people]
    true = true - true.multiply(known.items)
    cells = further, sparse.csr_array(further.multiply(true)), true
    of_all, of_rare = (
        [np.asarray(some @ weight) for some in cells] for weight in (np.ones(rare.size), rare)
    )
    return ScoreCounts(*of_all), ScoreCounts(*of_rare)


def _likeliest(chance: Floats) -> sparse.csr_array:
    """Return the chances of the likeliest classes of every target."""
    n, width = chance.shape
    number = min(LIKELIEST, width)
    columns = np.argpartition(-chance, number - 1, axis=1)[:, :number]
    values = np.take_along_axis(chance, columns, axis=1)
    indptr = np.arange(0, n * number + 1, number)
    return sparse.csr_array((values.ravel(), columns.ravel(), indptr), shape=(n, width))

"""What an attacker concludes about people from a few known items: class, row, further items.

For each target: (1) score all classes (`released_classes.py`), and take the softmax of scores and
logarithms of sizes for their chances; (2) the best class is the guess, with equal scores shared; a
row in it is one of its size; (3) a class with a chance above `SURE` is *named*; (4) further items
are predicted if their chance over the likeliest classes is above 1/2; (5) for comparison the score
of Narayanan and Shmatikov (IEEE S&P 2008), by weights 1/ln(support), names a class if it is
eccentric.

Departure in (5): eccentricity is measured between classes. Among rows the best always has k equals
in a k-anonymous release, so that it would never name anybody.

Targets are scored one by one. A linking step that assigns all targets at once, each class to at
most as many people as it has rows, belongs between (1) and (2). Cost: targets times classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks.features import released_classes
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.evaluate.comparison import Bools, sparse

TIE = 1e-9
"""Scores that differ by less are equal: rounding of sums must not decide."""

SURE = 0.9
"""A class with a larger chance is named."""

ECCENTRICITY = 1.5
"""How many standard deviations of scores the best class must be above the second, as in Narayanan
and Shmatikov."""

LIKELIEST = 60
"""Further items are predicted from this many of the likeliest classes; less likely ones hardly
count."""

RARE = 0.05
"""Features of at most this share of the released rows are rare: those whose disclosure says
something about one person."""


class Known(NamedTuple):
    """What the attacker knows of some people.

    Parameters
    ----------
    people : int64, shape (targets,)
        Who they are.
    items : sparse float64 array of ones, shape (targets, features)
        What is known of them, right or wrong.
    false_share : float
        The share of it that is false.
    """

    people: Ints
    items: sparse.csr_array
    false_share: float


class ScoreCounts(NamedTuple):
    """Further items guessed for every target, beyond the known ones.

    Parameters
    ----------
    guessed, right, true : float64, shape (targets,)
        How many were guessed, how many of them correctly, and how many there truly are.
    """

    guessed: Floats
    right: Floats
    true: Floats


class Guesses(NamedTuple):
    """What the attacker concludes about every target.

    Parameters
    ----------
    own_row, own_class : float64, shape (targets,)
        The chance to name their row and their class, equal ones sharing it.
    chance : float64, shape (targets,)
        What the attacker takes the chance of the likeliest class for.
    likeliest_is_own : bool, shape (targets,)
        Whether that class is theirs.
    eccentric, eccentric_is_own : bool, shape (targets,)
        Whether the score of Narayanan and Shmatikov is eccentric, and whether it names their class.
    others, rare : ScoreCounts
        The further items, all and the rare ones.
    """

    own_row: Floats
    own_class: Floats
    chance: Floats
    likeliest_is_own: Bools
    eccentric: Bools
    eccentric_is_own: Bools
    others: ScoreCounts
    rare: ScoreCounts


def guesses(known: Known, people: released_classes.People) -> Guesses:
    """Return what the attacker concludes about every target.

    A class scores the logarithm of its size and, for every known feature that it shows, that of how
    much likelier the feature is known of its members than of others; chances are the softmax.
    """
    parts = [
        _guesses(known._replace(people=known.people[batch], items=known.items[batch]), people)
        for batch in in_time(released_classes.batches(known.people.size, people.classes))
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


def _guesses(known: Known, people: released_classes.People) -> Guesses:
    # Step 1: scores of all classes for these targets, and the prior: larger classes hold more
    # people.
    classes, own = people.classes, people.own[known.people]
    score = classes.evidence(known.items, known.false_share)
    score += np.log(classes.sizes)
    # Step 2: all classes with the best score share the guess; people outside the release are never
    # right.
    best = score.max(axis=1, keepdims=True)
    ties = score >= best - TIE
    inside, targets = own >= 0, np.arange(own.size)
    is_best = ties[targets, own] & inside
    # Step 3: chances, a softmax that subtracts the best score first.
    chance = np.exp(score - best)
    chance /= chance.sum(axis=1, keepdims=True)
    # Steps 4 and 5: the other score, and further items.
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


def _eccentric(
    items: sparse.csr_array, classes: released_classes.ReleasedClasses
) -> tuple[Bools, Ints]:
    """Return whether the score of Narayanan and Shmatikov is eccentric, and the class it names.

    The second best is that of another class: among rows the best has equals by design.
    """
    # Narayanan and Shmatikov: rare items weigh more, by 1 / ln(support).
    support = np.maximum(np.rint(classes.frequency * classes.n), 2)
    score = released_classes.scores(items, classes, 1 / np.log(support))
    named = score.argmax(axis=1)
    if score.shape[1] < 2:
        return np.zeros(named.size, dtype=bool), named
    second, best = np.partition(score, -2, axis=1)[:, -2:].T
    # Mean and deviation over rows, as in the paper; the gap is to the second best class.
    share = classes.sizes / classes.n
    mean = score @ share
    deviation = np.sqrt(np.maximum((score * score) @ share - mean * mean, 0.0))
    return (best > second) & (best - second >= ECCENTRICITY * deviation), named


def _other_features(
    chance: Floats, known: Known, people: released_classes.People
) -> tuple[ScoreCounts, ScoreCounts]:
    """Return the further items that are likelier than not, by the likeliest classes."""
    classes = people.classes
    # Over the likeliest classes: how likely an item is shown.
    likely = _likeliest(chance)
    shown = sparse.csr_array(likely @ classes.rows)
    every = np.asarray(likely.sum(axis=1)).ravel()
    # Items so frequent that even a class that does not show them makes them likely.
    frequent = np.nonzero(classes.hidden > 0.5)[0]
    lacking = shown[:, frequent].toarray() == 0
    # An item is true with `truth` where it is shown, and with `hidden` where it is not.
    rows = np.repeat(np.arange(every.size), np.diff(shown.indptr))
    rest = every[rows] - shown.data
    chances = classes.truth * shown.data + classes.hidden[shown.indices] * rest
    shown.data = (chances > 0.5).astype(np.float64)
    # Frequent items that none of the likeliest classes shows are no entries of `shown`: add them.
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
    guessed: sparse.csr_array, known: Known, people: released_classes.People
) -> tuple[ScoreCounts, ScoreCounts]:
    """Return how many items that are not known were guessed, and correctly: all, and rare ones."""
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
    """Return the chances of the likeliest classes of every target, the others being 0.

    A sparse float64 array, shape (targets, classes).
    """
    n, width = chance.shape
    number = min(LIKELIEST, width)
    columns = np.argpartition(-chance, number - 1, axis=1)[:, :number]
    values = np.take_along_axis(chance, columns, axis=1)
    indptr = np.arange(0, n * number + 1, number)
    return sparse.csr_array((values.ravel(), columns.ravel(), indptr), shape=(n, width))

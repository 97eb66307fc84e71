"""x."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks.features.cells.published_cells import PublishedCells, TrueCells
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import Bools, Floats, Ints, special


class SuppressedCells(NamedTuple):
    """Cells of a column of which the classes of people do not publish the value.

    Cells of one kind say the same: their classes are of one size and publish one node, which is
    that of all values where nothing is generalized.

    `people`: int64: whose they are; `value`: int64: what they truly are; `kind`: int64: of which
    kind they are; `chances`: float64, shape (kinds, values): how likely the attacker takes each
    value to be; `shares`: float64, shape (kinds, values): how often each value stands in the whole
    column, among those below the node; `plain`: int64, shape (2, kinds): what is guessed without
    the method: the value below the node that is shown most often, and the commonest one of all.
    """

    people: Ints
    value: Ints
    kind: Ints
    chances: Floats
    shares: Floats
    plain: Ints


def silent_cells(
    shown: PublishedCells, truth: TrueCells, column: int, least: Ints
) -> SuppressedCells:
    """Return the cells of a column that are hidden, and what silence says of them.

    How many people have each value is known, and how many a class shows it of: the rest are those
    of whom nothing is shown. Of a class of s, fewer than `least` have a value that it does not
    publish, which makes one less likely that nearly all would have.
    """
    value, number = truth.value[:, column], int(shown.values[column])
    hidden = shown.value[:, column] == SUPPRESSED
    totals = np.bincount(value[value != SUPPRESSED], minlength=number)
    open_ = np.bincount(shown.value[~hidden, column], shown.sizes[~hidden], minlength=number)
    people = np.nonzero(hidden[truth.own] & (value != SUPPRESSED))[0]
    rest = np.maximum(totals - open_, 0.0)
    rest = (rest if rest.any() else totals) / max(rest.sum() or totals.sum(), 1.0)
    sizes, of_size = np.unique(shown.sizes[truth.own[people]], return_inverse=True)
    fewest = np.zeros(shown.sizes.max() + 1, dtype=np.int64)
    fewest[shown.sizes] = least
    others = special.bdtr(
        np.maximum(fewest[sizes] - 2, 0)[:, None], np.maximum(sizes - 1, 0)[:, None], rest[None, :]
    )
    weights = rest * np.where((sizes > 1)[:, None], others, 1.0)
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, rest)
    chances = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    plain = np.array([[open_.argmax()], [totals.argmax()]])
    return SuppressedCells(
        people=people,
        value=value[people].astype(np.int64),
        kind=of_size,
        chances=chances,
        shares=np.broadcast_to(totals / max(totals.sum(), 1), chances.shape),
        plain=np.broadcast_to(plain, (2, sizes.size)),
    )


def by_class(classes: Ints, right: Bools) -> tuple[Floats, Floats]:
    """Return the hits and the cells of every class that hides any: its members are not drawn."""
    position = np.unique(classes, return_inverse=True)[1]
    hits, number = np.zeros((2, int(position.max()) + 1))
    np.add.at(hits, position, right)
    np.add.at(number, position, 1)
    return hits, number


def mean_by_person(people: Ints, values: Floats, n: int) -> Floats:
    """Return the mean of everybody's values; NaN where there are none.

    >>> mean_by_person(np.array([0, 0]), np.array([0.5, 1.0]), 2).tolist()
    [0.75, nan]
    """
    number = np.bincount(people, minlength=n)
    means = np.full(n, np.nan)
    np.divide(np.bincount(people, weights=values, minlength=n), number, out=means, where=number > 0)
    return means

"""What a class says about a column by publishing nothing of it.

Members of a class of s people do not have a value as often as the rule would have published it. So
a value that nearly everybody has is less likely in a suppressed cell than among all people. The
attacker also knows how many people have each value, and sees how many show it: the rest are in
suppressed cells. Chances are, for a value v,

    proportional to rest_v * P(at most least - 2 of the s - 1 others have v),

others being drawn by `rest`. After Wong et al., 2007, in idea; the computation is graphveil's own.
Cost: people and distinct sizes of classes times values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks.features.cells.published_cells import PublishedCells, TrueCells
from graphveil.core.array_types import Floats, Ints
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import Bools, special


class SuppressedCells(NamedTuple):
    """Cells of a column whose value the classes of people do not publish.

    Cells of one kind say the same: their classes are of one size and publish one node, which is
    that of all values if nothing is generalized.

    Parameters
    ----------
    people : int64, shape (cells,)
        Whose they are.
    value : int64, shape (cells,)
        What they truly are.
    kind : int64, shape (cells,)
        Of which kind they are.
    chances : float64, shape (kinds, values)
        How likely the attacker takes each value to be.
    shares : float64, shape (kinds, values)
        How often each value is in the entire column, among those below the node.
    plain : int64, shape (2, kinds)
        What is guessed without the method: the value below the node that is shown most often, and
        the most common one of all.
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
    """Return the cells of a column that are suppressed, and what silence says about them.

    Parameters
    ----------
    shown : PublishedCells
        The release.
    truth : TrueCells
        What people have, to find whose cells are suppressed and to count.
    column : int
        The column.
    least : int64, shape (classes,)
        How many members of a class have what it publishes, at least.

    Returns
    -------
    SuppressedCells
        One kind per distinct size of a class.
    """
    value, number = truth.value[:, column], int(shown.values[column])
    hidden = shown.value[:, column] == SUPPRESSED
    # How many people have each value (public statistics), and how many of them show it.
    totals = np.bincount(value[value != SUPPRESSED], minlength=number)
    open_ = np.bincount(shown.value[~hidden, column], shown.sizes[~hidden], minlength=number)
    people = np.nonzero(hidden[truth.own] & (value != SUPPRESSED))[0]
    # The rest is in suppressed cells; if nothing is left, take all.
    rest = np.maximum(totals - open_, 0.0)
    rest = (rest if rest.any() else totals) / max(rest.sum() or totals.sum(), 1.0)
    # Kinds of cells: sizes of classes, each with the number of members that would have sufficed.
    sizes, of_size = np.unique(shown.sizes[truth.own[people]], return_inverse=True)
    fewest = np.zeros(shown.sizes.max() + 1, dtype=np.int64)
    fewest[shown.sizes] = least
    # Given that a member has the value, at most least - 2 of the s - 1 others do: else the class
    # would publish it.
    others = special.bdtr(
        np.maximum(fewest[sizes] - 2, 0)[:, None], np.maximum(sizes - 1, 0)[:, None], rest[None, :]
    )
    weights = rest * np.where((sizes > 1)[:, None], others, 1.0)
    # If that excludes all values, fall back on the rest.
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
    """Return hits and cells of every class that suppresses any, for resampling classes.

    Two float64 arrays, shape (classes,).
    """
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

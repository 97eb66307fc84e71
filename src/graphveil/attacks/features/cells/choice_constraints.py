"""What a method's own choices say about suppressed cells: values that no member can have.

An attacker who knows how a method chooses classes knows that it would have chosen others for other
data. Two rules: a row was not moved to where fewer cells are suppressed (`after_moves`, for local
search), and parts were cut along a feature that counts determine (`after_cuts`, for Mondrian with
suppression). That choices reveal what was chosen from is an idea of Chhillar et al., 2025; the
inference is graphveil's own. Cost: pairs of classes times columns; cuts times classes times
features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks.features.cells.published_cells import PublishedCells
from graphveil.core.array_types import Ints
from graphveil.core.progress import check_time, in_time
from graphveil.data.codes import SUPPRESSED
from graphveil.data.feature_names import column_and_value
from graphveil.evaluate.comparison import Bools

FIRST, BALANCED = "first", "balanced"
"""How `mondrian` chooses a cut: the first feature that is allowed, or the most balanced one."""

Excluded = Bools
"""Which features nobody of a class has, bool, shape (classes, features)."""


class Refined(NamedTuple):
    """What the method's own choices say about suppressed cells.

    Parameters
    ----------
    excluded : bool, shape (classes, features)
        Which features nobody of a class can have that it suppresses.
    unlikely : bool, shape (classes, features)
        Which ones nearly nobody has.
    """

    excluded: Excluded
    unlikely: Excluded


class Features(NamedTuple):
    """The features of a table.

    Parameters
    ----------
    column, number : int64, shape (features,)
        The column of each, and which of its values it is.
    names : list of str
        Their names, ``column=value``.
    """

    column: Ints
    number: Ints
    names: list[str]


def after_moves(shown: PublishedCells, features: Features, k: int, *, complete: bool) -> Refined:
    """Return what is ruled out where no row could be moved so that fewer cells are hidden.

    A cluster of s rows hides s times the columns in which they differ. Where a row leaves one with
    h hidden columns, at least h hidden cells go with it. A cluster of t rows that hides g columns,
    and shows at most m columns in which the row is another, hides at most g + m (t + 1) cells
    more. A row that would gain has moved, if its cluster had more than k rows. Members of the class
    have what it shows; of hidden columns all but the one that is asked about may be another.

    Classes of equal rows below 2k are one cluster. Of others, of those of k rows, and where a
    search ends before every move that gains is made, the same values are unlikely: most rows are
    where they hide least.
    """
    value, sizes = shown.value, shown.sizes
    hides = value == SUPPRESSED
    hidden = hides.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(shown.values)])
    found = np.zeros((sizes.size, int(starts[-1])), dtype=np.bool_)
    # For every class that suppresses something: which other classes a member could have moved to.
    for own in in_time(np.flatnonzero(hidden).tolist()):
        # Columns that another class shows and in which a member surely or possibly has a different
        # value; one of them is the column asked about.
        others = ~hides & (value != value[own])
        unlike = others.sum(axis=1) - 1
        # Moving there would suppress fewer cells, if the member had the value that the class shows:
        # h cells are saved at least, g + m (t + 1) added at most.
        better = np.flatnonzero(hidden[own] - hidden - unlike * (sizes + 1) > 0)
        # So no member has the value that such a class shows in a column that the own class
        # suppresses.
        for column in np.flatnonzero(hides[own]).tolist():
            there = value[better, column]
            found[own, starts[column] + there[there != SUPPRESSED]] = True
    found = found[:, starts[features.column] + features.number]
    # Certain only for clusters that could spare a row and are one cluster, after a complete search.
    free = ((sizes > k) & (sizes < 2 * k) & complete)[:, None]
    return Refined(found & free, found & ~free)


def after_cuts(shown: PublishedCells, features: Features, k: int, cut: str = FIRST) -> Refined:
    """Return what is ruled out where rows were cut in two, along a feature that counts choose.

    All who have the feature of a cut publish it: nobody else of the part has it. How many have a
    feature lies between those who publish it and those who could have it. Where that does not
    settle which feature a part was cut along, nothing more is said of it.
    """
    settled = {FIRST: _first_cut, BALANCED: _balanced_cut}[cut]
    sizes = shown.sizes
    published = shown.value[:, features.column] == features.number
    hidden = shown.value[:, features.column] == SUPPRESSED
    excluded = np.zeros_like(published)
    # Features in the order in which the method tries them.
    order = sorted(
        range(features.column.size), key=lambda f: column_and_value(features.names[f]) or ()
    )
    parts = [np.arange(sizes.size)]
    while parts:
        check_time()
        # For a part: how many publish each feature, and how many could have it at most.
        part = parts.pop()
        publish = sizes[part] @ published[part]
        could = publish + (sizes[part] - 1) @ (hidden[part] & ~excluded[part])
        number = settled(publish[order], could[order], int(sizes[part].sum()), k)
        if part.size < 2 or number is None:
            continue
        # The cut is settled: nobody of the other side has its feature. Go on with both sides.
        having = published[part, order[number]]
        excluded[part[~having], order[number]] = True
        parts += [part[having], part[~having]]
    return Refined(excluded & hidden, np.zeros_like(published))


def _first_cut(publish: Ints, could: Ints, size: int, k: int) -> int | None:
    """Return the first feature that at least k and at most s - max(k, s // 2) of s rows have.

    None if a different feature may have been the first.
    """
    most = size - max(k, size // 2)
    perhaps = np.flatnonzero((publish >= k) & (publish <= most))
    # A cut along an earlier feature would be published by all who have it, k at least. This one is
    # the cut if it is allowed even if all who could have it do.
    settled = size // 2 >= k and perhaps.size and could[perhaps[0]] <= most
    return int(perhaps[0]) if settled else None


def _balanced_cut(publish: Ints, could: Ints, size: int, k: int) -> int | None:
    """Return the feature whose smaller side is largest, of k rows at least, the first of equals.

    All who have the feature of the cut publish it, so its smaller side is known. It may be any
    whose side all others could stay below, or, of those behind it, reach. None if several may be.
    """
    # How balanced each feature's cut is, and how balanced it is at least if more have it than
    # publish it.
    side = np.minimum(publish, size - publish)
    least = np.minimum(side, np.maximum(size - could, 0))
    # A feature may be the cut if its side is larger than what each earlier one has at least, and
    # not smaller than what each later one has. The cut is settled if only one may be.
    before = np.maximum.accumulate(np.concatenate([[-1], least[:-1]]))
    behind = np.maximum.accumulate(np.concatenate([[-1], least[:0:-1]]))[::-1]
    perhaps = np.flatnonzero((side >= k) & (before < side) & (behind <= side))
    return int(perhaps[0]) if perhaps.size == 1 else None

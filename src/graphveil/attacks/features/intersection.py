"""Whose class is whose in two releases of the same people: both together leave fewer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.costs import seconds_of_passes
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

NO_SECOND = "there is no second release. Give its folder: --with DIR, or second=RELEASE in Python"
SHORT = "joint class smaller than promised"


def intersection(situation: AttackInput[BipartiteComparison], options: AttackOptions) -> Outcome:
    """Return how few people share both of a person's classes.

    Raises
    ------
    NotMeasuredError
        Where there is no second release or no linkage of it, or there are no people.
    """
    del options
    if situation.second is None:
        raise NotMeasuredError(NO_SECOND)
    if situation.second.position is None:
        raise NotMeasuredError("needs the linkage of the second release, which is not beside it")
    if not situation.comparison.original.n_users:
        raise NotMeasuredError("there are no people")
    first, second = (
        equal_rows(pair.released)[pair.linked] for pair in (situation.comparison, situation.second)
    )
    joint = group_sizes(first * (second.max() + 1) + second)
    single = [group_sizes(labels) for labels in (first, second)]
    of_rows = isinstance(situation.release.guarantee, KAnonymity | SmoothKAnonymity)
    levels = situation.levels if of_rows else None
    missing = {}
    if levels is None:
        missing[SHORT] = "the release promises no number of equal rows"
    figures = list(_figures(joint, single, levels))
    return Outcome(figures, 1 / joint, 1 / np.minimum(*single), missing)


def group_sizes(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for everybody how many people have their label.

    Examples
    --------
    >>> group_sizes(np.array([7, 3, 7])).tolist()
    [2, 1, 2]
    """
    _, number, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return sizes[number]


def _figures(
    joint: NDArray[np.int64],
    single: list[NDArray[np.int64]],
    levels: NDArray[np.int64] | None,
) -> Iterator[AttackFigure]:
    """Yield figures of the joint class, beside those of the release that alone tells more."""
    median = float(min(np.median(sizes) for sizes in single))
    part, value = "joint class, median", float(np.median(joint))
    yield AttackFigure(part, value, "people", median, direction="higher is better")
    unit = "share of people"
    if levels is not None:
        alone = max(float((sizes < levels).mean()) for sizes in single)
        yield AttackFigure(SHORT, float((joint < levels).mean()), unit, alone)
    alone = max(float((sizes == 1).mean()) for sizes in single)
    yield AttackFigure("alone in the joint class", float((joint == 1).mean()), unit, alone)


INTERSECTION = Attack(
    name="intersection",
    kind=Bipartite,
    knows="which class of equal rows is a person's, in two releases of the same people",
    definition="how many people share both classes: the median, the share of people with fewer "
    "than the first release promised, and alone; beside it one release, the one that tells more",
    source="Ganta, Kasiviswanathan and Smith 2008",
    needs_linkage=True,
    cost="linear; needs a second release",
    compute=intersection,
    seconds=seconds_of_passes,
    options=AttackOptions,
)
"""The entry of this attack."""

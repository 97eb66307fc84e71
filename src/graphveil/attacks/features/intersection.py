"""Two releases of the same people, combined by their classes: the attack `intersection`.

Ganta, Kasiviswanathan and Smith, *Composition attacks and auxiliary information in data privacy*,
KDD 2008. The attacker knows a person's class in each of two releases; the person is in both. The
joint class holds the people who share both classes, and may be smaller than either release
guarantees. The baseline is the single release that reveals more. All people are counted, so figures
have no interval. Cost: n log n.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.wording import linked
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.core.array_types import Ints
from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

NO_SECOND = "no second release was given. Use --with DIR, or second=RELEASE in Python"
"""Why there is no figure without a second release."""

SHORT = "joint class smaller than promised"
"""The name of the figure that compares with the guarantee."""


def intersection(situation: AttackInput[BipartiteComparison], _options: AttackOptions) -> Outcome:
    """Return how few people share both of a person's classes."""
    if situation.second is None:
        raise NotMeasuredError(NO_SECOND)
    if situation.second.position is None:
        raise NotMeasuredError("requires the linkage of the second release, which is missing")
    if not situation.comparison.original.n_users:
        raise NotMeasuredError("the data has no rows")
    # The class of each person in both releases, and of both together.
    first, second = (
        equal_rows(pair.released)[pair.linked] for pair in (situation.comparison, situation.second)
    )
    # How many people have both classes of a person, and either one.
    joint = group_sizes(first * (second.max() + 1) + second)
    # What each release shows alone is the baseline.
    single = [group_sizes(labels) for labels in (first, second)]
    of_rows = isinstance(situation.release.guarantee, KAnonymity | SmoothKAnonymity)
    # Only a guarantee of equal rows is about sizes of classes.
    levels = situation.levels if of_rows else None
    missing = {}
    if levels is None:
        missing[SHORT] = "the release guarantees no minimum number of equal rows"
    figures = list(_figures_of_both(joint, single, levels))
    return Outcome(figures, 1 / joint, 1 / np.minimum(*single), missing)


def group_sizes(labels: Ints) -> Ints:
    """Return for each person how many people have their label.

    >>> group_sizes(np.array([7, 3, 7])).tolist()
    [2, 1, 2]
    """
    _, number, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return sizes[number]


def _figures_of_both(
    joint: Ints, single: list[Ints], levels: Ints | None
) -> Iterator[AttackFigure]:
    """Yield figures of the joint class, next to those of the single release that reveals more."""
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
    knows="the equivalence class of a person in each of two releases of the same people",
    definition="how many people share both classes: the median, the share of people with fewer "
    "than the first release guarantees, and the share who are unique; compared with "
    "whichever single release reveals more",
    source="Ganta, Kasiviswanathan and Smith 2008",
    cost="linear; requires a second release",
    compute=intersection,
    said=(
        linked(
            "alone in the joint class",
            does="has a second release of the same people",
            line="unique when two releases are combined",
            label="a second release",
            says="{n} people are unique when both releases are combined",
        ),
    ),
)

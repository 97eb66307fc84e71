"""What a release says of people who may be in it: rows scored by classes that would be theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.features.classes import ReleasedClasses
from graphveil.attacks.features.scoring import batches, scores
from graphveil.lazy import lazy_module

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = lazy_module("scipy.sparse")

TRUTHS = (0.6, 0.5, 0.75, 0.99)
"""How often a published entry is taken for true of a member of its class."""

JOINT = {0.75: 4, 0.99: 5}
"""Truths for which members are shared out among the classes, and the column of their scores."""

MOST_JOINT_CELLS = 5_000_000
"""Up to so many people and classes they are."""

ROUNDS, STRIDE = 30, 1.5
"""Rounds of Sinkhorn's scaling, and how far each goes: beyond 1 it converges sooner."""

LEAST_ODDS = np.float32(1e-20)

CHOICES = ([1], [0], [0, 2, 4], [2, 4], [3, 5])
"""Scores that are used together."""


def evidence(
    items: sparse.csr_array, classes: ReleasedClasses, share: float = 1.0
) -> NDArray[np.float64]:
    """Return scores of rows that grow with how likely their people took part.

    Parameters
    ----------
    items
        float64 ones, people by features: what they truly have.
    classes
        The classes of a release that may hold them.
    share
        How many of all people who may be in the release these are.

    Returns
    -------
    float64, shape (people, 6): for every truth how much likelier the row is as one of the class
    that fits best than as anybody's; then for two of them how much of a member the person is where
    every class has as many members as it shows, 0 where people and classes are too many.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> classes = ReleasedClasses(rows[[0]], np.array([2]), np.array([0.5, 0.5]), 0.9, 0.1)
    >>> first, second = evidence(rows, classes)[:, 0]
    >>> bool(first > second)
    True
    """
    made = np.zeros((items.shape[0], len(TRUTHS) + len(JOINT)))
    joint = items.shape[0] * classes.sizes.size <= MOST_JOINT_CELLS
    whole = [slice(None)] if joint else batches(items.shape[0], classes)
    frequency = np.minimum(classes.frequency, 0.999)
    rarity = np.log1p(-frequency) - np.log(frequency)
    members: NDArray[np.float64] = share * classes.sizes.astype(np.float64)
    shown = np.diff(classes.rows.indptr)
    absent = classes.rows @ np.log1p(-frequency)
    for some in whole:
        common = scores(items[some], classes, np.ones(frequency.size))
        rare = scores(items[some], classes, rarity) - absent
        for column, truth in enumerate(TRUTHS):
            fit = np.log(truth / (1 - truth)) * common + rare
            fit += np.log1p(-truth) * shown
            made[some, column] = fit.max(axis=1)
            if joint and truth in JOINT:
                made[some, JOINT[truth]] = _shared_out(fit, members)
    return made


def _shared_out(fit: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the odds that people are members of any class.

    Every class has as many members as it shows, everybody is in one class or in none. Sinkhorn's
    scaling, overrelaxed: Thibault et al., 2021.
    """
    fit = fit - fit.max(axis=0)
    weight = np.exp(np.maximum(fit, -60.0, out=fit), dtype=np.float32)
    free: NDArray[np.float32] = np.ones(len(weight), dtype=np.float32)
    scale = sizes / (free @ weight)
    for _ in range(ROUNDS):
        odds: NDArray[np.float32] = weight @ scale.astype(np.float32)
        free = np.float32(1) / (1 + odds)
        scale *= (sizes / (free @ weight) / scale) ** STRIDE
    logarithm: NDArray[np.float64] = np.log(np.maximum(odds, LEAST_ODDS), dtype=np.float64)
    return logarithm

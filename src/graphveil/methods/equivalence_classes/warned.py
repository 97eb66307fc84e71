"""What the owner of classes of equal rows should know, by what was counted on them."""

from __future__ import annotations

from typing import NamedTuple

from graphveil import owner_warnings
from graphveil.methods.equivalence_classes.rule import Kept


class EntryCounts(NamedTuple):
    """What the advice on a release depends on.

    Parameters
    ----------
    rows
        The rows.
    empty
        The rows that are released without features.
    certain
        The published entries whose feature every row of the class has in the original.
    kept
        What the release shares with the original.
    """

    rows: int
    empty: int
    certain: int
    kept: Kept


def advice_on(counts: EntryCounts, *, k: int) -> tuple[str, ...]:
    """Return what the owner should know, in the order in which it is said.

    Parameters
    ----------
    counts
        What was counted on the release and on the original.
    k
        The smallest class.

    Examples
    --------
    >>> advice_on(EntryCounts(10, 1, 4, Kept(10, 8, 0)), k=2)
    ()
    >>> len(advice_on(EntryCounts(10, 2, 6, Kept(10, 6, 1)), k=2))
    3
    """
    kept = counts.kept
    return (
        *owner_warnings.taking_part(k, kept.jaccard),
        *owner_warnings.MANY_CERTAIN.passed_by(counts.certain, kept.shared + kept.created),
        *owner_warnings.LARGE_EMPTY_CLASS.passed_by(counts.empty, counts.rows),
    )

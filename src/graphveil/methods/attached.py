"""Refuse attached columns that show what known ones hide, before anything is published.

What they show is computed from the data and from what is about to be published of it, by
`graphveil.measures.narrowing`. Two answers are possible. Columns that show most of what is hidden
are refused: the guarantee would be true and worth nothing. Columns that show some of it are asked
about, and the answer is stated in the release (`AttachedColumns.may_narrow`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import UNSET

from graphveil.claims.conditions import LEAST_NARROWED, MOST_NARROWED, AttachedColumns
from graphveil.core.errors import DataError
from graphveil.core.hints import option
from graphveil.core.questions import Problem
from graphveil.core.text import counted
from graphveil.data import Data
from graphveil.measures.narrowing import Narrowing, narrowings


class ShownError(DataError):
    """Attached columns show what known ones hide.

    `found` says how far, `columns` names them, and `share` is the share of hidden cells that the
    owner can accept; None where most of what is hidden would be shown.
    """

    found: str = ""
    columns: tuple[str, ...] = ()
    share: float | None = None


def check_attached(original: Data, released: Data, condition: AttachedColumns) -> None:
    """Refuse attached columns that narrow hidden cells of known ones further than was accepted.

    Parameters
    ----------
    original, released
        The data, and what is published of it at the same positions.
    condition
        The attached columns, and the share that the owner accepted.

    Raises
    ------
    ShownError
        If they show most of what is hidden; or with a question, if they show some of it.
    """
    found = narrowings(original, released, condition.columns)
    refused = _alone_first([one for one in found if one.is_refused])
    if refused:
        listed, name = "; ".join(map(narrowed_words, refused)), refused[0].attached[-1]
        error = ShownError(
            f"{listed}. The release would show what it is to hide. Use {option('drop', name)} "
            f"instead of {option('attach')}, or protect the column, too ({option('known')})."
        )
        error.found, error.columns = listed, _attached_in(refused)
        raise error
    accepted = LEAST_NARROWED if condition.may_narrow is UNSET else condition.may_narrow
    asked = _alone_first([one for one in found if one.beyond > accepted])
    if asked:
        # The answer covers all columns together, too, which are not named if one alone is.
        share = proposed(max(one.beyond for one in found))
        choices = (
            f"use {option('drop')}, protect the attached column, too ({option('known')}), or "
            f"accept it with {option('may_narrow', share)}"
        )
        problems = [
            Problem(one.known, "may_narrow", str(share), narrowed_words(one), choices)
            for one in asked
        ]
        error = ShownError.asking(problems, {})
        error.found = "; ".join(one.text for one in problems)
        error.columns, error.share = _attached_in(asked), share
        raise error


def proposed(beyond: float) -> float:
    """Return the share that covers what was found, in steps of 0.05.

    >>> proposed(0.074), proposed(0.48)
    (0.1, 0.5)
    """
    steps = math.ceil(beyond / LEAST_NARROWED)
    return min(round(steps * LEAST_NARROWED, 2), MOST_NARROWED)


def _attached_in(found: Sequence[Narrowing]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in found for name in one.attached))


def _alone_first(found: Sequence[Narrowing]) -> list[Narrowing]:
    """Return what was found of single columns, and of all together where none is found alone."""
    alone = {one.known for one in found if len(one.attached) == 1}
    return [one for one in found if len(one.attached) == 1 or one.known not in alone]


def narrowed_words(one: Narrowing) -> str:
    """Return what attached columns show of a known one, with both shares."""
    names, s = ", ".join(one.attached), "s" if len(one.attached) == 1 else ""
    together = "" if s else " together"
    cells = counted(one.hidden, "hidden cell", spec=",")
    if one.is_same:
        return (
            f"{names}{together} say{s} the same as {one.known}: each value goes with one value, so "
            f"{'it shows' if s else 'they show'} all of the {cells} of {one.known}"
        )
    return (
        f"{names}{together} narrow{s} {100 * one.share:.1f}% of the {cells} of {one.known} to one "
        f"value ({100 * one.chance:.1f}% by chance)"
    )

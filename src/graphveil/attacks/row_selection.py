"""Which of an attack's rows the terminal shows, if one figure was measured under several settings.

`Said.take` is one of these functions: `each` shows all, `most_known` the setting in which the
attacker knew most, `strongest` the setting with the largest share. What they omit is still in the
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from graphveil.core.rows import Row

LARGEST, EXTREMES = "largest", ("least", "median", "largest")
"""Names of the draws that have figures of their own: the extremes and the median."""

FEWEST_TARGETS = 20
"""A setting with fewer targets is in the rows alone: its interval is too wide to head a line."""

DIFFER, DOUBLED = 0.1, 0.02
"""When a mean of draws hides too much: the extremes are further apart than `DIFFER`, or the
strongest draw is at least twice the mean and more than `DOUBLED` above it. Matching with few known
people finds hardly anyone or nearly everyone, and a mean of both describes neither."""


class Taken(NamedTuple):
    """A row that is shown; if draws differ much it is the strongest, next to the weakest.

    `least`: the value of the weakest draw; None unless draws differ much.
    """

    row: Row
    least: float | None = None


Take = Callable[[Sequence[Row], Sequence[Row]], Iterator[Taken]]
"""Chooses what the terminal shows among the rows that fit a `Said`; it also gets all rows."""


def each(fitting: Sequence[Row], _every: Sequence[Row]) -> Iterator[Taken]:
    """Yield every row."""
    yield from map(Taken, fitting)


def most_known(fitting: Sequence[Row], _every: Sequence[Row]) -> Iterator[Taken]:
    """Yield the row of the most that was tried to be known, of enough targets."""
    large = [r for r in fitting if r.sample_size is None or r.sample_size >= FEWEST_TARGETS]
    yield from map(Taken, [max(large, key=lambda row: row.setting.known or 0)] if large else [])


def strongest(fitting: Sequence[Row], _every: Sequence[Row]) -> Iterator[Taken]:
    """Yield the setting of the largest share.

    If its draws differ much, that is the strongest of them, next to the weakest: with few known
    people nearly everybody or hardly anybody is found, and a mean describes neither.
    """
    # Rows of single draws (least, median, largest) are found by the setting of their mean.
    draws = {(row.setting._replace(draw=""), row.setting.draw): row for row in fitting}
    best: Taken | None = None
    for (setting, draw), row in draws.items():
        if draw:
            continue
        least, most = draws.get((setting, EXTREMES[0])), draws.get((setting, LARGEST))
        # Compare settings by what they would show: the strongest draw where draws differ, else the
        # mean.
        apart = least is not None and most is not None and _apart(least, row, most)
        shown = most if most is not None and apart else row
        if best is None or (shown.value or 0.0) > (best.row.value or 0.0):
            best = Taken(shown, None if least is None or shown is row else least.value)
    yield from () if best is None else (best,)


def _apart(least: Row, mean: Row, most: Row) -> bool:
    """Whether a mean of draws says too little about the strongest one."""
    low, middle, high = (row.value or 0.0 for row in (least, mean, most))
    return high - low > DIFFER or (high >= 2 * middle and high - middle > DOUBLED)

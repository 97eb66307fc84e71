"""How well scores separate two groups: the area under the curve, and recall at few false alarms.

The curve is that of true against false alarms over all thresholds (receiver operating
characteristic). Equal scores share one threshold. One person may have several scores, in either
group: intervals resample people and not scores.

Sorting costs s log s for s scores; an interval of recall costs `RESAMPLES` times the scores near
the threshold, of which `_top` bounds the number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.attacks.intervals import RESAMPLES, of_area, percentiles, resampled
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.evaluate.comparison import Bools
from graphveil.evaluate.metric import Sample

_CELLS_OF_PAIRS = 1_000_000
"""Weights of scores (resamples times scores) that are worked on at once; it bounds memory alone."""

_REACH, _MORE = 4, 20
"""How far a threshold may move in a resample: past at most `_REACH` times as many of the second
group as are allowed, plus `_MORE`. Only scores above that are looked at. A smaller number would cut
off thresholds of lucky resamples."""


class Scored(NamedTuple):
    """Scores of two groups.

    Parameters
    ----------
    value : float64, shape (scores,)
        Higher ones speak for the first group.
    positive : bool, shape (scores,)
        Whether it is a score of the first group; there are some of either.
    person : int64, shape (scores,)
        Whose score it is.
    """

    value: Floats
    positive: Bools
    person: Ints


class Curve:
    """The curve of true against false alarms over all thresholds; equal scores share one.

    Parameters
    ----------
    scored : Scored
        Scores of both groups; the first group is the one that high scores speak for.
    """

    def __init__(self, scored: Scored) -> None:
        """Sort the scores, the highest first."""
        order = np.argsort(-scored.value, kind="stable")
        self._value = scored.value[order]
        self._first = scored.positive[order]
        self._person = np.unique(scored.person[order], return_inverse=True)[1]
        self.people = int(self._person.max(initial=-1)) + 1

    def area(self) -> float:
        """Return the area: how often the first group scores higher, equal scores being a half."""
        return float(self._shares()[self._first].mean())

    def area_sample(self, *, times: float = 1.0) -> Sample:
        """Return the interval around the area: see `of_area`."""
        area, shares = self.area(), self._shares()
        first, second = (float(some.sum()) for some in (self._first, ~self._first))
        weights = (shares - area) / np.where(self._first, first, second)
        off = np.bincount(self._person, weights, minlength=self.people).astype(np.float64)
        return of_area(area, off, 2 * min(first, second), times=times)

    def recall_at(self, false: float) -> float:
        """Return the share of the first group above a threshold that so few others exceed."""
        return float(self._recall(np.ones((1, self.people)), false)[0])

    def recall_sample(self, false: float, rng: np.random.Generator) -> Sample:
        """Return the interval of the bootstrap over people around `recall_at`."""
        size = max(1, _CELLS_OF_PAIRS // max(self._top(false), self.people))
        parts = [
            self._recall(resampled(self.people, min(size, RESAMPLES - start), rng), false)
            for start in in_time(range(0, RESAMPLES, size))
        ]
        return percentiles(np.concatenate(parts), self.people, fewest=self.people)

    def _shares(self) -> Floats:
        """Return for every score which share of the other group lies on its wrong side."""
        # For a run of equal scores: what is strictly on the wrong side, and half of the run itself.
        starts, group = self._groups(self._value.size)
        first, second = (
            np.add.reduceat(some.astype(np.int64), starts) for some in (self._first, ~self._first)
        )
        above = np.cumsum(first) - first / 2
        below = second.sum() - np.cumsum(second) + second / 2
        shares: Floats = np.where(
            self._first, below[group] / second.sum(), above[group] / first.sum()
        )
        return shares

    def _groups(self, most: int) -> tuple[Ints, Ints]:
        """Return where runs of equal scores begin, of the highest ones, and every score's run."""
        value = self._value[:most]
        new = np.r_[True, value[1:] != value[:-1]]
        return np.nonzero(new)[0], np.cumsum(new) - 1

    def _top(self, false: float) -> int:
        """Return among how many of the highest scores the threshold of a resample can be."""
        second = np.cumsum(~self._first)
        return int(np.searchsorted(second, _REACH * false * second[-1] + _MORE, side="right"))

    def _recall(self, often: Floats, false: float) -> Floats:
        """Return the recall if people count as often as given, one value per resample.

        `often`: float64, shape (resamples, people).
        """
        # Only the highest scores matter for a low false-positive rate.
        most = self._top(false)
        starts, _ = self._groups(most)
        weight = often[:, self._person[:most]]
        first, second = (
            np.add.reduceat(weight * some[:most], starts, axis=1)
            for some in (self._first, ~self._first)
        )
        # Sizes of both groups in each resample, by how often their people count.
        in_all = [
            often @ np.bincount(self._person[some], minlength=self.people)
            for some in (self._first, ~self._first)
        ]
        # The lowest threshold that few enough of the second group exceed gives the most of the
        # first.
        fits = np.cumsum(second, axis=1) <= false * in_all[1][:, None]
        reached = np.where(fits, np.cumsum(first, axis=1), 0).max(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: Floats = reached / in_all[0]
        return shares

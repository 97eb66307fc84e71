"""Numbers that may rest on a sample: a property before and after, how far apart, and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.metric import Figure, Figures, Sample

Interval = tuple[float, float]


class Estimate(NamedTuple):
    """A number; where it was not computed from everything, what it rests on.

    Parameters
    ----------
    value
        The number.
    sample
        None where it is exact.
    """

    value: float
    sample: Sample | None = None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval, the number itself where it is exact; None where none is known."""
        if self.sample is None:
            return self.value, self.value
        if self.sample.low is None or self.sample.high is None:
            return None
        return self.sample.low, self.sample.high


def compared(before: Estimate, after: Estimate, unit: str) -> Figures:
    """Yield both numbers, how far they are apart, and that over the first unless it is 0.

    Examples
    --------
    >>> [(f.part, f.value) for f in compared(Estimate(4.0), Estimate(5.0), "edges")]
    [('original', 4.0), ('released', 5.0), ('absolute difference', 1.0), ('relative error', 0.25)]
    """
    yield Figure("original", before.value, unit, judged=False, sample=before.sample)
    yield Figure("released", after.value, unit, judged=False, sample=after.sample)
    apart = difference(before, after)
    yield Figure("absolute difference", apart.value, unit, sample=apart.sample)
    if before.value:
        error = relative(before, after)
        yield Figure("relative error", error.value, "ratio", sample=error.sample)


def difference(before: Estimate, after: Estimate) -> Estimate:
    """Return how far two numbers of independent samples are apart.

    Notes
    -----
    Its interval is recovered from both of theirs (Zou and Donner 2008).

    Examples
    --------
    >>> sampled = Estimate(5.0, Sample(9, 4.0, 7.0))
    >>> difference(Estimate(3.0), sampled)
    Estimate(value=2.0, sample=Sample(size=9, low=1.0, high=4.0))
    """
    change = after.value - before.value
    ends = None
    if before.interval is not None and after.interval is not None:
        (low_before, high_before), (low, high) = before.interval, after.interval
        down = hypot(after.value - low, high_before - before.value)
        up = hypot(high - after.value, before.value - low_before)
        ends = change - down, change + up
    return _size_of(change, ends, before, after)


def relative(before: Estimate, after: Estimate) -> Estimate:
    """Return the absolute difference of two numbers of independent samples over the first.

    Notes
    -----
    Its interval is recovered from both of theirs (Donner and Zou 2012), where the first number is
    above 0 in all of its own.

    Examples
    --------
    >>> relative(Estimate(4.0), Estimate(5.0, Sample(9, 4.0, 7.0)))
    Estimate(value=0.25, sample=Sample(size=9, low=0.0, high=0.75))
    """
    change = (after.value - before.value) / abs(before.value)
    ends = None
    if before.interval is not None and after.interval is not None and before.interval[0] > 0:
        low, high = _ratio(before.value, before.interval, after.value, after.interval)
        ends = low - 1, high - 1
    return _size_of(change, ends, before, after)


def _ratio(below: float, of_below: Interval, above: float, of_above: Interval) -> Interval:
    """Return the interval of a ratio of two independent numbers."""
    (a, b), (c, d) = of_below, of_above
    product = above * below
    down = product**2 - c * b * (2 * above - c) * (2 * below - b)
    up = product**2 - d * a * (2 * above - d) * (2 * below - a)
    low = (product - sqrt(max(down, 0.0))) / (b * (2 * below - b)) if 2 * below > b else 0.0
    return low, (product + sqrt(max(up, 0.0))) / (a * (2 * below - a))


def _size_of(change: float, ends: Interval | None, before: Estimate, after: Estimate) -> Estimate:
    """Return the size of a change, whose interval has these ends; exact where both numbers are."""
    samples = [sample for sample in (before.sample, after.sample) if sample is not None]
    if not samples:
        return Estimate(abs(change))
    size = min(sample.size for sample in samples)
    if ends is None:
        return Estimate(abs(change), Sample(size))
    near, _, far = sorted((abs(ends[0]), abs(change), abs(ends[1])))  # rounding aside
    return Estimate(abs(change), Sample(size, 0.0 if ends[0] <= 0 <= ends[1] else near, far))


def half_l1(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    errors: NDArray[np.float64],
    sizes: Sequence[int],
) -> Estimate:
    """Return half the L1 distance of two distributions, each sampled or not.

    Parameters
    ----------
    before, after
        float64, shape (values,): shares.
    errors
        float64, shape (values,): by how much the difference of each share is off at most, in 95 %
        of all samples for all shares together; NaN where that is not known.
    sizes
        How many draws the shares of each side rest on that is sampled.

    Notes
    -----
    The distance is off by at most half the sum of the errors: a wide interval, since the shares are
    rarely all off, and all in the direction that counts.

    Examples
    --------
    >>> half_l1(np.array([0.5, 0.5]), np.array([0.25, 0.75]), np.array([0.1, 0.1]), [100])
    Estimate(value=0.25, sample=Sample(size=100, low=0.15, high=0.35))
    """
    value, error = float(np.abs(before - after).sum() / 2), float(errors.sum() / 2)
    if not sizes:
        return Estimate(value)
    if np.isnan(error):
        return Estimate(value, Sample(min(sizes)))
    return Estimate(value, Sample(min(sizes), max(value - error, 0.0), min(value + error, 1.0)))

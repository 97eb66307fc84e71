"""What a metric is: an entry that says what it reads, what it means, and how it is computed.

Also numbers that may come from a sample: a property before and after, and intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from math import hypot, sqrt
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from graphveil.core.array_types import Floats
from graphveil.core.lazy import resolve
from graphveil.core.rows import ANY, Row, Rows, Setting
from graphveil.core.text import percent
from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.evaluate.comparison import Comparison, GraphComparison

C = TypeVar("C", bound=Comparison[Any])


class Sample(NamedTuple):
    """What a number that was not computed from everything depends on.

    `size`: how many draws: sources of searches, runs of an algorithm; `low, high`: the 95%
    interval, where one is known.
    """

    size: int
    low: float | None = None
    high: float | None = None


class Figure(NamedTuple):
    """One number of a metric.

    `part`: which of the metric's numbers it is; `value, unit`: the number; `judged`: whether the
    metric's direction applies; not to numbers that are given for comparison; `sample`: none where
    the number is exact; `setting`: what it was measured under; `name`: the part without the name of
    what it is a figure of; empty for the part itself.
    """

    part: str
    value: float
    unit: str
    judged: bool = True
    sample: Sample | None = None
    setting: Setting = ANY
    name: str = ""


Figures = Iterator[Figure]


def of_one(name: str, figures: Figures, *, between: str = ", ") -> Figures:
    """Yield figures of one of several things, whose name their parts begin with; of "", the same.

    >>> [one] = of_one("friends", iter([Figure("released", 0.5, "share of arcs")]))
    >>> one.part, one.name, one.setting.of
    ('friends, released', 'released', 'friends')
    """
    for figure in figures:
        if name:
            part, setting = f"{name}{between}{figure.part}", figure.setting._replace(of=name)
            yield figure._replace(part=part, name=figure.part, setting=setting)
        else:
            yield figure


def row_of(rows: Rows, question: str, part: str) -> Row | None:
    """Return a row that has a value; None if there is none."""
    return next((row for row in rows if (row.question, row.part) == (question, part)), None)


def value_of(rows: Rows, question: str, part: str) -> float | None:
    """Return the value of a row; None if there is none.

    >>> value_of(Rows([]), "edges-kept", "share") is None
    True
    """
    row = row_of(rows, question, part)
    return None if row is None else row.value


@dataclass(frozen=True)
class Said:
    """How a figure of a metric is said in one line.

    - `question`: what the line asks, in a few words.
    - `figures`: the figure that answers it, and the figure it is compared with (empty for none). Of
      several the largest is said; an empty mapping stands for every figure of the metric.
    - `unit`: what the number counts, with ``{top}`` of the setting and ``{part}``, the figure's
      name.
    - `place`: where the line stands among those of one kind of data.
    - `beside`: what follows the unit if there is a figure to compare with, which is in the braces.
    - `ending`: what makes figure and unit a sentence.
    - `spelled`: how the number is written.
    - `value`: the number that is said, from all rows and the figure.
    - `headline`: whether the sentence stands above all lines.
    """

    question: str
    figures: str | Mapping[str, str]
    unit: str
    _: KW_ONLY
    place: int
    beside: str = "; before {}"
    ending: str = ""
    spelled: Callable[[float], str] = percent
    value: Callable[[Rows, float], float] = lambda _, value: value
    headline: bool = False

    @property
    def compared(self) -> Mapping[str, str]:
        """The figures that answer, each with the one it is compared with."""
        return {self.figures: ""} if isinstance(self.figures, str) else self.figures


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[C]):
    """One metric.

    - `kind`: the container it reads; `direction`: which way is better.
    - `definition`: what the number is, in words; `source`: where it is defined.
    - `needs_linkage`: whether it compares person by person.
    - `cost`: how its time grows; heavy ones are omitted from large data unless asked for.
    - `compute`: comparison to figures; raises `NotMeasuredError` where there are none, with the
      reason. Of this package ``module.function``, which is imported where it is asked for.
    - `compute_mean`: comparisons of one original to the figures of their mean; None where it
      follows from theirs.
    - `by_name`: computed only where it is asked for: it takes long, or needs held-back people.
    - `reads_tables`: whether one of users by features reads tables as well, as their one-hot
      features.
    - `as_sample`: parts of which `graphveil.evaluate.utility_loss` says what share of the original
      is as far off when kept at random. They cost linear time, and the less is kept, the farther
      off they are.
    - `said`: how it is said in one line; None for a metric that only the full table shows.
    """

    name: str
    kind: type[Graph | Bipartite | Table | Network]
    direction: Literal["higher is better", "lower is better"]
    definition: str
    source: str
    compute: str | Callable[[C], Figures]
    needs_linkage: bool = False
    cost: Literal["linear", "near-linear", "heavy"] = "near-linear"
    compute_mean: str | Callable[[Sequence[C]], Figures] | None = None
    by_name: bool = False
    reads_tables: bool = False
    as_sample: Sequence[str] | Literal["every part"] = ()
    said: Said | None = None

    def felt(self, part: str) -> bool:
        """Return whether a part is reported as the share that is comparable when kept at random.

        Parameters
        ----------
        part
            The name of a figure.

        Returns
        -------
        bool
            Whether `as_sample` names it.

        Examples
        --------
        >>> from graphveil import METRICS
        >>> METRICS["edges-kept"].felt("share"), METRICS["triangles"].felt("original")
        (True, False)
        """
        return self.as_sample == "every part" or part in self.as_sample

    def figures(self, pair: C) -> Figures:
        """Yield the figures of a comparison.

        Parameters
        ----------
        pair
            An original and its release, of the kind that the metric reads.

        Returns
        -------
        Iterator[Figure]
            The numbers of the metric; none if it is undefined for this pair.

        Raises
        ------
        NotMeasuredError
            If it cannot be computed; the message says why.

        Examples
        --------
        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
        >>> pair = Comparison.of(ring, ring, np.arange(4), Randomness(seed=1))
        >>> [figure.value for figure in gv.METRICS["mean-degree"].figures(pair)]
        [2.0, 2.0, 0.0, 0.0]
        """
        figures: Figures = _function(self.compute)(pair)
        return figures

    def mean_figures(self, pairs: Sequence[C]) -> Figures:
        """Yield the figures of the mean of several releases of one original.

        Parameters
        ----------
        pairs
            The comparisons, all with the same original.

        Returns
        -------
        Iterator[Figure]
            The numbers of the metric, for a metric with `compute_mean`.

        Raises
        ------
        NotMeasuredError
            If they cannot be computed; the message says why.

        Examples
        --------
        >>> import graphveil as gv
        >>> from graphveil.core.randomness import Randomness
        >>> ring = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
        >>> pair = Comparison.of(ring, ring, None, Randomness(seed=1))
        >>> metric = gv.METRICS["degree-distribution"]
        >>> [figure.value for figure in metric.mean_figures([pair, pair])]
        [0.0, 0.0]
        """
        figures: Figures = _function(self.compute_mean)(pairs)
        return figures


def _function(home: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = home
    if isinstance(home, str):
        module, _, name = home.rpartition(".")
        function = resolve(f"graphveil.evaluate.{module}:{name}")
    return function


class NotMeasuredError(Exception):
    """A number cannot be computed here; the message says why."""


NEEDS_LINKAGE = "requires the linkage, but the release has no private folder with it"

UNDEFINED = "undefined: no value for the original or the release"
"""Why a metric without figures is not measured: an undefined number is missing, and no 0."""


def share_of(number: float, whole: float, unit: str, *, part: str = "share") -> Figures:
    """Yield a number as a share of a whole; nothing where that is 0.

    >>> [figure.value for figure in share_of(1, 4, "share of edges")]
    [0.25]
    >>> list(share_of(0, 0, "share of edges"))
    []
    """
    if whole:
        yield Figure(part, number / whole, unit)


def counted(number: int, whole: int, unit: str, share: str) -> Figures:
    """Yield a number, and what it is of a whole."""
    yield Figure("count", number, unit)
    yield from share_of(number, whole, share)


def with_error(before: float | None, after: float | None, unit: str) -> Figures:
    """Yield a property before and after, how far apart, and that over the first.

    A property that is undefined on either side is missing, and so is an error relative to 0.
    """
    if before is not None and after is not None:
        yield from before_and_after(before, after, unit)
        if before:
            yield Figure("relative error", abs(after - before) / abs(before), "ratio")


def compared(
    pair: GraphComparison, statistic: Callable[[Graph], float | None], unit: str
) -> Figures:
    """Yield a statistic before and after, how far apart, and that over the first."""
    return with_error(statistic(pair.original), statistic(pair.released), unit)


def before_and_after(before: float, after: float, unit: str) -> Figures:
    """Yield a property of the original and of the release, and how far they are apart."""
    yield Figure("original", before, unit, judged=False)
    yield Figure("released", after, unit, judged=False)
    yield Figure("absolute difference", abs(after - before), unit)


Z = 1.959963984540054
"""The quantile of the normal distribution that 2.5% exceed."""


def wilson(hits: int, people: int) -> Sample:
    """Return the interval of Wilson around the share of hits among people drawn one by one.

    Wilson, 1927: the shares whose own normal interval holds the observed one.
    """
    return Sample(people, *wilson_ends(hits / people, people, Z))


def wilson_ends(share: float, size: float, quantile: float) -> tuple[float, float]:
    """Return the ends of the interval of Wilson around a share of so many, whole or not.

    >>> [round(end, 3) for end in wilson_ends(0.0, 10, Z)]
    [0.0, 0.278]
    """
    square = quantile * quantile / size
    middle = share + square / 2
    half = quantile * np.sqrt(share * (1 - share) / size + square / (4 * size))
    low, high = (float((middle + side) / (1 + square)) for side in (-half, half))
    return max(min(low, share), 0.0), min(max(high, share), 1.0)


Interval = tuple[float, float]


class Estimate(NamedTuple):
    """A number; where it was not computed from everything, what it depends on."""

    value: float
    sample: Sample | None = None

    @property
    def interval(self) -> Interval | None:
        """The 95% interval, the number itself where it is exact; None where none is known."""
        if self.sample is None:
            return self.value, self.value
        if self.sample.low is None or self.sample.high is None:
            return None
        return self.sample.low, self.sample.high


def estimates_compared(before: Estimate, after: Estimate, unit: str) -> Figures:
    """Yield both numbers, how far they are apart, and that over the first unless it is 0.

    >>> [(f.part, f.value) for f in estimates_compared(Estimate(4.0), Estimate(5.0), "edges")]
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
    """Return the distance of two numbers of independent samples; interval: Zou and Donner 2008."""
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

    Its interval is recovered from both of theirs (Donner and Zou 2012), where the first number is
    above 0 in all of its own.
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


def half_l1_sampled(
    before: Floats, after: Floats, errors: Floats, sizes: Sequence[int]
) -> Estimate:
    """Return half the L1 distance of two distributions, each sampled or not.

    `errors`: by how much the difference of each share is off at most, in 95% of all samples for all
    shares together; NaN where not known. The distance is off by at most half their sum: a wide
    interval, since the shares are rarely all off, and all in the direction that counts.
    """
    value, error = float(np.abs(before - after).sum() / 2), float(errors.sum() / 2)
    if not sizes:
        return Estimate(value)
    if np.isnan(error):
        return Estimate(value, Sample(min(sizes)))
    return Estimate(value, Sample(min(sizes), max(value - error, 0.0), min(value + error, 1.0)))


def percent_of_others(share: float) -> str:
    """Return the rest of a share as a percentage."""
    return percent(1 - share)

"""What a metric is: an entry that says what it reads, what it means, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from graphveil.data import Bipartite, Graph, Network, Table
from graphveil.evaluate.comparison import Comparison
from graphveil.lazy import resolve

C = TypeVar("C", bound=Comparison[Any])


class Sample(NamedTuple):
    """What a number that was not computed from everything rests on.

    Parameters
    ----------
    size
        How many draws: sources of searches, runs of an algorithm.
    low, high
        The 95 % interval, where one is known.
    """

    size: int
    low: float | None = None
    high: float | None = None


class Figure(NamedTuple):
    """One number of a metric.

    Parameters
    ----------
    part
        Which of the metric's numbers it is.
    value, unit
        The number.
    judged
        Whether the metric's direction applies; not to numbers that are given for comparison.
    sample
        None where the number is exact.
    """

    part: str
    value: float
    unit: str
    judged: bool = True
    sample: Sample | None = None


Figures = Iterator[Figure]


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[C]):
    """One metric.

    Parameters
    ----------
    name
        As on the command line.
    kind
        The container it reads.
    direction
        Which way is better.
    definition
        What the number is, in words.
    source
        Where it is defined.
    needs_linkage
        Whether it compares person by person.
    cost
        How its time grows; heavy ones are left out of large data unless asked for.
    compute
        Comparison to figures; raises `NotMeasuredError` where there are none, with the reason. Of
        this package ``module.function``, which is imported where it is asked for.
    compute_mean
        Comparisons of one original to the figures of their mean; None where it follows from theirs.
    by_name
        Whether it is computed only where it is asked for: it takes long, or needs held-back people.
    reads_tables
        Whether one of users by features reads tables as well, as their one-hot features.
    as_sample
        Parts of which `graphveil.evaluate.felt` says what share of the original is as far off when
        kept at random. They cost linear time, and the less is kept, the farther off they are.
    """

    name: str
    kind: type[Graph | Bipartite | Table | Network]
    direction: Literal["higher is better", "lower is better"]
    definition: str
    source: str
    needs_linkage: bool
    cost: Literal["linear", "near-linear", "heavy"]
    compute: str | Callable[[C], Figures]
    compute_mean: str | Callable[[Sequence[C]], Figures] | None = None
    by_name: bool = False
    reads_tables: bool = False
    as_sample: Sequence[str] | Literal["every part"] = ()

    def felt(self, part: str) -> bool:
        """Return whether a part is said as the share that is as far off when kept at random."""
        return self.as_sample == "every part" or part in self.as_sample

    def figures(self, pair: C) -> Figures:
        """Return the figures of a comparison."""
        figures: Figures = _function(self.compute)(pair)
        return figures

    def mean_figures(self, pairs: Sequence[C]) -> Figures:
        """Return the figures of the mean of several releases of one original."""
        figures: Figures = _function(self.compute_mean)(pairs)
        return figures


def _function(home: Any) -> Callable[..., Any]:
    function: Callable[..., Any] = home
    if isinstance(home, str):
        module, _, name = home.partition(".")
        function = resolve(f"graphveil.evaluate.{module}:{name}")
    return function


class NotMeasuredError(Exception):
    """A number cannot be computed here; the message says why."""


NEEDS_LINKAGE = "needs the owner's linkage, which is not beside the release"

UNDEFINED = "undefined: the original or the release has no value"
"""Why a metric without figures is not measured: an undefined number is missing, and no 0."""


def relative_error(before: float, after: float, *, sample: Sample | None = None) -> Figures:
    """Yield the absolute difference over the value before; nothing where that is 0."""
    if before:
        error = abs(after - before) / abs(before)
        yield Figure("relative error", error, "ratio", sample=sample)


def share_of(number: float, whole: float, unit: str, *, part: str = "share") -> Figures:
    """Yield a number as a share of a whole; nothing where that is 0.

    Examples
    --------
    >>> [figure.value for figure in share_of(1, 4, "share of edges")]
    [0.25]
    >>> list(share_of(0, 0, "share of edges"))
    []
    """
    if whole:
        yield Figure(part, number / whole, unit)


def before_and_after(
    before: float,
    after: float,
    unit: str,
) -> Figures:
    """Yield a property of the original and of the release, and how far they are apart."""
    yield Figure("original", before, unit, judged=False)
    yield Figure("released", after, unit, judged=False)
    yield Figure("absolute difference", abs(after - before), unit)

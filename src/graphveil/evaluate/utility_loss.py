"""Utility loss as the share of edges, entries or rows that would have to be kept at random.

Random samples of an original stand for releases of it: what is not kept is not released. A figure
of a release is compared with those of the samples, which gives figures of different metrics one
scale. Only metrics of linear cost are compared: 27 samples and the original are measured.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row
from graphveil.data import Bipartite, Graph, Table
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Bools,
    Comparison,
    GraphComparison,
    Int32s,
    TableComparison,
    sparse,
)
from graphveil.evaluate.metric import Metric, NotMeasuredError

RATES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
"""The shares that are kept: denser near 1, since releases lose little as a rule."""

DRAWS = 3
"""How many samples there are of each share: their spread gives an interval."""

Kept = Bools


def samples(pair: Comparison[Any]) -> Iterator[Comparison[Any]]:
    """Yield the original next to itself, then next to its samples: for each rate, each draw.

    One sample is in memory at a time. A sample has a stream of its own, and exactly its share of
    the edges, entries or rows, rounded.

    >>> from graphveil.core.randomness import Randomness
    >>> ring = Graph.from_edges(np.arange(100), (np.arange(100) + 1) % 100)
    >>> pair = GraphComparison(
    ...     original=ring, released=ring, position=None, randomness=Randomness(seed=1)
    ... )
    >>> [sample.released.n_edges for sample in samples(pair)][:7]
    [100, 10, 10, 10, 30, 30, 30]
    """
    n, sample_of = _sampler(pair)
    yield sample_of(np.ones(n, dtype=bool))
    for rate in RATES:
        for draw in range(DRAWS):
            yield sample_of(kept_at_random(n, rate, draw, pair.randomness))


def kept_at_random(n: int, rate: float, draw: int, randomness: Randomness) -> Kept:
    """Return which of n things are kept, bool, shape (n,): this share of them, drawn evenly.

    >>> int(kept_at_random(50, 0.3, 0, Randomness(seed=1)).sum())
    15
    """
    rng = randomness.stream(f"kept at random: {rate}, draw {draw}")
    # Draw the smaller of the two sides: those kept, or those that are not.
    size = round(rate * n)
    few = min(size, n - size)
    kept = np.full(n, size > few)
    kept[rng.choice(n, few, replace=False, shuffle=False)] = size <= few
    return kept


def _sampler(pair: Comparison[Any]) -> tuple[int, Callable[[Kept], Comparison[Any]]]:
    """Return how many edges, entries or rows there are, and what makes a sample of them."""
    common = {
        "original": pair.original,
        "position": np.arange(pair.original.size),
        "randomness": pair.randomness,
    }
    if isinstance(pair, GraphComparison):
        graph, tie = pair.original, tie_of_entry(pair.original)
        return graph.n_edges, lambda kept: _GraphSample(
            released=graph.with_entries(kept[tie]), whole=pair, **common
        )
    if isinstance(pair, BipartiteComparison):
        before = pair.before
        return before.nnz, lambda kept: _BipartiteSample(
            released=pair.released, whole=pair, part=_entries(before, kept), **common
        )
    if isinstance(pair, TableComparison):
        codes = pair.before
        return codes.shape[0], lambda kept: _TableSample(
            released=pair.released,
            cells=(codes, np.where(kept[:, None], codes, np.int32(SUPPRESSED))),
            **common,
        )
    raise TypeError(f"cannot sample a {type(pair).__name__}")


def tie_of_entry(graph: Graph) -> Ints:
    """Return the number of the edge, as in `Graph.edges`, of every entry of neighbor lists.

    >>> tie_of_entry(Graph.from_edges([0, 1], [2, 2], n=3)).tolist()  # lists: [2], [2], [0, 1]
    [0, 1, 0, 1]
    """
    source = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees())
    forward = source < graph.indices
    numbers = np.arange(graph.n_edges)
    ties = np.empty(graph.indices.size, dtype=np.int64)
    ties[forward] = numbers
    # the entries of the later end, in order of it and then of the earlier one
    ties[~forward] = np.argsort(graph.indices[forward], kind="stable")
    return ties


def _entries(matrix: sparse.csr_array, kept: Kept) -> sparse.csr_array:
    """Return the matrix of ones with some of its entries alone."""
    before = np.concatenate([[0], np.cumsum(kept)])
    indices = matrix.indices[kept]
    return sparse.csr_array(
        (matrix.data[: indices.size], indices, before[matrix.indptr]), shape=matrix.shape
    )


@dataclass(frozen=True, kw_only=True)
class _GraphSample(GraphComparison):
    """A graph and some of its edges, all at their places; what is known of the graph is reused."""

    whole: GraphComparison

    @cached_property
    def aligned(self) -> Graph:
        return self.released

    @cached_property
    def edges_kept(self) -> int:
        return self.released.n_edges

    @cached_property
    def share_before(self) -> float | None:
        return self.whole.share_before


@dataclass(frozen=True, kw_only=True)
class _BipartiteSample(BipartiteComparison):
    """Users by features and some of their entries, over the features of original and release."""

    whole: BipartiteComparison
    part: sparse.csr_array

    @property
    def before(self) -> sparse.csr_array:
        return self.whole.before

    @property
    def after(self) -> sparse.csr_array:
        return self.part

    @cached_property
    def kept(self) -> sparse.csr_array:
        return self.part

    @cached_property
    def popularity(self) -> tuple[Ints, Ints]:
        return self.whole.popularity[0], self.popularity_kept


@dataclass(frozen=True, kw_only=True)
class _TableSample(TableComparison):
    """A table and some of its rows: of the others nothing is shown."""

    cells: tuple[Int32s, Int32s]

    @cached_property
    def before(self) -> Int32s:
        return self.cells[0]

    @cached_property
    def after(self) -> Int32s:
        return self.cells[1]


WORDS = {Graph: "edges", Bipartite: "entries", Table: "rows"}
"""What is kept at random, by the kind of data."""

SAME = 1e-9
"""Figures that differ by no more than this share of their range are the same."""


class Share(NamedTuple):
    """The share that is as far off when kept at random, and the ends of its interval."""

    low: float
    middle: float
    high: float


def with_samples(
    rows: Iterable[Row], pair: Comparison[Any], metrics: Sequence[Metric[Any]]
) -> list[Row]:
    """Return rows of these metrics, each with the share that is as far off when kept at random.

    Rows that do not compare, or that no share of the original equals, are as they were.

    Of the original, 9 shares are kept at random, 3 times each; `read_back` says which share has
    the distance of the release. One set of samples serves all metrics.
    """
    felt = {metric.name: metric for metric in metrics if metric.as_sample}
    rows = list(rows)
    if not any(row.question in felt and row.value is not None for row in rows):
        return rows
    curves = _curves(pair, list(felt.values()))
    return [_with_share(row, felt.get(row.question), curves) for row in rows]


Curves = dict[tuple[str, str], list[float]]
"""What the original itself and all samples score, by metric and part."""


def _curves(pair: Comparison[Any], metrics: Sequence[Metric[Any]]) -> Curves:
    curves: Curves = {}
    with stage("keeping at random", total=1 + len(RATES) * DRAWS) as advance:
        for sample in samples(pair):
            for metric in metrics:
                for part, value in _figures(metric, sample):
                    curves.setdefault((metric.name, part), []).append(value)
            advance(1)
    return curves


def _figures(metric: Metric[Any], sample: Comparison[Any]) -> list[tuple[str, float]]:
    """Return the figures that compare; none where the sample has none."""
    try:
        figures = list(metric.figures(sample))
    except NotMeasuredError:
        return []
    return [(f.part, float(f.value)) for f in figures if f.judged and metric.felt(f.part)]


def _with_share(row: Row, metric: Metric[Any] | None, curves: Curves) -> Row:
    curve = curves.get((row.question, row.part), [])
    if metric is None or row.value is None or len(curve) != 1 + len(RATES) * DRAWS:
        return row
    # Distances from the original's own figure, so that a larger one is always worse.
    sign = 1 if metric.direction == "lower is better" else -1
    distances = sign * (np.array(curve[1:]).reshape(len(RATES), DRAWS) - curve[0])
    share = read_back(sign * (row.value - curve[0]), distances)
    if share is None:
        return row
    return dataclasses.replace(
        row,
        as_sample=share.middle,
        as_sample_low=share.low,
        as_sample_high=share.high,
        as_sample_of=WORDS[metric.kind],
    )


def read_back(distance: float, distances: Floats) -> Share | None:
    """Return the share that has this distance to the original when it is kept at random.

    The means of the draws are made monotone (isotonic regression) and read backwards by linear
    interpolation; of several shares with one distance the middle is given, and 0.99 or more where
    that is among them. The interval is read from the least and the largest of the draws likewise.

    0.99 stands for that or more, 0 for less than 0.1. None where all samples have one distance, so
    that no share can be distinguished from another, or the release is on the other side of the
    original.

    >>> ideal = np.repeat(1 - np.array(RATES)[:, None], 3, axis=1)
    >>> [round(share, 3) for share in read_back(0.4, ideal)]
    [0.6, 0.6, 0.6]
    >>> read_back(0.0, ideal).middle, read_back(0.95, ideal).middle, read_back(-0.1, ideal)
    (0.99, 0.0, None)
    """
    # Rounding aside, distances that are equal stay equal.
    near = SAME * float(np.abs(distances).max())
    if distance < -near or float(np.ptp(distances)) <= near:
        return None
    # Read the least, mean and largest of the draws backwards, each made monotone.
    low, middle, high = (
        _rates_at(distance, falling(curve), near)
        for curve in (distances.min(axis=1), distances.mean(axis=1), distances.max(axis=1))
    )
    # Several rates may have this distance: give the middle of them.
    share = RATES[-1] if middle[1] == RATES[-1] else (middle[0] + middle[1]) / 2
    return Share(min(low[0], share), share, max(high[1], share))


def falling(values: Floats) -> Floats:
    """Return the falling sequence that is nearest to these values by the sum of squares.

    Isotonic regression by its min-max formula (Robertson, Wright and Dykstra 1988, section 1.4):
    loading a library for nine numbers costs more than they do.
    """
    # At each place: the least, over starts up to it, of the largest mean of a run from that start
    # to an end at or after the place.
    first, last = np.indices((values.size, values.size))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    means = (sums[last + 1] - sums[first]) / np.maximum(last - first + 1, 1)
    means[last < first] = -np.inf
    best = np.maximum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
    best[last < first] = np.inf
    return np.asarray(best.min(axis=0))


def _rates_at(distance: float, curve: Floats, near: float) -> tuple[float, float]:
    """Return the least and the largest rate at which a falling curve has this distance."""
    if distance > curve[0] + near:
        return 0.0, 0.0
    if distance < curve[-1] - near:
        return RATES[-1], RATES[-1]
    farther = int(np.count_nonzero(curve > distance + near))
    not_nearer = int(np.count_nonzero(curve >= distance - near))
    least = RATES[0] if farther == 0 else _between(distance, curve, farther)
    most = RATES[-1] if not_nearer == curve.size else _between(distance, curve, not_nearer)
    return least, most


def _between(distance: float, curve: Floats, right: int) -> float:
    """Return the rate at which the line from the rate before this one has the distance."""
    left = right - 1
    part = (curve[left] - distance) / (curve[left] - curve[right])
    return float(RATES[left] + np.clip(part, 0.0, 1.0) * (RATES[right] - RATES[left]))

"""The unit that people feel: as far off as keeping a share of the ties, entries, rows at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Bipartite, Graph, Table
from graphveil.evaluate.comparison import Comparison
from graphveil.evaluate.metric import Metric, NotMeasuredError
from graphveil.evaluate.samples import DRAWS, RATES, samples
from graphveil.progress import stage
from graphveil.rows import Row

WORDS = {Graph: "ties", Bipartite: "entries", Table: "rows"}
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

    Parameters
    ----------
    rows
        The rows of the comparison.
    pair
        The original and the release.
    metrics
        The metrics that the rows are of.

    Notes
    -----
    Of the original, 9 shares are kept at random, 3 times each; `read_back` says which share has
    the distance of the release. One set of samples serves all metrics.
    """
    felt = {metric.name: metric for metric in metrics if metric.as_sample}
    rows = list(rows)
    if not any(row.question in felt and row.value is not None for row in rows):
        return rows
    curves = _curves(pair, list(felt.values()))
    return [_with_share(row, felt.get(row.question), curves) for row in rows]


def _curves(
    pair: Comparison[Any], metrics: Sequence[Metric[Any]]
) -> dict[tuple[str, str], list[float]]:
    """Return what the original itself and all samples score, by metric and part."""
    curves: dict[tuple[str, str], list[float]] = {}
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


def _with_share(
    row: Row, metric: Metric[Any] | None, curves: dict[tuple[str, str], list[float]]
) -> Row:
    curve = curves.get((row.question, row.part), [])
    if metric is None or row.value is None or len(curve) != 1 + len(RATES) * DRAWS:
        return row
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


def read_back(distance: float, distances: NDArray[np.float64]) -> Share | None:
    """Return the share that has this distance to the original when it is kept at random.

    Parameters
    ----------
    distance
        That of the release, 0 where nothing is changed.
    distances
        Those of the samples, float64, shape (rates, draws), in the order of `RATES`.

    Returns
    -------
    Share or None
        0.99 stands for that or more, 0 for less than 0.1. None where all samples have one distance,
        so that no share can be told from another, and where the release is on the other side of
        the original.

    Notes
    -----
    The means of the draws are made monotone (isotonic regression) and read backwards by linear
    interpolation; of several shares with one distance the middle is given, and 0.99 or more where
    that is among them. The interval is read from the least and the largest of the draws likewise.

    Examples
    --------
    >>> ideal = np.repeat(1 - np.array(RATES)[:, None], 3, axis=1)
    >>> [round(share, 3) for share in read_back(0.4, ideal)]
    [0.6, 0.6, 0.6]
    >>> read_back(0.0, ideal).middle, read_back(0.95, ideal).middle, read_back(-0.1, ideal)
    (0.99, 0.0, None)
    """
    near = SAME * float(np.abs(distances).max())
    if distance < -near or float(np.ptp(distances)) <= near:
        return None
    low, middle, high = (
        _rates_at(distance, falling(curve), near)
        for curve in (distances.min(axis=1), distances.mean(axis=1), distances.max(axis=1))
    )
    share = RATES[-1] if middle[1] == RATES[-1] else (middle[0] + middle[1]) / 2
    return Share(min(low[0], share), share, max(high[1], share))


def falling(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the falling sequence that is nearest to these values by the sum of squares.

    Parameters
    ----------
    values
        float64, shape (n,); few, since all ranges of them are looked at.

    Notes
    -----
    Isotonic regression by its min-max formula (Robertson, Wright and Dykstra 1988, section 1.4):
    loading a library for nine numbers costs more than they do.

    Examples
    --------
    >>> falling(np.array([4.0, 1.0, 2.0, 0.0])).tolist()
    [4.0, 1.5, 1.5, 0.0]
    """
    first, last = np.indices((values.size, values.size))
    sums = np.concatenate([[0.0], np.cumsum(values)])
    means = (sums[last + 1] - sums[first]) / np.maximum(last - first + 1, 1)
    means[last < first] = -np.inf
    best = np.maximum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
    best[last < first] = np.inf
    nearest: NDArray[np.float64] = best.min(axis=0)
    return nearest


def _rates_at(distance: float, curve: NDArray[np.float64], near: float) -> tuple[float, float]:
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


def _between(distance: float, curve: NDArray[np.float64], right: int) -> float:
    """Return the rate at which the line from the rate before this one has the distance."""
    left = right - 1
    part = (curve[left] - distance) / (curve[left] - curve[right])
    return float(RATES[left] + np.clip(part, 0.0, 1.0) * (RATES[right] - RATES[left]))

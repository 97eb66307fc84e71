"""Several releases of one original: what they keep on average.

Whether a property is preserved over several releases.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from graphveil.core.errors import ParameterError
from graphveil.core.rows import Row, Rows
from graphveil.evaluate.measuring import (
    chosen_metrics,
    compared,
    kind_compared,
    known_metrics,
    measured,
    rows_of,
)
from graphveil.release import Release

_APART = {"original", "released", "absolute difference"}


def averaged(
    releases: Sequence[Release[Any] | str | Path],
    *,
    original: Any,
    metrics: Sequence[str] | None = None,
    seed: int | None = None,
) -> Rows:
    """Return what releases of one original keep on average: the statistic first, then its error.

    Where a metric has a statistic of the original and of the release, the released ones are
    averaged, and the errors are those of their mean: noise that pulls up in one release and down in
    the next is no error of the method. Distributions are averaged, too, before they are compared.
    Every other number is averaged as it is. Intervals are left out: they are of one release.

    Parameters
    ----------
    releases
        At least one, or their folders.
    original, metrics, seed
        As `evaluate` takes them.

    Raises
    ------
    ParameterError
        Where there is no release, or a metric is unknown.
    UsageError
        As `evaluate` raises it.

    Notes
    -----
    A metric that some release has no value for is *not measured*: a mean over the others would be
    one of chosen releases.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], n=4)
    >>> releases = [gv.AsymmetricResponse(epsilon=20.0).anonymize(graph) for _ in range(3)]
    >>> [row.part for row in averaged(releases, original=graph, metrics=["mean-degree"])]
    ['original', 'released', 'absolute difference', 'relative error']
    """
    if not releases:
        raise ParameterError("no releases to average. Give at least one.")
    metrics = known_metrics(metrics)
    pairs = [compared(release, original, seed) for release in releases]
    each = [measured("release", pair, metrics) for pair in pairs]
    name = f"mean of {len(pairs)} releases"
    rows: list[Row] = []
    for metric in chosen_metrics(metrics, kind_compared(pairs[0])):
        reasons = [e.not_measured[metric.name] for e in each if metric.name in e.not_measured]
        if reasons:
            why = f"{reasons[0]} ({len(reasons)} of {len(each)} releases)"
            rows.append(Row(release=name, question=metric.name, reason=why))
        elif metric.compute_mean is not None:
            rows.extend(rows_of(name, metric, metric.mean_figures(pairs)))
        else:
            parts = [{row.part: row for row in e if row.question == metric.name} for e in each]
            rows.extend(_mean_rows(name, parts))
    return Rows(rows)


def _mean_rows(name: str, of_each: Sequence[Mapping[str, Row]]) -> Iterator[Row]:
    """Yield the mean of every part that all have, and the errors of the mean statistic."""
    shared = [part for part in of_each[0] if all(part in parts for parts in of_each)]
    means = {part: fmean(parts[part].value or 0.0 for parts in of_each) for part in shared}
    if set(means) >= _APART:
        difference = abs(means["released"] - means["original"])
        means["absolute difference"] = difference
        if "relative error" in means:
            means["relative error"] = difference / abs(means["original"])
    for part, value in means.items():
        row = of_each[0][part]
        yield dataclasses.replace(row, release=name, value=value, low=None, high=None)


WITHIN = 0.05


def preserved(original: float, values: Sequence[float]) -> bool:
    """Return whether the change of the mean and one standard deviation stay below 5%.

    Parameters
    ----------
    original
        The property of the original.
    values
        The same property of one release a run.

    Raises
    ------
    ParameterError
        Where there is no value.

    Notes
    -----
    ``|mean - original| + sd < 0.05 |original|``, with the sample standard deviation, 0 for a single
    value. Where the original is 0, only 0 preserves it. De Jong et al., section 6.6.

    Examples
    --------
    >>> preserved(0.220, [0.212, 0.214, 0.213]), preserved(0.220, [0.190, 0.230])
    (True, False)
    """
    if len(values) == 0:
        raise ParameterError("preserved needs at least one value. Give one for each run.")
    figures = np.asarray(values, dtype=np.float64)
    if original == 0:
        return bool(np.all(figures == 0))
    deviation = float(figures.std(ddof=1)) if figures.size > 1 else 0.0
    return bool(abs(figures.mean() - original) + deviation < WITHIN * abs(original))

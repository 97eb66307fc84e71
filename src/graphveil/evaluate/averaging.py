"""Several releases of one original: what they keep on average."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import msgspec

from graphveil.errors import ParameterError, UsageError
from graphveil.evaluate.rows import Evaluation, Row

_APART = {"original", "released", "absolute difference"}


def averaged(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return what releases of one original keep on average: the statistic first, then its error.

    Where a metric has a statistic of the original and of the release, the released ones are
    averaged, and the errors are those of their mean: noise that pulls one way in one release and
    the other way in the next is no error of the method. Every other number is averaged as it is.
    Intervals are left out: they are of one release.

    Parameters
    ----------
    evaluations
        At least one, each of one release of the same original.

    Raises
    ------
    ParameterError
        Where there is none.
    UsageError
        Where they are of different originals, as exact values of the original show.

    Notes
    -----
    The mean of a distance between distributions is never below the distance of the mean
    distribution. A metric that some release has no value for is *not measured*: a mean over the
    others would be one of chosen releases.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], n=4)
    >>> method = gv.AsymmetricResponse(epsilon=20.0)
    >>> each = [
    ...     gv.evaluate_release(method.anonymize(graph), original=graph, metrics=["mean-degree"])
    ...     for _ in range(3)
    ... ]
    >>> [row.part for row in averaged(each)]
    ['original', 'released', 'absolute difference', 'relative error']
    """
    if not evaluations:
        raise ParameterError("no evaluation to average. Give at least one.")
    not_measured: dict[str, str] = {}
    rows: list[Row] = []
    for metric in dict.fromkeys(
        name for each in evaluations for name in (*_by_metric(each), *each.not_measured)
    ):
        measured = [_by_metric(each).get(metric, {}) for each in evaluations]
        lacking = sum(not parts for parts in measured)
        if lacking:
            not_measured[metric] = _reason(metric, evaluations, lacking)
        else:
            rows.extend(_mean_rows(metric, measured))
    return Evaluation(rows=rows, not_measured=not_measured)


def _by_metric(evaluation: Evaluation) -> dict[str, dict[str, Row]]:
    """Return the rows of an evaluation by metric and part."""
    parts: dict[str, dict[str, Row]] = {}
    for row in evaluation:
        parts.setdefault(row.metric, {})[row.part] = row
    return parts


def _reason(metric: str, evaluations: Sequence[Evaluation], lacking: int) -> str:
    reasons = [each.not_measured[metric] for each in evaluations if metric in each.not_measured]
    why = reasons[0] if reasons else "not asked for"
    return f"{why} ({lacking} of {len(evaluations)} releases)"


def _mean_rows(metric: str, measured: Sequence[dict[str, Row]]) -> list[Row]:
    """Return the mean of every part, and the errors of the mean statistic."""
    first = measured[0]
    _check_one_original(metric, [parts["original"] for parts in measured if "original" in parts])
    means = {
        part: fmean(parts[part].value for parts in measured)
        for part in first
        if all(part in parts for parts in measured)
    }
    if set(means) >= _APART:
        difference = abs(means["released"] - means["original"])
        means["absolute difference"] = difference
        if "relative error" in means:
            means["relative error"] = difference / abs(means["original"])
    return [
        msgspec.structs.replace(
            first[part],
            release=f"mean of {len(measured)} releases",
            value=value,
            ci_low=None,
            ci_high=None,
        )
        for part, value in means.items()
    ]


def _check_one_original(metric: str, originals: Sequence[Row]) -> None:
    exact = {row.value for row in originals if row.exact == "exact"}
    if len(exact) > 1:
        values = " and ".join(f"{value:g}" for value in sorted(exact))
        raise UsageError(
            f"the originals differ: their {metric} is {values}. "
            "Give evaluations of releases of one original."
        )

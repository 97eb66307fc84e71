"""Metrics of a release next to its original: which apply, what they give, and why others do not.

`averaged` and `preserved` are of several releases of one original: their means, and whether a
property is preserved over them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from graphveil.claims.conditions import AttachedColumns, ItemsAreUsers
from graphveil.claims.facts import is_digest_of
from graphveil.claims.guarantees import KAnonymity
from graphveil.core.errors import ParameterError, UsageError
from graphveil.core.hints import one_of, option
from graphveil.core.parameters import separate_names
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows
from graphveil.data import Bipartite, Data, Graph, Network, Table
from graphveil.data.kinds import CONTAINERS, as_original, beside, compared_kind, kind_of
from graphveil.evaluate.comparison import (
    COMPARISONS,
    ClaimedTable,
    Comparison,
    NetworkComparison,
    TableComparison,
)
from graphveil.evaluate.metric import (
    NEEDS_LINKAGE,
    UNDEFINED,
    Figure,
    Figures,
    Metric,
    NotMeasuredError,
)
from graphveil.evaluate.metrics.registry import METRICS, PRESETS
from graphveil.release import Release, read_release

SYNONYMS = {
    "average-degree": "mean-degree",
    "max-degree": "largest-degree",
    "maximum-degree": "largest-degree",
    "clustering-coefficient": "clustering",
    "global-clustering": "transitivity",
    "average-path-length": "shortest-path",
}
"""Other usual words for metrics, with their names."""


def spelled_out(asked: Sequence[str] | None) -> list[str] | None:
    """Return the metrics that are asked for, presets replaced by theirs; None for none asked for.

    >>> len(spelled_out(["top-m-filter", "edges-kept", "diameter"]))
    12
    """
    if asked is None:
        return None
    names = [name for one in asked for name in PRESETS.get(one, (one,))]
    return list(dict.fromkeys(names))


def comparison_of(
    release: Release[Any], original: Any, randomness: Randomness, *, wanted_by: str
) -> Comparison[Any]:
    """Return an original next to its release, linked if the release has its linkage.

    Parameters
    ----------
    release
        The release, in memory or read from its folder.
    original
        What it was made from: a container, or anything that can be read as one.
    randomness
        For metrics that sample.
    wanted_by
        The function that asks, for messages.

    Returns
    -------
    Comparison
        Of the kind of the released data. Without a private folder it is not linked.

    Raises
    ------
    UsageError
        If both are not of one kind or size, or the digest of the original differs from the one in
        the private record.

    Examples
    --------
    >>> import graphveil as gv
    >>> ring = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> release = gv.KDegree(k=2).anonymize(ring)
    >>> comparison_of(release, ring, Randomness(seed=1), wanted_by="evaluate").edges_kept
    4
    """
    # Both sides as containers of one kind.
    released = release.data
    people = ItemsAreUsers() in release.conditions
    exact = release.generalized is not None
    original = as_original(original, type(released), wanted_by=wanted_by, exact=exact)
    original = beside(original, type(released), people=people)
    if type(original) is not type(released):
        raise UsageError(
            f"the release is a {type(released).__name__}, the original a "
            f"{type(original).__name__}. {wanted_by} requires two of the same kind: "
            f"{', '.join(kind.__name__ for kind in CONTAINERS)}."
        )
    # Of one size, and the very data that the release was made from, as far as its record tells.
    if original.size != released.size:
        what = kind_of(released).people
        raise UsageError(
            f"the original has {original.size} {what}, but the release has {released.size}. "
            "Give the file that the release was made from."
        )
    if release.private is not None and not is_digest_of(release.private.input_sha256, original):
        raise UsageError(
            "this is not the original: its digest differs from the one in the private record of "
            "the release. Give the file that the release was made from, read in the same way."
        )
    # Each original position to its released one, if the linkage is there.
    linkage, position = release.private.linkage if release.private else None, None
    if linkage is not None:
        position = linkage.positions_of(original.labels(), release.data.labels())
    pair = COMPARISONS[type(released)].of(original, released, position, randomness)
    return replace(pair, claimed=_claimed(release)) if isinstance(pair, TableComparison) else pair


def _claimed(release: Release[Any]) -> ClaimedTable:
    """Return what a release of a table claims."""
    stated = [one for one in release.conditions if isinstance(one, AttachedColumns)]
    attached = {name for one in stated for name in one.columns}
    return ClaimedTable(
        known=tuple(name for name in release.data.columns if name not in attached),
        k=release.guarantee.k if isinstance(release.guarantee, KAnonymity) else None,
        generalized=release.generalized is not None,
    )


def of_population(pair: Comparison[Any], population: int | None) -> Comparison[Any]:
    """Return a comparison of a table that is a random sample of so many people."""
    if population is None:
        return pair
    if not isinstance(pair, TableComparison):
        raise UsageError(
            f"population={population} describes a table, but the release is a "
            f"{type(pair.released).__name__}. Remove {option('population')}."
        )
    if population < pair.original.n_rows:
        raise ParameterError(
            f"population={population} is below the {pair.original.n_rows} rows of the table. Give "
            "the number of people that they are a random sample of."
        )
    return replace(pair, claimed=pair.claimed._replace(population=population))


def ties_of(data: Data) -> Data:
    """Return what metrics of graphs read: of a network its edges, in whatever direction."""
    return data.undirected() if isinstance(data, Network) else data


FOR_COMPARISON = "for comparison"
"""The direction of a figure that is given to compare with, and is not judged."""


def compared(
    release: Release[Any] | str | Path, original: Any, seed: int | None
) -> Comparison[Any]:
    """Return a release, or that of a folder, next to its original."""
    read = release if isinstance(release, Release) else read_release(release)
    return comparison_of(read, original, Randomness(seed=seed), wanted_by="evaluate")


def measured(
    name: str, pair: Comparison[Any], metrics: Sequence[str] | None, *, as_sample: bool = False
) -> Rows:
    """Return the rows of a comparison, and why others are not there."""
    # Every metric that applies gives rows, or the reason why not.
    chosen = chosen_metrics(metrics, kind_compared(pair))
    rows: list[Row] = []
    with stage("evaluating", total=len(chosen)) as advance:
        for metric in chosen:
            reason = _reason_not_to_measure(metric, pair, asked=bool(metrics))
            if reason is None:
                figures, reason = _figures_or_reason(metric, pair)
                rows.extend(rows_of(name, metric, iter(figures)))
            if reason is not None:
                rows.append(Row(release=name, question=metric.name, reason=reason))
            advance(1)
    if as_sample:
        from graphveil.evaluate.utility_loss import with_samples  # noqa: PLC0415  few ask for it

        rows = with_samples(rows, pair, chosen)
    return Rows(rows)


def _figures_or_reason(
    metric: Metric[Any], pair: Comparison[Any]
) -> tuple[list[Figure], str | None]:
    """Return the figures of a metric, or none and the reason; of features it reads tables."""
    if metric.kind is Bipartite and isinstance(pair, TableComparison):
        pair = pair.one_hot()
    try:
        figures = list(metric.figures(pair))
    except NotMeasuredError as reason:
        return [], str(reason)
    return figures, None if figures else UNDEFINED


def known_metrics(asked: str | Sequence[str] | None) -> list[str] | None:
    """Return the names of the metrics that are asked for, before anything is read.

    Commas may separate them, and `SYNONYMS` stand for them.
    """
    names = separate_names(asked, SYNONYMS)
    for name in names or ():
        if name not in METRICS and name not in PRESETS:
            known = [*METRICS, *PRESETS]
            raise ParameterError(f"unknown metric {name!r}. {one_of(name, known)}")
    return names


def kind_compared(pair: Comparison[Any]) -> type[Any]:
    """Return the kind of data that a comparison is of: a network's holds its edges as graphs."""
    return Network if isinstance(pair, NetworkComparison) else type(pair.original)


def chosen_metrics(asked: Sequence[str] | None, kind: type[Any]) -> list[Metric[Any]]:
    """Return the metrics that are asked for, presets included, or all of this kind of data.

    Those of graphs read the edges of networks, those of users by features read tables; where
    nothing is asked for, only some of them do.
    """
    fitting = {
        key: metric
        for key, metric in METRICS.items()
        if metric.kind is kind
        or (kind is Table and metric.kind is Bipartite)
        or (kind is Network and metric.kind is Graph)
    }
    asked = spelled_out(asked)
    for name in asked or ():
        if name not in fitting:
            raise UsageError(
                f"{name} requires a {METRICS[name].kind.__name__}, but the release is a "
                f"{kind.__name__}. Use one of {', '.join(fitting)}."
            )
    read = {kind, compared_kind(kind)}
    unasked = [
        name
        for name, metric in fitting.items()
        if not metric.by_name and (metric.kind in read or metric.reads_tables)
    ]
    return [fitting[name] for name in dict.fromkeys(asked or unasked)]


def _reason_not_to_measure(
    metric: Metric[Any], pair: Comparison[Any], *, asked: bool
) -> str | None:
    if metric.needs_linkage and pair.position is None:
        return NEEDS_LINKAGE
    kind = kind_of(pair.original)
    what, most = kind.measured
    size = max(kind.amount(data) for data in (pair.original, pair.released))
    if metric.cost == "heavy" and not asked and size > most:
        return f"not run by default: {size:,} {what} exceed {most:,}; request it by name"
    return None


def rows_of(release: str, metric: Metric[Any], figures: Figures) -> Iterator[Row]:
    """Yield a metric's figures as rows of a release of this name."""
    for figure in figures:
        sample = figure.sample
        size, low, high = (None, None, None) if sample is None else sample
        yield Row(
            release=release,
            question=metric.name,
            part=figure.part,
            figure=figure.name,
            setting=figure.setting,
            value=float(figure.value),
            unit=figure.unit,
            direction=metric.direction if figure.judged else FOR_COMPARISON,
            known="exact" if sample is None else "sampled",
            sample_size=size,
            low=low,
            high=high,
        )


_APART = {"original", "released", "absolute difference"}
"""The parts of a metric that has a statistic on both sides, whose error is that of the mean."""


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
    the next is not an error of the method. Distributions are averaged, too, before they are
    compared. Every other number is averaged as it is. Intervals are omitted: they are of one
    release.

    Parameters
    ----------
    releases
        At least one, or their folders.
    original, metrics, seed
        As `evaluate` takes them.

    Returns
    -------
    Rows
        One row per figure, named after the number of releases.

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
    # A metric that one release lacks is missing for all: a mean of the others would be selective.
    for metric in chosen_metrics(metrics, kind_compared(pairs[0])):
        reasons = [e.not_measured[metric.name] for e in each if metric.name in e.not_measured]
        if reasons:
            why = f"{reasons[0]} ({len(reasons)} of {len(each)} releases)"
            rows.append(Row(release=name, question=metric.name, reason=why))
        # Distributions are averaged before they are compared; other figures after it.
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
"""The share of the original's value below which a change counts as preserved (de Jong et al.,
section 6.6)."""


def preserved(original: float, values: Sequence[float]) -> bool:
    """Return whether the change of the mean and one standard deviation stay below 5%.

    Parameters
    ----------
    original
        The property of the original.
    values
        The same property of one release a run.

    Returns
    -------
    bool
        Whether the property is preserved.

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

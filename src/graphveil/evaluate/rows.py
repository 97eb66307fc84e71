"""Tidy rows: one number each, with unit, direction, and whether it is exact or sampled."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from graphveil.data import Bipartite, Graph, Table
from graphveil.errors import ParameterError, UsageError, one_of
from graphveil.evaluate.comparing import comparison_of
from graphveil.evaluate.comparison import Comparison, TableComparison
from graphveil.evaluate.held_back import Attached, held_back
from graphveil.evaluate.metric import (
    NEEDS_LINKAGE,
    UNDEFINED,
    Figure,
    Figures,
    Metric,
    NotMeasuredError,
)
from graphveil.evaluate.metrics import METRICS
from graphveil.html import html_table
from graphveil.lazy import lazy_module
from graphveil.progress import stage
from graphveil.randomness import Randomness
from graphveil.release import Release, read_release

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
else:
    pa = lazy_module("pyarrow")

FOR_COMPARISON = "for comparison"
HEAVY_UP_TO: Mapping[type[Graph | Bipartite | Table], int] = {
    Graph: 200_000,
    Bipartite: 10_000_000,
    Table: 1_000_000,
}
"""The most edges, entries or rows up to which heavy metrics are computed unasked."""

_COUNTED = {Graph: "edges", Bipartite: "entries", Table: "rows"}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One number about one release."""

    release: str
    metric: str
    part: str
    value: float
    unit: str
    direction: str
    exact: Literal["exact", "sampled"] = "exact"
    sample_size: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """The rows, and for every metric that could not be measured the reason."""

    rows: list[Row]
    not_measured: dict[str, str]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows."""
        return iter(self.rows)

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, one column a field of `Row`."""
        return rows_to_arrow(self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame, one column a field of `Row`."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def __repr__(self) -> str:
        """Say how much was measured, and how to see it: sixty rows in a line help nobody."""
        n_metrics = len({row.metric for row in self})
        missing = f", {len(self.not_measured)} not measured" if self.not_measured else ""
        return f"Evaluation({len(self)} rows of {n_metrics} metrics{missing}; see to_pandas())"

    def _repr_html_(self) -> str:
        """Return the rows, and what was not measured, as tables for notebooks."""
        columns = ("metric", "part", "value", "unit", "direction")
        rows = [[row.metric, row.part, f"{row.value:g}", row.unit, row.direction] for row in self]
        measured = html_table("What the release kept", columns, rows)
        if not self.not_measured:
            return measured
        return measured + html_table(
            "Not measured", ("metric", "reason"), list(self.not_measured.items())
        )


def evaluate(
    release: Release[Any] | str | Path,
    *,
    original: Any,
    metrics: Sequence[str] | None = None,
    seed: int | None = None,
    test: Any = None,
    label: str | None = None,
    attached: Attached | None = None,
) -> Evaluation:
    """Return what the release kept of the original, as tidy rows.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data it was made from. A table stands for its `one_hot` features where the release is
        of users by features, a graph for the neighbors of everyone where it was released so.
    metrics
        Names of `METRICS`. Where not given: all that read this kind of data and need not be asked
        for by name, heavy ones only up to 200,000 edges or 10,000,000 entries of the original and
        of the release.
    seed
        For metrics that sample; entropy where not given.
    test
        People whom the release was not made from, as data of the original's kind: tasks
        (`classification`, `recommendation`) are tested on them.
    label
        The column that `classification` tells: of the test people, and of the release or of
        `attached`.
    attached
        That column for the people of the original, where it is published beside the release.

    Raises
    ------
    ParameterError
        Where a metric is unknown.
    UsageError
        Where original and release are of different kinds or sizes, the owner's record is of
        another original, a metric reads another kind, or test people are in the original.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> release = gv.KDegree(k=2).anonymize(graph)
    >>> evaluation = evaluate(release, original=graph, metrics=["edges-kept"])
    >>> [(row.part, row.value) for row in evaluation.rows]
    [('count', 3.0), ('share', 1.0)]
    """
    check_known(metrics)
    name = "release" if isinstance(release, Release) else Path(release).name
    pair = compared(release, original, seed)
    if test is not None:
        people = held_back(test, pair.original, label=label, attached=attached)
        pair = dataclasses.replace(pair, held_back=people)
    elif label is not None or attached is not None:
        raise UsageError(
            "a label is predicted for held-back people. Give them as test (--test FILE)."
        )
    return measured(name, pair, metrics)


def compared(
    release: Release[Any] | str | Path, original: Any, seed: int | None
) -> Comparison[Any]:
    """Return a release, or that of a folder, beside its original."""
    read = release if isinstance(release, Release) else read_release(release)
    return comparison_of(read, original, Randomness(seed=seed), wanted_by="evaluate")


def measured(name: str, pair: Comparison[Any], metrics: Sequence[str] | None) -> Evaluation:
    """Return the rows of a comparison, and why others are not there.

    Parameters
    ----------
    name
        What the release is called in its rows.
    pair
        The original and the release.
    metrics
        As `evaluate` takes them.
    """
    chosen = chosen_metrics(metrics, type(pair.original))
    rows: list[Row] = []
    not_measured: dict[str, str] = {}
    with stage("evaluating", total=len(chosen)) as advance:
        for metric in chosen:
            reason = _reason_not_to_measure(metric, pair, asked=bool(metrics))
            if reason is None:
                figures, reason = _figures_or_reason(metric, pair)
                rows.extend(rows_of(name, metric, iter(figures)))
            if reason is not None:
                not_measured[metric.name] = reason
            advance(1)
    return Evaluation(rows=rows, not_measured=not_measured)


def _figures_or_reason(
    metric: Metric[Any], pair: Comparison[Any]
) -> tuple[list[Figure], str | None]:
    """Return the figures of a metric, or none and the reason."""
    try:
        figures = list(metric.compute(_seen_by(metric, pair)))
    except NotMeasuredError as reason:
        return [], str(reason)
    return figures, None if figures else UNDEFINED


def _seen_by(metric: Metric[Any], pair: Comparison[Any]) -> Comparison[Any]:
    """Return the comparison as a metric reads it: a table as features where it reads features."""
    if metric.kind is Bipartite and isinstance(pair, TableComparison):
        return pair.one_hot()
    return pair


def check_known(asked: Sequence[str] | None) -> None:
    """Refuse a metric that is unknown, before anything is read.

    Raises
    ------
    ParameterError
        Where there is one.
    """
    for name in asked or ():
        if name not in METRICS:
            raise ParameterError(f"no metric {name!r}. {one_of(name, METRICS)}")


def chosen_metrics(asked: Sequence[str] | None, kind: type[Any]) -> list[Metric[Any]]:
    """Return the metrics that are asked for, or all of this kind of data.

    Raises
    ------
    UsageError
        Where one reads another kind.
    """
    fitting = {
        key: metric
        for key, metric in METRICS.items()
        if metric.kind is kind or (kind is Table and metric.reads_tables)
    }
    for name in asked or ():
        if name not in fitting:
            raise UsageError(
                f"{name} reads a {METRICS[name].kind.__name__}, the release is a {kind.__name__}. "
                f"Use one of {', '.join(fitting)}."
            )
    unasked = [name for name, metric in fitting.items() if not metric.by_name]
    return [fitting[name] for name in dict.fromkeys(asked or unasked)]


def _reason_not_to_measure(
    metric: Metric[Any], pair: Comparison[Any], *, asked: bool
) -> str | None:
    if metric.needs_linkage and pair.position is None:
        return NEEDS_LINKAGE
    kind = type(pair.original)
    what, most = _COUNTED[kind], HEAVY_UP_TO[kind]
    size = max(getattr(data, f"n_{what}") for data in (pair.original, pair.released))
    if metric.cost == "heavy" and not asked and size > most:
        return f"heavy, and {size:,} {what} are more than {most:,}; ask for it by name"
    return None


def rows_of(release: str, metric: Metric[Any], figures: Figures) -> Iterator[Row]:
    """Yield a metric's figures as rows of a release of this name."""
    for figure in figures:
        sample = figure.sample
        yield Row(
            release=release,
            metric=metric.name,
            part=figure.part,
            value=float(figure.value),
            unit=figure.unit,
            direction=metric.direction if figure.judged else FOR_COMPARISON,
            exact="exact" if sample is None else "sampled",
            sample_size=None if sample is None else sample.size,
            ci_low=None if sample is None else sample.low,
            ci_high=None if sample is None else sample.high,
        )


def rows_to_arrow(rows: Sequence[Row]) -> pa.Table:
    """Return rows as an Arrow table, one column a field."""
    records: list[dict[str, Any]] = [msgspec.structs.asdict(row) for row in rows]
    schema = pa.schema(
        [
            *((name, pa.string()) for name in ("release", "metric", "part")),
            ("value", pa.float64()),
            *((name, pa.string()) for name in ("unit", "direction", "exact")),
            ("sample_size", pa.int64()),
            ("ci_low", pa.float64()),
            ("ci_high", pa.float64()),
        ]
    )
    return pa.Table.from_pylist(records, schema=schema)

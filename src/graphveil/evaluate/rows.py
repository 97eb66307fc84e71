"""Tidy rows: one number each, with unit, direction, and whether it is exact or sampled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from graphveil.data import Data, Graph
from graphveil.data.ids import positions
from graphveil.errors import ParameterError, UsageError
from graphveil.evaluate.metrics import METRICS, Comparison
from graphveil.randomness import Randomness
from graphveil.release import Release, read_release

FOR_COMPARISON = "for comparison"
NEEDS_LINKAGE = "needs the owner's linkage, which is not beside the release"


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


def evaluate(
    release: Release | str | Path,
    *,
    original: Data,
    metrics: Sequence[str] | None = None,
    seed: int | None = None,
) -> Evaluation:
    """Return what the release kept of the original, as tidy rows.

    Parameters
    ----------
    release
        A release, or the folder of one.
    original
        The data it was made from.
    metrics
        Names of `METRICS`; all that fit this kind of data where not given.
    seed
        For metrics that sample; entropy where not given.

    Raises
    ------
    ParameterError
        Where a metric is unknown.
    UsageError
        Where original and release are of different kinds or sizes.

    Examples
    --------
    >>> import graphveil as gv
    >>> graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> found = evaluate(gv.KDegree(k=2).anonymize(graph), original=graph, metrics=["edges-kept"])
    >>> [(row.part, row.value) for row in found.rows]
    [('count', 3.0), ('share', 1.0)]
    """
    name = "release" if isinstance(release, Release) else Path(release).name
    held = release if isinstance(release, Release) else read_release(release)
    for asked in metrics or ():
        if asked not in METRICS:
            raise ParameterError(f"no metric {asked!r}. Use one of {', '.join(METRICS)}.")
    comparison = _comparison(held, original, seed)
    chosen = [METRICS[asked] for asked in metrics or METRICS]
    rows: list[Row] = []
    missed: dict[str, str] = {}
    for metric in chosen:
        if metric.needs_linkage and comparison.place is None:
            missed[metric.name] = NEEDS_LINKAGE
            continue
        rows.extend(
            Row(
                release=name,
                metric=metric.name,
                part=figure.part,
                value=float(figure.value),
                unit=figure.unit,
                direction=metric.direction if figure.judged else FOR_COMPARISON,
            )
            for figure in metric.compute(comparison)
        )
    return Evaluation(rows=rows, not_measured=missed)


def _comparison(release: Release, original: Data, seed: int | None) -> Comparison:
    released = release.data
    if not isinstance(original, Graph) or not isinstance(released, Graph):
        raise UsageError(
            f"the release is a {type(released).__name__}, the original a "
            f"{type(original).__name__}. Metrics exist for two graphs."
        )
    if original.n_nodes != released.n_nodes:
        raise UsageError(
            f"the original has {original.n_nodes} nodes, the release {released.n_nodes}. "
            "Give the file that the release was made from."
        )
    return Comparison(
        original=original,
        released=released,
        place=_places(release, original),
        rng=Randomness(seed=seed).stream("evaluate"),
    )


def _places(release: Release, original: Data) -> NDArray[np.int64] | None:
    linkage = release.private.linkage if release.private else None
    if linkage is None:
        return None
    rows = positions(original.labels(), linkage.original, what="linkage")
    return linkage.released[rows]


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

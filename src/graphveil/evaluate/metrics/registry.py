"""METRICS: every metric with its kind of data, unit, direction, definition and source."""

from __future__ import annotations

from typing import Any

from graphveil.evaluate.metric import Metric
from graphveil.evaluate.metrics.feature_entries import BIPARTITE_METRICS
from graphveil.evaluate.metrics.graph_entries import GRAPH_METRICS
from graphveil.evaluate.metrics.network_entries import NETWORK_METRICS
from graphveil.evaluate.metrics.table_entries import TABLE_METRICS
from graphveil.evaluate.metrics.task_entries import TASK_METRICS

_ALL: tuple[Metric[Any], ...] = (
    *GRAPH_METRICS,
    *NETWORK_METRICS,
    *BIPARTITE_METRICS,
    *TABLE_METRICS,
    *TASK_METRICS,
)

METRICS: dict[str, Metric[Any]] = {metric.name: metric for metric in _ALL}
"""Every metric by its name: an entry here appears in the command line, the report and the docs."""

PRESETS: dict[str, tuple[str, ...]] = {
    "top-m-filter": (
        *("mean-degree", "largest-degree", "degree-variance", "power-law", "shortest-path"),
        *("effective-diameter", "characteristic-length", "diameter", "transitivity"),
        *("degree-distribution", "distance-distribution"),
    )
}
"""Metrics that are asked for by one name: the eleven of the Top-m Filter, S_AD to S_PDD."""

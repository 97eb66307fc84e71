"""The table of metrics: each with kind of data, unit, direction, definition and source."""

from __future__ import annotations

from typing import Any

from graphveil.evaluate.bipartite_metrics import BIPARTITE_METRICS
from graphveil.evaluate.graph_metrics import GRAPH_METRICS
from graphveil.evaluate.metric import Metric
from graphveil.evaluate.network_metrics import NETWORK_METRICS
from graphveil.evaluate.table_metrics import TABLE_METRICS
from graphveil.evaluate.task_metrics import TASK_METRICS

_ALL: tuple[Metric[Any], ...] = (
    *GRAPH_METRICS,
    *NETWORK_METRICS,
    *BIPARTITE_METRICS,
    *TABLE_METRICS,
    *TASK_METRICS,
)

METRICS: dict[str, Metric[Any]] = {metric.name: metric for metric in _ALL}
"""Every metric by its name: an entry here appears in the command line, the report and the docs."""

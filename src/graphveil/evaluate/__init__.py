"""What a release kept: metrics over released files and the original, never a method's internals."""

from graphveil.evaluate.metrics import METRICS, Comparison, Metric
from graphveil.evaluate.rows import Evaluation, Row, evaluate, rows_to_arrow

__all__ = [
    "METRICS",
    "Comparison",
    "Evaluation",
    "Metric",
    "Row",
    "evaluate",
    "rows_to_arrow",
]

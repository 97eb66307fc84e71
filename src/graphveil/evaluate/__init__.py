"""What a release kept: metrics over released files and the original, never a method's internals."""

from graphveil.evaluate.averaging import averaged
from graphveil.evaluate.comparing import comparison_of
from graphveil.evaluate.comparison import (
    BipartiteComparison,
    Comparison,
    GraphComparison,
    TableComparison,
)
from graphveil.evaluate.held_back import Attached
from graphveil.evaluate.metric import Metric
from graphveil.evaluate.metrics import METRICS
from graphveil.evaluate.rows import Evaluation, Row, evaluate, rows_to_arrow
from graphveil.evaluate.stability import preserved

__all__ = [
    "METRICS",
    "Attached",
    "BipartiteComparison",
    "Comparison",
    "Evaluation",
    "GraphComparison",
    "Metric",
    "Row",
    "TableComparison",
    "averaged",
    "comparison_of",
    "evaluate",
    "preserved",
    "rows_to_arrow",
]

"""Metrics of tasks: what readers of a release can do with it, tested on held-back people."""

from __future__ import annotations

from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import Metric
from graphveil.evaluate.sizes import FACTORS, HIDDEN_UNITS, RECOMMENDED

TASK_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    Metric(
        name="classification",
        kind=Bipartite,
        direction="higher is better",
        definition="how many labels of held-back people are predicted from their features, by "
        f"three classifiers that learned from the release: a perceptron of {HIDDEN_UNITS} "
        "hidden units, logistic regression, gradient boosting; beside the same classifiers that "
        "learned from the original, and the commonest label there",
        source="Esfandiari et al., Smooth Anonymity for Sparse Graphs (perceptron, census income)",
        needs_linkage=False,
        cost="heavy",
        compute="classification.classification",
        by_name=True,
        reads_tables=True,
    ),
    Metric(
        name="recommendation",
        kind=Bipartite,
        direction="higher is better",
        definition="how many held-back people are recommended the one item of theirs that is hidden"
        f", among the first {RECOMMENDED}, by the {FACTORS} leading "
        "singular vectors of the release; beside those of the original, and by popularity there",
        source="PureSVD: Cremonesi, Koren and Turrin, RecSys 2010",
        needs_linkage=False,
        cost="heavy",
        compute="recommendation.recommendation",
        by_name=True,
        reads_tables=True,
    ),
)

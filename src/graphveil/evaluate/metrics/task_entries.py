"""Metrics of tasks: classifiers and recommenders learned from the release."""

from __future__ import annotations

from functools import partial

from graphveil.data import Bipartite
from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import Metric, Said

HIDDEN_UNITS = 10
"""Hidden units of the perceptron."""

CLASSIFIERS = ("perceptron", "logistic regression", "gradient boosting")

FACTORS, RECOMMENDED = 50, 10

_features = partial(Metric[BipartiteComparison], kind=Bipartite, direction="higher is better")

TASK_METRICS: tuple[Metric[BipartiteComparison], ...] = (
    _features(
        name="classification",
        definition="share of labels of test people predicted correctly from their features by "
        f"three classifiers trained on the release: a perceptron with {HIDDEN_UNITS} "
        "hidden units, logistic regression and gradient boosting; compared with the "
        "same classifiers trained on the original, and with its most common label",
        source="Esfandiari et al., Smooth Anonymity for Sparse Graphs (perceptron, census income)",
        cost="heavy",
        compute="metrics.classification.classification",
        by_name=True,
        reads_tables=True,
        said=Said(
            "prediction",
            {f"{name}, released": f"{name}, original" for name in CLASSIFIERS},
            "of the test people are predicted correctly",
            place=7,
            beside="; learned from the original {}",
        ),
    ),
    _features(
        name="recommendation",
        definition=f"share of test people whose held-out item is among the first {RECOMMENDED} "
        f"recommended by the {FACTORS} leading singular vectors of the release; "
        "compared with those of the original, and with popularity in the original",
        source="PureSVD: Cremonesi, Koren and Turrin, RecSys 2010",
        cost="heavy",
        compute="metrics.recommendation.recommendation",
        by_name=True,
        reads_tables=True,
        said=Said(
            "recommendation",
            {"factors, released": "factors, original"},
            "of the held-out items are among the ten recommended",
            place=8,
            beside="; learned from the original {}",
        ),
    ),
)

"""The learning task: a classifier of income, trained on anonymous features, tested on real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import data as sets
import numpy as np

import graphveil as gv
from graphveil.evaluate.metrics.classification import Labelled, hits
from graphveil.evaluate.metrics.tasks import under

KS = (2, 8, 32, 100, 200)
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "mondrian (first)": ("mondrian", {"split": "first"}),
    "smooth (published)": ("smooth-k", {"algorithm": "facility"}),
    "smooth (ours)": ("smooth-k", {}),
}


def runs(folder: Path, seeds: int) -> Iterator[tuple[tuple[Any, ...], Callable[[], Any]]]:
    """Yield every run: without anonymity, by every method and k, and by randomized response."""
    train, labels = sets.adult_columns(folder / "adult" / "adult.data.gz")
    test, tested = sets.adult_columns(folder / "adult-test" / "adult-test.csv.gz")
    original = sets.one_hot(train)
    answers = np.array([">50K" in label for label in labels])
    questions = encoded(test, original)
    expected = np.array([">50K" in label for label in tested])
    score = partial(accuracy, answers=answers, questions=questions, expected=expected)
    majority = {"accuracy": float(max(expected.mean(), 1 - expected.mean()))}
    yield ("adult", "majority", 0, 0), lambda: majority
    for seed in range(1, seeds + 1):
        yield ("adult", "original", 0, seed), partial(score, original.to_scipy(), seed=seed)
    for (name, (method, parameters)), k, seed in product(METHODS.items(), KS, range(1, seeds + 1)):
        anonymizer = gv.METHODS[method].from_parameters({"k": k, **parameters})
        yield ("adult", name, k, seed), partial(learned, original, anonymizer, score, seed=seed)
    response = gv.METHODS["randomized-response"].from_parameters({"epsilon": 10.0, "unit": "node"})
    for seed in range(1, seeds + 1):
        key = ("adult", "randomized response, node, epsilon 10", 0, seed)
        yield key, partial(learned, original, response, score, seed=seed)


def encoded(columns: dict[str, list[str]], like: gv.Bipartite) -> Any:
    """Return records under the features of other data; what those lack is left out."""
    return under(sets.one_hot(columns), like.feature_labels())


def learned(
    original: gv.Bipartite, anonymizer: Any, score: Callable[..., Any], *, seed: int
) -> dict[str, float]:
    """Return the accuracy of a classifier trained on a release; labels go with their rows."""
    release = anonymizer.anonymize(original, seed=seed)
    order = np.asarray(release.private.linkage.released)
    return score(under(release.data, original.feature_labels())[order], seed=seed)


def accuracy(
    features: Any, *, answers: Any, questions: Any, expected: Any, seed: int
) -> dict[str, float]:
    """Return the share of the test records whose income a network of ten hidden units tells."""
    right = hits("perceptron", Labelled(features, answers), Labelled(questions, expected), seed)
    return {"accuracy": right / expected.size}

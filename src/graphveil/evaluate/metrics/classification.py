"""Classification: labels of test people, predicted by models learned from the release.

Test people are not in the original (`graphveil.evaluate.held_back`). The same classifiers learn
from the original, and the most common label is the guess without learning. Training dominates the
cost.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.warning_channel import warn
from graphveil.core.warnings import DroppedModelWarning
from graphveil.data import Bipartite
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import as_text, distinct
from graphveil.evaluate.comparison import BipartiteComparison, sparse
from graphveil.evaluate.held_back import names_of
from graphveil.evaluate.metric import (
    NEEDS_LINKAGE,
    Figures,
    NotMeasuredError,
    of_one,
)
from graphveil.evaluate.metrics.task_entries import CLASSIFIERS
from graphveil.evaluate.metrics.task_entries import HIDDEN_UNITS as UNITS
from graphveil.evaluate.metrics.tasks import NO_TEST, correct_share, under

MOST_CELLS = 200_000_000
"""The most people times features for which trees are boosted: that learner reads a dense float32
matrix, of at most 0.8 GB then."""

NO_LABEL = "no column to predict was given. Use --label COLUMN, or label=NAME in Python"
NO_VALUES = (
    "the column {label!r} has fewer than two values in the {whose}. If it is published next to "
    "the release, attach it: --attached FILE, or attached=Attached(name, values) in Python"
)
NO_COLUMN = (
    "no column {label!r} in the original or in the release. If it is published next to the "
    "release, attach it: --attached FILE, or attached=Attached(name, values) in Python"
)
NO_LIBRARY = "requires scikit-learn. Install the extra: pip install 'graphveil[learning]'"


class Labelled(NamedTuple):
    """People with a label.

    `features`: sparse ones, shape (people, features), without the features of the label; `labels`:
    text or any other values that can be sorted, shape (people,).
    """

    features: sparse.csr_array
    labels: NDArray[Any]


class Split(NamedTuple):
    """The people to learn from, in the release and in the original, and those to predict."""

    released: Labelled
    original: Labelled
    test: Labelled


def classification(pair: BipartiteComparison) -> Figures:
    """Yield the share of labels predicted correctly by models learned from the release.

    From 0 to 1, with Wilson's 95% interval over test people; next to it, that of models learned
    from the original and of its most common label. Esfandiari et al., Smooth Anonymity for Sparse
    Graphs (perceptron with 10 hidden units, census income); the other learners are ours.
    """
    split = split_of(pair)
    seed = int(pair.randomness.stream("classification").integers(1 << 31))
    size = split.test.labels.size
    # The guess without learning: the most common label of the original.
    values, number = np.unique(split.original.labels, return_counts=True)
    commonest = int((split.test.labels == values[number.argmax()]).sum())
    yield from correct_share("commonest label", commonest, size)
    # Each classifier learns from the release and, for comparison, from the original.
    for name in CLASSIFIERS:
        for part, known in (("released", split.released), ("original", split.original)):
            # Boosted trees need a dense matrix: too large ones are skipped, with a warning.
            if name == "gradient boosting" and np.prod(known.features.shape) > MOST_CELLS:
                cells = " x ".join(f"{length:,}" for length in known.features.shape)
                larger = f"{cells} cells exceed the limit of {MOST_CELLS:,}"
                warn(f"{name} is not run: {larger}", DroppedModelWarning)
                break
            yield from of_one(name, correct_share(part, hits(name, known, split.test, seed), size))


def hits(name: str, known: Labelled, test: Labelled, seed: int) -> int:
    """Return how many labels of the test people a classifier predicts that learned from others."""
    learner = _learner(name, seed)
    # its own index type: scikit-learn refuses indices of 64 bits in places
    matrices = [sparse.csr_matrix(some.features) for some in (known, test)]
    if name == "gradient boosting":
        matrices = [matrix.astype(np.float32).toarray() for matrix in matrices]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that 200 rounds did not converge is no news to the owner
        learner.fit(matrices[0], known.labels)
        predicted = learner.predict(matrices[1])
    return int((predicted == test.labels).sum())


def _learner(name: str, seed: int) -> Any:
    if name == "perceptron":
        from sklearn.neural_network import MLPClassifier  # noqa: PLC0415  an extra, loaded when used

        return MLPClassifier(hidden_layer_sizes=(UNITS,), activation="relu", random_state=seed)
    if name == "logistic regression":
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  as above

        return LogisticRegression(max_iter=1_000, random_state=seed)
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  as above

    return HistGradientBoostingClassifier(early_stopping=False, random_state=seed)


def split_of(pair: BipartiteComparison) -> Split:
    """Return who is learned from and who is asked about, over the features of all but the label."""
    asked = pair.held_back
    if asked is None:
        raise NotMeasuredError(NO_TEST)
    if asked.label is None:
        raise NotMeasuredError(NO_LABEL)
    if find_spec("sklearn") is None:
        raise NotMeasuredError(NO_LIBRARY)
    # The label is a column of the data, whose features are then not learned from.
    sides, label = (pair.released, pair.original), asked.label
    columns = _features_of(sides, label, beside=asked.attached is not None)
    released, original, test = (_labeled(d, columns, label) for d in (*sides, asked.people))
    # Or it is a column published next to the release, joined to the released rows by the linkage.
    if asked.attached is not None:
        values = np.array(as_text(asked.attached.value).tolist(), dtype=np.str_)
        if pair.position is None:
            raise NotMeasuredError(NEEDS_LINKAGE)
        original = Labelled(under(pair.original, columns), values)
        released = Labelled(under(pair.released, columns)[pair.linked], values)
    # Learning needs two values on both sides, and testing a person with a value.
    for known, whose in ((released, "release"), (original, "original")):
        if np.unique(known.labels).size < 2:
            raise NotMeasuredError(NO_VALUES.format(label=label, whose=whose))
    if not test.labels.size:
        raise NotMeasuredError(f"no test person has a value for {label!r}")
    return Split(released, original, test)


def _features_of(sides: tuple[Bipartite, ...], label: str, *, beside: bool) -> NDArray[Any]:
    """Return the names of all features but those of the label, in order.

    `beside`: whether the label is a column next to the release, so that no feature need be of it.
    """
    of_label = [names_of(data, label) for data in sides]
    if not beside and not any(some.any() for some in of_label):
        raise NotMeasuredError(NO_COLUMN.format(label=label))
    names = [as_text(d.feature_labels())[~own] for d, own in zip(sides, of_label, strict=True)]
    columns = distinct(np.concatenate(names))
    if not columns.size:
        raise NotMeasuredError(f"no column other than {label!r} to learn from")
    return columns


def _labeled(data: Bipartite, columns: NDArray[Any], label: str) -> Labelled:
    """Return the people who show a label; of several labels the first one in the row counts."""
    names, of_label = as_text(data.feature_labels()), names_of(data, label)
    entries = np.flatnonzero(of_label[data.indices])
    people, first = np.unique(data.rows()[entries], return_index=True)
    shown = names[data.indices[entries[first]]].tolist()
    labels = [named[1] for name in shown if (named := column_and_value(name))]
    return Labelled(under(data, columns)[people], np.array(labels, dtype=np.str_))

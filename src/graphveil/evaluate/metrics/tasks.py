"""Tasks that models learned from the release solve for held-back people.

A hidden item is recommended by factors; a label is predicted by classifiers.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import warn
from graphveil.core.warnings import DroppedModelWarning
from graphveil.data import Bipartite
from graphveil.data.feature_names import column_and_value
from graphveil.data.ids import as_text, distinct
from graphveil.evaluate.comparison import BipartiteComparison, Floats, Ints, sparse
from graphveil.evaluate.held_back import names_of
from graphveil.evaluate.metric import (
    NEEDS_LINKAGE,
    Figure,
    Figures,
    NotMeasuredError,
    of_one,
    wilson,
)
from graphveil.evaluate.metrics.task_entries import CLASSIFIERS, FACTORS, RECOMMENDED
from graphveil.evaluate.metrics.task_entries import HIDDEN_UNITS as UNITS

MOST_CELLS = 200_000_000
"""Up to so many people times features trees are boosted: they read all cells."""


NO_TEST = (
    "requires test people who are not in the original. Use --test FILE, or test=DATA in Python"
)
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

UNIT = "share of test people"


class Labelled(NamedTuple):
    """People with a label.

    `features`: ones, people by features, the label's own omitted; `labels`: text or any other
    values that can be sorted, shape (people,).
    """

    features: sparse.csr_array
    labels: NDArray[Any]


class Split(NamedTuple):
    """Who is learned from, in the release and in the original, and who is asked about."""

    released: Labelled
    original: Labelled
    test: Labelled


def classification(pair: BipartiteComparison) -> Figures:
    """Yield how many labels are predicted: by the release, the original, the commonest label."""
    split = split_of(pair)
    seed = int(pair.randomness.stream("classification").integers(1 << 31))
    size = split.test.labels.size
    values, number = np.unique(split.original.labels, return_counts=True)
    commonest = int((split.test.labels == values[number.argmax()]).sum())
    yield from _share("commonest label", commonest, size)
    for name in CLASSIFIERS:
        for part, known in (("released", split.released), ("original", split.original)):
            if name == "gradient boosting" and np.prod(known.features.shape) > MOST_CELLS:
                cells = " x ".join(f"{length:,}" for length in known.features.shape)
                larger = f"{cells} cells exceed the limit of {MOST_CELLS:,}"
                warn(f"{name} is not run: {larger}", DroppedModelWarning)
                break
            yield from of_one(name, _share(part, hits(name, known, split.test, seed), size))


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
    """Return who is learned from and who is asked about, over the features of all."""
    asked = pair.held_back
    if asked is None:
        raise NotMeasuredError(NO_TEST)
    if asked.label is None:
        raise NotMeasuredError(NO_LABEL)
    if find_spec("sklearn") is None:
        raise NotMeasuredError(NO_LIBRARY)
    sides, label = (pair.released, pair.original), asked.label
    columns = _features_of(sides, label, beside=asked.attached is not None)
    released, original, test = (_labeled(d, columns, label) for d in (*sides, asked.people))
    if asked.attached is not None:
        values = np.array(as_text(asked.attached.value).tolist(), dtype=np.str_)
        if pair.position is None:
            raise NotMeasuredError(NEEDS_LINKAGE)
        original = Labelled(under(pair.original, columns), values)
        released = Labelled(under(pair.released, columns)[pair.linked], values)
    for known, whose in ((released, "release"), (original, "original")):
        if np.unique(known.labels).size < 2:
            raise NotMeasuredError(NO_VALUES.format(label=label, whose=whose))
    if not test.labels.size:
        raise NotMeasuredError(f"no test person has a value for {label!r}")
    return Split(released, original, test)


def _features_of(sides: tuple[Bipartite, ...], label: str, *, beside: bool) -> NDArray[Any]:
    """Return the names of all features but those of the label, which some are of or is next to."""
    of_label = [names_of(data, label) for data in sides]
    if not beside and not any(some.any() for some in of_label):
        raise NotMeasuredError(NO_COLUMN.format(label=label))
    names = [as_text(d.feature_labels())[~own] for d, own in zip(sides, of_label, strict=True)]
    columns = distinct(np.concatenate(names))
    if not columns.size:
        raise NotMeasuredError(f"no column other than {label!r} to learn from")
    return columns


def _labeled(data: Bipartite, columns: NDArray[Any], label: str) -> Labelled:
    """Return the people who show a label; of several the first by name."""
    names, of_label = as_text(data.feature_labels()), names_of(data, label)
    entries = np.flatnonzero(of_label[data.indices])
    people, first = np.unique(data.rows()[entries], return_index=True)
    shown = names[data.indices[entries[first]]].tolist()
    labels = [named[1] for name in shown if (named := column_and_value(name))]
    return Labelled(under(data, columns)[people], np.array(labels, dtype=np.str_))


def under(data: Bipartite, columns: NDArray[Any]) -> sparse.csr_array:
    """Return who has which of these features; others are omitted.

    >>> under(Bipartite.from_lists([["tea", "rye"]]), np.array(["oat", "tea"])).toarray().tolist()
    [[0, 1]]
    """
    position = {name: number for number, name in enumerate(columns.tolist())}
    own = as_text(data.feature_labels()).tolist()
    column = np.array([position.get(name, -1) for name in own], dtype=np.int64)[data.indices]
    kept = column >= 0
    ones = np.ones(int(kept.sum()), dtype=np.int8)
    shape = (data.n_users, columns.size)
    return sparse.csr_array((ones, (data.rows()[kept], column[kept])), shape=shape)


_CELLS = 20_000_000
_DENSE = 200


class HiddenEntries(NamedTuple):
    """Test people with two items or more, of whom one item is hidden.

    `known`: float64 ones, people by items: the others; `hidden`: int64, shape (people,): the item
    that is hidden; -1 where neither original nor release has it, so that nobody can recommend it.
    """

    known: sparse.csr_array
    hidden: Ints


def recommendation(pair: BipartiteComparison) -> Figures:
    """Yield how often a hidden item is recommended: by the release, the original, popularity."""
    if pair.held_back is None:
        raise NotMeasuredError(NO_TEST)
    test = pair.held_back.people
    if pair.original.items == "people":
        raise NotMeasuredError("items are people, so their names differ in the release")
    rng = pair.randomness.stream("recommendation")
    every = (pair.original, pair.released)
    columns = distinct(np.concatenate([as_text(data.feature_labels()) for data in every]))
    asked = asked_of(under(test, columns), _missing(test, columns), rng)
    before, after = (under(data, columns).astype(np.float64) for data in every)
    order = rng.permutation(columns.size)
    for part, matrix in (("released", after), ("original", before)):
        hits = _hits(asked, factors_of(matrix, rng), order)
        yield from of_one("factors", _share(part, hits, asked.hidden.size))
    popular = np.asarray(before.sum(axis=0)).ravel()
    yield from _share("popularity", _hits(asked, popular, order), asked.hidden.size)


def _share(part: str, hits: int, size: int) -> Figures:
    """Yield the share of test people classified correctly; only that of the release is judged."""
    sample, judged = wilson(hits, size), part == "released"
    yield Figure(part, hits / size, UNIT, judged=judged, sample=sample)


def _missing(people: Bipartite, columns: NDArray[Any]) -> Ints:
    """Return how many items everybody has that no column stands for."""
    unknown = ~np.isin(as_text(people.feature_labels()), columns)
    return np.bincount(people.rows()[unknown[people.indices]], minlength=people.n_users)


def asked_of(items: sparse.csr_array, missing: Ints, rng: np.random.Generator) -> HiddenEntries:
    """Return what is asked: one item of everybody who has two, drawn evenly, is hidden."""
    own = np.diff(items.indptr)
    people = np.flatnonzero(own + missing >= 2)
    if not people.size:
        raise NotMeasuredError("no test person has two items, one of which can be held out")
    known = items[people].astype(np.float64)
    place = rng.integers(0, own[people] + missing[people])
    is_known = place < own[people]
    entry = known.indptr[:-1][is_known] + place[is_known]
    hidden = np.full(people.size, -1, dtype=np.int64)
    hidden[is_known] = known.indices[entry]
    known.data[entry] = 0
    known.eliminate_zeros()
    return HiddenEntries(known, hidden)


def factors_of(matrix: sparse.csr_array, rng: np.random.Generator) -> Floats:
    """Return the leading right singular vectors, float64, shape (items, at most 50)."""
    from scipy.sparse import linalg  # noqa: PLC0415  heavy: not for help

    small = min(matrix.shape)
    if not matrix.nnz:
        return np.zeros((matrix.shape[1], 0))
    if small <= _DENSE:
        _, sizes, vectors = np.linalg.svd(matrix.toarray(), full_matrices=False)
        rank = int(np.count_nonzero(sizes > sizes[0] * 1e-10))
        return vectors[: min(rank, FACTORS)].T
    begin = rng.standard_normal(small)
    _, _, vectors = linalg.svds(matrix, k=FACTORS, v0=begin)
    return np.asarray(vectors.T)


def _hits(asked: HiddenEntries, by: Floats, order: Ints) -> int:
    """Return of how many people the hidden item is among the first ten recommended."""
    people, items = asked.known.shape
    hits, rows = 0, max(_CELLS // max(items, 1), 1)
    rank = np.empty(items, dtype=np.int64)
    rank[order] = np.arange(items)
    for start in range(0, people, rows):
        known, hidden = asked.known[start : start + rows], asked.hidden[start : start + rows]
        scores = (known @ by) @ by.T if by.ndim == 2 else np.tile(by, (hidden.size, 1))
        scores = np.round(scores, 12)
        scores[known.nonzero()] = -np.inf
        some = np.flatnonzero(hidden >= 0)
        own = scores[some, hidden[some]][:, None]
        before = (scores[some] > own) | ((scores[some] == own) & (rank < rank[hidden[some], None]))
        hits += int((before.sum(axis=1) < RECOMMENDED).sum())
    return hits

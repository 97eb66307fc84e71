"""Tasks that models learned from the release solve for held-back people.

A hidden item is recommended by factors; a label is predicted by classifiers.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.errors import warn
from graphveil.core.lazy import lazy_module
from graphveil.core.warnings import DroppedModelWarning
from graphveil.data import Bipartite
from graphveil.data.ids import as_text, column_and_value, distinct
from graphveil.evaluate.comparison import CLASSIFIERS, FACTORS, RECOMMENDED, BipartiteComparison
from graphveil.evaluate.comparison import HIDDEN_UNITS as UNITS
from graphveil.evaluate.held_back import names_of
from graphveil.evaluate.metric import (
    NEEDS_LINKAGE,
    Figure,
    Figures,
    NotMeasuredError,
    of_one,
    wilson,
)

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = lazy_module("scipy.sparse")

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

    `features`: ones, people by features, the label's own left out; `labels`: text or any other
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
    """Yield how many labels are predicted: by the release, the original, the commonest label.

    Raises `NotMeasuredError` where there are no held-back people, no label or fewer than two values
    of it, or no library.
    """
    split = split_of(pair)
    seed = int(pair.randomness.stream("classification").integers(1 << 31))
    size = split.test.labels.size
    values, number = np.unique(split.original.labels, return_counts=True)
    commonest = int((split.test.labels == values[number.argmax()]).sum())
    sample = wilson(commonest, size)
    yield Figure("commonest label", commonest / size, UNIT, judged=False, sample=sample)
    for name in CLASSIFIERS:
        for part, known in (("released", split.released), ("original", split.original)):
            if name == "gradient boosting" and np.prod(known.features.shape) > MOST_CELLS:
                cells = " x ".join(f"{length:,}" for length in known.features.shape)
                larger = f"{cells} cells exceed the limit of {MOST_CELLS:,}"
                warn(f"{name} is not run: {larger}", DroppedModelWarning)
                break
            right = hits(name, known, split.test, seed)
            judged = part == "released"
            sample = wilson(right, size)
            figure = Figure(part, right / size, UNIT, judged=judged, sample=sample)
            yield from of_one(name, iter([figure]))


def hits(name: str, known: Labelled, test: Labelled, seed: int) -> int:
    """Return how many labels of the test people a classifier predicts that learned from others.

    Parameters
    ----------
    name
        ``perceptron`` (one hidden layer of ten rectified linear units), ``logistic regression`` or
        ``gradient boosting`` (100 trees).
    known
        Whom it learns from.
    test
        Whom it is asked about, over the same features.
    seed
        Of the classifier.
    """
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
    """Return who is learned from and who is asked about, over the features of all.

    Raises `NotMeasuredError` where something of it is missing.
    """
    asked = pair.held_back
    if asked is None:
        raise NotMeasuredError(NO_TEST)
    if asked.label is None:
        raise NotMeasuredError(NO_LABEL)
    if find_spec("sklearn") is None:
        raise NotMeasuredError(NO_LIBRARY)
    _check_column(pair, asked.label, beside=asked.attached is not None)
    columns = _columns(pair, asked.label)
    if not columns.size:
        raise NotMeasuredError(f"no column other than {asked.label!r} to learn from")
    everybody = (pair.released, pair.original, asked.people)
    released, original, test = (_labeled(data, columns, asked.label) for data in everybody)
    if asked.attached is not None:
        values = np.array(as_text(asked.attached.value).tolist(), dtype=np.str_)
        if pair.position is None:
            raise NotMeasuredError(NEEDS_LINKAGE)
        original = Labelled(under(pair.original, columns), values)
        released = Labelled(under(pair.released, columns)[pair.linked], values)
    for known, whose in ((released, "release"), (original, "original")):
        if np.unique(known.labels).size < 2:
            raise NotMeasuredError(NO_VALUES.format(label=asked.label, whose=whose))
    if not test.labels.size:
        raise NotMeasuredError(f"no test person has a value for {asked.label!r}")
    return Split(released, original, test)


def _check_column(pair: BipartiteComparison, label: str, *, beside: bool) -> None:
    """Refuse a label that no feature of original or release is of, unless it stands beside them."""
    if not beside and not any(
        names_of(data, label).any() for data in (pair.original, pair.released)
    ):
        raise NotMeasuredError(NO_COLUMN.format(label=label))


def _columns(pair: BipartiteComparison, label: str) -> NDArray[Any]:
    """Return the names of the features of original and release, those of the label left out."""
    every = [
        as_text(data.feature_labels())[~names_of(data, label)]
        for data in (pair.original, pair.released)
    ]
    names: NDArray[Any] = distinct(np.concatenate(every))
    return names


def _labeled(data: Bipartite, columns: NDArray[Any], label: str) -> Labelled:
    """Return the people who show a label; of several the first by name."""
    names, of_label = as_text(data.feature_labels()), names_of(data, label)
    entries = np.flatnonzero(of_label[data.indices])
    people, first = np.unique(data.rows()[entries], return_index=True)
    shown = names[data.indices[entries[first]]].tolist()
    labels = [named[1] for name in shown if (named := column_and_value(name))]
    return Labelled(under(data, columns)[people], np.array(labels, dtype=np.str_))


def under(data: Bipartite, columns: NDArray[Any]) -> sparse.csr_array:
    """Return who has which of these features; others are left out.

    Examples
    --------
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
    hidden: NDArray[np.int64]


def recommendation(pair: BipartiteComparison) -> Figures:
    """Yield how often a hidden item is recommended: by the release, the original, popularity.

    Raises `NotMeasuredError` where there are no held-back people, all have fewer than two items, or
    items are people.
    """
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
        factors = factors_of(matrix, rng)
        hits = _hits(asked, factors, order)
        size = asked.hidden.size
        judged = part == "released"
        sample = wilson(hits, size)
        figure = Figure(part, hits / size, UNIT, judged=judged, sample=sample)
        yield from of_one("factors", iter([figure]))
    popular = np.asarray(before.sum(axis=0)).ravel()
    hits = _hits(asked, popular, order)
    sample = wilson(hits, asked.hidden.size)
    yield Figure("popularity", hits / asked.hidden.size, UNIT, judged=False, sample=sample)


def _missing(people: Bipartite, columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many items everybody has that no column stands for."""
    unknown = ~np.isin(as_text(people.feature_labels()), columns)
    rows = people.rows()[unknown[people.indices]]
    missing: NDArray[np.int64] = np.bincount(rows, minlength=people.n_users)
    return missing


def asked_of(
    items: sparse.csr_array, missing: NDArray[np.int64], rng: np.random.Generator
) -> HiddenEntries:
    """Return what is asked: one item of everybody who has two, drawn evenly, is hidden.

    `items`: ones, people by items; `missing`: int64, shape (people,): how many further items
    everybody has, which no column stands for; `rng`: draws the items. Raises `NotMeasuredError`
    where nobody has two.

    Examples
    --------
    >>> from scipy import sparse
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> some = sparse.csr_array(np.array([[1, 1, 0], [0, 0, 1]]))
    >>> asked = asked_of(some, np.zeros(2, dtype=np.int64), rng)
    >>> asked.known.nnz, asked.hidden.size
    (1, 1)
    """
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


def factors_of(matrix: sparse.csr_array, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the leading right singular vectors, float64, shape (items, at most 50).

    `matrix`: float64 ones, people by items; `rng`: draws the vector with which the search begins.

    Examples
    --------
    >>> from scipy import sparse
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> factors_of(sparse.csr_array(np.array([[1.0, 1.0, 0.0]])), rng).shape
    (3, 1)
    """
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
    factors: NDArray[np.float64] = vectors.T
    return factors


def _hits(asked: HiddenEntries, by: NDArray[np.float64], order: NDArray[np.int64]) -> int:
    """Return of how many people the hidden item is among the first ten that they are recommended.

    `asked`: the people; `by`: factors, shape (items, factors), or one score an item for everybody;
    `order`: int64: the order of items with equal scores.
    """
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

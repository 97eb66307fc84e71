"""x."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphveil.attacks.attack import TooLargeError
from graphveil.core.progress import in_time
from graphveil.evaluate.comparison import BipartiteComparison, Floats, Int32s, Ints, sparse
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

FALSE_SHARE = 0.02
"""The share of an attacker's items that may be false where none is known to be."""

LARGEST_TRUTH, LEAST_SUPPRESSED, LEAST_CHANCE = 0.999, 0.001, 1e-7


class ReleasedClasses(NamedTuple):
    """The distinct rows of a release, and how true it is of its people.

    `rows`: float64 ones, classes by features; `sizes`: int64, shape (classes,): how many released
    rows equal each; `frequency`: float64, shape (features,): the share of released rows with a
    feature, at least one row; `truth`: the share of published entries that are true, below 1;
    `suppressed`: the share of true entries that are not published, above 0.
    """

    rows: sparse.csr_array
    sizes: Ints
    frequency: Floats
    truth: float
    suppressed: float

    @property
    def n(self) -> int:
        """The number of released rows."""
        return int(self.sizes.sum())

    @property
    def hidden(self) -> Floats:
        """How likely a person has a feature that their row does not show."""
        return np.maximum(self.suppressed * self.frequency, LEAST_CHANCE)

    def weights(self, false_share: float) -> Floats:
        """Return what a known feature adds to the score of a class that shows it."""
        shown, background = self.chances(false_share)
        return np.log(shown) - np.log(background)

    def chances(self, false_share: float) -> tuple[Floats, Floats]:
        """Return how likely a feature is known of a person whose row shows it, and does not."""
        false = false_share * self.frequency
        rest = 1 - false_share
        return rest * self.truth + false, rest * self.hidden + false


class People(NamedTuple):
    """People next to the classes of a release.

    `before`: float64 ones, people by features: what they truly have; `own`: int64, shape (people,):
    everybody's class; -1 for people who are not in the release.
    """

    before: sparse.csr_array
    own: Ints
    classes: ReleasedClasses

    @property
    def numbers(self) -> Ints:
        """How many features everybody truly has."""
        return np.asarray(np.diff(self.before.indptr).astype(np.int64))

    def row(self, person: int) -> Int32s:
        """Return the features of a person."""
        start, end = self.before.indptr[person : person + 2]
        return np.asarray(self.before.indices[start:end])


def people_of(pair: BipartiteComparison, position: Ints | None = None) -> People:
    """Return the people of an original next to the classes of a release.

    `position` is -1 for people who are not in the release; the linkage of the pair if not given.

    >>> from graphveil.data import Bipartite
    >>> from graphveil.core.randomness import Randomness
    >>> data = Bipartite.from_lists([["rye"], ["tea"], ["tea"]])
    >>> pair = BipartiteComparison(
    ...     original=data, released=data, position=np.arange(3), randomness=Randomness(seed=1)
    ... )
    >>> people = people_of(pair)
    >>> people.own.tolist(), people.classes.sizes.tolist()
    ([0, 1, 1], [1, 2])
    """
    position = pair.linked if position is None else position
    if not pair.released.n_users:
        raise NotMeasuredError("the data has no rows")
    labels = equal_rows(pair.released)
    first, sizes = np.unique(labels, return_index=True, return_counts=True)[1:]
    before, after = pair.before.astype(np.float64), pair.after.astype(np.float64)
    inside = np.nonzero(position >= 0)[0]
    kept = int(before[inside].multiply(after[position[inside]]).nnz)
    n, true = after.shape[0], int(np.diff(before.indptr)[inside].sum())
    support = np.bincount(after.indices, minlength=after.shape[1])
    classes = ReleasedClasses(
        rows=after[first],
        sizes=sizes,
        frequency=np.maximum(support, 1) / n,
        truth=min(kept / after.nnz if after.nnz else 1.0, LARGEST_TRUTH),
        suppressed=max(1 - kept / true if true else 0.0, LEAST_SUPPRESSED),
    )
    own = np.where(position >= 0, labels[position], -1)
    return People(before, own, classes)


MOST_CELLS, CELLS_AT_ONCE = 100_000_000, 10_000_000
"""The most classes and features together, and the cells that are worked on at once."""


def chances(known: sparse.csr_array, items: Ints, classes: ReleasedClasses) -> Floats:
    """Return how likely an attacker takes it that every target has one further item.

    >>> rows = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> classes = ReleasedClasses(rows, np.array([2, 2]), np.full(3, 0.5), 0.9, 0.1)
    >>> known = sparse.csr_array(np.array([[1.0, 0.0, 0.0]]))
    >>> bool(chances(known, np.array([1]), classes) > chances(known, np.array([2]), classes))
    True
    """
    weights, columns = classes.weights(FALSE_SHARE), sparse.csr_array(classes.rows.T)
    shown = np.empty(items.size)
    for some in in_time(batches(items.size, classes)):
        score = scores(known[some], classes, weights) + np.log(classes.sizes)
        chance = np.exp(score - score.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        shown[some] = np.asarray(columns[items[some]].multiply(chance).sum(axis=1)).ravel()
    return np.asarray(classes.truth * shown + classes.hidden[items] * (1 - shown))


def classes_in(pair: BipartiteComparison) -> int:
    """Return how many distinct rows a release has; refuse more than can be compared at once."""
    classes = int(equal_rows(pair.released).max(initial=-1)) + 1
    width = classes + max(pair.original.n_features, pair.released.n_features)
    if width > MOST_CELLS:
        raise TooLargeError(
            f"{width:,} distinct rows and features exceed the limit of {MOST_CELLS:,}. Use a "
            "release with fewer rows"
        )
    return classes


def batches(targets: int, classes: ReleasedClasses) -> Iterator[slice]:
    """Yield which targets are scored at once."""
    width = sum(classes.rows.shape)
    size = max(1, CELLS_AT_ONCE // max(width, 1))
    yield from (slice(start, start + size) for start in range(0, targets, size))


def scores(items: sparse.csr_array, classes: ReleasedClasses, weights: Floats) -> Floats:
    """Return the weights of the items that every class shows, targets by classes.

    >>> rows = sparse.csr_array(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> classes = ReleasedClasses(rows, np.array([2, 2]), np.array([1.0, 0.5]), 0.9, 0.1)
    >>> scores(rows, classes, np.array([1.0, 5.0])).tolist()
    [[1.0, 1.0], [1.0, 6.0]]
    """
    weighted = items.copy()
    weighted.data = weights[items.indices]
    return np.asarray((weighted @ classes.rows.T).toarray())

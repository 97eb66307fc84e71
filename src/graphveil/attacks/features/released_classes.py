"""A release as its distinct rows, scored by what an attacker knows of a person.

The released rows of a class are equal, so an attacker can only tell classes apart: every distinct
row is a class with its size. The attacker is given two numbers about the release as a whole, how
many published entries are true and how many true entries are suppressed, and reads frequencies of
features from the release. A known feature f adds to the score of a class that shows it

    W_f = ln((1 - w) a + w q_f) - ln((1 - w) b_f + w q_f)

with a the share of published entries that are true, b_f the chance to have f without showing it,
q_f its released frequency, and w the share of what is known that may be false. The likelihood is
graphveil's own; unlike Narayanan and Shmatikov (2008) it has errors of both kinds, and classes
instead of rows. Cost: targets times classes, in batches.

Cells of tables say more than features: a value excludes others, an interval admits several. Where a
release is a table, `cells/admitted_values.py` scores its classes in place of W_f. All people are
assigned at once in `whole_rows.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphveil.attacks.attack import TooLargeError
from graphveil.attacks.features.cells.admitted_values import CellsOfClasses
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.evaluate.comparison import BipartiteComparison, Int32s, sparse
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

FALSE_SHARE = 0.02
"""The share of an attacker's items that may be false if none is known to be: without it a single
false item would exclude the person's own class."""

LARGEST_TRUTH, LEAST_SUPPRESSED, LEAST_CHANCE = 0.999, 0.001, 1e-7
"""Bounds that keep logarithms finite: the share of true published entries is taken for at most
`LARGEST_TRUTH`, that of suppressed ones for at least `LEAST_SUPPRESSED`, and a chance for at least
`LEAST_CHANCE`."""

MOST_CELLS, CELLS_AT_ONCE = 100_000_000, 10_000_000
"""The most classes and features together (a batch of one target then has 800 MB), and how many
cells a batch has at most; the latter bounds memory alone."""


class ReleasedClasses(NamedTuple):
    """The distinct rows of a release, and how true it is of its people.

    Parameters
    ----------
    rows : sparse float64 array of ones, shape (classes, features)
        The distinct released rows.
    sizes : int64, shape (classes,)
        How many released rows equal each.
    frequency : float64, shape (features,)
        The share of released rows with a feature, at least one row.
    truth : float
        The share of published entries that are true, below 1.
    suppressed : float
        The share of true entries that are not published, above 0.
    cells : CellsOfClasses, optional
        What the classes publish as cells of a table; None for features.
    """

    rows: sparse.csr_array
    sizes: Ints
    frequency: Floats
    truth: float
    suppressed: float
    cells: CellsOfClasses | None = None

    @property
    def n(self) -> int:
        """The number of released rows."""
        return int(self.sizes.sum())

    @property
    def hidden(self) -> Floats:
        """How likely a person has each feature that their row does not show.

        float64, shape (features,).
        """
        return np.maximum(self.suppressed * self.frequency, LEAST_CHANCE)

    def evidence(self, items: sparse.csr_array, false_share: float) -> Floats:
        """Return for every target and class what the known items add to its score.

        float64, shape (targets, classes): by cells where there are any, else by features.
        """
        if self.cells is None:
            return scores(items, self, self.weights(false_share))
        return self.cells.evidence(self.cells.known(items), false_share)

    def weights(self, false_share: float) -> Floats:
        """Return what each known feature adds to the score of a class that shows it.

        float64, shape (features,): W_f of the module's docstring.
        """
        shown, background = self.chances(false_share)
        return np.log(shown) - np.log(background)

    def chances(self, false_share: float) -> tuple[Floats, Floats]:
        """Return how likely a feature is known of a person whose row shows it, and does not.

        Both are float64, shape (features,).
        """
        # False items are sampled by popularity, whatever the row shows.
        false = false_share * self.frequency
        rest = 1 - false_share
        return rest * self.truth + false, rest * self.hidden + false


class People(NamedTuple):
    """People next to the classes of a release.

    Parameters
    ----------
    before : sparse float64 array of ones, shape (people, features)
        What they truly have.
    own : int64, shape (people,)
        Everybody's class; -1 for people who are not in the release.
    classes : ReleasedClasses
        The classes.
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

    Parameters
    ----------
    pair : BipartiteComparison
        Original and release over the same features.
    position : int64, shape (people,), optional
        The released row of every person, -1 for people who are not in the release; the linkage of
        the pair if not given.

    Returns
    -------
    People
        Their true features and their classes.

    Examples
    --------
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
    # Classes: equal released rows.
    labels = equal_rows(pair.released)
    first, sizes = np.unique(labels, return_index=True, return_counts=True)[1:]
    # How true the release is as a whole: two numbers that the attacker is given.
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


def chances(known: sparse.csr_array, items: Ints, classes: ReleasedClasses) -> Floats:
    """Return how likely an attacker takes it that every target has one further item.

    Parameters
    ----------
    known : sparse float64 array of ones, shape (targets, features)
        What is known of every target.
    items : int64, shape (targets,)
        The item that is asked about.
    classes : ReleasedClasses
        The release.

    Returns
    -------
    float64, shape (targets,)
        The chance, over all classes by their posterior.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> classes = ReleasedClasses(rows, np.array([2, 2]), np.full(3, 0.5), 0.9, 0.1)
    >>> known = sparse.csr_array(np.array([[1.0, 0.0, 0.0]]))
    >>> bool(chances(known, np.array([1]), classes) > chances(known, np.array([2]), classes))
    True
    """
    weights, columns = classes.weights(FALSE_SHARE), sparse.csr_array(classes.rows.T)
    shown = np.empty(items.size)
    for some in in_time(batches(items.size, classes)):
        # Posterior of the classes: larger ones are likelier before anything is known (softmax of
        # scores).
        score = scores(known[some], classes, weights) + np.log(classes.sizes)
        chance = np.exp(score - score.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        # The chance that the target's class shows the item.
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
    """Return for every target and class the sum of weights of the items that the class shows.

    Parameters
    ----------
    items : sparse float64 array of ones, shape (targets, features)
        What is known.
    classes : ReleasedClasses
        The release.
    weights : float64, shape (features,)
        What each item counts for.

    Returns
    -------
    float64, shape (targets, classes)
        The scores.

    Examples
    --------
    >>> rows = sparse.csr_array(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> classes = ReleasedClasses(rows, np.array([2, 2]), np.array([1.0, 0.5]), 0.9, 0.1)
    >>> scores(rows, classes, np.array([1.0, 5.0])).tolist()
    [[1.0, 1.0], [1.0, 6.0]]
    """
    weighted = items.copy()
    weighted.data = weights[items.indices]
    return np.asarray((weighted @ classes.rows.T).toarray())

"""A release as its distinct rows, as an attacker scores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.evaluate.comparison import BipartiteComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

if TYPE_CHECKING:
    from scipy import sparse

FALSE_SHARE = 0.02
"""The share of an adversary's items that may be false where none is known to be."""

LARGEST_TRUTH, LEAST_SUPPRESSED, LEAST_CHANCE = 0.999, 0.001, 1e-7


class ReleasedClasses(NamedTuple):
    """The distinct rows of a release, and how true it is of its people.

    Parameters
    ----------
    rows
        float64 ones, classes by features.
    sizes
        int64, shape (classes,): how many released rows equal each.
    frequency
        float64, shape (features,): the share of released rows with a feature, at least one row.
    truth
        The share of published entries that are true, below 1.
    suppressed
        The share of true entries that are not published, above 0.
    """

    rows: sparse.csr_array
    sizes: NDArray[np.int64]
    frequency: NDArray[np.float64]
    truth: float
    suppressed: float

    @property
    def n(self) -> int:
        """The number of released rows."""
        return int(self.sizes.sum())

    @property
    def hidden(self) -> NDArray[np.float64]:
        """How likely a person has a feature that their row does not show."""
        return np.maximum(self.suppressed * self.frequency, LEAST_CHANCE)

    def weights(self, false_share: float) -> NDArray[np.float64]:
        """Return what a known feature adds to the score of a class that shows it.

        Parameters
        ----------
        false_share
            The share of known features that are false.
        """
        shown, background = self.chances(false_share)
        return np.log(shown) - np.log(background)

    def chances(self, false_share: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how likely a feature is known of a person whose row shows it, and does not."""
        false = false_share * self.frequency
        rest = 1 - false_share
        return rest * self.truth + false, rest * self.hidden + false


class People(NamedTuple):
    """People beside the classes of a release.

    Parameters
    ----------
    before
        float64 ones, people by features: what they truly have.
    own
        int64, shape (people,): everybody's class; -1 for people who are not in the release.
    classes
        The classes.
    """

    before: sparse.csr_array
    own: NDArray[np.int64]
    classes: ReleasedClasses

    @property
    def numbers(self) -> NDArray[np.int64]:
        """How many features everybody truly has."""
        numbers: NDArray[np.int64] = np.diff(self.before.indptr).astype(np.int64)
        return numbers

    def row(self, person: int) -> NDArray[np.int32]:
        """Return the features of a person."""
        start, end = self.before.indptr[person : person + 2]
        features: NDArray[np.int32] = self.before.indices[start:end]
        return features


def people_of(pair: BipartiteComparison, position: NDArray[np.int64] | None = None) -> People:
    """Return the people of an original beside the classes of a release.

    Parameters
    ----------
    pair
        Original and release; features of either.
    position
        int64, shape (people,): everybody's released position, -1 for people who are not in the
        release. The linkage of the pair where not given.

    Raises
    ------
    NotMeasuredError
        Where there are no people.

    Examples
    --------
    >>> from graphveil.data import Bipartite
    >>> from graphveil.randomness import Randomness
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
        raise NotMeasuredError("there are no people")
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

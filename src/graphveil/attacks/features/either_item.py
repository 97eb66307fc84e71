"""Which of two items is a person's, for someone who knows all the rest and runs the method again.

Every release is made of data in which some people, a random half of them, have an item of theirs,
and the others one that they do not have in its place: see `graphveil.attacks.likelihood_ratio`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.features.classes import ReleasedClasses
from graphveil.attacks.features.rerunning import column_of_features
from graphveil.attacks.features.scoring import chances
from graphveil.attacks.features.taking_part import evidence
from graphveil.attacks.features.twin import Again, people_of_run
from graphveil.attacks.shadows import Half
from graphveil.data import Bipartite, Table
from graphveil.data.ids import Ids
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.lazy import lazy_module
from graphveil.randomness import Randomness

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = lazy_module("scipy.sparse")

FEWEST_PEOPLE, ONE_IN = 20, 5
"""People who are asked about: so many at least, and at most one in so many, so that the data stays
what it is."""

CHOICES = ([0], [1], [2], [4], [0, 1], [0, 3], [1, 3, 5], [3, 5], [4, 6], [0, 3, 5])
"""Scores that are used together: see `seen_of`."""

_TRIES = 50
"""So often another item is drawn, until it is one that the person does not have."""


class Swapped(NamedTuple):
    """The data, and behind its rows those of some people once more, each with another item.

    Parameters
    ----------
    rows
        A table or users by features: n people, then the targets.
    people
        int64, shape (targets,): who they are, ascending.
    """

    rows: Table | Bipartite
    people: NDArray[np.int64]

    def of_half(self, own: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the rows of data in which these targets have their own item.

        Parameters
        ----------
        own
            bool, shape (targets,).

        Returns
        -------
        int64, shape (n,): a row a person.
        """
        n = self.rows.size - self.people.size
        rows = np.arange(n)
        rows[self.people[~own]] = n + np.flatnonzero(~own)
        return rows


def swapped(
    data: Table | Bipartite, order: NDArray[np.int64], most: int, rng: np.random.Generator
) -> Swapped:
    """Return the data with another item of some people: of tables another value of the column.

    Parameters
    ----------
    data
        The original.
    order
        int64: people, those who are asked about first.
    most
        The most of them.
    rng
        Draws the items, the others as often as they occur.

    Raises
    ------
    NotMeasuredError
        Where too few could have another one.

    Examples
    --------
    >>> data = Table.from_columns({"sex": ["f", "m"] * 30})
    >>> made = swapped(data, np.arange(60), 20, np.random.Generator(np.random.PCG64(1)))
    >>> made.rows.codes[60:62, 0].tolist(), data.codes[:2, 0].tolist()
    ([1, 0], [0, 1])
    """
    draw = _OtherCell(data) if isinstance(data, Table) else _OtherFeature(data)
    changes: dict[int, tuple[int, int]] = {}
    for person in order.tolist():
        change = draw(person, rng)
        if change is not None:
            changes[person] = change
        if len(changes) == most:
            break
    if len(changes) < FEWEST_PEOPLE:
        raise NotMeasuredError(
            f"{len(changes)} people could have another item and are asked about, one in {ONE_IN} "
            f"at most; {FEWEST_PEOPLE} are needed"
        )
    people = np.array(sorted(changes))
    n = data.size
    rows = data.permuted(np.concatenate([np.arange(n), people]))
    where = np.array([changes[person] for person in people.tolist()])
    if isinstance(rows, Table):
        codes = rows.codes.copy()
        codes[n + np.arange(people.size), where[:, 0]] = where[:, 1]
        return Swapped(dataclasses.replace(rows, codes=codes), people)
    indices = rows.indices.copy()
    for number, (place, feature) in enumerate(where.tolist()):
        start, end = rows.indptr[n + number : n + number + 2]
        indices[start + place] = feature
        indices[start:end].sort()
    return Swapped(dataclasses.replace(rows, indices=indices), people)


class _OtherCell:
    """Draws a column and another value of it, as often as it occurs."""

    def __init__(self, table: Table) -> None:
        """Keep the cells."""
        self._codes = table.codes

    def __call__(self, person: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Return the column and the code of the value; None where there is none."""
        n, width = self._codes.shape
        for _ in range(_TRIES if width else 0):
            column, donor = int(rng.integers(width)), int(rng.integers(n))
            own, other = self._codes[[person, donor], column].tolist()
            if own != other and own >= 0 and other >= 0:
                return column, other
        return None


class _OtherFeature:
    """Draws an entry of a person and a feature in its place, of the same column if it has one."""

    def __init__(self, data: Bipartite) -> None:
        """Find which features are of which column."""
        self._data, self._columns = data, column_of_features(data)

    def __call__(self, person: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Return the entry's place in the row and the other feature; None where there is none."""
        data = self._data
        own = data.row(person)
        for _ in range(_TRIES if own.size else 0):
            place = int(rng.integers(own.size))
            other = int(data.indices[rng.integers(data.indices.size)])
            alike = self._columns is None or self._columns[other] == self._columns[own[place]]
            if alike and other not in own:
                return place, other
        return None


@dataclass(frozen=True)
class EitherItem:
    """Makes releases of data in which targets have one item or the other, and scores both."""

    again: Again
    data: Swapped
    features: Bipartite
    """The same rows as users by features."""
    labels: Ids
    randomness: Randomness

    def __call__(self, half: Half) -> NDArray[np.float64]:
        """Return what a release says of every target: see `seen_of`."""
        rows = self.data.of_half(half.inside)
        release = self.again(self.data.rows.permuted(rows, ids=self.labels), half.seed)
        people = people_of_run(release, self.features, rows, self.labels, self.randomness)
        n, before = rows.size, people.before
        own, other = before[self.data.people], before[n:]
        return seen_of(own, other, people.classes, self.data.people.size / n)


def seen_of(
    own: sparse.csr_array, other: sparse.csr_array, classes: ReleasedClasses, share: float
) -> NDArray[np.float64]:
    """Return by how much a release speaks for the first rows and against the second.

    Parameters
    ----------
    own, other
        float64 ones, people by features: rows that differ by one item each.
    classes
        The classes of the release, of which one holds the person with either item.
    share
        How many of all people these are.

    Returns
    -------
    float64, shape (people, 7): how much likelier the class that the common items point to shows the
    one item than the other; then the differences of all scores of `evidence`.

    Examples
    --------
    >>> own, other = (sparse.csr_array(np.array([row])) for row in ([1.0, 1, 0], [1.0, 0, 1]))
    >>> classes = ReleasedClasses(own, np.array([2]), np.array([1.0, 0.5, 0.5]), 0.9, 0.1)
    >>> seen = seen_of(own, other, classes, 1.0)
    >>> seen.shape, bool(seen[0, 0] > 0)
    ((1, 7), True)
    """
    common = sparse.csr_array(own.multiply(other))
    first, second = (sparse.csr_array(some - common) for some in (own, other))
    for some in (common, first, second):
        some.eliminate_zeros()
        some.sort_indices()
    shown = np.column_stack([chances(common, some.indices, classes) for some in (first, second)])
    seen = np.log(shown[:, :1]) - np.log(shown[:, 1:])
    return np.hstack([seen, evidence(own, classes, share) - evidence(other, classes, share)])

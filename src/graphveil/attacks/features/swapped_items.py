"""Releases of data in which some people have a different item, and what these show of either.

The shadow releases of `item-membership`: of every target, one item is replaced by one that the
person does not have in a random half of the releases (`ShadowReleases`). For tables, a value is
replaced by another one of its column. Everybody else's rows stay as they are, so that at most one
person in `ONE_IN` is a target. Cost: one run of the method per release, and targets times classes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from graphveil.attacks.features import counterfactual
from graphveil.attacks.features.cells import published_cells
from graphveil.attacks.features.membership import evidence
from graphveil.attacks.features.released_classes import ReleasedClasses, chances
from graphveil.attacks.likelihood_ratio import ShadowReleases, ShadowSplit
from graphveil.core.array_types import Floats, Ints
from graphveil.core.progress import in_time
from graphveil.core.randomness import Randomness
from graphveil.core.text import counted
from graphveil.data import Bipartite, Table
from graphveil.data.ids import Ids
from graphveil.evaluate.comparison import Bools, sparse
from graphveil.evaluate.metric import NotMeasuredError

FEWEST_PEOPLE, ONE_IN = 20, 5
"""At least this many people are asked about, and at most one in `ONE_IN`, so that the data stays
like the original."""

CHOICES = ([0], [1], [2], [4], [0, 1], [0, 3], [1, 3, 5], [3, 5], [4, 6], [0, 3, 5])
"""Columns of `seen_of` that are used together."""

_TRIES = 50
"""How often a different item is sampled until it is one that the person does not have."""

BY_RELEASES = "one of two items"
"""The name of the figure, and what is asked."""


class Swapped(NamedTuple):
    """The data, followed by the rows of some people once more, each with a different item.

    Parameters
    ----------
    rows : Table or Bipartite
        n people, then the targets with their other item.
    people : int64, shape (targets,)
        Who the targets are, ascending.
    """

    rows: Table | Bipartite
    people: Ints

    def of_half(self, own: Bools) -> Ints:
        """Return the rows of data in which these targets have their own item.

        `own`: bool, shape (targets,); returns int64, shape (n,): positions in `rows`.
        """
        # Rows are replaced by the appended versions for targets that have the other item.
        n = self.rows.size - self.people.size
        rows = np.arange(n)
        rows[self.people[~own]] = n + np.flatnonzero(~own)
        return rows


def swapped(data: Table | Bipartite, order: Ints, most: int, rng: np.random.Generator) -> Swapped:
    """Return the data with a different item for some people, sampled by how often items occur.

    Parameters
    ----------
    data : Table or Bipartite
        The original.
    order : int64 array
        People in random order; the first whose item can be replaced are the targets.
    most : int
        How many targets there are at most.
    rng : numpy.random.Generator
        Draws items.

    Returns
    -------
    Swapped
        Both versions of the targets' rows.

    Raises
    ------
    NotMeasuredError
        If there are fewer than `FEWEST_PEOPLE` targets.

    Examples
    --------
    >>> data = Table.from_columns({"sex": ["f", "m"] * 30})
    >>> made = swapped(data, np.arange(60), 20, np.random.Generator(np.random.PCG64(1)))
    >>> made.rows.codes[60:62, 0].tolist(), data.codes[:2, 0].tolist()
    ([1, 0], [0, 1])
    """
    # Find targets and their other item.
    draw = _OtherCell(data) if isinstance(data, Table) else _OtherFeature(data)
    changes: dict[int, tuple[int, int]] = {}
    for person in in_time(order.tolist()):
        change = draw(person, rng)
        if change is not None:
            changes[person] = change
        if len(changes) == most:
            break
    if len(changes) < FEWEST_PEOPLE:
        raise NotMeasuredError(
            f"only {counted(len(changes), 'row')} can be tested (at most one in {ONE_IN}); "
            f"{FEWEST_PEOPLE} are needed"
        )
    # Append their rows, and replace one cell or feature in each.
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
    """Samples a column and a different value of it, as often as it occurs."""

    def __init__(self, table: Table) -> None:
        """Keep the cells."""
        self._codes = table.codes

    def __call__(self, person: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Return the column and the code of the value; None where there is none."""
        n, width = self._codes.shape
        # A random column, and the value of a random donor in it, until it differs.
        for _ in range(_TRIES if width else 0):
            column, donor = int(rng.integers(width)), int(rng.integers(n))
            own, other = self._codes[[person, donor], column].tolist()
            if own != other and own >= 0 and other >= 0:
                return column, other
        return None


class _OtherFeature:
    """Samples an entry of a person and a feature in its place, of the same column if it has one."""

    def __init__(self, data: Bipartite) -> None:
        """Find which features are of which column."""
        self._data, self._columns = data, published_cells.column_of_features(data)

    def __call__(self, person: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Return the entry's place in the row and the other feature; None where there is none."""
        data = self._data
        own = data.row(person)
        # A random entry, and the feature of a random entry anywhere, until it fits.
        for _ in range(_TRIES if own.size else 0):
            place = int(rng.integers(own.size))
            other = int(data.indices[rng.integers(data.indices.size)])
            alike = self._columns is None or self._columns[other] == self._columns[own[place]]
            if alike and other not in own:
                return place, other
        return None


@dataclass(frozen=True)
class EitherItem(ShadowReleases):
    """Makes releases of data in which targets have one item or the other, and scores both."""

    choices = CHOICES
    words = (BY_RELEASES, "share of people")

    again: counterfactual.MethodRerun
    data: Swapped
    features: Bipartite
    """The same rows as user-item data."""
    labels: Ids
    randomness: Randomness

    @property
    def size(self) -> int:
        """How many people have the other item in about half of the releases."""
        return self.data.people.size

    def __call__(self, half: ShadowSplit) -> Floats:
        """Return what a release says of every target: see `seen_of`."""
        # Run the method on data with either item, under the same ids; then score both rows of each
        # target in that release.
        rows = self.data.of_half(half.inside)
        release = self.again(self.data.rows.permuted(rows, ids=self.labels), half.seed)
        people = counterfactual.people_of_run(
            release, self.features, rows, self.labels, self.randomness
        )
        n, before = rows.size, people.before
        own, other = before[self.data.people], before[n:]
        return seen_of(own, other, people.classes, self.size / n)


def seen_of(
    own: sparse.csr_array, other: sparse.csr_array, classes: ReleasedClasses, share: float
) -> Floats:
    """Return by how much a release speaks for the first rows and against the second.

    Parameters
    ----------
    own, other : sparse float64 array of ones, shape (targets, features)
        Rows that differ by one item each.
    classes : ReleasedClasses
        The release.
    share : float
        How many of all people these are.

    Returns
    -------
    float64, shape (targets, scores)
        The log-ratio of both items' chances by `released_classes.chances`, then the difference of
        both rows' scores by `membership.evidence`.
    """
    # What both rows have is known; the one item in which they differ is asked about.
    common = sparse.csr_array(own.multiply(other))
    first, second = (sparse.csr_array(some - common) for some in (own, other))
    for some in (common, first, second):
        some.eliminate_zeros()
        some.sort_indices()
    # Score 0: how much likelier the release makes one item than the other, given the rest of the
    # row.
    shown = np.column_stack([chances(common, some.indices, classes) for some in (first, second)])
    seen = np.log(shown[:, :1]) - np.log(shown[:, 1:])
    # Further scores: by how much the complete rows fit better, as in `membership`.
    return np.hstack([seen, evidence(own, classes, share) - evidence(other, classes, share)])

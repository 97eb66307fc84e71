"""What a cell of known attributes and ties tells of a column that is published beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.claims.conditions import AttachedColumns
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.data import Network
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import NetworkComparison
from graphveil.evaluate.held_back import Attached
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.network import measure_network
from graphveil.release import Release
from graphveil.terminal import printable

Ints = NDArray[np.int64]

NOTHING_ATTACHED = (
    "no column is attached, by --attach when it was released, or beside it: --attached FILE "
    "--attached-column NAME, or attached=Attached(name, values) in Python"
)


class _Column(NamedTuple):
    """A column that is published beside the promise, in the order of the release."""

    name: str
    codes: Ints


class InCells(NamedTuple):
    """What cells tell of a column; arrays are in the order of the release.

    Attributes
    ----------
    certain
        bool, shape (n,): whether all of a person's cell have one value.
    right
        float64, shape (n,): how large a part of the cell has the person's own value; NaN where
        nothing is said of the person.
    guessed
        How often the commonest value of the cell is a person's own.
    """

    certain: NDArray[np.bool_]
    right: NDArray[np.float64]
    guessed: float


def attached_in_cells(situation: AttackInput[NetworkComparison], options: AttackOptions) -> Outcome:
    """Return how often the cell of a person tells the value of a column beside the promise.

    Raises
    ------
    NotMeasuredError
        Where no column is attached, or there are no people.
    """
    del options
    pair = situation.comparison
    released = pair.networks[1]
    columns = list(_columns(situation))
    if not columns:
        raise NotMeasuredError(NOTHING_ATTACHED)
    cells = cells_of(released, situation.release)
    n = released.n_nodes
    risk, baseline = np.zeros(n), np.zeros(n)
    figures: list[AttackFigure] = []
    for column in columns:
        of_column = in_cells(cells, column.codes)
        known = column.codes != SUPPRESSED
        shares = np.bincount(column.codes[known]) / known.sum()
        figures += _figures(column.name, of_column, known, shares)
        better = np.where(known, of_column.right, 0) > risk
        risk[better] = of_column.right[better]
        baseline[better] = shares[column.codes[better]]
    return Outcome(figures, risk[pair.linked], baseline[pair.linked])


def _figures(
    name: str, cells: InCells, known: NDArray[np.bool_], shares: NDArray[np.float64]
) -> Iterator[AttackFigure]:
    """Yield for how many people a value is certain, and for how many a guess is right."""
    people, most = "share of people", float(shares.max())
    certain = float(cells.certain[known].mean())
    yield AttackFigure(f"{name}: in a class of one value", certain, people, float(most >= 1))
    yield AttackFigure(f"{name}: commonest value of the class", cells.guessed, people, most)


def cells_of(released: Network, release: Release[Any]) -> Ints:
    """Return the cell of everybody: the known attributes and what is known of ties.

    Both are those of the promise; where nothing is promised of them, all attributes that are not
    attached, and numbers of ties.
    """
    promise = release.guarantee
    if isinstance(promise, StructuralKAnonymity):
        measure, distance, known = promise.measure, promise.distance, promise.known
        return measure_network(released, measure, distance, 1, known).labels
    attached = _attached(release)
    rest = [name for name in released.attributes if name not in attached]
    return measure_network(released, None, 1, 1, rest).labels


def in_cells(cells: Ints, codes: Ints) -> InCells:
    """Return what cells tell of a column.

    Parameters
    ----------
    cells
        int64, shape (n,): the cell of everybody.
    codes
        int64, shape (n,): the value, below 0 where nothing is said of a person; such a person
        leaves open what the others of the cell are.

    Examples
    --------
    >>> cells = in_cells(np.array([0, 0, 1, 1]), np.array([3, 3, 3, 4]))
    >>> cells.certain.tolist(), cells.right.tolist(), cells.guessed
    ([True, True, False, False], [1.0, 1.0, 0.5, 0.5], 0.75)
    """
    values = int(codes.max(initial=0)) + 1
    sizes = np.bincount(cells)
    known = np.flatnonzero(codes >= 0)
    keys, at, counts = np.unique(
        cells[known] * values + codes[known], return_inverse=True, return_counts=True
    )
    largest = np.zeros(sizes.size, dtype=np.int64)
    np.maximum.at(largest, keys // values, counts)
    right = np.full(codes.size, np.nan)
    right[known] = counts[at] / sizes[cells[known]]
    return InCells((largest == sizes)[cells], right, float(largest.sum() / max(known.size, 1)))


def _attached(release: Release[Any]) -> set[str]:
    """Return the names of the columns that a release says are attached."""
    stated = (one for one in release.conditions if isinstance(one, AttachedColumns))
    return {name for condition in stated for name in condition.attach}


def _columns(situation: AttackInput[NetworkComparison]) -> Iterator[_Column]:
    """Yield what is attached in the release, and what is published beside it."""
    pair = situation.comparison
    released = pair.networks[1]
    for name in sorted(_attached(situation.release) & set(released.attributes)):
        codes = released.codes_of(name).astype(np.int64)
        if (codes != SUPPRESSED).any():
            yield _Column(printable(name), codes)
    beside = situation.attached
    if beside is not None and beside.value.size:
        yield _Column(printable(beside.name), _by_owner(beside, pair))


def _by_owner(beside: Attached, pair: NetworkComparison) -> Ints:
    """Return the value of everybody in the order of the release."""
    codes = np.empty(beside.value.size, dtype=np.int64)
    codes[pair.linked] = np.unique(beside.value, return_inverse=True)[1]
    return codes


def certain_beside(beside: Attached, pair: NetworkComparison, release: Release[Any]) -> float:
    """Return of how large a share of the people all of the cell have one value of a column."""
    cells = cells_of(pair.networks[1], release)
    return float(in_cells(cells, _by_owner(beside, pair)).certain.mean())

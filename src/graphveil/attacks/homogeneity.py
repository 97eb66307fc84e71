"""What a class tells about a column that no guarantee covers: the attack `homogeneity`.

Machanavajjhala et al., *l-diversity: privacy beyond k-anonymity*, 2007, the homogeneity attack. A
column is published next to the release and joined by its ids, or attached to it (``--attach``); the
attacker knows which class a person is in. If all members have one value, the person has it; else
the most common value of the class is the best guess. For rows, a class is the set of equal released
rows; for networks, the *cell* of equal known attributes and equal knowledge about edges, as the
guarantee measures it.

Baselines: no class has one value, unless the column has; the most common value of the entire
column. All people are counted, so figures have no interval. Cost: linear, for networks that of the
measure of the guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.wording import inferred
from graphveil.claims.conditions import AttachedColumns
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.core.array_types import Floats, Ints
from graphveil.core.rows import ANY, Setting
from graphveil.core.text import printable
from graphveil.data import Bipartite, Network
from graphveil.data.codes import SUPPRESSED
from graphveil.evaluate.comparison import Attached, BipartiteComparison, Bools, NetworkComparison
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.network import measure_network
from graphveil.measures.rows import equal_rows
from graphveil.release import Release

IN_ONE, COMMONEST = "in a class of one value", "commonest value of the class"
"""Names of what is counted: people in classes of one value, and guesses of the most common
value."""

NOTHING_ATTACHED = (
    "no column is attached, neither in the release (--attach) nor next to it. Use --attached "
    "FILE --attached-column NAME, or attached=Attached(name, values) in Python"
)
"""Why there is no figure for a network."""

VALUES_SHOWN = 20
"""This many values, the most frequent ones, have a figure of their own."""

NO_COLUMN = (
    "no column is attached. Use --attached FILE --attached-column NAME, or "
    "attached=Attached(name, values) in Python"
)
"""Why there is no figure for rows."""


class InCells(NamedTuple):
    """What cells tell about a column; arrays are in the order of the release.

    Parameters
    ----------
    certain : bool, shape (n,)
        Whether all members of a person's cell have one value.
    right : float64, shape (n,)
        How large a part of the cell has the person's own value; NaN if nothing is known of the
        person.
    guessed : float
        How often the most common value of the cell is a person's own.
    """

    certain: Bools
    right: Floats
    guessed: float


def attached_in_cells(
    situation: AttackInput[NetworkComparison], _options: AttackOptions
) -> Outcome:
    """Return how often the cell of a person tells the value of a column outside the guarantee.

    For networks; a person's risk is that of the column that the cell tells best.
    """
    pair = situation.comparison
    released = pair.networks[1]
    columns = list(_columns(situation))
    if not columns:
        raise NotMeasuredError(NOTHING_ATTACHED)
    # The class of everybody, as the guarantee measures it.
    cells = cells_of(released, situation.release)
    n = released.n_nodes
    risk, baseline = np.zeros(n), np.zeros(n)
    figures: list[AttackFigure] = []
    for name, codes in columns:
        of_cells = in_cells(cells, codes)
        # People without a value are not counted; the baseline is the most common value of the rest.
        known = codes != SUPPRESSED
        shares = np.bincount(codes[known]) / known.sum()
        most, setting = float(shares.max()), Setting(column=name)
        figures += [
            AttackFigure(figure, value, "share of people", guess, setting=setting)
            for figure, value, guess in (
                (IN_ONE, float(of_cells.certain[known].mean()), float(most >= 1)),
                (COMMONEST, of_cells.guessed, most),
            )
        ]
        # A person's risk is the part of the cell with their value, for the column that tells most.
        better = np.where(known, of_cells.right, 0) > risk
        risk[better] = of_cells.right[better]
        baseline[better] = shares[codes[better]]
    return Outcome(figures, risk[pair.linked], baseline[pair.linked])


def cells_of(released: Network, release: Release[Any]) -> Ints:
    """Return the cell of everybody, int64, shape (n,): known attributes and what is known of edges.

    Both are those of the guarantee; if nothing is guaranteed about them, all attributes that are
    not attached, and degrees.
    """
    promise = release.guarantee
    if isinstance(promise, StructuralKAnonymity):
        measure, distance, known = promise.measure, promise.distance, promise.known
        return measure_network(released, measure, distance, 1, known).labels
    attached = _attached(release)
    rest = [name for name in released.attributes if name not in attached]
    return measure_network(released, None, 1, 1, rest).labels


def in_cells(cells: Ints, codes: Ints) -> InCells:
    """Return what cells tell about a column; codes are below 0 if nothing is known of a person."""
    values = int(codes.max(initial=0)) + 1
    sizes = np.bincount(cells)
    known = np.flatnonzero(codes >= 0)
    # How many members of each cell have each value, and the largest number per cell.
    keys, at, counts = np.unique(
        cells[known] * values + codes[known], return_inverse=True, return_counts=True
    )
    largest = np.zeros(sizes.size, dtype=np.int64)
    np.maximum.at(largest, keys // values, counts)
    # The part of the cell with the person's own value; NaN without one.
    right = np.full(codes.size, np.nan)
    right[known] = counts[at] / sizes[cells[known]]
    return InCells((largest == sizes)[cells], right, float(largest.sum() / max(known.size, 1)))


def _attached(release: Release[Any]) -> set[str]:
    """Return the names of the columns that a release says are attached."""
    stated = (one for one in release.conditions if isinstance(one, AttachedColumns))
    return {name for condition in stated for name in condition.attach}


def _columns(situation: AttackInput[NetworkComparison]) -> Iterator[tuple[str, Ints]]:
    """Yield names and codes of what is attached in the release, and of what is next to it."""
    pair = situation.comparison
    released = pair.networks[1]
    # Attached columns of the release itself, then the one that is published next to it.
    for name in sorted(_attached(situation.release) & set(released.attributes)):
        codes = released.codes_of(name).astype(np.int64)
        if (codes != SUPPRESSED).any():
            yield printable(name), codes
    attached = situation.attached
    if attached is not None and attached.value.size:
        yield printable(attached.name), _by_owner(attached, pair)


def _by_owner(attached: Attached, pair: NetworkComparison) -> Ints:
    """Return the value of everybody in the order of the release."""
    codes = np.empty(attached.value.size, dtype=np.int64)
    codes[pair.linked] = np.unique(attached.value, return_inverse=True)[1]
    return codes


def certain_beside(attached: Attached, pair: NetworkComparison, release: Release[Any]) -> float:
    """Return the share of people whose entire cell has one value of an attached column."""
    cells = cells_of(pair.networks[1], release)
    return float(in_cells(cells, _by_owner(attached, pair)).certain.mean())


def homogeneity(situation: AttackInput[Any], options: AttackOptions) -> Outcome:
    """Return how many people are in classes whose members all have one value of a column.

    A person's own risk is that of the column that their class tells best.
    """
    # Networks have cells of attributes and edges instead of classes of equal rows.
    if isinstance(situation.comparison, NetworkComparison):
        return attached_in_cells(situation, options)
    if situation.attached is None:
        raise NotMeasuredError(NO_COLUMN)
    if not situation.attached.value.size:
        raise NotMeasuredError("the data has no rows")
    pair = situation.comparison
    # Classes are the equal released rows.
    own = equal_rows(pair.released)[pair.linked]
    columns = (situation.attached, *situation.further)
    figures: list[AttackFigure] = []
    risk, guess = np.zeros(own.size), np.zeros(own.size)
    # Every attached column: people in classes of one value, and guesses of the most common one.
    for column in columns:
        names, value = np.unique(column.value, return_inverse=True)
        sizes, largest, same = _counts(own, value, names.size)
        frequency = np.bincount(value) / value.size
        setting = Setting(column=printable(column.name)) if len(columns) > 1 else ANY
        of_column = list(_figures((largest == sizes)[own], value, names, frequency))
        right = float(largest.sum() / value.size)
        of_column.append(AttackFigure(COMMONEST, right, "share of people", frequency.max()))
        figures += [one._replace(setting=setting) for one in of_column]
        # The column that tells a person's value best is their risk.
        better = same / sizes[own] > risk
        risk[better] = (same / sizes[own])[better]
        guess[better] = frequency[value][better]
    return Outcome(figures, risk, guess)


def in_classes_of_one(attached: Attached, pair: BipartiteComparison) -> Bools:
    """Return whether the entire class of each person has one value of an attached column."""
    own = equal_rows(pair.released)[pair.linked]
    names, value = np.unique(attached.value, return_inverse=True)
    sizes, largest, _ = _counts(own, value, names.size)
    return np.asarray((largest == sizes)[own])


def _counts(own: Ints, value: Ints, values: int) -> tuple[Ints, Ints, Ints]:
    """Return the size of each class, of its most common value, and of everybody's own value."""
    keys, pair, counts = np.unique(own * values + value, return_inverse=True, return_counts=True)
    sizes = np.bincount(own)
    largest = np.zeros(sizes.size, dtype=np.int64)
    np.maximum.at(largest, keys // values, counts)
    return sizes, largest, counts[pair]


def _figures(
    inside: Bools, value: Ints, names: NDArray[np.str_], frequency: Floats
) -> Iterator[AttackFigure]:
    """Yield the share of people in classes of one value: of all, and of those with each value."""
    alone = float(names.size == 1)
    yield AttackFigure(IN_ONE, float(inside.mean()), "share of people", alone)
    if names.size == 1:
        return
    # The same for people with each frequent value: rare values are hidden in the mean.
    for number in np.argsort(-frequency, kind="stable")[:VALUES_SHOWN]:
        share = float(inside[value == number].mean())
        name = f"{IN_ONE}: {names[number]}"
        yield AttackFigure(name, share, "share of people of this value", alone)


HOMOGENEITY = Attack(
    name="homogeneity",
    kind=Bipartite,
    knows="the equivalence class of a person, or in a network the cell of known attributes and "
    "edges; and a column published next to the release and joined by its ids, or in the "
    "release (--attach)",
    definition="the share of people in classes whose members all have the same value of that "
    "column; how often the most common value of the class is a person's own, "
    "compared with the most common value overall",
    source="Machanavajjhala et al., l-diversity, 2007",
    cost="linear; requires an attached column",
    compute=homogeneity,
    also=Network,
    said=(
        inferred(
            IN_ONE,
            line="people in classes with a single value of the attached column",
            when=lambda setting: not setting.column,
        ),
        inferred(
            IN_ONE,
            line="people in classes with a single value of the attached column {column}",
            when=lambda setting: bool(setting.column),
        ),
        inferred(
            COMMONEST,
            does="reads a column published next to the release",
            line=None,
            label="an attached column",
            says="{n} people have the most common value of their class",
            when=lambda setting: not setting.column,
        ),
        inferred(
            COMMONEST,
            does="knows the class of a person and reads the attached column {column}",
            line="{column} of people, guessed from the others in their class",
            label="{column}, attached",
            says="{n} people have the most common value of their class",
            when=lambda setting: bool(setting.column),
            if_measured=True,
        ),
    ),
)

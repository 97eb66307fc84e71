"""What a class tells of a column that is published beside the release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.attack import Attack, AttackFigure, AttackInput, AttackOptions, Outcome
from graphveil.attacks.costs import seconds_of_passes
from graphveil.attacks.networks.attached import attached_in_cells
from graphveil.data import Bipartite, Network
from graphveil.evaluate.comparison import BipartiteComparison, NetworkComparison
from graphveil.evaluate.held_back import Attached
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.measures.rows import equal_rows

VALUES_SHOWN = 20
"""Up to so many values, the most frequent ones, have a figure of their own."""

NO_COLUMN = (
    "no column is attached. Give the file and the column: --attached FILE --attached-column NAME, "
    "or attached=Attached(name, values) in Python"
)


def homogeneity(situation: AttackInput[Any], options: AttackOptions) -> Outcome:
    """Return how many people stand in classes whose members all have one value.

    Raises
    ------
    NotMeasuredError
        Where no column is attached, or there are no people.
    """
    if isinstance(situation.comparison, NetworkComparison):
        return attached_in_cells(situation, options)
    if situation.attached is None:
        raise NotMeasuredError(NO_COLUMN)
    if not situation.attached.value.size:
        raise NotMeasuredError("there are no people")
    pair = situation.comparison
    own = equal_rows(pair.released)[pair.linked]
    names, value = np.unique(situation.attached.value, return_inverse=True)
    sizes, largest, same = _counts(own, value, names.size)
    frequency = np.bincount(value) / value.size
    inside = (largest == sizes)[own]
    figures = list(_figures(inside, value, names, frequency))
    right = float(largest.sum() / value.size)
    unit = "share of people"
    figures.append(AttackFigure("commonest value of the class", right, unit, frequency.max()))
    return Outcome(figures, same / sizes[own], frequency[value])


def in_classes_of_one(attached: Attached, pair: BipartiteComparison) -> NDArray[np.bool_]:
    """Return whether all of everybody's class have one value of an attached column.

    Parameters
    ----------
    attached
        The column.
    pair
        Original and release, linked.
    """
    own = equal_rows(pair.released)[pair.linked]
    names, value = np.unique(attached.value, return_inverse=True)
    sizes, largest, _ = _counts(own, value, names.size)
    one: NDArray[np.bool_] = (largest == sizes)[own]
    return one


def _counts(
    own: NDArray[np.int64], value: NDArray[np.int64], values: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the size of every class, of its commonest value, and of everybody's own there."""
    keys, pair, counts = np.unique(own * values + value, return_inverse=True, return_counts=True)
    sizes = np.bincount(own)
    largest = np.zeros(sizes.size, dtype=np.int64)
    np.maximum.at(largest, keys // values, counts)
    return sizes, largest, counts[pair]


def _figures(
    inside: NDArray[np.bool_],
    value: NDArray[np.int64],
    names: NDArray[np.str_],
    frequency: NDArray[np.float64],
) -> Iterator[AttackFigure]:
    """Yield the share of people in classes of one value: of all people, and of those of a value."""
    alone = float(names.size == 1)
    part = "in a class of one value"
    yield AttackFigure(part, float(inside.mean()), "share of people", alone)
    if names.size == 1:
        return
    for number in np.argsort(-frequency, kind="stable")[:VALUES_SHOWN]:
        share = float(inside[value == number].mean())
        name = f"{part}: {names[number]}"
        yield AttackFigure(name, share, "share of people of this value", alone)


HOMOGENEITY = Attack(
    name="homogeneity",
    kind=Bipartite,
    knows="which class of equal rows is a person's, or in a network which cell of known attributes "
    "and ties; and a column that is published beside the release, joined by its ids, or in it "
    "(--attach)",
    definition="the share of people in classes whose members all have one value of that column; "
    "how often the commonest value of the class is a person's, and that of all people",
    source="Machanavajjhala et al., l-diversity, 2007",
    needs_linkage=True,
    cost="linear; needs an attached column",
    compute=homogeneity,
    seconds=seconds_of_passes,
    options=AttackOptions,
    also=Network,
)
"""The entry of this attack."""

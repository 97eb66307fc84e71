"""Classes of different people, where a person (or household) has several rows.

Any method that puts the rows of a table into classes of at least k can do it. The rows are divided
into layers in which each person has one row at most. The method anonymizes each layer by itself, so
that a class of a layer has rows of at least k different people. Classes of several layers that
publish the same become one class, which can only have more people. So every class of the release
has at least k, whatever the method does within a layer.

Rows of one person that are equal in what an attacker knows are one row for this, and publish the
same: they need no layer each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.claims.conditions import SuppressionHistogram
from graphveil.claims.record import OwnersNotes
from graphveil.core.array_types import Ints
from graphveil.core.errors import InfeasibleError
from graphveil.core.text import counted
from graphveil.data import SUPPRESSED, Table
from graphveil.release.draft import Draft


class Layers(NamedTuple):
    """Rows that differ in what they hold, by layer; and what stands for the others.

    Parameters
    ----------
    rows
        For each layer the positions of its rows in the table, int64; together each row that stands
        for others, once.
    stands_for
        int64, shape (n,): the position of the row that stands for each row, as a rule its own.
    """

    rows: tuple[Ints, ...]
    stands_for: Ints


def layers_of(codes: NDArray[np.int32], units: NDArray[np.int32], k: int) -> Layers:
    """Return the rows of a table in layers of at least k rows of different people each.

    Parameters
    ----------
    codes
        int32, shape (n, d): the cells that tell rows of one person apart.
    units
        int32, shape (n,): the person or household of each row.
    k
        The fewest rows of a layer.

    Raises
    ------
    InfeasibleError
        If there are fewer than k people, or one of them has so many different rows that layers
        would be smaller than k.

    Examples
    --------
    >>> codes, units = np.array([[0], [1], [0], [0], [1]]), np.array([7, 7, 8, 8, 9])
    >>> layers = layers_of(codes, units, 2)
    >>> [rows.tolist() for rows in layers.rows], layers.stands_for.tolist()
    ([[0, 2], [1, 4]], [0, 1, 2, 2, 4])
    """
    # Step 1: equal rows of one person are one; `np.unique` orders them by person.
    both = np.column_stack([units, codes])
    _, first, own = np.unique(both, axis=0, return_index=True, return_inverse=True)
    people, each = np.unique(units[first], return_counts=True)
    # Step 2: as many layers as a person has rows. The rows of a person follow each other, so that
    # dealing them out in turn gives each layer one of them at most, and layers of equal size.
    number = int(each.max(initial=1))
    smallest = min(people.size, first.size // number)
    if smallest < k:
        raise InfeasibleError(
            f"k={k} different people per class are too many: {counted(people.size, 'person')} "
            f"{'has' if people.size == 1 else 'have'} {counted(first.size, 'different row')}, and "
            f"one of them has {number}. Lower k to {smallest} or less, or drop or group columns in "
            "which the rows of a person differ."
        )
    rows = tuple(np.sort(first[layer::number]) for layer in range(number))
    return Layers(rows, first[own.ravel()])


def draft_in_layers(data: Table, k: int, draw: Callable[[Table], Draft[Any]]) -> Draft[Any]:
    """Return the draft of a table with `units`, whose classes have rows of k different ones each.

    `draw` returns the draft of a table in which each row is a different person, with classes of at
    least k rows; its table has the same columns, categories and order of rows.
    """
    # Step 1 and 2: layers of rows of different people; each is anonymized by itself.
    units = np.zeros(data.n_rows, dtype=np.int32) if data.units is None else data.units
    layers = layers_of(data.codes, units, k)
    codes = np.empty_like(data.codes)
    texts, several = [], len(layers.rows) > 1
    for rows in layers.rows:
        draft = draw(replace(data.part(rows), units=None, settled=True))
        codes[rows] = draft.data.codes
        of_layer = f"in one of {len(layers.rows)} parts ({len(rows)} rows): " if several else ""
        texts += [f"{of_layer}{text}" for text in draft.notes.warnings]
    # Step 3: equal rows of a person publish the same, and figures are counted anew.
    codes = codes[layers.stands_for]
    classes = len(np.unique(codes, axis=0))
    stars = np.unique(np.count_nonzero(codes == SUPPRESSED, axis=1), return_counts=True)
    counted_anew = SuppressionHistogram(
        rows=tuple(zip(*map(np.ndarray.tolist, stars), strict=True))
    )
    return Draft(
        data=Table(codes, data.columns, data.categories, data.ids),
        notes=OwnersNotes(
            cost={"classes": classes, "layers": len(layers.rows)}, warnings=tuple(texts)
        ),
        conditions=tuple(
            counted_anew if isinstance(item, SuppressionHistogram) else item
            for item in draft.conditions
        ),
    )

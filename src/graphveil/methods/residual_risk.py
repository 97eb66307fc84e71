"""How identifiable people remain under new ids, measured: for the owner alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.text import counted
from graphveil.core.warnings import (
    MANY_BY_COPY,
    Advice,
    IdsPublishedWarning,
    SingledOutWarning,
)
from graphveil.data import Data, Graph, Network, Table
from graphveil.data.ids import naming_columns, naming_question
from graphveil.data.kinds import kind_of
from graphveil.data.measures import measure
from graphveil.data.measures.risk import EquivalenceClasses

_KNOWN = {
    "ties": "their degree (out-degree and in-degree if directed)",
    "attributes_and_ties": "their attributes and degree",
    "degree": "their degree",
    "vrq": "the degrees of their neighbors",
    "items": "all their items",
    "row": "all cells of their row",
}
"""What someone may know of a person, by what was measured."""


class ResidualRisk(NamedTuple):
    """Who can still be found."""

    figures: dict[str, int]
    advice: tuple[str, ...]


def left_open(data: Data) -> ResidualRisk:
    """Return how many people are unique to an attacker who knows a little of them.

    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> left_open(star).figures
    {'unique_by_degree': 1, 'unique_by_vrq': 1}
    """
    measured = dict(_measured(data))
    unique = {what: int(np.count_nonzero(m.own_sizes == 1)) for what, m in measured.items()}
    n = max(data.size, 1)
    listed = ", ".join(
        f"{count:,} ({100 * count / n:.1f}%) by {_KNOWN[what]}" for what, count in unique.items()
    )
    sentence = (
        "new ids do not hide a person whose data is known: of "
        f"{counted(data.size, 'person', spec=',')} these are unique: {listed}. An attacker who "
        "knows that about a person finds them and reads the rest"
    )
    figures = {f"unique_by_{what}": count for what, count in unique.items()}
    rows = data.people if isinstance(data, Network) else data
    naming = naming_columns(rows) if isinstance(rows, Table) else ()
    questions = (Advice(naming_question(name), IdsPublishedWarning) for name in naming)
    return ResidualRisk(figures, (Advice(sentence, SingledOutWarning), *questions))


def _measured(data: Data) -> Iterator[tuple[str, EquivalenceClasses]]:
    if isinstance(data, Graph):
        yield "degree", measure(data)
        yield "vrq", measure(data, measure="vrq")
    elif isinstance(data, Network):
        yield "ties", measure(data)
        if data.attributes:
            yield "attributes_and_ties", measure(data, known=data.attributes)
    else:
        yield ("items" if kind_of(data).everyone else "row"), measure(data)


Lists = tuple[NDArray[np.integer], NDArray[np.integer]]
"""The neighbors of every node: where those of each start, and all of them."""

_ROUNDS, _BLOCK = 20, 1 << 22
_FACTORS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def by_copy(layers: Sequence[Lists]) -> tuple[str, ...]:
    """Return the advice on people whom a copy of the network distinguishes; none if they are few.

    >>> ring = Graph.from_edges(range(9), [*range(1, 9), 0], n=9)
    >>> by_copy([(ring.indptr, ring.indices)])
    ()
    """
    return MANY_BY_COPY.passed_by(unique_by_structure(layers), layers[0][0].size - 1)


def unique_by_structure(layers: Sequence[Lists]) -> int:
    """Return how many nodes differ from all others by color refinement (1-WL).

    Colors are sums of hashes of 64 bits: for a warning they may merge, which a guarantee may not.

    >>> path = Graph.from_edges([0, 1, 1, 3], [1, 2, 3, 4], n=5)
    >>> unique_by_structure([(path.indptr, path.indices)])
    3
    """
    n = layers[0][0].size - 1
    colors, classes = np.ones(n, dtype=np.uint64), 0
    for _ in range(_ROUNDS):
        own = _mixed(colors)
        seen = own
        for layer in layers:
            away, back = np.zeros(n, dtype=np.uint64), np.zeros(n, dtype=np.uint64)
            for one, other in _ends(layer):
                np.add.at(away, one, own[other])
                np.add.at(back, other, own[one])
            for sums in (away, back):
                seen = _mixed(seen * np.uint64(_FACTORS[0]) + sums)
        number = np.unique(seen).size
        if number == classes:
            break
        colors, classes = seen, number
    return int(np.count_nonzero(np.unique(colors, return_counts=True)[1] == 1))


def _ends(layer: Lists) -> Iterator[tuple[NDArray[np.integer], NDArray[np.integer]]]:
    """Yield the ends of edges, those of some rows at a time: lists may be on the disk."""
    starts, others = layer
    cuts = np.searchsorted(starts, np.arange(0, others.size, _BLOCK))
    for low, high in pairwise([*np.unique(cuts).tolist(), starts.size - 1]):
        rows = np.repeat(np.arange(low, high), np.diff(starts[low : high + 1]))
        yield rows, np.asarray(others[starts[low] : starts[high]])


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return values in which every bit depends on all bits (SplitMix64)."""
    for shift, factor in zip((30, 27), _FACTORS[1:], strict=True):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))

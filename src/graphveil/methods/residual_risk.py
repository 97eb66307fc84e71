"""How identifiable people remain under new ids, measured: for the owner alone.

`rename` replaces ids and changes nothing else. What it leaves is counted before the release: how
many people are unique by what an attacker may know of them. The figures go to the private record
and into a warning, never into the release. Costs: those of the measures, near-linear in the edges,
entries or cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphveil.core.text import counted
from graphveil.core.warnings import Advice, IdsPublishedWarning, SingledOutWarning
from graphveil.data import Data, Graph, Network
from graphveil.data.id_columns import naming_columns, naming_question
from graphveil.data.kinds import kind_of
from graphveil.measures import measure
from graphveil.measures.risk import EquivalenceClasses

_KNOWN = {
    "ties": "their degree (out-degree and in-degree if directed)",
    "attributes_and_ties": "their attributes and degree",
    "degree": "their degree",
    "vrq": "the degrees of their neighbors",
    "items": "all their items",
    "row": "all cells of their row",
}
"""The attacker's background knowledge in words, by the name of the figure."""


class ResidualRisk(NamedTuple):
    """How many people are unique by each kind of knowledge, and warnings for the owner."""

    figures: dict[str, int]
    advice: tuple[str, ...]


def left_open(data: Data) -> ResidualRisk:
    """Return how many people are unique to an attacker who knows a little of them.

    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)
    >>> left_open(star).figures
    {'unique_by_degree': 1, 'unique_by_vrq': 1}
    """
    # A class of one row or node, by each kind of knowledge, is a unique person.
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
    # Columns with nearly as many values as rows may be ids in disguise: ask about them.
    naming = () if data.people is None else naming_columns(data.people)
    questions = (Advice(naming_question(name), IdsPublishedWarning) for name in naming)
    return ResidualRisk(figures, (Advice(sentence, SingledOutWarning), *questions))


def _measured(data: Data) -> Iterator[tuple[str, EquivalenceClasses]]:
    """Yield the name of each kind of knowledge that suits the data, and the classes under it."""
    if isinstance(data, Graph):
        yield "degree", measure(data)
        yield "vrq", measure(data, measure="vrq")
    elif isinstance(data, Network):
        yield "ties", measure(data)
        if data.attributes:
            yield "attributes_and_ties", measure(data, known=data.attributes)
    else:
        yield ("items" if kind_of(data).everyone else "row"), measure(data)

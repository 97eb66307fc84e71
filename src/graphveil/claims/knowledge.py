"""The words of guarantees: what an attacker may know, what a class shares, what is public.

Every sentence that depends on a choice (a measure, a reason, what the owner said of rows) is
written here once, as a table from the choice to its words. `claims.guarantees` puts them
together; manifests store the result and `verify` compares it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

# What an attacker knows of a node, by measure, and what nodes of one class share.
TieMeasure = Literal["degree", "count", "edge-count", "degree-distribution", "dk", "vrq", "hybrid"]
"""What can be known of edges without directions."""

OneKindMeasure = Literal[TieMeasure, "directed-count"]
"""What can be known of edges of one kind; ``directed-count`` where they have directions."""

MeasureName = Literal[OneKindMeasure, "profile"]
"""What can be known of edges; ``profile`` of several kinds, and where they have directions."""

OF_DIRECTED_TIES: tuple[MeasureName, ...] = ("profile", "directed-count")
"""What is said of directed edges; ``profile`` of others where there are several kinds."""

ALIKE: dict[str, str] = {
    "degree": "the same degree",
    "count": "the same numbers of nodes and edges within distance {distance}",
    "edge-count": "the same number of edges within distance {distance}",
    "degree-distribution": "the same degree sequence in the subgraph within distance {distance}",
    "dk": "an isomorphic subgraph within distance {distance}",
    "vrq": "the same degree sequence for the nodes within distance {distance}",
    "hybrid": "an isomorphic subgraph within distance {distance}, and the same degree sequence "
    "for the nodes in it,",
    "profile": "the same out-degree and in-degree",
    "directed-count": "the same out-degree, in-degree, number of neighbors in either direction, "
    "and number of edges among these and the node itself,",
}
"""What look-alikes share, by measure."""

KNOWLEDGE: dict[str, str] = {
    "degree": "the number of a person's neighbors",
    "count": "the number of people within distance {distance} of a person, and the number of "
    "edges among them,",
    "edge-count": "the number of edges among the people within distance {distance} of a person",
    "degree-distribution": "the degrees that the people within distance {distance} of a person "
    "have among themselves, but not whose is which,",
    "dk": "the subgraph within distance {distance} of a person",
    "vrq": "the degrees of the people within distance {distance} of a person, but not whose is "
    "which,",
    "hybrid": "the subgraph within distance {distance} of a person, and the degrees of the "
    "people in it, but not whose is which,",
    "profile": "the out-degree and in-degree of a person,",
    "directed-count": "the out-degree and in-degree of a person, the number of their neighbors "
    "in either direction, and the number of edges among these and that person,",
}
"""What the attacker knows of a person, by measure."""


ALIKE_IN_LAYERS = (
    "the same degree in each layer ({layers}), counted by direction in directed layers,"
)
KNOWLEDGE_OF_LAYERS = (
    "a person's degree in each layer ({layers}), counted by direction in directed layers,"
)
"""The same of profiles over several layers."""


# Knowledge that is off by some percent.
SIMILAR = "at least {number} {others} whose degree and triangle count are each within {phi:g}% of "
"""What is guaranteed against knowledge that is off by some percent."""

IN_BOXES = (
    "an attacker who keeps as candidates all nodes whose degree and number of triangles are each "
    "within {phi:g}% of those of {person}"
)

NOTHING_PROMISED = "nothing is guaranteed about it"

LEFT_OF_BOXES = (
    "is left with at least {k} nodes that may be that person. An attacker who knows these numbers "
    "more closely, or who searches around numbers that are off, can be left with fewer. Knowledge "
    f"of the original network is different, since edges were changed: {NOTHING_PROMISED}."
)
"""What is left to an attacker with knowledge that is off by some percent."""

# What the owner said of the rows of a table, and what a guarantee then says of people.
Person = Literal["assumed", "row", "column", "people", "households"]
"""What the owner said of the rows of a table, see `graphveil.data.origin.Person`."""

ABOUT_PEOPLE: dict[Person, str] = {
    "assumed": " This is about people only assuming that each row is a different person.",
    "row": " Each row is a different person, as the owner states.",
    "column": " Each row is a different person, by a column that the owner named.",
    "people": " The equal rows are of at least {k} different people, by a column that the owner "
    "named.",
    "households": " The equal rows are of at least {k} different households, by a column that the "
    "owner named.",
}
"""What a guarantee of rows says of people, by what the owner said."""

SEVERAL_ROWS = " If a person has several rows, all of them may be that person's."
"""What the attacker may be left with where nobody said that rows are people."""

ROWS_AS_ROWS: tuple[object, ...] = ("assumed", "people", "households")
"""What the owner said where a row is not a different person: figures then count rows."""

SEVERAL_ORIGINALS = " If a person has several rows, candidates may be that person's other rows."


# Why nothing is claimed.
Reason = Literal["repeatable", "fixed-size", "finite-chain", "unproved", "trial", "renamed"]
"""Why nothing is claimed."""

REASONS: dict[Reason, str] = {
    "repeatable": (
        "The run is reproducible: its noise came from a seeded generator, not from the "
        "operating system's entropy. Anyone who can reproduce the run can remove the noise."
    ),
    "fixed-size": (
        "The number of published edges is fixed, so the noise is not independent of it and no "
        "bound on the effect of one edge holds."
    ),
    "finite-chain": (
        "The sample came from a Markov chain that was stopped, so it only approximates the "
        "distribution for which a bound is proved."
    ),
    "unproved": "We know of no proof of a bound for the mechanism as run.",
    "trial": (
        "This is one of several trials; no guarantee covers choosing among them by the original "
        "data."
    ),
    "renamed": "Only the ids were replaced; the data itself can re-identify people.",
}
"""What each means, in whole sentences."""

# Which lists count as public under differential privacy.
List = Literal["people", "items"]
"""A list that counts as public."""

LISTS: tuple[List, ...] = ("people", "items")
"""Every such list, in the order in which claims name them."""

PUBLIC = "How many people and items there are, and the names of the items, count as public."
"""What differential privacy takes as public in every release."""


def listed(names: tuple[str, ...]) -> str:
    """Return names with commas, and an *and* before the last."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def times(number: int, epsilon: float) -> str:
    """Return a multiple of the decimal that is printed, exactly."""
    text = f"{number * Decimal(repr(epsilon)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

"""What is promised, and what a release cost, in words of readers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graphveil.summaries.line import number, percent

_PLAIN = (
    (r"\bnodes\b", "people"),
    (r"\b([Ee])very node\b", r"\1very person"),
    (r"\bthe same degree\b", "the same number of ties"),
    (r"\blist of degrees\b", "list of numbers of ties"),
    (r"\b[Ee]dges\b", "ties"),
)
"""Terms of graphs, and what they are called where nodes are people and edges are ties."""


def in_plain_words(sentence: str) -> str:
    """Return the sentence of a guarantee with people and ties for nodes and edges, else the same.

    Parameters
    ----------
    sentence
        As the guarantee states it.

    Examples
    --------
    >>> in_plain_words("Every node of the release has the same degree as at least 4 others.")
    'Every person of the release has the same number of ties as at least 4 others.'
    """
    for term, plain in _PLAIN:
        sentence = re.sub(term, plain, sentence)
    return sentence


_COSTS = (
    ("nodes_unprotected", "people left without protection"),
    ("edges_added", "ties added"),
    ("edges_deleted", "ties deleted"),
    ("edges_before", "ties before"),
    ("entries_kept", "entries kept"),
    ("entries_suppressed", "entries suppressed"),
    ("entries_created", "entries created"),
    ("entries_deleted", "entries deleted"),
    ("entries_added", "entries added"),
    ("entries_before", "entries before"),
    ("stars_added", "cells hidden"),
    ("cells", "cells before"),
    ("kept_share", "of the cells kept"),
    ("unique_by_degree", "people unique by how many ties they have"),
    ("unique_by_vrq", "people unique by how many ties their neighbors have"),
    ("unique_by_items", "people unique by their items"),
    ("unique_by_row", "people unique by their row"),
)
"""The costs that people ask for first, in this order."""

SHOWN_COSTS = 3


def cost_words(cost: Mapping[str, float | int]) -> tuple[str, ...]:
    """Return three figures of what a release cost, of those that the owner's record holds.

    Parameters
    ----------
    cost
        By name, as the record has them.

    Examples
    --------
    >>> cost_words({"rounds": 1, "edges_added": 17, "edges_deleted": 0, "edges_before": 621})
    ('17 ties added', '0 ties deleted', '621 ties before')
    >>> cost_words({"edges_added": 3, "edges_deleted": 9, "edges_before": 621, "edits": 12,
    ...             "edits_lower_bound": 11})[-1]
    '12 in all, of which at least 11 are needed'
    """
    words = []
    for name, what in _COSTS:
        value = cost.get(name)
        if value is None or (name == "nodes_unprotected" and not value):
            continue
        figure = percent(value) if name.endswith("share") else number(value)
        words.append(f"{figure} {what}")
    rest = (f"{number(v)} {name.replace('_', ' ')}" for name, v in cost.items())
    if words and "edits_lower_bound" in cost:
        words[SHOWN_COSTS - 1 :] = [_fewest(cost)]
    return tuple(words or rest)[:SHOWN_COSTS]


def _fewest(cost: Mapping[str, float | int]) -> str:
    """Return how near the edits are to the fewest that are possible."""
    edits, least = cost["edits"], cost["edits_lower_bound"]
    if edits <= least:
        return f"{number(edits)} in all, and no fewer will do"
    return f"{number(edits)} in all, of which at least {number(least)} are needed"

"""What an assignment among the nearest candidates costs, and which networks it takes."""

from __future__ import annotations

import math

from graphveil.attacks.attack import TooLargeError, refuse_more_nodes
from graphveil.attacks.costs import squares
from graphveil.attacks.networks.near_candidates import REPEATS, STARTS, WEIGHTS
from graphveil.attacks.networks.seed_propagation import SMALLER
from graphveil.evaluate.comparison import GraphComparison

MOST_NODES, MOST_TIES, MOST_SQUARES = 100_000, 1_500_000, 500_000_000
"""Up to so many nodes, ties, and so large a sum of squared degrees."""

OF_NEAREST = f", best of {len(STARTS)} starts among the nearest"
"""What the label of a setting says of it."""

COST = (
    f"above that, ties times candidates, up to {MOST_NODES:,} nodes and {MOST_TIES:,} ties: about "
    "half a minute a draw for 100,000 ties"
)
"""What the entries of attacks say of it."""

PER_CELL, PER_CANDIDATE, PER_SQUARE = 4e-9, 1.5e-8, 3e-8
"""Seconds of a step for every candidate of an end of a tie, for every candidate of a node; and of
a draw for every two neighbors of a node."""


def check_size(pair: GraphComparison) -> None:
    """Refuse a network that is too large.

    Raises
    ------
    TooLargeError
        Where nodes, ties or neighbors of neighbors are too many.
    """
    refuse_more_nodes(pair.original.n_nodes, MOST_NODES, SMALLER)
    ties = max(pair.original.n_edges, pair.released.n_edges)
    for number, most, words in (
        (ties, MOST_TIES, "ties are"),
        (squares(pair), MOST_SQUARES, "pairs of neighbors are"),
    ):
        if number > most:
            raise TooLargeError(f"{number:,} {words} more than {most:,}. {SMALLER}")


def seconds_of_near_match(pair: GraphComparison) -> float:
    """Return about how long one copy takes: between two starts that agree, and all."""
    n, ties = pair.original.n_nodes, max(pair.original.n_edges, pair.released.n_edges)
    steps = WEIGHTS.size * REPEATS
    of_starts = [
        steps
        * start.candidates(pair.original.n_edges, n)
        * (4 * PER_CELL * ties + PER_CANDIDATE * n)
        for start in STARTS
    ]
    middle = math.sqrt(sum(of_starts[:2]) * sum(of_starts))
    return middle + PER_SQUARE * squares(pair)

"""What an assignment among the nearest candidates costs, and which networks it takes."""

from __future__ import annotations

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

PER_CELL, PER_CANDIDATE = 8e-9, 3e-8
"""Seconds of a step for every candidate of a tie, and for every candidate of a node."""

NEAR_BY, GROWTH = 12_000, 0.5
"""Up to so many nodes candidates lie in the cache; then each costs more, by a power."""

WRONG, ALL_STARTS = 3.2, 0.6
"""How much longer a copy takes of whose ties such a share is wrong, or more, as a multiple of a
whole copy's time: then all starts are tried, and rounds are most."""


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


def seconds_of_near_match(pair: GraphComparison, overlap: float) -> float:
    """Return about how long one copy takes, of which a share of the ties stands in the original.

    How many of these the release kept is counted by the linkage.
    """
    n, ties = pair.original.n_nodes, max(pair.original.n_edges, pair.released.n_edges)
    candidates = sum(start.candidates(pair.original.n_edges, n) for start in STARTS[:2])
    farther: float = (max(n, NEAR_BY) / NEAR_BY) ** GROWTH
    wrong = 1 - overlap * pair.edges_kept / max(pair.original.n_edges, 1)
    steps = WEIGHTS.size * REPEATS * (1 + WRONG * min(wrong / ALL_STARTS, 1))
    return steps * candidates * (PER_CELL * ties + PER_CANDIDATE * n) * farther

"""x."""

from __future__ import annotations

import math

from graphveil.attacks.attack import TooLargeError, ends_of, refuse_more_nodes, squares
from graphveil.attacks.networks.assignment.near_candidates import ALL_STEPS, FEWER, STARTS, Steps
from graphveil.attacks.networks.propagation import SMALLER
from graphveil.evaluate.comparison import GraphComparison

MOST_NODES, MOST_TIES, MOST_SQUARES = 100_000, 1_500_000, 500_000_000
"""Up to so many nodes, edges, and so large a sum of squared degrees."""

OF_NEAREST = f"best of {len(STARTS)} starts among the nearest"
"""What the label of a setting says of it."""

COST = (
    f"above that, edges times candidates, up to {MOST_NODES:,} nodes and {MOST_TIES:,} edges: "
    "about half a minute per draw for 100,000 edges"
)
"""What the entries of attacks say of it."""

PER_CELL, PER_CANDIDATE = 8e-9, 3e-8
"""Seconds of a step for every candidate of an edge, and for every candidate of a node."""

NEAR_BY, GROWTH = 12_000, 0.5
"""Up to so many nodes candidates are in the cache; then each costs more, by a power."""

WRONG, ALL_STARTS = 3.2, 0.6
"""How much longer a copy takes of whose edges such a share is wrong, or more, as a multiple of a
whole copy's time: then all starts are tried, and rounds are most."""


def check_size(pair: GraphComparison) -> None:
    """Refuse a network that is too large."""
    refuse_more_nodes(pair.original.n_nodes, MOST_NODES, SMALLER)
    ties = max(pair.original.n_edges, pair.released.n_edges)
    for number, most, words in (
        (ties, MOST_TIES, "edges"),
        (squares(pair), MOST_SQUARES, "pairs of neighbors"),
    ):
        if number > most:
            raise TooLargeError(f"{number:,} {words} exceed the limit of {most:,}. {SMALLER}")


def seconds_of_near_match(pair: GraphComparison, overlap: float, steps: Steps = ALL_STEPS) -> float:
    """Return about how long one copy takes, of which a share of the edges is in the original."""
    n, ties = pair.original.n_nodes, max(pair.original.n_edges, pair.released.n_edges)
    candidates = sum(start.candidates(pair.original.n_edges, n) for start in STARTS[:2])
    farther: float = (max(n, NEAR_BY) / NEAR_BY) ** GROWTH
    wrong = 1 - overlap * pair.edges_kept / max(pair.original.n_edges, 1)
    times = len(steps.weights) * steps.repeats * (1 + WRONG * min(wrong / ALL_STARTS, 1))
    scaled = PER_CANDIDATE * n * steps.scalings / ALL_STEPS.scalings
    return times * candidates * (PER_CELL * ties + scaled) * farther


SOON, LATE = (0.8e-6, 5.5e-10), (0.9e-6, 4.0e-9)
"""Seconds for every pair and every triple of nodes: where the first two starts agree, and where no
two do."""

PER_WALK = 3e-8
"""Seconds for every node and end of an edge."""

NONE_AGREE, SOON_AGREE = 3.0, 4.5
"""Up to so many edges in common a person, discounted by those that are false, no two starts agree
mostly; from so many on the first two do."""


def effort(pair: GraphComparison, shared: float) -> float:
    """Return how far a copy is from one on which the first two starts agree: from 0 to 1.

    Whether they do shows only in the run; edges that the copy, the original and the release share
    foretell it. The owner's linkage counts them.
    """
    true = pair.edges_kept / max(pair.released.n_edges, 1)
    common = 2 * shared * pair.edges_kept / max(pair.original.n_nodes, 1) * math.sqrt(true)
    return min(max((SOON_AGREE - common) / (SOON_AGREE - NONE_AGREE), 0.0), 1.0)


def seconds_of_all_pairs(
    pair: GraphComparison, overlap: float, people: float, last: float = 0.0
) -> float:
    """Return about how long one copy takes, among candidates and among all pairs."""
    n, far = pair.original.n_nodes, effort(pair, overlap * people)
    near = seconds_of_near_match(pair, overlap, FEWER) + PER_WALK * n * ends_of(pair)
    soon, late = (near + (a_pair + triple * n) * n * n for a_pair, triple in (SOON, LATE))
    between: float = soon ** (1 - far) * (late + last) ** far
    return between

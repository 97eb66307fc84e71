"""How long matching a copy takes: among nearest candidates, and among all pairs of nodes.

Time depends on how soon two starts agree (`one_to_one.py`), which only shows in the run; the share
of edges that copy, original and release have in common foretells it. The owner's linkage counts
these edges: an attack itself uses no forecast. Rates are fitted to ``benchmarks/attack_costs``.
"""

from __future__ import annotations

import math

from graphveil.attacks.attack import TooLargeError, ends_of, refuse_more_nodes, squares
from graphveil.attacks.networks.assignment.near_candidates import ALL_STEPS, FEWER, STARTS, Steps
from graphveil.attacks.networks.propagation import SMALLER
from graphveil.evaluate.comparison import GraphComparison

MOST_NODES, MOST_TIES, MOST_SQUARES = 100_000, 1_500_000, 500_000_000
"""Larger networks are refused: by nodes, by edges, and by the sum of squared degrees."""

OF_NEAREST = f"best of {len(STARTS)} starts among the nearest"
"""How the label of a setting names this search."""

COST = (
    f"above that, edges times candidates, up to {MOST_NODES:,} nodes and {MOST_TIES:,} edges: "
    "about half a minute per draw for 100,000 edges"
)
"""What the entries of attacks say about the cost above `ALL_PAIRS` nodes."""

PER_CELL, PER_CANDIDATE = 8e-9, 3e-8
"""Seconds of a step per candidate of an edge, and per candidate of a node."""

NEAR_BY, GROWTH = 12_000, 0.5
"""Up to this many nodes candidates are in the cache; then each costs more, by the power `GROWTH` of
how many times as many there are."""

WRONG, ALL_STARTS = 3.2, 0.6
"""A copy with a share of `ALL_STARTS` or more of wrong edges takes `WRONG` times longer in
addition: all starts are tried then, and most rounds are used. In between it grows linearly."""

SOON, LATE = (0.8e-6, 5.5e-10), (0.9e-6, 4.0e-9)
"""Seconds per pair and per triple of nodes: if the first two starts agree, and if no two do."""

PER_WALK = 3e-8
"""Seconds per node and end of an edge."""

NONE_AGREE, SOON_AGREE = 3.0, 4.5
"""Edges in common per person, discounted by those that are false: below the first number no two
starts agree mostly, from the second on the first two do."""


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
    # Two starts are always tried; further ones are in the factor for wrong edges.
    candidates = sum(start.candidates(pair.original.n_edges, n) for start in STARTS[:2])
    farther: float = (max(n, NEAR_BY) / NEAR_BY) ** GROWTH
    wrong = 1 - overlap * pair.edges_kept / max(pair.original.n_edges, 1)
    times = len(steps.weights) * steps.repeats * (1 + WRONG * min(wrong / ALL_STARTS, 1))
    scaled = PER_CANDIDATE * n * steps.scalings / ALL_STEPS.scalings
    return times * candidates * (PER_CELL * ties + scaled) * farther


def effort(pair: GraphComparison, shared: float) -> float:
    """Return how far a copy is from one on which the first two starts agree: from 0 to 1.

    Whether they do shows only in the run; edges that the copy, the original and the release share
    foretell it. The owner's linkage counts them.
    """
    # Ends of edges per person that copy, original and release share, discounted by the root of the
    # share of released edges that are true.
    true = pair.edges_kept / max(pair.released.n_edges, 1)
    common = 2 * shared * pair.edges_kept / max(pair.original.n_nodes, 1) * math.sqrt(true)
    return min(max((SOON_AGREE - common) / (SOON_AGREE - NONE_AGREE), 0.0), 1.0)


def seconds_of_all_pairs(
    pair: GraphComparison, overlap: float, people: float, last: float = 0.0
) -> float:
    """Return about how long one copy takes, among candidates and among all pairs."""
    n, far = pair.original.n_nodes, effort(pair, overlap * people)
    near = seconds_of_near_match(pair, overlap, FEWER) + PER_WALK * n * ends_of(pair)
    # Between both cases time grows geometrically with the effort.
    soon, late = (near + (a_pair + triple * n) * n * n for a_pair, triple in (SOON, LATE))
    between: float = soon ** (1 - far) * (late + last) ** far
    return between

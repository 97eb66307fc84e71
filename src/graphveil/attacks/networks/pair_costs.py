"""What the best of assignments of all pairs costs: little where two starts agree, else much."""

from __future__ import annotations

import math

from graphveil.attacks.costs import ends_of
from graphveil.attacks.networks.near_costs import seconds_of_near_match
from graphveil.evaluate.comparison import GraphComparison

SOON, LATE = (1.1e-6, 5.5e-10), (1.2e-6, 5.1e-9)
"""Seconds for every pair and every triple of nodes: where the first two starts agree, and where no
two do."""

PER_WALK = 3e-8
"""Seconds for every node and end of an edge."""

NONE_AGREE, SOON_AGREE = 3.0, 4.5
"""Up to so many ties in common a person, discounted by those that are false, no two starts agree
mostly; from so many on the first two do."""


def effort(pair: GraphComparison, shared: float) -> float:
    """Return how far a copy is from one on which the first two starts agree: from 0 to 1.

    Whether they do shows only in the run; ties that the copy, the original and the release share
    foretell it. The owner's linkage counts them.

    Parameters
    ----------
    pair
        The original and the release, linked.
    shared
        How many of the original's ties a person of the copy has there, as a share.
    """
    true = pair.edges_kept / max(pair.released.n_edges, 1)
    common = 2 * shared * pair.edges_kept / max(pair.original.n_nodes, 1) * math.sqrt(true)
    return min(max((SOON_AGREE - common) / (SOON_AGREE - NONE_AGREE), 0.0), 1.0)


def seconds_of_all_pairs(
    pair: GraphComparison, overlap: float, people: float, last: float = 0.0
) -> float:
    """Return about how long one copy takes, among candidates and among all pairs.

    Parameters
    ----------
    pair
        The original and the release, linked.
    overlap, people
        The shares of the ties of the copy that stand in the original, and of the people in it.
    last
        Seconds of a further start, which is tried where no two of the others agree.
    """
    n, far = pair.original.n_nodes, effort(pair, overlap * people)
    near = seconds_of_near_match(pair, overlap) + PER_WALK * n * ends_of(pair)
    soon, late = (near + (a_pair + triple * n) * n * n for a_pair, triple in (SOON, LATE))
    between: float = soon ** (1 - far) * (late + last) ** far
    return between

"""Assignments among a few candidates of every node, where all pairs of nodes would be too many.

Used by `near_match` (``networks/assignment/near_candidates.py``) and, for dense plans, by
`sinkhorn` (``networks/assignment/fugal.py``). Candidates of node u are ``nodes[u]``, -1 where there
are fewer; every other array of shape (n, candidates) has a number of each. A plan is such an array,
float32: how much of u is each.

Sums are added up in a fixed order in one thread, in float32 where arrays are: results are the same
on every machine. Time is edges times candidates for `ties_of_candidates`, and n times candidates
for each round of `transported`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.kernels.percolation import CandidateLists, PercolationMatch, fits
from graphveil.core.array_types import Ints, Nodes
from graphveil.core.kernels.leaf import leaf, wide

Weights = NDArray[np.float32]

_FEWEST = -60.0
"""Logarithms of weights are cut off here, below the largest of a row: exp(-60) is 1e-26, far above
the least float32, so that no candidate's weight becomes 0."""
_TINY = 1e-30
"""Sums of a row are taken for at least this much before it is divided by them."""


class Factors(NamedTuple):
    """Room for what rows and columns are multiplied by, and for the sums of columns.

    Parameters
    ----------
    rows : float32, shape (n,)
        Written by `scaled` and `transported`.
    columns : float32, shape (n_two,)
        Read by `scaled` as its start, and written by both.
    sums : float32, shape (n_two,)
        Written by both; of no meaning afterwards.
    """

    rows: Weights
    columns: Weights
    sums: Weights


class Votes(NamedTuple):
    """Room for how often nodes are voted for.

    Parameters
    ----------
    number : int64, shape (n_two,)
        Zero for every node before and after `rank_by_matched_neighbors`.
    nodes : int64, shape (n_two,)
        Which nodes have a vote, in the order of their first one; written.
    """

    number: Ints
    nodes: Ints


@leaf
def ties_of_candidates(
    one: CandidateLists,
    two: CandidateLists,
    nodes: Nodes,
    plan: Weights,
    room: Weights,
    ties: Weights,
) -> None:
    """Write how many edges every candidate keeps: the plan summed over pairs of both's neighbors.

    For a node u and its candidate v that is the sum, over neighbors x of u and y of v, of how much
    of x is y: the product A P B of graduated assignment, for pairs of candidates alone.

    Parameters
    ----------
    one, two : CandidateLists
        Both networks; read.
    nodes : int32, shape (n, candidates)
        Candidates of every node; read.
    plan : float32, shape (n, candidates)
        How much of every node is each candidate; read.
    room : float32, shape (n_two,)
        Zeros, and zeros again afterwards.
    ties : float32, shape (n, candidates)
        The result; all of it is written.
    """
    n, size = nodes.shape
    for u in range(n):
        for c in range(size):
            ties[u, c] = 0
        for r in range(one.indptr.shape[0]):
            # Scatter: add up, over the neighbors of u in this list, how much of them each node of
            # `two` is.
            for a in range(one.indptr[r, u], one.indptr[r, u + 1]):
                x = one.indices[a]
                for c in range(size):
                    if nodes[x, c] >= 0:
                        room[nodes[x, c]] += plan[x, c]
            # Gather: each candidate of u sums this over its own neighbors in the same list.
            for c in range(size):
                if nodes[u, c] < 0:
                    continue
                total = np.float32(0)
                for b in range(two.indptr[r, nodes[u, c]], two.indptr[r, nodes[u, c] + 1]):
                    total += room[two.indices[b]]
                ties[u, c] += total
            # Clear what was scattered, touching no other node.
            for a in range(one.indptr[r, u], one.indptr[r, u + 1]):
                x = one.indices[a]
                for c in range(size):
                    if nodes[x, c] >= 0:
                        room[nodes[x, c]] = 0


@leaf
def scaled(
    plan: Weights, turned: Weights, factors: Factors, rounds: int, tolerance: float, least: float
) -> None:
    """Scale all rows and columns of a plan in turn until their sums are that near to 1.

    Sinkhorn's scaling. Both kinds of sums add up arrays, one per row of either, and not numbers:
    the order of adding is the same on every machine.

    Parameters
    ----------
    plan : float32, shape (n, m)
        Weights above 0; written once at the end.
    turned : float32, shape (m, n)
        The transposed plan, contiguous; read.
    factors : Factors
        All are written; `columns` says where the scaling begins.
    rounds : int
        How many rounds there are at most.
    tolerance : float
        How far the sum of a column may be from 1 at the end; rows sum to 1 before each check.
    least : float
        Sums are taken for at least this much.
    """
    n, m = plan.shape
    rows, columns, sums = factors
    for _ in range(rounds):
        # Rows: their factor makes each sum to 1 under the factors of columns.
        for i in range(n):
            rows[i] = 0
        for j in range(m):
            factor = columns[j]
            for i in range(n):
                rows[i] += turned[j, i] * factor
        for i in range(n):
            rows[i] = np.float32(1) / max(rows[i], np.float32(least))
        # Columns: how far their sums are off decides whether another round is needed.
        for j in range(m):
            sums[j] = 0
        for i in range(n):
            factor = rows[i]
            for j in range(m):
                sums[j] += plan[i, j] * factor
        far = np.float32(0)
        for j in range(m):
            far = max(far, abs(columns[j] * sums[j] - np.float32(1)))
        # The sums of columns are checked before their factors change: rows are exact at this point.
        if far < tolerance:
            break
        for j in range(m):
            columns[j] = np.float32(1) / max(sums[j], np.float32(least))
    # Apply both factors once.
    for i in range(n):
        for j in range(m):
            plan[i, j] = plan[i, j] * rows[i] * columns[j]


@leaf
def transported(nodes: Nodes, worth: Weights, factors: Factors, rounds: int, plan: Weights) -> None:
    """Write the plan exp(worth), rows in turn scaled to 1 and columns of more than 1 to 1.

    Columns are scaled last: rows of nodes whose candidates are likelier others stay below 1, which
    leaves nodes without a counterpart room to have none.

    Parameters
    ----------
    nodes : int32, shape (n, candidates)
        Candidates of every node; read.
    worth : float32, shape (n, candidates)
        The logarithm of each candidate's weight; read.
    factors : Factors
        All are written.
    rounds : int
        How often rows and columns are scaled.
    plan : float32, shape (n, candidates)
        The result; all of it is written, 0 where there is no candidate.
    """
    n, size = nodes.shape
    factors.columns[:] = 1
    for u in range(n):
        # Relative to the largest weight of the row, exp neither overflows nor makes a row all 0.
        most = np.float32(-np.inf)
        for c in range(size):
            if nodes[u, c] >= 0 and worth[u, c] > most:
                most = worth[u, c]
        for c in range(size):
            plan[u, c] = 0
            if nodes[u, c] >= 0:
                plan[u, c] = np.exp(max(worth[u, c] - most, np.float32(_FEWEST)))
    # Rows to 1; columns only down to 1, never up: a released node need not be anyone's.
    for _ in range(rounds):
        _scale_rows(nodes, factors, plan)
        factors.sums[:] = 0
        for u in range(n):
            for c in range(size):
                if nodes[u, c] >= 0:
                    factors.sums[nodes[u, c]] += plan[u, c] * factors.rows[u]
        for v in range(len(factors.sums)):
            factors.columns[v] = np.float32(1) / max(factors.sums[v], np.float32(1))
    # Apply both factors once.
    for u in range(n):
        for c in range(size):
            if nodes[u, c] >= 0:
                plan[u, c] *= factors.rows[u] * factors.columns[nodes[u, c]]


@leaf
def _scale_rows(nodes: Nodes, factors: Factors, plan: Weights) -> None:
    """Write into ``factors.rows`` what makes every row sum to 1 under the factors of columns."""
    n, size = nodes.shape
    for u in range(n):
        total = np.float32(0)
        for c in range(size):
            if nodes[u, c] >= 0:
                total += plan[u, c] * factors.columns[nodes[u, c]]
        factors.rows[u] = np.float32(1) / max(total, np.float32(_TINY))


@leaf
def rank_by_matched_neighbors(
    one: CandidateLists,
    two: CandidateLists,
    match: Ints,
    votes: Votes,
    nodes: Nodes,
    shares: Weights,
) -> None:
    """Write the nodes that share most matched neighbors with each node, the best first.

    Their number is divided by the roots of both's degrees (a cosine). Nodes that show other
    attributes are skipped. Time is the sum over matched neighbors of their partners' degrees.

    Parameters
    ----------
    one, two : CandidateLists
        Both networks; read.
    match : int64, shape (n,)
        The node of `two` of every node of `one`, or -1; read.
    votes : Votes
        Room; `votes.number` is zero again afterwards.
    nodes : int32, shape (n, size)
        The result: nodes of `two`, -1 where there are fewer; all of it is written.
    shares : float32, shape (n, size)
        Their cosines, 0 where there is no node; all of it is written.
    """
    n, size = nodes.shape
    for u in range(n):
        # Every matched neighbor x -> y of u votes for all neighbors of y, in the same list.
        voted = wide(0)
        for r in range(one.indptr.shape[0]):
            for a in range(one.indptr[r, u], one.indptr[r, u + 1]):
                y = match[one.indices[a]]
                if y < 0:
                    continue
                for b in range(two.indptr[r, y], two.indptr[r, y + 1]):
                    v = wide(two.indices[b])
                    if votes.number[v] == 0:
                        votes.nodes[voted] = v
                        voted += 1
                    votes.number[v] += 1
        # Keep the best, and set the votes back to zero on the way.
        for c in range(size):
            nodes[u, c], shares[u, c] = -1, 0
        for at in range(voted):
            v = votes.nodes[at]
            both = np.float64(one.degrees[u]) * np.float64(two.degrees[v])
            share = np.float32(votes.number[v] / np.sqrt(both))
            votes.number[v] = 0
            if share > shares[u, size - 1] and fits(one, two, u, v):
                _insert(nodes, shares, u, v, share)


@leaf
def _insert(nodes: Nodes, shares: Weights, u: int, v: int, share: np.float32) -> None:
    """Put a node in its place in a row, behind all of at least its share; the last one goes."""
    at = wide(nodes.shape[1] - 1)
    while at > 0 and shares[u, at - 1] < share:
        nodes[u, at], shares[u, at] = nodes[u, at - 1], shares[u, at - 1]
        at -= 1
    nodes[u, at], shares[u, at] = v, share


@leaf
def match_in_order(order: Ints, nodes: Nodes, match: PercolationMatch) -> None:
    """Match pairs in an order, where both nodes are free yet.

    Parameters
    ----------
    order : int64, shape (pairs,)
        Pairs as numbers ``u * candidates + c``, the likeliest first; read.
    nodes : int32, shape (n, candidates)
        Candidates of every node; read.
    match : PercolationMatch
        Both sides are written.
    """
    size = nodes.shape[1]
    for pair in order:
        u, v = pair // size, wide(nodes[pair // size, pair % size])
        if v >= 0 and match.one[u] < 0 and match.two[v] < 0:
            match.one[u], match.two[v] = v, u

"""Assignments among a few candidates of every node, where all pairs of nodes would be too many.

Candidates of node u are ``nodes[u]``, -1 where there are fewer; every other array of shape
(n, candidates) has a number of each. A plan is such an array, float32: how much of u is each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.attacks.kernels.percolation import CandidateLists, PercolationMatch, fits
from graphveil.core.kernels.leaf import leaf, wide

Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]
Weights = NDArray[np.float32]

_FEWEST = -60.0
_TINY = 1e-30


class Factors(NamedTuple):
    """Room for what rows and columns are multiplied by, and for the sums of columns."""

    rows: Weights
    columns: Weights
    sums: Weights


class Votes(NamedTuple):
    """Room for how often nodes are voted for: a zero for every node, and which have a vote."""

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

    It writes all of `ties`; `room`, a zero for every node of `two`, is as before afterwards.
    """
    n, size = nodes.shape
    for u in range(n):
        for c in range(size):
            ties[u, c] = 0
        for r in range(one.indptr.shape[0]):
            for a in range(one.indptr[r, u], one.indptr[r, u + 1]):
                x = one.indices[a]
                for c in range(size):
                    if nodes[x, c] >= 0:
                        room[nodes[x, c]] += plan[x, c]
            for c in range(size):
                if nodes[u, c] < 0:
                    continue
                total = np.float32(0)
                for b in range(two.indptr[r, nodes[u, c]], two.indptr[r, nodes[u, c] + 1]):
                    total += room[two.indices[b]]
                ties[u, c] += total
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

    It writes `plan` and all of `factors`, whose columns say where it begins; `turned` is the
    transposed plan. Both kinds of sums add up arrays, one per row of either, and not numbers: the
    order of adding is the same on every machine.
    """
    n, m = plan.shape
    rows, columns, sums = factors
    for _ in range(rounds):
        for i in range(n):
            rows[i] = 0
        for j in range(m):
            factor = columns[j]
            for i in range(n):
                rows[i] += turned[j, i] * factor
        for i in range(n):
            rows[i] = np.float32(1) / max(rows[i], np.float32(least))
        for j in range(m):
            sums[j] = 0
        for i in range(n):
            factor = rows[i]
            for j in range(m):
                sums[j] += plan[i, j] * factor
        far = np.float32(0)
        for j in range(m):
            far = max(far, abs(columns[j] * sums[j] - np.float32(1)))
        if far < tolerance:
            break
        for j in range(m):
            columns[j] = np.float32(1) / max(sums[j], np.float32(least))
    for i in range(n):
        for j in range(m):
            plan[i, j] = plan[i, j] * rows[i] * columns[j]


@leaf
def transported(nodes: Nodes, worth: Weights, factors: Factors, rounds: int, plan: Weights) -> None:
    """Write the plan exp(worth), rows in turn scaled to 1 and columns of more than 1 to 1.

    It writes all of `factors` and `plan`, scales so often, and columns last: rows of nodes whose
    candidates are likelier others stay below 1.
    """
    n, size = nodes.shape
    factors.columns[:] = 1
    for u in range(n):
        most = np.float32(-np.inf)
        for c in range(size):
            if nodes[u, c] >= 0 and worth[u, c] > most:
                most = worth[u, c]
        for c in range(size):
            plan[u, c] = 0
            if nodes[u, c] >= 0:
                plan[u, c] = np.exp(max(worth[u, c] - most, np.float32(_FEWEST)))
    for _ in range(rounds):
        _scale_rows(nodes, factors, plan)
        factors.sums[:] = 0
        for u in range(n):
            for c in range(size):
                if nodes[u, c] >= 0:
                    factors.sums[nodes[u, c]] += plan[u, c] * factors.rows[u]
        for v in range(len(factors.sums)):
            factors.columns[v] = np.float32(1) / max(factors.sums[v], np.float32(1))
    for u in range(n):
        for c in range(size):
            if nodes[u, c] >= 0:
                plan[u, c] *= factors.rows[u] * factors.columns[nodes[u, c]]


@leaf
def _scale_rows(nodes: Nodes, factors: Factors, plan: Weights) -> None:
    """Write what makes every row sum to 1 into the factors of rows."""
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

    Their number is divided by the roots of both's degrees. Nodes that show other attributes are
    skipped. It writes all of `nodes` and `shares`; `votes.number` is zero again afterwards.
    """
    n, size = nodes.shape
    for u in range(n):
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

    A pair is the number ``u * candidates + c``. It writes both sides of the match.
    """
    size = nodes.shape[1]
    for pair in order:
        u, v = pair // size, wide(nodes[pair // size, pair % size])
        if v >= 0 and match.one[u] < 0 and match.two[v] < 0:
            match.one[u], match.two[v] = v, u

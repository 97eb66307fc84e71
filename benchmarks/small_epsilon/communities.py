"""A peer: communities of people with like noisy degrees, and what is left of the degrees at random.

What the generator of degrees of a public benchmark does (*PGB: Benchmarking Differentially Private
Synthetic Graph Generation Algorithms*, 2024), in our own code, with two changes for the better: the
noise has the scale that two degrees an edge need, twice that of the program; and who gets a degree
in its second phase is whose degree it is, where the program takes that of another node.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

import graphveil as gv

LEAST = 0.1
"""What is left of a degree, at least."""


def degree_communities(graph: gv.Graph, epsilon: float, rng: np.random.Generator) -> gv.Graph:
    """Return a graph with communities of people whose noisy degrees are alike."""
    n = graph.n_nodes
    degrees = graph.degrees() + rng.laplace(0, 2 / epsilon, n)
    degrees = np.maximum(np.round(degrees), 0).astype(np.int64)
    order = np.argsort(degrees, kind="stable")
    inside, first, highest = [], 0, int(degrees.max())
    while first < n:
        members = order[first : first + degrees[order[first]] + 1]
        inside.append(_dense(members, np.log(members.size + 1) / np.log(highest + 1), rng))
        first += members.size
    edges = np.concatenate(inside)
    left = np.maximum(degrees - np.bincount(edges.ravel(), minlength=n), LEAST)
    edges = np.concatenate([edges, _chung_lu(left, rng)])
    links = csr_array((np.ones(len(edges), dtype=np.int8), edges.T), shape=(n, n))
    u, v = (links + links.T).nonzero()
    return gv.Graph.from_edges(u[u < v], v[u < v], n=n)


def _dense(members: np.ndarray, chance: float, rng: np.random.Generator) -> np.ndarray:
    """Return the pairs of these nodes, each with this chance."""
    i, j = np.triu_indices(members.size, k=1)
    drawn = rng.random(i.size) < chance
    return np.column_stack([members[i[drawn]], members[j[drawn]]])


def _chung_lu(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return pairs, each with the chance w_u w_v / sum, at most 1: row by row."""
    total, rows = weights.sum(), []
    for u in range(weights.size - 1):
        drawn = rng.random(weights.size - u - 1) < weights[u] * weights[u + 1 :] / total
        v = np.flatnonzero(drawn) + u + 1
        rows.append(np.column_stack([np.full(v.size, u), v]))
    return np.concatenate(rows)

"""A test of exchanged edges: whether a release holds more of the original than odds explain.

Of random graphs whose pairs are sampled with odds x_u x_v, all with the same degrees are equally
likely (Park & Newman, Statistical mechanics of networks, 2004). So edges a-b and c-d are as
likely as a-d and c-b in their place: of exchanges that change how many edges are in both, as many
gain as lose. This holds whatever the weights x are, which is why it needs none of them.

Cost: O(m log m), with at most `_ROUNDS` passes to choose pairs of edges that share no node.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints

_ROUNDS = 12
"""Rounds in which disjoint pairs of edges are chosen; each takes the pairs that are first at all
of their nodes. More rounds would find few more."""


class Exchanges(NamedTuple):
    """Counts of exchanges of two released edges, no two of which share a node.

    `telling`: how many would change how many edges are in both; `more`: in how many of them the
    release, as it is, has more edges of the original.
    """

    telling: int
    more: int


def edge_exchanges(released: Ints, original: Ints, n: int) -> Exchanges:
    """Return how many exchanges change the edges in both graphs, and in which direction.

    Which edges are exchanged depends on which nodes they join, never on how: nodes are drawn by a
    digest of the release, fours of them are chosen without looking at their edges again.
    """
    released, original = (edges.astype(np.int64, copy=False) for edges in (released, original))
    # Step 1: pairs of edges a-b and c-d such that no node is in two of the pairs: independent.
    a, b, c, d = _fours(released, n).T
    # Step 2: keep exchanges that are possible (a-d and c-b are free) and whose nodes have degrees
    # small enough for the model of sampled odds.
    degrees = np.bincount(released.ravel(), minlength=n)
    largest = np.maximum(degrees[a], degrees[b]) * np.maximum(degrees[c], degrees[d])
    largest = np.maximum(largest, np.maximum(degrees[a] * degrees[b], degrees[c] * degrees[d]))
    keys, truly = _keys(released[:, 0], released[:, 1], n), _keys(original[:, 0], original[:, 1], n)
    new = [_keys(a, d, n), _keys(c, b, n)]
    possible = ~np.isin(new[0], keys) & ~np.isin(new[1], keys)
    possible &= 2 * largest <= released.shape[0]
    # Step 3: how many edges of the original each exchange would win or lose.
    before = np.isin(_keys(a, b, n), truly) * 1 + np.isin(_keys(c, d, n), truly)
    after = np.isin(new[0], truly) * 1 + np.isin(new[1], truly)
    gain = (before - after)[possible]
    return Exchanges(int(np.count_nonzero(gain)), int(np.count_nonzero(gain > 0)))


def _fours(edges: Ints, n: int) -> Ints:
    """Return the ends of pairs of edges, shape (pairs, 4), such that no node is in two of them."""
    chosen = [np.empty((0, 4), dtype=np.int64)]
    free = np.ones(n, dtype=bool)
    # Pair up edges in an order that depends on a digest of the release, and turn half of them.
    words = _words(edges)
    pairs = edges[np.argsort(words, kind="stable")]
    pairs = pairs[: pairs.shape[0] // 2 * 2].reshape(-1, 4)
    turned = words[: pairs.shape[0]] >> np.uint64(63) > 0
    pairs[turned] = pairs[turned][:, [0, 1, 3, 2]]
    ordered = np.sort(pairs, axis=1)
    pairs = pairs[(np.diff(ordered, axis=1) > 0).all(axis=1)]
    # Greedily keep pairs that come first at all four of their nodes, round by round.
    for _ in range(_ROUNDS):
        pairs = pairs[free[pairs].all(axis=1)]
        if not pairs.size:
            break
        rank = np.arange(pairs.shape[0])
        first = np.full(n, pairs.shape[0], dtype=np.int64)
        np.minimum.at(first, pairs.ravel(), np.repeat(rank, 4))
        own = pairs[(first[pairs] == rank[:, None]).all(axis=1)]
        free[own.ravel()] = False
        chosen.append(own)
    return np.concatenate(chosen)


def _words(edges: Ints) -> NDArray[np.uint64]:
    """Return a pseudorandom word for each edge, seeded by a digest of all edges (SplitMix64).

    It is not a chance that is guaranteed to anybody: the words say which edges are compared.
    """
    start = hashlib.sha256(np.ascontiguousarray(edges).tobytes()).digest()[:8]
    steps = np.arange(1, edges.shape[0] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = steps + np.frombuffer(start, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def _keys(u: Ints, v: Ints, n: int) -> Ints:
    """Return one number for each pair of nodes."""
    return np.minimum(u, v) * n + np.maximum(u, v)

"""Neighborhoods in which refinement tells nodes apart but for pairs, which may be crossed.

Stable colors of pairs, each linked to others by two edges, straight or crossed, are the same
however many are crossed; around a ring of pairs an odd number of them makes another shape.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from emptied import emptied_database
from graphveil.verify.recount.graphs.structural_classes import alike

PAIRS = 4
LINKED = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
"""Which pairs are linked: two rings that share a side."""


def rim(crossed, singles):
    """Return the edges of pairs, and of single nodes that tell them apart, numbered from 0.

    Pair p has the nodes 2p and 2p + 1. Behind them stands a path of so many single nodes, of which
    pair p is linked to the one in its own place.
    """
    edges = [
        (2 * one + side, 2 * other + (side ^ cross))
        for (one, other), cross in zip(LINKED, crossed, strict=True)
        for side in (0, 1)
    ]
    path = range(2 * PAIRS, 2 * PAIRS + singles)
    edges += pairwise(path)
    edges += [(2 * pair + side, path[pair]) for pair in range(PAIRS) for side in (0, 1)]
    return edges


def same_shape(one, other):
    """Whether exchanging the nodes of some pairs makes one of the other, tried for all of them."""
    return any(
        all(
            cross ^ turned[a] ^ turned[b] == wanted
            for (a, b), cross, wanted in zip(LINKED, one, other, strict=True)
        )
        for turned in product((0, 1), repeat=PAIRS)
    )


def hubs(rims, size):
    """Return one graph in which every rim has a hub, its numbers shuffled; the hubs stand first."""
    rng = np.random.Generator(np.random.PCG64(size))
    edges, n = [], len(rims)
    for hub, own in enumerate(rims):
        new = n + rng.permutation(size)
        edges += [(hub, node) for node in new.tolist()]
        edges += [tuple(sorted((int(new[u]), int(new[v])))) for u, v in own]
        n += size
    return n, sorted(edges)


def classes_of_hubs(n, edges, number, distance):
    with emptied_database() as db:
        db.put("nodes", {"node": np.arange(n)})
        db.put("edges", {"source": [u for u, _ in edges], "target": [v for _, v in edges]})
        return alike(db, "dk", distance).labels[:number].tolist()


@pytest.mark.parametrize(("singles", "distance"), [(5, 1), (8, 1), (8, 2), (40, 1)])
def test_crossed_pairs_are_told_apart_however_many_nodes_refinement_tells_apart(singles, distance):
    every = list(product((0, 1), repeat=len(LINKED)))
    size = 2 * PAIRS + singles
    n, edges = hubs([rim(crossed, singles) for crossed in every], size)
    labels = classes_of_hubs(n, edges, len(every), distance)
    wrong = [
        (every[i], every[j])
        for i, j in combinations(range(len(every)), 2)
        if (labels[i] == labels[j]) != same_shape(every[i], every[j])
    ]
    assert [] == wrong
    assert [8] * 4 == list(Counter(labels).values())

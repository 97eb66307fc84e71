"""Hierarchies over the nodes of a graph: binary trees whose leaves are nodes, and a walk on them.

Leaves are 0..n-1, inner nodes n..2n-2, the last of them the root. The leaves below a node stand
side by side in one order, so that whether a leaf is below a node is a comparison.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import below
from graphveil.core.kernels.leaf import leaf, wide
from graphveil.core.kernels.tiers import tiered

Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]


class Dendrogram(NamedTuple):
    """A binary tree over n leaves: children, parent, leaves below, edges between the children."""

    left: Nodes
    right: Nodes
    parent: Nodes
    size: Ints
    edges: Ints
    order: Nodes
    position: Nodes
    scratch: Nodes


@leaf
def first_below(tree: Dendrogram, node: int) -> int:
    """Return the position of the leftmost leaf below a node."""
    while tree.left[node] >= 0:
        node = wide(tree.left[node])
    return wide(tree.position[node])


@leaf
def edges_between(tree: Dendrogram, one: int, other: int, indptr: Ints, indices: Nodes) -> int:
    """Return the edges between the leaves of two subtrees, from the neighbors of the smaller."""
    if tree.size[other] < tree.size[one]:
        one, other = other, one
    start, low = first_below(tree, one), first_below(tree, other)
    high, count = low + tree.size[other], 0
    for place in range(start, start + tree.size[one]):
        node = tree.order[place]
        for entry in range(indptr[node], indptr[node + 1]):
            if low <= tree.position[indices[entry]] < high:
                count += 1
    return count


@tiered()
@leaf
def count_edges(tree: Dendrogram, indptr: Ints, indices: Nodes) -> None:
    """Write into ``tree.edges`` the edges between the two sides of every inner node."""
    for node in range(tree.order.size, tree.left.size):
        left, right = wide(tree.left[node]), wide(tree.right[node])
        tree.edges[node] = edges_between(tree, left, right, indptr, indices)


@leaf
def log_likelihood(tree: Dendrogram) -> float:
    """Return the log-likelihood of the graph under the tree, each pair with its node's density."""
    total = 0.0
    for node in range(tree.order.size, tree.left.size):
        pairs = tree.size[tree.left[node]] * tree.size[tree.right[node]]
        total += _term(tree.edges[node], pairs)
    return total


@leaf
def _term(edges: int, pairs: int) -> float:
    if edges <= 0 or edges >= pairs:
        return 0.0
    density = edges / pairs
    return edges * math.log(density) + (pairs - edges) * math.log(1.0 - density)


@leaf
def walk(
    tree: Dendrogram,
    indptr: Ints,
    indices: Nodes,
    steps: int,
    rate: float,
    rng: np.random.Generator,
) -> float:
    """Make so many steps, and return the mean log-likelihood after each of them.

    A step proposes that a child of an inner node other than the root changes places with its
    sibling; a change d of the log-likelihood is accepted with probability min(1, exp(rate d)).
    """
    n = tree.order.size
    now, total = log_likelihood(tree), 0.0
    for _ in range(steps):
        node = n + below(rng, n - 2)
        above = wide(tree.parent[node])
        sibling = wide(tree.left[above]) + wide(tree.right[above]) - node
        stays, goes = wide(tree.left[node]), wide(tree.right[node])
        if below(rng, 2):
            stays, goes = goes, stays
        inside = _edges_after(tree, stays, goes, sibling, indptr, indices)
        outside = tree.edges[node] + tree.edges[above] - inside
        change = _change(tree, node, (stays, goes, sibling), inside, outside)
        if change >= 0.0 or rng.random() < math.exp(rate * change):
            _rearrange(tree, node, stays, goes, sibling)
            tree.edges[node], tree.edges[above] = inside, outside
            now += change
        total += now
    return total / steps


@leaf
def _edges_after(
    tree: Dendrogram, stays: int, goes: int, sibling: int, indptr: Ints, indices: Nodes
) -> int:
    """Return the edges between what stays and the sibling, from the smallest of three subtrees."""
    if tree.size[goes] < min(tree.size[stays], tree.size[sibling]):
        above = wide(tree.parent[wide(tree.parent[goes])])
        return wide(tree.edges[above]) - edges_between(tree, goes, sibling, indptr, indices)
    return edges_between(tree, stays, sibling, indptr, indices)


@leaf
def _change(
    tree: Dendrogram, node: int, trio: tuple[int, int, int], inside: int, outside: int
) -> float:
    """Return the change of the log-likelihood if the last two of the trio change places."""
    stays, goes, sibling = trio
    one, two, three = tree.size[stays], tree.size[goes], tree.size[sibling]
    above = tree.parent[node]
    before = _term(tree.edges[node], one * two) + _term(tree.edges[above], (one + two) * three)
    return _term(inside, one * three) + _term(outside, (one + three) * two) - before


@leaf
def _rearrange(tree: Dendrogram, node: int, stays: int, goes: int, sibling: int) -> None:
    """Write the tree in which one child of a node and the node's sibling changed places."""
    above, filled = wide(tree.parent[node]), 0
    start = first_below(tree, above)
    for subtree in (stays, sibling, goes):
        first = first_below(tree, subtree)
        for place in range(first, first + tree.size[subtree]):
            tree.scratch[filled] = tree.order[place]
            filled += 1
    for place in range(filled):
        moved = tree.scratch[place]
        tree.order[start + place] = moved
        tree.position[moved] = start + place
    tree.left[node], tree.right[node] = stays, sibling
    tree.left[above], tree.right[above] = node, goes
    tree.parent[sibling], tree.parent[goes] = node, above
    tree.size[node] = tree.size[stays] + tree.size[sibling]

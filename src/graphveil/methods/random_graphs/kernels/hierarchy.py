"""Dendrograms of a graph, binary trees whose leaves are its nodes, and a Markov chain over them.

The hierarchical random graph of Clauset, Moore & Newman: an inner node r has the density p_r =
e_r / (n_L n_R) of edges between the leaves of its two sides. The log-likelihood of the graph is the
sum over r of e_r ln p_r + (n_L n_R - e_r) ln(1 - p_r). The chain of Xiao, Chen & Tan (2014) samples
trees in proportion to e^(rate x log-likelihood) in the limit: the exponential mechanism.

Leaves are 0..n-1, inner nodes n..2n-2, the last of them the root. The leaves below a node are
consecutive in one order, so that whether a leaf is below a node is a comparison of positions.

Cost of a step: the edges of the smaller of two or three subtrees, and if accepted the leaves below
a node.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints, Nodes
from graphveil.core.kernels.arrays import below
from graphveil.core.kernels.leaf import leaf, wide
from graphveil.core.kernels.tiers import tiered


class Dendrogram(NamedTuple):
    """A binary tree over n leaves; `walk` writes all of it.

    Parameters
    ----------
    left, right
        int32, shape (2n - 1,): the children of every node; -1 for leaves.
    parent
        int32, shape (2n - 1,): the parent; -1 for the root.
    size
        int64, shape (2n - 1,): the number of leaves below, 1 for a leaf.
    edges
        int64, shape (2n - 1,): the edges of the graph between the leaves of both children.
    order
        int32, shape (n,): the leaves from left to right.
    position
        int32, shape (n,): the index of every leaf in ``order``.
    scratch
        int32, shape (n,): scratch space.
    """

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
def edges_between(tree: Dendrogram, small: int, large: int, indptr: Ints, indices: Nodes) -> int:
    """Return the edges between the leaves of two subtrees, from the neighbors of the smaller.

    `indptr`, `indices`: int64, shape (n + 1,), and int32: the graph in compressed rows.
    """
    if tree.size[large] < tree.size[small]:
        small, large = large, small
    # Leaves of the larger subtree have the positions from `low` to below `high`.
    start, low = first_below(tree, small), first_below(tree, large)
    high, count = low + tree.size[large], 0
    for place in range(start, start + tree.size[small]):
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
    """Make steps of the chain; return the mean of the log-likelihoods after each of them.

    Parameters
    ----------
    tree
        The tree. Written.
    indptr, indices
        The graph, as in `edges_between`.
    steps
        The number of steps.
    rate
        Epsilon over twice the sensitivity of the log-likelihood.
    rng
        The generator of the run.

    Notes
    -----
    A step proposes that a child of an inner node other than the root changes places with the node's
    sibling: one of the two other arrangements of these three subtrees. A change d of the
    log-likelihood is accepted with probability min(1, exp(rate d)).
    """
    n = tree.order.size
    current, total = log_likelihood(tree), 0.0
    for _ in range(steps):
        # Propose: a uniform inner node but the root, and which of its children leaves it.
        node = n + below(rng, n - 2)
        above = wide(tree.parent[node])
        sibling = wide(tree.left[above]) + wide(tree.right[above]) - node
        stays, goes = wide(tree.left[node]), wide(tree.right[node])
        if below(rng, 2):
            stays, goes = goes, stays
        # Count the edges that both changed nodes would have, and accept or not.
        inside = _edges_after(tree, stays, goes, sibling, indptr, indices)
        outside = tree.edges[node] + tree.edges[above] - inside
        change = _change(tree, node, (stays, goes, sibling), inside, outside)
        if change >= 0.0 or rng.random() < math.exp(rate * change):
            _rearrange(tree, node, stays, goes, sibling)
            tree.edges[node], tree.edges[above] = inside, outside
            current += change
        total += current
    return total / steps


@leaf
def _edges_after(
    tree: Dendrogram, stays: int, goes: int, sibling: int, indptr: Ints, indices: Nodes
) -> int:
    """Return the edges between the subtree that stays and the sibling."""
    # The node above has the edges from both children to the sibling: if the child that goes is
    # smallest, count its edges and subtract.
    if tree.size[goes] < min(tree.size[stays], tree.size[sibling]):
        above = wide(tree.parent[wide(tree.parent[goes])])
        return wide(tree.edges[above]) - edges_between(tree, goes, sibling, indptr, indices)
    return edges_between(tree, stays, sibling, indptr, indices)


@leaf
def _change(
    tree: Dendrogram, node: int, trio: tuple[int, int, int], inside: int, outside: int
) -> float:
    """Return the change of the log-likelihood if the last two of the trio change places.

    Only the terms of the node and of its parent change. `inside`, `outside`: the edges that they
    have afterwards.
    """
    stays, goes, sibling = trio
    a, b, c = tree.size[stays], tree.size[goes], tree.size[sibling]
    above = tree.parent[node]
    before = _term(tree.edges[node], a * b) + _term(tree.edges[above], (a + b) * c)
    return _term(inside, a * c) + _term(outside, (a + c) * b) - before


@leaf
def _rearrange(tree: Dendrogram, node: int, stays: int, goes: int, sibling: int) -> None:
    """Write the tree in which one child of a node and the node's sibling changed places."""
    # The leaves of the three subtrees in their new order, at the same positions as before.
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
    # The node keeps one child and takes the sibling; its parent takes the other child.
    tree.left[node], tree.right[node] = stays, sibling
    tree.left[above], tree.right[above] = node, goes
    tree.parent[sibling], tree.parent[goes] = node, above
    tree.size[node] = tree.size[stays] + tree.size[sibling]

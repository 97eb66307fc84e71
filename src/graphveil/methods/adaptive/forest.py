"""The forest algorithm: trees of nearest rows, divided into clusters.

Aggarwal et al., *Approximation Algorithms for k-Anonymity*, 2005: Forest and Decompose-Component,
after a description of them; the algorithm of guaranteed ratio to which Choromanski, Jebara & Tang
refer in section 3. It is here for comparison: they report poorer utility than that of clustering.
Time is O(n n) comparisons of rows.

Step 1 links every row to one near to it until every tree has k rows. Step 2 cuts large trees into
parts of at least k rows. A cluster is the rows of a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.methods.adaptive.kernels.planes import Packed


def trees(rows: Packed, k: int) -> Ints:
    """Return the cluster of every row: at least k rows, and at most the larger of 2k-1 and 3k-5.

    Where Decompose-Component joins what is cut by a vertex that is not a row, here one of the cut
    rows takes its part. int64, shape (n,).
    """
    return divided(_links(nearest_outside(rows, k)), k)


def divided(links: list[list[int]], k: int) -> Ints:
    """Return the cluster of every row once large trees are cut, as `trees` does.

    `links`: for every row the rows it is linked with; overwritten.
    """
    labels = np.full(len(links), -1)
    for row in range(len(links)):
        while labels[row] < 0:
            # Cut a tree until it is small enough; both sides of a cut have k rows or more.
            tree = _rooted(links, row)
            if len(tree.order) > max(2 * k - 1, 3 * k - 5):
                _cut(links, *_to_cut(links, tree, k))
            else:
                labels[tree.order] = row
    return labels


def nearest_outside(rows: Packed, k: int) -> Ints:
    """Return for every row the row that it leads to, -1 for none: no tree has fewer than k rows.

    A tree that is too small grows by the one row of it that leads nowhere: to the nearest row of
    another tree, which is among the k-1 nearest of all. So all rows together differ from those that
    they lead to in no more cells than any clusters of k rows suppress.
    """
    # `to`: where a row leads. `tree`: the number of its tree. `end`: by number of the tree, the
    # only row of it that leads nowhere. A joined tree has the number, and so the end, of the other.
    n = rows.stars.shape[0]
    to, tree, end = np.full(n, -1), np.arange(n), np.arange(n)
    for row in range(n):
        while np.count_nonzero(tree == tree[row]) < k:
            # The end of the tree leads to the nearest row outside, and both trees become one.
            own = tree[row]
            apart = np.where(tree == own, np.iinfo(np.int64).max, _distances(rows, end[own]))
            nearest = int(np.argmin(apart))
            to[end[own]] = nearest
            tree[tree == own] = tree[nearest]
    return to


def _distances(rows: Packed, row: int) -> Ints:
    """Return in how many columns each row and this one do not agree: int64, shape (n,)."""
    apart = np.zeros(rows.stars.shape[0], dtype=np.int64)
    for word, (start, end) in enumerate(zip(rows.offsets[:-1], rows.offsets[1:], strict=True)):
        bits = rows.stars[:, word] | rows.stars[row, word]
        for plane in range(start, end):
            bits |= rows.planes[:, plane] ^ rows.planes[row, plane]
        apart += np.bitwise_count(bits)
    return apart


def _links(to: Ints) -> list[list[int]]:
    """Return which rows are linked with each row, in either direction, ascending."""
    links: list[list[int]] = [[] for _ in to]
    for row, other in enumerate(to.tolist()):
        if other >= 0:
            links[row].append(other)
            links[other].append(row)
    return [sorted(rows) for rows in links]


class ClusterTree(NamedTuple):
    """A tree from one of its rows on.

    Parameters
    ----------
    order
        Its rows, parents before children.
    parent
        The parent of each row; -1 for the root.
    below
        How many rows the subtree of each row has, itself included.
    """

    order: list[int]
    parent: dict[int, int]
    below: dict[int, int]


def _rooted(links: list[list[int]], root: int) -> ClusterTree:
    """Return the tree of a row, with that row as its root."""
    order, parent = [root], {root: -1}
    # Breadth first; the list grows while it is read.
    for row in order:
        for other in links[row]:
            if other != parent[row]:
                parent[other] = row
                order.append(other)
    below = dict.fromkeys(order, 1)
    # Sizes of subtrees, from the leaves up.
    for row in order[:0:-1]:
        below[parent[row]] += below[row]
    return ClusterTree(order, parent, below)


def _to_cut(links: list[list[int]], tree: ClusterTree, k: int) -> tuple[int, list[int]]:
    """Return a row, and which of its links to cut, so that k rows or more are on either side."""
    # Step 1: walk towards the largest part until the rest has at least k-1 rows.
    size, row = len(tree.order), tree.order[0]
    parts = _parts(links, tree, row)
    largest = max(parts, key=parts.__getitem__)
    while size - parts[largest] < k - 1:
        row = largest
        parts = _parts(links, tree, row)
        largest = max(parts, key=parts.__getitem__)
    # Step 2: cut one link if both sides have k rows.
    most = parts[largest]
    if min(most, size - most) >= k:
        return row, [largest]
    # Step 3: if one side has k-1 rows, the row at the other end of the link joins it, and its other
    # links are cut.
    if size - most == k - 1:
        return largest, [other for other in links[largest] if other != row]
    if most == k - 1:
        return row, [other for other in parts if other != largest]
    # Step 4: all parts are smaller than k-1: group some of them, and the row goes where it is
    # needed.
    up_to = np.cumsum(list(parts.values()))
    first = int(np.searchsorted(up_to, k - 1)) + 1
    rows = int(up_to[first - 1])
    row_goes_with_the_rest = size - 1 - rows == k - 1
    return row, list(parts)[:first] if row_goes_with_the_rest else list(parts)[first:]


def _parts(links: list[list[int]], tree: ClusterTree, row: int) -> dict[int, int]:
    """Return how many rows are connected to a row by each of its links."""
    above = tree.parent[row]
    return {
        other: len(tree.order) - tree.below[row] if other == above else tree.below[other]
        for other in links[row]
    }


def _cut(links: list[list[int]], row: int, others: list[int]) -> None:
    """Cut a row's links to `others`; the first of these is then linked with the rest of them."""
    first, *rest = others
    links[row] = sorted(set(links[row]) - set(others))
    # The link is removed on both sides, then the first of the cut rows takes the row's place.
    for other in others:
        links[other].remove(row)
    for other in rest:
        links[other] = sorted([*links[other], first])
    links[first] = sorted([*links[first], *rest])

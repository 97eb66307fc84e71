"""Loops of Liu and Terzi's algorithms as printed: the dynamic program, and ConstructGraph.

`graphveil.methods.k_degree.paper` calls them. A release does not: it is made by the faster, exact
program over the degree histogram in `sequence.py` and by edits of the graph in `edits.py`.
"""

from __future__ import annotations

import numpy as np

from graphveil.core.array_types import Ints, Nodes
from graphveil.core.kernels.arrays import below
from graphveil.core.kernels.leaf import allocating, leaf
from graphveil.methods.k_degree.kernels.edits import lower, make_queue


@leaf
def cheapest_raise_by_window(
    degrees: Ints, prefix: Ints, k: int, cost: Ints, previous: Ints
) -> None:
    """Write the least cost of the first i nodes and the last cut; -1 where fewer than k.

    Liu and Terzi's Dynamic Programming algorithm. `degrees` are the n degrees in descending order,
    int64; `prefix` their n + 1 sums, ``prefix[i]`` of the first i. The kernel writes ``cost[i]``,
    DA(i) in the paper, and ``previous[i]``, where the last group of the first i nodes starts; both
    have n + 1 entries, int64. O(nk).
    """
    cost[0], previous[0] = 0, 0
    for i in range(1, degrees.size + 1):
        cost[i] = -1
        # The last group, nodes t to i - 1, has at least k and at most 2k - 1 nodes: a larger one
        # splits in two at no cost.
        for t in range(max(0, i - 2 * k + 1), i - k + 1):
            if cost[t] < 0:
                continue
            # Equation 3: the best groups of the first t nodes, and I(t, i) for the last group.
            here = cost[t] + (i - t) * degrees[t] - (prefix[i] - prefix[t])
            if cost[i] < 0 or here < cost[i]:
                cost[i], previous[i] = here, t


@allocating
def join_by_degrees(order: Ints, need: Ints, out: Nodes, rng: np.random.Generator) -> int:
    """Join random nodes to the neediest others until nobody needs an edge; -1 if one cannot.

    Liu and Terzi, Algorithm 1 (ConstructGraph). `order` lists the nodes of positive need by
    descending need, int64; `need` is the number of edges that each of the n nodes still needs,
    int64, and is lowered to 0. The kernel writes the edges into the rows of `out`, shape (sum of
    needs / 2, 2), int32, and returns how many there are. O(m), since a queue keeps the nodes
    sorted.
    """
    queue = make_queue(order, need)
    pairs = 0
    # Lines 7 and 8: done once all needs are 0.
    while order.size and queue.bound[1] > 0:
        # Lines 9 and 10: a random node v whose need is positive; d(v) is set to 0.
        v = queue.order[below(rng, queue.bound[1])]
        wanted = need[v]
        while need[v] > 0:
            lower(queue, queue.position[v], need[v])
            need[v] -= 1
        # Lines 5 and 6: with fewer than d(v) others of positive need, one would fall below 0.
        if queue.bound[1] < wanted:
            return -1
        # Lines 11 to 14: join v to the d(v) nodes of highest need, the lowest of them first, so
        # that the positions of those still to come do not change.
        for position in range(wanted - 1, -1, -1):
            w = queue.order[position]
            lower(queue, position, need[w])
            need[w] -= 1
            out[pairs, 0], out[pairs, 1] = v, w
            pairs += 1
    return pairs

"""Exchanges of nodes between groups, towards fewer graphs that fit the numbers of edges.

The cost of a group with c of P possible edges, or of a pair of groups, is log C(P, c).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import leaf, wide
from graphveil.core.kernels.tiers import tiered

Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]
Floats = NDArray[np.float64]


class Groups(NamedTuple):
    """A partition of the nodes: the group and the place of each, and where each group begins."""

    of_node: Ints
    members: Ints
    place: Ints
    starts: Ints


class Scratch(NamedTuple):
    """Numbers by group, all 0 between exchanges: edge ends of two groups, and those touched."""

    first: Ints
    second: Ints
    more: Ints
    touched: Ints


@leaf
def _proposed(indptr: Ints, indices: Nodes, groups: Groups, draw: Ints) -> tuple[int, int]:
    """Return two nodes: in half of the cases the second is adjacent to one at distance two."""
    n, last = groups.of_node.size, groups.starts.size - 1
    u = draw[0] % n
    near = u
    steps = min(wide(draw[1] & 3), 2)
    if steps == 2 or indptr[u + 1] == indptr[u]:
        group = draw[2] % last
    else:
        degree = indptr[u + 1] - indptr[u]
        near = wide(indices[indptr[u] + (draw[1] >> 2) % degree])
        if steps == 1 or draw[3] & 1:
            degree = indptr[near + 1] - indptr[near]
            near = wide(indices[indptr[near] + draw[2] % degree])
        group = groups.of_node[near]
    size = groups.starts[group + 1] - groups.starts[group]
    return u, groups.members[groups.starts[group] + (draw[3] >> 1) % size]


@leaf
def _counted(
    indptr: Ints, indices: Nodes, groups: Groups, scratch: Scratch, pair: tuple[int, int]
) -> int:
    """Count the ends of edges of the groups of both nodes; return how many groups have some."""
    number = 0
    for side in range(2):
        group = groups.of_node[pair[side]]
        for place in range(groups.starts[group], groups.starts[group + 1]):
            node = groups.members[place]
            for edge in range(indptr[node], indptr[node + 1]):
                other = groups.of_node[indices[edge]]
                if scratch.first[other] == 0 and scratch.second[other] == 0:
                    scratch.touched[number] = other
                    number += 1
                if side == 0:
                    scratch.first[other] += 1
                else:
                    scratch.second[other] += 1
    return number


@leaf
def _cost(logs: Floats, certain: float, edges: int, pairs: int) -> float:
    """Return log C(pairs, edges), and for each edge `certain` more where all pairs have one."""
    if edges == pairs:
        return certain * edges
    return logs[pairs] - logs[edges] - logs[pairs - edges]  # type: ignore[no-any-return]


@leaf
def _change(
    groups: Groups,
    scratch: Scratch,
    logs: Floats,
    certain: float,
    pair: tuple[int, int],
    number: int,
    tied: int,
) -> float:
    """Return by how much an exchange of two nodes raises the cost."""
    one, two = groups.of_node[pair[0]], groups.of_node[pair[1]]
    first, second, more = scratch.first, scratch.second, scratch.more
    size_one = groups.starts[one + 1] - groups.starts[one]
    size_two = groups.starts[two + 1] - groups.starts[two]
    change = 0.0
    for place in range(number):
        other = scratch.touched[place]
        by = more[other]
        if by != 0 and other not in (one, two):
            size = groups.starts[other + 1] - groups.starts[other]
            ends, pairs = first[other], size * size_one
            change += _cost(logs, certain, ends + by, pairs) - _cost(logs, certain, ends, pairs)
            ends, pairs = second[other], size * size_two
            change += _cost(logs, certain, ends - by, pairs) - _cost(logs, certain, ends, pairs)
    inside, pairs = first[one] // 2, size_one * (size_one - 1) // 2
    then = inside + more[one] - tied
    across = first[two] + inside - then
    change += _cost(logs, certain, then, pairs) - _cost(logs, certain, inside, pairs)
    inside, pairs = second[two] // 2, size_two * (size_two - 1) // 2
    then = inside - more[two] - tied
    across += inside - then
    change += _cost(logs, certain, then, pairs) - _cost(logs, certain, inside, pairs)
    pairs = size_one * size_two
    return change + _cost(logs, certain, across, pairs) - _cost(logs, certain, first[two], pairs)


def _steps(*given: object) -> int:
    """Return about how many steps the exchanges take: some of the edges of two groups each."""
    indptr, _, groups, _, _, _, draws, _ = given
    per_node = indptr[-1] // max(indptr.size - 1, 1) + 4  # type: ignore[index,attr-defined]
    size = groups.of_node.size // (groups.starts.size - 1)  # type: ignore[attr-defined]
    return int(2 * len(draws) * size * per_node)  # type: ignore[arg-type]


@tiered(_steps)
@leaf
def exchange(
    indptr: Ints,
    indices: Nodes,
    groups: Groups,
    scratch: Scratch,
    logs: Floats,
    certain: float,
    draws: Ints,
    limits: Floats,
) -> float:
    """Exchange pairs of nodes whose groups cost little more then; return how much that came to.

    `logs` are logarithms of factorials; an edge costs `certain` more where all possible ones are
    there; an exchange is made if it raises the cost by less than its limit.
    """
    total = 0.0
    for turn in range(limits.size):
        pair = _proposed(indptr, indices, groups, draws[turn])
        u, v = pair
        one, two = groups.of_node[u], groups.of_node[v]
        if one == two:
            continue
        number = _counted(indptr, indices, groups, scratch, pair)
        tied = 0
        for edge in range(indptr[u], indptr[u + 1]):
            scratch.more[groups.of_node[indices[edge]]] -= 1
            if indices[edge] == v:
                tied = 1
        for edge in range(indptr[v], indptr[v + 1]):
            scratch.more[groups.of_node[indices[edge]]] += 1
        change = _change(groups, scratch, logs, certain, pair, number, tied)
        for place in range(number):
            other = scratch.touched[place]
            scratch.first[other], scratch.second[other] = 0, 0
            scratch.more[other] = 0
        if change < limits[turn]:
            here, there = groups.place[u], groups.place[v]
            groups.members[here], groups.members[there] = v, u
            groups.place[u], groups.place[v] = there, here
            groups.of_node[u], groups.of_node[v] = two, one
            total += change
    return total

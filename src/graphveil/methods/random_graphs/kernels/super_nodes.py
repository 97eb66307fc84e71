"""Exchanges of nodes between groups, towards fewer graphs that fit the numbers of edges.

A group with c of P possible edges fits C(P, c) graphs, and so does a pair of groups. The cost of a
partition is the logarithm of the number of graphs that fit all of its numbers: the sum of
log C(P, c) over groups and pairs of groups. Fewer graphs make the original more likely among them
(Hay et al., VLDB 2008, who search by simulated annealing as well).

Two nodes of different groups change places, so that groups keep their sizes. Only the numbers of
the two groups change. Cost of an exchange: the edges of all nodes of both groups.
"""

from __future__ import annotations

from typing import NamedTuple

from graphveil.core.array_types import Floats, Ints, Nodes
from graphveil.core.kernels.leaf import leaf, wide
from graphveil.core.kernels.tiers import tiered


class Groups(NamedTuple):
    """A partition of the nodes; `exchange` writes it.

    Parameters
    ----------
    of_node
        int64, shape (n,): the group of every node.
    members
        int64, shape (n,): the nodes, group by group.
    place
        int64, shape (n,): the index of every node in ``members``.
    starts
        int64, shape (groups + 1,): where each group begins in ``members``.
    """

    of_node: Ints
    members: Ints
    place: Ints
    starts: Ints


class Scratch(NamedTuple):
    """Scratch space of an exchange: int64, shape (groups,) each, all 0 between exchanges.

    Parameters
    ----------
    first, second
        The edges from the first, and from the second, of two groups to every group; inside a group
        each edge counts twice.
    more
        By how many edges the first group gains to every group, if two nodes change places; the
        second loses as many.
    touched
        The groups to which one of the two has edges.
    """

    first: Ints
    second: Ints
    more: Ints
    touched: Ints


@leaf
def _proposed(indptr: Ints, indices: Nodes, groups: Groups, draw: Ints) -> tuple[int, int]:
    """Return two nodes to exchange: a uniform one, and one from a group that is likely to gain.

    `draw`: int64, shape (4,): random numbers of 62 bits. In half of the cases the group of the
    second node is uniform; otherwise it is that of a node at distance one or two from the first, on
    a random walk. So nodes tend to join groups of nodes with common neighbors.
    """
    # Choice 0 or 1, a quarter each: a walk of one or two steps, or of two. Choice 2, a half: a
    # uniform group. A node without edges always has a uniform one.
    n, last = groups.of_node.size, groups.starts.size - 1
    u = draw[0] % n
    near = u
    choice = min(wide(draw[1] & 3), 2)
    if choice == 2 or indptr[u + 1] == indptr[u]:
        group = draw[2] % last
    else:
        degree = indptr[u + 1] - indptr[u]
        near = wide(indices[indptr[u] + (draw[1] >> 2) % degree])
        if choice == 1 or draw[3] & 1:
            degree = indptr[near + 1] - indptr[near]
            near = wide(indices[indptr[near] + draw[2] % degree])
        group = groups.of_node[near]
    size = groups.starts[group + 1] - groups.starts[group]
    return u, groups.members[groups.starts[group] + (draw[3] >> 1) % size]


@leaf
def _counted(
    indptr: Ints, indices: Nodes, groups: Groups, scratch: Scratch, pair: tuple[int, int]
) -> int:
    """Count the edges of the groups of both nodes to all groups; return how many groups have some.

    Written: ``scratch.first``, ``second``, and ``touched``, which lists these groups.
    """
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
    """Return log C(pairs, edges); if all pairs have an edge, `certain` for each edge instead.

    `logs`: float64: the logarithms of factorials.
    """
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
    adjacent: int,
) -> float:
    """Return by how much an exchange of two nodes raises the cost.

    `number`: how many groups are touched; `adjacent`: 1 if the two nodes have an edge, else 0.
    """
    a, b = groups.of_node[pair[0]], groups.of_node[pair[1]]
    first, second, more = scratch.first, scratch.second, scratch.more
    size_a = groups.starts[a + 1] - groups.starts[a]
    size_b = groups.starts[b + 1] - groups.starts[b]
    # Pairs with a third group.
    change = 0.0
    for place in range(number):
        other = scratch.touched[place]
        by = more[other]
        if by != 0 and other not in (a, b):
            size = groups.starts[other + 1] - groups.starts[other]
            ends, pairs = first[other], size * size_a
            change += _cost(logs, certain, ends + by, pairs) - _cost(logs, certain, ends, pairs)
            ends, pairs = second[other], size * size_b
            change += _cost(logs, certain, ends - by, pairs) - _cost(logs, certain, ends, pairs)
    # The edges inside both groups. What they gain or lose there, the pair of both loses or gains:
    # an edge between the two nodes themselves stays across.
    inside, pairs = first[a] // 2, size_a * (size_a - 1) // 2
    after = inside + more[a] - adjacent
    across = first[b] + inside - after
    change += _cost(logs, certain, after, pairs) - _cost(logs, certain, inside, pairs)
    inside, pairs = second[b] // 2, size_b * (size_b - 1) // 2
    after = inside - more[b] - adjacent
    across += inside - after
    change += _cost(logs, certain, after, pairs) - _cost(logs, certain, inside, pairs)
    pairs = size_a * size_b
    return change + _cost(logs, certain, across, pairs) - _cost(logs, certain, first[b], pairs)


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
    """Exchange pairs of nodes if that raises the cost by little; return the change of the cost.

    Parameters
    ----------
    indptr, indices
        int64, shape (n + 1,), and int32: the graph in compressed rows.
    groups
        The partition. Written.
    scratch
        Scratch space, 0 before and after.
    logs
        float64: the logarithms of the factorials 0! to the largest number of pairs.
    certain
        What each edge of a group, or pair of groups, with all possible edges costs.
    draws
        int64, shape (exchanges, 4): random numbers of 62 bits.
    limits
        float64, shape (exchanges,): an exchange is made if it raises the cost by less than this.
    """
    total = 0.0
    for turn in range(limits.size):
        pair = _proposed(indptr, indices, groups, draws[turn])
        u, v = pair
        a, b = groups.of_node[u], groups.of_node[v]
        if a == b:
            continue
        # What both groups have to all groups, and what the first would gain: the edges of v less
        # those of u.
        number = _counted(indptr, indices, groups, scratch, pair)
        adjacent = 0
        for edge in range(indptr[u], indptr[u + 1]):
            scratch.more[groups.of_node[indices[edge]]] -= 1
            if indices[edge] == v:
                adjacent = 1
        for edge in range(indptr[v], indptr[v + 1]):
            scratch.more[groups.of_node[indices[edge]]] += 1
        change = _change(groups, scratch, logs, certain, pair, number, adjacent)
        for place in range(number):
            other = scratch.touched[place]
            scratch.first[other], scratch.second[other] = 0, 0
            scratch.more[other] = 0
        # Make the exchange if its price is below the limit, which is random: simulated annealing.
        if change < limits[turn]:
            place_u, place_v = groups.place[u], groups.place[v]
            groups.members[place_u], groups.members[place_v] = v, u
            groups.place[u], groups.place[v] = place_v, place_u
            groups.of_node[u], groups.of_node[v] = b, a
            total += change
    return total

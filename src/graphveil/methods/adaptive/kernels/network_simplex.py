"""The cheapest pairs that give every record and every person enough partners: a network simplex.

This is the minimization in each iteration of Algorithm 1 of Choromanski, Jebara & Tang: a bipartite
b-matching with ``sum_j G_ij = sum_j G_ji >= delta_i``. The pair of a person and the own record is
always chosen and free, so ``needs[i] = delta_i - 1`` others are wanted.

Node i < n is record i, which sends ``needs[i]`` units; node n + i is person i, who takes as many.
Record i sends at most one unit to person j != i, at ``costs[i, j]``. If `passes` is 1, person i may
pass units on to record i for nothing, which sends them as well: both degrees then are ``needs[i]``
or more, and equal. So the chosen pairs are a circulation, and every chosen pair is in a full
assignment. Node 2n is the root, with arcs that are too expensive to be in any optimum.

The method is the primal network simplex on a spanning tree with bounded arcs. The tree is strongly
feasible (Cunningham's rule for the leaving arc), so no sequence of pivots cycles. Costs are
integers: arcs of the tree have reduced costs of exactly 0 and the optimum is exact. A pivot looks
at n arcs for each record that it prices; memory is O(n n) for the bounds of the arcs. Theorem 2 of
the paper, that iterations never add stars, is about exact minima like these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide

Shorts = NDArray[np.int32]

WITHOUT_END: int = np.int64(np.iinfo(np.int64).max)  # type: ignore[assignment]
"""The capacity of arcs without a bound."""

OWN = 8
"""The diagonal of the costs is this many times what an arc to the root costs.

No potential is further from the root's than three such arcs, so that no record ever sends to its
own person, whose pair is chosen already.
"""


class FlowNetwork(NamedTuple):
    """A spanning tree, and which of the other arcs are full.

    Parameters
    ----------
    parent
        int32, shape (2n + 1,): the parent of every node; -1 for the root.
    up
        int32, shape (2n + 1,): 1 if the arc between node and parent leads to the parent, -1 if it
        leads down.
    flow
        int64, shape (2n + 1,): the flow on that arc.
    potentials
        int64, shape (2n + 1,): they make the reduced cost of every arc of the tree 0.
    depth
        int32, shape (2n + 1,): the distance from the root.
    child, after, before
        int32, shape (2n + 1,): the first child of every node, and its next and previous sibling; -1
        ends.
    full
        int8, shape (n, n): -1 if the arc from record i to person j carries its unit and is not in
        the tree, else 0.
    needs
        int64, shape (n,): the units of each record and person.
    """

    parent: Shorts
    up: Shorts
    flow: Ints
    potentials: Ints
    depth: Shorts
    child: Shorts
    after: Shorts
    before: Shorts
    full: NDArray[np.int8]
    needs: Ints


class Pivot(NamedTuple):
    """An arc that enters the tree.

    Parameters
    ----------
    tail, head
        Flow is sent around the cycle from `tail` to `head` over this arc; a tail of -1 means none.
    forward
        1 if that is along the arc, -1 if against it, since it is full.
    """

    tail: int
    head: int
    forward: int


def network(needs: Ints, cheapest: Ints) -> FlowNetwork:
    """Return a tree for these needs in which every record sends to the persons cheapest for it.

    Parameters
    ----------
    needs
        int64, shape (n,): units per record and per person, fewer than n.
    cheapest
        int64, shape (n, largest need): for each record the cheapest persons, itself not among them.
    """
    # Step 1: arcs to the cheapest persons are full.
    n = needs.size
    nodes = 2 * n + 1
    full = np.zeros((n, n), dtype=np.int8)
    sent = np.arange(cheapest.shape[1]) < needs[:, np.newaxis]
    full[np.nonzero(sent)[0], cheapest[sent]] = -1
    # Step 2: every node is a child of the root, over which goes what persons have too much or too
    # little.
    spare = np.concatenate([np.zeros(n, dtype=np.int64), -full.sum(axis=0, dtype=np.int64) - needs])
    up = np.where(spare >= 0, 1, -1).astype(np.int32)
    chain = np.arange(2 * n, dtype=np.int32)
    return FlowNetwork(
        parent=np.append(np.full(2 * n, 2 * n), -1).astype(np.int32),
        up=np.append(up, 0).astype(np.int32),
        flow=np.append(np.abs(spare), 0),
        potentials=np.zeros(nodes, dtype=np.int64),
        depth=np.append(np.ones(2 * n), 0).astype(np.int32),
        child=np.append(np.full(2 * n, -1), 0).astype(np.int32),
        after=np.append(np.where(chain < 2 * n - 1, chain + 1, -1), -1).astype(np.int32),
        before=np.append(chain - 1, -1).astype(np.int32),
        full=full,
        needs=needs,
    )


def reduced_costs(net: FlowNetwork, costs: Ints) -> Ints:
    """Return what a flow costs more, at least, with one more unit from record i to person j.

    Parameters
    ----------
    net
        After `solve` with these costs.
    costs
        int64, shape (n, n): as in `solve`.

    Returns
    -------
    ndarray
        int64, shape (n, n). A negative element belongs to a full arc: the flow costs that much
        more, at least, without it.
    """
    n = net.needs.size
    own, persons = net.potentials[:n], net.potentials[n : 2 * n]
    return costs + own[:, np.newaxis] - persons


@leaf
def _cost(costs: Ints, tail: int, head: int) -> int:
    """Return the cost of the arc between two nodes; passing on costs 0."""
    n = costs.shape[0]
    cost: int = ZERO
    if tail == 2 * n or head == 2 * n:
        cost = costs[0, 0] // OWN
    elif tail < n:
        cost = costs[tail, head - n]
    return cost


@leaf
def _following(net: FlowNetwork, node: int, top: int) -> int:
    """Return the next node below `top`, parents before children; -1 after the last one."""
    # The first child, or else the next sibling of the node or of its nearest ancestor that has one.
    following: int = wide(net.child[node])
    while following < 0 and node != top:
        following = wide(net.after[node])
        node = wide(net.parent[node])
    return following


@leaf
def _recompute_potentials(net: FlowNetwork, costs: Ints) -> None:
    """Write the potentials that these costs give, from the root down."""
    root = net.parent.size - 1
    net.potentials[root] = 0
    node = _following(net, root, root)
    while node >= 0:
        above = wide(net.parent[node])
        # The arc of the tree has reduced cost 0: cost + potential of its tail = potential of its
        # head.
        if net.up[node] > 0:
            net.potentials[node] = net.potentials[above] - _cost(costs, node, above)
        else:
            net.potentials[node] = net.potentials[above] + _cost(costs, above, node)
        node = _following(net, node, root)


@leaf
def _least_in_row(net: FlowNetwork, costs: Ints, i: int) -> int:
    """Return the least reduced cost of a record's arcs, negated for full ones; at most 0."""
    n = costs.shape[0]
    row, full, persons = costs[i], net.full[i], net.potentials[n : 2 * n]
    own = net.potentials[i]
    least: int = ZERO
    for j in range(n):
        # A bit trick without branches, for vector code: x ^ 0 - 0 is x, and x ^ -1 + 1 is -x.
        sign = np.int64(full[j])
        reduced = ((row[j] + own - persons[j]) ^ sign) - sign
        least = min(least, reduced)
    return least


@leaf
def _entering(net: FlowNetwork, costs: Ints, start: int, rows: int, passes: int) -> Pivot:
    """Return the best arc of the next few records, from `start` on; its tail is -1 if no arc helps.

    At least `rows` records are priced, and more until some arc helps: a compromise between few
    pivots and little time for each.
    """
    n = costs.shape[0]
    best, chosen, by_pass = ZERO, -1, 0
    i = start
    # Step 1: the least reduced cost, of arcs to persons or of passing on, record by record.
    for number in range(n):
        least = _least_in_row(net, costs, i)
        if least < best:
            best, chosen, by_pass = least, i, 0
        if passes and net.potentials[n + i] - net.potentials[i] < best:
            best, chosen, by_pass = net.potentials[n + i] - net.potentials[i], i, 1
        if best < 0 and number + 1 >= rows:
            break
        i = i + 1 if i + 1 < n else 0
    # Step 2: no arc of negative reduced cost means that the flow is optimal.
    if chosen < 0:
        return Pivot(-1, -1, 1)
    # Step 3: find the arc again of which only the cost was kept.
    if by_pass:
        return Pivot(n + chosen, chosen, 1)
    for j in range(n):
        sign = np.int64(net.full[chosen, j])
        reduced = costs[chosen, j] + net.potentials[chosen] - net.potentials[n + j]
        if (reduced ^ sign) - sign == best and j != chosen:
            return Pivot(n + j, chosen, -1) if sign else Pivot(chosen, n + j, 1)
    return Pivot(-1, -1, 1)


@leaf
def _residual_capacity(net: FlowNetwork, node: int, more: int) -> int:
    """Return how much the flow of a node's tree arc can grow (more = 1) or shrink (-1)."""
    # Arcs to the root, and of a person to the own record (whose numbers differ by n), have no upper
    # bound. The arc of a pair carries one unit at most.
    n = net.needs.size
    above = wide(net.parent[node])
    upper, lower = max(node, above), min(node, above)
    room: int = net.flow[node]
    if more > 0:
        has_no_end = upper == 2 * n or upper - lower == n
        room = WITHOUT_END if has_no_end else ONE - room
    return room


@leaf
def _common_ancestor(net: FlowNetwork, one: int, other: int) -> int:
    """Return where the paths from two nodes to the root meet."""
    while one != other:
        if net.depth[one] >= net.depth[other]:
            one = wide(net.parent[one])
        else:
            other = wide(net.parent[other])
    return one


@leaf
def _pivot(net: FlowNetwork, costs: Ints, arc: Pivot) -> None:
    """Send as much as possible around the cycle of an arc; exchange the arc for a blocking one.

    Of several blocking arcs, the last one on the way around the cycle from its top leaves the tree:
    so the tree stays strongly feasible, and pivots never cycle.
    """
    n = net.needs.size
    # Step 1: the cycle is the arc and both paths to the common ancestor. Find the blocking arc;
    # `<=` on the second path prefers later ones.
    first, second = arc.tail, arc.head
    by_pass = first >= n and arc.forward > 0
    top = _common_ancestor(net, first, second)
    sent: int = WITHOUT_END if by_pass else ONE
    leaving, side = MINUS_ONE, 0
    node = first
    while node != top:
        room = _residual_capacity(net, node, wide(-net.up[node]))
        if room < sent:
            sent, leaving, side = room, node, 1
        node = wide(net.parent[node])
    node = second
    while node != top:
        room = _residual_capacity(net, node, wide(net.up[node]))
        if room <= sent:
            sent, leaving, side = room, node, 2
        node = wide(net.parent[node])
    # Step 2: send the flow around the cycle.
    if sent > 0:
        node = first
        while node != top:
            net.flow[node] -= net.up[node] * sent
            node = wide(net.parent[node])
        node = second
        while node != top:
            net.flow[node] += net.up[node] * sent
            node = wide(net.parent[node])
    # Step 3: if the entering arc itself blocks, it only changes from empty to full or back.
    record, person = min(first, second), max(first, second) - n
    if side == 0:
        net.full[record, person] = -1 - net.full[record, person]
        return
    # Step 4: otherwise the blocking arc leaves the tree, and what was below it is attached by the
    # entering arc.
    _mark_leaving(net, leaving)
    on_arc = sent if arc.forward > 0 else ONE - sent
    if not by_pass:
        net.full[record, person] = 0
    inner, outer = (first, second) if side == 1 else (second, first)
    leads_up = (inner == first) == (arc.forward > 0)
    _reattach(net, costs, inner, outer, leaving, on_arc, 1 if leads_up else -1)


@leaf
def _mark_leaving(net: FlowNetwork, node: int) -> None:
    """Mark the tree arc of a node as full if it carries a unit, since it leaves the tree."""
    n = net.needs.size
    above = wide(net.parent[node])
    upper, lower = max(node, above), min(node, above)
    if upper != 2 * n and upper - lower != n and net.flow[node] == 1:
        net.full[lower, upper - n] = -1


@leaf
def _reattach(
    net: FlowNetwork,
    costs: Ints,
    inner: int,
    outer: int,
    last: int,
    flow: int,
    up: int,
) -> None:
    """Attach the subtree below `last` to `outer` by its node `inner`; update its potentials.

    `flow` and `up` are those of the new arc between `inner` and `outer`.
    """
    # Step 1: reverse the parents on the path from `inner` to `last`, each with its flow and
    # direction.
    node, above = inner, outer
    while True:
        below, old_flow, old_up = wide(net.parent[node]), net.flow[node], wide(net.up[node])
        _detach(net, node)
        net.parent[node], net.flow[node], net.up[node] = above, flow, up
        _attach(net, node, above)
        if node == last:
            break
        flow, up = old_flow, -old_up
        node, above = below, node
    # Step 2: one number added to all potentials of the subtree makes the new arc's reduced cost 0.
    if net.up[inner] > 0:
        change = net.potentials[outer] - _cost(costs, inner, outer) - net.potentials[inner]
    else:
        change = net.potentials[outer] + _cost(costs, outer, inner) - net.potentials[inner]
    node = inner
    while node >= 0:
        net.depth[node] = net.depth[net.parent[node]] + 1
        net.potentials[node] += change
        node = _following(net, node, inner)


@leaf
def _detach(net: FlowNetwork, node: int) -> None:
    """Remove a node from the list of its parent's children."""
    before, after = net.before[node], net.after[node]
    if before >= 0:
        net.after[before] = after
    else:
        net.child[net.parent[node]] = after
    if after >= 0:
        net.before[after] = before


@leaf
def _attach(net: FlowNetwork, node: int, above: int) -> None:
    """Put a node at the front of a node's children."""
    first = net.child[above]
    net.before[node], net.after[node] = -1, first
    if first >= 0:
        net.before[first] = node
    net.child[above] = node


@leaf
def solve(net: FlowNetwork, costs: Ints, rows: int, passes: int) -> int:
    """Turn the tree into that of the cheapest flow; return the number of pivots.

    Parameters
    ----------
    net
        From `network`, or what an earlier solve with other costs left; overwritten.
    costs
        int64, shape (n, n), at least 0; on the diagonal more than n times the largest, times `OWN`.
    rows
        How many records are priced before a pivot, if any of their arcs helps.
    passes
        1 if degrees may be larger than the needs; always the same for a network.
    """
    # A tree of an earlier solve is still feasible: only its potentials change with the costs.
    _recompute_potentials(net, costs)
    start, pivots = ZERO, ZERO
    while True:
        arc = _entering(net, costs, start, rows, passes)
        if arc.tail < 0:
            return pivots
        _pivot(net, costs, arc)
        pivots += 1
        # The next pivot prices the records after this one.
        start = min(arc.tail, arc.head) + 1
        if start >= costs.shape[0]:
            start = ZERO


def flows(net: FlowNetwork, pairs: NDArray[np.int8], passed: Ints) -> int:
    """Write the chosen pairs of a solved network, and what every person passes on.

    Parameters
    ----------
    net
        After `solve`.
    pairs
        int8, shape (n, n), overwritten: 1 if record i sends to person j.
    passed
        int64, shape (n,), overwritten: the units that person j passes on.

    Returns
    -------
    int
        What still goes over the root: 0 if the needs can be met.
    """
    n = net.needs.size
    # Arcs outside of the tree are full or empty.
    pairs[:] = -net.full
    passed[:] = 0
    # The flow on arcs of the tree: to the root, from a person to the own record, or a pair.
    nodes, above, flow = np.arange(2 * n), net.parent[: 2 * n], net.flow[: 2 * n]
    upper, lower = np.maximum(nodes, above), np.minimum(nodes, above)
    to_root, to_own = upper == 2 * n, upper - lower == n
    passed[lower[to_own & ~to_root]] = flow[to_own & ~to_root]
    others = ~(to_own | to_root)
    pairs[lower[others], upper[others] - n] = flow[others]
    return int(flow[to_root].sum())

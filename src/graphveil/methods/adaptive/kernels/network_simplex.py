"""The cheapest pairs that give every record and every person enough partners: a network simplex."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide

Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

WITHOUT_END: int = np.int64(np.iinfo(np.int64).max)  # type: ignore[assignment]
OWN = 8
"""The diagonal of the costs is so many times what an arc to the root costs.

No potential is further from the root's than three of these, so that no record sends to itself.
"""


class FlowNetwork(NamedTuple):
    """A spanning tree, and which of the other arcs are full.

    For every node but the root: its parent, whether the arc between them leads `up` to the parent
    (1) or down (-1), and the flow on it. `potentials` make the reduced cost of every arc of the
    tree 0. Children are chained: `child[u]` is the first, then `after`; `before` is the one before.
    ``full[i, j]`` is -1 where the arc carries its unit and is not in the tree, else 0.
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
    """Where an arc enters: flow goes from `tail` to `head`; `forward` is 1 along it, -1 against."""

    tail: int
    head: int
    forward: int


def network(needs: Ints, cheapest: Ints) -> FlowNetwork:
    """Return a tree for these needs in which every record sends to the cheapest persons.

    Parameters
    ----------
    needs
        Per record, and per person, fewer than n.
    cheapest
        Per record the persons that are cheapest, itself not among them, shape (n, largest need).
    """
    n = needs.size
    nodes = 2 * n + 1
    full = np.zeros((n, n), dtype=np.int8)
    sent = np.arange(cheapest.shape[1]) < needs[:, np.newaxis]
    full[np.nonzero(sent)[0], cheapest[sent]] = -1
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
    """Return what a flow costs more, at least, with a unit more from record i to person j.

    Parameters
    ----------
    net
        After `solve` with these costs. What is negative belongs to arcs that are full: the flow
        costs so much more, at least, without them.
    costs
        As in `solve`.
    """
    n = net.needs.size
    own, persons = net.potentials[:n], net.potentials[n : 2 * n]
    return costs + own[:, np.newaxis] - persons


@leaf
def _cost(costs: Ints, tail: int, head: int) -> int:
    """Return the cost of the arc between two nodes."""
    n = costs.shape[0]
    cost: int = ZERO
    if tail == 2 * n or head == 2 * n:
        cost = costs[0, 0] // OWN
    elif tail < n:
        cost = costs[tail, head - n]
    return cost


@leaf
def _following(net: FlowNetwork, node: int, top: int) -> int:
    """Return the node after this one below `top`, parents before children; -1 after the last."""
    following: int = wide(net.child[node])
    while following < 0 and node != top:
        following = wide(net.after[node])
        node = wide(net.parent[node])
    return following


@leaf
def _recompute_potentials(net: FlowNetwork, costs: Ints) -> None:
    """Write the potentials that these costs give."""
    root = net.parent.size - 1
    net.potentials[root] = 0
    node = _following(net, root, root)
    while node >= 0:
        above = wide(net.parent[node])
        if net.up[node] > 0:
            net.potentials[node] = net.potentials[above] - _cost(costs, node, above)
        else:
            net.potentials[node] = net.potentials[above] + _cost(costs, above, node)
        node = _following(net, node, root)


@leaf
def _least_in_row(net: FlowNetwork, costs: Ints, i: int) -> int:
    """Return the least of the reduced costs of a record's arcs, taken the other way where full."""
    n = costs.shape[0]
    row, full, persons = costs[i], net.full[i], net.potentials[n : 2 * n]
    own = net.potentials[i]
    least: int = ZERO
    for j in range(n):
        sign = np.int64(full[j])
        reduced = ((row[j] + own - persons[j]) ^ sign) - sign
        least = min(least, reduced)
    return least


@leaf
def _entering(net: FlowNetwork, costs: Ints, start: int, rows: int, passes: int) -> Pivot:
    """Return the best arc among some records', from one on; the tail is -1 where none helps."""
    n = costs.shape[0]
    best, chosen, by_pass = ZERO, -1, 0
    i = start
    for number in range(n):
        least = _least_in_row(net, costs, i)
        if least < best:
            best, chosen, by_pass = least, i, 0
        if passes and net.potentials[n + i] - net.potentials[i] < best:
            best, chosen, by_pass = net.potentials[n + i] - net.potentials[i], i, 1
        if best < 0 and number + 1 >= rows:
            break
        i = i + 1 if i + 1 < n else 0
    if chosen < 0:
        return Pivot(-1, -1, 1)
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
    """Return how much the flow between a node and its parent can grow (more = 1) or shrink."""
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
    while one != other:
        if net.depth[one] >= net.depth[other]:
            one = wide(net.parent[one])
        else:
            other = wide(net.parent[other])
    return one


@leaf
def _pivot(net: FlowNetwork, costs: Ints, arc: Pivot) -> None:
    """Send as much as can be along an arc and back through the tree; exchange it with a full one.

    Among the full ones, the last one on the way from the top leaves: so the tree stays strongly
    feasible.
    """
    n = net.needs.size
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
    if sent > 0:
        node = first
        while node != top:
            net.flow[node] -= net.up[node] * sent
            node = wide(net.parent[node])
        node = second
        while node != top:
            net.flow[node] += net.up[node] * sent
            node = wide(net.parent[node])
    record, person = min(first, second), max(first, second) - n
    if side == 0:
        net.full[record, person] = -1 - net.full[record, person]
        return
    _mark_leaving(net, leaving)
    on_arc = sent if arc.forward > 0 else ONE - sent
    if not by_pass:
        net.full[record, person] = 0
    inner, outer = (first, second) if side == 1 else (second, first)
    leads_up = (inner == first) == (arc.forward > 0)
    _reattach(net, costs, inner, outer, leaving, on_arc, 1 if leads_up else -1)


@leaf
def _mark_leaving(net: FlowNetwork, node: int) -> None:
    """Mark the arc between a node and its parent as full where it is, for it leaves the tree."""
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
    """Hang what is below `last` from `outer`, by its node `inner`; write depths and potentials."""
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
    before, after = net.before[node], net.after[node]
    if before >= 0:
        net.after[before] = after
    else:
        net.child[net.parent[node]] = after
    if after >= 0:
        net.before[after] = before


@leaf
def _attach(net: FlowNetwork, node: int, above: int) -> None:
    first = net.child[above]
    net.before[node], net.after[node] = -1, first
    if first >= 0:
        net.before[first] = node
    net.child[above] = node


@leaf
def solve(net: FlowNetwork, costs: Ints, rows: int, passes: int) -> int:
    """Make the tree that of the cheapest flow; return the number of pivots.

    Parameters
    ----------
    net
        From `network`, or what an earlier solve with other costs left; overwritten.
    costs
        Shape (n, n), at least 0; on the diagonal more than n times the largest, times `OWN`.
    rows
        The records whose arcs are looked at before a pivot, where any of these helps.
    passes
        1 where the degrees may be larger than the needs; always the same for a network.
    """
    _recompute_potentials(net, costs)
    start, pivots = ZERO, ZERO
    while True:
        arc = _entering(net, costs, start, rows, passes)
        if arc.tail < 0:
            return pivots
        _pivot(net, costs, arc)
        pivots += 1
        start = min(arc.tail, arc.head) + 1
        if start >= costs.shape[0]:
            start = ZERO


def flows(net: FlowNetwork, pairs: NDArray[np.int8], passed: Ints) -> int:
    """Write 1 into pairs[i, j] where record i sends to person j, else 0; what person j passes on.

    Return what still goes over the root: 0, where the needs can be met.
    """
    n = net.needs.size
    pairs[:] = -net.full
    passed[:] = 0
    nodes, above, flow = np.arange(2 * n), net.parent[: 2 * n], net.flow[: 2 * n]
    upper, lower = np.maximum(nodes, above), np.minimum(nodes, above)
    to_root, to_own = upper == 2 * n, upper - lower == n
    passed[lower[to_own & ~to_root]] = flow[to_own & ~to_root]
    others = ~(to_own | to_root)
    pairs[lower[others], upper[others] - n] = flow[others]
    return int(flow[to_root].sum())

"""The cheapest pairs that give every record and every person enough partners: a network simplex.

Node i < n is record i, which sends ``needs[i]`` units; node n + i is person i, who takes as many.
Record i sends one unit at most to person j != i, at ``costs[i, j]``. Where `passes` is 1, what a
person has above that goes on to the own record for nothing, which sends it as well: so both get
``needs[i]`` or more, and as many as each other. Node 2n is the root, to which arcs lead that nobody
would pay for.

The tree is strongly feasible: no sequence of pivots comes back to where it was. Costs are integers,
so that arcs of the tree have reduced costs of exactly 0 and the optimum is exact.

Pairs in which each side fits the other, from pairs in which as many lead to everyone as away.

Pairs of records and persons as a flow, in bits.

Record i sends a unit to every person that it is paired with, and a person who gets more than needed
passes the remainder to the own record. Node i is record i, node n + j person j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.planes import Packed, differing

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
def _price_anew(net: FlowNetwork, costs: Ints) -> None:
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
def _room(net: FlowNetwork, node: int, more: int) -> int:
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
        room = _room(net, node, wide(-net.up[node]))
        if room < sent:
            sent, leaving, side = room, node, 1
        node = wide(net.parent[node])
    node = second
    while node != top:
        room = _room(net, node, wide(net.up[node]))
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
    _drop(net, leaving)
    on_arc = sent if arc.forward > 0 else ONE - sent
    if not by_pass:
        net.full[record, person] = 0
    inner, outer = (first, second) if side == 1 else (second, first)
    leads_up = (inner == first) == (arc.forward > 0)
    _hang(net, costs, inner, outer, leaving, on_arc, 1 if leads_up else -1)


@leaf
def _drop(net: FlowNetwork, node: int) -> None:
    """Mark the arc between a node and its parent as full where it is, for it leaves the tree."""
    n = net.needs.size
    above = wide(net.parent[node])
    upper, lower = max(node, above), min(node, above)
    if upper != 2 * n and upper - lower != n and net.flow[node] == 1:
        net.full[lower, upper - n] = -1


@leaf
def _hang(
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
    _price_anew(net, costs)
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


PairMatrix = NDArray[np.int8]

OPEN, PASSED = 2, 3
"""What stands in both cells of a pair that was chosen one way: not yet on a tour, and on one."""


class ClosedWalk(NamedTuple):
    """Room for a closed walk over every open pair that can be reached from some row."""

    nodes: Ints
    stack: Ints
    upcoming: Ints


def tour_for(pairs: PairMatrix) -> ClosedWalk:
    """Return room for any tour over pairs, and where the search for open pairs begins."""
    length = int(np.count_nonzero(pairs)) + 1
    return ClosedWalk(
        nodes=np.empty(length, dtype=np.int64),
        stack=np.empty(length, dtype=np.int64),
        upcoming=np.zeros(pairs.shape[0], dtype=np.int64),
    )


@leaf
def _walk(pairs: PairMatrix, tour: ClosedWalk, start: int) -> int:
    """Write a closed walk over all open pairs from a row on; return how many pairs it has."""
    n = pairs.shape[0]
    tour.stack[0] = start
    height, length = 1, 0
    while height > 0:
        node = tour.stack[height - 1]
        other = tour.upcoming[node]
        while other < n and pairs[node, other] != OPEN:
            other += 1
        tour.upcoming[node] = other
        if other < n:
            pairs[node, other] = PASSED
            pairs[other, node] = PASSED
            tour.stack[height] = other
            height += 1
        else:
            tour.nodes[length] = node
            length += 1
            height -= 1
    return length - 1


@leaf
def _price(costs: Ints, tour: ClosedWalk, position: int) -> int:
    one, other = tour.nodes[position], tour.nodes[position + 1]
    price: int = costs[one, other]
    return price


@leaf
def _set(pairs: PairMatrix, tour: ClosedWalk, position: int, value: int) -> None:
    one, other = tour.nodes[position], tour.nodes[position + 1]
    pairs[one, other] = value
    pairs[other, one] = value


@leaf
def _take_every_other(costs: Ints, pairs: PairMatrix, tour: ClosedWalk, length: int) -> None:
    """Keep every other pair of a tour, the cheapest way; of an odd tour one more than half.

    In steps of two an odd tour is walked over in `length` steps, an even one in half of them.
    """
    kept = (length + 1) // 2
    starts = length if length % 2 else 2
    price = ZERO
    for step in range(kept):
        price += _price(costs, tour, (2 * step) % length)
    best, lowest = ZERO, price
    for start in range(1, starts):
        if length % 2:
            price -= _price(costs, tour, (2 * (start - 1)) % length)
            price += _price(costs, tour, (2 * (start - 1 + kept)) % length)
        else:
            price = ZERO
            for step in range(kept):
                price += _price(costs, tour, 2 * step + 1)
        if price < lowest:
            best, lowest = start * ONE, price
    for position in range(length):
        _set(pairs, tour, position, ZERO)
    for step in range(kept):
        first = 2 * best if length % 2 else best
        _set(pairs, tour, (first + 2 * step) % length, ONE)


@leaf
def make_symmetric(costs: Ints, pairs: PairMatrix, tour: ClosedWalk) -> None:
    """Make every pair one both ways, such that no degree falls.

    Pairs both ways stay. The others form closed tours; every other pair of a tour stays.

    Parameters
    ----------
    costs
        Symmetric: what a pair costs both ways.
    pairs
        1 for a pair; as many in row i as in column i. Overwritten.
    tour
        From `tour_for`; overwritten.
    """
    n = pairs.shape[0]
    for i in range(n):
        for j in range(i):
            if pairs[i, j] != pairs[j, i]:
                pairs[i, j] = OPEN
                pairs[j, i] = OPEN
    for start in range(n):
        length = _walk(pairs, tour, start)
        if length > 0:
            _take_every_other(costs, pairs, tour, length)


@leaf
def drop(pairs: PairMatrix, edges: Ints, spare: Ints) -> None:
    """Give up pairs, in this order, where both sides have more than they need.

    Parameters
    ----------
    pairs
        Symmetric; overwritten.
    edges
        Shape (m, 2): pairs, the dearest first.
    spare
        By how many pairs everyone has more than needed; overwritten.
    """
    for number in range(edges.shape[0]):
        one, other = edges[number, 0], edges[number, 1]
        if spare[one] > 0 and spare[other] > 0:
            pairs[one, other] = 0
            pairs[other, one] = 0
            spare[one] -= 1
            spare[other] -= 1


Words = NDArray[np.uint64]

WORD = 64
NO_BIT: np.uint64 = np.uint64(0)
ONE_BIT: np.uint64 = np.uint64(1)

PART = 64
"""So many records are looked at in one go."""

MOST_STEPS = 32
"""Times n: a star that more steps would free stays."""


FREE, SENDERS, CHOSEN, FITTING = 0, 1, 2, 3
"""What stands in the words of a flow, see `Flow`; those of a record and a person make 3."""


class Flow(NamedTuple):
    """Pairs that fit, which of them are chosen, and what is passed on.

    Bit j of ``words[FREE, i]`` is set where record i fits person j and the pair is not chosen, and
    so is bit i of ``words[FITTING, j]``; bit i of ``words[SENDERS, j]`` where it is chosen, and so
    is bit j of ``words[CHOSEN, i]``. ``passed[j]`` is what person j passes on; `passes` is 1 where
    that may change, 0 where all degrees stay as they are. ``changed[v]`` is 1 for every node whose
    pairs have changed. The rest is scratch, twice where a search goes from both ends: the node
    before, whom it has seen (records, then persons), its queue; the persons that a record has lost,
    the steps that can be undone, and the row before.
    """

    words: Words
    passed: Ints
    passes: int
    changed: PairMatrix
    came_from: NDArray[np.int32]
    seen: Words
    queue: NDArray[np.int32]
    lost: NDArray[np.int32]
    journal: NDArray[np.int32]
    row_before: Words

    @property
    def free(self) -> Words:
        """The pairs that fit and are not chosen, by record."""
        words: Words = self.words[FREE]
        return words

    @property
    def senders(self) -> Words:
        """The pairs that are chosen, by person."""
        words: Words = self.words[SENDERS]
        return words


def flow_of(rows: Packed, passed: Ints, *, may_exceed: bool = True) -> Flow:
    """Return a flow, still to be filled by `load`; whether its degrees may come to differ."""
    n, words = rows.stars.shape[0], -(-rows.stars.shape[0] // WORD)
    return Flow(
        words=np.zeros((4, n, words), dtype=np.uint64),
        passed=passed.copy(),
        passes=int(may_exceed),
        changed=np.zeros(2 * n, dtype=np.int8),
        came_from=np.zeros((2, 2 * n), dtype=np.int32),
        seen=np.zeros((4, words), dtype=np.uint64),
        queue=np.zeros((2, 2 * n), dtype=np.int32),
        lost=np.zeros(n, dtype=np.int32),
        journal=np.zeros((MOST_STEPS * n, 2), dtype=np.int32),
        row_before=np.zeros(words, dtype=np.uint64),
    )


def cover(rows: Packed, pairs: PairMatrix, stars: Words) -> None:
    """Write into stars[i] the missing cells of row i and those that its pairs need suppressed."""
    i, j = np.nonzero(pairs)
    i, j = i[i != j], j[i != j]
    stars[:] = rows.stars
    for w in range(stars.shape[1]):
        np.bitwise_or.at(stars[:, w], i, _differing(rows, i, j, w))


def _differing(rows: Packed, i: Ints, j: Ints, w: int) -> Words:
    """Return the columns of word w in which rows i and rows j do not agree, as `differing`."""
    bits: Words = rows.stars[i, w] | rows.stars[j, w]
    for p in range(rows.offsets[w], rows.offsets[w + 1]):
        bits |= rows.planes[i, p] ^ rows.planes[j, p]
    return bits


@leaf
def is_set(bits: Words, i: int) -> np.uint64:
    """Return bit i."""
    bit: np.uint64 = (bits[i >> 6] >> np.uint64(i & 63)) & ONE_BIT
    return bit


@leaf
def turn(bits: Words, i: int) -> None:
    """Set bit i where it is not set, and clear it where it is."""
    bits[i >> 6] ^= ONE_BIT << np.uint64(i & 63)


@leaf
def fits(rows: Packed, stars: Words, i: int, j: int) -> bool:
    """Whether record i, with these stars, fits person j."""
    shown = NO_BIT
    for w in range(stars.shape[1]):
        shown |= differing(rows, i, rows, j, w) & ~stars[i, w]
    fits: bool = shown == NO_BIT
    return fits


@leaf
def turn_free(flow: Flow, i: int, j: int) -> None:
    """Note that record i fits person j without being chosen where that was not so, or was."""
    turn(flow.words[FREE, i], j)
    turn(flow.words[FITTING, j], i)
    flow.changed[i] = 1
    flow.changed[flow.passed.size + j] = 1


@leaf
def turn_chosen(flow: Flow, i: int, j: int) -> None:
    """Choose the pair of record i and person j where that was not so; give it up where it was."""
    turn(flow.words[CHOSEN, i], j)
    turn(flow.words[SENDERS, j], i)
    flow.changed[i] = 1
    flow.changed[flow.passed.size + j] = 1


def load(rows: Packed, stars: Words, pairs: PairMatrix, flow: Flow) -> None:
    """Write which pairs fit and which are chosen."""
    fit = np.empty_like(pairs)
    fitting(rows, stars, fit)
    np.fill_diagonal(fit, 0)
    fit &= 1 - pairs
    for kind, bits in ((FREE, fit), (CHOSEN, pairs)):
        flow.words[kind] = _words_of(bits)
        flow.words[3 - kind] = _words_of(bits.T)


def _words_of(bits: NDArray[np.int8]) -> Words:
    """Return rows of 0 and 1 as words, the first of 64 the lowest bit."""
    n, words = bits.shape[0], -(-bits.shape[1] // WORD)
    padded = np.zeros((n, words * WORD // 8), dtype=np.uint8)
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").astype(np.uint64, copy=False)


def unload(flow: Flow, pairs: PairMatrix) -> None:
    """Write the chosen pairs into pairs, 1 or 0; nothing on the diagonal."""
    little = flow.words[CHOSEN].astype("<u8", copy=False).view(np.uint8)
    pairs[:] = np.unpackbits(little, axis=1, bitorder="little", count=pairs.shape[1])


@leaf
def send(flow: Flow, one: int, other: int) -> None:
    """Send a unit from one node to another: choose a pair, give one up, pass on more or less."""
    n = flow.passed.size
    record, person = min(one, other), max(one, other) - n
    if record == person:
        flow.passed[record] += 1 if one > other else -1
        flow.changed[record] = 1
    else:
        turn_free(flow, record, person)
        turn_chosen(flow, record, person)


def fitting(rows: Packed, stars: Words, pairs: PairMatrix) -> None:
    """Write 1 into pairs[i, j] where record i fits person j, else 0; 1 for i = j."""
    n = stars.shape[0]
    persons = np.arange(n)
    for start in range(0, n, PART):
        records = np.arange(start, min(n, start + PART))[:, np.newaxis]
        shown = np.zeros((records.size, n), dtype=np.bool_)
        for w in range(stars.shape[1]):
            shown |= (_differing(rows, records, persons, w) & ~stars[records, w]) != 0
        pairs[start : start + PART] = ~shown
    np.fill_diagonal(pairs, 1)

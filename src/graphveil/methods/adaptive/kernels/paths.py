"""Paths of the residual graph of a flow, and rerouting a unit along them.

If record i loses person j, the unit between them must find another way from i to j: over pairs that
fit and are not chosen (forwards), over chosen pairs (backwards, giving them up), and over what
persons pass on. Along such a path all degrees keep their needs. The search goes from both ends in
turn, node by node, and takes O(n / 64) for each node.
"""

from __future__ import annotations

from graphveil.core.kernels.arrays import first_bit
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.flow import NO_BIT, ONE_BIT, WORD, Flow, is_set, send, turn


@leaf
def expand(flow: Flow, back: int, node: int, end: int) -> int:
    """Put the nodes that are reached for the first time into the queue; return the queue's new end.

    Parameters
    ----------
    flow
        Scratch is written: ``seen``, ``came_from`` and ``queue``.
    back
        0 for the nodes to which a unit can go from `node`, 1 for those from which it can come.
    node
        The node that is visited.
    end
        The end of the queue of this direction.
    """
    # The views of the pairs (`Flow.words`) are numbered such that ``2 back + is_person`` has the
    # residual arcs. Forwards they lead from a record to the persons it fits (`FREE`), and from a
    # person to the records that send to it (`SENDERS`). Backwards they lead from a record to the
    # persons that it sends to (`CHOSEN`), and from a person to the records that fit it (`FITTING`).
    # `far` is the row of `Flow.seen` of the other side, on which all new nodes are.
    n = flow.passed.size
    is_person = ONE if node >= n else ZERO
    i = node - n if is_person else node
    far = 2 * back + 1 - is_person
    first = ZERO if is_person else n
    # Step 1: all new nodes on the other side, a word at a time.
    for w in range(flow.row_before.size):
        bits = flow.words[2 * back + is_person, i, w] & ~flow.seen[far, w]
        flow.seen[far, w] |= bits
        while bits:
            other = first + w * WORD + first_bit(bits)
            bits &= bits - ONE_BIT
            flow.came_from[back, other] = node
            flow.queue[back, end] = other
            end += 1
    # Step 2: between person and own record. Passing on more is always possible if degrees may
    # change, passing on less only if something is passed.
    passes = flow.passes if is_person != back else flow.passed[i]
    if passes > 0 and not is_set(flow.seen[far], i):
        turn(flow.seen[far], i)
        flow.came_from[back, first + i] = node
        flow.queue[back, end] = first + i
        end += 1
    return end


@leaf
def _meeting(flow: Flow, is_person: int) -> int:
    """Return a record, or a person, that both searches have seen; -1 if there is none."""
    for w in range(flow.row_before.size):
        both = flow.seen[is_person, w] & flow.seen[2 + is_person, w]
        if both:
            node: int = is_person * flow.passed.size + w * WORD + first_bit(both)
            return node
    return MINUS_ONE


@leaf
def _find_path(flow: Flow, record: int, person: int) -> int:
    """Return a node on a path from a record to a person; -1 if there is no path.

    ``came_from[0]`` leads from that node back to the record, ``came_from[1]`` on to the person.
    """
    n = flow.passed.size
    # Step 1: only the two ends are seen.
    for kind in range(4):
        for w in range(flow.seen.shape[1]):
            flow.seen[kind, w] = NO_BIT
    turn(flow.seen[0], record)
    turn(flow.seen[3], person)
    flow.queue[0, 0], flow.queue[1, 0] = record, n + person
    # Step 2: visit a node from one end, then one from the other, until both have seen the same
    # node.
    back, start, end, other_start, other_end = ZERO, ZERO, ONE, ZERO, ONE
    while start < end:
        node = wide(flow.queue[back, start])
        end = expand(flow, back, node, end)
        meeting = _meeting(flow, ONE if node < n else ZERO)
        if meeting >= 0:
            return meeting
        back, start, end, other_start, other_end = (
            1 - back,
            other_start,
            other_end,
            start + 1,
            end,
        )
    return MINUS_ONE


@leaf
def reroute(flow: Flow, record: int, person: int, steps: int) -> int:
    """Send a unit from a record to a person over pairs that fit; return the new number of steps.

    If there is no path, or the journal has no room for it, nothing changes and -1 is returned.
    """
    meeting = _find_path(flow, record, person)
    if meeting < 0:
        return MINUS_ONE
    # Step 1: write both halves of the path into the journal.
    n, end = flow.passed.size, steps
    for back in range(2):
        node, last = meeting, n + person if back else record
        while node != last and end < flow.journal.shape[0]:
            other = wide(flow.came_from[back, node])
            flow.journal[end, 0] = node if back else other
            flow.journal[end, 1] = other if back else node
            node = other
            end += 1
        if node != last:
            return MINUS_ONE
    # Step 2: send the unit along all of its steps.
    for number in range(steps, end):
        send(flow, wide(flow.journal[number, 0]), wide(flow.journal[number, 1]))
    return end


@leaf
def undo(flow: Flow, steps: int) -> None:
    """Take back all steps of the journal up to this number, the last one first."""
    for number in range(steps - 1, -1, -1):
        send(flow, wide(flow.journal[number, 1]), wide(flow.journal[number, 0]))

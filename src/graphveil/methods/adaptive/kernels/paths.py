"""Paths of the residual graph of a flow, and sending a unit along them."""

from __future__ import annotations

from graphveil.core.kernels.arrays import first_bit
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.flow import NO_BIT, ONE_BIT, WORD, Flow, is_set, send, turn


@leaf
def expand(flow: Flow, back: int, node: int, end: int) -> int:
    """Put nodes that are seen for the first time into the queue; return the queue's new end.

    They are those that a unit can be led to from the node, or where `back` is 1, from.
    """
    n = flow.passed.size
    is_person = ONE if node >= n else ZERO
    i = node - n if is_person else node
    far = 2 * back + 1 - is_person
    first = ZERO if is_person else n
    for w in range(flow.row_before.size):
        bits = flow.words[2 * back + is_person, i, w] & ~flow.seen[far, w]
        flow.seen[far, w] |= bits
        while bits:
            other = first + w * WORD + first_bit(bits)
            bits &= bits - ONE_BIT
            flow.came_from[back, other] = node
            flow.queue[back, end] = other
            end += 1
    passes = flow.passes if is_person != back else flow.passed[i]
    if passes > 0 and not is_set(flow.seen[far], i):
        turn(flow.seen[far], i)
        flow.came_from[back, first + i] = node
        flow.queue[back, end] = first + i
        end += 1
    return end


@leaf
def _meeting(flow: Flow, is_person: int) -> int:
    """Return a record, or a person, that both searches have seen; -1 where there is none."""
    for w in range(flow.row_before.size):
        both = flow.seen[is_person, w] & flow.seen[2 + is_person, w]
        if both:
            node: int = is_person * flow.passed.size + w * WORD + first_bit(both)
            return node
    return MINUS_ONE


@leaf
def _find_path(flow: Flow, record: int, person: int) -> int:
    """Return a node on a way from a record to a person, -1 where there is no way.

    The way is searched from both ends, node by node in turn; ``came_from[0]`` leads back from that
    node to the record, ``came_from[1]`` on to the person.
    """
    n = flow.passed.size
    for kind in range(4):
        for w in range(flow.seen.shape[1]):
            flow.seen[kind, w] = NO_BIT
    turn(flow.seen[0], record)
    turn(flow.seen[3], person)
    flow.queue[0, 0], flow.queue[1, 0] = record, n + person
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
    """Lead a unit from a record to a person over pairs that fit; return the new number of steps.

    Where there is no way, or the journal has no room for it, nothing changes and -1 is returned.
    """
    meeting = _find_path(flow, record, person)
    if meeting < 0:
        return MINUS_ONE
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
    for number in range(steps, end):
        send(flow, wide(flow.journal[number, 0]), wide(flow.journal[number, 1]))
    return end


@leaf
def undo(flow: Flow, steps: int) -> None:
    """Take back so many steps of the journal."""
    for number in range(steps - 1, -1, -1):
        send(flow, wide(flow.journal[number, 1]), wide(flow.journal[number, 0]))

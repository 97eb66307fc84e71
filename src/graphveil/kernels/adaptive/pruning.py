"""Stars that are not needed: the pairs that need one are led over other pairs that fit."""

from __future__ import annotations

import numpy as np

from graphveil.kernels.adaptive.flow import (
    CHOSEN,
    FITTING,
    FREE,
    NO_BIT,
    ONE_BIT,
    WORD,
    Flow,
    Ints,
    PairMatrix,
    Words,
    is_set,
    send,
    turn,
    turn_chosen,
    turn_free,
)
from graphveil.kernels.adaptive.planes import Packed, differing
from graphveil.kernels.bits import first_bit
from graphveil.kernels.leaf import MINUS_ONE, ONE, ZERO, leaf, wide


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
def _search(flow: Flow, record: int, person: int) -> int:
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
def lead(flow: Flow, record: int, person: int, steps: int) -> int:
    """Lead a unit from a record to a person over pairs that fit; return the new number of steps.

    Where there is no way, or the journal has no room for it, nothing changes and -1 is returned.
    """
    meeting = _search(flow, record, person)
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
def _undo(flow: Flow, steps: int) -> None:
    for number in range(steps - 1, -1, -1):
        send(flow, wide(flow.journal[number, 1]), wide(flow.journal[number, 0]))


@leaf
def _must_stay(rows: Packed, flow: Flow, i: int, w: int, bit: np.uint64) -> bool:
    """Whether a star of row i stays, since i or someone who needs it would fit too few others."""
    spare: int = flow.passed[i]
    for word in range(flow.row_before.size):
        for kind in (CHOSEN, FREE):
            bits = flow.words[kind, i, word]
            while bits:
                j = word * WORD + first_bit(bits)
                bits &= bits - ONE_BIT
                needs = differing(rows, i, rows, j, w) & bit
                if kind == FREE:
                    spare += 0 if needs else 1
                elif needs:
                    spare -= 1
                    others = np.uint64(flow.passed[j])
                    for v in range(flow.row_before.size):
                        others |= flow.words[FITTING, j, v]
                    if not others:
                        return True
    return spare < 0


@leaf
def _without(rows: Packed, stars: Words, flow: Flow, i: int, k: int) -> bool:
    """Take the star of row i's column k away if all that need it can be led elsewhere."""
    w, lost = k >> 6, ZERO
    bit = ONE_BIT << np.uint64(k & 63)
    if _must_stay(rows, flow, i, w, bit):
        return False
    for word in range(flow.row_before.size):
        flow.row_before[word] = flow.words[FREE, i, word]
        bits = flow.words[FREE, i, word] | flow.words[CHOSEN, i, word]
        while bits:
            j = word * WORD + first_bit(bits)
            bits &= bits - ONE_BIT
            if differing(rows, i, rows, j, w) & bit:
                if is_set(flow.words[FREE, i], j):
                    turn_free(flow, i, j)
                else:
                    turn_chosen(flow, i, j)
                    flow.lost[lost] = j
                    lost += 1
    steps = ZERO
    for number in range(lost):
        more = lead(flow, i, wide(flow.lost[number]), steps)
        if more < 0:
            _undo(flow, steps)
            for again in range(lost):
                turn_chosen(flow, i, wide(flow.lost[again]))
            for word in range(flow.row_before.size):
                bits = flow.row_before[word] & ~flow.words[FREE, i, word]
                while bits:
                    turn_free(flow, i, word * WORD + first_bit(bits))
                    bits &= bits - ONE_BIT
            return False
        steps = more
    stars[i, w] &= ~bit
    flow.changed[i] = 1
    return True


@leaf
def prune(rows: Packed, stars: Words, flow: Flow, cells: Ints) -> int:
    """Take stars away, one after the other, where every record and person keeps enough pairs.

    Parameters
    ----------
    rows
        The rows.
    stars
        What is suppressed, as `cover` writes it; overwritten.
    flow
        After `load`; overwritten.
    cells
        Shape (m, 2): rows, and columns by their place among the bits, in the order in which their
        stars are tried.

    Returns
    -------
    int
        How many stars are gone.
    """
    gone = 0
    for number in range(cells.shape[0]):
        if _without(rows, stars, flow, cells[number, 0], cells[number, 1]):
            gone += 1
    return gone


@leaf
def prune_mutual(rows: Packed, stars: Words, pairs: PairMatrix, spare: Ints, cells: Ints) -> int:
    """Take stars away where everyone keeps enough pairs that fit both ways.

    Parameters
    ----------
    rows, stars, cells
        As in `prune`.
    pairs
        1 where both fit each other, 0 on the diagonal; overwritten.
    spare
        By how many pairs everyone has more than needed; overwritten.

    Returns
    -------
    int
        How many stars are gone.
    """
    n, gone = pairs.shape[0], 0
    for number in range(cells.shape[0]):
        i, w = cells[number, 0], cells[number, 1] >> 6
        bit = ONE_BIT << np.uint64(cells[number, 1] & 63)
        lost, can_go = 0, True
        for j in range(n):
            if pairs[i, j] and differing(rows, i, rows, j, w) & bit:
                lost += 1
                can_go = can_go and spare[j] > 0
        if not can_go or lost > spare[i]:
            continue
        for j in range(n):
            if pairs[i, j] and differing(rows, i, rows, j, w) & bit:
                pairs[i, j] = 0
                pairs[j, i] = 0
                spare[j] -= 1
        spare[i] -= lost
        stars[i, w] &= ~bit
        gone += 1
    return gone

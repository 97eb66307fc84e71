"""Stars that are not needed: the pairs that need one are led over other pairs that fit."""

from __future__ import annotations

import numpy as np

from graphveil.kernels.adaptive.flow import (
    ONE_BIT,
    WORD,
    Flow,
    Ints,
    Pairs,
    Words,
    is_set,
    send,
    turn,
)
from graphveil.kernels.adaptive.planes import Packed, differing
from graphveil.kernels.bits import first_bit
from graphveil.kernels.leaf import MINUS_ONE, ZERO, leaf, wide


@leaf
def _visit(flow: Flow, node: int, came_from: int, end: int) -> int:
    """Put a node that is seen for the first time into the queue; return the queue's new end."""
    n = flow.passed.size
    side, i = (0, node) if node < n else (1, node - n)
    if is_set(flow.seen[side], i):
        return end
    turn(flow.seen[side], i)
    flow.came_from[node] = came_from
    flow.queue[end] = node
    return end + 1


@leaf
def _search(flow: Flow, record: int, person: int) -> bool:
    """Whether a unit can be led from a record to a person; write the way into ``came_from``."""
    n, words = flow.passed.size, flow.free.shape[1]
    for w in range(words):
        flow.seen[0, w] = 0
        flow.seen[1, w] = 0
    end = _visit(flow, record, MINUS_ONE, ZERO)
    start = ZERO
    while start < end:
        node = wide(flow.queue[start])
        start += 1
        is_record = node < n
        i = node if is_record else node - n
        ways = flow.free[i] if is_record else flow.senders[i]
        far = 1 if is_record else 0
        for w in range(words):
            bits = ways[w] & ~flow.seen[far, w]
            while bits:
                other = w * WORD + first_bit(bits)
                bits &= bits - ONE_BIT
                end = _visit(flow, other + n if is_record else other, node, end)
        if not is_record and flow.passes:
            end = _visit(flow, i, node, end)
        elif is_record and flow.passed[i] > 0:
            end = _visit(flow, i + n, node, end)
        if is_set(flow.seen[1], person):
            return True
    return False


@leaf
def _led(flow: Flow, record: int, person: int, steps: int) -> int:
    """Lead a unit from a record to a person; return the new number of steps, -1 where no way is."""
    if not _search(flow, record, person):
        return MINUS_ONE
    node, end = flow.passed.size + person, steps
    while node != record and end < flow.journal.shape[0]:
        flow.journal[end, 0], flow.journal[end, 1] = flow.came_from[node], node
        node = wide(flow.came_from[node])
        end += 1
    if node != record:
        return MINUS_ONE
    for number in range(steps, end):
        send(flow, wide(flow.journal[number, 0]), wide(flow.journal[number, 1]))
    return end


@leaf
def _undo(flow: Flow, steps: int) -> None:
    for number in range(steps - 1, -1, -1):
        send(flow, wide(flow.journal[number, 1]), wide(flow.journal[number, 0]))


@leaf
def _without(rows: Packed, stars: Words, flow: Flow, i: int, k: int) -> bool:
    """Take the star of row i's column k away if all that need it can be led elsewhere."""
    n, w = flow.passed.size, k >> 6
    bit = ONE_BIT << np.uint64(k & 63)
    for word in range(flow.free.shape[1]):
        flow.row_before[word] = flow.free[i, word]
    lost = ZERO
    for j in range(n):
        if j != i and differing(rows, i, rows, j, w) & bit:
            if is_set(flow.senders[j], i):
                turn(flow.senders[j], i)
                flow.lost[lost] = j
                lost += 1
            elif is_set(flow.free[i], j):
                turn(flow.free[i], j)
    steps = ZERO
    for number in range(lost):
        more = _led(flow, i, wide(flow.lost[number]), steps)
        if more < 0:
            _undo(flow, steps)
            for again in range(lost):
                turn(flow.senders[wide(flow.lost[again])], i)
            for word in range(flow.free.shape[1]):
                flow.free[i, word] = flow.row_before[word]
            return False
        steps = more
    stars[i, w] &= ~bit
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
def prune_mutual(rows: Packed, stars: Words, pairs: Pairs, spare: Ints, cells: Ints) -> int:
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

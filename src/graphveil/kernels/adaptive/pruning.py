"""Stars that are not needed: the pairs that need one are led over other pairs that fit.

The pairs are a flow: record i sends a unit to every person that it is paired with, and a person who
gets more than needed passes the rest on to the own record. Node i is record i, node n + j person j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive.planes import Packed, differing
from graphveil.kernels.bits import first_bit
from graphveil.kernels.leaf import leaf

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Pairs = NDArray[np.int8]

WORD = 64
NO_BIT: np.uint64 = np.uint64(0)
ONE_BIT: np.uint64 = np.uint64(1)

MOST_STEPS = 32
"""Times n: a star that more steps would free stays."""


class Flow(NamedTuple):
    """Pairs that fit, which of them are chosen, and what is passed on.

    Bit j of ``free[i]`` is set where record i fits person j and the pair is not chosen; bit i of
    ``senders[j]`` where it is. ``passed[j]`` is what person j passes on. The rest is scratch: whom
    a search came from, whom it has seen, its queue, the persons that a record has lost, the steps
    that can be undone, and the row before.
    """

    free: Words
    senders: Words
    passed: Ints
    came_from: NDArray[np.int32]
    seen: Words
    queue: NDArray[np.int32]
    lost: NDArray[np.int32]
    journal: NDArray[np.int32]
    row_before: Words


def flow_of(rows: Packed, passed: Ints) -> Flow:
    """Return a flow, still to be filled by `load`."""
    n, words = rows.stars.shape[0], -(-rows.stars.shape[0] // WORD)
    return Flow(
        free=np.zeros((n, words), dtype=np.uint64),
        senders=np.zeros((n, words), dtype=np.uint64),
        passed=passed.copy(),
        came_from=np.zeros(2 * n, dtype=np.int32),
        seen=np.zeros((2, words), dtype=np.uint64),
        queue=np.zeros(2 * n, dtype=np.int32),
        lost=np.zeros(n, dtype=np.int32),
        journal=np.zeros((MOST_STEPS * n, 2), dtype=np.int32),
        row_before=np.zeros(words, dtype=np.uint64),
    )


@leaf
def cover(rows: Packed, pairs: Pairs, stars: Words) -> None:
    """Write into stars[i] the missing cells of row i and those that its pairs need suppressed."""
    n, words = stars.shape
    for i in range(n):
        for w in range(words):
            stars[i, w] = rows.stars[i, w]
        for j in range(n):
            if pairs[i, j] and j != i:
                for w in range(words):
                    stars[i, w] |= differing(rows, i, rows, j, w)


@leaf
def _is_set(bits: Words, i: int) -> np.uint64:
    bit: np.uint64 = (bits[i >> 6] >> np.uint64(i & 63)) & ONE_BIT
    return bit


@leaf
def _turn(bits: Words, i: int) -> None:
    bits[i >> 6] ^= ONE_BIT << np.uint64(i & 63)


@leaf
def _fits(rows: Packed, stars: Words, i: int, j: int) -> bool:
    shown = NO_BIT
    for w in range(stars.shape[1]):
        shown |= differing(rows, i, rows, j, w) & ~stars[i, w]
    fits: bool = shown == NO_BIT
    return fits


@leaf
def load(rows: Packed, stars: Words, pairs: Pairs, flow: Flow) -> None:
    """Write which pairs fit and which are chosen."""
    n = stars.shape[0]
    for i in range(n):
        for j in range(n):
            if i != j:
                if pairs[i, j]:
                    _turn(flow.senders[j], i)
                elif _fits(rows, stars, i, j):
                    _turn(flow.free[i], j)


@leaf
def unload(flow: Flow, pairs: Pairs) -> None:
    """Write the chosen pairs into pairs, 1 or 0; nothing on the diagonal."""
    n = pairs.shape[0]
    for j in range(n):
        for i in range(n):
            pairs[i, j] = np.int8(_is_set(flow.senders[j], i))


@leaf
def _step(flow: Flow, one: int, other: int) -> None:
    """Send a unit from one node to another: choose a pair, give one up, pass on more or less."""
    n = flow.passed.size
    record, person = min(one, other), max(one, other) - n
    if record == person:
        flow.passed[record] += 1 if one > other else -1
    else:
        _turn(flow.free[record], person)
        _turn(flow.senders[person], record)


@leaf
def _visit(flow: Flow, node: int, came_from: int, end: int) -> int:
    """Put a node that is seen for the first time into the queue; return the queue's new end."""
    n = flow.passed.size
    side, i = (0, node) if node < n else (1, node - n)
    if _is_set(flow.seen[side], i):
        return end
    _turn(flow.seen[side], i)
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
    end = _visit(flow, record, -1, 0)
    start = 0
    while start < end:
        node = flow.queue[start]
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
        if not is_record:
            end = _visit(flow, i, node, end)
        elif flow.passed[i] > 0:
            end = _visit(flow, i + n, node, end)
        if _is_set(flow.seen[1], person):
            return True
    return False


@leaf
def _led(flow: Flow, record: int, person: int, steps: int) -> int:
    """Lead a unit from a record to a person; return the new number of steps, -1 where no way is."""
    if not _search(flow, record, person):
        return -1
    node, end = flow.passed.size + person, steps
    while node != record and end < flow.journal.shape[0]:
        flow.journal[end, 0], flow.journal[end, 1] = flow.came_from[node], node
        node = flow.came_from[node]
        end += 1
    if node != record:
        return -1
    for number in range(steps, end):
        _step(flow, flow.journal[number, 0], flow.journal[number, 1])
    return end


@leaf
def _undo(flow: Flow, steps: int) -> None:
    for number in range(steps - 1, -1, -1):
        _step(flow, flow.journal[number, 1], flow.journal[number, 0])


@leaf
def _without(rows: Packed, stars: Words, flow: Flow, i: int, k: int) -> bool:
    """Take the star of row i's column k away if all that need it can be led elsewhere."""
    n, w = flow.passed.size, k >> 6
    bit = ONE_BIT << np.uint64(k & 63)
    for word in range(flow.free.shape[1]):
        flow.row_before[word] = flow.free[i, word]
    lost = 0
    for j in range(n):
        if j != i and differing(rows, i, rows, j, w) & bit:
            if _is_set(flow.senders[j], i):
                _turn(flow.senders[j], i)
                flow.lost[lost] = j
                lost += 1
            elif _is_set(flow.free[i], j):
                _turn(flow.free[i], j)
    steps = 0
    for number in range(lost):
        more = _led(flow, i, flow.lost[number], steps)
        if more < 0:
            _undo(flow, steps)
            for again in range(lost):
                _turn(flow.senders[flow.lost[again]], i)
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
def fitting(rows: Packed, stars: Words, pairs: Pairs) -> None:
    """Write 1 into pairs[i, j] where record i fits person j, else 0; 1 for i = j."""
    n = stars.shape[0]
    for i in range(n):
        for j in range(n):
            pairs[i, j] = i == j or _fits(rows, stars, i, j)


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

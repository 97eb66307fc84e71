"""Pairs of records and persons as a flow, in bits.

Record i sends a unit to every person that it is paired with, and a person who gets more than needed
passes the rest on to the own record. Node i is record i, node n + j person j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.adaptive.planes import Packed, differing
from graphveil.kernels.leaf import leaf
from graphveil.kernels.tiers import for_each_entry, tiered

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
    ``senders[j]`` where it is. ``passed[j]`` is what person j passes on; `passes` is 1 where that
    may change, 0 where all degrees stay as they are. The rest is scratch: whom a search came from,
    whom it has seen, its queue, the persons that a record has lost, the steps that can be undone,
    and the row before.
    """

    free: Words
    senders: Words
    passed: Ints
    passes: int
    came_from: NDArray[np.int32]
    seen: Words
    queue: NDArray[np.int32]
    lost: NDArray[np.int32]
    journal: NDArray[np.int32]
    row_before: Words


def flow_of(rows: Packed, passed: Ints, *, may_exceed: bool = True) -> Flow:
    """Return a flow, still to be filled by `load`; whether its degrees may come to differ."""
    n, words = rows.stars.shape[0], -(-rows.stars.shape[0] // WORD)
    return Flow(
        free=np.zeros((n, words), dtype=np.uint64),
        senders=np.zeros((n, words), dtype=np.uint64),
        passed=passed.copy(),
        passes=int(may_exceed),
        came_from=np.zeros(2 * n, dtype=np.int32),
        seen=np.zeros((2, words), dtype=np.uint64),
        queue=np.zeros(2 * n, dtype=np.int32),
        lost=np.zeros(n, dtype=np.int32),
        journal=np.zeros((MOST_STEPS * n, 2), dtype=np.int32),
        row_before=np.zeros(words, dtype=np.uint64),
    )


@tiered(for_each_entry(0.1))
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
def load(rows: Packed, stars: Words, pairs: Pairs, flow: Flow) -> None:
    """Write which pairs fit and which are chosen."""
    n = stars.shape[0]
    for i in range(n):
        for j in range(n):
            if i != j:
                if pairs[i, j]:
                    turn(flow.senders[j], i)
                elif fits(rows, stars, i, j):
                    turn(flow.free[i], j)


@leaf
def unload(flow: Flow, pairs: Pairs) -> None:
    """Write the chosen pairs into pairs, 1 or 0; nothing on the diagonal."""
    n = pairs.shape[0]
    for j in range(n):
        for i in range(n):
            pairs[i, j] = np.int8(is_set(flow.senders[j], i))


@leaf
def send(flow: Flow, one: int, other: int) -> None:
    """Send a unit from one node to another: choose a pair, give one up, pass on more or less."""
    n = flow.passed.size
    record, person = min(one, other), max(one, other) - n
    if record == person:
        flow.passed[record] += 1 if one > other else -1
    else:
        turn(flow.free[record], person)
        turn(flow.senders[person], record)


@leaf
def fitting(rows: Packed, stars: Words, pairs: Pairs) -> None:
    """Write 1 into pairs[i, j] where record i fits person j, else 0; 1 for i = j."""
    n = stars.shape[0]
    for i in range(n):
        for j in range(n):
            pairs[i, j] = i == j or fits(rows, stars, i, j)

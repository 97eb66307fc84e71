"""Remove stars that are not needed: pairs that need one are rerouted."""

from __future__ import annotations

import numpy as np

from graphveil.core.kernels.arrays import first_bit
from graphveil.core.kernels.leaf import ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.flow import (
    CHOSEN,
    FITTING,
    FREE,
    ONE_BIT,
    WORD,
    Flow,
    Ints,
    PairMatrix,
    Words,
    is_set,
    turn_chosen,
    turn_free,
)
from graphveil.methods.adaptive.kernels.paths import reroute, undo
from graphveil.methods.adaptive.kernels.planes import Packed, differing


@leaf
def must_stay(rows: Packed, flow: Flow, i: int, w: int, bit: np.uint64) -> bool:
    """Whether a star of row i stays, since i or a person that needs it would fit too few others."""
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
    if must_stay(rows, flow, i, w, bit):
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
        more = reroute(flow, i, wide(flow.lost[number]), steps)
        if more < 0:
            undo(flow, steps)
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

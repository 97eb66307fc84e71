"""Remove stars that are not needed: pairs that need one are rerouted over other pairs.

graphveil's own refinement; Algorithms 1 and 2 of Choromanski, Jebara & Tang end with the stars of
their pairs. A star of record i in column k may go if the flow can do without the pairs that need
it, which are those whose rows differ in column k. What is left is again a flow with enough units
for all, so every chosen pair is still in a full assignment. A trial takes one search for a path for
each chosen pair that is lost.
"""

from __future__ import annotations

import numpy as np

from graphveil.core.array_types import Ints, Words
from graphveil.core.kernels.arrays import first_bit
from graphveil.core.kernels.leaf import ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.flow import (
    CHOSEN,
    FITTING,
    FREE,
    ONE_BIT,
    WORD,
    Flow,
    PairMatrix,
    is_set,
    turn_chosen,
    turn_free,
)
from graphveil.methods.adaptive.kernels.paths import reroute, undo
from graphveil.methods.adaptive.kernels.planes import Packed, differing


@leaf
def must_stay(rows: Packed, flow: Flow, i: int, w: int, bit: np.uint64) -> bool:
    """Return whether a star of row i must stay: i or a person would fit too few others.

    A quick test before the search: counts of pairs, not paths.

    Parameters
    ----------
    rows, flow
        The rows, and the flow.
    i
        The record.
    w, bit
        The word and the bit of the star's column.
    """
    # How many pairs record i could lose: what it sends beyond its need, plus free pairs that do not
    # need the star, less chosen ones that do.
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
                    # A person who loses the record needs another one, or must have passed a unit
                    # on.
                    others = np.uint64(flow.passed[j])
                    for v in range(flow.row_before.size):
                        others |= flow.words[FITTING, j, v]
                    if not others:
                        return True
    return spare < 0


@leaf
def _without(rows: Packed, stars: Words, flow: Flow, i: int, k: int) -> bool:
    """Remove the star of row i in column k if all pairs that need it can be rerouted."""
    w, lost = k >> 6, ZERO
    bit = ONE_BIT << np.uint64(k & 63)
    if must_stay(rows, flow, i, w, bit):
        return False
    # Step 1: take all pairs that need the star out of the graph; note the chosen ones, and the free
    # ones as they were.
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
    # Step 2: reroute each chosen pair that was lost.
    steps = ZERO
    for number in range(lost):
        more = reroute(flow, i, wide(flow.lost[number]), steps)
        if more < 0:
            # No path: undo the steps, then restore the chosen and the free pairs.
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
    # Step 3: all rerouted, so the star goes.
    stars[i, w] &= ~bit
    flow.changed[i] = 1
    return True


@leaf
def prune(rows: Packed, stars: Words, flow: Flow, cells: Ints) -> int:
    """Remove stars, one after the other, while every record and person keeps enough pairs.

    Parameters
    ----------
    rows
        The rows.
    stars
        uint64, shape (n, words): what is suppressed, as `cover` writes it; overwritten.
    flow
        After `load`; overwritten.
    cells
        int64, shape (m, 2): rows, and columns by their position among the bits, in the order in
        which their stars are tried.

    Returns
    -------
    int
        How many stars were removed.
    """
    gone = 0
    for number in range(cells.shape[0]):
        if _without(rows, stars, flow, cells[number, 0], cells[number, 1]):
            gone += 1
    return gone


@leaf
def prune_mutual(rows: Packed, stars: Words, pairs: PairMatrix, spare: Ints, cells: Ints) -> int:
    """Remove stars while every node keeps enough pairs that fit both ways.

    The counterpart of `prune` for Algorithm 2. No path is searched: a pair that fits both ways is
    in a full assignment, in which the two are exchanged, so degrees are enough.

    Parameters
    ----------
    rows, stars, cells
        As in `prune`.
    pairs
        int8, shape (n, n): 1 if both fit each other, 0 on the diagonal; overwritten.
    spare
        int64, shape (n,): by how many pairs every node has more than needed; overwritten.

    Returns
    -------
    int
        How many stars were removed.
    """
    n, gone = pairs.shape[0], 0
    for number in range(cells.shape[0]):
        i, w = cells[number, 0], cells[number, 1] >> 6
        bit = ONE_BIT << np.uint64(cells[number, 1] & 63)
        # Step 1: the pairs that need this star, in either direction of the pair they are lost.
        lost, can_go = 0, True
        for j in range(n):
            if pairs[i, j] and differing(rows, i, rows, j, w) & bit:
                lost += 1
                can_go = can_go and spare[j] > 0
        if not can_go or lost > spare[i]:
            continue
        # Step 2: all others have enough without them, so the star goes.
        for j in range(n):
            if pairs[i, j] and differing(rows, i, rows, j, w) & bit:
                pairs[i, j] = 0
                pairs[j, i] = 0
                spare[j] -= 1
        spare[i] -= lost
        stars[i, w] &= ~bit
        gone += 1
    return gone

"""Remove a star from all rows of a class at once, so that its rows stay equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import first_bit
from graphveil.core.kernels.leaf import ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.flow import (
    CHOSEN,
    FREE,
    ONE_BIT,
    WORD,
    Flow,
    Words,
    fits,
    is_set,
    turn_chosen,
    turn_free,
)
from graphveil.methods.adaptive.kernels.paths import reroute, undo
from graphveil.methods.adaptive.kernels.planes import Packed, differing
from graphveil.methods.adaptive.kernels.pruning import must_stay

Ints = NDArray[np.int64]


@leaf
def _give_up_pairs(
    rows: Packed, flow: Flow, i: int, k: int, lost: NDArray[np.int32], number: int
) -> int:
    """Give up the pairs of record i that need its star of column k; list those that were chosen."""
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    for word in range(flow.row_before.size):
        bits = flow.words[FREE, i, word] | flow.words[CHOSEN, i, word]
        while bits:
            j = word * WORD + first_bit(bits)
            bits &= bits - ONE_BIT
            if differing(rows, i, rows, j, w) & bit:
                if is_set(flow.words[FREE, i], j):
                    turn_free(flow, i, j)
                else:
                    turn_chosen(flow, i, j)
                    lost[number, 0], lost[number, 1] = i, j
                    number += 1
    return number


@leaf
def _restore_free(rows: Packed, stars: Words, flow: Flow, i: int, k: int) -> None:
    """Make the pairs of record i free again that fit by its star of column k and are not chosen."""
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    for j in range(flow.passed.size):
        if (
            j != i
            and differing(rows, i, rows, j, w) & bit
            and not is_set(flow.words[CHOSEN, i], j)
            and fits(rows, stars, i, j)
        ):
            turn_free(flow, i, j)


@leaf
def _without_in_class(
    rows: Packed, stars: Words, flow: Flow, members: Ints, k: int, lost: NDArray[np.int32]
) -> bool:
    """Take the stars of a column away from some rows if all that need them can be led elsewhere."""
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    for i in members:
        if must_stay(rows, flow, i, w, bit):
            return False
    number, steps = ZERO, ZERO
    for i in members:
        number = _give_up_pairs(rows, flow, i, k, lost, number)
    for one in range(number):
        more = reroute(flow, wide(lost[one, 0]), wide(lost[one, 1]), steps)
        if more < 0:
            undo(flow, steps)
            for again in range(number):
                turn_chosen(flow, wide(lost[again, 0]), wide(lost[again, 1]))
            for i in members:
                _restore_free(rows, stars, flow, i, k)
            return False
        steps = more
    for i in members:
        stars[i, w] &= ~bit
        flow.changed[i] = 1
    return True


@leaf
def prune_classes(
    rows: Packed,
    stars: Words,
    flow: Flow,
    members: Ints,
    starts: Ints,
    cells: Ints,
    lost: NDArray[np.int32],
) -> int:
    """Take stars away from all rows of a class at once where everybody keeps enough pairs.

    Parameters
    ----------
    rows, stars, flow
        As in `prune`; the rows of a class have the same stars.
    members, starts
        The rows of class a are ``members[starts[a] : starts[a + 1]]``.
    cells
        Shape (m, 2): classes, and columns by their place among the bits, in the order in which they
        are tried.
    lost
        Scratch, shape (rows of a class times n, 2).

    Returns
    -------
    int
        From how many classes a column's stars are gone.
    """
    gone = 0
    for number in range(cells.shape[0]):
        a = cells[number, 0]
        some = members[starts[a] : starts[a + 1]]
        if _without_in_class(rows, stars, flow, some, cells[number, 1], lost):
            gone += 1
    return gone

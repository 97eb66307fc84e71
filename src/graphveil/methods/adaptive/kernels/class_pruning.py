"""Remove a star from all rows of a class at once, so that its rows stay equal.

graphveil's own, for classes of equal records with pairs between them (see
`graphveil.methods.adaptive.choice`). It is `pruning`, but a star goes from every row of the class
or from none.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints, Words
from graphveil.core.kernels.arrays import first_bit
from graphveil.core.kernels.leaf import ZERO, leaf, wide
from graphveil.methods.adaptive.kernels.flow import (
    CHOSEN,
    FREE,
    ONE_BIT,
    WORD,
    Flow,
    fits,
    is_set,
    turn_chosen,
    turn_free,
)
from graphveil.methods.adaptive.kernels.paths import reroute, undo
from graphveil.methods.adaptive.kernels.planes import Packed, differing
from graphveil.methods.adaptive.kernels.pruning import must_stay


@leaf
def _give_up_pairs(
    rows: Packed, flow: Flow, i: int, k: int, lost: NDArray[np.int32], number: int
) -> int:
    """Remove the pairs of record i that need its star of column k; list those that were chosen.

    Parameters
    ----------
    rows, flow
        The rows, and the flow, which is overwritten.
    i, k
        The record, and the column by its position among the bits.
    lost
        int32, shape (m, 2): records and persons of the chosen pairs are written from `number` on.
    number
        How many are listed already; the new number is returned.
    """
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    for word in range(flow.row_before.size):
        # All pairs of the record, chosen or not, a word at a time, from the lowest bit.
        bits = flow.words[FREE, i, word] | flow.words[CHOSEN, i, word]
        while bits:
            j = word * WORD + first_bit(bits)
            bits &= bits - ONE_BIT
            if differing(rows, i, rows, j, w) & bit:
                # A free pair just goes; a chosen one is listed, as its unit must find another path.
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
    # Pairs that need the star, fit with it, and are not chosen were free before.
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
    """Remove a column's stars from a class if all pairs that need them can be rerouted."""
    w, bit = k >> 6, ONE_BIT << np.uint64(k & 63)
    # Step 1: a quick test for each row.
    for i in members:
        if must_stay(rows, flow, i, w, bit):
            return False
    # Step 2: take the pairs of all rows that need a star of this column out of the graph.
    number, steps = ZERO, ZERO
    for i in members:
        number = _give_up_pairs(rows, flow, i, k, lost, number)
    # Step 3: reroute each chosen pair that was lost; if one has no path, restore everything.
    for lost_pair in range(number):
        more = reroute(flow, wide(lost[lost_pair, 0]), wide(lost[lost_pair, 1]), steps)
        if more < 0:
            undo(flow, steps)
            for again in range(number):
                turn_chosen(flow, wide(lost[again, 0]), wide(lost[again, 1]))
            for i in members:
                _restore_free(rows, stars, flow, i, k)
            return False
        steps = more
    # Step 4: the stars go from all rows of the class.
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
    """Remove stars from all rows of a class at once while everybody keeps enough pairs.

    Parameters
    ----------
    rows, stars, flow
        As in `pruning.prune`; the rows of a class have the same stars.
    members, starts
        int64: the rows of class a are ``members[starts[a]:starts[a + 1]]``.
    cells
        int64, shape (m, 2): classes, and columns by their position among the bits, in the order in
        which they are tried.
    lost
        int32, shape (rows of the largest class times n, 2): scratch.

    Returns
    -------
    int
        From how many classes a column's stars were removed.
    """
    gone = 0
    for number in range(cells.shape[0]):
        a = cells[number, 0]
        class_rows = members[starts[a] : starts[a + 1]]
        if _without_in_class(rows, stars, flow, class_rows, cells[number, 1], lost):
            gone += 1
    return gone

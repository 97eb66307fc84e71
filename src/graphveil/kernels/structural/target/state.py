"""The state of the heuristic target: classes, neighbours and edits under flips of any pairs.

The code of a node is its degree and its triangles, ``deg << 40 | t``. A flip of a pair moves its
ends and their common neighbours. The energy of a state counts three things: what the classes below
k lack, weighted by the degree of their nodes; how far nodes are from where they are pulled; and
the edits. All are integers that a move changes in O(1), so that a trial is taken back exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numba.core.options
import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]

FREE = -1
LEFT, LACK, GAP, USED, MOVED, FRESH, SMALLEST, SHIFT = range(8)
SLOT, PULL, AIM_DEGREE, AIM_TRIANGLES = range(4)
DEGREE_BITS = 40
ONE_DEGREE = 1 << DEGREE_BITS
TRIANGLES = ONE_DEGREE - 1
DEGREE_GAP = 8
"""Triangles that a degree is worth in the distance between two codes."""

GALLOP = 8
WORD = 64
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
BIT_OF = np.zeros(WORD, dtype=np.int64)
BIT_OF[[(0x03F79D71B4CB0A89 << bit & 0xFFFFFFFFFFFFFFFF) >> 58 for bit in range(WORD)]] = range(
    WORD
)

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True}
if hasattr(getattr(numba.core.options, "DefaultOptions", None), "_nrt"):
    _OPTIONS["_nrt"] = False  # no public option of Numba's: where it is gone, kernels are slower


def leaf(kernel: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, and so needs no counts of references to arrays.

    With them a walk takes more than twice as long.
    """
    return cast("Kernel", njit(**_OPTIONS)(kernel))


class Classes(NamedTuple):
    """The classes: an open-addressing table of codes, and a log of the moves of one trial.

    Row s of ``table`` holds a code and how many nodes share it. ``node[v]`` holds the row of v's
    code, how strongly v is pulled, and the degree and triangles it is pulled to. ``weight[d]`` is
    that of nodes of degree d in classes below k. ``log`` lists the nodes moved, the rows they left
    and, in its last column, the rows first used. ``codes`` is room for the code of every node.

    ``tally`` holds the nodes in classes below k; what these lack, ``c (2k - 1 - c)`` each, times
    the weight; the sum of the gaps to the aims; the rows in use; the lengths of both logs; k, and
    the shift of the hash.
    """

    table: Ints
    node: Ints
    weight: Ints
    log: Ints
    codes: Ints
    tally: Ints


class Near(NamedTuple):
    """Sorted neighbours in place, ``neighbour[start[v] : start[v] + length[v]]``, with room.

    ``bits`` holds the same as one row of bits a node; it has no columns on sparse graphs.
    """

    start: Ints
    length: Ints
    neighbour: NDArray[np.int32]
    bits: NDArray[np.uint64]


class State(NamedTuple):
    """What a flip reads or writes, but for the list of edits."""

    classes: Classes
    near: Near


@leaf
def find(table: Ints, shift: int, code: int) -> int:
    """Return the row that holds the code, or the free row where it belongs."""
    mask = len(table) - 1
    slot = np.int64((np.uint64(code) * MULTIPLIER) >> np.uint64(shift))
    while table[slot, 0] != FREE and table[slot, 0] != code:
        slot = (slot + 1) & mask
    return int(slot)


@leaf
def gap(code: int, degree: int, triangles: int) -> int:
    """Return how far a code is from this degree and these triangles."""
    return abs((code & TRIANGLES) - triangles) + DEGREE_GAP * abs((code >> DEGREE_BITS) - degree)


@leaf
def fill(classes: Classes, codes: Ints) -> None:
    """Write the classes of these codes, one a node, into an emptied table; count them anew."""
    table, node, weight, _, _, tally = classes
    k = tally[SMALLEST]
    for slot in range(len(table)):
        table[slot, 0], table[slot, 1] = FREE, 0
    for i in range(SMALLEST):
        tally[i] = 0
    for v in range(codes.size):
        slot = find(table, tally[SHIFT], codes[v])
        tally[USED] += table[slot, 0] == FREE
        table[slot, 0] = codes[v]
        table[slot, 1] += 1
        node[v, SLOT] = slot
        tally[GAP] += node[v, PULL] * gap(codes[v], node[v, AIM_DEGREE], node[v, AIM_TRIANGLES])
    for slot in range(len(table)):
        size = table[slot, 1]
        if 0 < size < k:
            tally[LEFT] += size
            tally[LACK] += weight[table[slot, 0] >> DEGREE_BITS] * size * (2 * k - 1 - size)


@leaf
def refill(classes: Classes) -> None:
    """Drop empty classes from the table, and count anew."""
    for v in range(classes.codes.size):
        classes.codes[v] = classes.table[classes.node[v, SLOT], 0]
    fill(classes, classes.codes)


@leaf
def begin(classes: Classes) -> None:
    """Start a trial: forget the log, and drop empty classes where the table is half full."""
    classes.tally[MOVED] = 0
    classes.tally[FRESH] = 0
    if 2 * classes.tally[USED] > len(classes.table):
        refill(classes)


@leaf
def _move(table: Ints, node: Ints, weight: Ints, log: Ints, tally: Ints, v: int, step: int) -> None:
    """Change the code of v by `step`; the move is logged. The arrays are those of `Classes`."""
    k = tally[SMALLEST]
    old = node[v, SLOT]
    was = table[old, 0]
    code = was + step
    new = find(table, tally[SHIFT], code)
    if table[new, 0] == FREE:
        table[new, 0] = code
        log[tally[FRESH], 2] = new
        tally[FRESH] += 1
        tally[USED] += 1
    before, after = table[old, 1], table[new, 1] + 1
    if before < k:
        tally[LEFT] -= 1
        tally[LACK] -= weight[was >> DEGREE_BITS] * 2 * (k - before)
    elif before == k:
        tally[LEFT] += k - 1
        tally[LACK] += weight[was >> DEGREE_BITS] * k * (k - 1)
    if after < k:
        tally[LEFT] += 1
        tally[LACK] += weight[code >> DEGREE_BITS] * 2 * (k - after)
    elif after == k:
        tally[LEFT] -= k - 1
        tally[LACK] -= weight[code >> DEGREE_BITS] * k * (k - 1)
    if node[v, PULL] != 0:
        degree, triangles = node[v, AIM_DEGREE], node[v, AIM_TRIANGLES]
        tally[GAP] += node[v, PULL] * (gap(code, degree, triangles) - gap(was, degree, triangles))
    table[old, 1] = before - 1
    table[new, 1] = after
    node[v, SLOT] = new
    log[tally[MOVED], 0] = v
    log[tally[MOVED], 1] = old
    tally[MOVED] += 1


@leaf
def take_back(classes: Classes, left: int, lack: int, distance: int) -> None:
    """Take back every move since `begin`, when the tally said this of left, lack and gap."""
    table, node, _, log, _, tally = classes
    for i in range(tally[MOVED] - 1, -1, -1):
        v, old = log[i, 0], log[i, 1]
        table[node[v, SLOT], 1] -= 1
        table[old, 1] += 1
        node[v, SLOT] = old
    for i in range(tally[FRESH]):
        table[log[i, 2], 0] = FREE
    tally[USED] -= tally[FRESH]
    tally[LEFT], tally[LACK], tally[GAP] = left, lack, distance
    tally[MOVED] = 0
    tally[FRESH] = 0


@leaf
def lower_bound(values: NDArray[np.int32], low: int, high: int, value: int) -> int:
    """Return the first position in low..high whose entry is not below the value."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@leaf
def adjacent(near: Near, v: int, w: int) -> bool:
    """Return whether v and w are joined; within a trial, its flips so far included."""
    if near.bits.shape[1] > 0:
        return bool(near.bits[v, w >> 6] >> np.uint64(w & 63) & np.uint64(1))
    if near.length[v] > near.length[w]:
        v, w = w, v
    end = near.start[v] + near.length[v]
    at = lower_bound(near.neighbour, near.start[v], end, w)
    return bool(at < end and near.neighbour[at] == w)


@leaf
def _move_common(state: State, v: int, w: int, step: int) -> int:
    """Change the code of every common neighbour of v and w by `step`; return how many."""
    table, node, weight, log, _, tally = state.classes
    start, length, neighbour, bits = state.near
    common = 0
    for word in range(bits.shape[1]):
        both = bits[v, word] & bits[w, word]
        while both != np.uint64(0):
            lowest = both & (~both + np.uint64(1))
            u = WORD * word + BIT_OF[np.int64((lowest * DE_BRUIJN) >> np.uint64(58))]
            _move(table, node, weight, log, tally, u, step)
            both ^= lowest
            common += 1
    if bits.shape[1] > 0:
        return common
    if length[v] > length[w]:
        v, w = w, v
    i, i_end = start[v], start[v] + length[v]
    j, j_end = start[w], start[w] + length[w]
    gallop = length[w] > GALLOP * length[v]
    while i < i_end and j < j_end:
        if gallop:
            j = lower_bound(neighbour, j, j_end, neighbour[i])
            if j == j_end:
                break
        one, other = neighbour[i], neighbour[j]
        if one == other:
            _move(table, node, weight, log, tally, int(np.int64(one)), step)
            common += 1
        i += one <= other
        j += other <= one
    return common


@leaf
def shift(state: State, v: int, w: int) -> None:
    """Move the codes as flipping the pair does; the neighbours stay as they are."""
    table, node, weight, log, _, tally = state.classes
    sign = -1 if adjacent(state.near, v, w) else 1
    step = sign * (ONE_DEGREE + _move_common(state, v, w, sign))
    _move(table, node, weight, log, tally, v, step)
    _move(table, node, weight, log, tally, w, step)


@leaf
def _link(near: Near, v: int, w: int) -> None:
    """Put w into the row of v, which has room, or take it out where it is there."""
    start, length, neighbour = near.start[v], near.length[v], near.neighbour
    end = start + length
    at = lower_bound(neighbour, start, end, w)
    if at < end and neighbour[at] == w:
        for i in range(at, end - 1):
            neighbour[i] = neighbour[i + 1]
        near.length[v] = length - 1
    else:
        for i in range(end, at, -1):
            neighbour[i] = neighbour[i - 1]
        neighbour[at] = w
        near.length[v] = length + 1


@leaf
def turn(near: Near, v: int, w: int) -> None:
    """Flip the pair where trials look: in the bits, or in the lists where there are none."""
    if near.bits.shape[1] > 0:
        near.bits[v, w >> 6] ^= np.uint64(1) << np.uint64(w & 63)
        near.bits[w, v >> 6] ^= np.uint64(1) << np.uint64(v & 63)
    else:
        _link(near, v, w)
        _link(near, w, v)


@leaf
def settle(near: Near, v: int, w: int) -> None:
    """Flip the pair in the lists as well, once `turn` flipped the bits for good."""
    if near.bits.shape[1] > 0:
        _link(near, v, w)
        _link(near, w, v)


@njit(cache=True, nogil=True)
def count(state: State, out: Ints) -> None:
    """Write into out[v] the code of v, counted from the neighbour lists."""
    start, length, neighbour, _ = state.near
    mark = np.full(out.size, -1, dtype=np.int64)
    for v in range(out.size):
        for i in range(start[v], start[v] + length[v]):
            mark[neighbour[i]] = v
        corners = 0
        for i in range(start[v], start[v] + length[v]):
            w = neighbour[i]
            for j in range(start[w], start[w] + length[w]):
                corners += mark[neighbour[j]] == v
        out[v] = length[v] * ONE_DEGREE + corners // 2

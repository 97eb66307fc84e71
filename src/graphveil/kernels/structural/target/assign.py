"""Where nodes are pulled: to the nearest class of k, or together with their likes."""

from __future__ import annotations

import numpy as np
from numba import njit

from graphveil.kernels.structural.classes import (
    AIM_DEGREE,
    AIM_TRIANGLES,
    DEGREE_BITS,
    DEGREE_GAP,
    GAP,
    PULL,
    SLOT,
    TRIANGLES,
    Classes,
    Ints,
    K,
    gap,
)
from graphveil.kernels.structural.rows import first_not_below

FAR = 1 << 62
CLASS_REACH = 12
GROUP_REACH = 25
GROUP_LOOKS = 2_000


@njit(cache=True, nogil=True)
def _nearest_class(codes: Ints, code: int) -> tuple[int, int]:
    """Return the distance to the nearest of these sorted codes, within reach, and the code."""
    best, chosen = FAR, code
    degree, triangles = code >> DEGREE_BITS, code & TRIANGLES
    for change in range(CLASS_REACH + 1):
        if DEGREE_GAP * change >= best:
            break
        for other in (degree - change, degree + change):
            if other < 0:
                continue
            at = first_not_below(codes, 0, codes.size, other << DEGREE_BITS | triangles)
            for i in (at - 1, at):
                if 0 <= i < codes.size and codes[i] >> DEGREE_BITS == other:
                    here = gap(codes[i], degree, triangles)
                    if here < best:
                        best, chosen = here, codes[i]
    return best, chosen


@njit(cache=True, nogil=True)
def _gather(codes: Ints, assigned: Ints, first: int, limit: int, group: Ints) -> int:
    """Write into `group` the first and the nearest free positions after it; return their distance.

    The codes descend by degree. FAR where there are too few within reach, or beyond the limit.
    """
    code = codes[first]
    degree, triangles = code >> DEGREE_BITS, code & TRIANGLES
    distance = np.full(group.size, FAR, dtype=np.int64)
    distance[0] = 0
    group[0] = first
    last = group.size - 1
    for i in range(first + 1, min(codes.size, first + GROUP_LOOKS)):
        change = degree - (codes[i] >> DEGREE_BITS)
        if change > GROUP_REACH or DEGREE_GAP * change >= distance[last]:
            break
        here = gap(codes[i], degree, triangles)
        if assigned[i] != 0 or here >= distance[last]:
            continue
        at = last
        while at > 1 and distance[at - 1] > here:
            distance[at], group[at] = distance[at - 1], group[at - 1]
            at -= 1
        distance[at], group[at] = here, i
    total = np.int64(0)
    for i in range(group.size):
        if distance[i] == FAR:
            return FAR
        total += distance[i]
        if total >= limit:
            return FAR
    return int(total)


@njit(cache=True, nogil=True)
def _medoid(codes: Ints, group: Ints) -> int:
    """Return the code of the group that is nearest to all others."""
    best, chosen = FAR, codes[group[0]]
    for i in group:
        total = np.int64(0)
        for j in group:
            total += gap(codes[j], codes[i] >> DEGREE_BITS, codes[i] & TRIANGLES)
        if total < best:
            best, chosen = int(total), codes[i]
    return int(chosen)


@njit(cache=True, nogil=True)
def _pull(classes: Classes, v: int, strength: int, code: int) -> None:
    """Pull v to this code, and keep the sum of the gaps."""
    node, tally = classes.node, classes.tally
    now = classes.table[node[v, SLOT], 0]
    tally[GAP] -= node[v, PULL] * gap(now, node[v, AIM_DEGREE], node[v, AIM_TRIANGLES])
    node[v, PULL] = strength
    node[v, AIM_DEGREE], node[v, AIM_TRIANGLES] = code >> DEGREE_BITS, code & TRIANGLES
    tally[GAP] += strength * gap(now, code >> DEGREE_BITS, code & TRIANGLES)


@njit(cache=True, nogil=True)
def assign(classes: Classes, lowest: int, highest: int, strength: int) -> None:
    """Pull nodes with degrees lowest..highest to where they can be anonymous; others are free.

    Writes the aims and the sum of the gaps. A protected node stays, with this strength. The others,
    by descending degree: to the nearest class of k, or together with their nearest likes, whichever
    is cheaper a node.
    """
    table, node, k = classes.table, classes.node, classes.rule[K]
    small = 0
    for v in range(len(node)):
        code, size = table[node[v, SLOT]]
        pulled = lowest <= code >> DEGREE_BITS <= highest
        _pull(classes, v, strength if pulled and size >= k else 0, code)
        small += pulled and size < k
    free = np.empty(small, dtype=np.int64)
    codes = np.empty(small, dtype=np.int64)
    at = 0
    for v in range(len(node)):
        code, size = table[node[v, SLOT]]
        if lowest <= code >> DEGREE_BITS <= highest and size < k:
            free[at], codes[at] = v, -code
            at += 1
    order = np.argsort(codes, kind="mergesort")
    _assign_in_order(classes, free[order], -codes[order])


@njit(cache=True, nogil=True)
def _assign_in_order(classes: Classes, free: Ints, codes: Ints) -> None:
    """Pull these nodes, whose codes descend, one after the other."""
    table, k = classes.table, classes.rule[K]
    populated = np.sort(table[:, 0][table[:, 1] >= k])
    assigned = np.zeros(free.size, dtype=np.int64)
    group = np.empty(k, dtype=np.int64)
    for i in range(free.size):
        if assigned[i] != 0:
            continue
        alone, target = _nearest_class(populated, codes[i])
        together = _gather(codes, assigned, i, FAR if alone == FAR else k * alone, group)
        if together == FAR:
            assigned[i] = 1
            _pull(classes, free[i], 1 if alone < FAR else 0, target)
            continue
        target = _medoid(codes, group)
        for j in group:
            assigned[j] = 1
            _pull(classes, free[j], 1, target)

"""Where nodes are pulled: to the nearest class of k, or together with their likes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.kernels.leaf import leaf
from graphveil.kernels.structural.classes import (
    AIM_DEGREE,
    AIM_TRIANGLES,
    DEGREE_BITS,
    DEGREE_GAP,
    GAP,
    PULL,
    SLOT,
    TRIANGLES,
    Ints,
    K,
    NodeClasses,
    gap,
)
from graphveil.kernels.structural.rows import first_not_below
from graphveil.kernels.tiers import tiered

FAR = 1 << 62
FOREIGN = 1 << 23
"""From here on two codes are no likes: colors of nodes stand in bits above those of triangles."""

CLASS_REACH = 12
GROUP_REACH = 25
GROUP_LOOKS = 2_000


class Free(NamedTuple):
    """The unprotected nodes that are pulled, by descending code, and room to group them.

    ``assigned`` tells who is pulled already. ``group`` and ``distance`` are room for k of them.
    """

    nodes: Ints
    codes: Ints
    assigned: Ints
    group: Ints
    distance: Ints


@leaf
def _nearest_class(codes: Ints, code: int) -> tuple[int, int]:
    """Return the distance to the nearest of these sorted codes, within reach, and the code."""
    best, chosen = FAR, code
    degree, triangles = code >> DEGREE_BITS, code & TRIANGLES
    for change in range(CLASS_REACH + 1):
        if DEGREE_GAP * change >= best:
            break
        for sign in range(-1, 2, 2):
            other = degree + sign * change
            if other < 0:
                continue
            at = first_not_below(codes, 0, codes.size, other << DEGREE_BITS | triangles)
            for i in range(max(at - 1, 0), min(at + 1, codes.size)):
                if codes[i] >> DEGREE_BITS == other:
                    here = gap(codes[i], degree, triangles)
                    if here < min(best, FOREIGN):
                        best, chosen = here, codes[i]
    return best, chosen


@leaf
def _gather(free: Free, first: int, limit: int) -> int:
    """Write into the group the first and the nearest free positions behind; return how far.

    The codes descend by degree. FAR where there are too few within reach, or beyond the limit.
    """
    codes, assigned, group, distance = free.codes, free.assigned, free.group, free.distance
    degree, triangles = codes[first] >> DEGREE_BITS, codes[first] & TRIANGLES
    last = group.size - 1
    for i in range(group.size):
        distance[i] = FAR
    distance[0], group[0] = 0, first
    for i in range(first + 1, min(codes.size, first + GROUP_LOOKS)):
        change = degree - (codes[i] >> DEGREE_BITS)
        if change > GROUP_REACH or DEGREE_GAP * change >= distance[last]:
            break
        here = gap(codes[i], degree, triangles)
        if assigned[i] != 0 or here >= min(distance[last], FOREIGN):
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


@leaf
def _medoid(codes: Ints, group: Ints) -> int:
    """Return the code of the group that is nearest to all others."""
    best, chosen = FAR, codes[group[0]]
    for i in range(group.size):
        code, total = codes[group[i]], np.int64(0)
        for j in range(group.size):
            total += gap(codes[group[j]], code >> DEGREE_BITS, code & TRIANGLES)
        if total < best:
            best, chosen = int(total), code
    return int(chosen)


@leaf
def _pull(classes: NodeClasses, v: int, strength: int, code: int) -> None:
    """Pull v to this code, and keep the sum of the gaps."""
    node, tally = classes.node, classes.tally
    now = classes.table[node[v, SLOT], 0]
    tally[GAP] -= node[v, PULL] * gap(now, node[v, AIM_DEGREE], node[v, AIM_TRIANGLES])
    node[v, PULL] = strength
    node[v, AIM_DEGREE], node[v, AIM_TRIANGLES] = code >> DEGREE_BITS, code & TRIANGLES
    tally[GAP] += strength * gap(now, code >> DEGREE_BITS, code & TRIANGLES)


def _steps_of_aims(
    classes: NodeClasses, _lowest: int, _highest: int, _strength: int, free: Free, _populated: Ints
) -> int:
    """Return about how many steps it takes to look at all nodes, and at the likes of the free."""
    return 8 * len(classes.node) + free.nodes.size * min(free.nodes.size, GROUP_LOOKS)


@tiered(_steps_of_aims)
@leaf
def assign(
    classes: NodeClasses, lowest: int, highest: int, strength: int, free: Free, populated: Ints
) -> None:
    """Pull nodes with degrees lowest..highest to where they can be anonymous; others are free.

    Writes the aims and the sum of the gaps. A protected node stays, with this strength. The others,
    by descending degree: to the nearest of the classes of k, whose codes are sorted, or together
    with their nearest likes, whichever is cheaper a node.
    """
    table, node, k = classes.table, classes.node, classes.rule[K]
    for v in range(len(node)):
        code, size = table[node[v, SLOT], 0], table[node[v, SLOT], 1]
        pulled = lowest <= code >> DEGREE_BITS <= highest and size >= k
        _pull(classes, v, strength if pulled else 0, code)
    nodes, codes, assigned, group, _ = free
    for i in range(nodes.size):
        if assigned[i] != 0:
            continue
        alone, target = _nearest_class(populated, codes[i])
        together = _gather(free, i, FAR if alone == FAR else k * alone)
        if together == FAR:
            assigned[i] = 1
            _pull(classes, nodes[i], 1 if alone < FAR else 0, target)
            continue
        target = _medoid(codes, group)
        for j in range(group.size):
            assigned[group[j]] = 1
            _pull(classes, nodes[group[j]], 1, target)

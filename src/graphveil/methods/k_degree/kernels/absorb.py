"""Steps 4 to 6 of the realization: settled nodes absorb single units, edges are re-routed."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.kernels.arrays import below, sort
from graphveil.core.kernels.leaf import MINUS_ONE, ONE, allocating, leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.methods.k_degree.kernels.edits import (
    DegreeClasses,
    DegreeEdits,
    adjacent,
    cut,
    make,
    state_of,
    still_there,
)

Ints = NDArray[np.int64]

NEAR_TRIES = 24
NEAR_FAILURES = 16


@leaf
def _can_rise(edits: DegreeEdits, classes: DegreeClasses, x: int, k: int) -> bool:
    t = classes.target[x]
    return bool(edits.residual[x] == 0 and classes.members[t] > k and classes.members[t + 1] >= k)


@leaf
def _can_fall(edits: DegreeEdits, classes: DegreeClasses, x: int, k: int, lowest: int) -> bool:
    t = classes.target[x]
    return bool(
        edits.residual[x] == 0
        and classes.members[t] > k
        and t % classes.span > lowest
        and classes.members[t - 1] >= k
    )


@leaf
def _move(edits: DegreeEdits, classes: DegreeClasses, x: int, by: int) -> None:
    """Let node x into the neighboring class."""
    t = classes.target[x]
    classes.members[t] -= 1
    classes.members[t + by] += 1
    classes.target[x] = t + by
    edits.residual[x] += by


@leaf
def _near_riser(edits: DegreeEdits, classes: DegreeClasses, v: int, k: int, rng: Generator) -> int:
    """Return an untouched node that may rise by an edge to v, found by random walks, or -1."""
    indptr, indices = edits.indptr, edits.indices
    if indptr[v + 1] == indptr[v]:
        return -1
    for attempt in range(2 * NEAR_TRIES):
        x = int(v)
        for _step in range(2 if attempt < NEAR_TRIES else 4):
            x = wide(indices[indptr[x] + below(rng, indptr[x + 1] - indptr[x])])
        if not edits.touched[x] and _can_rise(edits, classes, x, k) and not adjacent(edits, v, x):
            return x
    return -1


@leaf
def _some_class_can_rise(classes: DegreeClasses, k: int) -> bool:
    for t in range(classes.members.size - 2):
        if classes.members[t] > k and classes.members[t + 1] >= k:
            return True
    return False


@leaf
def _rise(edits: DegreeEdits, classes: DegreeClasses, v: int, x: int) -> None:
    """Join x to v and let it into the next class."""
    if edits.final.size == 0:
        _move(edits, classes, x, ONE)
        make(edits, v, x)
        return
    t = classes.target[x]
    classes.members[t] -= 1
    classes.members[t + 1] += 1
    classes.target[x] = t + 1
    edits.final[edits.tally[2]] = min(v, x) * edits.residual.size + max(v, x)
    edits.tally[2] += 1
    edits.residual[v] -= 1
    edits.touched[v], edits.touched[x] = True, True


@leaf
def _bar(edits: DegreeEdits, v: int, final: Ints, barred: NDArray[np.int8], by: int) -> None:
    """Bar (by 1) or admit (by -1) v, its neighbors in the graph and in these final additions."""
    barred[v] += by
    for j in range(edits.indptr[v], edits.indptr[v + 1]):
        barred[edits.indices[j]] += by
    n = edits.residual.size
    for key in final:
        barred[key % n if key // n == v else key // n] += by


@leaf
def _go_round(
    edits: DegreeEdits,
    classes: DegreeClasses,
    v: int,
    k: int,
    order: Ints,
    cursor: Ints,
    barred: NDArray[np.int8],
) -> int:
    """Let nodes rise by edges to v, once round; returns the last one, or -1."""
    n = order.size
    members = classes.members
    last = -1
    for _step in range(n):
        if edits.residual[v] == 0:
            break
        x = order[cursor[0]]
        fresh = cursor[1] == 0
        cursor[0] += 1
        if cursor[0] == n:
            cursor[0] = 0
            cursor[1] += 1
        if barred[x] > 0 or (fresh and edits.touched[x]):
            continue
        t = classes.target[x]
        if members[t] <= k or members[t + 1] < k:
            continue
        if not fresh and state_of(edits, v, x) > 0:
            continue
        _rise(edits, classes, v, x)
        last = x
    return last


@leaf
def _absorb_anywhere(
    edits: DegreeEdits,
    classes: DegreeClasses,
    v: int,
    first: int,
    k: int,
    order: Ints,
    cursor: Ints,
    barred: NDArray[np.int8],
) -> int:
    """Go round until v is owed nothing or nothing helps; returns the last riser, or -1."""
    last = -1
    while edits.residual[v] > 0:
        early = cursor[1] == 0
        mine = edits.final[first : edits.tally[2]]
        _bar(edits, v, mine, barred, ONE)
        x = _go_round(edits, classes, v, k, order, cursor, barred)
        _bar(edits, v, mine, barred, MINUS_ONE)
        if x >= 0:
            last = x
        elif not early:
            break
    return last


@allocating
def absorb_owed(
    edits: DegreeEdits,
    classes: DegreeClasses,
    left: Ints,
    k: int,
    near_units: int,
    order: Ints,
    rng: Generator,
) -> Ints:
    """Join nodes that are owed edges to settled ones, which rise to the next class.

    Up to `near_units` a node are sought near it. Returns the last step as (node, absorber, 1).
    """
    last = np.zeros(3, dtype=np.int64)
    cursor = np.zeros(2, dtype=np.int64)
    barred = np.zeros(order.size, dtype=np.int8)
    barred[left] = 1
    for v in left:
        first = edits.tally[2]
        failed = 0
        for _unit in range(min(edits.residual[v], near_units)):
            x = _near_riser(edits, classes, v, k, rng)
            if x >= 0:
                _rise(edits, classes, v, x)
                last[0], last[1], last[2] = v, x, 1
            else:
                failed += 1
            if failed == NEAR_FAILURES:
                break
        x = _absorb_anywhere(edits, classes, v, first, k, order, cursor, barred)
        if x >= 0:
            last[0], last[1], last[2] = v, x, 1
        if edits.residual[v] > 0 and not _some_class_can_rise(classes, k):
            break
    return last


@leaf
def _fall_alone(
    edits: DegreeEdits, classes: DegreeClasses, v: int, k: int, lowest: int, start: int, last: Ints
) -> None:
    """Part v from settled neighbors, each of which falls to a class of at least k."""
    first = edits.indptr[v]
    size = edits.indptr[v + 1] - first
    for again in (False, True):
        at = start
        for _step in range(size):
            if edits.residual[v] == 0:
                return
            x = wide(edits.indices[first + at])
            at = at + 1 if at + 1 < size else 0
            if (
                (again or not edits.touched[x])
                and _can_fall(edits, classes, x, k, lowest)
                and still_there(edits, v, x)
            ):
                _move(edits, classes, x, MINUS_ONE)
                cut(edits, v, x)
                last[0], last[1], last[2] = v, x, -1


@allocating
def _fall_together(
    edits: DegreeEdits, classes: DegreeClasses, v: int, k: int, lowest: int, start: int
) -> None:
    """Part v from settled neighbors of one class, so many that the class below reaches k."""
    first = edits.indptr[v]
    size = edits.indptr[v + 1] - first
    eligible = np.empty(size, dtype=np.int64)
    cells = np.empty(size, dtype=np.int64)
    there = 0
    for step in range(size):
        at = start + step
        x = wide(edits.indices[first + (at if at < size else at - size)])
        t = classes.target[x]
        if (
            edits.residual[x] == 0
            and t % classes.span > lowest
            and classes.members[t - 1] - edits.residual[v] >= k
            and still_there(edits, v, x)
        ):
            eligible[there], cells[there] = x, t
            there += 1
    sort(cells[:there])
    end = there
    while end > 0 and edits.residual[v] < 0:
        t = cells[end - 1]
        begin = end - 1
        while begin > 0 and cells[begin - 1] == t:
            begin -= 1
        count = min(end - begin, -edits.residual[v])
        end = begin
        if count < classes.members[t]:
            count = min(count, classes.members[t] - k)
        if count <= 0 or classes.members[t - 1] + count < k:
            continue
        for step in range(there):
            x = eligible[step]
            if count > 0 and x >= 0 and classes.target[x] == t:
                _move(edits, classes, x, MINUS_ONE)
                cut(edits, v, x)
                eligible[step] = -1
                count -= 1


@tiered()
@allocating
def absorb_surplus(
    edits: DegreeEdits, classes: DegreeClasses, left: Ints, k: int, rng: Generator
) -> Ints:
    """Part nodes that have too many edges from settled ones, which fall to the next class.

    A node is isolated only if there is nothing else. Returns the last step of a lone fall.
    """
    last = np.zeros(3, dtype=np.int64)
    for v in left:
        start = below(rng, edits.indptr[v + 1] - edits.indptr[v])
        for lowest in (1, 0):
            if edits.residual[v] < 0:
                _fall_alone(edits, classes, v, k, lowest, start, last)
            if edits.residual[v] < 0:
                _fall_together(edits, classes, v, k, lowest, start)
    return last


@leaf
def undo_absorption(edits: DegreeEdits, classes: DegreeClasses, last: Ints, k: int) -> None:
    """Take back one step of `absorb_owed` or `absorb_surplus`, if the classes allow it."""
    v, x, sign = last
    t = classes.target[x]
    if sign == 0 or classes.members[t] <= k or classes.members[t - sign] < k:
        return
    if sign > 0:
        cut(edits, v, x)
    else:
        make(edits, v, x)
    _move(edits, classes, x, -sign)


PAIR_TRIES = 400
PAIR_LOOKS = 1 << 20
PAIR_FAILURES = 64


@leaf
def rotate(edits: DegreeEdits, surplus: Ints, owed: Ints, rng: Generator) -> None:
    """Hand edges over: part (u, x) and join (w, x) while u has too many and w too few."""
    residual = edits.residual
    for u in surplus:
        first = edits.indptr[u]
        size = edits.indptr[u + 1] - first
        failed = 0
        for w in owed:
            if residual[u] >= 0 or failed == 16:
                break
            start = below(rng, size)
            for step in range(size):
                if residual[u] >= 0 or residual[w] <= 0:
                    break
                x = wide(edits.indices[first + (start + step) % size])
                if still_there(edits, u, x) and not adjacent(edits, w, x):
                    cut(edits, u, x)
                    make(edits, w, x)
            failed += residual[w] > 0


@leaf
def _pair_owed(edits: DegreeEdits, v: int, w: int, rng: Generator) -> bool:
    """Open an edge (x, y) of the graph and join its ends to v and w."""
    indptr, indices = edits.indptr, edits.indices
    n = indptr.size - 1
    start = below(rng, n)
    for step in range(PAIR_TRIES + n):
        x = below(rng, n) if step < PAIR_TRIES else (start + step) % n
        size = indptr[x + 1] - indptr[x]
        if size == 0 or adjacent(edits, v, x):
            continue
        turn = below(rng, size)
        for j in range(1 if step < PAIR_TRIES else size):
            y = wide(indices[indptr[x] + (turn + j) % size])
            if y != v and x != w and still_there(edits, x, y) and not adjacent(edits, w, y):
                cut(edits, x, y)
                make(edits, v, x)
                make(edits, w, y)
                return True
    return False


@leaf
def _pair_surplus(edits: DegreeEdits, v: int, w: int, rng: Generator) -> bool:
    """Close (x, y) between a neighbor of v and one of w, and part both from them."""
    indptr, indices = edits.indptr, edits.indices
    v_size, w_size = indptr[v + 1] - indptr[v], indptr[w + 1] - indptr[w]
    v_turn, w_turn = below(rng, v_size), below(rng, w_size)
    looks = 0
    for i in range(v_size):
        x = wide(indices[indptr[v] + (v_turn + i) % v_size])
        if x == w or not still_there(edits, v, x):
            continue
        looks += w_size
        if looks > PAIR_LOOKS + w_size:
            return False
        for j in range(w_size):
            y = wide(indices[indptr[w] + (w_turn + j) % w_size])
            if y != v and still_there(edits, w, y) and not adjacent(edits, x, y):
                cut(edits, v, x)
                cut(edits, w, y)
                make(edits, x, y)
                return True
    return False


@leaf
def _pair_mixed(edits: DegreeEdits, u: int, w: int, rng: Generator) -> bool:
    """Part (u, x) and (z, y), join (x, z) and (y, w)."""
    indptr, indices = edits.indptr, edits.indices
    n = indptr.size - 1
    for _try in range(8 * PAIR_TRIES):
        x = wide(indices[indptr[u] + below(rng, indptr[u + 1] - indptr[u])])
        z = below(rng, n)
        if indptr[z + 1] == indptr[z] or adjacent(edits, x, z) or not still_there(edits, u, x):
            continue
        y = wide(indices[indptr[z] + below(rng, indptr[z + 1] - indptr[z])])
        if still_there(edits, z, y) and not adjacent(edits, y, w):
            cut(edits, u, x)
            make(edits, x, z)
            cut(edits, z, y)
            make(edits, y, w)
            return True
    return False


@leaf
def pair(edits: DegreeEdits, left: Ints, rng: Generator) -> None:
    """Pay two units a time by three edits, or by four where the signs differ; may give up."""
    residual = edits.residual
    failures = 0
    for i in range(left.size):
        v = left[i]
        for j in range(i, left.size):
            w = left[j]
            while True:
                both = 2 if v == w else 1
                if residual[v] >= both and residual[w] >= both:
                    paid = _pair_owed(edits, v, w, rng)
                elif residual[v] <= -both and residual[w] <= -both:
                    paid = _pair_surplus(edits, v, w, rng)
                elif residual[v] < 0 < residual[w]:
                    paid = _pair_mixed(edits, v, w, rng)
                elif residual[w] < 0 < residual[v]:
                    paid = _pair_mixed(edits, w, v, rng)
                else:
                    break
                if not paid:
                    failures += 1
                    break
            if failures == PAIR_FAILURES:
                return
            if residual[v] == 0:
                break

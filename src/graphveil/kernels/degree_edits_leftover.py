"""Steps 4-6 of the realisation: what no match could pay, by other nodes' help."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from graphveil.kernels.degree_edits import Classes, Edits, adjacent, cut, make, state_of

NEAR_TRIES = 24
NEAR_UNITS = 64
PAIR_TRIES = 400


@njit(cache=True)
def rotate(
    edits: Edits, surplus: NDArray[np.int64], owed: NDArray[np.int64], rng: np.random.Generator
) -> None:
    """Hand edges over: part (u, x) and join (w, x) while u has too many and w too few."""
    residual = edits.residual
    for u in surplus:
        first = edits.indptr[u]
        size = edits.indptr[u + 1] - first
        failed = 0
        for w in owed:
            if residual[u] >= 0 or failed == 16:
                break
            start = rng.integers(0, size)
            for step in range(size):
                if residual[u] >= 0 or residual[w] <= 0:
                    break
                x = edits.indices[first + (start + step) % size]
                if adjacent(edits, u, x) and not adjacent(edits, w, x):
                    cut(edits, u, x)
                    make(edits, w, x)
            failed += residual[w] > 0


@njit(cache=True)
def _can_rise(edits: Edits, classes: Classes, x: int, k: int) -> bool:
    t = classes.target[x]
    return (
        edits.residual[x] == 0
        and t + 1 < edits.indptr.size - 1
        and classes.members[t] > k
        and classes.members[t + 1] >= k
    )


@njit(cache=True)
def _can_fall(edits: Edits, classes: Classes, x: int, k: int) -> bool:
    t = classes.target[x]
    return (
        edits.residual[x] == 0 and t > 0 and classes.members[t] > k and classes.members[t - 1] >= k
    )


@njit(cache=True)
def _move(edits: Edits, classes: Classes, x: int, by: int) -> None:
    """Let node x into the neighbouring class."""
    t = classes.target[x]
    classes.members[t] -= 1
    classes.members[t + by] += 1
    classes.target[x] = t + by
    edits.residual[x] += by


@njit(cache=True)
def _near_riser(edits: Edits, classes: Classes, v: int, k: int, rng: np.random.Generator) -> int:
    """Return an untouched node that may rise by an edge to v, or -1.

    Random walks from v: of two steps first, then of four, which stay in its component at least.
    """
    indptr, indices = edits.indptr, edits.indices
    if indptr[v + 1] == indptr[v]:
        return np.int64(-1)
    for attempt in range(2 * NEAR_TRIES):
        x = np.int64(v)
        for _step in range(2 if attempt < NEAR_TRIES else 4):
            x = np.int64(indices[rng.integers(indptr[x], indptr[x + 1])])
        if not edits.touched[x] and _can_rise(edits, classes, x, k) and not adjacent(edits, v, x):
            return x
    return np.int64(-1)


@njit(cache=True)
def _some_class_can_rise(classes: Classes, k: int) -> bool:
    members = classes.members
    for t in range(members.size - 2):
        if members[t] > k and members[t + 1] >= k:
            return True
    return False


@njit(cache=True)
def _absorb_anywhere(
    edits: Edits,
    classes: Classes,
    v: int,
    enough: int,
    k: int,
    order: NDArray[np.int64],
    cursor: NDArray[np.int64],
    joined: NDArray[np.bool_],
) -> int:
    """Let nodes rise by edges to v until it is owed `enough`, going round in this order.

    Returns the last one, or -1.

    The cursor holds the place in the order and the round; untouched nodes alone rise in round 0.
    `joined` is a buffer, all false before and after.
    """
    indptr, indices = edits.indptr, edits.indices
    n = order.size
    last = np.int64(-1)
    for j in range(indptr[v], indptr[v + 1]):
        joined[indices[j]] = True
    joined[v] = True
    for _step in range(2 * n):
        if edits.residual[v] == enough:
            break
        x = order[cursor[0]]
        fresh = cursor[1] == 0
        cursor[0] += 1
        if cursor[0] == n:
            cursor[0] = 0
            cursor[1] += 1
        if joined[x] or not _can_rise(edits, classes, x, k):
            continue
        if edits.touched[x] and (fresh or state_of(edits, v, x) > 0):
            continue
        _move(edits, classes, x, 1)
        make(edits, v, x)
        last = x
    for j in range(indptr[v], indptr[v + 1]):
        joined[indices[j]] = False
    joined[v] = False
    return last


@njit(cache=True)
def absorb_owed(
    edits: Edits,
    classes: Classes,
    left: NDArray[np.int64],
    k: int,
    near: bool,
    order: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Join nodes that are owed edges to settled ones, which rise to the next class.

    Returns the last step as (node, absorber, 1), or zeros. The order holds every node once.
    """
    last = np.zeros(3, dtype=np.int64)
    cursor = np.zeros(2, dtype=np.int64)
    joined = np.zeros(order.size, dtype=np.bool_)
    for v in left:
        near_units = NEAR_UNITS if near else 0
        while edits.residual[v] > 0:
            x = np.int64(-1)
            if near_units > 0:
                x = _near_riser(edits, classes, v, k, rng)
                near_units -= 1
            if x >= 0:
                _move(edits, classes, x, 1)
                make(edits, v, x)
            else:
                enough = edits.residual[v] - 1 if near_units > 0 else np.int64(0)
                x = _absorb_anywhere(edits, classes, v, enough, k, order, cursor, joined)
            if x < 0:
                break
            last[0], last[1], last[2] = v, x, 1
        if edits.residual[v] > 0 and not _some_class_can_rise(classes, k):
            break
    return last


@njit(cache=True)
def absorb_surplus(
    edits: Edits,
    classes: Classes,
    left: NDArray[np.int64],
    k: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Part nodes that have too many edges from settled ones, which fall to the next class.

    Untouched nodes first; a node is isolated only if there is nothing else. Returns the last step
    as (node, absorber, -1), or zeros.
    """
    last = np.zeros(3, dtype=np.int64)
    for v in left:
        first = edits.indptr[v]
        size = edits.indptr[v + 1] - first
        start = rng.integers(0, size)
        for attempt in range(4):
            again, isolate = attempt % 2 == 1, attempt >= 2
            for step in range(size):
                if edits.residual[v] == 0:
                    break
                x = np.int64(edits.indices[first + (start + step) % size])
                if (
                    (again or not edits.touched[x])
                    and (isolate or classes.target[x] > 1)
                    and _can_fall(edits, classes, x, k)
                    and adjacent(edits, v, x)
                ):
                    _move(edits, classes, x, -1)
                    cut(edits, v, x)
                    last[0], last[1], last[2] = v, x, -1
    return last


@njit(cache=True)
def undo_absorption(edits: Edits, classes: Classes, last: NDArray[np.int64]) -> None:
    """Take back one step of `absorb_owed` or `absorb_surplus`."""
    v, x, sign = last
    if sign > 0:
        cut(edits, v, x)
    else:
        make(edits, v, x)
    _move(edits, classes, x, -sign)


@njit(cache=True)
def _pair_owed(edits: Edits, v: int, w: int, rng: np.random.Generator) -> bool:
    """Open an edge (x, y) of the graph and join its ends to v and w."""
    indptr, indices = edits.indptr, edits.indices
    n = indptr.size - 1
    start = rng.integers(0, n)
    for step in range(PAIR_TRIES + n):
        x = rng.integers(0, n) if step < PAIR_TRIES else (start + step) % n
        size = indptr[x + 1] - indptr[x]
        if size == 0 or adjacent(edits, v, x):
            continue
        turn = rng.integers(0, size)
        for j in range(1 if step < PAIR_TRIES else size):
            y = np.int64(indices[indptr[x] + (turn + j) % size])
            if y != v and x != w and adjacent(edits, x, y) and not adjacent(edits, w, y):
                cut(edits, x, y)
                make(edits, v, x)
                make(edits, w, y)
                return True
    return False


@njit(cache=True)
def _pair_surplus(edits: Edits, v: int, w: int, rng: np.random.Generator) -> bool:
    """Close (x, y) between a neighbour of v and one of w, and part both from them."""
    indptr, indices = edits.indptr, edits.indices
    v_size, w_size = indptr[v + 1] - indptr[v], indptr[w + 1] - indptr[w]
    v_turn, w_turn = rng.integers(0, v_size), rng.integers(0, w_size)
    for i in range(v_size):
        x = np.int64(indices[indptr[v] + (v_turn + i) % v_size])
        if x == w or not adjacent(edits, v, x):
            continue
        for j in range(w_size):
            y = np.int64(indices[indptr[w] + (w_turn + j) % w_size])
            if y != v and adjacent(edits, w, y) and not adjacent(edits, x, y):
                cut(edits, v, x)
                cut(edits, w, y)
                make(edits, x, y)
                return True
    return False


@njit(cache=True)
def _pair_mixed(edits: Edits, u: int, w: int, rng: np.random.Generator) -> bool:
    """Part (u, x) and (z, y), join (x, z) and (y, w)."""
    indptr, indices = edits.indptr, edits.indices
    n = indptr.size - 1
    for _try in range(8 * PAIR_TRIES):
        x = np.int64(indices[rng.integers(indptr[u], indptr[u + 1])])
        z = rng.integers(0, n)
        if indptr[z + 1] == indptr[z] or adjacent(edits, x, z) or not adjacent(edits, u, x):
            continue
        y = np.int64(indices[rng.integers(indptr[z], indptr[z + 1])])
        if adjacent(edits, z, y) and not adjacent(edits, y, w):
            cut(edits, u, x)
            make(edits, x, z)
            cut(edits, z, y)
            make(edits, y, w)
            return True
    return False


@njit(cache=True)
def pair(edits: Edits, left: NDArray[np.int64], rng: np.random.Generator) -> None:
    """Pay two units a time by three edits, or by four where the signs differ."""
    residual = edits.residual
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
                    break
            if residual[v] == 0:
                break

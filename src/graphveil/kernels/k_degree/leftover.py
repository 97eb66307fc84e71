"""Steps 4 and 6 of the realization: what no match could pay, by re-routing edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.draws import below
from graphveil.kernels.k_degree.edits import DegreeEdits, adjacent, cut, make, still_there
from graphveil.kernels.leaf import leaf, wide

PAIR_TRIES = 400
PAIR_LOOKS = 1 << 20
PAIR_FAILURES = 64


@leaf
def rotate(
    edits: DegreeEdits,
    surplus: NDArray[np.int64],
    owed: NDArray[np.int64],
    rng: np.random.Generator,
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
def _pair_owed(edits: DegreeEdits, v: int, w: int, rng: np.random.Generator) -> bool:
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
def _pair_surplus(edits: DegreeEdits, v: int, w: int, rng: np.random.Generator) -> bool:
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
def _pair_mixed(edits: DegreeEdits, u: int, w: int, rng: np.random.Generator) -> bool:
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
def pair(edits: DegreeEdits, left: NDArray[np.int64], rng: np.random.Generator) -> None:
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

"""Steps 4 to 6 of the realization: units that nodes with the same need cannot pay for each other.

Step 5, absorption: a *settled* node, whose residual is 0, takes the other end of an edge and moves
to the class next to its own. At least k nodes must stay in the class that it leaves, and at least k
be in the one that it joins, so that the sequence stays anonymous. One edit pays one unit.
`absorb_owed` adds edges (nodes *rise*), `absorb_surplus` deletes them (nodes *fall*), and
`undo_absorption` takes the last of them back if step 6 needs an even number of units.

Step 4, `rotate`, moves an edge from a node with too many to one with too few. Step 6, `pair`, pays
two units by three edits that leave all other degrees alone (four, if the units differ in sign).

None of these steps is in Liu and Terzi. All work on the state of `edits.py`: `DegreeEdits` and
`DegreeClasses`, which they change in place. `left`, `surplus` and `owed` are lists of nodes
(int64), `order` a random order of all nodes (int64). The costs are bounded by the constants below,
and by the neighbors of the nodes with units.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
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

NEAR_TRIES = 24
"""Step 5: how many random walks of two steps, and as many of four, look for a node near v.

Unbounded, the walks of hubs do not end in any reasonable time: with 10 million edges and k = 50 a
run had not finished after 150 s. A node near v keeps components apart that a random one would join.
"""
NEAR_FAILURES = 16
"""Step 5: after this many units of one node without a node near it, the rest goes anywhere."""


@leaf
def _can_rise(edits: DegreeEdits, classes: DegreeClasses, x: int, k: int) -> bool:
    """Return whether x is settled and may join the class above, so that both keep k nodes."""
    t = classes.target[x]
    return bool(edits.residual[x] == 0 and classes.members[t] > k and classes.members[t + 1] >= k)


@leaf
def _can_fall(edits: DegreeEdits, classes: DegreeClasses, x: int, k: int, lowest: int) -> bool:
    """Return whether x is settled and may join the class below, from a degree above `lowest`."""
    t = classes.target[x]
    return bool(
        edits.residual[x] == 0
        and classes.members[t] > k
        and t % classes.span > lowest
        and classes.members[t - 1] >= k
    )


@leaf
def _move(edits: DegreeEdits, classes: DegreeClasses, x: int, by: int) -> None:
    """Move node x into the class above (by 1) or below (by -1); its residual changes as much."""
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
    # Walks of two steps first, then of four; each step goes to a random neighbor in the graph.
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
    """Add the edge of v and x, and move x to the class above."""
    # With deletions, later steps may touch the edge, so it goes into the hash.
    if edits.final.size == 0:
        _move(edits, classes, x, ONE)
        make(edits, v, x)
        return
    # With additions alone this is the last step, so the edge is only logged; x stays settled.
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
    """Bar (by 1) or admit (by -1) v, its neighbors in the graph and in these final additions.

    `barred` (int8, shape (n,)) counts how often a node is barred; nodes with units always are.
    """
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
    """Let nodes rise by edges to v, at most once round all nodes; return the last one, or -1.

    `cursor` (int64, shape (2,)) holds the position in `order`, which goes on from v to v, and how
    often the order was gone through. In the first round only untouched nodes rise, so that as few
    nodes as possible take more than one edge.
    """
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
        # Skip v itself, its neighbors, and nodes with units (all barred), so that x is settled. The
        # first round skips every touched node; later ones only those that an edit joined to v.
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
    """Go round until v lacks nothing or nothing helps; return the last node that rose, or -1.

    Another round is tried only after the first of all, which passes over touched nodes. `first` is
    where the final additions of v begin.
    """
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
    """Step 5, positive units: add edges to settled nodes, which rise to the class above.

    `left` lists the nodes that lack edges. Up to `near_units` of each are sought near it by random
    walks, then all by going through `order`. Returns the last absorption as (node, absorber, 1),
    int64, or zeros.
    """
    last = np.zeros(3, dtype=np.int64)
    cursor = np.zeros(2, dtype=np.int64)
    barred = np.zeros(order.size, dtype=np.int8)
    barred[left] = 1
    for v in left:
        # Near v, by random walks over the graph.
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
        # Anywhere, in a random order that all nodes share.
        x = _absorb_anywhere(edits, classes, v, first, k, order, cursor, barred)
        if x >= 0:
            last[0], last[1], last[2] = v, x, 1
        # If no class can spare a node, none of the following nodes will find one.
        if edits.residual[v] > 0 and not _some_class_can_rise(classes, k):
            break
    return last


@leaf
def _fall_alone(
    edits: DegreeEdits, classes: DegreeClasses, v: int, k: int, lowest: int, start: int, last: Ints
) -> None:
    """Delete edges of v to settled neighbors, each of which falls to a class of at least k.

    Neighbors are gone through from number `start` on, first those that no edit touched. Writes the
    last absorption into `last` as (node, absorber, -1).
    """
    first = edits.indptr[v]
    size = edits.indptr[v + 1] - first
    # Twice round all neighbors: a node that an edit has touched is taken in the second round only,
    # so that as few nodes as possible lose more than one edge.
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
    """Delete edges of v to settled neighbors of one class, so many that the class below reaches k.

    For v in classes that no single node may join. `residual[v]` is negative: the class below may
    lack as many nodes as v has units.
    """
    # Neighbors whose class below would have k nodes if v's units all went there.
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
    # Class by class, the highest first: as many as v has units and as the class can spare, or all
    # of it; enough for the class below to reach k.
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
    """Step 5, negative units: delete edges to settled neighbors, which fall to the class below.

    `left` lists the nodes that have too many edges. A node is isolated only if there is nothing
    else. Returns the last absorption by a single node as (node, absorber, -1), int64, or zeros.
    """
    last = np.zeros(3, dtype=np.int64)
    for v in left:
        start = below(rng, edits.indptr[v + 1] - edits.indptr[v])
        # First without isolating neighbors of degree 1 (lowest = 1), then with.
        for lowest in (1, 0):
            if edits.residual[v] < 0:
                _fall_alone(edits, classes, v, k, lowest, start, last)
            if edits.residual[v] < 0:
                _fall_together(edits, classes, v, k, lowest, start)
    return last


@leaf
def undo_absorption(edits: DegreeEdits, classes: DegreeClasses, last: Ints, k: int) -> None:
    """Take back one step of `absorb_owed` or `absorb_surplus`, if the classes allow it.

    `last` is (node, absorber, sign) as they return it; sign 0 does nothing.
    """
    v, x, sign = last
    t = classes.target[x]
    if sign == 0 or classes.members[t] <= k or classes.members[t - sign] < k:
        return
    # Take back the edit, which leaves v and x with a unit each, and move x back, which pays its
    # own.
    if sign > 0:
        cut(edits, v, x)
    else:
        make(edits, v, x)
    _move(edits, classes, x, -sign)


PAIR_TRIES = 400
"""Step 6: how many random edges are tried for two positive units before all nodes are gone through.

For two units of different sign 8 times as many are tried, and nothing else.
"""
PAIR_LOOKS = 1 << 20
"""Step 6: how many pairs of neighbors are looked at for two negative units, about."""
PAIR_FAILURES = 64
"""Step 6: how many pairs of nodes may fail before it ends.

Larger values let a run end well more often, in more time. How these three were chosen is not
recorded.
"""


@leaf
def rotate(edits: DegreeEdits, surplus: Ints, owed: Ints, rng: Generator) -> None:
    """Step 4: delete (u, x) and add (w, x) while u has too many edges and w too few.

    Two edits pay two units. Such an x exists whenever u has more neighbors than w. A node u is left
    for step 6 after 16 nodes w that it could not serve, so that the nodes u do not all try all w;
    how 16 was chosen is not recorded.
    """
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
    """Delete an edge (x, y) of the graph, add (v, x) and (w, y); v and w may be the same node.

    Random edges first, then all nodes x from a random one on with all their neighbors.
    """
    indptr, indices = edits.indptr, edits.indices
    n = indptr.size - 1
    start = below(rng, n)
    for step in range(PAIR_TRIES + n):
        x = below(rng, n) if step < PAIR_TRIES else (start + step) % n
        size = indptr[x + 1] - indptr[x]
        if size == 0 or adjacent(edits, v, x):
            continue
        turn = below(rng, size)
        # One random neighbor y of a random x; of the nodes in turn, all neighbors.
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
    """Delete (v, x) and (w, y), add (x, y), for neighbors x of v and y of w without an edge."""
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
    """Delete (u, x) and (z, y), add (x, z) and (y, w): u has too many edges, w too few."""
    indptr, indices = edits.indptr, edits.indices
    n = indptr.size - 1
    for _try in range(8 * PAIR_TRIES):
        # A neighbor x of u that keeps its degree: it loses u and gains z, a random node. So does z,
        # which loses a neighbor y, and y, which gains w.
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
    """Step 6: pay two units at a time by three edits, or by four if the signs differ; may fail.

    `left` lists the nodes with units in random order; each is paired with itself and the nodes
    after it until it has none left.
    """
    residual = edits.residual
    failures = 0
    for i in range(left.size):
        v = left[i]
        for j in range(i, left.size):
            w = left[j]
            while True:
                # A node that is paired with itself gives two units.
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

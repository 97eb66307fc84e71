"""The values of any measure at any distance, kept up to date while a walk joins and parts pairs.

Codes of degrees and triangles (`classes`) suffice for three measures at distance 1. For all others
the state M(v) of the paper's Table 1 is represented by two 64-bit integers per node, whose sum, cut
to 63 bits, is the code of the node:

- its *sum*: sizes of the neighborhood (exact), or the sum of a hash of each degree in it (vrq);
- its *shape*: a hash of the degrees inside the neighborhood (degree-distribution), or of the colors
  of its nodes after two rounds of color refinement (dk); hybrid has a sum and a shape.

Equal neighborhoods have equal values. Different ones have different values but for collisions of
hashes, and, for colors, but for neighborhoods that refinement cannot distinguish. So a walk may
count too few nodes as unprotected. The caller counts its best state exactly.

A trial turns up to eight pairs. `turn` changes the lists, adds to the sums what can be added, and
notes which nodes need their sum or shape computed again; `settle` does that once per node, and
moves the nodes to their new classes. `restore` brings back the values if the trial is refused.
Which nodes are affected is the set A_M of Table 1, or smaller: nodes whose value cannot change are
skipped.

Cost of a trial: O(deg v + deg w) for sums at distance 1; two searches of the neighborhoods of v and
w beyond; plus the neighborhood of every node whose shape is computed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.kernels.leaf import leaf, wide
from graphveil.core.kernels.tiers import tiered
from graphveil.measures.kernels.neighborhoods import (
    STEP,
    Ball,
    ColorBuffers,
    mixed,
    steps_of_balls,
)
from graphveil.methods.annealing.kernels.classes import (
    NeighborRows,
    NodeClasses,
    common_of,
    move,
    toggle,
)

# Entries of `Values.rule`; kinds of sums, and of shapes (0 is `NOTHING`); columns of
# `Values.value`; bits of the flags of a node in `Values.pending`.
DISTANCE, SUMS, SHAPES, BY_NODE, BY_EDGE = range(5)
NOTHING, SIZES, DEGREES = range(3)
INSIDE, COLORS = 1, 2
SUM, SHAPE, WORK = range(3)
MOVED, SUM_AGAIN, SHAPE_AGAIN, WORK_AGAIN = 1, 2, 4, 8
ROUNDS = 2
"""Rounds of color refinement after the first coloring.

Colors begin with the degree inside the neighborhood, which an extra round would give. More rounds
distinguish more neighborhoods, and cost a pass over each of its edges.
"""
STIR = np.uint64(0xD6E8FEB86659FD93)
"""An odd multiplier that makes hashes of shapes unlike those of degrees, to which they are added.
"""


@leaf
def fill_from_rows(rows: NeighborRows, center: int, distance: int, ball: Ball) -> int:
    """Write the nodes within this distance of the center into the ball; return how many.

    The same as `fill_ball` of the measures, over lists with room. The caller sets `place` back to
    -1.
    """
    start, length, neighbor, _ = rows
    nodes, hops, place = ball
    nodes[0], hops[0] = center, 0
    place[center] = 0
    size, head = 1, 0
    # Breadth-first: nodes at the distance itself are not followed further.
    while head < size and hops[head] < distance:
        x = nodes[head]
        for at in range(start[x], start[x] + length[x]):
            y = neighbor[at]
            if place[y] < 0:
                nodes[size] = y
                hops[size] = hops[head] + 1
                place[y] = size
                size += 1
        head += 1
    return size


@leaf
def _degree_inside(rows: NeighborRows, i: int, distance: int, ball: Ball) -> int:
    """Return how many neighbors the node at position i of the ball has inside it."""
    x = ball.nodes[i]
    # All neighbors of a node that is not at the rim are inside.
    if ball.hops[i] < distance:
        return int(np.int64(rows.length[x]))
    inside = 0
    for at in range(rows.start[x], rows.start[x] + rows.length[x]):
        inside += ball.place[rows.neighbor[at]] >= 0
    return inside


@leaf
def hashed(degree: int) -> int:
    """Return what a degree adds to a sum: 64 mixed bits, as an integer that wraps round."""
    return np.int64(mixed(np.uint64(degree)))  # type: ignore[return-value]  # it wraps round


@leaf
def look_at(
    rows: NeighborRows,
    rule: Ints,
    v: int,
    what: int,
    value: Ints,
    ball: Ball,
    room: ColorBuffers | None,
) -> None:
    """Compute the sum of v, its shape, or its work anew from its neighborhood, and write it.

    Parameters
    ----------
    rows
        The neighbor lists. Read.
    rule
        What values are made of. Read.
    v
        The node.
    what
        Which to compute: bits `SUM_AGAIN`, `SHAPE_AGAIN`, `WORK_AGAIN`.
    value
        int64, shape (n, 3): row v is written. The work is the sum of the degrees in the
        neighborhood.
    ball, room
        Room; the ball is empty before and after.
    """
    size = fill_from_rows(rows, v, rule[DISTANCE], ball)
    if what & SUM_AGAIN:
        value[v, SUM] = _sum_of(rows, rule, size, ball)
    if what & WORK_AGAIN:
        value[v, WORK] = 0
        for i in range(size):
            value[v, WORK] += rows.length[ball.nodes[i]]
    if what & SHAPE_AGAIN:
        value[v, SHAPE] = _shape_of(rows, rule, size, ball, room)
    for i in range(size):
        ball.place[ball.nodes[i]] = -1


@leaf
def _sum_of(rows: NeighborRows, rule: Ints, size: int, ball: Ball) -> int:
    """Return the sum of the neighborhood in the ball.

    A sum of sizes is what a node adds times the nodes, plus what an edge adds times the edges.
    """
    total = np.int64(0)
    if rule[SUMS] != SIZES:
        for i in range(size):
            total += hashed(rows.length[ball.nodes[i]])
        return int(total)
    if rule[BY_EDGE] != 0:
        for i in range(size):
            total += _degree_inside(rows, i, rule[DISTANCE], ball)
    return int(rule[BY_NODE] * size + rule[BY_EDGE] * (total // 2))


@leaf
def _shape_of(
    rows: NeighborRows, rule: Ints, size: int, ball: Ball, room: ColorBuffers | None
) -> int:
    """Return the hash of the shape of the ball.

    At distance 1 the center is joined to all others, so that the neighborhood without it says the
    same, and is cheaper. The center is taken out of `place`; `nodes` still holds it.
    """
    first = 1 if rule[DISTANCE] == 1 else 0
    if first == 1:
        ball.place[ball.nodes[0]] = -1
    if room is not None:
        _color(rows, first, size, room)
    # The sum of hashes does not depend on the order in which nodes were met.
    total = mixed(np.uint64(size))
    for i in range(first, size):
        if room is not None:
            total += mixed(room.color[i])
        else:
            total += mixed(np.uint64(_degree_inside(rows, i, rule[DISTANCE], ball)))
    return int(np.int64(mixed(total) * STIR))


@leaf
def _color(rows: NeighborRows, first: int, size: int, room: ColorBuffers) -> None:
    """Color the nodes at positions first..size - 1 of the ball, by refinement.

    The first color is the distance from the center and the degree inside; each round adds the
    hashed colors of the neighbors. `room.start` and `room.ends` get the neighbor lists by position.
    """
    ball, start, ends, color, before = room
    start[first] = 0
    filled = 0
    # Step 1: neighbor lists inside the ball, and the first color of each node.
    for i in range(first, size):
        x = ball.nodes[i]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            j = ball.place[rows.neighbor[at]]
            if j >= 0:
                ends[filled] = j
                filled += 1
        start[i + 1] = filled
        color[i] = (np.uint64(ball.hops[i]) << np.uint64(32)) + np.uint64(filled - start[i])
    # Step 2: refine. Without edges the first colors say all.
    for _ in range(ROUNDS if filled > 0 else 0):
        for i in range(first, size):
            before[i] = mixed(color[i])
        for i in range(first, size):
            total = before[i] * STEP
            for at in range(start[i], start[i + 1]):
                total += before[ends[at]]
            color[i] = total


LARGEST = np.int64(2**63 - 1)
"""Codes are cut to 63 bits: `FREE`, the empty row of the table of classes, is below 0."""
FAR = 1 << 30
"""Hops to a node that a search has not reached."""
# Columns of `Values.before`; columns of `Values.pending`.
TOUCHED, SUM_BEFORE, SHAPE_BEFORE = range(3)
FLAGS, DELTA = range(2)


class Reach(NamedTuple):
    """Room for a search from each end of a pair.

    Parameters
    ----------
    hops
        int64, shape (2, n): distances from the first and from the second end; `FAR` before and
        after.
    queue
        int64, shape (2, n): the nodes reached from each, by rising distance.
    """

    hops: Ints
    queue: Ints


class Values(NamedTuple):
    """What the values of nodes are made of, the values, and what the trial at hand has touched.

    All arrays but those in `ball` and `room` are int64.

    Parameters
    ----------
    rule
        Shape (5,): the ``DISTANCE``, the kind of ``SUMS`` and of ``SHAPES``, and what a node
        (``BY_NODE``) and an edge (``BY_EDGE``) add to a sum of sizes. Fixed.
    value
        Shape (n, 3): ``SUM`` and ``SHAPE`` of every node, written by `evaluate`, `settle` and
        `restore`; ``WORK``, about the steps to compute them anew, written by `evaluate` alone.
    before
        Shape (n, 3): of the first ``tally[0]`` rows, a node that the trial touched and its sum and
        shape before it. Written by `turn` and `settle`.
    pending
        Shape (n, 2): what is to be done with a node (``FLAGS``) and what is added to its sum
        (``DELTA``). Written by `turn`; all 0 after `settle`.
    tally
        Shape (1,): the nodes touched by the trial.
    turns
        Shape (4, 3): room for the pairs of one edit: see `pooled.make`.
    ball
        Room for one neighborhood.
    room
        Room for its colors, or None without them.
    reach
        Room for two searches, or None at distance 1.
    """

    rule: Ints
    value: Ints
    before: Ints
    pending: Ints
    tally: Ints
    turns: Ints
    ball: Ball
    room: ColorBuffers | None
    reach: Reach | None


@tiered(lambda rows, values, _codes: steps_of_balls(rows.length, values.rule[DISTANCE]))
@leaf
def evaluate(rows: NeighborRows, values: Values, codes: Ints) -> None:
    """Compute the values of all nodes, their work, and their codes.

    Parameters
    ----------
    rows
        The neighbor lists. Read.
    values
        `value` is written.
    codes
        int64, shape (n,): written.
    """
    rule, value = values.rule, values.value
    what = WORK_AGAIN
    what |= SUM_AGAIN if rule[SUMS] != NOTHING else 0
    what |= SHAPE_AGAIN if rule[SHAPES] != NOTHING else 0
    for v in range(len(value)):
        look_at(rows, rule, v, what, value, values.ball, values.room)
        codes[v] = (value[v, SUM] + value[v, SHAPE]) & LARGEST


@leaf
def _add(values: Values, x: int, what: int, amount: int) -> None:
    """Note what is to be done with x, and by how much its sum changes; list x once per trial."""
    pending = values.pending
    if pending[x, FLAGS] == 0:
        values.before[values.tally[0], TOUCHED] = x
        values.tally[0] += 1
    pending[x, FLAGS] |= what
    pending[x, DELTA] += amount


@leaf
def turn(rows: NeighborRows, values: Values, v: int, w: int, sign: int) -> None:
    """Join v and w (sign 1) or part them (-1) in the lists, and note what that does to the values.

    The note is always taken in the graph without the edge, so that joining and parting are
    opposites.
    """
    if sign < 0:
        toggle(rows, v, w)
    _note_turn(rows, values, values.reach, v, w, sign)
    if sign > 0:
        toggle(rows, v, w)


@leaf
def _note_turn(
    rows: NeighborRows, values: Values, reach: Reach | None, v: int, w: int, sign: int
) -> None:
    """Note what the turn does to the values, at distance 1 or farther."""
    # What the degrees of v and w add to sums once the edge is there, and by how much that differs.
    later = hashed(rows.length[v] + 1), hashed(rows.length[w] + 1)
    of_v = sign * (later[0] - hashed(rows.length[v]))
    of_w = sign * (later[1] - hashed(rows.length[w]))
    if reach is None:
        _note_beside(rows, values, (v, w), (of_v, of_w, sign), later)
    else:
        _note_around(rows, values, reach, (v, w), (of_v, of_w, sign))


@leaf
def _note_beside(
    rows: NeighborRows,
    values: Values,
    ends: tuple[int, int],
    steps: tuple[int, int, int],
    later: tuple[int, int],
) -> None:
    """Note the turn at distance 1, in the graph without the edge.

    Parameters
    ----------
    rows, values
        `values.pending` and `values.before` are written.
    ends
        v and w.
    steps
        By how much the hash of the degree of v, and of w, changes; and the sign of the turn.
    later
        The hashes of their degrees with the edge.
    """
    rule, (v, w), sign = values.rule, ends, steps[2]
    again = SHAPE_AGAIN if rule[SHAPES] != NOTHING else 0
    # Sizes and shapes: a common neighbor has one edge more or less in its neighborhood. Each end
    # has one node, the edge to it, and its edges to the common neighbors.
    if rule[SUMS] == SIZES or again:
        what = again | (MOVED if rule[SUMS] == SIZES else 0)
        common = common_of(rows, v, w)
        for i in range(common):
            _add(values, int(np.int64(rows.common[i])), what, sign * rule[BY_EDGE])
        step = sign * (rule[BY_NODE] + (common + 1) * rule[BY_EDGE])
        _add(values, v, what, step)
        _add(values, w, what, step)
    # Sums of degrees: the degree of an end changes for itself and all its neighbors, and the other
    # end gains or loses it as a whole.
    if rule[SUMS] != NOTHING and rule[SUMS] != SIZES:
        for which in range(2):
            end, other_end = (v, w) if which == 0 else (w, v)
            here, step = rows.length[end], steps[0] if which == 0 else steps[1]
            _add(values, end, wide(MOVED), step)
            for at in range(rows.start[end], rows.start[end] + here):
                _add(values, int(np.int64(rows.neighbor[at])), wide(MOVED), step)
            _add(values, other_end, wide(MOVED), sign * (later[0] if which == 0 else later[1]))


@leaf
def _search(rows: NeighborRows, reach: Reach, which: int, center: int, distance: int) -> int:
    """Search from one end: write its hops and its queue; return how many nodes are in reach."""
    hops, queue = reach
    hops[which, center], queue[which, 0] = 0, center
    size, head = 1, 0
    # Breadth-first, up to the distance.
    while head < size and hops[which, queue[which, head]] < distance:
        x = queue[which, head]
        for at in range(rows.start[x], rows.start[x] + rows.length[x]):
            y = rows.neighbor[at]
            if hops[which, y] == FAR:
                hops[which, y] = hops[which, x] + 1
                queue[which, size] = y
                size += 1
        head += 1
    return size


@leaf
def _note_around(
    rows: NeighborRows,
    values: Values,
    reach: Reach,
    ends: tuple[int, int],
    steps: tuple[int, int, int],
) -> None:
    """Note the turn at distance 2 or more, for every node that reaches v or w without the edge.

    Parameters
    ----------
    rows, values
        `values.pending` and `values.before` are written.
    reach
        Room for the two searches.
    ends
        v and w.
    steps
        As for `_note_beside`.
    """
    hops, queue = reach
    distance = values.rule[DISTANCE]
    from_v = _search(rows, reach, 0, ends[0], distance)
    from_w = _search(rows, reach, 1, ends[1], distance)
    # Every node that one of the searches reached, once.
    for i in range(from_v + from_w):
        x = queue[0, i] if i < from_v else queue[1, i - from_v]
        to_v, to_w = hops[0, x], hops[1, x]
        if i < from_v or to_v == FAR:
            _note_far(values, x, (to_v, to_w), steps)
    # Leave the room as it was.
    for i in range(from_v + from_w):
        if i < from_v:
            hops[0, queue[0, i]] = FAR
        else:
            hops[1, queue[1, i - from_v]] = FAR


@leaf
def _note_far(values: Values, x: int, hops: tuple[int, int], steps: tuple[int, int, int]) -> None:
    """Note what the turn does to x, given its distances to v and w without the edge.

    Three cases. The edge is a shortcut for x (``crosses``): nodes enter or leave its neighborhood,
    and all is computed anew. Both ends are in its neighborhood anyway (``both``): it has one edge
    more or less. Else only the degrees of the ends that it sees change.
    """
    rule, distance = values.rule, values.rule[DISTANCE]
    # A shortcut: the nearer end is within the distance, and the other is more than one hop farther.
    low, high = min(hops[0], hops[1]), max(hops[0], hops[1])
    crosses, both = low < distance and high > low + 1, high <= distance
    what, amount = 0, 0
    if rule[SHAPES] != NOTHING and (both or crosses):
        what |= SHAPE_AGAIN
    if rule[SUMS] != NOTHING and crosses:
        what |= SUM_AGAIN
    # Sizes without a shortcut: one edge, if both ends are inside.
    elif rule[SUMS] == SIZES:
        if both:
            what |= MOVED
            amount = steps[2] * rule[BY_EDGE]
    # Sums of degrees without a shortcut: the changed degrees of the ends inside.
    elif rule[SUMS] != NOTHING:
        what |= MOVED
        amount += steps[0] if hops[0] != FAR else 0
        amount += steps[1] if hops[1] != FAR else 0
    if what != 0:
        _add(values, x, what, amount)


@leaf
def settle(rows: NeighborRows, values: Values, classes: NodeClasses) -> None:
    """Bring the values of all touched nodes up to date, and move them to their new classes."""
    value, before, pending = values.value, values.before, values.pending
    for i in range(values.tally[0]):
        x = before[i, TOUCHED]
        # Keep the values for `restore`.
        before[i, SUM_BEFORE], before[i, SHAPE_BEFORE] = value[x, SUM], value[x, SHAPE]
        code = (value[x, SUM] + value[x, SHAPE]) & LARGEST
        # Add what could be added; compute the rest anew from the lists, which are complete by now.
        if not pending[x, FLAGS] & SUM_AGAIN:
            value[x, SUM] += pending[x, DELTA]
        again = pending[x, FLAGS] & (SUM_AGAIN | SHAPE_AGAIN)
        if again:
            look_at(rows, values.rule, x, again, value, values.ball, values.room)
        pending[x, FLAGS], pending[x, DELTA] = 0, 0
        step = ((value[x, SUM] + value[x, SHAPE]) & LARGEST) - code
        if step != 0:
            move(classes, x, step)


@leaf
def restore(values: Values) -> None:
    """Give the nodes of the last trial the values that they had before it."""
    for i in range(values.tally[0]):
        x = values.before[i, TOUCHED]
        values.value[x, SUM] = values.before[i, SUM_BEFORE]
        values.value[x, SHAPE] = values.before[i, SHAPE_BEFORE]


def _steps_of_work(rows: NeighborRows, values: Values, v: int, w: int, _sign: int) -> int:
    """Return about how many steps it takes to note what the turn of a pair does."""
    if values.rule[DISTANCE] > 1:
        return int(rows.length.sum())
    return 5 * int(rows.length[v] + rows.length[w]) + 50


@tiered(_steps_of_work)
@leaf
def work_of(rows: NeighborRows, values: Values, v: int, w: int, sign: int) -> int:
    """Return roughly how many steps it takes to turn the pair; all is as before afterwards.

    Used to decide how many proposals fit into a run. The pair must be an edge if sign is -1.
    """
    values.tally[0] = 0
    turn(rows, values, v, w, sign)
    toggle(rows, v, w)
    work = int(rows.length[v] + rows.length[w])
    for i in range(values.tally[0]):
        x = values.before[i, TOUCHED]
        again = values.pending[x, FLAGS] & (SUM_AGAIN | SHAPE_AGAIN)
        work += int(values.value[x, WORK]) if again else 1
        values.pending[x, FLAGS], values.pending[x, DELTA] = 0, 0
    return work

"""The state of the heuristic target: neighbours with room, classes, edits, and the best so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.kernels.structural.target import edits as edits_kernel
from graphveil.kernels.structural.target import moves
from graphveil.kernels.structural.target import state as kernel
from graphveil.methods.structural.state import count_left
from graphveil.methods.structural.task import Edited, Task

ROOM = 32
"""Places of a node beyond half as many again as its degree."""

MOST_BITS = 20_000
"""The most nodes whose neighbours are held as bits, too."""

FEWEST_WORDS = 16


class Field(NamedTuple):
    """Everything that the kernels read and write."""

    state: kernel.State
    edits: edits_kernel.Edits
    listed: moves.Listed


def field_of(task: Task) -> Field:
    """Return the state without edits, in which every node weighs 1 and none is pulled."""
    graph = task.graph
    near = _near(graph)
    room = 2 * int((near.start[1:] - near.start[:-1]).max(initial=0)) + 4
    state = kernel.State(_classes(task, moves.MOST_FLIPS * room), near)
    kernel.count(state, state.classes.codes)
    kernel.fill(state.classes, state.classes.codes)
    edits = _edits(task.budget)
    edits.tally[edits_kernel.BEST_LEFT] = state.classes.tally[kernel.LEFT]
    listed = moves.Listed(
        waiting=np.empty(graph.n_nodes, dtype=np.int64),
        trial=np.empty(moves.MOST_FLIPS, dtype=np.int64),
        tally=np.zeros(2, dtype=np.int64),
    )
    return Field(state, edits, listed)


def _near(graph: Graph) -> kernel.Near:
    """Return the neighbour lists with room for edges to come; bits where rows are long."""
    n, degree = graph.n_nodes, graph.degrees()
    room = np.minimum(degree + degree // 2 + ROOM, n + 1)
    start = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(room)))
    neighbour = np.zeros(int(start[-1]), dtype=np.int32)
    row = np.repeat(np.arange(n), degree)
    neighbour[np.arange(graph.indices.size) + (start[:-1] - graph.indptr[:-1])[row]] = graph.indices
    words = -(-n // kernel.WORD)
    if n > MOST_BITS or words > max(FEWEST_WORDS, 2 * graph.n_edges // max(n, 1)):
        words = 0
    bits = np.zeros((n, words), dtype=np.uint64)
    if words:
        one = np.uint64(1) << (graph.indices & 63).astype(np.uint64)
        np.bitwise_or.at(bits, (row, graph.indices >> 6), one)
    return kernel.Near(start, degree.copy(), neighbour, bits)


def _classes(task: Task, room: int) -> kernel.Classes:
    """Return an empty table with room for every node and for what one trial may add."""
    n = task.graph.n_nodes
    size = (4 * max(n, room)).bit_length()
    tally = np.zeros(8, dtype=np.int64)
    tally[kernel.SMALLEST], tally[kernel.SHIFT] = task.k, 64 - size
    return kernel.Classes(
        table=np.full((1 << size, 2), kernel.FREE, dtype=np.int64),
        node=np.zeros((n, 4), dtype=np.int64),
        weight=np.ones(n + 1, dtype=np.int64),
        log=np.empty((room, 3), dtype=np.int64),
        codes=np.empty(n, dtype=np.int64),
        tally=tally,
    )


def _edits(budget: int) -> edits_kernel.Edits:
    """Return no edits, and room for a budget of them."""
    most = budget + 2 * moves.MOST_FLIPS
    bits = (4 * most).bit_length()
    tally = np.zeros(6, dtype=np.int64)
    tally[edits_kernel.KEPT], tally[edits_kernel.SHIFT] = edits_kernel.OPEN, 64 - bits
    return edits_kernel.Edits(
        pairs=np.empty(most, dtype=np.int64),
        table=np.full((1 << bits, 2), kernel.FREE, dtype=np.int64),
        log=np.empty(max(most, 1 << 16), dtype=np.int64),
        kept=np.empty(most, dtype=np.int64),
        tally=tally,
    )


def present(field: Field) -> NDArray[np.int64]:
    """Return the pairs in which the present state differs from the input, sorted."""
    edits = field.edits
    return np.sort(edits.pairs[: edits.tally[edits_kernel.CHANGED]])


def best(field: Field) -> NDArray[np.int64]:
    """Return the pairs in which the best state differs from the input, sorted."""
    edits, tally = field.edits, field.edits.tally
    kept = tally[edits_kernel.KEPT]
    then = present(field) if kept == edits_kernel.OPEN else edits.kept[:kept]
    flipped, times = np.unique(edits.log[: tally[edits_kernel.LOGGED]], return_counts=True)
    return np.setxor1d(then, flipped[times % 2 == 1])


def go_to(field: Field, changed: NDArray[np.int64]) -> None:
    """Make the state with these edits the present one; the best stays the best."""
    edits_kernel.flip_all(field.state, field.edits, np.setxor1d(present(field), changed))


def begin_at(field: Field, changed: NDArray[np.int64]) -> None:
    """Make the state with these edits the present and the best one, whatever was better."""
    go_to(field, changed)
    tally = field.edits.tally
    tally[edits_kernel.LOGGED], tally[edits_kernel.KEPT] = 0, edits_kernel.OPEN
    tally[edits_kernel.BEST_LEFT] = field.state.classes.tally[kernel.LEFT]
    tally[edits_kernel.BEST_CHANGED] = tally[edits_kernel.CHANGED]


def edited_of(task: Task, field: Field) -> Edited:
    """Return the best state's edits, its nodes left counted again without the kernels.

    Raises
    ------
    AssertionError
        Where the count differs from the kernel's: a bug of ours.
    """
    graph, n = task.graph, max(task.graph.n_nodes, 1)
    pairs = np.stack((best(field) >> 32, best(field) & 0xFFFFFFFF), axis=1).astype(np.int32)
    edges = graph.edges().astype(np.int64)
    was_edge = np.isin(
        pairs[:, 0].astype(np.int64) * n + pairs[:, 1], edges[:, 0] * n + edges[:, 1]
    )
    added, deleted = pairs[~was_edge], pairs[was_edge]
    left, said = count_left(task, added, deleted), field.edits.tally[edits_kernel.BEST_LEFT]
    if left != said:
        raise AssertionError(f"target counted {said} nodes left, a recount {left}")
    return Edited(added, deleted, left)

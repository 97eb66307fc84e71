"""The state of the heuristic target: neighbors with room, classes, edits, and the best so far."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.kernels.hashing import new_table
from graphveil.kernels.structural.annealing.state import BEST_CHANGED, BEST_UNPROTECTED, LOGGED
from graphveil.kernels.structural.classes import UNPROTECTED, fill, new_classes
from graphveil.kernels.structural.rows import new_rows
from graphveil.kernels.structural.target import edits as kernel
from graphveil.kernels.structural.target.edits import TargetState
from graphveil.kernels.structural.target.moves import MOST_FLIPS
from graphveil.methods.structural.outcome import checked, codes_of, keys_of
from graphveil.methods.structural.task import CODES, Edited, Task

ROOM = 32
"""Neighbors of a node that there is room for beyond half as many again as its degree."""

MOST_BITS = 20_000
"""The most nodes whose neighbors are held as bits, too."""

FEWEST_WORDS = 16


def target_state_of(task: Task) -> TargetState:
    """Return the state without edits, in which every node weighs 1 and none is pulled."""
    graph, n = task.graph, task.graph.n_nodes
    degree = graph.degrees()
    room = np.minimum(degree + degree // 2 + ROOM, n + 1) - degree
    rows = new_rows(graph.indptr, graph.indices, room)
    classes = new_classes(
        codes_of(task),
        task.k,
        moves=MOST_FLIPS * (2 * rows.common.size + 4),
        steps=CODES[task.measure],
        weight=np.ones(n + 1, dtype=np.int64),
    )
    fill(classes)
    edits = _edits(task.budget)
    edits.tally[BEST_UNPROTECTED] = classes.tally[UNPROTECTED]
    return TargetState(
        state=kernel.TargetGraph(classes, rows, _bits(graph)),
        edits=edits,
        trial=np.empty(MOST_FLIPS, dtype=np.int64),
        unprotected=np.empty(n, dtype=np.int64),
    )


def _bits(graph: Graph) -> NDArray[np.uint64]:
    """Return the neighbors as bits, or no columns where rows are short."""
    n = graph.n_nodes
    words = -(-n // kernel.WORD)
    if n > MOST_BITS or words > max(FEWEST_WORDS, 2 * graph.n_edges // max(n, 1)):
        words = 0
    bits = np.zeros((n, words), dtype=np.uint64)
    if words:
        row = np.repeat(np.arange(n), graph.degrees())
        one = np.uint64(1) << (graph.indices & 63).astype(np.uint64)
        np.bitwise_or.at(bits, (row, graph.indices >> 6), one)
    return bits


def _edits(budget: int) -> kernel.TargetEdits:
    """Return no edits, and room for those of two states, each within the budget."""
    most = budget + 2 * MOST_FLIPS
    table, shift = new_table(3 * most)
    tally = np.zeros(6, dtype=np.int64)
    tally[kernel.KEPT], tally[kernel.SHIFT] = kernel.OPEN, shift
    return kernel.TargetEdits(
        pairs=np.empty(2 * most, dtype=np.int64),
        table=table,
        log=np.empty(max(most, 1 << 16), dtype=np.int64),
        kept=np.empty(2 * most, dtype=np.int64),
        tally=tally,
    )


def present(target_state: TargetState) -> NDArray[np.int64]:
    """Return the pairs in which the present state differs from the input, sorted."""
    edits = target_state.edits
    return np.sort(edits.pairs[: edits.tally[kernel.CHANGED]])


def best(target_state: TargetState) -> NDArray[np.int64]:
    """Return the pairs in which the best state differs from the input, sorted."""
    edits, tally = target_state.edits, target_state.edits.tally
    kept = tally[kernel.KEPT]
    then = present(target_state) if kept == kernel.OPEN else edits.kept[:kept]
    flipped, times = np.unique(edits.log[: tally[LOGGED]], return_counts=True)
    return np.setxor1d(then, flipped[times % 2 == 1])


def go_to(target_state: TargetState, changed: NDArray[np.int64]) -> None:
    """Make the state with these edits the present one; the best stays the best."""
    kernel.flip_all(
        target_state.state, target_state.edits, np.setxor1d(present(target_state), changed)
    )


def begin_at(target_state: TargetState, changed: NDArray[np.int64]) -> None:
    """Make the state with these edits the present and the best one, whatever was better."""
    go_to(target_state, changed)
    tally = target_state.edits.tally
    tally[LOGGED], tally[kernel.KEPT] = 0, kernel.OPEN
    tally[BEST_UNPROTECTED] = target_state.state.classes.tally[UNPROTECTED]
    tally[BEST_CHANGED] = tally[kernel.CHANGED]


def edited_of(task: Task, target_state: TargetState) -> Edited:
    """Return the best state's edits, its unprotected nodes counted again, exactly.

    Raises
    ------
    AssertionError
        Where the count differs from the kernel's: a bug of ours.
    """
    n, keys = task.graph.n_nodes, best(target_state)
    pairs = np.stack((keys >> 32, keys & 0xFFFFFFFF), axis=1).astype(np.int32)
    was_edge = np.isin(keys_of(pairs, n), keys_of(task.graph.edges(), n))
    said = int(target_state.edits.tally[BEST_UNPROTECTED])
    return checked(task, Edited(pairs[~was_edge], pairs[was_edge], said))

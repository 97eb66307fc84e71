"""The heuristic `target`: nodes are pulled towards values that k nodes share.

For the measure count at distance 1 with ``edits=any``. A node is a point: its degree and its
triangles. Unlike a walk over a pool of pairs, any pair may be flipped. Every unprotected node gets
an *aim*, a point where k nodes are or will be, and the energy of the annealing is

    unprotected nodes (hubs may weigh more) + price x edits + pull x distances to aims.

The distance falls flip by flip where the number of unprotected nodes does not, so that hubs and
dense networks move. A run is a course of phases (`PhaseSchedule`), each with other weights:

1. hubs: only nodes of high degree count; on dense networks then lower ones, step by step;
2. everybody;
3. polish: no aims, cheaper and cheaper edits;
4. again: from the best state, while the goal is missed;
5. `FINISH`: for the last few nodes that miss it;
6. `BACKFILL`: once it is reached, take edits back.

Sparse networks are run from several starts, dense ones from one. The algorithm is graphveil's own,
and its constants were tuned one by one on the networks of the paper. Cost: O(degree) for each flip
and O(n) plus a sort of the unprotected nodes for each assignment of aims.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.core.array_types import Ints
from graphveil.core.kernels.arrays import new_table
from graphveil.data import Graph
from graphveil.methods.annealing.kernels import classes as node_classes
from graphveil.methods.annealing.kernels import target as kernel
from graphveil.methods.annealing.kernels.pooled import BEST_CHANGED, BEST_UNPROTECTED, LOGGED
from graphveil.methods.annealing.kernels.target import MOST_FLIPS, Free, TargetState, assign
from graphveil.methods.annealing.schedule import AnnealingSegment
from graphveil.methods.annealing.task import CODES, COLOR_BITS, Edited, Task, Watch
from graphveil.methods.annealing.walk import Walk
from graphveil.methods.structural import recount, walk_state

HUBS = 0.9
"""The quantile of the degrees from which a node is a hub."""

HUB_WEIGHT = 3
"""What a hub counts in the phases for everybody on sparse networks. More: hubs are protected first.
"""


class Phase(NamedTuple):
    """One stretch of annealing.

    Parameters
    ----------
    share
        Its part of the run's proposals.
    hot, cold
        The temperature at its start and end, in unprotected nodes.
    price
        What an edit costs, in unprotected nodes.
    pull
        What a unit of distance to an aim costs; at 0 there are no aims.
    quantile
        Nodes with degrees below this quantile neither count nor have an aim.
    hub_weight
        What an unprotected hub counts.
    anchored
        Whether nodes that are protected are pulled to where they are.
    every
        Proposals between two assignments of aims.
    focus, undo, revert
        How likely a proposal is near an unprotected node, takes an edit back, or adds that to
        another: see `kernels.classes.Odds`.
    """

    share: float
    hot: float
    cold: float
    price: float
    pull: float = 0.0
    quantile: float = 0.0
    hub_weight: int = 1
    anchored: bool = True
    every: int = 100_000
    focus: float = 0.9
    undo: float = 0.5
    revert: float = 0.1


class PhaseSchedule(NamedTuple):
    """The phases of one kind of graph: hubs, everybody, polish; then `again`, `rounds` times."""

    hubs: tuple[Phase, ...]
    everybody: Phase
    polish: tuple[Phase, ...]
    again: Phase
    rounds: int


POLISH = tuple(
    Phase(share=0.125, hot=0.14, cold=0.03, price=price, focus=0.7, undo=0.3)
    for price in (0.05, 0.02)
)
_SPARSE = Phase(share=0.35, hot=0.25, cold=0.04, price=0.15, pull=0.3, hub_weight=HUB_WEIGHT)
_DENSE = _SPARSE._replace(price=0.1)
_FIRST = Phase(share=0.15, hot=0.3, cold=0.045, price=0.5, pull=0.3, quantile=HUBS)
_STAGE = Phase(share=0.12, hot=0.2, cold=0.04, price=0.1, pull=0.3)


def _sparse(pull: float) -> PhaseSchedule:
    everybody = _SPARSE._replace(pull=pull)
    return PhaseSchedule(
        hubs=(_FIRST._replace(pull=pull),),
        everybody=everybody,
        polish=POLISH,
        again=everybody._replace(share=0.15, hot=0.15, anchored=False),
        rounds=1,
    )


SPARSE = (_sparse(pull=0.3), _sparse(pull=0.5))
"""In turn, start by start: which is better differs from graph to graph."""

DENSE = PhaseSchedule(
    hubs=(_FIRST, *(_STAGE._replace(quantile=quantile) for quantile in (0.75, 0.5, 0.25))),
    everybody=_DENSE,
    polish=POLISH,
    again=_DENSE._replace(share=0.15, hot=0.08, price=0.05, pull=0.1, anchored=False),
    rounds=5,
)

FINISH = tuple(
    Phase(share=0.3, hot=hot, cold=0.04, price=0.02, pull=pull, anchored=False, every=500_000)
    for pull, hot in ((0.3, 0.15), (1.0, 0.25)) * 2
)
"""For the last few, each from the best state."""

FINISHED = 20
"""`FINISH` is tried only if at most so many nodes miss the goal."""

BACKFILL = Phase(share=0.2, hot=0.05, cold=0.005, price=0.1, focus=0.5, undo=0.8)
GAIN = 0.02
"""Backfills end once one takes back no more than this share of the edits."""

MOST_BACKFILLS = 10
"""Backfills at most; each has a fifth of the run's proposals."""

COUNT = Phase(share=1.0, hot=0.3, cold=0.05, price=0.0, focus=0.7, undo=0.3, revert=0.3)
"""With a budget: only the unprotected nodes."""

BUDGET = (_SPARSE._replace(price=0.3), POLISH[0]._replace(share=0.5, price=0.0))
"""With a budget, from the input once more."""

ROOM = 32
"""Neighbors of a node that there is room for beyond half as many again as its degree."""

MOST_BITS = 20_000
"""The most nodes whose neighbors are held as bits, too."""

FEWEST_WORDS = 16
"""Words of 64 bits a node that are always granted: 1,024 nodes. More only on networks so dense that
lists of neighbors would be as long.
"""


def target_state_of(task: Task) -> TargetState:
    """Return the state without edits, in which every node weighs 1 and none is pulled."""
    # Rows have room for half as many neighbors again; classes undo a trial from a log of moves.
    graph, n = task.graph, task.graph.n_nodes
    degree = graph.degrees()
    room = np.minimum(degree + degree // 2 + ROOM, n + 1) - degree
    rows = node_classes.new_rows(graph.indptr, graph.indices, room)
    classes = node_classes.new_classes(
        walk_state.codes_of(task),
        task.k,
        moves=MOST_FLIPS * (2 * rows.common.size + 4),
        steps=CODES[task.measure],
        weight=np.ones(n + 1, dtype=np.int64),
    )
    node_classes.fill(classes)
    edits = _edits(task.budget)
    edits.tally[BEST_UNPROTECTED] = classes.tally[node_classes.UNPROTECTED]
    trial, unprotected = np.empty(MOST_FLIPS, dtype=np.int64), np.empty(n, dtype=np.int64)
    return TargetState(kernel.TargetGraph(classes, rows, _bits(graph)), edits, trial, unprotected)


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
    pairs, kept = np.empty((2, 2 * most), dtype=np.int64)
    log = np.empty(max(most, 1 << 16), dtype=np.int64)
    return kernel.TargetEdits(pairs, table, log, kept, tally)


def present(target_state: TargetState) -> Ints:
    """Return the pairs in which the present state differs from the input, sorted."""
    edits = target_state.edits
    return np.sort(edits.pairs[: edits.tally[kernel.CHANGED]])


def best(target_state: TargetState) -> Ints:
    """Return the pairs in which the best state differs from the input, sorted."""
    # The log has the pairs flipped since the best state; undone from the present state, or from the
    # copy that was made when the log was full, they lead back. Flips of even number cancel out.
    edits, tally = target_state.edits, target_state.edits.tally
    kept = tally[kernel.KEPT]
    then = present(target_state) if kept == kernel.OPEN else edits.kept[:kept]
    flipped, times = np.unique(edits.log[: tally[LOGGED]], return_counts=True)
    return np.setxor1d(then, flipped[times % 2 == 1])


def go_to(target_state: TargetState, changed: Ints) -> None:
    """Make the state with these edits the present one; the best stays the best."""
    kernel.flip_all(
        target_state.state, target_state.edits, np.setxor1d(present(target_state), changed)
    )


def begin_at(target_state: TargetState, changed: Ints) -> None:
    """Make the state with these edits the present and the best one, whatever was better."""
    go_to(target_state, changed)
    tally = target_state.edits.tally
    tally[LOGGED], tally[kernel.KEPT] = 0, kernel.OPEN
    tally[BEST_UNPROTECTED] = target_state.state.classes.tally[node_classes.UNPROTECTED]
    tally[BEST_CHANGED] = tally[kernel.CHANGED]


def edited_of(task: Task, target_state: TargetState) -> Edited:
    """Return the best state's edits, its unprotected nodes recomputed, exactly."""
    # A key has one end in its upper 32 bits, the other in the lower.
    n, keys = task.graph.n_nodes, best(target_state)
    pairs = np.stack((keys >> 32, keys & 0xFFFFFFFF), axis=1).astype(np.int32)
    was_edge = np.isin(recount.keys_of(pairs, n), recount.keys_of(task.graph.edges(), n))
    left = int(target_state.edits.tally[BEST_UNPROTECTED])
    return recount.checked(task, Edited(pairs[~was_edge], pairs[was_edge], left))


CHUNK = 25_000
"""Proposals between two looks at a walk."""

LARGE_EDGES = 40_000
"""The number of edges from which fewer proposals are made for each, and from one start only."""
LARGE_DEGREE = 15
"""The mean degree from which a proposal takes so long that fewer are made."""

STARTS = 4
"""Starts from the input at most."""

MOST_PROPOSALS = 30_000_000
"""While all starts have missed the goal, another follows if all take no more proposals together.

At most `STARTS` are made.
"""

EXTRA_PROPOSALS = 10_000_000
"""Once a start has reached the goal, another follows if all take no more proposals together.

It may reach the goal with fewer edits.
"""

SPARED = 0.8
"""With a partial goal: the part of the nodes left unprotected that is chosen by highest degree.

These are given up from the start; the walk finds the others.
"""

IN_A_COLOR = (1 << COLOR_BITS["count"]) - 1
"""The bits of triangles where codes have colors."""


def target(
    task: Task,
    *,
    iterations: int | None,
    effort: float = 1.0,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of an annealing walk towards values that k nodes can share.

    The energy and the phases are described at the top of this module.

    Parameters
    ----------
    task
        A task with measure count, distance 1 and edits any.
    iterations
        Proposals of a run; if None, ``effort`` times `target_iterations`.
    effort
        A multiple of the default number of proposals.
    rng
        The source of all draws.
    watch
        Called after each chunk with the best state's unprotected nodes and edits; True ends the
        run.

    Returns
    -------
    Edited
        The best state from any start, its unprotected nodes counted exactly.
    """
    walk = TargetWalk(task, rng, watch, iterations, effort)
    if walk.missed():
        if not task.by_budget:
            _towards_goal(walk)
        elif not walk.follow(COUNT):  # by counting alone, and once more with aims
            walk.begin_anew()
            walk.follow_all(BUDGET)
        walk.end()
    return edited_of(task, walk.target_state)


def target_iterations(n_nodes: int, n_edges: int) -> int:
    """Return 500 proposals an edge, at least 3,000,000 and at most 15,000,000.

    Beyond 40,000 edges, or a mean degree of 15, proportionally fewer, so that runs end in half a
    minute. Below 1,000 edges 3,000 an edge, at least 1,000,000.
    """
    mean_degree = 2 * n_edges / max(n_nodes, 1)
    most = int(15_000_000 / max(n_edges / LARGE_EDGES, mean_degree / LARGE_DEGREE, 1))
    fewest = min(max(3_000 * n_edges, 1_000_000), 3_000_000)
    return max(min(500 * n_edges, most), fewest)


class TargetBest(NamedTuple):
    """The best state from one start: its edits, its unprotected nodes and number of edits."""

    edits: Ints
    reached: tuple[int, int]


@dataclass(eq=False)
class TargetWalk(Walk[Task]):
    """A walk with aims; `before` lists the best states from earlier starts."""

    target_state: TargetState = field(init=False)
    before: list[TargetBest] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Begin at the input."""
        usual = target_iterations(self.task.n_nodes, self.task.n_edges)
        self.steps = self.proposals(usual)
        self.usual = usual if self.iterations is None else self.iterations
        self.target_state, self.chunk = target_state_of(self.task), CHUNK
        self.classes, self.tally = self.target_state.state.classes, self.target_state.edits.tally

    def reached(self) -> tuple[int, int]:
        """Return the unprotected nodes and the edits of the best state from any start."""
        return min((self.here(), *(best.reached for best in self.before)), key=self._rank)

    def _rank(self, reached: tuple[int, int]) -> tuple[int, int, int]:
        unprotected, edits = reached
        return max(unprotected - self.task.allowed, 0), edits, unprotected

    def follow(self, phase: Phase, *, highest: int | None = None, backfill: bool = False) -> bool:
        """Go through a phase; return whether the watch asked to stop.

        Degrees above the highest neither count nor have aims.
        """
        state = self.target_state.state
        top = self.task.graph.n_nodes if highest is None else highest
        lowest = weigh(state, phase, top)

        def aim(first: int) -> None:
            if phase.pull and first % phase.every == 0:
                set_aims(state.classes, lowest, top, strength=int(phase.anchored))

        return self.anneal(_stretch(self, phase, backfill=backfill), aim)

    def follow_all(self, course: Iterable[Phase], *, highest: int | None = None) -> bool:
        """Go through phases until the goal is reached; return whether to stop altogether."""
        return any(self.missed() and self.follow(phase, highest=highest) for phase in course)

    def back_to_best(self) -> None:
        """Make the best state the present one."""
        go_to(self.target_state, best(self.target_state))

    def begin_anew(self) -> None:
        """Put the best state from this start aside, and start from the input."""
        self.before.append(TargetBest(best(self.target_state), self.here()))
        begin_at(self.target_state, np.empty(0, dtype=np.int64))

    def end(self) -> None:
        """Make the best state from any start the best one."""
        other = min(self.before, key=lambda best: self._rank(best.reached), default=None)
        if other is not None and self._rank(other.reached) < self._rank(self.here()):
            begin_at(self.target_state, other.edits)


def _stretch(walk: TargetWalk, phase: Phase, *, backfill: bool) -> AnnealingSegment:
    """Return the phase as the kernel takes it; a backfill spares what allowed nodes may lack."""
    task = walk.task
    plan = node_classes.Schedule(
        steps=max(round(phase.share * walk.steps), 1),
        hot=phase.hot,
        cold=phase.cold,
        price=phase.price,
        pull=phase.pull,
        spared_lack=0.5 * (3 * task.k - 2) * task.allowed if backfill else 0.0,
        allowed=task.allowed,
        stop=not backfill,
    )
    odds = node_classes.Odds(
        focus=phase.focus,
        undo=phase.undo,
        swap=phase.revert,
        swap_back=0.0,
        add=0.3,
        budget=task.budget,
    )
    return AnnealingSegment(plan, odds)


def weigh(state: kernel.TargetGraph, phase: Phase, highest: int) -> int:
    """Let nodes count as the phase says, without aims; return the lowest degree that counts."""
    # Weights are by degree: 1, `hub_weight` from the quantile of hubs on, 0 outside
    # lowest..highest. Then clear the aims, and sum the classes anew.
    classes, degree = state.classes, state.rows.length
    lowest = int(np.quantile(degree, phase.quantile)) if phase.quantile else 0
    hubs = int(np.quantile(degree, HUBS))
    weight = classes.weight
    every = np.arange(weight.size)
    weight[:] = np.where(every >= hubs, phase.hub_weight, 1)
    weight[(every < lowest) | (every > highest)] = 0
    classes.node[:, node_classes.PULL] = 0
    node_classes.fill(classes)
    return lowest


def set_aims(
    classes: node_classes.NodeClasses, lowest: int, highest: int, *, strength: int
) -> None:
    """Pull nodes with degrees lowest..highest to where they can be anonymous: see `assign`."""
    table, rows, k = (
        classes.table,
        classes.node[:, node_classes.SLOT],
        int(classes.rule[node_classes.LEAST]),
    )
    # The unprotected nodes in the range, by falling degree; the kernel gives each its aim: the
    # nearest class of k, or the middle of a group of k nodes that have none.
    codes, sizes = table[rows, 0], table[rows, 1]
    degrees = codes >> node_classes.DEGREE_BITS
    nodes = np.flatnonzero((lowest <= degrees) & (degrees <= highest) & (sizes < k))
    nodes = nodes[np.argsort(-codes[nodes], kind="stable")]
    assigned, (group, distance) = np.zeros(nodes.size, np.int64), np.empty((2, k), np.int64)
    free = Free(nodes, codes[nodes], assigned, group, distance)
    assign(classes, lowest, highest, strength, free, np.sort(table[table[:, 1] >= k, 0]))


def is_dense(target_state: TargetState, colors: Ints | None = None) -> bool:
    """Whether an edge is in more than 10 triangles on average, and a node has 30 neighbors."""
    classes = target_state.state.classes
    codes = classes.table[classes.node[:, node_classes.SLOT], 0]
    edges = int(target_state.state.rows.length.sum()) / 2
    corners = int(
        (codes & (node_classes.TRIANGLES_OF_CLASSES if colors is None else IN_A_COLOR)).sum()
    )
    return corners > 10 * edges and edges > 15 * codes.size


def _towards_goal(walk: TargetWalk) -> None:
    """Look for the fewest edits that reach the goal: dense graphs from one start."""
    if not is_dense(walk.target_state, walk.task.colors):
        _from_several_starts(walk)
    elif not _run(walk, DENSE, None):
        _backfill(walk)


def _from_several_starts(walk: TargetWalk) -> None:
    """Run from the input until the goal is reached, up to four times.

    With a partial goal most of those who may stay unprotected are the nodes of highest degree.
    """
    # Step 1: with a partial goal, give up the nodes of highest degree, which need the most edits.
    highest = None
    if walk.task.allowed:
        degree = np.sort(walk.task.graph.degrees())[::-1]
        highest = int(degree[int(SPARED * walk.task.allowed)])
    # Step 2: how many starts there is room for, until the goal is reached and beyond.
    wanted = EXTRA_PROPOSALS // walk.usual
    most = 1 if walk.task.graph.n_edges > LARGE_EDGES else MOST_PROPOSALS // walk.usual
    for start in range(min(max(most, 1), STARTS)):
        # Step 3: a course from the input, then take edits back; the best of all starts wins.
        course = SPARSE[start % len(SPARSE)]
        if highest is not None:
            course = course._replace(hubs=())
        if _run(walk, course, highest) or _backfill(walk):
            return
        if start + 1 >= wanted and walk.reached()[0] <= walk.task.allowed:
            return
        walk.begin_anew()


def _run(walk: TargetWalk, course: PhaseSchedule, highest: int | None) -> bool:
    """Go through the phases of a course, then look for the last few from the best state."""
    # Phases 1 to 3, each while the goal is missed.
    if walk.follow_all((*course.hubs, course.everybody, *course.polish), highest=highest):
        return True
    # Phase 4: again from the best state, `rounds` times at most.
    for _ in range(course.rounds if walk.missed() else 0):
        walk.back_to_best()
        if walk.follow_all((course.again, *course.polish), highest=highest):
            return True
    # Phase 5: the last few.
    for phase in FINISH:
        if not 0 < walk.missed() <= FINISHED:
            break
        walk.back_to_best()
        if walk.follow(phase, highest=highest):
            return True
    return False


def _backfill(walk: TargetWalk) -> bool:
    """Take edits back, and others in their place, as long as it gains: the goal stays reached."""
    for _ in range(0 if walk.missed() else MOST_BACKFILLS):
        before = walk.here()[1]
        walk.back_to_best()
        if walk.follow(BACKFILL, backfill=True):
            return True
        if before - walk.here()[1] <= GAIN * before:
            break
    return False

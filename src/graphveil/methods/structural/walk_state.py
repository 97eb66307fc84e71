"""What edits come to, counted exactly; and the state of a walk that looks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.measures import MEASURES, class_sizes_of_nodes, partition
from graphveil.measures.kernels.neighborhoods import new_color_buffers, triangles
from graphveil.measures.matchings import candidate_set_sizes, noisy_share
from graphveil.methods.k_degree.sequence import lower_bound_edits, optimal_plan, runs_of
from graphveil.methods.structural import task as tasks
from graphveil.methods.structural.kernels import classes as node_classes
from graphveil.methods.structural.kernels import pooled, values
from graphveil.methods.structural.kernels import values as shapes
from graphveil.methods.structural.kernels.anneal import MOST_FLIPS, anneal
from graphveil.methods.structural.kernels.target import TargetState
from graphveil.methods.structural.task import Edited, Goals, Ints, Task, Watch, proposals


def applied(graph: Graph, edited: Edited) -> Graph:
    """Return the graph with these edges added and deleted."""
    if not edited.cost:
        return graph
    n = graph.n_nodes
    edges = keys_of(graph.edges(), n)
    kept = edges[~np.isin(edges, keys_of(edited.deleted, n))]
    keys = np.concatenate([kept, keys_of(edited.added, n)])
    return Graph.from_edges(*np.divmod(keys, n), n=n, ids=graph.ids)


def keys_of(pairs: NDArray[np.integer], n: int) -> Ints:
    """Return every pair of nodes as one integer, the end in the first column first."""
    return pairs[:, 0].astype(np.int64) * n + pairs[:, 1]


def codes_of(task: Task) -> Ints:
    """Return the codes of degrees and triangles that tell the nodes of the input apart."""
    graph, (by_degree, by_triangle) = task.graph, tasks.CODES[task.measure]
    codes = graph.degrees() * by_degree
    if by_triangle:
        codes = codes + triangles(graph.indptr, graph.indices) * by_triangle
    return task.colored(codes)


def unprotected_in(graph: Graph, task: Task) -> Ints:
    """Return the nodes in classes below k or, under `phi`, with fewer than k similar ones."""
    if task.phi:
        return np.flatnonzero(candidate_set_sizes(graph, phi=task.phi) < task.k)
    return np.flatnonzero(class_sizes_of_nodes(task.labels_of(graph)) < task.k)


def nearly_unprotected_in(graph: Graph, task: Task) -> int:
    """Return what nodes count that are protected from inexact knowledge alone: see `Task`."""
    half, exact = task.nearly
    if not (half or exact):
        return 0
    inner = candidate_set_sizes(graph, phi=task.phi / 2) < task.k
    alone = class_sizes_of_nodes(task.labels_of(graph)) < task.k
    return int(half * np.count_nonzero(inner) + exact * np.count_nonzero(alone))


def counted(task: Task, edited: Edited) -> Edited:
    """Return the same edits with the unprotected nodes counted exactly."""
    after = applied(task.graph, edited)
    unprotected = unprotected_in(after, task).size
    return edited._replace(unprotected=unprotected, nearly=nearly_unprotected_in(after, task))


def checked(task: Task, edited: Edited) -> Edited:
    """Return these edits once an exact count of their unprotected nodes agrees."""
    exact = counted(task, edited)
    for was, count in ((edited.unprotected, exact.unprotected), (edited.nearly, exact.nearly)):
        if was != count:
            raise AssertionError(
                f"{was} nodes were counted as unprotected; a recount gives {count}"
            )
    return edited


def average_clustering(graph: Graph) -> float:
    """Return the mean local clustering; nodes of degree below 2 count as 0."""
    if graph.n_nodes == 0:
        return 0.0
    degree = graph.degrees()
    pairs = degree * (degree - 1) / 2
    closed = triangles(graph.indptr, graph.indices)
    return float(np.divide(closed, pairs, out=np.zeros(degree.size), where=pairs > 0).mean())


def figures(graph: Graph, edited: Edited) -> dict[str, float | int]:
    """Return what is shown of a result next to others."""
    kept = graph.n_edges - len(edited.deleted)
    return {
        "edits": edited.cost,
        "edges_kept_share": kept / graph.n_edges if graph.n_edges else 1.0,
        "nodes_unprotected": edited.unprotected,
        "clustering": average_clustering(applied(graph, edited)),
    }


def left_to_others(graph: Graph, *, phi: float, k: int) -> dict[str, float | int]:
    """Return what similar look-alikes leave to exact knowledge, and to numbers that are off."""
    alone = class_sizes_of_nodes(partition(graph, measure="count")) < k
    return {
        "nodes_unprotected_exactly": int(np.count_nonzero(alone)),
        "share_unprotected_from_noisy": noisy_share(graph, phi=phi, k=k),
    }


def lower_bound(task: Task) -> int | None:
    """No graph in which every node is anonymous is reached with fewer edits; None without a bound.

    Where a measure fixes the degree, the degrees of the release form groups of at least k, and an
    edit changes two degrees by one: half of the least total change, by the dynamic program of
    k-degree anonymity. Deletions only lower degrees: mirrored, the program that only raises them. A
    rewiring changes no degree, so these alone get 0.
    """
    degrees = task.graph.degrees()
    fixed = MEASURES[task.measure].fixes_degree(task.distance)
    if task.allowed or degrees.size < task.k or not fixed or task.phi:
        return None
    if task.edits == "rewire":
        return 0
    change = least_change(degrees, task.colors, task.k, task.edits)
    return None if change is None else lower_bound_edits(change)


def least_change(numbers: Ints, colors: Ints | None, k: int, edits: str) -> int | None:
    """Return the least total change after which k nodes of a color share a number, if any can."""
    if edits == "delete":
        numbers = numbers.max(initial=0) - numbers
    kind: Literal["add", "any"] = "any" if edits == "any" else "add"
    groups = by_color(numbers, colors)
    if any(each.size < k for each in groups):
        return None
    return sum(optimal_plan(runs_of(each), k, edits=kind).cost for each in groups)


def over_bound(edits: int, bound: int | None) -> dict[str, float]:
    """Return a bound on the edits, and how many times as many there are; nothing without one."""
    if bound is None:
        return {}
    return {"edits_lower_bound": bound, "edits_over_lower_bound": edits / bound if bound else 1.0}


def by_color(values: Ints, colors: Ints | None) -> list[Ints]:
    """Return the values of the nodes of each color; without colors, all have the same."""
    if colors is None:
        return [values]
    return [values[colors == color] for color in np.unique(colors).tolist()]


def unprotected_by_rewiring(task: Task) -> int:
    """No rewiring leaves fewer nodes unprotected, since it keeps every degree."""
    if not MEASURES[task.measure].fixes_degree(task.distance):
        return 0
    degrees = task.graph.degrees()
    groups = by_color(degrees, task.colors)
    sizes = np.concatenate([np.bincount(each) for each in groups])
    return int(sizes[sizes < task.k].sum())


SAMPLE = 200
LEAST_WORK = 1_000
REMEMBERED = 8


class MoveRule(NamedTuple):
    """What a measure's values are made of: which sum and shape, what a node and an edge add."""

    sums: int = shapes.NOTHING
    shapes: int = shapes.NOTHING
    by_node: int = 0
    by_edge: int = 0


RULES = {
    "degree": MoveRule(sums=shapes.SIZES, by_node=1),
    "count": MoveRule(sums=shapes.SIZES, by_node=1 << 40, by_edge=1),
    "edge-count": MoveRule(sums=shapes.SIZES, by_edge=1),
    "degree-distribution": MoveRule(shapes=shapes.INSIDE),
    "dk": MoveRule(shapes=shapes.COLORS),
    "vrq": MoveRule(sums=shapes.DEGREES),
    "hybrid": MoveRule(sums=shapes.DEGREES, shapes=shapes.COLORS),
}
"""Sums of sizes are exact. The others are hashes of 63 bits; those of colors may also be equal
where neighborhoods are not isomorphic, if no refinement of colors tells them apart."""


class Visited(NamedTuple):
    """A state of a walk: its changed pairs, and with whom they are rewired."""

    changed: NDArray[np.bool_]
    mates: Ints


def annealing_state_of(task: Task, rng: Generator) -> pooled.AnnealingState:
    """Return the state without edits, over the pairs that the task's edits allow."""
    pairs = _pairs(task, rng)
    pool = pool_of(pairs, task.n_nodes, 0 if task.edits == "add" else task.graph.n_edges)
    if task.edits == "rewire":
        pool = pool._replace(mates=np.zeros((2, len(pairs)), dtype=np.int64))
    absent = np.concatenate((pool.one[~pool.present], pool.other[~pool.present]))
    room = np.bincount(absent, minlength=task.graph.n_nodes)
    rows = node_classes.new_rows(task.graph.indptr, task.graph.indices, room)
    state, around = (_by_codes if tasks.counted_by_codes(task) else _by_values)(task, pool, rows)
    return annealing_state_over(state, around)


def annealing_state_over(
    state: pooled.PoolState, around: values.Values | None = None
) -> pooled.AnnealingState:
    """Return the state in which no pair is changed, which is the best so far."""
    n_pairs = state.pool.one.size
    best = pooled.AnnealingBest(
        changed=np.zeros(n_pairs, dtype=np.bool_),
        log=np.empty(max(n_pairs, 1), dtype=np.int32),
        tally=np.array([0, node_classes.unprotected_of(state.classes), 0, 0, 0], dtype=np.int64),
    )
    return pooled.AnnealingState(
        state=state,
        values=around,
        best=best,
        unprotected=np.empty(len(state.classes.node), dtype=np.int64),
        trial=np.empty(MOST_FLIPS, dtype=np.int64),
    )


def best_of(annealing: pooled.AnnealingState) -> Visited:
    """Return the best state's changed pairs, and with whom they are rewired."""
    mates = annealing.state.pool.mates
    then = np.empty(0, dtype=np.int64) if mates is None else mates[pooled.BEST].copy()
    return Visited(annealing.best.changed.copy(), then)


def _by_codes(
    task: Task, pool: pooled.Pool, rows: node_classes.NeighborRows
) -> tuple[pooled.PoolState, None]:
    steps = tasks.CODES[task.measure]
    moves = 2 * (rows.common.size + 2)
    codes = codes_of(task)
    cells = _cells(task, codes, rows, task.phi)
    inner = _cells(task, codes, rows, task.phi / 2 if task.nearly[0] else 0)
    classes = node_classes.new_classes(
        codes, task.k, moves=moves, steps=steps, cells=cells, inner=inner
    )
    node_classes.fill(classes)
    state = pooled.PoolState(classes, rows, pool)
    if steps[1]:
        pooled.count_common(state)
    return state, None


def _cells(
    task: Task, codes: Ints, rows: node_classes.NeighborRows, phi: float
) -> node_classes.FuzzyCells | None:
    """Return whom each node is similar to, where the attacker's knowledge is off."""
    if not phi:
        return None
    highest = int(np.diff(rows.start).max(initial=0))
    cells = node_classes.new_cells(codes.size, highest, task.k, Fraction(str(phi)))
    node_classes.fill_cells(
        cells, codes >> node_classes.DEGREE_BITS, codes & node_classes.TRIANGLES_OF_CLASSES
    )
    return cells


def _by_values(
    task: Task, pool: pooled.Pool, rows: node_classes.NeighborRows
) -> tuple[pooled.PoolState, values.Values]:
    """Return the state of any measure, and its values.

    A flip of a pair without common neighbors moves few nodes, so such pairs are proposed more
    often; of edges to rewire those with many, since else little happens.
    """
    n = task.graph.n_nodes
    around = _values(task, rows.neighbor.size)
    codes = np.empty(n, dtype=np.int64)
    values.evaluate(rows, around, codes)
    classes = node_classes.new_classes(codes, task.k, moves=n, steps=(0, 0))
    node_classes.fill(classes)
    state = pooled.PoolState(classes, rows, pool)
    pool.common[:] = rows.length[pool.one] + rows.length[pool.other]
    if task.distance == 1 and RULES[task.measure].sums != shapes.DEGREES:
        pooled.count_common(state)
        pool.common[:] *= 1 if pool.mates is None else -1
    return state, around


def _pairs(task: Task, rng: Generator) -> NDArray[np.int32]:
    """Return the pairs that may be flipped, the edges first."""
    if task.edits == "add":
        return candidates(task.graph, rng)
    edges = task.graph.edges()
    return np.concatenate((edges, candidates(task.graph, rng))) if task.edits == "any" else edges


def pool_of(pairs: NDArray[np.int32], n_nodes: int, n_present: int) -> pooled.Pool:
    """Return these pairs, the present ones first, none changed yet."""
    ends, size = np.concatenate((pairs[:, 0], pairs[:, 1])), len(pairs)
    start = np.zeros(n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=n_nodes), out=start[1:])
    around = (np.argsort(ends, kind="stable") % max(size, 1)).astype(np.int32)
    one, other, order = pairs[:, 0].copy(), pairs[:, 1].copy(), np.arange(size, dtype=np.int32)
    present, position = order < n_present, order.copy()
    tally, common = np.zeros(2, dtype=np.int64), np.zeros(size, dtype=np.int32)
    return pooled.Pool(one, other, start, around, present, order, position, tally, common, None)


def _values(task: Task, entries: int) -> values.Values:
    """Return the values of a task's measure, none evaluated yet; what it does not need is None."""
    n, rule = task.graph.n_nodes, RULES[task.measure]
    room = new_color_buffers(n, entries)
    reach = values.Reach(
        hops=np.full((2, n), values.FAR, dtype=np.int64), queue=np.zeros((2, n), dtype=np.int64)
    )
    shapes_of = ((n, 3), (n, 3), (n, 2), (1,), (4, 3))
    value, before, pending, tally, turns = (np.zeros(each, dtype=np.int64) for each in shapes_of)
    return values.Values(
        np.array([task.distance, *rule], dtype=np.int64),
        *(value, before, pending, tally, turns),
        ball=room.ball,
        room=room if rule.shapes == shapes.COLORS else None,
        reach=reach if task.distance > 1 else None,
    )


def candidates(graph: Graph, rng: Generator) -> NDArray[np.int32]:
    """Return up to m distinct pairs that are not edges, sorted: half random, half open triads."""
    n, m = graph.n_nodes, graph.n_edges
    edges = graph.edges().astype(np.int64)
    present = edges[:, 0] * n + edges[:, 1]
    drawn = np.empty(0, dtype=np.int64)
    for wanted, draw in ((m // 2, _open_triads), (m, _random_pairs)):
        for _ in range(8):
            if drawn.size >= wanted:
                break
            ends = np.sort(draw(graph, 2 * (wanted - drawn.size) + 8, rng), axis=1)
            keys = (ends[:, 0] * n + ends[:, 1])[ends[:, 0] != ends[:, 1]]
            keys = np.setdiff1d(keys, present)
            keys = np.setdiff1d(keys, drawn)
            drawn = np.concatenate((drawn, rng.permutation(keys)[: wanted - drawn.size]))
    return np.stack(np.divmod(np.sort(drawn), n), axis=1).astype(np.int32)


def _random_pairs(graph: Graph, size: int, rng: Generator) -> Ints:
    return rng.integers(0, graph.n_nodes, size=(size, 2))


def _open_triads(graph: Graph, size: int, rng: Generator) -> Ints:
    """Return the ends of random walks of two steps; the first step starts at a random arc."""
    arc = rng.integers(0, graph.indices.size, size=size)
    source = np.searchsorted(graph.indptr, arc, side="right") - 1
    middle = graph.indices[arc]
    hop = rng.integers(0, graph.degrees()[middle])
    return np.stack((source, graph.indices[graph.indptr[middle] + hop]), axis=1).astype(np.int64)


def work_of(annealing: pooled.AnnealingState) -> int:
    """Return roughly how many steps a proposal takes: a mean over 200 pairs; 1 over codes."""
    around, pool = annealing.values, annealing.state.pool
    if around is None:
        return 1
    if pool.one.size == 0:
        return LEAST_WORK
    sample = np.unique(np.linspace(0, pool.one.size - 1, SAMPLE).astype(np.int64))
    pairs = np.stack((pool.one[sample], pool.other[sample], 1 - 2 * pool.present[sample]), axis=1)
    steps = [values.work_of(annealing.state.rows, around, *pair) for pair in pairs.tolist()]
    turns = 1 if pool.mates is None else 4
    return turns * round(sum(steps) / len(steps)) + LEAST_WORK


def edits_of(annealing: pooled.AnnealingState, visited: Visited) -> Edited:
    """Return the edits of a state of the walk, with no node counted as unprotected."""
    pool, (changed, mates) = annealing.state.pool, visited
    pairs = np.stack((pool.one, pool.other), axis=1)
    if mates.size == 0:
        was_edge = pool.present != (pool.position < pool.tally[pooled.CHANGED])
        return Edited(pairs[changed & ~was_edge], pairs[changed & was_edge], 0)
    one = np.flatnonzero(changed)
    other, turned = np.divmod(mates[one], 2)
    one, other, turned = (part[one < other] for part in (one, other, turned))
    x, y = pairs[other, turned], pairs[other, 1 - turned]
    joined = np.concatenate((np.stack((pairs[one, 0], y), 1), np.stack((x, pairs[one, 1]), 1)))
    joined = np.sort(joined, axis=1)
    return Edited(joined[np.lexsort((joined[:, 1], joined[:, 0]))], pairs[changed], 0)


def remember(visited: list[Visited], annealing: pooled.AnnealingState) -> None:
    """Put the best state on the list unless it is the last there; the list keeps the last eight."""
    now = best_of(annealing)
    if not visited or not all(map(np.array_equal, visited[-1], now)):
        visited.append(now)
    del visited[:-REMEMBERED]


def edited_of(task: Task, annealing: pooled.AnnealingState, visited: list[Visited]) -> Edited:
    """Return the best state, its unprotected nodes counted exactly.

    Where that is not what the kernels counted, hashes have merged unlike nodes: then the best of
    the input and all states visited is returned, counted exactly.
    """
    last, said = best_of(annealing), int(annealing.best.tally[pooled.BEST_UNPROTECTED])
    nearly = int(annealing.best.tally[pooled.BEST_NEARLY])
    edited = edits_of(annealing, last)._replace(unprotected=said, nearly=nearly)
    if annealing.values is None:
        return checked(task, edited)
    best = counted(task, edited)
    if best.unprotected == said:
        return best
    states = (Visited(np.zeros_like(last.changed), last.mates), *visited)
    for other in [edits_of(annealing, state) for state in states]:
        tried = counted(task, other)
        if tasks.better(tried, best, task):
            best = tried
    return best


LARGE_EDGES = 50_000

MOST_STEPS = 5_000_000
"""Proposals of a stretch over codes, at most, where none are asked for."""

AT_MOST = 5_000_000_000
"""Steps of work of a stretch over values, where no proposals are asked for; a quarter for a goal.
"""

AN_EDGE = 1_000_000
"""Steps of work an edge of a stretch over values towards a goal, at most."""

MOST_WARM = 2_000_000
"""Proposals of the stretch that looks for a goal, where this is no less than usual."""

MOST_WITH_ADDITIONS = 3_000_000
"""Proposals of a stretch over edges and pairs that may be added: each takes twice as long."""

FEWEST = 1_000
"""Proposals of such a stretch at least."""

TRIES = 4
"""Searches in the proposals of one, where several are made."""


def default_iterations(n_edges: int) -> int:
    """Return 50 proposals an edge, at least 100,000 and at most 5,000,000."""
    return min(max(50 * n_edges, 100_000), MOST_STEPS)


def goal_iterations(n_edges: int) -> int:
    """Return the proposals of a stretch towards a goal: small graphs get more than the default."""
    usual = default_iterations(n_edges)
    small = min(4 * usual, max(400 * n_edges, 200_000), 1_000_000)
    return min(max(usual, small), 2_000_000)


class AnnealingSegment(NamedTuple):
    """One stretch of annealing: how it runs, and what it proposes."""

    plan: node_classes.Schedule
    odds: node_classes.Odds


def usual_steps(task: Goals, work: int) -> int:
    """Return the proposals where none are asked for: the default, or fewer where they are slow."""
    steps = (default_iterations if task.by_budget else goal_iterations)(task.n_edges)
    if task.edits == "any":
        steps = min(steps, MOST_WITH_ADDITIONS)
    most = AT_MOST if task.by_budget else min(AT_MOST // 4, AN_EDGE * task.n_edges)
    return min(steps, max(most // work, FEWEST))


def within_budget(task: Goals, steps: int) -> AnnealingSegment:
    """Return the stretch that only counts nodes, and stops at those allowed.

    The constants were tuned on the networks of the paper.
    """
    pairs, rewire = task.k == 2, task.edits == "rewire"
    fewest = unprotected_by_rewiring(task) if rewire and isinstance(task, Task) else 0
    plan = node_classes.Schedule(
        steps=steps,
        hot=0.4 if pairs else 0.5,
        cold=0.05 if pairs else 0.07,
        price=0.0,
        allowed=max(task.allowed, fewest),
    )
    odds = node_classes.Odds(
        focus=0.8 if task.n_edges > LARGE_EDGES else 0.5,
        undo=0.3,
        swap=0.15 if pairs else 0.3,
        swap_back=0.1,
        add=0.0,
        budget=2 * task.budget if rewire else task.budget,
    )
    return AnnealingSegment(plan, odds)


def paying(stretch: AnnealingSegment, k: int, price: float) -> AnnealingSegment:
    """Return the stretch with a price for an edit; it does not stop at the allowed nodes.

    These are spared, and what they may lack: the classes of n nodes of all sizes 1..k - 1, equally
    many, lack ``(3k - 2) n`` over ``2 (2k - 2)``.
    """
    allowed = stretch.plan.allowed
    plan = stretch.plan._replace(
        price=price, spared=float(allowed), spared_lack=0.5 * (3 * k - 2) * allowed, stop=False
    )
    return AnnealingSegment(plan, stretch.odds)


def shortened(stretch: AnnealingSegment) -> AnnealingSegment:
    """Return the stretch in a quarter of its steps, to be tried several times."""
    return stretch._replace(plan=stretch.plan._replace(steps=-(-stretch.plan.steps // TRIES)))


AnyTask = TypeVar("AnyTask", bound=Goals)


@dataclass(eq=False)
class Walk(Generic[AnyTask]):
    """A walk under way; the kernel moves ``annealing`` or ``target_state``, the other is None.

    A stretch has ``iterations`` proposals or, if that is None, ``effort`` times the usual ones.
    """

    task: AnyTask
    rng: Generator
    watch: Watch | None = None
    iterations: int | None = None
    effort: float = 1.0
    annealing: pooled.AnnealingState | None = field(default=None, init=False)
    target_state: TargetState | None = field(default=None, init=False)
    classes: node_classes.NodeClasses = field(init=False)
    tally: Ints = field(init=False)
    chunk: int = field(init=False)

    def proposals(self, usual: int) -> int:
        """Return the proposals asked for, or a multiple of these."""
        return proposals(usual, self.iterations, self.effort)

    def anneal(
        self, stretch: AnnealingSegment, prepare: Callable[[int], None] | None = None
    ) -> bool:
        """Follow the schedule; return whether the caller has seen enough."""
        plan, odds = stretch
        for first in range(0, plan.steps, self.chunk):
            if prepare is not None:
                prepare(first)
            last = min(first + self.chunk, plan.steps)
            anneal(self.annealing, self.target_state, plan, odds, self.rng, first, last)
            self.note()
            if self.seen_enough():
                return True
            if plan.stop and node_classes.unprotected_of(self.classes) <= plan.allowed:
                return False
        return False

    def note(self) -> None:
        """Note the best state after a chunk, where hashes may have merged unlike nodes."""

    def seen_enough(self) -> bool:
        """Give the best state to the caller; return whether to stop with it."""
        return self.watch is not None and self.watch(*self.reached())

    def here(self) -> tuple[int, int]:
        """Return the unprotected nodes and the edits of the best state; a rewiring changes two."""
        pairs_an_edit = 2 if self.task.edits == "rewire" else 1
        return int(self.tally[pooled.BEST_UNPROTECTED]), int(
            self.tally[pooled.BEST_CHANGED]
        ) // pairs_an_edit

    def reached(self) -> tuple[int, int]:
        """Return what the best state from any start has of these."""
        return self.here()

    def missed(self) -> int:
        """Return how many nodes more than allowed are unprotected in the best state."""
        return max(self.here()[0] - self.task.allowed, 0)

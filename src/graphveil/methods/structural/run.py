"""One run: the heuristics that the parameters ask for, and the best of what they find."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.measures import partition
from graphveil.methods.structural.bounds import lower_bound
from graphveil.methods.structural.cut import cut
from graphveil.methods.structural.goals import Budget, Full
from graphveil.methods.structural.sampling import sample_edits
from graphveil.methods.structural.search import search
from graphveil.methods.structural.strip import strip
from graphveil.methods.structural.task import SEARCHED, Edited, Task, better
from graphveil.progress import stage
from graphveil.randomness import Randomness

if TYPE_CHECKING:
    from graphveil.methods.structural.method import StructuralAnonymity

Named = Literal["es", "degree", "affected", "unique", "ua", "search", "strip", "cut"]
Watch = Callable[[int, int], bool]


class Result(NamedTuple):
    """The best state, and what it is compared with.

    Parameters
    ----------
    graph, edited
        The edited graph, and its edits.
    left
        The nodes in classes below k.
    left_before
        Their number in the input.
    lower_bound
        The fewest edits of any full solution, where one is known.
    runners_up
        What the other heuristics found, by name.
    """

    graph: Graph
    edited: Edited
    left: NDArray[np.int64]
    left_before: int
    lower_bound: int | None
    runners_up: dict[str, Edited]


def run(method: StructuralAnonymity, graph: Graph, randomness: Randomness) -> Result:
    """Return the best state that the heuristics of these parameters reach, recounted exactly.

    Parameters
    ----------
    method
        The parameters.
    graph
        The input.
    randomness
        A stream for every heuristic.
    """
    task = method.task(graph)
    before = left_in(graph, task)
    start = Edited(_none(), _none(), before.size)
    found: dict[Named, Edited] = {}
    if before.size > task.allowed:
        deadline = time.monotonic() + (method.time_limit_seconds or math.inf)
        for name in _chosen(method, task):
            rng = randomness.stream(f"structural {name}")
            with stage(f"{name}: {before.size:,} nodes left", total=int(before.size)) as advance:
                watch = _watch(deadline, before.size, advance)
                found[name] = _heuristic(name, method, task, rng, watch)
    by_budget = isinstance(method.goal, Budget)
    best, chosen = start, None
    for tried, other in found.items():
        if better(other, best, task, by_budget=by_budget):
            best, chosen = other, tried
    edited = _applied(graph, best)
    left = left_in(edited, task)
    if left.size != best.left:
        raise AssertionError(f"{left.size} nodes are left, {chosen} counted {best.left}")
    return Result(
        graph=edited,
        edited=best,
        left=left,
        left_before=int(before.size),
        lower_bound=lower_bound(task) if isinstance(method.goal, Full) else None,
        runners_up={name: other for name, other in found.items() if name != chosen},
    )


def left_in(graph: Graph, task: Task) -> NDArray[np.int64]:
    """Return the nodes that stand in classes below k."""
    classes = partition(graph, measure=task.measure, distance=task.distance)
    sizes = np.bincount(classes) if classes.size else np.empty(0, dtype=np.int64)
    return np.flatnonzero(sizes[classes] < task.k)


def _chosen(method: StructuralAnonymity, task: Task) -> tuple[Named, ...]:
    """Return the heuristics to run: the one asked for, or those that may win."""
    if method.heuristic != "auto":
        return (method.heuristic,)
    if task.edits == "rewire" or task.measure not in SEARCHED or task.distance != 1:
        return ("ua",)
    if isinstance(method.goal, Budget):
        return ("search",)
    if task.edits != "delete":
        return ("search", "ua")
    return ("search", "strip") if method.preserve_triangles else ("search", "strip", "cut")


def _heuristic(
    name: Named, method: StructuralAnonymity, task: Task, rng: np.random.Generator, watch: Watch
) -> Edited:
    by_budget = isinstance(method.goal, Budget)
    if name == "search":
        return search(task, iterations=method.iterations, by_budget=by_budget, rng=rng, watch=watch)
    if name == "cut" or name == "strip":  # noqa: PLR1714  the type checker narrows by each
        heuristic = cut if name == "cut" else strip
        return heuristic(task, iterations=method.iterations, rng=rng, watch=watch)
    gap = method.recompute_gap_edges or max(1, math.ceil(task.graph.n_edges / 100))
    return sample_edits(task, name, gap=gap, by_budget=by_budget, rng=rng, watch=watch)


def _watch(deadline: float, before: int, advance: Callable[[int], None]) -> Watch:
    """Return the function that moves the bar and says when the time is up."""
    done = 0

    def watch(left: int, edits: int) -> bool:
        nonlocal done
        del edits
        now = max(before - left, done)
        advance(now - done)
        done = now
        return time.monotonic() > deadline

    return watch


def _applied(graph: Graph, edited: Edited) -> Graph:
    """Return the graph with these edges added and deleted."""
    if not edited.cost:
        return graph
    n = max(graph.n_nodes, 1)
    edges = graph.edges().astype(np.int64)
    kept = ~np.isin(edges[:, 0] * n + edges[:, 1], _keys(edited.deleted, n))
    ends = np.concatenate([edges[kept], edited.added.astype(np.int64)])
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=graph.n_nodes, ids=graph.ids)


def _keys(edges: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    wide = edges.astype(np.int64)
    return wide[:, 0] * n + wide[:, 1]


def _none() -> NDArray[np.int32]:
    return np.empty((0, 2), dtype=np.int32)

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
from graphveil.methods.structural.interrupts import noted
from graphveil.methods.structural.outcome import applied
from graphveil.methods.structural.sampling import sample_edits
from graphveil.methods.structural.search import search
from graphveil.methods.structural.strip import strip
from graphveil.methods.structural.target import target
from graphveil.methods.structural.target_phases import aimed
from graphveil.methods.structural.task import Edited, Task, better, searchable
from graphveil.progress import stage
from graphveil.randomness import Randomness

if TYPE_CHECKING:
    from graphveil.methods.structural.method import StructuralAnonymity

Named = Literal["es", "degree", "affected", "unique", "ua", "search", "strip", "cut", "target"]
Watch = Callable[[int, int], bool]

STARTS: tuple[Named, ...] = ("strip", "cut")
"""Those that look for the fewest deletions until nobody is left, whatever the budget."""

LARGE_BUDGET = 0.2
"""The share of edges from which a budget may suffice for everybody, by `STARTS`."""


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
    interrupted
        Whether an interrupt cut the run short.
    """

    graph: Graph
    edited: Edited
    left: NDArray[np.int64]
    left_before: int
    lower_bound: int | None
    runners_up: dict[str, Edited]
    interrupted: bool


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

    Raises
    ------
    KeyboardInterrupt
        Unless the best so far is asked for.
    """
    task = method.task(graph)
    before = left_in(graph, task)
    with noted(wanted=method.on_interrupt == "best") as interrupted:
        missed = before.size > task.allowed
        found = _try_all(method, task, randomness, before.size, interrupted) if missed else {}
    best, chosen = Edited(_none(), _none(), before.size), None
    for tried, other in found.items():
        if better(other, best, task, by_budget=isinstance(method.goal, Budget)):
            best, chosen = other, tried
    edited = applied(graph, best)
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
        interrupted=interrupted(),
    )


def left_in(graph: Graph, task: Task) -> NDArray[np.int64]:
    """Return the nodes that stand in classes below k."""
    classes = partition(graph, measure=task.measure, distance=task.distance)
    sizes = np.bincount(classes) if classes.size else np.empty(0, dtype=np.int64)
    return np.flatnonzero(sizes[classes] < task.k)


def _try_all(
    method: StructuralAnonymity,
    task: Task,
    randomness: Randomness,
    before: int,
    interrupted: Callable[[], bool],
) -> dict[Named, Edited]:
    """Return what every heuristic finds; each gets its part of the time that is left."""
    found: dict[Named, Edited] = {}
    names = _chosen(method, task)
    limit = method.time_limit_seconds
    deadline = math.inf if limit is None else time.monotonic() + limit
    for place, name in enumerate(names):
        now = time.monotonic()
        if found and (interrupted() or now > deadline):
            break
        until = now + (deadline - now) / (len(names) - place)
        rng = randomness.stream(f"structural {name}")
        with stage(f"{name}: {before:,} nodes left", total=before) as advance:
            watch = _watch(until, before, advance, interrupted)
            result = _heuristic(name, method, task, rng, watch)
        if name not in STARTS or result.cost <= task.budget:
            found[name] = result
    return found


def _chosen(method: StructuralAnonymity, task: Task) -> tuple[Named, ...]:
    """Return the heuristics to run: the one asked for, or those that may win."""
    if method.heuristic != "auto":
        return (method.heuristic,)
    if not searchable(task):
        return ("ua", "search")
    aims = aimed(task.measure, task.distance, task.edits)
    starts = STARTS[:1] if method.preserve_triangles else STARTS
    if isinstance(method.goal, Budget):
        names: tuple[Named, ...] = ("ua", "target", "search") if aims else ("ua", "search")
        large = task.budget >= LARGE_BUDGET * task.graph.n_edges and task.edits != "add"
        return (*names, *starts) if large else names
    if task.edits == "add":
        return ("search", "ua")
    return ("target", "search", *starts) if aims else ("search", *starts)


def _heuristic(
    name: Named, method: StructuralAnonymity, task: Task, rng: np.random.Generator, watch: Watch
) -> Edited:
    by_budget = isinstance(method.goal, Budget)
    if name == "search" or name == "target":  # noqa: PLR1714  the type checker narrows by each
        walk = search if name == "search" else target
        return walk(task, iterations=method.iterations, by_budget=by_budget, rng=rng, watch=watch)
    if name == "cut" or name == "strip":  # noqa: PLR1714  as above
        start = cut if name == "cut" else strip
        deletions = task._replace(edits="delete", budget=task.graph.n_edges)
        return start(deletions, iterations=method.iterations, rng=rng, watch=watch)
    gap = method.recompute_gap_edges or max(1, math.ceil(task.graph.n_edges / 100))
    return sample_edits(task, name, gap=gap, by_budget=by_budget, rng=rng, watch=watch)


def _watch(
    until: float, before: int, advance: Callable[[int], None], interrupted: Callable[[], bool]
) -> Watch:
    """Return the function that moves the bar and says when it is enough."""
    done = 0

    def watch(left: int, edits: int) -> bool:
        nonlocal done
        del edits
        now = max(before - left, done)
        advance(now - done)
        done = now
        return interrupted() or time.monotonic() > until

    return watch


def _none() -> NDArray[np.int32]:
    return np.empty((0, 2), dtype=np.int32)

"""One run: the heuristics that the parameters ask for, and the best of what they reach."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.methods.structural.annealing.fuzzy import search_under_uncertainty
from graphveil.methods.structural.annealing.mirror import mirror
from graphveil.methods.structural.annealing.starts import cut, strip
from graphveil.methods.structural.annealing.walk import search
from graphveil.methods.structural.outcome import (
    applied,
    average_clustering,
    figures,
    left_to_others,
    lower_bound,
    nearly_unprotected_in,
    unprotected_in,
)
from graphveil.methods.structural.paper.sampling import sample_edits
from graphveil.methods.structural.target.walk import target
from graphveil.methods.structural.task import (
    Edited,
    Sampling,
    Settings,
    Task,
    Walking,
    Watch,
    better,
    counted_by_codes,
    known_to_target,
)
from graphveil.progress import stage
from graphveil.randomness import Randomness

WALKS = {"search": search, "target": target, "strip": strip, "cut": cut, "mirror": mirror}
STARTS: tuple[Walking, ...] = ("strip", "cut")
DELETING = {*STARTS, "mirror"}
"""Those that look for the fewest deletions that protect everybody, whatever the budget."""

CUT_NEEDS = 0.5
"""The share of edges that cut deletes, at most as a rule."""

STRIP_AGAIN = 0.4
"""The share of edges from which on strip runs again, if it had given up because cut would follow.
"""

LARGE_BUDGET = 0.2
"""The share of edges from which a budget may suffice for everybody, by `STARTS`."""


class Result(NamedTuple):
    """The best state, and what it is compared with.

    Parameters
    ----------
    graph, edited
        The edited graph, and its edits.
    unprotected
        The nodes in classes below k.
    unprotected_before
        Their number in the input.
    lower_bound
        The fewest edits of any full solution, where one is known.
    runners_up
        What the other heuristics reached, by name.
    interrupted
        Whether an interrupt cut the run short.
    """

    graph: Graph
    edited: Edited
    unprotected: NDArray[np.int64]
    unprotected_before: int
    lower_bound: int | None
    runners_up: dict[str, Edited]
    interrupted: bool


def run(task: Task, settings: Settings, randomness: Randomness) -> Result:
    """Return the best state that these heuristics reach, recounted exactly.

    Parameters
    ----------
    task
        The input, the edits and the goal.
    settings
        The heuristics.
    randomness
        A stream for every heuristic.

    Raises
    ------
    KeyboardInterrupt
        Unless the best so far is asked for.
    """
    before = unprotected_in(task.graph, task).size
    nearly = nearly_unprotected_in(task.graph, task)
    with noted(wanted=settings.on_interrupt == "best") as interrupted:
        missed = before > task.allowed or bool(nearly)
        results = _try_all(task, settings, randomness, before, interrupted) if missed else {}
    none = np.empty((0, 2), dtype=np.int32)
    best, chosen = Edited(none, none, before, nearly), None
    for name, other in results.items():
        if better(other, best, task):
            best, chosen = other, name
    graph = applied(task.graph, best)
    unprotected = unprotected_in(graph, task)
    if unprotected.size != best.unprotected:
        raise AssertionError(
            f"{unprotected.size} are unprotected, not {best.unprotected}: {chosen}"
        )
    return Result(
        graph=graph,
        edited=best,
        unprotected=unprotected,
        unprotected_before=before,
        lower_bound=None if task.by_budget else lower_bound(task),
        runners_up={name: other for name, other in results.items() if name != chosen},
        interrupted=interrupted(),
    )


def _try_all(
    task: Task,
    settings: Settings,
    randomness: Randomness,
    before: int,
    interrupted: Callable[[], bool],
) -> dict[str, Edited]:
    """Return what every heuristic reaches; each gets its share of the time that remains.

    Where strip may have given up because cut would follow, and all have missed the goal or reached
    it with many edits, it runs once more.
    """
    results: dict[str, Edited] = {}
    names = [*_chosen(task, settings)]
    limit = settings.time_limit_seconds
    deadline = math.inf if limit is None else time.monotonic() + limit
    while names:
        name = names.pop(0)
        now = time.monotonic()
        if results and (interrupted() or now > deadline):
            break
        until = now + (deadline - now) / (len(names) + 1)
        to_beat = _to_beat(task, results.values(), cut_follows="cut" in names)
        aim = task._replace(to_beat=to_beat)
        rng = randomness.stream(f"structural {name}")
        with stage(f"{name}: {before:,} nodes unprotected", total=before) as advance:
            watch = watching(until, before, advance, interrupted)
            edited = _heuristic(name, aim, settings, rng, watch)
        if name not in DELETING or edited.cost <= task.budget:
            before_it = results.get(name, edited)
            results[name] = before_it if better(before_it, edited, task) else edited
        if not names and name != "strip" and _asks_for_strip(task, results):
            names = ["strip"]
    return results


def _asks_for_strip(task: Task, results: dict[str, Edited]) -> bool:
    """Return whether strip, cut and all others missed a goal, or reached it with many edits.

    A budget sets no goal.
    """
    fewest = _to_beat(task, results.values(), cut_follows=False)
    many = fewest is None or fewest > STRIP_AGAIN * task.graph.n_edges
    return many and not task.by_budget and results.keys() >= {*STARTS}


def _to_beat(task: Task, results: Iterable[Edited], *, cut_follows: bool) -> int | None:
    """Return the fewest edits with which a goal is reached; a budget sets no number to beat.

    Where cut follows, no more than it is likely to need.
    """
    reached = [edited.cost for edited in results if edited.unprotected <= task.allowed]
    if cut_follows:
        reached.append(round(CUT_NEEDS * task.graph.n_edges))
    return None if task.by_budget else min(reached, default=None)


def _chosen(task: Task, settings: Settings) -> tuple[Sampling | Walking, ...]:
    """Return the heuristics to run: the one asked for, or those that may win, the cheap first."""
    asked = "search" if task.phi else settings.heuristic
    if asked != "auto":
        return (asked,)
    mirrors: tuple[Walking, ...] = ("mirror",) if task.k == 2 else ()
    if not counted_by_codes(task):
        apart = task.edits != "delete" or task.by_budget
        others: tuple[Walking, ...] = ("search", *(() if apart else mirrors))
        return ("ua", *(others if task.colors is None else ()))
    aimed = known_to_target(task.measure, task.distance, task.edits)
    starts = (*(STARTS[:1] if settings.preserve_triangles else STARTS), *mirrors)
    if task.by_budget:
        names: tuple[Sampling | Walking, ...] = (
            ("ua", "target", "search") if aimed else ("ua", "search")
        )
        large = task.budget >= LARGE_BUDGET * task.graph.n_edges and task.edits != "add"
        return (*names, *starts) if large else names
    if task.edits == "add":
        return ("search", "ua")
    if task.edits == "delete" and task.allowed == 0:
        return starts  # each searches on its way, from a state that is nearer the goal
    return (*starts, "search", "target") if aimed else ("search", *starts)


def _heuristic(
    name: Sampling | Walking,
    task: Task,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch,
) -> Edited:
    if name in DELETING:
        task = task._replace(edits="delete", budget=task.graph.n_edges)
    walk = search_under_uncertainty if task.phi else WALKS.get(name)
    if walk is not None:
        steps, effort = settings.iterations, settings.effort
        return walk(task, iterations=steps, effort=effort, rng=rng, watch=watch)
    gap = settings.recompute_gap_edges or max(1, math.ceil(task.graph.n_edges / 100))
    return sample_edits(task, cast("Sampling", name), gap=gap, rng=rng, watch=watch)


def watching(
    until: float, before: int, advance: Callable[[int], None], interrupted: Callable[[], bool]
) -> Watch:
    """Return the function that moves the bar and says when it is enough.

    Parameters
    ----------
    until
        The time, as `time.monotonic` tells it, from which on it is.
    before
        How many nodes were unprotected.
    advance
        Moves the bar.
    interrupted
        Whether somebody has interrupted.
    """
    done = 0

    def watch(unprotected: int, edits: int) -> bool:
        nonlocal done
        del edits
        now = max(before - unprotected, done)
        advance(now - done)
        done = now
        return interrupted() or time.monotonic() > until

    return watch


@contextmanager
def noted(*, wanted: bool) -> Iterator[Callable[[], bool]]:
    """Note the first interrupt instead of raising it; yields whether there was one.

    A second interrupt is raised. Only the main thread is interrupted, so elsewhere, and where not
    wanted, nothing changes.

    Examples
    --------
    >>> with noted(wanted=True) as interrupted:
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupted()
    True
    """
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not wanted or not main or before in (signal.SIG_IGN, None):
        yield pressed.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        del number, frame
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def cost_of(task: Task, result: Result) -> dict[str, float | int]:
    """Return what a run cost, beside what the other ways that it tried would have.

    Parameters
    ----------
    task
        What was asked of the run.
    result
        Its edits, those of the other ways, and the least that any need, where it is known.
    """
    graph, edited = task.graph, result.edited
    cost: dict[str, float | int] = {
        "edges_before": graph.n_edges,
        "edges_added": len(edited.added),
        "edges_deleted": len(edited.deleted),
        **figures(graph, edited),
        "nodes_unprotected_before": result.unprotected_before,
        "nodes_allowed_unprotected": task.allowed,
        "clustering_before": average_clustering(graph),
    }
    bound = result.lower_bound
    if bound is not None:
        cost["edits_lower_bound"] = bound
        cost["edits_over_lower_bound"] = edited.cost / bound if bound else 1.0
    if task.phi:
        cost |= left_to_others(result.graph, phi=task.phi, k=task.k)
    for name, other in result.runners_up.items():
        cost |= {f"{name}_{what}": value for what, value in figures(graph, other).items()}
    return cost

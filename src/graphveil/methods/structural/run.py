"""One run: the heuristics that the parameters ask for, and the best of what they reach.

`run` counts the input, runs every heuristic of `_chosen` (the portfolio of ``auto``, or the one
asked for), takes the best by `task.better`, and counts the unprotected nodes of the edited graph
once more.

No heuristic depends on another: each gets the input, a random stream of its own and, under a time
limit, a share of the time that remains, but nothing of what the others reached. So, without a time
limit, each ends where it would end by itself with the same seed, and one more heuristic never makes
the result worse. Cost: the sum of the heuristics.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple, cast

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Ints
from graphveil.core.bounds import Bound
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.annealing import task as tasks
from graphveil.methods.annealing.bounds import lower_bound, over_bound
from graphveil.methods.annealing.task import Edited, Task, Watch
from graphveil.methods.structural import recount, starts, uncertainty, utility
from graphveil.methods.structural import search as searches
from graphveil.methods.structural.paper import sample_edits
from graphveil.methods.structural.settings import Sampling, Settings, Walking, known_to_target
from graphveil.methods.structural.target import target

WALKS: dict[str, searches.Heuristic] = {
    "search": searches.search,
    "target": target,
    "strip": starts.strip,
    "cut": starts.cut,
    "mirror": starts.mirror,
}
"""The heuristics of graphveil, by name; the paper's are in `paper`."""

STARTS: tuple[Walking, ...] = ("strip", "cut")
"""Heuristics that first delete many edges and then restore what they can."""

DELETING = {*STARTS, "mirror"}
"""Those that look for the fewest deletions that protect everybody, whatever the budget."""

LARGE_BUDGET = 0.2
"""The share of edges from which a budget may suffice for everybody, by `STARTS`."""


class Result(NamedTuple):
    """The best state, what it is compared with, and what the other heuristics reached, by name.

    Parameters
    ----------
    graph
        The edited graph.
    edited
        Its edits.
    unprotected
        Its nodes in classes below k, int64.
    unprotected_before
        How many the input had.
    lower_bound
        No result of a full goal has fewer edits; None if no bound is known.
    runners_up
        The best state of every heuristic that did not win.
    interrupted
        Whether an interrupt ended the run.
    """

    graph: Graph
    edited: Edited
    unprotected: Ints
    unprotected_before: int
    lower_bound: int | None
    runners_up: dict[str, Edited]
    interrupted: bool


def run(task: Task, settings: Settings, randomness: Randomness) -> Result:
    """Return the best state that these heuristics reach, recomputed exactly."""
    # Step 1: the input as it is; without anything to do, no heuristic runs.
    if settings.until:
        utility.check_bounds(task.graph, settings.until)
    before = recount.unprotected_in(task.graph, task).size
    nearly = recount.nearly_unprotected_in(task.graph, task)
    limit = settings.time_limit_seconds
    deadline = math.inf if limit is None else time.monotonic() + limit
    with noted(wanted=settings.on_interrupt == "best") as interrupted:
        missed = before > task.allowed or bool(nearly)
        results = _try_all(task, settings, randomness, before, interrupted) if missed else {}
        # Step 2: the best of the heuristics, and of no edits at all.
        none = np.empty((0, 2), dtype=np.int32)
        best, chosen = Edited(none, none, before, nearly), None
        for name, other in results.items():
            if tasks.better(other, best, task):
                best, chosen = other, name
        # Step 3: within a budget of deletions, look again for edits that keep more of the network.
        asked = settings.keep or settings.spend_least or settings.until
        fits = task.by_budget and task.edits == "delete" and not task.phi
        fits = fits and tasks.counted_by_codes(task) and settings.heuristic in {"auto", "search"}
        if best.cost and asked and fits:
            watch = watching(deadline, before, lambda _: None, interrupted)
            rng = randomness.stream("structural prices")
            with stage("looking for fewer edits that keep more"):
                search_again = utility.within_bounds if settings.until else utility.with_prices
                priced = search_again(task, best, before, settings, rng, watch)
            results[PLAIN], best, chosen = results.pop(str(chosen)), priced, "prices"
    # Step 4: the claim rests on an exact count of the edited graph, never on that of a walk.
    graph = recount.applied(task.graph, best)
    unprotected = recount.unprotected_in(graph, task)
    if unprotected.size != best.unprotected:
        raise AssertionError(
            f"{unprotected.size} nodes are unprotected, not {best.unprotected}: {chosen}"
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


PLAIN = "plain"
"""The name of the best that was found without prices, where edits have some."""


def _try_all(
    task: Task,
    settings: Settings,
    randomness: Randomness,
    before: int,
    interrupted: Callable[[], bool],
) -> dict[str, Edited]:
    """Return what every heuristic reaches, by name; each gets its share of the time that remains.

    Omitted is what ran after an interrupt or the time limit, unless it is the first, and what needs
    more edits than the budget.
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
        # A stream of its own: what a heuristic draws does not depend on which ran before it.
        rng = randomness.stream(f"structural {name}")
        with stage(f"{name}: {before:,} nodes unprotected", total=before) as advance:
            watch = watching(until, before, advance, interrupted)
            edited = _heuristic(name, task, settings, rng, watch)
        if name not in DELETING or edited.cost <= task.budget:
            results[name] = edited
    return results


def _chosen(task: Task, settings: Settings) -> tuple[Sampling | Walking, ...]:
    """Return the heuristics to run: the one asked for, or those that may win, the cheap first.

    - A measure that is not followed by codes, or rewiring: ua; without attributes also search, and
      mirror for deletions towards a goal.
    - A budget: ua, target (count, edits=any) and search; the starts if the budget is large.
    - Additions towards a goal: search and ua.
    - Deletions towards a full goal: the starts, each of which searches on its way, from a state
    that
      is nearer the goal than the input.
    - Another goal: the starts and search; with count and edits=any also target.

    The starts are `STARTS`, without cut if triangles are preserved, and mirror for k=2.
    """
    asked = "search" if task.phi else settings.heuristic
    if asked != "auto":
        return (asked,)
    mirrors: tuple[Walking, ...] = ("mirror",) if task.k == 2 else ()
    if not tasks.counted_by_codes(task):
        # MIRROR only deletes, and looks for the fewest deletions that reach a goal.
        unfit = task.edits != "delete" or task.by_budget
        others: tuple[Walking, ...] = ("search", *(() if unfit else mirrors))
        return ("ua", *(others if task.colors is None else ()))
    aimed = known_to_target(task.measure, task.distance, task.edits)
    starts = (*(STARTS[:1] if settings.preserve_triangles else STARTS), *mirrors)
    if task.by_budget:
        names: tuple[Sampling | Walking, ...] = ("ua", *(("target",) if aimed else ()), "search")
        large = task.budget >= LARGE_BUDGET * task.graph.n_edges and task.edits != "add"
        return (*names, *starts) if large else names
    if task.edits == "add":
        return ("search", "ua")
    if task.edits == "delete" and task.allowed == 0:
        return starts
    return (*starts, "search", "target") if aimed else ("search", *starts)


def _heuristic(
    name: Sampling | Walking, task: Task, settings: Settings, rng: Generator, watch: Watch
) -> Edited:
    # Starts look for the fewest deletions that reach the goal, whatever the budget; `_try_all`
    # drops results beyond it.
    if name in DELETING:
        task = task._replace(edits="delete", budget=task.graph.n_edges)
    walk = uncertainty.search_under_uncertainty if task.phi else WALKS.get(name)
    if walk is not None:
        steps, effort = settings.iterations, settings.effort
        return walk(task, iterations=steps, effort=effort, rng=rng, watch=watch)
    gap = settings.recompute_gap_edges or max(1, math.ceil(task.graph.n_edges / 100))
    return sample_edits(task, cast("Sampling", name), gap=gap, rng=rng, watch=watch)


def watching(
    until: float, before: int, advance: Callable[[int], None], interrupted: Callable[[], bool]
) -> Watch:
    """Return the function that moves the bar and says whether `until`, a time, has come."""
    done = 0

    def watch(unprotected: int, _edits: int) -> bool:
        nonlocal done
        now = max(before - unprotected, done)
        advance(now - done)
        done = now
        return interrupted() or time.monotonic() > until

    return watch


@contextmanager
def noted(*, wanted: bool) -> Iterator[Callable[[], bool]]:
    """Note the first interrupt instead of raising it; yields whether there was one.

    A second one is raised. Elsewhere than in the main thread, and where not wanted, nothing
    changes.
    """
    pressed = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not wanted or not main or before in (signal.SIG_IGN, None):
        yield pressed.is_set
        return

    def note(_number: int, _frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


UNTIL = "until "
"""Begins the name of a fact that a bound is on; the metric and its part follow."""


def facts_of(
    task: Task, result: Result, *, keep: Collection[str] = (), until: Collection[Bound] = ()
) -> dict[str, float | int]:
    """Return what a run knows of its result, and what the other ways that it tried would have."""
    graph, edited = task.graph, result.edited
    facts: dict[str, float | int] = {
        **recount.figures(graph, edited),
        "nodes_unprotected_before": result.unprotected_before,
        "nodes_allowed_unprotected": task.allowed,
        "clustering_before": recount.average_clustering(graph),
    }
    facts |= over_bound(edited.cost, result.lower_bound)
    if task.phi:
        facts |= recount.left_to_others(result.graph, phi=task.phi, k=task.k)
    if PLAIN in result.runners_up and keep:
        facts |= utility.kept_facts(graph, result.graph)
    if until:
        measured = utility.compared(
            utility.shape_of(graph, until), utility.shape_of(result.graph, until), until
        )
        facts |= {f"{UNTIL}{bound.what}": value for bound, value in measured.items()}
    for name, other in result.runners_up.items():
        facts |= {f"{name}_{what}": value for what, value in recount.figures(graph, other).items()}
    return facts

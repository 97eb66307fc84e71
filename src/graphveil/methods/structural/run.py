"""One run: the heuristics that the parameters ask for, and the best of what they reach."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple, cast

import numpy as np
from numpy.random import Generator

from graphveil.core.bounds import Bound
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Graph, Network
from graphveil.measures.values import either_way
from graphveil.methods.attributes import Ints
from graphveil.methods.profile.pool import applied as pool_applied
from graphveil.methods.profile.pool import checked, pairs_of, walk_of
from graphveil.methods.profile.pool import unprotected_in as pool_unprotected_in
from graphveil.methods.structural import search as searches
from graphveil.methods.structural import task as tasks
from graphveil.methods.structural import utility
from graphveil.methods.structural import walk_state as states
from graphveil.methods.structural.paper import sample_edits
from graphveil.methods.structural.target import target
from graphveil.methods.structural.task import Edited, Sampling, Settings, Task, Walking, Watch
from graphveil.methods.structural.walk_state import lower_bound

WALKS: dict[str, searches.Heuristic] = {
    "search": searches.search,
    "target": target,
    "strip": searches.strip,
    "cut": searches.cut,
    "mirror": searches.mirror,
}
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
    """The best state, what it is compared with, and what the other heuristics reached, by name."""

    graph: Graph
    edited: Edited
    unprotected: Ints
    unprotected_before: int
    lower_bound: int | None
    runners_up: dict[str, Edited]
    interrupted: bool


def run(task: Task, settings: Settings, randomness: Randomness) -> Result:
    """Return the best state that these heuristics reach, recomputed exactly."""
    if settings.until:
        utility.check_bounds(task.graph, settings.until)
    before = states.unprotected_in(task.graph, task).size
    nearly = states.nearly_unprotected_in(task.graph, task)
    limit = settings.time_limit_seconds
    deadline = math.inf if limit is None else time.monotonic() + limit
    with noted(wanted=settings.on_interrupt == "best") as interrupted:
        missed = before > task.allowed or bool(nearly)
        results = _try_all(task, settings, randomness, before, interrupted) if missed else {}
        none = np.empty((0, 2), dtype=np.int32)
        best, chosen = Edited(none, none, before, nearly), None
        for name, other in results.items():
            if tasks.better(other, best, task):
                best, chosen = other, name
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
    graph = states.applied(task.graph, best)
    unprotected = states.unprotected_in(graph, task)
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
    """Return what every heuristic reaches; each gets its share of the time that remains."""
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
            results[name] = before_it if tasks.better(before_it, edited, task) else edited
        if not names and name != "strip" and not task.by_budget and results.keys() >= {*STARTS}:
            fewest = _to_beat(task, results.values(), cut_follows=False)
            if fewest is None or fewest > STRIP_AGAIN * task.graph.n_edges:
                names = ["strip"]
    return results


def _to_beat(task: Task, results: Iterable[Edited], *, cut_follows: bool) -> int | None:
    """Return the fewest edits with which a goal is reached; with cut to come, at most its needs."""
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
    if not tasks.counted_by_codes(task):
        apart = task.edits != "delete" or task.by_budget
        others: tuple[Walking, ...] = ("search", *(() if apart else mirrors))
        return ("ua", *(others if task.colors is None else ()))
    aimed = tasks.known_to_target(task.measure, task.distance, task.edits)
    starts = (*(STARTS[:1] if settings.preserve_triangles else STARTS), *mirrors)
    if task.by_budget:
        names: tuple[Sampling | Walking, ...] = ("ua", *(("target",) if aimed else ()), "search")
        large = task.budget >= LARGE_BUDGET * task.graph.n_edges and task.edits != "add"
        return (*names, *starts) if large else names
    if task.edits == "add":
        return ("search", "ua")
    if task.edits == "delete" and task.allowed == 0:
        return starts  # each searches on its way, from a state that is nearer the goal
    return (*starts, "search", "target") if aimed else ("search", *starts)


def _heuristic(
    name: Sampling | Walking, task: Task, settings: Settings, rng: Generator, watch: Watch
) -> Edited:
    if name in DELETING:
        task = task._replace(edits="delete", budget=task.graph.n_edges)
    walk = searches.search_under_uncertainty if task.phi else WALKS.get(name)
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
        **states.figures(graph, edited),
        "nodes_unprotected_before": result.unprotected_before,
        "nodes_allowed_unprotected": task.allowed,
        "clustering_before": states.average_clustering(graph),
    }
    facts |= states.over_bound(edited.cost, result.lower_bound)
    if task.phi:
        facts |= states.left_to_others(result.graph, phi=task.phi, k=task.k)
    if PLAIN in result.runners_up and keep:
        facts |= utility.kept_facts(graph, result.graph)
    if until:
        measured = utility.compared(
            utility.shape_of(graph, until), utility.shape_of(result.graph, until), until
        )
        facts |= {f"{UNTIL}{bound.what}": value for bound, value in measured.items()}
    for name, other in result.runners_up.items():
        facts |= {f"{name}_{what}": value for what, value in states.figures(graph, other).items()}
    return facts


DELETIONS = "deletions"
"""The walk that adds nothing where additions are allowed: with few edits it often gains more."""

Walk = searches.AnnealingWalk[tasks.ProfileTask]
Follow = Callable[[Walk], None]


class ArcResult(NamedTuple):
    """The best edges of a run, and what they are compared with."""

    network: Network
    edited: tasks.ChangedTies
    unprotected: Ints
    unprotected_before: int
    interrupted: bool


def run_on_arcs(task: tasks.ProfileTask, settings: Settings, randomness: Randomness) -> ArcResult:
    """Return the best edges that walks reach, their unprotected people recomputed exactly."""
    none = np.empty(0, dtype=np.int64)
    before = pool_unprotected_in(task.network, task.colors, task.k, measure=task.measure).size
    best = tasks.ChangedTies(none, none, before)
    with noted(wanted=settings.on_interrupt == "best") as interrupted:
        if before > task.allowed:
            best = _best_of_walks(task, settings, randomness, best, interrupted)
    network = Network(tuple(each.layer for each in pool_applied(task.network, best).layers))
    unprotected = pool_unprotected_in(network, task.colors, task.k, measure=task.measure)
    return ArcResult(network, best, unprotected, before, interrupted())


def _best_of_walks(
    task: tasks.ProfileTask,
    settings: Settings,
    randomness: Randomness,
    best: tasks.ChangedTies,
    interrupted: Callable[[], bool],
) -> tasks.ChangedTies:
    """Return the best of these edits and those of all walks, each with its share of the time."""
    walks, before = _walks(task, settings), best.unprotected
    limit = settings.time_limit_seconds
    deadline = math.inf if limit is None else time.monotonic() + limit
    for at, (name, follow) in enumerate(walks.items()):
        now = time.monotonic()
        if at and (interrupted() or now > deadline):
            break
        until = now + (deadline - now) / (len(walks) - at)
        # Deletions alone draw as those of a run that may only delete.
        drawn = {DELETIONS: "search", "search": "any" if task.edits == "any" else "search"}
        rng = randomness.stream(f"structural arcs {drawn.get(name, name)}")
        with stage(f"{name}: {before:,} nodes unprotected", total=before) as advance:
            watch = watching(until, before, advance, interrupted)
            aim = _aim(task, name)
            pairs = pairs_of(aim, np.empty(0, dtype=np.int64), rng)
            walk = walk_of(aim, pairs, rng, watch)
            walk.iterations, walk.effort = settings.iterations, settings.effort
            follow(walk)
            found = checked(aim, pairs, walk)
        if found.cost <= task.budget and tasks.better(found, best, task):
            best = found
    return best


def _aim(task: tasks.ProfileTask, name: str) -> tasks.ProfileTask:
    """Return what a walk looks for: those from a start of their own, the fewest edits for all."""
    if name == DELETIONS:
        return task._replace(edits="delete")
    if name == "search":
        return task
    return task._replace(by_budget=False, budget=task.n_edges)


def _walks(task: tasks.ProfileTask, settings: Settings) -> dict[str, Follow]:
    """Return the walks that may win: from the input, where hubs are worn down, and from a cut."""
    starts: dict[str, Follow] = {"hubs": searches.from_hubs}
    if not settings.preserve_triangles:
        starts["cut"] = _from_cut
    if task.edits == "add":
        starts = {}
    if not task.by_budget:
        return starts or {"search": _from_input}
    alone: dict[str, Follow] = {DELETIONS: _from_input} if task.edits == "any" else {}
    large = task.budget >= LARGE_BUDGET * task.n_edges
    return {**alone, "search": _from_input, **(starts if large else {})}


def _from_input(walk: Walk) -> None:
    """Anneal from the input, longer and longer while it gains, or on to the fewest edits."""
    task, steps = walk.task, walk.proposals(states.usual_steps(walk.task, walk.work))
    stretch = states.within_budget(task, steps)
    if task.by_budget and walk.iterations is None:
        searches.search_until_no_gain(walk, stretch)
    elif not walk.anneal(stretch) and not task.by_budget:
        searches.towards_goal(walk, steps)


def _from_cut(walk: Walk) -> None:
    """Delete the edges inside the sides of a large cut, then as `from_hubs`."""
    around = either_way(walk.task.network.layers[0])
    if searches.without_triangles(walk, around.indptr, around.indices) or searches.strip_hubs(walk):
        return
    walk.back_to_best()
    searches.towards_goal(walk, walk.goal_steps())


def arcs_lower_bound(task: tasks.ProfileTask) -> int | None:
    """No network in which everybody is anonymous has fewer edits; None without a bound.

    Edges out alone are shared by k people of a color, and edges in alone; an edit changes each by
    one.
    """
    if task.allowed or task.by_budget:
        return None
    profiles = task.network.profiles().T
    bounds = [states.least_change(each, task.colors, task.k, task.edits) for each in profiles]
    known = [bound for bound in bounds if bound is not None]
    return None if len(known) < len(bounds) else max(known, default=0)


def facts_of_arcs(task: tasks.ProfileTask, result: ArcResult) -> dict[str, float | int]:
    """Return what a run knows of its result: for the owner alone."""
    ties, edited = task.n_edges, result.edited
    facts: dict[str, float | int] = {
        "edits": edited.cost,
        "edges_kept_share": 1 - edited.deleted.size / ties if ties else 1.0,
        "mutual_before": task.network.layers[0].n_mutual(),
        "mutual": result.network.layers[0].n_mutual(),
        "nodes_unprotected": edited.unprotected,
        "nodes_unprotected_before": result.unprotected_before,
        "nodes_allowed_unprotected": task.allowed,
    }
    return facts | states.over_bound(edited.cost, arcs_lower_bound(task))

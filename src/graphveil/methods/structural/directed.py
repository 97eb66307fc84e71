"""One run over directed edges (the measure directed-count): its walks, and the best of them.

As `run` for graphs, but the walks move over directed edges: `profile.pool` makes their state. What
an attacker knows of a person is the out-degree, the in-degree, the number of neighbors, and the
number of edges among these and the person. The walks are those of `annealing.walk` and two starts
of `starts`; no walk depends on another.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphveil.core.array_types import Ints
from graphveil.core.progress import stage
from graphveil.core.randomness import Randomness
from graphveil.data import Network
from graphveil.measures.values import either_way
from graphveil.methods.annealing import schedule as schedules
from graphveil.methods.annealing import task as tasks
from graphveil.methods.annealing import walk as walks
from graphveil.methods.annealing.bounds import least_change, over_bound
from graphveil.methods.profile.pool import applied as pool_applied
from graphveil.methods.profile.pool import checked, pairs_of, walk_of
from graphveil.methods.profile.pool import unprotected_in as pool_unprotected_in
from graphveil.methods.structural import starts as starting
from graphveil.methods.structural.run import LARGE_BUDGET, noted, watching
from graphveil.methods.structural.settings import Settings

DELETIONS = "deletions"
"""The walk that adds nothing where additions are allowed: with few edits it often gains more."""

Walk = walks.AnnealingWalk[tasks.ProfileTask]
Follow = Callable[[Walk], None]


class ArcResult(NamedTuple):
    """The best edges of a run, and what they are compared with.

    Parameters
    ----------
    network
        The edited network.
    edited
        The edges that came and went.
    unprotected
        The people in classes below k in the edited network, int64.
    unprotected_before
        How many there were in the input.
    interrupted
        Whether an interrupt ended the run.
    """

    network: Network
    edited: tasks.ChangedTies
    unprotected: Ints
    unprotected_before: int
    interrupted: bool


def run_on_arcs(task: tasks.ProfileTask, settings: Settings, randomness: Randomness) -> ArcResult:
    """Return the best edges that walks reach, their unprotected people recomputed exactly."""
    # No edit is made if the goal is reached. Otherwise the best walk wins, and people are counted
    # anew.
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
        # Deletions alone draw what a run that may only delete would draw.
        streams = {DELETIONS: "search", "search": "any" if task.edits == "any" else "search"}
        rng = randomness.stream(f"structural arcs {streams.get(name, name)}")
        with stage(f"{name}: {before:,} nodes unprotected", total=before) as advance:
            watch = watching(until, before, advance, interrupted)
            # A walk of its own from the input: its pairs, its draws, its part of the time.
            own = _task_of_walk(task, name)
            pairs = pairs_of(own, np.empty(0, dtype=np.int64), rng)
            walk = walk_of(own, pairs, rng, watch)
            walk.iterations, walk.effort = settings.iterations, settings.effort
            follow(walk)
            found = checked(own, pairs, walk)
        # Starts ignore the budget (`_task_of_walk`), so a result beyond it does not count.
        if found.cost <= task.budget and tasks.better(found, best, task):
            best = found
    return best


def _task_of_walk(task: tasks.ProfileTask, name: str) -> tasks.ProfileTask:
    """Return the task of a walk: from a start of its own, the fewest edits that reach the goal."""
    if name == DELETIONS:
        return task._replace(edits="delete")
    if name == "search":
        return task
    return task._replace(by_budget=False, budget=task.n_edges)


def _walks(task: tasks.ProfileTask, settings: Settings) -> dict[str, Follow]:
    """Return the walks that may win: from the input, where hubs are worn down, and from a cut."""
    # Starts only delete first, so they are no use if edges may only be added.
    starts: dict[str, Follow] = {"hubs": starting.from_hubs}
    if not settings.preserve_triangles:
        starts["cut"] = _from_cut
    if task.edits == "add":
        starts = {}
    if not task.by_budget:
        return starts or {"search": _from_input}
    # Within a budget the search from the input; a large budget may suffice for everybody, by a
    # start.
    alone: dict[str, Follow] = {DELETIONS: _from_input} if task.edits == "any" else {}
    large = task.budget >= LARGE_BUDGET * task.n_edges
    return {**alone, "search": _from_input, **(starts if large else {})}


def _from_input(walk: Walk) -> None:
    """Anneal from the input, longer and longer while it gains, or on to the fewest edits."""
    task, steps = walk.task, walk.proposals(schedules.usual_steps(walk.task, walk.work))
    stretch = schedules.within_budget(task, steps)
    if task.by_budget and walk.iterations is None:
        walks.search_until_no_gain(walk, stretch)
    elif not walk.anneal(stretch) and not task.by_budget:
        walks.towards_goal(walk, steps)


def _from_cut(walk: Walk) -> None:
    """Delete the edges inside the sides of a large cut, then as `from_hubs`."""
    around = either_way(walk.task.network.layers[0])
    if starting.without_triangles(walk, around.indptr, around.indices) or starting.strip_hubs(walk):
        return
    walk.back_to_best()
    walks.towards_goal(walk, walk.goal_steps())


def arcs_lower_bound(task: tasks.ProfileTask) -> int | None:
    """No network in which everybody is anonymous has fewer edits; None without a bound.

    Edges out alone are shared by k people of a color, and edges in alone; an edit changes each by
    one.
    """
    if task.allowed or task.by_budget:
        return None
    # Each kind of degree alone gives a bound; all hold, so the largest does.
    profiles = task.network.profiles().T
    bounds = [least_change(each, task.colors, task.k, task.edits) for each in profiles]
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
    return facts | over_bound(edited.cost, arcs_lower_bound(task))

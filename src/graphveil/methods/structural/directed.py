"""Runs for the measure directed-count: directed ties that go or come, looked at one by one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from graphveil.data import Network
from graphveil.measures.directed import either_way
from graphveil.methods.colors import Ints
from graphveil.methods.k_degree.sequence import optimal_plan, runs_of
from graphveil.methods.profile.pool import (
    ChangedTies,
    ProfileTask,
    applied,
    checked,
    pairs_of,
    unprotected_in,
    walk_of,
)
from graphveil.methods.structural.annealing.starts import (
    strip_hubs,
    wear_down,
    without_triangles,
)
from graphveil.methods.structural.annealing.stretches import (
    MOST_STEPS,
    goal_iterations,
    usual_steps,
    within_budget,
)
from graphveil.methods.structural.annealing.walk import (
    AnnealingWalk,
    towards_goal,
    while_it_gains,
)
from graphveil.methods.structural.outcome import by_color
from graphveil.methods.structural.run import LARGE_BUDGET, noted, watching
from graphveil.methods.structural.task import Settings, Watch, better, proposals
from graphveil.progress import stage
from graphveil.randomness import Randomness

DELETIONS = "deletions"
"""The walk that adds nothing where additions are allowed: with few edits it often gains more."""

Walk = AnnealingWalk[ProfileTask]
Follow = Callable[[Walk, Settings], None]


class ArcResult(NamedTuple):
    """The best ties of a run, and what they are compared with.

    Attributes
    ----------
    network
        The edited ties, without attributes.
    edited
        What came and what went.
    unprotected
        The people in classes below k.
    unprotected_before
        Their number in the input.
    interrupted
        Whether an interrupt cut the run short.
    """

    network: Network
    edited: ChangedTies
    unprotected: Ints
    unprotected_before: int
    interrupted: bool


def run_on_arcs(task: ProfileTask, settings: Settings, randomness: Randomness) -> ArcResult:
    """Return the best ties that walks reach, their unprotected people counted again exactly.

    Parameters
    ----------
    task
        The network, its measure directed-count, and the goal.
    settings
        How long, and how.
    randomness
        A stream for every walk.

    Raises
    ------
    KeyboardInterrupt
        Unless the best so far is asked for.

    Examples
    --------
    >>> from graphveil import Layer
    >>> arcs = Layer.from_arcs([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> task = ProfileTask(Network((arcs,)), np.zeros(4, dtype=np.int64), 2, "delete", 4, 0,
    ...                    by_budget=False, measure="directed-count")
    >>> settings = Settings("search", None, 1000, 1.0, False, None, "stop")
    >>> run_on_arcs(task, settings, Randomness(seed=1)).unprotected.size
    0
    """
    none = np.empty(0, dtype=np.int64)
    before = unprotected_in(task.network, task.colors, task.k, measure=task.measure).size
    best = ChangedTies(none, none, before)
    with noted(wanted=settings.on_interrupt == "best") as interrupted:
        if before > task.allowed:
            best = _best_of_walks(task, settings, randomness, best, interrupted)
    network = Network(tuple(each.layer for each in applied(task.network, best).layers))
    unprotected = unprotected_in(network, task.colors, task.k, measure=task.measure)
    return ArcResult(network, best, unprotected, before, interrupted())


def _best_of_walks(
    task: ProfileTask,
    settings: Settings,
    randomness: Randomness,
    best: ChangedTies,
    interrupted: Callable[[], bool],
) -> ChangedTies:
    """Return the best of these edits and those of all walks, each with its share of the time."""
    walks, before = _walks(task, settings), best.unprotected
    limit = settings.time_limit_seconds
    deadline = math.inf if limit is None else time.monotonic() + limit
    for at, (name, follow) in enumerate(walks.items()):
        now = time.monotonic()
        if at and (interrupted() or now > deadline):
            break
        until = now + (deadline - now) / (len(walks) - at)
        rng = randomness.stream(f"structural arcs {_stream_of(name, task)}")
        with stage(f"{name}: {before:,} people unprotected", total=before) as advance:
            watch = watching(until, before, advance, interrupted)
            found = _followed(follow, _aim(task, name), settings, rng, watch)
        if found.cost <= task.budget and better(found, best, task):
            best = found
    return best


def _stream_of(name: str, task: ProfileTask) -> str:
    """Return what a walk draws from: deletions alone are those of a run that may only delete."""
    if name == DELETIONS:
        return "search"
    return "any" if task.edits == "any" and name == "search" else name


def _aim(task: ProfileTask, name: str) -> ProfileTask:
    """Return what a walk looks for: those from a start of their own, the fewest edits for all."""
    if name == DELETIONS:
        return task._replace(edits="delete")
    if name == "search":
        return task
    return task._replace(by_budget=False, budget=task.n_edges)


def _followed(
    follow: Follow,
    task: ProfileTask,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch,
) -> ChangedTies:
    pairs = pairs_of(task, np.empty(0, dtype=np.int64), rng)
    walk = walk_of(task, pairs, rng)._replace(watch=watch)
    follow(walk, settings)
    return checked(task, pairs, walk)


def _walks(task: ProfileTask, settings: Settings) -> dict[str, Follow]:
    """Return the walks that may win: from the input, where hubs are worn down, and from a cut."""
    starts: dict[str, Follow] = {"hubs": _from_hubs}
    if not settings.preserve_triangles:
        starts["cut"] = _from_cut
    if task.edits == "add":
        starts = {}
    if not task.by_budget:
        return starts or {"search": _from_input}
    alone: dict[str, Follow] = {DELETIONS: _from_input} if task.edits == "any" else {}
    large = task.budget >= LARGE_BUDGET * task.n_edges
    return {**alone, "search": _from_input, **(starts if large else {})}


def _from_input(walk: Walk, settings: Settings) -> None:
    """Anneal from the input, longer and longer while it gains, or on to the fewest edits."""
    task, effort = walk.task, settings.effort
    steps = proposals(usual_steps(task, None), settings.iterations, effort)
    stretch = within_budget(task, steps)
    if task.by_budget and settings.iterations is None:
        while_it_gains(walk, stretch, round(MOST_STEPS * max(effort, 1.0)))
    elif not walk.anneal(stretch) and not task.by_budget:
        towards_goal(walk, steps)


def _from_hubs(walk: Walk, settings: Settings) -> None:
    """Search with few edits, wear unprotected hubs down, and give back what is not needed."""
    steps = _goal_steps(walk, settings)
    if not wear_down(walk, steps):
        towards_goal(walk, steps)


def _from_cut(walk: Walk, settings: Settings) -> None:
    """Delete the ties inside the sides of a large cut, then as `_from_hubs`."""
    around = either_way(walk.task.network.layers[0])
    if without_triangles(walk, around.indptr, around.indices) or strip_hubs(walk):
        return
    walk.back_to_best()
    towards_goal(walk, _goal_steps(walk, settings))


def _goal_steps(walk: Walk, settings: Settings) -> int:
    usual = goal_iterations(walk.task.n_edges)
    return proposals(usual, settings.iterations, settings.effort)


def arcs_lower_bound(task: ProfileTask) -> int | None:
    """No network in which everybody is anonymous is reached with fewer edits; None without a bound.

    Ties out alone are then shared by k people of a color, and ties in alone. An edit changes one
    number of each by one.

    Examples
    --------
    >>> from graphveil import Layer
    >>> star = Network((Layer.from_arcs([0, 0, 0], [1, 2, 3], n=4),))
    >>> task = ProfileTask(star, np.zeros(4, dtype=np.int64), 2, "delete", 3, 0, by_budget=False)
    >>> arcs_lower_bound(task)
    3
    """
    if task.allowed or task.by_budget:
        return None
    edits: Literal["add", "any"] = "any" if task.edits == "any" else "add"
    bounds = []
    for numbers in task.network.degrees().T:
        mirrored = numbers.max(initial=0) - numbers if task.edits == "delete" else numbers
        groups = by_color(mirrored, task.colors)
        if any(each.size < task.k for each in groups):
            return None
        bounds.append(sum(optimal_plan(runs_of(each), task.k, edits=edits).cost for each in groups))
    return max(bounds, default=0)


def cost_of_arcs(task: ProfileTask, result: ArcResult) -> dict[str, float | int]:
    """Return what a run cost: for the owner alone."""
    ties, edited = task.n_edges, result.edited
    cost: dict[str, float | int] = {
        "edges_before": ties,
        "edges_added": edited.added.size,
        "edges_deleted": edited.deleted.size,
        "edits": edited.cost,
        "edges_kept_share": 1 - edited.deleted.size / ties if ties else 1.0,
        "mutual_before": task.network.layers[0].n_mutual(),
        "mutual": result.network.layers[0].n_mutual(),
        "nodes_unprotected": edited.unprotected,
        "nodes_unprotected_before": result.unprotected_before,
        "nodes_allowed_unprotected": task.allowed,
    }
    bound = arcs_lower_bound(task)
    if bound is not None:
        cost["edits_lower_bound"] = bound
        cost["edits_over_lower_bound"] = edited.cost / bound if bound else 1.0
    return cost

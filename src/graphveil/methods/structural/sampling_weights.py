"""The weights by which the paper's five heuristics draw edits (eq. 5-9), and the draw itself."""

from __future__ import annotations

from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.structural.sampling import (
    flagged_affected_beside,
    flagged_affected_by,
    lists_of,
)
from graphveil.kernels.structural.triangles import flagged_affected, flagged_near
from graphveil.measures import MEASURES
from graphveil.measures.affected import near_both, the_ends
from graphveil.methods.structural.sampling_edits import Candidates
from graphveil.methods.structural.sampling_state import Flags, Ints, State
from graphveil.methods.structural.task import Task

Sampling = Literal["es", "degree", "affected", "unique", "ua"]
Floats = NDArray[np.float64]

LAST = 2.0**-200
"""Weight of what `unique` draws only where nothing else is left: never before, but for 1 in 2**200.
"""


def weights(heuristic: Sampling, state: State, pool: Candidates, task: Task) -> Floats:
    """Return the weight of every candidate, by which the paper's heuristic draws.

    Parameters
    ----------
    heuristic
        ``"es"``: 1. ``"degree"``: the least degree of its nodes. ``"affected"``: how many nodes
        it affects. ``"unique"``: 1 where one of its nodes is not anonymous; others only if those
        do not suffice. ``"ua"``: how many nodes that are not anonymous it affects, plus 1/m.
    state
        The graph as it stands.
    pool
        The candidates.
    task
        The measure and its distance.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> from graphveil.methods.structural.sampling_edits import deletions
    >>> from graphveil.methods.structural.sampling_state import ranked, state_of
    >>> star = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> task = Task(star, "count", 1, k=2, edits="delete", budget=4, allowed=0)
    >>> state = state_of(ranked(star)[1], task)
    >>> weights("affected", state, deletions(state.forward), task).tolist()
    [2.0, 3.0, 3.0, 3.0]
    """
    if heuristic == "degree":
        least = reduce(np.minimum, (state.degrees[nodes] for nodes in pool.nodes))
        return least.astype(np.float64)
    if heuristic == "affected":
        everybody = np.ones(state.degrees.size, dtype=np.bool_)
        return affected(state, pool, task, everybody).astype(np.float64)
    if heuristic == "unique":
        exposed = reduce(np.logical_or, (state.exposed[nodes] for nodes in pool.nodes))
        return np.where(exposed, 1.0, LAST)
    if heuristic == "ua":
        touched = affected(state, pool, task, state.exposed).astype(np.float64)
        return touched + 1.0 / max(state.forward.ends.size, 1)
    return np.ones(pool.nodes[0].size)


def affected(state: State, pool: Candidates, task: Task, flag: Flags) -> Ints:
    """Return how many flagged nodes every candidate affects: ``|A_M ∩ flagged|``.

    Edges to delete are scored together at distance 1, where what they affect are their ends and
    the triangles on them; other candidates one by one.
    """
    reach = MEASURES[task.measure].affected
    if reach is the_ends:
        of_ends: Ints = np.sum([flag[nodes] for nodes in pool.nodes], axis=0, dtype=np.int64)
        return of_ends
    score: Ints
    if pool.kind != "delete" or task.distance > 1:
        needed = 2 if reach is near_both else 1
        lists, flips = lists_of(state.forward), pool.flips()
        if task.distance == 1:
            score = flagged_affected_beside(lists, flips, needed, flag)
        else:
            score = flagged_affected_by(lists, flips, task.distance, needed, flag)
        return score
    score = flagged_affected(state.forward, flag)
    if reach is near_both:
        return score
    near = flagged_near(state.forward, flag)
    score = near[pool.nodes[0]] + near[pool.nodes[1]] - score
    return score


def arrival_times(weight: Floats, rng: np.random.Generator) -> Floats:
    """Return a time a candidate: the earliest ones are a roulette's draw without replacement.

    Each draw of a roulette takes a candidate with the share of its weight among those left. So
    does the next arrival of clocks that ring once each, at these rates. Weight 0 never arrives.

    Examples
    --------
    >>> arrival_times(np.array([1.0, 0.0]), np.random.default_rng(1)).round(2).tolist()
    [1.07, inf]
    """
    time = np.full(weight.size, np.inf)
    np.divide(rng.standard_exponential(weight.size), weight, out=time, where=weight > 0)
    return time

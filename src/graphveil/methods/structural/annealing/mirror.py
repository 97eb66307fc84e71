"""The heuristic MIRROR: a graph that looks the same when everybody changes places with another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.data import Graph
from graphveil.kernels.leaf import ZERO
from graphveil.kernels.structural.annealing import mirror as kernel
from graphveil.kernels.structural.annealing.state import keep_if_better
from graphveil.methods.structural.annealing.state import edited_of
from graphveil.methods.structural.annealing.stretches import goal_iterations, usual_steps
from graphveil.methods.structural.annealing.walk import towards_goal, walk_of
from graphveil.methods.structural.outcome import keys_of
from graphveil.methods.structural.task import Edited, Task, Watch, proposals

EXCHANGES = 4
"""Proposals of partners to one of a stretch of annealing over edges."""

FIRST_LOOK = 8
"""A first look takes so small a part of these."""

TAKES_BACK = 1.25
"""How many more deletions than are to be beaten a mirror may start with."""


def mirror(
    task: Task,
    *,
    iterations: int | None,
    effort: float = 1.0,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return the best state of a walk from where everybody has a partner whom nothing tells apart.

    Parameters
    ----------
    task
        Any measure and distance, k=2; edits ``"delete"``.
    iterations, effort, rng, watch
        As of `cut`.

    Returns
    -------
    Edited
        Its unprotected nodes are counted again from the edited graph, exactly.

    Notes
    -----
    Nodes are paired, and an edge is kept if it leads to an edge when all partners change places. So
    the graph that remains is mapped onto itself: partners look alike by whatever is seen of the
    ties, with all their triangles. The pairs are annealed for the most edges kept; then edges are
    given back, as long as the measure does not tell partners apart, or finds others who look alike.
    It suits dense graphs.

    Examples
    --------
    >>> from graphveil.data import Graph
    >>> bow = Graph.from_edges([0, 0, 1, 2, 2, 3, 4], [1, 2, 2, 3, 4, 4, 5], n=6)
    >>> task = Task(bow, "count", 1, 2, "delete", 7, 0)
    >>> mirror(task, iterations=1000, rng=np.random.Generator(np.random.PCG64(1))).unprotected
    0
    """
    walk = walk_of(task, rng, watch)
    exchanges = EXCHANGES * proposals(goal_iterations(task.graph.n_edges), iterations, effort)
    deleted = _deletions(task, exchanges, rng) if walk.missed() else None
    if deleted is not None and not walk.seen_enough():
        state, _, best, _, _ = walk.annealing
        walk.go_to(deleted)
        keep_if_better(state, best, task.allowed, ZERO)
        work = None if walk.annealing.values is None else walk.work
        usual = usual_steps(task._replace(by_budget=False), work)
        towards_goal(walk, proposals(usual, iterations, effort))
    return edited_of(task, walk.annealing, walk.visited)


def _deletions(task: Task, steps: int, rng: np.random.Generator) -> NDArray[np.bool_] | None:
    """Return the edges to delete; None where these are far more than another heuristic deletes."""
    for share in (FIRST_LOOK, 1):
        partner = partners(task.graph, task.colors, -(-steps // share), rng)
        deleted = without_image(task.graph, partner)
        most = task.graph.n_edges if task.to_beat is None else TAKES_BACK * task.to_beat
        if np.count_nonzero(deleted) > most:
            return None
    isolate_likes(task, partner, deleted)
    return deleted


def partners(
    graph: Graph, colors: NDArray[np.int64] | None, steps: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the partner of every node, of its color; who has none gets -1: one a color at most.

    Begins with neighbors in the order of degrees. Where a color has an odd number of nodes, one
    more without edges takes part.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    >>> partners(path, None, 1000, np.random.Generator(np.random.PCG64(1))).tolist()
    [3, 2, 1, 0]
    """
    n = graph.n_nodes
    colors = np.zeros(n, dtype=np.int64) if colors is None else colors
    names, sizes = np.unique(colors, return_counts=True)
    colors = np.concatenate((colors, names[sizes % 2 == 1]))
    degrees = np.concatenate((graph.degrees(), np.zeros(colors.size - n, dtype=np.int64)))
    order = np.lexsort((degrees, colors))
    partner = np.empty(colors.size, dtype=np.int64)
    partner[order[::2]], partner[order[1::2]] = order[1::2], order[::2]
    indptr = np.concatenate((graph.indptr, np.repeat(graph.indptr[-1:], colors.size - n)))
    marks = np.zeros(colors.size, dtype=np.int64)
    kernel.pair_up(indptr, graph.indices.copy(), colors, partner, marks, steps, rng)
    return np.where(partner < n, partner, -1)[:n]


def without_image(graph: Graph, partner: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which edges lead to no edge when all partners change places; none at who has none.

    Examples
    --------
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> without_image(flag, np.array([1, 0, 3, 2])).tolist()
    [False, True, True, False]
    """
    n, edges = graph.n_nodes, graph.edges()
    images = np.sort(partner[edges], axis=1)
    here = images[:, 0] >= 0
    here[here] = np.isin(keys_of(images[here], n), keys_of(edges, n))
    return ~here


def isolate_likes(task: Task, partner: NDArray[np.int64], deleted: NDArray[np.bool_]) -> None:
    """Delete the edges of a pair, too, where a node without partner is alone without edges.

    It has lost its own. Of the pairs of its color that one loses them which has the fewest left;
    partners stay alike. Writes ``deleted``.
    """
    edges, n = task.graph.edges(), task.graph.n_nodes
    colors = np.zeros(n, dtype=np.int64) if task.colors is None else task.colors
    for alone in np.flatnonzero(partner < 0).tolist():
        degrees = np.bincount(edges[~deleted].ravel(), minlength=n)
        paired = np.flatnonzero((colors == colors[alone]) & (partner >= 0))
        if paired.size and degrees[paired].min() > 0:
            one = paired[np.argmin(degrees[paired])]
            deleted |= np.isin(edges, (one, partner[one])).any(axis=1)

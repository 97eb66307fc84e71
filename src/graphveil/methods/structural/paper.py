"""The paper's heuristics, and one of its program's, by batches of sampled edits; their trajectory.

De Jong, van der Loo and Takes, *The anonymization problem in social networks*:

- `sample_edits` is Algorithm 1 (section 5.1), with the recompute gap R of section 5.2 (`gap`).
- `one_round` is its lines 4 to 6: one batch of at most min(R, B) edits.
- `weights` are the heuristics of section 5.3, equations 5 to 9, without their normalization.
- `state_of` takes the place of Algorithm 2 (section 5.2).
- `affected` is A_M of table 1.
- `trajectory` is the process of section 6.3: Algorithm 1 that goes on beyond its end.

Departures:

- A node is anonymous in a class of k or more nodes; section 3.2 prints "exactly k".
- Classes are counted anew after each batch, which for count at distance 1 is one pass over all
  triangles. The paper updates the affected nodes only.
- The best state of a full or partial goal is the one that reaches it with the fewest edits.
- Edges may also be added or rewired. Pairs that could be added are too many to list: a round
  samples as many as there are edges, half at random, half from open triads.
- ``ua-only`` is a heuristic of the authors' program that the paper does not describe.

Nodes are numbered by rising degree of the input, as the triangle passes need. A batch costs O(m)
and, for measures with triangles, a pass over all triangles; dk, hybrid and distances above 1 cost
more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple, cast, get_args

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from graphveil.core.array_types import Flags, Floats, Ints
from graphveil.core.errors import InputError, ParameterError
from graphveil.core.hints import one_of
from graphveil.core.kernels.arrays import new_table
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Row, Rows, Setting
from graphveil.data import Graph
from graphveil.data.kinds import as_container
from graphveil.measures import MEASURES, class_sizes_of_nodes
from graphveil.measures.kernels.neighborhoods import (
    Forward,
    flagged_thirds,
    triangles_of_nodes,
)
from graphveil.measures.registry import check_distance, known, the_ends, within_of_both
from graphveil.measures.values import classes_of
from graphveil.methods.annealing import task as tasks
from graphveil.methods.annealing.task import Edited, Task, Watch
from graphveil.methods.structural.kernels import paper as kernel
from graphveil.methods.structural.settings import Sampling

FEWEST = 64
"""Draws of a round at least, so that small graphs do not stop by chance."""

FLIPS = {
    "delete": (((0, 1),), (False,)),
    "add": (((0, 1),), (True,)),
    "rewire": (((0, 1), (2, 3), (0, 3), (2, 1)), (False, False, True, True)),
}
"""The pairs of an edit's nodes that it flips, in turn, and whether each is joined (section 3.2.1).

A rewiring of {v, w} and {x, y} has the nodes (v, w, x, y): it parts both edges, and joins {v, y}
and {x, w}.
"""


class SamplingState(NamedTuple):
    """The graph G' of Algorithm 1 between two batches, with nodes by rising degree of the input.

    Parameters
    ----------
    forward
        Every edge once, at its end of lower rank.
    degrees
        The degree of every node, int64, shape (n,).
    unprotected
        The paper's V_u for any k: whether a node is in a class below k, bool, shape (n,).
    """

    forward: Forward
    degrees: Ints
    unprotected: Flags

    @property
    def n_unprotected(self) -> int:
        """The number of unprotected nodes."""
        return int(np.count_nonzero(self.unprotected))


def ranked(graph: Graph) -> tuple[Ints, Forward]:
    """Return the nodes by rising degree, and the edges under their positions in that order."""
    order = np.argsort(graph.degrees(), kind="stable")
    rank = np.empty(order.size, dtype=np.int32)
    rank[order] = np.arange(order.size, dtype=np.int32)
    return order, kernel.forward_by_rank(graph.indptr, graph.indices, order, rank)


def state_of(forward: Forward, task: Task) -> SamplingState:
    """Return the state of these edges, classes recomputed; colors are those of the ranks."""
    # In place of Algorithm 2 (section 5.2), all classes are counted anew.
    n = forward.start.size - 1
    degrees = np.diff(forward.start) + np.bincount(forward.ends, minlength=n)
    return SamplingState(forward, degrees, _unprotected(forward, degrees, task))


def _unprotected(forward: Forward, degrees: Ints, task: Task) -> Flags:
    if task.measure not in tasks.CODES or task.distance > 1:
        return class_sizes_of_nodes(task.labels_of(Graph(*kernel.lists_of(forward)))) < task.k
    # Count, edge-count and degree at distance 1: an exact code of degree and triangles per node.
    by_degree, by_triangle = tasks.CODES[task.measure]
    codes = degrees * by_degree
    if by_triangle:
        codes += triangles_of_nodes(forward) * by_triangle
    codes = task.colored(codes)
    small = np.empty(codes.size, dtype=np.bool_)
    kernel.small_classes(codes, task.k, *new_table(2 * codes.size), small)
    return small


def sources(forward: Forward) -> NDArray[np.int32]:
    """Return the smaller end of every edge, int32, shape (m,)."""
    nodes = np.arange(forward.start.size - 1, dtype=np.int32)
    return np.repeat(nodes, np.diff(forward.start))


def keys_of(forward: Forward) -> Ints:
    """Return every edge as one integer, in rising order."""
    return packed(sources(forward), forward.ends, forward.start.size - 1)


def packed(first: NDArray[np.integer], second: NDArray[np.integer], n: int) -> Ints:
    """Return pairs of nodes as one integer each, whatever the order of their ends."""
    keys: Ints = np.minimum(first, second).astype(np.int64) * n + np.maximum(first, second)
    return keys


def without(forward: Forward, deleted: Ints) -> Forward:
    """Return the edges without those at these positions."""
    stays = np.ones(forward.ends.size, dtype=np.bool_)
    stays[deleted] = False
    kept = np.zeros(stays.size + 1, dtype=np.int64)
    np.cumsum(stays, out=kept[1:])
    return Forward(kept[forward.start], forward.ends[stays])


def exchanged(forward: Forward, keys: Ints, parted: Ints, joined: Ints) -> Forward:
    """Return the edges, whose keys are given, without some pairs and with others."""
    n = forward.start.size - 1
    stays = np.ones(keys.size, dtype=np.bool_)
    stays[np.searchsorted(keys, parted)] = False
    keys, joined = keys[stays], np.sort(joined)
    keys = np.insert(keys, np.searchsorted(keys, joined), joined)
    start = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n)
    return Forward(start.astype(np.int64, copy=False), (keys % n).astype(np.int32))


def difference(state: SamplingState, original: Forward) -> Edited:
    """Return how the state differs from the input, under ranks."""
    return Edited(
        added=kernel.missing_from(state.forward, original),
        deleted=kernel.missing_from(original, state.forward),
        unprotected=state.n_unprotected,
    )


def named(edited: Edited, order: Ints) -> Edited:
    """Return the same edits under the nodes' positions in the input, sorted."""
    return edited._replace(added=_pairs(edited.added, order), deleted=_pairs(edited.deleted, order))


def _pairs(ranks: NDArray[np.int32], order: Ints) -> NDArray[np.int32]:
    pairs = np.sort(order[ranks].astype(np.int32), axis=1)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


class EdgeCandidates(NamedTuple):
    """Edits of one kind (a key of `FLIPS`) that a round may choose from, by columns of nodes."""

    kind: str
    nodes: tuple[NDArray[np.int32], ...]

    def flips(self) -> kernel.Flips:
        """Return the edits as the kernels take them."""
        ends, joins = FLIPS[self.kind]
        return kernel.Flips(np.stack(self.nodes, axis=1), np.array(ends), np.array(joins))

    def pairs(self, n: int) -> tuple[Ints, Ints]:
        """Return the keys of the pairs parted and joined, one row an edit."""
        ends, joins = FLIPS[self.kind]
        keys = [packed(self.nodes[a], self.nodes[b], n) for a, b in ends]
        rows = np.stack(keys, axis=1)
        joined = np.array(joins)
        return rows[:, ~joined], rows[:, joined]


def candidates(forward: Forward, edits: str, rng: Generator) -> list[EdgeCandidates]:
    """Return what a round may choose from: one entry per kind of edit, empty kinds omitted."""
    pools = [deletions(forward)] if edits in {"delete", "any"} else []
    pools += [additions(forward, rng)] if edits in {"add", "any"} else []
    pools += [rewirings(forward, rng)] if edits in {"rewire", "any"} else []
    return [pool for pool in pools if pool.nodes[0].size]


def deletions(forward: Forward) -> EdgeCandidates:
    """Return every edge."""
    return EdgeCandidates("delete", (sources(forward), forward.ends))


def additions(forward: Forward, rng: Generator) -> EdgeCandidates:
    """Return distinct pairs that are not edges: up to one per edge, half of them open triads."""
    # Half of the draws are uniform pairs, half the ends of paths of two edges, which close
    # triangles.
    n = forward.start.size - 1
    draws = max(forward.ends.size, FEWEST)
    random_pairs = rng.integers(0, n, size=(2, draws - draws // 2))
    triads = _wedges(forward, draws // 2, rng)
    ends = np.concatenate((random_pairs, triads), axis=1) if triads.size else random_pairs
    keys = np.unique(packed(ends[0], ends[1], n)[ends[0] != ends[1]])
    keys = keys[~_among(keys_of(forward), keys)]
    return EdgeCandidates("add", ((keys // n).astype(np.int32), (keys % n).astype(np.int32)))


def _wedges(forward: Forward, draws: int, rng: Generator) -> Ints:
    """Return the outer ends of random paths of two edges; both may be the same node."""
    m = forward.ends.size
    if m == 0:
        return np.empty((2, 0), dtype=np.int64)
    lists = kernel.lists_of(forward)
    # A random end of a random edge, then a random neighbor of its other end.
    arc = rng.integers(0, 2 * m, size=draws)
    end = lists.indices[arc].astype(np.int64)
    center = np.searchsorted(lists.indptr, arc, side="right") - 1
    near = rng.integers(lists.indptr[center], lists.indptr[center + 1])
    return np.stack((end, lists.indices[near].astype(np.int64)))


def rewirings(forward: Forward, rng: Generator) -> EdgeCandidates:
    """Return edits {v, w}, {x, y} -> {v, y}, {x, w} of four nodes whose new pairs are not edges."""
    n, m = forward.start.size - 1, forward.ends.size
    if m == 0:
        return EdgeCandidates("rewire", (np.empty(0, dtype=np.int32),) * 4)
    # Draw two edges and which way round the second is; keep those of four different nodes whose new
    # pairs are not edges.
    draws = max(m, FEWEST)
    source, keys = sources(forward), keys_of(forward)
    first, second = rng.integers(0, m, size=(2, draws))
    turned = rng.integers(0, 2, size=draws) == 1
    v, w = source[first], forward.ends[first]
    x = np.where(turned, forward.ends[second], source[second])
    y = np.where(turned, source[second], forward.ends[second])
    fits = (v != x) & (v != y) & (w != x) & (w != y)
    v, w, x, y = v[fits], w[fits], x[fits], y[fits]
    free = ~_among(keys, packed(v, y, n)) & ~_among(keys, packed(x, w, n))
    return EdgeCandidates("rewire", (v[free], w[free], x[free], y[free]))


def _among(keys: Ints, wanted: Ints) -> Flags:
    """Return which of the wanted keys are among the sorted ones."""
    if keys.size == 0:
        return np.zeros(wanted.size, dtype=np.bool_)
    position = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    present: Flags = keys[position] == wanted
    return present


LAST = 2.0**-200
"""Weight of what `unique` and `ua-only` draw only where nothing else is left.

It is never drawn before, but for 1 in 2**200.
"""


Weigher = Callable[[SamplingState, EdgeCandidates], Floats]
"""A heuristic given as a function: the weight of every candidate."""


def sample_edits(
    task: Task, heuristic: Sampling, *, gap: int, rng: Generator, watch: Watch | None = None
) -> Edited:
    """Return the best graph on the way while a heuristic of the paper draws edits (Algorithm 1).

    A run also ends where no edit is left to draw. Edits that undo each other are in neither list; a
    rewiring is one edit of the budget and four of `Edited.cost`.

    Parameters
    ----------
    task
        The input, the measure and k; `task.budget` is B, n - `task.allowed` is the target T.
    heuristic
        Which of section 5.3 draws the edits.
    gap
        Edits between two recounts: R of section 5.2.
    rng
        The source of all draws.
    watch
        Called after each batch with the unprotected nodes and the edits; True ends the run.
    """
    # Line 2: G' and G_best are the input.
    order, original = ranked(task.graph)
    if task.colors is not None:
        task = task._replace(colors=task.colors[order])
    state = state_of(original, task)
    best = difference(state, original)
    edits = 0
    # Line 3: until the budget is spent or enough nodes are anonymous.
    while edits < task.budget and state.n_unprotected > task.allowed:
        # Lines 4 to 6: draw at most min(R, B) edits with the weights of this state, and make them.
        forward, done = one_round(state, heuristic, task, min(gap, task.budget - edits), rng)
        if done == 0:
            break
        # Lines 7 and 8: classes of the new graph, and what remains of the budget.
        edits += done
        state = state_of(forward, task)
        # Lines 9 to 11: keep the best, here also by edits (see `better`).
        now = difference(state, original)
        if tasks.better(now, best, task):
            best = now
        if watch is not None and watch(now.unprotected, edits):
            break
    return named(best, order)


def one_round(
    state: SamplingState, heuristic: Sampling | Weigher, task: Task, most: int, rng: Generator
) -> tuple[Forward, int]:
    """Return the edges after at most this many edits more, and how many were done.

    These are lines 4 to 6 of Algorithm 1; a weight stays the same within a batch.
    """
    # A batch that takes all edges needs no weights.
    forward = state.forward
    if task.edits == "delete" and most >= forward.ends.size:
        return without(forward, np.arange(forward.ends.size)), forward.ends.size
    # Weigh the candidates of all kinds of edits together, and take the first arrivals.
    pools = candidates(forward, task.edits, rng)
    if not pools:
        return forward, 0
    times = arrival_times(
        np.concatenate([weights(heuristic, state, pool, task) for pool in pools]), rng
    )
    if task.edits == "delete":
        return without(forward, np.argpartition(times, most)[:most]), most
    # Edits of a batch must not flip the same pair twice: later ones that would are passed over.
    parted, joined, size = _disjoint(pools, times, most, forward.start.size - 1)
    return exchanged(forward, keys_of(forward), parted, joined), size


def _disjoint(
    pools: list[EdgeCandidates], times: Floats, most: int, n: int
) -> tuple[Ints, Ints, int]:
    """Return what the earliest edits part and join, no two of them the same pair; and how many."""
    pairs = [pool.pairs(n) for pool in pools]
    first = np.cumsum([0, *(len(parted) for parted, _ in pairs)])
    flipped: set[int] = set()
    parted: list[int] = []
    joined: list[int] = []
    size = 0
    order = np.argsort(times, kind="stable")[: np.count_nonzero(np.isfinite(times))]
    for position in order:
        kind = int(np.searchsorted(first, position, side="right")) - 1
        off, on = (rows[position - first[kind]].tolist() for rows in pairs[kind])
        if flipped.isdisjoint(off) and flipped.isdisjoint(on):
            flipped.update(off, on)
            parted += off
            joined += on
            size += 1
            if size == most:
                break
    return np.array(parted, dtype=np.int64), np.array(joined, dtype=np.int64), size


def weights(
    heuristic: Sampling | Weigher, state: SamplingState, pool: EdgeCandidates, task: Task
) -> Floats:
    """Return the weight of every candidate, by which the paper's heuristic draws (section 5.3).

    - ``es`` (edge sampling, 5.3.1, equation 5): 1.
    - ``degree`` (structure based, 5.3.2, equation 6): the least degree of its nodes.
    - ``affected`` (the paper's aff, 5.3.2, equation 7): how many nodes it affects.
    - ``unique`` (uniqueness based, 5.3.3, equation 8): 1 if one of its nodes is unprotected.
    - ``ua`` (unique-affected, 5.3.3, equation 9): the unprotected nodes it affects, plus 1/m.
    - ``ua-only`` (the authors' program): the unprotected nodes it affects, if one of its own is.

    ``unique`` and ``ua-only`` take edits of protected nodes only if the others do not suffice.
    """
    if callable(heuristic):
        return heuristic(state, pool)
    if heuristic == "degree":
        least = reduce(np.minimum, (state.degrees[nodes] for nodes in pool.nodes))
        return least.astype(np.float64)
    if heuristic == "affected":
        everybody = np.ones(state.degrees.size, dtype=np.bool_)
        return affected(state, pool, task, everybody).astype(np.float64)
    score = np.ones(pool.nodes[0].size)
    if heuristic == "es":
        return score
    if heuristic != "unique":
        score = affected(state, pool, task, state.unprotected).astype(np.float64)
    if heuristic == "ua":
        return score + 1.0 / max(state.forward.ends.size, 1)
    touched = reduce(np.logical_or, (state.unprotected[nodes] for nodes in pool.nodes))
    return np.where(touched, score, LAST)


def affected(state: SamplingState, pool: EdgeCandidates, task: Task, flag: Flags) -> Ints:
    """Return how many flagged nodes every candidate affects: ``|A_M ∩ flagged|`` (table 1).

    `flag` is all nodes for ``affected``, and V_u for ``ua``.
    """
    # The measure degree: only the ends of an edge change.
    reach = MEASURES[task.measure].affected
    if reach is the_ends:
        of_ends: Ints = np.sum([flag[nodes] for nodes in pool.nodes], axis=0, dtype=np.int64)
        return of_ends
    # Additions, rewirings and larger distances: the nodes near the ends are listed edit by edit.
    if pool.kind != "delete" or task.distance > 1:
        needed = 2 if reach is within_of_both else 1
        lists, flips = kernel.lists_of(state.forward), pool.flips()
        if task.distance == 1:
            return kernel.affected_beside(lists, flips, needed, flag)
        return kernel.affected_by(lists, flips, task.distance, needed, flag)
    # Deletions at distance 1: the ends and their common neighbors, for all edges in one pass over
    # the triangles. Under vrq and hybrid the neighbors of either end: |N[v]| + |N[w]| less the
    # common ones.
    ends = pool.nodes
    score = flagged_thirds(state.forward, flag) + flag[ends[0]] + flag[ends[1]]
    if reach is within_of_both:
        return score
    near = kernel.flagged_near(state.forward, flag)
    return np.asarray(near[ends[0]] + near[ends[1]] - score)


def arrival_times(weight: Floats, rng: Generator) -> Floats:
    """Return a time per candidate: the earliest are a weighted draw without replacement.

    A time is exponential with the weight as its rate. The first arrival is then each candidate with
    the share of its weight among all, the next one with its share among those left, and so on: the
    law of drawing one after the other, in one pass. Weight 0 never arrives.
    """
    time = np.full(weight.size, np.inf)
    np.divide(rng.standard_exponential(weight.size), weight, out=time, where=weight > 0)
    return time


TRAJECTORY = "trajectory"
"""The question of the rows."""

_STANDS_IN = "dk"
"""A function as a measure is classed anew after every batch, as this one is; an edit is taken to
affect the nodes near both of its ends."""

Heuristic = Callable[..., ArrayLike]
OwnMeasure = Callable[..., ArrayLike]


def trajectory(  # noqa: PLR0913  one argument for each part of Algorithm 1
    graph: Any,
    *,
    heuristic: str | Heuristic = "ua",
    measure: str | OwnMeasure = "count",
    distance: int = 1,
    k: int = 2,
    edits: tasks.EditKind = "delete",
    share: float = 1.0,
    points: int = 101,
    seed: int | None = None,
) -> Rows:
    """Return the share of unique nodes after every hundredth of the edges, rises included.

    This is Algorithm 1 of the paper without its end: it goes on where the share rises. Nothing is
    released. A heuristic and a measure may be functions of yours; see the notes.

    Parameters
    ----------
    graph
        A `Graph`, or an object of another library that holds one.
    heuristic
        ``"es"``, ``"degree"``, ``"affected"``, ``"unique"``, ``"ua"`` or ``"ua-only"``; or a
        function P that returns the weight of every edge, by which edges to delete are drawn.
    measure, distance
        What an attacker knows: a name of `MEASURES`; or a function M that returns the value of
        every node, a number or a row of numbers: nodes with equal values look the same.
    k
        Nodes are counted that look like fewer than k-1 others; with 2 these are the unique ones.
    edits
        As of `StructuralAnonymity`; for a function P ``"delete"`` alone.
    share
        Where the trajectory ends: edits as a share of the edges.
    points
        How many points it has, the input included; the classes are recomputed at each.
    seed
        Makes the draws repeatable.

    Returns
    -------
    Rows
        A row for each point, named by the share of the edges, such as ``5% of the edges``: its
        setting has the number of edits, that share of the edges rounded down. `Rows.plot` draws the
        curve; rows of several trajectories can be put together, ``Rows([*one, *other])``.

    Raises
    ------
    ParameterError
        Where a parameter is out of range.
    InputError
        Where a function returns no weights, or no values.

    Notes
    -----
    P is called with the graph, the edges (two columns of positions) and whether each node is
    unique; M with the graph. Functions that Numba compiled get arrays in place of the graph: its
    ``indptr`` and ``indices``. A function M says nothing of which nodes an edit affects; for
    ``affected``, ``ua`` and ``ua-only`` these are taken to be the nodes near both ends.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], n=4)
    >>> [row.value for row in trajectory(star, points=5, seed=1)][::4]
    [0.5, 0.0]
    >>> def hubs_first(graph, edges, unique):
    ...     return graph.degrees()[edges].max(axis=1)
    >>> len(trajectory(star, heuristic=hubs_first, measure=lambda graph: graph.degrees(), points=3))
    3
    """
    # Step 1: read the arguments. Functions in place of names see the graph as its owner numbered
    # it.
    container = cast("Graph", as_container(graph, (Graph,), wanted_by=TRAJECTORY))
    _check_trajectory(heuristic, edits, k, share, points)
    if isinstance(measure, str):
        check_distance(known(measure), distance)
    order, original = ranked(container)
    own = _OwnMeasured if callable(measure) else Task
    budget = round(share * container.n_edges)
    name = _STANDS_IN if callable(measure) else measure
    task = own(container, name, distance, k=k, edits=edits, budget=budget, allowed=-1)
    view = _OwnersView(container, order)
    if isinstance(task, _OwnMeasured):
        task.value_of, task.view = cast("OwnMeasure", measure), view
    draw = cast("Sampling", heuristic) if isinstance(heuristic, str) else view.weigher(heuristic)
    # Step 2: Algorithm 1 without its end; one batch up to each point, a row for each.
    rng = Randomness(seed=seed).stream(TRAJECTORY)
    title = heuristic if isinstance(heuristic, str) else heuristic.__name__
    state, done = state_of(original, task), 0
    rows: list[Row] = []
    for point in range(points):
        wanted = point * budget // (points - 1)
        while done < wanted:
            forward, more = one_round(state, draw, task, wanted - done, rng)
            if more == 0:
                ended = done / max(container.n_edges, 1)
                return Rows([*rows, _row(title, state, done, ended)])
            done += more
            state = state_of(forward, task)
        rows.append(_row(title, state, done, share * point / (points - 1)))
    return Rows(rows)


def _row(title: str, state: SamplingState, edits: int, of_edges: float) -> Row:
    return Row(
        release=title,
        question=TRAJECTORY,
        part=f"{100 * of_edges:.4g}% of the edges",
        figure="unique nodes",
        setting=Setting(edits=edits, of=title),
        value=state.n_unprotected / max(state.degrees.size, 1),
        unit="share",
        direction="lower is better",
    )


def _check_trajectory(
    heuristic: str | Heuristic, edits: str, k: int, share: float, points: int
) -> None:
    if isinstance(heuristic, str) and heuristic not in get_args(Sampling):
        raise ParameterError(
            f"heuristic={heuristic!r} is not valid. {one_of(heuristic, get_args(Sampling))}"
        )
    if edits not in get_args(tasks.EditKind):
        raise ParameterError(
            f"edits={edits!r} is not valid. {one_of(edits, get_args(tasks.EditKind))}"
        )
    if callable(heuristic) and edits != "delete":
        raise ParameterError(
            f"edits={edits} cannot be combined with a function as heuristic, which weighs edges. "
            "Use delete."
        )
    for name, value, least in (("k", k, 2), ("points", points, 2)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"{name}={value!r} is not an integer of at least {least}.")
    if not 0 < share <= 1:
        raise ParameterError(f"share={share} is out of range. Choose a value above 0, at most 1.")


class _OwnersView:
    """Shows functions the graph of the trajectory with its nodes as the owner numbered them."""

    def __init__(self, graph: Graph, order: NDArray[np.int64]) -> None:
        self.ids, self.order = graph.ids, order
        self.rank = np.empty(order.size, dtype=np.int64)
        self.rank[order] = np.arange(order.size)

    def called(self, function: Callable[..., ArrayLike], graph: Graph, *more: Any) -> Any:
        """Return what a function makes of a graph under ranks, and of further arguments."""
        own = graph.permuted(self.rank, ids=self.ids)
        compiled = hasattr(function, "py_func")
        return np.asarray(function(*((own.indptr, own.indices) if compiled else (own,)), *more))

    def weigher(self, heuristic: Heuristic) -> Callable[[SamplingState, EdgeCandidates], Floats]:
        """Return a heuristic as the rounds ask for it: the weight of every candidate."""

        def weights(state: SamplingState, pool: EdgeCandidates) -> Floats:
            edges = np.stack([self.order[nodes] for nodes in pool.nodes], axis=1)
            graph = Graph(*kernel.lists_of(state.forward))
            given = self.called(heuristic, graph, edges, state.unprotected[self.rank])
            wrong = given.shape != (len(edges),) or given.dtype.kind not in "biuf"
            if wrong or not np.all(np.isfinite(given) & (given >= 0)):
                raise InputError(
                    f"the heuristic {heuristic.__name__} must return {len(edges)} finite weights, "
                    "one for each edge, none below 0. Correct the function."
                )
            weight: Floats = given.astype(np.float64)
            return np.where(weight > 0, weight, LEAST)

        return weights


LEAST = 2.0**-1000
"""The weight of what a function gives 0: it is drawn only where nothing else is left."""


class _OwnMeasured(Task):
    """A task whose classes are those of a function."""

    value_of: OwnMeasure
    view: _OwnersView

    def labels_of(self, graph: Graph) -> NDArray[np.int64]:
        """Return the class of every node: equal where the function returns equal values."""
        values = self.view.called(self.value_of, graph)
        if values.ndim not in {1, 2} or len(values) != graph.n_nodes or values.dtype.kind in "OV":
            raise InputError(
                f"the measure {self.value_of.__name__} must return {graph.n_nodes} values, one "
                "for each node: a number each, or a row of numbers. Correct the function."
            )
        columns = values.reshape(graph.n_nodes, -1).T
        return classes_of(*columns)[self.view.order]

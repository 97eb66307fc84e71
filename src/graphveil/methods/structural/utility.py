"""Fewer edits, and other ones: a search within a budget is followed by one that pays for each.

A price says what the network loses with an edge. At most a share of the nodes that the first search
protected is given up for edges that are put back.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from graphveil.core.kernels.leaf import ZERO
from graphveil.data import Graph
from graphveil.data.measures.kernels.neighborhoods import triangles
from graphveil.methods.structural.kernels import prices as kernel
from graphveil.methods.structural.kernels.pooled import BEST_SPENT, CHANGED, SPENT, keep_if_better
from graphveil.methods.structural.search import AnnealingWalk
from graphveil.methods.structural.task import Edited, Settings, Task, Watch, counted_by_codes
from graphveil.methods.structural.walk_state import (
    Stretch,
    annealing_state_of,
    edited_of,
    goal_iterations,
    keys_of,
    paying,
    within_budget,
)

Ints = NDArray[np.int64]
Reals = NDArray[np.float64]

UNIT = 1000
"""Prices are whole thousandths of that of an edge that nothing hangs on, so that sums are exact."""

A_RANK, A_LOSS, ACROSS = 5.0, 1.0, 1.0
"""What the terms of a price weigh."""

MOST = 10.0
"""A term is at most so many times its mean."""

TOP, NEAR = 100, 0.02
"""Nodes at the top of the betweenness; what is added to the distance from its line, as a share."""

EXACT_UP_TO, PIVOTS = 2_500, 1_000
"""Nodes from all of which shortest paths are followed; from how many they are in larger graphs."""

RUNS, LEVELS = 5, 20
"""Partitions into communities, and how often each is made coarser at most."""

PRICE = 0.1
"""What the cheapest edit costs, in unprotected nodes."""

SPARED = 0.01
"""The most nodes that are given up for kept properties, as a share of all."""

KEPT_GAIN = 0.99
"""The share of the newly protected nodes that the fewest edits keep."""


def applies(task: Task, settings: Settings) -> bool:
    """Return whether a second search follows the one within the budget."""
    return (
        bool(settings.keep or settings.spend_least)
        and task.by_budget
        and task.edits == "delete"
        and counted_by_codes(task)
        and not task.phi
        and settings.heuristic in {"auto", "search"}
    )


def given_up(n_nodes: int, before: int, left: int, settings: Settings) -> int:
    """Return how many of the nodes that a search protected may be given up.

    Examples
    --------
    >>> from graphveil.methods.structural.task import Kept
    >>> usual = Settings("auto", None, None, 1.0, False, None, "stop", Kept(("paths",)), 0.1)
    >>> given_up(1000, 261, 24, usual), given_up(1000, 61, 24, usual)
    (10, 3)
    """
    gained = before - left
    if settings.spend_least:
        return int((1 - KEPT_GAIN) * gained + 1e-9)
    return int(min(settings.spare * gained, SPARED * n_nodes) + 1e-9)


def with_prices(
    task: Task,
    plain: Edited,
    before: int,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return cheaper edits that leave few more nodes unprotected than these; these if none are.

    Parameters
    ----------
    task, plain
        What the edits were looked for, and the edits: deletions alone.
    before
        The unprotected nodes of the input.
    settings
        Which properties are kept, and for how many nodes.
    rng, watch
        As a heuristic takes them.
    """
    if watch is not None and watch(plain.unprotected, plain.cost):
        return plain
    allowed = plain.unprotected + given_up(task.n_nodes, before, plain.unprotected, settings)
    task = task._replace(by_budget=False, allowed=allowed, to_beat=None)
    annealing = annealing_state_of(task, rng)
    fixed = None
    if settings.keep:
        fixed = prices_of(task.graph, settings.keep, rng)
        pool = annealing.state.pool._replace(cost=fixed.copy())
        annealing = annealing._replace(state=annealing.state._replace(pool=pool))
    walk = AnnealingWalk(task, rng, watch, annealing=annealing)
    walk.iterations, walk.effort = settings.iterations, settings.effort
    n = task.n_nodes
    walk.go_to(np.isin(keys_of(task.graph.edges(), n), keys_of(plain.deleted, n)))
    keep_if_better(annealing.state, annealing.best, allowed, ZERO)
    for stretch in _stretches(task, walk.proposals(goal_iterations(task.n_edges)), fixed):
        if fixed is not None and {"component", "paths"} & {*(settings.keep or ())}:
            _price_bridges(walk, fixed)
        if walk.anneal(stretch):
            break
        walk.back_to_best()
    return edited_of(task, annealing, walk.visited)


def _stretches(task: Task, steps: int, fixed: Ints | None) -> tuple[Stretch, ...]:
    """Return a warm stretch, a cold one with many swaps, and a fine one."""
    price = PRICE if fixed is None else PRICE / UNIT
    plan, odds = paying(within_budget(task, steps), task.k, price)
    some, many = (odds._replace(swap=often, swap_back=often) for often in (0.3, 0.5))
    warm = plan._replace(hot=0.3, cold=0.05, ease=0.5)
    cold = plan._replace(steps=-(-steps // 2), hot=0.05, cold=0.005, ease=0.5)
    fine = plan._replace(hot=0.1, cold=0.01, ease=0.0)
    return Stretch(warm, some), Stretch(cold, many), Stretch(fine, some)


def _price_bridges(walk: AnnealingWalk[Task], fixed: Ints) -> None:
    """Add to the fixed prices what is cut off now, by present bridges and by edges that are gone.

    What was spent is summed anew.
    """
    pool, best = walk.annealing.state.pool, walk.annealing.best
    cost = fixed if pool.cost is None else pool.cost
    gone = ~pool.present
    edges = np.stack((pool.one, pool.other), axis=1)
    present = Graph.from_edges(*edges[pool.present].T, n=walk.task.n_nodes)
    of_present = np.zeros(present.n_edges, dtype=np.int64)
    kernel.cut_off(present.indptr, present.indices.copy(), edge_of_entry(present), of_present)
    label, sizes = components(present)
    one, other = label[pool.one[gone]], label[pool.other[gone]]
    apart = np.where(one != other, np.minimum(sizes[one], sizes[other]), 0)
    cost[:] = fixed
    cost[pool.present] += UNIT * of_present
    cost[gone] += UNIT * apart
    pool.tally[SPENT] = cost[pool.order[: pool.tally[CHANGED]]].sum()
    best.tally[BEST_SPENT] = cost[best.changed].sum()


def prices_of(graph: Graph, keep: Collection[str], rng: np.random.Generator) -> Ints:
    """Return the price of every edge, in thousandths, by the properties that are kept.

    Shape (m,), edges as `Graph.edges` lists them. What deleting bridges cuts off is priced in the
    input.

    Examples
    --------
    >>> bow = Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], n=6)
    >>> rng = np.random.Generator(np.random.PCG64(1))
    >>> prices_of(bow, ("communities",), rng).tolist()
    [1000, 1000, 1000, 2000, 1000, 1000, 1000]
    """
    cost = np.ones(graph.n_edges)
    if not graph.n_edges:
        return np.ones(0, dtype=np.int64)
    if "betweenness" in keep:
        cost += A_RANK * rank_at_risk(graph, rng)
    if "clustering" in keep:
        cost += A_LOSS * _over_mean(np.abs(clustering_lost(graph)))
    if "communities" in keep:
        cost += ACROSS * share_across(graph, rng)
    return np.rint(UNIT * cost).astype(np.int64)


def _over_mean(values: Reals) -> Reals:
    mean = float(values.mean())
    return np.minimum(values / mean, MOST) if mean > 0 else values


def edge_of_entry(graph: Graph) -> Ints:
    """Return the number of the edge of every entry of the neighbor lists, as `Graph.edges` counts.

    Examples
    --------
    >>> edge_of_entry(Graph.from_edges([0, 1], [2, 2], n=3)).tolist()  # lists: [2], [2], [0, 1]
    [0, 1, 0, 1]
    """
    source = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees())
    forward = source < graph.indices
    edges = np.empty(graph.indices.size, dtype=np.int64)
    edges[forward] = np.arange(graph.n_edges)
    edges[~forward] = np.argsort(graph.indices[forward], kind="stable")
    return edges


def edge_betweenness(graph: Graph, sources: Ints) -> tuple[Reals, float]:
    """Return how many shortest paths run over every edge, and their mean length.

    Paths are counted both ways, and estimated from these sources if they are not all nodes.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> over, length = edge_betweenness(path, np.arange(3))
    >>> over.tolist(), length
    ([4.0, 4.0], 1.3333333333333333)
    """
    n = graph.n_nodes
    over, reached = np.zeros(graph.n_edges), np.zeros(2, dtype=np.int64)
    kernel.add_paths(
        graph.indptr, graph.indices.copy(), edge_of_entry(graph), sources, over, reached
    )
    return over * (n / max(sources.size, 1)), float(reached[0] / max(reached[1], 1))


def kept_facts(before: Graph, after: Graph) -> dict[str, float]:
    """Return the largest component, the mean path and the top 100 by betweenness that are left.

    In large networks the latter two are estimates from 1,000 nodes.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], n=3)
    >>> sorted(kept_facts(path, path))[:2]
    ['largest_component', 'largest_component_before']
    """
    facts, tops, n = {}, [], before.n_nodes
    sources = np.arange(n) if n <= EXACT_UP_TO else np.linspace(0, n - 1, PIVOTS).astype(np.int64)
    for which, graph in (("_before", before), ("", after)):
        over, length = edge_betweenness(graph, sources)
        score = np.bincount(graph.edges().ravel(), np.repeat(over, 2), minlength=graph.n_nodes)
        tops.append(set(np.argsort(-score, kind="stable")[:TOP].tolist()))
        largest = int(components(graph)[1].max(initial=0))
        facts[f"largest_component{which}"] = largest / max(graph.n_nodes, 1)
        facts[f"mean_path_length{which}"] = length
    return facts | {"top_betweenness_kept": len(tops[0] & tops[1]) / max(len(tops[0]), 1)}


def rank_at_risk(graph: Graph, rng: np.random.Generator) -> Reals:
    """Return how far the loss of every edge moves its ends towards the line of the top 100.

    Over the mean, and at most 10 times that. In a network of at most 100 nodes all are at the top.
    """
    if graph.n_nodes <= TOP:
        return np.zeros(graph.n_edges)
    sources = np.arange(graph.n_nodes)
    if graph.n_nodes > EXACT_UP_TO:
        sources = np.sort(rng.choice(graph.n_nodes, PIVOTS, replace=False))
    over, _ = edge_betweenness(graph, sources)
    edges = graph.edges()
    score = np.bincount(edges.ravel(), np.repeat(over, 2), minlength=graph.n_nodes) / 2
    line = np.partition(score, -TOP)[-TOP]
    margin = np.abs(score - line) + NEAR * line
    share = np.divide(over[:, None], margin[edges], out=np.zeros(edges.shape), where=line > 0)
    return _over_mean(share.sum(axis=1))


def clustering_lost(graph: Graph) -> Reals:
    """Return how the sum of local clustering changes with the loss of every edge alone.

    Examples
    --------
    >>> flag = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3], n=4)
    >>> clustering_lost(flag).round(2).tolist()  # 7/3 before; 0, 0, 0 and 3 after
    [-2.33, -2.33, -2.33, 0.67]
    """
    out = np.zeros(graph.n_edges)
    closed = triangles(graph.indptr, graph.indices).astype(np.int64)
    kernel.clustering_lost(graph.indptr, graph.indices.copy(), edge_of_entry(graph), closed, out)
    return out


def share_across(graph: Graph, rng: np.random.Generator) -> Reals:
    """Return in which share of five partitions the ends of every edge are in two communities."""
    edges = graph.edges()
    apart = np.zeros(graph.n_edges)
    for _ in range(RUNS):
        found = communities(graph, rng)
        apart += found[edges[:, 0]] != found[edges[:, 1]]
    return apart / RUNS


def communities(graph: Graph, rng: np.random.Generator) -> Ints:
    """Return the community of every node, by the Louvain method (Blondel et al. 2008).

    Examples
    --------
    >>> bow = Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], n=6)
    >>> communities(bow, np.random.Generator(np.random.PCG64(1))).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    ones = np.ones(graph.indices.size, dtype=np.int64)
    shape = (graph.n_nodes, graph.n_nodes)
    ties = sparse.csr_array((ones, graph.indices, graph.indptr), shape=shape)
    of_node = np.arange(graph.n_nodes)
    for _ in range(LEVELS):
        size = ties.shape[0]
        found = np.arange(size)
        kernel.join_communities(
            ties.indptr.astype(np.int64),
            ties.indices.astype(np.int32),
            ties.data.astype(np.int64),
            np.asarray(ties.sum(axis=1), dtype=np.int64),
            rng.permutation(size),
            found,
        )
        names, found = np.unique(found, return_inverse=True)
        of_node = found[of_node]
        if names.size == size:
            break
        joined = sparse.csr_array((np.ones(size, dtype=np.int64), (np.arange(size), found)))
        ties = sparse.csr_array(joined.T @ ties @ joined)
    return of_node


def components(graph: Graph) -> tuple[Ints, Ints]:
    """Return the component of every node, and the size of every component.

    Examples
    --------
    >>> [part.tolist() for part in components(Graph.from_edges([0], [1], n=3))]
    [[0, 0, 1], [2, 1]]
    """
    ones, n = np.ones(graph.indices.size, dtype=np.int8), graph.n_nodes
    ties = sparse.csr_array((ones, graph.indices, graph.indptr), shape=(n, n))
    label = np.asarray(csgraph.connected_components(ties, directed=False)[1], dtype=np.int64)
    return label, np.bincount(label)

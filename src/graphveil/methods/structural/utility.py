"""Edits that keep more of the network: a search in which every deleted edge has a price.

A search within a budget (deletions, `keep`) protects as many nodes as it can, whatever edges it
takes. It is followed by one that starts from its result and looks for the cheapest edits that leave
nearly as few nodes unprotected (`with_prices`). The price of an edge is a sum of terms, by what the
network would lose:

- every edge: 1;
- betweenness: how far its loss moves its ends towards the line of the top 100 (`rank_at_risk`);
- clustering: by how much the sum of local clustering changes (`clustering_lost`);
- communities: in how many of five Louvain partitions it connects two communities (`share_across`);
- component and paths: for a bridge, the nodes that its loss cuts off (`_price_bridges`).

Under bounds (`until`), the search is repeated: the terms of what is measured beyond its bound
become dearer, until the network is within all bounds (`within_bounds`).

The properties are those of the paper's section 5.4; the paper measures them and does not steer by
them. The search is graphveil's own. Costs: O(n m) for betweenness up to 2,500 nodes, then 1,000
sources; a pass over all triangles for clustering; O(m) for each partition and for all bridges.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphveil.core.array_types import Floats, Ints
from graphveil.core.bounds import Bound
from graphveil.core.errors import InfeasibleError
from graphveil.core.kernels.leaf import ZERO
from graphveil.core.libraries import csgraph, sparse
from graphveil.data import Graph
from graphveil.measures.kernels.neighborhoods import triangles
from graphveil.methods.annealing import schedule as schedules
from graphveil.methods.annealing.kernels import pooled as kernel
from graphveil.methods.annealing.kernels.pooled import BEST_SPENT, CHANGED, SPENT, keep_if_better
from graphveil.methods.annealing.task import Edited, Task, Watch
from graphveil.methods.annealing.walk import AnnealingWalk
from graphveil.methods.structural import recount, walk_state
from graphveil.methods.structural.settings import Settings

UNIT = 1000
"""Prices are whole thousandths of that of an edge without dependents: sums are exact."""

WEIGHTS = {"betweenness": 5.0, "clustering": 1.0, "communities": 1.0, "component": 1.0}
"""What the terms of a price weigh, tuned on calls, netscience and arenas-email (docs/evidence)."""

PROPERTY_OF = {
    "largest-component": "component",
    "shortest-path": "paths",
    "clustering": "clustering",
    "betweenness": "betweenness",
}
"""The property that an edge is priced by where a metric is bounded."""

ROUNDS, DEARER, MEAN = 6, 3.0, 3.0
"""Under bounds: the most searches; the factor on the weight of a missed bound; the mean price.

The mean is in units of an edge without other terms (`UNIT`).
"""

MOST_WORK = 300_000_000
"""The most nodes times edges for bounds on shortest paths, all of which are followed each round."""

MOST = 10.0
"""A term is at most this many times its mean; a larger value lets a few edges become dearer."""

TOP, NEAR = 100, 0.02
"""How many nodes are at the top by betweenness (the paper's 100); what is added to distances.

The second is a share of the betweenness at the line, added to the distance of every node from it,
so that a node on the line does not make its edges infinitely dear.
"""

EXACT_UP_TO, PIVOTS = 2_500, 1_000
"""Up to how many nodes shortest paths are followed from all of them; else from how many."""

RUNS, LEVELS = 5, 20
"""How many partitions into communities are made, and the most levels of each."""

PRICE = 0.1
"""What the cheapest edit costs, in unprotected nodes."""

SPARED = 0.01
"""The largest share of all nodes that is given up for kept properties."""

KEPT_GAIN = 0.99
"""With `spend_least`: the share of the newly protected nodes that stays protected."""


def given_up(n_nodes: int, before: int, left: int, settings: Settings) -> int:
    """Return how many of the nodes that a search protected may be given up.

    `before` and `left` are the unprotected nodes without and with its edits.
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
    rng: Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return cheaper edits that leave few more nodes unprotected than these; these if none are.

    Parameters
    ----------
    task
        A budget of deletions, with a measure that is followed by codes.
    plain
        The best edits of the search without prices.
    before
        The unprotected nodes of the input.
    settings
        What is to be kept (`keep`), or whether the fewest edits are wanted (`spend_least`), and the
        share of the newly protected nodes that may be given up (`spare`).
    rng
        The source of all draws.
    watch
        Called after each chunk; True ends the search.
    """
    # Step 1: how many of the protected nodes may be given up.
    if watch is not None and watch(plain.unprotected, plain.cost):
        return plain
    allowed = plain.unprotected + given_up(task.n_nodes, before, plain.unprotected, settings)
    # Step 2: prices by what is to be kept; without any, all edges cost the same (spend_least).
    prices = None
    if settings.keep:
        connected = {"component", "paths"} & {*settings.keep}
        fixed = _sum_of(terms_of(task.graph, settings.keep, rng), WEIGHTS)
        prices = Prices(fixed, UNIT if connected else 0.0)
    # Step 3: the cheapest edits.
    return _cheaper(task, plain, allowed, prices, settings, rng, watch)


class Prices(NamedTuple):
    """What edges cost, in thousandths (`UNIT`).

    Parameters
    ----------
    fixed
        The price of every edge, int64, shape (m,).
    cut_off
        What is added to a bridge for each node that its loss cuts off; 0 without.
    """

    fixed: Ints
    cut_off: float


def _cheaper(
    task: Task,
    plain: Edited,
    allowed: int,
    prices: Prices | None,
    settings: Settings,
    rng: Generator,
    watch: Watch | None,
) -> Edited:
    """Return the cheapest edits found from these that leave so many nodes unprotected at most."""
    # A goal in place of the budget: so many nodes unprotected at most, at the least price.
    task = task._replace(by_budget=False, allowed=allowed)
    annealing = walk_state.annealing_state_of(task, rng)
    if prices is not None:
        pool = annealing.state.pool._replace(cost=prices.fixed.copy())
        annealing = annealing._replace(state=annealing.state._replace(pool=pool))
    walk = AnnealingWalk(task, rng, watch, annealing=annealing)
    # Begin at the edits of the plain search, the best so far, at their price.
    walk.iterations, walk.effort = settings.iterations, settings.effort
    n = task.n_nodes
    walk.go_to(np.isin(recount.keys_of(task.graph.edges(), n), recount.keys_of(plain.deleted, n)))
    keep_if_better(annealing.state, annealing.best, allowed, ZERO)
    steps = walk.proposals(schedules.goal_iterations(task.n_edges))
    for stretch in _stretches(task, steps, equal=prices is None):
        # Which edges are bridges changes with the edits: price them anew before each stretch.
        if prices is not None and prices.cut_off:
            _price_bridges(walk, prices)
        if walk.anneal(stretch):
            break
        walk.back_to_best()
    return walk_state.edited_of(task, annealing, walk.visited)


def within_bounds(
    task: Task,
    plain: Edited,
    before: int,
    settings: Settings,
    rng: Generator,
    watch: Watch | None = None,
) -> Edited:
    """Return edits after which the network is within all bounds: measured, not estimated.

    The search is repeated while a bound is missed, with dearer prices for what it measures. Where
    the last still misses one, the dearest edges are put back.
    """
    # Step 1: the terms of the prices, for what is kept and what is bounded; weights at first as
    # usual.
    bounds = settings.until or ()
    keep = {*(settings.keep or ()), *(PROPERTY_OF[b.question] for b in bounds if b.part)}
    input_shape = shape_of(task.graph, bounds)
    terms, weights = terms_of(task.graph, keep, rng), dict(WEIGHTS)
    found, prices, spare = plain, _sum_of(terms, weights), settings.spare
    for number in range(ROUNDS):
        if watch is not None and watch(found.unprotected, found.cost):
            break
        # Step 2: prices with these weights, scaled to the same mean: weights change only their
        # relation.
        prices = _sum_of(terms, weights)
        scale = MEAN * UNIT / max(float(prices.mean()), 1.0)
        cut_off = UNIT * scale * weights["component"] if {"component", "paths"} & keep else 0.0
        of_edges = Prices(np.rint(scale * prices).astype(np.int64), cut_off)
        gives = given_up(task.n_nodes, before, plain.unprotected, settings._replace(spare=spare))
        found = _cheaper(task, plain, plain.unprotected + gives, of_edges, settings, rng, watch)
        # Step 3: measure. Done, or else: terms of missed bounds three times dearer, and every other
        # round twice as many protected nodes may be given up.
        missed = missed_bounds(task.graph, input_shape, found, bounds)
        if not missed:
            return found
        for name in {PROPERTY_OF[bound.question] for bound in missed if bound.part}:
            weights["component" if name == "paths" else name] *= DEARER
        spare *= 2 if number % 2 else 1
    return _put_back(task, found, before, prices, bounds)


def _put_back(
    task: Task, found: Edited, before: int, prices: Ints, bounds: Collection[Bound]
) -> Edited:
    """Return the edits without the dearest, so many that the network is within all bounds."""
    n, input_shape = task.n_nodes, shape_of(task.graph, bounds)
    place = np.searchsorted(
        recount.keys_of(task.graph.edges(), n), recount.keys_of(found.deleted, n)
    )
    deleted = found.deleted[np.argsort(-prices[place], kind="stable")]
    # Bisect how many of the dearest deletions to undo. The upper end undoes all.
    few, many = -1, len(deleted)  # without any the network is the input
    while many - few > 1:
        half = (few + many) // 2
        tried = found._replace(deleted=deleted[half:])
        if missed_bounds(task.graph, input_shape, tried, bounds):
            few = half
        else:
            many = half
    # What remains is counted exactly; if it protects nobody more, nothing is deleted.
    rest = deleted[many:]
    order = np.lexsort((rest[:, 1], rest[:, 0]))
    edited = recount.counted(task, found._replace(deleted=rest[order]))
    none = np.empty((0, 2), dtype=np.int32)
    return edited if edited.unprotected < before else Edited(none, none, before)


Shape = Mapping[str, "float | Floats"]


def shape_of(graph: Graph, bounds: Collection[Bound]) -> Shape:
    """Return what is bounded of a graph, by metric; shares of the top ranks for betweenness."""
    asked = {bound.question for bound in bounds}
    shape: dict[str, float | Floats] = {"kept": float(graph.n_edges)}
    label, sizes = components(graph)
    shape["largest-component"] = float(sizes.max(initial=0) / max(graph.n_nodes, 1))
    if "clustering" in asked:
        shape["clustering"] = recount.average_clustering(graph)
    if {"shortest-path", "betweenness"} & asked:
        over, shape["shortest-path"] = edge_betweenness(graph, np.arange(graph.n_nodes))
        ends = np.bincount(graph.edges().ravel(), np.repeat(over, 2), minlength=graph.n_nodes)
        shape["betweenness"] = _shares_of_top(ends / 2 - (sizes[label] - 1))
    return shape


def _shares_of_top(score: Floats) -> Floats:
    """Return which share of one of the top 100 ranks every node has; equal nodes share evenly."""
    # Nodes above the last of the top ranks have a rank each; those at its score share what is left.
    top = min(TOP, score.size)
    if not top:
        return score
    last = np.partition(score, -top)[-top]
    tied = np.abs(score - last) <= TIED * max(abs(float(last)), 1.0)
    above = (score > last) & ~tied
    return np.asarray(above + tied * ((top - above.sum()) / tied.sum()), dtype=np.float64)


TIED = 1e-9
"""Scores that differ by less, as a share, are equal but for rounding."""


def compared(before: Shape, after: Shape, bounds: Collection[Bound]) -> dict[Bound, float]:
    """Return what is measured for every bound."""
    figures: dict[Bound, float] = {}
    for bound in bounds:
        first, second = before[bound.question], after[bound.question]
        if bound.part == "overlap":
            ranks = max(float(np.sum(first)), 1.0)
            figures[bound] = min(float(np.minimum(first, second).sum()) / ranks, 1.0)
            continue
        was, now = float(first), float(second)
        share = now / was if was else 1.0
        apart = abs(now - was)
        figures[bound] = {
            "": share,
            "released": now,
            "absolute difference": apart,
            "relative error": apart / was if was else apart,
        }[bound.part]
    return figures


def missed_bounds(
    graph: Graph, shape: Shape, edited: Edited, bounds: Collection[Bound]
) -> list[Bound]:
    """Return the bounds that a graph of this shape misses once it is edited."""
    figures = compared(shape, shape_of(recount.applied(graph, edited), bounds), bounds)
    return [bound for bound in bounds if not bound.holds(figures[bound])]


def check_bounds(graph: Graph, bounds: Collection[Bound]) -> None:
    """Refuse bounds that the input itself misses, or that take too long to measure."""
    # Every round measures all shortest paths anew, in about nodes times edges steps.
    paths = {"shortest-path", "betweenness"} & {bound.question for bound in bounds}
    if paths and graph.n_nodes * graph.n_edges > MOST_WORK:
        raise InfeasibleError(
            f"until: {min(paths)} follows all shortest paths, which takes too long with "
            f"{graph.n_nodes:,} nodes and {graph.n_edges:,} edges. Bound clustering, "
            "largest-component or kept."
        )
    shape = shape_of(graph, bounds)
    for bound, figure in compared(shape, shape, bounds).items():
        if not bound.holds(figure):
            raise InfeasibleError(
                f"the input itself misses until={str(bound)!r}: it has {figure:.4g}. Choose a "
                "bound that it meets."
            )


def _stretches(task: Task, steps: int, *, equal: bool) -> tuple[schedules.AnnealingSegment, ...]:
    """Return a warm stretch, a cold one with many swaps, and a fine one."""
    # Prices are whole thousandths; as `ease` falls to 0, only the number of nodes counts.
    price = PRICE if equal else PRICE / UNIT
    plan, odds = schedules.paying(schedules.within_budget(task, steps), task.k, price)
    fewer, more = (odds._replace(swap=often, swap_back=often) for often in (0.3, 0.5))
    warm = plan._replace(hot=0.3, cold=0.05, ease=0.5)
    cold = plan._replace(steps=-(-steps // 2), hot=0.05, cold=0.005, ease=0.5)
    fine = plan._replace(hot=0.1, cold=0.01, ease=0.0)
    return (
        schedules.AnnealingSegment(warm, fewer),
        schedules.AnnealingSegment(cold, more),
        schedules.AnnealingSegment(fine, fewer),
    )


def _price_bridges(walk: AnnealingWalk[Task], prices: Prices) -> None:
    """Add to the fixed prices what is cut off by bridges, present ones and deleted edges."""
    # Present edges: the nodes on the smaller side of each bridge.
    pool, best = walk.annealing.state.pool, walk.annealing.best
    cost = prices.fixed if pool.cost is None else pool.cost
    gone = ~pool.present
    edges = np.stack((pool.one, pool.other), axis=1)
    present = Graph.from_edges(*edges[pool.present].T, n=walk.task.n_nodes)
    of_present = np.zeros(present.n_edges, dtype=np.int64)
    kernel.cut_off(present.indptr, present.indices.copy(), edge_of_entry(present), of_present)
    # Deleted edges that would join two components: the nodes of the smaller one.
    label, sizes = components(present)
    here, there = label[pool.one[gone]], label[pool.other[gone]]
    joining = np.where(here != there, np.minimum(sizes[here], sizes[there]), 0)
    cost[:] = prices.fixed
    cost[pool.present] += np.rint(prices.cut_off * of_present).astype(np.int64)
    cost[gone] += np.rint(prices.cut_off * joining).astype(np.int64)
    # The sums that the kernels keep are of the old prices: take them anew.
    pool.tally[SPENT] = cost[pool.order[: pool.tally[CHANGED]]].sum()
    best.tally[BEST_SPENT] = cost[best.changed].sum()


def terms_of(graph: Graph, keep: Collection[str], rng: Generator) -> dict[str, Floats]:
    """Return the terms of the prices by the property that each is for, shapes (m,)."""
    terms: dict[str, Floats] = {"": np.ones(graph.n_edges)}
    if not graph.n_edges:
        return terms
    if "betweenness" in keep:
        terms["betweenness"] = rank_at_risk(graph, rng)
    if "clustering" in keep:
        terms["clustering"] = _over_mean(np.abs(clustering_lost(graph)))
    if "communities" in keep:
        terms["communities"] = share_across(graph, rng)
    return terms


def _sum_of(terms: Mapping[str, Floats], weights: Mapping[str, float]) -> Ints:
    """Return the prices that weighted terms come to, in thousandths."""
    cost = sum(weights.get(name, 1.0) * term for name, term in terms.items())
    return np.rint(UNIT * cost).astype(np.int64)


def _over_mean(values: Floats) -> Floats:
    """Return the values in units of their mean, at most `MOST`: terms become comparable."""
    mean = float(values.mean())
    return np.minimum(values / mean, MOST) if mean > 0 else values


def edge_of_entry(graph: Graph) -> Ints:
    """Return the number of the edge of every entry of the neighbor lists."""
    # Edges are numbered by their smaller end, then the larger. Seen from larger ends, entries with
    # the same smaller end keep their order under a stable sort.
    source = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), graph.degrees())
    forward = source < graph.indices
    edges = np.empty(graph.indices.size, dtype=np.int64)
    edges[forward] = np.arange(graph.n_edges)
    edges[~forward] = np.argsort(graph.indices[forward], kind="stable")
    return edges


def edge_betweenness(graph: Graph, sources: Ints) -> tuple[Floats, float]:
    """Return how many shortest paths run over every edge, both ways, and their mean length."""
    n = graph.n_nodes
    over, reached = np.zeros(graph.n_edges), np.zeros(2, dtype=np.int64)
    kernel.add_paths(
        graph.indptr, graph.indices.copy(), edge_of_entry(graph), sources, over, reached
    )
    return over * (n / max(sources.size, 1)), float(reached[0] / max(reached[1], 1))


def kept_facts(before: Graph, after: Graph) -> dict[str, float]:
    """Return largest component, mean path and top by betweenness; estimates if n is large."""
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


def rank_at_risk(graph: Graph, rng: Generator) -> Floats:
    """Return how far the loss of every edge moves its ends towards the line of the top 100."""
    if graph.n_nodes <= TOP:
        return np.zeros(graph.n_edges)
    # Betweenness of edges and nodes, from all nodes or a random sample of sources.
    sources = np.arange(graph.n_nodes)
    if graph.n_nodes > EXACT_UP_TO:
        sources = np.sort(rng.choice(graph.n_nodes, PIVOTS, replace=False))
    over, _ = edge_betweenness(graph, sources)
    edges = graph.edges()
    score = np.bincount(edges.ravel(), np.repeat(over, 2), minlength=graph.n_nodes) / 2
    # An edge weighs by the betweenness that its ends lose with it, relative to their distance from
    # the line between the top 100 and the others.
    line = np.partition(score, -TOP)[-TOP]
    margin = np.abs(score - line) + NEAR * line
    share = np.divide(over[:, None], margin[edges], out=np.zeros(edges.shape), where=line > 0)
    return _over_mean(share.sum(axis=1))


def clustering_lost(graph: Graph) -> Floats:
    """Return how the sum of local clustering changes with the loss of every edge alone."""
    out = np.zeros(graph.n_edges)
    closed = triangles(graph.indptr, graph.indices).astype(np.int64)
    kernel.clustering_lost(graph.indptr, graph.indices.copy(), edge_of_entry(graph), closed, out)
    return out


def share_across(graph: Graph, rng: Generator) -> Floats:
    """Return in which share of five partitions the ends of every edge are in two communities."""
    edges = graph.edges()
    apart = np.zeros(graph.n_edges)
    for _ in range(RUNS):
        found = communities(graph, rng)
        apart += found[edges[:, 0]] != found[edges[:, 1]]
    return apart / RUNS


def communities(graph: Graph, rng: Generator) -> Ints:
    """Return the community of every node, by the Louvain method (Blondel et al. 2008)."""
    # Level by level: nodes join communities while modularity rises, then communities become nodes.
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
    """Return the component of every node, and the size of every component."""
    ones, n = np.ones(graph.indices.size, dtype=np.int8), graph.n_nodes
    ties = sparse.csr_array((ones, graph.indices, graph.indptr), shape=(n, n))
    label = np.asarray(csgraph.connected_components(ties, directed=False)[1], dtype=np.int64)
    return label, np.bincount(label)

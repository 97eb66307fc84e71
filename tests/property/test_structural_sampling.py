"""The paper's heuristics on random graphs: kernels against slow twins, and what every run keeps."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.kernels.arrays import new_table
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.measures import MEASURES, class_sizes_of_nodes, partition
from graphveil.measures.kernels.neighborhoods import flagged_thirds, triangles_of_nodes
from graphveil.methods.annealing.bounds import lower_bound
from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.kernels.paper import (
    flagged_near,
    lists_of,
    missing_from,
    small_classes,
)
from graphveil.methods.structural.paper import (
    FLIPS,
    affected,
    candidates,
    exchanged,
    keys_of,
    ranked,
    sample_edits,
    state_of,
    without,
)

HEURISTICS = ("es", "degree", "affected", "unique", "ua", "ua-only")
EDITS = ("delete", "add", "rewire", "any")
REACHES = [(name, 1) for name in MEASURES] + [(name, 2) for name in MEASURES if name != "degree"]


def graph_of(edges, n):
    ends = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=n)


def edges_of(forward):
    u = np.repeat(np.arange(forward.start.size - 1), np.diff(forward.start))
    return list(zip(u.tolist(), forward.ends.tolist(), strict=True))


@st.composite
def graphs(draw, smallest=1, largest=9):
    n = draw(st.integers(smallest, largest))
    pairs = list(combinations(range(n), 2))
    edges = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    return graph_of(edges, n)


def generators():
    return st.integers(0, 2**32).map(lambda seed: Randomness(seed=seed).stream("test"))


@given(graphs(), st.data())
@settings(deadline=None, max_examples=60)
def test_ranked_edges_are_the_graph_under_numbers_of_rising_degree(graph, data):
    order, forward = ranked(graph)
    degrees = graph.degrees()[order]
    assert sorted(degrees.tolist()) == degrees.tolist()
    named = {tuple(sorted((int(order[u]), int(order[v])))) for u, v in edges_of(forward)}
    assert set(map(tuple, graph.edges().tolist())) == named
    assert edges_of(forward) == sorted(edges_of(forward))
    assert all(u < v for u, v in edges_of(forward))
    assert graph_of(edges_of(forward), graph.n_nodes) == Graph(*lists_of(forward))
    gone = data.draw(st.sets(st.integers(0, max(graph.n_edges - 1, 0)), max_size=graph.n_edges))
    less = without(forward, np.array(sorted(gone), dtype=np.int64))
    kept = [edge for place, edge in enumerate(edges_of(forward)) if place not in gone]
    assert kept == edges_of(less)
    assert sorted(set(edges_of(forward)) - set(kept)) == [
        tuple(edge) for edge in missing_from(forward, less).tolist()
    ]


@given(graphs(largest=12), st.data())
@settings(deadline=None, max_examples=60)
def test_triangle_passes_count_what_plain_counting_counts(graph, data):
    n = graph.n_nodes
    _, forward = ranked(graph)
    edges = edges_of(forward)
    flag = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=np.bool_)
    near = {v: {w for edge in edges if v in edge for w in edge} - {v} for v in range(n)}
    inside = Counter(v for v in near for a, b in combinations(sorted(near[v]), 2) if b in near[a])
    assert [inside[v] for v in range(n)] == triangles_of_nodes(forward).tolist()
    shared = [sum(flag[x] for x in near[v] & near[w]) for v, w in edges]
    assert shared == flagged_thirds(forward, flag).tolist()
    own = [sum(flag[x] for x in near[v] | {v}) for v in range(n)]
    assert own == flagged_near(forward, flag).tolist()


@given(
    st.lists(st.sampled_from([0, 1, 2, 2**40, 2**40 + 1, 2**62]), max_size=60), st.integers(1, 5)
)
@settings(deadline=None, max_examples=60)
def test_small_classes_are_those_of_fewer_than_k_equal_codes(codes, k):
    sizes = Counter(codes)
    small = np.empty(len(codes), dtype=np.bool_)
    small_classes(np.array(codes, dtype=np.int64), k, *new_table(len(codes)), small)
    assert [sizes[code] < k for code in codes] == small.tolist()


def twin_affected(graph, measure, distance, flips):
    """The union of what single flips affect, each in the graph that has the edge."""
    edges = set(map(tuple, graph.edges().tolist()))
    found = set()
    for v, w, joins in flips:
        edge = (min(v, w), max(v, w))
        here = graph_of(edges | {edge}, graph.n_nodes)
        found |= set(MEASURES[measure].affected(here, distance, *edge).tolist())
        edges = edges | {edge} if joins else edges - {edge}
    return found


@pytest.mark.parametrize(("measure", "distance"), REACHES)
@given(graph=graphs(smallest=4, largest=8), rng=generators())
@settings(deadline=None, max_examples=40)
def test_scores_of_edits_are_the_sizes_of_their_affected_sets(measure, distance, graph, rng):
    _, forward = ranked(graph)
    here = Graph(*lists_of(forward))
    task = Task(here, measure, distance, 2, "any", 1, 0)
    state = state_of(forward, task)
    flag = rng.random(graph.n_nodes) < 0.6
    for pool in candidates(forward, "any", rng):
        scores = affected(state, pool, task, flag)
        ends, joins = FLIPS[pool.kind]
        for place in range(0, scores.size, max(scores.size // 4, 1)):
            nodes = [int(column[place]) for column in pool.nodes]
            flips = [(nodes[a], nodes[b], on) for (a, b), on in zip(ends, joins, strict=True)]
            expected = twin_affected(here, measure, distance, flips)
            assert sum(flag[x] for x in expected) == scores[place]


@pytest.mark.parametrize(("measure", "distance"), REACHES)
@given(graph=graphs(smallest=4, largest=8), rng=generators())
@settings(deadline=None, max_examples=40)
def test_an_edit_changes_the_class_of_no_node_outside_its_affected_set(
    measure, distance, graph, rng
):
    """Before and after are put side by side in one graph, so that their classes compare."""
    n = graph.n_nodes
    _, forward = ranked(graph)
    for pool in candidates(forward, "any", rng):
        parted, joined = pool.pairs(n)
        after = exchanged(forward, keys_of(forward), parted[0], joined[0])
        both = edges_of(forward) + [(u + n, v + n) for u, v in edges_of(after)]
        labels = partition(graph_of(both, 2 * n), measure=measure, distance=distance)
        changed = set(np.flatnonzero(labels[:n] != labels[n:]).tolist())
        ends, joins = FLIPS[pool.kind]
        nodes = [int(column[0]) for column in pool.nodes]
        flips = [(nodes[a], nodes[b], on) for (a, b), on in zip(ends, joins, strict=True)]
        assert changed <= twin_affected(Graph(*lists_of(forward)), measure, distance, flips)


@given(graphs(smallest=2, largest=10), generators())
@settings(deadline=None, max_examples=60)
def test_candidates_are_edges_to_part_and_pairs_to_join(graph, rng):
    n = graph.n_nodes
    _, forward = ranked(graph)
    present = set(keys_of(forward).tolist())
    for pool in candidates(forward, "any", rng):
        for off, on in zip(*(rows.tolist() for rows in pool.pairs(n)), strict=True):
            assert set(off) <= present
            assert not set(on) & present
            assert len({*off, *on}) == len(off) + len(on)
        assert all(len(set(nodes)) == len(nodes) for nodes in zip(*pool.nodes, strict=True))
        assert pool.kind == "delete" or pool.nodes[0].size <= max(graph.n_edges, 64)


@given(
    graph=graphs(smallest=3, largest=10),
    reach=st.sampled_from(REACHES),
    edits=st.sampled_from(EDITS),
    heuristic=st.sampled_from(HEURISTICS),
    sizes=st.tuples(
        st.integers(2, 3), st.integers(1, 9), st.integers(1, 4), st.integers(0, 2), st.booleans()
    ),
    seed=st.integers(0, 1000),
)
@settings(deadline=None, max_examples=600)
def test_every_run_keeps_what_was_asked_for(graph, reach, edits, heuristic, sizes, seed):
    (measure, distance), (k, budget, gap, allowed, by_budget) = reach, sizes
    task = Task(graph, measure, distance, k, edits, budget, allowed)
    seen = []

    def run():
        rng = Randomness(seed=seed).stream("run")
        watch = lambda unprotected, done: seen.append((unprotected, done))  # noqa: E731  it only takes notes
        return sample_edits(
            task._replace(by_budget=by_budget), heuristic, gap=gap, rng=rng, watch=watch
        )

    found = run()
    trajectory = list(seen)
    before = set(map(tuple, graph.edges().tolist()))
    added, deleted = (set(map(tuple, rows.tolist())) for rows in found[:2])
    assert deleted <= before
    assert not added & before
    assert all(u < v for u, v in added)
    assert not added or edits != "delete"
    assert not deleted or edits != "add"
    assert found.cost <= budget * (1 if edits in {"delete", "add"} else 4)

    def unprotected_in(edges):
        labels = partition(graph_of(edges, graph.n_nodes), measure=measure, distance=distance)
        return int(np.count_nonzero(class_sizes_of_nodes(labels) < k))

    start = unprotected_in(before)
    assert found.unprotected == unprotected_in((before - deleted) | added)
    done = [0, *(edits_done for _, edits_done in trajectory)]
    assert all(0 < later - earlier <= gap for earlier, later in pairwise(done))
    assert done[-1] <= budget
    unprotected = [start, *(nodes for nodes, _ in trajectory)]
    assert all(nodes > allowed for nodes in unprotected[:-1])
    if by_budget or min(unprotected) > allowed:
        assert min(unprotected) == found.unprotected
    else:
        assert found.unprotected <= allowed
    assert found.cost > 0 or found.unprotected == start
    again = run()
    assert [rows.tolist() for rows in found[:2]] == [rows.tolist() for rows in again[:2]]


def twin_change(degrees, k, *, raises, lowers):
    """The least change so that groups of at least k, in descending order, have one degree each."""
    d = sorted(degrees, reverse=True)
    best = [0] + [float("inf")] * len(d)
    for i in range(1, len(d) + 1):
        for j in range(max(i - k + 1, 0)):
            group = d[j:i]
            targets = [
                t
                for t in range(max(d) + 1)
                if (raises or t <= group[-1]) and (lowers or t >= group[0])
            ]
            cost = min(sum(abs(x - t) for x in group) for t in targets)
            best[i] = min(best[i], best[j] + cost)
    return best[-1]


@given(graphs(smallest=2, largest=12), st.integers(2, 4))
@settings(deadline=None, max_examples=60)
def test_the_bound_is_half_the_least_change_of_the_degrees(graph, k):
    if graph.n_nodes < k:
        return
    degrees = graph.degrees().tolist()
    for edits, raises, lowers in (("delete", 0, 1), ("add", 1, 0), ("any", 1, 1)):
        change = twin_change(degrees, k, raises=raises, lowers=lowers)
        task = Task(graph, "count", 1, k, edits, 1, 0)
        assert -(-change // 2) == lower_bound(task)


@given(graphs(smallest=2, largest=8), st.integers(2, 4))
@settings(deadline=None, max_examples=80)
def test_no_deletions_below_the_bound_make_every_degree_shared(graph, k):
    m, n = graph.n_edges, graph.n_nodes
    if m > 12 or n < k:
        return
    subsets = (np.arange(2**m)[:, None] >> np.arange(m)) & 1
    fewest = fewest_flips(graph.edges(), subsets, 1 - subsets, n, k)
    assert lower_bound(Task(graph, "degree", 1, k, "delete", m, 0)) <= fewest


@given(graphs(smallest=2, largest=5), st.integers(2, 4), st.sampled_from(["add", "any"]))
@settings(deadline=None, max_examples=60)
def test_no_edits_below_the_bound_make_every_degree_shared(graph, k, edits):
    n = graph.n_nodes
    if n < k:
        return
    pairs = np.array(list(combinations(range(n), 2)))
    present = set(map(tuple, graph.edges().tolist()))
    now = np.array([tuple(pair) in present for pair in pairs.tolist()], dtype=np.int64)
    after = (np.arange(2 ** len(pairs))[:, None] >> np.arange(len(pairs))) & 1
    if edits == "add":
        after = after[(after >= now).all(axis=1)]
    fewest = fewest_flips(pairs, after, after != now, n, k)
    assert fewest is None or lower_bound(Task(graph, "degree", 1, k, edits, 1, 0)) <= fewest


def fewest_flips(pairs, edges_in, flipped, n, k):
    """The fewest flips among the graphs in which every degree is shared by k; None without any."""
    incidence = np.zeros((len(pairs), n), dtype=np.int64)
    for row, (u, v) in enumerate(pairs.tolist()):
        incidence[row, [u, v]] = 1
    degrees = edges_in @ incidence
    sharing = (degrees[:, :, None] == degrees[:, None, :]).sum(axis=2).min(axis=1)
    flips = flipped.sum(axis=1)[sharing >= k]
    return int(flips.min()) if flips.size else None

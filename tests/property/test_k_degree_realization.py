from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import InfeasibleError
from graphveil.core.randomness import Randomness
from graphveil.data import Graph
from graphveil.methods.k_degree.cells import CellSpace
from graphveil.methods.k_degree.edit_state import by_need, start
from graphveil.methods.k_degree.kernels import absorb as degree_edits_absorb
from graphveil.methods.k_degree.kernels import absorb as degree_edits_leftover
from graphveil.methods.k_degree.kernels import edits as degree_edits
from graphveil.methods.k_degree.kernels import edits as degree_edits_match
from graphveil.methods.k_degree.raising import made_even, raised, raised_at_random
from graphveil.methods.k_degree.realize import apply_edits, realize
from graphveil.methods.k_degree.sequence import runs_of
from graphveil.methods.k_degree.task import DegreeTask


def graph_of(n, edges):
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


def random_graph(n, density, seed):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    chosen = rng.random(u.size) < density
    return Graph.from_edges(u[chosen], v[chosen], n=n)


def edge_set(graph):
    return set(map(tuple, graph.edges().tolist()))


def run(graph, k, edits="add", *, target="exact", near=True, restarts=1, seed=0):
    return realize(
        (graph.indptr, graph.indices),
        k,
        edits=edits,
        target=target,
        near=near,
        restarts=restarts,
        randomness=Randomness(seed=seed),
    )


def check_by_sets(graph, k, found, edits):
    """Count the promise with sets of pairs alone."""
    before = edge_set(graph)
    added, deleted = (set(map(tuple, e.tolist())) for e in (found.added, found.deleted))
    assert not added & before
    assert deleted <= before
    assert edits == "any" or not deleted
    after = (before | added) - deleted
    degrees = [sum(v in edge for edge in after) for v in range(graph.n_nodes)]
    assert degrees == found.targets.tolist()
    assert min(degrees.count(d) for d in degrees) >= k
    assert found.lower_bound <= found.cost
    assert found.target_bound <= found.cost
    assert after == edge_set(apply_edits(graph, found))


@st.composite
def small_graphs(draw):
    n = draw(st.integers(1, 24))
    pairs = list(combinations(range(n), 2))
    shape = draw(st.sampled_from(["empty", "complete", "star", "any", "any", "sparse"]))
    if shape == "empty" or not pairs:
        return graph_of(n, [])
    if shape == "complete":
        return graph_of(n, pairs)
    if shape == "star":
        return graph_of(n, [(0, v) for v in range(1, n)])
    limit = len(pairs) if shape == "any" else n
    return graph_of(n, draw(st.sets(st.sampled_from(pairs), max_size=limit)))


@settings(deadline=None, max_examples=60)
@given(graph=small_graphs(), data=st.data(), edits=st.sampled_from(["add", "any"]))
def test_every_small_graph_is_realized_for_every_k_up_to_n(graph, data, edits):
    n = graph.n_nodes
    k = data.draw(st.sampled_from(sorted({1, 2, n // 2, n}.intersection(range(1, n + 1)))))
    near = data.draw(st.booleans())
    check_by_sets(graph, k, run(graph, k, edits, near=near), edits)


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs_of_any_density_are_realized_in_both_modes(seed):
    rng = np.random.default_rng(seed)
    for density in (0.02, 0.1, 0.5, 0.9, 0.98):
        graph = random_graph(int(rng.integers(2, 80)), density, int(rng.integers(2**31)))
        k = int(rng.integers(1, graph.n_nodes + 1))
        costs = {}
        for edits in ("add", "any"):
            found = run(graph, k, edits, seed=seed)
            check_by_sets(graph, k, found, edits)
            costs[edits] = found.cost
        assert costs["any"] <= costs["add"]


def test_the_greedy_target_is_realized():
    graph = random_graph(30, 0.2, 3)
    check_by_sets(graph, 3, run(graph, 3, "add", target="greedy"), "add")


def test_fewer_nodes_than_k_is_refused_with_both_numbers():
    with pytest.raises(InfeasibleError, match="k=6 exceeds the 5 nodes"):
        run(graph_of(5, []), 6)


@pytest.mark.parametrize("edits", ["add", "any"])
def test_a_graph_that_keeps_the_promise_is_left_as_it_is(edits):
    ring = graph_of(12, [(v, v + 1) for v in range(11)] + [(0, 11)])
    found = run(ring, 12, edits)
    assert (0, 0, 0) == (found.cost, found.l1, found.lower_bound)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**40), edits=st.sampled_from(["add", "any"]))
def test_the_same_seed_gives_the_same_edits(seed, edits):
    graph = random_graph(40, 0.15, 5)
    one, two = (run(graph, 4, edits, seed=seed, restarts=3) for _ in range(2))
    assert one.added.tolist() == two.added.tolist()
    assert one.deleted.tolist() == two.deleted.tolist()


def test_a_hub_loses_its_edges_rather_than_k_nodes_becoming_hubs():
    hub = graph_of(400, [(0, v) for v in range(1, 400)])
    found = run(hub, 20, "any")
    check_by_sets(hub, 20, found, "any")
    assert found.cost < 450


def test_a_graph_of_nested_neighborhoods_is_mended_at_its_lower_bound():
    nested = graph_of(80, [(u, v) for u, v in combinations(range(80), 2) if u + v < 80])
    found = run(nested, 2, "any", restarts=4)
    assert found.lower_bound == found.cost


def test_read_only_and_writable_arrays_give_the_same_edits():
    graph = random_graph(40, 0.15, 5)
    writable = realize(
        (graph.indptr.copy(), graph.indices.copy()),
        4,
        edits="any",
        target="exact",
        near=True,
        restarts=1,
        randomness=Randomness(seed=1),
    )
    assert writable.added.tolist() == run(graph, 4, "any", seed=1).added.tolist()


def all_graphs_of_seven():
    """Degree classes of all 2^21 graphs on 7 nodes: edge counts and smallest class sizes."""
    u, v = np.triu_indices(7, 1)
    masks = np.arange(1 << 21, dtype=np.int32)
    degrees = np.zeros((7, masks.size), dtype=np.int8)
    for e in range(21):
        bit = ((masks >> e) & 1).astype(np.int8)
        degrees[u[e]] += bit
        degrees[v[e]] += bit
    smallest = np.full(masks.size, 7, dtype=np.int8)
    for d in range(7):
        size = (degrees == d).sum(axis=0).astype(np.int8)
        smallest = np.where(size > 0, np.minimum(smallest, size), smallest)
    return masks, smallest


@pytest.fixture(scope="module")
def seven():
    """Edits and fewest possible edits of 60 random graphs on 7 nodes, k = 2 and 3."""
    masks, smallest = all_graphs_of_seven()
    u, v = np.triu_indices(7, 1)
    rng = np.random.default_rng(20)
    rows = {"add": [], "any": []}
    for seed in range(60):
        chosen = rng.random(21) < 0.5
        graph = Graph.from_edges(u[chosen], v[chosen], n=7)
        mask = np.int32((chosen * (1 << np.arange(21))).sum())
        distance = np.bitwise_count(masks ^ mask)
        over = (masks & mask) == mask
        for k in (2, 3):
            good = smallest >= k
            for edits, allowed in (("add", good & over), ("any", good)):
                found = run(graph, k, edits, seed=seed, restarts=2)
                rows[edits].append((found.cost, int(distance[allowed].min())))
    return {edits: np.array(pairs) for edits, pairs in rows.items()}


@pytest.mark.parametrize(("edits", "optimal", "excess"), [("add", 78, 0.72), ("any", 78, 0.45)])
def test_on_seven_nodes_edits_are_near_the_fewest_of_all_graphs(seven, edits, optimal, excess):
    cost, fewest = seven[edits].T
    assert np.all(cost >= fewest)
    assert np.sum(cost == fewest) >= optimal
    assert cost.mean() - fewest.mean() <= excess


@settings(deadline=None, max_examples=60)
@given(graph=small_graphs(), data=st.data())
def test_each_step_keeps_what_is_owed_and_the_classes_true(graph, data):
    """Drive every kernel on arbitrary targets and recount the state with sets after each."""
    n = graph.n_nodes
    seed = data.draw(st.integers(0, 2**32))
    k = data.draw(st.integers(1, 3))
    goal = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    rng = np.random.default_rng(seed)
    task = DegreeTask(graph.indptr, graph.indices, graph.degrees(), k, near=True)
    edits, classes = start(task, goal.astype(np.int64), additions=False)
    owed = edits.residual

    def recount():
        added, deleted = (
            {(int(key) // n, int(key) % n) for key in degree_edits.changed_pairs(edits, sign)}
            for sign in (1, -1)
        )
        before = edge_set(graph)
        assert not added & before
        assert deleted <= before
        after = (before | added) - deleted
        degrees = np.array([sum(v in edge for edge in after) for v in range(n)])
        assert (classes.target - degrees).tolist() == owed.tolist()
        assert np.bincount(classes.target, minlength=n + 1).tolist() == classes.members.tolist()
        return after

    degree_edits_match.match_deletions(edits, by_need(owed, -1, rng))
    left = np.flatnonzero(owed < 0).tolist()
    assert not recount() & set(combinations(left, 2))
    degree_edits_match.match_additions(edits, by_need(owed, 1, rng))
    left = np.flatnonzero(owed > 0).tolist()
    assert recount() >= set(combinations(left, 2))
    unpaid = np.abs(owed).sum()
    for sign in (-1, 1):
        degree_edits_match.swap(edits, by_need(owed, sign, rng), sign, 64, 10_000, rng)
        recount()
    smallest = np.bincount(goal)
    smallest = smallest[smallest > 0].min()
    last = degree_edits_absorb.absorb_surplus(edits, classes, by_need(owed, -1, rng), k, rng)
    recount()
    unpaid_now = np.abs(owed).sum()
    degree_edits_absorb.undo_absorption(edits, classes, last, k)
    recount()
    assert np.abs(owed).sum() in {unpaid_now, unpaid_now + abs(last[2])}
    degree_edits_leftover.rotate(edits, by_need(owed, -1, rng), by_need(owed, 1, rng), rng)
    recount()
    order = rng.permutation(n)
    degree_edits_absorb.absorb_owed(edits, classes, by_need(owed, 1, rng), k, 4, order, rng)
    recount()
    members = classes.members[classes.members > 0]
    assert members.min() >= min(k, smallest)
    degree_edits_leftover.pair(edits, rng.permutation(np.flatnonzero(owed)), rng)
    recount()
    assert np.abs(owed).sum() <= unpaid + 1


@settings(deadline=None, max_examples=60)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_raised_targets_stay_anonymous_even_and_below_n(data, seed):
    n = data.draw(st.integers(2, 20))
    k = data.draw(st.integers(1, n))
    rng = np.random.default_rng(seed)
    size = max(k, data.draw(st.integers(1, n)))
    cuts = [0, *range(size, n - k + 1, size), n]
    target = np.empty(n, dtype=np.int64)
    for low, high in pairwise(cuts):
        target[low:high] = data.draw(st.integers(0, n - 1))
    if (target < n - 1).sum() == 0:
        return
    left = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1))))
    units = data.draw(st.integers(1, 2 * n))
    for goal in (
        raised(target, left, units, rng.random(n), k, CellSpace.plain(n)),
        raised_at_random(target, k, rng, CellSpace.plain(n)),
    ):
        assert np.all(goal >= target)
        assert goal.sum() > target.sum()
        assert goal.max() < n
        assert min(runs_of(goal).count) >= k
        even = made_even(goal, k, rng, CellSpace.plain(n))
        assert even.sum() % 2 == 0
        assert even.max() < n
        assert min(runs_of(even).count) >= k


@settings(deadline=None, max_examples=40)
@given(graph=small_graphs(), data=st.data())
def test_the_edited_neighbor_lists_are_those_of_the_edited_edges(graph, data):
    n = graph.n_nodes
    before = sorted(edge_set(graph))
    strangers = sorted(set(combinations(range(n), 2)) - set(before))
    added = data.draw(st.sets(st.sampled_from(strangers))) if strangers else set()
    deleted = data.draw(st.sets(st.sampled_from(before))) if before else set()
    found = run(graph, 1)._replace(
        added=np.array(sorted(added), dtype=np.int32).reshape(-1, 2),
        deleted=np.array(sorted(deleted), dtype=np.int32).reshape(-1, 2),
    )
    assert graph_of(n, (set(before) | added) - deleted) == apply_edits(graph, found)


@settings(deadline=None, max_examples=40)
@given(graph=small_graphs())
def test_bisection_finds_exactly_the_edges_of_the_graph(graph):
    n = graph.n_nodes
    edges = edge_set(graph)
    pairs = list(combinations(range(n), 2))
    keys = np.array([u * n + v for u, v in pairs], dtype=np.int64)
    found = degree_edits.pairs_in_graph(graph.indptr, graph.indices, keys)
    assert [pair in edges for pair in pairs] == found.tolist()

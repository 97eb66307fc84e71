"""The kernels of structural anonymity, one by one, against slow twins."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Graph
from graphveil.kernels.neighbourhoods import refinement
from graphveil.kernels.structural import anneal, classes, paper, rows
from graphveil.kernels.structural.annealing import pool as pools
from graphveil.kernels.structural.annealing import shapes, starts, values, walk
from graphveil.kernels.structural.target import edits as target_edits
from graphveil.kernels.structural.target import moves
from graphveil.methods.structural.annealing.state import arena_of
from graphveil.methods.structural.annealing.walk import within_budget
from graphveil.methods.structural.target.state import field_of, present
from graphveil.methods.structural.task import Task

SEEDS = st.integers(0, 2**32)


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


@st.composite
def graphs(draw, smallest=4, largest=10):
    n = draw(st.integers(smallest, largest))
    pairs = list(combinations(range(n), 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    edges = [pair for pair, keep in zip(pairs, kept, strict=True) if keep]
    return Graph.from_edges(*np.array(edges, dtype=np.int64).reshape(-1, 2).T, n=n)


def plain(graph):
    twin = nx.empty_graph(graph.n_nodes)
    twin.add_edges_from(graph.edges().tolist())
    return twin


def rows_of(graph):
    room = np.full(graph.n_nodes, graph.n_nodes, dtype=np.int64)
    return rows.new_rows(graph.indptr, graph.indices, room)


def neighbours_in(lists):
    start, length, neighbour, _ = lists
    return [neighbour[a : a + size].tolist() for a, size in zip(start, length, strict=False)]


def value_of(twin, v):
    return twin.degree(v), nx.triangles(twin, v)


def unprotected_in(twin, k):
    sizes = Counter(value_of(twin, v) for v in twin)
    return {v for v in twin if sizes[value_of(twin, v)] < k}


# Rows


@given(st.lists(st.integers(0, 30)).map(sorted), st.integers(-1, 31), st.data())
@settings(deadline=None, max_examples=60)
def test_the_first_not_below_is_where_bisection_inserts(entries, value, data):
    low = data.draw(st.integers(0, len(entries)))
    high = data.draw(st.integers(low, len(entries)))
    at = rows.first_not_below(np.array(entries, dtype=np.int64), low, high, value)
    assert bisect_left(entries, value, low, high) == at


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=60)
def test_rows_hold_the_neighbours_of_a_graph_whose_edges_are_toggled(graph, seed):
    lists, twin, rng = rows_of(graph), plain(graph), generator(seed)
    for _ in range(12):
        v, w = rng.permutation(graph.n_nodes)[:2].tolist()
        assert twin.has_edge(v, w) == rows.adjacent(lists, v, w)
        common = rows.common_of(lists, v, w)
        assert sorted(nx.common_neighbors(twin, v, w)) == lists.common[:common].tolist()
        rows.toggle(lists, v, w)
        (twin.remove_edge if twin.has_edge(v, w) else twin.add_edge)(v, w)
        assert [sorted(twin[x]) for x in twin] == neighbours_in(lists)


def test_common_neighbours_of_unlike_rows_are_galloped_to():
    star = [(0, i) for i in range(1, 100)] + [(100, i) for i in (5, 50, 99)] + [(100, 101)]
    ends = np.array(star)
    lists = rows_of(Graph.from_edges(ends[:, 0], ends[:, 1], n=102))
    assert 3 == rows.common_of(lists, 0, 100)
    assert [5, 50, 99] == lists.common[:3].tolist()


# Classes


def counted(codes, k, weight=None, node=None):
    """The unprotected nodes, what they lack and the gap, from the codes alone."""
    sizes = Counter(codes)
    small = [code for code in codes if sizes[code] < k]
    lack = sum((1 if weight is None else weight[c >> 40]) * (2 * k - 1 - sizes[c]) for c in small)
    gap = 0
    for code, (_, pull, degree, triangles) in zip(
        codes, [] if node is None else node, strict=False
    ):
        gap += pull * (8 * abs((code >> 40) - degree) + abs((code & (2**40 - 1)) - triangles))
    return len(small), lack, gap


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12),
    st.integers(2, 4),
    st.booleans(),
    SEEDS,
)
@settings(deadline=None, max_examples=80)
def test_classes_equal_a_recount_after_moves_and_go_back(drawn, k, with_aims, seed):
    rng, n = generator(seed), len(drawn)
    codes = np.array([degree << 40 | triangles for degree, triangles in drawn], dtype=np.int64)
    table = classes.new_classes(codes, k, moves=12, steps=(1 << 40, 1), aims=3 if with_aims else 0)
    weight = rng.integers(0, 4, 60) if with_aims else None
    if with_aims:
        table.node[:, 1:] = rng.integers(0, 4, (n, 3))
    classes.fill(table, weight)

    def check(codes):
        node = table.node.tolist() if with_aims else None
        assert codes == table.table[table.node[:, 0], 0].tolist()
        assert counted(codes, k, weight, node) == classes.tallies(table)
        out = np.empty(n, dtype=np.int64)
        sizes = Counter(codes)
        listed = [
            v for v, c in enumerate(codes) if sizes[c] < k and (not with_aims or weight[c >> 40])
        ]
        assert listed == out[: classes.list_unprotected(table, weight, out)].tolist()

    now = codes.tolist()
    check(now)
    for _ in range(8):
        before, then = classes.tallies(table), list(now)
        classes.begin(table, weight)
        v = int(rng.integers(n))
        classes.move(table, weight, v, 1)
        now[v] += 1
        one, other = int(rng.integers(n)), int(rng.integers(n))
        classes.shift(table, weight, (one, other), 2, 1)
        for end in (one, other):
            now[end] += (1 << 40) + 2
        check(now)
        if rng.random() < 0.5:
            classes.undo(table, before)
            now = then
            check(now)
    classes.refill(table, weight)
    check(now)


@given(st.tuples(*[st.integers(0, 50)] * 4))
def test_the_gap_of_two_codes_counts_a_degree_as_eight_triangles(drawn):
    degree, triangles, aim, aim_triangles = drawn
    expected = 8 * abs(degree - aim) + abs(triangles - aim_triangles)
    assert expected == classes.gap(degree << 40 | triangles, aim, aim_triangles)


# Pools


def arena(graph, *, measure="count", edits="any", k=2):
    return arena_of(Task(graph, measure, 1, k, edits, graph.n_edges, 0), generator())


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_pool_tells_its_changed_pairs_from_the_others(graph, seed):
    (state, _, best, _), rng = arena(graph), generator(seed)
    pool, twin, changed = state.pool, plain(graph), set()
    pools.count_common(state)
    pairs = [pools.ends(pool, pair) for pair in range(pool.one.size)]
    shared = [len(list(nx.common_neighbors(twin, *pair))) for pair in pairs]
    assert shared == pool.common.tolist()
    for pair in rng.integers(0, max(len(pairs), 1), 12 if pairs else 0).tolist():
        v, w = pairs[pair]
        common = list(nx.common_neighbors(twin, v, w))
        classes.begin(state.classes, None)
        assert len(common) == pools.shift_pair(state, pair)
        pools.rewrite(state, pair)
        pools.record(pool, best, pair)
        changed ^= {pair}
        (twin.remove_edge if twin.has_edge(v, w) else twin.add_edge)(v, w)
        assert changed == {other for other in range(len(pairs)) if pools.is_changed(pool, other)}
        codes = state.classes.table[state.classes.node[:, 0], 0].tolist()
        assert [d << 40 | t for d, t in (value_of(twin, x) for x in twin)] == codes
        some, other = pools.any_changed(pool, rng), pools.any_unchanged(pool, rng)
        assert some in changed or (some == pools.NONE and not changed)
        assert other not in changed
        assert other != pools.NONE or len(changed) == len(pairs)
    assert [sorted(twin[x]) for x in twin] == neighbours_in(state.rows)


@given(graphs(), st.integers(0, 3), SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_state_beats_another_by_nodes_too_many_then_edits_then_nodes(graph, allowed, seed):
    (state, _, best, _), rng = arena(graph), generator(seed)
    for _ in range(4):
        best.tally[1:3] = rng.integers(0, 6, 2)
        unprotected, changed = (int(rng.integers(0, 6)) for _ in range(2))
        state.classes.tally[classes.UNPROTECTED] = unprotected
        state.pool.tally[pools.CHANGED] = changed
        then = int(best.tally[pools.BEST_UNPROTECTED]), int(best.tally[pools.BEST_CHANGED])
        one, other = (
            (max(nodes - allowed, 0), edits, nodes)
            for nodes, edits in ((unprotected, changed), then)
        )
        assert (one < other) == pools.beats(state, best, allowed)


def test_quiet_pairs_are_drawn_more_often_and_nothing_from_nothing():
    ring = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], n=5)
    state, rng = arena(ring, edits="delete").state, generator(1)
    edges = np.arange(5, dtype=np.int32)
    drawn = Counter(pools.quiet_of(state.pool, edges, 0, 5, rng) for _ in range(4000))
    plain_draws = Counter(pools.any_of(edges, 0, 5, rng) for _ in range(4000))
    bare = [pair for pair in range(5) if state.pool.common[pair] == 0]
    assert sum(drawn[pair] for pair in bare) > sum(plain_draws[pair] for pair in bare) + 200
    assert set(range(5)) == set(plain_draws) == set(drawn)
    assert pools.NONE == pools.any_of(edges, 3, 3, rng)
    assert pools.NONE == pools.quiet_of(state.pool, edges, 3, 3, rng)


# Shapes and values


@given(graphs(), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_sums_are_sizes_or_hashed_degrees_of_neighbourhoods(graph, distance):
    lists, twin = rows_of(graph), plain(graph)
    room = refinement.make_room(graph.n_nodes, lists.neighbour.size)
    sizes = np.array([distance, shapes.SIZES, 0, 1 << 40, 1], dtype=np.int64)
    degrees = np.array([distance, shapes.DEGREES, 0, 0, 0], dtype=np.int64)
    for v in range(graph.n_nodes):
        inside = nx.ego_graph(twin, v, radius=distance)
        size = shapes.fill_from_rows(lists, v, distance, room.ball)
        assert set(inside) == set(room.ball.nodes[:size].tolist())
        room.ball.place[room.ball.nodes[:size]] = -1
        expected = (len(inside) << 40) + inside.number_of_edges()
        assert expected == shapes.sum_of(lists, sizes, v, room.ball)
        hashes = sum(shapes.hashed(twin.degree(x)) for x in inside)
        assert (hashes - shapes.sum_of(lists, degrees, v, room.ball)) % 2**64 == 0
    assert len({shapes.hashed(degree) for degree in range(1000)}) == 1000


@given(graphs(largest=8), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_shapes_are_equal_where_neighbourhoods_are(graph, distance):
    lists, twin, n = rows_of(graph), plain(graph), graph.n_nodes
    room = refinement.make_room(n, lists.neighbour.size)
    inside, colours = (
        np.array([distance, 0, kind, 0, 0]) for kind in (shapes.INSIDE, shapes.COLOURS)
    )
    balls = [nx.ego_graph(twin, v, radius=distance) for v in range(n)]
    for v, ball in enumerate(balls):
        nx.set_node_attributes(ball, {v: True}, "centre")
    match = nx.algorithms.isomorphism.categorical_node_match("centre", default=False)
    shape = [
        [shapes.shape_of(lists, rule, v, room) for v in range(n)] for rule in (inside, colours)
    ]
    for u, v in combinations(range(n), 2):
        same = sorted(dict(balls[u].degree()).values()) == sorted(dict(balls[v].degree()).values())
        assert same == (shape[0][u] == shape[0][v])
        if nx.is_isomorphic(balls[u], balls[v], node_match=match):
            assert shape[1][u] == shape[1][v]


@given(graphs(), st.sampled_from(["vrq", "dk", "hybrid"]), SEEDS)
@settings(deadline=None, max_examples=40)
def test_values_carried_out_are_those_evaluated_afresh_and_are_taken_back(graph, measure, seed):
    (state, kept, _, _), rng = arena(graph, measure=measure), generator(seed)
    if state.pool.one.size < 2:
        return
    for _ in range(4):
        pairs = tuple(rng.permutation(state.pool.one.size)[:2].tolist())
        before, tallies = kept.value.copy(), classes.tallies(state.classes)
        lists = neighbours_in(state.rows)
        values.carry_out(state, kept, pairs)
        now, fresh = kept.value.copy(), np.empty(graph.n_nodes, dtype=np.int64)
        values.evaluate(state, kept, fresh)
        assert now.tolist() == kept.value.tolist()
        assert fresh.tolist() == state.classes.table[state.classes.node[:, 0], 0].tolist()
        assert neighbours_in(state.rows) != lists
        classes.undo(state.classes, tallies)
        values.take_back(state, kept, pairs)
        assert before.tolist() == kept.value.tolist()
        assert lists == neighbours_in(state.rows)


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=40)
def test_a_mate_is_an_edge_whose_ends_can_be_exchanged(graph, seed):
    (state, kept, _, _), rng = arena(graph, measure="vrq", edits="rewire"), generator(seed)
    twin = plain(graph)
    for pair in range(state.pool.one.size):
        assert values.work_of(state, kept, pair) > 0
        if walk.find_mate(state, kept, pair, rng):
            mate = int(kept.mates[values.NOW, pair])
            (v, w), (x, y) = pools.ends(state.pool, pair), pools.ends(state.pool, mate >> 1)
            x, y = (y, x) if mate & 1 else (x, y)
            assert len({v, w, x, y}) == 4
            assert not twin.has_edge(v, y)
            assert not twin.has_edge(x, w)


# Walks


@given(graphs(), st.integers(2, 3), st.integers(0, 2), SEEDS)
@settings(deadline=None, max_examples=40)
def test_the_best_state_is_the_best_that_was_seen(graph, k, allowed, seed):
    here, rng = arena(graph, edits="delete", k=k), generator(seed)
    (state, _, best, _), twin = here, plain(graph)
    seen = []

    def note():
        unprotected, edits = len(unprotected_in(twin, k)), int(state.pool.tally[pools.CHANGED])
        seen.append((max(unprotected - allowed, 0), edits, unprotected))

    note()
    for pair in rng.permutation(graph.n_edges).tolist():
        walk.make_and_keep(state, best, pair, allowed)
        twin.remove_edge(*pools.ends(state.pool, pair))
        note()
        assert min(seen)[1:] == (best.tally[pools.BEST_CHANGED], best.tally[pools.BEST_UNPROTECTED])
    walk.go_to(state, None, best, best.changed.copy())
    assert min(seen)[1] == state.pool.tally[pools.CHANGED]
    walk.make(state, None, best, 0) if graph.n_edges else None
    walk.keep(state, None, best)
    changed = [pools.is_changed(state.pool, pair) for pair in range(graph.n_edges)]
    assert changed == best.changed.tolist()


@given(graphs(), st.sampled_from(["count", "dk"]), SEEDS)
@settings(deadline=None, max_examples=30)
def test_steps_one_by_one_are_the_annealing_loop(graph, measure, seed):
    """Where the temperature stays and nobody is listed anew: within the first 256 proposals."""
    task = Task(graph, measure, 1, 2, "delete", graph.n_edges, 0)
    plan = within_budget(task, 100)._replace(hot=0.3, cold=0.3, price=0.1)
    one, other = arena_of(task, generator()), arena_of(task, generator())
    anneal.anneal_walk(one, plan, generator(seed), 0, 100)
    rng, listed = (
        generator(seed),
        classes.list_unprotected(other.state.classes, None, other.unprotected),
    )
    for _ in range(100):
        walk.step(other, listed, plan, 0.3, rng)
    assert one.state.pool.present.tolist() == other.state.pool.present.tolist()
    assert one.best.tally.tolist() == other.best.tally.tolist()


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=30)
def test_steps_with_aims_one_by_one_are_the_annealing_loop(graph, seed):
    task = Task(graph, "count", 1, 2, "any", graph.n_edges + 4, 0)
    plan = moves.Plan(100, 0.3, 0.3, 0.1, 0.2, 0.7, 0.4, 0.3, 0.3, 0.0, 0, task.budget, False)
    one, other = field_of(task), field_of(task)
    anneal.anneal_field(one, plan, generator(seed), 0, 100)
    state, rng = other.state, generator(seed)
    listed = classes.list_unprotected(state.classes, state.weight, other.unprotected)
    for _ in range(100):
        moves.step(other, listed, plan, 0.3, rng)
    assert present(one).tolist() == present(other).tolist()


# Starts


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=40)
def test_edges_inside_a_half_are_counted_and_those_in_triangles_cut(graph, seed):
    side = np.empty(graph.n_nodes, dtype=np.bool_)
    indptr, indices = graph.indptr.copy(), graph.indices.copy()
    inside = starts.two_sides(indptr, indices, generator(seed), side)
    assert inside == sum(side[u] == side[v] for u, v in graph.edges().tolist())
    state, _, best, _ = arena(graph, edits="delete")
    starts.cut_triangles(state, best, side, 0)
    twin = nx.Graph([(v, w) for v, near in enumerate(neighbours_in(state.rows)) for w in near])
    assert not sum(nx.triangles(twin).values())
    across = {(u, v) for u, v in graph.edges().tolist() if side[u] != side[v]}
    assert all(twin.has_edge(*pair) for pair in across)


@given(graphs(), st.data())
@settings(deadline=None, max_examples=40)
def test_excess_degrees_are_lowered_until_none_has_any(graph, data):
    state, _, best, _ = arena(graph, edits="delete")
    degrees = graph.degrees()
    excess = np.array([data.draw(st.integers(0, int(degree))) for degree in degrees])
    asked = excess.copy()
    while starts.lower_to(state, best, excess, 0, 2):
        assert state.rows.length.sum() < degrees.sum()
    assert (excess <= 0).all()
    assert (degrees - state.rows.length).tolist() == (asked - excess).tolist()


@given(graphs(), st.integers(2, 3), st.integers(0, 2))
@settings(deadline=None, max_examples=40)
def test_stripping_takes_the_best_edge_of_the_highest_unprotected_node(graph, k, allowed):
    state, _, best, _ = arena(graph, edits="delete", k=k)
    twin = plain(graph)
    while (small := unprotected_in(twin, k)) and len(small) > allowed:
        highest = max(twin.degree(v) for v in small)
        if not any(degree for _, degree in twin.degree()):
            break
        assert starts.strip(state, best, allowed, 1)
        after = nx.empty_graph(graph.n_nodes)
        after.add_edges_from(
            (v, w) for v, near in enumerate(neighbours_in(state.rows)) for w in near
        )
        ((u, v),) = set(twin.edges) - {tuple(sorted(edge)) for edge in after.edges}
        if highest:
            first = min(x for x in small if twin.degree(x) == highest)
            assert first in (u, v)
            counts = []
            for w in list(twin[first]):
                twin.remove_edge(first, w)
                counts.append(len(unprotected_in(twin, k)))
                twin.add_edge(first, w)
            assert min(counts) == len(unprotected_in(after, k))
        twin = after
    if twin.number_of_edges():
        assert not starts.strip(state, best, allowed, 1)


# The paper's


@given(graphs(smallest=1), st.randoms())
@settings(deadline=None, max_examples=40)
def test_forward_lists_by_rank_hold_every_edge_once_under_its_new_number(graph, random):
    order = list(range(graph.n_nodes))
    random.shuffle(order)
    rank = np.argsort(order).astype(np.int32)
    forward = paper.forward_by_rank(graph.indptr, graph.indices, np.array(order), rank)
    pairs = [
        (u, v)
        for u in range(graph.n_nodes)
        for v in forward.ends[forward.start[u] : forward.start[u + 1]].tolist()
    ]
    assert sorted(tuple(sorted(rank[edge].tolist())) for edge in graph.edges()) == pairs


@given(graphs(), st.integers(1, 3), st.integers(1, 2), SEEDS)
@settings(deadline=None, max_examples=60)
def test_affected_nodes_of_single_flips_are_those_near_one_end_or_both(
    graph, distance, needed, seed
):
    twin, n, rng = plain(graph), graph.n_nodes, generator(seed)
    flag = rng.random(n) < 0.6
    lists = paper.Lists(graph.indptr, graph.indices)
    for joins in (False, True):
        pairs = [pair for pair in combinations(range(n), 2) if twin.has_edge(*pair) != joins]
        nodes = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        flips = paper.Flips(nodes, np.array([[0, 1]]), np.array([joins]))
        expected = []
        for pair in pairs:
            here = nx.Graph(twin)
            here.add_edge(*pair)
            near = Counter(x for end in pair for x in nx.ego_graph(here, end, radius=distance))
            expected.append(sum(flag[x] for x, ends in near.items() if ends >= needed))
        assert expected == paper.affected_by(lists, flips, distance, needed, flag).tolist()
        if distance == 1:
            assert expected == paper.affected_beside(lists, flips, needed, flag).tolist()


# Edits with aims


@given(graphs(), st.booleans(), SEEDS)
@settings(deadline=None, max_examples=40)
def test_pairs_flipped_with_aims_are_the_symmetric_difference(graph, bits, seed):
    field, twin, rng = (
        field_of(Task(graph, "count", 1, 2, "any", 40, 0)),
        plain(graph),
        generator(seed),
    )
    state = field.state
    if not bits:
        state = state._replace(bits=np.zeros((graph.n_nodes, 0), dtype=np.uint64))
    pairs = [pair for pair in combinations(range(graph.n_nodes), 2) if rng.random() < 0.4]
    keys = np.array([target_edits.key_of(w, v) for v, w in pairs], dtype=np.int64)
    target_edits.flip_all(state, field.edits, keys)
    for v, w in combinations(range(graph.n_nodes), 2):
        flipped = (v, w) in pairs
        assert flipped == target_edits.is_changed(field.edits, target_edits.key_of(v, w))
        assert twin.has_edge(v, w) != flipped or not target_edits.adjacent(state, v, w)
        assert (twin.has_edge(v, w) != flipped) == target_edits.adjacent(state, w, v)
    assert sorted(pairs) == [target_edits.ends_of(key) for key in present(field).tolist()]

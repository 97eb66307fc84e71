"""The kernels of structural anonymity, one by one, against slow twins."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.kernels import arrays
from graphveil.data import Graph
from graphveil.measures.kernels import neighborhoods as refinement
from graphveil.methods.annealing.kernels import anneal, classes, values
from graphveil.methods.annealing.kernels import classes as rows
from graphveil.methods.annealing.kernels import pooled as pools
from graphveil.methods.annealing.kernels import pooled as prices
from graphveil.methods.annealing.kernels import pooled as states
from graphveil.methods.annealing.kernels import target as moves
from graphveil.methods.annealing.kernels import target as target_edits
from graphveil.methods.annealing.kernels import values as shapes
from graphveil.methods.annealing.kernels.classes import Odds, Schedule
from graphveil.methods.annealing.schedule import paying, within_budget
from graphveil.methods.annealing.task import Task
from graphveil.methods.structural.kernels import paper
from graphveil.methods.structural.target import present, target_state_of
from graphveil.methods.structural.utility import edge_of_entry
from graphveil.methods.structural.walk_state import annealing_state_of

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


def neighbors_in(lists):
    start, length, neighbor, _ = lists
    return [neighbor[a : a + size].tolist() for a, size in zip(start, length, strict=False)]


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
    at = arrays.first_not_below(np.array(entries, dtype=np.int64), low, high, value)
    assert bisect_left(entries, value, low, high) == at


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=60)
def test_rows_hold_the_neighbors_of_a_graph_whose_edges_are_toggled(graph, seed):
    lists, twin, rng = rows_of(graph), plain(graph), generator(seed)
    for _ in range(12):
        v, w = rng.permutation(graph.n_nodes)[:2].tolist()
        assert twin.has_edge(v, w) == rows.adjacent(lists, v, w)
        common = rows.common_of(lists, v, w)
        assert sorted(nx.common_neighbors(twin, v, w)) == lists.common[:common].tolist()
        rows.toggle(lists, v, w)
        (twin.remove_edge if twin.has_edge(v, w) else twin.add_edge)(v, w)
        assert [sorted(twin[x]) for x in twin] == neighbors_in(lists)


def test_common_neighbors_of_unlike_rows_are_galloped_to():
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
    weight = rng.integers(0, 4, 60) if with_aims else None
    table = classes.new_classes(codes, k, moves=12, steps=(1 << 40, 1), weight=weight)
    if with_aims:
        table.node[:, 1:] = rng.integers(0, 4, (n, 3))
    classes.fill(table)

    def check(codes):
        node = table.node.tolist() if with_aims else None
        assert codes == table.table[table.node[:, 0], 0].tolist()
        assert counted(codes, k, weight, node) == classes.tallies(table)
        out = np.empty(n, dtype=np.int64)
        sizes = Counter(codes)
        listed = [
            v for v, c in enumerate(codes) if sizes[c] < k and (not with_aims or weight[c >> 40])
        ]
        assert listed == out[: classes.list_unprotected(table, out)].tolist()

    now = codes.tolist()
    check(now)
    for _ in range(8):
        before, then = classes.tallies(table), list(now)
        classes.begin(table)
        v = int(rng.integers(n))
        classes.move(table, v, 1)
        now[v] += 1
        one, other = int(rng.integers(n)), int(rng.integers(n))
        classes.shift(table, (one, other), 2, 1)
        for end in (one, other):
            now[end] += (1 << 40) + 2
        check(now)
        if rng.random() < 0.5:
            classes.undo(table, before)
            now = then
            check(now)
    classes.fill(table)
    check(now)


@given(st.tuples(*[st.integers(0, 50)] * 4))
def test_the_gap_of_two_codes_counts_a_degree_as_eight_triangles(drawn):
    degree, triangles, aim, aim_triangles = drawn
    expected = 8 * abs(degree - aim) + abs(triangles - aim_triangles)
    assert expected == classes.gap(degree << 40 | triangles, aim, aim_triangles)


# Pools


def annealing(graph, *, measure="count", edits="any", k=2):
    return annealing_state_of(Task(graph, measure, 1, k, edits, graph.n_edges, 0), generator())


def pairs_of(pool):
    return list(zip(pool.one.tolist(), pool.other.tolist(), strict=True))


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_pool_tells_its_changed_pairs_from_the_others(graph, seed):
    (state, _, best, _, _), rng = annealing(graph), generator(seed)
    pool, twin, changed = state.pool, plain(graph), set()
    states.count_common(state)
    pairs = pairs_of(pool)
    shared = [len(list(nx.common_neighbors(twin, *pair))) for pair in pairs]
    assert shared == pool.common.tolist()
    for pair in rng.integers(0, max(len(pairs), 1), 12 if pairs else 0).tolist():
        v, w = pairs[pair]
        common = list(nx.common_neighbors(twin, v, w))
        classes.begin(state.classes)
        assert len(common) == states.shift_pair(state, pair)
        states.rewrite(state, pair)
        pools.record(pool, None, best, pair)
        changed ^= {pair}
        (twin.remove_edge if twin.has_edge(v, w) else twin.add_edge)(v, w)
        assert changed == {other for other in range(len(pairs)) if pools.is_changed(pool, other)}
        codes = state.classes.table[state.classes.node[:, 0], 0].tolist()
        assert [d << 40 | t for d, t in (value_of(twin, x) for x in twin)] == codes
        trial = np.array(rng.permutation(len(pairs))[:2])
        more = sum(-1 if other in changed else 1 for other in trial.tolist())
        assert more == anneal.more_edits(pool, trial, trial.size)
    assert [sorted(twin[x]) for x in twin] == neighbors_in(state.rows)


@given(st.integers(0, 3), SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_state_beats_another_by_nodes_too_many_then_cost_then_nodes(allowed, seed):
    rng = generator(seed)
    for _ in range(4):
        here, there = (tuple(rng.integers(0, 6, 2).tolist()) for _ in range(2))
        one, other = ((max(nodes - allowed, 0), cost, nodes) for nodes, cost in (here, there))
        assert (one < other) == pools.beats(here, there, allowed)


def test_quiet_pairs_are_drawn_more_often_and_nothing_from_nothing():
    ring = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], n=5)
    state, rng = annealing(ring, edits="delete").state, generator(1)
    edges = np.arange(5, dtype=np.int32)
    drawn = Counter(anneal.quiet_of(state.pool, edges, 0, 5, rng) for _ in range(4000))
    plain_draws = Counter(anneal.any_of(edges, 0, 5, rng) for _ in range(4000))
    bare = [pair for pair in range(5) if state.pool.common[pair] == 0]
    assert sum(drawn[pair] for pair in bare) > sum(plain_draws[pair] for pair in bare) + 200
    assert set(range(5)) == set(plain_draws) == set(drawn)
    assert pools.NONE == anneal.any_of(edges, 3, 3, rng)
    assert pools.NONE == anneal.quiet_of(state.pool, edges, 3, 3, rng)


@given(graphs(), st.booleans(), SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_trial_is_an_edit_or_a_revert_or_one_of_each(graph, full, seed):
    here, rng = annealing(graph), generator(seed)
    state, pool, trial = here.state, here.state.pool, here.trial
    edges = len(pairs_of(pool))
    for pair in rng.permutation(edges)[: edges // 2].tolist():
        states.flip(*here[:3], trial, pair)
    changed = edges // 2
    odds = Odds(0.5, 0.3, 0.5, 0.5, 0.0, changed if full else edges)
    listed = classes.list_unprotected(state.classes, here.unprotected)
    kinds = Counter()
    for _ in range(60):
        size = anneal.propose(pool, state.rows, trial, (here.unprotected, listed), odds, rng)
        kind = tuple(bool(pools.is_changed(pool, pair)) for pair in trial[:size].tolist())
        kinds[kind] += 1
    assert set(kinds) <= {(), (True,), (False,), (True, False), (False, True)}
    assert not full or (False,) not in kinds
    assert not edges or set(kinds) != {()}


# Shapes and values


@given(graphs(), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_sums_are_sizes_or_hashed_degrees_of_neighborhoods(graph, distance):
    lists, twin = rows_of(graph), plain(graph)
    n = graph.n_nodes
    ball, value = (
        refinement.new_color_buffers(n, lists.neighbor.size).ball,
        np.zeros((n, 3), dtype=int),
    )
    sizes = np.array([distance, shapes.SIZES, 0, 1 << 40, 1], dtype=np.int64)
    degrees = np.array([distance, shapes.DEGREES, 0, 0, 0], dtype=np.int64)
    what = shapes.SUM_AGAIN | shapes.WORK_AGAIN
    for v in range(n):
        inside = nx.ego_graph(twin, v, radius=distance)
        size = shapes.fill_from_rows(lists, v, distance, ball)
        assert set(inside) == set(ball.nodes[:size].tolist())
        ball.place[ball.nodes[:size]] = -1
        shapes.look_at(lists, sizes, v, what, value, ball, None)
        work = sum(twin.degree(x) for x in inside)
        assert [(len(inside) << 40) + inside.number_of_edges(), 0, work] == value[v].tolist()
        shapes.look_at(lists, degrees, v, what, value, ball, None)
        hashes = sum(int(shapes.hashed(twin.degree(x))) for x in inside)
        assert (hashes - int(value[v, shapes.SUM])) % 2**64 == 0
    assert len({shapes.hashed(degree) for degree in range(1000)}) == 1000


@given(graphs(largest=8), st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_shapes_are_equal_where_neighborhoods_are(graph, distance):
    lists, twin, n = rows_of(graph), plain(graph), graph.n_nodes
    room = refinement.new_color_buffers(n, lists.neighbor.size)
    inside, colors = (
        np.array([distance, 0, kind, 0, 0]) for kind in (shapes.INSIDE, shapes.COLORS)
    )
    balls = [nx.ego_graph(twin, v, radius=distance) for v in range(n)]
    for v, ball in enumerate(balls):
        nx.set_node_attributes(ball, {v: True}, "center")
    match = nx.algorithms.isomorphism.categorical_node_match("center", default=False)
    shape = []
    for rule, coloring in ((inside, None), (colors, room)):
        value = np.zeros((n, 3), dtype=np.int64)
        for v in range(n):
            shapes.look_at(lists, rule, v, shapes.SHAPE_AGAIN, value, room.ball, coloring)
        shape.append(value[:, shapes.SHAPE].tolist())
    for u, v in combinations(range(n), 2):
        same = sorted(dict(balls[u].degree()).values()) == sorted(dict(balls[v].degree()).values())
        assert same == (shape[0][u] == shape[0][v])
        if nx.is_isomorphic(balls[u], balls[v], node_match=match):
            assert shape[1][u] == shape[1][v]


@given(graphs(), st.sampled_from(["vrq", "dk", "hybrid"]), SEEDS)
@settings(deadline=None, max_examples=40)
def test_values_carried_out_are_those_evaluated_afresh_and_are_taken_back(graph, measure, seed):
    here, rng = annealing(graph, measure=measure), generator(seed)
    state, kept, trial = here.state, here.values, here.trial
    if state.pool.one.size < 2:
        return
    for _ in range(4):
        trial[:] = rng.permutation(state.pool.one.size)[:2]
        before, tallies = kept.value.copy(), classes.tallies(state.classes)
        lists = neighbors_in(state.rows)
        states.make(state, kept, trial, 2)
        now, codes = kept.value.copy(), np.empty(graph.n_nodes, dtype=np.int64)
        values.evaluate(state.rows, kept, codes)
        assert now[:, :2].tolist() == kept.value[:, :2].tolist()
        assert codes.tolist() == state.classes.table[state.classes.node[:, 0], 0].tolist()
        assert neighbors_in(state.rows) != lists
        states.take_back(state, kept, trial, 2, tallies)
        assert before[:, :2].tolist() == kept.value[:, :2].tolist()
        assert lists == neighbors_in(state.rows)


@given(graphs(), st.sampled_from(["vrq", "dk", "hybrid"]), SEEDS)
@settings(deadline=None, max_examples=40)
def test_values_follow_single_turns_once_they_settle(graph, measure, seed):
    here, rng = annealing(graph, measure=measure), generator(seed)
    (table, lists, pool), kept = here.state[:3], here.values
    pairs = pairs_of(pool)
    for pair in rng.permutation(len(pairs))[:4].tolist():
        v, w = pairs[pair]
        then = kept.value.copy()
        classes.begin(table)
        kept.tally[0] = 0
        values.turn(lists, kept, v, w, -1 if rows.adjacent(lists, v, w) else 1)
        values.settle(lists, kept, table)
        now, codes = kept.value.copy(), np.empty(graph.n_nodes, dtype=np.int64)
        values.evaluate(lists, kept, codes)
        assert now[:, :2].tolist() == kept.value[:, :2].tolist()
        assert codes.tolist() == table.table[table.node[:, 0], 0].tolist()
        values.restore(kept)
        assert then[:, :2].tolist() == kept.value[:, :2].tolist()
        kept.value[:] = now


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=40)
def test_a_mate_is_an_edge_whose_ends_can_be_exchanged(graph, seed):
    here, rng = annealing(graph, measure="vrq", edits="rewire"), generator(seed)
    lists, pool = here.state.rows, here.state.pool
    twin, pairs = plain(graph), pairs_of(pool)
    for pair, (v, w) in enumerate(pairs):
        assert values.work_of(lists, here.values, v, w, -1) > 0
        if anneal.find_mate(pool, pool.mates, lists, pair, rng):
            mate = int(pool.mates[pools.NOW, pair])
            x, y = pairs[mate >> 1]
            x, y = (y, x) if mate & 1 else (x, y)
            assert len({v, w, x, y}) == 4
            assert not twin.has_edge(v, y)
            assert not twin.has_edge(x, w)


# Walks


@given(graphs(), st.integers(2, 3), st.integers(0, 2), SEEDS)
@settings(deadline=None, max_examples=40)
def test_the_best_state_is_the_best_that_was_seen(graph, k, allowed, seed):
    here, rng = annealing(graph, edits="delete", k=k), generator(seed)
    (state, _, best, _, trial), twin = here, plain(graph)
    pool, seen = state.pool, []

    def see():
        unprotected, edits = len(unprotected_in(twin, k)), int(pool.tally[pools.CHANGED])
        seen.append((max(unprotected - allowed, 0), edits, unprotected))

    see()
    for pair in rng.permutation(graph.n_edges).tolist():
        anneal.delete(state, best, trial, pair, allowed)
        twin.remove_edge(*pairs_of(pool)[pair])
        see()
        assert min(seen)[1:] == (best.tally[pools.BEST_CHANGED], best.tally[pools.BEST_UNPROTECTED])
    states.go_to(state, None, best, trial, best.changed.copy())
    assert min(seen)[1] == pool.tally[pools.CHANGED]
    states.flip(state, None, best, trial, 0) if graph.n_edges else None
    assert best.tally[pools.LOGGED] >= (graph.n_edges > 0)
    pools.keep(pool, None, best, 7)
    assert 7 == best.tally[pools.BEST_UNPROTECTED]
    changed = [pools.is_changed(pool, pair) for pair in range(graph.n_edges)]
    assert changed == best.changed.tolist()
    best.tally[pools.BEST_UNPROTECTED] = state.classes.tally[classes.UNPROTECTED] + 1
    pools.keep_if_better(state, best, 0, 0)
    assert state.classes.tally[classes.UNPROTECTED] == best.tally[pools.BEST_UNPROTECTED]


@given(graphs(), st.sampled_from(["count", "dk"]), SEEDS)
@settings(deadline=None, max_examples=30)
def test_trials_one_by_one_are_the_annealing_loop(graph, measure, seed):
    """Where the temperature stays and nobody is listed anew: within the first 256 proposals."""
    task = Task(graph, measure, 1, 2, "delete", graph.n_edges, 0)
    plan, odds = paying(within_budget(task, 100), 2, 0.1)
    plan = plan._replace(hot=0.3, cold=0.3)
    one, other = annealing_state_of(task, generator()), annealing_state_of(task, generator())
    anneal.anneal(one, None, plan, odds, generator(seed), 0, 100)
    (state, _, _, unprotected, trial), rng = other, generator(seed)
    near = unprotected, classes.list_unprotected(state.classes, unprotected)
    for _ in range(100):
        size = anneal.propose(state.pool, state.rows, trial, near, odds, rng)
        if size:
            more = anneal.more_edits(state.pool, trial, size)
            bar = -0.3 * np.log(1 - rng.random())
            anneal.attempt(other, None, size, more, plan, bar)
    assert one.state.pool.present.tolist() == state.pool.present.tolist()
    assert one.best.tally.tolist() == other.best.tally.tolist()


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=30)
def test_trials_with_aims_one_by_one_are_the_annealing_loop(graph, seed):
    task = Task(graph, "count", 1, 2, "any", graph.n_edges + 4, 0)
    plan = Schedule(100, 0.3, 0.3, 0.1, 1.0, 0.2, 0.0, 0.0, 0, False)
    odds = Odds(0.7, 0.4, 0.3, 0.0, 0.3, task.budget)
    one, other = target_state_of(task), target_state_of(task)
    anneal.anneal(None, one, plan, odds, generator(seed), 0, 100)
    state, rng = other.state, generator(seed)
    listed = classes.list_unprotected(state.classes, other.unprotected)
    for _ in range(100):
        size = moves.propose(other, listed, odds, rng)
        more = target_edits.more_edits(other, size, odds.budget)
        if 0 < size >= more:
            bar = -0.3 * np.log(1 - rng.random())
            anneal.attempt(None, other, size, more, plan, bar)
    assert present(one).tolist() == present(other).tolist()
    assert one.edits.tally.tolist() == other.edits.tally.tolist()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12),
    st.integers(2, 4),
    st.floats(0, 1),
    st.integers(0, 6),
)
def test_the_energy_is_a_mean_of_nodes_and_lack_beyond_what_is_spared(drawn, k, ease, spared):
    codes = np.array([degree << 40 | triangles for degree, triangles in drawn], dtype=np.int64)
    table = classes.new_classes(codes, k, moves=1, steps=(1 << 40, 1))
    classes.fill(table)
    plan = Schedule(1, 1.0, 1.0, 0.0, ease, 0.5, float(spared), 2.0 * spared, 0, False)
    table.tally[classes.GAP] = 3
    nodes, lack, _ = counted(codes.tolist(), k)
    expected = (1 - ease) * max(nodes, spared) + ease * max(lack, 2 * spared) / (2 * k - 2) + 1.5
    assert np.isclose(expected, classes.energy_of(table, plan))


# Starts


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=40)
def test_edges_inside_a_half_are_counted_and_those_in_triangles_cut(graph, seed):
    side = np.empty(graph.n_nodes, dtype=np.bool_)
    indptr, indices = graph.indptr.copy(), graph.indices.copy()
    inside = anneal.two_sides(indptr, indices, generator(seed), side)
    assert inside == sum(side[u] == side[v] for u, v in graph.edges().tolist())
    state, _, best, _, trial = annealing(graph, edits="delete")
    anneal.cut_triangles(state, best, trial, side, 0)
    twin = nx.Graph([(v, w) for v, near in enumerate(neighbors_in(state.rows)) for w in near])
    assert not sum(nx.triangles(twin).values())
    across = {(u, v) for u, v in graph.edges().tolist() if side[u] != side[v]}
    assert all(twin.has_edge(*pair) for pair in across)


@given(graphs())
@settings(deadline=None, max_examples=40)
def test_edges_in_most_triangles_go_first_until_there_are_none(graph):
    state, _, best, _, trial = annealing(graph, edits="delete")
    heads = np.empty(graph.n_nodes, dtype=np.int64)
    following = np.empty(state.pool.one.size, dtype=np.int64)

    def twin():
        near = enumerate(neighbors_in(state.rows))
        return nx.Graph([(v, w) for v, some in near for w in some])

    def thin_out(wanted):
        return anneal.thin_out(state, best, trial, heads, following, wanted, 0)

    before = twin()
    while before.size():
        triangles = {pair: len([*nx.common_neighbors(before, *pair)]) for pair in before.edges}
        gone = thin_out(1)
        after = twin()
        lost = [pair for pair in triangles if not after.has_edge(*pair)]
        assert gone == len(lost)
        if not gone:
            assert not any(triangles.values())
            break
        assert [triangles[pair] for pair in lost] == [max(triangles.values())]
        before = after
    pools.go_to(state, None, best, trial, np.zeros(following.size, dtype=np.bool_))
    assert thin_out(following.size) <= following.size
    assert not sum(nx.triangles(twin()).values())


@given(graphs(), st.data())
@settings(deadline=None, max_examples=40)
def test_excess_degrees_are_lowered_until_none_has_any(graph, data):
    state, _, best, _, trial = annealing(graph, edits="delete")
    degrees = graph.degrees()
    excess = np.array([data.draw(st.integers(0, int(degree))) for degree in degrees])
    asked = excess.copy()
    while anneal.lower_to(state, best, trial, excess, 0, 2):
        assert state.rows.length.sum() < degrees.sum()
    assert (excess <= 0).all()
    assert (degrees - state.rows.length).tolist() == (asked - excess).tolist()


@given(graphs(), st.integers(2, 3), st.integers(0, 2))
@settings(deadline=None, max_examples=40)
def test_stripping_takes_the_best_edge_of_the_highest_unprotected_node(graph, k, allowed):
    state, _, best, _, trial = annealing(graph, edits="delete", k=k)
    twin = plain(graph)
    while (small := unprotected_in(twin, k)) and len(small) > allowed:
        highest = max(twin.degree(v) for v in small)
        if not any(degree for _, degree in twin.degree()):
            break
        assert anneal.strip(state, best, trial, allowed, 1)
        after = nx.empty_graph(graph.n_nodes)
        after.add_edges_from(
            (v, w) for v, near in enumerate(neighbors_in(state.rows)) for w in near
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
        assert not anneal.strip(state, best, trial, allowed, 1)


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
    lists = paper.NeighborLists(graph.indptr, graph.indices)
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
    target_state, twin, rng = (
        target_state_of(Task(graph, "count", 1, 2, "any", 40, 0)),
        plain(graph),
        generator(seed),
    )
    state = target_state.state
    if not bits:
        state = state._replace(bits=np.zeros((graph.n_nodes, 0), dtype=np.uint64))
    pairs = [pair for pair in combinations(range(graph.n_nodes), 2) if rng.random() < 0.4]
    keys = np.array([target_edits.key_of(w, v) for v, w in pairs], dtype=np.int64)
    target_edits.flip_all(state, target_state.edits, keys)
    for v, w in combinations(range(graph.n_nodes), 2):
        flipped = (v, w) in pairs
        assert flipped == target_edits.is_changed(target_state.edits, target_edits.key_of(v, w))
        assert twin.has_edge(v, w) != flipped or not target_edits.adjacent(state, v, w)
        assert (twin.has_edge(v, w) != flipped) == target_edits.adjacent(state, w, v)
    assert sorted(pairs) == [target_edits.ends_of(key) for key in present(target_state).tolist()]


# Prices


def lists_of(graph):
    return graph.indptr, graph.indices.copy(), edge_of_entry(graph)


def edges_of(graph):
    return list(map(tuple, graph.edges().tolist()))


@given(graphs())
@settings(deadline=None, max_examples=60)
def test_shortest_paths_over_edges_and_their_lengths_are_those_of_networkx(graph):
    twin = plain(graph)
    over, reached = np.zeros(graph.n_edges), np.zeros(2, dtype=np.int64)
    prices.add_paths(*lists_of(graph), np.arange(graph.n_nodes), over, reached)
    known = nx.edge_betweenness_centrality(twin, normalized=False)
    assert np.allclose([2 * known[edge] for edge in edges_of(graph)], over)
    lengths = [hops for _, far in nx.all_pairs_shortest_path_length(twin) for hops in far.values()]
    assert [sum(lengths), sum(hops > 0 for hops in lengths)] == reached.tolist()


@given(graphs())
@settings(deadline=None, max_examples=100)
def test_bridges_cut_off_the_smaller_side_and_other_edges_nobody(graph):
    twin, smaller = plain(graph), np.zeros(graph.n_edges, dtype=np.int64)
    prices.cut_off(*lists_of(graph), smaller)
    for (v, w), nodes in zip(edges_of(graph), smaller.tolist(), strict=True):
        twin.remove_edge(v, w)
        sides = [len(nx.node_connected_component(twin, end)) for end in (v, w)]
        assert (0 if nx.has_path(twin, v, w) else min(sides)) == nodes
        twin.add_edge(v, w)


@given(graphs())
@settings(deadline=None, max_examples=60)
def test_the_clustering_that_an_edge_takes_along_is_that_of_networkx(graph):
    twin, out = plain(graph), np.zeros(graph.n_edges)
    closed = np.array([nx.triangles(twin, v) for v in twin], dtype=np.int64)
    prices.clustering_lost(*lists_of(graph), closed, out)
    before = sum(nx.clustering(twin).values())
    for (v, w), change in zip(edges_of(graph), out.tolist(), strict=True):
        twin.remove_edge(v, w)
        assert np.isclose(sum(nx.clustering(twin).values()) - before, change)
        twin.add_edge(v, w)


@given(graphs(), SEEDS)
@settings(deadline=None, max_examples=60)
def test_no_node_raises_the_modularity_by_joining_neighbors(graph, seed):
    twin, found = plain(graph), np.arange(graph.n_nodes)
    ones = np.ones(graph.indices.size, dtype=np.int64)
    order = generator(seed).permutation(graph.n_nodes)
    prices.join_communities(*lists_of(graph)[:2], ones, graph.degrees(), order, found)

    def modularity(labels):
        groups = [{v for v in twin if labels[v] == name} for name in set(labels)]
        return nx.community.modularity(twin, groups) if graph.n_edges else 0.0

    reached = modularity(found.tolist())
    for v, w in edges_of(graph):
        for one, other in ((v, w), (w, v)):
            moved = found.tolist()
            moved[one] = moved[other]
            assert modularity(moved) <= reached + 1e-9

"""The kernels of k-degree anonymity against slow twins in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.kernels.arrays import new_table
from graphveil.data import Graph
from graphveil.methods.k_degree.kernels import edits as kernel
from graphveil.methods.k_degree.kernels import edits as match
from graphveil.methods.k_degree.kernels import paper, sequence
from textbook import loops

SEEDS = st.integers(0, 2**32)


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


@st.composite
def graphs(draw, smallest=2, largest=9):
    n = draw(st.integers(smallest, largest))
    pairs = list(combinations(range(n), 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    ends = np.array([pair for pair, keep in zip(pairs, kept, strict=True) if keep], dtype=np.int64)
    return Graph.from_edges(*ends.reshape(-1, 2).T, n=n)


def edges_of(graph):
    return set(map(tuple, graph.edges().tolist()))


def editable(graph, room=200):
    table, shift = new_table(room)
    return kernel.DegreeEdits(
        indptr=graph.indptr,
        indices=graph.indices,
        table=table,
        added=np.empty(room, dtype=np.int64),
        deleted=np.empty(room, dtype=np.int64),
        final=np.empty(0, dtype=np.int64),
        tally=np.array([0, 0, 0, shift], dtype=np.int64),
        residual=np.zeros(graph.n_nodes, dtype=np.int64),
        touched=np.zeros(graph.n_nodes, dtype=np.bool_),
    )


@given(graphs(), st.lists(st.integers(0, 10**6), max_size=80))
@settings(deadline=None, max_examples=60)
def test_edits_are_those_of_a_set_of_pairs(graph, draws):
    n, edits = graph.n_nodes, editable(graph)
    pairs, before = list(combinations(range(n), 2)), edges_of(graph)
    now, owed = set(before), Counter()
    for draw in draws:
        pair = pairs[draw % len(pairs)]
        sign = -1 if pair in now else 1
        ends = pair if draw % 2 else pair[::-1]
        if draw % 3 == 0:
            kernel.set_pair(edits, *ends, sign)
        elif sign > 0:
            kernel.make(edits, *ends)
        else:
            kernel.cut(edits, *ends)
        now ^= {pair}
        owed.subtract(dict.fromkeys(pair, sign))
    for u, v in pairs:
        state = int((u, v) in now) - int((u, v) in before)
        assert state == kernel.state_of(edits, v, u)
        assert ((u, v) in now) == kernel.adjacent(edits, u, v) == kernel.adjacent(edits, v, u)
        assert ((u, v) in before) == kernel.in_graph(graph.indptr, graph.indices, v, u)
    assert all(kernel.adjacent(edits, v, v) for v in range(n))
    assert [owed[v] for v in range(n)] == edits.residual.tolist()
    for sign, expected in ((1, now - before), (-1, before - now)):
        changed = {divmod(key, n) for key in kernel.changed_pairs(edits, sign).tolist()}
        assert expected == changed


@given(graphs(), st.data())
@settings(deadline=None, max_examples=40)
def test_marked_neighbors_and_the_pull_of_neighbors_are_sums_over_neighbors(graph, data):
    n = graph.n_nodes
    near = [graph.neighbors(v).tolist() for v in range(n)]
    marked = np.array(data.draw(st.lists(st.integers(0, n - 1))), dtype=np.int64)
    out = np.empty(n)
    kernel.marked_neighbors(graph.indptr, graph.indices, marked, out)
    assert [sum(marked.tolist().count(w) for w in near[v]) for v in range(n)] == out.tolist()
    goal = np.array(data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n)))
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    falls, rises = np.array(data.draw(flags)), np.array(data.draw(flags))
    kernel.pull_of_neighbors(graph.indptr, graph.indices, goal, falls, rises, out)
    for v in range(n):
        pull = 0.0
        for w in near[v]:
            share = (goal[w] - len(near[w])) / len(near[w])
            pull += abs(share) if (falls[v] if share < 0 else rises[v]) else 0.0
        assert np.isclose(pull, out[v])


@given(graphs(), graphs(smallest=9, largest=9))
@settings(deadline=None, max_examples=40)
def test_an_edited_graph_has_the_edges_kept_and_added(graph, other):
    n, before = graph.n_nodes, edges_of(graph)
    changed = {pair for pair in edges_of(other) if max(pair) < n}
    parts = []
    for pairs in (changed - before, changed & before):
        ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        part = Graph.from_edges(*ends.T, n=n)
        parts.append((part.indptr, part.indices))
    ends = np.array(sorted(before ^ changed), dtype=np.int64).reshape(-1, 2)
    expected = Graph.from_edges(*ends.T, n=n)
    indptr, indices = np.empty_like(expected.indptr), np.empty_like(expected.indices)
    kernel.edited_csr((graph.indptr, graph.indices), *parts, indptr, indices)
    assert expected.indptr.tolist() == indptr.tolist()
    assert expected.indices.tolist() == indices.tolist()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), SEEDS)
@settings(deadline=None, max_examples=60)
def test_a_queue_stays_in_the_order_of_need(needs, seed):
    rng, need = generator(seed), np.array(needs, dtype=np.int64)
    order = np.array(sorted(np.flatnonzero(need).tolist(), key=lambda v: -needs[v]), dtype=np.int64)
    queue = match.make_queue(order, need)
    for _ in range(int(need.sum())):
        v = int(rng.choice(np.flatnonzero(need)))
        match.lower(queue, queue.position[v], need[v])
        need[v] -= 1
        in_order = need[queue.order]
        assert sorted(in_order.tolist(), reverse=True) == in_order.tolist()
        assert np.arange(order.size).tolist() == queue.position[queue.order].tolist()
        for q in range(1, queue.bound.size):
            assert np.count_nonzero(need >= q) == queue.bound[q]


def swapped(pairs, now, before, residual, left, sign, tries, rng):
    """Pay two units a time: the first edit from a random one on that may be re-routed, is."""
    log = pairs.copy()

    def flip(u, v, by):
        pair = (min(u, v), max(u, v))
        now.symmetric_difference_update({pair})
        for end in pair:
            residual[end] -= by
        if by == sign and (pair in before) == (sign < 0):
            log.append(pair)

    def may(u, v):
        return u != v and ((min(u, v), max(u, v)) in now) == (sign < 0)

    for i, v in enumerate(left):
        for w in left[i : i + match.SWAP_PARTNERS]:
            both = 2 if v == w else 1
            while log and min(residual[v] * sign, residual[w] * sign) >= both:
                start = rng.integers(len(log)) if len(log) > 1 else 0
                tried = [log[(start + step) % len(log)] for step in range(min(tries, len(log)))]
                ways = [way for pair in tried for way in (pair, pair[::-1])]
                for x, y in ways:
                    edited = (min(x, y), max(x, y))
                    is_edit = (edited in now) == (sign > 0) != (edited in before)
                    if {v, w} & {x, y} or not (is_edit and may(v, x) and may(w, y)):
                        continue
                    flip(x, y, -sign)
                    flip(v, x, sign)
                    flip(w, y, sign)
                    break
                else:
                    break
    return now, residual


@given(graphs(smallest=5), st.data(), st.sampled_from([-1, 1]), SEEDS)
@settings(deadline=None, max_examples=80)
def test_swaps_re_route_the_edits_that_a_search_through_sets_re_routes(graph, data, sign, seed):
    n, before, edits = graph.n_nodes, edges_of(graph), editable(graph)
    pairs, logged, now = list(combinations(range(n), 2)), [], set(before)
    for u, v in data.draw(st.lists(st.sampled_from(pairs), max_size=12)):
        by = -1 if (u, v) in now else 1
        kernel.set_pair(edits, u, v, by)
        if by == sign and ((u, v) in before) == (sign < 0):
            logged.append((u, v))
        now ^= {(u, v)}
    needs = st.lists(st.integers(-1, 4), min_size=n, max_size=n)
    edits.residual[:] = sign * np.array(data.draw(needs))
    left = np.array(data.draw(st.permutations(range(n))), dtype=np.int64)
    tries, owed = data.draw(st.integers(1, 6)), edits.residual.tolist()
    case = (logged, now, before, owed, left.tolist(), sign, tries, generator(seed))
    expected, owed = swapped(*case)
    match.swap(edits, left, sign, tries, 10**6, generator(seed))
    assert owed == edits.residual.tolist()
    assert expected == {pair for pair in pairs if kernel.adjacent(edits, *pair)}


class Runs:
    """A descending sequence of degrees and what the kernels are given of it."""

    def __init__(self, degrees):
        self.d = sorted(degrees, reverse=True)
        self.n = len(self.d)
        distinct = sorted(set(self.d), reverse=True)
        counts = [self.d.count(x) for x in distinct]
        self.first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        self.degree = np.array([*distinct, 0], dtype=np.int64)
        sums = np.cumsum(np.array(counts) * distinct)
        self.prefix = np.concatenate(([0], sums)).astype(np.int64)

    def cuts(self, k, tail):
        cut, run = np.empty(2 * self.n + 2, np.int64), np.empty(2 * self.n + 2, np.int64)
        whole, end = np.array([self.first.size - 1]), np.empty(1, np.int64)
        filled = sequence.cuts_worth_trying(self.first, whole, k, tail, cut, run, end)
        assert filled - 1 == end[0]
        return cut[:filled].copy(), run[:filled].copy()


DEGREES = st.lists(st.integers(0, 8), min_size=2, max_size=14).map(Runs)


def least(runs, k, cost_of):
    """The least cost of groups of at least k, by every way to cut the sequence."""
    best = [0.0] + [float("inf")] * runs.n
    for i in range(k, runs.n + 1):
        best[i] = min(best[j] + cost_of(runs.d[j:i]) for j in range(i - k + 1))
    return best


def raised(group):
    return sum(group[0] - x for x in group)


def to_median(group):
    return sum(abs(group[len(group) // 2] - x) for x in group)


@given(DEGREES, st.integers(1, 5), st.integers(0, 4))
@settings(deadline=None, max_examples=80)
def test_cuts_worth_trying_are_the_first_and_the_last_positions_of_runs(runs, k, tail):
    if runs.n < k:
        return
    cut, run = runs.cuts(k, tail)
    inner = []
    for r in range(runs.first.size - 1):
        start, stop = runs.first[r], runs.first[r + 1]
        inner += [i for i in range(start, stop) if i < start + k or i >= stop - tail]
    expected = [0, *(i for i in inner if k <= i <= runs.n - k), runs.n]
    assert expected == cut.tolist()
    at = [int(np.searchsorted(runs.first, i, side="right")) - 1 for i in expected[:-1]]
    assert [*at, runs.first.size - 1] == run.tolist()


@given(DEGREES, st.integers(1, 5))
@settings(deadline=None, max_examples=80)
def test_cheapest_groups_cost_what_the_best_of_all_ways_to_cut_costs(runs, k):
    if runs.n < k:
        return
    for tail, cost_of in ((0, raised), (k - 1, to_median)):
        cut, run = runs.cuts(k, tail)
        cost, previous = np.empty_like(cut), np.empty_like(cut)
        if cost_of is raised:
            sequence.cheapest_raise(cut, runs.degree[run], k, cost, previous)
            cost[-1] -= runs.prefix[-1]
        else:
            at = (runs.first, runs.degree, runs.prefix)
            sequence.cheapest_median(*at, cut, run, k, cost, previous)
        assert least(runs, k, cost_of)[-1] == cost[-1]
        start = np.empty_like(cut)
        starts = start[start.size - sequence.trace_back(cut, previous, start) :].tolist()
        groups = [runs.d[a:b] for a, b in zip(starts, [*starts[1:], runs.n], strict=True)]
        assert starts[0] == 0
        assert min(map(len, groups)) >= k
        assert cost[-1] == sum(map(cost_of, groups))


@given(DEGREES, st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_the_recursion_over_a_window_costs_what_the_best_of_all_ways_costs(runs, k):
    degrees = np.array(runs.d, dtype=np.int64)
    prefix = np.concatenate(([0], np.cumsum(degrees))).astype(np.int64)
    cost, previous = np.empty_like(prefix), np.empty_like(prefix)
    paper.cheapest_raise_by_window(degrees, prefix, k, cost, previous)
    for i in range(1, runs.n + 1):
        expected = least(Runs(runs.d[:i]), k, raised)[-1]
        assert (-1 if expected == float("inf") else expected) == cost[i]
        if cost[i] >= 0:
            group = runs.d[previous[i] : i]
            assert cost[i] == cost[previous[i]] + raised(group)


def greedy(d, k):
    """Where groups start: a node joins the group unless a new group is cheaper."""
    starts, i = [0], k
    while len(d) - i >= k:
        top = d[starts[-1]]
        merge = (top - d[i]) + raised(d[i + 1 : i + 1 + k])
        new = raised(d[i : i + k])
        if merge > new:
            starts.append(i)
            i += k
        else:
            i += 1
    return starts


@given(DEGREES, st.integers(1, 5))
@settings(deadline=None, max_examples=80)
def test_the_greedy_on_runs_starts_groups_where_the_plain_one_does(runs, k):
    if runs.n < k:
        return
    start = np.empty(runs.n + 1, dtype=np.int64)
    filled = sequence.greedy_starts(runs.first, runs.degree, runs.prefix, k, start)
    assert greedy(runs.d, k) == start[:filled].tolist()


@given(DEGREES, st.data())
@settings(deadline=None, max_examples=60)
def test_runs_and_groups_cut_each_other_into_pieces(runs, data):
    starts = sorted({0, *data.draw(st.sets(st.integers(0, runs.n - 1)))})
    run, group, count = (np.empty(2 * runs.n, dtype=np.int64) for _ in range(3))
    filled = sequence.cut_runs(runs.first, np.array(starts, dtype=np.int64), run, group, count)
    where = [
        (
            int(np.searchsorted(runs.first, i, side="right")) - 1,
            int(np.searchsorted(starts, i, side="right")) - 1,
        )
        for i in range(runs.n)
    ]
    pieces = zip(*(array[:filled].tolist() for array in (run, group, count)), strict=True)
    assert sorted(Counter(where).items()) == [((r, g), c) for r, g, c in pieces]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.data())
@settings(deadline=None, max_examples=60)
def test_targets_are_handed_out_by_label_and_nodes_listed_by_bucket(labels, data):
    target = np.array(data.draw(st.lists(st.integers(0, 9), min_size=5, max_size=5)))
    split = sorted(data.draw(st.sets(st.integers(0, 4))))
    bucket = np.full(5, -1, dtype=np.int64)
    bucket[split] = np.arange(len(split))
    members = [[v for v, label in enumerate(labels) if label == x] for x in split]
    sizes = np.array([0, *(len(nodes) for nodes in members)], dtype=np.int64)
    nodes, out = np.empty(int(sizes.sum()), np.int64), np.empty(len(labels), np.int64)
    sequence.hand_out(np.array(labels), target, bucket, np.cumsum(sizes)[:-1].copy(), nodes, out)
    assert [target[label] for label in labels] == out.tolist()
    assert [v for group in members for v in group] == nodes.tolist()


@given(graphs(), st.data(), SEEDS)
@settings(deadline=None, max_examples=80)
def test_joined_nodes_have_what_they_need_and_a_prefix_that_needs_too_much_never_has(
    graph, data, seed
):
    n, edges = graph.n_nodes, edges_of(graph)
    needs = data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    need = np.array(needs, dtype=np.int64)
    order = np.array(sorted(np.flatnonzero(need).tolist(), key=lambda v: -needs[v]), dtype=np.int64)
    room = int(need.sum()) + n
    for choice in (None, loops.STRANGERS, loops.NEIGHBORS_FIRST):
        rest, out = need.copy(), np.empty((room, 2), dtype=np.int32)
        if choice is None:
            joined = paper.join_by_degrees(order, rest, out, generator(seed))
        else:
            where = (graph.indptr, graph.indices, order, rest)
            joined = loops.join_by_degrees(*where, choice, out, generator(seed))
        if joined < 0:
            continue
        pairs = [tuple(sorted(pair)) for pair in out[:joined].tolist()]
        degree = Counter(v for pair in pairs for v in pair)
        assert [degree[v] for v in range(n)] == needs
        assert len(set(pairs)) == joined
        if choice == loops.STRANGERS:
            assert not set(pairs) & edges
            assert not impossible(order.tolist(), needs, edges)
    said = loops.some_prefix_needs_too_much(graph.indptr, graph.indices, order, need)
    assert impossible(order.tolist(), needs, edges) == said


def impossible(order, needs, edges):
    """Whether the l neediest need more than all pairs without an edge can give them."""
    free = {frozenset((u, v)) for u, v in combinations(order, 2)} - set(map(frozenset, edges))
    for size in range(1, len(order) + 1):
        first = order[:size]
        give = 2 * sum(frozenset(pair) in free for pair in combinations(first, 2))
        for w in order[size:]:
            give += min(sum(frozenset((v, w)) in free for v in first), needs[w])
        if sum(needs[v] for v in first) > give:
            return True
    return False


@given(graphs(smallest=4), graphs(smallest=9, largest=9))
@settings(deadline=None, max_examples=60)
def test_a_swap_is_made_where_one_keeps_more_and_it_is_the_best(graph, old):
    n, now = graph.n_nodes, edges_of(graph)
    kept = sorted(u * n + v for u, v in edges_of(old) if max(u, v) < n)
    edits = editable(graph)
    pairs = graph.edges().astype(np.int64)
    is_kept = np.isin(pairs[:, 0] * n + pairs[:, 1], kept)
    gains = [0]
    for (a, c), (b, d) in combinations(pairs.tolist(), 2):
        for x, y in ((b, d), (d, b)):
            new = {tuple(sorted((a, x))), tuple(sorted((c, y)))}
            if len(new) == 2 and not new & now and all(u != v for u, v in new):
                lost = sum(u * n + v in kept for u, v in ((a, c), (b, d)))
                gains.append(sum(u * n + v in kept for u, v in new) - lost)
    before = int(is_kept.sum())
    sample = np.arange(len(pairs))
    swapped = loops.best_swap(edits, np.array(kept, dtype=np.int64), pairs, is_kept, sample)
    assert (max(gains) > 0) == swapped
    assert before + max(gains) == is_kept.sum()
    after = {tuple(sorted(pair)) for pair in pairs.tolist()}
    assert all(
        kernel.adjacent(edits, u, v) == ((u, v) in after) for u, v in combinations(range(n), 2)
    )
    degree = Counter(v for pair in now for v in pair)
    assert degree == Counter(v for pair in after for v in pair)

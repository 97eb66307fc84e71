"""structural where what is known is off: cells, searches and shares against slow twins."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.data import Graph
from graphveil.measures.matchings import HEARD, candidate_set_sizes, noisy_share
from graphveil.methods.annealing.kernels import classes
from graphveil.methods.annealing.kernels import classes as cells
from graphveil.methods.annealing.kernels import pooled as pools
from graphveil.methods.annealing.kernels.classes import Schedule
from graphveil.methods.annealing.task import NEARLY, Task
from graphveil.methods.structural.recount import applied, nearly_unprotected_in
from graphveil.methods.structural.uncertainty import search_under_uncertainty
from graphveil.methods.structural.walk_state import annealing_state_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

PHIS = st.sampled_from([0, 5, 10, 33.3])
SEEDS = st.integers(0, 2**32)
ONE_DEGREE = 1 << 40
NO_PLAN = Schedule(1, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, False)


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def in_boxes(pairs, phi):
    """How many pairs are in the box of each, by the definition."""
    share = Fraction(str(phi)) / 100
    return [
        sum(abs(x - a) <= share * a and abs(y - b) <= share * b for x, y in pairs) for a, b in pairs
    ]


def counted(pairs, k, phi):
    """The nodes in boxes of fewer than k, and what they lack."""
    boxes = in_boxes(pairs, phi)
    return sum(size < k for size in boxes), sum(2 * k - 1 - size for size in boxes if size < k)


@st.composite
def graphs(draw, smallest=4, largest=11):
    n = draw(st.integers(smallest, largest))
    edges = [pair for pair in combinations(range(n), 2) if draw(st.booleans())]
    return Graph.from_edges(*np.array(edges, dtype=np.int64).reshape(-1, 2).T, n=n)


def pairs_of(graph):
    plain = nx.empty_graph(graph.n_nodes)
    plain.add_edges_from(graph.edges().tolist())
    return [(plain.degree(v), nx.triangles(plain, v)) for v in plain]


@pytest.mark.parametrize("phi", ["0", "0.1", "9.99", "10", "33.3", "50", "99"])
def test_degrees_in_a_box_and_those_whose_boxes_hold_one_are_intervals(phi):
    highest, share = 70, Fraction(phi) / 100
    near = cells.new_cells(1, highest, 2, Fraction(phi)).near.tolist()
    for degree in range(highest + 1):
        inside = [d for d in range(highest + 1) if abs(d - degree) <= share * degree]
        holders = [d for d in range(highest + 1) if abs(d - degree) <= share * d]
        assert [*range(near[degree][0], near[degree][1] + 1)] == inside
        assert [*range(near[degree][2], near[degree][3] + 1)] == holders


@given(
    st.lists(st.tuples(st.integers(0, 25), st.integers(0, 40)), min_size=1, max_size=12),
    st.integers(2, 4),
    PHIS,
    SEEDS,
)
@settings(deadline=None)
def test_cells_equal_brute_force_after_every_move_and_undo_changes_nothing(drawn, k, phi, seed):
    rng, n = generator(seed), len(drawn)
    now = [[*pair] for pair in drawn]
    kept = cells.new_cells(n, 60, k, Fraction(str(phi)))
    cells.enter(kept, 0, *now[0])
    for v in range(1, n):
        cells.enter(kept, v, *now[v])
    codes = np.array([a << 40 | b for a, b in drawn], dtype=np.int64)
    table = classes.new_classes(codes, k, moves=9, steps=(ONE_DEGREE, 1), cells=kept, inner=kept)
    table = table._replace(inner=None)
    classes.fill(table)

    def check():
        assert counted(now, k, phi) == tuple(kept.tally[:2].tolist())
        boxes = in_boxes(now, phi)
        assert boxes == kept.cell[kept.cell_of, cells.COVERED].tolist()
        out = np.empty(n, dtype=np.int64)
        few = [v for v in range(n) if boxes[v] < k]
        assert few == out[: cells.list_uncovered(kept, out)].tolist()
        assert len(few) == classes.unprotected_of(table)
        assert few == out[: classes.list_unprotected(table, out)].tolist()
        if phi == 0:
            assert classes.tallies(table)[:2] == counted(now, k, phi)

    check()
    for _ in range(6):
        before, then = classes.tallies(table), [[*pair] for pair in now]
        classes.begin(table)
        for v, in_degree in zip(rng.integers(0, n, 3).tolist(), (True, False, True), strict=True):
            degree = int(in_degree and rng.integers(1, 3))
            inside = int(rng.integers(1, 4))
            classes.move(table, v, degree * ONE_DEGREE + inside)
            now[v][0] += degree
            now[v][1] += inside
            check()
        if rng.random() < 0.5:
            classes.undo(table, before)
            now = then
            check()


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30)), min_size=1, max_size=12),
    st.integers(2, 4),
    PHIS,
    SEEDS,
)
@settings(deadline=None)
def test_a_change_of_one_node_is_that_of_a_fresh_start(drawn, k, phi, seed):
    rng, now = generator(seed), [*drawn]
    kept = cells.new_cells(len(now), 12, k, Fraction(str(phi)))
    degrees, inside = np.array(drawn, dtype=np.int64).T.copy()
    cells.fill_cells(kept, degrees, inside)
    for _ in range(8):
        v = int(rng.integers(len(now)))
        new = int(rng.integers(13)), int(rng.integers(31))
        cells.change(kept, v, now[v], new)
        now[v] = new
        assert counted(now, k, phi) == tuple(kept.tally[:2].tolist())
    rows = kept.cell_of.tolist()
    assert Counter(now) == Counter({now[rows.index(r)]: int(kept.cell[r, 2]) for r in set(rows)})


@given(graphs(), st.integers(2, 4), st.sampled_from(["delete", "any"]), PHIS, SEEDS)
@settings(deadline=None)
def test_flips_keep_cells_and_what_exact_knowledge_finds(graph, k, edits, phi, seed):
    nearly = NEARLY if phi else (0, 0)
    task = Task(graph, "count", 1, k, edits, graph.n_edges, 0, phi=phi or 1e-4, nearly=nearly)
    state, _, best, _, trial = annealing_state_of(task, generator(seed))
    rng, plan = generator(seed), NO_PLAN._replace(half=nearly[0], exact=nearly[1])
    for _ in range(8 if state.pool.one.size else 0):
        pools.flip(state, None, best, trial, int(rng.integers(state.pool.one.size)))
        here = state.pool.present
        edges = np.stack((state.pool.one[here], state.pool.other[here]), axis=1)
        now = Graph.from_edges(*edges.T.astype(np.int64), n=graph.n_nodes)
        pairs = pairs_of(now)
        assert counted(pairs, k, task.phi)[0] == classes.unprotected_of(state.classes)
        expected = nearly[0] * counted(pairs, k, task.phi / 2)[0] if phi else 0
        expected += nearly[1] * counted(pairs, k, 0)[0]
        assert expected == classes.nearly_unprotected(state.classes, plan)
        assert expected == nearly_unprotected_in(now, task)


@pytest.mark.parametrize("edits", ["delete", "add", "any"])
@given(graphs(), st.integers(2, 4), st.sampled_from([5, 10, 33.3]), st.booleans(), SEEDS)
@settings(deadline=None)
def test_a_search_is_recounted_keeps_its_budget_and_is_never_worse_than_the_start(
    edits, graph, k, phi, by_budget, seed
):
    budget = max(graph.n_edges // 3, 1) if by_budget else graph.n_edges
    nearly = NEARLY if by_budget else (0, 0)
    task = Task(graph, "count", 1, k, edits, budget, 0, by_budget=by_budget, phi=phi)
    task = task._replace(nearly=nearly)
    edited = search_under_uncertainty(task, iterations=300, rng=generator(seed))
    published = applied(graph, edited)
    after = pairs_of(published)
    assert counted(after, k, phi)[0] == edited.unprotected
    before, now = ({tuple(edge) for edge in g.edges().tolist()} for g in (graph, published))
    assert edited.cost == len(before ^ now) <= budget
    assert edits != "delete" or now <= before
    assert edits != "add" or before <= now

    def energy(pairs):
        half, exact = (counted(pairs, k, less)[0] for less in (phi / 2, 0))
        return 10 * counted(pairs, k, phi)[0] + nearly[0] * half + nearly[1] * exact

    assert energy(after) <= energy(pairs_of(graph))


@given(graphs(largest=9), st.integers(2, 4), st.sampled_from([0, 5, 10, 33.3, 100, 250]))
@settings(deadline=None)
def test_the_share_that_hearsay_finds_is_a_mean_over_factors(graph, k, phi):
    pairs, share = pairs_of(graph), Fraction(str(phi)) / 100
    factors = [1 + share * Fraction(2 * i + 1 - HEARD, HEARD) for i in range(HEARD)]
    few = 0
    for one, other in product([max(factor, 0) for factor in factors], repeat=2):
        for a, b in pairs:
            near = sum(
                abs(a * one - x) <= share * x and abs(b * other - y) <= share * y for x, y in pairs
            )
            few += near < k
    expected = few / (HEARD**2 * max(len(pairs), 1))
    assert expected == pytest.approx(noisy_share(graph, phi=phi, k=k))


@given(graphs(), st.sampled_from([(0, 5), (5, 10), (10, 33.3), (33.3, 80)]))
@settings(deadline=None)
def test_more_uncertainty_never_leaves_fewer_candidates(graph, phis):
    less, more = (candidate_set_sizes(graph, phi=phi) for phi in phis)
    assert np.all(less <= more)


@pytest.mark.parametrize("goal", ["full", "partial:0.9", "budget:0.1"])
def test_a_release_claims_what_it_reached_at_phi_and_says_what_is_left(goal):
    graph = Graph.from_networkx(nx.karate_club_graph())
    with pytest.warns(gv.GraphveilWarning, match="weaker than exact equivalence classes"):
        release = gv.StructuralAnonymity(
            measure="count", phi=10, goal=goal, iterations=3000
        ).anonymize(graph, seed=1)
    few, _ = counted(pairs_of(release.data), 2, 10)
    assert release.guarantee.phi == 10
    assert int((1 - release.guarantee.share) * graph.n_nodes + 1e-9) == few
    exactly = counted(pairs_of(release.data), 2, 0)[0]
    assert exactly == release.private.cost["nodes_unprotected_exactly"]
    shown = release.private.cost["share_unprotected_from_noisy"]
    assert noisy_share(release.data, phi=10, k=2) == shown


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"phi": 100}, "phi=100"),
        ({"phi": -1}, "phi=-1"),
        ({"phi": 0.00001}, "4 decimal places"),
        ({"phi": 5, "measure": "degree"}, "the measure count"),
        ({"phi": 5, "distance": 2}, "at distance 1"),
        ({"phi": 5, "known": ("party",)}, "no known"),
        ({"phi": 5, "heuristic": "ua"}, "heuristic=ua"),
        ({"phi": 5, "edits": "rewire"}, "edits=rewire"),
    ],
)
def test_what_does_not_go_with_phi_is_refused(wrong, words):
    with pytest.raises(gv.core.errors.ParameterError, match=words):
        gv.StructuralAnonymity(**({"measure": "count"} | wrong))


def test_a_release_at_phi_verifies_and_its_limits_say_that_others_are_only_similar(tmp_path):
    graph = Graph.from_networkx(nx.karate_club_graph())
    method = gv.StructuralAnonymity(measure="count", phi=20, iterations=3000)
    release = method.anonymize(graph, seed=1)
    folder = release.write(tmp_path / "release")
    verdict = gv.verify_release(folder, original=graph)
    assert verdict.ok
    assert verdict.complete
    [check] = [check for check in verdict.checks if check.name == "classes"]
    exactly = counted(pairs_of(release.data), 2, 0)[0]
    assert f"with exact knowledge, {exactly} nodes would have fewer than 2" in check.detail
    limits = json.loads((folder / "release.json").read_text())["claim"]["does_not_protect_against"]
    assert "among similar nodes, not among equal ones" in limits

"""Matching a copy, maybe of a release of fewer people, by the assignment that keeps most ties."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks import ATTACKS
from graphveil.attacks.networks import alignment, seeded_matching
from graphveil.attacks.networks.assignment import (
    forecast,
    frank_wolfe,
    fugal,
    graduated_assignment,
    near_candidates,
    one_to_one,
)
from graphveil.attacks.networks.assignment.frank_wolfe import (
    SURPLUS,
    Ties,
    best_assignment_path,
    faq,
)
from graphveil.attacks.networks.assignment.near_candidates import near_match
from graphveil.attacks.networks.assignment.surroundings import distances, features, scaled
from graphveil.attacks.networks.copies.paired_copy import pairing
from graphveil.attacks.registry import SECONDS_UNASKED
from graphveil.verbs import attack as verb
from networks_data import (
    attacked,
    compared,
    cycle,
    figures,
    paired,
    random_graph,
    release_of,
    rng_of,
    share_right,
)

FLAWS = [
    {
        "name": "a matching that reads the linkage",
        "means": "The attack starts from the truth: every method looks as if it named everybody.",
        "file": "src/graphveil/attacks/networks/seeded_matching.py",
        "old": "seeds[known] = two.truth[known]",
        "new": "seeds = two.truth.copy()",
    },
    {
        "name": "one draw of known people",
        "means": "By who is known a figure is nothing or all, and one of both is stated.",
        "file": "src/graphveil/attacks/networks/seeded_matching.py",
        "old": "return DRAWS if known else 1",
        "new": "return 1",
    },
    {
        "name": "a matching that stops at its start",
        "means": "Nothing is assigned again: a release looks safer than it is.",
        "file": "src/graphveil/attacks/networks/assignment/frank_wolfe.py",
        "old": "for _ in in_time(range(REPEATS)):",
        "new": "for _ in range(0):",
    },
    {
        "name": "a step of FAQ of no length",
        "means": "The assignment is that of the start: a release looks safer than it is.",
        "file": "src/graphveil/attacks/networks/assignment/frank_wolfe.py",
        "old": "length = np.float32(min(1.0, -slope / curve) if curve < 0 else 1.0)",
        "new": "length = np.float32(0.0)",
    },
    {
        "name": "people whom the copy lacks",
        "means": "Ties of people whom the adversary does not know are given to the adversary.",
        "file": "src/graphveil/attacks/networks/copies/paired_copy.py",
        "old": "edges = edges[(edges >= 0).all(axis=1)]",
        "new": "edges = np.maximum(edges, 0)",
    },
    {
        "name": "the worst of all starts",
        "means": "The figure is that of the start that keeps fewest ties.",
        "file": "src/graphveil/attacks/networks/assignment/one_to_one.py",
        "old": "best = max(polished, key=lambda some: some.kept)",
        "new": "best = min(polished, key=lambda some: some.kept)",
    },
    {
        "name": "a matching of small networks without the search among candidates",
        "means": "Whom all pairs miss is missed: a release looks safer than it is.",
        "file": "src/graphveil/attacks/networks/assignment/one_to_one.py",
        "old": "yield Start(completed(ties, near), far[0])",
        "new": "yield Start(ties.assigned(middle(ties.seeds.size)), far[0])",
    },
    {
        "name": "one start alone that is searched on",
        "means": "Who would keep most in the end is left: a release looks safer than it is.",
        "file": "src/graphveil/attacks/networks/assignment/one_to_one.py",
        "old": "for some in tried[:POLISHED]",
        "new": "for some in tried[:1]",
    },
]


def ties_of(two, known=()):
    seeds = np.full(two.truth.size, -1)
    seeds[list(known)] = two.truth[list(known)]
    return Ties.of(two, seeds, rng_of(2))


@pytest.mark.parametrize("people", [1.0, 0.5])
def test_what_an_assignment_keeps_is_counted_tie_by_tie(people):
    two = paired(20, 60, people=people)
    ties, match = ties_of(two), rng_of(7).permutation(20)
    present = np.flatnonzero(two.present)
    pairs = list(itertools.permutations(present.tolist(), 2))
    first, second = (graph.to_scipy().toarray() for graph in (two.copy, two.released))
    common = sum(first[u, v] * second[match[u], match[v]] for u, v in pairs)
    shown = sum(second[match[u], match[v]] for u, v in pairs)
    expected = common - (0 if people == 1 else SURPLUS * shown)
    assert expected == pytest.approx(ties.kept(match), rel=1e-5)


@pytest.mark.parametrize("people", [1.0, 0.5])
def test_the_gradient_of_a_plan_is_that_of_its_formula(people):
    two = paired(15, 40, people=people)
    ties = ties_of(two)
    plan = rng_of(9).random((15, 15)).astype(np.float32)
    first, second = (graph.to_scipy().toarray() for graph in (two.copy, two.released))
    expected = first @ plan @ second
    if people < 1:
        reached = two.present.astype(float) @ plan
        expected = expected - SURPLUS * np.outer(two.present, second @ reached)
    assert expected == pytest.approx(ties.gradient(plan), rel=1e-4)
    match = rng_of(8).permutation(15)
    as_plan = np.zeros((15, 15), dtype=np.float32)
    as_plan[np.arange(15), match] = 1
    assert ties.gradient(as_plan) == pytest.approx(ties.gradient_of(match), abs=1e-4)


def test_an_assignment_is_the_best_of_all_in_which_known_people_keep_their_nodes():
    two = paired(6, 9)
    ties, worth = ties_of(two, known=[4]), rng_of().random((6, 6), dtype=np.float32)
    allowed = [p for p in itertools.permutations(range(6)) if p[4] == two.truth[4]]
    expected = max(allowed, key=lambda p: worth[range(6), p].sum())
    assert list(expected) == ties.assigned(worth).tolist()


def test_faq_from_the_middle_names_whoever_a_few_known_people_tell_apart():
    two = paired(120, 700)
    known = rng_of(4).choice(120, 8, replace=False)
    ties = ties_of(two, known)
    match = faq(ties, one_to_one.middle(120))
    assert match[known].tolist() == two.truth[known].tolist()
    assert share_right(two, match) > 0.95


def test_repeated_assignments_keep_more_ties_until_they_keep_no_more():
    two = paired(100, 600)
    ties = ties_of(two)
    start = two.truth.copy()
    mixed = rng_of(6).choice(100, 40, replace=False)
    start[mixed] = start[np.roll(mixed, 1)]
    match, kept = best_assignment_path(ties, start)
    assert ties.kept(start) < kept == ties.kept(match)
    assert share_right(two, start) < 0.7
    assert share_right(two, match) > 0.95
    assert kept == best_assignment_path(ties, match)[1]


def test_the_best_of_the_starts_is_the_one_that_keeps_most_ties():
    two = paired(60, 240)
    ties, far = ties_of(two), next(distances(two))
    wrong = [one_to_one.Start(rng_of(seed).permutation(60), far) for seed in (1, 2)]
    good = one_to_one.Start(two.truth, far)
    for starts in ([*wrong, good], [good, *wrong]):
        assert share_right(two, one_to_one.best_assignment(ties, starts)) > 0.9


def test_where_two_starts_agree_no_further_one_is_tried():
    two = paired(40, 160)
    ties, far = ties_of(two), next(distances(two))
    tried = []

    def starts():
        for number in range(4):
            tried.append(number)
            yield one_to_one.Start(two.truth, far)

    one_to_one.best_assignment(ties, starts())
    assert [0, 1] == tried


def test_two_starts_that_agree_on_fewer_than_four_in_five_people_do_not_end_it():
    two = paired(100, 500)
    ties = ties_of(two)
    for same, expected in ((70, False), (90, True)):
        other = two.truth.copy()
        other[same:] = np.roll(other[same:], 1)
        assert expected == one_to_one._agree(ties, two.truth, other)


def test_a_start_that_keeps_fewer_ties_wins_where_it_keeps_most_in_the_end(monkeypatch):
    """Both are searched on from half way, which leads the second one to the truth."""
    two = paired(60, 240)
    ties, far = ties_of(two), next(distances(two))
    first, second = (best_assignment_path(ties, rng_of(seed).permutation(60))[0] for seed in (1, 2))
    if ties.kept(first) < ties.kept(second):
        first, second = second, first

    def leads(_, plan):
        return two.truth if (plan.argmax(axis=1) == second).all() else first

    monkeypatch.setattr(frank_wolfe, "faq", leads)
    match = one_to_one.best_assignment(
        ties, [one_to_one.Start(some, far) for some in (first, second)]
    )
    assert share_right(two, match) > 0.9


@pytest.mark.parametrize("module", [alignment, seeded_matching])
def test_the_search_among_candidates_is_one_of_the_starts(module):
    two = paired(80, 160)
    ties = ties_of(two)
    alone = near_match(two, ties.seeds, rng_of(8))
    given = alone >= 0
    assert 0 < given.sum() < 80
    start = next(itertools.islice(module._starts(ties, two, rng_of(8)), 1, None))
    assert alone[given].tolist() == start.match[given].tolist()
    assert list(range(80)) == sorted(start.match)


def test_whom_all_pairs_miss_the_search_among_candidates_names(monkeypatch):
    two = paired(100, 400, overlap=0.9)
    blind = np.full((100, 100), 0.01, dtype=np.float32)
    monkeypatch.setattr(one_to_one, "graduated", lambda *_: blind)
    monkeypatch.setattr(seeded_matching, "faq", lambda some, plan: some.assigned(plan))
    nobody = np.empty(0, dtype=np.int64)
    assert share_right(two, seeded_matching.best_match(two, nobody, rng_of(1))) > 0.8
    monkeypatch.setattr(one_to_one, "near_match", lambda _, seeds, __, **_steps: seeds)
    assert share_right(two, seeded_matching.best_match(two, nobody, rng_of(1))) < 0.2


def test_who_has_no_node_is_given_a_free_one_that_shows_no_other_attribute():
    two = paired(6, 9)
    excluded = np.zeros((6, 6), dtype=np.bool_)
    excluded[4, 0] = True
    ties = ties_of(two)._replace(excluded=excluded)
    match = one_to_one.completed(ties, np.array([3, 1, -1, 5, -1, -1]))
    assert [3, 1, 5] == match[[0, 1, 3]].tolist()
    assert list(range(6)) == sorted(match)
    assert match[4] != 0


def test_a_graduated_plan_fits_known_people_to_their_nodes_and_adds_up_to_one():
    two = paired(50, 200)
    ties = ties_of(two, known=[1, 7])
    for far in distances(two):
        plan = graduated_assignment.graduated(ties, far)
        assert plan.sum(axis=0) == pytest.approx(np.ones(50), abs=0.1)
        assert plan.sum(axis=1) == pytest.approx(np.ones(50), abs=0.1)
        assert plan[[1, 7], two.truth[[1, 7]]] == pytest.approx([1, 1], abs=1e-3)


def test_features_are_those_of_their_definition():
    import networkx as nx  # noqa: PLC0415  for comparing

    graph = random_graph(25, 60)
    near = graph.to_networkx()
    triangles, clustering = nx.triangles(near), nx.clustering(near)
    around = lambda values, v: np.mean([values[u] for u in near[v]]) if near.degree[v] else 0.0  # noqa: E731
    columns = [
        {v: np.log1p(near.degree[v]) for v in near},
        clustering,
        {v: np.log1p(triangles[v]) for v in near},
    ]
    own = list(columns)
    for _ in range(2):
        columns = [{v: around(values, v) for v in near} for values in columns]
        own += columns
    spread = {v: np.std([np.log1p(near.degree[u]) for u in near[v]] or [0]) for v in near}
    expected = np.array([[values[v] for values in [*own, spread]] for v in range(25)])
    assert expected == pytest.approx(features(graph), abs=1e-6)


def test_scaling_is_moved_by_no_single_person():
    values = rng_of().normal(size=(101, 2))
    values[0] = 1e6
    inner = scaled(values)[1:]
    assert inner.std(axis=0) == pytest.approx([1, 1], abs=0.25)
    assert 8.0 == scaled(values)[0, 0]
    assert np.isfinite(scaled(np.ones((5, 1)))).all()


def test_distances_are_least_for_people_with_the_same_surroundings():
    two = paired(80, 400, people=1.0)
    for far in distances(two):
        own = far[np.arange(80), two.truth]
        assert own.mean() < 0.5 * far.mean()


@pytest.mark.parametrize("people", [0.5, 0.8])
def test_a_copy_lacks_people_and_all_their_ties(people):
    original = random_graph(60, 240)
    two = pairing(compared(original, order=rng_of(2).permutation(60)), 1.0, rng_of(), people=people)
    assert round(people * 60) == np.count_nonzero(two.present)
    lacking = ~two.present
    assert 0 == two.copy.degrees()[lacking].sum()
    edges = {tuple(edge) for edge in np.sort(two.person[two.copy.edges()], axis=1).tolist()}
    there = set(two.person[two.present].tolist())
    assert edges == {(u, v) for u, v in original.edges().tolist() if {u, v} <= there}


def test_random_pairs_in_a_copy_that_lacks_people_join_those_whom_it_has():
    two = paired(60, 240, people=0.5, overlap=0.5)
    assert 0 == two.copy.degrees()[~two.present].sum()
    whole = paired(60, 240, people=0.5)
    assert whole.copy.n_edges == two.copy.n_edges
    shared = set(map(tuple, np.sort(two.person[two.copy.edges()], axis=1).tolist()))
    kept = set(map(tuple, np.sort(whole.person[whole.copy.edges()], axis=1).tolist()))
    assert len(shared & kept) < 0.8 * len(kept)


def test_a_copy_that_lacks_two_in_five_people_still_names_most_of_the_others():
    for name, known in (("seeded-matching", {"known": 0}), ("alignment", {})):
        order = rng_of(4).permutation(100)
        told = attacked(name, random_graph(100, 1_000), order=order, people=0.6, draws=1, **known,
                        overlap=1.0)  # fmt: skip
        [right] = [row for row in told if row.part.endswith(": right")]
        assert "0.6 of the people" in right.part
        assert right.value > 0.8
        assert 0.01 == right.guess


def test_people_whom_the_copy_lacks_are_not_counted_and_not_known():
    two = paired(60, 240, people=0.5)
    chosen = seeded_matching.known_people(two, 10, rng_of())
    assert two.present[chosen].all()
    assert not two.active[~two.present].any()


def test_a_copy_of_nobody_cannot_be_matched():
    [why] = attacked(
        "seeded-matching", random_graph(20, 60), people=0.0, known=0
    ).not_measured.values()
    assert why.startswith("no target has edges both in the copy and in the release")


def test_a_release_of_no_tie_or_of_nodes_that_all_look_alike_names_nobody_above_chance():
    told = attacked("seeded-matching", random_graph(40, 120), cycle(40), known=0, draws=10)
    right = next(row for row in told if row.part.endswith(": right"))
    assert 1 / 40 == right.guess
    assert right.low <= 4 / 40
    assert right.value <= 5 / 40
    empty = gv.Graph.from_edges([], [], n=40)
    assert not attacked("seeded-matching", random_graph(40, 120), empty, known=0)


def test_an_unrelated_network_names_hardly_anybody():
    """Whoever read the linkage would name everybody."""
    told = figures("seeded-matching", random_graph(80, 300), random_graph(80, 300, seed=9), known=5)
    [right] = [value for part, value in told.items() if part.endswith(": right")]
    assert right < 0.15


def test_noise_that_hides_half_of_the_ties_stops_no_matching_with_a_few_known():
    original = random_graph(120, 1_400)
    edges = original.edges()
    kept = edges[rng_of(3).permutation(len(edges))[: len(edges) * 6 // 10]]
    false = random_graph(120, len(edges) * 4 // 10, seed=12).edges()
    every = np.unique(np.concatenate([kept, false]), axis=0)
    published = gv.Graph.from_edges(*every.T, n=120)
    told = figures("seeded-matching", original, published, known=10)
    [right] = [value for part, value in told.items() if part.endswith(": right")]
    assert right > 0.9


def test_it_runs_unasked_where_it_is_short_and_says_why_where_it_is_not(monkeypatch):
    graph = random_graph(30, 90)
    release = release_of(graph)
    told = gv.attack_release(release, original=graph, seed=1)
    assert any(row.question == "seeded-matching" and ": right" in row.part for row in told)
    monkeypatch.setattr(forecast, "PER_WALK", SECONDS_UNASKED)
    told = gv.attack_release(release, original=graph, seed=1)
    assert "not run by default" in told.not_measured["seeded-matching"]
    told = gv.attack_release(
        release,
        original=graph,
        attacks=["seeded-matching"],
        options={"seeded-matching": {"known": 2}},
    )
    assert [] == list(told.not_measured)


def test_the_number_of_starts_stands_beside_the_figure():
    two = paired(40, 160)
    ties = ties_of(two)
    starts = list(seeded_matching._starts(ties, two, rng_of(2)))
    assert seeded_matching.STARTS == len(starts)
    told = figures("seeded-matching", random_graph(40, 160), known=3)
    assert all(f"best of {len(starts)} starts" in part for part in told)


def test_seconds_grow_with_draws_and_settings():
    release = release_of(random_graph(40, 160))
    situation = verb.AttackInput(comparison=compared(random_graph(40, 160)), release=release)
    entry = ATTACKS["seeded-matching"]
    one, usual, ten, short = (
        entry.seconds(situation, entry.options(**how))
        for how in ({"known": 0}, {}, {"known": 0, "draws": 10}, {"draws": 1})
    )
    assert usual == pytest.approx((1 + seeded_matching.DRAWS) * one)
    assert ten == pytest.approx(10 * one)
    assert short == pytest.approx(2 * one)


def test_people_who_are_known_are_drawn_several_times_and_the_extremes_stand_beside_the_rate():
    told = attacked("seeded-matching", random_graph(30, 45), known=3, overlap=0.5)
    [right] = [row for row in told if row.part.endswith(": right")]
    assert seeded_matching.DRAWS == right.sample_size
    least, median, largest = (
        told["seeded-matching", f"{right.part}, {name} of the draws"].value
        for name in ("least", "median", "largest")
    )
    assert least <= median <= largest
    assert least < largest
    assert least <= right.value <= largest
    nobody = attacked("seeded-matching", random_graph(30, 45), known=0)
    assert not [row for row in nobody if "of the draws" in row.part]
    assert {1} == {row.sample_size for row in nobody}


def test_known_people_and_copies_of_every_draw_are_others(monkeypatch):
    seen = []

    def nobody(two, known, _):
        seen.append((two.person[known].tolist(), two.person.tolist()))
        return two.truth

    monkeypatch.setattr(seeded_matching, "best_match", nobody)
    attacked("seeded-matching", random_graph(40, 160), known=4)
    assert seeded_matching.DRAWS == len({tuple(sorted(known)) for known, _ in seen})
    assert seeded_matching.DRAWS == len({tuple(order) for _, order in seen})


def test_what_is_foreseen_is_little_where_starts_agree_and_much_where_ties_are_hidden():
    """A copy of few true ties takes the starts of all pairs, and the slow last one."""
    original = random_graph(400, 2_400)
    whole = compared(original)
    hidden = compared(original, random_graph(400, 2_400, seed=9))
    few = compared(random_graph(400, 500))
    efforts = [forecast.effort(pair, 1.0) for pair in (whole, hidden, few)]
    assert [0, 1, 1] == efforts
    assert 0 < forecast.effort(whole, 0.3) < 1
    last = 1_000.0
    for pair, expected in ((whole, 0.0), (hidden, last)):
        more = forecast.seconds_of_all_pairs(pair, 1.0, 1.0, last)
        assert expected == pytest.approx(more - forecast.seconds_of_all_pairs(pair, 1.0, 1.0))
    near = forecast.seconds_of_near_match(whole, 1.0, near_candidates.FEWER)
    assert near < forecast.seconds_of_all_pairs(whole, 1.0, 1.0)


def test_a_copy_that_is_all_wrong_takes_no_more_than_all_starts_do():
    pair = compared(random_graph(100, 400))
    whole, some, most, every = (
        forecast.seconds_of_near_match(pair, overlap) for overlap in (1.0, 0.7, 0.4, 0.0)
    )
    assert whole < some < most
    assert most == pytest.approx(every)
    assert every == pytest.approx((1 + forecast.WRONG) * whole)


def test_no_start_reads_the_truth():
    """Of a pairing whose truth is another one the starts are the same."""
    two = paired(40, 160)
    false = two._replace(truth=two.truth[::-1].copy())
    one, other = (
        seeded_matching.best_match(some, np.empty(0, dtype=np.int64), rng_of(1))
        for some in (two, false)
    )
    assert one.tolist() == other.tolist()
    for module in (one_to_one, graduated_assignment, fugal):
        assert "truth" not in inspect.getsource(module)

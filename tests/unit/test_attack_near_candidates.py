"""Matching a copy of a large network among the nearest candidates of everybody."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks import ATTACKS
from graphveil.attacks.networks import alignment, seeded_matching
from graphveil.attacks.networks.assignment import embedding, forecast, near_candidates
from graphveil.attacks.networks.assignment.expand_when_stuck import candidate_lists
from graphveil.attacks.networks.assignment.frank_wolfe import Ties
from graphveil.attacks.networks.copies.paired_copy import pairing
from graphveil.attacks.networks.copies.side_information import SideInformation
from graphveil.attacks.networks.signatures import KnownRows
from graphveil.core.errors import ResourceError
from graphveil.data import Layer
from graphveil.pages.answers.attacks import groups
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
        "name": "an alignment of large networks that stops at its start",
        "means": "Candidates are not chosen again: a large release looks safer than it is.",
        "file": "src/graphveil/attacks/networks/assignment/near_candidates.py",
        "old": "for _ in in_time(range(ROUNDS)):",
        "new": "for _ in range(0):",
    },
    {
        "name": "an alignment of large networks that reads the linkage",
        "means": "The attack begins with the truth: every method looks as if it named everybody.",
        "file": "src/graphveil/attacks/networks/assignment/near_candidates.py",
        "old": "n = two.truth.size",
        "new": "n, seeds = two.truth.size, two.truth.copy()",
    },
    {
        "name": "the worst start of a large alignment",
        "means": "The figure is that of the start that keeps fewest ties.",
        "file": "src/graphveil/attacks/networks/assignment/near_candidates.py",
        "old": "return max(tried, key=lambda reached: reached.kept).match",
        "new": "return min(tried, key=lambda reached: reached.kept).match",
    },
    {
        "name": "candidates that show other attributes",
        "means": "Nodes that cannot be a person by their attributes hide the person's own.",
        "file": "src/graphveil/attacks/networks/assignment/embedding.py",
        "old": "columns = np.flatnonzero(known & shown)",
        "new": "columns = np.flatnonzero(known & shown)[:0]",
    },
]


def nobody(two):
    return np.full(two.truth.size, -1, dtype=np.int64)


def matched(two, seeds=None):
    return near_candidates.near_match(two, nobody(two) if seeds is None else seeds, rng_of(1))


def networks_of(two):
    surplus = 0.0 if two.present.all() else near_candidates.SURPLUS
    return near_candidates._Networks(*candidate_lists(two.side_information), nobody(two), surplus)


def with_few_pairs(monkeypatch):
    """Let the attacks take every network for a large one."""
    monkeypatch.setattr(alignment, "ALL_PAIRS", 0)
    monkeypatch.setattr(seeded_matching, "ALL_PAIRS", 0)


def told_apart_by_refinement(graph):
    """Return who ends alone when colors are refined by those of neighbors until none is split."""
    colors, number = [0] * graph.n_nodes, 0
    while number < (number := len(set(colors))):
        around = [sorted(colors[u] for u in graph.neighbors(v)) for v in range(graph.n_nodes)]
        both = [(color, *others) for color, others in zip(colors, around, strict=True)]
        numbers = {color: at for at, color in enumerate(sorted(set(both)))}
        colors = [numbers[color] for color in both]
    return np.bincount(colors)[colors] == 1


@pytest.mark.parametrize("m", [450, 900])
def test_a_release_that_changed_nothing_names_whom_the_network_tells_apart(m):
    two = paired(300, m)
    told_apart = told_apart_by_refinement(two.copy)
    right = (matched(two) == two.truth)[two.active & told_apart]
    assert right.sum() > 100
    assert right.mean() >= 0.95


def test_an_unrelated_network_and_one_of_equal_nodes_name_hardly_anybody():
    for published in (random_graph(300, 1_500, seed=9), cycle(300)):
        two = paired(300, 1_500, published)
        assert share_right(two, matched(two)) < 0.03


@pytest.mark.parametrize(("how", "least"), [({"overlap": 0.8}, 0.8), ({"people": 0.7}, 0.8)])
def test_a_copy_that_is_partly_wrong_or_lacks_people_names_most(how, least):
    two = paired(300, 3_000, **how)
    assert share_right(two, matched(two)) > least


def test_rounds_of_new_candidates_name_people_whom_no_start_has_among_its_candidates():
    """The start alone names a part of them."""
    two = paired(600, 3_000, overlap=0.85)
    where = embedding.points(two, 0.15, 10, rng_of(1))
    people = np.flatnonzero(two.copy.degrees() > 0)
    nodes = embedding.nearest(where, people, None, 3)
    among = (nodes == two.truth[:, None]).any(axis=1)[two.active].mean()
    reached = near_candidates._searched(
        networks_of(two), where, nodes, 1.0, near_candidates.ALL_STEPS
    )
    assert among < 0.7
    assert share_right(two, reached.match) > among + 0.1


def test_known_people_keep_their_nodes_and_nobody_else_is_given_them():
    two = paired(200, 800, random_graph(200, 800, seed=9))
    known = rng_of(4).choice(200, 30, replace=False)
    seeds = nobody(two)
    seeds[known] = two.truth[known]
    match = matched(two, seeds)
    assert match[known].tolist() == two.truth[known].tolist()
    given = match[match >= 0]
    assert np.unique(given).size == given.size > 150


def all_alike(n=150):
    """Return a pairing of a network in which every node is as every other, and its release."""
    steps = [(v, (v + step) % n) for v in range(n) for step in (1, 5, 17)]
    graph = gv.Graph.from_edges(*zip(*steps, strict=True), n=n)
    return pairing(compared(graph, order=rng_of(3).permutation(n)), 1.0, rng_of(5))


def test_a_few_known_people_are_enough_where_no_surroundings_differ():
    two = all_alike()
    seeds = nobody(two)
    seeds[:30] = two.truth[:30]
    others = np.arange(150) >= 30
    assert (matched(two, seeds) == two.truth)[others].mean() > 0.9
    assert share_right(two, matched(two)) < 0.03


def test_nothing_reads_the_truth():
    two = paired(120, 500)
    false = two._replace(truth=two.truth[::-1].copy())
    assert matched(two).tolist() == matched(false).tolist()
    assert "truth[" not in inspect.getsource(near_candidates) + inspect.getsource(embedding)


@pytest.mark.parametrize("people", [1.0, 0.6])
def test_what_a_match_keeps_is_what_the_matrices_of_all_pairs_say(people):
    two = paired(60, 240, people=people)
    match = rng_of(7).permutation(60)
    every = np.where(two.present, match, -1)
    expected = Ties.of(two, nobody(two), rng_of(2)).kept(match)
    assert expected == pytest.approx(networks_of(two).kept(every), rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_candidates_are_those_of_all_pairs_that_fit(seed):
    rng = rng_of(seed)
    where = embedding.Points(rng.random((40, 3)), rng.random((40, 3)), np.ones(40))
    rows = KnownRows(*(rng.integers(-1, 3, (40, 2)).astype(np.int32) for _ in range(2)))
    people = np.flatnonzero(rng.random(40) < 0.8)
    nodes = embedding.nearest(where, people, rows, 6)
    assert (nodes[np.setdiff1d(np.arange(40), people)] == -1).all()
    for person in people:
        fitting = np.flatnonzero(rows.fits(person))
        far = np.linalg.norm(where.copy[person] - where.released[fitting], axis=1)
        expected = fitting[np.argsort(far, kind="stable")][:6]
        assert expected.tolist() == nodes[person][nodes[person] >= 0].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_every_pair_that_fits_stands_in_one_group(seed):
    rng = rng_of(seed)
    rows = KnownRows(*(rng.integers(-1, 2, (25, 3)).astype(np.int32) for _ in range(2)))
    people = np.arange(20)
    counted = np.zeros((25, 25), dtype=int)
    for some, nodes in embedding.fitting_groups(rows, people, 25):
        counted[np.ix_(some, nodes)] += 1
    expected = ~rows.excluded()
    expected[20:] = False
    assert expected.astype(int).tolist() == counted.tolist()


def test_nobody_is_given_a_node_that_shows_another_attribute_and_attributes_name_people():
    two = all_alike()
    known = rng_of(2).integers(0, 4, (150, 1)).astype(np.int32)
    shown = np.empty_like(known)
    shown[two.truth] = known
    rows = KnownRows(known, shown)
    some = two._replace(side_information=SideInformation.of_graphs(two.copy, two.released, rows))
    other = paired(150, 450, cycle(150))
    for case in (
        some,
        other._replace(
            side_information=SideInformation.of_graphs(other.copy, other.released, rows)
        ),
    ):
        match = matched(case)
        given = np.flatnonzero(match >= 0)
        assert rows.fit(given, match[given]).all()
        assert given.size > 100
    assert share_right(some, matched(some)) > 0.95
    assert share_right(two, matched(two)) < 0.03


def test_directions_tell_people_apart_who_are_all_alike_without():
    two = all_alike()
    ends = two.copy.edges()
    turned = np.where((rng_of(8).random(len(ends)) < 0.5)[:, None], ends[:, ::-1], ends)
    copy = Layer.from_arcs(*turned.T, n=150)
    released = copy.permuted(np.argsort(two.truth))
    directed = two._replace(side_information=SideInformation.of_layers([copy], [released], None))
    assert share_right(directed, matched(directed)) > 0.95
    assert share_right(two, matched(two)) < 0.03
    where, alike = (embedding.points(each, 0.15, 10, rng_of(1)).copy for each in (directed, two))
    assert 1 == len(np.unique(alike.round(9), axis=0))
    led_away = np.unique(np.bincount(turned[:, 0], minlength=150))
    assert led_away.size == len(np.unique(where.round(9), axis=0)) > 5


def test_large_networks_are_taken_by_both_attacks_and_the_label_says_how(monkeypatch):
    graph = random_graph(150, 700)
    with_few_pairs(monkeypatch)
    for name, settings in (("alignment", {}), ("seeded-matching", {"known": 5})):
        order = rng_of(4).permutation(150)
        told = attacked(name, graph, order=order, overlap=1.0, draws=2, **settings)
        [right] = [row for row in told if row.part.endswith(": right")]
        assert "best of 3 starts among the nearest" in right.part
        assert right.value > 0.95
        assert 1 / (150 - settings.get("known", 0)) == right.guess
        assert groups(told), right.part


def test_who_stands_where_changes_little_and_a_seed_repeats(monkeypatch):
    with_few_pairs(monkeypatch)
    graph, settings = random_graph(150, 500), {"overlap": 0.9, "draws": 3}
    one, again = (figures("alignment", graph, **settings) for _ in range(2))
    assert one == again
    order = rng_of(7).permutation(150)
    moved = figures("alignment", graph.permuted(order), **settings)
    part = next(part for part in one if part.endswith(": right"))
    assert moved[part] == pytest.approx(one[part], abs=0.06)


@pytest.mark.parametrize("name", ["alignment", "seeded-matching"])
def test_networks_that_are_too_large_are_refused_with_exit_code_3(name, monkeypatch):
    with_few_pairs(monkeypatch)
    for limit, words in (
        ("MOST_NODES", "30 nodes exceed the limit of 5"),
        ("MOST_TIES", "edges exceed the limit of 5"),
        ("MOST_SQUARES", "pairs of neighbors exceed the limit of 5"),
    ):
        with monkeypatch.context() as some:
            some.setattr(forecast, limit, 5)
            with pytest.raises(ResourceError, match=words) as refused:
                attacked(name, random_graph(30, 90), draws=1)
            assert 3 == refused.value.exit_code
            assert "a release with fewer nodes" in str(refused.value)


@pytest.mark.parametrize("name", ["alignment", "seeded-matching"])
def test_networks_of_which_all_pairs_are_held_may_have_any_number_of_ties(name, monkeypatch):
    for limit in ("MOST_TIES", "MOST_SQUARES"):
        monkeypatch.setattr(forecast, limit, 5)
    assert len(attacked(name, random_graph(30, 90), overlap=1.0, draws=1))


def test_seconds_grow_with_the_network_the_draws_and_the_settings(monkeypatch):
    with_few_pairs(monkeypatch)
    for name, more in (("alignment", {"overlap": 1.0}), ("seeded-matching", {"known": 0})):
        entry = ATTACKS[name]
        small, large = (
            gv.attacks.attack.AttackInput(comparison=compared(graph), release=release_of(graph))
            for graph in (random_graph(40, 160), random_graph(400, 1_600))
        )
        one = entry.seconds(small, entry.options(draws=1, **more))
        assert entry.seconds(small, entry.options(draws=3, **more)) == pytest.approx(3 * one)
        assert entry.seconds(large, entry.options(draws=1, **more)) > 5 * one


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_hardly_any_nodes_or_ties_are_matched_without_an_error(n):
    graph = gv.Graph.from_edges([0] if n > 1 else [], [1] if n > 1 else [], n=n)
    two = pairing(compared(graph), 1.0, rng_of(5))
    match = matched(two)
    assert np.count_nonzero(match >= 0) == (2 if n > 1 else 0)
    none = gv.Graph.from_edges([], [], n=n)
    assert (matched(pairing(compared(graph, none), 1.0, rng_of(5))) == -1).all()

"""Naming people by a copy of the network: copies, alignments, counts of names that are right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.networks import alignment, propagation, seeded_matching
from graphveil.attacks.networks.assignment import expand_when_stuck, forecast, fugal
from graphveil.attacks.networks.copies.paired_copy import Pairing, pairing, random_pairs
from graphveil.attacks.networks.copies.reidentification import (
    CopyTrials,
    Naming,
    NodeKinds,
    summary,
)
from graphveil.attacks.networks.copies.side_information import SideInformation
from graphveil.attacks.wording import above_guess
from graphveil.core.errors import ResourceError
from graphveil.core.randomness import Randomness
from graphveil.core.rows import Setting
from graphveil.evaluate import comparison_of
from networks_data import attacked, compared, cycle, figures, random_graph, release_of, rng_of

BY_COPY = ("seed-propagation", "alignment", "seeded-matching")
KNOWING = ("seed-propagation", "seeded-matching")


def edges_of(graph):
    return set(map(tuple, graph.edges().tolist()))


@pytest.mark.parametrize("overlap", [1.0, 0.8, 0.5, 0.0])
@pytest.mark.parametrize("filled", [True, False])
def test_a_copy_shares_so_many_edges_and_has_as_many(overlap, filled):
    original, published = random_graph(40, 100), random_graph(40, 90, 2)
    order = rng_of(4).permutation(40)
    two = pairing(compared(original, published, order), overlap, rng_of(), filled=filled)
    back = two.copy.permuted(np.argsort(two.person))
    shared = len(edges_of(back) & edges_of(original))
    kept = round(overlap * original.n_edges)
    assert (original.n_edges if filled else kept) == back.n_edges
    assert kept <= shared <= kept + (20 if filled else 0)
    owner = np.argsort(two.truth)
    assert edges_of(published) == edges_of(
        gv.Graph.from_edges(*two.person[owner][two.released.edges()].T, n=40)
    )
    assert not np.array_equal(two.truth, np.arange(40)), "the order gives nobody away"


@pytest.mark.parametrize(("n", "kept", "size"), [(5, 4, 10), (60, 10, 90), (2, 0, 1), (1, 0, 0)])
def test_random_pairs_are_new_and_as_many_as_are_missing(n, kept, size):
    cells = np.column_stack(np.triu_indices(n, k=1)).astype(np.int32)
    edges = cells[rng_of().permutation(len(cells))[:kept]]
    new = random_pairs(edges, n, size, rng_of(2))
    every = {tuple(pair) for pair in [*edges.tolist(), *new.tolist()]}
    assert size == len(every) == kept + len(new)
    assert all(u < v < n for u, v in every)


def test_names_are_counted_in_the_order_of_the_original():
    star = gv.Graph.from_edges([0, 0, 0, 3], [1, 2, 3, 4], n=6)  # 1 and 2 are twins, 5 has no tie
    person, truth = np.array([2, 0, 5, 1, 3, 4]), np.array([5, 3, 0, 4, 2, 1])
    published = star.permuted(person[np.argsort(truth)])
    copy = star.permuted(person)
    both = SideInformation.of_graphs(copy, published)
    two = Pairing(copy, published, truth, person, np.ones(6, dtype=bool), both)
    kinds = NodeKinds.of(star)
    assert [True, False, False, False, False, False] == kinds.distinct.tolist()
    right = Naming.of(two, truth, kinds)
    assert [True] * 5 + [False] == right.asked.tolist() == right.right.tolist()
    exchanged = truth.copy()
    exchanged[[0, 3]] = truth[[3, 0]]  # the copy's nodes of persons 2 and 1
    exchanged[5] = -1  # the copy's node of person 4
    named = Naming.of(two, exchanged, kinds, known=np.array([4]))  # person 3 was known
    assert [True, True, True, False, True, False] == named.asked.tolist()
    assert [True, True, True, False, False, False] == named.named.tolist()
    assert [True, False, False, False, False, False] == named.right.tolist()
    assert [True, True, True, False, False, False] == named.alike.tolist()


A = Setting(overlap=0.5)


def naming_of(asked, named, right):
    rows = [np.array([letter == "1" for letter in text]) for text in (asked, named, right)]
    return Naming(*rows, rows[2])


def test_rates_are_over_all_draws_and_everybody_has_a_risk_of_their_own():
    kinds = NodeKinds.of(random_graph(4, 0))
    draws = [naming_of("1110", "1100", "1000"), naming_of("0110", "0110", "0110")]
    outcome = summary(
        [CopyTrials(A, draws), CopyTrials(Setting(knows="b", overlap=1), draws[:1])],
        kinds,
        rng_of(),
    )
    values = {figure.part: figure.value for figure in outcome.figures}
    assert 3 / 4 == values["overlap 0.5: precision"]
    assert 3 / 5 == values["overlap 0.5: right"]
    assert [1 / 3, 2 / 3, 1.0] == pytest.approx(
        [
            values[f"overlap 0.5: right, {name} of the draws"]
            for name in ("least", "median", "largest")
        ]
    )
    assert [1.0, 0.5, 0.5] == outcome.risk[:3].tolist()
    assert np.isnan([outcome.risk[3], outcome.baseline[3]]).all()
    assert "overlap 0.5: right, without twins" in outcome.not_measured
    assert all(figure.sample.low is None for figure in outcome.figures)


def test_a_guess_is_among_those_who_are_not_known_beforehand():
    kinds = NodeKinds.of(gv.Graph.from_edges([0, 0, 0], [1, 2, 3], n=4))  # three leaves are twins
    for known in (0, 1, 2):
        left = list(itertools.combinations(range(4), 4 - known))
        twin = np.mean([kinds.twins[i] == kinds.twins[j] for s in left for i in s for j in s])
        draws = [naming_of("1111", "1111", "1000")]
        drawn = CopyTrials(Setting(overlap=1, known=known), draws)
        outcome = summary(
            [drawn, CopyTrials(A, [naming_of("1100", "1100", "0100")])], kinds, rng_of()
        )
        guess = {figure.part: figure.baseline for figure in outcome.figures}
        said = drawn.setting.text
        assert 1 / (4 - known) == guess[f"{said}: right"] == guess[f"{said}: precision"]
        assert twin == pytest.approx(guess[f"{said}: precision up to twins"])
        # the guess of a person's own risk is that of the setting that gives it
        assert [1 / (4 - known), 1 / 4] == outcome.baseline[:2].tolist()


def test_from_ten_draws_on_a_rate_has_an_interval():
    kinds = NodeKinds.of(random_graph(4, 0))
    draws = [naming_of("1111", "1111", f"{number:04b}") for number in range(10)]
    figure = summary([CopyTrials(A, draws)], kinds, rng_of()).figures[0]
    assert figure.sample.low < figure.value < figure.sample.high
    assert 10 == figure.sample.size


def test_features_are_degrees_clustering_and_their_means_around():
    network = random_graph(15, 40)
    near = network.to_networkx()
    import networkx as nx  # noqa: PLC0415

    clustering = nx.clustering(near)
    own = np.array([[near.degree[v], clustering[v]] for v in range(15)])
    around = [own[list(near[v])].mean(axis=0) if near.degree[v] else [0, 0] for v in range(15)]
    assert fugal.features(network) == pytest.approx(np.hstack([own, around]))


def test_a_scaled_plan_has_rows_and_columns_that_sum_to_one():
    cost = rng_of().exponential(2.0, size=(12, 12))
    plan = fugal.sinkhorn(cost)
    assert plan.sum(axis=0) == pytest.approx(np.ones(12), abs=2e-3)
    assert plan.sum(axis=1) == pytest.approx(np.ones(12), abs=2e-3)
    ratio = np.log(plan) + cost  # the sum of one number a row and one a column
    assert ratio - ratio[:1] - ratio[:, :1] + ratio[0, 0] == pytest.approx(
        np.zeros((12, 12)), abs=1e-5
    )
    far = fugal.sinkhorn(np.array([[0.0, 5000.0], [0.0, 5000.0]]))
    assert np.isfinite(far).all()


def test_the_alignment_of_a_graph_with_itself_keeps_all_edges():
    graph = random_graph(12, 30)
    order = rng_of(3).permutation(12)
    shuffled = graph.permuted(order)
    both = SideInformation.of_graphs(graph, shuffled)
    match = fugal.assigned(fugal.relaxed_alignment(graph, shuffled, both))
    assert sorted(match.tolist()) == list(range(12))
    back = order[match]
    kept = sum((min(back[u], back[v]), max(back[u], back[v])) in edges_of(graph)
               for u, v in graph.edges().tolist())  # fmt: skip
    assert graph.n_edges == kept


def test_the_assignment_is_the_best_of_all():
    plan = rng_of().random((6, 6))
    rows = range(6)
    best = max(itertools.permutations(rows), key=lambda p: plan[rows, p].sum())
    assert list(best) == fugal.assigned(plan).tolist()


def value_of(told, end):
    [value] = [value for part, value in told.items() if part.endswith(end)]
    return value


@pytest.mark.parametrize("name", BY_COPY)
def test_an_unprotected_network_is_named_whole(name):
    graph = random_graph(60, 300)
    settings = {"known": 6} if name in KNOWING else {}
    told = figures(name, graph, order=rng_of().permutation(60), overlap=1, draws=2, **settings)
    assert value_of(told, ": right") > 0.95
    assert value_of(told, ": precision up to twins") > 0.95


@pytest.mark.parametrize("name", BY_COPY)
def test_nodes_that_all_look_alike_are_guessed(name):
    settings = {"known": 1} if name in KNOWING else {}
    told = attacked(name, random_graph(30, 90), cycle(30), overlap=1, draws=10, **settings)
    right = next(row for row in told if row.part.endswith(": right"))
    assert right.value <= 5 / 30
    assert 1 / (30 - settings.get("known", 0)) == right.guess  # a known node is no guess
    assert 10 == right.sample_size


@pytest.mark.parametrize("name", BY_COPY)
def test_who_stands_where_changes_little_and_a_seed_repeats(name):
    original, published = random_graph(50, 250), random_graph(50, 250)
    settings = {"known": 5} if name in KNOWING else {}
    one, again = (
        figures(name, original, published, overlap=1, draws=1, **settings) for _ in range(2)
    )
    assert one == again
    order = rng_of(7).permutation(50)
    moved = figures(name, original.permuted(order), published.permuted(order),
                    overlap=1, draws=1, **settings)  # fmt: skip
    part = next(part for part in one if part.endswith(": right"))
    assert moved[part] == pytest.approx(one[part], abs=0.06)


@pytest.mark.parametrize("name", BY_COPY)
def test_what_cannot_be_matched_says_why(name, monkeypatch):
    module = propagation if name == "seed-propagation" else forecast
    settings = {"known": 2} if name in KNOWING else {}

    def reason(graph, published=None, **how):
        [why] = attacked(
            name, graph, published, overlap=1, draws=1, **settings, **how
        ).not_measured.values()
        return why

    assert "the network has no nodes" == reason(gv.Graph.from_edges([], [], n=0))
    assert "linkage" in reason(random_graph(9, 20), linkage=False)
    for graph, published in (
        (gv.Graph.from_edges([], [], n=1), None),
        (random_graph(9, 20), random_graph(9, 0)),
    ):
        assert reason(graph, published).startswith(
            ("no target has edges both in the copy and in the release", "only 0 people have")
        )
    for limited in (alignment, seeded_matching):
        monkeypatch.setattr(limited, "ALL_PAIRS", 8)
    monkeypatch.setattr(module, "MOST_NODES", 8)
    with pytest.raises(ResourceError, match="9 nodes exceed the limit of 8"):
        reason(random_graph(9, 20))


def test_hubs_are_too_many_pairs_and_nobody_known_too_many_nodes(monkeypatch):
    graph = random_graph(20, 60)
    monkeypatch.setattr(propagation, "MOST_NODES_UNKNOWN", 19)
    told = attacked("seed-propagation", graph, overlap=1, draws=1)
    assert {"overlap 1, nobody known", "overlap 1, 50 known"} <= {
        name.removeprefix("seed-propagation: ") for name in told.not_measured
    }
    with pytest.raises(ResourceError, match="Set a number of known people"):
        attacked("seed-propagation", graph, overlap=1, draws=1, known=0)
    monkeypatch.setattr(propagation, "MOST_SQUARES", 10)
    with pytest.raises(ResourceError, match="the sum of squared degrees"):
        attacked("seed-propagation", graph)


def test_a_matching_that_was_stopped_says_capped(monkeypatch):
    grown = expand_when_stuck.expand
    monkeypatch.setattr(
        propagation, "expand", lambda *graphs, **more: grown(*graphs, most_marks=5, **more)
    )
    told = attacked("seed-propagation", random_graph(20, 60), overlap=1, known=3, draws=2)
    assert all("capped in 2 draws" in row.part for row in told)
    assert len(told)


def test_people_without_a_tie_in_both_are_not_counted():
    original = gv.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], n=8)
    told = release_of(original)
    outcome = alignment.alignment(
        _situation(told, original), alignment.AlignmentOptions(overlap=1.0, draws=1)
    )
    assert [False] * 4 + [True] * 4 == np.isnan(outcome.risk).tolist()


def _situation(release, original):
    from graphveil.attacks import AttackInput  # noqa: PLC0415

    pair = comparison_of(release, original, Randomness(seed=1), wanted_by="attack")
    return AttackInput(comparison=pair, release=release)


@pytest.mark.parametrize("name", [name for name in BY_COPY if name not in KNOWING])
def test_luck_with_nodes_that_cannot_be_told_apart_is_not_called_success(name):
    twenty_edges = gv.Graph.from_edges(np.arange(0, 40, 2), np.arange(1, 40, 2), n=40)
    for seed in range(10):
        rows = attacked(name, twenty_edges, order=rng_of(seed).permutation(40), overlap=1, draws=2)
        assert not any(above_guess(row) for row in rows if row.figure == "right")

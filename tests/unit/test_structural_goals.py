from __future__ import annotations

import math
import warnings

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.bounds import read_bound
from graphveil.core.errors import InfeasibleError, ParameterError
from graphveil.core.stated_parameters import published_parameters
from graphveil.methods.goals import share_of
from graphveil.methods.structural import Goal
from graphveil.methods.structural.settings import PROPERTIES, Until


@pytest.mark.parametrize(
    "goal",
    [
        gv.Full(),
        gv.Partial(share=0.95),
        gv.Partial(share=1.0),
        gv.Budget(share=0.05),
        gv.Budget(share=1e-5),
        gv.Budget(edges=200),
    ],
)
def test_a_goal_is_read_back_from_its_spelling(goal):
    assert goal == Goal.parse(str(goal))


@pytest.mark.parametrize(
    "text", ["", "all", "full:1", "partial", "partial:", "partial:x", "budget:5 edges", "budget:-1"]
)
def test_a_text_that_names_no_goal_is_refused_with_the_choices(text):
    with pytest.raises(ParameterError, match="full, partial:SHARE"):
        Goal.parse(text)


@pytest.mark.parametrize(
    ("text", "goal"),
    [("budget:5%", gv.Budget(share=0.05)), ("partial:95%", gv.Partial(share=0.95))],
)
def test_percent_of_a_goal_are_a_share(text, goal):
    assert goal == Goal.parse(text)


def test_a_share_of_a_goal_above_one_is_refused_as_it_was_typed():
    with pytest.raises(ParameterError, match=r"goal='budget:5' is outside .*budget:5%") as refused:
        Goal.parse("budget:5")
    assert "share=" not in str(refused.value)


@pytest.mark.parametrize("text", ["partial:0", "partial:1.5", "budget:2.0", "budget:0edges"])
def test_a_goal_out_of_range_is_refused(text):
    with pytest.raises(ParameterError):
        Goal.parse(text)


def test_a_budget_is_rounded_up_and_a_share_of_nodes_down():
    assert 6 == gv.Budget(share=0.05).budget(101)
    assert 5 == gv.Partial(share=0.95).allowed(100)
    assert 0 == gv.Partial(share=0.95).allowed(19)


def test_a_budget_needs_a_share_or_a_number_and_not_both():
    for wrong in ({}, {"share": 0.1, "edges": 3}):
        with pytest.raises(ParameterError, match="Give exactly one"):
            gv.Budget(**wrong)


@settings(deadline=None, max_examples=300)
@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n))))
def test_the_share_claimed_never_exceeds_what_was_reached(numbers):
    reached, n = numbers
    share = share_of(reached, n)
    allowed = math.floor((1 - share) * n + 1e-9)
    assert n - reached <= allowed <= n - reached + 1


def test_a_budget_that_helps_nobody_claims_nothing_and_says_so():
    hubs = [(0, i) for i in range(1, 4)] + [(4, i) for i in range(5, 9)] + [(0, 4), (1, 2), (5, 6)]
    graph = gv.Graph.from_edges([u for u, _ in hubs], [v for _, v in hubs], n=9)
    method = gv.StructuralAnonymity(k=9, goal=gv.Budget(edges=1), heuristic="search")
    with pytest.raises(InfeasibleError, match="Raise the budget"):
        method.anonymize(graph)


@pytest.mark.parametrize(
    "wrong",
    [
        {"measure": "degree", "distance": 2},
        {"measure": "vrq", "heuristic": "strip"},
        {"heuristic": "cut", "goal": "budget:0.05"},
        {"heuristic": "cut", "preserve_triangles": True},
        {"heuristic": "strip", "edits": "add"},
        {"heuristic": "target"},
        {"heuristic": "target", "edits": "any", "measure": "edge-count"},
        {"on_interrupt": "never"},
        {"k": 1},
    ],
)
def test_parameters_that_exclude_each_other_are_refused(wrong):
    with pytest.raises(ParameterError):
        gv.StructuralAnonymity.from_parameters(wrong)


def test_the_unprotected_are_listed_in_the_private_record_and_nobody_else(tmp_path):
    graph = gv.datasets.load("copenhagen-calls")
    release = gv.StructuralAnonymity(k=5, goal="budget:0.01").anonymize(graph, seed=1)
    measured = gv.measure(release.data, measure="count", k=5)
    linkage = dict(
        zip(
            release.private.linkage.released.tolist(),
            release.private.linkage.original.tolist(),
            strict=True,
        )
    )
    unprotected = {linkage[node] for node in measured.unprotected().tolist()}
    assert unprotected == set(release.private.unprotected)
    assert 1 - len(unprotected) / graph.n_nodes == pytest.approx(release.guarantee.share)
    assert release.verify(graph).ok
    folder = release.write(tmp_path / "out")
    assert list(release.private.unprotected) == list(gv.read_release(folder).private.unprotected)


def advice_of(**parameters):
    lattice = gv.Graph.from_networkx(nx.connected_watts_strogatz_graph(60, 6, 0.2, seed=2))
    method = gv.StructuralAnonymity(iterations=2000, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.GraphveilWarning)
        return method.anonymize(lattice, seed=1).private.warnings


def test_many_people_without_protection_are_said_in_plain_words():
    words = "not protected: the guarantee does not cover them"
    (text,) = [t for t in advice_of(k=10, goal="budget:1edges") if words in t]
    assert "of 60 people" in text
    assert [] == [t for t in advice_of(k=2, heuristic="cut") if words in t]


def test_clustering_that_is_gone_is_said_in_plain_words():
    (text,) = [t for t in advice_of(k=10, heuristic="cut") if "clustering (how often" in t]
    assert "to 0%" in text
    assert [] == [t for t in advice_of(k=2, goal="budget:1edges") if "clustering (how often" in t]


def test_a_budget_with_many_digits_is_rounded_down_and_says_so():
    with pytest.warns(gv.GraphveilWarning, match="rounded down to 5 significant digits: 0.12345"):
        budget = gv.Budget(share=0.1234567)
    assert 0.12345 == budget.share
    with pytest.warns(gv.GraphveilWarning, match=r"0\.3$"):
        assert 0.3 == gv.Budget(share=0.1 + 0.2).share
    with pytest.raises(ParameterError, match="more than 5 significant digits"):
        gv.Partial(share=0.1234567)


def test_properties_to_keep_are_named_one_by_one_or_all():
    method = gv.StructuralAnonymity(goal="budget:0.05", keep="paths,component")
    assert ("component", "paths") == method.keep
    assert "component,paths" == published_parameters(method)["keep"]
    assert "all" == str(gv.StructuralAnonymity(goal="budget:0.05", keep="all").keep)
    with pytest.raises(ParameterError, match="Use all, none, or some of component, paths"):
        gv.StructuralAnonymity(goal="budget:0.05", keep="component,path")


def test_a_budget_of_deletions_keeps_all_properties_unless_another_way_is_asked_for():
    usual = gv.StructuralAnonymity(goal="budget:0.05")
    assert PROPERTIES == usual.keeps
    assert "all" == published_parameters(usual)["keep"]
    none = gv.StructuralAnonymity(goal="budget:0.05", keep="none")
    assert ((), "none") == (none.keeps, published_parameters(none)["keep"])
    others = ({"goal": "full"}, {"edits": "any"}, {"measure": "vrq"}, {"phi": 5})
    for other in (*others, {"heuristic": "search"}, {"heuristic": "ua"}, {"spend_least": True}):
        method = gv.StructuralAnonymity(**{"goal": "budget:0.05"} | other)
        assert () == method.keeps
        assert "keep" not in published_parameters(method)


BOUNDS = (
    "clustering: relative error <= 1%",
    "largest-component: relative error <= 1%",
    "shortest-path: relative error <= 1%",
    "betweenness: overlap >= 0.97",
)


@pytest.mark.parametrize("until", [BOUNDS[:1], BOUNDS, ["clustering: relative error <= 0.01%"]])
def test_a_run_stops_before_a_bound_is_missed_and_says_what_it_reached(until):
    graph = gv.datasets.load("copenhagen-calls")
    method = gv.StructuralAnonymity(goal="budget:0.05", until=until, iterations=2_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = method.anonymize(graph, seed=1)
    asked = [read_bound(text) for text in until]
    names = [bound.question for bound in asked]
    measured = gv.evaluate_release(release, original=graph, metrics=names)
    for bound in asked:
        value = measured[bound.question, bound.part].value
        assert bound.holds(value)
        assert value == pytest.approx(release.cost[f"until {bound.what}"], abs=1e-12)
    assert "until" not in release.provenance.parameters  # it would bound the original's figures
    assert str(method.until) == release.for_owner().withheld["until"]
    assert release.cost["nodes_unprotected"] <= release.cost["nodes_unprotected_before"]
    assert release.verify(graph).ok


def test_a_bound_on_the_edges_kept_is_a_smaller_budget():
    graph = gv.datasets.load("copenhagen-calls")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        method = gv.StructuralAnonymity(goal="budget:0.05", until="kept >= 0.99", keep="none")
        cost = method.anonymize(graph, seed=1).cost
    assert 6 == cost["plain_edits"]  # of 621 edges
    assert 0.99 <= cost["until kept"] == 1 - cost["edits"] / 621
    assert cost["nodes_unprotected"] < cost["nodes_unprotected_before"]


def test_a_bound_that_the_input_misses_or_that_takes_too_long_is_refused(monkeypatch):
    graph = gv.datasets.load("copenhagen-calls")
    method = gv.StructuralAnonymity(goal="budget:0.05", until="clustering: released >= 0.2")
    with pytest.raises(InfeasibleError, match=r"the input itself misses .* it has 0\.1554"):
        method.anonymize(graph)
    monkeypatch.setattr("graphveil.methods.structural.utility.MOST_WORK", 300_000)
    method = gv.StructuralAnonymity(goal="budget:0.05", until="shortest-path: released <= 9")
    with pytest.raises(InfeasibleError, match="Bound clustering, largest-component or kept"):
        method.anonymize(graph)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clustering >= 0.9", "Bound one of kept, largest-component: released"),
        ("false <= 0.1", "bounds nothing that is measured here"),
        ("communities: released against original >= 0.9", "bounds nothing"),
        ("kept >= 0.9123456", "more than 5 significant digits"),
        ("kept > 0.9", "cannot read the bound"),
        ([], "0 bounds"),
        (["kept >= 0.9"] * 20, "at most 200 characters"),
    ],
)
def test_a_bound_on_what_is_not_measured_is_refused(text, said):
    with pytest.raises(ParameterError, match=said):
        Until.parse(text)


@pytest.mark.parametrize(
    "asked", [{"keep": "all"}, {"spend_least": True}, {"until": "kept >= 0.9"}]
)
@pytest.mark.parametrize(
    "other",
    [{"goal": "full"}, {"edits": "any"}, {"measure": "vrq"}, {"phi": 5}, {"heuristic": "ua"}],
)
def test_prices_are_refused_where_no_search_pays_them(asked, other):
    with pytest.raises(ParameterError, match=r"keep=all|spend_least|until=kept"):
        gv.StructuralAnonymity(**{"goal": "budget:0.05"} | asked | other)


def test_prices_and_the_fewest_edits_exclude_each_other():
    with pytest.raises(ParameterError, match="exclude each other"):
        gv.StructuralAnonymity(goal="budget:0.05", keep="all", spend_least=True)
    with pytest.raises(ParameterError, match=r"until=kept >= 0\.9 and spend_least exclude"):
        gv.StructuralAnonymity(goal="budget:0.05", until="kept >= 0.9", spend_least=True)


def test_an_epsilon_with_many_digits_is_rounded_down_and_says_so():
    with pytest.warns(gv.GraphveilWarning, match="epsilon=1.99999999 is published and was rounded"):
        method = gv.RandomizedResponse(epsilon=1.99999999)
    assert 1.9999 == method.epsilon
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 6.931 == gv.RandomizedResponse(epsilon=6.931).epsilon


def test_what_is_kept_stands_in_the_record_beside_the_search_without_prices():
    graph = gv.datasets.load("copenhagen-calls")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = gv.StructuralAnonymity(goal="budget:0.05", keep="all", iterations=20_000)
        release = asked.anonymize(graph, seed=1)
    cost = release.cost
    assert cost["edits"] < cost["plain_edits"]
    assert cost["plain_nodes_unprotected"] <= cost["nodes_unprotected"]
    assert 0.95 < cost["largest_component"] / cost["largest_component_before"] <= 1
    assert 0.8 < cost["top_betweenness_kept"] <= 1

from __future__ import annotations

import html
import json
import warnings
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

import graphveil as gv
from graphveil.cli.commands.advise import _command
from graphveil.core.bounds import read_bound
from graphveil.core.errors import DataError
from graphveil.core.randomness import Randomness
from graphveil.core.text import percent
from graphveil.data.kinds import as_released, released_kind
from graphveil.io.formats import TableOptions
from graphveil.measures import MEASURES
from graphveil.methods import METHODS
from graphveil.methods.noisy_cells.noisy import NoisyMethod
from graphveil.scale.run import CHUNK_ROWS
from graphveil.verbs.advise import trials, until
from graphveil.verbs.advise.trials import Choice, Trial, amount_of, sample_of
from graphveil.verbs.advise.until import AdviceUntil, Reached

RING = gv.Graph.from_edges(range(30), [(v + 1) % 30 for v in range(30)], n=30)


@pytest.fixture(scope="module", autouse=True)
def _time_without_end():
    """Let no trial be left out because a busy machine, or one that compiles, is late."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphveil.verbs.advise.advise.ALL_SECONDS", float("inf"))
        patch.setattr("graphveil.verbs.advise.advise.MEASURING_SECONDS", float("inf"))
        yield


@pytest.fixture(scope="module")
def small():
    """Return a network of which every method can make a release quickly."""
    ends = np.random.Generator(np.random.PCG64(4)).integers(0, 60, size=(150, 2))
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return gv.Graph.from_edges(ends[:, 0], ends[:, 1], n=60)


@pytest.fixture(scope="module")
def advice(small):
    return gv.advise(small)


def chosen(advice, method):
    return next(choice for choice in advice.choices if choice.method == method)


def test_the_risk_of_a_network_is_that_of_every_measure(small, advice):
    assert set(MEASURES) == {risk.measure for risk in advice.risks}
    for risk in advice.risks:
        measured = gv.measure(small, measure=risk.measure, k=5)
        assert measured.uniqueness == risk.share_unique
        assert measured.share_unprotected == risk.share_unprotected
        assert MEASURES[risk.measure].knows == risk.known
    shares = [risk.share_unique for risk in advice.risks]
    assert sorted(shares) == shares


def test_every_method_that_takes_the_data_stands_in_the_advice(advice):
    fits = [
        name
        for name, method in METHODS.items()
        if gv.Graph in method.accepts and released_kind(gv.Graph, method.accepts[0]) is gv.Graph
    ]
    assert {"k-degree", "structural", "asymmetric-response", "rename"} <= set(fits)
    assert fits == [c.method for c in advice.choices]
    rows = gv.Table.from_columns({"sex": ["f", "m"] * 8, "age": [30, 30, 40, 40] * 4})
    assert {c.method for c in gv.advise(rows).choices} >= {"smooth-k", "mondrian", "rename"}
    assert "randomized-response" not in {c.method for c in gv.advise(rows).choices}


def test_promise_and_limits_are_those_of_the_method(advice):
    choice = chosen(advice, "k-degree")
    assert gv.KDegree(k=5).guarantee.sentence == choice.promise
    assert gv.KDegree(k=5).guarantee.threat_model == choice.answers
    assert gv.KDegree(k=5).limits() == choice.leaves_open
    assert "gv.KDegree(k=5).anonymize(data)" == choice.call


def test_the_costs_are_those_of_releases(small, advice):
    for trial, k in zip(chosen(advice, "k-degree").trials, (2, 5, 10), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gv.GraphveilWarning)
            release = gv.KDegree(k=k).anonymize(small, seed=trials.SEED)
        assert {"k": k} == trial.parameters
        assert release.private.cost == trial.cost
        share = 100 * trial.cost["edges_added"] / release.data.n_edges
        assert f"{percent(share / 100)} of the published edges are false" in trial.words


def mixed_table():
    """Return rows of which some are equal, with one cell in ten suppressed from the start."""
    rng = np.random.Generator(np.random.PCG64(6))
    cells = rng.integers(0, 4, size=(40, 3)).astype(str)
    cells[rng.random(cells.shape) < 0.1] = "*"
    return gv.Table.from_columns(dict(zip("abc", cells.T.tolist(), strict=True)))


def users_by_items():
    rng = np.random.Generator(np.random.PCG64(7))
    return gv.Bipartite.from_scipy(rng.random((40, 8)) < 0.3).with_items("things")


def facts_of(data):
    """Return what the data says: a tie, an entry or a cell each, under the ids of its people."""
    if isinstance(data, gv.Graph):
        labels = data.labels().tolist()
        return {frozenset((labels[u], labels[v])) for u, v in data.edges().tolist()}
    people = data.labels().tolist()
    if isinstance(data, gv.Bipartite):
        named = data.feature_labels().tolist()
        pairs = zip(data.rows().tolist(), data.indices.tolist(), strict=True)
        return {(people[user], named[item]) for user, item in pairs}
    return {
        (people[row], column, str(data.categories[number][data.codes[row, number]]))
        for row in range(data.n_rows)
        for number, column in enumerate(data.columns)
        if data.codes[row, number] >= 0
    }


def under_old_ids(facts, linkage):
    """Return the facts of a release under the ids that its people had."""
    old = dict(zip(linkage.released.tolist(), linkage.original.tolist(), strict=True))
    return {
        frozenset(old[person] for person in fact)
        if isinstance(fact, frozenset)
        else (old[fact[0]], *fact[1:])
        for fact in facts
    }


@pytest.mark.parametrize("name", METHODS)
def test_the_share_that_is_kept_is_counted_on_the_release(name, small):
    method = METHODS[name]
    for data in (small, users_by_items(), mixed_table()):
        kinds = method.accepts
        if not isinstance(data, kinds) or (isinstance(data, gv.Graph) and kinds[0] is not gv.Graph):
            continue
        people = as_released(data, method.accepts[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gv.GraphveilWarning)
            release = method.from_parameters(method.card.example).anonymize(people, seed=3)
        before, after = facts_of(people), facts_of(release.data)
        kept = len(before & under_old_ids(after, release.private.linkage))
        words = trials._in_words(release.private.cost)
        assert f"{percent(kept / len(before))} of the" in words
        false = len(after) - kept
        assert (f"{percent(false / max(len(after), 1))} of the published" in words) == (false > 0)


def test_a_method_that_does_not_count_what_it_keeps_is_not_said_to_keep_all():
    assert trials.NOT_COUNTED == trials._in_words({"classes": 3})
    empty = {"edges_before": 0, "edges_deleted": 0, "edges_added": 4}
    assert "there are no edges" == trials._in_words(empty)


def test_levels_are_tried_as_k_is():
    choice = chosen(gv.advise(mixed_table()), "adaptive")
    assert ["2", "5", "10"] == [str(trial.parameters["levels"]) for trial in choice.trials]


def test_methods_with_noise_are_tried_on_whole_networks():
    noisy = [method for method in METHODS.values() if issubclass(method, NoisyMethod)]
    assert 8 == len(noisy)
    sizes = {method.card.trial_size for method in noisy if method is not gv.DegreeTriangleModel}
    assert {300_000} == sizes
    assert 50_000 == gv.DegreeTriangleModel.card.trial_size, "seconds of exchanges"
    big = gv.Graph.from_networkx(nx.gnm_random_graph(2000, 25_000, seed=1))
    choice = trials.choice_of(gv.AsymmetricResponse, big, until=np.inf)
    assert "all of the data" == choice.measured_on


def test_nothing_is_claimed_of_the_direction_in_which_a_part_differs():
    for data in (RING, users_by_items(), mixed_table()):
        words = sample_of(data, 10, Randomness(seed=1)).words
        assert "can differ" in words
        assert "lost" not in words


def test_what_is_expected_of_randomized_response_is_what_comes_on_average(small, advice):
    trial = chosen(advice, "randomized-response").trials[1]
    method = gv.RandomizedResponse(epsilon=4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gv.GraphveilWarning)
        costs = [method.anonymize(small).private.cost for _ in range(60)]
    for name in ("edges_kept", "edges_added"):
        values = [cost[name] for cost in costs]
        assert abs(np.mean(values) - trial.cost[name]) < 6 * np.std(values) / np.sqrt(60) + 1


def test_a_release_that_cannot_be_is_said_to_be_none():
    few = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    two, five, ten = chosen(gv.advise(few), "k-degree").trials
    assert "of the edges are kept" in two.words
    assert "k=5: not possible: k-degree with these parameters needs at least 5 nodes" in five.words
    assert {} == ten.cost


def test_what_is_not_possible_is_not_recommended():
    pair = gv.advise(gv.Graph.from_edges([0], [1], n=2))
    assert pair.answer.endswith("use k-degree, k=2: 100% of the edges are kept.")
    assert pair.recommended.call == "gv.KDegree(k=2).anonymize(data)"
    assert "graph: 2 people, 1 edge\n" in repr(pair)
    row = gv.advise(gv.Table.from_columns({"p": ["1"], "q": ["x"]}, person="row"))
    assert row.recommended is None
    assert row.answer.startswith("No method that was tried is possible on this data: smooth-k ")
    assert row.answer.endswith("data.")
    assert not any(trial["possible"] for trial in row.summary()["choices"][0]["trials"])


def test_where_the_time_is_up_nothing_more_is_tried(small, monkeypatch):
    monkeypatch.setattr("graphveil.verbs.advise.advise.ALL_SECONDS", -1.0)
    monkeypatch.setattr("graphveil.verbs.advise.advise.MEASURING_SECONDS", -1.0)
    advice = gv.advise(small)
    assert () == advice.risks
    assert all(trials.LATE in trial.words for trial in chosen(advice, "k-degree").trials)
    assert "are kept" in chosen(advice, "randomized-response").trials[0].words


def test_of_many_entries_is_said_how_they_are_worked_through_in_chunks(monkeypatch):
    likes = gv.Bipartite.from_pairs([f"u{i}" for i in range(60)], [f"i{i % 4}" for i in range(60)])
    assert "" == trials._when_large(gv.SmoothK, likes)
    monkeypatch.setattr(trials, "MANY_ENTRIES", 59)
    words = trials._when_large(gv.SmoothK, likes)
    assert words.startswith("60 entries. chunk_rows=20000 processes that many rows at a time; ")
    assert "--chunk-rows 20000 processes" in words.flags
    assert "" == trials._when_large(gv.Mondrian, likes)
    assert CHUNK_ROWS == trials.CHUNK_ROWS
    monkeypatch.setattr("graphveil.verbs.advise.advise.ALL_SECONDS", -1.0)
    lines = gv.advise(likes).lines()
    assert [f"  large data:  {words}"] * 2 == [line for line in lines if "large data" in line]


def test_the_same_data_gets_the_same_advice(small, advice):
    again = gv.advise(small)
    assert advice.summary() == again.summary()
    assert advice.lines() == again.lines()
    assert json.loads(json.dumps(advice.summary()))["kind"] == "graph"


def test_objects_of_other_libraries_get_advice_too():
    assert gv.advise(RING.to_networkx()).risks == gv.advise(RING).risks


def test_items_that_may_be_people_are_asked_for():
    with pytest.raises(DataError, match="items="):
        gv.advise(gv.Bipartite.from_pairs(["ann", "bob"], ["bob", "cyd"]))


def test_a_notebook_shows_risk_and_releases(advice):
    shown = advice._repr_html_()
    assert "gv.KDegree(k=5)" in shown
    assert "the number of a person's neighbors" in html.unescape(shown)


def test_a_sample_of_small_data_is_all_of_it():
    assert RING is sample_of(RING, 30, Randomness(seed=1)).data


def test_a_sample_of_a_network_is_connected_and_about_as_large_as_asked():
    big = gv.Graph.from_networkx(nx.connected_watts_strogatz_graph(2000, 6, 0.1, seed=3))
    sample = sample_of(big, 900, Randomness(seed=1)).data
    assert 900 <= sample.n_edges <= 900 + 12
    assert 1 == nx.number_connected_components(sample.to_networkx())
    parts = gv.Graph.from_edges(range(0, 200, 2), range(1, 200, 2), n=200)
    assert 40 == sample_of(parts, 40, Randomness(seed=1)).data.n_edges


def test_a_sample_of_rows_holds_rows_of_the_data_each_once():
    rng = np.random.Generator(np.random.PCG64(5))
    lists = gv.Bipartite.from_scipy(rng.random((300, 40)) < 0.1)
    sample = sample_of(lists, 200, Randomness(seed=1)).data
    assert 100 < amount_of(sample) < 300
    whole = [tuple(lists.row(user).tolist()) for user in range(lists.n_users)]
    for user in range(sample.n_users):
        assert tuple(sample.row(user).tolist()) in whole
    table = gv.Table.from_columns({"number": range(100), "sex": ["f", "m"] * 50})
    part = sample_of(table, 40, Randomness(seed=1)).data
    assert 20 == part.n_rows == np.unique(part.codes[:, 0]).size


def test_advice_shows_itself_in_a_screen():
    graph = gv.Graph.from_edges(range(40), [*range(1, 40), 0])
    lines = repr(gv.advise(graph)).splitlines()
    assert "graph: 40 people, 40 edges" == lines[0]
    named = [line.split()[0] for line in lines]
    assert {"k-degree", "structural"} <= set(named)
    assert len(lines) <= 24


def reached(method, kept, false, **more):
    given = {"parameters": {"k": 4, "seed": 7}, "call": "", "figures": {}, "missed": {}}
    about = {"measured_on": "your data", "runs": 2}
    return Reached(method=method, kept=kept, false=false, **given | about | more)


def test_what_is_lost_and_what_is_false_cost_alike():
    assert 0.25 == reached("k-degree", 0.75, None).cost
    assert 0.625 == reached("k-degree", 0.75, 0.375).cost  # .25 is lost, and .375 false
    assert 0.375 == reached("k-degree", 1.0, 0.375).cost
    assert 2.0 == reached("k-degree", None, 0.375).cost  # nothing that is known costs more
    assert "k=4, seed=7" == reached("k-degree", 1.0, 0.0).given


def test_bounds_are_met_if_none_is_missed_and_no_reason_is_left():
    met = reached("k-degree", 0.75, 0.0)
    missed = reached("structural", 0.75, 0.0, missed={"kept": 0.5})
    unknown = reached("profile", 0.75, 0.0, reason="too large")
    advice = AdviceUntil(kind="graph", bounds=("kept >= 0.6",), reached=(missed, met, unknown))
    assert (met,) == advice.met
    assert [False, True, False] == [one["met"] for one in advice.summary()["reached"]]


def test_a_table_of_numbers_gets_levels_that_its_command_has():
    columns = {"age": [20 + i % 40 for i in range(80)], "pay": [i % 7 for i in range(80)]}
    table = gv.Table.from_columns({**columns, "sex": ["f", "m"] * 40}, person="row")
    choice = trials.choice_of(gv.Generalize, table, until=float("inf"))
    assert {"k": 5, "levels": {"age": "auto", "pay": "auto"}} == choice.parameters
    assert choice.middle.cost
    command = _command("generalize", choice.parameters, None, "pay.csv", "pay", TableOptions())
    assert "generalize pay.csv --k 5 --levels age=auto --levels pay=auto --out" in command


@pytest.mark.parametrize("n", [1, 2, 3, 11])
def test_the_first_strength_that_holds_is_found_in_few_runs(n):
    search = SimpleNamespace(values=range(n))
    for start in range(n):
        for first in range(start, n + 1):
            asked = []

            def holds(index, first=first, asked=asked):
                asked.append(index)
                return index >= first

            assert min(first, n - 1) == until._Search._turning(search, start, holds)
            assert {*asked} <= {*range(start, n)}
            assert len(asked) <= 2 * (first - start + 1).bit_length()


@pytest.mark.parametrize(
    ("name", "bounds", "least"),
    [
        ("k", (), 0),
        ("k", ("largest class risk <= 0.25",), 2),  # classes of at least 4: the third k from 2 on
        ("k", ("largest class risk <= 0.25", "largest class risk <= 0.2"), 3),
        ("k", ("largest class risk <= 0.01",), 6),
        ("epsilon", ("largest class risk <= 0.25",), 0),
    ],
)
def test_the_weakest_strength_is_that_of_the_smallest_class(name, bounds, least):
    search = SimpleNamespace(
        name=name, values=range(2, 9), bounds=[read_bound(one) for one in bounds]
    )
    assert least == until._Search._least(search)


def test_under_a_bound_on_what_is_kept_the_last_strength_that_keeps_it_is_taken():
    bound = read_bound("kept >= 0.5")
    for kept in range(8):  # so many strengths keep the bound
        search = SimpleNamespace(values=range(7), bounds=[bound], _least=lambda: 0)
        search._is_private = until._Search._is_private
        search._holds = lambda index, _bounds, kept=kept: index < kept
        search._turning = lambda *how, search=search: until._Search._turning(search, *how)
        assert min(max(kept - 1, 0), 6) == until._Search._index(search)


def tried(*costs):
    about = dict.fromkeys(("method", "promise", "answers", "known", "leaves_open", "call"), "")
    costs = [
        {"edges_before": 8, "edges_deleted": lost, "edges_added": more} for lost, more in costs
    ]
    trials = tuple(Trial(parameters={}, cost=cost, words=f"{cost}") for cost in costs)
    return Choice(measured_on="", trials=trials, parameters={}, **about)


def test_a_choice_costs_what_its_middle_trial_loses_and_makes_up():
    three = tried((8, 0), (2, 6), (0, 0))
    assert three.trials[1] is three.middle
    assert 0.25 + 0.5 == three.lost
    two = tried((8, 0), (4, 0))
    assert (two.trials[1], 0.5) == (two.middle, two.lost)
    assert (None, 2.0) == (tried().middle, tried().lost)


def test_people_who_remain_unprotected_are_counted():
    cost = {"edges_before": 8, "edges_deleted": 2, "edges_added": 2}
    assert "75% of the edges are kept, 25% of the published edges are false" == trials._in_words(
        cost
    )
    assert trials._in_words({**cost, "nodes_unprotected": 1_000}).endswith(
        "are false, 1,000 people remain unprotected"
    )

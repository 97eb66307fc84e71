from __future__ import annotations

import itertools
import json
import math
import os
import warnings
from fractions import Fraction
from functools import cache

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import graphveil as gv
from graphveil.claims.guarantees import AnyGuarantee, EdgeDP, NodeDP, NotClaimed
from graphveil.claims.record import read_record
from graphveil.cli.app import call
from graphveil.core.errors import GraphveilWarning, InfeasibleError, ParameterError, UsageError
from graphveil.methods.noise.cells import channel
from graphveil.methods.registry import METHODS, method_named
from graphveil.verify.changes import COST
from graphveil.verify.kinds.networks import EDITS
from graphveil.verify.promises.noise.cell_flips import CELLS, CHANCES, THRESHOLDS
from graphveil.verify.promises.noise.differential_privacy import NOISE
from graphveil.verify.recount.noise.flip_probabilities import keeps_its_claim, response_thresholds

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FULL = 2**64
FALSE_ALARM = 1e-11
"""How often a test of drawn entropy may fail, by chance."""


def graph_of(cells, n=4):
    pairs = list(itertools.combinations(range(n), 2))
    chosen = [pairs[cell] for cell in cells]
    return gv.Graph.from_edges([u for u, _ in chosen], [v for _, v in chosen], n=n)


def users_of(rows):
    return gv.Bipartite.from_scipy(np.array(rows, dtype=np.int8), items="things")


def run(method, data, **how):
    """Return the release and every warning."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        release = method.anonymize(data, **how)
    return release, [str(w.message) for w in raised if issubclass(w.category, GraphveilWarning)]


@cache
def below_exp(epsilon):
    """Return a fraction below e^epsilon: Taylor's series, cut off."""
    terms = itertools.accumulate(range(1, 120), lambda t, k: t * epsilon / k, initial=Fraction(1))
    return sum(terms)


def weights(through, cells):
    """Return, for every input and output of so many cells, the probability times 2^(64 cells)."""
    chance = {1: (FULL - through.one, through.one), 0: (FULL - through.zero, through.zero)}
    states = list(itertools.product([0, 1], repeat=cells))
    law = {
        state: [math.prod(chance[x][y] for x, y in zip(state, out, strict=True)) for out in states]
        for state in states
    }
    for row in law.values():
        assert FULL**cells == sum(row)
    return law


def worst_ratio(law, neighbors):
    """Return the largest ratio of probabilities of one output over all pairs of neighbors."""
    return max(
        Fraction(mine, other)
        for state in law
        for near in neighbors(state)
        for mine, other in zip(law[state], law[near], strict=True)
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 1.0986, 5.0])
def test_over_all_graphs_and_outputs_no_edge_changes_a_probability_by_more_than_claimed(epsilon):
    law = weights(gv.RandomizedResponse(epsilon=epsilon).flips(graph_of([])), cells=6)

    def neighbors(state):
        return [(*state[:i], 1 - state[i], *state[i + 1 :]) for i in range(6)]

    worst = worst_ratio(law, neighbors)
    assert worst <= below_exp(Fraction(repr(epsilon)))
    assert float(worst) == pytest.approx(math.exp(epsilon), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 6.0])
def test_over_all_graphs_and_outputs_no_node_changes_a_probability_by_more_than_claimed(epsilon):
    flips = gv.RandomizedResponse(epsilon=epsilon, unit="node").flips(graph_of([]))
    law = weights(flips, cells=6)
    pairs = list(itertools.combinations(range(4), 2))

    def neighbors(state):
        for node in range(4):
            mine = [place for place, pair in enumerate(pairs) if node in pair]
            for values in itertools.product([0, 1], repeat=3):
                other = list(state)
                for place, value in zip(mine, values, strict=True):
                    other[place] = value
                yield tuple(other)

    worst = worst_ratio(law, neighbors)
    assert worst <= below_exp(Fraction(repr(epsilon)))
    assert float(worst) == pytest.approx(math.exp(epsilon), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_over_all_tables_no_row_changes_a_probability_by_more_than_claimed(epsilon):
    data = users_of([[1, 0, 1], [0, 0, 0]])
    law = weights(gv.RandomizedResponse(epsilon=epsilon, unit="node").flips(data), cells=6)

    def neighbors(state):
        for row in itertools.product([0, 1], repeat=3):
            yield (*row, *state[3:])
            yield (*state[:3], *row)

    worst = worst_ratio(law, neighbors)
    assert worst <= below_exp(Fraction(repr(epsilon)))
    assert float(worst) == pytest.approx(math.exp(epsilon), rel=1e-12)


def test_of_people_as_items_no_row_and_column_changes_a_probability_by_more_than_claimed():
    """Two people, four cells: all that is said of a person is three of them."""
    data = gv.Bipartite.from_scipy(np.zeros((2, 2), dtype=np.int8), items="people")
    law = weights(gv.RandomizedResponse(epsilon=2.0, unit="node").flips(data), cells=4)

    def neighbors(state):
        for a, b, c in itertools.product([0, 1], repeat=3):
            yield (a, b, c, state[3])
            yield (state[0], a, b, c)

    worst = worst_ratio(law, neighbors)
    assert worst <= below_exp(Fraction(2))
    assert float(worst) == pytest.approx(math.exp(2), rel=1e-12)


def test_verify_counts_row_and_column_of_people_as_items(tmp_path, monkeypatch):
    data = gv.Bipartite.from_scipy(np.eye(4, k=1, dtype=np.int8), items="people")
    method = gv.RandomizedResponse(epsilon=2.0, unit="node")
    assert [] == gv.verify_release(method.anonymize(data).write(tmp_path / "out")).failures()
    monkeypatch.setattr(
        "graphveil.methods.noisy_cells.randomized_response.cells_of_one", lambda _: 4
    )
    verdict = gv.verify_release(method.anonymize(data).write(tmp_path / "row-alone"))
    assert [THRESHOLDS, "method"] == [check.name for check in verdict.failures()]


def test_the_edge_unit_flips_with_the_papers_probability():
    """Algorithm 1 draws a share p = 2/(1 + e^eps) of the cells anew: half of it flips."""
    for data in (graph_of([0]), users_of([[1, 0], [0, 1]])):
        through = gv.RandomizedResponse(epsilon=2.0).flips(data)
        p = 2 / (1 + math.exp(2))
        assert [p / 2, 1 - p / 2] == pytest.approx([through.zero / FULL, through.one / FULL])


def test_the_node_unit_shares_epsilon_over_the_cells_of_one_person():
    for data, cells in ((graph_of([0], n=6), 5), (users_of([[1, 0, 0]] * 7), 3)):
        shared = gv.RandomizedResponse(epsilon=3.0, unit="node").flips(data)
        assert gv.RandomizedResponse(epsilon=3.0 / cells).flips(data).zero == pytest.approx(
            shared.zero
        )


@pytest.mark.parametrize("cells", [[], [0, 3, 4], range(6)])
def test_releases_of_a_graph_have_the_claimed_law_by_chi_square(cells):
    """Isomorphic outputs are counted together: the new ids are a uniform permutation."""
    method = gv.RandomizedResponse(epsilon=1.0)
    graph = graph_of(cells)
    law = weights(method.flips(graph), cells=6)
    states = list(law)

    def kind(edges):
        return tuple(sorted(np.bincount(np.ravel(edges), minlength=4).tolist()))

    pairs = np.array(list(itertools.combinations(range(4), 2)))
    kinds = [kind(pairs[np.array(state, dtype=bool)].astype(np.int64)) for state in states]
    row = law[tuple(int(cell in cells) for cell in range(6))]
    expected = dict.fromkeys(kinds, 0.0)
    for name, weight in zip(kinds, row, strict=True):
        expected[name] += float(Fraction(weight, FULL**6))
    runs, seen = 700, dict.fromkeys(expected, 0)
    for seed in range(runs):
        seen[kind(method.anonymize(graph, seed=seed).data.edges().astype(np.int64))] += 1
    chances = [runs * chance for chance in expected.values()]
    assert stats.chisquare(list(seen.values()), chances).pvalue > 1e-6


def test_a_run_claims_its_unit_and_epsilon_by_construction():
    for unit, promise in (("edge", EdgeDP), ("node", NodeDP)):
        release = gv.RandomizedResponse(epsilon=1.5, unit=unit).anonymize(graph_of([1]))
        assert promise(epsilon=1.5, collected=("people",)) == release.guarantee
        assert "by construction" == release.guarantee.check_word
        assert release.guarantee.why is None


def test_a_run_with_a_seed_claims_nothing_and_says_why(tmp_path):
    release = gv.RandomizedResponse(epsilon=1.5).anonymize(graph_of([1]), seed=0)
    assert NotClaimed(reasons=("repeatable",)) == release.guarantee
    folder = release.write(tmp_path / "out")
    claim = json.loads((folder / "release.json").read_text())["claim"]
    assert "not claimed" == claim["check"]
    assert "reproduce the run can remove the noise" in claim["why"]
    assert "This release carries no guarantee." == claim["sentence"]
    verdict = gv.verify_release(folder, original=graph_of([1]))
    assert ("not claimed", True, 0) == (verdict.word, verdict.ok, verdict.exit_code)
    assert verdict.lines()[0].startswith(
        "No guarantee is claimed; no other statement of the release was found false ("
    )


@pytest.mark.parametrize("guarantee", [EdgeDP(epsilon=0.1), NodeDP(epsilon=40.0)])
def test_a_guarantee_says_its_exact_epsilon_and_survives_json(guarantee):
    assert f"e^{guarantee.epsilon:g} " in guarantee.sentence
    assert "count as public" in guarantee.threat_model
    assert guarantee == msgspec.json.decode(msgspec.json.encode(guarantee), type=AnyGuarantee)


def test_an_epsilon_is_not_rounded_in_words():
    assert "e^1.0000004 " in EdgeDP(epsilon=1.0000004).sentence


@pytest.mark.parametrize("wrong", [0.0, -1.0, 40.5, float("nan"), float("inf")])
def test_an_epsilon_out_of_range_is_refused_in_parameters_and_guarantees(wrong):
    for make in (gv.RandomizedResponse, EdgeDP, NodeDP):
        with pytest.raises(ParameterError, match="epsilon="):
            make(epsilon=wrong)


@pytest.mark.parametrize("wrong", [5e-324, 1e-300, 0.00009])
@pytest.mark.parametrize("name", [name for name in METHODS if method_named(name).card.spends])
def test_every_method_with_epsilon_refuses_one_that_publishes_noise_alone(name, wrong):
    method = method_named(name)
    with pytest.raises(ParameterError, match="epsilon="):
        method.from_parameters({**method.card.example, "epsilon": wrong})


def test_the_smallest_epsilon_has_limits_and_is_believed(likes, tmp_path):
    release = gv.RandomizedResponse(epsilon=0.0001).anonymize(likes)
    assert "were not attacked" not in release.provenance.limits
    folder = release.write(tmp_path / "out")
    assert not gv.verify_release(folder, original=likes).failures()


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 12.5, 40.0])
@pytest.mark.parametrize(("step", "edges"), [(-1, 1), (0, 0)])
def test_the_edge_is_kept_exactly_below_its_threshold(epsilon, step, edges, monkeypatch):
    """The words are the operating system's; of two that one float stands for, one keeps it."""
    method, graph = gv.RandomizedResponse(epsilon=epsilon), graph_of([0], n=2)
    words = [method.flips(graph).one + step, 0, 0]
    monkeypatch.setattr(
        os,
        "urandom",
        lambda size: b"".join(words.pop(0).to_bytes(8, "little") for _ in range(size // 8)),
    )
    assert edges == method.anonymize(graph).data.n_edges


def test_too_many_false_edges_are_refused_before_anything_is_drawn(monkeypatch):
    graph = graph_of([], n=200)
    monkeypatch.setattr(os, "urandom", lambda _: pytest.fail("something was drawn"))
    with pytest.raises(
        InfeasibleError, match=r"max_edges=1,000\b.*epsilon=2\.9392 or more"
    ) as caught:
        gv.RandomizedResponse(epsilon=1.0, max_edges=1000).anonymize(graph)
    assert "\n" not in str(caught.value)
    assert f"{round(19900 / (1 + math.e)):,} false edges" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "unit"),
    [
        (graph_of([], n=300), "edge"),
        (graph_of([], n=90), "node"),
        (users_of([[0] * 9] * 400), "node"),
    ],
)
def test_the_epsilon_that_the_error_names_fits_and_a_little_less_does_not(data, unit):
    cells = data.size * (data.size - 1) // 2 if isinstance(data, gv.Graph) else 400 * 9
    most = 9 * cells // 20
    with pytest.raises(InfeasibleError) as caught:
        gv.RandomizedResponse(epsilon=0.01, unit=unit, max_edges=most).check(data)
    named = float(str(caught.value).split("epsilon=")[1].split(" ")[0])
    gv.RandomizedResponse(epsilon=named, unit=unit, max_edges=most).check(data)
    less = float(f"{named - 2e-3:.4g}")
    with pytest.raises(InfeasibleError):
        gv.RandomizedResponse(epsilon=less, unit=unit, max_edges=most).check(data)


def test_where_no_epsilon_fits_the_error_says_so():
    with pytest.raises(
        InfeasibleError, match=r"No epsilon up to 40 is large enough\. Raise max_edges"
    ):
        gv.RandomizedResponse(epsilon=1.0, unit="node", max_edges=1000).check(graph_of([], n=99))


def without_estimates(texts):
    """Return the warnings but the one that reads what was published, beside public numbers."""
    return [text for text in texts if "false ones hide them too little" not in text]


def test_errors_and_warnings_depend_on_public_numbers_only():
    """Everything said in public is the same for all data of one size: empty, sparse or full."""
    many = [graph_of(cells, n=100) for cells in ([], range(50), range(4950))]
    strict, method = (gv.RandomizedResponse(epsilon=1.0, max_edges=most) for most in (1000, 10**6))
    errors = set()
    for data in many:
        with pytest.raises(InfeasibleError) as caught:
            strict.anonymize(data)
        errors.add(str(caught.value))
    assert 1 == len(errors)
    assert 1 == len({tuple(without_estimates(run(method, data)[1])) for data in many})
    likes = [users_of(np.full((20, 5), value)) for value in (0, 1)]
    assert 1 == len({tuple(run(method, data)[1]) for data in likes})


def test_the_warnings_say_what_is_public_and_how_much_is_noise():
    _, texts = run(gv.RandomizedResponse(epsilon=2.0), graph_of([], n=30))
    assert any("list of nodes counts as public" in text for text in texts)
    assert any("up to 52 of the released edges are expected to be false" in text for text in texts)
    _, texts = run(gv.RandomizedResponse(epsilon=2.0), users_of([[1, 0]]))
    assert any(
        "lists of users and items, with their names, count as public" in text for text in texts
    )


def test_names_of_features_stay_and_ids_of_users_go():
    likes = gv.Bipartite.from_pairs(
        ["ann", "bob"], ["tea", "rye"], users=["ann", "bob", "cyd"], features=["oat", "rye", "tea"]
    )
    released = gv.RandomizedResponse(epsilon=40.0).anonymize(likes).data
    assert [0, 1, 2] == released.labels().tolist()
    assert ["rye", "tea"] == released.feature_labels().tolist()
    assert [0, 1, 1] == sorted(np.diff(released.indptr).tolist())


@pytest.mark.parametrize(
    "data",
    [
        gv.Graph.from_edges([], [], n=1),
        gv.Graph.from_edges([], [], n=2),
        gv.Bipartite.from_pairs([], [], users=["ann", "bob"]),
        users_of([[1]]),
    ],
    ids=["one node", "two nodes", "no features", "one cell"],
)
@pytest.mark.parametrize("unit", ["edge", "node"])
def test_the_smallest_data_give_releases_that_verify(data, unit):
    release = gv.RandomizedResponse(epsilon=1.0, unit=unit).anonymize(data)
    assert data.size == release.data.size
    assert [] == release.verify(data).failures()


def test_a_table_is_refused():
    with pytest.raises(UsageError, match="Graph or a Bipartite, not a Table"):
        gv.RandomizedResponse(epsilon=1.0).anonymize(gv.Table.from_columns({"sex": ["f"]}))


def stochastic(seed, n=1024, block=64):
    """Return the paper's planted blocks: .8 inside one's own, .01 elsewhere."""
    rng = np.random.Generator(np.random.PCG64(seed))
    own = np.kron(np.eye(n // block), np.ones((block, block))) > 0
    return users_of(rng.random((n, n)) < np.where(own, 0.8, 0.01))


@pytest.mark.parametrize("epsilon", [2.0, 5.0, 8.0])
def test_what_is_kept_is_as_much_as_the_formula_says(epsilon):
    """Expected: a share q = 1/(1 + e^eps) of the entries lost, q of the empty cells filled."""
    data = stochastic(1)
    q, m, empty = 1 / (1 + math.exp(epsilon)), data.n_entries, 1024**2 - data.n_entries
    cost = gv.RandomizedResponse(epsilon=epsilon).anonymize(data, seed=1).private.cost
    assert m == cost["entries_before"]
    assert abs(cost["entries_kept"] - m * (1 - q)) < 6 * math.sqrt(m * q)
    assert abs(cost["entries_created"] - empty * q) < 6 * math.sqrt(empty * q)
    expected = m * (1 - q) / (m + empty * q)
    assert expected == pytest.approx(cost["jaccard"], abs=0.01)


def test_similarity_stays_below_the_bound_in_the_proof_of_the_papers_theorem():
    """The first line of the proof of Theorem 4.1, which holds with probability 1 - delta."""
    epsilon, delta, side, density = 4.0, 0.05, 400, 0.02
    rng = np.random.Generator(np.random.PCG64(2))
    data = users_of(rng.random((side, side)) < density)
    cells, d = side**2, data.n_entries / side**2
    half, c = 1 / (1 + math.exp(epsilon)), math.log(2 / delta) / 2
    above = (1 - half) * d + math.sqrt(d * c / cells)
    bound = above / (d + half * (1 - d) - math.sqrt((1 - d) * c / cells))
    method = gv.RandomizedResponse(epsilon=epsilon)
    found = [method.anonymize(data, seed=seed).private.cost["jaccard"] for seed in range(100)]
    assert 1 - delta <= np.mean([value <= bound for value in found])


def test_a_measured_epsilon_does_not_exceed_the_claim():
    """Whether the one edge of two nodes is published, over releases with and without it."""
    method, runs = gv.RandomizedResponse(epsilon=1.0), 600
    with_edge, without = graph_of([0], n=2), graph_of([], n=2)
    seen = [
        sum(method.anonymize(g).data.n_edges for _ in range(runs)) for g in (with_edge, without)
    ]
    for hits, others in (seen, [runs - count for count in seen][::-1]):
        low = stats.beta.ppf(FALSE_ALARM, hits, runs - hits + 1)
        high = stats.beta.isf(FALSE_ALARM, others + 1, runs - others)
        assert math.log(low / high) <= 1.0
        assert math.log(hits / others) == pytest.approx(1.0, abs=0.4)


@pytest.fixture
def likes():
    """Return users and items, half of the cells filled."""
    rng = np.random.Generator(np.random.PCG64(4))
    return users_of(rng.random((60, 50)) < 0.5)


def outcome(verdict, name):
    return next(item.outcome for item in verdict.checks if item.name == name)


@pytest.mark.parametrize("kind", ["graph", "users"])
def test_verify_holds_what_files_show_and_leaves_the_promise_to_construction(kind, likes, tmp_path):
    data = likes if kind == "users" else graph_of(range(0, 435, 3), n=30)
    folder = gv.RandomizedResponse(epsilon=2.0).anonymize(data).write(tmp_path / "out")
    verdict = gv.verify_release(folder, original=data)
    expected = ("by construction", [], kind == "graph")
    assert expected == (verdict.word, verdict.failures(), verdict.complete)
    recounted = COST if kind == "users" else EDITS
    names = (NOISE, THRESHOLDS, CELLS, CHANCES, recounted)
    assert {"holds"} == {outcome(verdict, name) for name in names}
    lines = verdict.lines()
    assert lines[0].startswith("No check fails (")
    assert "No file can show whether the guarantee holds" in lines[0]
    assert "recomputed" not in "\n".join(lines)
    alone = gv.verify_release(folder)
    assert alone.ok
    assert {"not checked"} == {outcome(alone, name) for name in (CHANCES, recounted)}
    assert {"holds"} == {outcome(alone, name) for name in (NOISE, THRESHOLDS, CELLS)}


def reseal(folder, change):
    """Change the manifest as a careful attacker does, and the owner's record with it."""
    from graphveil.claims.manifest import decode_manifest, encode  # noqa: PLC0415  here alone

    path = folder / "release.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_bytes(encode(decode_manifest(json.dumps(manifest).encode(), where=path).sealed()))


def test_a_claim_put_on_a_repeatable_run_is_caught_by_the_record(likes, tmp_path):
    folder = gv.RandomizedResponse(epsilon=2.0).anonymize(likes, seed=3).write(tmp_path / "out")
    promise = EdgeDP(epsilon=2.0)

    def change(manifest):
        claim = manifest["claim"]
        claim["guarantee"] = msgspec.to_builtins(promise)
        claim |= {"sentence": promise.sentence, "threat_model": promise.threat_model}
        claim |= {"check": "by construction", "why": None}

    reseal(folder, change)
    verdict = gv.verify_release(folder, original=likes)
    assert "fails" == outcome(verdict, NOISE)
    assert 3 == read_record(folder).seed


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", 1.0), ("unit", "node"), ("unit", "both"), ("max_edges", "many")]
)
def test_parameters_that_do_not_lead_to_the_claim_are_caught(likes, tmp_path, name, value):
    folder = gv.RandomizedResponse(epsilon=2.0).anonymize(likes).write(tmp_path / "out")
    reseal(folder, lambda manifest: manifest["method"]["parameters"].update({name: value}))
    failures = {item.name for item in gv.verify_release(folder).failures()}
    assert "method" in failures
    assert {"claim and parameters", "method"} >= failures - {"owner's record"}


def with_less_noise(likes, folder, stated):
    """Return a release with hardly any noise whose manifest claims epsilon=1, sealed anew."""
    gv.RandomizedResponse(epsilon=20.0).anonymize(likes).write(folder)
    promise = EdgeDP(epsilon=1.0)

    def change(manifest):
        manifest["method"]["parameters"]["epsilon"] = 1.0
        manifest["claim"]["guarantee"]["epsilon"] = 1.0
        manifest["claim"]["sentence"] = promise.sentence
        manifest["claim"]["conditions"][0] |= stated

    reseal(folder, change)
    return gv.verify_release(folder, original=likes)


def test_a_release_with_less_noise_than_stated_is_caught(likes, tmp_path):
    honest = gv.RandomizedResponse(epsilon=1.0).flips(likes)
    stated = {"epsilon_cells": "1", "T0": str(honest.zero), "T1": str(honest.one)}
    verdict = with_less_noise(likes, tmp_path / "out", stated)
    assert "holds" == outcome(verdict, THRESHOLDS)
    assert "fails" == outcome(verdict, CHANCES)


@pytest.mark.parametrize(
    "stated",
    [{}, {"epsilon_cells": "1"}, {"noisy_count": "1500"}, {"noisy_count": "0"}],
)
def test_chances_that_do_not_follow_from_what_is_stated_are_caught(likes, tmp_path, stated):
    verdict = with_less_noise(likes, tmp_path / "out", stated)
    assert "fails" == outcome(verdict, THRESHOLDS)


@pytest.mark.parametrize(("part", "change"), [("T0", 2), ("T0", -2), ("T1", 2), ("T1", -2)])
def test_chances_that_are_off_by_two_in_2_to_the_64_are_caught(likes, tmp_path, part, change):
    folder = gv.RandomizedResponse(epsilon=2.0).anonymize(likes).write(tmp_path / "out")

    def off(manifest):
        flips = manifest["claim"]["conditions"][0]
        flips[part] = str(int(flips[part]) + change)

    reseal(folder, off)
    assert "fails" == outcome(gv.verify_release(folder), THRESHOLDS)


@pytest.mark.parametrize("kind", ["graph", "users"])
def test_a_number_of_cells_that_the_release_cannot_have_is_caught(kind, likes, tmp_path):
    data = likes if kind == "users" else graph_of(range(0, 435, 3), n=30)
    folder = gv.RandomizedResponse(epsilon=2.0).anonymize(data).write(tmp_path / "out")

    def more(manifest):
        flips = manifest["claim"]["conditions"][0]
        flips["cells"] = str(int(flips["cells"]) + 1)

    reseal(folder, more)
    assert "fails" == outcome(gv.verify_release(folder), CELLS)


def test_a_manifest_without_counts_is_judged_and_stops_nothing(likes, tmp_path):
    for unit, data in (("edge", likes), ("node", graph_of(range(0, 435, 3), n=30))):
        method = gv.RandomizedResponse(epsilon=2.0, unit=unit)
        folder = method.anonymize(data).write(tmp_path / unit)
        reseal(folder, lambda manifest: manifest["data"]["counts"].clear())
        assert "fails" == outcome(gv.verify_release(folder), "counts")


def test_a_manifest_from_which_the_chances_were_dropped_is_not_what_the_method_writes(
    likes, tmp_path
):
    folder = gv.RandomizedResponse(epsilon=2.0).anonymize(likes).write(tmp_path / "out")
    reseal(folder, lambda manifest: manifest["claim"]["conditions"].clear())
    failures = {item.name: item.detail for item in gv.verify_release(folder).failures()}
    assert "the manifest states no RandomizedCells" in failures["method"]


@given(
    prior=st.fractions(min_value=Fraction(1, 10**6), max_value=1 - Fraction(1, 10**6)),
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=40),
)
def test_the_checkers_chances_are_those_of_the_channel(prior, epsilon):
    zero, one = channel(prior, epsilon)
    expected = response_thresholds(prior, epsilon)
    assert abs(zero - expected[0]) <= 1
    assert abs(one - expected[1]) <= 1
    assert keeps_its_claim(zero, one, epsilon)


def test_the_record_of_flips_is_compared_with_the_files(likes, tmp_path):
    folder = gv.RandomizedResponse(epsilon=2.0).anonymize(likes).write(tmp_path / "out")
    path = tmp_path / "out.private" / "record.json"
    record = json.loads(path.read_text())
    record["cost"]["entries_kept"] += 1
    path.write_text(json.dumps(record))
    assert "fails" == outcome(gv.verify_release(folder, original=likes), COST)


def run_command(*tokens):
    return call([str(token) for token in tokens])


def test_the_command_reads_the_kind_that_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likes.csv").write_text("user,item\nann,tea\nann,rye\nbob,tea\n")
    start = ("anonymize", "randomized-response", "likes.csv", "--epsilon", 4)
    for kind in ("graph", "bipartite"):
        assert 0 == run_command(*start, "--kind", kind, "--out", kind)
        assert kind == json.loads((tmp_path / kind / "release.json").read_text())["data"]["kind"]
        assert 0 == run_command("verify", kind, "--original", "likes.csv")
        shown = capsys.readouterr()
        assert "Not covered: The numbers of people and items" in shown.out
        said = " ".join(shown.out.split())
        assert "No check fails (" in said
        assert "No file can show whether the guarantee holds: it depends on how" in said
        assert "not checked" not in shown.out


def test_a_flag_of_another_kind_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likes.csv").write_text("user,item\nann,tea\n")
    start = ("anonymize", "randomized-response", "likes.csv", "--epsilon", 4, "--out", "out")
    with pytest.raises(UsageError, match="--directed does not apply to a Bipartite"):
        run_command(*start, "--kind", "bipartite", "--directed", "symmetrize")
    assert ["likes.csv"] == [path.name for path in tmp_path.iterdir()]


def test_the_owner_is_told_that_an_answer_is_two_entries():
    answers = gv.Table.from_columns({"sex": ["f", "m", "f"], "ill": ["no", "yes", "no"]})
    texts = run(gv.RandomizedResponse(epsilon=1.0), answers.one_hot())[1]
    assert any("epsilon applies to one value, and each entry gets half of it" in t for t in texts)
    lists = gv.Bipartite.from_lists([["tea"], ["rye", "tea"], []], items="things")
    texts = run(gv.RandomizedResponse(epsilon=1.0), lists)[1]
    assert not any("value" in text for text in texts)


def test_the_record_says_who_is_listed_by_one_entry_alone():
    lists = gv.Bipartite.from_pairs(["ann", "bob", "cyd", "cyd"], ["tea", "tea", "tea", "hivtest"])
    release, texts = run(gv.RandomizedResponse(epsilon=1.0), lists)
    cost = release.private.cost
    assert (2, 1) == (cost["users_with_one_entry"], cost["items_with_one_entry"])
    assert any("the private record says how many there are" in text for text in texts)
    path = gv.Graph.from_edges([0, 1], [1, 2])
    assert (
        2 == gv.AsymmetricResponse(epsilon=1.0).anonymize(path).private.cost["nodes_with_one_edge"]
    )


def test_an_epsilon_of_a_person_is_not_halved_for_values_of_columns():
    towns = ["town=x", "town=y", "town=z"]
    answers = gv.Bipartite.from_pairs(["ann", "bob", "cyd"], towns, items="values")
    release, texts = run(gv.RandomizedResponse(epsilon=2.0, unit="node"), answers)
    assert "2/3" == next(one.epsilon_cells for one in release.conditions if hasattr(one, "T0"))
    assert [] == [text for text in texts if "half of it" in text]

"""Bounds: what a line says, what can be bounded, and the strength that keeps them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.bounds import Bound, NoPartError, check_bound, read_bound, smallest_class
from graphveil.core.errors import ParameterError
from graphveil.verbs.advise import until as searching
from thorough import in_fuzz_alone

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

NAMES = st.sampled_from(["kept", "false", "largest class risk", "clustering", "candidate-set"])
PARTS = st.sampled_from(["", "relative error", "degree, right guess", "Kolmogorov-Smirnov"])


@given(NAMES, PARTS, st.sampled_from(["<=", ">="]), st.integers(0, 10_000))
def test_a_bound_is_read_as_it_is_printed(question, part, relation, number):
    bound = Bound(question=question, part=part, relation=relation, value=number / 1000)
    assert bound == read_bound(str(bound))


@given(st.floats(0, 100), st.floats(0, 100))
def test_a_figure_holds_or_is_missed_by_something(value, figure):
    for relation in ("<=", ">="):
        bound = Bound(question="kept", relation=relation, value=value)
        assert bound.holds(figure) == (bound.missed_by(figure) == 0)


@given(st.text(max_size=40))
def test_no_text_is_more_than_refused(text):
    try:
        bound = read_bound(text)
    except ParameterError:
        return
    assert bound == read_bound(str(bound))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kept > 0.9", "cannot read the bound"),
        ("kept = 0.9", "cannot read the bound"),
        ("kept >=", "cannot read the bound"),
        ("kept >= nan", "cannot read the bound"),
        ("kept >= 1e9999", "cannot read the bound"),
        ("", "cannot read the bound"),
    ],
)
def test_a_line_that_says_no_bound_is_refused(text, said):
    with pytest.raises(ParameterError, match=said):
        read_bound(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clusterin: relative error <= 1", "Did you mean clustering"),
        ("keeps >= 0.9", "Did you mean kept"),
        ("kept: share >= 0.1", "has no part"),
        ("largest class risk >= 0.1", "is not a bound on a risk"),
        ("kept >= 90", "kept is a share. Use 0.9 or 90%"),
        ("false <= 5", "false is a share. Use 0.05 or 5%"),
        ("largest class risk <= 9", "largest class risk is a share. Use 0.09 or 9%"),
        ("largest class risk <= 0", "is not a bound on a risk"),
        ("cells-shown: all >= 0.1", "'cells-shown' is not measured"),
    ],
)
def test_what_nothing_measures_is_refused_with_what_can_be_bounded(text, said):
    with pytest.raises(ParameterError, match=said):
        check_bound(read_bound(text), ["clustering"], ["candidate-set"])


def test_percent_are_shares_and_a_risk_is_one_of_k():
    assert 0.9 == read_bound("kept >= 90%").value
    assert 0.007 == read_bound("false <= 0.7%").value
    risks = {0.09: 12, 0.1: 10, 1: 1, 0.34: 3}
    for risk, k in risks.items():
        assert k == smallest_class(read_bound(f"largest class risk <= {risk}"))


@pytest.fixture(scope="module")
def calls():
    return gv.datasets.load("copenhagen-calls")


def test_a_risk_alone_gives_k_and_only_methods_with_classes_meet_it(calls):
    advice = gv.advise(calls, until=["largest class risk <= 0.09"])
    assert {"k-degree", "structural", "super-nodes"} == {one.method for one in advice.met}
    assert {12} == {one.parameters["k"] for one in advice.met}
    assert {searching.NO_CLASS} == {one.reason for one in advice.reached if not one.met}


@in_fuzz_alone
@pytest.mark.thorough
def test_the_strength_holds_again_and_the_next_one_does_not(calls):
    advice = gv.advise(calls, until=["kept >= 0.97"])
    best = next(one for one in advice.met if one.method == "k-degree")

    def kept(k, seed):
        cost = gv.KDegree(k=k).anonymize(calls, seed=seed).cost
        return 1 - cost["edges_deleted"] / cost["edges_before"]

    k = best.parameters["k"]
    assert all(kept(k, seed) >= 0.97 for seed in (11, 12, 13))
    assert any(kept(k + 1, seed) < 0.97 for seed in (1, 2))
    assert best.runs <= searching.MOST_RUNS


@in_fuzz_alone
@pytest.mark.thorough
def test_bounds_on_both_sides_meet_in_the_weakest_strength_that_is_private_enough(calls):
    bounds = ["candidate-set: degree, right guess <= 0.01", "kept >= 0.8"]
    advice = gv.advise(calls, until=bounds)
    best = next(one for one in advice.reached if one.method == "k-degree")
    assert best.met
    assert best.figures["candidate-set: degree, right guess"] <= 0.01
    assert best.parameters["k"] > 5


def test_what_cannot_be_met_says_so_first_and_by_how_much(calls):
    advice = gv.advise(calls, until=["largest class risk <= 0.01", "kept >= 0.99"])
    assert () == advice.met
    assert advice.answer.startswith(
        "No method meets all bounds: largest class risk <= 0.01 and kept >= 0.99"
    )
    first = advice.reached[0]
    assert set(first.missed) == {"kept >= 0.99"}
    assert first.missed["kept >= 0.99"] > 0


def test_nothing_is_met_that_was_not_measured(calls, monkeypatch):
    monkeypatch.setattr(searching, "MOST_RUNS", 0)
    advice = gv.advise(calls, until=["kept >= 0.1"])
    assert () == advice.met
    assert {searching.TIME_UP} == {one.reason for one in advice.reached}


def test_a_part_that_there_is_not_names_those_that_there_are(calls):
    with pytest.raises(NoPartError, match="Use one of: original, released, absolute difference"):
        gv.advise(calls, until=["clustering: share <= 3"])


def test_a_bare_name_is_that_of_the_only_part_or_names_the_parts(calls):
    rows = {"sex": list("ffmm") * 3, "town": list("xxxy") * 3}
    table = gv.Table.from_columns(rows, person="row")
    advice = gv.advise(table, until=["cells-shown >= 0.5"])
    assert advice.met
    assert advice.bounds == ("cells-shown >= 0.5",)
    several = r"several parts: original, released.*for example 'clustering: original <= 0.1'"
    with pytest.raises(NoPartError, match=several):
        gv.advise(calls, until=["clustering <= 0.1"])
    swept = gv.sweep({"suppress-k": {"k": [2]}}, table, metrics=["cells-shown"], attacks=[], jobs=1)
    assert swept.meeting(["cells-shown >= 0"]) == swept.meeting(["cells-shown: all >= 0"]) != []


def test_users_by_features_are_searched_too():
    advice = gv.advise(gv.datasets.load("spect-heart"), until=["largest class risk <= 0.2"])
    assert {"smooth-k", "suppress-k", "mondrian"} == {one.method for one in advice.met}
    assert {5} == {one.parameters["k"] for one in advice.met}

"""What of a manifest nobody can compute again has few digits, so that little fits into it."""

from __future__ import annotations

import json

import pytest

import graphveil as gv
from graphveil.claims.manifest import decode_manifest, encode
from graphveil.core.errors import ParameterError
from graphveil.core.parameters import flat_parameters, options_of
from graphveil.core.stated_parameters import private_parameters, published_parameters
from graphveil.release import read_release
from graphveil.verify.parameters import PARAMETERS

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "an epsilon of seventeen digits",
        "means": "The digits of a parameter hold a message that nobody can check.",
        "file": "src/graphveil/verify/parameters.py",
        "old": '(isinstance(value, float) and float(f"{value:.{_DIGITS}g}") == value)',
        "new": "isinstance(value, float)",
        "verify": ["tests/privacy/test_free_numbers.py::test_digits_of_a_forged_parameter_fail"],
    },
    {
        "name": "weights of forty digits",
        "means": "The weights of a prior hold the linkage.",
        "file": "src/graphveil/claims/conditions.py",
        "old": '_ROUND = re.compile(r"0|[1-9][0-9]{0,2}0{0,25}")',
        "new": '_ROUND = re.compile(r"0|[1-9][0-9]{0,39}")',
        "tests": ["tests/unit/test_prior_responses.py"],
        "methods": ["degree-prior-response", "mixing-prior-response"],
    },
]

COUNTED_AGAIN = {"k", "distance", "least_level"}
"""Whole numbers that the released data must keep, so that they cannot be large."""

NOISE = {"threshold_noise", "share_count", "suppress", "phi", "may_narrow"}
"""Real numbers beside epsilons that bear on what is published: of five digits."""


@pytest.mark.parametrize("method", gv.METHODS.values(), ids=list(gv.METHODS))
def test_published_numbers_are_counted_again_or_have_five_digits(method):
    private = private_parameters(method)
    kinds = {
        item.name: set(options_of(item.kind)) & {int, float}
        for item in flat_parameters(method)
        if item.name not in private
    }
    whole = {name for name, kind in kinds.items() if int in kind}
    real = {name for name, kind in kinds.items() if float in kind}
    assert whole <= COUNTED_AGAIN
    assert {name for name in real if not name.startswith("epsilon")} <= NOISE
    for name in real:
        value = 3.123456 if name in {"epsilon", "phi"} else 0.123456
        rounded = float(f"{value:.5g}")
        known = {"known": "sex"} if name in {"suppress", "may_narrow"} else {}
        known |= {"attach": "zip"} if name == "may_narrow" else {}
        given = dict(method.card.example) | known | {name: value}
        if name.startswith("epsilon"):
            with pytest.warns(gv.GraphveilWarning, match=rf"{name}={value} is published and was"):
                less = method.from_parameters(given).parameters()[name]
            assert less == {3.123456: 3.1234, 0.123456: 0.12345}[value]
        else:
            with pytest.raises(
                ParameterError, match=rf"{name}={value} is published and has more than 5"
            ):
                method.from_parameters(given)
        assert rounded == method.from_parameters(given | {name: rounded}).parameters()[name]


def test_a_share_of_a_goal_has_five_digits():
    with pytest.raises(ParameterError, match=r"share=0\.123456 is published and has more than 5"):
        gv.METHODS["structural"](k=2, goal="partial:0.123456")
    with pytest.warns(gv.GraphveilWarning, match=r"0\.123456 is published and was rounded down"):
        method = gv.METHODS["structural"](k=2, goal="budget:0.123456")
    assert "budget:0.12345" == published_parameters(method)["goal"]
    with pytest.raises(ParameterError, match="goal="):
        gv.METHODS["structural"](k=2, goal="budget:1234567890123edges")


def test_how_long_a_search_looked_is_the_owners_alone(tmp_path):
    graph = gv.datasets.load("copenhagen-calls")
    method = gv.METHODS["structural"](k=2, goal="partial:0.9", effort=0.98765432)
    folder = method.anonymize(graph).write(tmp_path / "out")
    public = (folder / "release.json").read_text()
    assert "98765" not in public
    known = read_release(folder).private.withheld
    assert 0.98765432 == known["effort"]
    assert [] == gv.verify_release(folder, original=graph).failures()
    (tmp_path / "out.private").rename(tmp_path / "gone")
    assert [] == gv.verify_release(folder, original=graph).failures()


def test_digits_of_a_forged_parameter_fail(tmp_path):
    graph = gv.Graph.from_edges(range(30), [(v + 1) % 30 for v in range(30)], n=30)
    folder = gv.AsymmetricResponse(epsilon=2.0).anonymize(graph).write(tmp_path / "out")
    (tmp_path / "out.private").rename(tmp_path / "gone")
    path = folder / "release.json"
    manifest = json.loads(path.read_text())
    manifest["method"]["parameters"]["epsilon_count"] = 0.10012340123
    raw = json.dumps(manifest).encode()
    path.write_bytes(encode(decode_manifest(raw, where=path).sealed()))
    failures = {check.name: check.detail for check in gv.verify_release(folder).failures()}
    assert "epsilon_count=0.10012340123 is not a plain value" in failures[PARAMETERS]


def test_weights_and_factors_that_are_published_have_three_digits():
    graph = gv.datasets.load("copenhagen-calls")
    release = gv.MixingPriorResponse(epsilon=5.0).anonymize(graph)
    (stated,) = release.conditions
    assert 2 <= len(stated.weights)
    for number in (*stated.weights, *stated.factors):
        assert len(number.rstrip("0")) <= 3
    assert [] == release.verify(graph).failures()

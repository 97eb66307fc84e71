"""What the checker says of `smooth-k` releases that claim a stricter rule than was kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tampering import failed, manifest_of, private, reseal

from graphveil.data import Bipartite
from graphveil.methods import METHODS
from graphveil.verbs.verify import verify_release as verify

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

HALVES = Bipartite.from_lists([["a", "hiv"], ["a", "hiv"], ["b", "hiv"], ["b"]])
"""Half of these four have a, half b, and three hiv."""


@pytest.mark.parametrize(
    ("made", "stated", "sensitive", "name", "detail"),
    [
        (
            {},
            {"type": "true-of-more-than-half"},
            None,
            "no ties",
            "'a' is published of 4 users, the class of user 0, and",
        ),
        (
            {"theta_max": 1.0, "sensitive": "hiv"},
            {"type": "sensitive-at-most", "theta_max": 0.7},
            "hiv",
            "sensitive features",
            "the class of user 0, and true of 3 of them, theta_max=0.7; 1 pair of a class and",
        ),
        (
            {"theta_max": 1.0, "sensitive": "a"},
            {"type": "sensitive-at-most", "theta_max": 0.75},
            '["hiv"]',
            None,
            "none of 1 sensitive feature is true of more than 0.75 of a class",
        ),
    ],
)
def test_a_stricter_rule_than_was_kept_is_found(tmp_path, made, stated, sensitive, name, detail):
    release = METHODS["smooth-k"].from_parameters({"k": 4, **made}).anonymize(HALVES)
    folder = release.write(tmp_path / "release")
    assert {} == failed(verify(folder, original=HALVES))
    manifest = manifest_of(folder)
    manifest["claim"]["conditions"] = [stated]
    manifest["method"]["parameters"]["theta_max"] = stated.get("theta_max")
    reseal(folder, manifest)
    record = private(folder) / "record.json"
    owned = json.loads(record.read_bytes())
    owned["withheld"]["sensitive"] = sensitive
    record.write_text(json.dumps(owned))
    verdict = verify(folder, original=HALVES)
    never_stated = set() if made else {"method"}
    assert {"owner's record", name, *never_stated} - {None} == set(failed(verdict))
    assert verdict.complete
    details = {item.name: item.detail for item in verdict.checks}
    assert detail in details[name or "sensitive features"]


@settings(deadline=None, max_examples=15)
@given(
    rows=st.lists(st.frozensets(st.sampled_from("abcd"), max_size=3), min_size=2, max_size=12),
    theta_max=st.sampled_from([0.5, 0.6, 2 / 3, 0.75]),
    seed=st.integers(0, 99),
)
def test_what_the_method_keeps_by_the_cluster_holds_by_the_class(
    tmp_path_factory, rows, theta_max, seed
):
    data = Bipartite.from_lists([*map(sorted, rows), ["a", "b"]])
    how = {"k": 2, "ties": "drop", "theta_max": theta_max, "sensitive": "a,b"}
    release = METHODS["smooth-k"].from_parameters(how).anonymize(data, seed=seed)
    verdict = verify(release.write(tmp_path_factory.mktemp("kept") / "release"), original=data)
    assert {} == failed(verdict)
    assert verdict.complete

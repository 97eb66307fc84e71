"""What the checker says of `smooth-k` releases that claim a stricter rule than was kept."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tampering import failed, manifest_of, reseal

from graphveil.data import Bipartite
from graphveil.methods import METHODS
from graphveil.verbs.verify import verify_release as verify

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

HALVES = Bipartite.from_lists([["a", "hiv"], ["a", "hiv"], ["b", "hiv"], ["b"]])
"""Half of these four have a, half b, and three hiv."""


def test_a_stricter_rule_than_was_kept_is_found(tmp_path):
    release = METHODS["smooth-k"].from_parameters({"k": 4}).anonymize(HALVES)
    folder = release.write(tmp_path / "release")
    assert {} == failed(verify(folder, original=HALVES))
    manifest = manifest_of(folder)
    manifest["claim"]["conditions"] = [{"type": "true-of-more-than-half"}]
    reseal(folder, manifest)
    verdict = verify(folder, original=HALVES)
    assert {"owner's record", "no ties", "method"} == set(failed(verdict))
    assert verdict.complete
    details = {item.name: item.detail for item in verdict.checks}
    assert "'a' is published for 4 users, the class of user 0, but" in details["no ties"]


@settings(deadline=None, max_examples=15)
@given(
    rows=st.lists(st.frozensets(st.sampled_from("abcd"), max_size=3), min_size=2, max_size=12),
    seed=st.integers(0, 99),
)
def test_what_the_method_keeps_by_the_cluster_holds_by_the_class(tmp_path_factory, rows, seed):
    data = Bipartite.from_lists([*map(sorted, rows), ["a", "b"]])
    how = {"k": 2, "ties": "drop"}
    release = METHODS["smooth-k"].from_parameters(how).anonymize(data, seed=seed)
    verdict = verify(release.write(tmp_path_factory.mktemp("kept") / "release"), original=data)
    assert {} == failed(verdict)
    assert verdict.complete

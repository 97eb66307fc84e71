"""What attacks on users by features learn of real releases: what is promised holds."""

from __future__ import annotations

import pytest

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

K = 5


@pytest.mark.parametrize("name", ["smooth-k", "suppress-k"])
def test_nobody_is_named_more_often_than_one_time_in_k(name):
    hearts = gv.datasets.load("spect-heart")
    release = gv.METHODS[name].from_parameters({"k": K}).anonymize(hearts, seed=1)
    rows = gv.attack_release(
        release, original=hearts, attacks=["linkage", "class-truth", "membership"], seed=1
    )
    named = [row for row in rows if row.part.endswith("own row")]
    assert len(named) >= 6
    assert all(row.low <= 1 / K for row in named)
    values = {row.part: row.value for row in rows}
    certain = values["entries true of the whole class"]
    assert (1.0 == certain) == (name == "suppress-k")
    assert 0 <= values["a whole row"] <= 1

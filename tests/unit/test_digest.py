"""The digest of an input: other content has another one, whatever stands in its names."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.records.digest import RowsPart, digest_of, digest_of_parts

NAMES = st.lists(st.text("a\x1f\x00é", max_size=3), min_size=1, max_size=6, unique=True)


def test_ids_and_columns_that_differ_in_where_they_are_parted_have_other_digests():
    ends = [0, 1], [1, 2]
    one, other = (
        gv.Graph.from_edges(*ends, ids=ids) for ids in (["a\x1fb", "c", "d"], ["a", "b\x1fc", "d"])
    )
    assert digest_of(one) != digest_of(other)
    wide, narrow = (
        gv.Table(np.zeros((2, 2), np.int32), names, (["x"], ["x"]))
        for names in (("a\x1fb", "c"), ("a", "b\x1fc"))
    )
    assert digest_of(wide) != digest_of(narrow)


@given(one=NAMES, other=NAMES)
def test_other_ids_have_another_digest(one, other):
    digests = {
        digest_of(gv.Bipartite.from_pairs(users, ["tea"] * len(users))) for users in (one, other)
    }
    assert len({tuple(sorted(one)), tuple(sorted(other))}) == len(digests)


@given(users=NAMES, cut=st.integers(0, 6))
def test_parts_have_the_digest_of_the_whole(users, cut):
    data = gv.Bipartite.from_pairs(users, ["tea"] * len(users))
    labels = data.labels().tolist()
    parts = [
        RowsPart(part, np.ones(len(part), dtype=np.int64), np.zeros(len(part), dtype=np.int32))
        for part in (labels[:cut], labels[cut:])
        if part
    ]
    assert digest_of(data) == digest_of_parts(lambda: iter(parts), data.feature_labels())

"""Equal rows are counted as comparing every pair of rows would count them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.errors import ParameterError

LISTS = st.lists(st.sets(st.integers(0, 4), max_size=4), min_size=1, max_size=12).filter(any)
CELLS = st.lists(
    st.tuples(st.sampled_from("ab*"), st.sampled_from("xy*"), st.sampled_from("pq")),
    min_size=1,
    max_size=12,
)


def sizes_by_pairs(rows):
    return [sum(row == other for other in rows) for row in rows]


@given(lists=LISTS)
def test_users_with_the_same_features_form_a_class(lists):
    data = gv.Bipartite.from_lists([sorted(items) for items in lists])
    measured = gv.measure(data, k=3)
    assert sizes_by_pairs(lists) == measured.own_sizes.tolist()
    unprotected = [size < 3 for size in sizes_by_pairs(lists)]
    assert sum(unprotected) == measured.summary()["unprotected_users"]
    assert {u for u, small in enumerate(unprotected) if small} == set(measured.unprotected())


@given(cells=CELLS, chosen=st.sets(st.sampled_from(["a", "b", "c"]), min_size=1))
def test_rows_with_the_same_cells_in_the_columns_known_form_a_class(cells, chosen):
    table = gv.Table.from_columns(dict(zip("abc", zip(*cells, strict=True), strict=True)))
    assert sizes_by_pairs(cells) == gv.measure(table).own_sizes.tolist()
    projected = [tuple(row["abc".index(name)] for name in sorted(chosen)) for row in cells]
    measured = gv.measure(table, columns=sorted(chosen))
    assert sizes_by_pairs(projected) == measured.own_sizes.tolist()
    assert np.mean([size == 1 for size in sizes_by_pairs(projected)]) == measured.uniqueness


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_a_release_has_no_user_in_a_class_below_its_k():
    data = gv.datasets.load("adult-sample").one_hot()
    assert gv.measure(data, k=5).share_unprotected > 0
    assert gv.measure(gv.Mondrian(k=5).anonymize(data).data, k=5).share_unprotected == 0


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"columns": ["age"]}, r"^no column 'age'\. Columns: sex\.$"),
        ({"phi": 5}, r"^measure, distance and phi apply to a graph, not to a Table\.$"),
        ({"measure": "degree"}, "^measure, distance and phi apply to a graph"),
        ({"k": 1}, "^k=1 would leave no node unprotected"),
    ],
)
def test_what_a_table_cannot_be_asked_is_refused(asked, message):
    with pytest.raises(ParameterError, match=message):
        gv.measure(gv.Table.from_columns({"sex": ["f", "m"]}), **asked)


def test_columns_are_refused_for_users_and_for_graphs():
    with pytest.raises(ParameterError, match=r"^columns apply to tables only; users"):
        gv.measure(gv.Bipartite.from_lists([[1]]), columns=["a"])
    with pytest.raises(ParameterError, match=r"^columns applies to tables only\. Remove it"):
        gv.measure(gv.Graph.from_edges([0], [1], n=2), columns=["a"])

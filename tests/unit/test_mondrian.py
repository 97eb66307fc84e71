from __future__ import annotations

import numpy as np
import pytest

import graphveil as gv
from graphveil.claims.guarantees import KAnonymity, SmoothKAnonymity
from graphveil.core.errors import InfeasibleError, UsageError
from graphveil.methods.mondrian import order_of_features

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def rows_of(release):
    """Return the released features of every original row, in its order."""
    names = release.data.feature_labels().tolist()
    order = release.private.linkage.released.tolist()
    return [{names[item] for item in release.data.row(user)} for user in order]


def cut(lists, **parameters):
    return rows_of(gv.Mondrian(**{"k": 2, **parameters}).anonymize(gv.Bipartite.from_lists(lists)))


def test_a_part_is_cut_along_the_first_feature_that_leaves_k_rows_on_both_sides():
    lists = [["b"], ["b"], ["b", "c"], ["c"], ["a"], []]
    assert [{"b"}, {"b"}, {"b"}, set(), set(), set()] == cut(lists)


def test_a_feature_of_more_than_half_of_the_rows_is_not_cut_along_by_the_papers_rule():
    lists = [["a"]] * 4 + [[]] * 2
    assert [set()] * 6 == cut(lists, split="first")
    assert [{"a"}] * 4 + [set()] * 2 == cut(lists, split="balanced")


def test_of_an_odd_number_of_rows_one_more_than_half_may_have_the_feature():
    lists = [["a"]] * 3 + [[]] * 2
    assert [{"a"}] * 3 + [set()] * 2 == cut(lists, split="first")


def test_the_most_balanced_cut_is_taken_and_the_first_of_equals():
    lists = [["a", "b"], ["a", "b"], ["b"], ["c"], ["c"], ["c"]]
    assert [{"b"}] * 3 + [{"c"}] * 3 == cut(lists, split="balanced", k=3)
    equal = [["a"], ["a", "b"], ["b"], []]
    assert [{"a"}, {"a"}, set(), set()] == cut(equal, split="balanced")


def test_sides_are_cut_again_along_any_feature():
    lists = [["b"], ["b"], ["b", "a"], ["b", "a"], [], [], [], []]
    assert [{"b"}, {"b"}, {"a", "b"}, {"a", "b"}] == cut(lists, column_order="sorted")[:4]


def test_a_part_publishes_what_all_have_or_what_at_least_half_have():
    lists = [["a", "b"], ["a"], ["a", "b"], ["c"]]
    assert [set()] * 4 == cut(lists, k=4)
    assert [{"a", "b"}] * 4 == cut(lists, k=4, release="majority")


def test_the_guarantee_is_that_of_what_is_published():
    data = gv.Bipartite.from_lists([["a"], ["a"]])
    assert KAnonymity(k=2) == gv.Mondrian(k=2).anonymize(data).guarantee
    by_majority = gv.Mondrian(k=2, release="majority").anonymize(data)
    assert SmoothKAnonymity(k=2, theta="1/2") == by_majority.guarantee


def test_sorted_does_not_depend_on_how_the_data_list_their_features_and_given_does():
    lists = [["z", "a"], ["z"], ["a"], []]
    versions = []
    for names in (["a", "z"], ["z", "a"]):
        cells = np.array([[name in row for name in names] for row in lists], dtype=np.int8)
        versions.append(gv.Bipartite.from_scipy(cells, features=names))
    first, last = [{"a"}, set(), {"a"}, set()], [{"z"}, {"z"}, set(), set()]
    for order, expected in (("sorted", [first, first]), ("given", [first, last])):
        method = gv.Mondrian(k=2, column_order=order)
        assert expected == [rows_of(method.anonymize(data)) for data in versions]


def test_names_are_sorted_by_attribute_and_then_value_and_numbers_by_value():
    names = np.array(
        ["b", "a-b=1", "a=9", "a=10", "a", "a=x=y", "A=1"], dtype=np.dtypes.StringDType()
    )
    sorted_names = names[order_of_features(names)].tolist()
    assert ["A=1", "a", "a=10", "a=9", "a=x=y", "a-b=1", "b"] == sorted_names
    assert [1, 2, 0] == order_of_features(np.array([10, 2, 9])).tolist()


def test_a_table_is_released_as_a_table():
    table = gv.Table.from_columns({"sex": ["f", "f", "m", "m"], "age": ["30", "40", "30", "*"]})
    release = gv.Mondrian(k=2, column_order="given").anonymize(table)
    rows = sorted(release.to_arrow().to_pylist(), key=str)
    assert rows == [{"sex": sex, "age": None} for sex in ("f", "f", "m", "m")]
    assert release.verify(table).complete
    assert release.verify(table).ok


def test_a_row_may_come_to_have_two_values_of_a_column():
    table = gv.Table.from_columns({"sex": ["f", "m"]})
    mondrian = gv.Mondrian(k=2, release="majority")
    assert [{"sex=f", "sex=m"}] * 2 == rows_of(mondrian.anonymize(table.one_hot()))
    assert mondrian.anonymize(table).to_arrow().to_pylist() == [{"sex": None}] * 2


def test_data_of_another_kind_is_refused_with_what_is_taken():
    taken = "mondrian takes a Bipartite or a Table or a Graph, not a list"
    with pytest.raises(UsageError, match=taken):
        gv.Mondrian(k=2).anonymize([])
    with pytest.raises(UsageError, match="k-degree takes a Graph or a Network, not a Table"):
        gv.KDegree(k=2).anonymize(gv.Table.from_columns({"sex": ["f", "f"]}))


def test_too_few_rows_of_a_table_are_named():
    with pytest.raises(InfeasibleError, match="needs at least 3 rows; the data has 2"):
        gv.Mondrian(k=3).anonymize(gv.Table.from_columns({"sex": ["f", "f"]}))


def test_the_released_features_are_in_canonical_order_and_none_is_unused():
    table = gv.Table.from_columns({"sex": ["m", "m", "f"], "age": ["40", "40", "30"]})
    data = gv.Mondrian(k=3, release="majority").anonymize(table.one_hot()).data
    assert ["age=40", "sex=m"] == data.feature_labels().tolist()


def test_copies_of_a_row_count_each():
    lists = [["a", "b"]] * 5 + [[]] * 5
    assert [{"a", "b"}] * 5 + [set()] * 5 == cut(lists, k=5)
    assert [set()] * 10 == cut(lists, k=6)

"""What a release changed, counted from the input and the output."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil.claims.facts import changes_between, changes_stated, cost_of
from graphveil.data import csr
from graphveil.data.csr import in_both, sorted_lists

N, WIDTH = 6, 5
PAIRS = st.sets(st.tuples(st.integers(0, N - 1), st.integers(0, WIDTH - 1)))


def lists_of(pairs):
    rows, columns = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    return sorted_lists(rows, columns, N)


@given(PAIRS, PAIRS, st.integers(1, 4))
def test_entries_of_both_are_counted_in_blocks_of_any_size(one, other, block):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(csr, "BLOCK", block)
        assert len(one & other) == in_both(lists_of(one), lists_of(other))
        above = sum(column > row for row, column in one & other)
        assert above == in_both(lists_of(one), lists_of(other), above=True)


def graph(*edges):
    source, target = zip(*edges, strict=True)
    return gv.Graph.from_edges(source, target, n=4)


def test_edges_are_counted_once():
    changes = changes_between(graph((0, 1), (1, 2), (2, 3)), graph((0, 1), (1, 3)))
    assert (3, 1, 2, 1) == (changes.before, changes.kept, changes.deleted, changes.added)
    assert 1 / 4 == changes.jaccard


def test_arcs_of_a_layer_with_directions_are_counted_one_by_one():
    def arcs(*pairs):
        source, target = zip(*pairs, strict=True)
        return gv.Network((gv.Layer.from_arcs(source, target, n=3),))

    changes = changes_between(arcs((0, 1), (1, 0), (1, 2)), arcs((0, 1), (2, 1)))
    assert (3, 1, 1, 0) == (
        changes.before,
        changes.kept,
        changes.added,
        changes.people_suppressed,
    )


def test_missing_cells_are_not_suppressed_by_a_release():
    before = gv.Table.from_columns({"sex": ["f", "*", "m"], "age": ["1", "2", "3"]})
    after = gv.Table.from_columns({"sex": ["*", "*", "m"], "age": ["1", "*", "3"]})
    cost = {"cells": 6, "stars_before": 1, "stars_added": 2, "kept_share": 0.6}
    assert cost == changes_between(before, after).figures


def test_no_fact_of_a_method_replaces_a_count():
    changes = changes_between(graph((0, 1)), graph((0, 1)))
    assert {**changes.figures, "rounds": 2} == cost_of(changes, {"edges_added": 7, "rounds": 2})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (graph((0, 1), (1, 2)), graph((0, 1), (1, 3), (2, 3))),
        (
            gv.Bipartite.from_lists([["a", "b"], ["b"]]),
            gv.Bipartite.from_lists([["a"], ["a", "b"]]),
        ),
        (gv.Table.from_columns({"a": ["x", "*"]}), gv.Table.from_columns({"a": ["*", "*"]})),
    ],
)
def test_changes_are_read_from_the_figures_of_a_record(before, after):
    changes = changes_between(before, after)
    assert changes == changes_stated(changes.figures)


def test_figures_of_nothing_that_is_counted_state_no_changes():
    assert changes_stated({"edits": 3}) is None

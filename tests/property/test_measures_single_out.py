"""Who is singled out by some items, against looking at every choice of items and every person."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.core.errors import ParameterError, UsageError
from graphveil.core.randomness import Randomness
from graphveil.measures import rows as single_out
from graphveil.measures import singled_out

RUNS, ENOUGH = 1_000, 920
LISTS = st.lists(st.sets(st.integers(0, 5), max_size=5), min_size=1, max_size=9)


def users(rows):
    pairs = [(user, item) for user, row in enumerate(rows) for item in sorted(row)]
    return gv.Bipartite.from_pairs(
        np.array([user for user, _ in pairs], dtype=np.int64),
        np.array([item for _, item in pairs], dtype=np.int64),
        users=range(len(rows)),
        features=range(24),
    )


def share_by_looking(rows, q):
    """Return the mean share of choices of q items that a person alone has; all of fewer."""
    alone = []
    for row in rows:
        choices = list(itertools.combinations(sorted(row), min(q, len(row))))
        alone.append(
            sum(sum(set(items) <= other for other in rows) == 1 for items in choices) / len(choices)
        )
    return sum(alone) / len(alone)


@settings(deadline=None, max_examples=200)
@given(
    rows=LISTS,
    at_once=st.sampled_from([1, 5, 2_000_000]),
    rare=st.sampled_from([1, 3, 256]),
    memory=st.sampled_from([0, 4, 1 << 28]),
)
def test_who_knows_all_items_of_everybody_is_counted_exactly(rows, at_once, rare, memory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(single_out, "AT_ONCE", at_once)
        patched.setattr(single_out, "RARE", rare)
        patched.setattr(single_out, "BYTES", memory)
        (found,) = singled_out(users(rows), items=[6])
    exact = share_by_looking(rows, 6)
    assert [exact] * 3 == pytest.approx([found.share, found.low, found.high])
    assert len(rows) == found.people


@settings(deadline=None, max_examples=60)
@given(rows=LISTS, q=st.integers(1, 3), seed=st.integers(0, 9))
def test_the_items_that_are_drawn_are_counted_as_looking_at_everybody_counts(rows, q, seed):
    of_rows = single_out._items_of(users(rows), None)
    rng = Randomness(seed=seed).stream("a test")
    known = single_out._drawn_items(of_rows, np.arange(len(rows)), q, rng)
    for row, drawn in zip(rows, known.tolist(), strict=True):
        items = [item for item in drawn if item >= 0]
        assert min(q, len(row)) == len(items) == len(set(items) & row)
    expected = [
        sum({item for item in drawn if item >= 0} <= row for row in rows) == 1
        for drawn in known.tolist()
    ]
    assert expected == single_out._alone(of_rows, known).tolist()


def some_rows(n, popular):
    rng = Randomness(seed=1).stream("some rows")
    chances = np.concatenate([np.full(4, popular), np.full(20, 0.06)])
    return [set(np.flatnonzero(rng.random(24) < chances).tolist()) for _ in range(n)]


@pytest.mark.parametrize(("n", "popular", "people"), [(40, 0.5, 10_000), (60, 0.8, 25)])
def test_intervals_cover_the_exact_share(n, popular, people):
    rows = some_rows(n, popular)
    data = users(rows)
    asked = [1, 2, 3]
    exact = {q: share_by_looking(rows, q) for q in asked}
    covered, shares = Counter(), Counter()
    for run in range(RUNS):
        for found in singled_out(data, items=asked, people=people, seed=run):
            covered[found.items] += found.low <= exact[found.items] <= found.high
            shares[found.items] += found.share / RUNS
            assert min(people, n) == found.people
    assert exact == pytest.approx(dict(shares), abs=0.01)
    assert all(covered[q] >= ENOUGH for q in asked), covered


def test_more_items_single_out_no_fewer_and_a_seed_repeats_the_draws():
    data = users(some_rows(50, 0.5))
    found = singled_out(data, seed=3)
    assert [1, 2, 4, 8] == [each.items for each in found]
    assert found == singled_out(data, seed=3)
    assert sorted(each.share for each in found) == [each.share for each in found]
    assert 1 < len({singled_out(data, items=[2], seed=seed)[0].share for seed in range(9)})


def test_cells_of_a_table_are_items_unless_suppressed():
    table = gv.Table.from_columns(
        {"sex": ["f", "m", "f", "m"], "town": ["x", "x", "y", "*"], "age": ["1", "2", "3", "4"]}
    )
    by_two = singled_out(table, columns=["sex", "town"], items=[2])[0]
    assert (0.75, 0.75, 0.75) == (by_two.share, by_two.low, by_two.high)  # m alone is two people
    assert 1.0 == singled_out(table, items=[3])[0].share
    assert 0.0 == singled_out(table, columns=["sex"], items=[1])[0].share


@pytest.mark.parametrize("rows", [[set()], [set(), set()], [{1}, {1}]])
def test_who_is_alone_is_singled_out_by_nothing_and_equal_people_never_are(rows):
    assert {float(len(rows) == 1)} == {each.share for each in singled_out(users(rows))}


def test_of_nobody_there_is_no_share():
    assert () == singled_out(gv.Bipartite(np.zeros(1, np.int64), np.empty(0, np.int32), 0))


@pytest.mark.parametrize("asked", [{"items": [0]}, {"items": []}, {"people": 0}])
def test_numbers_below_one_are_refused(asked):
    with pytest.raises(ParameterError, match="Give numbers >= 1"):
        singled_out(users([{1}]), **asked)


def test_columns_of_users_and_nodes_of_graphs_are_refused():
    with pytest.raises(ParameterError, match="columns apply to tables only; remove"):
        singled_out(users([{1}]), columns=["sex"])
    with pytest.raises(ParameterError, match="no column 'shoes'"):
        singled_out(gv.Table.from_columns({"sex": ["f"]}), columns=["shoes"])
    with pytest.raises(UsageError, match="takes a Bipartite or a Table, not a Graph"):
        singled_out(gv.Graph.from_edges([0], [1], n=2))

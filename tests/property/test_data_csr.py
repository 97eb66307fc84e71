"""The fast neighbor lists against sets of pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.errors import DataError
from graphveil.data import csr
from graphveil.data.csr import Dropped, SortedLists, check_lists, neighbor_lists


def slow_lists(arcs: list[tuple[int, int]], n: int) -> tuple[list[list[int]], Dropped]:
    """The same by sets."""
    proper = [(u, v) for u, v in arcs if u != v]
    distinct = set(proper)
    lists = [
        sorted({b for a, b in distinct if a == v} | {a for a, b in distinct if b == v})
        for v in range(n)
    ]
    both = sum((v, u) in distinct for u, v in distinct) // 2
    return lists, Dropped(len(arcs) - len(proper), len(proper) - len(distinct), both)


@st.composite
def arcs(draw):
    n = draw(st.integers(1, 8))
    ends = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(ends, ends), max_size=40))


@pytest.mark.parametrize("block", [1, 3, 1 << 19])
@settings(deadline=None, max_examples=100)
@given(case=arcs())
def test_neighbor_lists_are_those_of_sets_whatever_the_block(block, case):
    n, listed = case
    ends = np.array(listed, dtype=np.int32).reshape(-1, 2)
    usual, csr.BLOCK = csr.BLOCK, block
    try:
        lists, dropped = neighbor_lists([ends[:, 0].copy(), ends[:, 1].copy()], n)
        check_lists(lists)
    finally:
        csr.BLOCK = usual
    entries = [lists.indices[lists.indptr[v] : lists.indptr[v + 1]].tolist() for v in range(n)]
    assert slow_lists(listed, n) == (entries, dropped)


@given(st.sets(st.tuples(st.sampled_from([0, 1, 65_536, 65_537, 131_072]), st.integers(2, 9))))
def test_lists_of_more_nodes_than_16_bits_number_are_accepted(edges):
    ends = np.array(sorted(edges), dtype=np.int32).reshape(-1, 2)
    lists, _ = neighbor_lists([ends[:, 0].copy(), ends[:, 1].copy()], 131_073)
    check_lists(lists)
    turned = lists.indices.copy()
    turned[turned > 9] -= 1
    if (turned != lists.indices).any():
        with pytest.raises(DataError):
            check_lists(SortedLists(lists.indptr, turned))


@settings(deadline=None, max_examples=300)
@given(
    rows=st.lists(st.lists(st.integers(-1, 4), max_size=4), min_size=1, max_size=4),
    block=st.sampled_from([1, 2, 1 << 19]),
)
def test_lists_are_refused_exactly_where_they_are_no_simple_undirected_graph(rows, block):
    n = len(rows)
    simple = all(
        0 <= v < n and v != u and u in rows[v] and row == sorted(set(row))
        for u, row in enumerate(rows)
        for v in row
    )
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([v for row in rows for v in row], dtype=np.int32)
    usual, csr.BLOCK = csr.BLOCK, block
    try:
        check_lists(SortedLists(indptr, indices))
        accepted = True
    except DataError:
        accepted = False
    finally:
        csr.BLOCK = usual
    assert simple == accepted

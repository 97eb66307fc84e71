"""The clusters that suit a row best: from lists, from sets, and by asking every cluster."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import Rule, collapse
from graphveil.methods.smooth_k import candidates as ranking
from graphveil.methods.smooth_k.candidates import UNCAPPED, rank_clusters
from graphveil.methods.smooth_k.kernels.candidates import STRIDE, gainers_of, index_of
from graphveil.methods.smooth_k.kernels.search_state import NONE
from graphveil.methods.smooth_k.local_search import clusters_of

RULES = st.sampled_from([Rule(), Rule(Fraction(2, 3)), Rule(Fraction(1))])


@st.composite
def clustered(draw):
    """Draw clusters of rows with few features, so that many share sets of them."""
    n_features = draw(st.integers(1, 6))
    row = st.sets(st.integers(0, n_features - 1))
    sets = draw(st.lists(row, min_size=2, max_size=40))
    labels = draw(st.lists(st.integers(0, 7), min_size=len(sets), max_size=len(sets)))
    _, labels = np.unique(labels, return_inverse=True)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in sets])]).astype(np.int64)
    indices = np.array([f for row in sets for f in sorted(row)], dtype=np.int32)
    rows = collapse(Bipartite(indptr, indices, n_features))
    return rows, clusters_of(rows, labels.astype(np.int32), draw(RULES))


def window(entries, row, list_cap):
    """Return the entries of a list that a row reads: all, or some from a position of its own."""
    spare = max(len(entries) - list_cap, 0)
    first = row * STRIDE % (spare + 1)
    return entries[first : first + list_cap]


def order_of_all(data, index, row, width, list_cap=UNCAPPED):
    """Return the best clusters of a row by summing every list, as the lists come to them."""
    gains, places = {}, {}
    for f in data.indices[data.indptr[row] : data.indptr[row + 1]]:
        for place in window(range(index.starts[f], index.starts[f + 1]), row, list_cap):
            c = int(index.clusters[place])
            gains[c] = gains.get(c, 0.0) + index.terms[place]
            places.setdefault(c, place)
    total = {c: gains[c] + index.bases[c] for c in gains}
    best = sorted(total, key=lambda c: (-total[c], places[c]))[:width]
    return best + [NONE] * (width - len(best))


@given(
    clustered(),
    st.sampled_from([0.0, 0.25, 0.9]),
    st.integers(1, 4),
    st.sampled_from([0.25, 100.0]),
    st.booleans(),
)
@settings(deadline=None, max_examples=200)
def test_sets_and_lists_find_the_clusters_that_gain_most(drawn, lam, width, lookups, by_sets):
    rows, (data, state, _) = drawn
    index = index_of(data, state, lam)
    near = np.empty((rows.n_distinct, width), dtype=np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "READS_FOR_SET", 0 if by_sets else 1 << 40)
        patch.setattr(ranking, "LOOKUPS_FOR_READ", lookups)
        rank_clusters(data, index, near)
    expected = [order_of_all(data, index, row, width) for row in range(rows.n_distinct)]
    assert expected == near.tolist()


@given(clustered(), st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_every_set_of_features_of_a_cluster_has_the_clusters_that_gain_most_by_it(drawn, width):
    _, (data, state, _) = drawn
    index = index_of(data, state, 0.5)
    features = np.repeat(np.arange(index.starts.size - 1), np.diff(index.starts))
    sizes = np.bincount(index.clusters, minlength=index.bases.size)
    by_cluster = np.argsort(index.clusters, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])
    most = int((2**sizes - 1).sum())
    gainers = gainers_of(index, by_cluster, starts, features, most, width)
    numbers = {key: number for key, number in gainers.table.tolist() if number > 0}
    sets = {0: frozenset()}
    for key, number in sorted(numbers.items(), key=lambda item: item[1]):
        sets[number] = sets[key >> 32] | {key & 0xFFFFFFFF}
    having = {
        c: {int(features[p]): p for p in by_cluster[starts[c] : starts[c + 1]]}
        for c in range(sizes.size)
    }
    assert len(set(sets.values())) == len(sets)
    shared = {s for own in having.values() for s in sets.values() if s <= own.keys()}
    assert set(sets.values()) - {frozenset()} == shared - {frozenset()}
    for number, one in sets.items():
        if not number:
            continue
        gains = {
            c: (-sum(index.terms[own[f]] for f in sorted(one)) - index.bases[c], own[min(one)])
            for c, own in having.items()
            if one <= own.keys()
        }
        best = sorted(gains, key=gains.get)[:width]
        actual = [int(index.clusters[p]) for p in gainers.places[number] if p != NONE]
        assert best == actual
        assert [-gains[c][0] for c in best] == pytest.approx(gainers.gains[number, : len(best)])


@given(clustered(), st.integers(1, 3), st.integers(1, 4))
@settings(deadline=None, max_examples=60)
def test_of_a_long_list_only_a_window_is_read_that_differs_from_row_to_row(drawn, list_cap, width):
    rows, (data, state, _) = drawn
    index = index_of(data, state, 0.5)
    near = np.empty((rows.n_distinct, width), dtype=np.int32)
    rank_clusters(data, index, near, list_cap)
    expected = [order_of_all(data, index, row, width, list_cap) for row in range(rows.n_distinct)]
    assert expected == near.tolist()


def test_clusters_that_keep_thousands_of_features_are_ranked_from_lists():
    indptr = np.array([0, 1500, 3000, 3001, 3002])
    indices = np.concatenate([np.tile(np.arange(1500), 2), [0, 1]]).astype(np.int32)
    rows = collapse(Bipartite(indptr, indices, 1500))
    labels = np.array([0, 0, 1, 1], dtype=np.int32)
    data, state, _ = clusters_of(rows, labels, Rule())
    near = np.empty((rows.n_distinct, 2), dtype=np.int32)
    rank_clusters(data, index_of(data, state, 0.5), near)
    assert 0 == near[-1, 0]

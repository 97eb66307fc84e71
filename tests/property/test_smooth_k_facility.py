"""Facility location on random rows: the kernels against dense and plain twins, and the promise."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import collapse
from graphveil.methods.smooth_k.facility_location import cut_up, facility_clusters, nearest_sums
from graphveil.methods.smooth_k.kernels import facility as kernel
from graphveil.methods.smooth_k.kernels.facility import (
    Clients,
    Facilities,
    Nearest,
    RowKinds,
    RowStream,
    close_small,
    open_facilities,
)
from graphveil.methods.smooth_k.kernels.feature_lists import count_shared, leave, lists_of

ASSIGNS = st.sampled_from(["nearest", "arrival"])
FACTORS = st.sampled_from([None, 0.0, 0.02, 0.05, 0.1, 0.3])


def bipartite(rows, n_features):
    """Return the data of these sets of features."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    indices = np.array([f for row in rows for f in sorted(row)], dtype=np.int32)
    return Bipartite(indptr, indices, n_features)


@st.composite
def tables(draw, smallest=2, largest=24):
    """Draw sets of features, many of them equal, and the number of features."""
    n_features = draw(st.integers(0, 7))
    row = st.sets(st.integers(0, n_features - 1)) if n_features else st.just(set())
    patterns = draw(st.lists(row, min_size=1, max_size=10))
    rows = draw(st.lists(st.sampled_from(patterns), min_size=smallest, max_size=largest))
    return [frozenset(row) for row in rows], n_features


@st.composite
def planted(draw):
    """Draw 20 to 50 sets of features around a few of them, which makes several clusters."""
    rng = generator(draw(st.integers(0, 2**32)))
    n, n_features, n_blocks = (int(rng.integers(*ends)) for ends in ((20, 50), (4, 16), (2, 6)))
    blocks = rng.random((n_blocks, n_features)) < 0.4
    table = blocks[rng.integers(n_blocks, size=n)] ^ (rng.random((n, n_features)) < 0.1)
    return [frozenset(np.flatnonzero(row).tolist()) for row in table], n_features


def generator(seed):
    return Randomness(seed=seed).stream("test")


SEEDS = st.integers(0, 2**32)


def nearest_of(row, opened):
    """The open facility, by number, that the rule prefers; and its distance."""
    return min(
        ((len(row ^ site), not row & site, number) for number, site in opened.items()),
    )


def twin_opening(rows, sums, factor, order, coins):
    """Meyerson's rule, row by row: the facilities, where each row went, and at what distance."""
    opened, arrived, distances = {}, {}, {}
    for row_number, coin in zip(order.tolist(), coins.tolist(), strict=True):
        row = rows[row_number]
        distance, _, facility = nearest_of(row, opened) if opened else (math.inf, True, None)
        if distance > 0 and coin * factor * sums[row_number] < distance:
            distance, facility = 0, len(opened)
            opened[facility] = row
        arrived[row_number], distances[row_number] = facility, distance
    return opened, arrived, distances


def twin_closing(rows, opened, facility, visits, k):
    """Close what is too small; every client by itself looks for the nearest that is still open."""
    opened = dict(opened)
    for site in visits.tolist():
        clients = [row for row, at in facility.items() if at == site]
        if len(clients) < k and len(opened) > 1:
            del opened[site]
            for row in clients:
                facility[row] = nearest_of(rows[row], opened)[2]
    return facility


def twin_clusters(rows, *, k, beta, cost_factor, runs, assign, rng):
    """The published algorithm on sets, by every pair of rows; the same draws."""
    factor = 2 / (beta - 1) if cost_factor is None else cost_factor
    wanted = min(math.ceil(beta * k), len(rows))
    sums = [sum(sorted(len(row ^ v) for v in rows)[:wanted]) for row in rows]
    sum_of = dict(zip(rows, sums, strict=True))
    kept = None
    for _ in range(runs):
        order = rng.permutation(len(rows))
        opened, facility, distances = twin_opening(rows, sums, factor, order, rng.random(len(rows)))
        if assign == "nearest":
            nearest = {row: nearest_of(rows[row], opened) for row in range(len(rows))}
            facility = {row: at for row, (_, _, at) in nearest.items()}
            distances = {row: distance for row, (distance, _, _) in nearest.items()}
        spent = factor * sum(sum_of[site] for site in opened.values())
        total = spent + sum(distances.values())
        if kept is None or total < kept[0]:
            kept = (total, opened, facility)
    _, opened, facility = kept
    facility = twin_closing(rows, opened, facility, rng.permutation(len(opened)), k)
    numbers = {site: label for label, site in enumerate(sorted(set(facility.values())))}
    return [numbers[facility[row]] for row in range(len(rows))]


@given(tables() | planted(), st.integers(2, 5), FACTORS, ASSIGNS, st.integers(1, 3), SEEDS)
@settings(deadline=None, max_examples=200)
def test_clusters_are_those_of_a_plain_search_with_the_same_draws(
    table, k, cost_factor, assign, runs, seed
):
    rows, n_features = table
    k = min(k, len(rows))
    options = {"k": k, "beta": 2.0, "cost_factor": cost_factor, "runs": runs, "assign": assign}
    expected = twin_clusters(rows, **options, rng=generator(seed))
    actual = facility_clusters(
        collapse(bipartite(rows, n_features)), **options, rng=generator(seed)
    )
    assert expected == actual.tolist()


@given(tables() | planted(), FACTORS, SEEDS)
@settings(deadline=None, max_examples=100)
def test_facilities_open_as_row_by_row_with_the_same_coins(table, cost_factor, seed):
    data, n_features = table
    rows = collapse(bipartite(data, n_features))
    kinds = RowKinds(rows.indptr, rows.indices, rows.weights)
    lists = lists_of(rows.indptr, rows.indices, n_features)
    n, factor = len(data), 0.05 if cost_factor is None else cost_factor
    sums = nearest_sums(kinds, lists, min(4, n))
    order, coins = generator(seed).permutation(n), generator(seed + 1).random(n)
    expected = twin_opening(data, sums[rows.kinds], factor, order, coins)
    arrivals = RowStream(rows.kinds[order], coins, np.empty(n, np.int32), np.empty(n, np.int64))
    nearest = Nearest(np.empty(rows.n_distinct, np.int64), np.empty(rows.n_distinct, np.int32))
    opened = np.empty(rows.n_distinct, dtype=np.int32)
    n_open = open_facilities(kinds, lists, sums, factor, arrivals, nearest, opened)
    sites = dict(zip(rows.kinds.tolist(), data, strict=True))
    assert expected[0] == {i: sites[kind] for i, kind in enumerate(opened[:n_open].tolist())}
    assert [expected[1][row] for row in order.tolist()] == arrivals.facility.tolist()
    assert [expected[2][row] for row in order.tolist()] == arrivals.distance.tolist()


@given(tables() | planted(), st.integers(2, 5), st.integers(1, 6), SEEDS)
@settings(deadline=None, max_examples=100)
def test_small_facilities_close_and_clients_go_where_a_plain_search_sends_them(
    table, k, n_open, seed
):
    data, n_features = table
    rows = collapse(bipartite(data, n_features))
    rng = generator(seed)
    opened = rng.permutation(rows.n_distinct)[:n_open].astype(np.int32)
    sites = dict(zip(rows.kinds.tolist(), data, strict=True))
    open_sets = {i: sites[kind] for i, kind in enumerate(opened.tolist())}
    facility = rng.integers(0, opened.size, len(data)).astype(np.int32)
    visits = rng.permutation(opened.size)
    at = dict(enumerate(facility.tolist()))
    expected = twin_closing(data, open_sets, at, visits, min(k, len(data)))
    features = [sorted(open_sets[i]) for i in range(opened.size)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in features])]).astype(np.int64)
    indices = np.array([f for row in features for f in row], dtype=np.int32)
    by_degree = np.argsort(np.diff(indptr), kind="stable").astype(np.int64)
    clients = Clients(rows.kinds.copy(), np.ones(len(data), dtype=np.int64), facility)
    kinds = RowKinds(rows.indptr, rows.indices, rows.weights)
    facilities = Facilities(indptr, indices, by_degree, visits)
    lists = lists_of(indptr, indices, n_features)
    close_small(kinds, facilities, lists, clients, min(k, len(data)))
    assert [expected[row] for row in range(len(data))] == clients.facility.tolist()


@given(tables(), st.integers(2, 8), FACTORS, ASSIGNS, st.booleans(), SEEDS)
@settings(deadline=None, max_examples=100)
def test_every_cluster_has_at_least_k_rows_and_no_number_is_left_out(
    table, k, cost_factor, assign, cut, seed
):
    rows, n_features = table
    k = min(k, len(rows))
    labels = facility_clusters(
        collapse(bipartite(rows, n_features)),
        k=k,
        cost_factor=cost_factor,
        runs=2,
        assign=assign,
        cut=cut,
        rng=generator(seed),
    )
    sizes = np.bincount(labels)
    assert len(rows) == labels.size
    assert np.int32 == labels.dtype
    assert sizes.min() >= k
    assert not cut or sizes.max() < 2 * k
    if assign == "nearest" and not cut:
        homes = set(zip(rows, labels.tolist(), strict=True))
        assert len(set(rows)) == len(homes)


@given(tables(), st.integers(1, 24))
@settings(deadline=None, max_examples=100)
def test_nearest_sums_are_those_of_all_pairs_of_rows(table, wanted):
    data, n_features = table
    wanted = min(wanted, len(data))
    rows = collapse(bipartite(data, n_features))
    kinds = RowKinds(rows.indptr, rows.indices, rows.weights)
    actual = np.zeros(kinds.weights.size, dtype=np.int64)
    lists = lists_of(rows.indptr, rows.indices, n_features)
    kernel.nearest_sums(kinds, lists, wanted, actual)
    expected = [sum(sorted(len(row ^ other) for other in data)[:wanted]) for row in data]
    assert expected == actual[rows.kinds].tolist()


@given(tables(smallest=1), st.data())
@settings(deadline=None, max_examples=100)
def test_lists_hold_the_rows_that_have_not_left_and_count_what_they_share(table, draws):
    rows, n_features = table
    data = bipartite(rows, n_features)
    lists = lists_of(data.indptr, data.indices, n_features)
    here = set(range(len(rows)))
    for row in draws.draw(st.permutations(range(len(rows)))):
        asked = draws.draw(st.sampled_from(rows))
        shared, touched = np.zeros(len(rows), np.int32), np.empty(len(rows), np.int32)
        features = np.array(sorted(asked), dtype=np.int32)
        n_touched = count_shared(lists, features, shared, touched)
        expected = {v: len(rows[v] & asked) for v in here if rows[v] & asked}
        assert expected == {int(v): int(shared[v]) for v in touched[:n_touched]}
        assert sum(expected.values()) == shared.sum()
        leave(lists, data.indptr, data.indices, row)
        here.remove(row)
        for f in range(n_features):
            stop = lists.starts[f] + lists.lengths[f]
            members = lists.members[lists.starts[f] : stop].tolist()
            assert sorted(members) == [v for v in sorted(here) if f in rows[v]]
    assert sorted(lists.positions.tolist()) == list(range(data.n_entries))
    assert lists.entries[lists.positions].tolist() == list(range(data.n_entries))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 5))
@settings(deadline=None, max_examples=100)
def test_pieces_of_a_cluster_are_nearly_equal_and_as_many_as_k_allows(drawn, k):
    clusters = [cluster for cluster in drawn if drawn.count(cluster) >= k]
    distinct = sorted(set(clusters))
    labels = np.array([distinct.index(cluster) for cluster in clusters], dtype=np.int32)
    pieces = cut_up(labels, k=k)
    sizes = np.bincount(pieces)
    for label in set(labels.tolist()):
        own = np.unique(pieces[labels == label])
        n = int((labels == label).sum())
        assert n // k == own.size
        assert sizes[own].min() >= k
        assert sizes[own].max() - sizes[own].min() <= 1
    assert sum(clusters.count(c) // k for c in distinct) == sizes.size

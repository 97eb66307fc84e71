"""Greedy growth on random rows: the kernel against a plain twin, the result against the optimum."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import Rule, collapse
from graphveil.methods.smooth_k import greedy_growth
from graphveil.methods.smooth_k.greedy_growth import grown_clusters, rarest_first_rows, seeds_by
from graphveil.methods.smooth_k.kernels.feature_lists import lists_of
from graphveil.methods.smooth_k.kernels.growth import grow
from graphveil.methods.smooth_k.kernels.rarest_first import grow_rarest_first
from graphveil.methods.smooth_k.local_search import refined_clusters

RULES = st.sampled_from(
    [Rule(), Rule(Fraction(2, 3)), Rule(Fraction(1)), Rule(Fraction(1, 2), "drop")]
)
ORDERS = st.sampled_from(["auto", "degree", "cost"])
SEEDS = st.integers(0, 2**32)


def generator(seed):
    return Randomness(seed=seed).stream("test")


def rows_of(sets, n_features):
    """Return the distinct rows of these sets of features."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in sets])]).astype(np.int64)
    indices = np.array([f for row in sets for f in sorted(row)], dtype=np.int32)
    return collapse(Bipartite(indptr, indices, n_features))


@st.composite
def tables(draw, smallest, largest):
    """Draw sets of features, some of them equal, and the number of features."""
    n_features = draw(st.integers(1, 8))
    patterns = draw(st.lists(st.sets(st.integers(0, n_features - 1)), min_size=1, max_size=12))
    sets = draw(st.lists(st.sampled_from(patterns), min_size=smallest, max_size=largest))
    return [frozenset(row) for row in sets], n_features


def features_of(rows):
    return [
        frozenset(rows.indices[rows.indptr[u] : rows.indptr[u + 1]].tolist())
        for u in range(rows.n_distinct)
    ]


def next_row(kinds, unused, cluster, quarters):
    """Return the row of largest mean overlap less its degree's price, by looking at all."""
    counts = Counter(f for row in cluster for f in row)

    def rank(v):
        overlap = sum(counts[f] for f in kinds[v])
        score = Fraction(overlap, len(cluster)) - Fraction(quarters, 4) * len(kinds[v])
        return (score, overlap > 0, v if overlap else -v)

    return max((v for v in range(len(kinds)) if unused[v]), key=rank)


def twin_growth(kinds, unused, seeds, k, quarters):
    """Grow clusters one copy at a time; return the cluster of every copy in one, by kind."""
    unused, grown_copies, cluster = list(unused), [], 0
    for u in seeds:
        while unused[u] and sum(unused) >= k:
            members = []
            for _ in range(k):
                v = u if unused[u] and not members else next_row(kinds, unused, members, quarters)
                members.append(kinds[v])
                unused[v] -= 1
                grown_copies.append((v, cluster))
            cluster += 1
    return Counter(grown_copies)


@st.composite
def tables_of_popular_features(draw):
    """Draw rows that share few of many features, and more of the first ones."""
    n_features = draw(st.integers(20, 60))
    low, any_feature = st.integers(0, 9), st.integers(0, n_features - 1)
    row = st.sets(low | any_feature, max_size=7)
    sets = draw(st.lists(row, min_size=2, max_size=60))
    return [frozenset(row) for row in sets], n_features


def by_lists(rows, unused, seeds, k, quarters):
    lists = lists_of(rows.indptr, rows.indices, rows.n_features)
    return grow(rows.indptr, rows.indices, lists, unused, seeds, k, quarters)


def by_rarest(rows, unused, seeds, k, quarters):
    return grow_rarest_first(rarest_first_rows(rows, unused), seeds, k, quarters)


@pytest.mark.parametrize("kernel", [by_lists, by_rarest])
@given(
    tables(2, 24) | tables_of_popular_features(), st.integers(2, 5), st.sampled_from([1, 2]), SEEDS
)
@settings(deadline=None, max_examples=200)
def test_growth_equals_that_of_a_twin_that_adds_copy_by_copy(kernel, table, k, quarters, seed):
    rows = rows_of(*table)
    unused = np.where(rows.weights >= k, 0, rows.weights)
    seeds = generator(seed).permutation(rows.n_distinct)
    expected = twin_growth(features_of(rows), unused.tolist(), seeds.tolist(), k, quarters)
    steps = kernel(rows, unused, seeds, k, quarters)
    actual = Counter()
    for kind, cluster, copies in steps.tolist():
        actual[kind, cluster] += copies
    assert expected == actual
    assert unused.sum() < k


@pytest.mark.parametrize(("k", "quarters"), [(2, 1), (8, 1), (8, 2), (40, 1)])
def test_rows_met_through_their_rarest_features_grow_the_same_clusters(k, quarters):
    rng = generator(k)
    popularity = 1 / np.arange(1, 301)
    sets = [
        frozenset(rng.choice(300, size, p=popularity / popularity.sum()).tolist())
        for size in rng.integers(0, 12, 1500)
    ]
    rows = rows_of(sets, 300)
    seeds = rng.permutation(rows.n_distinct)
    unused = [np.where(rows.weights >= k, 0, rows.weights) for _ in range(2)]
    expected = by_lists(rows, unused[0], seeds, k, quarters)
    assert expected.tolist() == by_rarest(rows, unused[1], seeds, k, quarters).tolist()
    assert unused[0].tolist() == unused[1].tolist()


def test_the_clusters_do_not_depend_on_which_kernel_is_quicker(monkeypatch):
    rng = generator(1)
    rows = rows_of([frozenset(rng.integers(0, 25, 4).tolist()) for _ in range(200)], 25)
    arguments = {"k": 4, "rule": Rule(), "seed_order": "auto"}
    assert not rows.has_popular_features
    expected = grown_clusters(rows, rng=generator(2), **arguments)
    monkeypatch.setattr("graphveil.methods.equivalence_classes.rule.POPULAR", 0)
    assert rows.has_popular_features
    assert expected.tolist() == grown_clusters(rows, rng=generator(2), **arguments).tolist()


def test_the_order_of_seeds_is_chosen_on_a_sample_where_rows_are_many(monkeypatch):
    rng = generator(3)
    rows = rows_of([frozenset(rng.integers(0, 25, 4).tolist()) for _ in range(300)], 25)
    monkeypatch.setattr(greedy_growth, "EVEN_DEGREES", 1)
    monkeypatch.setattr(greedy_growth, "MOST_TRIED", 100)
    monkeypatch.setattr(greedy_growth, "SAMPLED", 50)
    grown = []
    around = greedy_growth._around

    def noted(rows, seeds, k, quarters):
        grown.append((rows.n_distinct, quarters))
        return around(rows, seeds, k, quarters)

    monkeypatch.setattr(greedy_growth, "_around", noted)
    labels = grown_clusters(rows, k=4, rule=Rule(), seed_order="auto", rng=generator(2))
    assert [(50, 1), (50, 2)] == grown[:2]
    assert rows.n_distinct == grown[2][0]
    assert 3 == len(grown)
    assert np.bincount(labels).min() >= 4


def test_a_sample_has_whole_rows_with_their_copies(monkeypatch):
    rows = rows_of([frozenset(row) for row in [{0}, {1}, {1}, {0, 1}, {2, 3}, {2, 3}]], 4)
    monkeypatch.setattr(greedy_growth, "SAMPLED", 3)
    sample = greedy_growth._sample(rows, generator(1))
    copies = dict(zip(features_of(rows), rows.weights.tolist(), strict=True))
    assert 3 == sample.n_distinct
    for row, weight in zip(features_of(sample), sample.weights.tolist(), strict=True):
        assert copies[row] == weight
    assert np.repeat(np.arange(3), sample.weights).tolist() == sample.kinds.tolist()


def costs(sets, k):
    """The distances of every row to the k nearest, itself included, by comparing all."""
    return [sum(sorted(len(one ^ other) for other in sets)[:k]) for one in sets]


@given(tables(4, 20), st.integers(2, 4), SEEDS)
@settings(deadline=None, max_examples=60)
def test_seeds_come_by_degree_or_by_the_distances_to_the_nearest(table, k, seed):
    sets, _ = table
    rows = rows_of(*table)
    kinds = features_of(rows)
    by_cost = dict(zip(sets, costs(sets, k), strict=True))
    degree = seeds_by(rows, "degree", k=k, rng=generator(seed)).tolist()
    cost = seeds_by(rows, "cost", k=k, rng=generator(seed)).tolist()
    assert list(range(len(kinds))) == sorted(degree) == sorted(cost)
    lengths = [len(kinds[u]) for u in degree]
    assert sorted(lengths, reverse=True) == lengths
    # a row of k copies is a cluster of its own, so its own cost of 0 plays no part
    actual = [by_cost[kinds[u]] for u in cost]
    assert sorted(actual) == actual


def keeps(count, size, rule):
    if rule.ties == "drop":
        return 2 * count > size
    return count >= 1 and count >= rule.theta * size


def jaccard(sets, labels, rule):
    """Return the share kept, cluster by cluster and feature by feature."""
    shared = created = 0
    for cluster in set(labels):
        members = [row for row, label in zip(sets, labels, strict=True) if label == cluster]
        for count in Counter(f for row in members for f in row).values():
            if keeps(count, len(members), rule):
                shared += count
                created += len(members) - count
    either = sum(map(len, sets)) + created
    return Fraction(shared, either) if either else Fraction(1)


def partitions(n, k, labels=()):
    """Yield every partition of n rows into clusters of at least k, as labels."""
    if len(labels) == n:
        if min(Counter(labels).values()) >= k:
            yield labels
        return
    for label in range(max(labels, default=-1) + 2):
        if label < n // k:
            yield from partitions(n, k, (*labels, label))


@given(tables(4, 8), st.integers(2, 4), RULES, ORDERS, SEEDS)
@settings(deadline=None, max_examples=40)
def test_no_clusters_keep_more_than_the_best_partition(table, k, rule, seed_order, seed):
    sets, _ = table
    rows = rows_of(*table)
    best = max(jaccard(sets, labels, rule) for labels in partitions(len(sets), k))
    rng = generator(seed)
    grown = grown_clusters(rows, k=k, rule=rule, seed_order=seed_order, rng=rng)
    refined = refined_clusters(rows, grown, k=k, rule=rule, anneal=0.3, rng=rng)
    actual = jaccard(sets, grown.tolist(), rule), jaccard(sets, refined.tolist(), rule)
    assert actual[0] <= actual[1] <= best


@given(tables(5, 30), st.integers(2, 5), RULES, ORDERS, SEEDS)
@settings(deadline=None, max_examples=80)
def test_clusters_have_k_rows_and_follow_the_seed(table, k, rule, seed_order, seed):
    rows = rows_of(*table)
    options = {"k": k, "rule": rule, "seed_order": seed_order}
    labels = grown_clusters(rows, rng=generator(seed), **options)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert rows.n_rows == sizes.sum()
    again = grown_clusters(rows, rng=generator(seed), **options)
    assert labels.tolist() == again.tolist()


@given(tables(6, 24), st.integers(2, 3), RULES, SEEDS)
@settings(deadline=None, max_examples=60)
def test_auto_keeps_one_of_the_two_orders_and_no_worse_one_on_even_rows(table, k, rule, seed):
    sets = [frozenset(f + 8 * (f in row) for f in range(8)) for row in table[0]]
    rows = rows_of(sets, 16)
    rng = generator(seed)
    one_by_one = [
        jaccard(sets, grown_clusters(rows, k=k, rule=rule, seed_order=o, rng=rng).tolist(), rule)
        for o in ("degree", "cost")
    ]
    auto = grown_clusters(rows, k=k, rule=rule, seed_order="auto", rng=generator(seed))
    assert max(one_by_one) == jaccard(sets, auto.tolist(), rule)

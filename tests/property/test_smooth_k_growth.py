"""Greedy growth on random rows: the kernel against a plain twin, the result against the optimum."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Bipartite
from graphveil.kernels.smooth_k.growth import grow
from graphveil.kernels.smooth_k.overlaps import lists_of
from graphveil.methods.equivalence_classes.rows import collapse
from graphveil.methods.equivalence_classes.rule import Rule
from graphveil.methods.smooth_k.growth import grown_clusters, seeds_by
from graphveil.methods.smooth_k.local_search import refined_clusters
from graphveil.randomness import Randomness

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


@given(tables(2, 24), st.integers(2, 5), st.sampled_from([1, 2]), SEEDS)
@settings(deadline=None, max_examples=200)
def test_growth_equals_that_of_a_twin_that_adds_copy_by_copy(table, k, quarters, seed):
    rows = rows_of(*table)
    unused = np.where(rows.weights >= k, 0, rows.weights)
    seeds = generator(seed).permutation(rows.n_distinct)
    expected = twin_growth(features_of(rows), unused.tolist(), seeds.tolist(), k, quarters)
    lists = lists_of(rows.indptr, rows.indices, rows.n_features)
    steps = grow(rows.indptr, rows.indices, lists, unused, seeds, k, quarters)
    actual = Counter()
    for kind, cluster, copies in steps.tolist():
        actual[kind, cluster] += copies
    assert expected == actual
    assert unused.sum() < k


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

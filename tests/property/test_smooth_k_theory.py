"""The algorithm of the theorem on small random rows, against all subsets and all partitions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import Rule, collapse, kept
from graphveil.methods.smooth_k.facility_location import nearest_sums
from graphveil.methods.smooth_k.kernels.facility import RowKinds
from graphveil.methods.smooth_k.kernels.feature_lists import lists_of
from textbook import smooth_theorem as theory

ALPHAS = st.sampled_from([theory.ALPHA, *(Fraction(n, 10) for n in (1, 2, 3, 5, 8))])
SEEDS = st.integers(0, 2**32)


@st.composite
def tables(draw, smallest=2, largest=7):
    """Draw sets of features, many of them equal or near to each other."""
    n_features = draw(st.integers(0, 8))
    row = st.sets(st.integers(0, n_features - 1)) if n_features else st.just(set())
    patterns = draw(st.lists(row, min_size=1, max_size=7))
    n = draw(st.integers(smallest, largest))
    return [frozenset(draw(st.sampled_from(patterns))) for _ in range(n)], n_features


@st.composite
def planted(draw):
    """Draw 6 or 7 rows around two patterns, of which the best clusters keep much."""
    rng = generator(draw(SEEDS))
    n = draw(st.integers(6, 7))
    table = np.repeat([[1] * 6 + [0] * 6, [0] * 6 + [1] * 6], [3, n - 3], axis=0) == 1
    table ^= rng.random(table.shape) < draw(st.sampled_from([0.02, 0.05, 0.1]))
    return [frozenset(np.flatnonzero(row).tolist()) for row in table], 12


def rows_of(table):
    lists, n_features = table
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])]).astype(np.int64)
    indices = np.array([f for row in lists for f in sorted(row)], dtype=np.int32)
    return collapse(Bipartite(indptr, indices, n_features))


def generator(seed):
    return Randomness(seed=seed).stream("test")


def cheapest(lists, k, alpha):
    """The least cost of facilities over all sets of rows, exactly, and the cost of every set."""
    n = len(lists)
    apart = [[len(u ^ v) for v in lists] for u in lists]
    opening = [2 * alpha / (1 - alpha) * sum(sorted(row)[:k]) for row in apart]
    costs = {
        sites: sum(opening[v] for v in sites) + sum(min(row[v] for v in sites) for row in apart)
        for size in range(1, n + 1)
        for sites in combinations(range(n), size)
    }
    return min(costs.values()), costs


def partitions(members, k):
    """Every way to part the members into clusters of at least k."""
    if not members:
        yield []
        return
    first, *rest = members
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            for more in partitions([u for u in rest if u not in others], k):
                yield [[first, *others], *more]


def best_jaccard(rows, k):
    """The largest Jaccard coefficient of any clusters of at least k rows."""
    best = 0.0
    for parts in partitions(list(range(rows.n_rows)), k):
        labels = np.empty(rows.n_rows, dtype=np.int32)
        for number, part in enumerate(parts):
            labels[part] = number
        best = max(best, kept(rows, labels, Rule()).jaccard)
    return best


def facilities(rows, k, alpha):
    """The facility of every row after the first four steps, and the sites that were opened."""
    distances = theory.hamming_distances(rows)
    costs = theory.opening_costs(distances[:, rows.kinds], k=k, alpha=alpha)
    opened = theory.cheapest_facilities(distances, rows.weights, costs)
    least = math.ceil(alpha * k)
    sites = theory.close_below(distances, rows.weights, opened, least=least, rng=generator(1))
    return sites[rows.kinds], opened


@settings(deadline=None, max_examples=100)
@given(tables(smallest=1), st.integers(1, 7), ALPHAS)
def test_distances_and_costs_are_those_of_the_kernel(table, k, alpha):
    rows = rows_of(table)
    k = min(k, rows.n_rows)
    distances = theory.hamming_distances(rows)
    lists = [frozenset(rows.indices[a:b]) for a, b in zip(rows.indptr, rows.indptr[1:])]  # noqa: B905  pairs of ends
    assert [[len(u ^ v) for v in lists] for u in lists] == distances.tolist()
    kinds = RowKinds(rows.indptr, rows.indices, rows.weights)
    sums = nearest_sums(kinds, lists_of(rows.indptr, rows.indices, rows.n_features), k)
    costs = theory.opening_costs(distances[:, rows.kinds], k=k, alpha=alpha)
    assert np.allclose(float(2 * alpha / (1 - alpha)) * sums, costs)


@settings(deadline=None, max_examples=150)
@given(tables() | planted(), st.integers(2, 7), ALPHAS)
def test_the_program_finds_the_cheapest_of_all_sets_of_facilities(table, k, alpha):
    lists, _ = table
    k = min(k, len(lists))
    rows = rows_of(table)
    _, opened = facilities(rows, k, alpha)
    sites = tuple(sorted(rows.kinds.tolist().index(site) for site in opened.tolist()))
    least, costs = cheapest(lists, k, alpha)
    assert least == costs[sites]


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.integers(1, 7))
def test_the_program_is_exact_for_any_metric_and_any_costs(seed, n):
    rng = generator(seed)
    points = rng.choice(50, n, replace=False)
    distances = np.abs(points[:, None] - points[None, :])
    weights, costs = rng.integers(1, 4, n), rng.integers(0, 30, n).astype(np.float64)
    totals = {
        sites: costs[list(sites)].sum() + weights @ distances[:, list(sites)].min(axis=1)
        for size in range(1, n + 1)
        for sites in combinations(range(n), size)
    }
    opened = theory.cheapest_facilities(distances, weights, costs)
    assert min(totals.values()) == totals[tuple(opened.tolist())]


@settings(deadline=None, max_examples=100)
@given(tables(largest=20) | planted(), st.integers(2, 8), ALPHAS)
def test_an_exact_solution_leaves_no_cluster_below_alpha_k(table, k, alpha):
    rows = rows_of(table)
    k = min(k, rows.n_rows)
    facility, opened = facilities(rows, k, alpha)
    assert opened.tolist() == sorted(set(facility.tolist()))
    assert min(facility.tolist().count(site) for site in opened.tolist()) >= alpha * k


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(1, 9), SEEDS)
def test_closing_leaves_every_row_at_the_nearest_facility_with_enough_rows(counts, least, seed):
    rng = generator(seed)
    points = rng.choice(50, len(counts), replace=False)
    distances, weights = np.abs(points[:, None] - points[None, :]), np.array(counts)
    opened = np.flatnonzero(rng.random(points.size) < 0.7) if points.size > 1 else np.array([0])
    assume(opened.size)
    sites = theory.close_below(distances, weights, opened, least=least, rng=rng)
    remaining = sorted(set(sites.tolist()))
    assert set(remaining) <= set(opened.tolist())
    assert [min(remaining, key=row.__getitem__) for row in distances.tolist()] == sites.tolist()
    assert len(remaining) == 1 or min(weights[sites == site].sum() for site in remaining) >= least


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(1, 25), min_size=1, max_size=12), st.integers(2, 10), ALPHAS, SEEDS)
def test_merging_breaks_no_more_than_the_paper_allows(sizes, k, alpha, seed):
    least = math.ceil(alpha * k)
    sizes = [max(size, least) for size in sizes]
    assume(sum(sizes) >= k)
    labels = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    merged = theory.merge_small(labels, k=k, least=least, rng=generator(seed))
    pieces = np.array(
        [np.bincount(labels[merged == m], minlength=len(sizes)) for m in range(merged.max() + 1)]
    )
    totals = pieces.sum(axis=1)
    assert totals.min() >= k
    assert pieces[pieces > 0].min() >= least
    assert np.sum((pieces > 0).sum(axis=0) > 1) <= 1
    together = totals[(pieces > 0).sum(axis=1) > 1]
    assert together.max(initial=0) <= (2 * k if least == 1 else 3 * k - 1)
    assert np.sum(together > 2 * k) <= 1


@settings(deadline=None, max_examples=150)
@given(tables(largest=20) | planted(), st.integers(2, 8), ALPHAS, SEEDS)
def test_clusters_are_merged_parts_of_facilities(table, k, alpha, seed):
    rows = rows_of(table)
    k = min(k, rows.n_rows)
    labels = theory.alg2_clusters(rows, k=k, alpha=alpha, rng=generator(seed))
    facility, _ = facilities(rows, k, alpha)
    assert set(range(labels.max() + 1)) == set(labels.tolist())
    for number in range(labels.max() + 1):
        parts = np.bincount(facility[labels == number])
        parts = parts[parts > 0]
        assert parts.sum() >= k
        assert parts.min() >= alpha * k
        assert parts.size == 1 or parts.sum() <= (2 * k if alpha * k <= 1 else 3 * k - 1)


@settings(deadline=None, max_examples=40)
@given(planted() | tables(), st.integers(2, 4), ALPHAS, SEEDS)
def test_it_keeps_no_more_than_the_optimum_and_no_less_than_the_theorem_says(table, k, alpha, seed):
    rows = rows_of(table)
    k = min(k, rows.n_rows)
    best = best_jaccard(rows, k)
    labels = theory.alg2_clusters(rows, k=k, alpha=alpha, rng=generator(seed))
    reached = kept(rows, labels, Rule()).jaccard
    assert reached <= best
    assume(best >= 0.75)
    lost = float((1 + alpha) / (1 - alpha)) * (1 - best) / best
    _, before = np.unique(facilities(rows, k, alpha)[0], return_inverse=True)
    before_merging = kept(rows, before.astype(np.int32), Rule()).jaccard
    assert before_merging >= 1 - 2 * lost - 1e-12
    assert reached >= float(alpha) ** 2 / 8 * (1 - 2.976 * lost)

"""The default clusters on small data that can be worked out by hand, and at the edges."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest

from graphveil.core.progress import shown
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import Rule, collapse, kept
from graphveil.methods.smooth_k.greedy_growth import grown_clusters, has_even_degrees, seeds_by
from graphveil.methods.smooth_k.local_search import clusters_of, refined_clusters, temperatures


def generator(seed=1):
    return Randomness(seed=seed).stream("test")


def rows_of(lists, n_features=12):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    indices = np.array([f for row in lists for f in row], dtype=np.int32)
    return collapse(Bipartite(indptr, indices, n_features))


def grown(lists, *, k=2, rule=None, seed_order="auto", seed=1):
    return grown_clusters(
        rows_of(lists),
        k=k,
        rule=Rule() if rule is None else rule,
        seed_order=seed_order,
        rng=generator(seed),
    ).tolist()


def refined(lists, labels, *, k=2, rule=None, seed=1, **options):
    return refined_clusters(
        rows_of(lists),
        np.array(labels, dtype=np.int32),
        k=k,
        rule=Rule() if rule is None else rule,
        rng=generator(seed),
        **options,
    ).tolist()


def groups(labels):
    return sorted(np.nonzero(np.array(labels) == c)[0].tolist() for c in set(labels))


EDGES = {
    "all rows empty": ([[]] * 5, 2),
    "all rows equal": ([[1, 2]] * 5, 2),
    "as many rows as k": ([[0], [1], [2, 3]], 3),
    "k of all rows, some equal": ([[0], [0], [0], [1], []], 5),
    "a feature that all have": ([[0, 1], [0, 2], [0, 3], [0, 4]], 2),
    "a feature that none has": ([[3], [4], [3, 4], [4]], 2),
    "no features in common": ([[0], [1], [2], [3], [4]], 2),
    "one row more than cores": ([[0]] * 3 + [[1]] * 3 + [[0, 1]], 3),
}


@pytest.mark.parametrize(("lists", "k"), EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("rule", [Rule(), Rule(Fraction(1)), Rule(ties="drop")])
@pytest.mark.parametrize("seed_order", ["auto", "degree", "cost"])
def test_edges_give_clusters_of_k_rows(lists, k, rule, seed_order):
    labels = grown(lists, k=k, rule=rule, seed_order=seed_order)
    better = refined(lists, labels, k=k, rule=rule)
    for one in (labels, better):
        sizes = np.bincount(one)
        assert sizes.min() >= k
        assert len(lists) == sizes.sum()
    rows = rows_of(lists)
    before, after = (kept(rows, np.array(one), rule).jaccard for one in (labels, better))
    assert after >= before


def test_rows_without_features_or_without_features_at_all_are_one_cluster():
    assert [0] * 5 == grown([[]] * 5)
    rows = rows_of([[]] * 5, n_features=0)
    options = {"k": 2, "rule": Rule(), "rng": generator()}
    labels = grown_clusters(rows, seed_order="auto", **options)
    assert [0] * 5 == refined_clusters(rows, labels, **options).tolist()


def test_k_equal_rows_are_a_cluster_of_their_own():
    lists = [[0, 1]] * 3 + [[0, 1, 2], [0, 1, 3], [0, 1, 4]]
    assert [[0, 1, 2], [3, 4, 5]] == groups(grown(lists, k=3))


def test_a_cluster_takes_the_rows_that_overlap_most_with_it():
    lists = [[0, 1, 2, 3, 4], [0, 1, 2, 3], [7, 8, 9], [7, 8]]
    assert [[0, 1], [2, 3]] == groups(grown(lists, seed_order="degree"))


def test_without_overlap_the_row_of_lowest_degree_joins():
    lists = [[0, 1, 2, 3], [4, 5, 6], [7, 8], [9]]
    assert [[0, 3], [1, 2]] == groups(grown(lists, seed_order="degree"))


def test_copies_of_a_row_may_part():
    lists = [[0, 1, 2, 3], [0, 1, 2], [0, 1], [0, 1], [0], [1]]
    assert [[0, 1, 2], [3, 4, 5]] == groups(grown(lists, k=3, seed_order="degree"))


def test_the_last_rows_go_where_most_is_kept():
    lists = [[0, 1]] * 2 + [[5, 6]] * 2 + [[5, 6, 7]]
    assert [[0, 1], [2, 3, 4]] == groups(grown(lists))


def test_both_orders_are_tried_only_if_degrees_are_even():
    even = [[0, 1], [1, 2], [2, 3], [0, 3]]
    uneven = [*even, [0, 1, 2, 3, 4, 5, 6]]
    for lists, orders in ((even, 2), (uneven, 1)):
        assert has_even_degrees(rows_of(lists)) == (orders == 2)
        announced = []
        with shown(lambda name, _, announced=announced: nullcontext(announced.append(name))):
            grown(lists)
        assert ["growing clusters"] * orders == announced


def test_seeds_of_equal_rank_come_in_a_random_order():
    rows = rows_of([[f] for f in range(10)])
    orders = [seeds_by(rows, "degree", k=2, rng=generator(seed)).tolist() for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_a_row_of_a_large_cluster_moves():
    lists = [[0, 1], [0, 1], [5, 6], [5, 6], [5, 6]]
    assert [[0, 1], [2, 3, 4]] == groups(refined(lists, [0, 0, 0, 1, 1]))


def test_rows_of_clusters_of_k_change_places():
    lists = [[0, 1], [5, 6], [0, 1], [5, 6]]
    assert [[0, 2], [1, 3]] == groups(refined(lists, [0, 0, 1, 1]))


def test_a_small_cluster_dissolves():
    lists = [[0, 1]] * 3 + [[5, 6]] * 3 + [[0, 1], [5, 6]]
    labels = refined(lists, [0, 0, 0, 1, 1, 1, 2, 2])
    assert [[0, 1, 2, 6], [3, 4, 5, 7]] == groups(labels)
    assert {0, 1} == set(labels)


def test_clusters_that_keep_everything_stay():
    lists = [[0, 1]] * 2 + [[5, 6]] * 2
    announced = []
    with shown(lambda name, total: nullcontext(lambda done: announced.append((name, total, done)))):
        assert [0, 0, 1, 1] == refined(lists, [0, 0, 1, 1])
    assert [("local search", 6, 1)] * 2 == announced


def test_annealing_takes_twenty_passes_and_cools_down_through_fourteen():
    heats = temperatures(6, 0.28)
    assert [0.28, 0.14, 0.02] == [round(heats[at], 9) for at in (0, 7, 13)]
    assert [0.0] * 6 == heats[14:]
    assert [0.0] * 6 == temperatures(6, None) == temperatures(6, 0)


def test_the_same_seed_gives_the_same_clusters_in_threads():
    draw = generator(7)
    lists = [sorted(draw.choice(12, draw.integers(1, 6), replace=False)) for _ in range(200)]

    def run(_):
        labels = grown(lists, k=3, seed=5)
        return refined(lists, labels, k=3, seed=5, anneal=0.3)

    alone = run(0)
    with ThreadPoolExecutor(2) as pool:
        assert [alone, alone] == list(pool.map(run, range(2)))


def test_the_table_of_counts_takes_fewer_than_a_hundred_bytes_an_entry():
    draw = generator(3)
    lists = [sorted(draw.choice(500, 12, replace=False)) for _ in range(1000)]
    rows = rows_of(lists, n_features=500)
    clusters = clusters_of(rows, np.arange(1000, dtype=np.int32) // 8, Rule())
    n_bytes = sum(array.nbytes for array in clusters.state)
    assert n_bytes < 100 * clusters.entries

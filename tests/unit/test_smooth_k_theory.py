"""The algorithm of the theorem on data whose result can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from graphveil.core.errors import InfeasibleError, ParameterError, UsageError
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import collapse
from textbook import smooth_theorem as theory

HALF = Fraction(1, 2)


def rows_of(lists, n_features=9):
    return collapse(bipartite(lists, n_features))


def bipartite(lists, n_features=9):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    indices = np.array([f for row in lists for f in row], dtype=np.int32)
    return Bipartite(indptr, indices, n_features)


def generator(seed=1):
    return Randomness(seed=seed).stream("test")


def clusters(lists, *, seed=1, n_features=9, **options):
    rows = rows_of(lists, n_features)
    return theory.alg2_clusters(rows, **({"k": 2} | options), rng=generator(seed)).tolist()


def merged_sizes(sizes, *, k, least=1, seed=1):
    labels = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    merged = theory.merge_small(labels, k=k, least=least, rng=generator(seed))
    return sorted(np.bincount(merged).tolist())


@pytest.mark.parametrize("alpha", [theory.ALPHA, HALF, 0.9])
def test_k_rows_are_one_cluster(alpha):
    assert [0] * 4 == clusters([[0], [1, 2], [], [3]], k=4, alpha=alpha)


@pytest.mark.parametrize("row", [[], [2, 5]])
def test_equal_rows_are_one_cluster(row):
    assert [0] * 7 == clusters([row] * 7)


def test_data_without_features_is_one_cluster():
    assert [0] * 3 == clusters([[], [], []], n_features=0)


def test_an_empty_row_goes_with_other_empty_rows():
    labels = clusters([[], [0, 1], [], [0, 1]])
    assert labels[0] == labels[2] != labels[1] == labels[3]


def test_rows_with_k_copies_stay_together_whatever_alpha():
    for alpha in (theory.ALPHA, HALF, 0.99):
        labels = clusters([[0, 1], [5], []] * 3, k=3, alpha=alpha)
        assert labels == labels[:3] * 3
        assert {0, 1, 2} == set(labels[:3])


def test_near_rows_share_a_facility_where_alpha_makes_facilities_dear():
    near, far = [[0, 1, 2], [0, 1, 2, 3], [0, 1]], [[5, 6, 7], [5, 6, 7, 8], [5, 6]]
    labels = clusters(near + far, k=3, alpha=HALF)
    assert 2 == len(set(labels))
    assert 1 == len(set(labels[:3])) == len(set(labels[3:]))


def test_the_release_holds_what_at_least_half_of_a_cluster_has():
    data = bipartite([[0, 1], [0, 1, 2], [0, 4], [0]])
    out, labels = theory.alg2(data, k=4, rng=generator())
    assert [0, 0, 0, 0] == labels.tolist()
    assert [[0, 1]] * 4 == [out.row(u).tolist() for u in range(4)]
    assert data.n_features == out.n_features


def test_a_float_alpha_is_the_decimal_that_it_prints_as():
    lists = [[0], [0, 1], [1], [5], [5, 6], [6], []]
    expected = clusters(lists, k=3, alpha=Fraction(1, 10))
    assert expected == clusters(lists, k=3, alpha=0.1)
    assert expected == clusters(lists, k=3, alpha=np.float64(0.1))


def test_the_default_alpha_is_that_of_the_proof():
    assert Fraction("0.004") == theory.ALPHA


def test_opening_costs_count_the_k_nearest_rows_with_copies():
    rows = rows_of([[0], [0], [0, 1], [2]])
    to_rows = theory.hamming_distances(rows)[:, rows.kinds]
    costs = theory.opening_costs(to_rows, k=3, alpha=Fraction(1, 3))
    assert [1.0, 1.0, 2.0, 4.0] == costs[rows.kinds].tolist()


def test_a_small_cluster_goes_to_its_second_closest_facility_and_so_on():
    points = np.array([0, 2, 5, 9])
    distances = np.abs(points[:, None] - points[None, :])
    weights, opened = np.array([1, 1, 1, 3]), np.arange(4)
    outcomes = {
        tuple(theory.close_below(distances, weights, opened, least=3, rng=generator(seed)).tolist())
        for seed in range(30)
    }
    assert {(1, 1, 1, 3), (2, 2, 2, 3), (3, 3, 3, 3)} == outcomes


def test_the_last_facility_stays_however_few_its_clients():
    sites = theory.close_below(
        np.array([[0, 1], [1, 0]]), np.array([1, 1]), np.array([0, 1]), least=9, rng=generator()
    )
    assert sites.tolist() in ([0, 0], [1, 1])


@pytest.mark.parametrize(
    ("sizes", "k", "expected"),
    [
        ([5], 5, [5]),
        ([4, 1, 1, 2], 4, [4, 4]),
        ([1, 1, 1, 1, 1], 2, [2, 3]),
        ([7, 1], 4, [8]),
        ([8, 1], 4, [4, 5]),
        ([7, 5, 1], 4, [6, 7]),
        ([30, 1], 4, [4, 27]),
        ([3, 3, 3], 4, [4, 5]),
    ],
)
def test_small_clusters_are_merged_and_large_ones_are_broken_where_needed(sizes, k, expected):
    for seed in range(5):
        assert expected == merged_sizes(sizes, k=k, seed=seed)


def test_no_piece_of_a_broken_cluster_is_below_the_least():
    assert [14, 16] == merged_sizes([9, 21], k=10, least=5)


def test_where_nothing_can_be_broken_the_rest_joins_the_smallest_cluster():
    assert [21] == merged_sizes([9, 12], k=10, least=5)
    assert [27] == merged_sizes([9, 9, 9], k=10, least=5)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, float("nan"), float("inf"), "half", None])
def test_an_alpha_that_is_no_share_is_refused(alpha):
    with pytest.raises(ParameterError, match=r"alpha=.* is not between 0 and 1\. Use, for example"):
        clusters([[0], [1]], alpha=alpha)


def test_a_k_of_one_is_refused():
    with pytest.raises(ParameterError, match="k=1 is below 2"):
        clusters([[0], [1]], k=1)


@pytest.mark.parametrize("lists", [[], [[0]]])
def test_fewer_rows_than_k_are_refused(lists):
    with pytest.raises(
        InfeasibleError, match=f"k=2 needs at least 2 rows; the data has {len(lists)}"
    ):
        clusters(lists)


def test_too_many_rows_are_refused_and_smooth_k_is_named():
    assert 300 == len(clusters([[0], [1]] * 150))
    with pytest.raises(UsageError, match=r"at most 300 rows; the data has 301\. Use smooth-k\."):
        clusters([[0]] * 301)


def test_a_program_that_is_not_solved_is_a_bug(monkeypatch):
    failed = SimpleNamespace(success=False, message="out of luck")
    monkeypatch.setattr(theory.optimize, "milp", lambda *_, **__: failed)
    with pytest.raises(AssertionError, match="out of luck"):
        clusters([[0], [1]])


def test_the_same_seed_gives_the_same_clusters():
    lists = [[f] for f in range(9)] * 3
    assert clusters(lists, k=4, seed=5) == clusters(lists, k=4, seed=5)
    assert 1 < len({tuple(clusters(lists, k=4, seed=seed)) for seed in range(5)})

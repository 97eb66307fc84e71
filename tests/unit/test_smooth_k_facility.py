"""The published facility location on small data whose clusters can be worked out by hand."""

from __future__ import annotations

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from graphveil.core.progress import shown
from graphveil.core.randomness import Randomness
from graphveil.data import Bipartite
from graphveil.methods.equivalence_classes.rule import collapse
from graphveil.methods.smooth_k.facility_location import (
    FacilityPlan,
    close,
    cut_up,
    facility_clusters,
    nearest_sums,
)
from graphveil.methods.smooth_k.kernels.facility import (
    FAR,
    NONE,
    Nearest,
    RowKinds,
    RowStream,
    open_facilities,
)
from graphveil.methods.smooth_k.kernels.feature_lists import lists_of

DATA_SETS = Path(__file__).resolve().parents[2] / "benchmarks" / "smooth_anonymity" / "data.py"


def rows_of(lists, n_features=9):
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    indices = np.array([f for row in lists for f in row], dtype=np.int32)
    return collapse(Bipartite(indptr, indices, n_features))


def generator(seed):
    return Randomness(seed=seed).stream("test")


def clusters(rows, *, seed=1, **options):
    return facility_clusters(rows, **({"k": 2} | options), rng=generator(seed)).tolist()


def shuffled_rows(seed=3, n=60, n_features=12):
    """Rows without copies to speak of, the first of them empty."""
    rng = generator(seed)
    drawn = [np.flatnonzero(rng.random(n_features) < 0.3).tolist() for _ in range(n - 1)]
    return rows_of([[], *drawn], n_features)


class OnePass:
    """The rows that come in a given order, with given coins."""

    def __init__(self, lists, coins, factor):
        self.rows = rows_of(lists)
        kinds = RowKinds(self.rows.indptr, self.rows.indices, self.rows.weights)
        lists = lists_of(self.rows.indptr, self.rows.indices, self.rows.n_features)
        n, distinct = self.rows.n_rows, self.rows.n_distinct
        self.came = RowStream(
            self.rows.kinds, np.array(coins), np.zeros(n, np.int32), np.zeros(n, np.int64)
        )
        self.nearest = Nearest(np.zeros(distinct, np.int64), np.zeros(distinct, np.int32))
        self.opened = np.zeros(distinct, dtype=np.int32)
        sums = nearest_sums(kinds, lists, wanted=n)
        self.n_open = open_facilities(
            kinds, lists, sums, factor, self.came, self.nearest, self.opened
        )


@pytest.mark.parametrize("assign", ["nearest", "arrival"])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("cost_factor", [None, 0.0])
def test_k_rows_are_one_cluster(assign, cut, cost_factor):
    rows = rows_of([[0], [1, 2], [], [3]])
    options = {"assign": assign, "cut": cut, "cost_factor": cost_factor}
    assert [0, 0, 0, 0] == clusters(rows, k=4, **options)


@pytest.mark.parametrize("row", [[], [2, 5]])
def test_equal_rows_are_one_cluster_that_only_cutting_parts(row):
    rows = rows_of([row] * 7)
    assert [0] * 7 == clusters(rows)
    assert [0, 0, 0, 1, 1, 2, 2] == clusters(rows, cut=True)


def test_data_without_features_is_one_cluster():
    assert [0, 0, 0] == clusters(rows_of([[], [], []], n_features=0))


def test_rows_with_enough_copies_open_facilities_for_nothing():
    rows = rows_of([[0, 1], [5], []] * 4)
    labels = clusters(rows)
    assert labels == labels[:3] * 4
    assert {0, 1, 2} == set(labels[:3])


def test_a_row_that_shares_nothing_goes_to_the_facility_of_fewest_features():
    rows = rows_of([[0, 1, 2]] * 4 + [[3]] * 4 + [[7]])
    labels = clusters(rows)
    assert labels[4] == labels[8] != labels[0]


def test_an_empty_row_is_nearest_to_empty_rows():
    rows = rows_of([[0]] * 4 + [[]] * 5)
    labels = clusters(rows)
    assert [labels[4]] * 5 == labels[4:]
    assert labels[0] != labels[4]


def test_the_sum_counts_copies_and_the_row_itself():
    rows = rows_of([[0], [0], [0, 1], [2, 3, 4], []])
    kinds = RowKinds(rows.indptr, rows.indices, rows.weights)
    lists = lists_of(rows.indptr, rows.indices, rows.n_features)
    sums = {wanted: nearest_sums(kinds, lists, wanted)[rows.kinds].tolist() for wanted in (1, 2, 4)}
    assert {1: [0, 0, 0, 0, 0], 2: [0, 0, 1, 3, 1], 4: [2, 2, 4, 11, 4]} == sums


def test_the_first_row_opens_and_then_those_whose_coin_says_so():
    # the distances from [0] sum to 4, from [1, 2] to 7, from [0, 3] to 5
    lists = [[0], [1, 2], [0, 3]]
    assert [0, 0, 0] == OnePass(lists, [0.9, 3.01 / 7, 1.01 / 5], 1.0).came.facility.tolist()
    one = OnePass(lists, [0.9, 2.99 / 7, 1.01 / 5], 1.0)
    assert [0, 1, 0] == one.came.facility.tolist()
    assert [0, 0, 1] == one.came.distance.tolist()
    assert one.rows.kinds.tolist()[:2] == one.opened[: one.n_open].tolist()
    one = OnePass(lists, [0.9, 3.01 / 7, 0.99 / 5], 1.0)
    assert [0, 0, 1] == one.came.facility.tolist()
    assert [0, 3, 0] == one.came.distance.tolist()
    assert [0, 1, 2] == OnePass(lists, [0.9, 0.9, 0.9], 0.1).came.facility.tolist()


def test_a_row_without_a_shared_feature_knows_no_facility():
    one = OnePass([[0], [1, 2]], [0.5, 0.9], 2.0)
    kind = one.rows.kinds[1]
    assert (FAR, NONE) == (one.nearest.distance[kind], one.nearest.facility[kind])
    assert [0, 3] == one.came.distance.tolist()


def test_of_facilities_of_equally_few_features_the_first_takes_rows_that_share_nothing():
    one = OnePass([[3, 4, 5], [0], [1], [2]], [0.0, 0.0, 0.0, 0.99], 1.0)
    assert [0, 1, 2, 1] == one.came.facility.tolist()


def test_a_copy_of_a_facility_tosses_no_coin():
    one = OnePass([[0], [0], [0, 1]], [0.0, 0.0, 0.0], 1.0)
    assert [0, 0, 1] == one.came.facility.tolist()


def closed_from(lists, at, *, k, seed=1):
    """Close small facilities: a facility at the first row of every number, in their order."""
    rows = rows_of(lists)
    kinds = RowKinds(rows.indptr, rows.indices, rows.weights)
    opened = np.array([rows.kinds[at.index(number)] for number in range(max(at) + 1)])
    plan = FacilityPlan(opened.astype(np.int32), np.array(at, dtype=np.int32), 0.0)
    return close(rows, kinds, plan, k=k, rng=generator(seed)).tolist()


def test_clients_of_a_closed_facility_go_where_each_is_nearest():
    lists = [[0, 1]] * 3 + [[5, 6]] * 3 + [[0, 1, 5], [0, 5, 6]]
    at = [0, 0, 0, 1, 1, 1, 2, 2]
    assert [0, 0, 0, 1, 1, 1, 0, 1] == closed_from(lists, at, k=3)


def test_a_tie_goes_to_a_shared_feature_then_to_the_first_facility():
    lists = [[1, 2]] * 3 + [[7]] * 3 + [[0, 1]] * 3 + [[0, 2], [1]]
    at = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    # [0, 2] is 2 from [1, 2] and from [0, 1]; [1] is 1 from both and 2 from [7]
    assert [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0] == closed_from(lists, at, k=3)
    # [0, 3] is 2 from the facility [0, 1] that shares 0, and 2 from the empty one
    lists = [[]] * 3 + [[0, 1]] * 3 + [[0, 3]]
    assert [0, 0, 0, 1, 1, 1, 1] == closed_from(lists, [0, 0, 0, 1, 1, 1, 2], k=3)


@pytest.mark.parametrize("seed", range(5))
def test_the_last_facility_stays_whatever_the_order(seed):
    lists = [[0], [1], [2], [3]]
    assert [0, 0, 0, 0] == closed_from(lists, [0, 1, 2, 3], k=4, seed=seed)


def test_pieces_are_taken_in_the_order_of_the_rows():
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 1, 1], dtype=np.int32)
    assert [0, 2, 0, 2, 1, 2, 1, 3, 3] == cut_up(labels, k=2).tolist()


def test_a_cost_factor_not_given_is_two_over_beta_minus_one():
    rows = shuffled_rows()
    assert clusters(rows, beta=3.0) == clusters(rows, beta=3.0, cost_factor=1.0)
    assert clusters(rows, beta=1.5) == clusters(rows, beta=1.5, cost_factor=4.0)


def test_free_facilities_are_every_row_before_small_ones_close():
    rows = rows_of([[0], [1], [2], [0], [1], [2]])
    labels = clusters(rows, cost_factor=0.0, runs=1)
    assert labels == labels[:3] * 2
    assert {0, 1, 2} == set(labels)


def test_the_same_seed_gives_the_same_clusters_in_any_thread():
    rows = shuffled_rows()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: clusters(rows, seed=5), range(8)))
    assert [clusters(rows, seed=5)] * 8 == results
    assert clusters(rows, seed=6, cost_factor=0.1) != clusters(rows, seed=7, cost_factor=0.1)


def test_every_run_is_reported():
    announced = []
    with shown(lambda name, total: nullcontext(lambda done: announced.append((name, total, done)))):
        clusters(shuffled_rows(), runs=3)
    assert [("opening facilities", 3, 1)] * 3 == announced


def data_sets():
    spec = importlib.util.spec_from_file_location("smooth_anonymity_data", DATA_SETS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_made_data_sets_are_as_described():
    sets = data_sets()
    planted = sets.stochastic(1)
    assert (1024, 1024) == (planted.n_users, planted.n_features)
    blocks = (planted.rows() // 64 == planted.indices // 64).mean()
    assert planted.n_entries == pytest.approx(1024 * (0.8 * 64 + 0.01 * 960), rel=0.02)
    assert blocks == pytest.approx(51.2 / 60.8, abs=0.01)
    lists = sets.userlists(20_000)
    assert (20_000, 100_000) == (lists.n_users, lists.n_features)
    assert lists.n_entries / 20_000 == pytest.approx(8.1, abs=0.1)
    assert 60 >= np.diff(lists.indptr).max()
    assert sets.userlists(20_000) == lists

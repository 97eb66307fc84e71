from __future__ import annotations

import numpy as np
import pytest

from graphveil.core.errors import DataError, InfeasibleError, ParameterError
from graphveil.methods.k_degree.assignment import targets_per_node
from graphveil.methods.k_degree.paper import (
    dp_graph_anonymization,
    greedy_rec_algorithm,
)
from graphveil.methods.k_degree.parity import settle_parity
from graphveil.methods.k_degree.sequence import (
    DegreeRuns,
    Plan,
    bound_for_targets,
    greedy_plan,
    lower_bound_edits,
    optimal_plan,
    runs_of,
)

BY_HAND = np.array([3, 2, 2, 2, 1, 1])


def targets_of(plan: Plan) -> list[int]:
    return np.repeat(plan.target, plan.count).tolist()


def plan_of(*pieces: tuple[int, int, int]) -> Plan:
    """A plan of (degree, target, count) without freedom."""
    degree, target, count = (
        np.array(column, dtype=np.int64) for column in zip(*pieces, strict=True)
    )
    plan = Plan(0, degree, target, count, target, target, target.max() - target)
    return plan._replace(cost=plan.distance)


def test_the_hand_example_costs_4_by_optimum_7_by_greedy_and_2_by_median():
    runs = runs_of(BY_HAND)
    assert 4 == optimal_plan(runs, 3, edits="add").cost
    assert 7 == greedy_plan(runs, 3).cost
    assert 2 == optimal_plan(runs, 3, edits="any").cost


def test_the_textbook_algorithms_answer_in_the_callers_order():
    assert [2, 3, 3, 3, 2, 2] == dp_graph_anonymization([1, 3, 2, 2, 1, 2], 3).tolist()
    assert [3] * 6 == greedy_rec_algorithm([1, 3, 2, 2, 1, 2], 3).tolist()


def test_runs_list_every_distinct_degree_from_the_highest():
    runs = runs_of(np.array([0, 5, 2, 5, 0, 0], dtype=np.int32))
    assert ([5, 2, 0], [2, 1, 3]) == (runs.degree.tolist(), runs.count.tolist())
    assert (np.int64, np.int64) == (runs.degree.dtype, runs.count.dtype)


def test_runs_of_a_degree_far_above_n_need_no_table_of_that_size():
    runs = runs_of(np.array([10**15, 3, 3]))
    assert ([10**15, 3], [1, 2]) == (runs.degree.tolist(), runs.count.tolist())


def test_an_even_median_group_is_free_between_its_two_middles():
    plan = optimal_plan(runs_of(np.array([9, 7, 3, 1])), 4, edits="any")
    assert (12, [3] * 4, [7] * 4) == (plan.cost, plan.low.tolist(), plan.high.tolist())


def test_an_odd_median_group_has_no_freedom():
    plan = optimal_plan(runs_of(np.array([9, 4, 1])), 3, edits="any")
    assert (8, [4] * 3, [4] * 3) == (plan.cost, plan.low.tolist(), plan.high.tolist())


def test_with_k_1_nothing_changes():
    for edits in ("add", "any"):
        plan = optimal_plan(runs_of(BY_HAND), 1, edits=edits)
        assert (0, [3, 2, 2, 2, 1, 1]) == (plan.cost, targets_of(plan))
    assert [3, 2, 2, 2, 1, 1] == targets_of(greedy_plan(runs_of(BY_HAND), 1))


def test_with_k_n_there_is_one_group():
    assert [3] * 6 == targets_of(optimal_plan(runs_of(BY_HAND), 6, edits="add"))
    assert [2] * 6 == targets_of(optimal_plan(runs_of(BY_HAND), 6, edits="any"))
    assert [3] * 6 == targets_of(greedy_plan(runs_of(BY_HAND), 6))


@pytest.mark.parametrize("edits", ["add", "any"])
def test_fewer_nodes_than_k_is_infeasible_and_the_error_says_both_numbers(edits):
    with pytest.raises(InfeasibleError, match="k=7 exceeds the 6 nodes"):
        optimal_plan(runs_of(BY_HAND), 7, edits=edits)


@pytest.mark.parametrize("anonymize", [dp_graph_anonymization, greedy_rec_algorithm])
def test_the_textbook_algorithms_refuse_what_they_cannot_use(anonymize):
    with pytest.raises(InfeasibleError, match="the data has 0"):
        anonymize([], 1)
    with pytest.raises(ParameterError, match="k=0"):
        anonymize([1, 1], 0)
    with pytest.raises(DataError, match="A degree is -1"):
        anonymize([-1, 1], 1)
    with pytest.raises(DataError, match="float64"):
        anonymize([0.5, 1.0], 1)
    with pytest.raises(DataError, match="exceed 64 bits"):
        anonymize([2**62, 1], 1)


def test_sums_beyond_64_bits_are_refused_and_never_wrap():
    with pytest.raises(DataError, match="exceed 64 bits"):
        optimal_plan(runs_of(np.array([2**62, 1])), 2, edits="add")


@pytest.mark.parametrize("edits", ["add", "any"])
def test_products_beyond_64_bits_do_not_disturb_the_optimum(edits):
    unit = 2**50
    degrees = np.array([60, 53, 31, 30, 29, 9, 8, 2, 1, 1])
    small = optimal_plan(runs_of(degrees), 3, edits=edits)
    large = optimal_plan(runs_of(degrees * unit), 3, edits=edits)
    assert (small.cost * unit, [t * unit for t in targets_of(small)]) == (
        large.cost,
        targets_of(large),
    )


def test_a_long_run_costs_nothing_and_is_looked_at_once():
    runs = DegreeRuns(np.array([5, 2, 1]), np.array([1, 10**12, 3]))
    assert 3 == optimal_plan(runs, 2, edits="add").cost
    assert 3 == optimal_plan(runs, 2, edits="any").cost
    assert 3 == greedy_plan(runs, 2).cost


def test_parity_moves_one_node_up_to_the_next_class_at_cost_1():
    plan = optimal_plan(runs_of(np.array([2, 1, 1, 1, 1])), 2, edits="add")
    settled = settle_parity(plan, 2, 5, edits="add")
    assert ([2, 2, 2, 1, 1], 1, 2) == (targets_of(settled), settled.cost, settled.distance)


def test_parity_goes_one_up_with_a_whole_odd_class_when_no_node_may_leave_it():
    settled = settle_parity(plan_of((3, 3, 3)), 3, 6, edits="add")
    assert [4, 4, 4] == targets_of(settled)


def test_parity_opens_a_new_class_before_it_moves_a_large_one():
    settled = settle_parity(plan_of((8, 8, 2), (1, 1, 7)), 2, 9, edits="add")
    assert [8, 8, 2, 2, 2, 1, 1, 1, 1] == targets_of(settled)


def test_parity_with_medians_may_lower_a_class():
    settled = settle_parity(plan_of((5, 5, 3), (4, 5, 2)), 5, 6, edits="any")
    assert [4] * 5 == targets_of(settled)


def test_parity_never_lowers_a_node_below_its_degree_when_edges_are_only_added():
    settled = settle_parity(plan_of((5, 5, 3), (4, 5, 2)), 3, 9, edits="add")
    assert [6] * 5 == targets_of(settled)


def test_parity_leaves_an_even_sum_alone():
    plan = optimal_plan(runs_of(np.array([4, 3, 2, 2, 2, 1])), 2, edits="add")
    assert [4, 4, 2, 2, 2, 2] == targets_of(settle_parity(plan, 2, 6, edits="add"))


def test_even_groups_choose_targets_that_balance_raises_and_reductions():
    plan = optimal_plan(runs_of(np.array([12, 12, 10, 8, 2, 2])), 6, edits="any")
    settled = settle_parity(plan, 6, 20, edits="any")
    assert ([8] * 6, 2) == (targets_of(settled), settled.surplus)
    plan = optimal_plan(runs_of(np.array([15, 12, 10, 8, 8, 7])), 6, edits="any")
    settled = settle_parity(plan, 6, 20, edits="any")
    assert ([10] * 6, 0) == (targets_of(settled), settled.surplus)


def test_a_target_of_n_is_refused():
    with pytest.raises(InfeasibleError, match="A target of 6 needs more than 6 nodes"):
        settle_parity(plan_of((6, 6, 6)), 2, 6, edits="add")


def test_lower_keys_get_higher_targets_and_equal_keys_go_by_node():
    degrees = np.array([2, 2, 2, 2, 5])
    plan = plan_of((5, 5, 1), (2, 5, 2), (2, 2, 2))
    by_key = targets_per_node(degrees, plan, np.array([3.0, 1.0, 2.0, 4.0, 0.0]))
    assert [2, 5, 5, 2, 5] == by_key.tolist()
    assert [5, 5, 2, 2, 5] == targets_per_node(degrees, plan, np.zeros(5)).tolist()


def test_targets_are_handed_out_for_degrees_far_above_n_as_well():
    degrees = np.array([3, 10**12, 3, 10**12 + 5])
    plan = optimal_plan(runs_of(degrees), 2, edits="add")
    targets = targets_per_node(degrees, plan, np.arange(4))
    assert [3, 10**12 + 5, 3, 10**12 + 5] == targets.tolist()


def test_narrow_and_read_only_degrees_give_the_same_targets():
    narrow = BY_HAND.astype(np.int32)
    narrow.setflags(write=False)
    keys = np.arange(6)
    for edits in ("add", "any"):
        expected = targets_per_node(
            BY_HAND, optimal_plan(runs_of(BY_HAND), 3, edits=edits), keys
        ).tolist()
        plan = optimal_plan(runs_of(narrow), 3, edits=edits)
        assert expected == targets_per_node(narrow, plan, keys).tolist()


def test_an_odd_cost_needs_one_more_change():
    assert [0, 1, 1, 2] == [lower_bound_edits(cost) for cost in range(4)]


def test_the_bound_counts_edges_that_raised_nodes_cannot_share():
    assert 0 == bound_for_targets(np.array([0, 0]))
    assert 5 == bound_for_targets(np.array([5, 0, 0, 0, 0, 0]))
    assert 7 == bound_for_targets(np.array([4, 4, 0, 0, 0, 0]))
    assert 2 == bound_for_targets(np.array([1, 1, 1]))
    assert 3 == bound_for_targets(np.array([2, -1, -1, 0]))

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

import graphveil as gv
from graphveil.claims.conditions import (
    EditBudget,
    NoisyDegrees,
    NothingAdded,
    ProtectedPeople,
    RandomizedCells,
    SuppressionHistogram,
    TrueOfShare,
)
from graphveil.claims.guarantees import (
    AdaptiveAnonymity,
    AnyGuarantee,
    EdgeDP,
    KAnonymity,
    NodeDP,
    NotClaimed,
    SmoothKAnonymity,
    StructuralKAnonymity,
    unclaimed,
)
from graphveil.core.errors import ParameterError
from graphveil.methods.goals import Budget
from stars import stars_by_row

AT_TEN = StructuralKAnonymity(k=5, measure="count", phi=10.0)


def test_a_promise_at_phi_names_the_percentage_and_says_what_it_leaves_open():
    assert (
        "Every node of the release has at least 4 others whose degree and triangle count are each "
        "within 10% of its own." == AT_TEN.sentence
    )
    assert "around numbers that are off" in AT_TEN.threat_model
    some = StructuralKAnonymity(k=2, measure="count", phi=2.5, share=0.9)
    assert "At least 90% of the nodes of the release have at least 1 other whose" in some.sentence
    assert "within 2.5% of their own." in some.sentence


@pytest.mark.parametrize("phi", [-1.0, 100.0, float("nan"), -0.0, 0.00001, 1e-300])
def test_an_uncertainty_that_is_no_percentage_of_four_decimals_is_refused(phi):
    with pytest.raises(ParameterError, match="phi="):
        StructuralKAnonymity(k=2, measure="count", phi=phi)


def test_the_promise_to_everyone_names_the_others_a_node_looks_like():
    assert (
        "Every node of the release has the same degree as at least 4 others."
        == StructuralKAnonymity(k=5).sentence
    )


def test_one_other_is_singular():
    assert StructuralKAnonymity(k=2).sentence.endswith("at least 1 other.")


def test_a_partial_promise_names_its_share_and_promises_no_more():
    partial = StructuralKAnonymity(k=3, share=0.95)
    assert "At least 95% of the nodes" in partial.sentence
    assert "for whom the guarantee holds" in partial.threat_model
    assert "Every node" not in partial.sentence


def test_the_threat_model_says_what_the_adversary_knows_and_is_left_with():
    model = StructuralKAnonymity(k=7).threat_model
    assert "number of a person's neighbors" in model
    assert "at least 7 nodes" in model


@pytest.mark.parametrize("wrong", [{"k": 0}, {"k": -3}])
def test_a_class_size_below_one_is_refused_with_its_value(wrong):
    with pytest.raises(ParameterError, match=f"k={wrong['k']}"):
        StructuralKAnonymity(**wrong)


@pytest.mark.parametrize("share", [0.0, -0.5, 1.0001, float("nan")])
def test_a_share_that_is_no_fraction_is_refused(share):
    with pytest.raises(ParameterError, match="share="):
        StructuralKAnonymity(k=2, share=share)


@pytest.mark.parametrize(
    "guarantee", [StructuralKAnonymity(k=4), StructuralKAnonymity(k=2, share=0.9)]
)
def test_a_guarantee_survives_json_with_its_type(guarantee):
    raw = msgspec.json.encode(guarantee)
    assert "structural-k-anonymity" == msgspec.json.decode(raw)["type"]
    assert guarantee == msgspec.json.decode(raw, type=AnyGuarantee)


def test_a_guarantee_read_from_json_is_checked_like_any_other():
    with pytest.raises(ParameterError, match="k=0"):
        msgspec.json.decode(b'{"type": "structural-k-anonymity", "k": 0}', type=AnyGuarantee)


def test_a_guarantee_cannot_be_changed():
    with pytest.raises(AttributeError):
        StructuralKAnonymity(k=4).k = 5


def test_it_is_checked_again_from_files():
    assert "recomputed" == StructuralKAnonymity.check_word


@pytest.mark.parametrize(
    ("promised", "claimed", "covered"),
    [
        (KAnonymity(k=5), KAnonymity(k=5), True),
        (KAnonymity(k=5), KAnonymity(k=4), False),
        (KAnonymity(k=5), SmoothKAnonymity(k=5), False),
        (StructuralKAnonymity(k=5), StructuralKAnonymity(k=5, share=0.5), True),
        (StructuralKAnonymity(k=5, share=0.5), StructuralKAnonymity(k=5), False),
        (StructuralKAnonymity(k=5), StructuralKAnonymity(k=5, measure="count"), False),
        (AT_TEN, StructuralKAnonymity(k=5, measure="count", phi=10.0, share=0.9), True),
        (AT_TEN, StructuralKAnonymity(k=5, measure="count", phi=9.0), False),
        (StructuralKAnonymity(k=5, measure="count"), AT_TEN, False),
        (AdaptiveAnonymity(level=5), AdaptiveAnonymity(level=5, common=False), False),
        (EdgeDP(epsilon=1.0), EdgeDP(epsilon=2.0), False),
        (EdgeDP(epsilon=1.0), NotClaimed(reasons=("trial",)), True),
        (NotClaimed(reasons=("trial",)), EdgeDP(epsilon=1.0), False),
        (NotClaimed(reasons=("unproved",)), NotClaimed(reasons=("unproved", "trial")), True),
        (NotClaimed(reasons=("unproved",)), NotClaimed(reasons=("trial",)), False),
    ],
)
def test_a_run_may_claim_what_was_promised_or_less(promised, claimed, covered):
    assert covered == promised.covers(claimed)


def test_reasons_for_claiming_nothing_add_up():
    seeded = unclaimed(NotClaimed(reasons=("unproved",)), "repeatable")
    assert ("repeatable", "unproved") == seeded.reasons
    assert "is reproducible" in seeded.why
    assert "no proof of a bound" in seeded.why
    with pytest.raises(ParameterError, match="each once"):
        NotClaimed(reasons=("unproved", "repeatable"))


@pytest.mark.parametrize(
    ("condition", "wrong"),
    [
        (EditBudget, {}),
        (EditBudget, {"edges": 1, "share": 0.5}),
        (EditBudget, {"edges": 0}),
        (EditBudget, {"share": 1.5}),
        (TrueOfShare, {"theta": "2/4"}),
        (TrueOfShare, {"theta": "1/3"}),
        (SuppressionHistogram, {"rows": ((1, 2), (0, 3))}),
        (SuppressionHistogram, {"rows": ((1, 2), (1, 3))}),
        (SuppressionHistogram, {"rows": ((-1, 2),)}),
        (SuppressionHistogram, {"rows": ((0, 0),)}),
        (RandomizedCells, {"cells": "-1", "epsilon_cells": "1", "T0": "1", "T1": "2"}),
        (RandomizedCells, {"cells": "1", "epsilon_cells": "2/4", "T0": "1", "T1": "2"}),
        (RandomizedCells, {"cells": "1", "epsilon_cells": "1", "T0": "2", "T1": "1"}),
        (RandomizedCells, {"cells": "1", "epsilon_cells": "1" + 9 * "0", "T0": "1", "T1": "2"}),
        (RandomizedCells, {"cells": "1", "epsilon_cells": "81/2", "T0": "1", "T1": "2"}),
        (RandomizedCells, {"cells": "1", "epsilon_cells": "1", "T0": "0", "T1": str(2**64 + 1)}),
    ],
)
def test_a_condition_that_states_nothing_possible_is_refused(condition, wrong):
    with pytest.raises(ParameterError):
        condition(**wrong)


@pytest.mark.parametrize(("share", "edits"), [(0.07, 7), (0.29, 29), (0.071, 8)])
def test_a_share_of_a_hundred_edges_is_exact_as_it_is_written(share, edits):
    assert edits == EditBudget(share=share, edges_per_edit=1).most_changes(100)
    assert edits == Budget(share=share).budget(100)


@pytest.mark.parametrize("name", ["noisy_count", "seed_of_drawing"])
def test_a_number_of_a_drawing_has_64_bits(name):
    sound = {"noisy_count": "1", "seed_of_drawing": "7", name: str(2**64 - 1)}
    rest = {"nodes": 3, "epsilon_count": "1/20", "epsilon_degrees": "19/20", "sizes": (1, 2)}
    rest |= {"noisy_degrees": "0 1 2", "group_cuts": "0", "weights": ("0", "70000000000")}
    assert str(2**64 - 1) == getattr(NoisyDegrees(**rest, **sound), name)
    for wrong in (str(2**64), "01", "-1", ""):
        with pytest.raises(ParameterError, match=name):
            NoisyDegrees(**rest, **{**sound, name: wrong})


def test_a_promise_names_the_lists_that_were_collected_and_the_multiples_of_epsilon():
    for collected, given in (
        ((), "Given the lists of people and items, which the owner declares public: "),
        (("items",), "Assuming that the list of items, which here was collected from the data, is"),
        (("people", "items"), "Assuming that the lists of people and items, which here were"),
    ):
        assert EdgeDP(epsilon=0.25, collected=collected).sentence.startswith(given)
    for epsilon, ten, hundred in ((0.25, "2.5", "25"), (3.0, "30", "300"), (0.1, "1", "10")):
        said = EdgeDP(epsilon=epsilon).sentence
        assert f"by a factor of at most e^{ten}, a hundred by e^{hundred}." in said


def test_a_budget_may_be_one_edge_or_all_edges():
    assert 1 == EditBudget(edges=1).most_changes(100)
    assert 100 == EditBudget(share=1.0).most_changes(100)
    assert 4 == EditBudget(edges=1, edges_per_edit=4).most_changes(100)


PROMISE = (
    "Each person could own at least as many of these records as the level they requested{}; "
    "each record could belong to at least as many people; each of these pairs is part of a "
    "complete assignment consistent with the data."
)


@pytest.mark.parametrize(
    ("guarantee", "level"),
    [
        (AdaptiveAnonymity(level=5), " (5)"),
        (AdaptiveAnonymity(level=1), " (1)"),
        (AdaptiveAnonymity(level=1, common=False), ""),
        (AdaptiveAnonymity(level=3, common=False), " (at least 3)"),
    ],
)
def test_the_promise_of_levels_names_the_level_only_where_it_is_public(guarantee, level):
    assert PROMISE.format(level) == guarantee.sentence
    assert guarantee.threat_model.endswith("does not make them equally likely.")
    assert (NothingAdded(),) == guarantee.implied
    assert guarantee == msgspec.json.decode(msgspec.json.encode(guarantee), type=AnyGuarantee)


def test_levels_that_differ_are_promised_only_against_who_does_not_know_them():
    holder = "An attacker who holds the whole original table and the release"
    same, differ = AdaptiveAnonymity(level=5), AdaptiveAnonymity(level=5, common=False)
    assert same.threat_model.startswith(f"{holder}, and uses nothing else.")
    assert differ.threat_model.startswith(
        f"{holder}, but not which person requested which level, and"
    )
    assert "An attacker who knows the levels can rule out candidates." in differ.threat_model
    assert "levels" not in same.threat_model


def test_a_level_below_one_is_refused_with_its_value():
    with pytest.raises(ParameterError, match="level=0"):
        AdaptiveAnonymity(level=0)
    assert 1 == AdaptiveAnonymity(level=1).level


def test_rows_are_counted_by_their_stars():
    assert SuppressionHistogram(rows=((0, 1), (2, 3))) == stars_by_row([2, 0, 2, 2])
    assert "There are no rows." == stars_by_row([]).sentence


@pytest.mark.parametrize(
    ("epsilon", "ten", "hundred"),
    [(1.0, "10", "100"), (0.1, "1", "10"), (6.93, "69.3", "693"), (0.0001, "0.001", "0.01")],
)
def test_the_promise_of_one_edge_says_what_it_is_for_a_person(epsilon, ten, hundred):
    said = f"ten edges or items by a factor of at most e^{ten}, a hundred by e^{hundred}."
    assert EdgeDP(epsilon=epsilon).sentence.endswith(said)
    assert "ten edges" not in NodeDP(epsilon=epsilon).sentence


def degrees(graph):
    return [len(graph.neighbors(node)) for node in range(graph.n_nodes)]


def edges_around(graph):
    """Return how many edges join a node and its neighbors."""
    near = [{node, *graph.neighbors(node).tolist()} for node in range(graph.n_nodes)]
    return [sum(len(near[v] & ball) - 1 for v in ball) // 2 for ball in near]


@pytest.mark.parametrize(
    ("method", "value"),
    [(gv.KDegree(k=4), degrees), (gv.StructuralAnonymity(k=3, measure="edge-count"), edges_around)],
)
def test_who_knows_the_original_value_finds_k_nodes_with_it_or_none(method, value):
    graph = gv.datasets.load("copenhagen-calls")
    release = method.anonymize(graph, seed=3)
    in_release, k = Counter(value(release.data)), release.guarantee.k
    with_it = {in_release[known] for known in value(graph)}
    assert 0 in with_it
    assert min(with_it - {0}) >= k
    said = f"at least {k} nodes with that value in the release, or none"
    assert said in release.guarantee.threat_model


def test_a_list_of_people_is_said_and_its_number_is_not():
    some = StructuralKAnonymity(k=5, share=0.9, listed=True)
    assert (
        "At least 90% of the nodes of the release have the same degree as at least 4 others."
        == some.core
    )
    assert some.sentence.endswith(
        "Every person on the owner's private list has the same degree as at least 4 other nodes "
        "of the release. People who are not on it may be left with fewer."
    )
    assert (ProtectedPeople(k=5),) == some.implied
    assert StructuralKAnonymity(k=5, listed=True).sentence == StructuralKAnonymity(k=5).sentence
    assert StructuralKAnonymity(k=5, listed=True).covers(some)
    assert not StructuralKAnonymity(k=5).covers(some)
    assert not StructuralKAnonymity(k=5, listed=True).covers(StructuralKAnonymity(k=5))


@pytest.mark.parametrize("wrong", [{"measure": "count"}, {"known": ("sex",)}])
def test_a_list_of_people_is_about_degrees_alone(wrong):
    with pytest.raises(ParameterError, match="requires the measure degree"):
        StructuralKAnonymity(k=5, listed=True, **wrong)

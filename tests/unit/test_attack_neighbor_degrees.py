"""Degrees of neighbors after edits, against quantiles and pairings by brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks.networks import candidate_set
from graphveil.attacks.networks.copies.side_information import SideInformation
from graphveil.attacks.networks.neighbor_degrees import (
    QUANTILES,
    NeighborDegrees,
    PossibleNodes,
    allowed_edits,
    at_same_ranks,
)
from graphveil.attacks.networks.signatures import KnownRows, candidates
from graphveil.claims.conditions import SameDegrees, Subgraph, Supergraph
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.verbs.attack import attack_release as attack
from networks_data import random_graph, release_of, rng_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N = 9
BY_QUANTILES = candidate_set.BY_QUANTILES
RANKED = f"{BY_QUANTILES} and all degrees"


def layers_of(seed, arcs=14):
    """Return a directed layer and one without directions, of N nodes."""
    ends = np.array([rng_of(seed).permutation(N)[:2] for _ in range(arcs)]).T
    return gv.Layer.from_arcs(*ends, n=N), gv.Layer.of(random_graph(N, 9, seed))


def both_of(kind, seed):
    """Return two drawn networks of a kind, as their neighbor lists."""
    if kind == "plain":
        return SideInformation.of_graphs(random_graph(N, 12, seed), random_graph(N, 15, seed + 1))
    return SideInformation.of_layers(layers_of(seed), layers_of(seed + 1), None)


def known_and_released(both):
    return [NeighborDegrees.of(lists, both.turned) for lists in (both.copy, both.released)]


def near(lists, node):
    return lists.indices[lists.indptr[node] : lists.indptr[node + 1]].tolist()


def degrees_by_hand(relations):
    return [[len(near(lists, node)) for node in range(N)] for lists in relations]


def rank_by_hand(before, after):
    """Return what a degree becomes: the mean of those after at the places where it was before."""
    return {
        value: np.mean(
            [y for x, y in zip(sorted(before), sorted(after), strict=True) if x == value]
        )
        for value in before
    }


def distance_by_hand(both, person, node, *, ranks):
    """Return the distance of a released node from a person, list by list."""
    own, own_after = degrees_by_hand(both.copy), degrees_by_hand(both.released)
    becomes = [
        rank_by_hand(*sides) if ranks else {value: value for value in sides[0]}
        for sides in zip(own, own_after, strict=True)
    ]

    def scaled(value):
        return round(1_000 * np.log1p(value))

    total = 0
    for at, (known, released) in enumerate(zip(both.copy, both.released, strict=True)):
        kinds = {at, both.turned[at]}
        for kind in kinds:
            lists = (
                [becomes[kind][own[kind][v]] for v in near(known, person)],
                [own_after[kind][v] for v in near(released, node)],
            )
            one, two = (
                np.quantile(sorted(values, reverse=True), 1 - np.linspace(0, 1, QUANTILES))
                if values
                else np.zeros(QUANTILES)
                for values in lists
            )
            total += 2 * sum(abs(scaled(x) - scaled(y)) for x, y in zip(one, two, strict=True))
        # Lists of this layer: one, or out and in.
        for degree in (own[at][person], becomes[at][own[at][person]]):
            total += len(kinds) * QUANTILES * abs(scaled(degree) - scaled(own_after[at][node]))
    return total


@pytest.mark.parametrize("kind", ["plain", "layers"])
@pytest.mark.parametrize("ranks", [False, True])
def test_distances_are_those_of_quantiles_list_by_list(kind, ranks):
    both = both_of(kind, 4)
    known, released = known_and_released(both)
    becomes = at_same_ranks(known, released) if ranks else None
    one, two = known.numbers(becomes), released.numbers()
    for person in range(N):
        by_hand = [distance_by_hand(both, person, node, ranks=ranks) for node in range(N)]
        # A quantile between two values may be rounded the other way: one unit of each column.
        assert np.allclose(by_hand, two.distances_to(one, person)[0], rtol=0, atol=4)


def test_a_degree_becomes_the_mean_of_its_ranks_and_no_order_is_lost():
    before, after = rng_of(1).integers(0, 9, 40), rng_of(2).integers(3, 30, 40)
    sides = (NeighborDegrees(np.array([own]), ()) for own in (before, after))
    [becomes] = at_same_ranks(*sides)
    for value, mean in rank_by_hand(before.tolist(), after.tolist()).items():
        assert mean == pytest.approx(becomes[value])
    assert (np.diff(becomes[np.unique(before)]) >= 0).all()


def possible_by_hand(both, edits, person, node):
    """Whether all neighbors on the smaller side find one of at least their degree on the other.

    Every pairing is tried, for each list and each kind of degree.
    """
    own, own_after = degrees_by_hand(both.copy), degrees_by_hand(both.released)
    if edits == "rewire":
        return own[0][person] == own_after[0][node]
    for at, (known, released) in enumerate(zip(both.copy, both.released, strict=True)):
        for kind in {at, both.turned[at]}:
            before = [own[kind][v] for v in near(known, person)]
            after = [own_after[kind][v] for v in near(released, node)]
            few, many = (before, after) if edits == "add" else (after, before)
            if not any(
                all(x <= y for x, y in zip(few, some, strict=True))
                for some in permutations(many, len(few))
            ):
                return False
    return True


@pytest.mark.parametrize(
    ("kind", "edits"),
    [("plain", "add"), ("plain", "delete"), ("plain", "rewire"), ("layers", "add")],
)
def test_nodes_are_excluded_if_and_only_if_no_pairing_of_neighbors_allows_them(kind, edits):
    excluded = 0
    for seed in (1, 2, 3):
        both = both_of(kind, 10 * seed)
        possible = PossibleNodes(*known_and_released(both), edits)
        for person in range(N):
            by_hand = [possible_by_hand(both, edits, person, node) for node in range(N)]
            assert by_hand == possible.fits(person).tolist()
            excluded += by_hand.count(False)
    assert 0 < excluded < 3 * N * N


@pytest.mark.parametrize("directed", [False, True])
def test_the_own_node_is_never_excluded(directed):
    make = gv.Layer.from_arcs if directed else gv.Graph.from_edges
    for seed in range(20):
        ends = random_graph(14, 30, seed).edges().T[rng_of(seed).permutation(2)]
        kept = rng_of(seed + 1).random(ends.shape[1]) < 0.7
        layers = (make(*some, n=14) for some in (ends, ends[:, kept]))
        more, fewer = ([one if directed else gv.Layer.of(one)] for one in layers)
        for before, after, edits in ((fewer, more, "add"), (more, fewer, "delete")):
            both = SideInformation.of_layers(before, after, None)
            possible = PossibleNodes(*known_and_released(both), edits)
            assert all(possible.fits(person)[person] for person in range(14))


def test_edits_are_those_that_the_manifest_states():
    assert ["add", "delete", "rewire", ""] == [
        allowed_edits(stated, 1)
        for stated in ((Supergraph(),), (Subgraph(),), (SameDegrees(),), ())
    ]
    assert "" == allowed_edits((SameDegrees(),), 2)


def star_with_tails():
    """Return a hub with a long tail and two short ones, and the same with a new edge."""
    ends = [(0, 1), (0, 2), (0, 3), (1, 4), (4, 5), (2, 6)]
    return [gv.Graph.from_edges(*np.array(some).T, n=7) for some in (ends, [*ends, (3, 5)])]


def right(release, original, **options):
    """Return the share of right guesses by each kind of knowledge."""
    rows = attack(release, original=original, attacks=["candidate-set"], seed=1, **options)
    return {row.setting.knows: row.value for row in rows if row.figure == "right guess"}


def test_figures_count_nodes_that_the_stated_edits_allow_and_no_others():
    before, after = star_with_tails()
    order = rng_of(2).permutation(7)
    release, position = release_of(before, after, order=order), np.argsort(order)
    known, released = known_and_released(SideInformation.of_graphs(before, release.data))
    found = {}
    for edits, conditions in (("", ()), ("add", (Supergraph(),))):
        found[edits] = right(replace(release, conditions=conditions), before)
        fitting = (PossibleNodes(known, released, edits),) if edits else ()
        for name, becomes in ((BY_QUANTILES, None), (RANKED, at_same_ranks(known, released))):
            sets = candidates(
                known.numbers(becomes), released.numbers(), position, np.arange(7), fitting
            )
            assert sets.right.mean() == pytest.approx(found[edits][name])
    assert found[""]["vrq"] == found["add"]["vrq"]
    assert found["add"][BY_QUANTILES] > found[""][BY_QUANTILES]


def test_attributes_exclude_nodes_as_well():
    before, after = star_with_tails()
    sexes = gv.Table.from_columns({"sex": list("fmfmfmf")})
    people = [gv.Network((gv.Layer.of(graph),), sexes) for graph in (before, after)]
    found = right(release_of(*people), people[0])
    one, two = known_and_released(SideInformation.of_graphs(before, after))
    codes = np.arange(7, dtype=np.int32)[:, None] % 2
    sets = candidates(
        one.numbers(), two.numbers(), np.arange(7), np.arange(7), (KnownRows(codes, codes),)
    )
    assert sets.right.mean() == pytest.approx(found[f"{BY_QUANTILES} with attributes"])
    assert found[f"{BY_QUANTILES} with attributes"] > found[BY_QUANTILES]


def test_directions_are_known_list_by_list():
    arcs = [(0, 1), (0, 2), (1, 2), (3, 0), (2, 4), (4, 3)]
    network = gv.Network((gv.Layer.from_arcs(*np.array(arcs).T, n=5),))
    found = right(release_of(network, order=rng_of(1).permutation(5)), network)
    assert BY_QUANTILES not in found
    assert (
        1
        == found["vrq by type and direction"]
        == found["vrq by type and direction and all degrees"]
    )


def test_added_edges_do_not_hide_people_whose_neighbors_are_known():
    """Sums of differences are misled by degrees that grew; ranks and exclusion are not."""
    weights = np.arange(1, 151) ** -0.7
    ends = rng_of(7).choice(150, size=(1_500, 2), p=weights / weights.sum())
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    graph = gv.Graph.from_edges(*ends.T, n=150)
    found = right(gv.KDegree(k=20, edits="add").anonymize(graph, seed=1), graph)
    assert found[BY_QUANTILES] > 3 * found["vrq"]
    assert found[RANKED] > 3 * found["vrq"]


@pytest.mark.parametrize(
    ("knows", "measure", "covered"),
    [
        (BY_QUANTILES, "vrq", True),
        (RANKED, "hybrid", True),
        (BY_QUANTILES, "degree", False),
        (candidate_set.OF_EACH_LIST, "vrq", False),
        (candidate_set.OF_EACH_LIST, "profile", False),
    ],
)
def test_only_a_guarantee_of_the_same_knowledge_bounds_the_figure(knows, measure, covered):
    guarantee = StructuralKAnonymity(k=5, measure=measure)
    assert covered == candidate_set.same_for_look_alikes(knows, guarantee)

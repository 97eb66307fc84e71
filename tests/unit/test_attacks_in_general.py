"""What holds of every attack: people have no order, and who publishes nothing gives nobody away."""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import cache

import msgspec
import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks import ATTACKS, Attached
from graphveil.attacks.features.membership import evidence
from graphveil.attacks.features.released_classes import people_of
from graphveil.attacks.features.rerunning import _trial, rows_of
from graphveil.attacks.networks.assignment import fugal
from graphveil.attacks.networks.copies.side_information import SideInformation
from graphveil.core.randomness import Randomness
from graphveil.evaluate import comparison_of
from graphveil.evaluate.metric import NEEDS_LINKAGE
from graphveil.release import digest_of
from graphveil.release.release import Linkage
from networks_data import cycle, figures, random_graph, rng_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

N = 40
WHOLE_ROWS = {"linkage": {"known": 4, "wrong": 0}}
DRAWN = {
    "matching": ("known", "re-run"),
    "linkage": ("left out", "inside"),
    "fake-edge": ("flagged",),
}
"""The parts that depend on a draw."""
BY_CHANCE = {
    *("membership", "item-membership", "re-run", "edge-re-run"),
    *("seed-propagation", "seeded-matching", "alignment", "edge-gain", "group-assignment"),
    "tie-membership",
}
"""Attacks that are nothing but draws; of those on networks other tests say so."""


@cache
def rows():
    rng = rng_of(4)
    lists = [sorted(rng.choice(9, 4, replace=False).tolist()) for _ in range(N)]
    return gv.Bipartite.from_lists([[f"item {item}" for item in row] for row in lists])


@cache
def cells():
    return gv.Table.from_columns(
        {name: rng_of(place).integers(0, 3, N).tolist() for place, name in enumerate("abcd")}
    )


@cache
def network():
    return random_graph(N, 120)


@cache
def described():
    people = {"sex": ["f", "m"] * (N // 2), "town": ["x", "y", "x", "z"] * (N // 4)}
    return gv.Network({"ties": network()}, gv.Table.from_columns(people))


BY_KIND = {
    gv.Graph: (network, "k-degree", {"k": 3}),
    gv.Bipartite: (rows, "smooth-k", {"k": 4}),
    gv.Table: (cells, "cluster-k", {"k": 3}),
    gv.Network: (described, "k-degree", {"k": 3, "known": "sex,town", "suppress": 0.2}),
}
OTHERS = {
    "entry-membership": (rows, "randomized-response", {"epsilon": 2.0}),
    "edge-membership": (network, "randomized-response", {"epsilon": 2.0}),
    "fake-edge": (network, "asymmetric-response", {"epsilon": 3.0}),
    "singling-out": (cells, "cluster-k", {"k": 3}),
    "insider": (rows, "suppress-k", {"k": 2}),
    "minimality": (cells, "cluster-k", {"k": 3}),
    "refinement": (cells, "cluster-k", {"k": 3}),
}
METHODS = {
    name: OTHERS.get(name, BY_KIND[attack.kind])
    for name, attack in ATTACKS.items()
    if name not in BY_CHANCE
}


def relabeled(release, original, order, seed):
    """Return the same release and original, people under other names and in other orders."""
    moved = original.permuted(order, ids=[f"somebody {place}" for place in order.tolist()])
    position = release.private.linkage.positions_of(original.labels(), release.data.labels())
    shuffled = rng_of(seed).permutation(N)
    new = np.argsort(shuffled)[position[order]]
    private = msgspec.structs.replace(
        release.private, input_sha256=digest_of(moved), linkage=Linkage(moved.labels(), new)
    )
    return dataclasses.replace(
        release, data=release.data.permuted(shuffled), private=private
    ), moved


def values_of(name, release, original, second, attached):
    told = gv.attack_release(
        release,
        original=original,
        attacks=[name],
        seed=1,
        second=second,
        attached=attached,
        options={name: WHOLE_ROWS.get(name, {})},
    )
    skipped = DRAWN.get(name, ())
    return {row.part: row.value for row in told if not any(word in row.part for word in skipped)}


@pytest.mark.parametrize("name", METHODS)
def test_other_names_and_orders_of_people_change_nothing(name):
    read, method, parameters = METHODS[name]
    original, made = read(), gv.METHODS[method].from_parameters(parameters)
    release, second = (made.anonymize(original, seed=seed) for seed in (1, 2))
    income = np.array([str(value) for value in rng_of(6).integers(0, 3, N)])
    straight = values_of(name, release, original, second, Attached("income", income))
    order = rng_of(5).permutation(N)
    moved_release, moved = relabeled(release, original, order, 7)
    moved_second, _ = relabeled(second, original, order, 8)
    attached = Attached("income", income[order])
    assert straight == pytest.approx(
        values_of(name, moved_release, moved, moved_second, attached), abs=1e-6
    )
    assert straight


def test_how_likely_somebody_took_part_does_not_hang_on_where_they_stand():
    original = rows()
    release = gv.SmoothK(k=4).anonymize(original, seed=1)
    order = rng_of(5).permutation(N)
    both = []
    for some, data in ((release, original), relabeled(release, original, order, 7)):
        pair = comparison_of(some, data, Randomness(seed=1), wanted_by="attack")
        people = people_of(pair)
        both.append(evidence(people.before, people.classes))
    assert both[0][order] == pytest.approx(both[1], abs=1e-4)


def test_releases_are_compared_by_their_rows_whoever_has_them():
    data, numbers = rows(), {}
    assert rows_of(data, numbers) == rows_of(data.permuted(rng_of(2).permutation(N)), numbers)
    assert rows_of(data, numbers) != rows_of(data.permuted(np.zeros(N, dtype=int)), numbers)


@pytest.mark.parametrize("seed", range(8))
def test_a_trial_of_running_again_is_as_counted_one_row_after_another(seed):
    calls = []

    def run(some, number):
        drawn = np.random.Generator(np.random.PCG64(number % 97)).integers(0, 3, 6)
        calls.append((some is rows(), number, Counter(map(bytes, drawn.tolist()))))
        return calls[-1][2]

    trial = _trial(rows(), run, 3, rng_of(seed))
    (_, one, of_true), (_, other, of_changed), *later = calls
    assert one == other
    assert trial.differs == (of_true != of_changed)
    overlaps = {side: [c for is_true, _, c in later if is_true == side] for side in (True, False)}
    assert [3, 3] == [len(runs) for runs in overlaps.values()]

    def common(published, side):
        listed = [list(run.elements()) for run in overlaps[side]]
        total = 0
        for rest in listed:
            for row in published.elements():
                if row in rest:
                    rest.remove(row)
                    total += 1
        return total

    right = {
        published: common(counts, published) > common(counts, not published)
        for published, counts in ((True, of_true), (False, of_changed))
    }
    tied = any(common(c, True) == common(c, False) for c in (of_true, of_changed))
    assert tied or trial.right in right.values()


def blank():
    """Return a release in which all rows are equal."""
    release = gv.SmoothK(k=4).anonymize(rows(), seed=1)
    return dataclasses.replace(release, data=gv.Bipartite.from_lists([["item 1"]] * N))


def test_of_equal_rows_classes_tell_what_frequencies_tell():
    income = np.array(["low", "low", "low", "high"] * (N // 4))
    told = gv.attack_release(
        blank(),
        original=rows(),
        attacks=["class-truth", "homogeneity", "intersection"],
        second=blank(),
        attached=Attached("income", income),
        seed=1,
    )
    parts = {row.part: (row.value, row.guess) for row in told}
    share = sum("item 1" in row for row in rows().to_lists()["items"].to_pylist()) / N
    assert (share, share) == pytest.approx(parts["entries true, mean"])
    assert (0.0, 0.0) == parts["entries true of the whole class"]
    assert (0.0, 0.0) == parts["in a class of one value"]
    assert (0.75, 0.75) == parts["commonest value of the class"]
    assert (N, N) == parts["joint class, median"]
    assert (0.0, 0.0) == parts["alone in the joint class"]


def test_of_equal_rows_running_again_tells_nothing():
    told = gv.attack_release(
        blank(),
        original=rows(),
        attacks=["re-run"],
        seed=1,
        rerun=lambda data, seed: blank(),  # noqa: ARG005  as an attacker calls it
        options={"re-run": {"trials": 60, "releases": 1}},
    )
    known, unknown = told
    assert 0.0 == known.value
    assert unknown.low <= 0.5 <= unknown.high


def test_of_nodes_that_all_look_alike_added_edges_look_like_others():
    told = figures("fake-edge", random_graph(30, 60), cycle(30))
    for name in ("Jaccard", "resource allocation", "product of degrees"):
        assert 0.5 == told[f"AUC, {name}"]


@pytest.mark.parametrize("kind", ["edge-membership", "entry-membership"])
def test_cells_that_are_published_at_random_show_no_epsilon(kind):
    original = network() if kind == "edge-membership" else rows()
    made = gv.RandomizedResponse(epsilon=0.01).anonymize(original, seed=1)
    told = {row.part: row for row in gv.attack_release(made, original=original, attacks=[kind])}
    hits, alarms = told["hits"], told["false alarms"]
    assert 0.0 == told["epsilon, lower bound at 99.9%"].value
    assert hits.low <= alarms.value <= hits.high
    assert hits.low <= 0.5 <= hits.high


def test_an_alignment_is_that_of_its_formulas_written_out(monkeypatch):
    """A few steps: later ones decide between equal nodes by the last digits."""
    monkeypatch.setattr(fugal, "PENALTIES", 3)
    monkeypatch.setattr(fugal, "STEPS", 4)
    one, two = random_graph(6, 12), random_graph(6, 11, seed=2)
    first, second = (graph.to_scipy().toarray() for graph in (one, two))
    of_one, of_two = fugal.features(one), fugal.features(two)
    nodes = range(6)
    plan = np.full((6, 6), 1 / 6)
    for penalty in range(3):
        for step in range(4):
            cost = np.empty((6, 6))
            for i in nodes:
                for j in nodes:
                    kept = sum(
                        first[i, u] * plan[u, v] * second[v, j] for u in nodes for v in nodes
                    )
                    far = np.sqrt(((of_one[i] - of_two[j]) ** 2).sum())
                    cost[i, j] = -2 * kept + far + penalty * (1 - 2 * plan[i, j])
            plan = plan + 2 / (2 + step) * (fugal.sinkhorn(cost) - plan)
    assert plan == pytest.approx(
        fugal.relaxed_alignment(one, two, SideInformation.of_graphs(one, two)), abs=1e-9
    )


@pytest.mark.parametrize("seed", range(5))
def test_classes_of_one_value_and_joint_classes_are_counted_person_by_person(seed):
    rng = rng_of(seed)
    original = rows()
    release, second = (gv.SmoothK(k=k).anonymize(original, seed=seed) for k in (3, 5))
    income = np.array(["low", "middle", "high"])[rng.integers(0, 3, N)]
    told = gv.attack_release(
        release,
        original=original,
        attacks=["homogeneity", "intersection"],
        second=second,
        attached=Attached("income", income),
        seed=1,
    )
    values = {row.part: row.value for row in told}
    shown = [rows_in_order(some, original) for some in (release, second)]
    alike = [[other for other in range(N) if shown[0][other] == row] for row in shown[0]]
    joint = [
        [other for other in members if shown[1][other] == shown[1][person]]
        for person, members in enumerate(alike)
    ]
    single = np.mean([len(set(income[members])) == 1 for members in alike])
    assert single == pytest.approx(values["in a class of one value"])
    commonest = np.mean(
        [max(Counter(income[members].tolist()).values()) / len(members) for members in alike]
    )
    assert commonest == pytest.approx(values["commonest value of the class"])
    sizes = np.array(list(map(len, joint)))
    assert np.median(sizes) == values["joint class, median"]
    assert np.mean(sizes == 1) == pytest.approx(values["alone in the joint class"])
    assert np.mean(sizes < 3) == pytest.approx(values["joint class smaller than promised"])


def rows_in_order(release, original):
    """Return everybody's released row in the order of the original."""
    position = release.private.linkage.positions_of(original.labels(), release.data.labels())
    listed = release.data.to_lists()["items"].to_pylist()
    return [tuple(sorted(listed[place])) for place in position.tolist()]


@pytest.mark.parametrize("kind", BY_KIND)
def test_nobody_is_counted_as_named_without_the_linkage(kind, tmp_path):
    data, method, how = BY_KIND[kind]
    original, folder = data(), tmp_path / "out"
    gv.METHODS[method](**how).anonymize(original, seed=1).write(folder, linkage=False)
    alone = {"re-run", "edge-re-run"}  # they compare releases, and ask nobody's row
    names = [name for name, attack in ATTACKS.items() if attack.kind is kind and name not in alone]
    told = gv.attack_release(folder, original, attacks=names)
    assert dict.fromkeys(names, NEEDS_LINKAGE) == told.not_measured
    assert 0 == len(told)

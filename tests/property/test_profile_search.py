"""Profiles for a share of the people or for a price: what a search counts, a slow count finds."""

import csv
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from forged.networks import failed, sealed_anew
from graphveil.core.errors import InfeasibleError
from graphveil.core.randomness import Randomness
from graphveil.methods.annealing.kernels.classes import SLOT, UNPROTECTED
from graphveil.methods.annealing.kernels.pooled import go_to
from graphveil.methods.goals import Budget, Partial
from graphveil.methods.profile.pool import (
    ChangedTies,
    ProfileTask,
    applied,
    keys_of,
    pairs_of,
    unprotected_in,
    walk_of,
)
from graphveil.methods.profile.realize import realize_layers
from graphveil.methods.profile.search import EditSearch, completed_deletions, search

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

EDITS = ("delete", "add", "any")
NONE = np.empty(0, dtype=np.int64)


def rng_of(seed):
    return np.random.Generator(np.random.PCG64(seed))


@st.composite
def networks(draw):
    """Draw calls, which are directed, and at times family, which is not, with two colors."""
    n = draw(st.integers(4, 9))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1, max_size=3 * n))
    layers = {"calls": gv.Layer.from_arcs(*zip(*arcs, strict=True), n=n)}
    if draw(st.booleans()):
        edges = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=n))
        layers["family"] = gv.Graph.from_edges(
            *zip(*edges, strict=True), n=n, directed="symmetrize"
        )
    colors = [0, 0, 1, 1, *draw(st.lists(st.integers(0, 1), min_size=n - 4, max_size=n - 4))]
    return gv.Network(layers), np.array(colors, dtype=np.int64)


def slow_profiles(network, colors):
    """Return everyone's color and numbers of ties, counted tie by tie."""
    numbers = [Counter() for _ in range(network.n_nodes)]
    for layer in network.layers:
        for u, v in zip(*(end.tolist() for end in layer.ties()), strict=True):
            numbers[u][layer.name, "out" if layer.directed else "tied"] += 1
            numbers[v][layer.name, "in" if layer.directed else "tied"] += 1
    return [(int(c), *sorted(one.items())) for c, one in zip(colors, numbers, strict=True)]


def slow_unprotected(network, colors, k):
    profiles = slow_profiles(network, colors)
    sizes = Counter(profiles)
    return [person for person, profile in enumerate(profiles) if sizes[profile] < k]


def task_of(network, colors, edits, budget=None, allowed=0):
    return ProfileTask(
        network=network,
        colors=colors,
        k=2,
        edits=edits,
        budget=network.n_ties if budget is None else budget,
        allowed=allowed,
        by_budget=budget is not None,
    )


def plans_of(network, colors, edits):
    kinds = {"any": (False, True), "add": (True,), "delete": ()}[edits]
    plans = [
        realize_layers(network, colors, 2, additions=each, randomness=Randomness(seed=1))
        for each in kinds
    ]
    return [tuple(each.layer for each in plan.layers) for plan in plans]


@settings(deadline=None)
@given(networks(), st.sampled_from(EDITS), st.integers(0, 4), st.booleans(), st.integers(0, 9))
def test_a_search_keeps_to_its_goal_and_counts_what_a_slow_count_finds(
    case, edits, most, by_budget, seed
):
    network, colors = case
    task = task_of(network, colors, edits, *((most,) if by_budget else (None, most)))
    before = slow_unprotected(network, colors, 2)
    assert before == unprotected_in(network, colors, 2).tolist()
    plans = plans_of(network, colors, edits)
    changed = search(task, plans=plans, effort=0.001, rng=rng_of(seed))
    after = gv.Network(tuple(each.layer for each in applied(network, changed).layers))
    assert len(slow_unprotected(after, colors, 2)) == changed.unprotected
    there = set(keys_of(network.layers).tolist())
    assert there.isdisjoint(changed.added.tolist())
    assert there.issuperset(changed.deleted.tolist())
    assert not (edits == "delete" and changed.added.size)
    assert not (edits == "add" and changed.deleted.size)
    assert after.n_ties == network.n_ties + changed.added.size - changed.deleted.size
    if by_budget:
        assert changed.cost <= task.budget
        assert changed.unprotected <= len(before)
    else:
        assert changed.unprotected <= task.allowed
        assert changed.cost == 0 or len(before) > task.allowed


@settings(deadline=None)
@given(networks(), st.sampled_from(EDITS), st.integers(0, 9))
def test_codes_are_those_of_the_ties_that_are_there_after_any_flips(case, edits, seed):
    network, colors = case
    if not slow_unprotected(network, colors, 2):
        return
    task = task_of(network, colors, edits)
    pairs = pairs_of(task, NONE, rng_of(seed))
    walk = walk_of(task, pairs, rng_of(seed))
    state, values, best, _, trial = walk.annealing
    changed = rng_of(seed).random(pairs.keys.size) < 0.5
    go_to(state, values, best, trial, changed)
    now = np.setxor1d(keys_of(network.layers), pairs.keys[changed])
    assert set(pairs.keys[state.pool.present].tolist()) == (
        set(now.tolist()) if edits != "add" else set(now.tolist()) - set(keys_of(network.layers))
    )
    added, deleted = (
        pairs.keys[changed & chosen]
        for chosen in (
            np.arange(pairs.keys.size) >= pairs.n_ties,
            np.arange(pairs.keys.size) < pairs.n_ties,
        )
    )
    after = gv.Network(
        tuple(one.layer for one in applied(network, ChangedTies(added, deleted, 0)).layers)
    )
    classes = state.classes
    codes = classes.table[classes.node[:, SLOT], 0].tolist()
    profiles = slow_profiles(after, colors)
    assert len(set(codes)) == len(set(profiles)) == len(set(zip(codes, profiles, strict=True)))
    assert classes.tally[UNPROTECTED] == len(slow_unprotected(after, colors, 2))


@settings(deadline=None)
@given(networks(), st.integers(0, 3))
def test_ties_are_stripped_until_the_goal_is_reached(case, allowed):
    network, colors = case
    task = task_of(network, colors, "delete", allowed=allowed)
    pairs = pairs_of(task, NONE, rng_of(1))
    gone = completed_deletions(walk_of(task, pairs, rng_of(1)), pairs, task.n_edges)
    kept = np.setdiff1d(keys_of(network.layers), gone)
    layers = {}
    for at, layer in enumerate(network.layers):
        n = network.n_nodes
        ends = np.divmod(kept[kept // n // n == at] % (n * n), n)
        layers[layer.name] = (
            gv.Layer.from_arcs(*ends, n=n) if layer.directed else gv.Graph.from_edges(*ends, n=n)
        )
    assert len(slow_unprotected(gv.Network(layers), colors, 2)) <= allowed
    most = gone.size // 2
    given_up = completed_deletions(walk_of(task, pairs, rng_of(1)), pairs, most)
    if gone.size < task.n_edges:  # else a person without ties is left, and all go
        assert min(most + 1, gone.size) == given_up.size


def test_planned_deletions_far_over_a_budget_are_given_up_and_not_walked_from():
    network = gv.Network((gv.Layer.from_arcs([0, 0, 0, 0], [1, 2, 3, 4], n=6),))
    task = task_of(network, np.zeros(6, dtype=np.int64), "delete")
    look = EditSearch(task, 1.0, rng_of(1))
    needed = look.from_deletions()
    assert needed.unprotected <= task.allowed
    assert look.from_deletions(0) is None


N, K = 60, 3


def calls():
    rng = np.random.default_rng(5)
    ends = (N * rng.random((2, 300)) ** 2).astype(np.int64)
    layer = gv.Layer.from_arcs(*ends, n=N, name="calls")
    sexes = gv.Table.from_columns({"sex": ["f", "m", "f"] * (N // 3)})
    return gv.Network((layer,), sexes, [f"p{v}" for v in range(N)])


def arcs_of(folder):
    with (folder / "data.csv").open() as file:
        return [tuple(map(int, row)) for row in list(csv.reader(file))[1:]]


def write_arcs(folder, arcs):
    lines = ["source,target", *(f"{u},{v}" for u, v in sorted(arcs))]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    return len(arcs)


@pytest.mark.parametrize("edits", EDITS)
@pytest.mark.parametrize("goal", [Partial(share=0.9), Budget(share=0.1)])
def test_a_release_claims_the_share_that_a_count_of_its_files_finds(edits, goal, tmp_path):
    method = gv.Profile(k=K, goal=goal, edits=edits, known="sex", effort=0.1)
    release = method.anonymize(calls(), seed=1)
    folder = release.write(tmp_path / "out")
    verdict = gv.verify_release(folder, calls())
    assert [] == verdict.failures()
    assert verdict.complete
    out, into = (Counter(side) for side in zip(*arcs_of(folder), strict=True))
    with (folder / "people.csv").open() as file:
        rows = [(int(v), sex) for v, sex in list(csv.reader(file))[1:]]
    cells = Counter((sex, out[v], into[v]) for v, sex in rows)
    rare = sum(size for size in cells.values() if size < K)
    assert rare == release.private.cost["nodes_unprotected"]
    assert np.floor((1 - release.guarantee.share) * N + 1e-9) == rare
    if isinstance(goal, Partial):
        assert rare <= 6
    else:
        assert release.private.cost["edits"] <= 0.1 * calls().n_ties + 1
        assert rare < release.private.cost["nodes_unprotected_before"]


def test_a_run_for_everybody_is_as_if_goals_were_not():
    releases = [gv.Profile(k=K, known="sex", goal=goal) for goal in ("full", "partial:1.0")]
    whole, same = (method.anonymize(calls(), seed=1) for method in releases)
    assert whole.guarantee == same.guarantee
    assert whole.data == same.data


def test_the_same_seed_gives_the_same_release():
    method = gv.Profile(k=K, goal="budget:0.1", known="sex", effort=0.1)
    assert method.anonymize(calls(), seed=3).data == method.anonymize(calls(), seed=3).data


@pytest.fixture
def folder(tmp_path):
    method = gv.Profile(k=K, goal="budget:20edges", edits="delete", known="sex", effort=0.1)
    return method.anonymize(calls(), seed=1).write(tmp_path / "out")


def test_an_arc_that_was_not_there_is_caught(folder):
    arcs = set(arcs_of(folder))
    new = next((u, v) for u in range(N) for v in range(N) if u != v and (u, v) not in arcs)
    n = write_arcs(folder, arcs | {new})
    sealed_anew(folder, lambda manifest: manifest["data"]["counts"].update(ties=n))
    assert {"subgraph"} <= set(failed(folder, calls()))


def test_more_arcs_that_go_than_the_budget_are_caught(folder):
    n = write_arcs(folder, arcs_of(folder)[20:])
    sealed_anew(folder, lambda manifest: manifest["data"]["counts"].update(ties=n))
    assert "the budget allows 20" in failed(folder, calls())["budget"]


def test_a_share_that_was_not_reached_is_caught(folder):
    def claim_more(manifest):
        claim = manifest["claim"]
        was = f"At least {np.floor(claim['guarantee']['share'] * 1e6 + 1e-6) / 1e4:g}%"
        claim["guarantee"]["share"] = 0.95
        claim["sentence"] = claim["sentence"].replace(was, "At least 95%")

    sealed_anew(folder, claim_more)
    assert "fewer than k=3" in failed(folder)["classes"]


def test_a_budget_with_which_nobody_is_protected_is_refused():
    layer = gv.Layer.from_arcs([0, 1, 1, 2, 2, 2], [3, 3, 4, 3, 4, 5], n=6)
    with pytest.raises(InfeasibleError, match="no node could be made 6-anonymous within goal"):
        gv.Profile(k=6, goal="budget:1edges", effort=0.01).anonymize(gv.Network((layer,)), seed=1)


def test_numbers_and_attributes_that_fit_in_no_code_are_refused(monkeypatch):
    monkeypatch.setattr("graphveil.methods.profile.pool.CODE_BITS", 5)
    with pytest.raises(InfeasibleError, match="bits, more than 5"):
        gv.Profile(k=K, goal="budget:0.1", known="sex").anonymize(calls(), seed=1)


def test_the_manifest_says_goal_and_edits_and_not_the_effort(folder):
    parameters = json.loads((folder / "release.json").read_bytes())["method"]["parameters"]
    assert ("budget:20edges", "delete") == (parameters["goal"], parameters["edits"])
    assert "effort" not in parameters

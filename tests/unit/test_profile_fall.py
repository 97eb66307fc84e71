"""Deletions that are planned: how many a flow finds, and what a full goal costs with them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphveil as gv
from graphveil.methods.profile import search
from graphveil.methods.profile import search as fall
from graphveil.methods.profile.pool import ProfileTask, keys_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def network(n, pairs):
    ends = np.array([pair for pair in pairs if pair[0] != pair[1]], dtype=np.int64).reshape(-1, 2)
    return gv.Network((gv.Layer.from_arcs(ends[:, 0], ends[:, 1], n=n),))


def task_of(data, k=2, colors=None):
    colors = np.zeros(data.n_nodes, dtype=np.int64) if colors is None else colors
    return ProfileTask(data, colors, k, "delete", data.n_ties, 0, by_budget=False)


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


def slow_flow(source, target, room, group, most):
    """Return how many arcs can go, by another library: heads are bound by groups as well."""
    wanted = nx.DiGraph()
    wanted.add_nodes_from(["first", "last"])
    for v in range(room.shape[0]):
        wanted.add_edge("first", ("tail", v), capacity=int(room[v, 0]))
        wanted.add_edge(("head", v), ("group", int(group[v])), capacity=int(room[v, 1]))
    for each, bound in enumerate(most.tolist()):
        wanted.add_edge(("group", each), "last", capacity=bound)
    wanted.add_edges_from(
        (("tail", u), ("head", v), {"capacity": 1}) for u, v in zip(source, target, strict=True)
    )
    return nx.maximum_flow_value(wanted, "first", "last")


@given(st.data(), st.integers(2, 7))
@settings(deadline=None, max_examples=60)
def test_a_flow_deletes_as_many_arcs_as_can_go_and_none_beyond_what_anybody_may_lose(data, n):
    person = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(person, person), unique=True, max_size=20))
    source, target = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
    room = np.array(data.draw(st.lists(st.integers(0, 3), min_size=2 * n, max_size=2 * n)))
    room = room.reshape(n, 2)
    group = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    most = np.array(data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3)))
    sides = [fall._Side(room[:, 0]), fall._Side(room[:, 1], group, most)]
    stay = np.ones(source.size, dtype=np.bool_)
    gone = fall._flow((source, target), stay, sides, n)
    assert gone.size == slow_flow(source.tolist(), target.tolist(), room, group, most)
    assert gone.size == np.unique(gone).size
    assert np.all(np.bincount(source[gone], minlength=n) <= room[:, 0])
    lost = np.bincount(target[gone], minlength=n)
    assert np.all(lost <= room[:, 1])
    assert np.all(np.bincount(group, weights=lost, minlength=3) <= most)


def test_a_hub_falls_to_the_next_one_by_ties_to_people_who_fall_too():
    hubs = [(0, 2), (0, 3), (0, 4), (1, 3), (1, 4)]
    data = network(8, [*hubs, (5, 3), (5, 4)])
    assert [2] == fall.planned_deletions(
        task_of(data), generator(1)
    ).tolist()  # 0 to 2: key 0 * 8 + 2
    release = gv.Profile(k=2, goal="full", edits="delete").anonymize(data, seed=1)
    assert 1 == release.private.cost["edges_deleted"]


@pytest.mark.parametrize("colored", [False, True])
def test_what_falls_are_ties_that_were_there_and_fewer_people_are_unprotected(colored):
    rng = np.random.default_rng(4)
    ends = (90 * rng.random((2, 500)) ** 1.4).astype(np.int64)
    data = network(90, ends.T.tolist())
    task = task_of(data, k=3, colors=np.arange(90) % 2 if colored else None)
    keys = fall.planned_deletions(task, generator(1))
    assert 0 < keys.size == np.intersect1d(keys, keys_of(data.layers)).size
    before = search.pools.unprotected_in(data, task.colors, 3).size
    left = np.setdiff1d(keys_of(data.layers), keys)
    after = network(90, np.column_stack(np.divmod(left, 90)))
    assert search.pools.unprotected_in(after, task.colors, 3).size < 0.7 * before


def test_to_protect_everybody_takes_fewer_deletions_than_without_a_plan(monkeypatch):
    rng = np.random.default_rng(7)
    ends = (400 * rng.random((2, 1_500)) ** 3).astype(np.int64)
    data = network(400, ends.T.tolist())
    method = gv.Profile(k=2, goal="full", edits="delete", effort=0.1)
    planned = method.anonymize(data, seed=1)
    assert 1 == planned.guarantee.share
    monkeypatch.setattr(search, "planned_deletions", lambda *_: np.empty(0, dtype=np.int64))
    alone = method.anonymize(data, seed=1)
    assert planned.private.cost["edges_deleted"] < 0.9 * alone.private.cost["edges_deleted"]


def test_planned_deletions_protect_more_within_a_budget_and_never_fewer(monkeypatch):
    rng = generator(11)
    weights = np.arange(1, 201) ** -0.6
    ends = rng.choice(200, size=(1_400, 2), p=weights / weights.sum())
    data = network(200, ends.tolist())
    task = task_of(data, k=3)._replace(budget=data.n_ties // 5, by_budget=True)

    def found(seed):
        return search.search(task, plans=[], effort=0.02, rng=generator(seed))

    with_falls = [found(seed) for seed in (1, 2, 3)]
    assert all(one.cost <= task.budget and not one.added.size for one in with_falls)
    monkeypatch.setattr(search.EditSearch, "part_of_deletions", lambda _look, best: best)
    without = [found(seed) for seed in (1, 2, 3)]
    pairs = [*zip(with_falls, without, strict=True)]
    assert all(one.unprotected <= other.unprotected for one, other in pairs)
    assert sum(one.unprotected for one, _ in pairs) < 0.7 * sum(two.unprotected for _, two in pairs)

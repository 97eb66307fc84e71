"""What attacks say of their cost before they begin, and what they refuse."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks import ATTACKS, Attached
from graphveil.attacks.attack import AttackInput
from graphveil.attacks.networks import alignment
from graphveil.attacks.networks.assignment import forecast
from graphveil.attacks.registry import WORTH_SAYING, spelled
from graphveil.claims.guarantees import EdgeDP
from graphveil.core.errors import ResourceError
from graphveil.core.progress import heard
from graphveil.core.randomness import Randomness
from graphveil.evaluate import comparison_of
from graphveil.evaluate.metric import NotMeasuredError
from graphveil.verbs import attack as rows
from graphveil.verbs.attack import rerun_of

EVERY = [ATTACKS[name] for name in ATTACKS]
"""Loaded before a test changes a limit, which some of them take from others."""

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def network(n):
    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, 3 * n))
    pairs = np.unique(np.sort(ends[:, ends[0] != ends[1]], axis=0), axis=1)
    return gv.Graph.from_edges(*pairs, n=n)


def lists(n):
    rng = np.random.default_rng(n)
    return gv.Bipartite.from_lists(
        [[f"i{item}" for item in np.unique(rng.integers(0, 12, 5))] for _ in range(n)]
    )


def table(n):
    rng = np.random.default_rng(n)
    return gv.Table.from_columns({f"c{c}": rng.integers(0, 3, n).astype(str) for c in range(4)})


def described(n):
    said = gv.Table.from_columns(
        {"sex": ["f", "m"] * (n // 2), "town": ["x", "y", "x", "z"] * (n // 4)}
    )
    return gv.Network({"ties": network(n)}, said)


MADE = {
    gv.Graph: (network, gv.AsymmetricResponse(epsilon=8.0)),
    gv.Bipartite: (lists, gv.SmoothK(k=2)),
    gv.Table: (table, gv.ClusterK(k=2)),
    gv.Network: (described, gv.KDegree(k=2, known="sex", attach="town")),
    "group-assignment": (network, gv.SuperNodes(k=2)),
}
"""A release for each kind of data, and for an attack that is about one kind of releases."""


def situation_of(kind, n):
    make, method = MADE[kind]
    data = make(n)
    release = method.anonymize(data)
    pair = comparison_of(release, data, Randomness(seed=1), wanted_by="attack")
    return AttackInput(
        comparison=pair,
        release=release,
        rerun=rerun_of(release),
        attached=Attached("group", np.arange(n) % 2),
    )


@pytest.fixture(scope="module")
def situations():
    return {kind: [situation_of(kind, n) for n in (60, 400)] for kind in MADE}


TIMED = {"re-run": "trials", "edge-re-run": "runs"}
"""Attacks that run the method many times, and their parameter for how often."""

RUN_AGAIN = ("membership",)
"""Others that have no figure at all without a run of the method."""


@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in TIMED])
def test_every_attack_says_that_more_people_take_longer(name, situations):
    entry = ATTACKS[name]
    alone = {} if name in RUN_AGAIN else {"rerun": None}
    few, many = (
        entry.seconds(some._replace(**alone), entry.options())
        for some in situations[name if name in MADE else entry.kind]
    )
    assert 0 < few < many


@pytest.mark.parametrize("name", RUN_AGAIN)
def test_what_needs_a_run_of_the_method_says_no_time_where_there_is_none(name, situations):
    entry = ATTACKS[name]
    few, _ = situations[entry.kind]
    with pytest.raises(NotMeasuredError, match="does not know the method"):
        entry.seconds(few._replace(rerun=None), entry.options())


def test_the_run_of_the_method_that_made_the_release_counts_where_it_is_run_again(situations):
    entry = ATTACKS["membership"]
    _, situation = situations[gv.Bipartite]
    private = msgspec.structs.replace(situation.release.private, seconds={"anonymize": 50.0})
    slow = situation._replace(release=dataclasses.replace(situation.release, private=private))
    assert 600 < entry.seconds(slow, entry.options()) < 602  # 24 times, half of the people each


@pytest.mark.parametrize("name", TIMED)
def test_a_quicker_run_since_counts_instead_of_the_first_which_also_loads_code(name, situations):
    entry = ATTACKS[name]
    _, situation = situations[entry.kind]
    private = msgspec.structs.replace(situation.release.private, seconds={"anonymize": 50.0})
    release = dataclasses.replace(situation.release, private=private, guarantee=EdgeDP(epsilon=1.0))
    first = situation._replace(release=release, rerun=rerun_of(release))
    slow = entry.foreseen(first, entry.options())
    first.rerun(first.comparison.original, 1)
    quick = entry.foreseen(first, entry.options())
    seconds = first.rerun.timed[first.comparison.original.size]
    assert 0 < quick < slow
    assert quick == pytest.approx(slow * seconds / 50.0)


@pytest.mark.parametrize(("name", "often"), TIMED.items())
def test_a_run_of_the_method_is_timed_and_the_time_grows_with_the_runs(name, often, situations):
    entry = ATTACKS[name]
    situation, _ = situations[entry.kind]
    few, many = (entry.seconds(situation, entry.options(**{often: n})) for n in (10, 10_000))
    assert 0 < few < many
    assert 0 == entry.seconds(situation._replace(rerun=None), entry.options())


def with_seconds(monkeypatch, name, seconds):
    entry = dataclasses.replace(ATTACKS[name], seconds=lambda *_: seconds)
    monkeypatch.setitem(ATTACKS._entries, name, entry)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (WORTH_SAYING - 0.1, []),
        (12.3, ["candidate-set takes about 12 seconds of CPU time"]),
        (700.0, ["candidate-set takes about 12 minutes of CPU time"]),
    ],
)
def test_what_takes_long_is_said_before_it_begins(seconds, said, monkeypatch):
    graph = network(30)
    with_seconds(monkeypatch, "candidate-set", seconds)
    heard_first = []

    def compute(*_):
        heard_first.extend(notices)
        raise rows.NotMeasuredError("this is enough")

    entry = dataclasses.replace(ATTACKS["candidate-set"], compute=compute)
    monkeypatch.setitem(ATTACKS._entries, "candidate-set", entry)
    notices, release = [], gv.KDegree(k=2).anonymize(graph)
    with heard(notices.append):
        gv.attack_release(release, original=graph, attacks=["candidate-set"])
    assert said == heard_first == notices


def test_what_is_asked_for_and_too_large_is_refused_before_anything_is_tried(monkeypatch):
    graph = network(30)
    release = gv.KDegree(k=2).anonymize(graph)
    monkeypatch.setattr(alignment, "ALL_PAIRS", 29)
    monkeypatch.setattr(forecast, "MOST_NODES", 29)

    def compute(*_):
        raise AssertionError("tried all the same")

    entry = dataclasses.replace(ATTACKS["candidate-set"], compute=compute)
    monkeypatch.setitem(ATTACKS._entries, "candidate-set", entry)
    with pytest.raises(
        ResourceError, match="alignment: 30 nodes exceed the limit of 29"
    ) as refused:
        gv.attack_release(release, original=graph, attacks=["candidate-set", "alignment"])
    assert 3 == refused.value.exit_code
    assert "a release with fewer nodes" in str(refused.value)


def test_what_is_not_asked_for_and_too_large_is_not_measured(monkeypatch):
    graph = network(30)
    monkeypatch.setattr("graphveil.attacks.networks.candidate_set.MOST_NODES", 29)
    told = gv.attack_release(gv.KDegree(k=2).anonymize(graph), original=graph)
    assert "30 nodes exceed the limit of 29" in told.not_measured["candidate-set"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3.2, "3 seconds"), (100.0, "2 minutes"), (5_399.0, "90 minutes"), (5_401.0, "2 hours")],
)
def test_a_duration_has_few_digits(seconds, words):
    assert words == spelled(seconds)

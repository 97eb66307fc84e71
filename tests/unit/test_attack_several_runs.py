"""Whose record is whose by several runs: against all assignments, and where nothing tells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import graphveil as gv
from graphveil.attacks import matching
from graphveil.measures.matchings import NodePairs, given_records, hits_of, log_chances
from graphveil.pages.answers.attacks import groups
from graphveil.verbs.attack import attack_release as attack
from networks_data import rng_of

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

ONE, EIGHT = "re-run, right guess", "re-run 8 times, right guess"


def drawn(seed, n=5, columns=3, runs=4):
    """Return pairs of which those of a record and its owner fit, records, and runs."""
    rng = rng_of(seed)
    fits = (rng.random((n, n)) < 0.6) | np.eye(n, dtype=bool)
    records, people = np.nonzero(fits)
    indptr = np.concatenate([[0], np.cumsum(fits.sum(axis=1))])
    cells = np.where(rng.random((n, columns)) < 0.5, -1, 1)
    return NodePairs(indptr, people), cells, rng.random((runs, n, columns)) < 0.5, records


@pytest.mark.parametrize("seed", range(6))
def test_records_are_given_as_the_likeliest_of_all_assignments_gives_them(seed):
    pairs, cells, runs, records = drawn(seed)
    likely = {}
    for record, person in zip(records.tolist(), pairs.indices.tolist(), strict=True):
        chance = 1.0
        for column, cell in enumerate(cells[record]):
            hid = sum(run[person, column] for run in runs)
            share = (hid + 0.5) / (len(runs) + 1)
            chance *= share if cell == -1 else 1 - share
        likely[record, person] = np.log(chance)
    made = log_chances(pairs, cells, runs)
    assert list(likely.values()) == pytest.approx(made)
    best = max(
        sum(likely[record, person] for person, record in enumerate(order))
        for order in itertools.permutations(range(5))
        if all((record, person) in likely for person, record in enumerate(order))
    )
    given = given_records(pairs, made, rng_of(seed))
    assert sorted(given) == [0, 1, 2, 3, 4]
    assert best == pytest.approx(sum(likely[r, p] for p, r in enumerate(given.tolist())))


def test_where_nothing_tells_the_order_of_people_tells_nothing():
    n = 6
    pairs = NodePairs(np.arange(0, n * n + 1, n), np.tile(np.arange(n), n))
    rng = rng_of(1)
    given = np.array([given_records(pairs, np.zeros(n * n), rng) for _ in range(600)])
    hits = (given == np.arange(n)).mean(axis=0)
    assert ((hits > 0.08) & (hits < 0.27)).all(), hits


def test_equal_records_share_a_hit():
    cells = np.array([[-1, 2], [-1, 2], [1, 2]])
    assert [0.5, 0.5, 1.0] == hits_of(np.array([1, 0, 2]), cells).tolist()


def table(n=60):
    rng = rng_of(2)
    cells = {f"c{c}": rng.integers(0, 2, n).astype(str).tolist() for c in range(8)}
    return gv.Table.from_columns(cells)


def told_of(release, original, **options):
    told = attack(
        release, original=original, attacks=["matching"], seed=1, options={"matching": options}
    )
    return {row.part: row for row in told}


def test_eight_runs_tell_more_than_one_of_adaptive_releases_and_nothing_of_equal_rows():
    original = table()
    told = told_of(
        gv.Adaptive(levels=4, compatibility="bipartite").anonymize(original, seed=1), original
    )
    assert told[EIGHT].value > told[ONE].value
    told = told_of(gv.ClusterK(k=4).anonymize(original, seed=1), original)
    assert told[EIGHT].low <= 1 / 4


def test_of_too_many_people_one_run_is_made(monkeypatch):
    monkeypatch.setattr(matching, "MOST_PEOPLE", 19)
    original = table(20)
    told = told_of(gv.ClusterK(k=4).anonymize(original, seed=1), original)
    assert [ONE] == [part for part in told if "re-run" in part]


def test_summaries_say_how_often_the_method_was_run():
    original = table(20)
    release = gv.Adaptive(levels=4).anonymize(original, seed=1)
    once = "by an attacker who has the original and runs the method again"
    for times in (1, 3):
        rows = attack(
            release,
            original=original,
            attacks=["matching"],
            seed=1,
            options={"matching": {"reruns": times}},
        )
        asked = [line.question for group in groups(rows) for line in group.lines]
        said = [question for question in asked if "runs the method" in question]
        assert [once, once.replace("again", f"{times} times")][:times] == said

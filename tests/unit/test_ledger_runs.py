"""Runs that spend from one ledger at the same time: none is forgotten, none passes the limit."""

from __future__ import annotations

import fcntl
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction

import pytest

import graphveil as gv
from graphveil.claims import ledger as ledgers
from graphveil.claims.guarantees import EdgeDP
from graphveil.core.errors import UsageError


def spend(ledger, epsilon):
    return ledger.spend(EdgeDP(epsilon=epsilon), method="asymmetric-response", person_cells=3)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(ledgers, "PATIENCE_SECONDS", 60.0)
    return tmp_path / "friends.ledger"


@pytest.fixture
def waits(monkeypatch):
    """Return an event that is set once a run has to wait for the ledger."""
    event, flock = threading.Event(), fcntl.flock

    def noted(descriptor, operation):
        try:
            flock(descriptor, operation)
        except OSError:
            event.set()
            raise

    monkeypatch.setattr(fcntl, "flock", noted)
    return event


@contextmanager
def another_run(path):
    """Hold the ledger as a run does that has begun and has not entered anything yet."""
    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def enter(path, epsilon):
    """Write an entry into the file, as the run does that holds it."""
    content = {"schema": ledgers.SCHEMA, "entries": []}
    if path.exists():
        content = json.loads(path.read_bytes())
    own = {"id": "other", "method": "m", "unit": "edge", "epsilon": str(epsilon), "person_cells": 3}
    content["entries"].append(own)
    path.write_text(json.dumps(content))
    path.chmod(0o600)


def entered_meanwhile(path, waits, *, epsilon, limit=None):
    """Let a run begin while another holds the ledger, which enters its own before it lets go."""
    with ThreadPoolExecutor(1) as pool:
        with another_run(path):
            late = pool.submit(spend, gv.Ledger(path, limit=limit), epsilon)
            assert waits.wait(60)
            enter(path, 0.75)
        return late.result(60)


@pytest.mark.parametrize("before", [0, 1, 5])
def test_what_another_run_entered_while_this_one_waited_is_kept_and_counted(before, path, waits):
    for _ in range(before):
        spend(gv.Ledger(path), 0.5)
    spent = entered_meanwhile(path, waits, epsilon=0.25)
    assert before + 2 == len(gv.Ledger(path).entries())
    assert 1 + Fraction(before, 2) == gv.Ledger(path).total("edge")
    assert (before + 2, f"{1 + before / 2:g}") == (spent.composed.releases, spent.composed.epsilon)
    assert before + 2 == len(spent.known)


def test_what_another_run_entered_meanwhile_counts_for_the_limit(path, waits):
    with pytest.raises(
        UsageError,
        match=r"total epsilon for one edge or entry would become 1\.25, above the limit 1",
    ):
        entered_meanwhile(path, waits, epsilon=0.5, limit=1.0)
    assert Fraction(3, 4) == gv.Ledger(path).total("edge")


def test_of_many_runs_at_once_every_one_is_entered_and_none_beyond_the_limit(path):
    def run(_):
        try:
            return spend(gv.Ledger(path, limit=2.0), 0.125).composed.releases
        except UsageError:
            return None

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(run, range(24)))
    assert [*range(1, 17)] == sorted(number for number in numbers if number is not None)
    assert Fraction(2) == gv.Ledger(path).total("edge")

"""A hundred random edits, always the same ones: `make fuzz` tries as many as there is time for."""

from __future__ import annotations

from unittest import mock

import pytest

from emptied import emptied_database
from fuzz.edits import large_targets, release, search

REACHED = {
    "Graph": {"form": 15, "shape": 2, "claim": 3},
    "Bipartite": {"form": 15, "shape": 4, "claim": 2},
    "Table": {"form": 15, "shape": 2, "claim": 5, "another release": 2},
}
"""How many edits of a kind of data must come so far at least."""


@pytest.fixture(scope="module")
def hundred():
    """Return how many edits of which kind of data ended how, and the findings."""
    with mock.patch("graphveil.verify.check.database", emptied_database):
        return search(100, 300, seed=52)


def test_every_edit_fails_or_leaves_what_everybody_reads(hundred):
    outcomes, findings = hundred
    assert [] == findings
    assert 100 == sum(outcomes.values())


@pytest.mark.parametrize("kind", REACHED)
def test_edits_of_every_kind_of_data_reach_every_stage_of_the_check(kind, hundred):
    outcomes, _ = hundred
    assert [] == [
        (stage, outcomes[kind, stage])
        for stage, least in REACHED[kind].items()
        if outcomes[kind, stage] < least
    ]


def test_every_edit_of_a_large_file_fails_or_leaves_what_everybody_reads(monkeypatch):
    """One of every kind of data and format, at a place that a seed draws."""
    monkeypatch.setattr("graphveil.verify.check.database", emptied_database)
    targets = large_targets()
    outcomes, findings = search(len(targets), 300, seed=39, targets=targets)
    assert [] == findings
    assert len(targets) == sum(outcomes.values())


def test_large_files_are_large(tmp_path):
    for number, target in enumerate(large_targets()):
        (data,) = release(tmp_path / str(number), target).glob("data.*")
        assert 100_000 < data.stat().st_size < 2_500_000, (target.form, data.stat().st_size)

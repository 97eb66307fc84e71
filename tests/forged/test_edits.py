"""A hundred random edits, always the same ones: `make fuzz` tries as many as there is time for."""

from __future__ import annotations

import pytest

from fuzz.edits import search

REACHED = {
    "Graph": {"form": 15, "shape": 2, "claim": 3},
    "Bipartite": {"form": 15, "shape": 4, "claim": 2},
    "Table": {"form": 15, "shape": 2, "claim": 5, "another release": 2},
}
"""How many edits of a kind of data must come so far at least."""


@pytest.fixture(scope="module")
def hundred():
    """Return how many edits of which kind of data ended how, and the findings."""
    return search(100, 300, seed=38)


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

"""A hundred random edits, always the same ones: `make fuzz` tries as many as there is time for."""

from __future__ import annotations

from fuzz.edits import search


def test_every_edit_fails_or_leaves_what_everybody_reads():
    outcomes, findings = search(100, 300, seed=20)
    assert [] == findings
    assert 100 == sum(outcomes.values())
    assert outcomes["claim"] >= 3
    assert outcomes["shape"] >= 5
    assert outcomes["form"] >= 30

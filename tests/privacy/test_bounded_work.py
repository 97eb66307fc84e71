"""A small file cannot make the checker work for hours: what would be too much is said, not done."""

from __future__ import annotations

import numpy as np
import pytest

import graphveil as gv
from graphveil.verify.claim_check import CLASSES
from graphveil.verify.recount.graphs import structural_classes

FLAWS = [
    {
        "name": "neighborhoods without a bound",
        "means": "A release of a few kilobytes keeps the checker busy for days.",
        "file": "src/graphveil/verify/recount/graphs/released_graph.py",
        "old": "        if self._left < 0:",
        "new": "        if self._left < -(1 << 62):",
        "verify": ["tests/privacy/test_bounded_work.py"],
        "methods": ["structural"],
    },
]


def verdict_of(graph, folder, *, limit, measure="count", distance=2):
    method = gv.METHODS["structural"](k=2, measure=measure, distance=distance, goal="partial:0.001")
    release = method.anonymize(graph, seed=1)
    return gv.verify_release(release.write(folder), limit_bytes=limit)


def outcome(verdict):
    return next((c.outcome, c.needs) for c in verdict.checks if c.name == CLASSES)


def star(leaves):
    return gv.Graph.from_edges(np.zeros(leaves, dtype=int), np.arange(1, leaves + 1))


def wheel(rim):
    around = np.arange(1, rim + 1)
    return gv.Graph.from_edges([0] * rim + around.tolist(), [*around, *np.roll(around, 1)])


def test_two_steps_on_a_wheel_are_counted_and_not_walked(tmp_path):
    verdict = verdict_of(wheel(300), tmp_path / "little", limit=90_000)
    assert ("not checked", "--limit") == outcome(verdict)
    assert 4 == verdict.exit_code
    assert ("holds", None) == outcome(verdict_of(wheel(300), tmp_path / "enough", limit=10**6))


def test_one_of_the_leaves_of_a_star_stands_for_all_of_them(tmp_path):
    assert ("holds", None) == outcome(verdict_of(star(3_000), tmp_path / "star", limit=200_000))


def test_shapes_that_cannot_be_told_apart_in_time_are_given_up_together(tmp_path, monkeypatch):
    """Regular graphs that refinement cannot tell apart, each around a center of its own."""
    monkeypatch.setattr(structural_classes, "MOST_STEPS", 10)
    edges, n = [], 0
    for seed in range(8):
        rng = np.random.Generator(np.random.PCG64(seed))
        ring = rng.permutation(16)
        cubic = {tuple(sorted((int(ring[i]), int(ring[(i + 1) % 16])))) for i in range(16)}
        cubic |= {tuple(sorted((int(ring[i]), int(ring[(i + 8) % 16])))) for i in range(8)}
        edges += [(n, n + 1 + v) for v in range(16)]
        edges += [(n + 1 + u, n + 1 + v) for u, v in cubic]
        n += 17
    graph = gv.Graph.from_edges(*np.array(edges).T, n=n)
    verdict = verdict_of(graph, tmp_path / "out", limit=5000, measure="dk", distance=1)
    assert ("not checked", "--limit") == outcome(verdict)


@pytest.mark.parametrize("measure", ["degree", "count", "vrq"])
def test_what_takes_no_neighborhoods_is_checked_under_any_limit(measure, tmp_path):
    verdict = verdict_of(star(60), tmp_path / "out", limit=5000, measure=measure, distance=1)
    assert "holds" == outcome(verdict)[0]

"""The four doors of a release hand on every option of their verbs, under the same types."""

from __future__ import annotations

import inspect

import pytest

import graphveil as gv

DOORS = {
    "verify": gv.verify_release,
    "evaluate": gv.evaluate_release,
    "attack": gv.attack_release,
    "report": gv.report_release,
}


@pytest.mark.parametrize("name", DOORS)
def test_a_door_has_the_signature_of_its_verb(name):
    door, verb = inspect.signature(getattr(gv.Release, name)), inspect.signature(DOORS[name])
    assert list(door.parameters.values())[1:] == list(verb.parameters.values())[1:]
    assert door.return_annotation == verb.return_annotation


@pytest.mark.parametrize("name", DOORS)
def test_a_door_hands_on_every_option(name, monkeypatch):
    verb = DOORS[name]
    taken = []
    monkeypatch.setattr(f"{verb.__module__}.{verb.__name__}", lambda *a, **o: taken.append((a, o)))
    release = gv.KDegree(k=2).anonymize(gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4))
    options = {
        parameter.name: object()
        for parameter in inspect.signature(verb).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    getattr(release, name)("original", **options)
    assert taken == [((release, "original"), options)]

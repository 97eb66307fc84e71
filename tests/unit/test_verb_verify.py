"""One verb verifies: a release in memory and its folder pass, or fail, the same checks."""

from __future__ import annotations

from dataclasses import replace

import pytest

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

GRAPH = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)


def checks_of(verdict):
    return [(check.name, check.outcome) for check in verdict.checks]


@pytest.mark.parametrize("original", [None, GRAPH])
def test_a_release_in_memory_and_its_folder_pass_the_same_checks(tmp_path, original):
    release = gv.KDegree(k=2).anonymize(GRAPH)
    folder = release.write(tmp_path / "out")
    of_folder = checks_of(gv.verify_release(folder, original))
    assert of_folder == checks_of(release.verify(original))
    assert of_folder == checks_of(gv.verify_release(release, original))


def test_a_release_in_memory_that_says_what_its_method_does_not_say_fails():
    release = gv.KDegree(k=2).anonymize(GRAPH)
    said = replace(release.provenance, source="Somebody else, 2026")
    forged = replace(release, provenance=said)
    assert ["method"] == [check.name for check in forged.verify(GRAPH).failures()]


def test_the_key_of_a_release_in_memory_is_checked(tmp_path):
    key, other = (gv.Key.new(tmp_path / name) for name in ("one", "two"))
    release = gv.Rename(key=key).anonymize(GRAPH)
    assert release.verify(GRAPH, key=key).complete
    assert not release.verify(GRAPH, key=other).ok

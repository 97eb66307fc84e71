"""Releases whose words this version does not write: undecided, never forged and never good."""

from __future__ import annotations

import json
import shutil

import pytest

import graphveil as gv
from forged.kit import read_manifest, reseal

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FLAWS = [
    {
        "name": "another wording of limits is a forgery",
        "means": "An honest folder reads as forged once figures of its method are measured anew.",
        "file": "src/graphveil/methods/consistency.py",
        "old": 'return stated if other else ""',
        "new": 'return ""',
        "tests": ["tests/unit/test_other_wording.py", "-k", "limits"],
    },
    {
        "name": "limits of other options pass for another wording",
        "means": "A release that states the milder limits of other options does not fail.",
        "file": "src/graphveil/methods/consistency.py",
        "old": "other = stated != texts[0] and not known.issuperset(",
        "new": "other = stated != texts[0] or known.issuperset(",
        "tests": ["tests/unit/test_other_wording.py", "-k", "options"],
    },
    {
        "name": "what another version states is a forgery",
        "means": "An honest folder of another version reads as forged where methods changed since.",
        "file": "src/graphveil/methods/consistency.py",
        "old": "if problems and manifest.version != __version__:",
        "new": "if False:",
        "tests": ["tests/unit/test_other_wording.py", "-k", "version"],
    },
    {
        "name": "words that nobody knows leave nothing open",
        "means": "A release with a text on limits that nobody checked verifies.",
        "file": "src/graphveil/verbs/verify.py",
        "old": "reworded = (METHOD,) if agreed.detail.startswith(REWORDED) else ()",
        "new": "reworded = ()",
        "tests": ["tests/unit/test_other_wording.py", "-k", "limits"],
    },
]

RING = gv.Graph.from_edges(range(12), [*range(1, 12), 0])


@pytest.fixture
def folder(tmp_path):
    folder = gv.KDegree(k=5).anonymize(RING, seed=1).write(tmp_path / "release")
    shutil.rmtree(tmp_path / "release.private")  # it belongs to the manifest as it was written
    return folder


def changed(folder, change):
    manifest = read_manifest(folder)
    change(manifest)
    reseal(folder, manifest)
    return gv.verify_release(folder)


def limits(said):
    return lambda manifest: manifest["claim"].update(does_not_protect_against=said)


def test_other_words_on_limits_leave_a_release_undecided(folder):
    own = read_manifest(folder)["claim"]["does_not_protect_against"]
    for said in (own.replace("100%", "99%"), "Whatever is not covered."):
        verdict = changed(folder, limits(said))
        assert 4 == verdict.exit_code
        assert verdict.said()[0].startswith("Undecided: this version words the limits")
        assert "the smallest class (degree 2) holds 12 nodes" in verdict.said()[1]


def test_limits_of_other_options_are_false(folder):
    other = gv.KDegree(k=5, edits="add").limits()
    assert other != read_manifest(folder)["claim"]["does_not_protect_against"]
    verdict = changed(folder, limits(other))
    assert 1 == verdict.exit_code
    assert ["method"] == [check.name for check in verdict.failures()]


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest["method"].update(source="A paper, renamed"),
        lambda manifest: manifest["method"]["parameters"].update(zeal=3),
        limits("Other words."),
    ],
)
def test_what_another_version_states_is_undecided(folder, change):
    def of_another_version(manifest):
        manifest["version"] = "9.0.0"
        change(manifest)

    verdict = changed(folder, of_another_version)
    assert 4 == verdict.exit_code
    assert [] == verdict.failures()
    assert verdict.said()[0].startswith("Undecided: written by version '9.0.0'")


def test_a_class_below_k_is_false_in_any_version_and_wording(folder):
    def forged(manifest):
        manifest["version"] = "9.0.0"
        limits("Other words.")(manifest)
        text = json.dumps(manifest["claim"]["guarantee"]).replace('"k": 5', '"k": 13')
        manifest["claim"]["guarantee"] = json.loads(text)

    verdict = changed(folder, forged)
    assert 1 == verdict.exit_code
    assert verdict.said()[0].startswith("The guarantee is not true")

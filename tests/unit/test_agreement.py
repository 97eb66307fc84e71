"""What is said of a method that this version does not know."""

from __future__ import annotations

import pytest

import graphveil as gv
from forged.kit import read_manifest, reseal

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

FRIENDS = gv.Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "ann"])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Somebody et al.", "no text id of the original stands in its words"),
        (
            "after bob et al.",
            "the word 'bob', an id of the original, stands in 'after bob et al.': read it",
        ),
    ],
)
def test_its_words_are_searched_for_ids_and_never_called_checked(tmp_path, source, said):
    folder = gv.KDegree(k=2).anonymize(FRIENDS).write(tmp_path / "out")
    manifest = read_manifest(folder)
    manifest["method"] |= {"name": "elsewhere", "source": source}
    reseal(folder, manifest)
    checks = gv.verify_release(folder, original=FRIENDS).checks
    (check,) = [item for item in checks if item.name == "method"]
    expected = f"this version knows no method 'elsewhere'; {said}"
    assert ("not checked", expected) == (check.outcome, check.detail)

"""What random search found stays, in words, and is tried again in every run."""

from __future__ import annotations

import ast
import contextlib
import unittest
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.database import ReadOnlyDatabase

from fuzz.database import Corpus, findings, running_test

ROOT = Path(__file__).resolve().parents[2]
ANSWER = 1000


def search(corpus):
    """Search for a number that is not below 1000, and keep it."""

    @settings(database=corpus, phases=[Phase.generate, Phase.shrink])
    @given(st.integers())
    def is_small(number):
        assert number < ANSWER

    with pytest.raises(AssertionError) as caught:
        is_small()
    return caught.value


def replay(corpus):
    """Return the numbers that a run with this corpus tries, before it generates one."""
    tried = []

    @settings(database=corpus, phases=[Phase.reuse])
    @given(st.integers())
    def any_number(number):
        tried.append(number)

    with contextlib.suppress(unittest.SkipTest):  # where there is nothing to try
        any_number()
    return tried


def test_the_smallest_failing_example_is_kept_and_tried_again(tmp_path):
    search(Corpus(tmp_path))
    assert 1 == len(findings(tmp_path))
    assert running_test() == findings(tmp_path)[0]["test"]
    assert [ANSWER] == replay(ReadOnlyDatabase(Corpus(tmp_path)))


def test_a_finding_of_another_test_is_not_tried(tmp_path):
    search(Corpus(tmp_path))
    path = next(tmp_path.iterdir())
    path.write_text(path.read_text().replace("test_a_finding_of", "test_the_finding_of"))
    assert [] == replay(ReadOnlyDatabase(Corpus(tmp_path)))


def test_a_finding_that_fails_no_more_stays(tmp_path):
    search(Corpus(tmp_path))
    assert [ANSWER] == replay(Corpus(tmp_path))
    assert 1 == len(findings(tmp_path))


def test_the_example_stands_beside_it_in_words(tmp_path):
    corpus = Corpus(tmp_path)
    error = search(corpus)
    corpus.describe(running_test(), "\n".join(error.__notes__))
    assert "number=1000" in findings(tmp_path)[0]["example"]
    assert [ANSWER] == replay(corpus)


def test_every_property_has_a_seed_unless_a_random_search_runs(request):
    if settings.get_current_profile_name() == "fuzz":
        pytest.skip("a random search runs")
    marked = [item.obj for item in request.session.items if item.get_closest_marker("hypothesis")]
    assert {0} >= {test._hypothesis_internal_use_seed for test in marked}
    assert 60 >= max(
        (test._hypothesis_internal_use_settings.max_examples for test in marked), default=0
    )


def test_the_same_seed_draws_the_same_again():
    tried = []

    @settings(max_examples=30, database=None)
    @given(st.integers(), st.text())
    def draw(number, text):
        tried.append((number, text))

    draw._hypothesis_internal_use_seed = 0
    draw()
    draw()
    assert tried[: len(tried) // 2] == tried[len(tried) // 2 :]


@pytest.mark.parametrize("finding", findings(), ids=lambda finding: finding["test"])
def test_every_finding_names_a_test_that_is_there(finding):
    file, _, name = finding["test"].partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert name.partition("[")[0] in names

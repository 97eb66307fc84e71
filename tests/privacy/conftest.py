"""The release that the tests of tampering change, and the count of their random edits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import edit_counts
from tampering import original_graph, release_of


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test of random edits where none of them reached the claim."""
    marked = item.get_closest_marker("counts_edits")
    counts = edit_counts.start(marked.args if marked else ())
    result = yield
    if marked:
        counts.check()
    return result


@pytest.fixture
def folder(tmp_path):
    return release_of(original_graph()).write(tmp_path / "release")

"""Of the cases of a golden test a third is tried in every run, all in `make fuzz`."""

from __future__ import annotations

from pathlib import Path

from thorough import try_a_part


def pytest_collection_modifyitems(items):
    try_a_part(items, Path(__file__).parent)

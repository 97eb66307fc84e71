"""The release that the tests of tampering change."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tampering import original_graph, release_of


@pytest.fixture
def folder(tmp_path):
    return release_of(original_graph()).write(tmp_path / "release")

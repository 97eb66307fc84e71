"""The registry of methods: names are known without their classes, which come when asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import graphveil as gv
from graphveil.core.errors import UsageError
from graphveil.methods import METHODS, register

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

VERIFYING = """
import sys
import graphveil as gv
print(gv.verify_release(sys.argv[1]).ok)
print(*sorted(name for name in sys.modules if name.startswith("graphveil.me")))
"""


def test_each_name_is_that_of_its_class():
    assert [*METHODS] == [method.name for method in METHODS.values()]
    assert len(METHODS) == len(set(METHODS.values()))


def test_another_class_of_the_same_name_is_refused_and_leaves_the_first():
    class Other(gv.KDegree):
        pass

    with pytest.raises(UsageError, match="k-degree is already the name of another"):
        register(Other)
    assert gv.KDegree is METHODS["k-degree"]


def test_a_class_that_is_taken_out_is_no_method_any_more(monkeypatch):
    monkeypatch.delitem(METHODS._entries, "mondrian")
    assert "mondrian" not in METHODS
    assert METHODS.get("mondrian") is None


def test_who_verifies_a_release_imports_the_class_of_its_method_alone(tmp_path):
    graph = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=4)
    folder = gv.KDegree(k=2).anonymize(graph).write(tmp_path / "out")
    command = [sys.executable, "-c", VERIFYING, str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    rooms = {name.split(".")[2] for name in said if name.count(".") > 1}
    shared = {"attributes", "base", "card", "consistency", "registry"}
    assert ("True", {*shared, "k_degree"}) == (said[0], rooms)

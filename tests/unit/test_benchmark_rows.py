import ast
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
import raw_rows
from raw_rows import append_rows, read_rows, write_rows

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted([*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("tools/*.py")])
KEPT = sorted(Path(raw_rows.__file__).parent.glob("*/results/*.parquet"))
ROWS = [
    {"key": "a", "seed": 1, "value": 0.1, "exact": True, "parameters": {"k": 2}},
    {"key": "b", "seed": None, "value": 2, "curve": [[0.0, 1], [0.5, 2]]},
    {"value": float("inf"), "parameters": {}, "key": ""},
]


def test_rows_come_back_with_the_keys_and_types_they_had(tmp_path):
    path = tmp_path / "results" / "part.parquet"
    write_rows(path, ROWS)
    assert list(map(repr, ROWS[:2])) == list(map(repr, read_rows(path)[:2]))
    assert ROWS[2] == read_rows(path)[2]


def test_rows_are_added_behind_those_that_are_there(tmp_path):
    path = tmp_path / "part.parquet"
    assert [] == read_rows(path)
    for row in ROWS:
        append_rows(path, row)
    append_rows(path, {"key": "c", "value": np.float64(0.5), "curve": (1, 2)})
    assert [*ROWS, {"key": "c", "value": 0.5, "curve": [1, 2]}] == read_rows(path)
    assert ["part.parquet"] == [file.name for file in tmp_path.iterdir()]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_what_is_kept_of_a_benchmark_can_be_read(path):
    assert all(len(row) > 1 for row in read_rows(path)[1:])


def there(home, name):
    """Whether a module of the package has a name, or a module of it."""
    if hasattr(importlib.import_module(home), name):
        return True
    return importlib.util.find_spec(f"{home}.{name}") is not None


def missing(text):
    """Return which names a script takes from the package that the package does not have."""
    taken = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("graphveil"):
            taken |= {(node.module, one.name) for one in node.names}
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "gv":
            taken.add(("graphveil", node.attr))
    return {name for home, name in taken if not there(home, name)}


def test_what_scripts_take_from_the_package_is_there():
    assert len(SCRIPTS) > 50
    found = {str(path.relative_to(ROOT)): missing(path.read_text()) for path in SCRIPTS}
    assert {} == {path: names for path, names in found.items() if names}


def test_a_name_that_the_package_does_not_have_is_found():
    assert {"gone"} == missing("from graphveil.data import Graph, gone, kinds")
    assert {"gone"} == missing("import graphveil as gv\ngv.gone(gv.Graph)")

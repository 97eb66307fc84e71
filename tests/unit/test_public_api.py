from __future__ import annotations

import subprocess
import sys

import pytest

import graphveil as gv
import graphveil.engines
import graphveil.io
from graphveil.methods import METHODS

HEAVY = ["numpy", "scipy", "numba", "pyarrow", "duckdb", "rustworkx", "rich", "cyclopts", "msgspec"]


def test_every_public_name_can_be_imported():
    for name in gv.__all__:
        assert getattr(gv, name) is not None


def test_names_stand_once_and_the_listing_shows_them():
    assert len(set(gv.__all__)) == len(gv.__all__)
    assert sorted(gv.__all__) == dir(gv)


@pytest.mark.parametrize("name", METHODS)
def test_the_class_of_every_method_is_public(name):
    assert METHODS[name] is getattr(gv, METHODS[name].__name__)


@pytest.mark.parametrize("module", [gv.datasets, gv.theory, gv.warnings])
def test_a_module_lists_what_is_for_users_alone(module):
    listed = dir(module)
    assert len(listed) > 5
    assert not {"Any", "annotations", "dataclasses", "math", "np", "NamedTuple"} & {*listed}


def test_a_star_import_gives_all_of_them():
    space = {}
    exec("from graphveil import *", space)  # noqa: S102  the statement under test
    assert set(gv.__all__) <= set(space)


def test_the_names_of_the_documented_way_are_there():
    documented = {"read_graph", "KDegree", "read_release", "Graph", "Bipartite", "Table"}
    assert documented <= set(gv.__all__)
    assert {"anonymize"} <= set(dir(gv.KDegree))
    assert {"verify", "write"} <= set(dir(gv.Release))


def test_every_public_thing_says_what_it_is():
    for name in gv.__all__:
        thing = getattr(gv, name)
        if callable(thing):
            assert thing.__doc__, name
            assert thing.__doc__.strip().splitlines()[0].endswith("."), name


def test_warnings_are_in_a_module_and_not_among_the_names_of_the_package():
    assert ["GraphveilWarning"] == [name for name in gv.__all__ if name.endswith("Warning")]
    assert gv.warnings.KnownNetworkWarning is gv.KnownNetworkWarning
    with pytest.raises(AttributeError, match="no attribute 'FameWarning'"):
        gv.FameWarning  # noqa: B018  looking it up is the test


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'fame'"):
        gv.fame  # noqa: B018  looking it up is the test


def test_importing_the_package_imports_nothing_heavy():
    script = f"import sys, graphveil; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "[]" == done.stdout.strip()


WHOLE_WAY = """
import sys, warnings

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("pandas", "polars", "networkx", "igraph", "matplotlib"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import graphveil as gv
warnings.simplefilter("ignore", gv.GraphveilWarning)
graph = gv.Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "dan"])
folder = gv.KDegree(k=2).anonymize(graph).write(sys.argv[1])
assert gv.verify_release(folder, original=graph).ok
assert gv.evaluate_release(folder, original=graph)
assert gv.read_release(folder).data.n_nodes == 4
"""


def test_the_whole_way_needs_no_pandas_polars_networkx_or_igraph(tmp_path):
    command = [sys.executable, "-c", WHOLE_WAY, str(tmp_path / "friends")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    complaints = [
        line for line in done.stderr.splitlines() if "compiling the code that this" not in line
    ]
    assert (0, []) == (done.returncode, complaints)

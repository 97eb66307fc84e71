"""A warning points at the line of the owner's own program, however deep it arises."""

from __future__ import annotations

import warnings
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pytest
from scipy import sparse

import graphveil as gv
from graphveil.verbs.anonymize import anonymize_rows

LOOPS = nx.Graph([(0, 0), (0, 1)])
TWICE = pa.table({"user": ["a", "a"], "item": ["x", "x"]})
FURTHER = pa.table({"source": [0], "target": [1], "year": [7]})
NUMBERED = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
ROWS = gv.Bipartite.from_lists([["x"], ["x"], ["x"], ["x"]])


def on_disk(folder):
    path = folder / "likes.csv"
    path.write_text("user,item\nann,tea\nbob,tea\ncyd,tea\ndan,tea\nann,tea\n")
    method = gv.SuppressK(k=2, chunks=gv.Chunks(rows=4))
    return anonymize_rows(method, path, folder / "out")


def read(folder):
    path = folder / "edges.csv"
    path.write_text("source,target\n0,1\n0,1\n1,2\n")
    return gv.read_graph(path)


def written_twice(folder):
    for name in ("one", "two"):
        release = gv.KDegree(k=2).anonymize(NUMBERED, seed=1)
        release.write(folder / name)
    return name


CALLS = {
    "from_edges": lambda _: gv.Graph.from_edges([0, 0], [0, 1], n=2),
    "from_networkx": lambda _: gv.Graph.from_networkx(LOOPS),
    "from_scipy": lambda _: gv.Graph.from_scipy(sparse.csr_array([[0, 2], [2, 0]])),
    "from_arrow": lambda _: gv.Graph.from_arrow(FURTHER),
    "from_pairs": lambda _: gv.Bipartite.from_arrow(TWICE),
    "anonymize": lambda _: gv.SuppressK(k=2).anonymize(ROWS, seed=1),
    "by name": lambda _: gv.anonymize(ROWS, "suppress-k", k=2, seed=1),
    "an object": lambda _: gv.anonymize(LOOPS, "k-degree", k=2),
    "read": read,
    "write": written_twice,
    "on disk": on_disk,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_warning_points_at_the_program_of_the_owner(call, tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(tmp_path)
    assert caught
    assert {Path(__file__).name} == {Path(warning.filename).name for warning in caught}

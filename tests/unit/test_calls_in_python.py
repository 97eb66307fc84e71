"""Calls that are easily made in a wrong way: each says the right one, or works."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import networkx as nx
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphveil as gv
from graphveil.core.errors import UsageError
from graphveil.core.rows import Row, Rows
from graphveil.methods import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

GRAPH = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
VERBS = {
    "evaluate": gv.evaluate_release,
    "attack": gv.attack_release,
    "verify": gv.verify_release,
}


@pytest.fixture(scope="module")
def release():
    return gv.KDegree(k=2).anonymize(GRAPH)


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_take_a_release_and_its_folder_alike(verb, release, tmp_path):
    folder = release.write(tmp_path / "out")
    for given in (release, folder, str(folder)):
        assert len(VERBS[verb](given, GRAPH).checks if verb == "verify" else [1])
        VERBS[verb](given, GRAPH.to_networkx())


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "given", [GRAPH, nx.path_graph(4), 5, None], ids=lambda g: type(g).__name__
)
def test_what_is_no_release_is_refused_with_the_way_out(verb, given):
    with pytest.raises(UsageError) as caught:
        VERBS[verb](given, GRAPH)
    text = str(caught.value)
    assert text.startswith(
        f"{verb} takes a release or the name of its folder as the first argument, not a "
    )
    assert type(given).__name__ in text
    assert "KDegree(k=5).anonymize(data)" in text


@pytest.mark.parametrize("verb", VERBS)
def test_a_release_in_the_place_of_the_original_is_refused(verb, release, tmp_path):
    for given in (release, release.write(tmp_path / "out")):
        with pytest.raises(UsageError, match="instead of the original"):
            VERBS[verb](given, release)


@pytest.mark.parametrize("name", METHODS)
def test_a_parameter_without_its_name_is_refused_with_the_call_to_make(name):
    method = METHODS[name]
    with pytest.raises(
        TypeError, match=rf"takes keyword arguments only: {method.__name__}\([a-zA-Z_0-9]+=5\)\.$"
    ):
        method(5)


@pytest.mark.parametrize(
    "name", ["k-degree", "structural", "smooth-k", "suppress-k", "mondrian", "cluster-k"]
)
def test_the_parameter_that_is_named_is_the_one_that_must_be_given(name):
    method = METHODS[name]
    with pytest.raises(
        TypeError, match=rf"takes keyword arguments only: {method.__name__}\(k=5\)\."
    ):
        method(5)


def test_a_method_is_still_copied_and_pickled():
    method = gv.KDegree(k=5)
    assert method == copy.copy(method) == pickle.loads(pickle.dumps(method))  # noqa: S301  ours
    assert gv.KDegree(k=6) == dataclasses.replace(method, k=6)


FIELDS = [field.name for field in dataclasses.fields(Row)]


@pytest.mark.parametrize("many", ["all", "one", "none"])
def test_rows_become_frames_with_a_column_a_field(many, release):
    every = release.evaluate(GRAPH)
    rows = {"all": every, "one": every[:1], "none": Rows([])}[many]
    n = len(rows) + len(rows.missing)
    assert (n, FIELDS) == (len(rows.to_pandas()), list(rows.to_pandas().columns))
    assert (n, FIELDS) == (len(rows.to_polars()), rows.to_polars().columns)
    assert (n, FIELDS) == (rows.to_arrow().num_rows, rows.to_arrow().column_names)
    assert FIELDS == pa.table(rows).column_names
    if rows:
        assert FIELDS == pl.DataFrame(rows).columns
        assert FIELDS == list(pd.DataFrame(rows).columns) == list(pd.DataFrame(list(rows)).columns)
        assert FIELDS == pl.DataFrame(list(rows)).columns
    measured = gv.measure(GRAPH).rows()
    assert FIELDS == measured.to_polars().columns == list(pd.DataFrame(measured).columns)

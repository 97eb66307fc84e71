"""A second release of one input is recognized, whatever was made of the input on the way."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import graphveil as gv
from graphveil.claims.facts import digests_of_origins
from graphveil.cli.app import call
from graphveil.core.errors import GraphveilWarning
from graphveil.data.origin import FileOrigin

SECOND = "other release of this input is next to it, first"


def warned(release, folder):
    """Return whether writing it names the release `first` beside it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release.write(folder)
    return any(SECOND in str(warning.message) for warning in caught)


def quietly(method, data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphveilWarning)
        return method.anonymize(data, **options)


@pytest.fixture
def frame():
    ages = np.arange(20, 60)
    return pd.DataFrame({"sex": ["f", "m"] * 20, "age": ages, "town": ["Oslo"] * 40})


def table(frame, bins):
    return gv.Table.from_arrow(frame, bins={"age": bins}, person="row")


def test_one_frame_under_other_bins_is_one_input(frame, tmp_path):
    quietly(gv.SuppressK(k=2), table(frame, "median")).write(tmp_path / "first")
    assert warned(quietly(gv.ClusterK(k=2), table(frame, "quantiles:4")), tmp_path / "second")


def test_one_frame_of_which_columns_are_left_out_is_one_input(frame, tmp_path):
    quietly(gv.SuppressK(k=2), table(frame, "median")).write(tmp_path / "first")
    less = gv.Table.from_arrow(frame, bins={"age": "median"}, person="row", drop=["sex"])
    assert warned(quietly(gv.SuppressK(k=2), less), tmp_path / "second")


def test_another_frame_is_another_input(frame, tmp_path):
    quietly(gv.SuppressK(k=2), table(frame, "median")).write(tmp_path / "first")
    other = frame.assign(sex=["m", "f"] * 20)
    assert not warned(quietly(gv.SuppressK(k=2), table(other, "median")), tmp_path / "second")


def test_a_table_and_its_features_are_one_input(tmp_path):
    """No object is behind it: the content of the table itself is recognized."""
    people = gv.Table.from_columns({"sex": ["f", "m"] * 9, "town": ["Oslo"] * 18}, person="row")
    quietly(gv.SuppressK(k=2), people).write(tmp_path / "first")
    assert warned(quietly(gv.SmoothK(k=2), people), tmp_path / "second")


def test_a_table_that_was_one_hot_later_is_one_input(tmp_path):
    people = gv.Table.from_columns({"sex": ["f", "m"] * 9, "town": ["Oslo"] * 18}, person="row")
    quietly(gv.SuppressK(k=2), people).write(tmp_path / "first")
    assert warned(quietly(gv.SuppressK(k=2), people.one_hot_columns(["sex"])), tmp_path / "second")


def test_one_matrix_as_a_graph_and_as_features_is_one_input(tmp_path):
    ring = sparse.csr_array(np.roll(np.eye(12), 1, axis=1))
    ring = ring + ring.T
    quietly(gv.KDegree(k=2), gv.Graph.from_scipy(ring)).write(tmp_path / "first")
    users = gv.Bipartite.from_scipy(sparse.coo_array(ring), items="things")
    assert warned(quietly(gv.SmoothK(k=2), users), tmp_path / "second")


def test_one_file_read_as_ties_and_as_features_is_one_input(tmp_path):
    """As the command reads it, and as Python does."""
    path = tmp_path / "calls.csv"
    rows = "\n".join(f"p{v},p{(v + 1) % 20}" for v in range(20))
    path.write_text(f"source,target\n{rows}\n")
    assert 0 == call(
        ["anonymize", "k-degree", str(path), "--k", "2", "--out", str(tmp_path / "first")]
    )
    users = gv.read_bipartite(path, items="things", user_column="source", item_column="target")
    assert warned(quietly(gv.SmoothK(k=2), users), tmp_path / "second")


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_command_names_it_before_the_work(on_disk, tmp_path):
    path = tmp_path / "likes.csv"
    path.write_text("user,item\n" + "".join(f"u{v},i{v % 3}\n" for v in range(40)))
    one = [
        "anonymize",
        "suppress-k",
        str(path),
        "--k",
        "2",
        "--kind",
        "bipartite",
        "--items",
        "things",
    ]
    assert 0 == call([*one, "--out", str(tmp_path / "first")])
    two = ["anonymize", "smooth-k", str(path), "--k", "2", "--items", "people"]
    flags = ["--on-disk"] if on_disk else []
    with pytest.warns(GraphveilWarning, match=SECOND):
        assert 0 == call([*two, *flags, "--out", str(tmp_path / "second")])
    record = json.loads((tmp_path / "second.private" / "record.json").read_text())
    assert any(SECOND in text for text in record["warnings"])


def test_a_file_that_was_written_since_is_not_digested(tmp_path):
    path = tmp_path / "ties.csv"
    path.write_text("source,target\na,b\nb,c\n")
    graph = gv.read_graph(path)
    digests = digests_of_origins(graph)
    assert 1 == len(digests)
    path.write_text("source,target\na,b\nb,c\nc,d\n")
    assert () == digests_of_origins(graph)
    path.unlink()
    assert () == digests_of_origins(graph)
    assert None is FileOrigin.of(path)


def test_no_digest_of_an_origin_is_public(frame, tmp_path):
    release = quietly(gv.SuppressK(k=2), table(frame, "median"))
    release.write(tmp_path / "first")
    for digest in release.private.input_digests:
        assert digest not in (tmp_path / "first" / "release.json").read_text()
        assert digest not in repr(release) + repr(release.private) + repr(release.data)

"""`graphveil convert`: any format that is read into any that is written, and releases into all."""

from __future__ import annotations

import numpy as np
import pytest

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

EDGES = "ann,bob\nbob,cyd\ncyd,dan\n"


@pytest.fixture
def release(cwd):
    graph = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=6)
    gv.KDegree(k=2).anonymize(graph, seed=1).write(cwd / "out")
    return gv.read_release(cwd / "out").data


@pytest.mark.parametrize("name", ["a.npz", "a.gml.gz", "a.graph.zst", "a.mtx", "a.nauty", "a.net"])
def test_the_data_of_a_release_comes_back_from_every_format(graphveil_here, cwd, release, name):
    done = graphveil_here("convert", "out", "--out", name)
    assert (0, "") == (done.code, done.out)
    assert f"written: {name}" in done.err
    back = gv.read_graph(cwd / name)
    assert release.size == back.size
    assert np.array_equal(release.edges(), back.edges())


def test_a_list_of_edges_needs_a_list_of_the_ids_where_some_have_no_edge(
    graphveil_here, cwd, release, assert_one_line
):
    done = graphveil_here("convert", "out", "--out", "a.csv.gz")
    assert 2 == done.code
    assert_one_line(done, "nodes without edges would be lost", "--out-ids")
    assert not (cwd / "a.csv.gz").exists()
    assert 0 == graphveil_here("convert", "out", "--out", "a.csv.gz", "--out-ids", "ids.csv").code
    assert release == gv.read_graph(cwd / "a.csv.gz", nodes=cwd / "ids.csv")


def test_a_file_is_read_as_its_flags_say_and_written_as_its_name_says(graphveil_here, cwd):
    (cwd / "likes.tsv").write_text("1\ttea\n2\ttea\n")
    flags = ("--kind", "bipartite", "--header", "no")
    assert 0 == graphveil_here("convert", "likes.tsv", *flags, "--out", "likes.arrow").code
    expected = gv.Bipartite.from_pairs([1, 2], ["tea", "tea"])
    assert expected == gv.read_bipartite(cwd / "likes.arrow")


def test_a_file_that_exists_is_replaced_only_where_that_is_said(
    graphveil_here, cwd, assert_one_line
):
    (cwd / "edges.csv").write_text(EDGES)
    (cwd / "a.gml").write_text("mine")
    done = graphveil_here("convert", "edges.csv", "--out", "a.gml")
    assert 2 == done.code
    assert_one_line(done, "a.gml exists", "--force")
    assert "mine" == (cwd / "a.gml").read_text()
    assert 0 == graphveil_here("convert", "edges.csv", "--out", "a.gml", "--force").code
    assert gv.read_graph(cwd / "edges.csv") == gv.read_graph(cwd / "a.gml")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("out", "--out", "a.gml", "--kind", "graph"), ["--kind is not for a release"]),
        (("out", "--out", "a.gml", "--header", "no"), ["--header is not for a release"]),
        (("edges.csv", "--out", "a.gml", "--users", "u.csv"), ["--users is not for a Graph"]),
        (("edges.csv", "--out", "a.xyz"), [".xyz", "Use"]),
        (("edges.csv", "--out", "out"), ["out"]),
        (("none.csv", "--out", "a.gml"), ["none.csv"]),
    ],
)
@pytest.mark.usefixtures("release")
def test_what_cannot_be_converted_is_refused_in_one_line(
    graphveil_here, cwd, flags, words, assert_one_line
):
    (cwd / "edges.csv").write_text(EDGES)
    done = graphveil_here("convert", *flags)
    assert 2 == done.code
    assert_one_line(done, *words)
    assert not (cwd / "a.gml").exists()

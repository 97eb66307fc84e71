"""Pajek: partitions are attributes of people, wherever they stand and whatever is beside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil import io
from graphveil.core.errors import InputError
from graphveil.data.layers import Layer

TIES = '*Network friends.net\n*Vertices 4\n1 "dan"\n2 "bob"\n3 "cyd"\n4 "ann"\n*Edges\n1 2\n2 3\n'
SEX = "*Partition sex.clu\n*Vertices 4\n1\n2\n2\n0\n"
YEAR = "*partition  Year of birth (4)\n% a remark\n 2001\n2002\n\n2002\n2001\n"


def read(tmp_path, content, name="a.paj"):
    (tmp_path / name).write_text(content)
    return io.load_network(tmp_path / name)


def cells(network):
    return {
        person: tuple(row.values())
        for person, row in zip(
            network.labels().tolist(), network.people.to_arrow().to_pylist(), strict=True
        )
    }


def ties(network):
    people = network.labels().tolist()
    return {(people[one], people[other]) for _, one, other in network.listed_ties(both_ways=True)}


@pytest.mark.parametrize("name", ["a.paj", "a.net"])
@pytest.mark.parametrize("content", [TIES + SEX + YEAR, SEX + TIES + YEAR, SEX + YEAR + TIES])
def test_partitions_are_attributes_of_the_vertices_in_their_order(tmp_path, name, content):
    network, report = read(tmp_path, content, name)
    assert ("sex", "Year of birth (4)") == network.attributes
    expected = {"dan": (1, 2001), "bob": (2, 2002), "cyd": (2, 2002), "ann": (0, 2001)}
    assert expected == cells(network)
    assert {("bob", "cyd"), ("cyd", "bob"), ("bob", "dan"), ("dan", "bob")} == ties(network)
    assert () == report.attributes_ignored


def test_a_graph_and_a_project_name_what_they_leave_out(tmp_path):
    beside = (
        "*Vector age.vec\n*Vertices 4\n0.5\n1\n2\n3\n*Permutation p.per\n*Vertices 4\n4\n3\n2\n1\n"
    )
    path = tmp_path / "a.paj"
    path.write_text(TIES + beside + SEX)
    left_out = ("Vector age.vec", "Permutation p.per")
    assert left_out == io.load_network(path).report.attributes_ignored
    assert (*left_out, "sex") == io.load_graph(path).report.attributes_ignored


@pytest.mark.parametrize(
    ("partition", "message"),
    [
        (
            "*Partition sex\n*Vertices 4\n1\n2\n3\n",
            "line 10: the partition sex has 3 clusters for 4",
        ),
        (
            "*Partition sex\n1\n2\n3\n",
            "line 10: .*3 clusters for 3 vertices, but the network has 4",
        ),
        ("*Partition sex\n*Vertices 5\n1\n2\n3\n4\n", "has 4 clusters for 5 vertices"),
        ("*Partition sex\n1\n2\n3\n4\n5\n", "has 5 clusters"),
        ("*Partition sex\n*Vertices\n", r"line 11: \*Vertices has no number"),
        ("*Partition sex\n1\nf\n1\n2\n", "line 12: f is not a cluster of a partition"),
        ("*Partition sex\n1\n-2\n1\n2\n", "line 12: -2 is not a cluster"),
        ("*Partition sex\n1\n1.5\n1\n2\n", "line 12: 1.5 is not a cluster"),
        ("*Partition sex\n1 2\n", "line 11: 1 2 is not a cluster"),
        (SEX + SEX, "line 16: a second partition is named sex"),
    ],
)
@pytest.mark.parametrize("load", [io.load_network, io.load_graph])
def test_what_is_no_partition_of_these_vertices_is_refused_with_its_line(
    tmp_path, partition, message, load
):
    path = tmp_path / "a.net"
    path.write_text(TIES + partition)
    with pytest.raises(InputError, match=message):
        load(path)


def test_clusters_beyond_64_bits_are_categories_as_in_csv(tmp_path):
    large = "9" * 30
    network, _ = read(tmp_path, TIES + f"*Partition sex\n{large}\n1\n1\n2\n")
    assert {"dan": (large,), "bob": ("1",), "cyd": ("1",), "ann": ("2",)} == cells(network)


def test_a_partition_in_a_file_of_its_own_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "a.net").write_text(TIES)
    (tmp_path / "sex.clu").write_text(SEX)
    with pytest.raises(InputError, match=r"Pajek partition.* \*Partition NAME"):
        io.load_network(tmp_path / "a.net", io.NetworkOptions(nodes=tmp_path / "sex.clu"))


@given(
    n=st.integers(2, 6),
    directed=st.booleans(),
    names=st.lists(st.sampled_from(["sex", "Year of birth", "x.clu y", "é"]), unique=True),
    data=st.data(),
)
def test_a_network_is_written_and_read_again(n, directed, names, data, tmp_path_factory):
    ends = np.array(
        data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), min_size=1, max_size=8))
    ).T
    layer = (Layer if directed else gv.Graph).assemble(*ends, n=n)[0]
    columns = {
        name: data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)) for name in names
    }
    people = gv.Table.from_columns(columns) if columns else None
    layers = (layer,) if directed else (Layer.of(layer),)
    network = gv.Network(layers, people, np.array([f"p{7 * v % 10}" for v in range(n)]))
    path = tmp_path_factory.mktemp("pajek") / "a.net"
    io.write(network, path)
    again = io.load_network(path, io.NetworkOptions(directed="keep")).data
    assert sorted(network.labels().tolist()) == again.labels().tolist()
    assert ties(network) == ties(again)
    assert {} == columns or cells(network) == cells(again)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"sex": ["f", "m"]}, "the attribute sex has the value f"),
        ({"sex": ["*", "*"]}, "the attribute sex has the value"),
        ({"sex.clu": [1, 2]}, "the attribute name sex.clu cannot be the name of a partition"),
        ({" sex": [1, 2]}, "cannot be the name of a partition"),
        ({"a\nb": [1, 2]}, "cannot be the name of a partition"),
    ],
)
def test_attributes_that_are_no_partition_are_not_written(tmp_path, columns, message):
    people = gv.Table.from_columns(columns)
    network = gv.Network((Layer.of(gv.Graph.from_edges([0], [1], n=2)),), people)
    with pytest.raises(InputError, match=message):
        io.write(network, tmp_path / "a.net")
    assert not (tmp_path / "a.net").exists()


KINDS = (
    '*Vertices 4\n1 "dan"\n2 "bob"\n3 "cyd"\n4 "ann"\n'
    '*Arcs :2 "calls"\n1 2\n2 1\n3 1\n*Edges :1 "friends"\n1 2\n3 4\n'
)
APART = io.NetworkOptions(kind_column="relation", directed="keep")


def ties_of_kinds(network):
    people = network.labels().tolist()
    return {
        (kind, people[one], people[other])
        for kind, one, other in network.listed_ties(both_ways=True)
    }


@pytest.mark.parametrize(
    "content",
    [
        KINDS,
        KINDS.replace(" :2 ", " ").replace(":1 ", " "),
        KINDS.replace('"friends"', "friends "),
        KINDS.replace("3 4\n", '*Edgeslist :01 "friends"\n3 4\n'),
        KINDS.replace(' "friends"\n1 2\n', '\n1 2\n*Edges :1 "friends"\n'),
        KINDS.replace("*Edges", "*Arcs :3\n*Edges"),
    ],
)
def test_relations_are_kinds_of_ties_and_each_is_directed_or_not(tmp_path, content):
    (tmp_path / "a.net").write_text(content)
    network = io.load_network(tmp_path / "a.net", APART).data
    assert [("calls", True), ("friends", False)] == [
        (layer.name, layer.directed) for layer in network.layers
    ]
    calls = {("calls", "dan", "bob"), ("calls", "bob", "dan"), ("calls", "cyd", "dan")}
    friends = {("friends", *ends) for ends in [("dan", "bob"), ("cyd", "ann")]}
    both = friends | {(kind, other, one) for kind, one, other in friends}
    assert calls | both == ties_of_kinds(network)


def test_relations_without_a_name_are_called_by_their_number(tmp_path):
    (tmp_path / "a.net").write_text("*Vertices 3\n*Edges :7\n1 2\n*Edges :8\n2 3\n")
    network, report = io.load_network(tmp_path / "a.net", APART)
    assert ["7", "8"] == [layer.name for layer in network.layers]
    assert () == report.attributes_ignored


@pytest.mark.parametrize("load", [io.load_network, io.load_graph])
@pytest.mark.parametrize(
    ("content", "listed"),
    [
        (KINDS, r"2 types \(calls, friends\)"),
        (KINDS.replace(" :2 ", "").replace('"calls"', ""), r"2 types \(friends and one without"),
        (KINDS.replace('"calls"', "").replace('"friends"', ""), r"2 types \(1, 2\)"),
    ],
)
def test_several_kinds_are_not_merged_unless_that_is_asked(tmp_path, load, content, listed):
    (tmp_path / "a.net").write_text(content)
    with pytest.raises(InputError, match=f'{listed}.*kind_column="relation".*ignore_weights=True'):
        load(tmp_path / "a.net")
    options = io.NetworkOptions if load is io.load_network else io.GraphOptions
    how = options(ignore_weights=True, directed="symmetrize")
    merged, report = load(tmp_path / "a.net", how)
    graph = merged if load is io.load_graph else merged.graph()
    assert 3 == graph.n_edges
    assert ("relation",) == report.attributes_ignored


def test_one_named_kind_is_read_and_its_name_is_left_out_aloud(tmp_path):
    path = tmp_path / "a.net"
    path.write_text('*Vertices 3\n*Edges :1 "friends"\n1 2\n2 3\n')
    assert ("relation",) == io.load_graph(path).report.attributes_ignored
    path.write_text("*Vertices 3\n*Edges :1\n1 2\n2 3\n")
    assert () == io.load_graph(path).report.attributes_ignored
    path.write_text("*Vertices 3\n*Edges 20\n1 2\n2 3\n")
    assert ("20 of edges",) == io.load_graph(path).report.attributes_ignored


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (KINDS.replace(":1", ":2"), "line 10: the relation 2 is named calls earlier and friends"),
        (KINDS.replace("friends", "calls"), "line 11: two relations are named calls"),
        (KINDS.replace(' :1 "friends"', ""), "line 11: 2 of 5 edges have no relation"),
        (TIES, "line 8: 2 of 2 edges have no relation"),
    ],
)
def test_what_leaves_open_of_which_kind_ties_are_is_refused_with_its_line(
    tmp_path, content, message
):
    (tmp_path / "a.net").write_text(content)
    with pytest.raises(InputError, match=message):
        io.load_network(tmp_path / "a.net", APART)


def test_values_of_ties_can_be_grouped_into_kinds(tmp_path):
    path = tmp_path / "a.net"
    path.write_text("*Vertices 3\n*Edges\n1 2 7\n2 3\n1 3 2\n")
    how = io.NetworkOptions(kind_column="value", bins={"value": "edges:5"})
    assert 2 == len(io.load_network(path, how).data.layers)


@given(data=st.data(), n=st.integers(2, 6))
def test_several_kinds_are_written_and_read_again(data, n, tmp_path_factory):
    layers = []
    for name in data.draw(
        st.lists(st.sampled_from(["calls", "é x", "7"]), min_size=2, unique=True)
    ):
        ends = data.draw(
            st.lists(
                st.tuples(*[st.integers(0, n - 1)] * 2).filter(lambda tie: tie[0] != tie[1]),
                min_size=1,
                max_size=6,
            )
        )
        source, target = np.array(ends).T
        if data.draw(st.booleans()):
            layers.append(Layer.from_arcs(source, target, n=n, name=name))
        else:
            layers.append(Layer.of(gv.Graph.assemble(source, target, n=n)[0], name=name))
    network = gv.Network(tuple(sorted(layers, key=lambda layer: layer.name)))
    path = tmp_path_factory.mktemp("pajek") / "a.net"
    io.write(network, path)
    again = io.load_network(path, APART).data
    assert n == again.n_nodes
    assert ties_of_kinds(network) == ties_of_kinds(again)
    assert {(one.name, one.directed) for one in network.layers} == {
        (one.name, one.directed) for one in again.layers
    }


def test_a_kind_that_cannot_be_quoted_is_not_written(tmp_path):
    tie = gv.Graph.from_edges([0], [1], n=2)
    network = gv.Network((Layer.of(tie, name='a "b"'), Layer.of(tie, name="mails")))
    with pytest.raises(InputError, match='the edge type a "b" contains a quote'):
        io.write(network, tmp_path / "a.net")

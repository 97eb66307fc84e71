"""Pajek: partitions are attributes of people, wherever they stand and whatever is beside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphveil as gv
from graphveil import io
from graphveil.data.layers import Layer
from graphveil.errors import InputError

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
        ("*Partition sex\n1\n2\n3\n", "line 10: .*3 clusters for 3 vertices, the network has 4"),
        ("*Partition sex\n*Vertices 5\n1\n2\n3\n4\n", "has 4 clusters for 5 vertices"),
        ("*Partition sex\n1\n2\n3\n4\n5\n", "has 5 clusters"),
        ("*Partition sex\n*Vertices\n", r"line 11: \*Vertices has no number"),
        ("*Partition sex\n1\nf\n1\n2\n", "line 12: f is no cluster of a partition"),
        ("*Partition sex\n1\n-2\n1\n2\n", "line 12: -2 is no cluster"),
        ("*Partition sex\n1\n1.5\n1\n2\n", "line 12: 1.5 is no cluster"),
        ("*Partition sex\n1 2\n", "line 11: 1 2 is no cluster"),
        (SEX + SEX, "line 16: a second partition is called sex"),
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
        ({"sex.clu": [1, 2]}, "the attribute sex.clu cannot name a partition"),
        ({" sex": [1, 2]}, "cannot name a partition"),
        ({"a\nb": [1, 2]}, "cannot name a partition"),
    ],
)
def test_attributes_that_are_no_partition_are_not_written(tmp_path, columns, message):
    people = gv.Table.from_columns(columns)
    network = gv.Network((Layer.of(gv.Graph.from_edges([0], [1], n=2)),), people)
    with pytest.raises(InputError, match=message):
        io.write(network, tmp_path / "a.net")
    assert not (tmp_path / "a.net").exists()


def test_several_kinds_of_ties_are_not_written(tmp_path):
    tie = gv.Graph.from_edges([0], [1], n=2)
    network = gv.Network((Layer.of(tie, name="calls"), Layer.of(tie, name="mails")))
    with pytest.raises(InputError, match="one kind of ties, and there are calls, mails"):
        io.write(network, tmp_path / "a.net")

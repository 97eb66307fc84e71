"""The container of people with attributes and layers of ties: validation, objects, conversions."""

import warnings

import networkx as nx
import numpy as np
import polars as pl
import pytest
from scipy import sparse

import graphveil as gv
from graphveil.claims.facts import digest_of
from graphveil.core.errors import DataError, InfeasibleError, ParameterError

TIES = gv.Graph.from_edges([0, 1, 2], [1, 2, 3], n=5)
PEOPLE = gv.Table.from_columns({"sex": list("fmfm*"), "town": ["x", "y", "x", "y", "x"]})
CALLS = gv.Layer.from_arcs([0, 1, 3, 3], [1, 0, 2, 4], n=5, name="calls")
NETWORK = gv.Network({"friends": TIES, "calls": CALLS}, PEOPLE, ["e", "d", "c", "b", "a"])


def test_a_network_says_its_size_and_never_an_id():
    shown = "Network(5 nodes, calls: 4 arcs, friends: 3 edges, attributes: sex, town)"
    assert shown == repr(NETWORK)
    assert NETWORK.n_ties == 7
    assert "friends" in NETWORK._repr_html_()
    assert "person" not in NETWORK._repr_html_()


def test_the_profile_has_a_number_a_layer_and_two_of_a_directed_one():
    assert NETWORK.profiles().tolist() == [
        [1, 1, 1],
        [1, 1, 2],
        [0, 1, 2],
        [2, 0, 1],
        [0, 1, 0],
    ]


def test_arcs_are_sorted_once_each_and_without_loops():
    layer, dropped = gv.Layer.assemble([2, 0, 0, 1, 1], [0, 2, 2, 1, 0], n=3, name="calls")
    assert [end.tolist() for end in layer.ties()] == [[0, 1, 2], [2, 0, 0]]
    assert (dropped.self_loops, dropped.duplicates) == (1, 1)
    assert layer.n_mutual() == 2


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: gv.Network({}), "needs at least one layer"),
        (lambda: gv.Network({"a": TIES, "b": gv.Graph.from_edges([0], [1], n=2)}), "has 2 nodes"),
        (lambda: gv.Network((CALLS, CALLS)), "two layers have the same name"),
        (lambda: gv.Network({"": TIES}), "not a valid name of an edge type"),
        (lambda: gv.Network({"a": 3}), "Give a Graph"),
        (lambda: gv.Network({"a": TIES}, PEOPLE.part(np.arange(3))), "3 rows of attributes for 5"),
        (
            lambda: gv.Network({"a": TIES}, gv.Table.from_columns({"node": [1] * 5})),
            "the name 'node',",
        ),
        (lambda: gv.Network({"a": TIES}, gv.Table.from_columns({"": [1] * 5})), "has no name"),
        (NETWORK.graph, "several edge types \\(calls, friends\\)"),
        (lambda: gv.Network((CALLS,)).graph(), "'calls' are directed"),
        (lambda: NETWORK.without("age"), "no attribute 'age'. Attributes: sex, town"),
        (lambda: gv.Layer.from_arcs([0], [7], n=3), "outside 0..2"),
        (lambda: gv.Layer(directed=True, indptr=[0, 1, 1], indices=[0]), "has an edge to itself"),
        (lambda: gv.Layer(directed=True, indptr=[0, 2, 2, 2], indices=[2, 1]), "not sorted"),
        (lambda: gv.Network({"a": TIES}, ids=[1, 1, 2, 3, 4]), "more than once"),
    ],
)
def test_what_is_no_network_is_refused(call, says):
    with pytest.raises(DataError, match=says):
        call()


def test_a_bare_network_is_a_graph_under_the_same_ids():
    bare = gv.Network({"ties": TIES}, ids=list("abcde"))
    assert bare.is_bare
    assert bare.graph() == gv.Graph(TIES.indptr, TIES.indices, list("abcde"))
    assert not gv.Network({"ties": TIES}, PEOPLE).is_bare


def test_order_parts_and_choices_keep_who_is_who():
    order = np.array([4, 2, 0, 1, 3])
    turned = NETWORK.permuted(order, ids=list("vwxyz"))
    assert turned.profiles().tolist() == NETWORK.profiles()[order].tolist()
    assert turned.people.to_arrow().to_pylist() == [
        PEOPLE.to_arrow().to_pylist()[place] for place in order
    ]
    part = NETWORK.part(np.array([0, 1, 3]))
    assert [layer.n_ties for layer in part.layers] == [2, 1]
    assert part.attributes == ("sex", "town")
    assert NETWORK.with_attributes(["town"]).attributes == ("town",)
    assert NETWORK.without("sex", "town").people is None
    assert NETWORK.without("sex").labels().tolist() == list("edcba")


def test_networkx_keeps_attributes_and_directions():
    graph = nx.DiGraph()
    graph.add_node("b", sex="m")
    graph.add_node("a", sex="f", age=30)
    graph.add_edge("a", "b", since=2001)
    with pytest.warns(gv.GraphveilWarning, match="dropped since"):
        network = gv.Network.from_networkx(graph)
    assert network.labels().tolist() == ["a", "b"]
    assert network.people.to_arrow().to_pylist() == [
        {"sex": "f", "age": 30},
        {"sex": "m", "age": None},
    ]
    assert network.layers[0].directed
    again = network.to_networkx()
    assert dict(again.nodes(data=True)) == {
        "a": {"sex": "f", "age": 30},
        "b": {"sex": "m", "age": "*"},
    }
    assert list(again.edges) == [("a", "b")]


def test_kinds_of_ties_become_layers_and_keys():
    graph = nx.MultiDiGraph()
    graph.add_edge(0, 1, kind="calls")
    graph.add_edge(0, 1, kind="mail")
    graph.add_edge(1, 2, kind="mail")
    network = gv.Network.from_networkx(graph, kinds="kind")
    assert [(layer.name, layer.n_ties) for layer in network.layers] == [("calls", 1), ("mail", 2)]
    again = network.to_networkx()
    assert sorted(again.edges(keys=True)) == [(0, 1, "calls"), (0, 1, "mail"), (1, 2, "mail")]
    graph.add_edge(2, 0)
    with pytest.raises(DataError, match="an edge has no kind"):
        gv.Network.from_networkx(graph, kinds="kind")


def test_igraph_scipy_and_frames_give_the_same_network():
    network = gv.Network((CALLS,), PEOPLE.part(np.arange(5)), list("abcde"))
    from_igraph = gv.Network.from_igraph(network.to_igraph())
    frames = network.to_polars(), pl.DataFrame(network.people_to_arrow())
    from_frames = gv.Network.from_arrow(*frames, directed=True)
    matrix = sparse.coo_array((np.ones(4), CALLS.ties()), shape=(5, 5))
    from_scipy = gv.Network.from_scipy(matrix, people=PEOPLE, ids=list("abcde"))
    for other in (from_igraph, from_frames, from_scipy):
        assert other.layers[0].ties()[0].tolist() == CALLS.ties()[0].tolist()
        assert other.people_to_arrow() == network.people_to_arrow()
        assert other.layers[0].directed


def test_a_frame_of_ties_says_whether_directions_matter():
    ties = pl.DataFrame({"source": [0, 1, 2], "target": [1, 2, 1]})
    with pytest.raises(DataError, match="the edges seem to be directed: only 1 of 2 are mutual"):
        gv.Network.from_arrow(ties)
    assert gv.Network.from_arrow(ties, directed=False).n_ties == 2
    with pytest.raises(DataError, match="id"):
        gv.Network.from_arrow(ties, pl.DataFrame({"id": [0, 1], "sex": ["f", "m"]}), directed=True)


def test_a_network_is_recognized_by_its_content_alone():
    base = gv.Network((CALLS,), PEOPLE)
    assert digest_of(base) == digest_of(gv.Network((CALLS,), PEOPLE))
    arcs = gv.Layer.from_arcs([0, 1, 3, 3], [1, 0, 2, 1], n=5, name="calls")
    others = [
        gv.Network((arcs,), PEOPLE),
        gv.Network((CALLS,), PEOPLE.permuted(np.array([1, 0, 2, 3, 4]))),
        gv.Network((CALLS,)),
        gv.Network((gv.Layer.from_arcs(*CALLS.ties(), n=5, name="mail"),), PEOPLE),
        gv.Network((CALLS,), PEOPLE, list("abcde")),
    ]
    assert digest_of(base) not in [digest_of(other) for other in others]


def test_measure_says_who_stands_out_by_each_thing_and_by_all():
    sexes = gv.Table.from_columns({"sex": list("ffmm"), "town": list("xyxy")})
    star = gv.Network({"ties": gv.Graph.from_edges([0, 0, 0], [1, 2, 3], n=4)}, sexes)
    risk = gv.measure(star, known=["sex", "town"])
    assert [round(part.uniqueness, 2) for part in risk.parts] == [0, 0, 1, 0.25]
    assert risk.uniqueness == 1
    assert gv.measure(star, known=["sex"]).own_sizes.tolist() == [1, 1, 2, 2]
    assert gv.measure(star).uniqueness == 0.25
    directed = gv.measure(gv.Network((CALLS,)))
    assert directed.measure == "profile"
    assert set(directed.values) == {"out", "in"}
    assert directed.own_sizes.tolist() == [2, 2, 2, 1, 2]
    with pytest.raises(ParameterError, match="no attribute 'age'"):
        gv.measure(star, known=["age"])
    with pytest.raises(ParameterError, match="known applies to attributes of a network"):
        gv.measure(TIES, known=["sex"])


def test_attributes_without_a_role_and_near_names_are_refused_with_the_ways_out():
    network = gv.Network({"ties": TIES}, PEOPLE)
    with pytest.raises(DataError, match=r"no role given for sex \(3 values; 1 node has a unique"):
        gv.KDegree(k=2).anonymize(network)
    with pytest.raises(ParameterError, match="known and attached"):
        gv.KDegree(k=2, known="sex", attach=["sex"])
    with pytest.raises(ParameterError, match="suppresses known attributes, but none are"):
        gv.KDegree(k=2, suppress=0.1)
    names = gv.Table.from_columns({"name": [f"P{n}" for n in range(60)]})
    ring = gv.Graph.from_edges(range(60), [(n + 1) % 60 for n in range(60)], n=60)
    for role in ({"known": "name"}, {"attach": "name"}):
        with pytest.raises(
            DataError, match="60 values for 60 people, so it nearly identifies them"
        ):
            gv.KDegree(k=2, **role).anonymize(gv.Network({"ties": ring}, names))
    with pytest.raises(DataError, match="are directed, but a Graph is undirected"):
        gv.KDegree(k=2).anonymize(gv.Network((CALLS,)))
    with pytest.raises(InfeasibleError, match='Use merge="suppress"'):
        gv.KDegree(k=2, known="sex", attach="town", merge="none").anonymize(network)


def test_suppressing_more_people_saves_edits_and_leaves_no_color_small():
    rng = np.random.default_rng(4)
    u, v = np.triu_indices(150, 1)
    chosen = rng.random(u.size) < 0.05 * (1 + (u < 20))
    years = gv.Table.from_columns({"year": rng.integers(2000, 2006, 150).tolist()})
    network = gv.Network({"ties": gv.Graph.from_edges(u[chosen], v[chosen], n=150)}, years)
    costs = []
    for share in (0.0, 0.1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = gv.KDegree(k=5, known="year", suppress=share).anonymize(network, seed=1)
        rows = np.column_stack([release.data.people.codes, release.data.profiles()])
        assert np.unique(rows, axis=0, return_counts=True)[1].min() >= 5
        costs.append(dict(release.cost))
        assert release.cost["people_suppressed"] <= 150 * share + 5
    assert costs[1]["degree_change_optimum"] < costs[0]["degree_change_optimum"]
    assert costs[0]["people_suppressed"] == 0 < costs[1]["people_suppressed"]


@pytest.mark.parametrize("layer", [CALLS, gv.Layer.of(TIES)])
def test_lists_of_people_in_another_order_or_of_some_would_pass_every_check(layer):
    for other in (layer.permuted(np.array([2, 0, 4, 1, 3])), layer.part(np.array([0, 2, 3]))):
        checked = gv.Layer(
            name=other.name, directed=other.directed, indptr=other.indptr, indices=other.indices
        )
        assert checked == other
        assert not other.indptr.flags.writeable
        assert not other.indices.flags.writeable

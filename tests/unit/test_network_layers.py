"""Ties of several kinds in files: read, refused with the way out, written so that they return."""

import networkx as nx
import pytest

import graphveil as gv
from graphveil import io
from graphveil.core.errors import DataError, InputError, UsageError
from graphveil.measures import MEASURES

ROWS = "source,target,kind\n1,2,call\n2,1,call\n1,3,mail\n3,1,mail\n2,3,family\n1,2,family\n"
HOW = {"kind_column": "kind", "directed": "keep", "undirected": ("family",)}


@pytest.fixture
def ties(tmp_path):
    file = tmp_path / "ties.csv"
    file.write_text(ROWS)
    return file


def read(file, text=None, **options):
    if text is not None:
        file.write_text(text)
    return io.read_network(file, **options)


def sizes(network):
    return [(layer.name, layer.directed, layer.n_ties) for layer in network.layers]


def test_a_column_of_kinds_gives_a_layer_a_kind(ties):
    network = read(ties, **HOW)
    assert [("call", True, 2), ("family", False, 2), ("mail", True, 2)] == sizes(network)
    assert network == read(ties, **{**HOW, "kind_column": "3"})
    assert [1, 2, 3] == network.labels().tolist()


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("d.csv", "layer"),
        ("d.tsv.gz", "layer"),
        ("d.parquet", "layer"),
        ("d.arrow", "layer"),
        ("d.graphml", "layer"),
        ("d.gexf", "layer"),
        ("d.gml", "layer"),
        ("d.json", "key"),
    ],
)
def test_what_is_written_is_read_again(ties, tmp_path, name, column):
    network = read(ties, **HOW)
    io.write(network, tmp_path / name)
    again = io.read_network(tmp_path / name, **{**HOW, "kind_column": column})
    assert network == again


def test_rows_are_written_by_ends_then_kind(ties, tmp_path):
    io.write(read(ties, **HOW), tmp_path / "d.csv")
    assert [
        "source,target,layer",
        "1,2,call",
        "1,2,family",
        "1,3,mail",
        "2,1,call",
        "2,3,family",
        "3,1,mail",
    ] == (tmp_path / "d.csv").read_text().split()


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_chosen_kinds_are_read_and_what_is_left_out_is_said(ties):
    network = read(ties, kind_column="kind", kinds=("call,mail",), directed="keep")
    assert [("call", True, 2), ("mail", True, 2)] == sizes(network)
    assert ("edges of type family",) == network.left_out
    assert [("family", False, 2)] == sizes(read(ties, kind_column="kind", kinds=("family",)))


def test_numbers_are_grouped_into_kinds(ties):
    text = "source,target,w\n1,2,0.5\n2,1,7\n1,3,3\n3,1,9\n"
    network = read(ties, text, kind_column="w", bins={"w": "edges:1,5"}, directed="keep")
    assert [("1<x<=5", True, 1), ("<=1", True, 1), (">5", True, 2)] == sizes(network)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind_column": "kin"}, "kind_column: no column kin. Did you mean kind?"),
        ({"kind_column": "source"}, "kind_column names an end of the edges"),
        ({"kind_column": "kind", "kinds": ("fax",)}, "no edges of type fax. Types: call, f"),
        ({"kind_column": "kind", "undirected": ("cal",)}, "cal. Did you mean call?"),
        ({"kinds": ("call",), "ignore_weights": True}, "no column with edge types is set"),
        (
            {"kind_column": "kind", "bins": {"kind": "median"}},
            "are not numbers, so they cannot be grouped",
        ),
        ({"kind_column": "kind", "directed": "refuse"}, "family: the edges seem to be directed"),
    ],
)
@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_what_kinds_cannot_be_is_refused_with_the_way_out(ties, options, says):
    more = "2,1,family\n" if "directed" in options else ""
    with pytest.raises(InputError, match=says):
        read(ties, ROWS + more, **options)


def test_a_tie_without_kind_and_a_thousand_kinds_are_refused(ties):
    with pytest.raises(InputError, match="1 edge has no type, starting with row 2"):
        read(ties, "source,target,kind\n1,2,a\n2,3,\n", kind_column="kind")
    rows = "".join(f"{n},{n + 1},k{n}\n" for n in range(1000))
    with pytest.raises(InputError, match="1000 edge types are more than 100"):
        read(ties, "source,target,kind\n" + rows, kind_column="kind")


MIXED = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="k" for="edge" attr.name="kind" attr.type="string">{default}</key>
<graph edgedefault="directed"><node id="1"/><node id="2"/><node id="3"/>
<edge source="1" target="2"><data key="k">call</data></edge>
<edge source="2" target="3" directed="{directed}">{said}</edge>
<edge source="1" target="3" directed="false"><data key="k">family</data></edge>
</graph></graphml>"""
FAMILY, CALL = ('<data key="k">' + kind + "</data>" for kind in ("family", "call"))


def test_graphml_says_of_each_tie_its_kind_and_whether_it_is_directed(tmp_path):
    file = tmp_path / "g.graphml"
    whole = MIXED.format(default="", directed="false", said=FAMILY)
    network = read(file, whole, kind_column="kind", directed="keep")
    assert [("call", True, 1), ("family", False, 2)] == sizes(network)
    other = MIXED.format(default="<default>mail</default>", directed="true", said="")
    assert ["call", "family", "mail"] == [
        layer.name for layer in read(file, other, kind_column="kind", directed="keep").layers
    ]
    mixed = MIXED.format(default="", directed="false", said=CALL)
    with pytest.raises(InputError, match="call: some edges are directed and others are not"):
        read(file, mixed, kind_column="kind", directed="keep")
    lacking = MIXED.format(default="", directed="true", said="")
    with pytest.raises(InputError, match="1 of 3 edges have no kind"):
        read(file, lacking, kind_column="kind", directed="keep")


def test_keys_of_networkx_and_attributes_of_igraph_return(ties):
    network = read(ties, **HOW)
    multigraph = network.to_networkx()
    assert isinstance(multigraph, nx.MultiDiGraph)
    again = gv.Network.from_networkx(multigraph, kinds="key", undirected=["family"])
    assert network == again
    assert network == gv.Network.from_igraph(
        network.to_igraph(), kinds="layer", undirected=["family"]
    )
    assert network == gv.Network.from_arrow(
        network.to_arrow(), kinds="layer", directed=True, undirected=["family"]
    )
    with pytest.raises(DataError, match="no edges of type 'fam'"):
        gv.Network.from_networkx(multigraph, kinds="key", undirected=["fam"])


def test_whoever_any_kind_ties_counts_where_kinds_do_not(ties):
    network = read(ties, **HOW)
    assert [[0, 1], [0, 2], [1, 2]] == network.undirected().edges().tolist()
    risk = gv.measure(network, k=2)
    assert "profile" == risk.measure
    assert {"call out", "call in", "family degree", "mail out", "mail in"} == set(risk.values)


def test_advice_says_which_methods_cannot_take_directions_or_kinds():
    register = gv.datasets.generated_register(40, seed=1).with_attributes(["sex"])
    directed = gv.Network((register.layers[0],), register.people)
    for network, reason in ((directed, "are directed"), (register, "several edge types")):
        choices = {choice.method: choice.trials for choice in gv.advise(network).choices}
        assert "of the edges are kept" in choices["profile"][0].words
        assert reason in choices["k-degree"][0].words


@pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")
def test_advice_names_all_that_the_promise_about_profiles_answers():
    register = gv.datasets.generated_register(40, seed=1).with_attributes(["sex"])
    directed = gv.Network((register.layers[0],))
    kinds = ", ".join(layer.name for layer in register.layers)
    has = f"a person's degree in each layer ({kinds})"
    of_kinds = f"{has}, counted by direction in directed layers"
    for network, knowledge in (
        (directed, "the out-degree and in-degree of a person"),
        (register, f"the sex of a person and {of_kinds}"),
    ):
        advice = gv.advise(network)
        choice = next(choice for choice in advice.choices if choice.method == "profile")
        assert knowledge == choice.known
        assert advice.answer.startswith(f"Against an attacker who knows {knowledge}: use profile, ")
        known = None if network is directed else "sex"
        claimed = gv.Profile(k=5, known=known).anonymize(network, seed=1).guarantee
        assert (claimed.sentence, claimed.threat_model) == (choice.promise, choice.answers)


@pytest.mark.parametrize(
    ("names", "says"),
    [(["a", "b"], "the degree of a person in each layer"), (["a"], MEASURES["degree"].knows)],
)
def test_ties_without_directions_lead_neither_away_nor_to_anybody(names, says):
    pair = gv.Graph.from_edges([0], [1], n=3)
    risk = gv.measure(gv.Network(dict.fromkeys(names, pair)), measure="profile", k=2)
    assert says == risk.knows


GML = """graph [
  directed 1
  node [ id 1 label "a.com" value 0 source "Blog A" ]
  node [ id 2 label "b.com" value 1 ]
  node [ id 5 label "c.com" value 0 source "Blog, B" ]
  edge [ source 1 target 2 ]
  edge [ source 5 target 1 ]
]
"""


def test_gml_says_of_nodes_numbers_and_text(tmp_path):
    (tmp_path / "blogs.gml").write_text(GML)
    network = io.read_network(tmp_path / "blogs.gml", directed="keep")
    assert network.layers[0].directed
    assert ["a.com", "b.com", "c.com"] == network.labels().tolist()
    assert ("source", "value") == tuple(sorted(network.attributes))
    said = network.people_to_arrow().to_pydict()
    assert [0, 1, 0] == said["value"]
    assert ["Blog A", None, "Blog, B"] == said["source"]
    io.write(network, tmp_path / "again.gml")
    assert network == io.read_network(tmp_path / "again.gml", directed="keep")


@pytest.mark.parametrize("name", ["label", "how often", "größe"])
def test_an_attribute_that_gml_cannot_name_is_refused(tmp_path, name):
    graph = gv.Graph.from_edges([0], [1], n=2)
    network = gv.Network({"ties": graph}, gv.Table.from_columns({name: ["x", "y"]}))
    with pytest.raises(UsageError, match="cannot be the name of an attribute"):
        io.write(network, tmp_path / "out.gml")
    assert not (tmp_path / "out.gml").exists()


def test_lists_of_a_graph_are_not_checked_again_when_it_becomes_a_network_and_back(monkeypatch):
    graph = gv.Graph.from_edges([0, 1], [1, 2], n=4, ids=["d", "a", "c", "b"])

    def again(lists):
        raise AssertionError(lists)

    for module in ("layers", "csr"):
        monkeypatch.setattr(f"graphveil.data.{module}.check_lists", again)
    layer = gv.Layer.of(graph, name="calls")
    network = gv.Network((layer,), None, graph.ids, ("weight",))
    back = network.graph()
    assert ("calls", False, ("weight",)) == (layer.name, layer.directed, back.left_out)
    assert graph == back
    assert graph.edges().tolist() == gv.Network((layer,)).graph().edges().tolist()
    with pytest.raises(AssertionError):
        gv.Layer(directed=False, indptr=graph.indptr, indices=graph.indices)


@pytest.mark.parametrize("name", ["", " calls", "a\nb"])
def test_a_graph_becomes_no_layer_without_a_name(name):
    with pytest.raises(DataError, match="is not a valid name of an edge type"):
        gv.Layer.of(gv.Graph.from_edges([0], [1], n=2), name=name)

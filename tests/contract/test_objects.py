"""Every kind of object that holds the same data gives the same release."""

from __future__ import annotations

import dataclasses

import duckdb
import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import graphveil as gv
from graphveil.core.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


def renumbered(graph, dtype):
    return gv.Graph(graph.indptr.astype(dtype), graph.indices.astype(dtype), graph.ids)


def read_only(graph):
    arrays = [graph.indptr.copy(), graph.indices.copy(), graph.labels().copy()]
    for array in arrays:
        array.flags.writeable = False
    return gv.Graph(*arrays)


def frame_of(graph):
    table = graph.to_arrow()
    return {name: table[name].to_pylist() for name in table.column_names}


def shuffled(graph):
    """Return a NetworkX graph whose nodes and edges were added in another order."""
    rng = np.random.Generator(np.random.PCG64(8))
    whole = graph.to_networkx()
    nodes, edges = list(whole.nodes), list(whole.edges)
    other = nx.Graph()
    other.add_nodes_from(nodes[place] for place in rng.permutation(len(nodes)))
    other.add_edges_from(edges[place][::-1] for place in rng.permutation(len(edges)))
    return other


def through_duckdb(graph):
    edges = graph.to_arrow()
    with duckdb.connect() as connection:
        relation = connection.from_arrow(edges)
        return gv.Graph.from_arrow(relation.to_arrow_table(), nodes=graph.labels())


def ends_of(graph, dtype):
    edges = graph.edges().astype(dtype)
    return edges[:, 0], edges[:, 1]


SAME_GRAPH = {
    "int32 arrays": lambda g: renumbered(g, np.int32),
    "int64 arrays": lambda g: renumbered(g, np.int64),
    "read-only arrays": read_only,
    "positions, int32": lambda g: gv.Graph.from_edges(*ends_of(g, np.int32), ids=g.labels()),
    "positions, int64": lambda g: gv.Graph.from_edges(*ends_of(g, np.int64), ids=g.labels()),
    "positions, uint32": lambda g: gv.Graph.from_edges(*ends_of(g, np.uint32), ids=g.labels()),
    "NetworkX": lambda g: gv.Graph.from_networkx(g.to_networkx()),
    "NetworkX, another order": lambda g: gv.Graph.from_networkx(shuffled(g)),
    "igraph": lambda g: gv.Graph.from_igraph(g.to_igraph()),
    "igraph from NetworkX": lambda g: gv.Graph.from_igraph(
        igraph.Graph.from_networkx(g.to_networkx(), vertex_attr_hashable="name")
    ),
    "scipy csr": lambda g: gv.Graph.from_scipy(g.to_scipy(), ids=g.labels()),
    "scipy coo, int64": lambda g: gv.Graph.from_scipy(
        sparse.coo_matrix(g.to_scipy()).astype(np.int64), ids=g.labels()
    ),
    "scipy csc, float": lambda g: gv.Graph.from_scipy(
        sparse.csc_array(g.to_scipy()).astype(np.float64), ids=g.labels()
    ),
    "Arrow": lambda g: gv.Graph.from_arrow(g.to_arrow(), nodes=g.labels()),
    "pandas": lambda g: gv.Graph.from_arrow(pd.DataFrame(frame_of(g)), nodes=g.labels()),
    "pandas categories": lambda g: gv.Graph.from_arrow(
        pd.DataFrame(frame_of(g)).astype("category"), nodes=pd.Series(g.labels().tolist())
    ),
    "polars": lambda g: gv.Graph.from_arrow(pl.DataFrame(frame_of(g)), nodes=g.labels()),
    "DuckDB": through_duckdb,
}


def lists_of(data):
    """Return the names of every user's features, in the order of the users."""
    names = data.feature_labels().tolist()
    return [[names[place] for place in data.row(user)] for user in range(data.n_users)]


def retyped(data, dtype):
    arrays = data.indptr.astype(dtype), data.indices.astype(dtype)
    return gv.Bipartite(*arrays, data.n_features, data.users, data.features)


def frozen_lists(data):
    arrays = [data.indptr.copy(), data.indices.copy(), data.labels().copy()]
    for array in arrays:
        array.flags.writeable = False
    return gv.Bipartite(arrays[0], arrays[1], data.n_features, arrays[2], data.features)


def pairs_of(data):
    table = data.to_arrow()
    return {name: table[name].to_pylist() for name in table.column_names}


def from_matrix(data, convert):
    matrix = convert(data.to_scipy())
    return gv.Bipartite.from_scipy(matrix, users=data.labels(), features=data.feature_labels())


SAME_LISTS = {
    "int32 arrays": lambda b: retyped(b, np.int32),
    "int64 arrays": lambda b: retyped(b, np.int64),
    "read-only arrays": frozen_lists,
    "lists": lambda b: gv.Bipartite.from_lists(lists_of(b), users=b.labels()),
    "Arrow lists": lambda b: gv.Bipartite.from_arrow(b.to_lists()),
    "pandas lists": lambda b: gv.Bipartite.from_arrow(
        pd.DataFrame({"user": b.labels().tolist(), "items": lists_of(b)})
    ),
    "polars lists": lambda b: gv.Bipartite.from_arrow(
        pl.DataFrame({"user": b.labels().tolist(), "items": lists_of(b)})
    ),
    "scipy csr": lambda b: from_matrix(b, sparse.csr_matrix),
    "scipy csc, float": lambda b: from_matrix(b, lambda m: sparse.csc_array(m).astype(np.float64)),
    "scipy coo, int64": lambda b: from_matrix(b, lambda m: sparse.coo_matrix(m).astype(np.int64)),
    "dense": lambda b: from_matrix(b, lambda m: m.toarray()),
    "pairs": lambda b: gv.Bipartite.from_pairs(*pairs_of(b).values(), users=b.labels()),
    "pandas": lambda b: gv.Bipartite.from_arrow(pd.DataFrame(pairs_of(b)), users=b.labels()),
    "polars": lambda b: gv.Bipartite.from_arrow(pl.DataFrame(pairs_of(b)), users=b.labels()),
    "NetworkX": lambda b: gv.Bipartite.from_networkx(b.to_networkx(), users=b.labels()),
}


def cells_of(table):
    """Return the cells of every column by its name, None for a suppressed one."""
    return {name: column.to_pylist() for name, column in rows_of(table).items()}


def rows_of(table):
    frame = table.to_arrow()
    return dict(zip(frame.column_names, frame.columns, strict=True))


def with_read_only_codes(table):
    codes = table.codes.copy()
    codes.flags.writeable = False
    return gv.Table(codes, table.columns, table.categories, table.labels().copy())


def named(table):
    """Return the cells beside a column of ids."""
    return {"who": table.labels().tolist(), **cells_of(table)}


SAME_TABLE = {
    "int64 codes": lambda t: gv.Table(
        t.codes.astype(np.int64), t.columns, t.categories, t.labels()
    ),
    "read-only codes": with_read_only_codes,
    "codes in columns": lambda t: gv.Table(
        np.asfortranarray(t.codes), list(t.columns), list(t.categories), t.labels()
    ),
    "columns": lambda t: gv.Table.from_columns(cells_of(t), ids=t.labels()),
    "Arrow": lambda t: gv.Table.from_arrow(pa.table(named(t)), ids="who"),
    "pandas": lambda t: gv.Table.from_arrow(pd.DataFrame(named(t)), ids="who"),
    "pandas categories": lambda t: gv.Table.from_arrow(
        pd.DataFrame(named(t)).astype(dict.fromkeys(t.columns, "category")), ids="who"
    ),
    "polars": lambda t: gv.Table.from_arrow(pl.DataFrame(named(t)), ids="who"),
}

SAME_NETWORK = {
    "NetworkX": lambda n: gv.Network.from_networkx(n.to_networkx()),
    "igraph": lambda n: gv.Network.from_igraph(n.to_igraph()),
    "pandas": lambda n: gv.Network.from_arrow(
        n.to_pandas(), n.people_to_arrow().to_pandas(), directed=n.layers[0].directed
    ),
    "polars": lambda n: gv.Network.from_arrow(
        n.to_polars(), pl.DataFrame(n.people_to_arrow()), directed=n.layers[0].directed
    ),
}

SAME = {
    gv.Graph: SAME_GRAPH,
    gv.Bipartite: SAME_LISTS,
    gv.Table: SAME_TABLE,
    gv.Network: SAME_NETWORK,
}
"""Ways to hand over the same data, by the kind of data."""


@pytest.mark.parametrize("ids", ["text_ids", "big_ids"])
def test_every_kind_of_object_gives_the_same_release(method, sample, ids):
    for kind in sample.kinds_of(method):
        anonymizer = sample.quick(method)
        if kind is gv.Network:
            anonymizer = dataclasses.replace(anonymizer, **sample.roles_of(method, kind))
        data = sample(method, kind=kind, ids=getattr(sample, ids))
        expected = anonymizer.anonymize(data, seed=2)
        for name, convert in SAME[kind].items():
            found = anonymizer.anonymize(convert(data), seed=2)
            assert expected.data == found.data, name
            assert expected.private.cost == found.private.cost, name
            assert expected.private.input_sha256 == found.private.input_sha256, name
            linkages = expected.private.linkage, found.private.linkage
            assert linkages[0].original.tolist() == linkages[1].original.tolist(), name
            assert linkages[0].released.tolist() == linkages[1].released.tolist(), name


def test_released_features_can_be_handed_on_to_every_library(method, sample):
    released = sample.quick(method).anonymize(sample(method)).data
    if not isinstance(released, gv.Bipartite):
        pytest.skip("users by features only")
    lists = lists_of(released)
    table = released.to_lists()
    ways = {
        "Arrow": table["items"].to_pylist(),
        "pandas": [list(items) for items in table.to_pandas()["items"]],
        "polars": pl.DataFrame(table)["items"].to_list(),
        "scipy": [
            [released.feature_labels()[place] for place in np.flatnonzero(row)]
            for row in released.to_scipy().toarray()
        ],
    }
    for name, found in ways.items():
        assert lists == found, name
    pairs = {(user, item) for user, items in enumerate(lists) for item in items}
    assert pairs == set(zip(*pairs_of(released).values(), strict=True))
    if pairs:
        graph = gv.Bipartite.from_arrow(released.to_arrow()).to_networkx()
        assert len(pairs) == graph.number_of_edges()


def test_a_released_graph_can_be_handed_on_to_every_library(method, sample):
    released = sample.quick(method).anonymize(sample(method)).data
    if not isinstance(released, gv.Graph):
        pytest.skip("graphs only")
    edges = {frozenset(edge) for edge in released.edges().tolist()}
    table = released.to_arrow()
    ways = {
        "NetworkX": released.to_networkx().edges,
        "igraph": released.to_igraph().get_edgelist(),
        "scipy": sparse.triu(released.to_scipy()).nonzero(),
        "pandas": table.to_pandas().to_numpy().tolist(),
        "polars": pl.DataFrame(table).rows(),
        "Arrow": zip(*(column.to_pylist() for column in table.columns), strict=True),
    }
    ways["scipy"] = zip(*ways["scipy"], strict=True)
    for name, found in ways.items():
        assert edges == {frozenset(map(int, edge)) for edge in found}, name
    assert isinstance(table, pa.Table)


SHARED = pa.table({"user": ["ann", "bob", "cyd"], "item": ["bob", "ann", "tea"]})
ONE_WAY = pa.table({"source": [0, 1, 2], "target": [1, 2, 1]})


@pytest.mark.parametrize(
    ("data", "asked", "call"),
    [
        (ONE_WAY, "k-degree", 'graphveil.Graph.from_arrow(data, directed="symmetrize")'),
        (
            nx.DiGraph([(0, 1), (1, 2), (2, 1)]),
            "k-degree",
            'graphveil.Graph.from_networkx(data, directed="symmetrize")',
        ),
        (SHARED, "suppress-k", 'graphveil.Bipartite.from_arrow(data, items="things")'),
        (
            gv.Bipartite.from_arrow(SHARED),
            "suppress-k",
            'data.with_items(items="things")',
        ),
        (
            pa.table({"x": [0.5, 1.5], "y": [1, 2], "z": [1, 2]}),
            "mondrian",
            'graphveil.Table.from_arrow(data, bins={"x": "median"})',
        ),
    ],
)
def test_a_refusal_names_a_call_that_takes_the_argument(data, asked, call):
    with pytest.raises(DataError) as refused:
        gv.anonymize(data, asked, k=2)
    assert call in str(refused.value)
    made = eval(call, {"graphveil": gv, "data": data})  # noqa: S307  a call of this list
    assert isinstance(made, gv.Graph | gv.Bipartite | gv.Table)


def test_a_released_table_can_be_handed_on_to_every_library(method, sample):
    released = sample.quick(method).anonymize(sample(method)).data
    if not isinstance(released, gv.Table):
        pytest.skip("tables only")
    values = [named_values(released, column) for column in range(released.n_columns)]
    ways = {
        "Arrow": [column.to_pylist() for column in released.to_arrow().columns],
        "pandas": [
            [None if pd.isna(cell) else cell for cell in cells]
            for _, cells in released.to_pandas().items()
        ],
        "polars": [column.to_list() for column in released.to_polars()],
    }
    for name, found in ways.items():
        assert values == found, name


def named_values(table, column):
    known = [*table.categories[column].tolist(), None]
    return [known[code] for code in table.codes[:, column]]

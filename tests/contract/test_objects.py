"""Every kind of object that holds the same data gives the same release."""

from __future__ import annotations

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

SAME = {gv.Graph: SAME_GRAPH}
"""Ways to hand over the same data, by the kind of data."""


@pytest.mark.parametrize("ids", ["text_ids", "big_ids"])
def test_every_kind_of_object_gives_the_same_release(method, sample, ids):
    data = sample(method, ids=getattr(sample, ids))
    anonymizer = method.from_parameters(method.example)
    expected = anonymizer.anonymize(data, seed=2)
    for name, convert in SAME[method.accepts].items():
        found = anonymizer.anonymize(convert(data), seed=2)
        assert expected.data == found.data, name
        assert expected.private.cost == found.private.cost, name
        assert expected.private.input_sha256 == found.private.input_sha256, name
        linkages = expected.private.linkage, found.private.linkage
        assert linkages[0].original.tolist() == linkages[1].original.tolist(), name
        assert linkages[0].released.tolist() == linkages[1].released.tolist(), name


def test_a_released_graph_can_be_handed_on_to_every_library(method, sample):
    released = method.from_parameters(method.example).anonymize(sample(method)).data
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

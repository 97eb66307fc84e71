"""Every conversion there and back gives the same container."""

from __future__ import annotations

import warnings

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from graphveil.core.errors import GraphveilWarning
from graphveil.data import Bipartite, Graph, Table

CALM = settings(deadline=None, max_examples=40)
NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]),
    min_size=1,
    max_size=5,
)


@st.composite
def graphs(draw):
    """A graph with isolated nodes, with ids 0..n-1, sparse integers or text."""
    n = draw(st.integers(2, 9))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20))
    wanted = draw(
        st.one_of(
            st.none(),
            st.sets(st.integers(0, 2**62), min_size=n, max_size=n),
            st.sets(NAMES, min_size=n, max_size=n),
        )
    )
    ids = None if wanted is None else sorted(wanted)
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Graph.assemble(ends[:, 0], ends[:, 1], n=n, ids=ids)[0]


@st.composite
def bipartites(draw):
    """Users with items; some users have none."""
    n = draw(st.integers(1, 6))
    users = sorted(draw(st.sets(NAMES, min_size=n, max_size=n)))
    rows = draw(st.lists(st.sets(st.integers(0, 8), max_size=4), min_size=n, max_size=n))
    pairs = [(users[number], item) for number, row in enumerate(rows) for item in row]
    return Bipartite.assemble(
        [user for user, _ in pairs], [item for _, item in pairs], users=users
    )[0]


@CALM
@given(graph=graphs())
def test_a_graph_comes_back_from_networkx(graph):
    assert graph == Graph.from_networkx(graph.to_networkx())


@CALM
@given(graph=graphs())
def test_a_graph_comes_back_from_igraph(graph):
    assert graph == Graph.from_igraph(graph.to_igraph())


@CALM
@given(graph=graphs(), form=st.sampled_from(["csr", "csc", "coo", "dense", "old"]))
def test_a_graph_comes_back_from_a_matrix_of_any_form(graph, form):
    matrix = graph.to_scipy()
    matrix = {
        "csr": matrix,
        "csc": matrix.tocsc(),
        "coo": matrix.tocoo(),
        "dense": matrix.toarray(),
        "old": sparse.csr_matrix(matrix),
    }[form]
    assert graph == Graph.from_scipy(matrix, ids=graph.ids)


FRAMES = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "duckdb": duckdb.from_arrow,
    "dictionary": lambda table: pa.table(
        {name: table[name].dictionary_encode() for name in table.column_names}
    ),
}


@pytest.mark.parametrize("frame", FRAMES)
@CALM
@given(graph=graphs())
def test_a_graph_comes_back_from_a_frame_of_edges(frame, graph):
    table = FRAMES[frame](graph.to_arrow())
    assert graph == Graph.from_arrow(table, nodes=graph.labels())


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint8"])
@CALM
@given(graph=graphs())
def test_a_graph_comes_back_from_its_edges_in_any_integer_type(dtype, graph):
    edges = graph.edges().astype(dtype)
    edges.flags.writeable = False
    again = Graph.from_edges(edges[:, 0], edges[:, 1], n=graph.n_nodes, ids=graph.ids)
    assert graph == again


@CALM
@given(graph=graphs())
def test_read_only_arrays_make_the_same_graph(graph):
    indptr, indices = graph.indptr.astype(np.int32), graph.indices.astype(np.int64)
    indptr.flags.writeable = indices.flags.writeable = False
    assert graph == Graph(indptr, indices, graph.ids)


@CALM
@given(graph=graphs(), data=st.data())
def test_permuting_a_graph_and_back_gives_it_again(graph, data):
    order = np.array(data.draw(st.permutations(range(graph.n_nodes))), dtype=np.int64)
    back = np.argsort(order)
    assert graph == graph.permuted(order).permuted(back, ids=graph.ids)


@CALM
@given(rows=bipartites())
def test_users_and_items_come_back_from_pairs(rows):
    frame = rows.to_arrow()
    users = rows.labels()
    again = Bipartite.from_arrow(frame, users=users)
    assert rows.labels().tolist() == again.labels().tolist()
    assert frame.to_pylist() == again.to_arrow().to_pylist()


@pytest.mark.parametrize("frame", ["arrow", "polars", "duckdb"])
@CALM
@given(rows=bipartites())
def test_users_and_items_come_back_from_lists(frame, rows):
    lists = rows.to_lists()
    again = Bipartite.from_arrow(FRAMES[frame](lists))
    assert lists.to_pylist() == again.to_lists().to_pylist()


@CALM
@given(rows=bipartites())
def test_users_and_items_come_back_from_scipy(rows):
    again = Bipartite.from_scipy(rows.to_scipy(), users=rows.users, features=rows.features)
    assert rows == again


@CALM
@given(rows=bipartites())
def test_users_and_items_come_back_from_networkx(rows):
    named = Bipartite(
        rows.indptr,
        rows.indices,
        rows.n_features,
        [f"u{number}" for number in range(rows.n_users)],
        [f"f{number}" for number in range(rows.n_features)],
    )
    assert named == Bipartite.from_networkx(named.to_networkx(), users=named.labels())


CELLS = st.one_of(st.none(), st.sampled_from(["f", "m", "é", "a,b"]))


@pytest.mark.parametrize("frame", ["arrow", "pandas", "polars", "duckdb"])
@CALM
@given(
    text=st.lists(CELLS, min_size=1, max_size=8),
    numbers=st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=8, max_size=8),
)
def test_a_table_comes_back_from_a_frame(frame, text, numbers):
    table = Table.from_columns({"a": text, "b": numbers[: len(text)]})
    assert table == Table.from_arrow(FRAMES[frame](_typed(table.to_arrow())))


def _typed(table: pa.Table) -> pa.Table:
    """Give columns of nulls alone a type that pandas and DuckDB keep."""
    kinds = {"a": pa.string(), "b": pa.int64()}
    return pa.table({name: table[name].cast(kinds[name]) for name in table.column_names})


@CALM
@given(text=st.lists(CELLS, min_size=1, max_size=8))
def test_one_hot_has_one_feature_for_every_cell_that_shows(text):
    table = Table.from_columns({"a": text})
    rows = table.one_hot()
    shown = [[f"a={cell}"] if cell is not None else [] for cell in text]
    assert shown == [[rows.feature_labels()[f] for f in rows.row(u)] for u in range(rows.n_users)]


def test_ids_that_networkx_orders_otherwise_come_in_canonical_order():
    import networkx as nx  # noqa: PLC0415  beside its one use

    graph = nx.Graph([("z", "b"), ("b", "a")])
    assert ["a", "b", "z"] == Graph.from_networkx(graph).labels().tolist()


def test_loops_and_parallel_edges_of_networkx_are_counted_in_a_warning():
    import networkx as nx  # noqa: PLC0415  beside its one use

    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 1)])
    with pytest.warns(GraphveilWarning, match="1 self-loops and 1 repeated"):
        converted = Graph.from_networkx(graph)
    assert 1 == converted.n_edges


def test_a_frame_of_edges_warns_of_nothing_where_nothing_is_dropped():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = Graph.from_arrow(pl.DataFrame({"a": [0, 1], "b": [1, 2]}))
    assert [[0, 1], [1, 2]] == graph.edges().tolist()

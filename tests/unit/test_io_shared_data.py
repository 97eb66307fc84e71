"""Real files: the numbers of nodes and edges are those counted when the files were collected."""

from __future__ import annotations

import csv

import pytest

from graphveil.core.errors import InputError
from graphveil.io import GraphOptions, TableOptions, load_graph, load_table
from shared_data import shared, shared_folder

TEXT = GraphOptions(format="text", directed="symmetrize")
PLAIN = GraphOptions(directed="symmetrize")


def rows_of(name, *, wanted=lambda _: True):
    """Return the rows of a table that stands beside the data, or one that is skipped."""
    path = shared_folder() / name
    if not path.is_file():
        absent = pytest.mark.skip(reason=f"needs the shared data <{name}>")
        return [pytest.param({"name": name}, marks=absent)]
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t") if wanted(row)]


def is_graph(row):
    return row["m"] and not row["stored_file"].endswith(".jlg.gz")


GRAPHS = rows_of("SOURCES.tsv", wanted=is_graph)
NETWORKS = rows_of("anonet/table.tsv")


def name_of(row):
    return row["name"]


@pytest.mark.parametrize("row", GRAPHS, ids=name_of)
def test_the_file_as_found_has_the_counted_nodes_and_edges(row):
    name = row["stored_file"]
    graph = load_graph(shared(f"{row['name']}/{name}"), TEXT if ".gr." in name else PLAIN).data
    with_edges = int((graph.degrees() > 0).sum())
    expected = (int(row["n"]), int(row["n_with_edges"]), int(row["m"]))
    assert expected == (graph.n_nodes, with_edges, graph.n_edges)


@pytest.mark.parametrize("row", GRAPHS, ids=name_of)
def test_the_plain_copy_has_the_counted_edges(row):
    graph = load_graph(shared(f"{row['name']}/edges.tsv.gz")).data
    assert (int(row["n_with_edges"]), int(row["m"])) == (graph.n_nodes, graph.n_edges)


@pytest.mark.parametrize("row", NETWORKS, ids=name_of)
def test_the_networks_of_ano_net_have_the_listed_nodes_and_edges(row):
    graph = load_graph(shared(f"anonet/{row['name']}.edges")).data
    assert (int(row["V"]), int(row["E"])) == (graph.n_nodes, graph.n_edges)


def test_the_count_line_of_email_enron_is_told():
    report = load_graph(shared("email-Enron/email-Enron.txt.gz")).report
    assert ("36692 367662", 367662) == (report.count_line, report.rows)


def test_polblogs_is_symmetrized_and_keeps_its_isolated_nodes():
    graph, report = load_graph(shared("polblogs/polblogs.gml.gz"), PLAIN)
    assert (3, 1490 - 1224) == (report.self_loops, report.isolated)
    assert "100monkeystyping.com" in graph.labels().tolist()
    assert report.symmetrized > 0


def test_a_file_of_another_tool_is_refused_with_the_choices():
    path = shared("standin-ego-Twitter/ego-twitter-undirected.jlg.gz")
    with pytest.raises(InputError, match=r"unknown extension \.jlg\..*Or set format"):
        load_graph(path)


def test_adult_is_read_without_names_and_with_bins():
    options = TableOptions(format="csv", header="no", suppressed=("?",))
    table = load_table(shared("adult/adult.data.gz"), options).data
    assert (32561, 15) == (table.n_rows, table.n_columns)
    assert {"Female", "Male"} == set(table.categories[9].tolist())


def test_a_record_with_a_cell_too_many_is_named_by_its_line():
    path = shared("googleplaystore/googleplaystore.csv.gz")
    with pytest.raises(InputError, match="line 10474: 12 cells instead of 13"):
        load_table(path)

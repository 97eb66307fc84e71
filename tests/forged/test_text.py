"""Text that readers read in different ways is refused, and the untouched twin verifies."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

import graphveil as gv
from forged.kit import (
    ITEMS,
    LINES,
    PACKED,
    SPELLINGS,
    forge,
    reseal,
    swapped_rows,
)
from graphveil.claims.guarantees import KAnonymity, StructuralKAnonymity
from graphveil.release import Provenance, Release

GRAPH = gv.Graph.from_edges([*range(60), *range(60)], [*range(60, 120), *range(61, 121)], n=124)
ROWS = gv.Bipartite.from_lists([["gin", "jam"], ["gin", "jam"], [], [], ["tea"], ["tea"]])
COMMAS = gv.Bipartite.from_lists([["gin, dry", 'the "jam"'], ["gin, dry", 'the "jam"'], [], []])


def written(data, folder, form):
    """Return the folder of a release that claims no more than its data keeps."""
    folder.mkdir(exist_ok=True)
    graph = isinstance(data, gv.Graph)
    words = {"source": "where it was published", "limits": "what it leaves open"}
    return Release(
        data=data,
        guarantee=StructuralKAnonymity(k=1) if graph else KAnonymity(k=1),
        provenance=Provenance(method="a-method", parameters={}, **words),
    ).write(folder / "release", format=form)


def check(path, forgery):
    """Assert that the release verifies sealed anew, and does not once it is forged."""
    reseal(path.parent)
    assert [] == gv.verify_release(path.parent).failures()
    before = path.read_bytes()
    forge(path, forgery)
    assert before != path.read_bytes()
    verdict = gv.verify_release(path.parent)
    assert verdict.failures()
    assert path.name in " ".join(item.detail for item in verdict.failures())


@pytest.mark.parametrize("form", ["csv", "tsv", "text", "csv.gz"])
@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_of_a_graph_is_refused(tmp_path, form, forgery):
    folder = written(GRAPH, tmp_path, form)
    check(next(folder.glob("data.*")), {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("form", ["metis", "nauty", "mtx"])
@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_of_a_list_of_neighbours_is_refused(tmp_path, form, forgery):
    folder = written(GRAPH, tmp_path, form)
    check(next(folder.glob("data.*")), {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_of_the_list_of_ids_is_refused(tmp_path, forgery):
    check(written(GRAPH, tmp_path, "csv") / "nodes.csv", {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES])
def test_another_spelling_of_the_list_of_users_is_refused(tmp_path, forgery):
    check(written(ROWS, tmp_path, "csv") / "users.csv", {**SPELLINGS, **LINES}[forgery])


@pytest.mark.parametrize("form", ["csv", "csv.gz"])
@pytest.mark.parametrize("forgery", [*SPELLINGS, *LINES, *ITEMS])
def test_another_spelling_of_users_and_items_is_refused(tmp_path, form, forgery):
    folder = written(ROWS, tmp_path, form)
    check(next(folder.glob("data.*")), {**SPELLINGS, **LINES, **ITEMS}[forgery])


@pytest.mark.parametrize("data", [ROWS, COMMAS], ids=["plain", "quoted"])
@pytest.mark.parametrize("name", ["users.csv", "data.csv"])
def test_another_order_of_rows_is_refused(tmp_path, data, name):
    folder = written(data, tmp_path, "csv")
    forge(folder / name, swapped_rows)
    assert ["canonical order"] == [item.name for item in gv.verify_release(folder).failures()]


@pytest.mark.parametrize("name", ["nodes.csv", "data.csv"])
def test_another_order_of_nodes_and_edges_is_refused(tmp_path, name):
    folder = written(GRAPH, tmp_path, "csv")
    forge(folder / name, swapped_rows)
    assert ["canonical order"] == [item.name for item in gv.verify_release(folder).failures()]


def test_quotes_that_no_item_needs_and_missing_ones_are_refused(tmp_path):
    folder = written(COMMAS, tmp_path, "csv")
    check(folder / "data.csv", lambda content: content.replace(b'"the ""jam"""', b"the jam"))
    plain = written(ROWS, tmp_path / "plain", "csv")
    every = b"user,item\n" + b"".join(
        b'%d,"%s"\n' % (user, item.encode())
        for user, row in enumerate([["gin", "jam"]] * 2 + [[], []] + [["tea"]] * 2)
        for item in row
    )
    check(plain / "data.csv", lambda _: every)


@pytest.mark.parametrize("data", [GRAPH, ROWS], ids=["graph", "users"])
@pytest.mark.parametrize("forgery", PACKED)
def test_what_a_packed_file_says_beside_its_content_is_refused(tmp_path, data, forgery):
    path = next(written(data, tmp_path, "csv.gz").glob("data.*"))
    reseal(path.parent)
    assert [] == gv.verify_release(path.parent).failures()
    path.write_bytes(PACKED[forgery](path.read_bytes()))
    reseal(path.parent)
    verdict = gv.verify_release(path.parent)
    assert path.name in " ".join(item.detail for item in verdict.failures())


def as_python(content):
    return [(int(user), item) for user, item in list(csv.reader(io.StringIO(content)))[1:]]


@pytest.mark.parametrize("data", [ROWS, COMMAS], ids=["plain", "quoted"])
def test_every_reader_reads_the_same_from_a_release_that_verifies(tmp_path, data):
    folder = written(data, tmp_path, "csv")
    assert gv.verify_release(folder).ok
    content = (folder / "data.csv").read_text()
    names = data.feature_labels().tolist()
    expected = [(u, names[i]) for u in range(data.n_users) for i in data.row(u)]
    assert expected == as_python(content)
    frame = pd.read_csv(io.StringIO(content), keep_default_na=False)
    assert expected == list(frame.itertuples(index=False, name=None))
    assert expected == pl.read_csv(io.StringIO(content)).rows()
    read = gv.read_release(folder).data
    known = read.feature_labels().tolist()
    assert expected == [(u, known[i]) for u in range(read.n_users) for i in read.row(u)]


def test_every_reader_reads_the_same_graph_from_a_release_that_verifies(tmp_path):
    import networkx as nx  # noqa: PLC0415  here alone

    folder = written(GRAPH, tmp_path, "csv")
    assert gv.verify_release(folder).ok
    lines = (folder / "data.csv").read_text().splitlines()[1:]
    graph = nx.parse_edgelist(lines, delimiter=",", nodetype=int)
    expected = {tuple(edge) for edge in GRAPH.edges().tolist()}
    assert expected == {tuple(sorted(edge)) for edge in graph.edges}
    frame = pd.read_csv(folder / "data.csv")
    assert np.array_equal(GRAPH.edges(), frame.to_numpy())

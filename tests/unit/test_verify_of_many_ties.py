"""Releases of many ties are checked within memory: a view of the file, and buckets on the disk."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import graphveil as gv
from forged.kit import data_file, reseal
from graphveil.cli import run as command_line
from graphveil.core.errors import UsageError
from graphveil.verify.database import database
from graphveil.verify.kinds import networks as kind
from graphveil.verify.recount.graphs import edge_buckets

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")


@pytest.fixture
def in_buckets(monkeypatch):
    """Compare even small graphs in buckets, of few edges each."""
    monkeypatch.setattr(kind, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(edge_buckets, "BUCKET_EDGES", 7)
    monkeypatch.setattr(edge_buckets, "BLOCK", 16)


def ties(n=40, m=150, seed=0):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (m, 2))
    return gv.Graph.from_edges(*ends.T, n=n, directed="symmetrize")


def released(graph, folder, **parameters):
    release = gv.KDegree(k=3, **parameters).anonymize(graph, seed=2)
    return release.write(folder / "out", format="parquet")


def outcomes(verdict):
    return {check.name: (check.outcome, check.detail) for check in verdict.checks}


@pytest.mark.parametrize("edits", ["add", "any"])
def test_buckets_find_what_tables_find(edits, tmp_path, request):
    graph = ties()
    folder = released(graph, tmp_path, edits=edits)
    expected = gv.verify_release(folder, original=graph)
    request.getfixturevalue("in_buckets")
    assert outcomes(expected) == outcomes(gv.verify_release(folder, original=graph))
    assert expected.ok


@given(
    before=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30),
    after=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=30),
    seed=st.integers(0, 5),
)
def test_the_edges_that_are_lost_are_those_of_sets(before, after, seed):
    original = gv.Graph.from_edges(*np.array([*before, (0, 1)]).T, n=9, directed="symmetrize")
    ids = np.random.default_rng(seed).permutation(9)
    edges = {tuple(sorted(edge)) for edge in after if edge[0] != edge[1]}
    placed = {tuple(sorted(ids[[u, v]].tolist())) for u, v in original.edges().tolist()}
    with database() as db:
        source, target = np.array([*edges], dtype=np.int64).reshape(-1, 2).T
        db.put("edges", {"source": source, "target": target})
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(edge_buckets, "BUCKET_EDGES", 4)
            patched.setattr(edge_buckets, "BLOCK", 8)
            edge_buckets.link_in_buckets(db, (original.indptr, original.indices), ids)
        assert sorted(placed - edges) == sorted(db.rows("SELECT source, target FROM missing"))
        assert sorted(placed) == sorted(db.rows("SELECT u, v FROM placed"))


@pytest.mark.usefixtures("in_buckets")
def test_a_supergraph_that_lost_a_tie_is_found_in_buckets(tmp_path):
    graph = ties()
    folder = released(graph, tmp_path, edits="add")
    table = parquet.read_table(data_file(folder))
    place = gv.read_release(folder).private.linkage.released
    lost = sorted(place[graph.edges()[17]].tolist())
    kept = [list(row) != lost for row in zip(*table.to_pydict().values(), strict=True)]
    with data_file(folder).open("w+b") as stream:
        gv.io.readers.columnar.write_tables(
            [table.filter(pa.array(kept))], stream, gv.io.FORMATS["parquet"]
        )
    reseal(folder)
    said = outcomes(gv.verify_release(folder, original=graph))
    assert "fails" == said["supergraph"][0]
    assert f"the first is between its nodes {lost[0]} and {lost[1]}" in said["supergraph"][1]


def test_a_file_of_ties_above_the_limit_is_read_some_rows_at_a_time(tmp_path):
    folder = released(ties(300, 9000), tmp_path)
    size = data_file(folder).stat().st_size
    verdict = gv.verify_release(folder, limit_bytes=size // 2)
    assert verdict.ok
    assert "holds" == outcomes(verdict)["classes"][0]


def with_rows(folder, rows):
    table = pa.table(
        {"source": [a for a, _ in rows], "target": [b for _, b in rows]},
        schema=pa.schema([("source", pa.int64()), ("target", pa.int64())]),
    )
    with data_file(folder).open("w+b") as stream:
        gv.io.readers.columnar.write_tables([table], stream, gv.io.FORMATS["parquet"])
    reseal(folder)
    return outcomes(gv.verify_release(folder))


def test_a_view_of_ties_shows_what_is_wrong_with_them(tmp_path):
    folder = released(ties(), tmp_path)
    rows = [tuple(row) for row in gv.read_release(folder).data.edges().tolist()]
    turned = with_rows(folder, [rows[0][::-1], *rows[1:]])
    assert "edge 1 of data.parquet," in turned["canonical order"][1]
    swapped = with_rows(folder, [*rows[:5], rows[6], rows[5], *rows[7:]])
    assert "is not in ascending order after edge 6 of data.parquet" in swapped["canonical order"][1]
    again = with_rows(folder, [*rows[:4], rows[3], *rows[4:]])
    assert f"the edge ({rows[3][0]}, {rows[3][1]}) appears 2 times" in again["simple graph"][1]
    stranger = with_rows(folder, [*rows, (39, 40)])
    assert "node 40 has an edge but is not listed" in stranger["endpoints"][1]
    missing = with_rows(folder, [*rows[:4], (3, None), *rows[4:]])
    assert "data.parquet: row 5 has no target" in missing["data"][1]
    negative = with_rows(folder, [(-1, 3), *rows])
    assert "data.parquet: -1 in the column 'source' is below 0" in negative["data"][1]


def test_bytes_behind_the_rows_are_found(tmp_path):
    folder = released(ties(), tmp_path)
    path = data_file(folder)
    content = path.read_bytes()
    for position in (5, len(content) // 2, len(content) - 30):
        changed = bytearray(content)
        changed[position] ^= 1
        path.write_bytes(bytes(changed))
        reseal(folder)
        assert "fails" == outcomes(gv.verify_release(folder))["data"][0]
    parquet.write_table(parquet.read_table(pa.BufferReader(content)), path)
    reseal(folder)
    assert "is compressed with" in outcomes(gv.verify_release(folder))["data"][1]


def test_the_original_may_stay_on_the_disk(tmp_path, capsys, request):
    graph = ties()
    ends = [(u + 7, v + 7) for u, v in graph.edges().tolist()]
    file = tmp_path / "ties.csv"
    file.write_text("\n".join(["source,target", *(f"{u},{v}" for u, v in ends), ""]))
    folder = released(gv.read_graph(file), tmp_path, edits="add")
    expected = outcomes(gv.verify_release(folder, original=file))
    request.getfixturevalue("in_buckets")
    assert expected == outcomes(gv.verify_release(folder, original=file, on_disk=True))
    assert "holds" == expected["supergraph"][0]
    assert 0 == command_line(["verify", str(folder), "--original", str(file), "--on-disk"])
    assert 2 == command_line(["verify", str(folder), "--on-disk"])
    assert "--on-disk keeps the edges of the original on disk" in capsys.readouterr().err
    rows = gv.Bipartite.from_lists([["tea", "rye"]] * 4)
    likes = gv.SuppressK(k=2).anonymize(rows).write(tmp_path / "likes")
    with pytest.raises(UsageError, match="applies to the edges of a graph only"):
        gv.verify_release(likes, original=file, on_disk=True)


def test_degrees_are_measured_of_ties_on_the_disk(tmp_path, capsys):
    file = tmp_path / "ties.csv"
    edges = [f"{u},{v}" for u, v in ties().edges().tolist()]
    file.write_text("\n".join(["source,target", *edges, ""]))
    said = []
    for further in ([], ["--on-disk"]):
        assert 0 == command_line(["measure", str(file), "--json", *further])
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert 2 == command_line(["measure", str(file), "--measure", "count", "--on-disk"])
    assert "--on-disk supports the measure degree only, not count" in capsys.readouterr().err
    flags = ["--kind", "table", "--on-disk"]
    assert 2 == command_line(["measure", str(file), *flags])
    assert "--on-disk applies to edge files only" in capsys.readouterr().err

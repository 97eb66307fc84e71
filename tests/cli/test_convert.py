"""`graphveil convert`: any format that is read into any that is written, and releases into all."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

import graphveil as gv

pytestmark = pytest.mark.filterwarnings("ignore::graphveil.GraphveilWarning")

NAMES_OF_COPIES = ("a.gml.gz", "ids.csv", "b.csv", "b-ids.csv")
EDGES = "ann,bob\nbob,cyd\ncyd,dan\n"


@pytest.fixture
def release(cwd):
    graph = gv.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=6)
    gv.KDegree(k=2).anonymize(graph, seed=1).write(cwd / "out")
    return gv.read_release(cwd / "out").data


@pytest.mark.parametrize("name", ["a.npz", "a.gml.gz", "a.graph.zst", "a.mtx", "a.nauty", "a.net"])
def test_the_data_of_a_release_comes_back_from_every_format(graphveil_here, cwd, release, name):
    done = graphveil_here("convert", "out", "--out", name)
    assert (0, "") == (done.code, done.err)
    first, last = done.out.splitlines()
    assert f"Wrote {name}. This copy is not a release and carries no guarantee." == first
    assert "next: graphveil verify out" == last
    back = gv.read_graph(cwd / name)
    assert release.size == back.size
    assert np.array_equal(release.edges(), back.edges())


def test_a_list_of_edges_needs_a_list_of_the_ids_where_some_have_no_edge(
    graphveil_here, cwd, release, assert_one_line
):
    done = graphveil_here("convert", "out", "--out", "a.csv.gz")
    assert 2 == done.code
    assert_one_line(done, "nodes without edges would be lost", "--out-ids")
    assert not (cwd / "a.csv.gz").exists()
    assert 0 == graphveil_here("convert", "out", "--out", "a.csv.gz", "--out-ids", "ids.csv").code
    assert release == gv.read_graph(cwd / "a.csv.gz", nodes=cwd / "ids.csv")


def test_a_file_is_read_as_its_flags_say_and_written_as_its_name_says(graphveil_here, cwd):
    (cwd / "likes.tsv").write_text("1\ttea\n2\ttea\n")
    flags = ("--kind", "bipartite", "--header", "no")
    assert 0 == graphveil_here("convert", "likes.tsv", *flags, "--out", "likes.arrow").code
    expected = gv.Bipartite.from_pairs([1, 2], ["tea", "tea"])
    assert expected == gv.read_bipartite(cwd / "likes.arrow")


def test_a_file_that_exists_is_replaced_only_where_that_is_said(
    graphveil_here, cwd, assert_one_line
):
    (cwd / "edges.csv").write_text(EDGES)
    (cwd / "a.gml").write_text("mine")
    done = graphveil_here("convert", "edges.csv", "--out", "a.gml")
    assert 2 == done.code
    assert_one_line(done, "a.gml already exists. Choose another name.")
    assert "--force" not in done.err
    assert "mine" == (cwd / "a.gml").read_text()
    assert 0 == graphveil_here("convert", "edges.csv", "--out", "a.gml", "--force").code
    assert gv.read_graph(cwd / "edges.csv") == gv.read_graph(cwd / "a.gml")


@pytest.mark.parametrize("flag", ["--out", "--out-ids"])
def test_the_original_of_a_release_is_never_overwritten(graphveil_here, cwd, flag, assert_one_line):
    (cwd / "edges.csv").write_text(EDGES)
    made = graphveil_here("anonymize", "k-degree", "edges.csv", "--k", 2, "--out", "made")
    assert 0 == made.code, made.err
    words = () if flag == "--out" else ("--out", "a.csv")
    for force in ((), ("--force",)):
        done = graphveil_here("convert", "made", *words, flag, "edges.csv", *force)
        assert 2 == done.code
        assert_one_line(done, "edges.csv")
        assert "--force" not in done.err
        assert EDGES == (cwd / "edges.csv").read_text()
    assert_one_line(done, "edges.csv is the original of made and is not overwritten")


def test_columns_named_after_users_and_items_are_no_network(graphveil_here, cwd):
    (cwd / "likes.csv").write_text("user,item\n1,1\n1,2\n2,3\n")
    done = graphveil_here("convert", "likes.csv", "--out", "likes.parquet")
    assert 0 == done.code
    assert "read as user-item data (by its column names)" in done.err
    back = gv.read_bipartite(cwd / "likes.parquet")
    assert gv.Bipartite.from_pairs([1, 1, 2], [1, 2, 3]) == back
    assert 0 == graphveil_here("convert", "likes.csv", "--kind", "graph", "--out", "g.csv").code
    assert gv.Graph.from_edges([1, 2], [2, 3]) == gv.read_graph(cwd / "g.csv")


@pytest.mark.parametrize(
    ("before", "flags", "words"),
    [
        ("", ("--out", "edges.csv", "--force"), ["edges.csv is the input"]),
        ("ln -s", ("--out", "other.csv", "--force"), ["other.csv is the input"]),
        ("ln", ("--out", "other.csv", "--force"), ["other.csv is the input"]),
        ("", ("--out", "ids.csv", "--nodes", "ids.csv", "--force"), ["ids.csv is the input"]),
        ("", ("--out", "a.gml", "--out-ids", "edges.csv", "--force"), ["edges.csv is the input"]),
        ("", ("--out", "a.csv", "--out-ids", "../{}/a.csv"), ["--out-ids", "different names"]),
        ("dangling", ("--out", "other.csv"), ["other.csv already exists", "Choose another name"]),
        (
            "",
            ("--out", "a.csv", "--out-ids", "ids.csv"),
            ["ids.csv already exists", "Choose another name"],
        ),
        ("", ("--out", "a.csv", "--out-ids", "a.gml"), ["gml cannot store a list of ids"]),
        (
            "",
            ("--out", "out/a.csv"),
            ["out/a.csv is inside a release, which is public", "outside it"],
        ),
        (
            "",
            ("--out", "a.csv", "--out-ids", "out/a.csv"),
            ["is inside a release, which is public"],
        ),
    ],
)
@pytest.mark.usefixtures("release")
def test_no_file_is_written_over_what_is_needed(
    graphveil_here, cwd, before, flags, words, assert_one_line
):
    (cwd / "edges.csv").write_text(EDGES)
    (cwd / "ids.csv").write_text("ann\nbob\ncyd\ndan\neve\n")
    if before == "ln":
        os.link(cwd / "edges.csv", cwd / "other.csv")
    elif before:
        (cwd / "other.csv").symlink_to("edges.csv" if before == "ln -s" else "nothing.csv")
    files = {path: path.lstat() for path in cwd.rglob("*") if not path.is_dir()}
    done = graphveil_here("convert", "edges.csv", *(part.format(cwd.name) for part in flags))
    assert 2 == done.code
    assert_one_line(done, *words)
    after = {path: path.lstat() for path in cwd.rglob("*") if not path.is_dir()}
    assert [(path, s.st_ino, s.st_mtime_ns) for path, s in files.items()] == [
        (path, s.st_ino, s.st_mtime_ns) for path, s in after.items()
    ]


@pytest.mark.usefixtures("release")
@pytest.mark.parametrize(
    "words",
    [
        ("measure", "edges.csv", "--at-risk", "out/risk.csv", "--force"),
        ("evaluate", "out", "--original", "edges.csv", "--out", "out/rows.json"),
    ],
)
def test_no_other_command_writes_what_is_private_into_a_release(
    graphveil_here, cwd, words, assert_one_line
):
    (cwd / "edges.csv").write_text(EDGES)
    before = sorted((cwd / "out").iterdir())
    done = graphveil_here(*words)
    assert 2 == done.code
    assert_one_line(
        done, words[-2 if words[-1] == "--force" else -1], "is inside a release, which is public"
    )
    assert before == sorted((cwd / "out").iterdir())


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.usefixtures("release")
def test_a_copy_of_a_data_file_is_for_its_owner_alone_and_one_of_a_release_is_not(
    graphveil_here, cwd
):
    (cwd / "edges.csv").write_text(EDGES)
    own = ("edges.csv", "--header", "no", "--out", "a.gml.gz", "--out-ids", "ids.csv")
    public = ("out", "--out", "b.csv", "--out-ids", "b-ids.csv")
    before = os.umask(0o022)
    try:
        assert [0, 0] == [graphveil_here("convert", *words).code for words in (own, public)]
    finally:
        os.umask(before)
    modes = {name: stat.S_IMODE((cwd / name).stat().st_mode) for name in NAMES_OF_COPIES}
    assert {"a.gml.gz": 0o600, "ids.csv": 0o600, "b.csv": 0o644, "b-ids.csv": 0o644} == modes


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("out", "--out", "a.gml", "--kind", "graph"), ["--kind does not apply to a release"]),
        (("out", "--out", "a.gml", "--header", "no"), ["--header does not apply to a release"]),
        (
            ("edges.csv", "--out", "a.gml", "--kind", "graph", "--users", "u.csv"),
            ["--users does not apply to a Graph"],
        ),
        (("edges.csv", "--out", "a.xyz"), [".xyz", "set --input-format"]),
        (("edges.csv", "--out", "out"), ["out"]),
        (("none.csv", "--out", "a.gml"), ["none.csv"]),
    ],
)
@pytest.mark.usefixtures("release")
def test_what_cannot_be_converted_is_refused_in_one_line(
    graphveil_here, cwd, flags, words, assert_one_line
):
    (cwd / "edges.csv").write_text(EDGES)
    done = graphveil_here("convert", *flags)
    assert 2 == done.code
    assert_one_line(done, *words)
    assert not (cwd / "a.gml").exists()


def test_a_table_without_its_row_ids_is_said_to_be_so(graphveil_here, cwd):
    (cwd / "rows.csv").write_text("id,town\nann,Oslo\nbob,Bergen\n")
    command = ("convert", "rows.csv", "--kind", "table", "--ids", "id", "--out")
    done = graphveil_here(*command, "rows.tsv")
    assert 0 == done.code
    assert "row ids were dropped: a table is written with its own columns only" in done.err
    assert "town\nOslo\nBergen\n" == (cwd / "rows.tsv").read_text().replace('"', "")


def test_a_table_is_released_and_copied_as_a_table(graphveil_here, cwd):
    rows = [("f", "Oslo"), ("m", "Rome")] * 6
    (cwd / "people.csv").write_text("sex,town\n" + "".join(f"{s},{t}\n" for s, t in rows))
    released = graphveil_here(
        "anonymize", "mondrian", "people.csv", "--kind", "table", "--k", "3", "--out", "people-k3"
    )
    assert "Columns: sex 100% exact; town 100% exact." in released.out.splitlines()
    assert (cwd / "people-k3/data.csv").read_text().startswith("sex,town\n")
    command = "graphveil convert people-k3 --kind table --out people-k3.csv"
    assert 0 == graphveil_here(*command.split()[1:]).code
    back = gv.read_table(cwd / "people-k3.csv").to_arrow().to_pylist()
    assert sorted(rows) == sorted((row["sex"], row["town"]) for row in back)


@pytest.mark.parametrize("name", ["copy.csv", "copy.tsv", "copy.parquet"])
def test_a_released_table_whose_values_are_numbers_with_fractions_is_copied(
    graphveil_here, cwd, name
):
    columns = {"town": ["Oslo"] * 4 + ["Rome"] * 4, "dose": ["1.5", "x2", "1.0", "01"] * 2}
    table = gv.Table.from_columns(columns, person="row")
    method = gv.Generalize(k=4, known="town", attach="dose")
    method.anonymize(table, seed=1).write(cwd / "out")
    done = graphveil_here("convert", "out", "--out", name)
    assert (0, "") == (done.code, done.err)
    back = gv.read_table(cwd / name, exact=True, person="row")
    rows = [tuple(row.values()) for row in back.to_arrow().to_pylist()]
    assert sorted(zip(*columns.values(), strict=True)) == sorted(rows)


def test_a_released_graph_does_not_become_a_table(graphveil_here, cwd, release, assert_one_line):
    del release
    done = graphveil_here("convert", "out", "--kind", "table", "--out", "a.csv")
    assert 2 == done.code
    assert_one_line(done, "--kind table does not apply to a release of a graph")
    assert not (cwd / "a.csv").exists()

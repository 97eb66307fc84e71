"""The checker's answers on releases that are whole, and its arithmetic against slow twins."""

from __future__ import annotations

import math
import multiprocessing
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import duckdb
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emptied import emptied_database, of_a_graph
from graphveil.claims.conditions import Diverse, Supergraph
from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.claims.manifest import DataFile
from graphveil.core.errors import ReleaseError, ResourceError
from graphveil.data import Bipartite, Graph, Table
from graphveil.io import FORMATS
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verify import Check, Verdict, verify
from graphveil.verify.database import SMALL_BYTES, database
from graphveil.verify.kinds import tables
from graphveil.verify.promises.networks.structural import look_alikes
from graphveil.verify.registry import CHECKED_BY, asked_for
from graphveil.verify.verdict import row_of


def formats_of(kind: str) -> list[str]:
    """Return every format of a release of this kind of data."""
    return [name for name, form in FORMATS.items() if kind in form.kinds and not form.released_as]


def cycle(n: int) -> Graph:
    """Return a cycle with names for nodes: every degree is 2."""
    names = [f"person {place}" for place in range(n)]
    return Graph.from_edges(range(n), [(place + 1) % n for place in range(n)], ids=names)


def release_of(
    data, *, k: int, edits: str = "add", owner: bool = True, share: float = 1.0
) -> Release:
    """Return a release of data that keeps a promise as it stands."""
    order = np.random.default_rng(data.size).permutation(data.size)
    return Release(
        data=data.permuted(order),
        guarantee=StructuralKAnonymity(k=k, share=share),
        conditions=(Supergraph(),) if edits == "add" else (),
        provenance=Provenance(
            method="k-degree",
            source="Where it was published",
            limits="What it leaves open.",
            parameters={"k": k, "edits": edits, "target": "exact", "near": True},
        ),
        private=Private(
            input_sha256=digest_of(data),
            cost={"edges_added": 0, "edges_deleted": 0},
            linkage=Linkage(data.labels(), np.argsort(order)),
        )
        if owner
        else None,
    )


def outcomes(verdict) -> dict[str, str]:
    return {condition.name: condition.outcome for condition in verdict.checks}


def details(verdict) -> dict[str, str]:
    return {condition.name: condition.detail for condition in verdict.checks}


@pytest.mark.parametrize("name", formats_of("graph"))
def test_a_whole_release_of_a_graph_holds_in_every_format(tmp_path, name):
    graph = Graph.from_edges([0, 1, 2, 0, 5], [1, 2, 3, 3, 6], n=9)
    folder = release_of(graph, k=2).write(tmp_path / "release", format=name)
    verdict = verify(folder, original=graph)
    assert not verdict.failures()
    assert verdict.complete
    assert "9 nodes, 5 edges" == details(verdict)["counts"]


def test_a_manifest_that_promises_what_any_data_keeps_claims_nothing(tmp_path):
    verdict = verify(release_of(Graph.from_edges([0], [1], n=3), k=1).write(tmp_path / "release"))
    assert not verdict.failures()
    assert "not claimed" == verdict.word
    assert str(verdict.said()[0]).startswith(
        "No guarantee is claimed: what the manifest states protects nobody, a class may be a "
        "single node (k=1);"
    )


@pytest.mark.parametrize("name", [name for name in formats_of("graph") if "." not in name])
def test_a_graph_without_edges_holds_in_every_format(tmp_path, name):
    graph = Graph.from_edges([], [], n=3)
    folder = release_of(graph, k=3).write(tmp_path / "release", format=name)
    verdict = verify(folder, original=graph)
    assert not verdict.failures()
    assert "3 nodes, 0 edges" == details(verdict)["counts"]


@pytest.mark.parametrize("name", formats_of("bipartite"))
def test_released_pairs_are_counted_in_every_format(tmp_path, name):
    data = Bipartite.from_scipy(np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1]]))
    folder = release_of(data, k=1, edits="any").write(tmp_path / "release", format=name)
    verdict = verify(folder, original=data)
    assert ["classes", "cost"] == [c.name for c in verdict.failures()]
    assert "4 users, 3 items, 5 entries" == details(verdict)["counts"]


def test_items_may_hold_quotes_commas_and_stars(tmp_path):
    data = Bipartite.from_pairs([0, 0, 1, 2], ['a,"b"', "*", "NULL", "tea # green"])
    folder = release_of(data, k=1).write(tmp_path / "release")
    verdict = verify(folder, original=data)
    assert "holds" == outcomes(verdict)["data"]
    assert "3 users, 4 items, 4 entries" == details(verdict)["counts"]


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet"])
def test_released_cells_are_counted_in_every_format(tmp_path, name):
    columns = {"sex, or gender": ["f", "m", "*"], "age": [30, None, 40], "it's": ["a", "a", "b"]}
    table = Table.from_columns(columns)
    folder = release_of(table, k=1, edits="any").write(tmp_path / "release", format=name)
    verdict = verify(folder, original=table)
    assert ["classes", "cost"] == [c.name for c in verdict.failures()]
    assert "3 rows, 3 columns, 2 suppressed cells" == details(verdict)["counts"]


def test_a_claim_about_graphs_fails_on_other_data(tmp_path):
    table = Table.from_columns({"sex": ["f", "f"]})
    folder = release_of(table, k=2).write(tmp_path / "release")
    detail = details(verify(folder))["classes"]
    assert "StructuralKAnonymity can be claimed for a graph or a network, not for a table" == detail


edge_sets = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sets(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] < e[1])
        ),
    )
)


def degree_classes(n: int, edges) -> Counter:
    """Return the size of every class of equal degree, the slow way."""
    degree = [0] * n
    for u, v in edges:
        degree[u] += 1
        degree[v] += 1
    return Counter(degree)


@settings(deadline=None, max_examples=60)
@given(graph=edge_sets, k=st.integers(1, 6))
def test_a_claim_holds_exactly_where_the_smallest_class_has_k_nodes(tmp_path_factory, graph, k):
    n, edges = graph
    data = Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n=n)
    folder = release_of(data, k=k).write(tmp_path_factory.mktemp("twin") / "release")
    classes = degree_classes(n, edges)
    verdict = verify(folder, original=data)
    assert (min(classes.values()) >= k) == verdict.ok
    said = details(verdict)["counts"].replace("node,", "nodes,").removesuffix("s")
    assert f"{n} nodes, {len(edges)} edge" == said
    if not verdict.ok:
        smallest = min(classes, key=lambda degree: (classes[degree], degree))
        assert (
            f"the class of degree {smallest} holds {classes[smallest]} node"
            in (details(verdict)["classes"])
        )


@settings(deadline=None, max_examples=60)
@given(graph=edge_sets, k=st.integers(1, 6), share=st.sampled_from([1.0, 0.9, 0.75, 0.5, 1 / 3]))
def test_a_share_of_the_nodes_may_stand_in_smaller_classes(graph, k, share):
    n, edges = graph
    outside = sum(size for size in degree_classes(n, edges).values() if size < k)
    with emptied_database() as db:
        db.put("nodes", {"node": np.arange(n)})
        columns = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
        db.put("edges", {"source": columns[:, 0], "target": columns[:, 1]})
        condition = look_alikes(of_a_graph(db), StructuralKAnonymity(k=k, share=share))
    kept = outside <= math.floor((1 - share) * n + 1e-9)
    assert ("holds" if kept else "fails") == condition.outcome


def test_the_database_knows_which_tables_and_views_there_are():
    with database() as db:
        db.run("CREATE TABLE one AS SELECT 1 AS x; CREATE VIEW two AS SELECT x FROM one")
        assert [True, True, False] == [db.holds(name) for name in ("one", "two", "three")]
        db.run("DROP TABLE one")
        assert not db.holds("one")


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE IF NOT EXISTS one(x INTEGER)",
        "CREATE OR REPLACE TABLE one(x INTEGER)",
        "create table one(x INTEGER)",
        'CREATE TABLE "one"(x INTEGER)',
        "CREATE  TABLE one(x INTEGER)",
        "CREATE TEMP TABLE one(x INTEGER)",
    ],
)
def test_sql_that_makes_a_table_of_which_the_database_would_not_know_is_refused(sql):
    with database() as db, pytest.raises(ValueError, match="no plain CREATE or DROP"):
        db.run(sql)


def test_a_share_that_is_just_met_counts_as_met():
    with emptied_database() as db:
        db.put("nodes", {"node": np.arange(10)})
        db.put("edges", {"source": np.array([0]), "target": np.array([1])})
        met = look_alikes(of_a_graph(db), StructuralKAnonymity(k=3, share=0.8))
        unmet = look_alikes(of_a_graph(db), StructuralKAnonymity(k=3, share=0.81))
    assert "holds" == met.outcome
    assert "2 nodes in smaller classes, 2 allowed" in met.detail
    assert "the class of degree 1 holds 2 nodes, fewer than k=3: 0, 1 " in unmet.detail


def test_a_release_without_nodes_has_no_class_that_is_too_small(tmp_path):
    empty = Graph.from_edges([], [], n=0)
    folder = release_of(empty, k=5).write(tmp_path / "release")
    verdict = verify(folder, original=empty)
    assert verdict.ok
    assert "the release has no nodes, so no class is too small" == details(verdict)["classes"]


def test_isolated_nodes_are_the_class_of_degree_zero(tmp_path):
    graph = Graph.from_edges([0, 2], [1, 3], n=8)
    verdict = verify(release_of(graph, k=4).write(tmp_path / "release"))
    assert (
        "8 nodes have 2 distinct degrees; the smallest class (degree 0) holds 4 nodes, k=4"
        == details(verdict)["classes"]
    )


def test_without_the_original_what_needs_it_is_not_checked_and_says_so(tmp_path):
    verdict = verify(release_of(cycle(5), k=5).write(tmp_path / "release"))
    unchecked = {c.name: c.needs for c in verdict.checks if c.outcome == "not checked"}
    names = "original, same size, linkage, order says nothing, supergraph, degrees grow, edits, "
    names += "no original ids"
    assert dict.fromkeys(names.split(", "), "--original") == unchecked
    assert verdict.ok
    assert not verdict.complete
    assert 0 == verdict.exit_code


def test_without_the_linkage_the_original_is_compared_by_its_degrees(tmp_path):
    graph = cycle(5)
    folder = release_of(graph, k=5).write(tmp_path / "release", linkage=False)
    verdict = verify(folder, original=graph)
    unchecked = {c.name: c.needs for c in verdict.checks if c.outcome == "not checked"}
    needed = "the private linkage"
    names = ("linkage", "order says nothing", "supergraph", "edits")
    assert dict.fromkeys(names, needed) == unchecked
    assert "holds" == outcomes(verdict)["degrees grow"]


def test_without_the_private_folder_the_record_is_missed_and_nothing_fails(tmp_path):
    graph = cycle(5)
    folder = release_of(graph, k=5, owner=False).write(tmp_path / "release")
    verdict = verify(folder, original=graph)
    needs = {c.name: c.needs for c in verdict.checks if c.outcome == "not checked"}
    assert "the private record" == needs["owner's record"]
    assert "the private record" == needs["original"]
    assert verdict.ok


def test_deleted_edges_are_counted_where_edits_go_both_ways(tmp_path):
    before = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 2], n=4)
    after = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0], n=4)
    whole = release_of(after, k=4, edits="any")
    private = Private(
        input_sha256=digest_of(before),
        cost={"edges_added": 1, "edges_deleted": 1},
        linkage=whole.private.linkage,
    )
    release = Release(
        data=whole.data, guarantee=whole.guarantee, provenance=whole.provenance, private=private
    )
    verdict = verify(release.write(tmp_path / "release"), original=before)
    assert verdict.ok
    assert "1 edge added and 1 deleted, as the record states" == details(verdict)["edits"]
    assert "supergraph" not in outcomes(verdict)


@pytest.mark.parametrize("name", ["a[1]*", "it's", 'say "no"', "{a,b}?", "é ü", "-o"])
def test_a_folder_of_any_name_can_be_checked(tmp_path, name):
    graph = cycle(4)
    folder = release_of(graph, k=4).write(tmp_path / name, format="parquet")
    verdict = verify(folder, original=graph)
    assert not verdict.failures()
    assert verdict.complete


def test_the_current_folder_finds_its_private_sibling(tmp_path, monkeypatch):
    folder = release_of(cycle(4), k=4).write(tmp_path / "release")
    monkeypatch.chdir(folder)
    assert "holds" == outcomes(verify("."))["owner's record"]


def test_checking_leaves_nothing_behind(tmp_path, monkeypatch):
    folder = release_of(cycle(4), k=4).write(tmp_path / "release")
    (tmp_path / "spill").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "spill"))
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    assert verify(folder, original=cycle(4)).ok
    assert not list((tmp_path / "spill").iterdir())
    assert before == sorted(tmp_path.rglob("*"))


@pytest.fixture
def _own_engine(monkeypatch):
    monkeypatch.setattr("graphveil.verify.database._ENGINES", {})


@pytest.mark.usefixtures("_own_engine")
def test_small_checks_at_once_see_only_what_is_theirs(tmp_path):
    outside = tmp_path / "data.csv"
    outside.write_text("a\n1\n")
    with database([tmp_path], size=10) as one, database([tmp_path], size=10) as other:
        one.run("CREATE TABLE cells AS SELECT 1 AS c0, 'x' AS c1")
        other.run("CREATE TABLE cells AS SELECT 2 AS c0")
        assert [(1, "x")] == one.rows("SELECT * FROM cells")
        assert ["c0"] == list(other.column_types("cells"))
        assert 1 == other.number("SELECT a FROM read_csv(?)", [other.link(outside)])
        for path in (outside, "/etc/hostname"):
            with pytest.raises(duckdb.PermissionException):
                one.rows("SELECT * FROM read_csv(?)", [str(path)])
        with pytest.raises(duckdb.Error, match="locked"):
            one.run("SET enable_external_access = true")
        scratch = one.scratch.parent
        assert 0o700 == scratch.stat().st_mode & 0o777
    assert not scratch.exists()
    with database([tmp_path], size=10) as later:
        assert not later.column_types("cells")


@pytest.mark.usefixtures("_own_engine")
def test_a_check_goes_on_where_the_folder_for_temporary_files_was_taken(tmp_path):
    with database([tmp_path], size=10) as one:
        scratch = one.scratch.parent
    scratch.mkdir()
    try:
        with database([tmp_path], size=10) as other:
            assert scratch != other.scratch.parent
            assert 1 == other.number("SELECT 1")
    finally:
        scratch.rmdir()


def test_what_is_large_is_not_copied(tmp_path):
    small, large = tmp_path / "a.csv", tmp_path / "b.csv"
    small.write_text("a\n1\n")
    large.write_bytes(b"x" * (SMALL_BYTES + 1))
    with database([tmp_path], size=10) as db:
        assert Path(db.link(small)).is_symlink()
        assert 1 == db.number("SELECT a FROM read_csv(?)", [db.link(small)])
    large.unlink()
    with database([tmp_path], size=10) as db:
        assert not Path(db.link(small)).is_symlink()


def test_a_forked_process_checks_by_itself(tmp_path):
    folder = release_of(cycle(4), k=4).write(tmp_path / "release")
    assert verify(folder).ok
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_is_ok, [folder])
    assert verify(folder).ok


def _is_ok(folder):
    return verify(folder).ok


@pytest.mark.parametrize("make", ["nothing", "file", "empty folder", "folder for a manifest"])
def test_what_is_no_release_is_an_error_and_no_verdict(tmp_path, make):
    place = tmp_path / "release"
    if make == "file":
        place.write_text("source,target\n")
    elif make != "nothing":
        place.mkdir()
    if make == "folder for a manifest":
        (place / "release.json").mkdir()
    with pytest.raises(ReleaseError, match=r"Give the folder written by anonymize\.") as caught:
        verify(place)
    assert 2 == caught.value.exit_code


def test_another_kind_of_original_is_not_compared(tmp_path):
    folder = release_of(cycle(4), k=4).write(tmp_path / "release")
    verdict = verify(folder, original=Table.from_columns({"sex": ["f", "m", "f", "m"]}))
    assert ["original"] == [condition.name for condition in verdict.failures()]
    assert (
        "the release is of kind graph, but the original given is of kind table"
        == details(verdict)["original"]
    )


def test_an_id_that_is_also_a_word_of_the_method_is_no_leak(tmp_path):
    graph = Graph.from_edges(["add", "k", "exact"], ["k", "exact", "add"])
    verdict = verify(release_of(graph, k=3).write(tmp_path / "release"), original=graph)
    assert "holds" == outcomes(verdict)["no original ids"]


def test_no_verdict_shows_an_original_id_or_the_digest_of_the_input(tmp_path):
    graph = cycle(6)
    folder = release_of(graph, k=6).write(tmp_path / "release")
    shown = "\n".join(verify(folder, original=graph).lines())
    assert "person" not in shown
    assert digest_of(graph)[:8] not in shown


def test_a_verdict_is_json_and_comes_back():
    verdict = Verdict("recomputed", "All is well.", [Check("ids", "holds", "3 nodes")])
    raw = msgspec.json.encode(verdict)
    assert (
        b'{"word":"recomputed","sentence":"All is well.","checks":'
        b'[{"name":"ids","outcome":"holds","detail":"3 nodes","needs":null}],'
        b'"decisive":[],"unknown_method":null,"core":"","promised":[],"require_all":false,'
        b'"empty":null,"conditions":""}' == raw
    )
    assert verdict == msgspec.json.decode(raw, type=Verdict)


HOLDS = Check("ids", "holds", "3 nodes")
FAILS = Check("files", "fails", "data.csv is gone")
OPEN = Check("edits", "not checked", "whether nothing was added", "--original")
COUNTS = "1 of 3 checks hold, 1 fails, 1 not checked"
LEFT = "Not checked without the original: nothing was added."


def test_a_verdict_for_people_begins_with_the_answer_and_gives_every_check_a_line():
    verdict = Verdict("recomputed", "All is well.", [HOLDS, FAILS, OPEN])
    assert [
        (
            "The folder is not as it was published: data.csv is gone (files; 1 of 3 checks "
            "fails). Whether the guarantee holds in the data file was not checked."
        ),
        "  holds        ids: 3 nodes",
        "  fails        files: data.csv is gone",
        "  not checked  edits: whether nothing was added (needs original)",
    ] == verdict.lines()
    assert "\n".join(verdict.lines()) == str(verdict)
    assert f"Verdict(fails; recomputed; {COUNTS})" == repr(verdict)
    assert (1, False) == (verdict.exit_code, bool(verdict))


@pytest.mark.parametrize(
    ("verdict", "code", "first"),
    [
        (
            Verdict("recomputed", "All is well.", [HOLDS, OPEN], decisive=("ids",)),
            0,
            "The guarantee holds: all is well (1 of 2 checks hold, 1 not checked).",
        ),
        (
            Verdict("recomputed", "All is well.", [HOLDS, OPEN], decisive=("edits",)),
            4,
            "Undecided: whether nothing was added, which cannot be checked without the original (",
        ),
        (
            Verdict("recomputed", "All is well.", [HOLDS], unknown_method="ann is 3"),
            4,
            "Undecided: the method 'ann is 3' is unknown to this version. To trust its texts and ",
        ),
        (
            Verdict("recomputed", "All is well.", [FAILS, OPEN], ("edits",), "ann is 3"),
            1,
            "The folder is not as it was published: data.csv is gone (files; 1 of 2 checks fails).",
        ),
        (
            Verdict("by construction", "All is well.", [HOLDS]),
            0,
            (
                "No check fails (1 check holds). No file can show whether the guarantee holds: "
                "it depends on how the release was made. All is well."
            ),
        ),
        (
            Verdict("not claimed", "Nothing is promised.", [HOLDS]),
            0,
            "No guarantee is claimed; no other statement of the release was found false (1 check ",
        ),
    ],
)
def test_the_answer_comes_first_and_a_promise_that_does_not_hold_is_not_repeated(
    verdict, code, first
):
    assert verdict.lines()[0].startswith(first)
    assert (code, code == 0) == (verdict.exit_code, bool(verdict))
    said = "all is well" in str(verdict).lower()
    assert (code == 0 and verdict.word != "not claimed") == said


def test_one_definition_stands_behind_ok_bool_exit_code_and_json():
    for checks, decisive, require_all, answer, code in (
        ([HOLDS], (), False, "holds", 0),
        ([HOLDS, OPEN], ("ids",), False, "holds", 0),
        ([HOLDS, OPEN], ("ids",), True, "undecided", 4),
        ([HOLDS], ("ids",), True, "holds", 0),
        ([HOLDS, OPEN], ("edits",), False, "undecided", 4),
        ([FAILS, OPEN], ("edits",), True, "fails", 1),
    ):
        verdict = Verdict("recomputed", "All is well.", checks, decisive, require_all=require_all)
        ok = code == 0
        assert (answer, ok, ok, code) == (
            verdict.answer,
            verdict.ok,
            bool(verdict),
            verdict.exit_code,
        )
        said = verdict.as_json()
        assert (answer, ok, code) == (said["answer"], said["ok"], said["exit_code"])
        assert "every claim" not in str(verdict).lower()


def test_what_only_the_original_shows_is_listed_and_not_said_to_hold():
    core, whole = "All rows are equal.", "All rows are equal; nothing was added."
    verdict = Verdict(
        "recomputed", whole, [HOLDS, OPEN], ("ids",), core=core, promised=("ids", "edits")
    )
    first, second = verdict.said()
    assert "The guarantee holds: all rows are equal (1 of 2 checks hold, 1 not checked)." == first
    assert LEFT == second
    added = msgspec.structs.replace(OPEN, outcome="holds")
    verdict = msgspec.structs.replace(verdict, checks=[HOLDS, added])
    assert ["The guarantee holds: all rows are equal; nothing was added (all 2 checks hold)."] == (
        verdict.said()
    )


def test_every_check_can_be_required():
    verdict = Verdict("recomputed", "All is well.", [HOLDS, OPEN], ("ids",), require_all=True)
    first = "Undecided: 1 check was not made, and all are required. The guarantee holds: all is "
    assert verdict.said()[0].startswith(first)
    assert LEFT == verdict.said()[1]


def test_a_guarantee_that_is_not_true_is_said_before_a_changed_folder():
    few = Check("classes", "fails", "the smallest class holds 4 nodes, k=5")
    promise = ("classes",)
    verdict = Verdict("recomputed", "All is well.", [few], promise, promised=promise)
    first = "The guarantee is not true: the smallest class holds 4 nodes, k=5 (classes; 1 of 1 "
    assert verdict.said()[0].startswith(first)
    assert "folder" not in str(verdict)
    verdict = msgspec.structs.replace(verdict, checks=[FAILS, few])
    assert verdict.said()[0].startswith(first.replace("1 of 1", "2 of 2"))
    assert verdict.said()[0].endswith("The folder is not as it was published, either.")


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini", "._data.csv"])
def test_a_file_of_an_operating_system_is_named_and_the_guarantee_said(tmp_path, name):
    folder = release_of(cycle(5), k=5).write(tmp_path / "release")
    (folder / name).write_bytes(b"")
    verdict = verify(folder)
    assert ["no stray files"] == [check.name for check in verdict.failures()]
    assert 1 == verdict.exit_code
    assert (
        f"A stray file is in the folder: '{name}': an operating system wrote it, delete it. The "
        "guarantee that release.json states holds in the data file." == verdict.said()[0]
    )
    (folder / "__MACOSX").write_bytes(b"")
    assert "an operating system wrote them, delete them" in verify(folder).said()[0]
    (folder / "notes.txt").write_bytes(b"")
    assert verify(folder).said()[0].startswith("The folder is not as it was published: 'notes.txt'")


@pytest.mark.parametrize("end", [".gz", ".zst", ""])
def test_a_missing_file_is_named_with_the_packed_one_beside_it(tmp_path, end):
    folder = release_of(cycle(5), k=5).write(tmp_path / "release")
    (folder / "data.csv").rename(folder / f"data.csv{end}" if end else tmp_path / "data.csv")
    detail = {check.name: check.detail for check in verify(folder).failures()}["files"]
    more = f"; data.csv{end} is there: unpack it" if end else ""
    assert f"data.csv is missing{more}" == detail


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet"])
def test_a_row_is_named_as_an_editor_counts_it(tmp_path, form):
    """The line that is lower than the one above is to blame, whichever of both was changed."""
    file = DataFile(
        name=f"data.{form}", role="data", format=form, columns=[], rows=3, bytes=1, sha256=""
    )
    first, third = ("row 1", "row 3") if form == "parquet" else ("line 2", "line 4")
    assert [f"{n} of data.{form}" for n in (first, third)] == [row_of(file, n) for n in (0, 2)]
    assert "row 1" == row_of(None, 0)
    folder = release_of(cycle(5), k=5).write(tmp_path / "release")
    lines = (folder / "data.csv").read_text().splitlines()
    assert ["0,1", "0,4", "1,3"] == lines[1:4]
    lines[2] = "1,4"
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    order = {check.name: check.detail for check in verify(folder).failures()}["canonical order"]
    said = "line 4 of data.csv, (1, 3), is not in ascending order after line 3 of data.csv"
    assert said == order


def test_a_changed_data_file_is_said_with_what_holds_in_it(tmp_path):
    folder = release_of(cycle(5), k=5).write(tmp_path / "release")
    data = folder / "data.csv"
    data.write_bytes(data.read_bytes().replace(b"\n", b"\r\n"))
    [first] = verify(folder).said()
    assert first.startswith("The folder is not as it was published: data.csv has CR LF line ends")
    nodes = folder / "nodes.csv"
    nodes.write_bytes(nodes.read_bytes().replace(b"\n", b"\r\n"))
    files = {check.name: check.detail for check in verify(folder).failures()}["files"]
    assert {"data.csv has CR LF", "nodes.csv has CR LF"} <= {
        part[: part.index(" line ends")] for part in files.split("; ") if " line ends" in part
    }
    nodes.write_bytes(nodes.read_bytes().replace(b"\r\n", b"\n"))
    assert first.endswith("Whether the guarantee holds in the data file was not checked.")
    data.write_bytes(data.read_bytes().replace(b"\r\n", b"\r"))
    [first] = verify(folder).said()
    assert "data.csv, line 1 ends with CR, but releases are written with LF" in first
    data.write_text("source,target\n0,1\n0,2\n1,3\n2,3\n")
    [first] = verify(folder).said()
    assert first.startswith("The guarantee is not true: the class of degree 0 holds 1 node")


def test_one_edge_is_not_said_in_the_plural(tmp_path):
    graph = Graph.from_edges([0], [1], n=2)
    folder = release_of(graph, k=2).write(tmp_path / "release")
    assert "2 nodes, 1 edge" == details(verify(folder))["counts"]
    (tmp_path / "ties.csv").write_text("source,target\n0,1\n")
    verdict = verify(folder, original=graph, original_file=tmp_path / "ties.csv", reading={})
    assert "finds the same 1 edge in the file" in str(verdict)


def test_a_share_of_nodes_that_leaves_nobody_protected_is_refused(tmp_path):
    graph = Graph.from_edges([0, 0, 1], [1, 2, 3], n=5)
    verdict = verify(release_of(graph, k=5, share=1e-12).write(tmp_path / "release"))
    assert "fails" == outcomes(verdict)["classes"]


def test_the_database_opens_no_file_that_it_was_not_given(tmp_path):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with database() as db, pytest.raises(duckdb.PermissionException):
        db.rows("SELECT * FROM read_csv(?)", [str(tmp_path / "secret.csv")])


def test_a_private_folder_of_somebody_else_is_no_failure(tmp_path, monkeypatch):
    folder = release_of(cycle(4), k=4).write(tmp_path / "release")

    def refuse(place):
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr("graphveil.verify.files.owner.read_record", refuse)
    verdict = verify(folder, original=cycle(4))
    assert verdict.ok
    assert "not checked" == outcomes(verdict)["owner's record"]


def test_too_little_memory_is_said_in_one_line_and_is_no_verdict(tmp_path, monkeypatch):
    folder = release_of(cycle(4), k=4).write(tmp_path / "release")

    def refuse(*_):
        raise duckdb.OutOfMemoryException("no more")

    monkeypatch.setattr("graphveil.verify.check.load", refuse)
    with pytest.raises(ResourceError, match="release needs more memory") as caught:
        verify(folder)
    assert 3 == caught.value.exit_code


def test_columns_are_counted_and_up_to_three_that_are_not_published_are_named():
    original = SimpleNamespace(columns=["a", "b", "c", "d", "e"])
    check = tables._columns(["b"], original)
    assert "holds" == check.outcome
    assert check.detail.endswith("; not published: 'a', 'c', 'd', ...")
    assert "..." not in tables._columns(["b", "c"], original).detail
    check = tables._columns(["b", "x"], original)
    assert ("fails", "the original has no column 'x'") == (check.outcome, check.detail)


def test_every_check_that_was_not_made_is_named():
    checks = [
        Check("edits", "not checked", "whether nothing was added", "--original"),
        Check("linkage", "not checked", "no original was given", "--original"),
        Check("same size", "not checked", "no original was given", "--original"),
        Check("owner's record", "not checked", "there is none", "the private record"),
        Check("no original ids", "not checked", "integers are numbers"),
    ]
    first, *others = map(str, Verdict("recomputed", "All is well.", checks).said())
    assert "(0 of 5 checks hold, 5 not checked)" in first
    assert others == [
        "Not checked without the original: nothing was added; the checks linkage, same size.",
        "Not checked without the private record: owner's record.",
        "Not checked: no original ids (integers are numbers).",
    ]


@pytest.mark.parametrize(("outcome", "said"), [("holds", 1), ("fails", 0), ("not checked", 0)])
def test_conditions_of_the_owner_are_said_where_their_checks_hold(outcome, said):
    diverse = Diverse(column="ill", least="2")
    manifest = SimpleNamespace(claim=SimpleNamespace(conditions=(Supergraph(), diverse)))
    names = CHECKED_BY[Diverse].parts
    checks = [Check(part.name, outcome, "") for part in names] + [Check("supergraph", "holds", "")]
    assert [diverse] * said == list(asked_for(manifest, checks))

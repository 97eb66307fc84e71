"""Whatever is changed in a release, the checker says what and where."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.data import Graph
from graphveil.guarantees import StructuralKAnonymity
from graphveil.release import Private, Provenance, Release, digest_of
from graphveil.release.release import Linkage
from graphveil.verify import verify

K = 3
ORDER = np.array([3, 0, 6, 1, 5, 2, 4])
RELEASED = np.argsort(ORDER)
HIDDEN_PLACES = {
    "version",
    "method.source",
    "method.parameters.edits",
    "method.parameters.target",
    "method.parameters.near",
    "method.parameters.restarts",
}
"""What nobody can tell from the public files alone: it is not about the released data."""


def original_graph() -> Graph:
    """Return a path of four nodes beside a path of three."""
    names = ["ann", "bob", "cyd", "dan", "eve", "fay", "gil"]
    pairs = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)]
    return Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], ids=names)


def release_of(original: Graph, edits: str = "add") -> Release:
    """Return a release in which the longer path was closed: degrees 2 (5 nodes) and 1 (2 nodes).

    One more edge closes the shorter one, so that all seven nodes have degree 2.
    """
    edges = [*original.edges().tolist(), (0, 3), (4, 6)]
    closed = Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n=original.size)
    return Release(
        data=closed.permuted(ORDER),
        guarantee=StructuralKAnonymity(k=K),
        provenance=Provenance(
            method="k-degree",
            source="Liu & Terzi, SIGMOD 2008",
            parameters={"k": K, "edits": edits, "target": "exact", "near": True, "restarts": 2},
        ),
        private=Private(
            input_sha256=digest_of(original),
            cost={"edges_added": 2, "edges_deleted": 0},
            linkage=Linkage(original.labels(), RELEASED),
        ),
    )


@pytest.fixture
def folder(tmp_path):
    return release_of(original_graph()).write(tmp_path / "release")


def private(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.private")


def failed(verdict) -> dict[str, str]:
    """Return the detail of every condition that fails, by name."""
    return {item.name: item.detail for item in verdict.conditions if item.outcome == "fails"}


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "release.json").read_bytes())


def reseal(folder: Path, manifest: dict) -> None:
    """Write a manifest as a careful attacker does: canonical, with a new seal."""
    manifest["seal"] = hashlib.sha256(as_written(manifest | {"seal": ""})).hexdigest()
    (folder / "release.json").write_bytes(as_written(manifest))


def as_written(manifest: dict) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def replace_file(folder: Path, name: str, content: bytes, *, rows: int | None = None) -> None:
    """Write a data file, and its size and digest into a manifest that is sealed anew."""
    (folder / name).write_bytes(content)
    manifest = manifest_of(folder)
    file = next(file for file in manifest["data"]["files"] if file["name"] == name)
    file["bytes"] = len(content)
    file["sha256"] = hashlib.sha256(content).hexdigest()
    if rows is not None:
        file["rows"] = rows
        manifest["data"]["counts"]["edges" if file["role"] == "data" else "nodes"] = rows
    reseal(folder, manifest)


def edges_of(folder: Path) -> list[list[int]]:
    lines = (folder / "data.csv").read_text().splitlines()[1:]
    return [[int(cell) for cell in line.split(",")] for line in lines]


def replace_edges(folder: Path, edges: list) -> None:
    text = "".join(f"{u},{v}\n" for u, v in edges)
    replace_file(folder, "data.csv", f"source,target\n{text}".encode(), rows=len(edges))


def leaves(value, path=()):
    """Yield the path and value of everything in a manifest that is no object and no list."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, dict | list):
            yield from leaves(item, (*path, key))
        else:
            yield (*path, key), item


def changed(value):
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if value is None:
        return "because"
    return value + "x" if isinstance(value, str) else value + 1


def put(manifest, path, value) -> None:
    for key in path[:-1]:
        manifest = manifest[key]
    manifest[path[-1]] = value


def test_an_untouched_release_holds_in_every_condition(folder):
    verdict = verify(folder, original=original_graph())
    assert verdict.ok
    assert verdict.complete


def test_sealing_anew_an_unchanged_manifest_gives_the_same_bytes(folder):
    before = (folder / "release.json").read_bytes()
    reseal(folder, manifest_of(folder))
    assert before == (folder / "release.json").read_bytes()


@pytest.mark.parametrize("name", ["data.csv", "nodes.csv"])
def test_every_changed_byte_of_the_data_is_named_with_its_file(folder, name):
    content = (folder / name).read_bytes()
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 1 << (place % 8)
        (folder / name).write_bytes(flipped)
        assert name in failed(verify(folder))["files"], place


def test_every_changed_byte_of_the_manifest_is_noticed_without_the_owner(folder):
    shutil.rmtree(private(folder))
    path = folder / "release.json"
    content = path.read_bytes()
    for place in range(0, len(content), 13):
        flipped = bytearray(content)
        flipped[place] ^= 1 << (place % 7)
        path.write_bytes(flipped)
        problems = failed(verify(folder))
        assert any("release.json" in problem for problem in problems.values()), place


@settings(deadline=None, max_examples=40)
@given(place=st.integers(0, 10_000), drop=st.integers(0, 9), put_in=st.binary(max_size=6))
def test_no_edit_of_the_manifest_stops_the_checker(tmp_path_factory, place, drop, put_in):
    folder = release_of(original_graph()).write(tmp_path_factory.mktemp("edit") / "release")
    path = folder / "release.json"
    content = path.read_bytes()
    place %= len(content)
    edited = content[:place] + put_in + content[place + drop :]
    path.write_bytes(edited)
    assert (edited == content) == verify(folder).ok


@settings(deadline=None, max_examples=40)
@given(place=st.integers(0, 10_000), drop=st.integers(0, 9), put_in=st.binary(max_size=6))
def test_no_sealed_edit_of_the_data_stops_the_checker(tmp_path_factory, place, drop, put_in):
    folder = release_of(original_graph()).write(tmp_path_factory.mktemp("edit") / "release")
    content = (folder / "data.csv").read_bytes()
    place %= len(content)
    edited = content[:place] + put_in + content[place + drop :]
    replace_file(folder, "data.csv", edited)
    assert (edited == content) == verify(folder).ok


def test_every_field_of_the_manifest_is_checked_against_data_claim_or_record(folder):
    whole = manifest_of(folder)
    shutil.move(private(folder), folder.parent / "away")
    unnoticed = set()
    for path, value in leaves(whole):
        manifest = json.loads(json.dumps(whole))
        put(manifest, path, changed(value) if path != ("version",) else "9.9")
        if path == ("method", "parameters", "edits"):
            put(manifest, path, "any")
        if path == ("seal",):
            (folder / "release.json").write_bytes(as_written(manifest))
        else:
            reseal(folder, manifest)
        if verify(folder).ok:
            unnoticed.add(".".join(map(str, path)))
    assert HIDDEN_PLACES == unnoticed


def test_the_owners_record_notices_a_field_that_nobody_else_can_check(folder):
    manifest = manifest_of(folder)
    manifest["method"]["parameters"]["restarts"] = 7
    reseal(folder, manifest)
    problems = failed(verify(folder))
    assert ["owner's record"] == list(problems)
    assert "release.json" in problems["owner's record"]


def test_a_raised_k_fails_although_every_sentence_was_raised_with_it(folder):
    shutil.rmtree(private(folder))
    manifest = manifest_of(folder)
    raised = StructuralKAnonymity(k=K + 5)
    manifest["method"]["parameters"]["k"] = K + 5
    manifest["claim"]["guarantee"]["k"] = K + 5
    manifest["claim"]["sentence"] = raised.sentence
    manifest["claim"]["threat_model"] = raised.threat_model
    reseal(folder, manifest)
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert (
        "the class of degree 2 holds 7 nodes, fewer than k=8: 0, 1, 2, 3, 4, ..."
        in (problems["classes"])
    )


def test_a_k_raised_in_the_claim_alone_disagrees_with_the_parameters(folder):
    manifest = manifest_of(folder)
    manifest["claim"]["guarantee"]["k"] = K + 1
    reseal(folder, manifest)
    problems = failed(verify(folder))
    assert "the claim says k=4, the parameter is k=3" in problems["claim and parameters"]
    assert "sentence" in problems["claim in words"]


def test_another_sentence_is_no_promise_and_is_not_repeated(folder):
    manifest = manifest_of(folder)
    manifest["claim"]["sentence"] = "Nobody can ever be found."
    reseal(folder, manifest)
    verdict = verify(folder)
    assert "Nobody can ever be found." in failed(verdict)["claim in words"]
    assert StructuralKAnonymity(k=K).sentence == verdict.sentence


def test_a_dropped_edge_leaves_a_class_that_is_named(folder):
    edges = edges_of(folder)
    u, v = edges.pop(2)
    replace_edges(folder, edges)
    shutil.rmtree(private(folder))
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert f"the class of degree 1 holds 2 nodes, fewer than k=3: {u}, {v} " in problems["classes"]


def test_a_class_of_one_node_too_few_is_named(tmp_path):
    graph = Graph.from_edges([0, 2, 4], [1, 3, 5], n=8)
    release = release_of(original_graph())
    folder = Release(
        data=graph,
        guarantee=release.guarantee,
        provenance=release.provenance,
    ).write(tmp_path / "release")
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert "the class of degree 0 holds 2 nodes, fewer than k=3: 6, 7 " in problems["classes"]


def test_a_row_dropped_without_sealing_fails_in_file_and_count(folder):
    edges = edges_of(folder)
    del edges[0]
    text = "".join(f"{u},{v}\n" for u, v in edges)
    (folder / "data.csv").write_text(f"source,target\n{text}")
    problems = failed(verify(folder))
    assert "data.csv" in problems["files"]
    assert "6 edges, release.json says 7" in problems["counts"]


def test_a_node_dropped_from_the_list_is_named(folder):
    listed = "".join(f"{node}\n" for node in range(7) if node != 4)
    replace_file(folder, "nodes.csv", f"node\n{listed}".encode(), rows=6)
    problems = failed(verify(folder))
    assert "node 4 is missing" in problems["ids"]
    assert "node 4 has an edge but is not listed" in problems["endpoints"]


def test_the_last_node_dropped_from_the_list_is_named(folder):
    listed = "".join(f"{node}\n" for node in range(6))
    replace_file(folder, "nodes.csv", f"node\n{listed}".encode(), rows=6)
    assert "node 6 has an edge but is not listed" == failed(verify(folder))["endpoints"]


def test_a_node_listed_twice_is_named(folder):
    listed = "".join(f"{node}\n" for node in [0, 1, 2, 3, 3, 5, 6])
    replace_file(folder, "nodes.csv", f"node\n{listed}".encode(), rows=7)
    problems = failed(verify(folder))
    assert "node 3 stands 2 times in nodes" in problems["ids"]
    assert "node 4 is missing" in problems["ids"]


def test_a_repeated_edge_is_named(folder):
    edges = edges_of(folder)
    replace_edges(folder, [*edges, edges[1]])
    u, v = edges[1]
    assert f"the edge ({u}, {v}) stands 2 times" == failed(verify(folder))["simple graph"]


def test_an_edge_repeated_in_the_other_direction_is_named(folder):
    edges = edges_of(folder)
    u, v = edges[1]
    replace_edges(folder, [*edges, [v, u]])
    assert f"the edge ({u}, {v}) stands 2 times" == failed(verify(folder))["simple graph"]


def test_a_self_loop_is_named(folder):
    edges = edges_of(folder)
    replace_edges(folder, [*edges, [6, 6]])
    assert "node 6 is its own neighbour" == failed(verify(folder))["simple graph"]


def test_an_edge_written_backwards_is_named(folder):
    edges = edges_of(folder)
    edges[0].reverse()
    replace_edges(folder, edges)
    u, v = edges[0]
    assert f"edge 1, ({u}, {v}), " in failed(verify(folder))["canonical order"]


def test_two_edges_in_the_other_order_are_named(folder):
    edges = edges_of(folder)
    edges[3], edges[4] = edges[4], edges[3]
    replace_edges(folder, edges)
    u, v = edges[4]
    assert f"edge 5, ({u}, {v}), " in failed(verify(folder))["canonical order"]


def test_a_moved_end_of_an_edge_leaves_classes_that_are_named(folder):
    edges = edges_of(folder)
    taken = {tuple(edge) for edge in edges}
    u, v = edges[0]
    moved = next(w for w in range(u + 1, 7) if (u, w) not in taken)
    replace_edges(folder, sorted([*edges[1:], [u, moved]]))
    shutil.rmtree(private(folder))
    problems = failed(verify(folder))
    assert ["classes"] == list(problems)
    assert f"the class of degree 1 holds 1 node, fewer than k=3: {v} " in problems["classes"]


@pytest.mark.parametrize(
    "content",
    [
        b"source,target\n0,1\n\n2,3\n",
        b"source,target\n0, 1\n",
        b"source,target\n00,1\n",
        b"source,target\n0,+1\n",
        b"source,target\r\n0,1\r\n",
        b"source,target\n0,1",
        b"source,target\n0,1,ann\n",
        b"source,target\n0\n",
        b"source,target\n0,\n",
        b"source,target\n0,bob\n",
        b"source,target\n0,1.0\n",
        b"source,target\n0,99999999999999999999\n",
        b"source,target,weight\n0,1,1\n",
        b"# made of friends.csv\nsource,target\n0,1\n",
        b"target,source\n0,1\n",
        b"0,1\n",
        b"",
        b"source,target\n0,\xff\n",
        b"source,target\n0,\x00\n",
    ],
)
def test_a_data_file_holds_nothing_but_its_rows(folder, content):
    replace_file(folder, "data.csv", content)
    assert "data.csv" in failed(verify(folder))["data"]


def test_a_row_that_is_no_edge_is_named_with_its_line(folder):
    replace_file(folder, "data.csv", b"source,target\n0,1\n1,x\n")
    assert "data.csv, line 3: '1,x' is no row of source,target" == failed(verify(folder))["data"]


@pytest.mark.parametrize("name", ["friends.csv", ".hidden", "data.csv.bak"])
def test_a_file_that_is_not_listed_is_named(folder, name):
    (folder / name).write_text("ann,bob")
    assert f"'{name}' is not listed" == failed(verify(folder))["no other files"]


def test_a_folder_inside_the_release_is_named(folder):
    (folder / "more").mkdir()
    assert "'more' is not listed" == failed(verify(folder))["no other files"]


@pytest.mark.parametrize("name", ["data.csv", "nodes.csv"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    problems = failed(verify(folder))
    assert name in problems["files"]
    assert name in problems["data"]


@pytest.mark.parametrize("name", ["data.csv", "nodes.csv"])
def test_a_link_instead_of_a_file_is_refused(folder, name, tmp_path):
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    problems = failed(verify(folder))
    assert name in problems["files"]
    assert name in problems["data"]


def test_a_manifest_that_is_a_link_is_refused(folder, tmp_path):
    (folder / "release.json").rename(tmp_path / "release.json")
    (folder / "release.json").symlink_to(tmp_path / "release.json")
    assert "release.json is a link" in failed(verify(folder))["no other files"]


@pytest.mark.parametrize(
    "name",
    [
        "../outside.csv",
        "/etc/hostname",
        "..",
        ".",
        "",
        "*.csv",
        "data.csv\n",
        "a\\b",
        "release.json",
    ],
)
def test_a_listed_name_that_leads_elsewhere_is_never_opened(folder, name):
    (folder.parent / "outside.csv").write_text("source,target\n0,1\n")
    manifest = manifest_of(folder)
    manifest["data"]["files"][0]["name"] = name
    reseal(folder, manifest)
    problems = failed(verify(folder))
    assert "is not the name of a regular file in the folder" in problems["files"]
    assert "is not a regular file in the folder" in problems["data"]


def test_a_file_listed_twice_fails(folder):
    manifest = manifest_of(folder)
    manifest["data"]["files"].append(manifest["data"]["files"][0])
    reseal(folder, manifest)
    assert "2 data files are listed" in failed(verify(folder))["description"]


def test_a_release_without_its_node_list_fails(folder):
    (folder / "nodes.csv").unlink()
    manifest = manifest_of(folder)
    del manifest["data"]["files"][1]
    reseal(folder, manifest)
    problems = failed(verify(folder))
    assert "no file lists the nodes" == problems["data"]
    assert "['nodes']" in problems["description"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"null", b"[" * 100_000, b"\xff\xfe", b'{"k": NaN}']
)
def test_a_manifest_that_cannot_be_read_claims_nothing(folder, content):
    (folder / "release.json").write_bytes(content)
    verdict = verify(folder)
    assert ["manifest"] == list(failed(verdict))
    assert "not claimed" == verdict.word
    assert 1 == verdict.exit_code


@pytest.mark.parametrize(("field", "value"), [("k", 0), ("share", 0), ("share", 2), ("k", 10**60)])
def test_a_guarantee_that_cannot_be_fails(folder, field, value):
    manifest = manifest_of(folder)
    manifest["claim"]["guarantee"][field] = value
    (folder / "release.json").write_text(json.dumps(manifest))
    assert "manifest" in failed(verify(folder))


def test_a_schema_of_another_version_fails(folder):
    manifest = manifest_of(folder)
    manifest["schema"] = 2
    reseal(folder, manifest)
    assert "schema 2" in failed(verify(folder))["manifest"]


def test_a_time_in_a_gzip_header_is_found(tmp_path):
    folder = release_of(original_graph()).write(tmp_path / "release", format="csv.gz")
    assert verify(folder).ok
    content = gzip.compress(gzip.decompress((folder / "data.csv.gz").read_bytes()), mtime=1)
    replace_file(folder, "data.csv.gz", content)
    assert "data.csv.gz carries a name or a time" in failed(verify(folder))["files"]


def test_a_truncated_compressed_file_fails(tmp_path):
    folder = release_of(original_graph()).write(tmp_path / "release", format="csv.gz")
    replace_file(folder, "data.csv.gz", (folder / "data.csv.gz").read_bytes()[:-12])
    assert "data.csv.gz" in failed(verify(folder))["data"]


def write_linkage(folder: Path, original, released) -> None:
    path = private(folder) / "linkage.parquet"
    pq.write_table(pa.table({"original": original, "released": released}), path)


def linkage_of(folder: Path) -> tuple[list, list]:
    table = pq.read_table(private(folder) / "linkage.parquet")
    return table["original"].to_pylist(), table["released"].to_pylist()


def test_swapped_rows_of_the_linkage_are_found_by_a_missing_edge(folder):
    names, released = linkage_of(folder)
    released[1], released[4] = released[4], released[1]
    write_linkage(folder, names, released)
    verdict = verify(folder, original=original_graph())
    problems = failed(verdict)
    assert {"supergraph", "edits"} == set(problems)
    assert "between its nodes" in problems["supergraph"]
    lost = {
        tuple(sorted((released[u], released[v]))) for u, v in original_graph().edges().tolist()
    } - {tuple(edge) for edge in edges_of(folder)}
    u, v = min(lost)
    assert f"{len(lost)} of the original's 5 edges" in problems["supergraph"]
    assert f"the first between its nodes {u} and {v}" in problems["supergraph"]


def test_swapped_rows_of_the_linkage_are_found_by_the_count_of_edits(tmp_path):
    folder = release_of(original_graph(), edits="any").write(tmp_path / "release")
    names, released = linkage_of(folder)
    released[1], released[4] = released[4], released[1]
    write_linkage(folder, names, released)
    problems = failed(verify(folder, original=original_graph()))
    assert ["edits"] == list(problems)
    assert "the record says 2 edges added and 0 deleted" in problems["edits"]
    assert "missing is the edge between nodes" in problems["edits"]


def test_a_linkage_that_gives_one_published_id_to_two_is_named(folder):
    names, released = linkage_of(folder)
    kept, lost = released[0], released[1]
    released[1] = kept
    write_linkage(folder, names, released)
    detail = failed(verify(folder, original=original_graph()))["linkage"]
    assert f"the published id {kept} stands for 2 original ids" in detail
    assert f"the published id {lost} stands for nobody" in detail


def test_a_linkage_without_one_row_is_named(folder):
    names, released = linkage_of(folder)
    write_linkage(folder, names[1:], released[1:])
    detail = failed(verify(folder, original=original_graph()))["linkage"]
    assert f"the published id {released[0]} stands for nobody" in detail
    assert "6 rows for 7 original ids" in detail


def test_a_linkage_to_a_stranger_is_named_by_its_published_id(folder):
    names, released = linkage_of(folder)
    write_linkage(folder, ["zoe", *names[1:]], released)
    detail = failed(verify(folder, original=original_graph()))["linkage"]
    assert f"the published id {released[0]} stands for an id not in the original" == detail
    assert "zoe" not in detail


@pytest.mark.parametrize("original", [[0, 1, 2, 3, 4, 5, 6], [[0]] * 7, [None] * 7])
def test_a_linkage_of_other_ids_fails(folder, original):
    write_linkage(folder, original, list(range(7)))
    assert "linkage" in failed(verify(folder, original=original_graph()))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(40) + b"PAR1"])
def test_a_linkage_that_cannot_be_read_fails(folder, content):
    (private(folder) / "linkage.parquet").write_bytes(content)
    assert "linkage.parquet" in failed(verify(folder, original=original_graph()))["linkage"]


def test_another_original_is_not_taken_for_it(folder):
    other = Graph.from_edges([0, 1, 2, 4, 5], [1, 2, 3, 5, 6], n=7)
    verdict = verify(folder, original=other)
    assert ["original"] == list(failed(verdict))
    assert "this is not the original" in failed(verdict)["original"]


def test_an_edge_of_the_original_that_was_lost_is_named(tmp_path):
    whole = original_graph()
    release = release_of(whole)
    private_part = release.private
    names = whole.labels().tolist()
    more = Graph.from_edges([0, 1, 2, 4, 5, 3], [1, 2, 3, 5, 6, 4], ids=names)
    folder = Release(
        data=release.data,
        guarantee=release.guarantee,
        provenance=release.provenance,
        private=Private(
            input_sha256=digest_of(more),
            cost={"edges_added": 1, "edges_deleted": 0},
            linkage=private_part.linkage,
        ),
    ).write(tmp_path / "release")
    problems = failed(verify(folder, original=more))
    u, v = sorted((int(RELEASED[3]), int(RELEASED[4])))
    assert f"the first between its nodes {u} and {v}" in problems["supergraph"]
    assert "2 edges added and 1 deleted" in problems["edits"]


def test_a_degree_that_shrank_is_found_without_the_linkage(tmp_path):
    star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], n=7)
    release = release_of(original_graph())
    folder = Release(
        data=release.data,
        guarantee=release.guarantee,
        provenance=release.provenance,
        private=Private(input_sha256=digest_of(star)),
    ).write(tmp_path / "release")
    problems = failed(verify(folder, original=star))
    assert ["degrees grow"] == list(problems)
    assert (
        "the 1. largest degree is 2 in the release, 4 in the original" in (problems["degrees grow"])
    )


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b"\xff"])
def test_a_record_that_cannot_be_read_fails(folder, content):
    (private(folder) / "record.json").write_bytes(content)
    assert "record.json" in failed(verify(folder))["owner's record"]


def test_an_original_id_in_the_manifest_is_found(folder):
    manifest = manifest_of(folder)
    manifest["method"]["parameters"]["kept"] = ["gil", 4]
    reseal(folder, manifest)
    problems = failed(verify(folder, original=original_graph()))
    assert "1 of 7 original ids stand in 'gil'" == problems["no original ids"]

"""What the original, the linkage and the record show of a release that was changed."""

from __future__ import annotations

import pytest
from tampering import (
    RELEASED,
    edges_of,
    failed,
    linkage_of,
    manifest_of,
    original_graph,
    private,
    release_of,
    reseal,
    write_linkage,
)

from graphveil.data import Graph
from graphveil.release import Private, Release, digest_of
from graphveil.verbs.verify import verify_release as verify


def test_swapped_rows_of_the_linkage_are_found_by_a_missing_edge(folder):
    names, released = linkage_of(folder)
    released[1], released[4] = released[4], released[1]
    write_linkage(folder, names, released)
    verdict = verify(folder, original=original_graph())
    problems = failed(verdict)
    assert {"linkage file", "supergraph", "edits"} == set(problems)
    assert "between its nodes" in problems["supergraph"]
    lost = {
        tuple(sorted((released[u], released[v]))) for u, v in original_graph().edges().tolist()
    } - {tuple(edge) for edge in edges_of(folder)}
    u, v = min(lost)
    assert f"{len(lost)} of the original's 5 edges" in problems["supergraph"]
    assert f"the first is between its nodes {u} and {v}" in problems["supergraph"]


def test_swapped_rows_of_the_linkage_are_found_by_the_count_of_edits(tmp_path):
    folder = release_of(original_graph(), edits="any").write(tmp_path / "release")
    names, released = linkage_of(folder)
    released[1], released[4] = released[4], released[1]
    write_linkage(folder, names, released)
    problems = failed(verify(folder, original=original_graph()))
    assert ["linkage file", "edits"] == list(problems)
    assert "the record states 2 edges added and 0 deleted" in problems["edits"]
    assert " is missing; the edge between nodes " in problems["edits"]


def test_a_linkage_that_gives_one_published_id_to_two_is_named(folder):
    names, released = linkage_of(folder)
    kept, lost = released[0], released[1]
    released[1] = kept
    write_linkage(folder, names, released)
    detail = failed(verify(folder, original=original_graph()))["linkage"]
    assert f"the published id {kept} is linked to 2 original ids" in detail
    assert f"the published id {lost} is linked to nobody" in detail


def test_a_linkage_without_one_row_is_named(folder):
    names, released = linkage_of(folder)
    write_linkage(folder, names[1:], released[1:])
    detail = failed(verify(folder, original=original_graph()))["linkage"]
    assert f"the published id {released[0]} is linked to nobody" in detail
    assert "6 rows for 7 original ids" in detail


def test_a_linkage_to_a_stranger_is_named_by_its_published_id(folder):
    names, released = linkage_of(folder)
    write_linkage(folder, ["zoe", *names[1:]], released)
    detail = failed(verify(folder, original=original_graph()))["linkage"]
    assert (
        f"the published id {released[0]} is linked to an id that is not in the original" == detail
    )
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
        conditions=release.conditions,
        provenance=release.provenance,
        private=Private(
            input_sha256=digest_of(more),
            cost={"edges_added": 1, "edges_deleted": 0},
            linkage=private_part.linkage,
        ),
    ).write(tmp_path / "release")
    problems = failed(verify(folder, original=more))
    u, v = sorted((int(RELEASED[3]), int(RELEASED[4])))
    assert f"the first is between its nodes {u} and {v}" in problems["supergraph"]
    assert "2 edges added and 1 deleted" in problems["edits"]


def test_a_degree_that_shrank_is_found_without_the_linkage(tmp_path):
    star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4], n=7)
    release = release_of(original_graph())
    folder = Release(
        data=release.data,
        guarantee=release.guarantee,
        conditions=release.conditions,
        provenance=release.provenance,
        private=Private(input_sha256=digest_of(star)),
    ).write(tmp_path / "release")
    problems = failed(verify(folder, original=star))
    assert ["degrees grow"] == list(problems)
    assert (
        "the degree at rank 1 (largest first) is 2 in the release, but 4 in the original"
        in (problems["degrees grow"])
    )


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b"\xff"])
def test_a_record_that_cannot_be_read_fails(folder, content):
    (private(folder) / "record.json").write_bytes(content)
    assert "record.json" in failed(verify(folder))["owner's record"]


def test_an_original_id_in_the_manifest_is_found(folder):
    manifest = manifest_of(folder)
    manifest["method"]["parameters"]["kept"] = "of gil and 4"
    reseal(folder, manifest)
    problems = failed(verify(folder, original=original_graph()))
    assert "1 of 7 original ids are in 'of gil and 4'" == problems["no original ids"]

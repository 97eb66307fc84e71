"""Whatever is changed in the manifest of a release, the checker says what and where."""

from __future__ import annotations

import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tampering import (
    K,
    as_written,
    changed,
    failed,
    leaves,
    limits_of,
    manifest_of,
    original_graph,
    private,
    put,
    release_of,
    replace_file,
    reseal,
)

from graphveil.claims.guarantees import StructuralKAnonymity
from graphveil.verbs.verify import verify_release as verify

HIDDEN_PLACES = {"method.parameters.near"}
"""What nobody can tell from the public files alone: it is not about the released data."""


def test_sealing_anew_an_unchanged_manifest_gives_the_same_bytes(folder):
    before = (folder / "release.json").read_bytes()
    reseal(folder, manifest_of(folder))
    assert before == (folder / "release.json").read_bytes()


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


def test_every_field_of_the_manifest_is_checked_against_data_claim_or_record(folder):
    whole = manifest_of(folder)
    shutil.move(private(folder), folder.parent / "away")
    unnoticed = set()
    for path, value in leaves(whole):
        manifest = json.loads(json.dumps(whole))
        put(manifest, path, changed(value))
        if path == ("method", "parameters", "edits"):
            put(manifest, path, "any")
        if path == ("version",):
            put(manifest, path, "0.1.1")
        if path == ("seal",):
            (folder / "release.json").write_bytes(as_written(manifest))
        else:
            reseal(folder, manifest)
        if verify(folder).ok:
            unnoticed.add(".".join(map(str, path)))
    assert HIDDEN_PLACES == unnoticed


def test_the_owners_record_notices_a_field_that_nobody_else_can_check(folder):
    manifest = manifest_of(folder)
    manifest["method"]["parameters"]["near"] = False
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
    limits = limits_of("k-degree", manifest["method"]["parameters"])
    manifest["claim"]["does_not_protect_against"] = limits
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
    assert "the claim states k=4, but the parameter is k=3" in problems["claim and parameters"]
    assert "sentence" in problems["claim in words"]


def test_another_sentence_is_no_promise_and_is_not_repeated(folder):
    manifest = manifest_of(folder)
    manifest["claim"]["sentence"] = "Nobody can ever be found."
    reseal(folder, manifest)
    verdict = verify(folder)
    assert "Nobody can ever be found." in failed(verdict)["claim in words"]
    assert StructuralKAnonymity(k=K).sentence == verdict.sentence


def test_a_node_listed_twice_is_named(folder):
    listed = "".join(f"{node}\n" for node in [0, 1, 2, 3, 3, 5, 6])
    replace_file(folder, "nodes.csv", f"node\n{listed}".encode(), rows=7)
    problems = failed(verify(folder))
    assert "node 3 appears 2 times in nodes" in problems["ids"]
    assert "node 4 is missing" in problems["ids"]


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
    why = "is missing" if name == "*.csv" else "is not the name of a regular file in the folder"
    assert why in problems["files"]
    assert why in problems["data"]


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
    manifest["schema"] = 4
    reseal(folder, manifest)
    detail = failed(verify(folder))["manifest"]
    assert "schema 4; this version reads 3. Update graphveil." in detail


def test_the_schema_that_was_never_published_is_named_with_the_way_out(folder):
    manifest = manifest_of(folder)
    manifest["schema"] = 1
    del manifest["claim"]["conditions"]
    reseal(folder, manifest)
    detail = failed(verify(folder))["manifest"]
    assert "schema 1; this version reads 3. Anonymize the data again." in detail


def test_which_parameters_are_left_out_is_no_place_for_a_message(folder):
    whole = manifest_of(folder)
    reseal(folder, whole)
    assert "method" not in failed(verify(folder))
    assert len(whole["method"]["parameters"]) > 3
    for name in whole["method"]["parameters"]:
        parameters = {n: v for n, v in whole["method"]["parameters"].items() if n != name}
        reseal(folder, whole | {"method": whole["method"] | {"parameters": parameters}})
        assert name in failed(verify(folder))["method"]

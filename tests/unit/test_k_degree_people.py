"""k-degree anonymity of some people: who they are, what is claimed, and how it is checked."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest
from pyarrow import parquet

import graphveil as gv
from graphveil.claims.manifest import encode, read_manifest
from graphveil.core.errors import DataError, ParameterError, UsageError
from graphveil.data import Graph, Layer, Network, Table
from graphveil.methods.k_degree.k_degree import People

FLAWS = [
    {
        "name": "the list is published",
        "means": "The manifest states the ids of those whom the owner wants to protect.",
        "file": "src/graphveil/methods/k_degree/k_degree.py",
        "old": "Restated(LISTED, withheld=True)",
        "new": "Restated(str(self.people), withheld=True)",
        "tests": ["tests/unit/test_k_degree_people.py"],
        "methods": ["k-degree"],
    },
    {
        "name": "one too few for the protected",
        "means": "A person on the list whose degree k - 1 nodes have counts as protected.",
        "file": "src/graphveil/verify/promises/networks/protected_people.py",
        "old": "if sizes[degree_of[node]] < condition.k)",
        "new": "if sizes[degree_of[node]] < condition.k - 1)",
        "tests": ["tests/unit/test_k_degree_people.py"],
    },
    {
        "name": "strangers on the list are passed over",
        "means": "Ids on the owner's list that are not in the original are not checked.",
        "file": "src/graphveil/verify/promises/networks/protected_people.py",
        "old": "if len(found) != len(ids):",
        "new": "if not found:",
        "tests": ["tests/unit/test_k_degree_people.py"],
    },
]

STARS = Graph.from_edges(
    ["hub"] * 6 + ["pub"] * 4 + ["sub"] * 3, ["a", "b", "c", "d", "e", "f", *"abcdabc"]
)
"""A graph with the degrees 6, 4, 3, 3, 3, 3, 2, 1, 1."""


PATHS_OF_TWO = Graph.from_edges([*"abcd"], [*"wxyz"])
"""Four edges that share no node: all degrees are 1."""


def protecting(people, *, k=2, graph=STARS, **options):
    return gv.KDegree(k=k, people=people, **options).anonymize(graph, seed=1)


def degree_of(release, name):
    linkage = release.private.linkage
    at = linkage.released[linkage.original.tolist().index(name)]
    return int(release.data.degrees()[at])


def test_a_protected_person_shares_a_degree_and_others_need_not():
    release = protecting(["pub"], k=3)
    degrees = release.data.degrees().tolist()
    assert degrees.count(degree_of(release, "pub")) >= 3
    assert gv.StructuralKAnonymity(k=3, share=release.guarantee.share, listed=True) == (
        release.guarantee
    )
    few = sum(degrees.count(each) < 3 for each in degrees)
    assert few > 0
    assert few == int((1 - release.guarantee.share) * 9 + 1e-9) == len(release.private.unprotected)


def test_a_protected_node_with_company_costs_nothing():
    assert 0 == protecting(["a"]).private.cost["edits"]


@pytest.mark.parametrize("edits", ["add", "any"])
def test_to_protect_everybody_by_a_list_is_to_protect_everybody(edits):
    listed = protecting(STARS.labels().tolist(), edits=edits)
    plain = gv.KDegree(k=2, edits=edits).anonymize(STARS, seed=1)
    assert plain.data == listed.data
    assert 1 == listed.guarantee.share
    assert plain.guarantee.sentence == listed.guarantee.sentence


def test_a_list_that_costs_nothing_says_of_nobody_that_they_are_left_with_fewer(tmp_path):
    protecting(["a"], k=2, graph=PATHS_OF_TWO).write(tmp_path / "all")
    protecting(["pub"], k=3).write(tmp_path / "some")
    limits = {
        name: json.loads((tmp_path / name / "release.json").read_text())["claim"]
        for name in ("all", "some")
    }
    assert 1 == limits["all"]["guarantee"].get("share", 1)
    assert "not on the owner's list" not in limits["all"]["does_not_protect_against"]
    assert "not on the owner's list" in limits["some"]["does_not_protect_against"]
    assert gv.verify_release(tmp_path / "all", PATHS_OF_TWO).ok
    assert gv.verify_release(tmp_path / "some", STARS).ok


@pytest.mark.parametrize(("source", "into"), [("some", "all"), ("all", "some")])
def test_the_limits_of_another_share_are_noticed(tmp_path, source, into):
    protecting(["a"], k=2, graph=PATHS_OF_TWO).write(tmp_path / "all")
    protecting(["pub"], k=2).write(tmp_path / "some")
    own, other = (
        read_manifest(tmp_path / name).claim.does_not_protect_against for name in (into, source)
    )
    assert own != other
    manifest = read_manifest(tmp_path / into)
    claim = msgspec.structs.replace(manifest.claim, does_not_protect_against=other)
    forged = msgspec.structs.replace(manifest, claim=claim).sealed()
    (tmp_path / into / "release.json").write_bytes(encode(forged))
    verdict = gv.verify_release(tmp_path / into)
    check = next(one for one in verdict.checks if one.name == "method")
    assert "fails" == check.outcome
    assert "the text on limits" in check.detail


def written(tmp_path, people=("pub", "a"), k=3, graph=STARS):
    folder = protecting(list(people), k=k, graph=graph).write(tmp_path / "out")
    return folder, json.loads((folder / "release.json").read_text())


def test_nobody_on_the_list_and_no_number_of_them_is_published(tmp_path):
    folder, manifest = written(tmp_path)
    assert "listed" == manifest["method"]["parameters"]["people"]
    text = (folder / "release.json").read_text()
    assert not any(f'"{name}"' in text or f'\\"{name}' in text for name in STARS.labels().tolist())
    record = json.loads((tmp_path / "out.private" / "record.json").read_text())
    assert ["pub", "a"] == json.loads(record["withheld"]["people"])


def test_a_plain_release_says_nothing_of_lists(tmp_path):
    folder = gv.KDegree(k=2).anonymize(STARS, seed=1).write(tmp_path / "out")
    text = (folder / "release.json").read_text()
    assert "listed" not in text
    assert "people" not in json.loads(text)["method"]["parameters"]


def checked(verdict):
    return next(check for check in verdict.checks if check.name == "protected people")


def test_recipients_read_what_is_not_checked_and_the_owner_that_it_holds(tmp_path):
    folder, _ = written(tmp_path)
    recipients = gv.verify_release(folder)
    assert recipients.ok
    assert "not checked" == checked(recipients).outcome
    first, second = recipients.said()[:2]
    assert "private list" not in first
    assert "everyone on the owner's list shares their degree" in second
    owners = gv.verify_release(folder, STARS)
    assert owners.ok
    assert "2 people are on the owner's list" in checked(owners).detail
    assert "private list" in owners.said()[0]


def relisted(tmp_path, people):
    """Change the owner's list behind the release."""
    path = tmp_path / "out.private" / "record.json"
    record = json.loads(path.read_text())
    record["withheld"]["people"] = people
    path.write_text(json.dumps(record))


PATHS = Graph.from_edges([0, 1, 3, 4, 6, 7, 8], [1, 2, 4, 5, 7, 8, 9])
"""Degrees: six ends of 1, four nodes of 2."""


@pytest.mark.parametrize(
    ("people", "word"),
    [
        ('["1"]', "1 of them have a degree that fewer than k=5 nodes have"),
        ('["0", "9"]', None),
        ('["0", "77"]', "1 of 2 protected people are not in the original"),
        ("[]", "names nobody"),
        ("[0", "cannot be read"),
        ("role=x", "no such column"),
        (None, "has no list"),
    ],
)
def test_verify_reads_the_list_for_itself(tmp_path, people, word):
    folder = protecting(["0"], k=5, graph=PATHS).write(tmp_path / "out")
    relisted(tmp_path, people)
    check = checked(gv.verify_release(folder, PATHS))
    assert ("holds" if word is None else "fails") == check.outcome
    assert word is None or word in check.detail


def test_a_release_without_the_node_of_somebody_on_the_list_fails(tmp_path):
    folder = protecting(["0", "2", "3", "5", "6", "9"], k=5, graph=PATHS).write(tmp_path / "out")
    linkage = parquet.read_table(tmp_path / "out.private" / "linkage.parquet").to_pydict()
    gone = dict(zip(linkage["original"], linkage["released"], strict=True))[9]
    nodes = (folder / "nodes.csv").read_text().splitlines()
    nodes[nodes.index(str(gone))] = "10"
    (folder / "nodes.csv").write_text("\n".join([*nodes, ""]))
    said = checked(gv.verify_release(folder, PATHS))
    assert ("fails", True) == (said.outcome, f"has no node {gone}" in said.detail)


def staff():
    role = Table.from_columns({"role": ["pupil", "pupil", "head", *["staff"] * 6]})
    return Network((Layer.of(STARS),), role, STARS.labels())


def test_a_value_of_an_attribute_can_say_who_is_protected(tmp_path):
    network = staff()
    release = gv.KDegree(k=3, people="role=head").anonymize(network, seed=1)
    folder = release.write(tmp_path / "out")
    verdict = gv.verify_release(folder, network)
    assert verdict.ok
    assert "1 person is on the owner's list" in checked(verdict).detail
    assert "head" not in (folder / "release.json").read_text()
    by_id = [network.labels().tolist()[2]]
    listed = gv.KDegree(k=3, people=by_id).anonymize(STARS, seed=1)
    assert np.array_equal(np.sort(listed.data.degrees()), np.sort(release.data.graph().degrees()))


def test_people_come_from_lists_files_and_rules(tmp_path):
    file = tmp_path / "people.txt"
    file.write_text("ann\n\nbob\nann\n")
    assert People(("ann", "bob")) == People.parse(str(file)) == People.parse(file)
    assert People(("1", "2")) == People.parse([1, np.int64(2)])
    assert People(column="a", value="b=c") == People.parse("a=b=c") == People.parse({"a": "b=c"})
    for each in (People(("ann", "é")), People(column="a", value="b")):
        assert each == People.parse(str(each))


@pytest.mark.parametrize(
    ("people", "error", "word"),
    [
        ([], ParameterError, "names nobody"),
        ("nobody.txt", ParameterError, "is not a file"),
        (3, ParameterError, "is not valid"),
        ("[{}]", ParameterError, "not a list of ids"),
        ("listed", ParameterError, "names nobody"),
        ({"a=b": "c"}, ParameterError, "cannot name the column 'a=b'"),
        (["ann"], DataError, "1 of 1 people to protect are not in the network"),
        ("role=x", DataError, "no attribute 'role'"),
    ],
)
def test_people_who_are_not_there_are_refused(people, error, word):
    with pytest.raises(error, match=word):
        protecting(people)


def test_a_value_that_nobody_has_is_refused():
    with pytest.raises(DataError, match="nobody has role=heat"):
        gv.KDegree(k=2, people="role=heat").anonymize(staff())


def test_known_attributes_and_edges_on_the_disk_do_not_go_with_a_list():
    with pytest.raises(ParameterError, match="cannot be combined"):
        gv.KDegree(k=2, people=["a"], known="role")
    with pytest.raises(UsageError, match="edges in memory"):
        gv.KDegree(k=2, people=["a"]).from_edges_on_disk(STARS, None)


def test_a_release_with_a_list_is_attacked_and_evaluated():
    release = protecting(["pub"], k=3)
    rows = gv.attack_release(release, STARS, attacks=["degree-matching", "candidate-set"], seed=1)
    assert len(rows)
    assert len(gv.evaluate_release(release, STARS, seed=1))
